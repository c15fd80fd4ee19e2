package engine

import (
	"math"

	"sightline/engine/geom"
)

// span is a measured value and the interval that holds the truth at the asked
// number of standard deviations. An exactly known value has lo = val = hi.
type span struct{ lo, val, hi float64 }

// neg returns the span of the value with its sign changed.
func (s span) neg() span { return span{-s.hi, -s.val, -s.lo} }

// sigma returns the standard deviation to state beside a margin: the larger side
// of the interval, over k. Where the sides differ (a closest point that can jump
// one way only) the decision rests on the side that the margin looks to, and the
// stated sigma is held to it, so that a margin exceeds k sigmas exactly when the
// question is decided.
func (s span) sigma(k, margin float64, decided bool) float64 {
	w := max(s.hi-s.val, s.val-s.lo)
	margin = math.Abs(margin)
	switch {
	case w <= 0:
		return 0
	case decided:
		w = min(w, margin*(1-1e-6))
	default:
		w = max(w, margin*(1+1e-6))
	}
	return w / k
}

// least and most combine the spans of several things of which the smallest
// (largest) counts. A minimum is below a limit as soon as one of its members is,
// and so its interval begins where the first member's does and ends where the
// first one ends.
//
// This is what makes parallel edges honest. Their two ends are two candidates
// for the closest point; a hair of rotation makes one or the other the nearest,
// and the first-order sigma of the one that happens to be nearest would be that
// of this end alone.
func (s span) least(o span) span {
	return span{min(s.lo, o.lo), min(s.val, o.val), min(s.hi, o.hi)}
}

func (s span) most(o span) span {
	return span{max(s.lo, o.lo), max(s.val, o.val), max(s.hi, o.hi)}
}

// gauge measures between two bodies whose places are uncertain.
type gauge struct {
	bodies [2]body
	k      float64 // standard deviations that decide
	scale  float64 // relative error of scale
	exact  bool    // nothing is uncertain

	pairs []vertexPair // room for measuring
	gaps  []edgeGap
	near  []candidate
}

func newGauge(from, to body, scale, k float64) gauge {
	var g gauge
	g.set(from, to, scale, k)
	return g
}

// set makes the gauge one between two other bodies.
func (g *gauge) set(from, to body, scale, k float64) {
	g.bodies = [2]body{from, to}
	g.k, g.scale = k, scale
	g.exact = from.cov == geom.Cov3{} && to.cov == geom.Cov3{} && scale == 0
}

// gradient is how a length changes with the two poses: per body by its x, its y
// and its heading.
type gradient [2][3]float64

// push adds the effect of a length growing with the movement, along u, of the
// body's material point at p. A heading grows clockwise, and so moves a point
// off from the centre by (off.Y, -off.X) per radian.
func (g *gauge) push(w *gradient, body int, u, p geom.Point) {
	w[body][0] += u.X
	w[body][1] += u.Y
	w[body][2] += u.Cross(p.Sub(g.bodies[body].at))
}

// covariance returns aᵀΣb for two gradients.
func (g *gauge) covariance(a, b *gradient) float64 {
	sum := 0.0
	for i := range a {
		c := &g.bodies[i].cov
		for r := range 3 {
			sum += a[i][r] * (c[3*r]*b[i][0] + c[3*r+1]*b[i][1] + c[3*r+2]*b[i][2])
		}
	}
	return sum
}

// variance returns wᵀΣw, written out because nearly all time is spent here.
func (g *gauge) variance(w *gradient) float64 {
	sum := 0.0
	for i := range w {
		c, x, y, t := &g.bodies[i].cov, w[i][0], w[i][1], w[i][2]
		sum += x*(c[0]*x+(c[1]+c[3])*y+(c[2]+c[6])*t) + y*(c[4]*y+(c[5]+c[7])*t) + c[8]*t*t
	}
	return max(0, sum)
}

// bend bounds what first order leaves out for a length along u whose ends are
// carried by the bodies at p (from) and q (to): turning a lever of component l
// along u by θ shortens it by l·θ²/2, at the turn θ that belongs to the worst
// case k sigmas away.
func (g *gauge) bend(w *gradient, u geom.Point, at [2]geom.Point, sd float64) float64 {
	if sd == 0 {
		return 0
	}
	sum := 0.0
	for i := range at {
		c := &g.bodies[i].cov
		theta := g.k * (c[6]*w[i][0] + c[7]*w[i][1] + c[8]*w[i][2]) / sd
		sum += math.Abs(u.Dot(at[i].Sub(g.bodies[i].at))) * theta * theta / 2
	}
	return sum
}

// leaf makes the span of a length along u between p on the body a and q on b.
// scaled is the length that the error of scale stretches.
func (g *gauge) leaf(val float64, u geom.Point, a, b int, p, q geom.Point, scaled float64) (span, gradient) {
	var w gradient
	if g.exact {
		return span{val, val, val}, w
	}
	g.push(&w, a, u.Mul(-1), p)
	g.push(&w, b, u, q)
	v := g.variance(&w)
	var at [2]geom.Point
	at[a], at[b] = p, q
	d := g.k*math.Sqrt(v+sq(g.scale*scaled)) + g.bend(&w, u, at, math.Sqrt(v))
	return span{val - d, val, val + d}, w
}

func sq(x float64) float64 { return x * x }

// separation measures how far two convex shapes are apart along the best
// separating direction: the largest, over the edges of both, of the gap in front
// of the edge. Negative means that they overlap, by at least that depth whichever
// way they are pulled apart. The shapes meet exactly when it is not positive;
// apart, it never exceeds the distance. Each gap is linear in the positions, so
// that this is the measure on which contact is decided.
func (g *gauge) separation(a, b *shape) span {
	g.gaps = g.gaps[:0]
	best := math.Inf(-1)
	for range 2 {
		for i, p := range a.v {
			e := a.next(i).Sub(p)
			l := math.Sqrt(e.Dot(e))
			if l == 0 {
				continue
			}
			f := edgeGap{out: geom.Point{X: e.Y / l, Y: -e.X / l}, p: p, a: a, b: b, least: math.Inf(1)}
			for _, q := range b.v {
				f.least = min(f.least, f.out.Dot(q.Sub(p)))
			}
			best = max(best, f.least)
			g.gaps = append(g.gaps, f)
		}
		a, b = b, a
	}
	if g.exact {
		return span{best, best, best}
	}
	// What differs by more than two intervals can have cannot count.
	loose := g.slack(a, b)
	s := span{math.Inf(-1), math.Inf(-1), math.Inf(-1)}
	for i := range g.gaps {
		if f := &g.gaps[i]; f.least >= best-loose {
			s = s.most(g.gapBefore(f, loose))
		}
	}
	return s
}

// edgeGap is how far a shape b keeps in front of an edge of a, the one through p
// with the outward normal out.
type edgeGap struct {
	out, p geom.Point
	a, b   *shape
	least  float64
}

func (g *gauge) gapBefore(f *edgeGap, loose float64) span {
	best := span{math.Inf(1), math.Inf(1), math.Inf(1)}
	scaled := f.out.Dot(g.bodies[f.b.body].at.Sub(g.bodies[f.a.body].at))
	for _, q := range f.b.v {
		if gap := f.out.Dot(q.Sub(f.p)); gap <= f.least+loose {
			s, _ := g.leaf(gap, f.out, f.a.body, f.b.body, q, q, scaled)
			best = best.least(s)
		}
	}
	return best
}

// slack bounds the width of the interval of any gap between the two shapes: twice
// k standard deviations and the bend, at the longest lever that either body has to
// a corner of either.
func (g *gauge) slack(a, b *shape) float64 {
	v, bend := 0.0, 0.0
	for i := range g.bodies {
		r2 := 0.0
		for _, s := range [2]*shape{a, b} {
			for _, p := range s.v {
				d := p.Sub(g.bodies[i].at)
				r2 = max(r2, d.Dot(d))
			}
		}
		c := &g.bodies[i].cov
		v += 2 * (c[0] + c[4] + r2*c[8]) // (x+y)² ≤ 2(x²+y²)
		bend += math.Sqrt(r2) * c[8]
	}
	apart := g.bodies[0].at.Sub(g.bodies[1].at)
	return 1.001*(2*g.k*(math.Sqrt(v)+g.scale*math.Sqrt(apart.Dot(apart)))+sq(g.k)*bend) + tie
}

// meeting is a distance with the lines that realise it.
type meeting struct {
	span
	lines    [2]Line // the two extreme closest lines; equal when there is one only
	band     bool    // several lines are equally short
	slope    gradient
	rival    [2]Line // the extremes of the lines that may be the closest, within the uncertainty
	rivalled bool
}

// candidate is a closest pair of a vertex of one shape and an edge of the other.
type candidate struct {
	p, q geom.Point // on the first and the second shape
	u    geom.Point // from p to q; the edge's normal when they coincide
	d    float64
}

// distance measures the shortest distance between two shapes that do not
// overlap. Only a vertex of one and an edge of the other can be closest, and the
// distance is the least of all those pairs.
func (g *gauge) distance(a, b *shape) meeting {
	g.pairs = g.pairs[:0]
	least := g.addPairs(a, b, math.Inf(1), false)
	least = g.addPairs(b, a, least, true)
	best := math.Sqrt(least)
	reach := best + tie
	if !g.exact {
		reach += g.looseness(a, b)
	}
	near := g.nearest(reach)

	m := meeting{span: span{best, best, best}}
	lines := extremes{}
	for i := range near {
		if c := &near[i]; c.d <= best+tie {
			lines.add(Line{c.p, c.q})
			_, m.slope = g.leaf(c.d, c.u, a.body, b.body, c.p, c.q, c.d)
		}
	}
	m.lines, m.band = lines.pair()
	if g.exact {
		m.rival, m.rivalled = m.lines, m.band
		return m
	}
	m.hi = math.Inf(1)
	rivals := extremes{}
	for i := range near {
		c := &near[i]
		s, w := g.leaf(c.d, c.u, a.body, b.body, c.p, c.q, c.d)
		s.hi = max(s.hi, g.sideways(c, a.body, b.body, &w))
		m.lo, m.hi = min(m.lo, s.lo), min(m.hi, s.hi)
		for i := range w {
			for j := range w[i] {
				w[i][j] -= m.slope[i][j]
			}
		}
		if c.d-best <= tie+g.k*math.Sqrt(g.variance(&w)) {
			rivals.add(Line{c.p, c.q})
		}
	}
	m.rival, m.rivalled = rivals.pair()
	return m
}

// farthest measures how far the point of b is that is furthest from a: what
// "within" a range asks. The distance from a convex shape is convex, so that the
// furthest point is a corner; the most of the corners' distances decides, each
// with its own interval. corner is room for one of them.
func (g *gauge) farthest(a, b, corner *shape) meeting {
	most := span{math.Inf(-1), math.Inf(-1), math.Inf(-1)}
	var out meeting
	for _, q := range b.v {
		corner.point(q, b.body)
		m := meeting{lines: [2]Line{{q, q}, {q, q}}}
		if len(a.v) < 3 || !geom.Polygon(a.v).Contains(q) {
			m = g.distance(a, corner)
		}
		if m.val > most.val {
			out = m
			out.lines[1], out.band = out.lines[0], false
		}
		most = most.most(m.span)
	}
	out.span = most
	return out
}

// sideways returns the largest distance between two points that both wander, k
// standard deviations away: near contact a pair slips past each other and parts
// sideways, which first order along u does not see.
func (g *gauge) sideways(c *candidate, a, b int, w *gradient) float64 {
	var across gradient
	n := geom.Point{X: -c.u.Y, Y: c.u.X}
	g.push(&across, a, n.Mul(-1), c.p)
	g.push(&across, b, n, c.q)
	along2, across2 := g.variance(w), g.variance(&across)
	if across2 <= along2 {
		return 0
	}
	x := c.d * math.Sqrt(along2) / (across2 - along2)
	if x >= g.k {
		return 0
	}
	return math.Sqrt(sq(c.d+x*math.Sqrt(along2)) + across2*(sq(g.k)-sq(x)))
}

// looseness bounds how much further than the nearest a pair may be and still
// widen the interval: twice k times the largest standard deviation of any point.
func (g *gauge) looseness(a, b *shape) float64 {
	v := 0.0
	for _, s := range [2]*shape{a, b} {
		body := &g.bodies[s.body]
		r := 0.0
		for _, p := range s.v {
			d := p.Sub(body.at)
			r = max(r, d.Dot(d))
		}
		v += 2 * (body.cov[0] + body.cov[4] + r*body.cov[8]) // (x+y)² ≤ 2(x²+y²)
	}
	return 2.01 * g.k * math.Sqrt(v)
}

// vertexPair is a vertex of one shape and the closest point of an edge of the
// other.
type vertexPair struct {
	p, q, edge geom.Point
	d2         float64
	swapped    bool // p belongs to the second shape of the measurement
}

// addPairs lists all pairs of a vertex of a and an edge of b, and returns the
// least squared distance of these and the one given.
func (g *gauge) addPairs(a, b *shape, least float64, swapped bool) float64 {
	for j, e := range b.v {
		f := b.next(j)
		edge := f.Sub(e)
		l2 := edge.Dot(edge)
		for _, p := range a.v {
			q := e
			if l2 > 0 {
				switch t := p.Sub(e).Dot(edge) / l2; {
				case t >= 1:
					q = f
				case t > 0:
					q = e.Add(edge.Mul(t))
				}
			}
			d := q.Sub(p)
			d2 := d.Dot(d)
			least = min(least, d2)
			g.pairs = append(g.pairs, vertexPair{p, q, edge, d2, swapped})
		}
	}
	return least
}

// nearest returns those of the listed pairs that are within reach.
func (g *gauge) nearest(reach float64) []candidate {
	reach *= 1 + 1e-15 // the squares round
	near := g.near[:0]
	for i := range g.pairs {
		switch v := &g.pairs[i]; {
		case v.d2 > reach*reach:
		case v.swapped:
			near = append(near, newCandidate(v.q, v.p, v.edge.Mul(-1)))
		default:
			near = append(near, newCandidate(v.p, v.q, v.edge))
		}
	}
	g.near = near
	return near
}

func newCandidate(p, q, edge geom.Point) candidate {
	v := q.Sub(p)
	d := v.Norm()
	c := candidate{p: p, q: q, d: d}
	switch l := edge.Norm(); {
	case d > tie:
		c.u = v.Mul(1 / d)
	case l > 0:
		c.u = geom.Point{X: edge.Y / l, Y: -edge.X / l}.Mul(-1)
	default:
		c.u = geom.Point{X: 1}
	}
	return c
}

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
	// The lines of a band lie side by side, so that the furthest from one of the
	// two kept replaces the other.
	if d := apart(l, e.l[0]); d > e.gap {
		e.l[1], e.gap = l, d
	}
	if d := apart(l, e.l[1]); d > e.gap {
		e.l[0], e.gap = l, d
	}
}

// pair returns the two extreme lines and whether they differ by more than
// rounding.
func (e *extremes) pair() ([2]Line, bool) { return e.l, e.gap > 1e-6 }

// gap measures the signed distance between two convex shapes: positive apart,
// negative by the depth of the overlap.
func (g *gauge) gap(a, b *shape) meeting {
	sep := g.separation(a, b)
	m := g.distance(a, b)
	if sep.val <= 0 { // they meet: any common point is the measuring line
		c := commonPoint(a, b, m)
		if sep.val < -tie {
			m.lines, m.band = [2]Line{{c, c}, {c, c}}, false
		}
		m.span = sep
		return m
	}
	return g.widened(m, sep)
}

// apart measures two convex shapes that do not meet; sep is their separation.
func (g *gauge) apart(a, b *shape, sep span) meeting { return g.widened(g.distance(a, b), sep) }

// widened makes a distance agree with the separation, which decides about contact.
func (g *gauge) widened(m meeting, sep span) meeting {
	if g.exact {
		return m
	}
	if sep.lo > 0 {
		m.lo = min(m.val, max(m.lo, sep.lo))
	} else {
		m.lo = min(m.lo, sep.lo)
	}
	m.hi = max(m.hi, m.val)
	return m
}

// commonPoint returns a point of both of two overlapping convex shapes.
func commonPoint(a, b *shape, m meeting) geom.Point {
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
	return m.lines[0][0]
}
