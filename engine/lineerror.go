package engine

import (
	"math"

	"sightline/engine/geom"
	"sightline/engine/internal/uncertain"
)

// lineError is the uncertainty of a measuring line's place on the table.
type lineError struct {
	p    track
	own  [2]float64 // variance of each end across the line, where the end is a corner
	turn [2]float64 // variance of an end's slide along its side, where it is or may be the foot of a perpendicular
	feet int        // how many ends are no corners
	ends [2]float64 // largest variance of each end in any direction
	most float64    // the largest of these, and of the slides
	both bool       // own holds for whatever the ends are, and is correlated
	with float64    // covariance of own, if both is set
}

// lineErrorOf returns the uncertainty of a line. An end that is the foot of a perpendicular slides
// along its side when the side turns. Either end of a line from corner to corner may in truth
// be such a foot next to its corner.
func (m *pairMeasure) lineErrorOf(l geom.Line) lineError {
	w := lineError{p: trackOf(l)}
	if m.Exact {
		return w
	}
	n := geom.Point{X: -w.p.u.Y, Y: w.p.u.X}
	for i, p := range l {
		c := m.Bodies[i].Cov.At(p.Sub(m.Bodies[i].At))
		w.own[i], w.ends[i] = c.Along(n), c.Largest()
		w.most = max(w.most, w.ends[i])
	}
	own, shapes := w.own, [...]*uncertain.Shape{m.base, m.to}
	at := [...]int{corner(l[0], m.base), corner(l[1], m.to)}
	for i, s := range shapes {
		turn := geom.Sq(w.p.length) * m.Bodies[i].Cov[8]
		switch {
		case at[i] < 0:
			w.feet++
			w.own[i] = 0
		case at[1-i] < 0:
			continue
		default:
			slide := math.Sqrt(own[1-i]+turn) - m.beyond(s, at[i], l[1-i])/m.k
			turn = geom.Sq(max(0, slide)) - own[1-i]
		}
		if turn > 0 || at[i] < 0 {
			w.turn[i] = turn
			w.most = max(w.most, own[1-i]+turn)
		}
	}
	return w
}

// slidingLine is a measuring line whose end is where an arc's edge crosses a side of the target.
type slidingLine struct {
	lineError
	known bool // there is one
}

// slide sets the error of the measuring line to where an edge of the arc crosses a side of the
// target, if it ends there with the arc as measured, grown and shrunk. As the edge moves, the
// crossing slides along the side, and the foot of the perpendicular from it along the attacker's.
func (m *pairMeasure) slide(start *uncertain.Shape, base, grown, shrunk *uncertain.ClosestPair) {
	l := base.Lines[0]
	edge, from, to := m.crossed(l[1]), corner(l[0], start), nearestEdge(m.to, l[1])
	for _, d := range [...]*uncertain.ClosestPair{base, grown, shrunk} {
		p, q := d.Lines[0][0], d.Lines[0][1]
		if len(d.Alternatives) != 1 || edge < 0 || corner(p, start) != from || corner(q, m.to) >= 0 || nearestEdge(m.to, q) != to ||
			from < 0 && nearestEdge(start, p) != nearestEdge(start, l[0]) {
			return
		}
	}
	side, n := m.to.Edges[to].Dir, m.aim.planes[edge].N
	steep := side.Dot(n)
	if math.Abs(steep) < 0.05 {
		return
	}
	w := lineError{p: trackOf(l), both: true}
	at, bodies := [...]geom.Point{l[0].Sub(m.Bodies[0].At), l[1].Sub(m.Bodies[1].At)}, &m.Bodies
	u, v, slip := w.p.u, geom.Point{X: -w.p.u.Y, Y: w.p.u.X}, m.SlipGradient(n, l[1])
	end := uncertain.Gradient{1: geom.PointJacobian(v, at[1])}.Plus(&slip, side.Dot(v)/steep)
	begin, own := end, bodies[0].Cov.At(at[0])
	w.most = geom.Sq(math.Sqrt(bodies[1].Cov.At(at[1]).Largest()) + math.Sqrt(m.Variance(&slip))/math.Abs(steep))
	if from >= 0 {
		begin = uncertain.Gradient{0: geom.PointJacobian(v, at[0])}
		w.most = max(w.most, own.Largest())
	} else {
		begin[0][2] -= w.p.length * v.Cross(u)
		w.most = max(w.most, m.Variance(&begin)+own.Along(u))
	}
	w.own = [2]float64{m.Variance(&begin), m.Variance(&end)}
	w.with = m.Covariance(&begin, &end)
	m.sliding = slidingLine{w, true}
}

// crossed returns the index of the only edge of the arc on which a point lies; -1 for none.
func (m *pairMeasure) crossed(q geom.Point) int {
	edge := -1
	for i, h := range m.aim.planes {
		if math.Abs(h.N.Dot(q)-h.C) > 1e-6 {
			continue
		}
		if edge >= 0 {
			return -1
		}
		edge = i
	}
	return edge
}

// nearestEdge returns the index of the edge of a shape that is nearest to a point.
func nearestEdge(s *uncertain.Shape, q geom.Point) int {
	best, least := 0, math.Inf(1)
	for i := range s.V {
		on, _ := geom.ClosestOnSegment(q, s.V[i], s.V[(i+1)%len(s.V)])
		if d := on.Sub(q); d.Dot(d) < least {
			best, least = i, d.Dot(d)
		}
	}
	return best
}

// beyond returns how far beyond a shape's corner the foot of the perpendicular from q to
// either side there lies; infinity when it cannot come to lie on that side.
func (m *pairMeasure) beyond(s *uncertain.Shape, corner int, q geom.Point) float64 {
	before := (corner + len(s.V) - 1) % len(s.V)
	least, d := math.Inf(1), q.Sub(s.V[corner])
	for i, e := range [...]*uncertain.Edge{&s.Edges[before], &s.Edges[corner]} {
		inward := e.Dir
		if i == 0 {
			inward = e.Dir.Mul(-1)
		}
		far := max(0, -d.Dot(inward))
		if far >= least || e.Out().Dot(d) <= 0 {
			continue
		}
		if slip := m.SlipGradient(inward, q); far < m.k*math.Sqrt(m.Variance(&slip)) {
			least = far
		}
	}
	return least
}

// sigma returns the standard deviation of where the line runs.
func (w *lineError) sigma() float64 { return math.Sqrt(w.most) }

// across returns the variance of the line's place across its direction, at a fraction of its
// length. For two feet, or one whose side does not turn, it is the larger end's everywhere.
func (w *lineError) across(t float64) float64 {
	if w.both {
		return geom.Sq(1-t)*w.own[0] + 2*t*(1-t)*w.with + geom.Sq(t)*w.own[1]
	}
	return w.at(t, &w.own)
}

// at returns the variance of the line's place at a fraction of its length, where its ends have the given ones.
func (w *lineError) at(t float64, ends *[2]float64) float64 {
	if w.both || w.feet == 2 || w.feet == 1 && w.turn == [2]float64{} {
		return w.most
	}
	v := geom.Sq(1-t)*ends[0] + geom.Sq(t)*ends[1]
	if w.turn[0] > 0 { // it turns about the corner at its end
		v = max(v, w.own[1]+geom.Sq(1-t)*w.turn[0])
	}
	if w.turn[1] > 0 {
		v = max(v, w.own[0]+geom.Sq(t)*w.turn[1])
	}
	return v
}

// sigmaAt returns the standard deviation of the line's place where it passes a circle. Where the
// circle surely lies between the line's ends, only movement across the line counts; where it reaches past
// one of them, movement in any direction, of the part of the line that may meet the circle.
func (w *lineError) sigmaAt(c uncertain.Circle, k, slack float64) float64 {
	along := c.Centre.Sub(w.p.line[0]).Dot(w.p.u)
	reach := c.Radius + k*math.Sqrt(w.most+geom.Sq(slack))
	switch {
	case w.p.length == 0:
		return w.sigma()
	case along < reach || along > w.p.length-reach:
		from, to := min(max(0, along-reach), w.p.length), min(max(0, along+reach), w.p.length)
		v := max(w.at(from/w.p.length, &w.ends), w.at(to/w.p.length, &w.ends))
		return math.Sqrt(min(v, w.most))
	}
	v := max(w.across((along-c.Radius)/w.p.length), w.across((along+c.Radius)/w.p.length))
	return math.Sqrt(min(v, w.most))
}

// corner returns the index of the shape's vertex that a point is; -1 for none.
func corner(p geom.Point, s *uncertain.Shape) int {
	for i, q := range s.V {
		if d := p.Sub(q); d.Dot(d) < 1e-12 {
			return i
		}
	}
	return -1
}
