package pipeline

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/live"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/look"
	"sightline/vision/track"
)

// lookingLocator finds a base by its edges or by its card.
type lookingLocator struct {
	edgyLocator
	shown bool // the card is seen
	asked look.Hint
}

func (l *lookingLocator) ByLook(_ vision.Frame, h look.Hint, ship engine.Ship) (engine.Ship, vision.ShipView, bool, error) {
	l.asked = h
	if !l.shown {
		return ship, vision.ShipView{}, false, nil
	}
	ship.Pose, ship.Seen, ship.Look = geom.Pose{Point: l.at.Point, Heading: 200 * geom.Degree}, "look", "A1"
	return ship, vision.ShipView{ID: ship.ID}, true, nil
}

// A ship whose card is known is placed by a click without a heading, and followed by its card, then by its edges while the
// card is hidden, then by its card again.
func TestAShipIsPlacedAndFollowedByItsCard(t *testing.T) {
	at := geom.Pose{Point: geom.Point{X: 303, Y: 398}, Heading: 20 * geom.Degree}
	l := &lookingLocator{edgyLocator: edgyLocator{at: at, seen: true}, shown: true}
	w := edgyPipeline(l, track.TrackerOptions{})
	ask := live.PlacedShip{ID: "A2", Player: 1, Base: engine.Small, Pose: geom.Pose{Point: geom.Point{X: 300, Y: 400}}}
	got, err := placed(w, ask)
	require.NoError(t, err)
	require.Len(t, got.Scene.Ships, 1)
	s := got.Scene.Ships[0]
	assert.Equal(t, "look", s.Seen)
	assert.InDelta(t, 200, s.Pose.Heading.Degrees(), 1e-9)
	assert.False(t, s.Quarters, "the card says which way it points")
	assert.Equal(t, "A2", l.asked.Ship)
	assert.Equal(t, PlacedReach, l.asked.Reach)

	follow := func(s engine.Ship) engine.Ship {
		again, _, ok := edgesIn(w, &vision.Located{}).finder()(vision.Track{Ship: s})
		require.True(t, ok)
		return again
	}
	assert.Equal(t, "look", follow(s).Seen)
	assert.Equal(t, edgesReach, l.asked.Reach)
	l.shown = false
	s = follow(s)
	assert.Equal(t, "edges", s.Seen)
	assert.Equal(t, "A1", s.Look)
	l.shown = true
	assert.Equal(t, "look", follow(s).Seen)

	_, err = placed(w, live.PlacedShip{ID: "A3", Player: 1, Base: engine.Small, Pose: ask.Pose}, s)
	assert.ErrorContains(t, err, "A2 stands there")
}
