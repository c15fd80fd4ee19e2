// Package uncertain measures between things on the table whose poses have a covariance.
//
// A [Body] is a rigid thing with its pose and covariance. A [Shape] is a polygon that moves with
// a body; an [Outline] may have any number of corners. A [Propagator] measures between the shapes
// of two bodies: gaps, distances and separations, each with its [geom.Interval]. [RelativeError]
// is the error of the two bodies' positions, for measuring and moving alike.
package uncertain

import (
	"math"

	"sightline/engine/geom"
)

// Body is a rigid thing on the table: its pose and the pose's covariance.
type Body struct {
	At  geom.Point
	Cov geom.Cov3
}

// PointError is the position error of a body's points in any direction: a variance in mm², and in
// mm the error beyond first order that turning adds.
type PointError struct{ Variance, SecondOrder float64 }

// And returns the error of one body relative to another.
func (e PointError) And(o PointError) PointError {
	return PointError{e.Variance + o.Variance, e.SecondOrder + o.SecondOrder}
}

// WorstPoint returns the error of the points of a body: the largest variance in any
// direction of any of them.
//
// It takes the worst direction, not that of the measured gap: near contact the deciding corner may
// change, and the direction with it. For a lopsided covariance this makes a move's sigma a little
// too large, never too small.
func (b Body) WorstPoint(k float64, points ...geom.Point) PointError {
	var e PointError
	if b.Cov == (geom.Cov3{}) {
		return e
	}
	for _, p := range points {
		offset := p.Sub(b.At)
		e.Variance = max(e.Variance, b.Cov.At(offset).Largest())
		e.SecondOrder = max(e.SecondOrder, b.Cov.SecondOrderBound(offset.Norm(), k))
	}
	return e
}

// RelativeError is the error of two bodies' positions relative to each other.
type RelativeError struct {
	K       float64 // standard deviations that decide
	Bodies  [2]Body
	Outline float64    // variance of an outline in mm², alike in all directions
	Scaled  geom.Point // how far one standard deviation of the shared scale moves the bodies apart
}

// At returns the covariance of the displacement between two points at p, one on each body, and
// the error beyond first order that turning adds.
func (e *RelativeError) At(p geom.Point) (c geom.Cov2, secondOrder float64) {
	c = geom.Cov2{XX: e.Outline + geom.Sq(e.Scaled.X), XY: e.Scaled.X * e.Scaled.Y, YY: e.Outline + geom.Sq(e.Scaled.Y)}
	for i := range e.Bodies {
		b := &e.Bodies[i]
		if b.Cov == (geom.Cov3{}) {
			continue
		}
		offset := p.Sub(b.At)
		c = c.Add(b.Cov.At(offset))
		secondOrder += b.Cov.SecondOrderBound(offset.Norm(), e.K)
	}
	return c, secondOrder
}

// Along returns the error of a point at p in the direction u, at K standard deviations.
func (e *RelativeError) Along(u, p geom.Point) float64 {
	c, secondOrder := e.At(p)
	return e.K*math.Sqrt(max(0, c.Along(u))) + secondOrder
}

// Gradient is how a length changes with the two poses.
type Gradient [2]geom.Jacobian

// Plus returns the gradient with f times another added.
func (w Gradient) Plus(o *Gradient, f float64) Gradient {
	for i := range w {
		w[i].Add(o[i], f)
	}
	return w
}

// SlipGradient returns the gradient of the displacement along u, at p, of the first body
// relative to the second.
func (e *RelativeError) SlipGradient(u, p geom.Point) Gradient {
	return Gradient{geom.PointJacobian(u, p.Sub(e.Bodies[0].At)), geom.PointJacobian(u.Mul(-1), p.Sub(e.Bodies[1].At))}
}

// Variance returns wᵀΣw.
func (e *RelativeError) Variance(w *Gradient) float64 {
	return e.Bodies[0].Cov.Variance(&w[0]) + e.Bodies[1].Cov.Variance(&w[1])
}

// Covariance returns aᵀΣb for two gradients.
func (e *RelativeError) Covariance(a, b *Gradient) float64 {
	return e.Bodies[0].Cov.Covariance(&a[0], &b[0]) + e.Bodies[1].Cov.Covariance(&a[1], &b[1])
}

// VarianceBound bounds the variance, in any direction, of the distance between points
// of the two bodies that are no more than these levers from their centres.
func (e *RelativeError) VarianceBound(lever0, lever1 float64) float64 {
	return e.Bodies[0].Cov.VarianceBound(lever0) + e.Bodies[1].Cov.VarianceBound(lever1)
}

// lengthError is the error of a length.
type lengthError struct {
	variance    float64 // first order, in mm²
	secondOrder float64 // bound of the error beyond first order, in mm
}

// lengthGradient returns how the length along u from p on body a to q on body b changes with the
// poses.
func (e *RelativeError) lengthGradient(u geom.Point, a, b int, p, q geom.Point) (w Gradient) {
	w[a] = geom.PointJacobian(geom.Point{X: -u.X, Y: -u.Y}, p.Sub(e.Bodies[a].At))
	w[b] = geom.PointJacobian(u, q.Sub(e.Bodies[b].At))
	return w
}

// lengthError returns the error of the length along u from p on body a to q on body b.
//
// Beyond first order, turning a lever of component l along u by θ shortens it by l·θ²/2. At the worst
// case along u, k sigmas away, only the part of θ counts that is tied to it. Giving up a share t²/2 of the
// way along u frees a share t of the other part; the sum is largest where it says below. Mostly the other
// part is too small to matter.
func (e *RelativeError) lengthError(u geom.Point, a, b int, p, q geom.Point) (l lengthError) {
	x, y := &e.Bodies[a], &e.Bodies[b]
	rp, rq := p.Sub(x.At), q.Sub(y.At)
	va, ta := x.Cov.VarianceAndTurn(-u.X, -u.Y, geom.Point{X: -u.X, Y: -u.Y}.Cross(rp))
	vb, tb := y.Cov.VarianceAndTurn(u.X, u.Y, u.Cross(rq))
	l.variance = max(0, va+vb)
	lp, lq, k2 := math.Abs(u.Dot(rp)), math.Abs(u.Dot(rq)), geom.Sq(e.K)
	whole := k2 * (lp*x.Cov[8] + lq*y.Cov[8]) / 2
	if l.variance > 0 {
		l.secondOrder = k2 * (lp*ta*ta + lq*tb*tb) / (2 * l.variance)
	}
	if half2 := k2 * l.variance / 4; 64*whole*whole > half2 {
		half, free := math.Sqrt(half2), whole-l.secondOrder
		if free < half {
			whole = min(whole, l.secondOrder*half/(half-free))
		}
		l.secondOrder = whole
	}
	return l
}

// interval returns the interval of the length at k standard deviations; scale is the
// standard deviation of the error of scale.
func (l *lengthError) interval(k, val, scale float64) geom.Interval {
	d := k*math.Sqrt(l.variance+geom.Sq(scale)) + l.secondOrder
	return geom.Interval{Lo: val - d, Val: val, Hi: val + d}
}
