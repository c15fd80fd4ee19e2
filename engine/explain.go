package engine

import (
	"fmt"
	"strings"

	"sightline/engine/geom"
	"sightline/engine/internal/pieces"
)

// This file puts verdicts into words: one sentence with the numbers that decided and
// the rule behind it. A rule is named by the edition and its number in the
// project's list of geometric rules, G1 to G237.

// RangeRule returns the rule that a range between two objects follows.
func RangeRule(r Rules, contact Outcome) string {
	switch {
	case contact == Yes:
		return rulesOf(r, "G19", "G17")
	case r == Rules1e:
		return "1e G2 G10"
	}
	return r.String() + " G16"
}

// Rule returns the rule that decides whether something is in an arc.
func (a Arc) Rule(r Rules) string {
	number := "G59"
	switch a {
	case ArcFullFront, ArcFullRear:
		number = "G60"
	case ArcTurret:
		number = "G61"
	case ArcDoubleTurret:
		number = "G62"
	case ArcBullseye:
		number = "G64"
	case ArcPrimaryTurret:
		number = "G50"
	case ArcRearAux, ArcFullFront180, ArcMobile:
		number = "G47"
	default:
		if r == Rules1e {
			number = "G45"
		}
	}
	return r.String() + " " + number
}

// AttackRule returns the rule that an attack range in an arc follows.
func AttackRule(r Rules, a Arc) string {
	if a == ArcPrimaryTurret {
		return r.String() + " G7 G8"
	}
	return rulesOf(r, "G3", "G4")
}

// ObstructionRule returns the rule of obstructed attacks.
func ObstructionRule(r Rules) string { return rulesOf(r, "G34 G36", "G37") }

// Explain says a pair's range in one sentence.
func (p *PairVerdict) Explain(r Rules) string {
	return fmt.Sprintf("%s to %s: %s (%s).", p.From, p.To, p.Range.words(p.Contact), RangeRule(r, p.Contact))
}

// Explain says in one sentence whether an object is at a range of a ship or
// overlaps it.
func (o *ObjectVerdict) Explain(r Rules) string {
	overlap := ""
	switch o.Overlap {
	case Yes:
		overlap = "; the ship overlaps it"
	case Indeterminate:
		overlap = "; whether the ship overlaps it is too close to call"
	}
	return fmt.Sprintf("%s to %s: %s%s (%s).", o.From, o.To, o.Range.words(o.Contact), overlap, RangeRule(r, o.Contact))
}

// words says a range: "range 3: 213.40 ± 0.21 mm from (457.2, 140.0) to …".
func (v *RangeVerdict) words(contact Outcome) string {
	var b strings.Builder
	switch {
	case v.Outcome == Yes:
		fmt.Fprintf(&b, "range %d", v.Band)
	case v.Outside:
		b.WriteString("too close to call whether any of it lies in the play area; ")
		if len(v.Possible) == 1 {
			fmt.Fprintf(&b, "if so, range %d", v.Band)
		} else {
			fmt.Fprintf(&b, "if so, ranges %d to %d", v.Possible[0], v.Possible[len(v.Possible)-1])
		}
	default:
		fmt.Fprintf(&b, "too close to call between ranges %d and %d", v.Possible[0], v.Possible[len(v.Possible)-1])
	}
	if contact == Yes {
		return b.String() + ", " + ContactWords(v.Distance)
	}
	fmt.Fprintf(&b, ": %s", measuredWords(v.Distance, v.Sigma))
	if len(v.Lines) > 0 {
		l := v.Lines[0]
		fmt.Fprintf(&b, " from (%.1f, %.1f) to (%.1f, %.1f)", l[0].X, l[0].Y, l[1].X, l[1].Y)
	}
	if len(v.Lines) > 1 {
		b.WriteString(" and any line beside it up to the other end of the parallel sides")
	}
	fmt.Fprintf(&b, ", %.2f mm from another range", v.Margin.Millimeters())
	switch {
	case contact == Indeterminate && v.Outcome == Yes: // of the first edition, where contact is range 1
		b.WriteString("; whether they are in contact is too close to call")
	case contact == Indeterminate && v.Distance > v.Margin+pieces.ContactTie:
		b.WriteString("; the guides may touch")
	}
	return b.String()
}

func measuredWords(d, sigma geom.Length) string {
	if sigma == 0 {
		return fmt.Sprintf("%.2f mm", d.Millimeters())
	}
	return fmt.Sprintf("%.2f ± %.2f mm", d.Millimeters(), sigma.Millimeters())
}

// Explain says in one sentence whether the target is in an arc of the ship, and
// how far it is inside the arc.
func (a *ArcVerdict) Explain(r Rules, p *PairVerdict) string {
	name := strings.ReplaceAll(a.Arc.String(), "_", " ")
	if a.Arc == ArcPrimaryTurret {
		return fmt.Sprintf("%s may be aimed at whether or not it is in an arc; %s (%s).", p.To, a.Attack.words(p.Contact), AttackRule(r, a.Arc))
	}
	if a.InArc == NoView {
		return fmt.Sprintf("whether %s is in the %s arc of %s cannot be seen: %s shows its edges, which are the same on all sides, and "+
			"not its nose (%s).", p.To, name, p.From, p.From, a.Arc.Rule(r))
	}
	in := "is in"
	switch a.InArc {
	case No:
		in = "is not in"
	case Indeterminate:
		in = "is too close to the edge to say whether it is in"
	}
	margin := a.Margin
	if margin < 0 {
		margin = -margin
	}
	text := fmt.Sprintf("%s %s the %s arc of %s, by %s (%s)", p.To, in, name, p.From, measuredWords(margin, a.Sigma), a.Arc.Rule(r))
	if at := a.Attack; at != nil {
		text += fmt.Sprintf("; attack %s (%s)", at.words(at.contact(p)), AttackRule(r, a.Arc))
		if at.Band != at.BandArcStart {
			text += fmt.Sprintf("; starting on the part of the base in the arc it would be %.2f mm and range %d",
				at.DistanceArcStart.Millimeters(), at.BandArcStart)
		}
		if at.ContactElsewhere(p) && r != Rules1e {
			text += "; the two are in contact outside the arc, where the attack range is not measured"
		}
	}
	return text + "."
}

// ContactElsewhere reports whether the two ships touch, though the attack is surely at
// range 1 or more: where they touch is not in the arc. They are at range 0 of one another
// nevertheless. The attack range is measured to the part of the target in the arc (G4).
func (v *AttackVerdict) ContactElsewhere(p *PairVerdict) bool {
	return p.Contact == Yes && v.Possible[0] > 0
}

// contact returns what is known of contact inside the arc of an attack.
func (v *AttackVerdict) contact(p *PairVerdict) Outcome {
	switch {
	case p.Contact == No || v.Possible[0] > 0 && v.Distance > p.Range.Distance+geom.Tie:
		return No
	case v.Outcome != Yes:
		return Indeterminate
	}
	return p.Contact
}

// Explain says in one sentence whether an attack is obstructed.
func (o *ObstructionVerdict) Explain(r Rules) string {
	by := strings.Join(o.By, ", ")
	var text string
	switch o.Verdict {
	case "never":
		text = fmt.Sprintf("Not obstructed: every permitted line keeps %s clear of all obstacles", measuredWords(o.Margin, o.Sigma))
		if o.Margin >= maxObstructionMargin {
			text = "Not obstructed: no obstacle is anywhere near the line"
		}
	case "must":
		text = fmt.Sprintf("Obstructed by %s: every permitted line passes through, at least %s deep", by, measuredWords(o.Margin, o.Sigma))
	case "may":
		text = fmt.Sprintf("The attacker chooses: some permitted lines pass through %s and some do not; %s would change that", by,
			measuredWords(o.Margin, o.Sigma))
	default:
		text = fmt.Sprintf("Too close to call whether the line passes through %s, within %.2f mm", by, o.Margin.Millimeters())
	}
	if on := append(append([]string(nil), o.Ships...), o.Devices...); len(on) > 0 {
		text += fmt.Sprintf("; on the line without effect: %s", strings.Join(on, ", "))
	}
	return fmt.Sprintf("%s (%s).", text, ObstructionRule(r))
}

// Explain says in one sentence what a ship may not do where it stands.
func (b *Restriction) Explain(ship string) string {
	may := map[Outcome]string{Yes: "may not", Indeterminate: "perhaps may not (too close to call)",
		NoView: "perhaps may not (it cannot be seen)"}[b.Outcome]
	target := ""
	if b.Target != "" {
		target = " " + b.Target
	}
	return fmt.Sprintf("%s %s %s%s: %s (%s; %s).", ship, may, b.Act, target, b.Why, b.Because, b.Rule)
}

// Words says in a few words what may not be done and why: "no attack: at range 0 of an
// asteroid, rock1 (2.5 G178)". What is not sure begins with "perhaps".
func (b *Restriction) Words() string {
	no := map[Outcome]string{Yes: "no %s", Indeterminate: "perhaps no %s, too close to call",
		NoView: "perhaps no %s, it cannot be seen"}[b.Outcome]
	because := ""
	if b.Because != b.Target {
		because = ", " + b.Because
	}
	return fmt.Sprintf(no+": %s%s (%s)", b.Act, b.Why, because, b.Rule)
}

// Rule returns the rule behind a problem; "" where it is none of the rules'.
func (p *Problem) Rule(r Rules) string {
	switch {
	case p.Problem == "outside the play area":
		return rulesOf(r, "G197", "G200")
	case strings.HasPrefix(p.Problem, overlaps):
		return rulesOf(r, "G103", "G106")
	}
	return ""
}
