package verify_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/calibration/verify"
	"sightline/engine/geom"
)

// onBowedMat photographs the card at nine places of a mat of some height: the strips
// follow it as stiff cards do, by the height under each marker.
func (r checkRig) onBowedMat(t *testing.T, rng *rand.Rand, bow func(x, y float64) float64) (out []verify.Sighting) {
	t.Helper()
	for place := range 9 {
		s := verify.Sighting{Name: "place", Frames: 5}
		for i, strip := range r.setup.Card.Strips {
			pose := geom.Pose{
				Point:   geom.Point{X: 60 + 290*float64(place%3) + 110*float64(i), Y: 30 + 290*float64(place/3)},
				Heading: geom.Angle(4*(place%3-1)) * geom.Degree,
			}
			for _, tag := range strip.Tags {
				m := tag
				m.Center = pose.Transform(tag.Center)
				m.Heading += pose.Heading
				m.Z = geom.Length([2]float64{0.2, 4.2}[i] + 0.1*rng.NormFloat64() + bow(m.Center.X, m.Center.Y))
				s.Tags = append(s.Tags, calibration.MarkerSighting{ID: m.ID, Corners: cornersOf(t, &r.truth, m, 0.035, rng)})
			}
		}
		out = append(out, s)
	}
	return out
}

// TestTheCardMeasuresHowFlatTheMatIs: over many mats drawn from the prior the
// heights are as far off as they are said to be, and nearer than a flat mat would be.
func TestTheCardMeasuresHowFlatTheMatIs(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 31))
	var flat, fitted, normalised, n float64
	for range 16 {
		r := newCheckRig(t, rng)
		a, th := 0.9*rng.NormFloat64(), math.Pi*rng.Float64()
		bow := func(x, y float64) float64 { // an arch of some direction, by 0.9 mm
			return a * math.Cos(((x-457)*math.Cos(th)+(y-457)*math.Sin(th))/650*math.Pi/2)
		}
		u := calibration.DefaultUncertainty
		u.Flatness = 0.95 // the owner suspects it
		r.setup.Limits = u
		fit, err := verify.FitSurface(r.table, r.setup, r.onBowedMat(t, rng, bow))
		require.NoError(t, err)
		assert.Equal(t, 9, fit.Places)
		assert.Less(t, float64(fit.After), float64(fit.Before))
		for x := 100.0; x < 914; x += 119 {
			for y := 100.0; y < 914; y += 119 {
				p := geom.Point{X: x, Y: y}
				e := float64(fit.Surface.Height(p)) - bow(x, y)
				flat, fitted = flat+bow(x, y)*bow(x, y), fitted+e*e
				normalised, n = normalised+e*e/fit.Surface.Cov(p, p), n+1
			}
		}
	}
	t.Logf("heights: %.2f mm rms over a flat mat, %.2f over the surface; %.2f of the stated sigma",
		math.Sqrt(flat/n), math.Sqrt(fitted/n), math.Sqrt(normalised/n))
	assert.Less(t, fitted, 0.8*flat)
	assert.InDelta(t, 1, math.Sqrt(normalised/n), 0.3, "error of a height over its sigma")
}

// What is not measured keeps the prior's sigma, what is measured loses it, and edges
// do not speak for the middle.
func TestASurfaceIsSureOnlyWhereItWasMeasured(t *testing.T) {
	edge := []calibration.SurfacePlace{
		{Point: geom.Point{X: 0, Y: 0}}, {Point: geom.Point{X: 914, Y: 0}}, {Point: geom.Point{X: 914, Y: 914}},
		{Point: geom.Point{X: 0, Y: 914}},
	}
	cov := make([]float64, 16)
	for i := range 4 {
		cov[5*i] = 0.05 * 0.05
	}
	s, err := calibration.NewSurface(0.3, edge, cov)
	require.NoError(t, err)
	sigma := func(x, y float64) float64 { return math.Sqrt(s.Cov(geom.Point{X: x, Y: y}, geom.Point{X: x, Y: y})) }
	assert.InDelta(t, 0.05, sigma(0, 0), 0.01)
	assert.Greater(t, sigma(457, 457), 0.28, "four corners say nothing of the middle")
	assert.InDelta(t, 0.3, sigma(3000, 3000), 1e-6)
	assert.Zero(t, float64(s.Height(geom.Point{X: 457, Y: 457})))

	for name, bad := range map[string]func() error{
		"no places":     func() error { _, err := calibration.NewSurface(0.3, nil, nil); return err },
		"no covariance": func() error { _, err := calibration.NewSurface(0.3, edge, nil); return err },
		"no sigma":      func() error { _, err := calibration.NewSurface(0, edge, cov); return err },
		"a mat of mountains": func() error {
			_, err := calibration.NewSurface(0.3, []calibration.SurfacePlace{{Z: 500}}, []float64{0.01})
			return err
		},
		"less than nothing": func() error { _, err := calibration.NewSurface(0.3, edge[:1], []float64{1}); return err },
		"one place twice": func() error {
			_, err := calibration.NewSurface(0.3, []calibration.SurfacePlace{edge[0], edge[0]}, []float64{math.NaN(), 0, 0, 0.01})
			return err
		},
	} {
		assert.Error(t, bad(), name)
	}
}

// A table with a surface reads points at heights over the surface, and there and back is
// the same.
func TestATableReadsOverItsSurface(t *testing.T) {
	r := newCheckRig(t, rand.New(rand.NewPCG(32, 32)))
	table := r.table
	surface, err := calibration.NewSurface(1, []calibration.SurfacePlace{{Point: geom.Point{X: 700, Y: 700}, Z: 1.5}}, []float64{0.01})
	require.NoError(t, err)
	table.Surface = surface
	for _, p := range []geom.Point{{X: 700, Y: 700}, {X: 450, Y: 800}, {X: 60, Y: 60}} {
		px, ok := table.PixelOf(p, 4)
		require.True(t, ok)
		back, ok := table.PointAt(px, 4)
		require.True(t, ok)
		assert.Less(t, float64(back.Distance(p)), 1e-9)
		want, _ := table.Camera.PixelOf(p, 4+surface.Height(p))
		assert.Equal(t, want, px)
	}
	flat, _ := calibration.NewBudget(r.table, calibration.Uncertainty{}).At(geom.Point{X: 700, Y: 700}, 4)
	known, _ := calibration.NewBudget(table, calibration.Uncertainty{}).At(geom.Point{X: 700, Y: 700}, 4)
	assert.Less(t, known.Named(calibration.TermFlatness).XX, flat.Named(calibration.TermFlatness).XX, "where it was measured it is surer")
}
