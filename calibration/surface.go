package calibration

import (
	"errors"
	"fmt"
	"math"

	"sightline/calibration/linalg"
	"sightline/engine/geom"
)

// A mat is not flat, and one camera hardly shows it: a point that lies too high looks
// like one further out. The error has two parts. The smooth one (a bowed table, a
// swollen board, a cloth that was rolled) varies over surfaceReach; the ripple of any
// cloth varies over a hand's breadth. Both are random fields with known sigma and
// reach: where nothing was measured the field has that sigma, and a measurement counts
// as far as the reach. This is kriging, or a Gaussian process. A polynomial through the
// same places would be as smooth, but would claim to know the mat's middle from its
// edges; this surface returns to its prior where there are no data.
const (
	surfaceReach = 300  // mm, of the smooth part
	RippleReach  = 40   // mm, of the rest
	SmoothShare  = 0.75 // of the variance of Uncertainty.Flatness: 0.26 and 0.15 of 0.3 mm
)

// SurfacePlace is a place at which the mat's height was measured.
type SurfacePlace struct {
	geom.Point
	Z geom.Length // over the plane in which the mat's markers lie
}

// Surface is the mat's measured height over the plane of its markers. Heights over the
// mat are relative to it. NewSurface and FitSurface make it; nil is a flat mat.
type Surface struct {
	Sigma  geom.Length // of the smooth part where nothing was measured
	Places []SurfacePlace
	// Covariance is the row-major covariance, in mm², of the places' heights given all
	// that was measured.
	Covariance []float64

	weights []float64 // K⁻¹ m for the places' prior covariance K and their heights m
	known   []float64 // K⁻¹ - K⁻¹ P K⁻¹, with P their Covariance: the information gained
}

// nugget is the share of the smooth part's variance that is white noise. It keeps the
// covariance of places near each other regular.
const nugget = 1e-4

// MaxSurfacePlaces bounds the work for each evaluated point.
const MaxSurfacePlaces = 120

// NewSurface returns the surface through places with a covariance of their heights,
// which may not exceed the prior's.
func NewSurface(sigma geom.Length, places []SurfacePlace, covariance []float64) (*Surface, error) {
	n := len(places)
	switch {
	case n == 0 || n > MaxSurfacePlaces:
		return nil, fmt.Errorf("calibration: surface: expected 1 to %d places, got %d", MaxSurfacePlaces, n)
	case len(covariance) != n*n:
		return nil, fmt.Errorf("calibration: surface: covariance: expected %d numbers (%d×%d), got %d", n*n, n, n, len(covariance))
	case !(sigma > 0) || sigma > 20:
		return nil, fmt.Errorf("calibration: surface: sigma: expected more than 0 and at most 20 mm, got %v", float64(sigma))
	}
	s := &Surface{Sigma: sigma, Places: append([]SurfacePlace(nil), places...), Covariance: append([]float64(nil), covariance...)}
	z := make([]float64, n)
	for i, p := range places {
		if v := math.Abs(p.X) + math.Abs(p.Y); !(v <= 10*float64(maxSide)) || !(math.Abs(float64(p.Z)) <= 50) {
			return nil, fmt.Errorf("calibration: surface: place %d: expected a height of at most 50 mm on the mat, got %v at %v, %v",
				i, float64(p.Z), p.X, p.Y)
		}
		z[i] = float64(p.Z)
		if !(covariance[i*n+i] <= 1.001*square(float64(sigma))*(1+nugget)) {
			return nil, fmt.Errorf("calibration: surface: place %d: a variance of %v mm² is more than if nothing had been measured",
				i, covariance[i*n+i])
		}
	}
	inverse, ok := linalg.InvertSPD(s.Priors(), n)
	if !ok {
		return nil, errors.New("calibration: surface: its places lie too near each other")
	}
	s.weights, s.known = make([]float64, n), make([]float64, n*n)
	for i := range n {
		s.weights[i] = linalg.Dot(inverse[i*n:(i+1)*n], z)
		for j := range n {
			s.known[i*n+j] = inverse[i*n+j] - linalg.Quadratic(covariance, inverse[i*n:(i+1)*n], inverse[j*n:(j+1)*n])
		}
	}
	return s, nil
}

// Priors returns the places' prior covariance.
func (s *Surface) Priors() []float64 {
	n := len(s.Places)
	k := make([]float64, n*n)
	for i, p := range s.Places {
		for j, q := range s.Places {
			k[i*n+j] = s.prior(p.Point, q.Point)
		}
		k[i*n+i] *= 1 + nugget
	}
	return k
}

// prior is the covariance of the smooth part at two places before anything is measured.
func (s *Surface) prior(p, q geom.Point) float64 {
	return smoothCovariance(s.Sigma, p, q)
}

func smoothCovariance(sigma geom.Length, p, q geom.Point) float64 {
	return float64(sigma) * float64(sigma) * Correlation(p, q, surfaceReach)
}

// Correlation is the correlation of a smooth field at two places.
func Correlation(p, q geom.Point, reach float64) float64 {
	d := p.Sub(q)
	return math.Exp(-(d.X*d.X + d.Y*d.Y) / (2 * reach * reach))
}

// Height returns the mat's height at a point over the plane of its markers: 0 for a
// nil surface.
func (s *Surface) Height(p geom.Point) geom.Length {
	if s == nil {
		return 0
	}
	var z float64
	for i, q := range s.Places {
		z += s.prior(p, q.Point) * s.weights[i]
	}
	return geom.Length(z)
}

// Cov returns the covariance, in mm², of the smooth part of the height at two points.
func (s *Surface) Cov(p, q geom.Point) float64 {
	n := len(s.Places)
	kp, kq := make([]float64, n), make([]float64, n)
	for i, at := range s.Places {
		kp[i], kq[i] = s.prior(p, at.Point), s.prior(q, at.Point)
	}
	return s.prior(p, q) - linalg.Quadratic(s.known, kp, kq)
}

// PixelOf returns the pixel of a point at height z over the mat's surface. It reports
// false for a point behind the camera. (The Camera's own PixelOf takes heights over the
// plane of the markers.)
func (t *Table) PixelOf(p geom.Point, z geom.Length) (geom.Pixel, bool) {
	return t.Camera.PixelOf(p, z+t.Surface.Height(p))
}

// PointAt returns the table point at height z over the mat's surface that appears at
// the pixel; see Camera.PointAt.
func (t *Table) PointAt(px geom.Pixel, z geom.Length) (geom.Point, bool) {
	p, ok := t.Camera.PointAt(px, z)
	if t.Surface == nil || !ok {
		return p, ok
	}
	// The surface slopes by millimetres a metre and the ray by one in one at most, so
	// each round gains two digits.
	for range 5 {
		if p, ok = t.Camera.PointAt(px, z+t.Surface.Height(p)); !ok {
			break
		}
	}
	return p, ok
}
