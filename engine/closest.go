package engine

import (
	"math"

	"sightline/engine/geom"
)

// propagator measures between two bodies whose places are uncertain, and carries their
// uncertainty to what it measures.
type propagator struct {
	relativeError
	scale float64 // relative error of scale
	exact bool    // nothing is uncertain

	turned float64                                 // what turn returned, 0 when it has not been asked
	width  struct{ lever0, lever1, bound float64 } // what intervalBound returned, and for which levers

	gaps  []edgeGap // room for measuring
	near  []candidate
	some  []geom.Point
	lines []Line
}

// leversOf returns the levers of two shapes, that of the first body first.
func leversOf(a, b *shape) (lever0, lever1 float64) {
	if a.body == bodyFrom {
		return a.lever, b.lever
	}
	return b.lever, a.lever
}

// set makes the propagator one between two other bodies.
func (g *propagator) set(from, to body, scale, k float64) {
	g.relativeError = relativeError{k: k, bodies: [2]body{from, to}, scaled: to.at.Sub(from.at).Mul(scale)}
	g.lines = g.lines[:0]
	g.scale = scale
	g.exact = from.cov == geom.Cov3{} && to.cov == geom.Cov3{} && scale == 0
	g.turned, g.width.bound = 0, 0
}

// distanceInterval returns the interval of a length along u between p on the body a and
// q on b. scaled is the length that the error of scale stretches.
func (g *propagator) distanceInterval(val float64, u geom.Point, a, b int, p, q geom.Point, scaled float64) geom.Interval {
	if g.exact {
		return geom.Exactly(val)
	}
	e := g.lengthError(u, a, b, p, q)
	return e.interval(g.k, val, g.scale*scaled)
}

func sq(x float64) float64 { return x * x }

// separation measures how far two convex shapes are apart along the best
// separating direction: the largest, over the edges of both, of the gap in front
// of the edge. Negative means that they overlap, by at least that depth whichever
// way they are pulled apart. The shapes meet exactly when it is not positive;
// apart, it never exceeds the distance. Each gap is linear in the positions, so
// that this is the measure on which contact is decided.
func (g *propagator) separation(a, b *shape) geom.Interval {
	g.gaps = g.gaps[:0]
	best, firm := math.Inf(-1), math.Inf(-1)
	turn := 0.0
	if len(a.rays)+len(b.rays) > 0 {
		turn = g.turn()
	}
	for side := range 2 {
		for i := range a.edges {
			e := &a.edges[i]
			p, out, least := e.at, e.out(), math.Inf(1)
			ahead := b.ahead(out)
			if e.lo == e.hi || len(b.v) == 0 || ahead < 0 {
				continue
			}
			f := edgeGap{edge: i, side: side, firm: ahead >= turn}
			for _, q := range b.v {
				if h := out.X*(q.X-p.X) + out.Y*(q.Y-p.Y); h < least {
					least = h
				}
			}
			best = max(best, least)
			if f.firm {
				firm = max(firm, least)
			}
			f.least = least
			g.gaps = append(g.gaps, f)
		}
		a, b = b, a
	}
	if g.exact {
		return geom.Exactly(best)
	}
	// What differs by more than two intervals can have cannot count.
	loose := g.intervalBound(a, b)
	s := geom.Exactly(math.Inf(-1))
	for i := range g.gaps {
		switch f := &g.gaps[i]; {
		case f.least < firm-loose:
		case f.side == 0:
			s = s.Max(g.gapBefore(a, b, f, loose))
		default:
			s = s.Max(g.gapBefore(b, a, f, loose))
		}
	}
	return s
}

// edgeGap is how far the one shape keeps in front of an edge of the other, which is
// the first of the two (side 0) or the second.
type edgeGap struct {
	least      float64
	edge, side int
	firm       bool // also when the bodies turn as far as they may
}

// turn returns the sine of the angle by which the two bodies may be turned against each
// other.
func (g *propagator) turn() float64 {
	if g.turned == 0 {
		g.turned = math.Sin(min(math.Pi/2, g.k*math.Sqrt(g.bodies[0].cov.HeadingVariance()+g.bodies[1].cov.HeadingVariance())))
	}
	return g.turned
}

// gapBefore measures the gap between an edge of a and what of b may be nearest to it.
func (g *propagator) gapBefore(a, b *shape, f *edgeGap, loose float64) geom.Interval {
	best := geom.Exactly(math.Inf(1))
	p, out := a.edges[f.edge].at, a.edges[f.edge].out()
	scaled := out.Dot(g.bodies[b.body].at.Sub(g.bodies[a.body].at))
	for _, q := range b.v {
		if gap := out.Dot(q.Sub(p)); gap <= f.least+loose {
			best = best.Min(g.distanceInterval(gap, out, a.body, b.body, q, q, scaled))
		}
	}
	if !f.firm { // turned a little, an arc along this edge crosses it far away
		best.Lo = math.Inf(-1)
	}
	return best
}

// intervalBound bounds the width of the interval of any gap between the two shapes: twice
// k standard deviations and the second order, at the longest lever that either body has
// to a corner of either.
func (g *propagator) intervalBound(a, b *shape) float64 {
	own0, own1 := leversOf(a, b)
	w := &g.width
	if w.bound != 0 && w.lever0 == own0 && w.lever1 == own1 {
		return w.bound
	}
	between := g.bodies[0].at.Sub(g.bodies[1].at)
	far := math.Sqrt(between.Dot(between))
	lever0, lever1 := max(own0, far+own1), max(own1, far+own0)
	secondOrder := 2*g.bodies[0].cov.SecondOrderBound(lever0, g.k) + 2*g.bodies[1].cov.SecondOrderBound(lever1, g.k)
	w.lever0, w.lever1 = own0, own1
	w.bound = 1.001*(2*g.k*(math.Sqrt(g.varianceBound(lever0, lever1))+g.scale*far)+secondOrder) + tie
	return w.bound
}

// closestPair is a distance with the lines that realise it.
type closestPair struct {
	geom.Interval
	lines        [2]Line // the two extreme closest lines; equal when there is one only
	band         bool    // several lines are equally short
	slope        gradient
	alternatives []Line  // those that may be the closest, within the uncertainty; valid until the propagator is set again
	choice       [2]Line // the extremes of those between which the attacker surely has the choice
	even         bool    // there are such: their lengths do not tell which is the shortest
}

// perceptible is the difference of two lengths, one standard deviation of it, below
// which no player can tell which is the shorter: half the width of a
// ruler's line and of the hand that lays it.
const perceptible = 0.5

// candidate is a closest pair of a point of one shape and a point of the other.
type candidate struct {
	p, q geom.Point // on the first and the second shape
	u    geom.Point // unit vector from p to q; the edge's normal when they coincide
	d    float64
	foot bool // the line is square to a side
}

// distance measures the shortest distance between two shapes that do not
// overlap, with the lines that may truly be the shortest. most is as in shortest.
func (g *propagator) distance(a, b *shape, most float64) (m closestPair) {
	var near []candidate
	m.Interval, near = g.shortest(a, b, most)
	m.lines, m.band = linesOf(near, m.Val)
	if g.exact {
		m.alternatives = g.distinct(m.lines[:])
		return m
	}
	for i := len(near) - 1; i >= 0; i-- {
		if c := &near[i]; c.d <= m.Val+tie {
			m.slope = g.lengthGradient(c.u, a.body, b.body, c.p, c.q)
			break
		}
	}
	g.addAlternatives(&m, near, a.body, b.body)
	return m
}

// shortest measures the shortest distance between two shapes that do not
// overlap. Only a vertex of one and a vertex or a side of the other can be
// closest, and the distance is the least of all those pairs. That the shapes are no
// further apart than most saves looking at what is. It also returns the pairs that count.
func (g *propagator) shortest(a, b *shape, most float64) (geom.Interval, []candidate) {
	loose := 0.0
	if !g.exact {
		loose = g.relevance(a, b)
	}
	near := g.nearest(a, b, -1e-6, most, loose)
	best := math.Inf(1)
	for i := range near {
		best = min(best, near[i].d)
	}
	d := geom.Exactly(best)
	if g.exact {
		return d, near
	}
	d.Hi = math.Inf(1)
	wander := sq(loose / (2 * g.k)) // no point does by a larger variance
	for i := range near {
		c := &near[i]
		e := g.lengthError(c.u, a.body, b.body, c.p, c.q)
		s := e.interval(g.k, c.d, g.scale*c.d)
		s.Hi = max(s.Hi, g.sideways(c, a.body, b.body, e.variance, wander))
		d.Lo, d.Hi = min(d.Lo, s.Lo), min(d.Hi, s.Hi)
	}
	return d, near
}

// linesOf returns the two that lie furthest apart of the lines that are as short as the shortest, and
// whether they differ.
func linesOf(near []candidate, shortest float64) ([2]Line, bool) {
	lines := extremes{}
	for i := range near {
		if c := &near[i]; c.d <= shortest+tie {
			lines.add(Line{c.p, c.q})
		}
	}
	return lines.pair()
}

// addAlternatives finds the lines that may truly be the shortest.
func (g *propagator) addAlternatives(m *closestPair, near []candidate, a, b int) {
	if len(near) == 1 {
		m.alternatives = g.distinct(m.lines[:])
		return
	}
	first, square, most := len(g.lines), extremes{}, 0.0
	for i := range near {
		c := &near[i]
		w := g.lengthGradient(c.u, a, b, c.p, c.q)
		w = w.plus(&m.slope, -1)
		v := g.variance(&w)
		if c.d-m.Val <= tie+g.k*math.Sqrt(v) {
			g.addDistinct(first, Line{c.p, c.q})
			if c.foot { // as all lines between two parallel sides are
				square.add(Line{c.p, c.q})
				most = max(most, v)
			}
		}
	}
	m.alternatives = g.lines[first:len(g.lines):len(g.lines)]
	m.choice, m.even = square.pair()
	m.even = m.even && most <= sq(perceptible)
}

// distinct returns all of some lines, once those that differ by no more than rounding.
func (g *propagator) distinct(lists ...[]Line) []Line {
	first := len(g.lines)
	for _, lines := range lists {
		for _, l := range lines {
			g.addDistinct(first, l)
		}
	}
	return g.lines[first:len(g.lines):len(g.lines)]
}

// addDistinct adds a line to the propagator's, unless it is among those from first on.
func (g *propagator) addDistinct(first int, l Line) {
	for i := first; i < len(g.lines); i++ {
		if d0, d1 := g.lines[i][0].Sub(l[0]), g.lines[i][1].Sub(l[1]); max(d0.Dot(d0), d1.Dot(d1)) <= 1e-12 {
			return
		}
	}
	g.lines = append(g.lines, l)
}

// farthest measures how far the point of b is that is furthest from a: what
// "within" a range asks. The distance from a convex shape is convex, so that the
// furthest point is a corner; the most of the corners' distances decides, each
// with its own interval. corner is room for one of them.
func (g *propagator) farthest(a, b, corner *shape) closestPair {
	var d [12]float64
	most := 0.0
	for i, q := range b.v {
		d[i] = a.far(q)
		most = max(most, d[i])
	}
	loose := tie
	if !g.exact {
		loose += g.relevance(a, b)
	}
	out := closestPair{Interval: geom.Exactly(math.Inf(-1))}
	for i, q := range b.v {
		if d[i] < most-loose {
			continue
		}
		lines, far := [2]Line{{q, q}}, geom.Interval{}
		if d[i] > 0 {
			var near []candidate
			corner.set(b.body, b.lever, q)
			far, near = g.shortest(a, corner, d[i])
			lines, _ = linesOf(near, far.Val)
		}
		if far.Val > out.Val {
			out.lines[0], out.lines[1] = lines[0], lines[0]
		}
		out.Interval = out.Max(far)
	}
	return out
}

// far returns how far a point is from a convex shape, 0 inside.
func (s *shape) far(q geom.Point) float64 {
	best, inside := math.Inf(1), len(s.v) > 2
	for i := range s.edges {
		e := &s.edges[i]
		d := q.Sub(e.at)
		h := d.Dot(e.out())
		inside = inside && h <= 0
		switch t := d.Dot(e.dir); {
		case t <= 0:
			best = min(best, d.Dot(d))
		case t < e.hi:
			best = min(best, h*h)
		}
	}
	if inside {
		return 0
	}
	return math.Sqrt(best)
}

// sideways returns the largest distance between two points that both wander, k
// standard deviations away: near contact a pair slips past each other and parts
// sideways, which first order along u does not see. along2 is the variance along u, and
// most an upper bound of the variances both ways.
func (g *propagator) sideways(c *candidate, a, b int, along2, most float64) float64 {
	along := math.Sqrt(along2)
	if c.d*along >= g.k*(most-along2) {
		return 0
	}
	n := geom.Point{X: -c.u.Y, Y: c.u.X}
	var across gradient
	across[a] = geom.PointJacobian(n.Mul(-1), c.p.Sub(g.bodies[a].at))
	across[b] = geom.PointJacobian(n, c.q.Sub(g.bodies[b].at))
	across2 := g.variance(&across)
	if across2 <= along2 {
		return 0
	}
	x := c.d * along / (across2 - along2)
	if x >= g.k {
		return 0
	}
	return math.Sqrt(sq(c.d+x*along) + across2*(sq(g.k)-sq(x)))
}

// relevance bounds how much further than the nearest a pair may be and still widen the
// interval: twice k times the largest standard deviation of any point.
func (g *propagator) relevance(a, b *shape) float64 {
	lever0, lever1 := leversOf(a, b)
	return 2.01 * g.k * math.Sqrt(g.varianceBound(lever0, lever1))
}

// nearest lists the pairs of points, a vertex of one shape and the point of the
// other's outline that is closest to it, that are the nearest or may be. To a side
// that is seen from behind, a vertex being less than behind in front of it, no
// shortest line leads. The shapes are no further apart than most, and a pair counts
// that is at most loose further apart than the nearest.
func (g *propagator) nearest(a, b *shape, behind, most, loose float64) []candidate {
	g.near = g.near[:0]
	r := reach{loose: tie + loose, best: math.Inf(1), behind: behind}
	r.lower(most)
	g.addFeet(a, b, &r, false)
	g.addFeet(b, a, &r, true)
	for i, p := range a.v {
		if x, y := b.round.centre.X-p.X, b.round.centre.Y-p.Y; x*x+y*y > sq(r.most+b.round.radius) {
			continue
		}
		for j, q := range b.v {
			x, y := q.X-p.X, q.Y-p.Y
			if d2 := x*x + y*y; d2 <= r.most*r.most {
				d := r.lower(math.Sqrt(d2))
				c := candidate{p: p, q: q, d: d, u: geom.Point{X: 1}}
				switch {
				case d > tie:
					c.u = geom.Point{X: x / d, Y: y / d}
				case b.edges[j].hi > 0:
					c.u = b.edges[j].out().Mul(-1)
				case a.edges[i].hi > 0:
					c.u = a.edges[i].out()
				}
				g.near = append(g.near, c)
			}
		}
	}
	kept := 0
	for i := range g.near {
		if g.near[i].d <= r.most {
			if kept < i {
				g.near[kept] = g.near[i]
			}
			kept++
		}
	}
	return g.near[:kept]
}

// reach is how far a pair of points may be apart and still count.
type reach struct{ best, loose, most, behind float64 }

// lower takes note of a pair d apart, and returns d.
func (r *reach) lower(d float64) float64 {
	if d <= r.best {
		r.best, r.most = d, (d+r.loose)*(1+1e-15) // squares round
	}
	return d
}

// addFeet lists the vertices of a with the feet of their perpendiculars on the sides
// of b.
func (g *propagator) addFeet(a, b *shape, r *reach, swapped bool) {
	behind := r.behind
	if len(b.v) < 3 && b.rays == nil {
		behind = math.Inf(-1)
	}
	vertices := a.v
	if len(vertices) > len(a.buf) { // of an outline of many those alone that are near enough
		g.some = g.some[:0]
		for _, p := range vertices {
			if x, y := p.X-b.round.centre.X, p.Y-b.round.centre.Y; x*x+y*y <= sq(r.most+b.round.radius+1e-6) {
				g.some = append(g.some, p)
			}
		}
		vertices = g.some
	}
	for j := range b.edges {
		e := &b.edges[j]
		at, out := e.at, e.out()
		x, y := a.round.centre.X-at.X, a.round.centre.Y-at.Y
		t, h := x*e.dir.X+y*e.dir.Y, x*out.X+y*out.Y
		// All of it is past an end, as it is of most sides of an outline, or behind, or too far. One branch is cheaper than four
		// that cannot be foretold.
		if negative(t+a.round.radius-(e.lo-tie))|negative(e.hi+tie-(t-a.round.radius))|
			negative(h+a.round.radius-behind)|negative(r.most-(h-a.round.radius)) != 0 {
			continue
		}
		for _, p := range vertices {
			x, y := p.X-at.X, p.Y-at.Y
			h := x*out.X + y*out.Y
			if h < behind || h > r.most {
				continue
			}
			t := x*e.dir.X + y*e.dir.Y
			if t < e.lo-tie || t > e.hi+tie || -h > r.most || e.lo == e.hi {
				continue
			}
			c := candidate{p: p, q: geom.Point{X: at.X + t*e.dir.X, Y: at.Y + t*e.dir.Y}, d: r.lower(math.Abs(h)), u: out, foot: true}
			if h >= -tie { // from the vertex to its foot
				c.u = out.Mul(-1)
			}
			if swapped {
				c.p, c.q, c.u = c.q, c.p, c.u.Mul(-1)
			}
			g.near = append(g.near, c)
		}
	}
}

// negative returns 1 of a negative number, and 0 of others.
func negative(x float64) uint64 { return math.Float64bits(x) >> 63 }

// extremes collects lines and keeps the two that lie furthest apart.
type extremes struct {
	n   int
	l   [2]Line
	gap float64
}

func apart(a, b Line) float64 {
	return max(a[0].Sub(b[0]).Norm(), a[1].Sub(b[1]).Norm())
}

func (e *extremes) add(l Line) {
	if e.n == 0 {
		e.l[0], e.l[1], e.n = l, l, 1
		return
	}
	// The lines lie side by side, so one that is further from either of the two kept
	// than those are apart takes the other's place.
	d0, d1 := apart(l, e.l[0]), apart(l, e.l[1])
	switch {
	case max(d0, d1) <= e.gap:
	case d0 >= d1:
		e.l[1], e.gap = l, d0
	default:
		e.l[0], e.gap = l, d1
	}
}

// pair returns the two extreme lines and whether they differ by more than
// rounding.
func (e *extremes) pair() ([2]Line, bool) { return e.l, e.gap > 1e-6 }

// gap measures the signed distance between two convex shapes: positive apart,
// negative by the depth of the overlap.
func (g *propagator) gap(a, b *shape) closestPair {
	sep := g.separation(a, b)
	if sep.Val > -tie { // apart or touching
		m := g.distance(a, b, math.Inf(1))
		m.Interval = g.apart(m.Interval, sep)
		if sep.Val <= 0 {
			m.Interval = sep
		}
		return m
	}
	return g.overlap(a, b, sep)
}

// overlap measures two convex shapes that overlap: any common point is
// the measuring line. Where they are perhaps apart after all, that line is anywhere
// along what of the two may be their nearest sides.
func (g *propagator) overlap(a, b *shape, sep geom.Interval) closestPair {
	m := closestPair{Interval: sep}
	c := commonPoint(a, b)
	m.lines = [2]Line{{c, c}, {c, c}}
	m.alternatives = g.distinct(m.lines[:])
	if sep.Hi < 0 || g.exact {
		return m
	}
	near := g.nearest(a, b, math.Inf(-1), math.Inf(1), g.relevance(a, b))
	first := len(g.lines)
	for i := range near {
		g.addDistinct(first, Line{near[i].p, near[i].q})
	}
	if len(near) > 0 {
		m.slope = g.lengthGradient(near[0].u, a.body, b.body, near[0].p, near[0].q)
		m.alternatives = g.lines[first:len(g.lines):len(g.lines)]
	}
	return m
}

// apart makes the distance of two convex shapes that do not meet agree with their separation, which
// decides about contact and may widen the interval.
func (g *propagator) apart(d, sep geom.Interval) geom.Interval {
	if g.exact {
		return d
	}
	if sep.Lo > 0 {
		d.Lo = min(d.Val, max(d.Lo, sep.Lo))
	} else {
		d.Lo = min(d.Lo, sep.Lo)
	}
	d.Hi = max(d.Hi, d.Val)
	return d
}

// commonPoint returns a point of both of two overlapping convex shapes.
func commonPoint(a, b *shape) geom.Point {
	for range 2 {
		for _, p := range a.v {
			if len(b.v) > 2 && geom.Polygon(b.v).Contains(p) {
				return p
			}
		}
		a, b = b, a
	}
	for i, p := range a.v {
		for j, q := range b.v {
			u, v := a.next(i).Sub(p), b.next(j).Sub(q)
			if !geom.SegmentsTouch(p, a.next(i), q, b.next(j)) || u.Cross(v) == 0 {
				continue
			}
			return p.Add(u.Mul(q.Sub(p).Cross(v) / u.Cross(v)))
		}
	}
	return a.v[0]
}
