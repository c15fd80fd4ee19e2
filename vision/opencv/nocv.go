//go:build !opencv

package opencv

import (
	"image"

	"sightline/calibration"
	"sightline/engine/geom"
	"sightline/vision"
)

// MarkerDetector is not available without the C libraries.
type MarkerDetector struct{}

// NewMarkerDetector returns ErrNoOpenCV.
func NewMarkerDetector(MarkerOptions) (*MarkerDetector, error) { return nil, ErrNoOpenCV }

// Close does nothing.
func (*MarkerDetector) Close() error { return nil }

// DetectMarkers returns ErrNoOpenCV.
func (*MarkerDetector) DetectMarkers(*image.Gray) ([]vision.Detection, error) {
	return nil, ErrNoOpenCV
}

// ReadImage returns ErrNoOpenCV.
func ReadImage(string) (vision.Frame, error) { return vision.Frame{}, ErrNoOpenCV }

// FindChessboard returns ErrNoOpenCV.
func FindChessboard(vision.Frame, int, int) ([]geom.Pixel, bool, error) {
	return nil, false, ErrNoOpenCV
}

// BoardFinder is not available without the C libraries.
type BoardFinder struct{}

// NewBoardFinder returns ErrNoOpenCV.
func NewBoardFinder(calibration.Board) (*BoardFinder, error) { return nil, ErrNoOpenCV }

// Close does nothing.
func (*BoardFinder) Close() error { return nil }

// Find returns ErrNoOpenCV.
func (*BoardFinder) Find(vision.Frame) (calibration.BoardSighting, error) {
	return calibration.BoardSighting{}, ErrNoOpenCV
}

// FindQuick returns ErrNoOpenCV.
func (*BoardFinder) FindQuick(vision.Frame) (calibration.BoardSighting, error) {
	return calibration.BoardSighting{}, ErrNoOpenCV
}

// QuickChessboard returns ErrNoOpenCV.
func QuickChessboard(vision.Frame, int, int) ([]geom.Pixel, bool, error) {
	return nil, false, ErrNoOpenCV
}
