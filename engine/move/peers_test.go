package move_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/engine/internal/enginetest"
	"sightline/engine/move"
)

// Mistakes about moves that other programs for this game make, as their own
// trackers and measurements tell; ours must not repeat them.
func TestMistakesOfOthersAboutMoves(t *testing.T) {
	t.Run("places between the ends from a tuned formula, 1.6 mm and 1° off for a large base on a turn 1", func(t *testing.T) {
		// G105 G106: both marks on the line. The rear mark 8 mm before the arc, and the
		// front mark where 80 mm from it falls on the exit straight.
		s := enginetest.Scene(t, "2.5; A large 0 0 0; B small 125 75 0")
		r := moved(t, s, "A", "turn right 1")
		require.False(t, r.FullyExecuted)
		front, rear := r.Final.Transform(geom.Point{Y: 40}), r.Final.Transform(geom.Point{Y: -40})
		for _, p := range []geom.Point{front, rear} {
			assert.InDelta(t, 0, offTurnOne(p), 1e-9, "%v is off the line", p)
		}
		assert.Equal(t, []string{"B"}, r.Touching)
	})
	t.Run("places rounded to whole pixels", func(t *testing.T) {
		assertPose(t, 0.123456789, 80.987654321, 0, moved(t, engine.Scene{Rules: engine.Rules25, Ships: []engine.Ship{
			{ID: "A", Base: engine.Small, Pose: geom.Pose{Point: geom.Point{X: 0.123456789, Y: 0.987654321}}},
		}}, "A", "straight 1").Final)
	})
	t.Run("backing up in steps leaves a gap of millimetres", func(t *testing.T) {
		r := moved(t, enginetest.Scene(t, "2.5; A small 0 0 0; B small 37.123 150 33"), "A", "bank right 2")
		require.False(t, r.FullyExecuted)
		p, err := engine.MeasurePair(&engine.Scene{Rules: engine.Rules25, Ships: []engine.Ship{
			{ID: "A", Base: engine.Small, Pose: r.Final}, enginetest.Scene(t, "2.5; B small 37.123 150 33").Ships[0],
		}}, "A", "B", engine.Options{})
		require.NoError(t, err)
		assert.LessOrEqual(t, p.Range.Distance.Millimeters(), 1.6*2+1e-9, "bases no further apart than their guides reach")
		assert.Equal(t, []string{"B"}, r.Touching)
	})
	t.Run("the template checked at the full pose and not again after backing up: G164", func(t *testing.T) {
		r := moved(t, enginetest.Scene(t, "1e; A small 0 0 0; B small 0 120 0; rock square 0 150 0 10"), "A", "straight 5")
		assert.Len(t, r.Obstacles, 1, "no ship in the way at the end: the rock is moved through")
		s := enginetest.Scene(t, "1e; A small 0 0 0; B small 0 120 0; C small 0 200 0; D small 0 160 0; rock square 0 210 0 10")
		r = moved(t, s, "A", "straight 4")
		assert.Empty(t, r.Obstacles)
	})
	t.Run("off the mat tested at the full pose and with guides: G117 G199", func(t *testing.T) {
		s := enginetest.Scene(t, "2.5; A small 400 814.4 0")
		s.MatWidth, s.MatHeight = 914.4, 914.4
		assert.Equal(t, engine.No, moved(t, s, "A", "straight 1").Flees)
	})
	t.Run("the base swept along the way counted as moving through: G124", func(t *testing.T) {
		assert.Empty(t, moved(t, enginetest.Scene(t, "2.5; A large 0 0 0; B small 40 160 0"), "A", "straight 5").MovedThrough)
	})
	t.Run("a Tallon roll judged at the middle place: G132", func(t *testing.T) {
		r := moved(t, enginetest.Scene(t, "2.5; A small 0 0 0; B small 55 102 0"), "A", "tallon right 1")
		require.Len(t, r.Options, 3)
		assert.Equal(t, engine.No, r.Options[0].Legal)
		assert.Equal(t, engine.Yes, r.Options[1].Legal)
		r = moved(t, enginetest.Scene(t, "2.5; A small 0 0 0; B small 55 94 0"), "A", "tallon right 1")
		assert.Equal(t, engine.No, r.Options[1].Legal)
		assert.Equal(t, engine.Yes, r.Options[2].Legal, "the middle place is blocked, this one is not")
		assert.True(t, r.FullyExecuted)
	})
	t.Run("leaving the obstacle that the ship starts on counted as a hit: G138", func(t *testing.T) {
		assert.Empty(t, moved(t, enginetest.Scene(t, "2.5; A small 0 0 0; rock square 0 -2 0 20"), "A", "bank left 3").Obstacles)
	})
	t.Run("moved through and overlapped not told apart: G181", func(t *testing.T) {
		r := moved(t, enginetest.Scene(t, "2.5; A small 0 0 0; through square 0 60 0 8; under square 0 200 0 8"), "A", "straight 4")
		assert.Equal(t, []move.Hit{{ID: "through", Template: engine.Yes, Base: engine.No}, {ID: "under", Template: engine.No,
			Base: engine.Yes}}, r.Obstacles)
	})
	t.Run("a hit-box smaller than the obstacle misses by less than a millimetre", func(t *testing.T) {
		s := enginetest.Scene(t, "2.5; A small 0 0 0; rock square 10 60 45 10")
		s.Obstacles[0].Pose.X = 10 + 5*1.4142135623730951 - 1e-6
		assert.Len(t, moved(t, s, "A", "straight 3").Obstacles, 1)
		s.Obstacles[0].Pose.X += 2e-6
		assert.Empty(t, moved(t, s, "A", "straight 3").Obstacles, "grazing by nothing is no overlap")
	})
	t.Run("every size barrel rolls along the template: G149 G150", func(t *testing.T) {
		assertPose(t, 100, 0, 0, repositioned(t, enginetest.Scene(t, "2.5; A large 0 0 0"), "A", "barrel-roll right").Options[1].Final)
	})
	t.Run("a device's guides left out: G183", func(t *testing.T) {
		s := enginetest.Scene(t, "2.5; A small 0 0 0")
		s.Devices = []engine.Token{{ID: "b", Kind: "bomb", Pose: geom.Pose{Point: geom.Point{Y: 101.6 + 16.2}}}}
		assert.Len(t, moved(t, s, "A", "straight 1").Devices, 1, "guides of both lie in each other's way")
	})
	t.Run("only the last ship kept, or only the first: G112 G113", func(t *testing.T) {
		r := moved(t, enginetest.Scene(t, "2.5; A small 0 0 0; B small 0 165 0; C small 0 130 0"), "A", "straight 3")
		assert.Equal(t, []string{"B", "C"}, r.FirstOverlapped)
		assert.Equal(t, []string{"C"}, r.Touching)
	})
}

// offTurnOne returns how far a point is from the centre line of a turn 1 to the
// right from the front of a large base at the origin.
func offTurnOne(p geom.Point) float64 {
	c := geom.Point{X: 35, Y: 40}
	switch d := p.Sub(c); {
	case p.Y <= 40:
		return p.X
	case p.X >= 35:
		return p.Y - 75
	default:
		return d.Norm() - 35
	}
}
