//go:build nocv

package opencv

import (
	"image"

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
