package web

import (
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"
)

// HoldRequest is what somebody wants of the held picture.
type HoldRequest struct {
	Hold bool // false: let go

	// Held names what is let go, as who asks knows it; with Hold what was let go and is
	// held again. 0 names nothing.
	Held  uint64
	Judge bool   // a judge asks
	By    string // who asks, for people

	AskJudge bool // it is held for a judge who is asked for
}

// Guarded reports whether what is held waits for a judge: one was asked for, or froze it,
// and no ruling on it has been recorded. last is the last ruling; nil: there is none.
func (h *HeldView) Guarded(last *RulingView) bool {
	return h != nil && (h.Asked != "" || h.Judge) && (last == nil || last.Held != h.Number)
}

// whoMost is how many characters a name has at most.
const whoMost = 80

// AskedWords says who asked for a judge: "Ada", "Ada, Ben and 2 more"; "the table" of nobody.
// It is no longer than a name may be.
func AskedWords(names []string) string {
	if len(names) == 0 {
		return "the table"
	}
	for n := len(names); ; n-- {
		text, more := strings.Join(names[:n], ", "), len(names)-n
		if more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
		switch {
		case utf8.RuneCountInString(text) <= whoMost:
			return text
		case n == 1:
			return names[0]
		}
	}
}

// waits says for people what is held for a judge: "A judge was asked for by player 2 at
// 14:03".
func (h *HeldView) waits() string {
	who := "A judge froze this"
	if h.Asked != "" {
		who = "A judge was asked for by " + h.Asked
	}
	return who + " at " + clockOf(h.At)
}

func clockOf(t time.Time) string { return t.Local().Format("15:04:05") }

// Refused says why what is held is not let go; nil: it is. What a judge was called for is
// let go by a judge, or by a player who names it: one that has not read what it is cannot.
func (r *HoldRequest) Refused(h *HeldView, last *RulingView) error {
	switch {
	case h == nil || r.Hold:
	case r.Held != 0 && r.Held != h.Number:
		return &Refusal{ErrOvertaken, "Something else is held by now: " + lowerFirst(h.waits()) + ". Nothing was let go."}
	case r.Held == 0 && !r.Judge && h.Guarded(last):
		return &Refusal{ErrOvertaken, fmt.Sprintf(
			"%s, and nobody has ruled yet. A judge lets it go; a player must confirm it by naming it: {\"hold\":false,\"held\":%d}.", h.waits(),
			h.Number)}
	}
	return nil
}

// ErrNotKept is why what was let go cannot be held again.
var ErrNotKept = &Refusal{ErrOvertaken, "This is no longer kept: what is let go can be held again for an hour, the last of " +
	"it only."}

// ReleasedView is what was held and let go, while it can still be held again.
type ReleasedView struct {
	Number   uint64
	At       time.Time // when it was held
	Asked    string
	From, To string // the pair that was chosen when it was let go
	LetGo    time.Time
	By       string // who let it go
}

type releasedJSON struct {
	Number  uint64 `json:"number"`
	AtMS    int64  `json:"at_unix_ms"`
	Asked   string `json:"asked"`
	From    string `json:"from"`
	To      string `json:"to"`
	LetGoMS int64  `json:"let_go_unix_ms"`
	By      string `json:"by"`
}

func releasedOf(all []ReleasedView) []releasedJSON {
	out := []releasedJSON{}
	for _, r := range all {
		out = append(out, releasedJSON{r.Number, r.At.UnixMilli(), r.Asked, r.From, r.To, r.LetGo.UnixMilli(), r.By})
	}
	return out
}

// freeze holds the picture and the answers, or lets them go: {"hold":true},
// {"hold":false}, {"hold":false,"held":1700000000001}. A judge holds again what was let
// go: {"hold":true,"held":1700000000001}.
func (s *Server) freeze(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Hold *bool  `json:"hold"`
		Held uint64 `json:"held"`
	}
	if problem := readJSON(http.MaxBytesReader(w, r.Body, bodyMost), &in, `{"hold":true}`); problem != "" {
		http.Error(w, problem, http.StatusBadRequest)
		return
	}
	if in.Hold == nil {
		http.Error(w, "hold is missing: true holds the picture and the answers, false lets them go.", http.StatusBadRequest)
		return
	}
	judge := s.judges(r)
	if *in.Hold && in.Held != 0 && !judge {
		w.Header().Set("Sightline-Needs", Judge.String())
		http.Error(w, "Only a judge holds again what was let go.", http.StatusForbidden)
		return
	}
	by := "a player"
	if judge {
		by = "a judge"
	}
	if name := s.session(r).Name; name != "" {
		by = name
	}
	if err := s.o.Freeze(HoldRequest{Hold: *in.Hold, Held: in.Held, Judge: judge, By: by}); err != nil {
		ruleError(w, err)
		return
	}
	s.answerHeld(w, *in.Hold)
}
