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
	"sightline/vision"
)

// Ruling is a ruling, as pages and overlays show it.
type Ruling struct {
	Number   uint64    // its entry in the log, from 1
	At       time.Time // when it was ruled
	Undated  bool      // before a restart, and the clock has been behind since: how long ago is not known
	Held     uint64    // the number of the held picture
	From, To string
	Pilots   [2]string // "Wedge Antilles"; "A1 or A2" of an unidentified base; "" when not known
	Arc      engine.Arc
	Title    string      // what is ruled, in a few words: "Range 2, in the front arc"
	Text     string      // the same as a sentence, with the judge
	Measured string      // what was measured, worded like Title
	Lines    []geom.Line // the measuring lines

	Decision           Decision
	Ruled              Ruled  // what the judge ruled in place of the measurement
	Reason             string // for Decided and Overruled
	Question, AskedBy  string // "" when not given
	Judge              string // "" when not given
	PictureGivesSame   bool   // the stored picture, measured alone, gives the same verdict
	PictureDifference  string // what differs when it does not, in words
	EntryHash, Program string
}

// undatedFor is how old a ruling counts at least if its age is not known: nobody shows it as news.
const undatedFor = 24 * time.Hour

// Age returns how long ago it was ruled, whoever set the clock since. Overlays hide it some time after.
func (r *Ruling) Age(now time.Time) time.Duration {
	if r.Undated {
		return undatedFor
	}
	return max(0, vision.Elapsed(r.At, now))
}

// RuleRequest is a ruling that a judge submits.
type RuleRequest struct {
	Held  uint64 // the number of the held picture that the judge saw
	After uint64 // the number of the last ruling that the judge had seen; 0: none
	Choice
	Decision Decision
	Ruled    Ruled  // with Decided, Overruled
	Reason   string // required with Overruled; with Decided there is a default
	Question string
	AskedBy  string
	Judge    string
}

// Ruled is what a judge rules in place of the measurement; "" keeps what was measured.
type Ruled struct {
	Range      string // "0", "1", "2", "3", "beyond"
	InArc      string // "yes", "no"
	Obstructed string // "yes", "no", "choose": the attacker may choose a clear line
	MayAttack  string // "yes", "no": whether the rules forbid the attack where the ships stand
}

// questions are those that a ruling may answer, with their possible values and the field of
// Ruled that has the answer.
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

// value returns what is ruled on the question with a key.
func (r *Ruled) value(key string) string {
	for i := range questions {
		if questions[i].key == key {
			return questions[i].ruled(r)
		}
	}
	return ""
}

// NewRuling returns the ruling on a held picture. An error is a *Refusal. The caller sets number,
// time and hashes when it records the ruling.
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

// checkRule returns what is wrong with a ruling, as a *Refusal.
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
		return bad("A ruling “as measured” cannot decide anything else.")
	}
	if left := remainingQuestions(s, r.Ruled); len(left) > 0 {
		return bad("This ruling decides nothing: %s is left open. Choose one of the possible results.", remainingText(left))
	}
	return nil
}

// checkOverruled returns what is wrong with a ruling against the measurement, as a *Refusal.
func checkOverruled(s *State, r *RuleRequest, bad func(string, ...any) error) error {
	for _, q := range questions {
		if value := r.Ruled.value(q.key); value != "" && !slices.Contains(q.values, value) {
			return bad("%s cannot be ruled to be %q; expected %s.", sentence.Upper(q.name), value, sentence.Or(q.values))
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
		return bad("The measurement leaves this possible: decide what is open instead of overruling.")
	}
	return nil
}

// rulingLines returns the measuring lines of a ruling: those of the attack, if there is one.
func rulingLines(s *State) []geom.Line {
	if s.Pair == nil {
		return nil
	}
	if a, ok := s.ArcOf(); ok && a.Attack != nil {
		return slices.Clone(a.Attack.Lines)
	}
	return slices.Clone(s.Pair.Range.Lines)
}

// ErrHeldChanged refuses a ruling on a picture that is no longer held.
var ErrHeldChanged = &Refusal{ErrOvertaken, "What you judged is no longer held: someone released it or holds another picture. Nothing " +
	"was recorded. Look at what is held now and rule on that."}

// RuledInBetween refuses a ruling by a judge who has not seen the last one.
func RuledInBetween(last *Ruling) *Refusal {
	return &Refusal{ErrOvertaken, fmt.Sprintf("You had not seen ruling %d: %s Your ruling was not recorded. Rule again if it is still "+
		"needed.", last.Number, last.Text)}
}
