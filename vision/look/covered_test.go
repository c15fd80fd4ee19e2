package look

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"sightline/calibration"
	"sightline/engine/geom"
)

// The tower of a base far from under the camera hides the card on its far side in each of the four turns: that is no miniature. What covers
// the card elsewhere is one.
func TestATowerThatIsSeenAslantIsNoMiniature(t *testing.T) {
	l := small(t, 1, "A1")
	table := tableAt(1.02)
	table.Extrinsics = calibration.Extrinsics{R: [3][3]float64{{1, 0, 0}, {0, -1, 0}, {0, 0, -1}}, T: calibration.Vec3{-457, 457, 1250}}
	viewsAt := func(x, y float64) (out []View) {
		for turn := range 4 {
			out = append(out, View{Table: table, Pose: pose(x, y, 90*float64(turn)+10)})
		}
		return out
	}
	hidden := func(hides []bool, x, y float64) bool {
		for k := range hides {
			if px, py := l.place(k); math.Hypot(px-x, py-y) < cellMM*0.8 {
				return hides[k]
			}
		}
		t.Fatalf("no cell at (%g, %g)", x, y)
		return false
	}
	aside, under := viewsAt(60, 457), viewsAt(457, 457)
	for _, c := range []struct {
		x, y         float64
		aside, nadir bool
	}{{0, 0, true, true}, {6, 6, true, true}, {9, 0, true, false}, {-9, 0, true, false}, {0, 9, true, false}, {0, -9, true, false},
		{13, 0, false, false}, {10, 10, false, false}, {-14, 3, false, false}} {
		assert.Equal(t, c.aside, hidden(l.towerHides(aside), c.x, c.y), "(%g, %g), seen aslant", c.x, c.y)
		assert.Equal(t, c.nadir, hidden(l.towerHides(under), c.x, c.y), "(%g, %g), from above", c.x, c.y)
	}

	cover := func(in func(k int, p geom.Point) bool) {
		for k := range l.weight {
			x, y := l.place(k)
			l.weight[k] = 1
			if in(k, geom.Point{X: x, Y: y}) {
				l.weight[k] = 0
			}
		}
	}
	hides := l.towerHides(aside)
	cover(func(k int, _ geom.Point) bool { return hides[k] })
	assert.Empty(t, l.covered(aside), "its tower")
	assert.NotEmpty(t, l.covered(under), "under the camera nothing hides so much but a miniature")
	cover(func(_ int, p geom.Point) bool { return math.Abs(p.X-14) < 2 && math.Abs(p.Y) < 2 })
	assert.Empty(t, l.covered(aside), "a glint")
	cover(func(_ int, p geom.Point) bool { return math.Abs(p.X-14) < 3 && math.Abs(p.Y) < 6 })
	assert.Contains(t, l.covered(aside), "is a miniature on the base")
}
