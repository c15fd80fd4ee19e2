package live

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"sightline/cmd/internal/sentence"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/hardware"
)

// Verdict is one question about a pair and its answer, with its figures.
type Verdict struct {
	Key     string // range, may_attack, front, front_attack, front_obstruction …
	Name    string // "Range", "In the front arc"
	Arc     string // "" of the range
	Outcome string // yes, no, too_close, no_view; for an obstruction also choose
	Title   string
	Text    string // a sentence with the figures
	Decide  string // what would decide it; "" when it is decided

	Distance, Sigma, Need *geom.Length // nil: not measured; Need is the margin that decides
	Margin                geom.Length

	By, Ships []string // the obstacles and ships that cause it
	Lines     []geom.Line
	Rules     []string // "2.5 G178"
}

// Verdicts lists what was measured of the chosen pair: the range, restrictions, then each arc
// with its attack range and obstruction, the chosen arc first.
func (s *State) Verdicts() (out []Verdict) {
	p := s.Pair
	if p == nil {
		return nil
	}
	r := s.Located.Scene.Rules
	out = append(out, s.rangeVerdict("range", "Range", "", &p.Range, p.Explain(r), engine.RangeRule(r, p.Contact)))
	for _, act := range []string{"attack", "lock"} {
		if no := s.Restricted(act); no != nil {
			out = append(out, no.verdict(act))
		}
	}
	var others []Verdict
	for i := range p.Arcs {
		if a := &p.Arcs[i]; a.Arc == s.Choice.Arc {
			out = append(out, s.arcVerdicts(a)...)
		} else {
			others = append(others, s.arcVerdicts(a)...)
		}
	}
	return append(out, others...)
}

// verdict returns a restriction on an act as a verdict.
func (r *Restriction) verdict(act string) Verdict {
	out := Verdict{
		Key: "may_" + act, Name: "May it " + act, Outcome: r.Outcome.String(), Title: "Perhaps not", Text: sentence.Upper(r.Text) + ".",
		By: r.Because, Rules: r.Rules,
	}
	switch {
	case r.certain():
		out.Outcome, out.Title = engine.No.String(), "No "+act
	case r.Outcome == engine.NoView:
		out.Decide = "The measurement cannot answer this: ask what " + strings.Join(r.Because, ", ") + " is, or how the ships came to " +
			"stand like this."
	case slices.Contains(r.Rules, "1e G95"):
		out.Decide = "Try a slip of paper between them. If they are in contact, it depends on whether one overlapped the other: ask " +
			"how they came to stand like this."
	default:
		out.Decide = "Whether it touches " + strings.Join(r.Because, ", ") + " decides it: try a slip of paper between them."
	}
	return out
}

// need returns the margin that decides a question.
func (s *State) need(sigma geom.Length) geom.Length { return geom.Length(s.Sigmas * float64(sigma)) }

func (s *State) rangeVerdict(key, name, arc string, r *engine.RangeVerdict, text, rule string) Verdict {
	need := s.need(r.Sigma)
	out := Verdict{
		Key: key, Name: name, Arc: arc, Outcome: r.Outcome.String(), Title: RangeTitle(*r), Text: text,
		Distance: &r.Distance, Sigma: &r.Sigma, Need: &need, Margin: r.Margin, Lines: r.Lines, Rules: []string{rule},
	}
	if r.Outcome != engine.Indeterminate {
		return out
	}
	why := fmt.Sprintf("The nearest limit is %.2f mm away and the camera is sure beyond %.2f mm (%g standard deviations).",
		math.Abs(float64(r.Margin)), need, s.Sigmas)
	if len(r.Possible) > 0 && r.Possible[0] == 0 {
		out.Decide = why + " Whether the bases or their guides touch decides it: try a slip of paper between them at the line drawn."
		return out
	}
	limit := 100 * math.Round(float64(r.Distance)/100)
	out.Decide = fmt.Sprintf("%s Whether the nearest points are more than %.0f mm apart decides it: lay the range ruler along the line drawn.",
		why, limit)
	return out
}

// arcVerdicts returns the verdicts on one arc: whether the target is in it, and the attack.
func (s *State) arcVerdicts(a *engine.ArcVerdict) (out []Verdict) {
	if a.Arc != engine.ArcPrimaryTurret { // which is not limited to an arc
		out = append(out, s.inArcVerdict(a))
	}
	if a.Attack == nil {
		return out
	}
	key, rules := a.Arc.String(), s.Located.Scene.Rules
	attack := s.rangeVerdict(key+"_attack", "Attack range in the "+arcName(a.Arc)+" arc", key, &a.Attack.RangeVerdict, s.attackText(a),
		engine.AttackRule(rules, a.Arc))
	return append(out, attack, s.obstructionVerdict(a))
}

func (s *State) inArcVerdict(a *engine.ArcVerdict) Verdict {
	rules, need := s.Located.Scene.Rules, s.need(a.Sigma)
	alone := *a
	alone.Attack = nil // has its own verdict
	out := Verdict{
		Key: a.Arc.String(), Name: "In the " + arcName(a.Arc) + " arc", Arc: a.Arc.String(), Outcome: a.InArc.String(),
		Text: alone.Explain(rules, s.Pair), Sigma: &a.Sigma, Need: &need, Margin: a.Margin, Rules: []string{a.Arc.Rule(rules)},
	}
	switch a.InArc {
	case engine.Yes:
		out.Title = "In arc"
	case engine.No:
		out.Title = "Not in arc"
	case engine.NoView:
		out.Title = "No view"
	default:
		out.Title = "Too close to call"
		out.Decide = fmt.Sprintf("The target's nearest corner is %.2f mm from the arc's edge and the camera is sure beyond %.2f mm "+
			"(%g standard deviations). Sight along the printed line of the arc, or lay a straight edge on it.",
			math.Abs(float64(a.Margin)), need, s.Sigmas)
	}
	return out
}

// attackText words the attack range like a pair's range.
func (s *State) attackText(a *engine.ArcVerdict) string {
	at := a.Attack
	where := fmt.Sprintf("%s to %s in the %s arc", s.Pair.From, s.Pair.To, arcName(a.Arc))
	if at.Band == 0 && at.Outcome == engine.Yes {
		return fmt.Sprintf("%s: range 0, %s.", where, engine.ContactWords(at.Distance))
	}
	text := fmt.Sprintf("%s: %s, %.2f ± %.2f mm, %.2f mm from another range, where %.2f mm is enough to be sure.",
		where, sentence.Lower(RangeTitle(at.RangeVerdict)), float64(at.Distance), float64(at.Sigma), math.Abs(float64(at.Margin)),
		s.need(at.Sigma))
	if at.Band != at.BandArcStart {
		text += fmt.Sprintf(" Starting on the part of the base in the arc it would be %.2f mm and range %s.",
			float64(at.DistanceArcStart), hardware.BandText(at.BandArcStart))
	}
	return text + contactElsewhere(s, a)
}

func (s *State) obstructionVerdict(a *engine.ArcVerdict) Verdict {
	const look = "Look along the line drawn for obstacles."
	key, scene, o := a.Arc.String(), &s.Located.Scene, &a.Attack.Obstruction
	out := Verdict{
		Key: key + "_obstruction", Name: "Obstruction in the " + arcName(a.Arc) + " arc", Arc: key, Margin: o.Margin,
		By: o.By, Ships: o.Ships, Lines: a.Attack.Lines, Rules: []string{engine.ObstructionRule(scene.Rules)}, Text: o.Explain(scene.Rules),
	}
	if !s.ObstaclesWatched || scene.ObstaclesUnseen && o.Verdict == engine.NoView.String() {
		out.Outcome, out.Title, out.Decide = "no_view", "Not watched", look
		out.Text = "Obstacles were not searched: this line is not called clear."
		return out
	}
	switch o.Verdict {
	case "never":
		out.Outcome, out.Title = "no", "Not obstructed"
	case "must":
		out.Outcome, out.Title = "yes", "Obstructed"
	case "may":
		out.Outcome, out.Title = "choose", "The attacker chooses"
	case "too_close":
		by := "something that lies there"
		if len(o.By) > 0 {
			by = strings.Join(o.By, ", ")
		}
		out.Outcome, out.Title = "too_close", "Too close to call"
		out.Decide = fmt.Sprintf("The line passes within %.2f mm of the edge of %s: stretch a thread along the line drawn.",
			math.Abs(float64(o.Margin)), by)
	default:
		out.Outcome, out.Title, out.Decide = "no_view", "No view", look
		out.Text = "The camera does not see enough along the line."
	}
	return out
}
