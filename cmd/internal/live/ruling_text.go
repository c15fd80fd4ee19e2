package live

import (
	"fmt"
	"slices"
	"strings"

	"sightline/cmd/internal/sentence"
	"sightline/engine"
)

// RulingText says a ruling as a sentence: what holds, what was measured when that is
// something else, who ruled and why.
func RulingText(r *Ruling) string {
	how := "as measured"
	switch r.Decision {
	case Overruled:
		how = "against what was measured (" + sentence.Lower(r.Measured) + ")"
	case Decided:
		how = "where the measurement does not decide (" + sentence.Lower(r.Measured) + ")"
	}
	text := fmt.Sprintf("%s to %s: %s; ruled %s", r.From, r.To, sentence.Lower(r.Title), how)
	if r.Judge != "" {
		text += " by " + r.Judge
	}
	text += "."
	if r.Reason != "" {
		text += " Reason: " + r.Reason
	}
	return text
}

// MeasuredTitle says in a few words what was measured of the chosen pair.
func MeasuredTitle(v *State) string {
	if v.Pair == nil {
		return "No answer: " + v.Reason
	}
	parts := append(answerParts(v), forbiddenBy(v, Ruled{}))
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ", ")
}

// RuledText says what is ruled on a question.
func RuledText(v *State, key, value string) string {
	arc := ArcName(v.Choice.Arc)
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

// answerParts are the answers to the chosen pair's questions in a few words: the range,
// the arc and the obstruction.
func answerParts(v *State) []string {
	w := v.Text()
	return []string{w.Title + attackDiffers(v), w.InArc, w.Obstruction}
}

// attackDiffers names the attack range where it is not the range.
func attackDiffers(v *State) string {
	a, ok := v.ArcOf()
	if !ok || a.Attack == nil || RangeTitle(a.Attack.RangeVerdict) == RangeTitle(v.Pair.Range) {
		return ""
	}
	return " (attack: " + sentence.Lower(RangeTitle(a.Attack.RangeVerdict)) + ")"
}

// ruledTitle says in a few words what holds by a ruling; what it leaves out is as measured.
func ruledTitle(v *State, r Ruled) string {
	parts := make([]string, 3)
	if v.Pair != nil {
		parts = answerParts(v)
	}
	for i := range parts {
		if key := questions[i].key; r.of(key) != "" {
			parts[i] = RuledText(v, key, r.of(key))
		}
	}
	if v.Pair != nil && r.Range != "" && len(rangeValues(&v.Pair.Range)) == 1 &&
		slices.ContainsFunc(OpenQuestions(v, r), func(q openQuestion) bool { return q.Key == "range" }) {
		parts[0] = RangeTitle(v.Pair.Range) + " (attack: " + sentence.Lower(RuledText(v, "range", r.Range)) + ")"
	}
	a, ok := v.ArcOf()
	switch {
	case r.Obstructed != "":
	case r.InArc == "no":
		parts[2] = ""
	case r.InArc == "yes" && ok && a.Attack == nil && v.ObstaclesWatched && !v.Located.Scene.ObstaclesUnseen:
		parts[2] = "no obstacle on the line" // else it is an open question, and ruled
	}
	parts = append(parts, forbiddenBy(v, r))
	parts = slices.DeleteFunc(parts, func(s string) bool { return s == "" })
	return sentence.Upper(strings.Join(parts, ", "))
}

// forbiddenBy says what the rules forbid by a ruling, or perhaps forbid by what was measured
// where nothing is ruled; "": nothing. What they perhaps forbid does not matter out of the arc.
func forbiddenBy(v *State, r Ruled) string {
	no := v.Restricted("attack")
	switch {
	case r.MayAttack != "":
		return RuledText(v, "may_attack", r.MayAttack)
	case r.InArc == "no":
		return ""
	case r.Range == "0" && v.Located.Scene.Rules == engine.Rules20:
		return "no attack: the target is at range 0 (2.0 G73)"
	case no == nil, r.Range != "" && answeredByRange(v, no, r):
		return ""
	case !no.sure() && !mayAttackThrough(v, r):
		return ""
	}
	return no.Text
}
