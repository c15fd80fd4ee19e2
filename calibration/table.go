package calibration

import (
	"time"

	"sightline/engine/geom"
)

// Table is a finished calibration: a camera, the mat it looks at, and how well
// the two are known. It is what `calibrate table` writes and everything else reads.
type Table struct {
	Camera
	Layout Layout

	// PoseCovariance is the row-major 6×6 covariance of the camera's place in the
	// parameters of Extrinsics.Perturbed (rad, mm).
	PoseCovariance []float64
	RMS            float64 // of the markers' corners in the picture, px
	Used           []int   // ids of the markers that fixed the pose
	Rejected       []Rejection

	ScaleSigma float64 // relative error of scale that every distance shares

	Made time.Time // capture time of the picture it was made from; zero when unknown
	Hash string    // of what its file says, in hex; set when loaded or saved

	Integrity Integrity // of the file; Intact once saved
}

// Rejection names something that was left out, and why.
type Rejection struct {
	Name   string // "marker 3", "left02.jpg"
	Reason string
}

// Uncertainty holds the standard deviations of what a calibration cannot know
// of each single object. They are systematic: averaging frames does not shrink them.
// The figures stand in docs/accuracy.md, with where they come from.
type Uncertainty struct {
	Height   geom.Length // of a base's top over the mat (z, flatness)
	Flatness geom.Length // of the mat, height error under an object
	Model    float64     // what lens and pose model leave, in px
}

// DefaultUncertainty is for a mat lying on a table and bases measured once with
// callipers.
var DefaultUncertainty = Uncertainty{Height: 0.15 * geom.Millimeter, Flatness: 0.3 * geom.Millimeter, Model: 0.05}
