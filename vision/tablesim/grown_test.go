package tablesim_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/engine/geom"
	"sightline/vision/tablesim"
)

// TestAGrownPictureIsWithinItsSigma: after the camera came nearer or its focal length grew, by up to 1 %, a registration with the old lens
// and a sigma of the growth measures distances between bases within what it states, and the plain one does not always.
func TestAGrownPictureIsWithinItsSigma(t *testing.T) {
	layout := calibration.DefaultLayout(calibration.MatSide, calibration.MatSide)
	rng := rand.New(rand.NewPCG(1, 2))
	worst, plainWorst, squares, n, refused := 0.0, 0.0, 0.0, 0.0, 0
	for _, tilt := range []geom.Angle{0, 10, 20, 35} {
		s, err := tablesim.Open(tablesim.Options{Width: 1920, Height: 1080, Tilt: &[2]geom.Angle{tilt * geom.Degree, 0}})
		require.NoError(t, err)
		for _, distortion := range [][5]float64{{}, {-0.12, 0.03}} {
			for _, grown := range []float64{-0.01, -0.003, -0.001, 0.001, 0.003, 0.01} {
				for _, lensGrew := range []bool{true, false} {
					believed := s.Camera()
					believed.Distortion = distortion
					truth := believed
					if lensGrew {
						truth.Fx, truth.Fy = truth.Fx*(1+grown), truth.Fy*(1+grown)
					} else {
						truth.T[2] /= 1 + grown
					}
					seen := markersIn(&truth, layout, rng)
					table, err := calibration.Register(believed.Intrinsics.WithFocalSigma(math.Abs(grown)), layout, seen)
					if err != nil { // the markers, seen aslant, tell that it was the lens
						assert.True(t, lensGrew, err)
						refused++
						continue
					}
					w, sum, k := distancesOff(t, table, &truth)
					worst, squares, n = max(worst, w), squares+sum, n+k
					if plain, err := calibration.Register(believed.Intrinsics, layout, seen); err == nil {
						p, _, _ := distancesOff(t, plain, &truth)
						plainWorst = max(plainWorst, p)
					}
				}
			}
		}
		require.NoError(t, s.Close())
	}
	t.Logf("%.0f distances: %.2f sigmas at worst, %.2f rms; without the growth's sigma %.1f at worst; %d registrations refused", n, worst,
		math.Sqrt(squares/n), plainWorst, refused)
	assert.Less(t, worst, 3.0)
}

// markersIn is what a picture by a camera shows of the markers, with a noise of 0.05 px.
func markersIn(camera *calibration.Camera, layout calibration.Layout, rng *rand.Rand) (out []calibration.MarkerSighting) {
	for _, m := range layout.Markers {
		k := calibration.MarkerSighting{ID: m.ID}
		all := true
		for i, c := range m.Corners() {
			px, ok := camera.PixelOf(c, m.Z)
			all = all && ok
			k.Corners[i] = px.Add(geom.Pixel{X: 0.05 * rng.NormFloat64(), Y: 0.05 * rng.NormFloat64()})
		}
		if all {
			out = append(out, k)
		}
	}
	return out
}

// distancesOff measures distances of 300 mm all over the mat, 4 mm above it: the worst error in stated sigmas, the sum of the squares, and
// how many.
func distancesOff(t *testing.T, table calibration.Table, truth *calibration.Camera) (worst, squares, n float64) {
	const z = 4 * geom.Millimeter
	budget := calibration.NewBudget(table, calibration.Uncertainty{})
	at := func(p geom.Point) (geom.Point, bool) {
		px, ok := truth.PixelOf(p, z)
		if !ok {
			return p, false
		}
		return table.PointAt(px, z)
	}
	for x := 30.0; x < 900; x += 140 {
		for y := 30.0; y < 900; y += 140 {
			for _, by := range []geom.Point{{X: 300}, {Y: 300}, {X: 212, Y: 212}} {
				p, q := geom.Point{X: x, Y: y}, geom.Point{X: x, Y: y}.Add(by)
				a, ok := at(p)
				b, ok2 := at(q)
				if q.X > 900 || q.Y > 900 || !ok || !ok2 {
					continue
				}
				sigma, ok := budget.Distance(calibration.Spot{Point: p, Z: z}, calibration.Spot{Point: q, Z: z}, 1)
				require.True(t, ok)
				off := math.Abs(float64(a.Distance(b)-p.Distance(q))) / float64(sigma)
				worst, squares, n = max(worst, off), squares+off*off, n+1
			}
		}
	}
	return worst, squares, n
}
