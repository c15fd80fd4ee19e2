package verify

import (
	"errors"
	"fmt"
	"math"

	"sightline/calibration"
	"sightline/engine/geom"
)

// Setup says how the check card was made and laid.
type Setup struct {
	Card Card
	// Thickness of a strip with the card it is glued on: the height of its print.
	Thickness geom.Length
	BaseTop   geom.Length             // of the bases under the strip for the bases, over the mat
	Bars      [2]geom.Length          // the strips' bars of Bar as measured; 0: not measured
	Limit     geom.Length             // error of a distance on the card that makes a calibration useless
	Limits    calibration.Uncertainty // of the calibration; zero: DefaultUncertainty
}

// DefaultLimit is the error at which a calibration is useless, even if its sigma says
// so: games turn on a millimetre.
const DefaultLimit = 1 * geom.Millimeter

// barRange is the accepted relative error of a bar: beyond it the page was scaled.
const barRange = 0.01

// Validate reports an impossible setup.
func (s Setup) Validate() error {
	switch {
	case !(s.Thickness >= 0) || s.Thickness > 20:
		return fmt.Errorf("card-thickness: expected 0 to 20 mm, got %v", float64(s.Thickness))
	case !(s.BaseTop >= 0) || s.BaseTop > 50:
		return fmt.Errorf("base-top: expected 0 to 50 mm, got %v", float64(s.BaseTop))
	case !(s.Limit > 0) || s.Limit > 20:
		return fmt.Errorf("limit: expected more than 0 and at most 20 mm, got %v", float64(s.Limit))
	}
	for _, b := range s.Bars {
		if b != 0 && !(math.Abs(float64(b/Bar)-1) <= barRange) {
			return fmt.Errorf("card-length: expected %.1f to %.1f mm (the bar of %.0f mm as measured), got %v: beyond that something scales the "+
				"page, print at 100 %%",
				float64(Bar)*(1-barRange), float64(Bar)*(1+barRange), float64(Bar), float64(b))
		}
	}
	return nil
}

// height returns the height of a strip's print over the mat.
func (s Setup) height(strip int) geom.Length {
	if strip == 0 {
		return s.Thickness
	}
	return s.BaseTop + s.Thickness
}

// Sighting is the check card in one picture, at one place.
type Sighting struct {
	Name   string                       // of the picture
	Tags   []calibration.MarkerSighting // markers of other sheets are ignored
	Frames int                          // number of averaged frames; 0 means one
}

// ErrNoCard is returned by Run when no picture shows two markers of one strip.
var ErrNoCard = errors.New("no check card is seen")

// Deviation is one known distance on the card as the calibration measures it.
type Deviation struct {
	Place      int           // index of the sighting
	Strip      int           // 0: on the mat, 1: on bases
	From, To   int           // ids of the markers, from centre to centre
	At         [2]geom.Point // where they lie on the table
	True       geom.Length   // by the card
	Measured   geom.Length   // by the calibration
	Stated     geom.Length   // sigma by the calibration
	Reference  geom.Length   // sigma of the card and of this measurement
	Normalised float64       // error over the sigma of both
}

// Error returns measured less true.
func (d Deviation) Error() geom.Length { return d.Measured - d.True }

// Sigma returns the standard deviation of the error: the calibration's and the card's.
func (d Deviation) Sigma() geom.Length {
	return geom.Length(math.Hypot(float64(d.Stated), float64(d.Reference)))
}

// Outcome is the result of a verification.
type Outcome string

// The outcomes.
const (
	Pass      Outcome = "pass"      // no distance is off by more than the limit
	Fail      Outcome = "fail"      // one is, or the mat was moved
	Undecided Outcome = "undecided" // the card is not known well enough to decide
)

// Result is the result of a verification in full.
type Result struct {
	Outcome    Outcome
	Reasons    []string // why it is not a pass
	Cause      string   // likely cause of a failure; may be empty
	Notes      []string // further remarks
	Deviations []Deviation

	Places          int
	WorstError      geom.Length // the largest absolute error
	WorstNormalised float64     // the largest absolute normalised error
	Allowed         float64     // limit of WorstNormalised for this number of distances
	ChiSquare       float64     // of all deviations together
	Freedom         int
	Probability     float64     // of a larger chi-square if the stated sigma is true
	Stated          geom.Length // the calibration's largest sigma
	Reference       geom.Length // the card's largest sigma
	Covered         float64     // share of the mat within checkReach of a marker of the card
}

const (
	// checkLevel is the probability that a true calibration fails by chi-square: that of
	// three sigmas.
	checkLevel = 0.0027
	// checkReach is the distance from the card up to which a verification covers the mat.
	checkReach = 250.0
	// movedLimit is the accepted distance, in mm, of the mat's markers from the
	// calibration: three times the error of laying them with a steel rule.
	movedLimit = 1.0
	// usefulCover is the share of the mat that should be covered.
	usefulCover = 0.5
)

// Run measures all known distances of the check card, at every place, with the table's
// calibration, and compares the errors with the combined sigma of its error model and of
// the card.
//
// A verification passes when no error exceeds the largest of as many normal deviations
// (99.73 %), the chi-square of all errors with their full covariance is below its 99.73 %
// bound, and no fault that changes many distances (scale, width, depth, the height of a
// strip) is seen at more than its share of three sigmas. It fails also when the mat's
// markers show that camera or mat was moved, and when an error exceeds the limit by more
// than the card's uncertainty, even if the calibration's sigma allows it. It is undecided
// when the card is not known well enough to find such an error.
//
// Run returns ErrNoCard when there is nothing to measure.
func Run(t calibration.Table, setup Setup, seen []Sighting) (Result, error) {
	if err := setup.Validate(); err != nil {
		return Result{}, fmt.Errorf("calibration: verify: %w", err)
	}
	c := newCheck(&t, setup, seen)
	if len(c.lines) == 0 {
		return Result{}, fmt.Errorf("calibration: verify: %w: expected two markers of a strip (ids %d…%d) in one picture",
			ErrNoCard, calibration.CheckCardIDs, calibration.CheckCardIDs+5)
	}
	if err := c.setCovariances(); err != nil {
		return Result{}, fmt.Errorf("calibration: verify: %w", err)
	}
	v := c.verification()
	c.decide(&v)
	return v, nil
}

// verification returns the result.
func (c *check) verification() Result {
	v := Result{Notes: c.notes, Freedom: len(c.lines), Allowed: largestOf(len(c.lines)), Covered: c.covered()}
	places := map[int]bool{}
	n := len(c.lines)
	for i, l := range c.lines {
		d := l.deviation
		stated, reference := c.stated[i*n+i], c.reference[i*n+i]
		d.Stated, d.Reference = geom.Length(math.Sqrt(stated)), geom.Length(math.Sqrt(reference))
		d.Normalised = float64(d.Error()) / math.Sqrt(stated+reference)
		v.Deviations = append(v.Deviations, d)
		places[d.Place] = true
		v.WorstError = max(v.WorstError, geom.Length(math.Abs(float64(d.Error()))))
		v.WorstNormalised = math.Max(v.WorstNormalised, math.Abs(d.Normalised))
		v.Stated, v.Reference = max(v.Stated, d.Stated), max(v.Reference, d.Reference)
	}
	v.Places = len(places)
	v.ChiSquare = c.chiSquare(c.errors)
	v.Probability = chiSquareTail(v.ChiSquare, v.Freedom)
	return v
}

// decide sets the outcome and its reasons.
func (c *check) decide(v *Result) {
	v.Outcome = Pass
	fail := func(format string, a ...any) {
		v.Outcome = Fail
		v.Reasons = append(v.Reasons, fmt.Sprintf(format, a...))
	}
	if v.WorstNormalised > v.Allowed {
		fail("an error is %.1f times its sigma, expected at most %.1f among %d distances", v.WorstNormalised, v.Allowed, v.Freedom)
	}
	if v.Probability < checkLevel {
		fail("all errors together are larger than stated: chi-square %.0f for %d distances, which chance gives in %s of cases",
			v.ChiSquare, v.Freedom, share(v.Probability))
	}
	all := c.findings()
	if worst, ok := largest(all); ok && worst.sigmas > largestOf(len(all)) {
		fail("the errors have a common cause, seen at %.1f sigma, expected at most %.1f among the %d that are looked for",
			worst.sigmas, largestOf(len(all)), len(all))
	}
	for _, d := range v.Deviations {
		if e := geom.Length(math.Abs(float64(d.Error()))); e > c.setup.Limit+3*d.Reference {
			fail("a distance of %.1f mm is measured %.2f mm off, more than the limit of %s mm",
				float64(d.True), float64(e), trimmed(float64(c.setup.Limit)))
			break
		}
	}
	if v.Outcome == Fail {
		v.Cause = c.cause()
	}
	if c.moved > movedLimit {
		fail("the mat's markers lie %.1f mm from where the calibration has them, expected at most %s mm", c.moved, trimmed(movedLimit))
		also := v.Cause
		v.Cause = "the camera or the mat was moved after the calibration, or its file is not this camera's: calibrate the table again"
		if also != "" {
			v.Cause += "; of the distances themselves: " + also
		}
	}
	switch {
	case v.Outcome == Fail:
	case 3*v.Reference > c.setup.Limit:
		v.Outcome = Undecided
		v.Reasons = append(v.Reasons, fmt.Sprintf("the card itself is known to ±%.2f mm only, too little to find an error of %s mm: measure "+
			"its bars with a steel rule and give --card-length",
			3*float64(v.Reference), trimmed(float64(c.setup.Limit))))
	}
	if 3*v.Stated > c.setup.Limit {
		v.Notes = append(v.Notes, fmt.Sprintf("the calibration itself states ±%.2f mm for the card's distances: more answers will be too "+
			"close to call", 3*float64(v.Stated)))
	}
	if v.Covered < usefulCover {
		v.Notes = append(v.Notes, fmt.Sprintf("the card was near %.0f %% of the mat only: lay it at more places, the corners above all",
			100*v.Covered))
	}
}

// share formats a small probability.
func share(p float64) string {
	if p < 1e-6 {
		return "less than one in a million"
	}
	return fmt.Sprintf("%.2g %%", 100*p)
}

// trimmed formats a number without trailing zeros.
func trimmed(v float64) string { return fmt.Sprintf("%.4g", v) }
