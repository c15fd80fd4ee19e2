package obstacle

import (
	"image"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"sightline/calibration"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/internal/under"
)

// rimOf is the front of a base whose edge lies at y, from x-18 to x+18.
func rimOf(x, y float64, seen bool, white func(i int) bool) under.Rim {
	var r under.Rim
	for i := range 12 {
		at := geom.Point{X: x - 16.5 + 3*float64(i), Y: y}
		r = append(r, vision.RimCell{At: at, Out: geom.Point{Y: 1}, Width: 3, White: white(i), Seen: seen, Line: seen})
	}
	return r
}

func TestWhatAdjoinsARimThatIsSeenIsNoMiniature(t *testing.T) {
	f, table := finderOfGrain(t)
	base := []geom.Polygon{square(200, 200, 20)}
	even := func(i int) bool { return i%2 == 0 }
	always := func(int) bool { return true }
	rock := func(from, to float64) geom.Polygon {
		return geom.Polygon{{X: 190, Y: from}, {X: 206, Y: from}, {X: 206, Y: to}, {X: 190, Y: to}}
	}
	light := func(geom.Point) float64 { return 2 }
	for _, c := range []struct {
		name   string
		area   geom.Polygon
		light  func(geom.Point) float64
		rims   []under.Rim
		things int
	}{
		{"a rock that goes on under the base", rock(215, 245), light, []under.Rim{rimOf(200, 220, true, even)}, 1},
		{"a miniature over the rim", rock(215, 245), light, []under.Rim{rimOf(200, 220, false, even)}, 0},
		{"a light miniature over white cells", rock(215, 245), light, []under.Rim{rimOf(200, 220, true, always)}, 0},
		{"a wing beyond the rim", rock(228, 245), light, []under.Rim{rimOf(200, 220, true, even)}, 0},
		{"a shadow", rock(215, 245), func(geom.Point) float64 { return 0.4 }, []under.Rim{rimOf(200, 220, true, even)}, 0},
		{"the base's own light on the mat", rock(215, 226), light, []under.Rim{rimOf(200, 220, true, even)}, 0},
		{"no code was read", rock(215, 245), light, nil, 0},
	} {
		lay(f, table, base, c.area, c.light)
		f.rims = c.rims
		f.exits = f.lyingMat().Adjoining(f.rims)
		if high := c.area[2].Y; high > 230 { // else no obstacle is as small as what is seen of it
			assert.Equal(t, c.things > 0, f.goesUnder(c.area), c.name)
			assert.False(t, f.goesUnder(square(230, 240, 15)), "beside it: %s", c.name)
		}
		assert.Len(t, f.things(nil, nil), c.things, c.name)
	}
}

// Of a rock under a base only a tip is seen beside it. It may lie wherever it hides no bare mat: under all of the base that it
// reaches, and nowhere else beside it.
func TestATipBesideABaseIsARockUnderIt(t *testing.T) {
	f, table := finderOfGrain(t)
	base := square(200, 200, 30)
	pose := geom.Pose{Point: geom.Point{X: 200, Y: 218}}
	var rock geom.Polygon
	for _, p := range lopsided(24) {
		rock = append(rock, pose.Transform(p))
	}
	lay(f, table, []geom.Polygon{base}, rock, func(geom.Point) float64 { return 2 })
	white := func(int) bool { return true }
	f.rims = []under.Rim{rimOf(200, 230, true, white)}
	things := f.things(nil, nil)
	covered := func(p geom.Point) bool {
		return slices.ContainsFunc(things, func(u vision.UnknownObject) bool { return geom.Polygon(u.Outline).Contains(p) })
	}
	for _, p := range rock {
		if p.Y > 236 {
			assert.True(t, covered(geom.Point{X: p.X, Y: p.Y - 1}), "the tip at %.0f", p)
		}
	}
	assert.True(t, covered(pose.Point), "its hidden part")
	for _, u := range things {
		low, high := u.Outline[0].Y, u.Outline[0].Y
		for _, p := range u.Outline {
			low, high = min(low, p.Y), max(high, p.Y)
			assert.InDelta(t, 200, p.X, 30, "beside the base where nothing lies")
		}
		assert.True(t, low > 232 || high < 225, "over the base's side, where its own lines begin: %.0f", u.Outline)
	}

	f.rims[0][1].Seen = false // what hides it is white
	assert.Empty(t, f.things(nil, nil), "a miniature that hides a part of the rim")
}

// What no obstacle of the catalogue can be, and adjoins a rim in full view, lies on the mat all the same.
func TestWhatFitsNoOutlineBesideARimIsAThing(t *testing.T) {
	f, table := finderOfGrain(t)
	base := square(200, 200, 8) // too small to hide the rest of a rock
	strip := geom.Polygon{{X: 194, Y: 205}, {X: 206, Y: 205}, {X: 206, Y: 225}, {X: 194, Y: 225}}
	lay(f, table, []geom.Polygon{base}, strip, func(geom.Point) float64 { return 2 })
	f.rims = []under.Rim{rimOf(200, 208, true, func(i int) bool { return i%2 == 0 })}
	things := f.things(nil, nil)
	if assert.Len(t, things, 1) {
		assert.True(t, geom.Polygon(things[0].Outline).Contains(geom.Point{X: 200, Y: 218}))
	}
}

// What is lighter than the mat and reaches farther from a base than a miniature does lies on the mat, though all of it is near.
func TestWhatReachesBeyondAMiniatureIsAThing(t *testing.T) {
	f, table := finderOfGrain(t)
	base := square(200, 200, 20)
	light := func(geom.Point) float64 { return 2 }
	beside := func(from, to float64) geom.Polygon {
		return geom.Polygon{{X: 187, Y: from}, {X: 213, Y: from}, {X: 213, Y: to}, {X: 187, Y: to}}
	}
	for _, c := range []struct {
		name   string
		to     float64
		light  func(geom.Point) float64
		things int
	}{
		{"a wing", 245, light, 0},
		{"a rock", 264, light, 1},
		{"a shadow", 264, func(geom.Point) float64 { return 0.5 }, 0},
	} {
		lay(f, table, []geom.Polygon{base}, beside(224, c.to), c.light)
		assert.Len(t, f.things(nil, nil), c.things, c.name)
	}
	f.fit.eye = calibration.Vec3{200, -400, 1000} // the slant throws a miniature so far
	lay(f, table, []geom.Polygon{base}, beside(224, 264), light)
	assert.Empty(t, f.things(nil, nil), "a miniature in a picture taken aslant")
}

func TestTheEdgeOfAHardShadowIsNarrowAndDark(t *testing.T) {
	const w, h = 100, 60
	strip := func(box image.Rectangle, light int) (cells []bool, shades []shade) {
		cells, shades = make([]bool, w*h), make([]shade, w*h)
		n := 0
		for y := box.Min.Y; y < box.Max.Y; y++ {
			for x := box.Min.X; x < box.Max.X; x++ {
				cells[y*w+x], shades[y*w+x] = true, plainShade
				if n < light {
					shades[y*w+x] = noShade
				}
				n++
			}
		}
		return cells, shades
	}
	for _, c := range []struct {
		name  string
		box   image.Rectangle
		light int
		kept  bool
	}{
		{"an edge", image.Rect(10, 20, 50, 25), 0, false},
		{"an edge with some noise", image.Rect(10, 20, 50, 25), 20, false},
		{"a rock's rim next to a shadow", image.Rect(10, 20, 50, 25), 60, true},
		{"what is as wide as print", image.Rect(10, 20, 50, 28), 0, true},
	} {
		cells, shades := strip(c.box, c.light)
		f := Finder{test: matTest{w: w, h: h, shade: shades}}
		if rest := f.withoutShadowEdges(cells); c.kept {
			assert.Equal(t, cells, rest, c.name)
		} else {
			assert.NotContains(t, rest, true, c.name)
		}
	}
}
