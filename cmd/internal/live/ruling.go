package live

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"sightline/cmd/internal/sentence"
	"sightline/engine"
	"sightline/engine/geom"
)

// Ruling is a ruling, as pages and overlays show it.
type Ruling struct {
	Number   uint64    // its entry in the log, from 1
	At       time.Time // when it was ruled; who shows it lets it fade by this
	Held     uint64    // the number of the held picture that it was made on
	From, To string
	Pilots   [2]string // of the two: "Wedge Antilles", "A1 or A2" of a base without a name; "" where no game names one
	Arc      engine.Arc
	Title    string      // what holds, in a few words: "Range 2, in the front arc"
	Text     string      // the same as a sentence, with who ruled
	Measured string      // what was measured, in the words of Title
	Lines    []geom.Line // the measuring lines that it rests on
	// Decision: whether the measurement holds, left something open or was overruled;
	// Reason says why.
	Decision           Decision
	Ruled              Ruled // what is ruled in its place
	Reason             string
	Question, AskedBy  string // "" where it was not said
	Judge              string // "" where it was not said
	PictureGivesSame   bool   // the stored picture, measured alone, gives the same verdict
	PictureDifference  string // what differs when it does not, in words
	EntryHash, Program string
}

// RuleRequest is a judge's ruling as it comes in.
type RuleRequest struct {
	Held  uint64 // the number of the held picture that the judge saw
	After uint64 // the last ruling that the judge knew of; 0: none
	Choice
	Decision Decision
	Ruled    Ruled  // with Decided, Overruled
	Reason   string // needed with Overruled; with Decided one is suggested
	Question string
	AskedBy  string
	Judge    string
}

// Ruled is what a judge rules otherwise; "" leaves what was measured.
type Ruled struct {
	Range      string // "0", "1", "2", "3", "beyond"
	InArc      string // "yes", "no"
	Obstructed string // "yes", "no", "choose": the attacker may choose a clear line
	MayAttack  string // "yes", "no": whether the rules forbid the attack where the ships stand
}

// questions are those that a ruling may answer: the values that it takes, and where it
// keeps the one that is ruled.
var questions = []struct {
	key, name string
	values    []string
	ruled     func(*Ruled) string
}{
	{"range", "the range", []string{"0", "1", "2", "3", "beyond"}, func(r *Ruled) string { return r.Range }},
	{"in_arc", "the arc", []string{"yes", "no"}, func(r *Ruled) string { return r.InArc }},
	{"obstructed", "the obstruction", []string{"yes", "no", "choose"}, func(r *Ruled) string { return r.Obstructed }},
	{"may_attack", "whether it may attack", []string{"yes", "no"}, func(r *Ruled) string { return r.MayAttack }},
}

// of returns what is ruled on a question, by its key.
func (r *Ruled) of(key string) string {
	for i := range questions {
		if questions[i].key == key {
			return questions[i].ruled(r)
		}
	}
	return ""
}

// NewRuling words a ruling on what is held, or says as a *Refusal why it is none.
// Number, time and hashes are for whoever records it.
func NewRuling(h *Held, r RuleRequest) (Ruling, error) {
	s := h.State(r.Choice)
	if err := checkRule(h, &s, &r); err != nil {
		return Ruling{}, err
	}
	measured := MeasuredTitle(&s)
	out := Ruling{
		Held: h.Number, From: r.From, To: r.To, Arc: r.Arc, Title: measured, Measured: measured, Lines: rulingLines(&s),
		Decision: cmp.Or(r.Decision, AsMeasured), Ruled: r.Ruled, Reason: r.Reason, Question: r.Question, AskedBy: r.AskedBy, Judge: r.Judge,
	}
	out.Pilots = [2]string{h.pilot(r.From), h.pilot(r.To)}
	if out.Decision != AsMeasured {
		out.Title = ruledTitle(&s, r.Ruled)
	}
	if out.Decision == Decided && out.Reason == "" {
		out.Reason = SuggestedReasons(OpenQuestions(&s, Ruled{}), r.Judge)[0]
	}
	out.Text = RulingText(&out)
	return out, nil
}

// checkRule says what is wrong with a ruling; nil: nothing.
func checkRule(h *Held, s *State, r *RuleRequest) error {
	bad := func(format string, a ...any) error {
		return &Refusal{ErrInvalid, fmt.Sprintf(format, a...)}
	}
	for _, id := range []string{r.From, r.To} {
		if id == "" {
			return bad("Choose an attacker and a target first.")
		}
		if !h.has(id) {
			return bad("%s is not in the held picture.", id)
		}
	}
	if r.From == r.To {
		return bad("Attacker and target must be two ships, got %s twice.", r.From)
	}
	if _, ok := s.ArcOf(); !ok && s.Pair != nil {
		return bad("%s has no %s arc.", r.From, strings.ReplaceAll(r.Arc.String(), "_", " "))
	}
	if r.Decision == Decided && s.Pair != nil {
		if problem := checkDecided(s, &r.Ruled); problem != "" {
			return bad("%s", problem)
		}
	}
	if r.Decision == Overruled {
		if err := checkOverruled(s, r, bad); err != nil {
			return err
		}
	}
	switch {
	case r.Decision != Overruled && s.Pair == nil:
		return bad("Nothing was measured that could be confirmed: %s. Say what you rule, and why.", s.Reason)
	case (r.Decision == AsMeasured || r.Decision == "") && r.Ruled != (Ruled{}):
		return bad("A ruling as measured rules nothing else.")
	}
	if left := left(s, r.Ruled); len(left) > 0 {
		return bad("This ruling decides nothing: %s is left open. Choose one of the possible results.", leftText(left))
	}
	return nil
}

// checkOverruled says what is wrong with a ruling against what was measured; nil: nothing.
func checkOverruled(s *State, r *RuleRequest, bad func(string, ...any) error) error {
	for _, q := range questions {
		if value := r.Ruled.of(q.key); value != "" && !slices.Contains(q.values, value) {
			last := len(q.values) - 1
			return bad("%s cannot be ruled to be %q; expected %s or %s.", sentence.Upper(q.name), value, strings.Join(q.values[:last], ", "),
				q.values[last])
		}
	}
	switch {
	case r.Ruled.Range == "0" && s.Located.Scene.Rules == engine.Rules1e:
		return bad("The first edition has no range 0: contact is range 1.")
	case r.Ruled == (Ruled{}):
		return bad("Say what you rule: the range, the arc, the obstruction, or whether it may attack.")
	case r.Reason == "":
		return bad("A ruling against what was measured needs a reason.")
	case s.Pair == nil:
	case ruledTitle(s, r.Ruled) == MeasuredTitle(s):
		return bad("That is what was measured: confirm it instead.")
	case checkDecided(s, &r.Ruled) == "":
		return bad("The measurement leaves this possible, and nothing here is against it: that is to decide what is open, not to overrule.")
	}
	return nil
}

// rulingLines are the lines that a ruling rests on: of the attack, where there is one.
func rulingLines(s *State) []geom.Line {
	if s.Pair == nil {
		return nil
	}
	if a, ok := s.ArcOf(); ok && a.Attack != nil {
		return slices.Clone(a.Attack.Lines)
	}
	return slices.Clone(s.Pair.Range.Lines)
}

// ErrHeldChanged is why nothing is ruled on what a judge no longer sees.
var ErrHeldChanged = &Refusal{ErrOvertaken, "What you judged is no longer held: someone released it or holds another picture. Nothing " +
	"was recorded. Look at what is held now and rule on that."}

// RuledMeanwhile is why nothing is ruled by a judge who does not know the last ruling.
func RuledMeanwhile(last *Ruling) *Refusal {
	return &Refusal{ErrOvertaken, fmt.Sprintf("There is a ruling that you had not seen, number %d: %s Nothing of yours was recorded. Rule "+
		"again if you still must.", last.Number, last.Text)}
}
