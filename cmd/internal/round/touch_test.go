package round

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/engine"
	"sightline/engine/geom"
)

// nose sets B1 before A1, so far away that a straight 3 of A1 bumps into it.
func (s *simulated) nose() {
	s.ship("B1").Pose.Point = geom.Point{X: s.ship("A1").Pose.X, Y: s.ship("A1").Pose.Y + 185}
	s.watch = NewWatch(s.Game)
	s.look()
}

func (s *simulated) touches(a, b string) (sure, may bool) {
	return engine.Touching(s.Touch).Has(a, b), engine.Touching(s.MayTouch).Has(a, b)
}

// Touching ships of the first edition stay so until they part (G95 to G101).
func TestTheFirstEditionRemembersWhatTouches(t *testing.T) {
	s := simulate(t, "1e", 3)
	s.nose()
	s.run("to Activation\nB2 straight 2\nA2 straight 2\nA1 straight 3")
	require.NotEmpty(t, s.last().Touching)
	sure, may := s.touches("A1", "B1")
	assert.True(t, sure, "%+v", s.last())
	assert.False(t, may)

	s.run("nudge A1")
	sure, _ = s.touches("A1", "B1")
	assert.True(t, sure, "a nudge is no move")
	s.run("undo\nB1 koiogran 4")
	sure, may = s.touches("A1", "B1")
	assert.False(t, sure || may, "a move ended the contact (G96)")
}

// What was not seen is not made up: a ship that moved by a tap may touch what it is in contact
// with.
func TestAShipThatMovedUnseenMayTouch(t *testing.T) {
	s := simulate(t, "1e", 3)
	s.nose()
	s.run("to Activation\ntap")
	sure, may := s.touches("B2", "A1")
	assert.False(t, sure)
	assert.True(t, may)
	s.fly("B2", "straight 2")
	sure, may = s.touches("B2", "A1")
	assert.False(t, sure || may, "the camera saw it move, away from all")

	s = simulate(t, "2.0", 3)
	s.run("to Activation\ntap")
	assert.Empty(t, s.MayTouch, "in 2.0 it does not matter")
}

// A ship that leaves the table takes nothing from what is known of the others.
func TestADestroyedShipTouchesNothingAndTheOthersStay(t *testing.T) {
	s := simulate(t, "1e", 3)
	s.nose()
	s.run("to Activation\nB2 straight 2\nA2 straight 2\nA1 straight 3")
	s.run("destroyed B2")
	s.run("B1 koiogran 4\nto Planning\nto Activation\nA2 straight 1")
	assert.Equal(t, "straight 1", s.last().Move)
	s = simulate(t, "1e", 3)
	s.nose()
	s.run("to Activation\nB2 straight 2\nA2 straight 2\nA1 straight 3\nhand over")
	s.hand = func(k engine.Ship) bool { return k.ID == "A1" }
	s.run("to Planning\nfirst 1\nto Activation")
	s.fly("B2", "straight 1")
	sure, _ := s.touches("A1", "B1")
	assert.True(t, sure, "also while one of the two is covered")
	s.run("destroyed A1")
	sure, may := s.touches("A1", "B1")
	assert.False(t, sure || may)
}

// G146: ships in the way may be lifted and put back. A ship that is stopped by one that is not
// on the table just then was not stopped by nothing; and where one was taken away, the ship
// that rests there did not bump.
func TestAShipThatIsLiftedOutOfTheWayStillStops(t *testing.T) {
	s := simulate(t, "2.0", 3)
	s.nose()
	s.run("to Activation\nB2 straight 2\nA2 straight 2")
	was := s.ship("B1").Pose
	s.hand = func(k engine.Ship) bool { return k.ID == "B1" }
	s.run("A1 straight 3")
	assert.Equal(t, []string{"it bumped, and backed up until it touches B1"}, s.last().Says[:1], "%+v", s.last())

	events := len(s.events)
	s.hand = func(engine.Ship) bool { return false }
	s.ship("B1").Pose = was
	s.look()
	assert.Len(t, s.events, events, "put back where it stood, it has moved nothing")

	s = simulate(t, "2.0", 3)
	s.nose()
	s.run("to Activation\nB2 straight 2\nA2 straight 2")
	s.truth.Ships = slices.DeleteFunc(s.truth.Ships, func(k engine.Ship) bool { return k.ID == "B1" }) // destroyed, and no one has tapped
	s.run("A1 straight 4")
	assert.Equal(t, "straight 4", s.last().Short(), "%+v", s.last())
	assert.Empty(t, s.last().Says)
}

// Where the ship rests, it may have bumped into one that is not seen, or flown another
// maneuver past it.
func TestABumpIntoAShipThatIsNotSeenIsTooCloseToCall(t *testing.T) {
	there := Flown{Sort: Maneuver, Outcome: "yes", Move: "straight 3", Text: "straight 3, backed up", Says: []string{"it bumped", "both"},
		Touch: [][2]string{{"A1", "B1"}}}
	gone := Flown{Sort: Maneuver, Outcome: "yes", Move: "straight 2", Text: "straight 2, 1 mm", Says: []string{"both"}}
	f := combine(gone, there, []engine.Ship{{ID: "B1"}})
	assert.Equal(t, "too_close", f.Outcome)
	assert.Equal(t, "too close to call: straight 3 or straight 2, while B1 is not seen", f.Text)
	assert.Equal(t, "straight 3 or straight 2", f.Short())
	assert.Equal(t, []string{"both"}, f.Says)
	assert.Empty(t, f.Touch)
	assert.Equal(t, [][2]string{{"A1", "B1"}}, f.MayTouch)
	nothing := Flown{Sort: Unknown, Outcome: "no", Move: "straight 2", Text: "fits none"}
	assert.Equal(t, there, combine(nothing, there, nil))
	assert.Equal(t, gone, combine(gone, nothing, nil))
}
