package live

import (
	"fmt"
	"slices"
	"strings"

	"sightline/cmd/internal/sentence"
	"sightline/engine"
)

// Decision says what a judge makes of what was measured, in the words of the record.
type Decision string

// The decisions. A request without one confirms.
const (
	AsMeasured Decision = "as_measured" // the measurement decides, and holds
	Decided    Decision = "decided"     // it leaves something open, and the judge chooses among what is possible
	Overruled  Decision = "overruled"   // something else holds
)

// openQuestion is a question of a pair that the measurement does not decide.
type openQuestion struct {
	Key      string // of Ruled: range, in_arc, obstructed, may_attack
	Name     string // "the range"
	Text     string // what was measured: "range 2 or 3"
	Possible []string
	Reason   string // what may decide it, as a reason to suggest
}

// OpenQuestions lists what is open of the chosen pair: what the measurement does not
// decide, and what matters by what is ruled in its place. Out of the arc there is no attack
// that could be obstructed or forbidden. Where obstacles are not watched there is no such
// question: nothing was measured that could be open.
func OpenQuestions(s *State, r Ruled) []openQuestion {
	if s.Pair == nil {
		return nil
	}
	var out []openQuestion
	a, ok := s.ArcOf()
	attack := ok && a.Attack != nil && a.InArc != engine.No
	if r := &s.Pair.Range; len(rangeValues(r)) > 1 {
		out = append(out, openQuestion{"range", "the range", sentence.Lower(RangeTitle(*r)), rangeValues(r),
			"Measured by hand with the range ruler along the line drawn."})
	} else if attack && len(rangeValues(&a.Attack.RangeVerdict)) > 1 {
		r := &a.Attack.RangeVerdict
		out = append(out, openQuestion{"range", "the attack range", sentence.Lower(RangeTitle(*r)), rangeValues(r),
			"Measured by hand with the range ruler inside the arc."})
	}
	if ok && (a.InArc == engine.Indeterminate || a.InArc == engine.NoView) {
		out = append(out, openQuestion{"in_arc", "the " + ArcName(a.Arc) + " arc", arcText(s), []string{"yes", "no"},
			"Sighted along the printed line of the arc."})
	}
	if !mayAttackThrough(s, r) {
		return out
	}
	if text := obstructionOpen(s, r); text != "" {
		out = append(out, openQuestion{"obstructed", "the obstruction", text, []string{"yes", "no", "choose"},
			"A thread was stretched along the line drawn."})
	}
	if no := s.Restricted("attack"); no != nil && !no.sure() && !answeredByRange(s, no, r) {
		out = append(out, openQuestion{"may_attack", "whether it may attack", no.Text, []string{"yes", "no"},
			"Looked at from the side, base by base."})
	}
	return out
}

// mayAttackThrough reports whether the target may be in the chosen arc, by what is ruled
// and otherwise by what was measured.
func mayAttackThrough(s *State, r Ruled) bool {
	a, ok := s.ArcOf()
	return r.InArc == "yes" || r.InArc != "no" && (!ok || a.InArc != engine.No)
}

// obstructionOpen says why it is open whether an attack is obstructed; "": it is not.
func obstructionOpen(s *State, r Ruled) string {
	scene := &s.Located.Scene
	a, ok := s.ArcOf()
	switch {
	case !ok || !s.ObstaclesWatched || scene.ObstaclesUnseen:
	case a.Attack == nil: // it was measured to be out of the arc, and is ruled to be in it
		if r.InArc == "yes" && len(scene.Obstacles)+len(scene.Unknown)+len(scene.Blind) > 0 {
			return "no line was measured in this arc"
		}
	case a.InArc == engine.No:
	default:
		if o := ObstructionOutcome(a.Attack.Obstruction.Verdict); o == "too_close" || o == "not_watched" {
			return obstructionWords(s)
		}
	}
	return ""
}

// answeredByRange reports whether the range answers a restriction: in 2.0 a target at
// range 0 is none (G73), and in the first edition ships at range 2 are not in contact (G95).
func answeredByRange(s *State, no *Restriction, r Ruled) bool {
	if slices.ContainsFunc(no.Because, func(id string) bool { return id != s.Choice.To }) {
		return false
	}
	rules := s.Located.Scene.Rules
	return rules == engine.Rules20 || rules == engine.Rules1e && r.Range != "" && r.Range != "1"
}

// rangeValues are the bands that fit, as Ruled.Range writes them.
func rangeValues(r *engine.RangeVerdict) (out []string) {
	for _, b := range r.Possible {
		value := fmt.Sprint(b)
		if b > 3 {
			value = "beyond"
		}
		if !slices.Contains(out, value) {
			out = append(out, value)
		}
	}
	return out
}

// left lists the open questions that a ruling does not answer.
func left(s *State, r Ruled) []openQuestion {
	return slices.DeleteFunc(OpenQuestions(s, r), func(q openQuestion) bool { return r.of(q.Key) != "" })
}

// leftText says what a ruling leaves open: "the range (range 2 or 3) and the front arc
// (too close …)".
func leftText(open []openQuestion) string {
	var out []string
	for i := range open {
		out = append(out, open[i].Name+" ("+open[i].Text+")")
	}
	return strings.Join(out, " and ")
}

// checkDecided says what is wrong with a ruling on what the measurement leaves open; "":
// nothing.
func checkDecided(s *State, r *Ruled) string {
	open := OpenQuestions(s, Ruled{})
	if len(open) == 0 {
		return "The measurement leaves nothing open: confirm it as measured, or overrule it."
	}
	for _, known := range questions {
		key, value := known.key, r.of(known.key)
		i := slices.IndexFunc(open, func(q openQuestion) bool { return q.Key == key })
		switch {
		case value == "" || slices.Contains(measuredValues(s, key), value):
		case i < 0:
			return fmt.Sprintf("%s is not open: to rule %q against what was measured is to overrule.", sentence.Upper(known.name), value)
		default:
			return fmt.Sprintf("%s was measured as %s; %q is none of it: that is to overrule.", sentence.Upper(open[i].Name), open[i].Text, value)
		}
	}
	return ""
}

// measuredValues are the values of a question that the measurement allows, as Ruled writes
// them: one where it decides; none where nothing was measured.
func measuredValues(s *State, key string) []string {
	open := OpenQuestions(s, Ruled{})
	if i := slices.IndexFunc(open, func(q openQuestion) bool { return q.Key == key }); i >= 0 {
		return open[i].Possible
	}
	a, ok := s.ArcOf()
	switch {
	case s.Pair == nil:
	case key == "range" && attackDiffers(s) == "":
		return rangeValues(&s.Pair.Range)
	case key == "in_arc" && ok:
		return []string{a.InArc.String()}
	case key == "obstructed" && ok && a.Attack != nil && s.ObstaclesWatched:
		return []string{map[string]string{"never": "no", "must": "yes", "may": "choose"}[a.Attack.Obstruction.Verdict]}
	case key == "may_attack":
		return mayAttackValues(s)
	}
	return nil
}

// mayAttackValues are those of whether the rules let the attacker attack.
func mayAttackValues(s *State) []string {
	switch no := s.Restricted("attack"); {
	case no == nil:
		return []string{"yes"}
	case no.sure():
		return []string{"no"}
	}
	return []string{"yes", "no"}
}

// SuggestedReasons are reasons for a ruling on what is open, the usual one first. judge is
// who rules; "" where it was not said.
func SuggestedReasons(open []openQuestion, judge string) []string {
	out := []string{}
	if len(open) == 0 {
		return out
	}
	first := "Too close to measure; ruled by the judge."
	if judge != "" {
		first = "Too close to measure; ruled by " + judge + "."
	}
	out = append(out, first)
	for i := range open {
		out = append(out, open[i].Reason)
	}
	return out
}
