package engine

import (
	"errors"
	"fmt"

	"sightline/engine/geom"
)

// ErrOutside is the error for a ship that has no part inside the play area.
var ErrOutside = errors.New("no part of it is inside the play area")

// RangeOfItself returns the range of an object to itself: 0 in 2.0 and 2.5 (G18),
// 1 in the first edition (G19).
func RangeOfItself(r Rules) int { return Band(r, 0) }

// RangeFromInside measures from the part of a ship's base that is inside the play
// area to another ship, as one ability of the first edition asks (G25). A ship
// that is wholly outside gives [ErrOutside]: the ability has no effect.
//
// On a measured table the edge of the mat across the base is uncertain as well. The
// interval then runs from the distance of the largest part that may be inside to
// that of the smallest; where that may be none the outcome is undecided.
func RangeFromInside(s *Scene, from, to string, o Options) (RangeVerdict, error) {
	t := &table{}
	if err := t.prepareMat(s, o); err != nil {
		return RangeVerdict{}, err
	}
	a, b := s.ship(from), s.ship(to)
	for i, ship := range [...]*Ship{a, b} {
		if ship == nil {
			return RangeVerdict{}, fmt.Errorf("engine: measure %q from inside: %w", [...]string{from, to}[i], ErrNoShip)
		}
	}
	var g propagator
	g.set(body{a.Pose.Point, a.Covariance}, body{b.Pose.Point, b.Covariance}, s.ScaleSigma, t.k)
	var base, target, part, grown, shrunk shape
	base.base(&t.profile, a, bodyFrom)
	target.base(&t.profile, b, bodyTo)
	var sd [4]float64
	if !g.exact {
		var edge propagator
		edge.set(body{}, body{a.Pose.Point, a.Covariance}, s.ScaleSigma, t.k)
		for e := range sd {
			_, in := Edge(e).line(s)
			for _, q := range base.v {
				l := edge.distanceInterval(0, in, bodyFrom, bodyTo, q, q, 0)
				sd[e] = max(sd[e], l.Hi)
			}
		}
	}
	t.inside(&part, &base, sd, 0)
	t.inside(&grown, &base, sd, -1)
	t.inside(&shrunk, &base, sd, 1)
	if len(grown.v) == 0 || g.exact && len(part.v) == 0 {
		return RangeVerdict{}, fmt.Errorf("engine: measure %q from inside: %w", from, ErrOutside)
	}
	if len(part.v) == 0 {
		part.set(bodyFrom, grown.lever, grown.v...)
	}
	m, lo := g.gap(&part, &target), g.gap(&grown, &target)
	m.Lo, m.Hi = min(m.Lo, lo.Lo), max(m.Hi, lo.Hi)
	if len(shrunk.v) > 0 {
		m.Hi = max(m.Hi, g.gap(&shrunk, &target).Hi)
	}
	v := t.mem.rangeVerdict(s.Rules, &m, m.Interval, contactOutcome(m.Interval), t.k)
	if len(shrunk.v) == 0 && !g.exact {
		v.Outcome = Indeterminate
	}
	return v, nil
}

// inside cuts a base by the edges of the mat, each moved inward by f of its
// interval.
func (t *table) inside(part, base *shape, sd [4]float64, f float64) {
	var halves [4]halfPlane
	for e := range halves {
		at, in := Edge(e).line(t.scene)
		halves[e] = halfPlane{in, in.Dot(at) + f*sd[e]}
	}
	var first shape
	first.clip(base, halves[:3], &[maxPlanes]float64{})
	part.clip(&first, halves[3:], &[maxPlanes]float64{})
	if len(part.v) > 0 && geom.Polygon(part.v).Area() == 0 && f == 0 {
		part.v = part.v[:0] // it only touches the play area from outside
	}
}
