package calibration

import (
	"errors"
	"fmt"
	"math"
	"sightline/calibration/linalg"
	"slices"
)

// ErrWrongLens is returned by Register when the markers contradict the lens. The residuals
// cannot show for sure which of the two is wrong.
var ErrWrongLens = errors.New("the markers and the lens contradict each other")

// The chi-square limits beyond which a lens is rejected. Chance exceeds the first once in
// 9000 tables (one degree of freedom), the second once in 120 000 (nine).
const (
	focalLimit = 15.0
	lensLimit  = 40.0
)

// lensConsistency says how the residuals of a registration would change with another lens,
// beyond what the lens's covariance allows. It is the mean shift model of leaveOneOut with
// the derivatives by the lens's parameters in place of a marker's.
type lensConsistency struct {
	focal, sigma float64 // relative error of both focal lengths, positive for a longer lens, and its standard deviation
	focalSquare  float64 // chi-square that it explains, one degree of freedom
	allSquare    float64 // chi-square that all parameters explain, nine
}

// lensConsistency tests the lens against the markers' equations. Their centres give the
// scatter of the placement that neither chance nor the lens explains. The result is zero when
// the markers cannot separate the focal length from the camera's height; it reports false when
// the equations cannot be solved. The sigma of a marker's size is at least that of
// DefaultPlacement, because light and ink spread however exactly a marker lies.
func (s *solution) lensConsistency(lens *Intrinsics, all []markerEquations, corner float64) (l lensConsistency, ok bool) {
	n := noiseModel{corner, s.noise.placement}
	n.placement.Size = max(n.placement.Size, DefaultPlacement.Size)
	full, places := newObservations(all, n), newCentroids(all, n)
	q, ok1 := full.weights(lens.Covariance)
	qc, ok2 := places.weights(lens.Covariance)
	if !ok1 || !ok2 {
		return lensConsistency{}, false
	}
	focal := [LensTerms]float64{lens.Fx, lens.Fy}
	by, square, cov, ok := full.explained(q, focal)
	if l.sigma = math.Sqrt(cov); !ok || l.sigma > 1 {
		return lensConsistency{}, true
	}
	l.focal = by
	chi, freedom := linalg.Quadratic(qc, places.r, places.r), max(0, float64(len(places.r)-6))
	_, ofChi, _, _ := places.explained(qc, focal)
	scatter := max(1, (placementWeight+max(0, chi-ofChi))/(placementWeight+max(0, freedom-1)))
	l.focalSquare = square / scatter
	l.allSquare = full.explainedByAll(q) / scatter
	return l, true
}

// explained returns how far the lens is off in a direction of its parameters, as the
// observations see it, the chi-square that this explains, and its variance.
func (o *observations) explained(q []float64, direction [LensTerms]float64) (by, square, variance float64, ok bool) {
	column := o.lensColumn(direction)
	s := linalg.Quadratic(q, column, column)
	if !(s > 0) {
		return 0, 0, 0, false
	}
	g := linalg.Quadratic(q, column, o.r)
	return g / s, g * g / s, 1 / s, true
}

// explainedByAll returns the chi-square that all the lens's parameters explain together; 0
// when the markers cannot separate them.
func (o *observations) explainedByAll(q []float64) float64 {
	columns := make([][]float64, LensTerms)
	s, g := make([]float64, LensTerms*LensTerms), make([]float64, LensTerms)
	for a := range columns {
		var unit [LensTerms]float64
		unit[a] = 1
		columns[a] = o.lensColumn(unit)
		g[a] = linalg.Quadratic(q, columns[a], o.r)
		for b := range a + 1 {
			v := linalg.Quadratic(q, columns[a], columns[b])
			s[LensTerms*a+b], s[LensTerms*b+a] = v, v
		}
	}
	inverse, ok := linalg.InvertScaled(s, LensTerms)
	if !ok {
		return 0
	}
	return linalg.Quadratic(inverse, g, g)
}

// lensColumn is the derivative of the observations by a direction of the lens's parameters.
func (o *observations) lensColumn(direction [LensTerms]float64) []float64 {
	column := make([]float64, len(o.lens))
	for i, row := range o.lens {
		column[i] = linalg.Dot(row[:], direction[:])
	}
	return column
}

// contradicted returns an error when the markers differ from the lens by more than chance
// and its stated covariance explain.
func (l *lensConsistency) contradicted() error {
	switch {
	case l.focalSquare > focalLimit:
		return fmt.Errorf("%w: their places and sizes ask for a focal length %s than its file says (%.0f sigmas): is it the file of this "+
			"lens, focus, zoom and picture size, and do the markers lie where the layout says?",
			ErrWrongLens, l.focalChange(), math.Sqrt(l.focalSquare))
	case l.allSquare > lensLimit:
		return fmt.Errorf("%w: another lens would fit them better by a chi-square of %.1f, where chance gives 9 and stays below %.0f: is it "+
			"the file of this lens, focus, zoom and picture size, and do the markers lie where the layout says?",
			ErrWrongLens, l.allSquare, lensLimit)
	}
	return nil
}

// undecided adds to an error against the lens that, with so few markers, one of them may
// be wrong instead: marker, unless none stands out ("").
func undecided(err error, markers int, marker string) error {
	if markers > minMarkers+1 {
		return err
	}
	if marker != "" {
		marker = " (" + marker + ")"
	}
	return fmt.Errorf("%w With %d markers nothing tells a wrong lens from markers that lie off%s: measure where they lie, "+
		"and show more of them", err, markers, marker)
}

// linear is the relative change of the focal length up to which its derivatives hold.
const linear = 0.2

// focalChange describes the change of the focal length that the markers ask for.
func (l *lensConsistency) focalChange() string {
	longer := "longer"
	if l.focal < 0 {
		longer = "shorter"
	}
	if math.Abs(l.focal) > linear {
		return "much " + longer
	}
	digits := 0
	if math.Abs(l.focal) < 0.01 {
		digits = 2
	}
	return fmt.Sprintf("about %.*f %% %s", digits, 100*math.Abs(l.focal), longer)
}

// withPixelShape adds to the error of a registration that the lens's pixels are not
// square, if so. The change of both focal lengths that the markers ask for then means
// nothing and is left out.
func withPixelShape(lens *Intrinsics, err error) error {
	if lens.Square() {
		return err
	}
	why := fmt.Sprintf("fx and fy of the lens file (%.1f and %.1f px) differ by %.1f %%, as if the camera's pixels were not square: is one "+
		"of them a mistake?", lens.Fx, lens.Fy, 100*math.Abs(lens.Fx/lens.Fy-1))
	if errors.Is(err, ErrWrongLens) {
		return fmt.Errorf("%w: %s", ErrWrongLens, why)
	}
	return fmt.Errorf("%s With them, %w", why, err)
}

// focalDoubt returns the relative standard deviation of the focal length that makes the
// markers' residuals plausible; 0 when they are already.
func (l *lensConsistency) focalDoubt() float64 {
	if l.focalSquare <= 1 {
		return 0
	}
	return math.Abs(l.focal) * math.Sqrt(1-1/l.focalSquare)
}

// WithFocalSigma returns the lens with a relative standard deviation added to that of its focal lengths. A picture that grew about its
// middle by g looks the same whether the camera came nearer or the focal length grew. Registered with the old lens and a sigma of g,
// distances are within what they state in either case (TestAGrownPictureIsWithinItsSigma).
func (in Intrinsics) WithFocalSigma(relative float64) Intrinsics { return withFocalDoubt(in, relative) }

// withFocalDoubt returns the lens with a relative sigma added to its focal lengths.
func withFocalDoubt(lens Intrinsics, sigma float64) Intrinsics {
	if sigma <= 0 {
		return lens
	}
	more := make([]float64, LensTerms*LensTerms)
	f := [2]float64{sigma * lens.Fx, sigma * lens.Fy}
	for i := range f {
		for j := range f {
			more[LensTerms*i+j] = f[i] * f[j]
		}
	}
	return withDoubt(lens, more)
}

// withDoubt returns the lens with a 9×9 covariance added to its own.
func withDoubt(lens Intrinsics, more []float64) Intrinsics {
	sum := slices.Clone(more)
	if len(lens.Covariance) == len(sum) {
		for i, v := range lens.Covariance {
			sum[i] += v
		}
	}
	lens.Covariance = sum
	return lens
}
