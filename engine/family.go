package engine

import (
	"math"
	"slices"

	"sightline/engine/geom"
	"sightline/engine/internal/uncertain"
)

// lineFamily is a set of measuring lines: all from a to b.
type lineFamily struct{ a, b geom.Line }

func (m lineFamily) at(t float64) geom.Line {
	return geom.Line{m.a[0].Lerp(m.b[0], t), m.a[1].Lerp(m.b[1], t)}
}

// corridor is the convex hull of some lines on the table. Its bounding box quickly excludes distant
// objects.
type corridor struct {
	geom.Polygon
	lo, hi geom.Point
	ends   geom.Polygon
	sides  []track // room for gap
}

func (s *corridor) set(lines ...geom.Line) {
	s.ends = s.ends[:0]
	for i := range lines {
		s.ends = append(s.ends, lines[i][:]...)
	}
	s.Polygon = s.ends.Hull(s.Polygon)
	s.lo, s.hi = s.Polygon[0], s.Polygon[0]
	for _, p := range s.Polygon {
		s.lo = geom.Point{X: min(s.lo.X, p.X), Y: min(s.lo.Y, p.Y)}
		s.hi = geom.Point{X: max(s.hi.X, p.X), Y: max(s.hi.Y, p.Y)}
	}
}

// within reports whether any part of a circle may be within limit of the corridor, and returns a
// lower bound of its distance.
func (s *corridor) within(limit float64, centre geom.Point, radius float64) (float64, bool) {
	dx := max(0, max(s.lo.X-centre.X, centre.X-s.hi.X))
	dy := max(0, max(s.lo.Y-centre.Y, centre.Y-s.hi.Y))
	if far := limit + radius; dx > far || dy > far || dx*dx+dy*dy > far*far {
		return 0, false
	}
	if s.Contains(centre) {
		return 0, true
	}
	d := max(0, s.BoundaryDistance(centre)-radius)
	return d, d <= limit
}

// gap returns the distance in mm of an outline from the corridor, 0 when they meet. It skips
// sides that the circle around the outline shows to be further than another. An outline
// beyond limit may be reported as infinitely far.
func (s *corridor) gap(r *obstacleOutline, limit float64) float64 {
	if len(s.Polygon) < 3 {
		return geom.Gap(s.Polygon, r.Polygon)
	}
	if s.Contains(r.Polygon[0]) {
		return 0
	}
	// Start with the side nearest to the outline's middle: mostly no other is needed.
	first, least := 0, math.Inf(1)
	s.sides = s.sides[:0]
	from := s.Polygon[len(s.Polygon)-1]
	for i, to := range s.Polygon {
		t := trackOf(geom.Line{from, to})
		if off := t.far(r.Centre); off < least {
			first, least = i, off
		}
		s.sides, from = append(s.sides, t), to
	}
	if least < r.Core/2 { // the side meets the outline
		return 0
	}
	best := math.Inf(1)
	if t := &s.sides[first]; least-r.Radius <= limit && (limit >= float64(maxObstructionMargin) || !r.keepsFurther(t, limit)) {
		best = r.Polygon.SegmentGap(t.line[0], t.line[1])
	}
	for i := range s.sides {
		t, most := &s.sides[i], min(best, limit)
		if best > 0 && i != first && t.far(r.Centre)-r.Radius < most && !r.keepsFurther(t, most) {
			best = min(best, r.Polygon.SegmentGap(t.line[0], t.line[1]))
		}
	}
	return best
}

// lineSearch examines the lines of a family against the outlines near it.
type lineSearch struct {
	family lineFamily
	near   []*obstacleOutline
	on     []bool    // which of them some line has met
	ts, fs []float64 // where to examine the family, and the values there
	what   goal
	best   float64
	budget int
}

// goal is a quantity that a search minimises.
type goal int

const (
	shallowest     goal = iota // how deep a line passes through outlines
	deepestPassage             // the same, negated
	widestGap                  // how clear a line is, negated
)

// depth returns how deep the line at t passes through an outline, 0 when it meets none.
func (l *lineSearch) depth(t float64) float64 {
	line, most := l.family.at(t), 0.0
	for i, r := range l.near {
		if _, d := r.Polygon.Deepest(line[0], line[1], 1e-6); d > geom.Tie {
			most, l.on[i] = max(most, d), true
		}
	}
	return most
}

func (l *lineSearch) value(t float64) float64 {
	switch l.what {
	case shallowest:
		return l.depth(t)
	case deepestPassage:
		return -l.depth(t)
	}
	line, free := l.family.at(t), math.Inf(1)
	ends := [2]geom.Point{line[0], line[1]}
	for _, r := range l.near {
		if _, d := r.Polygon.Deepest(line[0], line[1], 1e-6); d > geom.Tie {
			return 0
		}
		free = min(free, geom.Gap(ends[:], r.Polygon))
	}
	return -free
}

// least returns the least value over the family, to a twentieth of a millimetre.
// The value changes by no more than the line moves, so between two lines it
// cannot fall below what their distance allows.
func (l *lineSearch) least(what goal) float64 {
	l.what, l.best, l.budget = what, math.Inf(1), 500
	slices.Sort(l.ts)
	l.fs = l.fs[:0]
	for _, t := range l.ts {
		f := l.value(t)
		l.fs = append(l.fs, f)
		l.best = min(l.best, f)
	}
	for i := 1; i < len(l.ts); i++ {
		l.between(l.ts[i-1], l.fs[i-1], l.ts[i], l.fs[i])
	}
	return l.best
}

func (l *lineSearch) between(t0, f0, t1, f1 float64) {
	const tol = 0.05
	l.budget--
	if l.budget < 0 || (f0+f1-(t1-t0)*uncertain.Apart(l.family.a, l.family.b))/2 > l.best-tol {
		return
	}
	t := (t0 + t1) / 2
	f := l.value(t)
	l.best = min(l.best, f)
	l.between(t0, f0, t, f)
	l.between(t, f, t1, f1)
}

// changes appends the places t in [0, 1] at which the family must be examined.
func (m lineFamily) changes(ts []float64, outlines []*obstacleOutline) []float64 {
	across := m.b[0].Sub(m.a[0])
	w2 := across.Dot(across)
	if w2 == 0 {
		return append(ts, 0)
	}
	ts = append(ts, 0, 1)
	for _, r := range outlines {
		for i, p := range r.Polygon {
			q := r.Polygon[(i+1)%len(r.Polygon)]
			ts = m.addChange(ts, p, across, w2)
			for end := range 2 {
				if c, ok := crossing(p, q, m.a[end], m.b[end]); ok {
					ts = m.addChange(ts, c, across, w2)
				}
			}
		}
	}
	slices.Sort(ts)
	for i, n := 1, len(ts); i < n; i++ {
		ts = append(ts, (ts[i-1]+ts[i])/2)
	}
	return ts
}

func (m lineFamily) addChange(ts []float64, p, across geom.Point, w2 float64) []float64 {
	if t := p.Sub(m.a[0]).Dot(across) / w2; t > 0 && t < 1 {
		return append(ts, t)
	}
	return ts
}

// crossing returns the point where the segments ab and cd cross.
func crossing(a, b, c, d geom.Point) (geom.Point, bool) {
	u, v, w := b.Sub(a), d.Sub(c), c.Sub(a)
	den := u.Cross(v)
	if den == 0 {
		return geom.Point{}, false
	}
	t, s := w.Cross(v)/den, w.Cross(u)/den
	return a.Lerp(b, t), t >= 0 && t <= 1 && s >= 0 && s <= 1
}

// middles appends the places of the lines that pass midway between two outlines, or midway
// through one: a narrow gap or a small outline may lie between two steps.
func (m lineFamily) middles(ts []float64, near []nearOutline) []float64 {
	p := trackOf(m.a)
	width := p.u.Cross(m.b[0].Sub(m.a[0]))
	if math.Abs(width) < geom.Tie {
		return ts
	}
	add := func(t float64) {
		if t > 0 && t < 1 {
			ts = append(ts, t)
		}
	}
	for i := range near {
		e := p.spread(near[i].Hull)
		last, next := max(e.left/width, e.right/width), math.Inf(1)
		add((e.left + e.right) / 2 / width)
		for j := range near {
			o := p.spread(near[j].Hull)
			if first := min(o.left/width, o.right/width); first > last {
				next = min(next, first)
			}
		}
		add((last + next) / 2)
	}
	return ts
}

// sureDepth returns the depth by which every line of a family surely passes through outlines:
// 0 when one may not, and least when it is at least that.
func sureDepth(b lineFamily, near []nearOutline, least float64) float64 {
	steps := b.steps()
	part := 0.5 / float64(steps)
	for n := 0; n <= steps && least > 0; n++ {
		t := step(n, steps)
		least = b.sureAround(max(0, t-part), t, min(1, t+part), near, least)
	}
	return least
}

// sureAround does what sureDepth does, for the lines from t0 to t1. It examines the one at t, from
// which the others, and so their depths, differ by no more than they are apart. Where that is too
// much, it examines them in two halves.
func (m lineFamily) sureAround(t0, t, t1 float64, near []nearOutline, least float64) float64 {
	const finest = 0.05 // mm
	p, apart := trackOf(m.at(t)), max(t-t0, t1-t)*uncertain.Apart(m.a, m.b)
	sure := 0.0
	for i := range near {
		r := &near[i]
		enough := r.limit + apart
		if r.Core-p.far(r.Centre) > max(enough, least+apart)+geom.Tie {
			return least // or more
		}
		if d := r.deeper(&p, enough, sure+apart); d > enough && d-apart > sure {
			sure = d - apart
			near[0], near[i] = near[i], near[0] // the next line is mostly deepest in the same outline
		}
		if sure >= least {
			return least
		}
	}
	if sure > 0 || apart < finest || !slices.ContainsFunc(near, func(r nearOutline) bool { return r.deeper(&p, r.limit, 0) > r.limit }) {
		return sure
	}
	if least = m.sureAround(t0, (t0+t)/2, t, near, least); least > 0 {
		least = m.sureAround(t, (t+t1)/2, t1, near, least)
	}
	return least
}

// steps returns into how many parts to divide a family for examining the lines between them.
func (m lineFamily) steps() int { return int(max(1, min(16, math.Ceil(2*uncertain.Apart(m.a, m.b))))) }

// step returns the n-th of so many steps from 0 to 1, counted from both ends inward: a clear
// line is mostly near an end.
func step(n, steps int) float64 {
	t := float64(n/2) / float64(steps)
	if n%2 == 1 {
		t = 1 - t
	}
	return t
}
