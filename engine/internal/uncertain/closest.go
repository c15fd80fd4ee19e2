package uncertain

import (
	"math"
	"slices"

	"sightline/engine/geom"
)

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
