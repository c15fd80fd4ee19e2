package geom

import (
	"cmp"
	"math"
	"slices"
)

// ClosestOnSegment returns the point of the closed segment from a to b that is
// closest to p, and how far along the segment it lies (0 at a, 1 at b). A
// segment of no length is its point a.
func ClosestOnSegment(p, a, b Point) (q Point, t float64) {
	d := b.Sub(a)
	l2 := d.Dot(d)
	if l2 == 0 {
		return a, 0
	}
	t = p.Sub(a).Dot(d) / l2
	switch {
	case t <= 0:
		return a, 0
	case t >= 1:
		return b, 1
	}
	return a.Add(d.Mul(t)), t
}

// Polygon is a simple polygon: its vertices in order, either way round, the last
// joined to the first. It may be concave.
type Polygon []Point

// OpenRing returns the vertices without a last one that repeats the first, as GeoJSON closes its rings.
func OpenRing[P comparable](ring []P) []P {
	if last := len(ring) - 1; last > 0 && ring[last] == ring[0] {
		return ring[:last]
	}
	return ring
}

// Area returns the signed area in mm²: positive when the vertices run
// counter-clockwise.
func (g Polygon) Area() float64 {
	sum := 0.0
	for i, p := range g {
		q := g[(i+1)%len(g)]
		sum += p.Sub(g[0]).Cross(q.Sub(g[0]))
	}
	return sum / 2
}

// Contains reports whether p lies inside the polygon. Points on the boundary may
// go either way; measure BoundaryDistance where that matters.
func (g Polygon) Contains(p Point) bool {
	in := false
	for i, j := 0, len(g)-1; i < len(g); j, i = i, i+1 {
		a, b := g[j], g[i]
		if (a.Y > p.Y) == (b.Y > p.Y) {
			continue
		}
		if p.X < a.X+(b.X-a.X)*((p.Y-a.Y)/(b.Y-a.Y)) {
			in = !in
		}
	}
	return in
}

// BoundaryDistance returns how far p is from the polygon's boundary, inside or
// outside, in millimetres. A polygon without vertices is infinitely far.
func (g Polygon) BoundaryDistance(p Point) float64 {
	best := math.Inf(1)
	for i, j := 0, len(g)-1; i < len(g); j, i = i, i+1 {
		if a, b := g[j], g[i]; !lineFurther(p, a, b, best) {
			best = min(best, squareFrom(p, a, b))
		}
	}
	return math.Sqrt(best)
}

// lineFurther reports whether the line through a and b, and so the segment between them,
// is surely further from p than the root of some square. It takes no division.
func lineFurther(p, a, b Point, square float64) bool {
	ex, ey := b.X-a.X, b.Y-a.Y
	c := ex*(p.Y-a.Y) - ey*(p.X-a.X)
	return c*c > (1.000001*square+1e-18)*(ex*ex+ey*ey)
}

// Depth returns how far p lies inside the polygon: positive inside, negative
// outside, in millimetres to the boundary.
func (g Polygon) Depth(p Point) float64 {
	d := g.BoundaryDistance(p)
	if g.Contains(p) {
		return d
	}
	return -d
}

// Bounds returns the corners of the smallest rectangle along the axes that holds a polygon, which must have vertices.
func (g Polygon) Bounds() (lo, hi Point) {
	lo, hi = g[0], g[0]
	for _, p := range g {
		lo = Point{min(lo.X, p.X), min(lo.Y, p.Y)}
		hi = Point{max(hi.X, p.X), max(hi.Y, p.Y)}
	}
	return lo, hi
}

// Inradius returns about the radius of the largest circle in a polygon: of 400 places the deepest.
func (g Polygon) Inradius() float64 {
	const steps = 20
	lo, hi := g.Bounds()
	best := 0.0
	for i := range steps {
		for j := range steps {
			p := Point{lo.X + (float64(i)+0.5)/steps*(hi.X-lo.X), lo.Y + (float64(j)+0.5)/steps*(hi.Y-lo.Y)}
			best = max(best, g.Depth(p))
		}
	}
	return best
}

// Convex reports whether the polygon has no reflex corner.
func (g Polygon) Convex() bool {
	sign := 0.0
	for i := range g {
		a, b, c := g[i], g[(i+1)%len(g)], g[(i+2)%len(g)]
		turn := b.Sub(a).Cross(c.Sub(b))
		if turn*sign < 0 {
			return false
		}
		if turn != 0 {
			sign = turn
		}
	}
	return true
}

// Hull returns the convex hull, counter-clockwise and without corners that are
// straight, in the memory of room as far as that goes. Of fewer than three vertices
// it is these themselves.
func (g Polygon) Hull(room Polygon) Polygon {
	room = append(room[:0], g...)
	slices.SortFunc(room, func(p, q Point) int {
		if c := cmp.Compare(p.X, q.X); c != 0 {
			return c
		}
		return cmp.Compare(p.Y, q.Y)
	})
	n := len(room)
	if n < 3 {
		return room
	}
	// The lower half from left to right, then the upper one back, behind the sorted
	// vertices in the same memory.
	for i := range n {
		room = appendLeftTurn(room, n, room[i])
	}
	lower := len(room)
	for i := n - 2; i >= 0; i-- {
		room = appendLeftTurn(room, lower-1, room[i])
	}
	m := copy(room, room[n:len(room)-1])
	return room[:m]
}

// appendLeftTurn appends p after taking off the vertices, down to the one at first,
// at which the way to p would not turn left.
func appendLeftTurn(v Polygon, first int, p Point) Polygon {
	for len(v) >= first+2 && v[len(v)-1].Sub(v[len(v)-2]).Cross(p.Sub(v[len(v)-1])) <= 0 {
		v = v[:len(v)-1]
	}
	return append(v, p)
}

// SegmentsTouch reports whether the closed segments ab and cd have a point in
// common.
func SegmentsTouch(a, b, c, d Point) bool {
	o1, o2 := side(a, b, c), side(a, b, d)
	o3, o4 := side(c, d, a), side(c, d, b)
	if o1*o2 < 0 && o3*o4 < 0 {
		return true
	}
	return o1 == 0 && inBox(a, b, c) || o2 == 0 && inBox(a, b, d) ||
		o3 == 0 && inBox(c, d, a) || o4 == 0 && inBox(c, d, b)
}

// side returns the sign of c's place next to the directed line ab: 1 left, -1 right.
func side(a, b, c Point) int {
	switch v := b.Sub(a).Cross(c.Sub(a)); {
	case v > 0:
		return 1
	case v < 0:
		return -1
	}
	return 0
}

// inBox reports whether p, known to be on the line ab, is on the segment.
func inBox(a, b, p Point) bool {
	return min(a.X, b.X) <= p.X && p.X <= max(a.X, b.X) &&
		min(a.Y, b.Y) <= p.Y && p.Y <= max(a.Y, b.Y)
}

// Crossing finds two edges of the polygon that meet where they should not: edges
// i (from vertex i to i+1) and j, i < j. ok is false for a simple polygon. A
// repeated vertex counts as a crossing.
func (g Polygon) Crossing() (i, j int, ok bool) {
	n := len(g)
	order := make([]int, n)
	for k := range order {
		order[k] = k
	}
	left := func(k int) float64 { return min(g[k].X, g[(k+1)%n].X) }
	right := func(k int) float64 { return max(g[k].X, g[(k+1)%n].X) }
	slices.SortFunc(order, func(x, y int) int { return cmp.Compare(left(x), left(y)) })
	for x, e := range order {
		for _, f := range order[x+1:] {
			if left(f) > right(e) { // the rest begin further right still
				break
			}
			if g.edgesMeet(min(e, f), max(e, f)) {
				return min(e, f), max(e, f), true
			}
		}
	}
	return 0, 0, false
}

// edgesMeet reports whether edges i < j meet elsewhere than in the corner that
// neighbours share.
func (g Polygon) edgesMeet(i, j int) bool {
	n := len(g)
	a, b, c, d := g[i], g[(i+1)%n], g[j], g[(j+1)%n]
	switch {
	case a == b || c == d:
		return true
	case j == i+1: // share b = c; they meet elsewhere only when folded back
		return side(a, b, d) == 0 && b.Sub(a).Dot(d.Sub(c)) < 0
	case i == 0 && j == n-1: // share a = d
		return side(c, d, b) == 0 && d.Sub(c).Dot(b.Sub(a)) < 0
	}
	return SegmentsTouch(a, b, c, d)
}

// SegmentGap returns the distance of the polygon from the segment from a to b in mm, 0
// when the segment meets its boundary or lies inside.
func (g Polygon) SegmentGap(a, b Point) float64 {
	u := b.Sub(a)
	length := math.Sqrt(u.Dot(u))
	if length == 0 {
		return max(0, -g.Depth(a))
	}
	u = Point{u.X / length, u.Y / length}
	if len(g) == 0 {
		return math.Inf(1)
	}
	best, beside, beyond := math.Inf(1), math.Inf(1), 0
	p := g[len(g)-1]
	d := p.Sub(a)
	ps, pc := d.Dot(u), u.Cross(d)
	for _, q := range g {
		if q == a || q == b {
			return 0 // whatever the rounding below
		}
		d := q.Sub(a)
		s, c := d.Dot(u), u.Cross(d)
		if s >= 0 && s <= length {
			beside = min(beside, math.Abs(c))
		}
		across := 0.0 // all of the edge is no nearer to the segment's line
		if (pc > 0) != (c > 0) {
			switch at := ps + (s-ps)*(pc/(pc-c)); {
			case at > length:
				beyond++
			case at >= 0:
				return 0
			}
		} else {
			across = min(math.Abs(c), math.Abs(pc))
		}
		// Only what of an edge is beyond an end can be the nearest to that end, and only if it may be nearer than what was seen.
		seen := 1.000001*best + 1e-18
		if s < 0 || ps < 0 {
			if along := max(0, -max(s, ps)); along*along+across*across <= seen {
				best = min(best, squareFrom(a, p, q))
			}
		}
		if s > length || ps > length {
			if along := max(0, min(s, ps)-length); along*along+across*across <= seen {
				best = min(best, squareFrom(b, p, q))
			}
		}
		p, ps, pc = q, s, c
	}
	if beyond%2 == 1 { // it does not cross the boundary and is inside
		return 0
	}
	return min(beside, math.Sqrt(best))
}

// squareFrom returns the square of the distance of p from the segment ab.
func squareFrom(p, a, b Point) float64 {
	e, d := b.Sub(a), p.Sub(a)
	along, l2 := d.Dot(e), e.Dot(e)
	switch {
	case along <= 0:
		return d.Dot(d)
	case along >= l2:
		d = p.Sub(b)
		return d.Dot(d)
	}
	c := e.Cross(d)
	return c * c / l2
}

// Gap returns the distance between two polygons in mm, 0 when they meet or one
// contains the other. One or two vertices stand for a point or a segment; nothing
// is infinitely far from no vertices.
func Gap(a, b Polygon) float64 {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(a) == 0 {
		return math.Inf(1)
	}
	if len(a) > 2 && a.Contains(b[0]) {
		return 0
	}
	best, from := math.Inf(1), a[len(a)-1]
	for i, p := range a {
		if len(a) == 2 && i == 1 {
			break // the same segment back
		}
		if best = min(best, b.SegmentGap(from, p)); best == 0 {
			return 0
		}
		from = p
	}
	return best
}
