package engine

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"sightline/engine/geom"
	"sightline/engine/internal/uncertain"
)

// ParseArc reads an arc's name.
func ParseArc(s string) (Arc, error) {
	for i, n := range arcNames {
		if i > 0 && n == s {
			return Arc(i), nil
		}
	}
	return 0, fmt.Errorf("arc: unknown arc %q, expected one of %s", s, strings.Join(arcNames[1:], ", "))
}

// arcsOf lists the arcs of a ship in an edition: the standard ones and those on its token beyond
// them (G47, G50, G55, G60, G61, G63).
func arcsOf(r Rules, s *Ship, buf []Arc) []Arc {
	if r == Rules1e {
		buf = append(buf, ArcFront)
		for _, a := range [...]Arc{ArcFront90, ArcFront106, ArcFront136, ArcRearAux, ArcFullFront180, ArcMobile, ArcPrimaryTurret} {
			if slices.Contains(s.Arcs, arcNames[a]) && (a != ArcMobile || s.Turret != "") {
				buf = append(buf, a)
			}
		}
		return buf
	}
	buf = append(buf, ArcFront, ArcRear, ArcLeft, ArcRight, ArcFullFront, ArcFullRear, ArcBullseye)
	if s.Turret != "" {
		buf = append(buf, ArcTurret)
		if slices.Contains(s.Arcs, arcNames[ArcDoubleTurret]) {
			buf = append(buf, ArcDoubleTurret)
		}
	}
	return buf
}

// set makes the area of one of a ship's arcs, which stands at the frame. All arcs but
// the full ones and the bullseye are wedges between the token's crossed diagonals, whose apex is the base's centre
// (rules/dimensions 1.5):
//
//	\  front  /
//	 \       /
//	  \     /   half angle: from straight ahead to the diagonal
//	left · right
//	  /     \
//	 /  rear \
//
// The first edition's 180° arc is the front arc and, next to it, the two sectors
// from the front diagonals back to the points in the middle of the base's sides.
// Beyond the base these sectors end on the line through the two points, so that
// all three together are the half plane in front of it. The mobile arc is one of
// the four sectors; such a ship also has its front arc.
func (r *region) set(p *Profile, rules Rules, s *Ship, at *uncertain.Frame, arc Arc) {
	arc, half := p.Sector(rules, s, arc)
	switch arc {
	case ArcRear:
		r.wedge(at, math.Pi, half)
	case ArcLeft:
		r.wedge(at, -math.Pi/2, math.Pi/2-half)
	case ArcRight:
		r.wedge(at, math.Pi/2, math.Pi/2-half)
	case ArcFullFront:
		r.half(at, 1)
	case ArcFullRear:
		r.half(at, -1)
	case ArcBullseye:
		r.strip(at, float64(p.Bullseye))
	default:
		r.wedge(at, 0, half)
	}
}

// Sector returns the shape of a ship's arc: the front, rear, left, right, full front or full
// rear sector or the bullseye, and the half angle of the front sector that bounds it. A
// turret's arc is the sector that it points into. ArcPrimaryTurret, which has no limit, has
// the sector 0.
func (p *Profile) Sector(r Rules, s *Ship, arc Arc) (sector Arc, half geom.Angle) {
	half = p.HalfAngle(r, s.Base)
	switch arc {
	case ArcTurret, ArcMobile:
		return turretArc(s.Turret), half
	case ArcDoubleTurret:
		return opposite(turretArc(s.Turret)), half
	case ArcRearAux:
		return ArcRear, half
	case ArcFullFront180:
		return ArcFullFront, half
	case ArcFront90:
		return ArcFront, 45 * geom.Degree
	case ArcFront106:
		return ArcFront, 53 * geom.Degree
	case ArcFront136:
		return ArcFront, 68 * geom.Degree
	case ArcPrimaryTurret:
		return 0, half
	}
	return arc, half
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

// opposite returns the standard arc across the base.
func opposite(a Arc) Arc {
	switch a {
	case ArcFront:
		return ArcRear
	case ArcRear:
		return ArcFront
	case ArcLeft:
		return ArcRight
	}
	return ArcLeft
}

// inArc decides whether any part of the target's base is in the closed arc, from their signed gap.
func inArc(s geom.Interval) Outcome {
	switch {
	case s.Lo == s.Hi && s.Val <= geom.Tie, s.Hi < 0:
		return Yes
	case s.Lo == s.Hi, s.Lo > 0:
		return No
	}
	return Indeterminate
}

// measureArc measures one arc of the attacker against the target.
func (m *pairMeasure) measureArc(arc Arc, r *region) ArcVerdict {
	if arc == ArcPrimaryTurret {
		return m.allRound(arc)
	}
	if m.from.Quarters {
		return ArcVerdict{Arc: arc, InArc: NoView}
	}
	r.area.Lever = m.reach
	gap, nearest := m.Separation(&r.area, m.to), geom.Point{}
	if gap.Val > 0 { // otherwise some part is in the arc
		d, near := m.Shortest(&r.area, m.to, math.Inf(1))
		if gap = m.Apart(d, gap); inArc(gap) != No {
			lines, _ := uncertain.LinesOf(near, d.Val)
			nearest = lines[0][1]
		}
	}
	in := gap.Neg()
	v := ArcVerdict{
		Arc:    arc,
		InArc:  inArc(gap),
		Margin: geom.Length(in.Val),
	}
	v.Sigma = geom.Length(in.Sigma(m.k, in.Val, v.InArc != Indeterminate))
	if v.InArc != No {
		v.Attack = m.attack(r, gap, nearest)
	}
	return v
}

// allRound measures a weapon without a limiting arc: always between the closest points, whether or
// not the target is in an arc (G7, G8). Nothing on the table could change that the target can be
// attacked.
func (m *pairMeasure) allRound(arc Arc) ArcVerdict {
	m.mem.attacks = append(m.mem.attacks, AttackVerdict{RangeVerdict: m.span, DistanceArcStart: geom.Length(max(0, m.direct.Val))})
	v := &m.mem.attacks[len(m.mem.attacks)-1]
	v.BandArcStart = v.Band
	v.Obstruction = m.obstruction(&m.direct)
	return ArcVerdict{Arc: arc, InArc: Yes, Margin: maxObstructionMargin, Attack: v}
}

// region is the area of an arc on the table: convex, unbounded.
type region struct {
	planes []uncertain.HalfPlane
	area   uncertain.Shape // the same
	buf    [uncertain.MaxPlanes]uncertain.HalfPlane
}

// setPlanes makes the half planes behind the area's sides.
func (r *region) setPlanes() {
	r.planes = r.buf[:0]
	for i := range r.area.Edges {
		e := &r.area.Edges[i]
		n := e.Out().Mul(-1)
		r.planes = append(r.planes, uncertain.HalfPlane{N: n, C: n.Dot(e.At)})
	}
}

// wedge makes the area within half of the direction mid (both radians, mid
// clockwise from the nose), its apex at the base's centre.
func (r *region) wedge(f *uncertain.Frame, mid, half geom.Angle) {
	dir := func(a geom.Angle) geom.Point {
		sin, cos := math.Sincos(float64(a))
		return f.Right.Mul(sin).Add(f.Forward.Mul(cos))
	}
	left, right := dir(mid-half), dir(mid+half)
	r.area.SetOpen([]geom.Point{f.At}, []uncertain.Edge{
		{At: f.At, Dir: right, Hi: math.Inf(1)},
		{At: f.At, Dir: left.Mul(-1), Lo: math.Inf(-1)},
	}, left, right)
	r.setPlanes()
}

// half makes the half plane in front of (side 1) or behind (side -1) the middle
// of the base.
func (r *region) half(f *uncertain.Frame, side float64) {
	dir := f.Right.Mul(side)
	r.area.SetOpen(nil, []uncertain.Edge{{At: f.At, Dir: dir, Lo: math.Inf(-1), Hi: math.Inf(1)}},
		dir, dir.Mul(-1), f.Forward.Mul(side))
	r.setPlanes()
}

// strip makes the area of the given width straight ahead of the base's centre.
func (r *region) strip(f *uncertain.Frame, width float64) {
	left, right := f.Table(geom.Point{X: -width / 2}), f.Table(geom.Point{X: width / 2})
	r.area.SetOpen([]geom.Point{left, right}, []uncertain.Edge{
		{At: left, Dir: f.Right, Hi: width},
		{At: right, Dir: f.Forward, Hi: math.Inf(1)},
		{At: left, Dir: f.Forward.Mul(-1), Lo: math.Inf(-1)},
	}, f.Forward)
	r.setPlanes()
}
