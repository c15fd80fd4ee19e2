package tablesim

import (
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/calibration/linalg"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision/locate"
	"sightline/vision/token"
)

// The bound. Of independent pixels with Gaussian noise of known variance s², whose means
// I(p) depend on the pose p, the Fisher information is
//
//	F = Σ (1/s²) (∂I/∂p) (∂I/∂p)ᵀ
//
// and no unbiased estimate of p has a covariance below F⁻¹ (S. M. Kay, Fundamentals of
// Statistical Signal Processing: Estimation Theory, 1993, equations 3.21 and 3.31, the
// term of the variance's own derivative left out). The light is taken for known, so that the
// bound is the lowest there is: the fit has to find the light as well.

// closeCamera looks at a piece of the mat as large as a base, from where and as sharply as one
// that sees all of it at 1080p.
func closeCamera(at geom.Point) calibration.Camera {
	lens := calibration.Intrinsics{Width: 120, Height: 120, Fx: 1225, Fy: 1226.2, Cx: 59.5, Cy: 59.5}
	return cameraOver(lens, at, 1250, 8*deg, -6*deg, 1*deg)
}

// lonely is a table with one bare ship on even ground.
func lonely(pose geom.Pose, b engine.Base, fullWell float64) *Table {
	t := &Table{
		Camera: closeCamera(pose.Point), Layout: calibration.DefaultLayout(calibration.MatSide, calibration.MatSide),
		Scene: engine.Scene{Rules: engine.Rules25, MatWidth: calibration.MatSide, MatHeight: calibration.MatSide,
			Ships: []engine.Ship{{ID: "A1", Player: 1, Base: b, Pose: pose}}},
		Look: DefaultLook(), Seed: 1,
	}
	t.Look.Mat, t.Look.FullWell = MatPlain, fullWell
	t.Look.Samples = 12 // the derivative needs edges that move as smoothly as the base
	return t
}

// rendered returns what a table's camera receives, without noise.
func rendered(t *testing.T, table *Table) *renderer {
	t.Helper()
	r, err := newRenderer(table)
	require.NoError(t, err)
	require.NoError(t, r.update(table))
	return r
}

// greyMean returns a pixel's mean grey level, not rounded, and its variance: each channel's
// noise through the slope of the curve, and the rounding of the channels and of their sum.
func (r *renderer) greyMean(i int) (mean, variance float64) {
	weight := [3]float64{0.299, 0.587, 0.114}
	for c, w := range weight {
		v := float64(r.blurred[3*i+c]) / fullScale
		const dv = 1e-4
		slope := 255 * (srgbEncode(v+dv) - srgbEncode(math.Max(v-dv, 0))) / (v + dv - math.Max(v-dv, 0))
		s := slope * float64(r.sensor.sigma[r.blurred[3*i+c]>>5]) / fullScale
		mean += w * 255 * srgbEncode(v)
		variance += w * w * (s*s + 1.0/12)
	}
	return mean, variance + 1.0/12
}

// bound returns the Cramér-Rao bound of a lonely ship's pose, x, y in mm, heading in radians: from all
// pixels, and from those of the rim that the fit looks at.
func bound(t *testing.T, table *Table) (all, rim [3]float64) {
	t.Helper()
	at := rendered(t, table)
	steps := [3]float64{0.2, 0.2, 0.2 / 20}
	var sides [3][2]*renderer
	for k := range 3 {
		for j, sign := range [2]float64{-1, 1} {
			moved := *table
			moved.Scene.Ships = append([]engine.Ship(nil), table.Scene.Ships...)
			p := &moved.Scene.Ships[0].Pose
			switch k {
			case 0:
				p.X += sign * steps[k]
			case 1:
				p.Y += sign * steps[k]
			default:
				p.Heading += geom.Angle(sign * steps[k])
			}
			sides[k][j] = rendered(t, &moved)
		}
	}
	pose, half := table.Scene.Ships[0].Pose, 20.0
	var info, rimInfo [9]float64
	for i := range at.lens.w * at.lens.h {
		_, s2 := at.greyMean(i)
		place, ok := table.Camera.PointAt(geom.Pixel{X: float64(i % at.lens.w), Y: float64(i / at.lens.w)}, token.BaseTop)
		require.True(t, ok)
		local := pose.Inverse(place)
		x, y := math.Abs(local.X), math.Abs(local.Y)
		depth := half - max(x, y)
		inRim := depth > -1.3 && depth < 3.3 && min(x, y) < half-2.2 // what the fit looks at: fitOutside, fitInside, fitCorner
		var d [3]float64
		for k := range 3 {
			b, _ := sides[k][1].greyMean(i)
			a, _ := sides[k][0].greyMean(i)
			d[k] = (b - a) / (2 * steps[k])
		}
		for r := range 3 {
			for c := range 3 {
				info[3*r+c] += d[r] * d[c] / s2
				if inRim {
					rimInfo[3*r+c] += d[r] * d[c] / s2
				}
			}
		}
	}
	return leastSigmas(t, info), leastSigmas(t, rimInfo)
}

// leastSigmas returns the roots of the diagonal of an information matrix's inverse.
func leastSigmas(t *testing.T, info [9]float64) (out [3]float64) {
	t.Helper()
	for k := range 3 {
		e := [3]float64{}
		e[k] = 1
		col, ok := linalg.SolveSPD(append([]float64(nil), info[:]...), e[:])
		require.True(t, ok)
		out[k] = math.Sqrt(col[k])
	}
	return out
}

// TestTheFitIsNearTheCramerRaoBound measures the pose of bare ships in many exposures of the
// same table. What changes from exposure to exposure is held against the bound; what
// stays, the fit's own bias on the pixel grid, noise cannot bound, and is stated next to it.
func TestTheFitIsNearTheCramerRaoBound(t *testing.T) {
	if testing.Short() {
		t.Skip("it draws and searches many pictures: run without -short")
	}
	poses, exposures := 3, 20
	if os.Getenv("SIGHTLINE_ACCURACY") != "" {
		poses, exposures = 16, 60
	}
	for _, fullWell := range []float64{8000, 1000, 200} {
		r := rand.New(rand.NewPCG(3, 3))
		var scatter, total [3]float64
		n := 0
		var limit, ratio [3]float64
		for range poses {
			pose := geom.Pose{Point: geom.Point{X: 200 + 500*r.Float64(), Y: 200 + 500*r.Float64()}, Heading: geom.Angle(2 * math.Pi * r.Float64())}
			table := lonely(pose, engine.Small, fullWell)
			whole, least := bound(t, table)
			shown := rendered(t, table)
			l, err := locate.New(calibration.Table{Camera: table.Camera, Layout: table.Layout}, locate.Options{})
			require.NoError(t, err)
			var sum, square, off [3]float64
			seen := 0
			for k := range exposures {
				got, err := l.Locate(shown.expose(uint64(k + 1)))
				require.NoError(t, err)
				if len(got.Scene.Ships) != 1 {
					continue
				}
				p := got.Scene.Ships[0].Pose
				e := [3]float64{p.X - pose.X, p.Y - pose.Y, float64((p.Heading - pose.Heading).Signed())}
				seen++
				for i, v := range e {
					v /= least[i]
					sum[i], square[i], off[i] = sum[i]+v, square[i]+v*v, off[i]+v*v
				}
			}
			require.Greater(t, seen, exposures/2)
			for i := range 3 {
				scatter[i] += (square[i] - sum[i]*sum[i]/float64(seen)) / float64(seen-1)
				total[i] += off[i] / float64(seen)
				limit[i] += least[i] / float64(poses)
				ratio[i] += least[i] / whole[i] / float64(poses)
			}
			n++
		}
		for i := range 3 {
			scatter[i], total[i] = math.Sqrt(scatter[i]/float64(n)), math.Sqrt(total[i]/float64(n))
		}
		t.Logf("full well %5.0f: bound %.4f mm, %.4f mm, %.4f°; scatter over bound %.2f, %.2f, %.2f; with the fit's own bias %.2f, %.2f, %.2f; "+
			"the rim's bound is %.2f, %.2f, %.2f times that of all pixels",
			fullWell, limit[0], limit[1], limit[2]/deg, scatter[0], scatter[1], scatter[2], total[0], total[1], total[2], ratio[0], ratio[1],
			ratio[2])
		both := math.Sqrt((scatter[0]*scatter[0] + scatter[1]*scatter[1] + scatter[2]*scatter[2]) / 3)
		assert.Greater(t, both, 0.7, "less than the bound: the bound is wrong")
		assert.LessOrEqual(t, both, 1.5, "full well %g: scatter over the Cramér-Rao bound", fullWell)
	}
}
