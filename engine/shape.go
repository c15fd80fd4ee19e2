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

// body is a rigid thing on the table whose place is known up to a covariance.
type body struct {
	at  geom.Point
	cov geom.Cov3
}

// shape is a polygon that belongs to a body and moves with it: a base, the part
// of a base inside an arc, an arc's area or an obstacle. Except for obstacles it
// is convex and runs counter-clockwise. One or two vertices make a point or a
// segment.
type shape struct {
	v    []geom.Point
	body int
	buf  [12]geom.Point // backs v, so that measuring does not allocate
}

func (s *shape) next(i int) geom.Point {
	if i++; i == len(s.v) {
		i = 0
	}
	return s.v[i]
}

// point makes the shape of a single point.
func (s *shape) point(p geom.Point, body int) {
	s.body = body
	s.v = append(s.buf[:0], p)
}

// rectangle makes the shape of x0…x1 by y0…y1 in a pose's own frame.
func (s *shape) rectangle(p geom.Pose, body int, x0, x1, y0, y1 float64) {
	s.body = body
	s.v = append(s.buf[:0],
		p.Transform(geom.Point{X: x1, Y: y1}), p.Transform(geom.Point{X: x0, Y: y1}),
		p.Transform(geom.Point{X: x0, Y: y0}), p.Transform(geom.Point{X: x1, Y: y0}))
}

// base makes the shape of a ship's base, guides left out.
func (s *shape) base(p *Profile, ship *Ship, body int) {
	w, l := p.Size(ship.Base)
	s.rectangle(ship.Pose, body, float64(-w/2), float64(w/2), float64(-l/2), float64(l/2))
}

// clip makes the part of src on the inner side of the half planes: n·x ≥ c, each
// moved inward by shrink[i] mm. A part that is only an edge or a corner stays, as
// a segment or a point, because arcs are closed.
func (s *shape) clip(src *shape, planes []halfPlane, shrink *[maxPlanes]float64) {
	s.body = src.body
	s.v = append(s.buf[:0], src.v...)
	var tmp [12]geom.Point
	for i := range planes {
		h := planes[i]
		c := h.c + shrink[i]
		out := tmp[:0]
		for j, a := range s.v {
			b := s.next(j)
			da, db := h.n.Dot(a)-c, h.n.Dot(b)-c
			if da >= -tie {
				out = addVertex(out, a)
			}
			if da < -tie && db > tie || da > tie && db < -tie {
				out = addVertex(out, a.Lerp(b, da/(da-db)))
			}
		}
		if n := len(out); n > 1 && out[0] == out[n-1] {
			out = out[:n-1]
		}
		s.v = append(s.buf[:0], out...)
	}
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
	area   shape // the same, cut off beyond everything that is measured
	buf    [maxPlanes]halfPlane
}

// add appends the half plane to the left of the ray from a (own frame) in the
// own-frame direction d.
func (r *region) add(p geom.Pose, a, d geom.Point) {
	n := p.Right().Mul(-d.Y).Add(p.Forward().Mul(d.X))
	r.planes = append(r.planes, halfPlane{n, n.Dot(p.Transform(a))})
}

// wedge makes the area within half of the direction mid (both radians, mid
// clockwise from the nose), its apex at the base's centre. reach is how far from
// the centre anything measured lies.
func (r *region) wedge(p geom.Pose, mid, half geom.Angle, reach float64) {
	// Longer than anything, so that the cut-off's own edge never is the nearest:
	// it lies 4·cos(50°) > 2.5 reaches away for the widest arc.
	far := 4 * reach
	dir := func(a geom.Angle) geom.Point {
		sin, cos := math.Sincos(float64(a))
		return geom.Point{X: sin, Y: cos}
	}
	left, right := dir(mid-half), dir(mid+half)
	r.planes = r.buf[:0]
	r.add(p, geom.Point{}, right)
	r.add(p, geom.Point{}, left.Mul(-1))
	r.area.body = bodyFrom
	r.area.v = append(r.area.buf[:0], p.Point, p.Transform(right.Mul(far)), p.Transform(left.Mul(far)))
}

// half makes the half plane in front of (side 1) or behind (side -1) the middle
// of the base.
func (r *region) half(p geom.Pose, side, reach float64) {
	r.planes = r.buf[:0]
	r.add(p, geom.Point{}, geom.Point{X: side})
	far := 4 * reach
	r.area.rectangle(p, bodyFrom, -far, far, min(0, side*far), max(0, side*far))
}

// strip makes the area of the given width straight ahead of the base's centre.
func (r *region) strip(p geom.Pose, width, reach float64) {
	r.planes = r.buf[:0]
	r.add(p, geom.Point{X: width / 2}, geom.Point{Y: 1})
	r.add(p, geom.Point{X: -width / 2}, geom.Point{Y: -1})
	r.add(p, geom.Point{}, geom.Point{X: 1})
	r.area.rectangle(p, bodyFrom, -width/2, width/2, 0, 4*reach)
}
