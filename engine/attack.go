package engine

import (
	"math"
	"slices"

	"sightline/engine/geom"
	"sightline/engine/internal/uncertain"
)

// aim is an arc with which an attack is measured.
type aim struct {
	*region
	gap     geom.Interval                // the signed gap between the arc and the target
	nearest geom.Point                   // the point of a target outside the arc that is nearest to it
	sd      [uncertain.MaxPlanes]float64 // standard deviation of each edge's place relative to the target, mm
	move    [uncertain.MaxPlanes]float64 // the direction in which each edge moves: 1 inward, -1 outward
}

// strip reports whether the arc is a strip, whose two long edges move to the same side with the
// ship. It is so narrow that nothing might be left if both were moved inward.
func (a *aim) strip() bool { return len(a.planes) == uncertain.MaxPlanes }

// attack measures the range inside an arc: from the attacker's base to the part of the target's
// base that is in the arc (rules texts of 2.0 and 2.5, "Attack Range"; in the first edition the
// line also starts in the arc). gap is the signed gap between the arc and the target; nearest is
// the target's point nearest to the arc, if the target is outside.
func (m *pairMeasure) attack(r *region, gap geom.Interval, nearest geom.Point) *AttackVerdict {
	m.aim = aim{region: r, gap: gap, nearest: nearest, move: [uncertain.MaxPlanes]float64{1, 1, 1}}
	m.sliding.known = false
	if m.aim.strip() {
		m.aim.move = [uncertain.MaxPlanes]float64{0, 1, -1}
	}
	// Usually an upper bound of the edges' error is enough to show that it does not matter.
	ends, starts := m.directInArc(m.edgeBound())
	if !m.Exact && (!ends || m.rules == Rules1e && !starts) {
		for i, h := range r.planes {
			m.aim.sd[i] = m.edgeSigma(h)
		}
		ends, starts = m.directInArc(m.aim.sd)
	}
	if ends && starts { // the attack is the same in all such arcs
		if m.plain == nil {
			m.plain = m.attackVerdict(&m.direct, m.direct.Val)
		}
		return m.plain
	}
	whole := &m.direct
	if !ends && m.rules != Rules1e {
		cut := m.inArcDistance(m.base)
		whole = &cut
	}
	m.start.Clip(m.base, r.planes, &[uncertain.MaxPlanes]float64{})
	if m.rules == Rules1e {
		inArc := m.inArcDistance(&m.start)
		return m.attackVerdict(&inArc, inArc.Val)
	}
	exact := m.Exact
	m.Exact = true // this distance decides nothing
	m.cut([uncertain.MaxPlanes]float64{})
	inArc := m.meetDistance(&m.start, &m.part)
	m.Exact = exact
	return m.attackVerdict(whole, inArc)
}

// attackVerdict returns the verdict for a distance measured in an arc. inArc is the distance of a
// line that also starts in the arc.
func (m *pairMeasure) attackVerdict(measured *uncertain.ClosestPair, inArc float64) *AttackVerdict {
	touch, contact := m.attackContact(measured.Interval)
	m.mem.attacks = append(m.mem.attacks, AttackVerdict{DistanceArcStart: geom.Length(max(0, inArc))})
	v := &m.mem.attacks[len(m.mem.attacks)-1]
	if measured == &m.direct && touch == m.touch && contact == m.contact {
		v.RangeVerdict = m.span
	} else {
		v.RangeVerdict = m.mem.rangeVerdict(m.rules, measured, touch, contact, m.k)
	}
	if v.BandArcStart = v.Band; v.Band > 0 {
		v.BandArcStart = max(1, Band(m.rules, geom.Length(inArc)))
	}
	v.Obstruction = m.obstruction(measured)
	return v
}

// directInArc reports whether all points that may be the closest of the two bases are surely in the
// arc: ends is for those on the target, starts for those on the attacker. If they are, the attack
// range is the range.
func (m *pairMeasure) directInArc(sd [uncertain.MaxPlanes]float64) (ends, starts bool) {
	if m.contact != No {
		return false, false
	}
	ends, starts = true, true
	for _, l := range m.direct.Alternatives {
		for i, h := range m.aim.planes {
			starts = starts && h.N.Dot(l[0])-h.C > geom.Tie
			ends = ends && h.N.Dot(l[1])-h.C > geom.Tie+m.k*sd[i]
		}
	}
	return ends, starts
}

// inArcDistance measures from a start (the attacker's base or a part of it) to the part of the
// target inside an arc.
//
// The arc's edges are uncertain too, and where an edge crosses the target it determines the closest
// point. First order fails there: as the edge moves, the closest point runs along the target's
// side, and jumps to another side at a corner. So the target is cut by the arc grown and shrunk, or
// by the strip moved to either side, in a few steps up to k standard deviations of the edge's
// place. Each step is combined with as much error along the line as keeps both together within k
// standard deviations.
func (m *pairMeasure) inArcDistance(start *uncertain.Shape) uncertain.ClosestPair {
	base := m.cutDistance(start, 0)
	if m.Exact {
		return base
	}
	grown := m.cutDistance(start, -m.k)
	shrunk := m.cutDistance(start, m.k)
	inside := m.aim.gap.Hi < 0 && (m.left || m.aim.strip()) // some part is surely in the arc, and it is known which
	if inside && math.Abs(grown.Val-base.Val) <= geom.Tie && math.Abs(shrunk.Val-base.Val) <= geom.Tie {
		return base
	}
	if inside {
		m.slide(start, &base, &grown, &shrunk)
	}
	if out, ok := m.alongEdge(&base, &grown, &shrunk); ok && inside {
		return out
	}
	out := base
	m.widen(&out, m.newCuts(start, base.Interval, grown.Interval, -m.k), -1)
	m.widen(&out, m.newCuts(start, base.Interval, shrunk.Interval, m.k), 1)
	// Each of these cuts may be the true one and determine the measuring line.
	may, n := [7][]geom.Line{base.Alternatives, grown.Alternatives, shrunk.Alternatives}, 3
	if !inside {
		// Perhaps only one corner of the target is in the arc: either corner of a side along the arc's
		// edge.
		last := m.deepest()
		for _, c := range m.cornerDepths() {
			if !m.mayBeDeepest(&c, &last) {
				continue
			}
			m.part.Set(uncertain.To, m.to.Lever, c.at)
			d := m.meet(start, &m.part)
			out.Lo, out.Hi = min(out.Lo, d.Lo), max(out.Hi, d.Hi)
			may[n], n = d.Alternatives, n+1
		}
	}
	out.Alternatives = m.Distinct(may[:n]...)
	if out.Even = inside && base.Even; out.Even {
		sure := shrunk // the smallest cut is surely in the arc
		if m.aim.strip() {
			sure = m.cutBy(start, [uncertain.MaxPlanes]float64{0, m.k * m.aim.sd[1], m.k * m.aim.sd[2]})
		}
		out.Choice, out.Even = sure.Choice, sure.Even
	}
	return out
}

// widen extends an interval by the cuts of the growing arc (side -1) or of the shrinking one (1).
func (m *pairMeasure) widen(out *uncertain.ClosestPair, c cuts, side float64) {
	with := side * math.Asin(m.edgeCorrelation(out))
	for i := 1; i < len(steps); i++ {
		at := c.at(steps[i])
		if side < 0 || m.aim.strip() {
			out.Lo = min(out.Lo, at.Val-(at.Val-at.Lo)*slackWithin(stepAngles[i-1], stepAngles[i], -with))
		}
		if side > 0 || m.aim.strip() {
			out.Hi = max(out.Hi, at.Val+(at.Hi-at.Val)*slackWithin(stepAngles[i-1], stepAngles[i], with))
		}
	}
}

// steps are the fractions of k at which an arc's edge is placed, and stepAngles their arcsines.
var (
	steps      = [...]float64{0, 0.3, 0.5, 0.7, 0.85, 1}
	stepAngles = func() (angles [len(steps)]float64) {
		for i, s := range steps {
			angles[i] = math.Asin(s)
		}
		return angles
	}()
)

// cuts computes the distances to the target cut by an arc whose edges move from their measured
// place to the furthest one.
//
// A moving edge leaves a part of a convex shape, and the distance to that part is a convex function
// of the movement. If it does not change over the whole movement, or changes by half over half of
// it, it is linear in between.
type cuts struct {
	m             *pairMeasure
	start         *uncertain.Shape
	k             float64 // the whole way, in standard deviations
	from, mid, to geom.Interval
	straight      bool
}

// straight is the curvature, as a share of the interval's width, up to which a change counts as linear.
const straight = 0.01

func (m *pairMeasure) newCuts(start *uncertain.Shape, from, to geom.Interval, k float64) cuts {
	c := cuts{m: m, start: start, k: k, from: from, to: to}
	if c.straight = math.Abs(to.Val-from.Val) <= geom.Tie; !c.straight {
		c.mid = m.cutDistance(start, k/2).Interval
		c.straight = math.Abs(from.Val+to.Val-2*c.mid.Val) <= straight*(from.Hi-from.Lo)
	}
	return c
}

// at returns the distance at the fraction f of the movement; f is one of steps.
func (c *cuts) at(f float64) geom.Interval {
	switch {
	case f == 1:
		return c.to
	case c.straight:
		mix := func(a, b float64) float64 { return a + f*(b-a) }
		return geom.Interval{Lo: mix(c.from.Lo, c.to.Lo), Val: mix(c.from.Val, c.to.Val), Hi: mix(c.from.Hi, c.to.Hi)}
	case f == 0.5:
		return c.mid
	}
	return c.m.cutDistance(c.start, f*c.k).Interval
}

// alongEdge handles an arc's edge that crosses the target in the middle of a side: the closest
// point is the intersection, and moves steadily along the target's side with the edge. First order
// then holds: the distance changes like that to a fixed point of the target, plus the motion of the
// intersection with the edge. It reports false if the closest point is not such an intersection.
func (m *pairMeasure) alongEdge(base, grown, shrunk *uncertain.ClosestPair) (uncertain.ClosestPair, bool) {
	if len(base.Alternatives)+len(grown.Alternatives)+len(shrunk.Alternatives) > 3 {
		return uncertain.ClosestPair{}, false
	}
	width, lower := base.Hi-base.Lo, base.Val-base.Lo
	if math.Abs(grown.Val+shrunk.Val-2*base.Val) > straight*width || math.Abs(width-2*lower) > straight*width {
		return uncertain.ClosestPair{}, false
	}
	edge, q := -1, base.Lines[0][1]
	for i, h := range m.aim.planes {
		switch d := h.N.Dot(q) - h.C; {
		case d > 3*m.k*m.aim.sd[i]+geom.Tie: // far from this edge
		case d > 1e-6 || edge >= 0:
			return uncertain.ClosestPair{}, false
		default:
			edge = i
		}
	}
	if edge < 0 {
		return uncertain.ClosestPair{}, false
	}
	n := m.aim.planes[edge].N
	shift := m.SlipGradient(n, q) // of the edge, inward, at the intersection
	rate := (shrunk.Val - grown.Val) / (2 * m.k * m.aim.sd[edge])
	if m.aim.strip() {
		rate *= m.aim.move[edge]
	}
	slope := base.Slope.Plus(&shift, rate)
	scale := geom.Sq(m.Scale * base.Val)
	bend := max(0, lower-m.k*math.Sqrt(m.Variance(&base.Slope)+scale))
	half := m.k*math.Sqrt(m.Variance(&slope)+scale) + bend + straight*lower
	out := *base
	out.Lo, out.Hi, out.Slope = base.Val-half, base.Val+half, slope
	out.Alternatives = m.Distinct(base.Alternatives, grown.Alternatives, shrunk.Alternatives)
	return out, true
}

// cutDistance measures from start to the part of the target in the arc, whose edges are moved inward
// by f standard deviations. If no part is left, it measures to the point that would be last (or
// first) in the arc: the answer assumes that the target is in the arc.
func (m *pairMeasure) cutDistance(start *uncertain.Shape, f float64) uncertain.ClosestPair {
	var shrink [uncertain.MaxPlanes]float64
	for i := range shrink {
		shrink[i] = f * m.aim.move[i] * m.aim.sd[i]
	}
	return m.cutBy(start, shrink)
}

func (m *pairMeasure) cutBy(start *uncertain.Shape, shrink [uncertain.MaxPlanes]float64) uncertain.ClosestPair {
	m.cut(shrink)
	return m.meet(start, &m.part)
}

// cut sets the part to the target cut by the arc. Edges that are moved inward by the error of the least certain corner may leave
// nothing of it, although some corners are in the arc by more than their own error: then these are the part.
func (m *pairMeasure) cut(shrink [uncertain.MaxPlanes]float64) {
	part := &m.part
	part.Clip(m.to, m.aim.planes, &shrink)
	if m.left = len(part.V) > 0; m.left {
		return
	}
	if m.aim.gap.Val > 0 {
		part.Set(uncertain.To, m.to.Lever, m.aim.nearest)
		return
	}
	var room [4]geom.Point
	in := room[:0]
	for _, c := range m.cornerDepths() {
		if c.depth > 0 && geom.Sq(c.depth) > geom.Sq(m.k)*m.Variance(&c.slope) {
			in = append(in, c.at)
		}
	}
	if m.left = len(in) > 0; !m.left {
		in = append(in, m.deepest().at)
	}
	part.Set(uncertain.To, m.to.Lever, in...)
}

// meet measures the signed distance from a start to a part of the target.
func (m *pairMeasure) meet(start, part *uncertain.Shape) uncertain.ClosestPair {
	if m.contact != No && m.Separation(start, part).Val <= 0 {
		return m.Gap(start, part)
	}
	return m.Distance(start, part, math.Inf(1))
}

// meetDistance returns the distance that meet measures, without the lines.
func (m *pairMeasure) meetDistance(start, part *uncertain.Shape) float64 {
	if m.contact != No && m.Separation(start, part).Val <= 0 {
		return m.Gap(start, part).Val
	}
	d, _ := m.Shortest(start, part, math.Inf(1))
	return d.Val
}

// cornerDepth is how deep a corner of the target is in an arc, and how that
// changes with the poses.
type cornerDepth struct {
	at    geom.Point
	depth float64
	slope uncertain.Gradient
}

func (m *pairMeasure) cornerDepths() [4]cornerDepth {
	var all [4]cornerDepth
	for i := range all {
		c := cornerDepth{at: m.to.V[i], depth: math.Inf(1)}
		var n geom.Point
		for _, h := range m.aim.planes {
			if d := h.N.Dot(c.at) - h.C; d < c.depth {
				c.depth, n = d, h.N
			}
		}
		c.slope = m.SlipGradient(n.Mul(-1), c.at)
		all[i] = c
	}
	return all
}

// deepest returns the corner of the target that is deepest in the arc or, if it is outside, nearest
// to it.
func (m *pairMeasure) deepest() cornerDepth {
	all := m.cornerDepths()
	best := all[0]
	for _, c := range all[1:] {
		if c.depth > best.depth {
			best = c
		}
	}
	return best
}

// mayBeDeepest reports whether c may really be deeper than the apparently deepest corner.
func (m *pairMeasure) mayBeDeepest(c, seems *cornerDepth) bool {
	w := c.slope.Plus(&seems.slope, -1)
	return seems.depth-c.depth <= m.k*math.Sqrt(m.Variance(&w))
}

// edgeBound returns an upper bound of the standard deviation of the place of any edge of the arc
// relative to any point of the target.
func (m *pairMeasure) edgeBound() (sd [uncertain.MaxPlanes]float64) {
	if m.Exact {
		return sd
	}
	bound := math.Sqrt(m.VarianceBound(m.reach, m.to.Lever))
	return [uncertain.MaxPlanes]float64{bound, bound, bound}
}

// edgeSigma returns the largest standard deviation of the place of an edge of the arc relative to
// the part of the target's outline that it may cross first, on the way out from the attacker. The
// closest point lies there. The error grows with the distance, so the far side of the target, or
// the other end of a huge base, would overstate it.
func (m *pairMeasure) edgeSigma(h uncertain.HalfPlane) float64 {
	var off, along [4]float64
	worst, out := 0.0, geom.Point{X: -h.N.Y, Y: h.N.X}
	if out.Dot(m.Bodies[1].At.Sub(m.Bodies[0].At)) < 0 {
		out = out.Mul(-1)
	}
	for i, p := range m.to.V {
		off[i], along[i] = h.N.Dot(p)-h.C, out.Dot(p)
		worst = max(worst, m.slip(h.N, p))
	}
	reach := m.k * math.Sqrt(worst)
	if reach > mostReach {
		return math.Sqrt(worst)
	}
	// How far out the edge meets the target is a convex function of where the edge lies: no point
	// of the near side is further out than the furthest of its ends.
	lo, hi := max(-reach, slices.Min(off[:])), min(reach, slices.Max(off[:]))
	if lo > hi {
		return math.Sqrt(worst) // it reaches none
	}
	most, far := 0.0, math.Inf(-1)
	for _, at := range [...]float64{lo, hi} {
		first, where := math.Inf(1), geom.Point{}
		for i, p := range m.to.V {
			j := (i + 1) % len(m.to.V)
			if (off[i] < at) == (off[j] < at) && off[i] != at {
				continue
			}
			f := 0.0
			if off[i] != off[j] {
				f = (at - off[i]) / (off[j] - off[i])
			}
			if q := p.Lerp(m.to.V[j], f); out.Dot(q) < first {
				first, where = out.Dot(q), q
			}
		}
		if !math.IsInf(first, 1) {
			most, far = max(most, m.slip(h.N, where)), max(far, first)
		}
	}
	for i, p := range m.to.V {
		if off[i] >= lo && off[i] <= hi && along[i] <= far {
			most = max(most, m.slip(h.N, p))
		}
	}
	return math.Sqrt(most)
}

// mostReach is the largest error of an arc's edge, in mm, at which it surely leaves the attacker
// through its base, which is at least 40 mm wide: only then is what it crosses first the nearest.
const mostReach = 10

// slip returns the variance, along n, of the place of one ship relative to the other at p.
func (m *pairMeasure) slip(n, p geom.Point) float64 {
	w := m.SlipGradient(n, p)
	return m.Variance(&w)
}

// edgeCorrelation returns the largest correlation between the inward movement of an edge near the
// closest point and the growth of the distance. For a strip it returns that of the whole strip.
func (m *pairMeasure) edgeCorrelation(d *uncertain.ClosestPair) float64 {
	v := m.Variance(&d.Slope)
	q, rho := d.Lines[0][1], -1.0
	for i, h := range m.aim.planes {
		switch {
		case m.aim.strip() && i != 1:
			continue
		case !m.aim.strip() && math.Abs(h.N.Dot(q)-h.C) > 2*m.k*m.aim.sd[i]+geom.Tie:
			continue
		}
		w := m.SlipGradient(h.N, q)
		if n := math.Sqrt(v * m.Variance(&w)); n > 0 {
			rho = max(rho, m.Covariance(&w, &d.Slope)/n)
		}
	}
	if rho == -1 { // no edge is near: the closest point switches between corners
		return 1
	}
	return min(1, rho)
}

// slackWithin returns the largest standardised error of a quantity whose correlation with another
// one is the sine of at. The other one is between the sines of lo and hi, and both together lie on
// the unit circle.
func slackWithin(lo, hi, at float64) float64 {
	if lo <= at && at <= hi {
		return 1
	}
	return max(0, math.Cos(max(lo-at, at-hi)))
}
