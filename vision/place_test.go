package vision

import (
	"image"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/engine"
	"sightline/engine/geom"
)

// lit returns a picture in another light.
func lit(g *image.Gray, gain float64) *image.Gray {
	out := image.NewGray(g.Rect)
	for i, v := range g.Pix {
		out.Pix[i] = uint8(min(255, gain*float64(v)))
	}
	return out
}

func TestWhatAPlaceShows(t *testing.T) {
	table := testTable(testScale)
	l, err := NewLocator(table, LocatorOptions{})
	require.NoError(t, err)
	tok := token(t, "A1", engine.Small)
	there := []placed{{tok, at(100, 100, 20)}}
	full := shoot(table, there, 0.004)
	empty := shoot(table, nil, 0.004)
	found, err := l.Locate(Frame{Gray: full})
	require.NoError(t, err)
	require.Len(t, found.Ships, 1)
	p := NewPlaces()
	assert.Equal(t, PlaceCovered, p.Look(full, "A1"), "nobody knows what it showed")
	p.Remember(full, found.Ships)

	hand := func(p geom.Point) (float64, bool) { return 0.55, p.X > 90 && p.Y > 60 && p.Y < 130 }
	all := func(p geom.Point) (float64, bool) { return 0.55, p.Distance(geom.Point{X: 100, Y: 100}) < 80 }
	for name, c := range map[string]struct {
		picture *image.Gray
		want    Place
	}{
		"the ship":                     {full, PlaceUnchanged},
		"the ship, in another noise":   {shoot(table, there, 0.012), PlaceUnchanged},
		"the ship, in half the light":  {lit(full, 0.55), PlaceUnchanged},
		"the mat":                      {empty, PlaceBare},
		"the mat, in less light":       {lit(empty, 0.7), PlaceBare},
		"a hand over half of the ship": {shoot(table, there, 0.004, hand), PlaceCovered},
		"a hand over all of it":        {shoot(table, there, 0.004, all), PlaceCovered},
		"a hand where the ship was":    {shoot(table, nil, 0.004, hand), PlaceCovered},
		"another ship in its place":    {shoot(table, []placed{{token(t, "B2", engine.Small), at(100, 100, 200)}}, 0.004), PlaceCovered},
		"no picture":                   {nil, PlaceCovered},
		"a picture of another size":    {image.NewGray(image.Rect(0, 0, 8, 8)), PlaceCovered},
	} {
		assert.Equal(t, c.want, p.Look(c.picture, "A1"), name)
	}
	p.Reset()
	assert.Equal(t, PlaceCovered, p.Look(full, "A1"))
}
