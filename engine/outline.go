package engine

import (
	"math"

	"sightline/engine/geom"
	"sightline/engine/internal/uncertain"
)

// obstacleOutline is the outline of an obstacle, a device or a marker on the table.
type obstacleOutline struct {
	id, kind string
	obstacle bool // it obstructs attacks
	device   bool // it does not obstruct, but is named when it is on the line
	uncertain.Outline

	others []*obstacleOutline // the other pieces of a device that the mat's edge cuts

	open  bool                 // how much of it lies in the play area is uncertain: between least and most
	least []*uncertain.Outline // none: perhaps nothing
	most  []*uncertain.Outline
}

// set places an outline on the table, in the memory that the outline had before.
func (r *obstacleOutline) set(id, kind string, pose geom.Pose, outline []geom.Point, sigma geom.Length) {
	r.id, r.kind, r.obstacle, r.device = id, kind, false, false
	r.others, r.open, r.least, r.most = nil, false, nil, nil
	r.Place(pose, outline, float64(sigma))
}

// cut adds the other pieces of a device that the mat's edge cuts.
func (r *obstacleOutline) cut(pose geom.Pose, pieces [][]geom.Point, sigma geom.Length) {
	for _, g := range pieces {
		p := &obstacleOutline{}
		p.set(r.id, r.kind, pose, g, sigma)
		p.obstacle, p.device = r.obstacle, r.device
		r.others = append(r.others, p)
	}
}

// pieces returns all pieces of an outline.
func (r *obstacleOutline) pieces() []*uncertain.Outline {
	all := []*uncertain.Outline{&r.Outline}
	for _, p := range r.others {
		all = append(all, &p.Outline)
	}
	return all
}

// limit says that perhaps only the pieces least lie in the play area (none: nothing), or all of most.
func (r *obstacleOutline) limit(pose geom.Pose, least, most [][]geom.Point) {
	place := func(pieces [][]geom.Point) (all []*uncertain.Outline) {
		for _, g := range pieces {
			o := &uncertain.Outline{}
			o.Place(pose, g, r.Sigma)
			all = append(all, o)
		}
		return all
	}
	r.open, r.least, r.most = true, place(least), place(most)
}

// track is a measuring line with a frame of its own.
type track struct {
	line   geom.Line
	u      geom.Point // unit vector along it
	length float64
}

func trackOf(l geom.Line) track {
	d := l[1].Sub(l[0])
	p := track{line: l, u: geom.Point{X: 1}, length: math.Sqrt(d.Dot(d))}
	if p.length > 0 {
		p.u = geom.Point{X: d.X / p.length, Y: d.Y / p.length}
	}
	return p
}

// far returns how far a point is from the line.
func (p *track) far(q geom.Point) float64 {
	d := q.Sub(p.line[0])
	switch along := d.Dot(p.u); {
	case along < 0:
		return math.Sqrt(d.Dot(d))
	case along > p.length:
		d = q.Sub(p.line[1])
		return math.Sqrt(d.Dot(d))
	}
	return math.Abs(p.u.Cross(d))
}

// off returns the distance of a point from the line extended beyond its ends.
func (p *track) off(q geom.Point) float64 { return math.Abs(p.u.Cross(q.Sub(p.line[0]))) }

// spread is what an outline covers in a line's own frame: along it and to its left.
type spread struct{ begin, end, right, left float64 }

func (p *track) spread(hull geom.Polygon) spread {
	x, y := hull[0].X-p.line[0].X, hull[0].Y-p.line[0].Y
	s, c := x*p.u.X+y*p.u.Y, y*p.u.X-x*p.u.Y
	e := spread{s, s, c, c}
	for _, q := range hull[1:] {
		x, y = q.X-p.line[0].X, q.Y-p.line[0].Y
		s, c = x*p.u.X+y*p.u.Y, y*p.u.X-x*p.u.Y
		if s < e.begin {
			e.begin = s
		} else if s > e.end {
			e.end = s
		}
		if c < e.right {
			e.right = c
		} else if c > e.left {
			e.left = c
		}
	}
	return e
}

// along returns how far a line reaches into the stretch that an outline covers along it. No
// point of the line is deeper in the outline than that.
func (e *spread) along(p *track) float64 { return min(p.length-e.begin, e.end) }

// keepsFurther reports whether an outline is surely further from the line than some way.
func (r *obstacleOutline) keepsFurther(p *track, far float64) bool {
	e := p.spread(r.Hull)
	along, across := max(0, e.begin-p.length, -e.end), max(0, e.right, -e.left)
	return along*along+across*across > geom.Sq(far+geom.Tie)
}

// pass returns how a line passes an outline: its clearance, or the least distance by which an
// end would have to move for the line to keep out. One of the two is 0.
//
// A line keeps clear of an outline that lies wholly between its ends exactly when all of the
// outline is on one side. The distance is then how far the outline reaches across the line on
// its lesser side. That is exact as long as no end is so near to the outline that it could
// come to lie beyond it. Otherwise the depth of a point of the line is a lower bound, because
// the outline contains a circle of that radius around it: the depth of the first point that is
// deeper than enough, or of the deepest.
func (r *obstacleOutline) pass(p *track, enough float64) (clear, deep float64) {
	e := p.spread(r.Hull)
	room := min(e.begin, p.length-e.end)
	if room < 0 {
		if p.far(r.Centre) >= r.Core/2 { // else it meets the outline
			if clear = r.Polygon.SegmentGap(p.line[0], p.line[1]); clear > 0 {
				return clear, 0
			}
		}
		return 0, r.depth(p, min(e.left, -e.right, e.along(p)), enough)
	}
	shift := min(e.left, -e.right)
	if shift <= 0 {
		return -shift, 0
	}
	return 0, r.between(p, &e, shift, enough)
}

// deeper returns how deep a line passes through an outline, as pass does, where that exceeds both
// enough and known; otherwise any value that does not.
func (r *obstacleOutline) deeper(p *track, enough, known float64) float64 {
	e := p.spread(r.Hull)
	shift := min(e.left, -e.right)
	if shift <= max(enough, known)-geom.Tie { // no point of the line is deeper
		return 0
	}
	if min(e.begin, p.length-e.end) >= 0 {
		return r.between(p, &e, shift, enough)
	}
	if shift = min(shift, e.along(p)); shift <= max(enough, known)-geom.Tie {
		return 0
	}
	return r.depth(p, shift, enough)
}

// between returns how deep a line passes through an outline that lies between its ends and
// reaches across the line by shift.
func (r *obstacleOutline) between(p *track, e *spread, shift, enough float64) float64 {
	room := min(e.begin, p.length-e.end)
	if shift <= room {
		return shift
	}
	// The nearer end decides, by its room along the line or by its distance.
	begin, end := p.line[0].Sub(r.Centre), p.line[1].Sub(r.Centre)
	room = min(max(e.begin, math.Sqrt(begin.Dot(begin))-r.Radius), max(p.length-e.end, math.Sqrt(end.Dot(end))-r.Radius))
	if shift <= room {
		return shift
	}
	return max(min(room, shift), r.depth(p, shift, enough))
}

// depth returns how deep inside the outline a line comes, or any depth beyond enough; 0 when it
// only touches. With an infinite enough it is the deepest point's, to a twentieth of a
// millimetre. No point of the line is deeper than shift.
func (r *obstacleOutline) depth(p *track, shift, enough float64) float64 {
	if shift < enough-geom.Tie && enough > geom.Tie && !math.IsInf(enough, 1) {
		return enough
	}
	a, b := p.line[0], p.line[1]
	along := min(max(0, r.Centre.Sub(a).Dot(p.u)), p.length)
	d, nearest := 0.0, a.Add(p.u.Mul(along))
	if off := nearest.Sub(r.Centre); off.Dot(off) < geom.Sq(max(0, r.Core-geom.Tie)) || r.Polygon.Contains(nearest) {
		d = r.Polygon.BoundaryDistance(nearest)
	}
	switch {
	case d > enough:
	case !math.IsInf(enough, 1):
		_, d = r.Polygon.Deeper(a, b, enough)
	case d > geom.Tie:
		d = r.Polygon.DeepestBeyond(a, b, 0.05, d)
	default:
		d = r.Polygon.DeepestBeyond(a, b, 1e-6, 0)
	}
	if d <= geom.Tie {
		return 0
	}
	return d
}
