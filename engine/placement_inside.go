package engine

import (
	"errors"
	"fmt"

	"sightline/engine/geom"
	"sightline/engine/internal/uncertain"
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
	a, b := s.Ship(from), s.Ship(to)
	for i, ship := range [...]*Ship{a, b} {
		if ship == nil {
			return RangeVerdict{}, fmt.Errorf("engine: measure %q from inside: %w", [...]string{from, to}[i], ErrNoShip)
		}
	}
	var g uncertain.Propagator
	g.Set(a.body(), b.body(), s.ScaleSigma, t.k)
	var base, target, part, grown, shrunk uncertain.Shape
	setBase(&base, &t.profile, a, uncertain.From)
	setBase(&target, &t.profile, b, uncertain.To)
	var sd [4]float64
	if !g.Exact {
		var edge uncertain.Propagator
		edge.Set(uncertain.Body{}, a.body(), s.ScaleSigma, t.k)
		for e := range sd {
			_, in := Edge(e).line(s)
			for _, q := range base.V {
				l := edge.DistanceInterval(0, in, uncertain.From, uncertain.To, q, q, 0)
				sd[e] = max(sd[e], l.Hi)
			}
		}
	}
	t.inside(&part, &base, sd, 0)
	t.inside(&grown, &base, sd, -1)
	t.inside(&shrunk, &base, sd, 1)
	if len(grown.V) == 0 || g.Exact && len(part.V) == 0 {
		return RangeVerdict{}, fmt.Errorf("engine: measure %q from inside: %w", from, ErrOutside)
	}
	if len(part.V) == 0 {
		part.Set(uncertain.From, grown.Lever, grown.V...)
	}
	m, lo := g.Gap(&part, &target), g.Gap(&grown, &target)
	m.Lo, m.Hi = min(m.Lo, lo.Lo), max(m.Hi, lo.Hi)
	if len(shrunk.V) > 0 {
		m.Hi = max(m.Hi, g.Gap(&shrunk, &target).Hi)
	}
	v := t.mem.rangeVerdict(s.Rules, &m, m.Interval, contactOutcome(m.Interval), t.k)
	if len(shrunk.V) == 0 && !g.Exact {
		v.Outcome = Indeterminate
	}
	return v, nil
}

// inside cuts a base by the edges of the mat, each moved inward by f of its
// interval.
func (t *table) inside(part, base *uncertain.Shape, sd [4]float64, f float64) {
	var halves [4]uncertain.HalfPlane
	for e := range halves {
		at, in := Edge(e).line(t.scene)
		halves[e] = uncertain.HalfPlane{N: in, C: in.Dot(at) + f*sd[e]}
	}
	var first uncertain.Shape
	first.Clip(base, halves[:3], &[uncertain.MaxPlanes]float64{})
	part.Clip(&first, halves[3:], &[uncertain.MaxPlanes]float64{})
	if len(part.V) > 0 && geom.Polygon(part.V).Area() == 0 && f == 0 {
		part.V = part.V[:0] // it only touches the play area from outside
	}
}
