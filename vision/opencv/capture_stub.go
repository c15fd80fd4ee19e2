//go:build !opencv

package opencv

import (
	"context"
	"fmt"

	"sightline/vision"
)

// DecodeImage returns ErrNoOpenCV.
func DecodeImage([]byte) (vision.Frame, error) { return vision.Frame{}, ErrNoOpenCV }

func decodeFrame([]byte) (vision.Frame, error) { return vision.Frame{}, ErrNoOpenCV }

func openCapture(_ context.Context, c captureSpec, _ OpenOptions) (vision.Source, error) {
	return nil, fmt.Errorf("opencv: source %s: %w", c.name, ErrNoOpenCV)
}
