package verify

import (
	"fmt"
	"math"

	"sightline/calibration"
	"sightline/calibration/linalg"
	"sightline/engine/geom"
)

// FlatnessFit is the mat's height as measured with a card of known distances at many
// places.
type FlatnessFit struct {
	Surface *calibration.Surface
	Places  int // at which the card lay
	Lines   int // known distances that were measured
	// Before and After are the sigma of the mat's smooth height, rms over the card's
	// markers.
	Before, After geom.Length
	// ChiFlat and ChiFitted are the chi-square of the distances for a flat mat and for the
	// surface. On a flat mat they hardly differ.
	ChiFlat, ChiFitted float64
	Lowest, Highest    geom.Length // of the surface at the markers
}

// FitSurface measures the mat's flatness: a strip of the check card that lies higher
// looks longer, by 1 in 1250 for each mm below a camera at 1.25 m. The known distances
// are linear in the mat's heights under the markers, which have the prior of an
// unmeasured mat. Other errors of the distances (scale, pose, lens, the card) are in
// their covariance, as calibrate verify states it.
//
// Edge markers and a card show little: a height of 1 mm changes 200 mm by 0.16 mm, and a
// scale error of 0.03 % looks like 0.4 mm everywhere. One camera sees how much one part
// of the mat lies above another, and much less how high the whole lies. The resulting
// covariance says so.
//
// It fails with ErrNoCard when no picture shows two markers of one strip.
func FitSurface(t calibration.Table, setup Setup, seen []Sighting) (FlatnessFit, error) {
	limits := setup.Limits
	if limits == (calibration.Uncertainty{}) {
		limits = calibration.DefaultUncertainty
	}
	t.Surface = nil
	flatness := float64(limits.Flatness)
	sigma := geom.Length(flatness * math.Sqrt(calibration.SmoothShare))
	limits.Flatness = 0 // the unknown
	setup.Limits = limits
	if !(sigma > 0) {
		return FlatnessFit{}, fmt.Errorf("calibration: flatness: expected a prior sigma of more than 0 mm")
	}
	c := newCheck(&t, setup, seen)
	if len(c.lines) == 0 {
		return FlatnessFit{}, fmt.Errorf("calibration: flatness: %w", ErrNoCard)
	}
	if len(c.points) > calibration.MaxSurfacePlaces {
		return FlatnessFit{}, fmt.Errorf("calibration: flatness: expected the card at no more than %d places, got %d",
			calibration.MaxSurfacePlaces/6, len(seen))
	}
	if err := c.setCovariances(); err != nil {
		return FlatnessFit{}, fmt.Errorf("calibration: flatness: %w", err)
	}
	fit := FlatnessFit{Lines: len(c.lines)}
	s := &calibration.Surface{Sigma: sigma}
	at := map[int]bool{}
	for _, p := range c.points {
		s.Places = append(s.Places, calibration.SurfacePlace{Point: p.Point})
		at[p.place] = true
	}
	fit.Places = len(at)
	z, posterior, ok := c.heights(s.Priors(), (1-calibration.SmoothShare)*flatness*flatness, &fit)
	if !ok {
		return fit, fmt.Errorf("calibration: flatness: the distances' covariance cannot be inverted")
	}
	n := len(s.Places)
	for i := range s.Places {
		s.Places[i].Z = geom.Length(z[i])
		fit.Lowest, fit.Highest = min(fit.Lowest, s.Places[i].Z), max(fit.Highest, s.Places[i].Z)
		fit.Before += sigma * sigma / geom.Length(n)
		fit.After += geom.Length(posterior[i*n+i] / float64(n))
	}
	fit.Before, fit.After = geom.Length(math.Sqrt(float64(fit.Before))), geom.Length(math.Sqrt(float64(fit.After)))
	var err error
	fit.Surface, err = calibration.NewSurface(sigma, s.Places, posterior)
	return fit, err
}

// heights conditions the heights under the points on the lines' errors: e = H h + noise.
// ripple is the variance of the ripple, which is correlated within RippleReach.
func (c *check) heights(prior []float64, ripple float64, fit *FlatnessFit) (mean, posterior []float64, ok bool) {
	n, m := len(c.points), len(c.lines)
	h := make([]float64, m*n)
	for i, l := range c.lines {
		h[i*n+l.from] = -c.slope(l.from).Dot(l.along)
		h[i*n+l.to] = c.slope(l.to).Dot(l.along)
	}
	// The covariance of the lines consists of noise, ripple and the prior.
	noise := c.noiseOnFlat(h, ripple)
	total := append([]float64(nil), noise...)
	cross := make([]float64, n*m) // K Hᵀ
	for k := range n {
		for i := range m {
			cross[k*m+i] = linalg.Dot(prior[k*n:(k+1)*n], h[i*n:(i+1)*n])
		}
	}
	for i := range m {
		for j := range m {
			for k := range n {
				total[i*m+j] += h[i*n+k] * cross[k*m+j]
			}
		}
	}
	inverse, ok := linalg.InvertSPD(total, m)
	if !ok {
		return nil, nil, false
	}
	mean, posterior = make([]float64, n), append([]float64(nil), prior...)
	for k := range n {
		mean[k] = linalg.Quadratic(inverse, cross[k*m:(k+1)*m], c.errors)
		for l := range n {
			posterior[k*n+l] -= linalg.Quadratic(inverse, cross[k*m:(k+1)*m], cross[l*m:(l+1)*m])
		}
	}
	flat, ok := linalg.InvertSPD(noise, m)
	if !ok {
		return nil, nil, false
	}
	left := append([]float64(nil), c.errors...)
	for i := range m {
		left[i] -= linalg.Dot(h[i*n:(i+1)*n], mean)
	}
	fit.ChiFlat, fit.ChiFitted = linalg.Quadratic(flat, c.errors, c.errors), linalg.Quadratic(flat, left, left)
	return mean, posterior, true
}

// noiseOnFlat returns the covariance of the lines on a mat that is flat but for a ripple; h are their derivatives by the points' heights.
func (c *check) noiseOnFlat(h []float64, ripple float64) []float64 {
	n, m := len(c.points), len(c.lines)
	rough := make([]float64, n*n)
	for i, p := range c.points {
		for j, q := range c.points {
			rough[i*n+j] = ripple * calibration.Correlation(p.Point, q.Point, calibration.RippleReach)
		}
	}
	noise := make([]float64, m*m)
	for i := range m {
		for j := range m {
			noise[i*m+j] = c.stated[i*m+j] + c.reference[i*m+j] + linalg.Quadratic(rough, h[i*n:(i+1)*n], h[j*n:(j+1)*n])
		}
	}
	return noise
}
