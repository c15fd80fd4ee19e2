package look

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/engine"
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

// Beside a window, a tower shades another part of the card in each of the four turns. That is no miniature; a grey one of the same size is.
func TestAShadowOfTheTowerIsNoMiniature(t *testing.T) {
	bright := func(u, v float64) [3]float64 { // its middle is as bright as an arc
		c := drawnArt(1)(u, v)
		for i := range c {
			c[i] = 0.15 + 0.5*c[i]
		}
		return c
	}
	learn := func(shade, mini float64) error {
		d := drawing{table: tableAt(1.02), bases: quarters(engine.Small, bright), noise: 1}
		falls := func(p geom.Point) bool {
			for _, b := range d.bases {
				if q := p.Sub(b.pose.Point); q.X > 7 && q.X < 14 && math.Abs(q.Y) < 6 {
					return true
				}
			}
			return false
		}
		d.shades = func(p geom.Point) float64 {
			if shade < 1 && falls(p) {
				return shade
			}
			return 1
		}
		if mini > 0 {
			d.hides = func(p geom.Point) (bool, float64) { return falls(p), mini }
		}
		_, err := Learn(Card{Name: "A1", Ships: []string{"A1"}, Base: engine.Small}, d.views(1))
		return err
	}
	require.NoError(t, learn(1, 0))
	for _, shade := range []float64{0.2, 0.3, 0.5} { // of the light: 0.48, 0.58 and 0.73 of a grey level
		assert.NoError(t, learn(shade, 0), "%g of the light", shade)
	}
	for _, mini := range []float64{0.01, 0.1, 0.8} {
		assert.ErrorContains(t, learn(1, mini), "is a miniature on the base", "a miniature, %g bright", mini)
	}
}
