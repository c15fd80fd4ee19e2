package engine

import (
	"fmt"
	"math"

	"sightline/engine/geom"
	"sightline/engine/internal/pieces"
	"sightline/engine/internal/uncertain"
)

// This file decides when things touch and when they overlap, for measuring, moving and
// restrictions. Both use outlines with guides (G117, G118; rules/dimensions, section 0): two ships
// touch if their outlines meet, whatever the distance of their bases. Range, arcs, obstruction and
// fleeing ignore the guides.
//
// The dimensions describe a guide as a rectangle, and an exact scene uses it as such. Plastic
// guides narrow towards the tip, and sources differ by how much. So on a measured table things meet
// only if they also meet with slender guides, which narrow evenly to the least width in any source,
// and are apart only if they are also apart with rectangles.

// Dimensions of the guides, the pairs of pegs at the front and the rear of a base
// between which a template lies (rules/dimensions 1.1).
const (
	GuideInner = pieces.GuideInner // half the gap between the two of a pair
	GuideOuter = pieces.GuideOuter // half the distance between the outer sides of a pair
)

// GuideReach returns how far the guides extend in front of and behind a base.
func GuideReach(b Base) geom.Length {
	switch b {
	case Small:
		return 1.6 * geom.Millimeter
	case Medium:
		return 1.7 * geom.Millimeter
	}
	return 1.8 * geom.Millimeter
}

// reach returns how far a base's guides extend, in mm; 0 if the profile leaves them out.
func (p *Profile) reach(b Base) float64 {
	if !p.Guides {
		return 0
	}
	return float64(GuideReach(b))
}

// guides returns the four guides of a base, like the function guides; none if the profile leaves
// them out.
func (p *Profile) guides(b Base) (g [4]pieces.Rect, n int) {
	reach := p.reach(b)
	if reach == 0 {
		return g, 0
	}
	_, l := p.Size(b)
	return pieces.Guides(float64(l/2), reach), 4
}

// contactOutcome decides whether two outlines meet, from their signed gap. Without uncertainty,
// touching counts as meeting.
func contactOutcome(s geom.Interval) Outcome {
	switch {
	case s.Lo > pieces.ContactTie:
		return No
	case s.Lo == s.Hi, s.Hi < 0:
		return Yes
	}
	return Indeterminate
}

// overlapOutcome decides whether the interiors of two outlines meet: touching alone
// is not an overlap.
func overlapOutcome(s geom.Interval) Outcome {
	if s.Lo == s.Hi {
		if s.Val < -pieces.ContactTie {
			return Yes
		}
		return No
	}
	return contactOutcome(s)
}

// ContactWords describes how two things touch whose bases are some distance apart: "in contact", or
// "touching by the guides; bases 3.2 mm apart".
func ContactWords(distance geom.Length) string {
	if distance < 0.05 {
		return "in contact"
	}
	return fmt.Sprintf("touching by the guides; bases %.1f mm apart", distance.Millimeters())
}

// touching measures the signed gap between two ships' outlines with guides, the least gap of any
// two of their parts, given the gap between their bases. The propagator must be set for the two. If
// the guides cannot matter, the result may be less than the gap, by at most the guides' length.
func (t *table) touching(a, b *measuredShip, bases geom.Interval) geom.Interval {
	reach := t.profile.reach(a.ship.Base) + t.profile.reach(b.ship.Base)
	if s, ok := t.withoutGuides(bases, reach); ok {
		return s
	}
	return t.pm.ofGuides(func(slender bool) geom.Interval {
		return eachTurn(a.ship, func(ta geom.Angle) geom.Interval {
			return eachTurn(b.ship, func(tb geom.Angle) geom.Interval {
				x, y := t.parts(0, a, &a.from, ta, slender), t.parts(1, b, &b.to, tb, slender)
				return t.pm.partsGap(&x, &y, reach, bases)
			})
		})
	})
}

// ofGuides measures a gap between outlines with guides. If rectangles surely meet, the interval is
// extended as far as slender guides leave it open.
func (m *pairMeasure) ofGuides(gap func(slender bool) geom.Interval) geom.Interval {
	s := gap(false)
	if !m.Exact && s.Hi < 0 {
		s.Hi = max(s.Hi, gap(true).Hi)
	}
	return s
}

// touchingOutline measures the signed gap between a ship's outline with guides and another outline,
// given the gap between that and the base, like touching.
func (t *table) touchingOutline(o *measuredShip, r *uncertain.Outline, base geom.Interval) geom.Interval {
	reach := t.profile.reach(o.ship.Base)
	if s, ok := t.withoutGuides(base, reach); ok {
		return s
	}
	g := &t.pm.Propagator
	return t.pm.ofGuides(func(slender bool) geom.Interval {
		return eachTurn(o.ship, func(turn geom.Angle) geom.Interval {
			out, loose := base, geom.Tie
			p := t.parts(0, o, &o.from, turn, slender)
			if !g.Exact {
				loose = p.stretch() * g.IntervalBound(p.base, &r.Shape)
			}
			for i := range p.n {
				if p.centre[i].Sub(r.Centre).Norm()-p.radius-r.Radius <= out.Val+loose {
					out = out.Min(g.GapToOutline(p.guide(i), r).Interval)
				}
			}
			return out
		})
	})
}

// withoutGuides returns the gap between two outlines whose guides extend by reach in all, from the
// gap of their bases, if the guides cannot matter: there are none, the bases surely overlap, or
// they are surely too far apart and another band is nearer than contact.
func (t *table) withoutGuides(bases geom.Interval, reach float64) (geom.Interval, bool) {
	switch {
	case reach == 0 || overlapOutcome(bases) == Yes:
		return bases, true
	case bases.Lo > reach+pieces.ContactTie && (t.scene.Rules == Rules1e || 2*bases.Val > float64(bandWidth)+reach):
		return geom.Interval{Lo: bases.Lo - reach, Val: bases.Val - reach, Hi: bases.Hi}, true
	}
	return geom.Interval{}, false
}

// eachTurn calls ask for each possible orientation of a ship's guides: for a square base whose
// heading is known only to a quarter turn, on either pair of sides. A decision must hold for all.
func eachTurn(s *Ship, ask func(geom.Angle) geom.Interval) geom.Interval {
	out := ask(0)
	if s.Quarters && !s.Base.Huge() {
		turned := ask(math.Pi / 2)
		out.Lo, out.Hi = min(out.Lo, turned.Lo), max(out.Hi, turned.Hi)
	}
	return out
}

// parts is a base with its guides on the table. The guides' shapes are made on demand, because most
// are too far away to matter.
type parts struct {
	base    *uncertain.Shape
	n       int // guides
	slender bool
	boxes   [4]pieces.Rect
	centre  [4]geom.Point
	radius  float64 // of a circle around any of them
	frame   uncertain.Frame
	shapes  *[4]uncertain.Shape
	made    [4]bool
}

// parts places a ship's guides, turned relative to its nose; for a section of a huge ship only
// those at its own end. room, 0 or 1, selects where their shapes are stored.
func (t *table) parts(room int, o *measuredShip, base *uncertain.Shape, turn geom.Angle, slender bool) parts {
	pose := o.ship.Pose
	pose.Heading += turn
	p := parts{base: base, slender: slender, shapes: &t.guides[room], frame: uncertain.FrameOf(pose)}
	boxes, n := t.profile.guides(o.ship.Base)
	for _, g := range boxes[:n] {
		if o.ship.part != nil && !carries(o.ship.part, g) {
			continue
		}
		p.boxes[p.n] = g
		p.centre[p.n] = p.frame.Table(geom.Point{X: (g.X0 + g.X1) / 2, Y: (g.Y0 + g.Y1) / 2})
		p.radius = math.Hypot(g.X1-g.X0, g.Y1-g.Y0) / 2
		p.n++
	}
	return p
}

// guide returns the i-th guide's shape.
func (p *parts) guide(i int) *uncertain.Shape {
	s, g := &p.shapes[i], p.boxes[i]
	if !p.made[i] {
		p.made[i] = true
		s.RectangleIn(&p.frame, p.base.Body, g.X0, g.X1, g.Y0, g.Y1)
		if p.slender {
			q := pieces.Slender([4]geom.Point(s.V), g.Y0 < 0)
			s.Set(s.Body, s.Lever, q[:]...)
		}
	}
	return s
}

// stretch returns the ratio, at least 1, of the longest lever to a guide to that of the base's
// corners.
func (p *parts) stretch() float64 {
	most := p.base.Lever
	for _, g := range p.boxes[:p.n] {
		most = max(most, math.Hypot(max(-g.X0, g.X1), max(-g.Y0, g.Y1)))
	}
	return most / p.base.Lever
}

// carries reports whether a piece of a base reaches the edge at a guide.
func carries(piece []geom.Point, g pieces.Rect) bool {
	for _, q := range piece {
		if g.Y0 > 0 && q.Y >= g.Y0-geom.Tie || g.Y1 < 0 && q.Y <= g.Y1+geom.Tie {
			return true
		}
	}
	return false
}

// partsGap measures the least gap between two outlines whose guides extend by reach in all; bases
// is the gap of their bases. It skips parts that are too far apart to be the nearest.
func (m *pairMeasure) partsGap(a, b *parts, reach float64, bases geom.Interval) geom.Interval {
	out, loose := bases, geom.Tie
	if bases.Lo <= reach+pieces.ContactTie { // otherwise they do not touch, and the nearest two parts are enough
		loose = m.partsSlack(a, b)
	}
	near := func(least float64) bool { return least <= out.Val+loose }
	eachNear(a, b, near, func(x, y *uncertain.Shape) { out = out.Min(m.Gap(x, y).Interval) })
	return out
}

// partsSlack returns an upper bound of the width of the interval of the gap between any parts of
// the two outlines, like slack.
func (m *pairMeasure) partsSlack(a, b *parts) float64 {
	if m.Exact {
		return geom.Tie
	}
	return max(a.stretch(), b.stretch()) * m.IntervalBound(a.base, b.base)
}

// eachNear calls visit for each pair of parts of the two outlines, at least one of them a guide,
// that are near by a lower bound of their distance.
func eachNear(a, b *parts, near func(least float64) bool, visit func(x, y *uncertain.Shape)) {
	for i := range a.n {
		if near(b.base.Far(a.centre[i]) - a.radius) {
			visit(a.guide(i), b.base)
		}
		for j := range b.n {
			if near(a.centre[i].Sub(b.centre[j]).Norm() - a.radius - b.radius) {
				visit(a.guide(i), b.guide(j))
			}
		}
	}
	for j := range b.n {
		if near(a.base.Far(b.centre[j]) - b.radius) {
			visit(a.base, b.guide(j))
		}
	}
}

// attackContact decides whether an attack in the arc is at range 0: whether the attacker touches
// the part of the target in the arc. d is the measurement between their bases, which alone
// determine what is in an arc. The interval is the gap, or a smaller value if the two surely do not
// touch there.
func (m *pairMeasure) attackContact(d geom.Interval) (geom.Interval, Outcome) {
	reach := m.profile.reach(m.from.Base) + m.profile.reach(m.target.Base)
	switch {
	case m.rules == Rules1e || contactOutcome(d) == Yes: // no range 0 in that edition, or the bases alone decide
		return d, contactOutcome(d)
	case m.contact == No && d.Val <= m.direct.Val+geom.Tie:
		return m.touch, No
	case m.contact == No:
		return geom.Interval{Lo: max(m.touch.Lo, d.Lo-reach), Val: max(m.touch.Val, d.Val-reach), Hi: max(m.touch.Hi, d.Hi-reach)}, No
	case d.Lo > reach+pieces.ContactTie:
		return geom.Interval{Lo: d.Lo - reach, Val: d.Val - reach, Hi: d.Hi - reach}, No
	}
	out := m.cutTouch(d, 0, false)
	grown, shrunk := out, out
	if !m.Exact {
		grown = m.cutTouch(d, -m.k, false)
		shrunk = m.ofGuides(func(slender bool) geom.Interval { return m.cutTouch(d, m.k, slender) })
		// A guide may be in the arc where the base next to it is not: what of the base is may be out of reach of all guides.
		out.Lo, out.Hi = min(out.Lo, grown.Lo), max(out.Hi, shrunk.Hi, d.Hi-reach)
	}
	near := d.Hi <= max(reach, m.direct.Hi)+pieces.ContactTie && shrunk.Val <= m.touch.Val+pieces.ContactTie
	if m.known && near && contactOutcome(out) != No {
		return geom.Interval{}, Yes // they touch, and in the arc
	}
	return out, contactOutcome(out)
}

// cutTouch measures the gap, with guides, between the attacker and the target cut by the arc, whose
// edges are moved inward by f of their standard deviations. It returns d if nothing of the target
// is left.
func (m *pairMeasure) cutTouch(d geom.Interval, f float64, slender bool) geom.Interval {
	return eachTurn(m.target, func(turn geom.Angle) geom.Interval { return m.cutTouchTurned(d, f, turn, slender) })
}

// cutTouchTurned is cutTouch with the target's guides turned relative to its nose.
func (m *pairMeasure) cutTouchTurned(d geom.Interval, f float64, turn geom.Angle, slender bool) geom.Interval {
	a, b := m.parts(0, m.attacker, m.base, 0, slender), m.parts(1, m.aimedAt, m.to, turn, slender)
	var shrink [uncertain.MaxPlanes]float64
	for i := range shrink {
		shrink[i] = f * math.Abs(m.aim.move[i]) * m.aim.sd[i]
	}
	out, some := d, false
	loose := m.partsSlack(&a, &b)
	add := func(x, y *uncertain.Shape) {
		if m.part.Clip(y, m.aim.planes, &shrink); len(m.part.V) == 0 {
			return
		}
		gap := m.Gap(x, &m.part).Interval
		if !some {
			out, some = gap, true
		}
		out = out.Min(gap)
	}
	add(a.base, b.base)
	eachNear(&a, &b, func(least float64) bool { return !some || least <= out.Val+loose }, add)
	return out
}
