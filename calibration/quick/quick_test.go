package quick_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/calibration/quick"
	"sightline/engine/geom"
)

// camera looks down on a standard mat from 1.25 m, tilted by a few degrees.
func camera(tilt geom.Angle) calibration.Camera {
	down := [3][3]float64{{1, 0, 0}, {0, -1, 0}, {0, 0, -1}}
	r := calibration.MulMat3(calibration.RotationFromVector(calibration.Vec3{float64(tilt), float64(tilt) / 2, 0}), down)
	e := calibration.Extrinsics{R: r}
	middle := e.Camera(calibration.Vec3{457.2, 457.2, 0})
	e.T = calibration.Vec3{-middle[0], -middle[1], 1250 - middle[2]}
	return calibration.Camera{
		Intrinsics: calibration.Intrinsics{Width: 1920, Height: 1080, Fx: 1225, Fy: 1226, Cx: 968, Cy: 533,
			Distortion: [5]float64{-0.08, 0.03, 0.0004, -0.0003, -0.004}},
		Extrinsics: e,
	}
}

// sightings are the layout's markers as the camera sees them, to 0.05 px.
func sightings(cam *calibration.Camera, layout calibration.Layout, rng *rand.Rand) (seen []calibration.MarkerSighting) {
	for _, m := range layout.Markers {
		s := calibration.MarkerSighting{ID: m.ID}
		for k, p := range m.Corners() {
			px, _ := cam.PixelOf(p, m.Z)
			s.Corners[k] = px.Add(geom.Pixel{X: 0.05 * rng.NormFloat64(), Y: 0.05 * rng.NormFloat64()})
		}
		seen = append(seen, s)
	}
	return seen
}

var standard = calibration.DefaultLayout(calibration.MatSide, calibration.MatSide)

// worst is how far the table puts points of the mat and of bases' tops from where they are, mm.
func worst(t *testing.T, truth *calibration.Camera, table *calibration.Table) (far float64) {
	t.Helper()
	for x := 0.0; x <= 914.4; x += 114.3 {
		for y := 0.0; y <= 914.4; y += 114.3 {
			for _, z := range [...]geom.Length{0, 4} {
				px, ok := truth.PixelOf(geom.Point{X: x, Y: y}, z)
				require.True(t, ok)
				got, ok := table.PointAt(px, z)
				require.True(t, ok)
				far = max(far, math.Hypot(got.X-x, got.Y-y))
			}
		}
	}
	return far
}

// Views from elsewhere tell the focal length, and the place is that of the last view.
func TestViewsFromElsewhereTellTheFocalLength(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	above, aslant, other := camera(0.02), camera(0.4), camera(-0.35)
	one := quick.View{Name: "above", Seen: sightings(&above, standard, rng)}
	in := quick.Input{Layout: standard, Views: []quick.View{one}, Width: 1920, Height: 1080}
	single, err := quick.Solve(in)
	require.NoError(t, err)
	in.Views = []quick.View{
		{Name: "aslant", Seen: sightings(&aslant, standard, rng)}, {Name: "other", Seen: sightings(&other, standard, rng)}, one,
	}
	three, err := quick.Solve(in)
	require.NoError(t, err)
	assert.Greater(t, single.FocalSigma, 0.1, "from straight above the focal length is a guess")
	assert.Less(t, three.FocalSigma, 0.01)
	assert.InEpsilon(t, 1225, three.Table.Fx, 0.02)
	assert.Less(t, worst(t, &above, &single.Table), 0.8)
	assert.Less(t, worst(t, &above, &three.Table), 0.5)
	assert.Equal(t, 3, three.Views)
	path := t.TempDir() + "/table.json"
	require.NoError(t, calibration.SaveTable(path, &three.Table))
	again, err := calibration.LoadTable(path)
	require.NoError(t, err)
	assert.InDelta(t, three.Table.Intrinsics.Covariance[0], again.Intrinsics.Covariance[0], 1e-6)
}

func TestABumpedMarkerIsNamed(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 1))
	cam := camera(0.1)
	for bumped := range standard.Markers {
		moved := standard
		moved.Markers = append([]calibration.Marker(nil), standard.Markers...)
		moved.Markers[bumped].Center = moved.Markers[bumped].Center.Add(geom.Point{X: 9, Y: -9})
		moved.Markers[bumped].Heading += 4 * geom.Degree
		s, err := quick.Solve(quick.Input{Layout: standard, Views: []quick.View{{Seen: sightings(&cam, moved, rng)}}, Width: 1920, Height: 1080})
		require.NoError(t, err)
		require.Len(t, s.Table.Rejected, 1, "marker %d", bumped)
		assert.NotContains(t, s.Table.Used, standard.Markers[bumped].ID)
		assert.Less(t, worst(t, &cam, &s.Table), 1.5)
	}
}

func TestBadSightingsAreRefused(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	cam := camera(0.1)
	all := sightings(&cam, standard, rng)
	mirrored := append([]calibration.MarkerSighting(nil), all...)
	for i := range mirrored {
		for k := range mirrored[i].Corners {
			mirrored[i].Corners[k].X = 1919 - mirrored[i].Corners[k].X
		}
	}
	nowhere := append([]calibration.MarkerSighting(nil), all...)
	nowhere[0].Corners[0].X = math.NaN()
	for says, in := range map[string]quick.Input{
		"no pictures":               {Layout: standard, Width: 1920, Height: 1080},
		"picture of 0×1080":         {Layout: standard, Views: []quick.View{{Seen: all}}, Height: 1080},
		"2 of 8 markers are usable": {Layout: standard, Views: []quick.View{{Seen: all[:2]}}, Width: 1920, Height: 1080},
		"0 of 8 markers are usable": {Layout: standard, Views: []quick.View{{Seen: append(all, all...)}}, Width: 1920, Height: 1080},
		"in mirror image":           {Layout: standard, Views: []quick.View{{Seen: mirrored}}, Width: 1920, Height: 1080},
		"marker 0: corner at":       {Layout: standard, Views: []quick.View{{Seen: nowhere}}, Width: 1920, Height: 1080},
		"layout: mat: width":        {Views: []quick.View{{Seen: all}}, Width: 1920, Height: 1080},
		"sigmas that are not negative": {Layout: standard, Views: []quick.View{{Seen: all}}, Width: 1920, Height: 1080,
			CornerSigma: math.NaN()},
	} {
		_, err := quick.Solve(in)
		assert.ErrorContains(t, err, says)
	}
}

// Corners in another order than asked for, or of a mat of another size, are refused or carry what they may be off.
func TestCorners(t *testing.T) {
	cam := camera(0.2)
	var at []geom.Pixel
	for _, p := range standard.Corners() {
		px, _ := cam.PixelOf(p, 0)
		at = append(at, px)
	}
	in, err := quick.Corners(standard.Width, standard.Height, at, 0, 1920, 1080)
	require.NoError(t, err)
	s, err := quick.Solve(in)
	require.NoError(t, err)
	assert.True(t, quick.IsCorners(s.Table.Layout))
	assert.Less(t, worst(t, &cam, &s.Table), 12.0)
	coarse := calibration.NewBudget(s.Table, calibration.Uncertainty{})
	terms, ok := coarse.At(geom.Point{X: 457, Y: 457}, 4)
	require.True(t, ok)
	assert.Greater(t, float64(calibration.LargestSigma(terms.Total(1))), 1.0, "nothing says how the lens bends")

	for _, k := range []float64{0.25, 0.5, 0.75} { // points of all edges do
		for i, p := range standard.Corners() {
			next := standard.Corners()[(i+1)%4]
			px, _ := cam.PixelOf(p.Add(next.Sub(p).Mul(k)), 0)
			at = append(at, px)
		}
	}
	in, err = quick.Corners(standard.Width, standard.Height, at, 0, 1920, 1080)
	require.NoError(t, err)
	s, err = quick.Solve(in)
	require.NoError(t, err)
	assert.Len(t, s.Table.Layout.Markers, 4, "points of the edges are of no use to those who read the table")
	assert.Less(t, worst(t, &cam, &s.Table), 2.0)

	at[0], at[1] = at[1], at[0]
	in, err = quick.Corners(standard.Width, standard.Height, at[:4], 0, 1920, 1080)
	if err == nil {
		_, err = quick.Solve(in)
	}
	assert.ErrorIs(t, err, quick.ErrMarkers)
	_, err = quick.Corners(standard.Width, standard.Height, at[:3], 0, 1920, 1080)
	assert.ErrorContains(t, err, "got 3 points")
	row := []geom.Pixel{{X: 1}, {X: 2}, {X: 3}, {X: 4}}
	_, err = quick.Corners(standard.Width, standard.Height, row, 0, 1920, 1080)
	assert.ErrorIs(t, err, quick.ErrMarkers)
}

// Pictures of a camera that stands still count as one.
func TestMergeAveragesOneView(t *testing.T) {
	at := func(id int, x float64) calibration.MarkerSighting {
		s := calibration.MarkerSighting{ID: id}
		for k := range s.Corners {
			s.Corners[k] = geom.Pixel{X: x + float64(k)}
		}
		return s
	}
	got := quick.Merge([]quick.View{
		{"a", []calibration.MarkerSighting{at(0, 10), at(1, 50)}}, {"b", []calibration.MarkerSighting{at(0, 11)}},
		{"c", []calibration.MarkerSighting{at(0, 30), at(1, 70), at(1, 70)}}, {"d", nil},
	})
	require.Len(t, got, 3)
	assert.Equal(t, "b", got[0].Name)
	assert.Equal(t, []calibration.MarkerSighting{at(0, 10.5), at(1, 50)}, got[0].Seen)
	assert.Len(t, got[1].Seen, 3, "what is seen twice stays twice")
	assert.Empty(t, got[2].Seen)
}
