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

// Beside a window, a tower shades another part of the card in each of the four turns. That is no miniature. A grey thing of the same size
// is one that hides the card on the side away from the camera, as what stands high does.
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
		c := d.table.Center()
		stands := func(p geom.Point) bool {
			for _, b := range d.bases {
				out := b.pose.Sub(geom.Point{X: c[0], Y: c[1]})
				way := out.Mul(1 / float64(out.Norm()))
				q := p.Sub(b.pose.Point)
				if along := float64(q.Dot(way)); along > 7 && along < 14 && math.Abs(float64(q.X*way.Y-q.Y*way.X)) < 6 {
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
			d.hides = func(p geom.Point) (bool, float64) { return stands(p), mini }
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

// Under a lamp, the tower's shadow is dark, and no print shows in it. It points the same way in all turns. The card is used where three of
// four turns show it.
func TestAShadowWithoutPrintIsNoMiniature(t *testing.T) {
	flat := func(u, v float64) [3]float64 {
		if math.Hypot(u, v) < 24 {
			return [3]float64{0.4, 0.4, 0.35}
		}
		return drawnArt(1)(u, v)
	}
	learn := func(way func(b *drawnBase) geom.Point) (*Look, error) {
		d := drawing{table: tableAt(1.02), bases: quarters(engine.Medium, flat), noise: 1}
		d.shades = func(p geom.Point) float64 {
			for i := range d.bases {
				b := &d.bases[i]
				q, u := p.Sub(b.pose.Point), way(b)
				if along := float64(q.Dot(u)); along > 0 && along < 22 && math.Abs(float64(q.X*u.Y-q.Y*u.X)) < 7 {
					return 0.06
				}
			}
			return 1
		}
		return Learn(Card{Name: "A1", Ships: []string{"A1"}, Base: engine.Medium}, d.views(1))
	}
	right := func(*drawnBase) geom.Point { return geom.Point{X: 1} }
	l, err := learn(right)
	require.NoError(t, err)
	used, all := 0, 0
	for k, w := range l.weight {
		if !l.underTower(k) {
			all++
			used += int(w)
		}
	}
	assert.Greater(t, float64(used), 0.93*float64(all), "cells that are used")
	table := tableAt(1.02)
	c := table.Center()
	_, err = learn(func(b *drawnBase) geom.Point {
		out := b.pose.Sub(geom.Point{X: c[0], Y: c[1]})
		return out.Mul(1 / float64(out.Norm()))
	})
	assert.ErrorContains(t, err, "is a miniature on the base", "away from the camera")
	_, err = learn(func(b *drawnBase) geom.Point {
		return geom.Point{X: 1 - 2*float64(int(b.pose.Heading/(90*geom.Degree))%2)}
	})
	assert.ErrorContains(t, err, "is a miniature on the base", "to and fro")
}
