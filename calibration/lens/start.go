package lens

import (
	"fmt"
	"math"

	"sightline/calibration"
	"sightline/engine/geom"
)

// viewHomography fits a homography to a view, with pixels relative to center in units of
// unit.
func viewHomography(object []geom.Point, v calibration.BoardView, center geom.Pixel, unit float64) (calibration.Homography, bool) {
	from, to := make([]geom.Point, len(v.Pixels)), make([]geom.Pixel, len(v.Pixels))
	for k, px := range v.Pixels {
		from[k], to[k] = object[v.Index(k)], px.Sub(center).Mul(1/unit)
	}
	return calibration.FitHomography(from, to)
}

// startFocal returns a first focal length in the homographies' pixel unit, from the
// columns r1, r2 of every board's rotation, which are perpendicular and equally long
// (Zhang 2000, section 3.1), for square pixels and the principal point in the middle. It
// reports false when no board is tilted enough.
func startFocal(maps []calibration.Homography) (float64, bool) {
	var ab, aa float64
	for _, h := range maps {
		// s a + b = 0 with s = 1/f², on the scale of h's own size.
		n := math.Sqrt(h[0]*h[0] + h[3]*h[3] + h[1]*h[1] + h[4]*h[4])
		if !(n > 0) {
			continue
		}
		for _, e := range [2][2]float64{
			{h[0]*h[1] + h[3]*h[4], h[6] * h[7]},
			{h[0]*h[0] + h[3]*h[3] - h[1]*h[1] - h[4]*h[4], h[6]*h[6] - h[7]*h[7]},
		} {
			a, b := e[0]/(n*n), e[1]/(n*n)
			aa, ab = aa+a*a, ab+a*b
		}
	}
	s := -ab / aa
	if !(s > 0) || math.IsInf(s, 0) {
		return 0, false
	}
	f := 1 / math.Sqrt(s)
	return f, f > 0.2 && f < 20
}

// poseOf returns the board's pose from a homography to pixels in units of the focal
// length: the nearest rotation, and the distance from the mean length of its columns.
func poseOf(h *calibration.Homography) (calibration.Extrinsics, bool) {
	e := calibration.PoseOfColumns(calibration.Vec3{h[0], h[3], h[6]}, calibration.Vec3{h[1], h[4], h[7]}, calibration.Vec3{h[2], h[5], h[8]})
	ok := true
	for i := range 3 {
		ok = ok && !math.IsNaN(e.T[i]) && !math.IsNaN(e.R[i][2])
	}
	return e, ok
}

// defaultFocal is the focal length assumed when the views do not fix one, as a multiple
// of the picture's width: a horizontal field of 58 degrees.
const defaultFocal = 0.9

// startLens returns first values of the lens and of every board's pose in closed form.
// It fails when a view's points stand in a row.
func startLens(board calibration.Board, views []calibration.BoardView, width, height int,
) (calibration.Intrinsics, []calibration.Extrinsics, error) {
	in := calibration.Intrinsics{Width: width, Height: height, Cx: float64(width-1) / 2, Cy: float64(height-1) / 2}
	object := board.Points()
	unit := float64(width)
	maps := make([]calibration.Homography, len(views))
	for i, v := range views {
		var ok bool
		if maps[i], ok = viewHomography(object, v, geom.Pixel{X: in.Cx, Y: in.Cy}, unit); !ok {
			return in, nil, fmt.Errorf("%s: its corners stand in a row", v.Name)
		}
	}
	f, ok := startFocal(maps)
	if !ok {
		f = defaultFocal
	}
	in.Fx, in.Fy = f*unit, f*unit
	poses := make([]calibration.Extrinsics, len(views))
	for i := range maps {
		for k := range 6 {
			maps[i][k] /= f
		}
		if poses[i], ok = poseOf(&maps[i]); !ok {
			return in, nil, fmt.Errorf("%s: its corners are not those of a flat board in front of the camera", views[i].Name)
		}
	}
	return in, poses, nil
}
