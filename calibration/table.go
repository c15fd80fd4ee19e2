package calibration

import (
	"time"

	"sightline/engine/geom"
)

// Table is a finished calibration: a camera, the mat below it, and the uncertainty of
// both. `calibrate table` writes it and everything else reads it.
type Table struct {
	Camera
	Layout Layout

	// PoseCovariance is the row-major 6×6 covariance of the camera's place in the
	// parameters of Extrinsics.Perturbed (rad, mm).
	PoseCovariance []float64
	// RegistrationCovariance is the part of PoseCovariance that corners and placement
	// cause, without the lens's error. Together with the lens's covariance it gives the
	// joint covariance of pose and lens. Nil in older files.
	RegistrationCovariance []float64
	CornerSigma            float64 // of a marker's corner, px; 0 in older files
	PlacementFactor        float64 // variance of the placement over the layout's, from the residuals
	// BentSigma is the standard deviation, at the mat, of shifts that no lens explains and that differ from
	// place to place: the camera shook, or corrects its picture by itself. 0 in older files.
	BentSigma geom.Length
	// OtherLens is the probability that the lens is not the file's, as the markers have it; 0 in a table read from a file.
	OtherLens float64
	// FocalDoubt is the relative sigma added to the focal length of the lens file because the markers
	// disagree with it.
	FocalDoubt float64
	// FocalSigmas is the distance, in sigmas, of the focal length that the markers ask for
	// from the lens file's: up to 2 is chance; 0 in a table read from a file.
	FocalSigmas float64
	RMS         float64 // of the markers' corners in the picture, px
	Used        []int   // ids of the markers that fixed the pose
	Rejected    []Rejection
	Residuals   []MarkerResidual // of the markers that were used or contradict those, by id

	// Surface is the measured height of the mat; nil when it was not measured.
	Surface *Surface

	ScaleSigma float64         // relative error of scale that every distance shares
	Distances  []ScaleDistance // measured by the user, with which the scale was corrected

	Made time.Time // capture time of the picture it was made from; zero when unknown
	Hash string    // of the file's content, in hex; set when loaded or saved

	Integrity Integrity // of the file; Intact once saved

	// LensIntegrity is that of the lens file; Unsealed when unknown. The table's file
	// stores it, so a table cannot hide an edited lens.
	LensIntegrity Integrity

	// Contradiction names keys of the file that contradict each other; "" for none. Of
	// camera.center_mm and camera.translation_mm, which are redundant, the latter counts.
	Contradiction string
}

// Rejection names something that was left out, with the reason.
type Rejection struct {
	Name   string // "marker 3", "left02.jpg"
	Reason string
}

// Uncertainty holds the standard deviations of what a calibration cannot measure.
// Averaging frames shrinks only Pixel. docs/accuracy.md says where the figures come from.
type Uncertainty struct {
	Height   geom.Length // of an object's top over the mat under it, of each object on its own
	Flatness geom.Length // of the mat's surface, where it was not measured
	Model    float64     // error of the lens and pose model, in px
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
