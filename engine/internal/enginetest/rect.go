package enginetest

import (
	"math"

	"sightline/engine"
	"sightline/engine/geom"
)

// Rect is a base on the table, as the slow methods know it.
type Rect struct {
	X, Y, Heading float64
	W, L          float64 // half
}

// RectOf returns a ship's base.
func RectOf(s engine.Ship) Rect {
	w, l := s.Base.Size()
	return Rect{s.Pose.X, s.Pose.Y, float64(s.Pose.Heading), float64(w) / 2, float64(l) / 2}
}

// Corners returns the corners, counter-clockwise.
func (r Rect) Corners() []geom.Point {
	out := make([]geom.Point, 4)
	for i := range out {
		out[3-i].X, out[3-i].Y = r.Edge(i, 0)
	}
	return out
}

// Local returns a table point in the base's own frame.
func (r Rect) Local(x, y float64) (float64, float64) {
	s, c := math.Sin(r.Heading), math.Cos(r.Heading)
	dx, dy := x-r.X, y-r.Y
	return dx*c - dy*s, dx*s + dy*c
}

// Edge returns the point at t in [0, 1] of edge i.
func (r Rect) Edge(i int, t float64) (float64, float64) {
	corner := [5][2]float64{{-1, 1}, {1, 1}, {1, -1}, {-1, -1}, {-1, 1}}
	a, b := corner[i], corner[i+1]
	lx, ly := (a[0]+(b[0]-a[0])*t)*r.W, (a[1]+(b[1]-a[1])*t)*r.L
	s, c := math.Sin(r.Heading), math.Cos(r.Heading)
	return r.X + lx*c + ly*s, r.Y - lx*s + ly*c
}

// Distance returns how far a table point is from the base's area.
func (r Rect) Distance(x, y float64) float64 {
	lx, ly := r.Local(x, y)
	return math.Hypot(math.Max(0, math.Abs(lx)-r.W), math.Max(0, math.Abs(ly)-r.L))
}

// OracleRange is the distance between two bases that do not overlap: the least
// distance of any point of an edge of the one from the other.
func OracleRange(a, b Rect) float64 {
	best := math.Inf(1)
	for i := range 4 {
		best = math.Min(best, Golden(func(t float64) float64 { return a.Distance(b.Edge(i, t)) }, 0, 1))
	}
	return best
}

// Golden minimises a convex function over [a, b].
func Golden(f func(float64) float64, a, b float64) float64 {
	const g = 0.6180339887498949
	c, d := b-g*(b-a), a+g*(b-a)
	fc, fd := f(c), f(d)
	best := math.Min(math.Min(f(a), f(b)), math.Min(fc, fd))
	for range 80 {
		if fc < fd {
			b, d, fd = d, c, fc
			c = b - g*(b-a)
			fc = f(c)
		} else {
			a, c, fc = c, d, fd
			d = a + g*(b-a)
			fd = f(d)
		}
		best = math.Min(best, math.Min(fc, fd))
	}
	return best
}
