package uncertain

import (
	"math"
	"slices"

	"sightline/engine/geom"
)

// The two bodies of a measurement.
const (
	From = iota
	To
)

// Shape is a polygon that belongs to a body and moves with it: a base, the part
// of a base inside an arc, an arc's area or an obstacle. It runs counter-clockwise
// and, except for obstacles, is convex. One or two vertices make a point or a
// segment. What measuring asks again and again is worked out once, when it is made.
//
// An arc's area has no end: its outer sides have only one vertex, or none, and rays
// are the directions in which it has no end.
type Shape struct {
	V     []geom.Point
	Edges []Edge
	rays  []geom.Point
	Body  int
	Lever float64 // no point that is ever measured is further from the body's centre
	round Circle  // all of it is inside; of an arc's area there is no such circle

	buf     [12]geom.Point // backs v, so that measuring does not allocate
	edgeBuf [12]Edge
	rayBuf  [3]geom.Point
}

// Circle is a circle on the table.
type Circle struct {
	Centre geom.Point
	Radius float64
}

// Edge is a side of a shape: the points at + t·dir, t from lo to hi. That of a vertex
// to the next begins at the vertex.
type Edge struct {
	At, Dir geom.Point // dir is a unit vector; 0 for an edge of no length
	Lo, Hi  float64
}

// Out returns the unit normal that points out of the shape.
func (e *Edge) Out() geom.Point { return geom.Point{X: e.Dir.Y, Y: -e.Dir.X} }

// Next returns the vertex after the i-th.
func (s *Shape) Next(i int) geom.Point {
	if i++; i == len(s.V) {
		i = 0
	}
	return s.V[i]
}

// Set makes the shape of vertices, in the memory that it had before.
func (s *Shape) Set(body int, lever float64, v ...geom.Point) {
	s.Body, s.Lever = body, lever
	s.V = append(s.buf[:0], v...)
	s.setEdges()
	s.round = circleAround(v)
}

// circleAround returns a circle around the middle of some points.
func circleAround(v []geom.Point) Circle {
	var c Circle
	for _, p := range v {
		c.Centre = c.Centre.Add(p.Mul(1 / float64(len(v))))
	}
	for _, p := range v {
		d := p.Sub(c.Centre)
		c.Radius = max(c.Radius, d.Dot(d))
	}
	c.Radius = math.Sqrt(c.Radius)
	return c
}

func (s *Shape) setEdges() {
	s.rays = nil
	if n := len(s.V); n <= len(s.edgeBuf) {
		s.Edges = s.edgeBuf[:0]
	} else {
		s.Edges = slices.Grow(s.Edges[:0], n)
	}
	for i, p := range s.V {
		d := s.Next(i).Sub(p)
		e := Edge{At: p, Hi: math.Sqrt(d.Dot(d))}
		if e.Hi > 0 {
			e.Dir = geom.Point{X: d.X / e.Hi, Y: d.Y / e.Hi}
		}
		s.Edges = append(s.Edges, e)
	}
}

// SetOpen makes the area of an arc.
func (s *Shape) SetOpen(v []geom.Point, edges []Edge, rays ...geom.Point) {
	s.Body = From
	s.round.Radius = math.Inf(1)
	s.V = append(s.buf[:0], v...)
	s.Edges = append(s.edgeBuf[:0], edges...)
	s.rays = append(s.rayBuf[:0], rays...)
}

// ahead returns the sine of the least angle by which a direction in which a shape has no end
// leads away from a side, in front of it as its outward normal out says. Where it is below
// that of an angle, the shape turned by the angle has no end in the side's back. It is infinite
// where no direction is without end.
func (s *Shape) ahead(out geom.Point) float64 {
	least := math.Inf(1)
	for _, r := range s.rays {
		least = min(least, r.Dot(out))
	}
	return least
}

// deepest returns the point of the segment from p to q that is deepest in a convex
// shape, and its depth, negative outside. The depth is the least of what the point is
// behind each side, which are linear: it is greatest at an end or where two are equal.
func (s *Shape) deepest(p, q geom.Point) (geom.Point, float64) {
	var from, to [12]float64
	for i := range s.Edges {
		e := &s.Edges[i]
		from[i], to[i] = e.At.Sub(p).Dot(e.Out()), e.At.Sub(q).Dot(e.Out())
	}
	n := len(s.Edges)
	best, at := math.Inf(-1), 0.0
	look := func(t float64) {
		least := math.Inf(1)
		for i := range n {
			least = min(least, from[i]+t*(to[i]-from[i]))
		}
		if least > best {
			best, at = least, t
		}
	}
	look(0)
	look(1)
	for i := range n {
		for j := range i {
			d, rate := from[j]-from[i], to[i]-from[i]-to[j]+from[j]
			if t := d / rate; t > 0 && t < 1 {
				look(t)
			}
		}
	}
	return p.Lerp(q, at), best
}

// Rectangle makes the shape of x0…x1 by y0…y1 in a pose's own frame.
func (s *Shape) Rectangle(p geom.Pose, body int, x0, x1, y0, y1 float64) {
	f := FrameOf(p)
	s.RectangleIn(&f, body, x0, x1, y0, y1)
}

// RectangleIn is rectangle in a pose whose axes are worked out.
func (s *Shape) RectangleIn(f *Frame, body int, x0, x1, y0, y1 float64) {
	s.Set(body, math.Hypot(max(-x0, x1), max(-y0, y1)),
		f.Table(geom.Point{X: x1, Y: y1}), f.Table(geom.Point{X: x0, Y: y1}),
		f.Table(geom.Point{X: x0, Y: y0}), f.Table(geom.Point{X: x1, Y: y0}))
}

// Frame is a pose with its axes worked out.
type Frame struct{ At, Right, Forward geom.Point }

// FrameOf works out a pose's axes.
func FrameOf(p geom.Pose) Frame {
	sin, cos := math.Sincos(float64(p.Heading))
	return Frame{p.Point, geom.Point{X: cos, Y: -sin}, geom.Point{X: sin, Y: cos}}
}

// Table takes a point of the frame to the table, as [geom.Pose.Transform] does.
func (f *Frame) Table(p geom.Point) geom.Point {
	return geom.Point{X: f.At.X + f.Right.X*p.X + f.Forward.X*p.Y, Y: f.At.Y + f.Right.Y*p.X + f.Forward.Y*p.Y}
}

// Clip makes the part of src on the inner side of the half planes: n·x ≥ c, each
// moved inward by shrink[i] mm. A part that is only an edge or a corner stays, as
// a segment or a point, because arcs are closed.
func (s *Shape) Clip(src *Shape, planes []HalfPlane, shrink *[MaxPlanes]float64) {
	s.Body, s.Lever, s.round = src.Body, src.Lever, src.round
	var room [2][12]geom.Point
	v := src.V
	for i := range planes {
		h := &planes[i]
		v = h.cut(v, shrink[i], room[i%2][:0])
	}
	s.V = append(s.buf[:0], v...)
	s.setEdges()
}

// cut appends to out the part of a convex polygon that is on the inner side of the half
// plane moved inward by shrink.
func (h *HalfPlane) cut(v []geom.Point, shrink float64, out []geom.Point) []geom.Point {
	if len(v) == 0 {
		return v
	}
	c := h.C + shrink
	a, da := v[len(v)-1], h.N.Dot(v[len(v)-1])-c
	for _, b := range v {
		db := h.N.Dot(b) - c
		if da < -geom.Tie && db > geom.Tie || da > geom.Tie && db < -geom.Tie {
			out = addVertex(out, a.Lerp(b, da/(da-db)))
		}
		if db >= -geom.Tie {
			out = addVertex(out, b)
		}
		a, da = b, db
	}
	if n := len(out); n > 1 && out[0] == out[n-1] {
		out = out[:n-1]
	}
	return out
}

// addVertex appends a vertex that differs from the one before, within the room
// that a rectangle cut by three planes needs.
func addVertex(v []geom.Point, p geom.Point) []geom.Point {
	if n := len(v); n > 0 && v[n-1] == p || n == cap(v) {
		return v
	}
	return append(v, p)
}

// HalfPlane is the set n·x ≥ c; n is a unit vector of the table frame.
type HalfPlane struct {
	N geom.Point
	C float64
}

// MaxPlanes is the most half planes that a shape is cut by at once.
const MaxPlanes = 3
