package obstacle

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"sightline/engine/geom"
	"sightline/vision"
)

// rimOf is the front of a base whose edge lies at y, from x-18 to x+18.
func rimOf(x, y float64, seen bool, white func(i int) bool) rim {
	var r rim
	for i := range 12 {
		at := geom.Point{X: x - 16.5 + 3*float64(i), Y: y}
		r = append(r, vision.RimCell{At: at, Out: geom.Point{Y: 1}, Width: 3, White: white(i), Seen: seen})
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
		rims   []rim
		things int
	}{
		{"a rock that goes on under the base", rock(215, 245), light, []rim{rimOf(200, 220, true, even)}, 1},
		{"a miniature over the rim", rock(215, 245), light, []rim{rimOf(200, 220, false, even)}, 0},
		{"a light miniature over white cells", rock(215, 245), light, []rim{rimOf(200, 220, true, always)}, 0},
		{"a wing beyond the rim", rock(228, 245), light, []rim{rimOf(200, 220, true, even)}, 0},
		{"a shadow", rock(215, 245), func(geom.Point) float64 { return 0.4 }, []rim{rimOf(200, 220, true, even)}, 0},
		{"the base's own light on the mat", rock(215, 226), light, []rim{rimOf(200, 220, true, even)}, 0},
		{"no code was read", rock(215, 245), light, nil, 0},
	} {
		lay(f, table, base, c.area, c.light)
		f.rims = c.rims
		assert.Len(t, f.things(nil, nil), c.things, c.name)
	}
}
