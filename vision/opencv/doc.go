// Package opencv is the program's only door to C libraries: OpenCV (through gocv)
// and AprilTag 3. It reads pictures, finds printed markers and chessboards, and
// starts a lens calibration; everything it hands out is in the program's own types.
//
// # The pixel convention at each door
//
// The whole program counts pixel centres at integers (see package geom). So does
// OpenCV. AprilTag puts the origin at the top left pixel's corner, half a pixel up
// and to the left, so its corners are moved by (-0.5, -0.5) on the way in. Tests with
// pictures of known geometry hold both.
//
// Without the build tag opencv the package needs no C compiler: every function is still
// there and returns ErrNoOpenCV.
package opencv

import "errors"

// ErrNoOpenCV is what every function returns in a program built without the tag opencv.
var ErrNoOpenCV = errors.New("opencv: this program was built without OpenCV: make build builds it with")

// MarkerOptions control a MarkerDetector; the zero value is the default.
type MarkerOptions struct {
	// Decimate looks for squares in a picture that is this much smaller; 0 or 1 is
	// full resolution. Two is four to seven times as fast; the corners, fitted at full
	// resolution, are as good (measured on the rendered tables); small markers are lost.
	Decimate float64
	// MaxHamming is the greatest number of corrected bits that is accepted: 0 means
	// the default of 1, negative none. 36h11 words differ in at least 11 bits.
	MaxHamming int
	// MinMargin is the least decision margin in grey levels; 0 means
	// DefaultMinMargin, negative takes everything.
	MinMargin float64
	// NoRefine leaves the corners as the AprilTag library gives them, instead of
	// fitting the printed pattern with fiducial.RefineMarker.
	NoRefine bool
}

// DefaultMinMargin is a third of the weakest margin that a marker had in the real
// pictures at hand (52 grey levels, in Duckietown's dark ones, AprilTag 3.3.0,
// 2026-11-21). No marker-free picture had any detection, whatever its margin.
const DefaultMinMargin = 15
