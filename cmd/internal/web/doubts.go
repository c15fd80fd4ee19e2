package web

import (
	"fmt"
	"math"

	"sightline/engine"
)

// doubtJSON is a question of the chosen pair that is too close to call, and what would
// decide it.
type doubtJSON struct {
	Question string  `json:"question"` // "The range", "The front arc"
	Text     string  `json:"text"`
	MarginMM float64 `json:"margin_mm"` // from what would change the answer
	NeedMM   float64 `json:"need_mm"`   // how far it must be to be sure; 0: not known
}

// doubtsOf lists what is too close to call in a view's answer.
func doubtsOf(v *View) []doubtJSON {
	out := []doubtJSON{}
	if v.Pair == nil {
		return out
	}
	say := func(question, of string, margin, sigma float64) {
		need := v.Sigmas * sigma
		d := doubtJSON{Question: question, MarginMM: round(math.Abs(margin)), NeedMM: round(need)}
		d.Text = fmt.Sprintf("%.2f mm from %s; it would take more than %.2f mm to be sure.", math.Abs(margin), of, need)
		if need == 0 {
			d.Text = fmt.Sprintf("%.2f mm from %s.", math.Abs(margin), of)
		}
		out = append(out, d)
	}
	if r := v.Pair.Range; r.Outcome == engine.Indeterminate {
		say("The range", edgeName(r.Possible), float64(r.Margin), float64(r.Sigma))
	}
	if no := v.restricted("attack"); no != nil && no.Outcome != engine.Yes.String() && !answeredByRange(v, no, Ruled{}) {
		out = append(out, doubtJSON{Question: "Whether it may attack", Text: upperFirst(no.Text) + "."})
	}
	a, ok := v.ArcOf()
	if !ok {
		return out
	}
	arc := arcName(a.Arc)
	if a.InArc == engine.Indeterminate {
		say("The "+arc+" arc", "the edge of the arc", float64(a.Margin), float64(a.Sigma))
	}
	if a.Attack == nil {
		return out
	}
	if r := a.Attack.RangeVerdict; r.Outcome == engine.Indeterminate && v.Pair.Range.Outcome != engine.Indeterminate {
		say("The attack range", edgeName(r.Possible), float64(r.Margin), float64(r.Sigma))
	}
	if o := &a.Attack.Obstruction; v.ObstaclesWatched && o.Verdict == "too_close" {
		d := doubtJSON{Question: "The obstruction", Text: upperFirst(obstructionText(o)) + "."}
		if m := math.Abs(float64(o.Margin)); !math.IsInf(m, 0) && !math.IsNaN(m) {
			d.MarginMM = round(m)
			d.Text = fmt.Sprintf("%s: %.2f mm decide it.", upperFirst(obstructionText(o)), m)
		}
		out = append(out, d)
	}
	return out
}

// edgeName names the edge between bands: "the edge between range 2 and 3".
func edgeName(possible []int) string {
	names := bandNames(possible)
	if len(names) != 2 {
		return "the edge of the range"
	}
	if names[1] == "beyond" {
		return "the end of range " + names[0]
	}
	if names[0] == "contact" {
		return "contact"
	}
	return "the edge between range " + names[0] + " and " + names[1]
}
