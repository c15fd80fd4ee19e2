package live

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"sightline/cmd/internal/sentence"
)

// HoldRequest asks to hold the picture, or to release it.
type HoldRequest struct {
	Hold bool // false: release

	// Held names what is released, as who asks knows it; with Hold what was released and is
	// held again. 0 names nothing.
	Held  uint64
	Judge bool   // a judge asks
	By    string // who asks, for people

	AskJudge bool // it is held for a judge who is asked for

	// Restart says that the program is about to be restarted: nothing is released, and nothing can
	// be held for RestartWithin. It is refused while something is held, or was released though a judge
	// was to look at it and can be held again.
	Restart bool
}

// RestartWithin is how long who asked with HoldRequest.Restart has to restart the program. systemctl
// stops it within a second; a board that does much else takes longer.
const RestartWithin = 20 * time.Second

// ErrRestarting is why nothing can be held before a restart, ErrHeld why there must be none.
var (
	ErrRestarting = &Refusal{ErrOvertaken, "The program is restarted in a moment, and what it held would be lost. Leave everything as " +
		"it lies, and ask again after that."}
	ErrHeld = &Refusal{ErrOvertaken, "A picture is held for a judge, and a restart would lose it."}
)

// NameMost is how many characters a name has at most.
const NameMost = 80

// AskedText says who asked for a judge: "Ada", "Ada, Ben and 2 more"; "the table" without names.
// It is no longer than a name may be.
func AskedText(names []string) string {
	if len(names) == 0 {
		return "the table"
	}
	for n := len(names); ; n-- {
		text, more := strings.Join(names[:n], ", "), len(names)-n
		if more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
		switch {
		case utf8.RuneCountInString(text) <= NameMost:
			return text
		case n == 1:
			return names[0]
		}
	}
}

// Refused says why what is held is not released; nil: it is. What a judge was called for is
// released by a judge, or by a player who names it: one that has not read what it is cannot.
func (r *HoldRequest) Refused(h *Held, last *Ruling) error {
	switch {
	case h == nil || r.Hold:
	case r.Held != 0 && r.Held != h.Number:
		return &Refusal{ErrOvertaken, "Something else is held now: " + sentence.Lower(h.waits()) + ". Nothing was released."}
	case r.Held == 0 && !r.Judge && h.Guarded(last):
		return &Refusal{ErrOvertaken, fmt.Sprintf(
			"%s, and there is no ruling yet. A judge releases it; a player must confirm by naming it: {\"hold\":false,\"held\":%d}.", h.waits(),
			h.Number)}
	}
	return nil
}

// ErrNotKept is why what was released cannot be held again.
var ErrNotKept = &Refusal{ErrOvertaken, "This is no longer kept: what is released can be held again for an hour, the last of " +
	"it only."}

// Released is what was held and released, while it can still be held again.
type Released struct {
	Number   uint64
	At       time.Time // when it was held
	Asked    string
	From, To string // the pair that was chosen when it was released
	LetGo    time.Time
	By       string // who released it
}
