package engine

import (
	"math"
	"slices"

	"sightline/engine/geom"
)

// obstacleOutline is an outline on the table: an obstacle, a device or a marker.
type obstacleOutline struct {
	id, kind string
	obstacle bool // it obstructs attacks
	device   bool // it does not, but is named when it is on the line
	at       geom.Point
	outline  geom.Polygon // counter-clockwise
	hull     geom.Polygon // its convex hull, which has far fewer vertices
	shape    shape        // the outline, for measuring to it
	circle                // around it
	core     float64      // radius of a circle around the centre that is all within; 0 when the centre is not
	sigma    float64
}

// set places an outline on the table, in the memory that the outline had before.
func (r *obstacleOutline) set(id, kind string, pose geom.Pose, outline []geom.Point, sigma geom.Length) {
	*r = obstacleOutline{id: id, kind: kind, at: pose.Point, outline: r.outline[:0], hull: r.hull, shape: r.shape, sigma: float64(sigma)}
	f := frameOf(pose)
	for _, p := range outline {
		r.outline = append(r.outline, f.table(p))
	}
	r.circle = circleAround(r.outline)
	if r.outline.Area() < 0 {
		slices.Reverse(r.outline)
	}
	r.hull = r.outline.Hull(r.hull)
	lever := 0.0
	for _, p := range r.outline {
		lever = max(lever, p.Sub(r.at).Norm())
	}
	r.core = max(0, r.outline.Depth(r.centre))
	r.shape.v, r.shape.body, r.shape.lever, r.shape.round = r.outline, bodyTo, lever, r.circle
	r.shape.setEdges()
}

// keepsOff reports whether a side of a convex shape has the whole outline in front
// of it, so that the two surely do not meet.
func (r *obstacleOutline) keepsOff(a *shape) bool {
	for i := range a.edges {
		p, out, least := a.v[i], a.edges[i].out(), math.Inf(1)
		for _, q := range r.hull {
			least = min(least, out.Dot(q.Sub(p)))
		}
		if least > tie {
			return true
		}
	}
	return false
}

// track is a measuring line with a frame of its own.
type track struct {
	line   Line
	u      geom.Point // unit vector along it
	length float64
}

func trackOf(l Line) track {
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
	e := p.spread(r.hull)
	along, across := max(0, e.begin-p.length, -e.end), max(0, e.right, -e.left)
	return along*along+across*across > sq(far+tie)
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
	e := p.spread(r.hull)
	room := min(e.begin, p.length-e.end)
	if room < 0 {
		if p.far(r.centre) >= r.core/2 { // else it meets the outline
			if clear = r.outline.SegmentGap(p.line[0], p.line[1]); clear > 0 {
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
	e := p.spread(r.hull)
	give := min(e.left, -e.right)
	if give <= max(enough, known)-tie { // no point of the line is deeper
		return 0
	}
	if room := min(e.begin, p.length-e.end); room >= 0 {
		return r.between(p, give, room, enough)
	}
	if give = min(give, e.along(p)); give <= max(enough, known)-tie {
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
		d := end.Sub(r.centre)
		room = max(room, math.Sqrt(d.Dot(d))-r.radius)
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
	if give < enough-tie && enough > tie && !math.IsInf(enough, 1) {
		return enough
	}
	a, b := p.line[0], p.line[1]
	along := min(max(0, r.centre.Sub(a).Dot(p.u)), p.length)
	d, nearest := 0.0, a.Add(p.u.Mul(along))
	if off := nearest.Sub(r.centre); off.Dot(off) < sq(max(0, r.core-tie)) || r.outline.Contains(nearest) {
		d = r.outline.BoundaryDistance(nearest)
	}
	switch {
	case d > enough:
	case !math.IsInf(enough, 1):
		_, d = r.outline.Deeper(a, b, enough)
	case d > tie:
		_, most := r.outline.Deepest(a, b, 0.05)
		d = max(d, most)
	default:
		_, d = r.outline.Deepest(a, b, 1e-6)
	}
	if d <= tie {
		return 0
	}
	return d
}
