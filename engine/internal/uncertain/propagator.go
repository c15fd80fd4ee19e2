package uncertain

import (
	"math"
	"slices"

	"sightline/engine/geom"
)

// Propagator measures between two bodies and propagates the uncertainty of their poses to the
// results.
type Propagator struct {
	RelativeError
	Scale float64 // relative error of scale
	Exact bool    // nothing is uncertain

	turned float64                                 // result of turn; 0 before its first call
	width  struct{ lever0, lever1, bound float64 } // result of IntervalBound, with its levers

	gaps   []edgeGap // scratch
	near   []candidate
	some   []geom.Point
	rivals []rival
	lines  []geom.Line
}

// leversOf returns the levers of two shapes, that of the first body first.
func leversOf(a, b *Shape) (lever0, lever1 float64) {
	if a.Body == From {
		return a.Lever, b.Lever
	}
	return b.Lever, a.Lever
}

// Set sets the two bodies of the propagator.
func (g *Propagator) Set(from, to Body, scale, k float64) {
	g.RelativeError = RelativeError{K: k, Bodies: [2]Body{from, to}, Scaled: to.At.Sub(from.At).Mul(scale)}
	g.lines = g.lines[:0]
	g.Scale = scale
	g.Exact = from.Cov == geom.Cov3{} && to.Cov == geom.Cov3{} && scale == 0
	g.turned, g.width.bound = 0, 0
}

// DistanceInterval returns the interval of the length along u from p on body a to q on body b.
// scaled is the part of the length that the error of scale stretches.
func (g *Propagator) DistanceInterval(val float64, u geom.Point, a, b int, p, q geom.Point, scaled float64) geom.Interval {
	if g.Exact {
		return geom.Exactly(val)
	}
	e := g.lengthError(u, a, b, p, q)
	return e.interval(g.K, val, g.Scale*scaled)
}

// Separation measures how far two convex shapes are apart in the best separating direction: the
// largest gap in front of any edge of either shape. If it is negative, they overlap by at least
// that depth in any direction. The shapes meet exactly if it is not positive; if they are apart, it
// never exceeds the distance. It decides contact, because each gap is linear in the positions.
func (g *Propagator) Separation(a, b *Shape) geom.Interval {
	g.gaps = g.gaps[:0]
	best, firm := math.Inf(-1), math.Inf(-1)
	turn := 0.0
	if len(a.rays)+len(b.rays) > 0 {
		turn = g.turn()
	}
	for side := range 2 {
		for i := range a.Edges {
			e := &a.Edges[i]
			p, out, least := e.At, e.Out(), math.Inf(1)
			ahead := b.ahead(out)
			if e.Lo == e.Hi || len(b.V) == 0 || ahead < 0 {
				continue
			}
			f := edgeGap{edge: i, side: side, firm: ahead >= turn}
			for _, q := range b.V {
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
	if g.Exact {
		return geom.Exactly(best)
	}
	loose := g.IntervalBound(a, b) // a gap further than that below a firm one cannot be the largest
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

// edgeGap is the distance of one shape in front of an edge of the other. The edge belongs to the
// first shape (side 0) or to the second (side 1).
type edgeGap struct {
	least      float64
	edge, side int
	firm       bool // also if the bodies turn as far as they may
}

// turn returns the sine of the angle by which the two bodies may be turned relative to each other.
func (g *Propagator) turn() float64 {
	if g.turned == 0 {
		g.turned = math.Sin(min(math.Pi/2, g.K*math.Sqrt(g.Bodies[0].Cov.HeadingVariance()+g.Bodies[1].Cov.HeadingVariance())))
	}
	return g.turned
}

// gapBefore measures the gap between an edge of a and the vertices of b that may be nearest to it.
func (g *Propagator) gapBefore(a, b *Shape, f *edgeGap, loose float64) geom.Interval {
	best := geom.Exactly(math.Inf(1))
	p, out := a.Edges[f.edge].At, a.Edges[f.edge].Out()
	scaled := out.Dot(g.Bodies[b.Body].At.Sub(g.Bodies[a.Body].At))
	for _, q := range b.V {
		if gap := out.Dot(q.Sub(p)); gap <= f.least+loose {
			best = best.Min(g.DistanceInterval(gap, out, a.Body, b.Body, q, q, scaled))
		}
	}
	if !f.firm { // slightly turned, an arc along this edge crosses it far away
		best.Lo = math.Inf(-1)
	}
	return best
}

// IntervalBound returns an upper bound of the width of the interval of any gap between the two
// shapes: twice k standard deviations and the second order, for each body's longest lever to a
// corner of either shape.
func (g *Propagator) IntervalBound(a, b *Shape) float64 {
	own0, own1 := leversOf(a, b)
	w := &g.width
	if w.bound != 0 && w.lever0 == own0 && w.lever1 == own1 {
		return w.bound
	}
	between := g.Bodies[0].At.Sub(g.Bodies[1].At)
	far := math.Sqrt(between.Dot(between))
	lever0, lever1 := max(own0, far+own1), max(own1, far+own0)
	secondOrder := 2*g.Bodies[0].Cov.SecondOrderBound(lever0, g.K) + 2*g.Bodies[1].Cov.SecondOrderBound(lever1, g.K)
	w.lever0, w.lever1 = own0, own1
	w.bound = 1.001*(2*g.K*(math.Sqrt(g.VarianceBound(lever0, lever1))+g.Scale*far)+secondOrder) + geom.Tie
	return w.bound
}

// ClosestPair is a distance and the lines that measure it.
type ClosestPair struct {
	geom.Interval
	Lines        [2]geom.Line // the two extreme closest lines; equal if there is only one
	Band         bool         // several lines are equally short
	Slope        Gradient
	Alternatives []geom.Line  // lines that may be the closest, within the uncertainty; valid until the next Set
	Choice       [2]geom.Line // the extremes of the lines from which the attacker may surely choose
	Even         bool         // Choice is set: which line is the shortest cannot be seen
}

// perceptible is the difference of two lengths, in mm as a standard deviation, below which players
// cannot see which is shorter: half the width of a ruler's line plus the precision of a hand.
const perceptible = 0.5

// candidate is a closest pair of a point of one shape and a point of the other.
type candidate struct {
	p, q geom.Point // on the first and the second shape
	u    geom.Point // unit vector from p to q; the edge's normal when they coincide
	d    float64
	foot bool // the line is square to a side

	corner geom.Point // the end that is no foot, if one is
}

// Distance measures the shortest distance between two shapes that do not overlap, and finds the
// lines that may be the shortest. Shortest explains most.
func (g *Propagator) Distance(a, b *Shape, most float64) (m ClosestPair) {
	var near []candidate
	m.Interval, near = g.Shortest(a, b, most)
	m.Lines, m.Band = LinesOf(near, m.Val)
	if g.Exact {
		m.Alternatives = g.Distinct(m.Lines[:])
		return m
	}
	for i := len(near) - 1; i >= 0; i-- {
		if c := &near[i]; c.d <= m.Val+geom.Tie {
			m.Slope = g.lengthGradient(c.u, a.Body, b.Body, c.p, c.q)
			break
		}
	}
	g.addAlternatives(&m, near, a.Body, b.Body)
	return m
}

// Shortest measures the shortest distance between two shapes that do not overlap: the least
// distance from a vertex of one to a vertex or side of the other. The caller knows that the shapes
// are no further apart than most; more distant pairs are skipped. It also returns the pairs that
// may be the closest.
func (g *Propagator) Shortest(a, b *Shape, most float64) (geom.Interval, []candidate) {
	loose := 0.0
	if !g.Exact {
		loose = g.relevance(a, b)
	}
	near := g.nearest(a, b, -1e-6, most, loose)
	best := math.Inf(1)
	for i := range near {
		best = min(best, near[i].d)
	}
	d := geom.Exactly(best)
	if g.Exact {
		return d, near
	}
	d.Hi = math.Inf(1)
	wander := geom.Sq(loose / (2 * g.K)) // an upper bound of any point's variance
	for i := range near {
		c := &near[i]
		p, q := c.p, c.q
		if c.foot { // the side's normal turns with its body, so the lever reaches to the corner
			p, q = c.corner, c.corner
		}
		e := g.lengthError(c.u, a.Body, b.Body, p, q)
		s := e.interval(g.K, c.d, g.Scale*c.d)
		s.Hi = max(s.Hi, g.sideways(c, a.Body, b.Body, e.variance, wander))
		d.Lo, d.Hi = min(d.Lo, s.Lo), min(d.Hi, s.Hi)
	}
	return d, near
}

// LinesOf returns the two lines furthest apart among those as short as the shortest, and whether
// they differ.
func LinesOf(near []candidate, shortest float64) ([2]geom.Line, bool) {
	lines := extremes{}
	for i := range near {
		if c := &near[i]; c.d <= shortest+geom.Tie {
			lines.add(geom.Line{c.p, c.q})
		}
	}
	return lines.pair()
}

// addAlternatives finds the lines that may be the shortest: those that are not surely longer than another.
func (g *Propagator) addAlternatives(m *ClosestPair, near []candidate, a, b int) {
	if len(near) == 1 {
		m.Alternatives = g.Distinct(m.Lines[:])
		return
	}
	g.rivals = g.rivals[:0]
	for i := range near {
		c := &near[i]
		w := g.lengthGradient(c.u, a, b, c.p, c.q)
		if r := (rival{c, w, 0}); !g.longer(&r, m.Val, &m.Slope) {
			w = w.Plus(&m.Slope, -1)
			r.apart = g.Variance(&w)
			g.rivals = append(g.rivals, r)
		}
	}
	first, square, most := len(g.lines), extremes{}, 0.0
	for i := range g.rivals {
		r := &g.rivals[i]
		if slices.ContainsFunc(g.rivals, func(o rival) bool { return o.d < r.d && g.longer(r, o.d, &o.slope) }) {
			continue
		}
		g.addDistinct(first, geom.Line{r.p, r.q})
		if r.foot { // all lines between two parallel sides are
			square.add(geom.Line{r.p, r.q})
			most = max(most, r.apart)
		}
	}
	m.Alternatives = g.lines[first:len(g.lines):len(g.lines)]
	m.Choice, m.Even = square.pair()
	m.Even = m.Even && most <= geom.Sq(perceptible)
}

// rival is a candidate that may be the shortest.
type rival struct {
	*candidate
	slope Gradient
	apart float64 // variance of by how much it is longer than the shortest, mm²
}

// longer reports whether a rival is surely longer than a line of length d.
func (g *Propagator) longer(r *rival, d float64, slope *Gradient) bool {
	w := r.slope.Plus(slope, -1)
	return r.d-d > geom.Tie+g.K*math.Sqrt(g.Variance(&w))
}

// Distinct returns the lines of all lists; lines that differ only by rounding appear once.
func (g *Propagator) Distinct(lists ...[]geom.Line) []geom.Line {
	first := len(g.lines)
	for _, lines := range lists {
		for _, l := range lines {
			g.addDistinct(first, l)
		}
	}
	return g.lines[first:len(g.lines):len(g.lines)]
}

// addDistinct appends a line to g.lines unless the same line is there from index first on.
func (g *Propagator) addDistinct(first int, l geom.Line) {
	for i := first; i < len(g.lines); i++ {
		if d0, d1 := g.lines[i][0].Sub(l[0]), g.lines[i][1].Sub(l[1]); max(d0.Dot(d0), d1.Dot(d1)) <= 1e-12 {
			return
		}
	}
	g.lines = append(g.lines, l)
}

// Farthest measures the distance from a to b's furthest point, which decides "within" a range. The
// distance from a convex shape is convex, so the furthest point is a corner. The result is the
// maximum over the corners, each with its own interval. corner is scratch space.
func (g *Propagator) Farthest(a, b, corner *Shape) ClosestPair {
	var d [12]float64
	most := 0.0
	for i, q := range b.V {
		d[i] = a.Far(q)
		most = max(most, d[i])
	}
	loose := geom.Tie
	if !g.Exact {
		loose += g.relevance(a, b)
	}
	out := ClosestPair{Interval: geom.Exactly(math.Inf(-1))}
	for i, q := range b.V {
		if d[i] < most-loose {
			continue
		}
		lines, far := [2]geom.Line{{q, q}}, geom.Interval{}
		if d[i] > 0 {
			var near []candidate
			corner.Set(b.Body, b.Lever, q)
			far, near = g.Shortest(a, corner, d[i])
			lines, _ = LinesOf(near, far.Val)
		}
		if far.Val > out.Val {
			out.Lines[0], out.Lines[1] = lines[0], lines[0]
		}
		out.Interval = out.Max(far)
	}
	return out
}

// Far returns how far a point is from a convex shape, 0 inside.
func (s *Shape) Far(q geom.Point) float64 {
	best, inside := math.Inf(1), len(s.V) > 2
	for i := range s.Edges {
		e := &s.Edges[i]
		d := q.Sub(e.At)
		h := d.Dot(e.Out())
		inside = inside && h <= 0
		switch t := d.Dot(e.Dir); {
		case t <= 0:
			best = min(best, d.Dot(d))
		case t < e.Hi:
			best = min(best, h*h)
		}
	}
	if inside {
		return 0
	}
	return math.Sqrt(best)
}

// sideways returns the largest distance, k standard deviations away, between two points that are
// both uncertain. Near contact a pair may slip sideways, which first order along u neglects. along2
// is the variance along u, and most an upper bound of the variances in both directions.
func (g *Propagator) sideways(c *candidate, a, b int, along2, most float64) float64 {
	along := math.Sqrt(along2)
	if c.d*along >= g.K*(most-along2) {
		return 0
	}
	n := geom.Point{X: -c.u.Y, Y: c.u.X}
	var across Gradient
	across[a] = geom.PointJacobian(n.Mul(-1), c.p.Sub(g.Bodies[a].At))
	across[b] = geom.PointJacobian(n, c.q.Sub(g.Bodies[b].At))
	across2 := g.Variance(&across)
	if across2 <= along2 {
		return 0
	}
	x := c.d * along / (across2 - along2)
	if x >= g.K {
		return 0
	}
	return math.Sqrt(geom.Sq(c.d+x*along) + across2*(geom.Sq(g.K)-geom.Sq(x)))
}

// relevance returns how much further apart than the nearest pair a pair may be and still widen the
// interval: twice k times the largest standard deviation of any point.
func (g *Propagator) relevance(a, b *Shape) float64 {
	lever0, lever1 := leversOf(a, b)
	return 2.01 * g.K * math.Sqrt(g.VarianceBound(lever0, lever1))
}

// nearest lists the pairs that may be the nearest: a vertex of one shape, and the point of the
// other's outline that is closest to it. Pairs count that are at most loose further apart than the
// nearest one. No shortest line leads to a side from its back, so vertices less than behind in
// front of a side are skipped. The shapes are no further apart than most.
func (g *Propagator) nearest(a, b *Shape, behind, most, loose float64) []candidate {
	g.near = g.near[:0]
	r := reach{loose: geom.Tie + loose, best: math.Inf(1), behind: behind}
	r.lower(most)
	if len(b.V) > len(b.buf) { // near vertices of an outline rule out most of the others
		r.lower(nearestVertices(a, b, r.best))
	}
	g.addFeet(a, b, &r, false)
	g.addFeet(b, a, &r, true)
	for i, p := range a.V {
		if x, y := b.round.Centre.X-p.X, b.round.Centre.Y-p.Y; x*x+y*y > geom.Sq(r.most+b.round.Radius) {
			continue
		}
		for j, q := range b.V {
			x, y := q.X-p.X, q.Y-p.Y
			if d2 := x*x + y*y; d2 <= r.most*r.most {
				d := r.lower(math.Sqrt(d2))
				c := candidate{p: p, q: q, d: d, u: geom.Point{X: 1}}
				switch {
				case d > geom.Tie:
					c.u = geom.Point{X: x / d, Y: y / d}
				case b.Edges[j].Hi > 0:
					c.u = b.Edges[j].Out().Mul(-1)
				case a.Edges[i].Hi > 0:
					c.u = a.Edges[i].Out()
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

// nearestVertices returns the distance of the nearest two vertices of two shapes, or most if that is less.
func nearestVertices(a, b *Shape, most float64) float64 {
	least := most * most
	for _, p := range a.V {
		if x, y := b.round.Centre.X-p.X, b.round.Centre.Y-p.Y; x*x+y*y > geom.Sq(most+b.round.Radius) {
			continue
		}
		for _, q := range b.V {
			x, y := q.X-p.X, q.Y-p.Y
			if d2 := x*x + y*y; d2 < least {
				least = d2
			}
		}
	}
	return math.Sqrt(least)
}

// reach limits how far apart a pair of points may be and still count.
type reach struct{ best, loose, most, behind float64 }

// lower lowers the limit for a pair d apart, and returns d.
func (r *reach) lower(d float64) float64 {
	if d <= r.best {
		r.best, r.most = d, (d+r.loose)*(1+1e-15) // squares round
	}
	return d
}

// addFeet lists the vertices of a with the feet of their perpendiculars on the sides
// of b.
func (g *Propagator) addFeet(a, b *Shape, r *reach, swapped bool) {
	behind := r.behind
	if len(b.V) < 3 && b.rays == nil {
		behind = math.Inf(-1)
	}
	vertices := a.V
	if len(vertices) > len(a.buf) { // an outline with many vertices: keep only those near enough
		g.some = g.some[:0]
		for _, p := range vertices {
			if x, y := p.X-b.round.Centre.X, p.Y-b.round.Centre.Y; x*x+y*y <= geom.Sq(r.most+b.round.Radius+1e-6) {
				g.some = append(g.some, p)
			}
		}
		vertices = g.some
	}
	for j := range b.Edges {
		e := &b.Edges[j]
		at, out := e.At, e.Out()
		x, y := a.round.Centre.X-at.X, a.round.Centre.Y-at.Y
		t, h := x*e.Dir.X+y*e.Dir.Y, x*out.X+y*out.Y
		// Skip a side if all of a is past one of its ends, behind it or too far away. One branch is
		// cheaper than four unpredictable ones.
		if Negative(t+a.round.Radius-(e.Lo-geom.Tie))|Negative(e.Hi+geom.Tie-(t-a.round.Radius))|
			Negative(h+a.round.Radius-behind)|Negative(r.most-(h-a.round.Radius)) != 0 {
			continue
		}
		for _, p := range vertices {
			x, y := p.X-at.X, p.Y-at.Y
			h := x*out.X + y*out.Y
			if h < behind || h > r.most {
				continue
			}
			t := x*e.Dir.X + y*e.Dir.Y
			if t < e.Lo-geom.Tie || t > e.Hi+geom.Tie || -h > r.most || e.Lo == e.Hi {
				continue
			}
			c := candidate{p: p, q: geom.Point{X: at.X + t*e.Dir.X, Y: at.Y + t*e.Dir.Y}, d: r.lower(math.Abs(h)), u: out, foot: true, corner: p}
			if h >= -geom.Tie { // from the vertex to its foot
				c.u = out.Mul(-1)
			}
			if swapped {
				c.p, c.q, c.u = c.q, c.p, c.u.Mul(-1)
			}
			g.near = append(g.near, c)
		}
	}
}

// Negative returns 1 for a negative number, else 0.
func Negative(x float64) uint64 { return math.Float64bits(x) >> 63 }

// extremes collects lines and keeps the two that are furthest apart.
type extremes struct {
	n   int
	l   [2]geom.Line
	gap float64
}

// Apart returns how far two lines that lie side by side are apart at their wider end.
func Apart(a, b geom.Line) float64 {
	return max(a[0].Sub(b[0]).Norm(), a[1].Sub(b[1]).Norm())
}

func (e *extremes) add(l geom.Line) {
	if e.n == 0 {
		e.l[0], e.l[1], e.n = l, l, 1
		return
	}
	// The lines lie side by side. A line further from one of the two kept lines than they are apart
	// replaces the other one.
	d0, d1 := Apart(l, e.l[0]), Apart(l, e.l[1])
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
func (e *extremes) pair() ([2]geom.Line, bool) { return e.l, e.gap > 1e-6 }

// Gap measures the signed distance between two convex shapes: positive apart,
// negative by the depth of the overlap.
func (g *Propagator) Gap(a, b *Shape) ClosestPair {
	sep := g.Separation(a, b)
	if sep.Val > -geom.Tie { // apart or touching
		m := g.Distance(a, b, math.Inf(1))
		m.Interval = g.Apart(m.Interval, sep)
		if sep.Val <= 0 {
			m.Interval = sep
		}
		return m
	}
	return g.overlap(a, b, sep)
}

// overlap measures two convex shapes that overlap. Its line is any common point; if the shapes may
// really be apart, the line may be anywhere along their nearest sides.
func (g *Propagator) overlap(a, b *Shape, sep geom.Interval) ClosestPair {
	m := ClosestPair{Interval: sep}
	c := commonPoint(a, b)
	m.Lines = [2]geom.Line{{c, c}, {c, c}}
	m.Alternatives = g.Distinct(m.Lines[:])
	if sep.Hi < 0 || g.Exact {
		return m
	}
	near := g.nearest(a, b, math.Inf(-1), math.Inf(1), g.relevance(a, b))
	first := len(g.lines)
	for i := range near {
		g.addDistinct(first, geom.Line{near[i].p, near[i].q})
	}
	if len(near) > 0 {
		m.Slope = g.lengthGradient(near[0].u, a.Body, b.Body, near[0].p, near[0].q)
		m.Alternatives = g.lines[first:len(g.lines):len(g.lines)]
	}
	return m
}

// Apart makes the distance of two convex shapes that do not meet agree with their separation, which
// decides contact and may widen the interval.
func (g *Propagator) Apart(d, sep geom.Interval) geom.Interval {
	if g.Exact {
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

// commonPoint returns a common point of two overlapping convex shapes.
func commonPoint(a, b *Shape) geom.Point {
	for range 2 {
		for _, p := range a.V {
			if len(b.V) > 2 && geom.Polygon(b.V).Contains(p) {
				return p
			}
		}
		a, b = b, a
	}
	for i, p := range a.V {
		for j, q := range b.V {
			u, v := a.Next(i).Sub(p), b.Next(j).Sub(q)
			if !geom.SegmentsTouch(p, a.Next(i), q, b.Next(j)) || u.Cross(v) == 0 {
				continue
			}
			return p.Add(u.Mul(q.Sub(p).Cross(v) / u.Cross(v)))
		}
	}
	return a.V[0]
}
