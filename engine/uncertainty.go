package engine

import (
	"math"

	"sightline/engine/geom"
)

// body is a rigid thing on the table whose pose is known up to a covariance.
type body struct {
	at  geom.Point
	cov geom.Cov3
}

// pointError is how far the points of something may be from where they seem, in any
// direction: a variance in mm² and, beyond first order, what turning adds in mm.
type pointError struct{ variance, secondOrder float64 }

// and returns the error of the one against the other.
func (e pointError) and(o pointError) pointError {
	return pointError{e.variance + o.variance, e.secondOrder + o.secondOrder}
}

// worstPoint returns the error of the points of a body: the largest variance in any
// direction of any of them.
//
// Taking the largest direction and not the one in which a gap is measured makes a
// move's sigma a little too large where a covariance is lopsided, and never too
// small: near contact the corner that decides may change, and with it the
// direction.
func (b *body) worstPoint(k float64, points ...geom.Point) pointError {
	var e pointError
	if b.cov == (geom.Cov3{}) {
		return e
	}
	for _, p := range points {
		offset := p.Sub(b.at)
		e.variance = max(e.variance, b.cov.At(offset).Largest())
		e.secondOrder = max(e.secondOrder, b.cov.SecondOrderBound(offset.Norm(), k))
	}
	return e
}

// relativeError is how two bodies may be off against each other.
type relativeError struct {
	k       float64 // standard deviations that decide
	bodies  [2]body
	outline float64    // variance of an outline in mm², alike in all directions
	scaled  geom.Point // how far a standard deviation of the shared scale moves them apart
}

// at returns the covariance of the distance between two points that lie at p, one on
// each body, and what turning adds beyond first order.
func (e *relativeError) at(p geom.Point) (c geom.Cov2, secondOrder float64) {
	c = geom.Cov2{XX: e.outline + sq(e.scaled.X), XY: e.scaled.X * e.scaled.Y, YY: e.outline + sq(e.scaled.Y)}
	for i := range e.bodies {
		b := &e.bodies[i]
		if b.cov == (geom.Cov3{}) {
			continue
		}
		offset := p.Sub(b.at)
		c = c.Add(b.cov.At(offset))
		secondOrder += b.cov.SecondOrderBound(offset.Norm(), e.k)
	}
	return c, secondOrder
}

// along returns how far a point at p may be off in the direction u.
func (e *relativeError) along(u, p geom.Point) float64 {
	c, secondOrder := e.at(p)
	return e.k*math.Sqrt(max(0, c.Along(u))) + secondOrder
}

// gradient is how a length changes with the two poses.
type gradient [2]geom.Jacobian

// plus returns the gradient with f times another added.
func (w gradient) plus(o *gradient, f float64) gradient {
	for i := range w {
		w[i].Add(o[i], f)
	}
	return w
}

// slipGradient returns how far a point of the first body at p moves along u against the
// point of the second body there.
func (e *relativeError) slipGradient(u, p geom.Point) gradient {
	return gradient{geom.PointJacobian(u, p.Sub(e.bodies[0].at)), geom.PointJacobian(u.Mul(-1), p.Sub(e.bodies[1].at))}
}

// variance returns wᵀΣw.
func (e *relativeError) variance(w *gradient) float64 {
	return e.bodies[0].cov.Variance(&w[0]) + e.bodies[1].cov.Variance(&w[1])
}

// covariance returns aᵀΣb for two gradients.
func (e *relativeError) covariance(a, b *gradient) float64 {
	return e.bodies[0].cov.Covariance(&a[0], &b[0]) + e.bodies[1].cov.Covariance(&a[1], &b[1])
}

// varianceBound bounds the variance, in any direction, of the distance between points
// of the two bodies that are no more than these levers from their centres.
func (e *relativeError) varianceBound(lever0, lever1 float64) float64 {
	return e.bodies[0].cov.VarianceBound(lever0) + e.bodies[1].cov.VarianceBound(lever1)
}

// lengthError is how a length may be off.
type lengthError struct {
	variance    float64 // to first order, in mm²
	secondOrder float64 // a bound of what that leaves out, in mm
}

// lengthGradient returns how a length along u between p on the body a and q on b, the other of the
// two, changes with the poses.
func (e *relativeError) lengthGradient(u geom.Point, a, b int, p, q geom.Point) (w gradient) {
	w[a] = geom.PointJacobian(geom.Point{X: -u.X, Y: -u.Y}, p.Sub(e.bodies[a].at))
	w[b] = geom.PointJacobian(u, q.Sub(e.bodies[b].at))
	return w
}

// lengthError returns the error of such a length.
//
// Beyond first order, turning a lever of component l along u by θ shortens it by l·θ²/2,
// at the turn θ that belongs to the worst case k sigmas away.
func (e *relativeError) lengthError(u geom.Point, a, b int, p, q geom.Point) (l lengthError) {
	x, y := &e.bodies[a], &e.bodies[b]
	rp, rq := p.Sub(x.at), q.Sub(y.at)
	va, ta := x.cov.VarianceAndTurn(-u.X, -u.Y, geom.Point{X: -u.X, Y: -u.Y}.Cross(rp))
	vb, tb := y.cov.VarianceAndTurn(u.X, u.Y, u.Cross(rq))
	l.variance = max(0, va+vb)
	if l.variance > 0 {
		l.secondOrder = sq(e.k) * (math.Abs(u.Dot(rp))*ta*ta + math.Abs(u.Dot(rq))*tb*tb) / (2 * l.variance)
	}
	return l
}

// interval returns the interval of the length at k standard deviations; scale is the
// standard deviation of the error of scale.
func (l *lengthError) interval(k, val, scale float64) geom.Interval {
	d := k*math.Sqrt(l.variance+sq(scale)) + l.secondOrder
	return geom.Interval{Lo: val - d, Val: val, Hi: val + d}
}
