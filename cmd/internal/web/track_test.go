package web_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/live"
	"sightline/cmd/internal/web"
	"sightline/engine"
	"sightline/vision"
	"sightline/vision/token"
)

// followedView is a view of the known scene with A1 and B1 in a state since 1.2 s.
func followedView(t *testing.T, states map[string]vision.TrackState) live.State {
	scene := knownScene()
	now := time.Unix(1700000000, 0)
	v := live.State{
		Health: live.Health{Code: live.OK}, Sigmas: 3,
		Located: vision.Located{Scene: scene, Ships: outlinesOf(scene), Captured: now},
		Choice:  live.Choice{From: "A1", To: "B1", Arc: engine.ArcFront},
	}
	for i, s := range scene.Ships {
		k := vision.Track{Ship: s, View: v.Located.Ships[i], State: vision.Still, Captured: now, Frames: 9}
		if state, ok := states[s.ID]; ok {
			k.State, k.Captured = state, now.Add(-1200*time.Millisecond)
		}
		v.Tracks = append(v.Tracks, k)
	}
	result, err := engine.Measure(&scene, engine.Options{Sigmas: 3})
	require.NoError(t, err)
	v.Result = result
	for i := range result.Pairs {
		if p := &result.Pairs[i]; p.From == "A1" && p.To == "B1" {
			v.Pair = p
		}
	}
	return v
}

func fetch(t *testing.T, state live.State, path string) (*http.Response, []byte) {
	server := httptest.NewServer(web.NewServer(web.Options{Hub: live.NewHub(state), Choose: func(live.Choice) {}}))
	defer server.Close()
	r, err := http.Get(server.URL + path)
	require.NoError(t, err)
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	return r, body
}

func TestAnAnswerThatRestsOnACoveredShipSaysSo(t *testing.T) {
	state := followedView(t, map[string]vision.TrackState{"A1": vision.Frozen})
	_, body := fetch(t, state, "/api/state")
	var s struct {
		Ships []struct {
			ID, State string
			Text      string  `json:"state_text"`
			Age       float64 `json:"age_ms"`
			Frames    int
		}
		Answer struct {
			RestsOn string `json:"rests_on"`
			Explain string
		}
	}
	require.NoError(t, json.Unmarshal(body, &s))
	assert.Equal(t, "frozen", s.Ships[0].State)
	assert.Equal(t, 1200.0, s.Ships[0].Age)
	assert.Equal(t, 9, s.Ships[0].Frames)
	assert.Equal(t, "A1 is covered in part: its place is the one of 1.2 s ago", s.Ships[0].Text)
	assert.Equal(t, "still", s.Ships[1].State)
	assert.Empty(t, s.Ships[1].Text)
	assert.Equal(t, s.Ships[0].Text, s.Answer.RestsOn)
	assert.Contains(t, s.Answer.Explain, s.Answer.RestsOn)
	assert.True(t, live.PanelState(&state).Frozen, "the panel says it too")

	r, _ := fetch(t, state, "/api/measure")
	assert.Equal(t, "A1 frozen 1200 ms", r.Header.Get("Sightline-Not-Seen"))
	still := followedView(t, nil)
	r, _ = fetch(t, still, "/api/measure")
	assert.Empty(t, r.Header.Get("Sightline-Not-Seen"))
	assert.False(t, live.PanelState(&still).Frozen)
}

// While a picture is held the camera may be pushed and registered again. What was measured in the held picture names that picture's
// calibration, and that it is not live.
func TestTheAnswersOfAHeldPictureNameItsTimeAndCalibration(t *testing.T) {
	state := followedView(t, nil)
	state.Register = live.Register{Hash: "new", File: []byte("new")}
	at := time.Date(2026, 11, 28, 12, 30, 0, 0, time.UTC)
	held := state
	held.Held, held.Hold = true, &live.Held{Number: 1, At: at, Register: live.Register{Hash: "old", File: []byte("old")}}
	for _, path := range []string{"/api/scene", "/api/measure"} {
		r, _ := fetch(t, held, path)
		assert.Equal(t, "old", r.Header.Get("Sightline-Calibration"), path)
		assert.Equal(t, "2026-11-28T12:30:00Z", r.Header.Get("Sightline-Held"), path)
		r, _ = fetch(t, state, path)
		assert.Equal(t, "new", r.Header.Get("Sightline-Calibration"), path)
		assert.Empty(t, r.Header.Get("Sightline-Held"), path)
	}
	_, file := fetch(t, held, "/api/table.json")
	assert.Equal(t, "old", string(file))
}

func TestThePageIsToldWhatWasSeen(t *testing.T) {
	state := followedView(t, nil)
	state.Located.Ships[0].Sides = []token.Side{token.Front, token.LeftSide}
	state.Located.Ships[0].Residual = 0.052
	_, body := fetch(t, state, "/api/state")
	var s struct {
		Ships []struct {
			Sides    []string `json:"sides_read"`
			Residual float64
			Visible  float64
		}
	}
	require.NoError(t, json.Unmarshal(body, &s))
	assert.Equal(t, []string{"front", "left"}, s.Ships[0].Sides)
	assert.Equal(t, 0.052, s.Ships[0].Residual)
	assert.Equal(t, 0.93, s.Ships[0].Visible)
	assert.Equal(t, []string{}, s.Ships[1].Sides, "a list, not null")
}

func TestTheSceneHoldsOnlyShipsThatStand(t *testing.T) {
	_, body := fetch(t, followedView(t, map[string]vision.TrackState{"A1": vision.Moving, "B1": vision.Hidden, "B2": vision.Unread}),
		"/api/scene")
	var s struct{ Ships []struct{ ID string } }
	require.NoError(t, json.Unmarshal(body, &s))
	var ids []string
	for _, k := range s.Ships {
		ids = append(ids, k.ID)
	}
	assert.Equal(t, []string{"A2", "A3", "B2", "B3"}, ids)
}

func TestEveryStateHasWords(t *testing.T) {
	now := time.Unix(1700000000, 0)
	for state := vision.Settling; state <= vision.Lifted; state++ {
		k := vision.Track{Ship: engine.Ship{ID: "A1"}, State: state, Captured: now}
		assert.Equal(t, state == vision.Still, live.TrackText(&k, now) == "", "%v", state)
	}
}
