package engine

import (
	"math"
	"slices"

	"sightline/engine/geom"
	"sightline/engine/internal/uncertain"
)

// unknownReach is how far, in mm, something unknown may be from a line and still count as on
// it: its outline is as coarse as the picture's cells.
const unknownReach = 3

// unknownOn reports whether something unknown lies on any of some lines, or a part of the
// table where an obstacle would not have been noticed.
func (m *pairMeasure) unknownOn(lines []geom.Line) bool {
	if len(m.scene.Unknown)+len(m.scene.Blind) == 0 {
		return false
	}
	m.corridor.set(lines...)
	return m.scene.AnyDoubtful(func(u geom.Polygon) bool { return geom.Gap(m.corridor.Polygon, u) <= unknownReach })
}

// AnyDoubtful reports whether any area in which an obstacle may or may not lie
// meets a condition.
func (s *Scene) AnyDoubtful(meets func(geom.Polygon) bool) bool {
	return slices.ContainsFunc(s.Unknown, meets) ||
		slices.ContainsFunc(s.Blind, func(b BlindArea) bool { return meets(b.Outline) })
}

// standingOn lists the other ships whose bases a permitted line passes through, and
// the devices (G42). In 2.0 and 2.5 a ship on the line has no effect of its own (G40),
// and small and large ships never obstruct in the first edition (G39). Huge ships
// obstruct and are not among them.
func (m *pairMeasure) standingOn(b lineFamily) (ships, devices []string) {
	p := trackOf(b.a)
	width := 0.0
	if b.a != b.b {
		width = uncertain.Apart(b.a, b.b)
	}
	first := len(m.mem.ids)
	from, u, wide := p.line[0], p.u, width+1e-6
	for i := range m.around {
		c := &m.around[i]
		x, y, reach := c.Centre.X-from.X, c.Centre.Y-from.Y, c.Radius+wide
		along, across := x*u.X+y*u.Y, x*u.Y-y*u.X
		// One branch for three comparisons: most ships are out of reach.
		if uncertain.Negative(along+reach)|uncertain.Negative(p.length+reach-along)|uncertain.Negative(reach-math.Abs(across)) != 0 {
			continue
		}
		o := &m.ships[i]
		if o.ship == m.from || o.ship == m.target || o.ship.Base.Huge() {
			continue
		}
		if p.far(o.ship.Pose.Point) <= o.radius+width && m.throughBase(b, &o.from) {
			m.mem.ids = append(m.mem.ids, o.ship.ID)
		}
	}
	ships = m.mem.list(first)
	first = len(m.mem.ids)
	for _, r := range m.devices {
		if p.far(r.Centre) <= r.Radius+width && m.through(b, r.Polygon) {
			m.mem.ids = append(m.mem.ids, r.id)
		}
	}
	return ships, m.mem.list(first)
}

// throughBase reports whether some line of a family passes through the interior of a
// ship's base.
func (m *pairMeasure) throughBase(b lineFamily, base *uncertain.Shape) bool {
	if b.a != b.b {
		return m.through(b, base.V)
	}
	// The part of the line that is behind all four sides.
	from, to := 0.0, 1.0
	for i := range base.Edges {
		out := base.Edges[i].Out()
		h0 := out.Dot(b.a[0].Sub(base.V[i])) + geom.Tie
		h1 := out.Dot(b.a[1].Sub(base.V[i])) + geom.Tie
		switch {
		case h0 >= 0 && h1 >= 0:
			return false
		case h0 > 0:
			from = max(from, h0/(h0-h1))
		case h1 > 0:
			to = min(to, h0/(h0-h1))
		}
	}
	return from < to
}

// through reports whether some line of a family passes through the interior of an
// outline.
func (m *pairMeasure) through(b lineFamily, outline geom.Polygon) bool {
	if b.a == b.b {
		return outline.MeetsInterior(b.a[0], b.a[1], geom.Tie)
	}
	m.one.Polygon = outline
	m.search.ts = b.changes(m.search.ts[:0], m.ones[:])
	for _, t := range m.search.ts {
		if l := b.at(t); outline.MeetsInterior(l[0], l[1], geom.Tie) {
			return true
		}
	}
	return false
}
