package engine

import (
	"slices"

	"sightline/engine/geom"
	"sightline/engine/internal/uncertain"
)

// Measure answers every question about a scene: each ordered pair of ships, each
// ship against each obstacle, device and marker, and what is wrong with the scene
// itself. The error says what makes the scene impossible to measure. See
// [Measurer] for measuring again and again.
func Measure(s *Scene, o Options) (Result, error) {
	var m Measurer
	return m.Measure(s, o)
}

// measure answers every question.
func (t *table) measure() Result {
	s, n := t.scene, len(t.scene.Ships)
	r := Result{
		Rules:   s.Rules,
		Pairs:   make([]PairVerdict, n*max(0, n-1)),
		Objects: slices.Grow([]ObjectVerdict(nil), n*len(t.outlines)),
	}
	for i := range s.Ships {
		for j := range i {
			r.Pairs[pairAt(n, j, i)], r.Pairs[pairAt(n, i, j)] = t.pair(j, i)
		}
	}
	for i := range s.Ships {
		for j := range t.outlines {
			r.Objects = append(r.Objects, t.object(&t.ships[i], &t.outlines[j]))
		}
	}
	r.Problems = t.problems(nil)
	r.Standing = t.standing(&r)
	return r
}

// pairAt returns the index of the pair from the i-th to the j-th of n ships among all pairs.
func pairAt(n, i, j int) int {
	if j > i {
		j--
	}
	return i*(n-1) + j
}

// MeasurePair answers the questions about one ordered pair of ships, by their ids. The error is
// [ErrNoShip] if one of them is not in the scene.
func MeasurePair(s *Scene, from, to string, o Options) (PairVerdict, error) {
	var m Measurer
	return m.Pair(s, from, to, o)
}

// Ship returns a ship of the scene by its id; nil if the scene has none of that id.
func (s *Scene) Ship(id string) *Ship {
	if i := s.indexOf(id); i >= 0 {
		return &s.Ships[i]
	}
	return nil
}

// indexOf returns the index of a ship among the scene's; -1 if it is not there.
func (s *Scene) indexOf(id string) int {
	return slices.IndexFunc(s.Ships, func(o Ship) bool { return o.ID == id })
}

// pairMeasure is one ordered pair of ships being measured.
type pairMeasure struct {
	uncertain.Propagator
	*table
	k            float64
	rules        Rules
	from, target *Ship
	base, to     *uncertain.Shape // their bases
	start, part  uncertain.Shape  // the parts of them that are in an arc
	left         bool             // the last cut left a part of the target, or a corner that is surely in the arc
	reach        float64
	direct       uncertain.ClosestPair // from base to base
	mutualLines  []geom.Line           // its alternatives
	touch        geom.Interval         // from outline to outline, guides included
	contact      Outcome               // of the outlines
	known        bool                  // they are known to be in contact
	span         RangeVerdict          // the range that follows from these
	plain        *AttackVerdict        // the attack at this range; nil until an arc asks for it

	attacker, aimedAt *measuredShip

	aim          aim
	sliding      slidingLine // the line of the last arc
	corridor     corridor
	search       lineSearch
	answers      []lineAnswer // the verdicts on obstruction so far
	nearOutlines []nearOutline
	narrowed     []nearOutline
	lineErrors   []lineError // of the lines in sorted
	sorted       []geom.Line // those that may be the measuring line, side by side
	between      corridor    // of two neighbours
	one          obstacleOutline
	ones         [1]*obstacleOutline
}

// pair measures from the i-th ship to the j-th and back.
func (t *table) pair(i, j int) (there, back PairVerdict) {
	m := &t.pm
	m.face(t, &t.ships[i], &t.ships[j])
	m.measureMutual()
	there = m.verdict()
	m.turnRound()
	return there, m.verdict()
}

// face sets the two ships, that from which it measures first.
func (m *pairMeasure) face(t *table, a, b *measuredShip) {
	if !a.ready {
		t.setArcs(a)
	}
	from, to := a.ship, b.ship
	m.Propagator.Set(from.body(), to.body(), t.scene.ScaleSigma, t.k)
	m.table, m.k, m.rules, m.from, m.target = t, t.k, t.scene.Rules, from, to
	m.ones[0], m.answers, m.plain = &m.one, m.answers[:0], nil
	m.base, m.to = &a.from, &b.to
	m.reach = max(a.radius, float64(from.Pose.Distance(to.Pose.Point))+b.radius)
	m.attacker, m.aimedAt = a, b
}

// measureMutual measures what is the same in both directions: range, contact and, except in the
// first edition, where few attacks are along it, the obstruction of the line between the bases.
func (m *pairMeasure) measureMutual() {
	m.direct = m.Gap(m.base, m.to)
	m.mutualLines = append(m.mutualLines[:0], m.direct.Alternatives...)
	m.direct.Alternatives = m.mutualLines
	m.touch = m.touching(m.attacker, m.aimedAt, m.direct.Interval)
	m.contact = contactOutcome(m.touch)
	if m.known = m.table.known.Has(m.from.ID, m.target.ID); m.known {
		m.contact = Yes
	}
	m.span = m.mem.rangeVerdict(m.rules, &m.direct, m.touch, m.contact, m.k)
	if m.mutualObstruction() {
		m.obstruction(&m.direct)
	}
}

// mutualObstruction reports whether the first answer on obstruction is that of the line between the bases.
func (m *pairMeasure) mutualObstruction() bool { return m.rules != Rules1e && m.contact == No }

// turnRound exchanges the two ships and keeps what is the same in both directions.
func (m *pairMeasure) turnRound() {
	var mutual []lineAnswer
	if m.mutualObstruction() {
		mutual = m.answers[:1]
	}
	m.face(m.table, m.aimedAt, m.attacker)
	turn(m.mutualLines)
	turn(m.direct.Lines[:])
	turn(m.direct.Choice[:])
	m.direct.Slope[0], m.direct.Slope[1] = m.direct.Slope[1], m.direct.Slope[0]
	first := len(m.mem.lines)
	m.mem.lines = append(m.mem.lines, m.span.Lines...)
	m.span.Lines = m.mem.lines[first:len(m.mem.lines):len(m.mem.lines)]
	turn(m.span.Lines)
	for i := range mutual {
		permitted, choice := m.linesOf(&m.direct)
		m.answers = append(m.answers, lineAnswer{permitted, choice, m.direct.Alternatives, mutual[i].verdict})
	}
}

// turn exchanges the ends of lines.
func turn(lines []geom.Line) {
	for i := range lines {
		lines[i][0], lines[i][1] = lines[i][1], lines[i][0]
	}
}

// verdict returns everything measured from the first ship to the second.
func (m *pairMeasure) verdict() PairVerdict {
	farthest := m.Farthest(m.base, m.to, &m.part)
	v := PairVerdict{
		From: m.from.ID, To: m.target.ID,
		Range:    m.span,
		Farthest: m.mem.rangeVerdict(m.rules, &farthest, farthest.Interval, No, m.k),
		Contact:  m.contact,
	}
	first := len(m.mem.arcs)
	for k, arc := range m.attacker.arcs {
		m.mem.arcs = append(m.mem.arcs, m.measureArc(arc, &m.attacker.regions[k]))
	}
	v.Arcs = m.mem.arcs[first:len(m.mem.arcs):len(m.mem.arcs)]
	return v
}
