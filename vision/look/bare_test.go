package look

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/engine"
	"sightline/engine/geom"
)

// A card that lies on the mat without a base is refused where black plastic would differ from the mat. On a mat of that colour it is found,
// but not named. One in a base is found and can be named, and so is one that something hides in part, like a ship's.
func TestACardWithoutABase(t *testing.T) {
	l := small(t, 1, "A1")
	blue, dark := [3]float64{0.3, 0.12, 0.05}, [3]float64{0.03, 0.03, 0.03}
	for _, c := range []struct {
		mat           [3]float64
		bare          bool
		guides, found int
		doubt         bool
		hidden        bool
	}{
		{mat: blue, guides: 2, found: 1}, {mat: blue, bare: true},
		{mat: dark, bare: true, found: 1, doubt: true}, {mat: dark, found: 1, doubt: true},
		{mat: blue, bare: true, hidden: true, found: 1},
	} {
		d := drawing{table: tableAt(1.02), noise: 1, mat: c.mat, bases: []drawnBase{
			{base: engine.Small, art: drawnArt(1), pose: pose(140, 120, 54), guides: c.guides, bare: c.bare}}}
		if c.hidden {
			d.hides = discOver(geom.Point{X: 145, Y: 125}, 13, 0.2)
		}
		f := NewFinder(d.table, &Library{Looks: []*Look{l}}, calibration.Uncertainty{})
		found := f.Search(d.draw(1), nil, nil)
		require.Len(t, found, c.found, "%+v", c)
		if c.found == 0 {
			require.Len(t, f.Turned(), 1)
			assert.EqualError(t, f.Turned()[0], "A1 at (140, 120) mm does not count: its card seems to lie on the mat without a base; if a base "+
				"stands there, place the ship by hand")
			continue
		}
		assert.Equal(t, c.doubt, found[0].Bare, "%+v", c)
		found[0].Plate, found[0].Evidence, found[0].Kind = PlateAgrees, 2*nameLeast, 2*kindPlate
		assert.Equal(t, !c.doubt, found[0].Named(), "%+v", c)
	}
}
