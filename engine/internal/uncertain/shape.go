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

// Shape is a polygon that belongs to a body and moves with it: a base, the part of a base inside an
// arc, an arc's area or an obstacle. It runs counter-clockwise and, except for obstacles, is
// convex. One or two vertices make a point or a segment. Derived values are computed once, when the
// shape is made.
//
// An arc's area is unbounded: its outer sides have one vertex or none, and rays are its unbounded
// directions.
type Shape struct {
	V     []geom.Point
	Edges []Edge
	rays  []geom.Point
	Body  int
	Lever float64 // no measured point is further from the body's centre
	round Circle  // contains the shape; none for an arc's area

	buf     [12]geom.Point // backs V, to avoid allocations
	edgeBuf [12]Edge
	rayBuf  [3]geom.Point
}

// Circle is a circle on the table.
type Circle struct {
	Centre geom.Point
	Radius float64
}

// Edge is a side of a shape: the points At + t·Dir, t from Lo to Hi. The side from one vertex to
// the next has the first at Lo = 0.
type Edge struct {
	At, Dir geom.Point // Dir is a unit vector; 0 for an edge of no length
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

// Set sets the shape's vertices, reusing its memory.
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

// SetOpen makes the shape the area of an arc, with its unbounded directions.
func (s *Shape) SetOpen(v []geom.Point, edges []Edge, rays ...geom.Point) {
	s.Body = From
	s.round.Radius = math.Inf(1)
	s.V = append(s.buf[:0], v...)
	s.Edges = append(s.edgeBuf[:0], edges...)
	s.rays = append(s.rayBuf[:0], rays...)
}

// ahead returns the sine of the least angle by which an unbounded direction of the shape leads away
// from a side with the outward normal out. If it is below the sine of an angle, the shape turned by
// that angle reaches infinitely far behind the side. It is infinite if no direction is unbounded.
func (s *Shape) ahead(out geom.Point) float64 {
	least := math.Inf(1)
	for _, r := range s.rays {
		least = min(least, r.Dot(out))
	}
	return least
}

// deepest returns the point of the segment from p to q that is deepest in a convex shape, and its
// depth, negative outside. The depth is the least of the linear depths behind each side, so it is
// greatest at an end or where two of them are equal.
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

// Rectangle sets the shape to x0…x1 by y0…y1 in a pose's own frame.
func (s *Shape) Rectangle(p geom.Pose, body int, x0, x1, y0, y1 float64) {
	f := FrameOf(p)
	s.RectangleIn(&f, body, x0, x1, y0, y1)
}

// RectangleIn is Rectangle for a pose with computed axes.
func (s *Shape) RectangleIn(f *Frame, body int, x0, x1, y0, y1 float64) {
	s.Set(body, math.Hypot(max(-x0, x1), max(-y0, y1)),
		f.Table(geom.Point{X: x1, Y: y1}), f.Table(geom.Point{X: x0, Y: y1}),
		f.Table(geom.Point{X: x0, Y: y0}), f.Table(geom.Point{X: x1, Y: y0}))
}

// Frame is a pose with its axes.
type Frame struct{ At, Right, Forward geom.Point }

// FrameOf computes a pose's axes.
func FrameOf(p geom.Pose) Frame {
	sin, cos := math.Sincos(float64(p.Heading))
	return Frame{p.Point, geom.Point{X: cos, Y: -sin}, geom.Point{X: sin, Y: cos}}
}

// Table transforms a point of the frame to the table, like [geom.Pose.Transform].
func (f *Frame) Table(p geom.Point) geom.Point {
	return geom.Point{X: f.At.X + f.Right.X*p.X + f.Forward.X*p.Y, Y: f.At.Y + f.Right.Y*p.X + f.Forward.Y*p.Y}
}

// Clip sets the shape to the part of src on the inner side of the half planes n·x ≥ c, each moved
// inward by shrink[i] mm. A part that is only an edge or a corner remains, as a segment or a point,
// because arcs are closed.
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

// cut appends to out the part of a convex polygon on the inner side of the half plane moved inward
// by shrink.
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

// addVertex appends a vertex that differs from the previous one, within the capacity that a
// rectangle cut by three planes needs.
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

// MaxPlanes is the largest number of half planes that cut a shape at once.
const MaxPlanes = 3
