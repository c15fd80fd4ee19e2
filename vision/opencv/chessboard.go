//go:build opencv

package opencv

import (
	"errors"
	"fmt"
	"image"
	"slices"

	"gocv.io/x/gocv"

	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/fiducial"
	"sightline/vision/internal/gray"
)

// FindChessboard finds the inner corners of a chessboard with cols × rows of them, row by row, to a
// fraction of a pixel (OpenCV's sector-based detector, exhaustive, followed by
// fiducial.RefineChessboard if that succeeds at every corner). It reports false if the picture does
// not show such a board completely. That takes seconds for a large picture; see QuickChessboard.
func FindChessboard(f vision.Frame, cols, rows int) ([]geom.Pixel, bool, error) {
	px, found, err := findChessboard(f, cols, rows, gocv.CalibCBExhaustive|gocv.CalibCBAccuracy)
	if found {
		if fine := slices.Clone(px); fiducial.RefineChessboard(f.Gray, fine, cols, rows) {
			px = fine
		}
		return px, true, nil
	}
	if err != nil {
		return nil, false, err
	}
	// OpenCV's older detector finds some boards that the newer one misses (one of its own
	// photographs), but is sometimes wrong by pixels: its result counts only if it can be refined.
	if px, found, err = classicChessboard(f, cols, rows); !found || !fiducial.RefineChessboard(f.Gray, px, cols, rows) {
		return nil, false, err
	}
	return px, true, nil
}

// quickWidth is the width in px of the picture that QuickChessboard searches: the sector-based
// detector takes 20 ms there and 500 ms at 1080p.
const quickWidth = 640

// QuickChessboard finds a chessboard like FindChessboard, for live pictures: it searches a smaller
// picture once and refines the corners in the full one (fiducial.RefineChessboard).
func QuickChessboard(f vision.Frame, cols, rows int) ([]geom.Pixel, bool, error) {
	w, _ := f.Size()
	shrink := max((w+quickWidth/2)/quickWidth, 1)
	small := f
	if shrink > 1 {
		small = vision.Frame{Gray: gray.Shrink(f.Gray, shrink, new(image.Gray))}
	}
	px, found, err := findChessboard(small, cols, rows, 0)
	if err != nil || !found {
		return nil, false, err
	}
	k := float64(shrink)
	for i, p := range px { // pixel centres are at integers
		px[i] = geom.Pixel{X: (p.X+0.5)*k - 0.5, Y: (p.Y+0.5)*k - 0.5}
	}
	if !fiducial.RefineChessboard(f.Gray, px, cols, rows) {
		return nil, false, nil
	}
	return px, true, nil
}

func findChessboard(f vision.Frame, cols, rows int, flags gocv.CalibCBFlag) ([]geom.Pixel, bool, error) {
	return lookForChessboard(f, cols, rows, func(m gocv.Mat, corners *gocv.Mat) bool {
		return gocv.FindChessboardCornersSB(m, image.Pt(cols, rows), corners, flags)
	})
}

func classicChessboard(f vision.Frame, cols, rows int) ([]geom.Pixel, bool, error) {
	return lookForChessboard(f, cols, rows, func(m gocv.Mat, corners *gocv.Mat) bool {
		return gocv.FindChessboardCorners(m, image.Pt(cols, rows), corners,
			gocv.CalibCBAdaptiveThresh|gocv.CalibCBNormalizeImage|gocv.CalibCBFastCheck)
	})
}

// lookForChessboard runs one of OpenCV's detectors.
func lookForChessboard(f vision.Frame, cols, rows int, look func(m gocv.Mat, corners *gocv.Mat) bool) ([]geom.Pixel, bool, error) {
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
	_ = gocv.LastExceptionError() // clear an older exception of other code
	found := look(m, &corners)
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
