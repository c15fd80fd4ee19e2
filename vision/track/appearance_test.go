package track

import (
	"cmp"
	"image"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/internal/visiontest"
	"sightline/vision/ship"
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
	table := visiontest.Table(visiontest.Scale)
	l, err := ship.NewLocator(table, calibration.Uncertainty{})
	require.NoError(t, err)
	tok := visiontest.Token(t, "A1", engine.Small)
	there := []visiontest.Placed{{Token: tok, Pose: visiontest.Pose(100, 100, 20)}}
	full := visiontest.Draw(table, there, 0.004)
	empty := visiontest.Draw(table, nil, 0.004)
	found, err := l.Locate(vision.Frame{Gray: full})
	require.NoError(t, err)
	require.Len(t, found.Ships, 1)
	p := NewAppearanceMemory()
	assert.Equal(t, vision.PlaceCovered, p.Place(full, "A1"), "what it showed is unknown")
	p.Remember(full, found.Ships)

	hand := func(p geom.Point) (float64, bool) { return 0.55, p.X > 90 && p.Y > 60 && p.Y < 130 }
	all := func(p geom.Point) (float64, bool) { return 0.55, p.Distance(geom.Point{X: 100, Y: 100}) < 80 }
	for name, c := range map[string]struct {
		picture *image.Gray
		want    vision.Place
	}{
		"the ship":                     {full, vision.PlaceUnchanged},
		"the ship, in another noise":   {visiontest.Draw(table, there, 0.012), vision.PlaceUnchanged},
		"the ship, in half the light":  {lit(full, 0.55), vision.PlaceUnchanged},
		"the mat":                      {empty, vision.PlaceBare},
		"the mat, in less light":       {lit(empty, 0.7), vision.PlaceBare},
		"a hand over half of the ship": {visiontest.Draw(table, there, 0.004, hand), vision.PlacePartly},
		"a hand over all of it":        {visiontest.Draw(table, there, 0.004, all), vision.PlaceCovered},
		"a hand where the ship was":    {visiontest.Draw(table, nil, 0.004, hand), vision.PlaceCovered},
		"another ship in its place": {visiontest.Draw(table, []visiontest.Placed{{Token: visiontest.Token(t, "B2", engine.Small),
			Pose: visiontest.Pose(100, 100, 200)}}, 0.004), vision.PlaceCovered},
		"no picture":                {nil, vision.PlaceCovered},
		"a picture of another size": {image.NewGray(image.Rect(0, 0, 8, 8)), vision.PlaceCovered},
	} {
		assert.Equal(t, c.want, p.Place(c.picture, "A1"), name)
	}
	p.Reset()
	assert.Equal(t, vision.PlaceCovered, p.Place(full, "A1"))
}

// An even box over a ship that is about as dark as the mat is not taken for the mat: around the other ships the light is as before.
func TestABoxOverAShipIsNotTheMat(t *testing.T) {
	table := visiontest.Table(visiontest.Scale)
	l, err := ship.NewLocator(table, calibration.Uncertainty{})
	require.NoError(t, err)
	var there, others []visiontest.Placed
	for id, at := range map[string]geom.Point{"A2": {X: 150, Y: 60}, "B1": {X: 100, Y: 150}, "A1": {X: 60, Y: 60}} {
		there = append(there, visiontest.Placed{Token: visiontest.Token(t, id, engine.Small), Pose: visiontest.Pose(at.X, at.Y, 20)})
	}
	slices.SortFunc(there, func(a, b visiontest.Placed) int { return cmp.Compare(a.Pose.X+a.Pose.Y, b.Pose.X+b.Pose.Y) }) // A1 first
	others = there[1:]
	full := visiontest.Draw(table, there, 0.004)
	found, err := l.Locate(vision.Frame{Gray: full})
	require.NoError(t, err)
	require.Len(t, found.Ships, 3)
	p := NewAppearanceMemory()
	p.Remember(full, found.Ships)
	gone := visiontest.Draw(table, others, 0.004)
	assert.Equal(t, vision.PlaceBare, p.Place(gone, "A1"))
	assert.Equal(t, vision.PlaceBare, p.Place(lit(gone, 0.7), "A1"), "in less light everywhere")
	for _, factor := range []float64{0.4, 2, 3} {
		box := func(p geom.Point) (float64, bool) {
			return factor * visiontest.MatLight, p.Distance(geom.Point{X: 60, Y: 60}) < 39
		}
		assert.Equal(t, vision.PlaceCovered, p.Place(visiontest.Draw(table, there, 0.004, box), "A1"), "%g times the mat's light", factor)
	}
}

// A ship that a hand pushes while it covers half of it is noticed before its pose is off
// by more than unnoticed allows for at two sigmas.
func TestACornerTellsThatAShipIsThere(t *testing.T) {
	table := visiontest.Table(visiontest.Scale)
	l, err := ship.NewLocator(table, calibration.Uncertainty{})
	require.NoError(t, err)
	tok := visiontest.Token(t, "A1", engine.Small)
	hand := func(p geom.Point) (float64, bool) { return 0.55, p.X > 98 && p.Y > 40 && p.Y < 150 }
	farthest, missed := 0.0, 0
	turns := 3
	if testing.Short() {
		turns = 1
	}
	for turn := range turns {
		pose := visiontest.Pose(100, 100, 34*float64(turn))
		p := NewAppearanceMemory()
		full := visiontest.Draw(table, []visiontest.Placed{{Token: tok, Pose: pose}}, 0.004)
		found, err := l.Locate(vision.Frame{Gray: full})
		require.NoError(t, err)
		require.Len(t, found.Ships, 1)
		p.Remember(full, found.Ships)
		if p.Place(visiontest.Draw(table, []visiontest.Placed{{Token: tok, Pose: pose}}, 0.008, hand), "A1") != vision.PlacePartly {
			missed++
		}
		for dir := range 4 {
			for _, d := range []float64{0.3, 0.4, 0.5, 0.7, 1, 2.67, 5.33} {
				moved := pose
				moved.Point = pose.Add(geom.Point{X: math.Cos(float64(dir)*math.Pi/2 + 0.3), Y: math.Sin(float64(dir)*math.Pi/2 + 0.3)}.Mul(d))
				if p.Place(visiontest.Draw(table, []visiontest.Placed{{Token: tok, Pose: moved}}, 0.004, hand), "A1") == vision.PlacePartly {
					farthest = max(farthest, d)
				}
			}
		}
	}
	t.Logf("still taken for being there after a push of %.1f mm at most; not believed to be there though it was: %d of %d",
		farthest, missed, turns)
	assert.LessOrEqual(t, farthest, 2*unnoticed.Millimeters())
	assert.Zero(t, missed)
}
