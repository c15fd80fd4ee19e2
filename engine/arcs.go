package engine

import (
	"fmt"
	"math"
	"slices"

	"sightline/engine/geom"
)

// ParseArc reads an arc's name.
func ParseArc(s string) (Arc, error) {
	for i, n := range arcNames {
		if i > 0 && n == s {
			return Arc(i), nil
		}
	}
	return 0, fmt.Errorf("arc: unknown arc %q", s)
}

// arcsOf lists the arcs that a ship has in an edition.
func arcsOf(r Rules, s *Ship, buf []Arc) []Arc {
	if r == Rules1e {
		buf = append(buf, ArcFront)
		for _, a := range [...]Arc{ArcRearAux, ArcFullFront180} {
			if slices.Contains(s.Arcs, a.String()) {
				buf = append(buf, a)
			}
		}
		if s.Turret != "" && slices.Contains(s.Arcs, ArcMobile.String()) {
			buf = append(buf, ArcMobile)
		}
		return buf
	}
	buf = append(buf, ArcFront, ArcRear, ArcLeft, ArcRight, ArcFullFront, ArcFullRear, ArcBullseye)
	if s.Turret != "" {
		buf = append(buf, ArcTurret)
	}
	return buf
}

// set makes the area of one of a ship's arcs. reach is how far from the ship's
// centre anything measured lies. All arcs but the full ones and the bullseye are
// wedges between the token's crossed diagonals, whose apex is the base's centre
// (rules/dimensions 1.5):
//
//	\  front  /
//	 \       /
//	  \     /   half angle: from straight ahead to the diagonal
//	left · right
//	  /     \
//	 /  rear \
func (r *region) set(p *Profile, rules Rules, s *Ship, arc Arc, reach float64) {
	half := p.HalfAngle(rules, s.Base)
	if arc == ArcTurret || arc == ArcMobile {
		arc = turretArc(s.Turret)
	}
	switch arc {
	case ArcRear, ArcRearAux:
		r.wedge(s.Pose, math.Pi, half, reach)
	case ArcLeft:
		r.wedge(s.Pose, -math.Pi/2, math.Pi/2-half, reach)
	case ArcRight:
		r.wedge(s.Pose, math.Pi/2, math.Pi/2-half, reach)
	case ArcFullFront, ArcFullFront180:
		r.half(s.Pose, 1, reach)
	case ArcFullRear:
		r.half(s.Pose, -1, reach)
	case ArcBullseye:
		r.strip(s.Pose, float64(p.Bullseye), reach)
	default:
		r.wedge(s.Pose, 0, half, reach)
	}
}

func turretArc(turret string) Arc {
	switch turret {
	case "rear":
		return ArcRear
	case "left":
		return ArcLeft
	case "right":
		return ArcRight
	}
	return ArcFront
}

// arcReach bounds how far from a ship's centre the other ship's base lies.
func arcReach(from geom.Point, bases ...*shape) float64 {
	r := 1.0
	for _, b := range bases {
		for _, p := range b.v {
			r = max(r, p.Sub(from).Norm())
		}
	}
	return r
}

// inArc decides whether any part of the target's base is in the closed arc, from
// the signed gap between the two.
func inArc(s span) Outcome { return contactOutcome(s) }

// measureArc measures one arc of the ship whose base is a against the base t.
func (m *pairMeasure) measureArc(arc Arc) ArcVerdict {
	r := &m.region
	r.set(&m.profile, m.rules, m.from, arc, m.reach)
	gap := m.gap(&r.area, &m.to)
	in := gap.span.neg()
	v := ArcVerdict{
		Arc:    arc,
		InArc:  inArc(gap.span),
		Margin: geom.Length(in.val),
	}
	v.Sigma = geom.Length(in.sigma(m.k, in.val, v.InArc != Indeterminate))
	if v.InArc != No {
		v.Attack = m.attack(r, &gap)
	}
	return v
}
