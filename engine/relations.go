package engine

import (
	"fmt"

	"sightline/engine/geom"
)

// This file derives what the rules ask from what was measured: at, within and
// beyond a range, in front of and behind a ship, inside an arc at a range.

// Side says on which side of a ship's mid line, the line through the hashmarks on
// the sides of its base, another ship is.
type Side int8

// The sides. The zero value is for editions that know none. The last two are for a ship
// that is too close to the line to call, and for one whose nose is not seen.
const (
	SideNone     Side = iota
	SideInFront       // wholly in front of the mid line
	SideBehind        // wholly behind it
	SideFlanking      // across it
	SideTooClose
	SideNoView
)

var sideNames = [...]string{"", "in_front", "behind", "flanking", "too_close", "no_view"}

// String returns the side's name: "in_front", "behind", "flanking", "too_close", "no_view".
func (s Side) String() string {
	if s < 0 || int(s) >= len(sideNames) {
		return fmt.Sprintf("Side(%d)", int(s))
	}
	return sideNames[s]
}

// Arc returns what was measured of one arc; nil where the ship has none such.
func (p *PairVerdict) Arc(a Arc) *ArcVerdict {
	for i := range p.Arcs {
		if p.Arcs[i].Arc == a {
			return &p.Arcs[i]
		}
	}
	return nil
}

// Side returns on which side of the ship the target is. Arcs are closed, and a
// base that only touches the mid line from one side is not across it.
func (p *PairVerdict) Side() Side {
	front, rear := p.OnlyIn(ArcFullFront), p.OnlyIn(ArcFullRear)
	switch {
	case p.Arc(ArcFullFront) == nil:
		return SideNone
	case front == Yes:
		return SideInFront
	case rear == Yes:
		return SideBehind
	case front == No && rear == No:
		return SideFlanking
	case front == NoView || rear == NoView:
		return SideNoView
	}
	return SideTooClose
}

// OnlyIn reports whether the target is in one full arc of the ship and not in the
// other: what reinforce asks of the attacker, measured from the defender (G66).
// [ArcFullFront] and [ArcFullRear] are the arcs that this can be asked of; there
// is no view of any other.
func (p *PairVerdict) OnlyIn(full Arc) Outcome {
	other := ArcFullRear
	if full == ArcFullRear {
		other = ArcFullFront
	}
	in, out := p.Arc(full), p.Arc(other)
	if in == nil || out == nil || full != ArcFullFront && full != ArcFullRear {
		return NoView
	}
	crosses := out.InArc
	if crosses == Yes && out.Margin <= geom.Tie && out.Sigma == 0 {
		crosses = No // it touches the mid line and does not cross it
	}
	return in.InArc.And(crosses.Not())
}

// At reports whether the range is one of the bands from lo to hi, both included
// (G9–G11, G16).
func (r *RangeVerdict) At(lo, hi int) Outcome {
	some, all := false, true
	for _, b := range r.Possible {
		if lo <= b && b <= hi {
			some = true
		} else {
			all = false
		}
	}
	switch {
	case !some:
		return No
	case all && !r.Outside:
		return Yes
	}
	return Indeterminate
}

// Beyond reports whether no part is at a range up to r (G14, G15).
func (r *RangeVerdict) Beyond(band int) Outcome { return r.At(0, band).Not() }

// At reports whether the target is at a range from lo to hi (G10).
func (p *PairVerdict) At(lo, hi int) Outcome { return p.Range.At(lo, hi) }

// Beyond reports whether the target is beyond a range (G14).
func (p *PairVerdict) Beyond(band int) Outcome { return p.Range.Beyond(band) }

// Within reports whether the target's whole base is within a range (G12, G13).
func (p *PairVerdict) Within(band int) Outcome { return p.Farthest.At(0, band) }

// InArcAt reports whether the target is inside an arc at a range from lo to hi,
// measured inside that arc whatever the weapon: a third quantity after range
// and attack range (G28–G30).
func (p *PairVerdict) InArcAt(a Arc, lo, hi int) Outcome {
	v := p.Arc(a)
	switch {
	case v == nil:
		return NoView
	case v.Attack == nil:
		return v.InArc
	}
	return v.InArc.And(v.Attack.At(lo, hi))
}

// InAnyArc reports whether the target is inside any of the ship's arcs that are
// firing arcs in the first edition (G52, G53). One without a limit does not count.
func (p *PairVerdict) InAnyArc() Outcome {
	in := No
	for i := range p.Arcs {
		if a := &p.Arcs[i]; a.Arc != ArcPrimaryTurret {
			in = in.Not().And(a.InArc.Not()).Not()
		}
	}
	return in
}
