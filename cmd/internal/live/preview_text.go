package live

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"sightline/cmd/internal/sentence"
	"sightline/engine"
)

// MoveLine is one sentence about a move with its outcome: Yes is good news or a plain
// fact, No bad news.
type MoveLine struct {
	Outcome engine.Outcome
	Text    string
}

// Lines says what would come of a move.
func (t *MovePreview) Lines() (out []MoveLine) {
	say := func(outcome engine.Outcome, format string, a ...any) {
		out = append(out, MoveLine{outcome, fmt.Sprintf(format, a...)})
	}
	r := &t.Result
	and := func(ids []string) string { return strings.Join(ids, " and ") }
	switch {
	case r.Outside == "wholly":
		say(engine.No, "The device would lie outside the play area and have no effect.")
	case r.Outside == "partly":
		say(engine.No, "Part of the device lies outside the play area; that part is ignored.")
	case t.Doing == DoDrop && len(r.FirstOverlapped) > 0: // for sure: the engine lists no others under a device
		say(engine.No, "It lies under %s.", and(r.FirstOverlapped))
	case t.Doing == DoDrop && len(t.InTheWay) > 0:
		say(engine.NoView, "Whether it lies free of ships is not seen: %s.", strings.Join(t.InTheWay, ", "))
	case t.Doing == DoDrop && slices.ContainsFunc(r.Undecided, isUnder):
		say(engine.Indeterminate, "Whether it lies free of ships is too close to call.")
	case t.Doing == DoDrop:
		say(engine.Yes, "It lies free of ships.")
	case r.Chosen || t.Doing == DoAction:
		for _, e := range t.Ends {
			say(e.Legal, "%s: %s", sentence.Upper(e.Name), legalText(&e))
		}
	case r.InFull == engine.NoView:
		say(engine.NoView, "Whether it can be executed in full is not seen: %s.", strings.Join(t.InTheWay, ", "))
	case r.InFull == engine.Yes && slices.Contains(r.Undecided, notLooked):
		say(engine.Yes, "It can be executed in full (obstacles are not watched).")
	case r.InFull == engine.Yes:
		say(engine.Yes, "It can be executed in full.")
	case r.InFull == engine.Indeterminate:
		say(engine.Indeterminate, "Whether it can be executed in full is too close to call.")
	default:
		say(engine.No, "It would overlap %s and moves back along the template.", and(r.FirstOverlapped))
	}
	switch touching := len(r.Touching) > 0 && t.Doing != DoDrop; {
	case touching && (r.InFull == engine.Indeterminate || touchDoubted(r)) && len(r.Options) == 0:
		say(engine.Indeterminate, "It may end touching %s.", and(r.Touching))
	case touching:
		say(engine.No, "It ends touching %s.", and(r.Touching))
	}
	for _, h := range append(slices.Clone(r.Obstacles), r.Devices...) {
		say(hitText(&h))
	}
	if len(r.MovedThrough) > 0 {
		say(engine.Yes, "It moves through %s.", and(r.MovedThrough))
	}
	switch {
	case r.Flees == engine.Yes && len(t.InTheWay) > 0 && t.Doing == DoManeuver:
		say(engine.NoView, "As far as is seen it leaves the play area over the %s edge.", and(r.Edges))
	case r.Flees == engine.Yes:
		say(engine.No, "It leaves the play area over the %s edge: the ship flees.", and(r.Edges))
	case r.Flees == engine.Indeterminate:
		say(engine.Indeterminate, "Whether it leaves the play area is too close to call.")
	}
	for _, act := range []string{"attack", "lock"} {
		if no := t.restricted(act); no != nil {
			outcome := no.Outcome
			if no.sure() {
				outcome = engine.No
			}
			say(outcome, "There: %s.", no.Text)
		}
	}
	for _, u := range t.Uncounted {
		if slices.Contains(t.InTheWay, u.Why) {
			say(engine.NoView, "%s: it may stand in the way.", sentence.Upper(u.Why))
		} else if u.Ship.ID != t.Ship {
			say(engine.NoView, "%s: it is not counted.", sentence.Upper(u.Why))
		}
	}
	for _, u := range r.Undecided {
		if u == notLooked {
			say(engine.NoView, "Obstacles on the way are not watched.")
		} else if !r.Chosen && u != "fleeing" {
			say(engine.Indeterminate, "Too close to call: %s.", u)
		}
	}
	return out
}

// restricted says what keeps the ship from an act at its end, whatever the target.
func (t *MovePreview) restricted(act string) *Restriction {
	if t.After == nil {
		return nil
	}
	return NewRestriction(t.After.Result.Restrictions(act, t.Ship, ""))
}

// notLooked is the engine's word for obstacles that nobody watches.
const notLooked = engine.NotLooked

func isUnder(u string) bool { return strings.HasPrefix(u, "the device under ") }

func legalText(e *MoveEnd) string {
	words := map[engine.Outcome]string{engine.Yes: "possible", engine.No: "not possible", engine.NoView: "not seen", engine.Indeterminate: "too close to call"}[e.Legal]
	if e.Slide != nil && e.Legal == engine.Yes {
		words = "possible anywhere between the two ends"
	}
	if e.Why != "" {
		words += " (" + strings.ReplaceAll(e.Why, notLooked, "obstacles are not watched") + ")"
	}
	return words
}

func hitText(h *engine.Hit) (outcome engine.Outcome, format string, id any) {
	switch {
	case h.Template == engine.Yes && h.Base == engine.Yes:
		return engine.No, "%s lies under the template and under the base.", h.ID
	case h.Base == engine.Yes:
		return engine.No, "%s lies under the base at its end.", h.ID
	case h.Template == engine.Yes:
		return engine.No, "%s lies under the template.", h.ID
	}
	return engine.Indeterminate, "Whether it meets %s is too close to call.", h.ID
}

// NearestText says which question is nearest to its limit; "" when none is near.
func NearestText(r *engine.MoveResult, sigmas float64) string {
	if r.Nearest == "" || !(math.Abs(float64(r.Margin)) < 1e6) {
		return ""
	}
	return fmt.Sprintf("Nearest to changing: %s, by %.1f mm, where %.1f mm is enough to be sure.", r.Nearest, math.Abs(r.Margin.Millimeters()), sigmas*r.Sigma.Millimeters())
}
