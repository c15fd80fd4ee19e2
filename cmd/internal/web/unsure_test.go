package web_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/live"
	"sightline/vision"
)

// unsureView is the known scene with a base in A1's place that may be A1 or A7.
func unsureView(t *testing.T) live.State {
	v := followedView(t, nil)
	v.Choice, v.Pair = live.Choice{}, nil
	for i := range v.Located.Scene.Ships {
		if s := &v.Located.Scene.Ships[i]; s.ID == "A1" {
			s.ID, s.NameDoubt, s.Seen, s.Look = "?1", []string{"A1", "A7"}, "look", "A1"
			v.Located.Ships[i].ID, v.Tracks[i].Ship = "?1", *s
			lost := *s // A7 was lost from sight elsewhere
			lost.ID, lost.NameDoubt, lost.Pose.X = "A7", nil, lost.Pose.X+90
			v.Located.Scene.Ships = append(v.Located.Scene.Ships, lost)
			v.Located.Ships = append(v.Located.Ships, vision.ShipView{ID: "A7"})
			v.Tracks = append(v.Tracks, vision.Track{Ship: lost, State: vision.Hidden, Captured: v.Located.Captured.Add(-5 * time.Second)})
		}
	}
	return v
}

// A base that may be either of two ships is still, and says which they are.
func TestABaseThatMayBeTwoShips(t *testing.T) {
	_, body := fetch(t, unsureView(t), "/api/state")
	var s struct {
		Ships []struct {
			ID        string   `json:"id"`
			State     string   `json:"state"`
			Text      string   `json:"state_text"`
			NameDoubt []string `json:"name_doubt"`
		}
	}
	require.NoError(t, json.Unmarshal(body, &s))
	found := false
	for _, ship := range s.Ships {
		if ship.ID != "?1" {
			assert.Equal(t, []string{}, ship.NameDoubt)
			continue
		}
		found = true
		assert.Equal(t, "unsure", ship.State)
		assert.Equal(t, []string{"A1", "A7"}, ship.NameDoubt)
		assert.Equal(t, "?1 is A1 or A7, which look alike: tap it and say which ship it is", ship.Text)
	}
	assert.True(t, found)
}
