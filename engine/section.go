package engine

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"sightline/engine/geom"
	"sightline/engine/internal/pieces"
)

// ErrNoSections is the error for a ship without sections.
var ErrNoSections = errors.New("only huge ships of the first edition have sections")

// Section is a half of a huge ship of the first edition: its firing arc divides
// its token (G54). The fore section is the front plastic base and what of the token
// is in the arc, the aft section the rear plastic base and the rest of the token:
//
//	+---------+
//	|  front  |  fore
//	|  base   |
//	+--\ f /--+  the token bridges the two bases
//	|   \ /   |  aft, but for the arc
//	+---------+
//	|  rear   |  aft
//	|  base   |
//	+---------+
type Section int

// The sections.
const (
	Fore Section = iota
	Aft
)

// String returns "fore" or "aft".
func (s Section) String() string {
	switch s {
	case Fore:
		return "fore"
	case Aft:
		return "aft"
	}
	return fmt.Sprintf("Section(%d)", int(s))
}

// SectionVerdict is what is measured from a ship to one section of a huge ship: as
// to a ship of that outline.
type SectionVerdict struct {
	Section Section
	Range   RangeVerdict
	Contact Outcome
	Arcs    []ArcVerdict
}

// HasSections reports whether a ship is divided into sections in an edition.
func HasSections(r Rules, s *Ship) bool {
	return r == Rules1e && s.Base.Huge() && !s.Quarters // else it is not known which is fore
}

// SectionOutlines returns the convex pieces that a section of a huge ship is made
// of, in the ship's own frame. Each has four corners, as a base has; one of them may
// lie on a side.
func SectionOutlines(p *Profile, s *Ship, section Section) [][]geom.Point {
	w, l := p.Size(s.Base)
	x, y := float64(w)/2, float64(l)/2
	in := max(0, y-float64(p.HugePlastic)) // the bridge runs from -in to in
	bridge := []geom.Point{{X: x, Y: in}, {X: -x, Y: in}, {X: -x, Y: -in}, {X: x, Y: -in}}
	sin, cos := math.Sincos(float64(sectionAngle(p, s)))
	right, left := geom.Point{X: -cos, Y: sin}, geom.Point{X: cos, Y: sin} // into the arc from its edges
	var parts [][]geom.Point
	add := func(q []geom.Point, inward ...geom.Point) {
		for _, n := range inward {
			q = pieces.Clip(q, n, 0)
		}
		if len(q) > 2 && geom.Polygon(q).Area() > geom.Tie {
			parts = append(parts, quads(q)...)
		}
	}
	if section == Fore {
		add([]geom.Point{{X: x, Y: y}, {X: -x, Y: y}, {X: -x, Y: in}, {X: x, Y: in}})
		add(bridge, right, left)
		return parts
	}
	add([]geom.Point{{X: x, Y: -in}, {X: -x, Y: -in}, {X: -x, Y: -y}, {X: x, Y: -y}})
	add(bridge, right.Mul(-1))
	add(bridge, left.Mul(-1))
	return parts
}

// sectionAngle returns the half angle of the arc that divides a token: the one that
// it prints, or the standard one.
func sectionAngle(p *Profile, s *Ship) geom.Angle {
	for _, a := range [...]struct {
		arc  Arc
		half geom.Angle
	}{{ArcFullFront180, 90}, {ArcFront136, 68}, {ArcFront106, 53}, {ArcFront90, 45}} {
		if slices.Contains(s.Arcs, a.arc.String()) {
			return a.half * geom.Degree
		}
	}
	return p.HalfAngle(Rules1e, s.Base)
}

// quads cuts a convex polygon into parts of four corners; of a triangle, one is the
// middle of a side.
func quads(q []geom.Point) [][]geom.Point {
	var all [][]geom.Point
	for ; len(q) >= 4; q = append([]geom.Point{q[0]}, q[3:]...) {
		all = append(all, append([]geom.Point(nil), q[:4]...))
	}
	if len(q) == 3 {
		all = append(all, []geom.Point{q[0], q[1], q[2], q[2].Lerp(q[0], 0.5)})
	}
	return all
}

// MeasureSections measures from a ship to both sections of a huge ship. The error
// is [ErrNoShip] for a ship that is not there and [ErrNoSections] for a target that
// is not divided.
func MeasureSections(s *Scene, from, to string, o Options) ([]SectionVerdict, error) {
	profile, err := s.dimensions()
	if err != nil {
		return nil, fmt.Errorf("engine: %w", err)
	}
	target := s.Ship(to)
	if target != nil && !HasSections(s.Rules, target) {
		return nil, fmt.Errorf("engine: sections of %q: %w", to, ErrNoSections)
	}
	var all []SectionVerdict
	for section := Fore; section <= Aft; section++ {
		v := SectionVerdict{Section: section}
		var pieces [][]geom.Point
		if target != nil {
			pieces = SectionOutlines(&profile, target, section)
		} else {
			pieces = [][]geom.Point{nil} // MeasurePair returns the error
		}
		for i, piece := range pieces {
			part := *s
			part.Ships = slices.Clone(s.Ships)
			for j := range part.Ships {
				if part.Ships[j].ID == to {
					part.Ships[j].part = piece
				}
			}
			p, err := MeasurePair(&part, from, to, o)
			if err != nil {
				return nil, err
			}
			if i == 0 {
				v.Range, v.Contact, v.Arcs = p.Range, p.Contact, slices.Clone(p.Arcs)
				continue
			}
			v.join(&p)
		}
		all = append(all, v)
	}
	return all, nil
}

// join takes another piece of the section into account.
func (v *SectionVerdict) join(p *PairVerdict) {
	v.Range = nearer(v.Range, p.Range)
	v.Contact = v.Contact.Or(p.Contact)
	for i := range v.Arcs {
		a, b := &v.Arcs[i], &p.Arcs[i]
		if b.Margin > a.Margin {
			a.Margin, a.Sigma = b.Margin, b.Sigma
		}
		a.InArc = a.InArc.Or(b.InArc)
		switch {
		case b.Attack == nil:
		case a.Attack == nil:
			a.Attack = b.Attack
		default:
			a.Attack = nearerAttack(a.Attack, b.Attack)
		}
	}
}

// nearer returns the range to the nearer of two things. It is in a band when the
// nearer one is. It may be in any band from the lowest possible one of either to the
// lower of their highest.
func nearer(a, b RangeVerdict) RangeVerdict {
	if b.Distance < a.Distance {
		a, b = b, a
	}
	lo := min(a.Possible[0], b.Possible[0])
	hi := min(a.Possible[len(a.Possible)-1], b.Possible[len(b.Possible)-1])
	if lo < a.Possible[0] { // the further one may be the nearer and in a lower band
		a.Margin, a.Sigma = b.Margin, b.Sigma
	}
	if math.Abs(float64(a.Distance-b.Distance)) < geom.Tie {
		a.Lines = outermost(append(slices.Clone(a.Lines), b.Lines...))
	}
	a.Possible = nil
	for band := lo; band <= hi; band++ {
		a.Possible = append(a.Possible, band)
	}
	if a.Outcome = Indeterminate; lo == hi {
		a.Outcome = Yes
	}
	return a
}

// outermost keeps the two of some parallel lines that are furthest apart, and one
// line where all are the same.
func outermost(lines []geom.Line) []geom.Line {
	best, a, b := geom.Tie, lines[0], geom.Line{}
	two := false
	for i, l := range lines {
		for _, k := range lines[:i] {
			if d := l[1].Sub(k[1]).Norm() + l[0].Sub(k[0]).Norm(); d > best {
				best, a, b, two = d, k, l, true
			}
		}
	}
	if !two {
		return []geom.Line{a}
	}
	return []geom.Line{a, b}
}

// nearerAttack returns the attack range to the nearer of two pieces of one section.
// Where either may be the nearer and what stands on the lines differs, the attacker
// may choose between lines of the same length; otherwise it is too close to call.
func nearerAttack(a, b *AttackVerdict) *AttackVerdict {
	if b.Distance < a.Distance {
		a, b = b, a
	}
	v := *a
	v.RangeVerdict = nearer(a.RangeVerdict, b.RangeVerdict)
	apart := float64(b.Distance - a.Distance)
	both := apart < geom.Tie || apart < DefaultSigmas*float64(a.Sigma+b.Sigma)
	if !both {
		return &v
	}
	v.DistanceArcStart = min(a.DistanceArcStart, b.DistanceArcStart)
	v.BandArcStart = min(a.BandArcStart, b.BandArcStart)
	x, y := &a.Obstruction, &b.Obstruction
	o := &v.Obstruction
	if y.Margin < x.Margin {
		o.Margin, o.Sigma = y.Margin, y.Sigma
	}
	o.By, o.Ships, o.Devices = union(x.By, y.By), union(x.Ships, y.Ships), union(x.Devices, y.Devices)
	switch unseen := NoView.String(); {
	case x.Verdict == y.Verdict:
	case x.Verdict == unseen || y.Verdict == unseen:
		o.Verdict, o.Margin, o.Sigma = unseen, 0, 0
	default:
		if o.Verdict = "may"; apart >= geom.Tie || x.Verdict == "too_close" || y.Verdict == "too_close" {
			o.Verdict, o.Sigma = "too_close", max(o.Sigma, o.Margin)
		}
	}
	return &v
}

func union(a, b []string) []string {
	all := slices.Clone(a)
	for _, s := range b {
		if !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return all
}
