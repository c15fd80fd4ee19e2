package live

import (
	"fmt"
	"slices"
	"strings"

	"sightline/cmd/internal/sentence"
	"sightline/engine"
)

// RulingText words a ruling as a sentence: what is ruled, what was measured if that differs,
// who ruled and why.
func RulingText(r *Ruling) string {
	how := "as measured"
	switch r.Decision {
	case Overruled:
		how = "against what was measured (" + sentence.Lower(r.Measured) + ")"
	case Decided:
		how = "where the measurement does not decide (" + sentence.Lower(r.Measured) + ")"
	}
	text := fmt.Sprintf("%s to %s: %s; ruled %s", named(r.From, r.Pilots[0]), named(r.To, r.Pilots[1]), sentence.Lower(r.Title), how)
	if r.Judge != "" {
		text += " by " + r.Judge
	}
	text += "."
	if r.Reason != "" {
		text += " Reason: " + r.Reason
	}
	return text
}

// MeasuredTitle words what was measured of the chosen pair.
func MeasuredTitle(s *State) string {
	if s.Pair == nil {
		return "No answer: " + s.Reason
	}
	parts := append(answerParts(s), forbiddenBy(s, Ruled{}))
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), ", ")
}

// RuledText words the ruled answer to a question.
func RuledText(s *State, key, value string) string {
	arc := arcName(s.Choice.Arc)
	switch key + " " + value {
	case "range 0":
		return "Contact (range 0)"
	case "range beyond":
		return "Beyond range 3"
	case "in_arc yes":
		return "in the " + arc + " arc"
	case "in_arc no":
		return "not in the " + arc + " arc"
	case "obstructed yes":
		return "obstructed"
	case "obstructed no":
		return "not obstructed"
	case "obstructed choose":
		return "the attacker may choose a clear line"
	case "may_attack yes":
		return "it may attack"
	case "may_attack no":
		return "it may not attack"
	}
	return "Range " + value
}

// answerParts returns the answers on range, arc and obstruction in a few words each.
func answerParts(s *State) []string {
	w := s.Text()
	return []string{w.Title + attackDiffers(s), w.InArc, w.Obstruction}
}

// attackDiffers names the attack range where it differs from the range.
func attackDiffers(s *State) string {
	a, ok := s.ArcOf()
	if !ok || a.Attack == nil || RangeTitle(a.Attack.RangeVerdict) == RangeTitle(s.Pair.Range) {
		return ""
	}
	return " (attack: " + sentence.Lower(RangeTitle(a.Attack.RangeVerdict)) + ")"
}

// ruledTitle words what holds after a ruling; what it does not answer is as measured.
func ruledTitle(s *State, r Ruled) string {
	parts := make([]string, 3)
	if s.Pair != nil {
		parts = answerParts(s)
	}
	for i := range parts {
		if key := questions[i].key; r.value(key) != "" {
			parts[i] = RuledText(s, key, r.value(key))
		}
	}
	if s.Pair != nil && r.Range != "" && len(rangeValues(&s.Pair.Range)) == 1 &&
		slices.ContainsFunc(OpenQuestions(s, r), func(q OpenQuestion) bool { return q.Key == "range" }) {
		parts[0] = RangeTitle(s.Pair.Range) + " (attack: " + sentence.Lower(RuledText(s, "range", r.Range)) + ")"
	}
	a, ok := s.ArcOf()
	switch {
	case r.Obstructed != "":
	case r.InArc == "no":
		parts[2] = ""
	case r.InArc == "yes" && ok && a.Attack == nil && s.ObstaclesWatched && !s.Located.Scene.ObstaclesUnseen:
		parts[2] = "no obstacle on the line" // else it is an open question, and answered
	}
	parts = append(parts, forbiddenBy(s, r))
	parts = slices.DeleteFunc(parts, func(part string) bool { return part == "" })
	return sentence.Upper(strings.Join(parts, ", "))
}

// forbiddenBy words what the rules forbid, as ruled or else as measured; "": nothing. A doubtful
// restriction does not matter outside the arc.
func forbiddenBy(s *State, r Ruled) string {
	no := s.Restricted("attack")
	switch {
	case r.MayAttack != "":
		return RuledText(s, "may_attack", r.MayAttack)
	case r.InArc == "no":
		return ""
	case r.Range == "0" && s.Located.Scene.Rules == engine.Rules20:
		return "no attack: the target is at range 0 (2.0 G73)"
	case no == nil, r.Range != "" && answeredByRange(s, no, r):
		return ""
	case !no.certain() && !mayAttackThrough(s, r):
		return ""
	}
	return no.Text
}
