// Package opencv is the only package that uses C libraries: OpenCV (through gocv) and AprilTag 3. It
// reads pictures, finds printed markers and chessboards, and starts a lens calibration. All results
// are values of the program's own types.
//
// # The pixel convention
//
// The whole program has pixel centres at integers (see package geom), as does OpenCV. AprilTag's
// origin is the top left pixel's corner, half a pixel up and to the left, so its corners are moved by
// (-0.5, -0.5). Tests with pictures of known geometry check both.
//
// Without the build tag opencv the package needs no C compiler: every function exists and returns
// ErrNoOpenCV.
package opencv

import "errors"

// ErrNoOpenCV is the error of every function in a program built without the tag opencv.
var ErrNoOpenCV = errors.New("opencv: this program was built without OpenCV: make build builds it with")

// MarkerOptions control a MarkerDetector; the zero value is the default.
type MarkerOptions struct {
	// Decimate is the factor by which the picture is reduced to search for squares; 0 or 1 means full
	// resolution. Two is four to seven times as fast. The corners, fitted at full resolution, are as
	// good (measured on the rendered tables), but small markers are missed.
	Decimate float64
	// MaxHamming is the largest number of corrected bits: 0 means the default of 1, negative means
	// none. Words of 36h11 differ in at least 11 bits.
	MaxHamming int
	// MinMargin is the least decision margin in grey levels; 0 means DefaultMinMargin, negative means
	// no limit.
	MinMargin float64
	// NoRefine returns the AprilTag library's own corners instead of fitting the printed pattern with
	// fiducial.RefineMarker.
	NoRefine bool
}

// DefaultMinMargin is a third of the weakest margin of a marker in the real pictures at hand (52
// grey levels, in Duckietown's dark ones, AprilTag 3.3.0, 2026-11-21). Pictures without markers had
// no detection, whatever the margin.
const DefaultMinMargin = 15
