package obstacle

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"sightline/engine/geom"
	"sightline/vision"
)

// Of a token that is faint in its middle only the ends are noticed in noise: what lies between them is no bare mat.
func TestPartsOfOneTokenMakeOneThingWhereNoiseHidesItsMiddle(t *testing.T) {
	f, table := finderOfGrain(t)
	f.widest = 45
	middle := geom.Point{X: 200, Y: 200}
	for _, c := range []struct {
		name         string
		noise, apart float64 // between the parts' middles
		covered      bool
	}{
		{"noise", 8, 64, true},
		{"too far apart for a token", 8, 100, false},
		{"no noise", 0.5, 64, false},
	} {
		f.compare(vision.Frame{Gray: grainy(table, c.noise, c.noise, 5)})
		f.coverShips(nil)
		for _, x := range [2]float64{-c.apart / 2, c.apart / 2} {
			f.eachInside(square(middle.X+x, middle.Y, 9), 0, func(k int) {
				p := cellAt(k%f.diff.view.Width, k/f.diff.view.Width)
				print := float32(70 * (0.5 + math.Sin(p.X*0.45)*math.Cos(p.Y*0.45)))
				f.diff.work[k], f.diff.diff[k] = f.diff.work[k]+print, f.diff.diff[k]+print
			})
		}
		f.weigh(nil)
		things, covered := f.things(nil, nil), false
		for _, thing := range things {
			covered = covered || geom.Polygon(thing.Outline).Contains(middle)
		}
		assert.NotEmpty(t, things, c.name)
		assert.Equal(t, c.covered, covered, "%s: %d things", c.name, len(things))
	}
}
