package live

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"sightline/cmd/internal/sentence"
	"sightline/engine"
	"sightline/vision"
	"sightline/vision/token"
)

// AnswerText is the answer in words.
type AnswerText struct {
	Headline    Headline
	Title       string // "Range 2"
	Live        string // the whole answer without figures, which change with every picture: for screen readers
	Explain     string // the reasons, with the figures
	InArc       string // "in the front arc"
	Obstruction string
	RestsOn     string // which ship is not seen now: "A1 is covered in part: …"; "" when both are
	Meaning     Meaning
}

// Text words the answer. Every verdict in words on the page comes from here.
func (s *State) Text() AnswerText {
	if s.Choice.From == "" || s.Choice.To == "" {
		if !s.answers() {
			return AnswerText{Headline: s.Headline(), Title: "No answer", Live: s.Health.Title + "."}
		}
		return AnswerText{Headline: s.Headline(), Title: "Choose a pair", Live: "Choose an attacker and a target."}
	}
	if s.Pair == nil {
		title := "No answer"
		if s.Withheld {
			title = "Not measured"
		}
		return AnswerText{
			Headline: s.Headline(),
			Title:    title,
			Live:     fmt.Sprintf("No answer for %s to %s: %s.", s.Play.Named(s.Choice.From), s.Play.Named(s.Choice.To), s.Reason),
		}
	}
	w := AnswerText{
		Headline:    s.Headline(),
		Title:       RangeTitle(s.Pair.Range),
		Explain:     explainRange(s),
		Obstruction: obstacleText(s),
	}
	w.InArc, w.Meaning = arcText(s), s.Meaning()
	w.Live = fmt.Sprintf("%s to %s: %s. %s. %s.", s.Play.Named(s.Choice.From), s.Play.Named(s.Choice.To), w.Title, sentence.Upper(w.InArc),
		sentence.Upper(w.Obstruction))
	if s.Pair.Contact == engine.Yes {
		w.Explain = sentence.Upper(engine.ContactWords(s.Pair.Range.Distance)) + ". " + w.Explain
		if a, ok := s.ArcOf(); ok {
			w.Explain += contactElsewhere(s, &a)
		}
	}
	for _, act := range []string{"attack", "lock"} {
		if no := s.Restricted(act); no != nil {
			w.Live += " " + sentence.Upper(no.Text) + "."
		}
	}
	w.Explain = explainArc(s) + w.Explain
	if w.RestsOn = restsOn(s); w.RestsOn != "" {
		w.Explain = w.RestsOn + ". " + w.Explain
	}
	return w
}

// restsOn says which of the pair's ships is not seen now although its pose still counts.
func restsOn(s *State) string {
	var out []string
	for _, id := range []string{s.Choice.From, s.Choice.To} {
		if k, ok := s.Track(id); ok && (k.State == vision.Frozen || k.State == vision.Unread) {
			out = append(out, TrackText(&k, s.Located.Captured))
		}
	}
	return strings.Join(out, ", and ")
}

// TrackText says what is special about a ship's track; "" for a ship that is read and still.
// now is the time of the newest picture.
func TrackText(k *vision.Track, now time.Time) string {
	id, age := k.Ship.ID, k.Age(now).Seconds()
	switch k.State {
	case vision.Settling:
		return id + " was still for less than half a second"
	case vision.Moving:
		return id + " is moving"
	case vision.Unread:
		return fmt.Sprintf("%s is not read, but its place looks the same as %.1f s ago", id, age)
	case vision.Frozen:
		return fmt.Sprintf("%s is covered in part: its place is the one of %.1f s ago", id, age)
	case vision.Hidden:
		if age < 1 {
			return id + " is covered"
		}
		return fmt.Sprintf("%s has not been seen for %.0f s", id, age)
	case vision.Lifted:
		return id + " is not in its place any more"
	}
	if may := k.Ship.NameDoubt; len(may) > 1 && k.Ship.Player == 0 { // without a player: its card may be one that was never shown
		return fmt.Sprintf("%s is %s or another ship with a card like theirs: tap it and say which ship it is", id, strings.Join(may, " or "))
	} else if len(may) > 1 {
		return fmt.Sprintf("%s is %s, which look alike: tap it and say which ship it is", id, strings.Join(may, " or "))
	} else if len(may) == 1 {
		return fmt.Sprintf("%s is %s or another ship with a card like its: tap it and say which ship it is", id, may[0])
	}
	if token.Unidentified(id) {
		return id + " is a base whose code is not read: no one has said which ship it is and which way its nose points"
	}
	if k.Ship.Quarters {
		return id + " shows its edges and not its code: which way its nose points is not seen"
	}
	return ""
}

// RangeTitle names the range: "Range 2", "Range 2 or 3", "Contact (range 0)".
func RangeTitle(r engine.RangeVerdict) string {
	if r.Outcome == engine.NoView {
		return "No view"
	}
	if r.Outcome == engine.Yes {
		switch {
		case r.Band == 0:
			return "Contact (range 0)"
		case r.Band > 3:
			return "Beyond range 3"
		}
		return fmt.Sprintf("Range %d", r.Band)
	}
	bands := bandNames(r.Possible)
	switch {
	case len(bands) == 1 && bands[0] == "beyond":
		return "Beyond range 3"
	case len(bands) < 2:
		return "Too close to call"
	}
	text := sentence.Or(bands)
	if rest, ok := strings.CutPrefix(text, "contact"); ok {
		return "Contact" + strings.Replace(rest, " or ", " or range ", 1)
	}
	return "Range " + text
}

// bandNames names bands for people; those beyond 3 share one name.
func bandNames(bands []int) []string {
	var names []string
	for _, b := range bands {
		name := fmt.Sprint(b)
		switch {
		case b == 0:
			name = "contact"
		case b > 3:
			name = "beyond"
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// explainRange says how sure the range is, with the figures.
func explainRange(s *State) string {
	r := s.Pair.Range
	need := s.Sigmas * float64(r.Sigma)
	switch r.Outcome {
	case engine.Yes:
		text := fmt.Sprintf("Decided: the limit of the range is %.1f mm away, and %.1f mm is enough to be sure (%g standard "+
			"deviations).",
			math.Abs(float64(r.Margin)), need, s.Sigmas)
		if s.Pair.Contact == engine.Indeterminate { // in the first edition, where contact is range 1
			text += " Whether the ships are in contact is too close to call."
		}
		return text
	case engine.Indeterminate:
		if len(r.Possible) > 0 && r.Possible[0] == 0 {
			return fmt.Sprintf("Too close to call: the ships, guides counted, are only %.2f mm from touching or apart, and the camera is sure "+
				"only beyond %.1f mm (%g standard deviations). Try a slip of paper between them.",
				math.Abs(float64(r.Margin)), need, s.Sigmas)
		}
		return fmt.Sprintf("Too close to call: the edge of the band is only %.2f mm away, and the camera is sure only beyond %.1f mm (%g "+
			"standard deviations). Measure this one by hand.",
			math.Abs(float64(r.Margin)), need, s.Sigmas)
	}
	return "The camera does not see enough of the two ships."
}

// explainArc says how far outside the chosen arc the target is, or how near the arc's edge,
// and ends in a space; "" where the target is in the arc or nothing is known.
func explainArc(s *State) string {
	a, ok := s.ArcOf()
	if !ok {
		return ""
	}
	margin, need := math.Abs(a.Margin.Millimeters()), s.Sigmas*a.Sigma.Millimeters()
	switch a.InArc {
	case engine.No:
		return fmt.Sprintf("Outside the arc by %.1f mm, and %.1f mm is enough to be sure (%g standard deviations). ", margin, need, s.Sigmas)
	case engine.Indeterminate:
		return fmt.Sprintf("The edge of the arc is only %.2f mm away, and the camera is sure only beyond %.1f mm (%g standard deviations). ",
			margin, need, s.Sigmas)
	}
	return ""
}

// arcName returns an arc's name for people: "full front".
func arcName(a engine.Arc) string { return strings.ReplaceAll(a.String(), "_", " ") }

// arcText says whether the target is in the chosen arc.
func arcText(s *State) string {
	if s.rangeOnly() {
		return "arcs are not measured now"
	}
	a, ok := s.ArcOf()
	arc := arcName(s.Choice.Arc)
	if !ok {
		return fmt.Sprintf("%s has no %s arc", s.Choice.From, arc)
	}
	switch a.InArc {
	case engine.Yes:
		return fmt.Sprintf("in the %s arc", arc)
	case engine.No:
		return fmt.Sprintf("not in the %s arc", arc)
	case engine.NoView:
		return fmt.Sprintf("the %s arc is not seen", arc)
	}
	return fmt.Sprintf("too close to the edge of the %s arc to call", arc)
}

// obstacleText says what is known of obstacles between the two ships. A line that is not
// watched is never called clear.
func obstacleText(s *State) string {
	if !s.ObstaclesWatched || s.Located.Scene.ObstaclesUnseen {
		return s.UnwatchedText()
	}
	a, ok := s.ArcOf()
	if !ok || a.Attack == nil {
		return "no attack line to be obstructed"
	}
	return ObstructionText(&a.Attack.Obstruction)
}

// UnwatchedText says that nothing is known of obstacles, or that the search for them is still
// running: on a slow machine it takes longer than players need between two moves.
func (s *State) UnwatchedText() string {
	if sight := s.Located.Obstacles; sight != nil && sight.Pending() && !s.Held {
		return vision.UnseenLooking
	}
	return "obstacles are not watched"
}

// ObstructionText words the obstruction of an attack's line.
func ObstructionText(o *engine.ObstructionVerdict) string {
	by := strings.Join(o.By, ", ")
	switch o.Verdict {
	case "never":
		return "no obstacle on the line"
	case "must":
		return "obstructed by " + by
	case "may":
		return "the attacker may choose a clear line past " + by
	case "too_close":
		if by == "" {
			by = "what lies there"
		}
		return "too close to call whether " + by + " obstructs"
	}
	return "no view of what lies on the line"
}

// contactElsewhere explains why the attack range of ships in contact is not 0; "" otherwise.
func contactElsewhere(s *State, a *engine.ArcVerdict) string {
	if a.Attack == nil || s.Located.Scene.Rules == engine.Rules1e || !a.Attack.ContactElsewhere(s.Pair) {
		return ""
	}
	return " The ships are in contact outside the " + arcName(a.Arc) + " arc: the attack range is measured to what of the target is in " +
		"the arc."
}

// ObstructionOutcome returns an obstruction's verdict as an answer: yes, no, choose, too_close
// or not_watched.
func ObstructionOutcome(verdict string) string {
	switch verdict {
	case "never":
		return "no"
	case "must":
		return "yes"
	case "may":
		return "choose"
	case "too_close":
		return "too_close"
	}
	return "not_watched"
}
