package live

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"sightline/cmd/internal/sentence"
	"sightline/engine"
	"sightline/engine/move"
)

// MoveLine is one sentence about a move with its outcome: Yes is good news or a plain
// fact, No bad news.
type MoveLine struct {
	Outcome engine.Outcome
	Text    string
}

// moveLines collects the sentences about a move.
type moveLines []MoveLine

func (l *moveLines) add(outcome engine.Outcome, format string, a ...any) {
	*l = append(*l, MoveLine{outcome, fmt.Sprintf(format, a...)})
}

// Lines words the result of a move.
func (t *MovePreview) Lines() []MoveLine {
	var out moveLines
	switch {
	case t.Doing == DoDrop:
		out.addDevice(t)
	case t.Result.Chosen || t.Doing == DoAction:
		for _, e := range t.Ends {
			out.add(e.Legal, "%s: %s", sentence.Upper(e.Name), legalText(&e))
		}
	default:
		out.addExecution(t)
	}
	out.addOverlaps(t)
	out.addEdges(t)
	for _, act := range []string{"attack", "lock"} {
		if no := t.restricted(act); no != nil {
			outcome := no.Outcome
			if no.certain() {
				outcome = engine.No
			}
			out.add(outcome, "There: %s.", no.Text)
		}
	}
	out.addDoubts(t)
	return out
}

// addDevice says where a device would lie.
func (l *moveLines) addDevice(t *MovePreview) {
	r := &t.Result
	switch {
	case r.Outside == "wholly":
		l.add(engine.No, "The device would lie outside the play area and have no effect.")
	case r.Outside == "partly":
		l.add(engine.No, "Part of the device lies outside the play area; that part is ignored.")
	case len(r.FirstOverlapped) > 0: // for sure: the engine lists no others under a device
		l.add(engine.No, "It lies under %s.", and(r.FirstOverlapped))
	case len(t.MayBlock) > 0:
		l.add(engine.NoView, "Whether it lies free of ships is not seen: %s.", strings.Join(t.MayBlock, ", "))
	case slices.ContainsFunc(r.Undecided, isUnder):
		l.add(engine.Indeterminate, "Whether it lies free of ships is too close to call.")
	default:
		l.add(engine.Yes, "It lies free of ships.")
	}
}

// addExecution says whether a maneuver can be executed in full.
func (l *moveLines) addExecution(t *MovePreview) {
	r := &t.Result
	switch {
	case r.InFull == engine.NoView:
		l.add(engine.NoView, "Whether it can be executed in full is not seen: %s.", strings.Join(t.MayBlock, ", "))
	case r.InFull == engine.Yes && slices.Contains(r.Undecided, move.NotLooked):
		l.add(engine.Yes, "It can be executed in full (obstacles are not watched).")
	case r.InFull == engine.Yes:
		l.add(engine.Yes, "It can be executed in full.")
	case r.InFull == engine.Indeterminate:
		l.add(engine.Indeterminate, "Whether it can be executed in full is too close to call.")
	default:
		l.add(engine.No, "It would overlap %s and moves back along the template.", and(r.FirstOverlapped))
	}
}

// addOverlaps says what the ship touches, overlaps and moves through.
func (l *moveLines) addOverlaps(t *MovePreview) {
	r := &t.Result
	switch touching := len(r.Touching) > 0 && t.Doing != DoDrop; {
	case touching && (r.InFull == engine.Indeterminate || touchDoubted(r)) && len(r.Options) == 0:
		l.add(engine.Indeterminate, "It may end touching %s.", and(r.Touching))
	case touching:
		l.add(engine.No, "It ends touching %s.", and(r.Touching))
	}
	for _, h := range append(slices.Clone(r.Obstacles), r.Devices...) {
		l.add(hitText(&h))
	}
	if len(r.MovedThrough) > 0 {
		l.add(engine.Yes, "It moves through %s.", and(r.MovedThrough))
	}
}

// addEdges says whether the ship leaves the play area.
func (l *moveLines) addEdges(t *MovePreview) {
	r := &t.Result
	switch {
	case r.Flees == engine.Yes && len(t.MayBlock) > 0 && t.Doing == DoManeuver:
		l.add(engine.NoView, "As far as can be seen, it leaves the play area over the %s edge.", and(r.Edges))
	case r.Flees == engine.Yes:
		l.add(engine.No, "It leaves the play area over the %s edge: the ship flees.", and(r.Edges))
	case r.Flees == engine.Indeterminate:
		l.add(engine.Indeterminate, "Whether it leaves the play area is too close to call.")
	}
}

// addDoubts says which ships are not counted, and what is too close to call.
func (l *moveLines) addDoubts(t *MovePreview) {
	for _, u := range t.Uncounted {
		if slices.Contains(t.MayBlock, u.Why) {
			l.add(engine.NoView, "%s: it may stand in the way.", sentence.Upper(u.Why))
		} else if u.Ship.ID != t.Ship {
			l.add(engine.NoView, "%s: it is not counted.", sentence.Upper(u.Why))
		}
	}
	for _, u := range t.Result.Undecided {
		if u == move.NotLooked {
			l.add(engine.NoView, "Obstacles on the way are not watched.")
		} else if !t.Result.Chosen && u != "fleeing" {
			l.add(engine.Indeterminate, "Too close to call: %s.", u)
		}
	}
}

func and(ids []string) string { return strings.Join(ids, " and ") }

// restricted returns what forbids the ship an act at its end, whatever the target.
func (t *MovePreview) restricted(act string) *Restriction {
	if t.After == nil {
		return nil
	}
	return newRestriction(t.After.Result.Restrictions(act, t.Ship, ""))
}

func isUnder(u string) bool { return strings.HasPrefix(u, "the device under ") }

func legalText(e *MoveEnd) string {
	words := map[engine.Outcome]string{engine.Yes: "possible", engine.No: "not possible", engine.NoView: "not seen",
		engine.Indeterminate: "too close to call"}[e.Legal]
	if e.Slide != nil && e.Legal == engine.Yes {
		words = "possible anywhere between the two ends"
	}
	if e.Why != "" {
		words += " (" + strings.ReplaceAll(e.Why, move.NotLooked, "obstacles are not watched") + ")"
	}
	return words
}

func hitText(h *move.Hit) (outcome engine.Outcome, format string, id any) {
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

// NearestText words the question that is nearest to its limit; "" if none is near.
func NearestText(r *move.Result, sigmas float64) string {
	if r.Nearest == "" || !(math.Abs(float64(r.Margin)) < 1e6) {
		return ""
	}
	return fmt.Sprintf("Closest call: %s, by %.1f mm; %.1f mm is enough to be sure.", r.Nearest, math.Abs(r.Margin.Millimeters()),
		sigmas*r.Sigma.Millimeters())
}
