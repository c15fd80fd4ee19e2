package lens_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/calibration/lens"
	"sightline/engine/geom"
)

var testBoard = calibration.Board{Cols: 9, Rows: 6, Square: 25 * geom.Millimeter}

// boardPose is a board 500 mm away, its middle near the axis, turned about x, y
// (tilt) and z.
func boardPose(rx, ry, rz, x, y, z float64) calibration.Extrinsics {
	r := calibration.MulMat3(calibration.RotationFromVector(calibration.Vec3{rx, ry, 0}),
		calibration.RotationFromVector(calibration.Vec3{0, 0, rz}))
	e := calibration.Extrinsics{R: r}
	mid := e.Camera(calibration.Vec3{100, 62.5, 0})
	e.T = calibration.Vec3{x - mid[0], y - mid[1], z - mid[2]}
	return e
}

// tilted is twelve boards tilted every way; scaled to 0 they are all parallel.
func tilted(scale float64) (poses []calibration.Extrinsics) {
	for i := range 12 {
		a := float64(i) * math.Pi / 6
		poses = append(poses, boardPose(0.5*scale*math.Cos(a), 0.5*scale*math.Sin(a), 0.2*float64(i%3),
			90*math.Cos(2*a), 50*math.Sin(3*a), 420+30*float64(i%4)))
	}
	return poses
}

// seeBoards projects the boards through the lens, with noise of sigma px an axis.
func seeBoards(in calibration.Intrinsics, poses []calibration.Extrinsics, sigma float64, rng *rand.Rand) (views []calibration.BoardView) {
	for i, e := range poses {
		v := calibration.BoardView{Name: fmt.Sprintf("view%02d", i)}
		for _, p := range testBoard.Points() {
			q := e.Camera(calibration.Vec3{p.X, p.Y, 0})
			px := in.Project(q[0]/q[2], q[1]/q[2])
			v.Pixels = append(v.Pixels, px.Add(geom.Pixel{X: sigma * rng.NormFloat64(), Y: sigma * rng.NormFloat64()}))
		}
		views = append(views, v)
	}
	return views
}

func trueLens() calibration.Intrinsics {
	return calibration.Intrinsics{Width: 1280, Height: 720, Fx: 1010, Fy: 1013, Cx: 652, Cy: 351,
		Distortion: [5]float64{-0.11, 0.06, 0.0008, -0.0005, -0.01}}
}

func TestAnExactSetGivesTheLensBack(t *testing.T) {
	poses := tilted(1)
	views := seeBoards(trueLens(), poses, 0, rand.New(rand.NewPCG(1, 1)))
	s, err := lens.Solve(testBoard, views, 1280, 720)
	require.NoError(t, err)
	truth := trueLens()
	want, got := truth.Parameters(), s.Lens.Parameters()
	for k := range want {
		assert.InDelta(t, want[k], got[k], 1e-5, "parameter %d", k)
	}
	assert.Less(t, s.Lens.RMS, 1e-6)
	assert.Equal(t, 12, s.Lens.Views)
	assert.Empty(t, s.Dropped)
}

func TestTheStatedCovarianceOfALensIsHonest(t *testing.T) {
	if testing.Short() {
		t.Skip("needs many draws, in one goroutine: nothing for the race detector")
	}
	poses := tilted(1)
	rng := rand.New(rand.NewPCG(7, 42))
	truth := trueLens()
	want := truth.Parameters()
	var sum [9]float64
	const n = 40
	for range n {
		s, err := lens.Solve(testBoard, seeBoards(trueLens(), poses, 0.15, rng), 1280, 720)
		require.NoError(t, err)
		assert.InDelta(t, 0.15*math.Sqrt2, s.Lens.RMS, 0.02)
		require.Len(t, s.Lens.Covariance, 81)
		t.Log(s.Model)
		for k, v := range s.Lens.Parameters() {
			sum[k] += (v - want[k]) * (v - want[k]) / s.Lens.Covariance[10*k]
		}
	}
	for k := range sum {
		t.Logf("parameter %d: %.2f", k, math.Sqrt(sum[k]/n))
	}
	for k := range sum { // the rms of 40 draws scatters by 11 %; the jackknife may grow sigma a little
		assert.InDelta(t, 0.95, math.Sqrt(sum[k]/n), 0.35, "error over sigma of parameter %d", k)
	}
}

func TestAViewThatDoesNotFitIsDroppedAndNamed(t *testing.T) {
	poses := tilted(1)
	rng := rand.New(rand.NewPCG(3, 4))
	views := seeBoards(trueLens(), poses, 0.15, rng)
	for i := range views[5].Pixels { // a bent board
		d := float64(i%9) - 4
		views[5].Pixels[i].Y += 0.12 * d * d
	}
	s, err := lens.Solve(testBoard, views, 1280, 720)
	require.NoError(t, err)
	require.Len(t, s.Dropped, 1)
	assert.Equal(t, "view05", s.Dropped[0].Name)
	assert.Contains(t, s.Dropped[0].Reason, "px")
	assert.Equal(t, 11, s.Lens.Views)
	assert.Len(t, s.Views, 11)
	sx, _ := s.FocalSigma()
	assert.InDelta(t, 1010, s.Lens.Fx, 4*sx)
}

func TestASetThatCannotFixTheLensIsRefused(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, c := range []struct {
		name  string
		poses []calibration.Extrinsics
		want  string
	}{
		{"no view", nil, "0 usable views"},
		{"three views", tilted(1)[:3], "3 usable views"},
		{"all boards parallel", tilted(0), "parallel"},
		{"nearly parallel", tilted(0.15), "parallel"},
		{"tilted about one direction only, and little", []calibration.Extrinsics{
			boardPose(0.15, 0, 0, 0, 0, 900), boardPose(-0.15, 0, 0, 10, 5, 900),
			boardPose(0.1, 0, 0, -10, 8, 900), boardPose(-0.1, 0, 0, 5, 5, 900),
		}, "percent"},
	} {
		_, err := lens.Solve(testBoard, seeBoards(trueLens(), c.poses, 0.15, rng), 1280, 720)
		require.ErrorIs(t, err, lens.ErrViews, c.name)
		assert.ErrorContains(t, err, c.want, c.name)
		assert.ErrorContains(t, err, "tilted", c.name)
	}
}

func TestViewsOfAnotherBoardAreAMistake(t *testing.T) {
	poses := tilted(1)
	views := seeBoards(trueLens(), poses, 0, rand.New(rand.NewPCG(1, 1)))
	views[2].Pixels = views[2].Pixels[1:]
	_, err := lens.Solve(testBoard, views, 1280, 720)
	assert.ErrorContains(t, err, "view02: 53 corners, the board has 54")
	_, err = lens.Solve(testBoard, views[3:], 0, 720)
	assert.ErrorContains(t, err, "picture of 0×720")
}
