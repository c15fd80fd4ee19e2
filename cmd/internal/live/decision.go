package live

import (
	"fmt"
	"slices"
	"strings"

	"sightline/cmd/internal/sentence"
	"sightline/engine"
)

// Decision says how a ruling relates to the measurement. The values are those of the record.
type Decision string

// The decisions. A request without one confirms.
const (
	AsMeasured Decision = "as_measured" // the measurement decides, and is confirmed
	Decided    Decision = "decided"     // the measurement leaves something open, and the judge chooses a possible value
	Overruled  Decision = "overruled"   // the judge rules something else
)

// OpenQuestion is a question of a pair that the measurement does not decide.
type OpenQuestion struct {
	Key      string // of Ruled: range, in_arc, obstructed, may_attack
	Name     string // "the range"
	Text     string // what was measured: "range 2 or 3"
	Possible []string
	Reason   string // suggested: how the judge may have decided it
}

// OpenQuestions lists the questions of the chosen pair that the measurement does not decide
// and that still matter given what is ruled. Out of the arc, no attack can be obstructed or
// forbidden; and an obstruction that was not measured, since obstacles are not watched, is
// not an open question.
func OpenQuestions(s *State, r Ruled) []OpenQuestion {
	if s.Pair == nil {
		return nil
	}
	var out []OpenQuestion
	a, ok := s.ArcOf()
	attack := ok && a.Attack != nil && a.InArc != engine.No
	if r := &s.Pair.Range; len(rangeValues(r)) > 1 {
		out = append(out, OpenQuestion{"range", "the range", sentence.Lower(RangeTitle(*r)), rangeValues(r),
			"Measured by hand with the range ruler along the line drawn."})
	} else if attack && len(rangeValues(&a.Attack.RangeVerdict)) > 1 {
		r := &a.Attack.RangeVerdict
		out = append(out, OpenQuestion{"range", "the attack range", sentence.Lower(RangeTitle(*r)), rangeValues(r),
			"Measured by hand with the range ruler inside the arc."})
	}
	if ok && (a.InArc == engine.Indeterminate || a.InArc == engine.NoView) {
		out = append(out, OpenQuestion{"in_arc", "the " + arcName(a.Arc) + " arc", arcText(s), []string{"yes", "no"},
			"Sighted along the printed line of the arc."})
	}
	if !mayAttackThrough(s, r) {
		return out
	}
	if text := obstructionOpen(s, r); text != "" {
		out = append(out, OpenQuestion{"obstructed", "the obstruction", text, []string{"yes", "no", "choose"},
			"A thread was stretched along the line drawn."})
	}
	if no := s.Restricted("attack"); no != nil && !no.certain() && !answeredByRange(s, no, r) {
		out = append(out, OpenQuestion{"may_attack", "whether it may attack", no.Text, []string{"yes", "no"},
			"Looked at from the side, base by base."})
	}
	return out
}

// mayAttackThrough reports whether the target may be in the chosen arc, as ruled or else as
// measured.
func mayAttackThrough(s *State, r Ruled) bool {
	a, ok := s.ArcOf()
	return r.InArc == "yes" || r.InArc != "no" && (!ok || a.InArc != engine.No)
}

// obstructionOpen says why it is open whether an attack is obstructed; "" when it is not.
func obstructionOpen(s *State, r Ruled) string {
	scene := &s.Located.Scene
	a, ok := s.ArcOf()
	switch {
	case !ok || !s.ObstaclesWatched || scene.ObstaclesUnseen:
	case a.Attack == nil: // measured out of the arc, and ruled into it
		if r.InArc == "yes" && len(scene.Obstacles)+len(scene.Unknown)+len(scene.Blind) > 0 {
			return "no line was measured in this arc"
		}
	case a.InArc == engine.No:
	default:
		if o := ObstructionOutcome(a.Attack.Obstruction.Verdict); o == "too_close" || o == "not_watched" {
			return obstacleText(s)
		}
	}
	return ""
}

// answeredByRange reports whether a ruled range also answers a restriction: in 2.0 a ship at
// range 0 is no target (G73), and in the first edition ships at range 2 are not in contact (G95).
func answeredByRange(s *State, no *Restriction, r Ruled) bool {
	if slices.ContainsFunc(no.Because, func(id string) bool { return id != s.Choice.To }) {
		return false
	}
	rules := s.Located.Scene.Rules
	return rules == engine.Rules20 || rules == engine.Rules1e && r.Range != "" && r.Range != "1"
}

// rangeValues returns the possible bands as values of Ruled.Range.
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

// remainingQuestions lists the open questions that a ruling does not answer.
func remainingQuestions(s *State, r Ruled) []OpenQuestion {
	return slices.DeleteFunc(OpenQuestions(s, r), func(q OpenQuestion) bool { return r.value(q.Key) != "" })
}

// remainingText words open questions: "the range (range 2 or 3) and the front arc (too
// close …)".
func remainingText(open []OpenQuestion) string {
	var out []string
	for i := range open {
		out = append(out, open[i].Name+" ("+open[i].Text+")")
	}
	return strings.Join(out, " and ")
}

// checkDecided says what is wrong with a ruling that decides open questions; "" when nothing
// is.
func checkDecided(s *State, r *Ruled) string {
	open := OpenQuestions(s, Ruled{})
	if len(open) == 0 {
		return "The measurement leaves nothing open: confirm it as measured, or overrule it."
	}
	for _, known := range questions {
		key, value := known.key, r.value(known.key)
		i := slices.IndexFunc(open, func(q OpenQuestion) bool { return q.Key == key })
		switch {
		case value == "" || slices.Contains(measuredValues(s, key), value):
		case i < 0:
			return fmt.Sprintf("%s is not open: ruling %q against the measurement means overruling it.", sentence.Upper(known.name), value)
		default:
			return fmt.Sprintf("%s was measured as %s, which excludes %q: ruling that means overruling it.",
				sentence.Upper(open[i].Name), open[i].Text, value)
		}
	}
	return ""
}

// measuredValues returns the values of a question that the measurement allows: one where it
// decides, none where nothing was measured.
func measuredValues(s *State, key string) []string {
	open := OpenQuestions(s, Ruled{})
	if i := slices.IndexFunc(open, func(q OpenQuestion) bool { return q.Key == key }); i >= 0 {
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

// mayAttackValues returns those of the question whether the attacker may attack.
func mayAttackValues(s *State) []string {
	switch no := s.Restricted("attack"); {
	case no == nil:
		return []string{"yes"}
	case no.certain():
		return []string{"no"}
	}
	return []string{"yes", "no"}
}

// SuggestedReasons returns reasons for a ruling on open questions, the usual one first. judge
// may be "".
func SuggestedReasons(open []OpenQuestion, judge string) []string {
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
