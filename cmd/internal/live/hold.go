package live

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"sightline/cmd/internal/sentence"
)

// HoldRequest asks to hold the picture, or to release it.
type HoldRequest struct {
	Hold bool // false: release

	// Held is the number of the held picture to release or, with Hold, of the released one to
	// hold again. 0 names none.
	Held  uint64
	Judge bool   // a judge asks
	By    string // who asks, for people

	AskJudge bool // hold it and call a judge

	// Restart announces a restart of the program: nothing can be held for RestartWithin. It is
	// refused while something is held, or while a picture that awaits a judge can be held again.
	Restart bool
}

// RestartWithin is how soon the restart must follow that HoldRequest.Restart announced.
// systemctl stops the program within a second; a busy board takes longer.
const RestartWithin = 20 * time.Second

// ErrRestarting refuses to hold before a restart, ErrHeld refuses a restart.
var (
	ErrRestarting = &Refusal{ErrOvertaken, "The program is about to restart and would lose what it holds. Leave everything as it " +
		"lies and ask again afterwards."}
	ErrHeld = &Refusal{ErrOvertaken, "A picture is held, and a restart may lose it."}
)

// ErrReleaseFirst refuses to change what a ruling on the held picture stores: cards, catalogue and mat.
var ErrReleaseFirst = errors.New("the picture is held, and a judge may rule on it: release it first")

// NameMost is the maximum length of a name, in characters.
const NameMost = 80

// AskedText says who called a judge: "Ada", "Ada, Ben and 2 more"; "the table" without names.
// It has at most NameMost characters.
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

// Check refuses a release that the requester may not make. What awaits a judge is released by
// a judge, or by a player who names its number and so has seen what it is.
func (r *HoldRequest) Check(h *Held, last *Ruling) error {
	switch {
	case h == nil || r.Hold:
	case r.Held != 0 && r.Held != h.Number:
		return &Refusal{ErrOvertaken, "Something else is held now: " + sentence.Lower(h.waitingText()) + ". Nothing was released."}
	case r.Held == 0 && !r.Judge && h.AwaitsJudge(last):
		return &Refusal{ErrOvertaken, fmt.Sprintf("%s, and there is no ruling yet. A judge releases it; a player must confirm by naming it: "+
			"{\"hold\":false,\"held\":%d}.", h.waitingText(), h.Number)}
	}
	return nil
}

// ErrNotKept refuses to hold again what is no longer kept.
var ErrNotKept = &Refusal{ErrOvertaken, "This picture is no longer kept: only the last released pictures can be held " +
	"again, and for an hour."}

// Released is a released picture that can still be held again.
type Released struct {
	Number     uint64
	At         time.Time // when it was held
	AskedBy    string
	From, To   string // the pair that was chosen when it was released
	ReleasedAt time.Time
	By         string // who released it
}
