package signs

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/engine"
	"sightline/engine/geom"
)

// A base may stand where as much of it varies as of a card, something lies and no other base stands, and a lattice's rows pass all of these
// places whichever way they run.
func TestWhereABaseMayStand(t *testing.T) {
	mat := calibration.DefaultLayout(300, 200)
	within := func(x, y, r float64) func(geom.Point) bool {
		return func(p geom.Point) bool { return float64(p.Distance(geom.Point{X: x, Y: y})) < r }
	}
	everywhere := func(geom.Point) bool { return true }
	count := func(s *Standing) (n int) {
		for _, away := range s.away {
			if away == 0 {
				n++
			}
		}
		return n
	}
	assert.Equal(t, 151*101, count(NewStanding(&mat, engine.Small, everywhere, nil, nil)))
	assert.Zero(t, count(NewStanding(&mat, engine.Small, within(100, 100, 8), nil, nil)), "a token varies")
	card := NewStanding(&mat, engine.Small, within(100, 100, 16), nil, nil)
	assert.True(t, card.At(geom.Point{X: 100, Y: 100}))
	assert.False(t, card.At(geom.Point{X: 130, Y: 100}))
	assert.Zero(t, count(NewStanding(&mat, engine.Small, everywhere, within(100, 100, 12), nil)), "less than a base lies there")
	for k, away := range card.away {
		nearest := farthest
		for o := range card.away {
			if card.away[o] == 0 {
				nearest = min(nearest, max(abs(o%card.w-k%card.w), abs(o/card.w-k/card.w)))
			}
		}
		require.EqualValues(t, nearest, away, "squares from %d to a place for a centre", k)
	}
	taken := []engine.Ship{{Base: engine.Small, Pose: geom.Pose{Point: geom.Point{X: 110, Y: 100}}}}
	assert.Zero(t, count(NewStanding(&mat, engine.Small, within(100, 100, 14), nil, taken)), "another base stands there")

	l := NewLattice(&Mat{origin: geom.Point{X: -40, Y: -40}, step: 1, n: 381})
	for degrees := range 360 {
		l.Turn(geom.Angle(degrees) * geom.Degree)
		for j := range l.Side {
			var want []int
			for i := range l.Side {
				if card.At(l.Point(i, j)) {
					want = append(want, i)
				}
			}
			got := card.Along(l, j, nil)
			if len(want) != len(got) {
				assert.InDelta(t, len(want), len(got), 1, "%d°, row %d", degrees, j) // by rounding, between two squares
			}
		}
	}
}

func abs(v int) int { return max(v, -v) }
