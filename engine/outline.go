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
	device   bool // it does not, but is named when it is on the line
	uncertain.Outline
}

// set places an outline on the table, in the memory that the outline had before.
func (r *obstacleOutline) set(id, kind string, pose geom.Pose, outline []geom.Point, sigma geom.Length) {
	*r = obstacleOutline{id: id, kind: kind, Outline: r.Outline}
	r.Place(pose, outline, float64(sigma))
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

// off returns how far a point is from the line if it went on beyond its ends.
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

// along returns how far a line reaches into what an outline covers along it. As no point of the
// line is further from where that begins or ends, none is deeper in the outline.
func (e *spread) along(p *track) float64 { return min(p.length-e.begin, e.end) }

// keepsFurther reports whether an outline is surely further from the line than some way.
func (r *obstacleOutline) keepsFurther(p *track, far float64) bool {
	e := p.spread(r.Hull)
	along, across := max(0, e.begin-p.length, -e.end), max(0, e.right, -e.left)
	return along*along+across*across > geom.Sq(far+geom.Tie)
}

// pass returns how a line passes an outline: how far off it keeps, or how far either end
// would have to be moved, at least, for the line to keep out. One of the two is 0.
//
// Of an outline that lies wholly between the line's ends, the line keeps clear exactly
// when all of it is on one side, and what the outline reaches over on its lesser side is
// what the line would have to give way. So much is exact, as long as no end is so near
// to the outline that it could come to lie beyond it. Else the depth of a point of the
// line is a lower bound, because the outline holds a circle of this radius about it: that
// of the first one that is deeper than enough, or of the deepest.
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
	give := min(e.left, -e.right)
	if give <= 0 {
		return -give, 0
	}
	return 0, r.between(p, give, room, enough)
}

// deeper returns how deep a line passes through an outline, as pass does, where that is more than
// enough and more than known, and else something that is not.
func (r *obstacleOutline) deeper(p *track, enough, known float64) float64 {
	e := p.spread(r.Hull)
	give := min(e.left, -e.right)
	if give <= max(enough, known)-geom.Tie { // no point of the line is deeper
		return 0
	}
	if room := min(e.begin, p.length-e.end); room >= 0 {
		return r.between(p, give, room, enough)
	}
	if give = min(give, e.along(p)); give <= max(enough, known)-geom.Tie {
		return 0
	}
	return r.depth(p, give, enough)
}

// between returns how deep a line passes through an outline that lies between its ends, with so much
// room, and reaches over the line by give.
func (r *obstacleOutline) between(p *track, give, room, enough float64) float64 {
	if give <= room {
		return give
	}
	for _, end := range p.line {
		d := end.Sub(r.Centre)
		room = max(room, math.Sqrt(d.Dot(d))-r.Radius)
	}
	if give <= room {
		return give
	}
	return max(min(room, give), r.depth(p, give, enough))
}

// depth returns how deep inside the outline a line comes, or a depth that is more than
// enough; 0 when it only touches it. Where nothing is enough it is the deepest point's,
// to a twentieth of a millimetre. No point of the line is deeper than give.
func (r *obstacleOutline) depth(p *track, give, enough float64) float64 {
	if give < enough-geom.Tie && enough > geom.Tie && !math.IsInf(enough, 1) {
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
		_, most := r.Polygon.Deepest(a, b, 0.05)
		d = max(d, most)
	default:
		_, d = r.Polygon.Deepest(a, b, 1e-6)
	}
	if d <= geom.Tie {
		return 0
	}
	return d
}
