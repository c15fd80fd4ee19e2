package live

import (
	"fmt"
	"math"

	"sightline/cmd/internal/sentence"
	"sightline/engine"
	"sightline/engine/geom"
)

// Doubt is a question of the chosen pair that is too close to call, with its figures.
type Doubt struct {
	Question string // "The range", "The front arc"
	Text     string
	Margin   geom.Length // to what would change the answer
	Need     geom.Length // the margin that would decide it; 0: not known
}

// Doubts lists what is too close to call in the answer.
func (s *State) Doubts() (out []Doubt) {
	if s.Pair == nil {
		return out
	}
	add := func(question, of string, margin, sigma geom.Length) {
		d := Doubt{Question: question, Margin: max(margin, -margin), Need: geom.Length(s.Sigmas) * sigma}
		d.Text = fmt.Sprintf("%.2f mm from %s; it would take more than %.2f mm to be sure.", d.Margin.Millimeters(), of, d.Need.Millimeters())
		if d.Need == 0 {
			d.Text = fmt.Sprintf("%.2f mm from %s.", d.Margin.Millimeters(), of)
		}
		out = append(out, d)
	}
	if r := s.Pair.Range; r.Outcome == engine.Indeterminate {
		add("The range", edgeName(r.Possible), r.Margin, r.Sigma)
	}
	if no := s.Restricted("attack"); no != nil && !no.certain() && !answeredByRange(s, no, Ruled{}) {
		out = append(out, Doubt{Question: "Whether it may attack", Text: sentence.Upper(no.Text) + "."})
	}
	a, ok := s.ArcOf()
	if !ok {
		return out
	}
	arc := arcName(a.Arc)
	if a.InArc == engine.Indeterminate {
		add("The "+arc+" arc", "the edge of the arc", a.Margin, a.Sigma)
	}
	if a.Attack == nil {
		return out
	}
	if r := a.Attack.RangeVerdict; r.Outcome == engine.Indeterminate && s.Pair.Range.Outcome != engine.Indeterminate {
		add("The attack range", edgeName(r.Possible), r.Margin, r.Sigma)
	}
	if o := &a.Attack.Obstruction; s.ObstaclesWatched && o.Verdict == "too_close" {
		d := Doubt{Question: "The obstruction", Text: sentence.Upper(ObstructionText(o)) + "."}
		if m := math.Abs(float64(o.Margin)); !math.IsInf(m, 0) && !math.IsNaN(m) {
			d.Margin = geom.Length(m)
			d.Text = fmt.Sprintf("%s: %.2f mm decide it.", sentence.Upper(ObstructionText(o)), m)
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
