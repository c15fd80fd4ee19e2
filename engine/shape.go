package engine

import (
	"math"

	"sightline/engine/geom"
)

// tie is how near two exactly known lengths must be to count as equal: 1e-9 mm is
// a thousand times the rounding of coordinates of some metres, and a millionth
// of what any table can show.
const tie = 1e-9

// The two bodies of a measurement.
const (
	bodyFrom = iota
	bodyTo
)

// shape is a polygon that belongs to a body and moves with it: a base, the part
// of a base inside an arc, an arc's area or an obstacle. It runs counter-clockwise
// and, except for obstacles, is convex. One or two vertices make a point or a
// segment. What measuring asks again and again is worked out once, when it is made.
//
// An arc's area has no end: its outer sides have only one vertex, or none, and rays
// are the directions in which it has no end.
type shape struct {
	v     []geom.Point
	edges []edge
	rays  []geom.Point
	body  int
	lever float64 // no point that is ever measured is further from the body's centre
	round circle  // all of it is inside; of an arc's area there is no such circle

	buf     [12]geom.Point // backs v, so that measuring does not allocate
	edgeBuf [12]edge
	rayBuf  [3]geom.Point
}

// circle is a circle on the table.
type circle struct {
	centre geom.Point
	radius float64
}

// edge is a side of a shape: the points at + t·dir, t from lo to hi. That of a vertex
// to the next begins at the vertex.
type edge struct {
	at, dir geom.Point // dir is a unit vector; 0 for an edge of no length
	lo, hi  float64
}

// out returns the unit normal that points out of the shape.
func (e *edge) out() geom.Point { return geom.Point{X: e.dir.Y, Y: -e.dir.X} }

func (s *shape) next(i int) geom.Point {
	if i++; i == len(s.v) {
		i = 0
	}
	return s.v[i]
}

// set makes the shape of vertices, in the memory that it had before.
func (s *shape) set(body int, lever float64, v ...geom.Point) {
	s.body, s.lever = body, lever
	s.v = append(s.buf[:0], v...)
	s.setEdges()
	s.round = circleAround(v)
}

// circleAround returns a circle around the middle of some points.
func circleAround(v []geom.Point) circle {
	var c circle
	for _, p := range v {
		c.centre = c.centre.Add(p.Mul(1 / float64(len(v))))
	}
	for _, p := range v {
		d := p.Sub(c.centre)
		c.radius = max(c.radius, d.Dot(d))
	}
	c.radius = math.Sqrt(c.radius)
	return c
}

func (s *shape) setEdges() {
	s.rays = nil
	if n := len(s.v); n <= len(s.edgeBuf) {
		s.edges = s.edgeBuf[:0]
	} else {
		s.edges = grow(s.edges, n)[:0]
	}
	for i, p := range s.v {
		d := s.next(i).Sub(p)
		e := edge{at: p, hi: math.Sqrt(d.Dot(d))}
		if e.hi > 0 {
			e.dir = geom.Point{X: d.X / e.hi, Y: d.Y / e.hi}
		}
		s.edges = append(s.edges, e)
	}
}

// setOpen makes the area of an arc.
func (s *shape) setOpen(v []geom.Point, edges []edge, rays ...geom.Point) {
	s.body = bodyFrom
	s.round.radius = math.Inf(1)
	s.v = append(s.buf[:0], v...)
	s.edges = append(s.edgeBuf[:0], edges...)
	s.rays = append(s.rayBuf[:0], rays...)
}

// ahead returns the sine of the least angle by which a direction in which a shape has no end
// leads away from a side, in front of it as its outward normal out says. Where it is below
// that of an angle, the shape turned by the angle has no end in the side's back. It is infinite
// where no direction is without end.
func (s *shape) ahead(out geom.Point) float64 {
	least := math.Inf(1)
	for _, r := range s.rays {
		least = min(least, r.Dot(out))
	}
	return least
}

// deepest returns the point of the segment from p to q that is deepest in a convex
// shape, and its depth, negative outside. The depth is the least of what the point is
// behind each side, which are linear: it is greatest at an end or where two are equal.
func (s *shape) deepest(p, q geom.Point) (geom.Point, float64) {
	var from, to [12]float64
	for i := range s.edges {
		e := &s.edges[i]
		from[i], to[i] = e.at.Sub(p).Dot(e.out()), e.at.Sub(q).Dot(e.out())
	}
	n := len(s.edges)
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

// rectangle makes the shape of x0…x1 by y0…y1 in a pose's own frame.
func (s *shape) rectangle(p geom.Pose, body int, x0, x1, y0, y1 float64) {
	f := frameOf(p)
	s.rectangleIn(&f, body, x0, x1, y0, y1)
}

// rectangleIn is rectangle in a pose whose axes are worked out.
func (s *shape) rectangleIn(f *frame, body int, x0, x1, y0, y1 float64) {
	s.set(body, math.Hypot(max(-x0, x1), max(-y0, y1)),
		f.table(geom.Point{X: x1, Y: y1}), f.table(geom.Point{X: x0, Y: y1}),
		f.table(geom.Point{X: x0, Y: y0}), f.table(geom.Point{X: x1, Y: y0}))
}

// base makes the shape of a ship's base, guides left out.
func (s *shape) base(p *Profile, ship *Ship, body int) {
	if ship.part != nil {
		var room [12]geom.Point
		v, lever := room[:0], 0.0
		for _, q := range ship.part {
			v, lever = append(v, ship.Pose.Transform(q)), max(lever, q.Norm())
		}
		s.set(body, lever, v...)
		return
	}
	w, l := p.Size(ship.Base)
	s.rectangle(ship.Pose, body, float64(-w/2), float64(w/2), float64(-l/2), float64(l/2))
}

// frame is a pose with its axes worked out.
type frame struct{ at, right, forward geom.Point }

func frameOf(p geom.Pose) frame {
	sin, cos := math.Sincos(float64(p.Heading))
	return frame{p.Point, geom.Point{X: cos, Y: -sin}, geom.Point{X: sin, Y: cos}}
}

// table takes a point of the frame to the table, as [geom.Pose.Transform] does.
func (f *frame) table(p geom.Point) geom.Point {
	return geom.Point{X: f.at.X + f.right.X*p.X + f.forward.X*p.Y, Y: f.at.Y + f.right.Y*p.X + f.forward.Y*p.Y}
}

// clip makes the part of src on the inner side of the half planes: n·x ≥ c, each
// moved inward by shrink[i] mm. A part that is only an edge or a corner stays, as
// a segment or a point, because arcs are closed.
func (s *shape) clip(src *shape, planes []halfPlane, shrink *[maxPlanes]float64) {
	s.body, s.lever, s.round = src.body, src.lever, src.round
	var room [2][12]geom.Point
	v := src.v
	for i := range planes {
		h := &planes[i]
		v = h.cut(v, shrink[i], room[i%2][:0])
	}
	s.v = append(s.buf[:0], v...)
	s.setEdges()
}

// cut appends to out what of a convex polygon is on the inner side of the half
// plane moved inward by shrink.
func (h *halfPlane) cut(v []geom.Point, shrink float64, out []geom.Point) []geom.Point {
	if len(v) == 0 {
		return v
	}
	c := h.c + shrink
	a, da := v[len(v)-1], h.n.Dot(v[len(v)-1])-c
	for _, b := range v {
		db := h.n.Dot(b) - c
		if da < -tie && db > tie || da > tie && db < -tie {
			out = addVertex(out, a.Lerp(b, da/(da-db)))
		}
		if db >= -tie {
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

// halfPlane is the set n·x ≥ c; n is a unit vector of the table frame.
type halfPlane struct {
	n geom.Point
	c float64
}

const maxPlanes = 3

// region is the area of an arc on the table: convex, unbounded.
type region struct {
	planes []halfPlane
	area   shape // the same
	buf    [maxPlanes]halfPlane
}

// setPlanes makes the half planes behind the area's sides.
func (r *region) setPlanes() {
	r.planes = r.buf[:0]
	for i := range r.area.edges {
		e := &r.area.edges[i]
		n := e.out().Mul(-1)
		r.planes = append(r.planes, halfPlane{n, n.Dot(e.at)})
	}
}

// wedge makes the area within half of the direction mid (both radians, mid
// clockwise from the nose), its apex at the base's centre.
func (r *region) wedge(f *frame, mid, half geom.Angle) {
	dir := func(a geom.Angle) geom.Point {
		sin, cos := math.Sincos(float64(a))
		return f.right.Mul(sin).Add(f.forward.Mul(cos))
	}
	left, right := dir(mid-half), dir(mid+half)
	r.area.setOpen([]geom.Point{f.at}, []edge{
		{at: f.at, dir: right, hi: math.Inf(1)},
		{at: f.at, dir: left.Mul(-1), lo: math.Inf(-1)},
	}, left, right)
	r.setPlanes()
}

// half makes the half plane in front of (side 1) or behind (side -1) the middle
// of the base.
func (r *region) half(f *frame, side float64) {
	dir := f.right.Mul(side)
	r.area.setOpen(nil, []edge{{at: f.at, dir: dir, lo: math.Inf(-1), hi: math.Inf(1)}},
		dir, dir.Mul(-1), f.forward.Mul(side))
	r.setPlanes()
}

// strip makes the area of the given width straight ahead of the base's centre.
func (r *region) strip(f *frame, width float64) {
	left, right := f.table(geom.Point{X: -width / 2}), f.table(geom.Point{X: width / 2})
	r.area.setOpen([]geom.Point{left, right}, []edge{
		{at: left, dir: f.right, hi: width},
		{at: right, dir: f.forward, hi: math.Inf(1)},
		{at: left, dir: f.forward.Mul(-1), lo: math.Inf(-1)},
	}, f.forward)
	r.setPlanes()
}
