package geom

import "math"

// Cov2 is the covariance of a point in mm²: [xx, xy, yy].
type Cov2 struct{ XX, XY, YY float64 }

// Along returns the variance in the direction of the unit vector u, in mm².
func (c Cov2) Along(u Point) float64 {
	return c.XX*u.X*u.X + 2*c.XY*u.X*u.Y + c.YY*u.Y*u.Y
}

// Add returns the sum of two independent covariances.
func (c Cov2) Add(d Cov2) Cov2 { return Cov2{c.XX + d.XX, c.XY + d.XY, c.YY + d.YY} }

// Largest returns the largest variance in any direction, in mm².
func (c Cov2) Largest() float64 {
	return (c.XX+c.YY)/2 + math.Hypot((c.XX-c.YY)/2, c.XY)
}

// Cov3 is the covariance of a pose, row-major over (x mm, y mm, heading rad).
// The zero value means an exactly known pose.
type Cov3 [9]float64

// Position returns the covariance of the position alone.
func (c Cov3) Position() Cov2 { return Cov2{c[0], c[1], c[4]} }

// HeadingVariance returns the variance of the heading in rad².
func (c Cov3) HeadingVariance() float64 { return c[8] }

// At returns the covariance of a point that a body carries, to first order. c is the
// covariance of the body's pose and offset the vector from its centre to the point, in
// mm of the table frame. A heading grows clockwise, and so moves the point by
// (offset.Y, -offset.X) per radian.
func (c *Cov3) At(offset Point) Cov2 {
	x, y := offset.X, offset.Y
	return Cov2{
		XX: c[0] + 2*y*c[2] + y*y*c[8],
		XY: c[1] - x*c[2] + y*c[5] - x*y*c[8],
		YY: c[4] - 2*x*c[5] + x*x*c[8],
	}
}

// Transported returns the covariance of the pose of a point that a body carries: the
// point's place, as [Cov3.At] says, and the body's heading.
func (c *Cov3) Transported(offset Point) Cov3 {
	p := c.At(offset)
	xt, yt := c[2]+offset.Y*c[8], c[5]-offset.X*c[8]
	return Cov3{
		p.XX, p.XY, xt,
		p.XY, p.YY, yt,
		xt, yt, c[8],
	}
}

// Propagated returns f·c·fᵀ: the covariance of what depends on the pose by the
// derivatives f.
func (c *Cov3) Propagated(f *[3]Jacobian) Cov3 {
	var out Cov3
	for i := range 3 {
		for j := range 3 {
			out[3*i+j] = c.Covariance(&f[i], &f[j])
		}
	}
	return out
}

// Variance returns the variance of a length that grows with the pose as j says, in mm².
func (c *Cov3) Variance(j *Jacobian) float64 {
	x, y, t := j[0], j[1], j[2]
	return max(0, x*(c[0]*x+2*c[1]*y+2*c[2]*t)+y*(c[4]*y+2*c[5]*t)+c[8]*t*t)
}

// VarianceAndTurn returns the variance of a length that grows with the pose by the
// [Jacobian] (x, y, t), in mm², and the covariance of the length with the heading, in mm·rad.
func (c *Cov3) VarianceAndTurn(x, y, t float64) (variance, turn float64) {
	turn = c[6]*x + c[7]*y + c[8]*t
	return x*(c[0]*x+2*c[1]*y+c[2]*t) + y*(c[4]*y+c[5]*t) + t*turn, turn
}

// Covariance returns the covariance of two lengths that grow with the pose as a and b
// say, in mm².
func (c *Cov3) Covariance(a, b *Jacobian) float64 {
	sum := 0.0
	for i := range 3 {
		sum += a[i] * (c[3*i]*b[0] + c[3*i+1]*b[1] + c[3*i+2]*b[2])
	}
	return sum
}

// VarianceBound returns an upper bound of the variance, in any direction, of the points
// that are no more than lever mm from the body's centre.
func (c *Cov3) VarianceBound(lever float64) float64 {
	return 2 * (c[0] + c[4] + lever*lever*c[8]) // (x+y)² ≤ 2(x²+y²)
}

// SecondOrderBound returns how many mm a lever of the body shortens when it turns by k
// standard deviations, which first order leaves out.
func (c *Cov3) SecondOrderBound(lever, k float64) float64 { return lever * k * k * c[8] / 2 }

// Jacobian says how a length changes with a pose: by its x and y in mm per mm, and by
// its heading in mm per radian.
type Jacobian [3]float64

// PointJacobian returns how a length changes that grows as a point of a body moves along
// u. offset is the vector from the body's centre to the point.
func PointJacobian(u, offset Point) Jacobian { return Jacobian{u.X, u.Y, u.Cross(offset)} }

// Add adds f times o to the Jacobian.
func (j *Jacobian) Add(o Jacobian, f float64) {
	for i := range j {
		j[i] += f * o[i]
	}
}

// Interval is a measured value and the interval that holds the truth at the asked
// number of standard deviations. An exactly known value has Lo = Val = Hi.
type Interval struct{ Lo, Val, Hi float64 }

// Exactly returns the interval of an exactly known value.
func Exactly(v float64) Interval { return Interval{v, v, v} }

// Neg returns the interval of the value with its sign changed.
func (s Interval) Neg() Interval { return Interval{-s.Hi, -s.Val, -s.Lo} }

// Sigma returns the standard deviation to state with a margin: the larger side of the
// interval, over k. Where the sides differ (a closest point that can jump one way
// only) the decision rests on the side that the margin looks to. The stated sigma then
// agrees with the decision: a margin exceeds k sigmas exactly when the question is
// decided.
func (s Interval) Sigma(k, margin float64, decided bool) float64 {
	w := max(s.Hi-s.Val, s.Val-s.Lo)
	margin = math.Abs(margin)
	switch {
	case w <= 0:
		return 0
	case decided:
		w = min(w, margin*(1-1e-6))
	default:
		w = max(w, margin*(1+1e-6))
	}
	return w / k
}

// Min and Max combine the intervals of several values when the smallest (largest)
// counts. A minimum is below a limit as soon as one of its members is. Its interval
// begins where the first member's begins and ends where the first member's ends.
//
// This is what makes parallel edges honest. Their two ends are two candidates for the
// closest point; a hair of rotation makes one or the other the nearest, and the
// first-order sigma of the one that happens to be nearest would be that of this end
// alone.
func (s Interval) Min(o Interval) Interval {
	return Interval{min(s.Lo, o.Lo), min(s.Val, o.Val), min(s.Hi, o.Hi)}
}

// Max is described at [Interval.Min].
func (s Interval) Max(o Interval) Interval {
	return Interval{max(s.Lo, o.Lo), max(s.Val, o.Val), max(s.Hi, o.Hi)}
}
