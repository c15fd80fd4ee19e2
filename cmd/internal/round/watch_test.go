package round

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/engine"
	"sightline/engine/geom"
)

func (s *simulated) last() *Flown { return s.events[len(s.events)-1].Flown }

// G121: who moves a ship by accident puts it back as it was.
func TestANudgedShipIsShownWhereItStood(t *testing.T) {
	s := simulate(t, "2.0", 3)
	stood := s.ship("A1").Pose
	s.run("nudge A1")
	require.Contains(t, s.watch.Ghosts(), "A1")
	assert.InDelta(t, stood.X, s.watch.Ghosts()["A1"].From.X, 1.5)
	s.run("nudge A1")
	assert.InDelta(t, stood.X, s.watch.Ghosts()["A1"].From.X, 1.5, "nudged again: still where it stood first")
	assert.Contains(t, s.last().Text, "from where it stood")

	s.ship("A1").Pose = stood
	s.look()
	assert.Empty(t, s.watch.Ghosts())
	assert.Equal(t, "A1 (Wedge Antilles) was put back where it stood", s.last().Text)
	assert.False(t, s.Piece("A1").Moved)
}

func TestWhatMovesInTheWrongPhaseOrTwiceIsSaid(t *testing.T) {
	s := simulate(t, "2.0", 3)
	s.run("A1 straight 2")
	assert.Contains(t, s.last().Says, "it moved in the Planning phase")
	s.run("to Activation\nB2 straight 2\nB2 turn left 1")
	assert.Contains(t, s.last().Says, "it has moved already in this round: straight 2")
	assert.Equal(t, "R1 Activation: A2 next", s.Turn(), "nothing is forced")
	s.run("A2 segnor left 3")
	assert.Contains(t, s.last().Says, "segnor left 3 is not on its dial")
}

// A camera that is registered again a little otherwise has moved no ship.
func TestAShiftOfAllShipsIsTheCameras(t *testing.T) {
	s := simulate(t, "2.0", 3)
	for i := range s.truth.Ships {
		s.truth.Ships[i].Pose.Y += 6
	}
	before := len(s.events)
	s.look()
	assert.Len(t, s.events, before)
	s.run("to Activation\nB2 straight 2")
	assert.Equal(t, "straight 2", s.last().Move, "it is followed from its new place")
}

// A ship that is set down, taken up again and corrected has moved once.
func TestAHandThatCorrectsAShipIsWaitedFor(t *testing.T) {
	s := simulate(t, "2.0", 3)
	s.run("to Activation")
	before := len(s.events)
	pose := s.ship("B2").Pose
	see := func(y float64, still bool) {
		s.now = s.now.Add(RestFor / 2)
		scene := s.truth
		shipIn(&scene, "B2").Pose.Y = pose.Y - y
		for _, e := range s.watch.Events(s.Game, Sight{At: s.now, Scene: scene, Still: func(id string) bool { return still || id != "B2" }}) {
			s.do(e)
		}
	}
	for _, y := range []float64{150, 155, 160} {
		see(y, true)
		see(y, false)
	}
	assert.Len(t, s.events, before)
	see(160, true)
	see(160, true)
	see(160, true)
	assert.Len(t, s.events, before+1)
}

func TestAGameGoesOnAfterARestart(t *testing.T) {
	s := simulate(t, "2.0", 3)
	s.run("to Activation\nB2 straight 2")
	g, err := Fold(s.events)
	require.NoError(t, err)
	assert.Equal(t, s.Turn(), g.Turn())
	s.watch = NewWatch(g)
	rested, ok := s.watch.Rests("B2")
	require.True(t, ok)
	assert.InDelta(t, s.ship("B2").Pose.Y, rested.Pose.Y, 2)
	assert.InDelta(t, float64(s.watch.rest["B2"].Covariance[8]), seenTurn*seenTurn, 1e-9, "a covariance survives its written form")
	s.look()
	s.run("A2 straight 2")
	assert.Equal(t, "straight 2", s.last().Move)
}

// A move that was taken back is not seen again: the ship rests where it did.
func TestAMoveThatWasTakenBackIsNotSeenAgainAfterARestart(t *testing.T) {
	s := simulate(t, "2.0", 3)
	s.run("to Activation\nB2 straight 2\nB2 straight 2")
	for {
		undo := Undoable(s.events)
		require.NotZero(t, undo)
		taken := s.events[undo-1].Kind
		events, g, err := Append(s.events, Event{Kind: Undone, Undo: undo})
		require.NoError(t, err)
		s.events, s.Game = events, g
		if taken == Moved {
			break
		}
	}
	s.watch = NewWatch(s.Game)
	before := len(s.events)
	s.look()
	assert.Len(t, s.events, before, "%+v", s.events[len(s.events)-1])
	s.run("B2 straight 1")
	assert.Equal(t, "boost straight", s.last().Move, "the next one begins where it rests")
}

func TestAShipOfNoGameIsNamed(t *testing.T) {
	s := simulate(t, "2.0", 3)
	s.truth.Ships = append(s.truth.Ships, engine.Ship{ID: "C1", Base: engine.Small, Pose: geom.Pose{Point: geom.Point{X: 450, Y: 450}}})
	s.look()
	s.ship("C1").Pose.Y += 100
	s.look()
	assert.Equal(t, "C1 moved, and is no ship of this game", s.events[len(s.events)-1].Text)
}

// A maneuver that is executed too early, or a second time, is looked for on the ship's own dial
// before those of all dials; and a boost that ends where it does is as likely then.
func TestAManeuverInTheWrongPhaseIsOneOfItsDial(t *testing.T) {
	dial := []string{"1FB", "2BW", "2NW", "3FW"}
	for _, c := range []struct{ script, want, says string }{
		{"A2 bank left 2", "bank left 2", "it moved in the Planning phase"},
		{"A2 straight 1", "straight 1 or boost straight", "it moved in the Planning phase"},
		{"to Activation\nA2 straight 3\nto Engagement\nA2 straight 1", "straight 1 or boost straight", "it moved in the Engagement phase"},
		{"A2 straight 4", "straight 4", "it moved in the Planning phase"},
		{"to System\nA2 boost straight", "boost straight", ""},
		{"to System\nA2 bank left 2", "bank left 2", "it moved in the System phase"},
	} {
		s := simulate(t, "2.0", 3)
		s.own("A2", dial, []string{"focus", "boost"})
		s.truth.Obstacles = nil
		for i := range s.truth.Ships { // room for all
			s.ship("A2").Pose.Y = 300
			s.truth.Ships[i].Pose.X = 150 + 200*float64(i)
		}
		s.watch = NewWatch(s.Game)
		s.look()
		s.run(c.script)
		assert.Equal(t, c.want, s.last().Short(), c.script)
		if c.says != "" {
			assert.Contains(t, s.last().Says, c.says, c.script)
		}
	}
}
