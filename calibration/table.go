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
	// RegistrationCovariance is the same without the part that the lens's own error
	// causes: what corners and placement give the pose. With the lens's covariance it
	// makes up the joint covariance of pose and lens. Nil in older files.
	RegistrationCovariance []float64
	CornerSigma            float64 // of a marker's corner, px; 0 in older files
	PlacementFactor        float64 // variance of the placement over the layout's, from the residuals
	// FocalDoubt is by how much worse, relative, the focal length is known than the lens
	// file said, because the markers suspect it.
	FocalDoubt float64
	// FocalSigmas is how many standard deviations the focal length that the markers ask for
	// is from the lens file's: up to 2 is chance; 0 in a table read from a file.
	FocalSigmas float64
	RMS         float64 // of the markers' corners in the picture, px
	Used        []int   // ids of the markers that fixed the pose
	Rejected    []Rejection
	Residuals   []MarkerResidual // of the markers that were used or contradict those, by id

	// Surface is the measured height of the mat; nil: flat, as far as anyone knows.
	Surface *Surface

	ScaleSigma float64         // relative error of scale that every distance shares
	Distances  []ScaleDistance // measured by the user, that the scale rests on as well

	Made time.Time // capture time of the picture it was made from; zero when unknown
	Hash string    // of what its file says, in hex; set when loaded or saved

	Integrity Integrity // of the file; Intact once saved

	// LensIntegrity is that of the file which the lens came from; Unsealed when that
	// is unknown. It is kept in the table's file, so that a table cannot hide its lens.
	LensIntegrity Integrity

	// Contradiction says which keys of the file contradict each other; "": none. Of
	// camera.center_mm and camera.translation_mm, which say the same, the latter counts.
	Contradiction string
}

// Rejection names something that was left out, and why.
type Rejection struct {
	Name   string // "marker 3", "left02.jpg"
	Reason string
}

// Uncertainty holds the standard deviations of what a calibration cannot know.
// None of them shrinks when frames are averaged, but Pixel. The figures stand in
// docs/accuracy.md, with where they come from.
type Uncertainty struct {
	Height   geom.Length // of an object's top over the mat under it, of each object on its own
	Flatness geom.Length // of the mat's surface, where it was not measured
	Model    float64     // what lens and pose model leave, in px
	Pixel    float64     // of a fitted corner or edge in one frame, in px; a ship's fit states its own
	Print    geom.Length // how far a token's pattern lies off its cut edges
	Insert   geom.Length // how far a token lies off its base's edges
}

// DefaultUncertainty is for a mat lying on a table, bases measured once with
// callipers, and tokens cut with a knife and laid by eye.
var DefaultUncertainty = Uncertainty{
	Height: 0.15 * geom.Millimeter, Flatness: 0.3 * geom.Millimeter, Model: 0.05, Pixel: 0.05,
	Print: 0.1 * geom.Millimeter, Insert: 0.1 * geom.Millimeter,
}
