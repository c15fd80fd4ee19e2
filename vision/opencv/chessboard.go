//go:build !nocv

package opencv

import (
	"errors"
	"fmt"
	"image"

	"gocv.io/x/gocv"

	"sightline/calibration"
	"sightline/engine/geom"
	"sightline/vision"
)

// FindChessboard finds the inner corners of a chessboard with cols × rows of them,
// row by row, to a fraction of a pixel (OpenCV's sector-based detector, exhaustive).
// It reports false when there is no such board, whole, in the picture.
func FindChessboard(f vision.Frame, cols, rows int) ([]geom.Pixel, bool, error) {
	if cols < 3 || rows < 3 {
		return nil, false, fmt.Errorf("opencv: find chessboard: %d×%d inner corners, expected at least 3×3", cols, rows)
	}
	if w, h := f.Size(); w < minSide || h < minSide {
		if w == 0 || h == 0 {
			return nil, false, errors.New("opencv: find chessboard: no picture")
		}
		return nil, false, nil
	}
	m, err := matFromGray(f.Gray)
	if err != nil {
		return nil, false, fmt.Errorf("opencv: find chessboard: %w", err)
	}
	defer m.Close()
	corners := gocv.NewMat()
	defer corners.Close()
	_ = gocv.LastExceptionError() // an older one of somebody else
	found := gocv.FindChessboardCornersSB(m, image.Pt(cols, rows), &corners, gocv.CalibCBExhaustive|gocv.CalibCBAccuracy)
	if err := gocv.LastExceptionError(); err != nil {
		return nil, false, fmt.Errorf("opencv: find chessboard: %w", err)
	}
	if !found || corners.Rows()*corners.Cols() != cols*rows {
		return nil, false, nil
	}
	v := gocv.NewPoint2fVectorFromMat(corners)
	defer v.Close()
	out := make([]geom.Pixel, 0, cols*rows)
	for _, p := range v.ToPoints() {
		out = append(out, geom.Pixel{X: float64(p.X), Y: float64(p.Y)})
	}
	return out, true, nil
}

// CalibrateLens finds a lens (plumb_bob, five coefficients) from views of a board
// in pictures of the given size: OpenCV for the start values, then
// calibration.SolveLens, whose errors it returns.
func CalibrateLens(board calibration.Board, views []calibration.BoardView, width, height int) (calibration.LensSolution, error) {
	var start calibration.Intrinsics
	var poses []calibration.Extrinsics
	if len(views) >= calibration.MinLensViews { // else SolveLens says that they are too few
		var err error
		if start, poses, err = startLens(board, views, width, height); err != nil {
			return calibration.LensSolution{}, fmt.Errorf("opencv: calibrate lens: %w: %w", calibration.ErrLens, err)
		}
	} else {
		poses = make([]calibration.Extrinsics, len(views))
	}
	return calibration.SolveLens(start, poses, board, views)
}

// startLens runs OpenCV's calibrateCamera (Zhang's method and a refinement) over
// all views.
func startLens(board calibration.Board, views []calibration.BoardView, width, height int) (in calibration.Intrinsics, poses []calibration.Extrinsics, err error) {
	var object []gocv.Point3f
	for _, p := range board.Points() {
		object = append(object, gocv.NewPoint3f(float32(p.X), float32(p.Y), 0))
	}
	objects := gocv.NewPoints3fVector()
	defer objects.Close()
	pixels := gocv.NewPoints2fVector()
	defer pixels.Close()
	for _, v := range views {
		if len(v.Pixels) != len(object) {
			return in, nil, fmt.Errorf("%s: %d corners, the board has %d", v.Name, len(v.Pixels), len(object))
		}
		o := gocv.NewPoint3fVectorFromPoints(object)
		objects.Append(o)
		o.Close()
		var seen []gocv.Point2f
		for _, p := range v.Pixels {
			seen = append(seen, gocv.NewPoint2f(float32(p.X), float32(p.Y)))
		}
		s := gocv.NewPoint2fVectorFromPoints(seen)
		pixels.Append(s)
		s.Close()
	}
	k, dist, rvecs, tvecs := gocv.NewMat(), gocv.NewMat(), gocv.NewMat(), gocv.NewMat()
	for _, m := range []*gocv.Mat{&k, &dist, &rvecs, &tvecs} {
		defer m.Close()
	}
	_ = gocv.LastExceptionError() // an older one of somebody else
	gocv.CalibrateCamera(objects, pixels, image.Pt(width, height), &k, &dist, &rvecs, &tvecs, 0)
	if err := gocv.LastExceptionError(); err != nil {
		return in, nil, err
	}
	if k.Rows() != 3 || k.Cols() != 3 || dist.Total() < 5 || rvecs.Rows() != len(views) || tvecs.Rows() != len(views) {
		return in, nil, errors.New("OpenCV gave no result")
	}
	in = calibration.Intrinsics{Width: width, Height: height,
		Fx: k.GetDoubleAt(0, 0), Fy: k.GetDoubleAt(1, 1), Cx: k.GetDoubleAt(0, 2), Cy: k.GetDoubleAt(1, 2)}
	d, err := dist.DataPtrFloat64()
	if err != nil {
		return in, nil, err
	}
	copy(in.Distortion[:], d)
	r, err := rvecs.DataPtrFloat64()
	if err != nil {
		return in, nil, err
	}
	t, err := tvecs.DataPtrFloat64()
	if err != nil {
		return in, nil, err
	}
	for i := range views {
		poses = append(poses, calibration.Extrinsics{
			R: calibration.RotationFromVector(calibration.Vec3{r[3*i], r[3*i+1], r[3*i+2]}),
			T: calibration.Vec3{t[3*i], t[3*i+1], t[3*i+2]},
		})
	}
	return in, poses, nil
}
