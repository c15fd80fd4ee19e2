package lens

import (
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/calibration/linalg"
	"sightline/engine/geom"
)

// randomLens draws a camera as people have them: from 40 to 85 degrees across, 720p to
// 4K, a barrel that grows with the angle, and the small rest that lenses show.
func randomLens(rng *rand.Rand) calibration.Intrinsics {
	sizes := [...][2]int{{1280, 720}, {1920, 1080}, {1920, 1440}, {3840, 2160}}
	s := sizes[rng.IntN(len(sizes))]
	w, h := float64(s[0]), float64(s[1])
	half := (20 + 22.5*rng.Float64()) * math.Pi / 180
	f := w / 2 / math.Tan(half)
	k1 := -0.3*rng.Float64()*half + 0.05*rng.NormFloat64()
	return calibration.Intrinsics{Width: s[0], Height: s[1],
		Fx: f, Fy: f * (1 + 0.001*rng.NormFloat64()), Cx: w/2 + 0.01*w*rng.NormFloat64(), Cy: h/2 + 0.01*h*rng.NormFloat64(),
		Distortion: [5]float64{k1, -0.3*k1 + 0.03*rng.NormFloat64(),
			0.0005 * rng.NormFloat64(), 0.0005 * rng.NormFloat64(), 0.02 * rng.NormFloat64()}}
}

// randomViews draws boards held anywhere in the picture and tilted any way, as far as
// they are wholly seen.
func randomViews(rng *rand.Rand, lens calibration.Intrinsics, board calibration.Board, n int, noise float64,
) (views []calibration.BoardView) {
	object := board.Points()
	w, h := float64(board.Cols-1)*float64(board.Square), float64(board.Rows-1)*float64(board.Square)
	for len(views) < n {
		tilt, way := 0.7*math.Sqrt(rng.Float64()), 2*math.Pi*rng.Float64()
		tilted := calibration.RotationFromVector(calibration.Vec3{tilt * math.Cos(way), tilt * math.Sin(way), 0})
		turned := calibration.RotationFromVector(calibration.Vec3{0, 0, 0.6 * rng.NormFloat64()})
		e := calibration.Extrinsics{R: calibration.MulMat3(tilted, turned)}
		z := lens.Fx * w / (float64(lens.Width) * (0.3 + 0.5*rng.Float64()))
		mid := e.Camera(calibration.Vec3{w / 2, h / 2, 0})
		at := geom.Pixel{X: float64(lens.Width) * rng.Float64(), Y: float64(lens.Height) * rng.Float64()}
		e.T = calibration.Vec3{(at.X-lens.Cx)/lens.Fx*z - mid[0], (at.Y-lens.Cy)/lens.Fy*z - mid[1], z - mid[2]}
		v := calibration.BoardView{Name: strconv.Itoa(len(views))}
		for _, p := range object {
			q := e.Camera(calibration.Vec3{p.X, p.Y, 0})
			px := lens.Project(q[0]/q[2], q[1]/q[2])
			if q[2] < 1 || !lens.Contains(px) {
				v.Pixels = nil
				break
			}
			v.Pixels = append(v.Pixels, px.Add(geom.Pixel{X: noise * rng.NormFloat64(), Y: noise * rng.NormFloat64()}))
		}
		if v.Pixels != nil {
			views = append(views, v)
		}
	}
	return views
}

// registeredThrough is where a camera with this lens takes itself to be, over a mat whose
// markers it sees through the true one.
func registeredThrough(t *testing.T, truth, lens calibration.Intrinsics) calibration.Camera {
	t.Helper()
	pose, layout := matPose(truth)
	cam := calibration.Camera{Intrinsics: truth, Extrinsics: pose}
	for range 20 {
		normal, right := make([]float64, 36), make([]float64, 6)
		for _, m := range layout.Markers {
			for _, p := range m.Corners() {
				seen, ok := cam.PixelOf(p, m.Z)
				require.True(t, ok)
				px, jac := calibration.ProjectionJacobian(&lens, pose.Camera(calibration.Vec3{p.X, p.Y, float64(m.Z)}), pose.T)
				for axis, r := range [2]float64{seen.X - px.X, seen.Y - px.Y} {
					for a, v := range jac[axis] {
						right[a] += v * r
						for b, w := range jac[axis] {
							normal[6*a+b] += v * w
						}
					}
				}
			}
		}
		step, ok := linalg.SolveSPD(normal, right)
		require.True(t, ok)
		pose = pose.Perturbed(calibration.Vec3{step[0], step[1], step[2]}, calibration.Vec3{step[3], step[4], step[5]})
	}
	return calibration.Camera{Intrinsics: lens, Extrinsics: pose}
}

// TestStatedIntervalsOfALensHoldTheTruth draws lenses and captures: 95 of 100 stated
// 95 % intervals must hold the truth, of the intrinsics and of points on the mat.
func TestStatedIntervalsOfALensHoldTheTruth(t *testing.T) {
	if testing.Short() {
		t.Skip("solves many lenses")
	}
	n := 24
	if os.Getenv("SIGHTLINE_ACCURACY") == "full" {
		n = 200
	}
	rng := rand.New(rand.NewPCG(4, 2))
	board := calibration.Board{Cols: 9, Rows: 6, Square: 25}
	names := [...]string{"fx", "fy", "cx", "cy", "mat level", "4 mm up"}
	inside, all := map[string]float64{}, map[string]float64{}
	count := func(name string, err, variance float64) {
		all[name]++
		if err*err <= 1.96*1.96*variance {
			inside[name]++
		}
	}
	chosen := map[string]int{}
	var worstMat, worstStated float64
	for range n {
		truth := randomLens(rng)
		views := randomViews(rng, truth, board, 10+rng.IntN(9), 0.05+0.2*rng.Float64())
		s, err := Solve(board, views, truth.Width, truth.Height)
		require.NoError(t, err, "%+v", truth)
		chosen[s.Model]++
		got, want := s.Lens.Parameters(), truth.Parameters()
		for k := range 4 {
			count(names[k], got[k]-want[k], s.Lens.Covariance[10*k])
		}
		truePose, _ := matPose(truth)
		real, cam := calibration.Camera{Intrinsics: truth, Extrinsics: truePose}, registeredThrough(t, truth, s.Lens)
		view, ok := newMatView(s.Lens)
		require.True(t, ok)
		worst := 0.0
		for i := range 5 {
			for k := range 5 {
				p := geom.Point{X: view.side * float64(i) / 4, Y: view.side * float64(k) / 4}
				for z, name := range map[geom.Length]string{0: names[4], 4: names[5]} {
					px, ok := real.PixelOf(p, z)
					require.True(t, ok)
					at, ok := cam.PointAt(px, z)
					require.True(t, ok)
					x, y := view.variance(p, float64(z))
					count(name, at.X-p.X, x)
					count(name, at.Y-p.Y, y)
					worst = max(worst, math.Abs(at.X-p.X), math.Abs(at.Y-p.Y))
				}
			}
		}
		worstMat, worstStated = max(worstMat, worst), max(worstStated, float64(s.MatSigma))
	}
	t.Logf("%d lenses, models %v; worst error of a mat point %.3f mm, greatest stated sigma %.3f mm", n, chosen, worstMat, worstStated)
	for _, name := range names {
		share := inside[name] / all[name]
		t.Logf("%-9s %.1f %% of %.0f inside their 95 %% interval", name, 100*share, all[name])
		slack := 0.0
		if n < 200 {
			slack = 0.09
		}
		// A few dozen draws scatter: a standard deviation of 4 %.
		assert.GreaterOrEqual(t, share, 0.93-slack, name)
		assert.LessOrEqual(t, share, 0.97+slack, name)
	}
}
