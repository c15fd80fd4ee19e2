package live

import (
	"slices"
	"strings"

	"sightline/cmd/internal/sentence"
	"sightline/engine"
	"sightline/hardware"
	"sightline/vision"
)

// HeadlineKind classifies a headline for drawing.
type HeadlineKind string

// The kinds of headlines.
const (
	HeadlineNone     HeadlineKind = "none"     // nothing is chosen
	HeadlineShot     HeadlineKind = "shot"     // in the chosen arc, at a range of 0 to 3
	HeadlineNoShot   HeadlineKind = "no_shot"  // outside the arc, beyond range 3, or forbidden where it stands
	HeadlineRange    HeadlineKind = "range"    // only a range: arcs are not measured now
	HeadlineClose    HeadlineKind = "close"    // too close to call
	HeadlineNoView   HeadlineKind = "no_view"  // the camera does not see enough
	HeadlineWithheld HeadlineKind = "withheld" // the agreement on measuring forbids it
)

// Headline is the verdict on the chosen pair in one line, as players say it.
type Headline struct {
	Kind HeadlineKind
	Text string // "In range 2, in the front arc"
	Band string // "2", "1 or 2", shown large on the page; "" where the range is not the answer
}

// Headline returns the first line of the answer. Its range is the attack range where the
// target is in the chosen arc.
func (s *State) Headline() Headline {
	if s.Choice.From == "" || s.Choice.To == "" {
		if !s.answers() {
			return Headline{Kind: HeadlineNone, Text: "No answer now"} // choosing a pair would not help
		}
		return Headline{Kind: HeadlineNone, Text: "Choose a pair"}
	}
	if s.Pair == nil {
		return s.unanswered()
	}
	if s.Pair.Range.Outcome == engine.NoView {
		return Headline{Kind: HeadlineNoView, Text: "The camera cannot see it"}
	}
	no := s.Restricted("attack")
	if no != nil && no.certain() {
		return Headline{Kind: HeadlineNoShot, Text: "No shot: " + noShotText(no.Text)}
	}
	if s.rangeOnly() {
		return rangeHeadline(&s.Pair.Range, "")
	}
	arc := arcName(s.Choice.Arc)
	a, ok := s.ArcOf()
	switch {
	case !ok:
		return Headline{Kind: HeadlineNoShot, Text: "No shot: " + s.Choice.From + " has no " + arc + " arc"}
	case a.InArc == engine.No && s.Choice.Arc == engine.ArcFront && s.Pair.Arc(engine.ArcPrimaryTurret) != nil:
		h := rangeHeadline(&s.Pair.Range, "")
		h.Text = "Outside the front arc; for the turret: " + sentence.Lower(h.Text)
		return h
	case a.InArc == engine.No:
		return Headline{Kind: HeadlineNoShot, Text: "No shot: outside the " + arc + " arc"}
	case a.InArc == engine.NoView:
		return Headline{Kind: HeadlineNoView, Text: "The camera cannot see the " + arc + " arc"}
	}
	switch h := rangeHeadline(s.AnsweredRange(), "in the "+arc+" arc"); {
	case h.Kind == HeadlineNoShot && s.hugeAttacker(): // some weapons of huge ships reach further
		return Headline{Kind: HeadlineRange, Text: "Beyond range 3", Band: BandText(*s.AnsweredRange())}
	case h.Kind == HeadlineNoShot || h.Kind == HeadlineNoView: // wherever the arc's edge is
		return h
	case a.InArc == engine.Indeterminate && h.Kind == HeadlineClose:
		return Headline{Kind: HeadlineClose, Text: h.Text + ", and the edge of the " + arc + " arc"}
	case a.InArc == engine.Indeterminate:
		return Headline{Kind: HeadlineClose, Text: "Too close to call: the edge of the " + arc + " arc"}
	case no != nil:
		return Headline{Kind: HeadlineClose, Text: sentence.Upper(noRule(no.Text)), Band: h.Band}
	default:
		return h
	}
}

// AnsweredRange returns the range that every screen and lamp shows of the chosen pair: the attack range where the target may be in the
// chosen arc, else that between the bases. There must be a verdict on the pair.
func (s *State) AnsweredRange() *engine.RangeVerdict {
	if a, ok := s.ArcOf(); ok && a.Attack != nil {
		return &a.Attack.RangeVerdict
	}
	return &s.Pair.Range
}

func (s *State) hugeAttacker() bool {
	ship := s.Located.Scene.Ship(s.Choice.From)
	return ship != nil && strings.HasPrefix(ship.Base.String(), "huge")
}

// rangeHeadline words a range; where is "in the front arc", or "" where no arc is measured.
func rangeHeadline(r *engine.RangeVerdict, where string) Headline {
	h := Headline{Kind: HeadlineShot, Band: BandText(*r)}
	if where == "" {
		h.Kind = HeadlineRange
	}
	switch {
	case r.Outcome == engine.NoView:
		return Headline{Kind: HeadlineNoView, Text: "The camera cannot see it"}
	case r.Outcome == engine.Indeterminate:
		h.Kind, h.Text = HeadlineClose, "Too close to call"
		if len(r.Possible) > 1 {
			h.Text += ": " + sentence.Lower(RangeTitle(*r))
		}
		return h
	case r.Band > 3 && where != "":
		return Headline{Kind: HeadlineNoShot, Text: "No shot: beyond range 3"}
	case r.Band > 3:
		h.Text = "Beyond range 3"
		return h
	case r.Band == 0:
		h.Text = "In contact, range 0"
	default:
		h.Text = "In " + sentence.Lower(RangeTitle(*r))
	}
	if where != "" {
		h.Text += ", " + where
	}
	return h
}

// unanswered says why there is no verdict on the pair.
func (s *State) unanswered() Headline {
	if s.Withheld {
		return Headline{Kind: HeadlineWithheld, Text: "Not measured now"}
	}
	for _, id := range []string{s.Choice.From, s.Choice.To} {
		k, known := s.Track(id)
		switch {
		case !known || !s.answers():
		case k.State == vision.Moving || k.State == vision.Settling:
			return Headline{Kind: HeadlineNoView, Text: "Wait: " + id + " is moving"}
		case !k.State.Stands():
			return Headline{Kind: HeadlineNoView, Text: "The camera cannot see " + id}
		}
	}
	if !s.answers() {
		return Headline{Kind: HeadlineNoView, Text: "No answer now"}
	}
	return Headline{Kind: HeadlineNoView, Text: "The camera cannot see it"}
}

// noRule trims the rule's number from the end of a restriction's text.
func noRule(text string) string {
	if i := strings.LastIndex(text, " ("); i > 0 && strings.HasSuffix(text, ")") {
		return text[:i]
	}
	return text
}

// noShotText returns the reason from a restriction's text, without prefix and rule number.
func noShotText(text string) string {
	text, _, _ = strings.Cut(text, "; ")
	return strings.TrimPrefix(noRule(text), "no attack: ")
}

// BandText returns a range for large type: "2", "1 or 2", ">3"; "?" when nothing is known.
func BandText(r engine.RangeVerdict) string {
	bands := []int{r.Band}
	if r.Outcome != engine.Yes {
		bands = r.Possible
	}
	var names []string
	for _, b := range bands {
		name := hardware.BandText(b)
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return "?"
	}
	return sentence.Or(names)
}
