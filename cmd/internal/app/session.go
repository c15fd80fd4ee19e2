package app

import (
	"cmp"
	"fmt"
	"time"

	"sightline/cmd/internal/live"
	"sightline/engine"
	"sightline/vision"
)

// sessionFile is the file of what the table is busy with, in the data directory: a program
// that is started again in the middle of a game must not answer about a pair that nobody
// chose, nor lose what was held without a word. It lasts as long as an agreement does.
const sessionFile = "session.json"

// session is what the file holds.
type session struct {
	From   string    `json:"from"`
	To     string    `json:"to"`
	Arc    string    `json:"arc"`
	Chosen bool      `json:"chosen"` // by a person
	Held   bool      `json:"held"`
	HeldAt time.Time `json:"held_at"`
	Asked  string    `json:"asked"` // who asked for a judge; "": nobody
	At     time.Time `json:"at"`    // when it was written
}

// loadSession returns what the table was busy with before the program restarted;
// the zero session: nothing that still counts.
func loadSession(path string, now time.Time) (session, error) {
	var s session
	found, err := readKept(path, "session", "from, to, arc, chosen, held, held_at, asked and at", &s)
	if err != nil || !found {
		return session{}, err
	}
	for _, id := range []string{s.From, s.To} {
		if _, err := vision.CodeOfID(id); id != "" && !vision.Unnamed(id) && err != nil {
			return session{}, fmt.Errorf("session: %s: %w", path, err)
		}
	}
	s.Arc = cmp.Or(s.Arc, engine.ArcFront.String())
	if _, ok := arcNamed(s.Arc); !ok {
		return session{}, fmt.Errorf("session: %s: arc: expected one such as front, got %q", path, s.Arc)
	}
	if now.Sub(s.At) > agreementFor {
		return session{}, nil
	}
	return s, nil
}

// session returns what the table is busy with, without a time. The caller holds mu.
func (w *Watcher) session() session {
	s := session{From: w.choice.From, To: w.choice.To, Arc: w.choice.Arc.String(), Chosen: w.chosen, Held: w.held != nil}
	if w.held != nil && w.held.hold != nil {
		s.HeldAt, s.Asked = w.held.hold.At, w.held.hold.Asked
	}
	return s
}

// keepSession writes down what the table is busy with when that has changed. It belongs to
// the goroutine of tell: nobody who chooses waits for the disk.
func (w *Watcher) keepSession() {
	if w.o.SessionFile == "" {
		return
	}
	w.mu.Lock()
	s := w.session()
	w.mu.Unlock()
	nothing := w.kept == (session{}) && !s.Chosen && !s.Held // nobody has done anything yet: leave no file
	if s == w.kept || nothing {
		return
	}
	w.kept = s
	s.At = w.o.Now()
	err := writeKept(w.o.SessionFile, s)
	if err != nil && !w.unkept {
		w.o.Log.Warn("the chosen pair is not kept", "err", err)
		w.Tell("The chosen pair could not be written down: if the program restarts, choose it again.")
	}
	w.unkept = err != nil
}

// resume goes on with what the table was busy with when the program starts.
func (w *Watcher) resume(s session) {
	if s == (session{}) {
		return
	}
	w.kept = s // what is told here is told once: the file is written anew without it
	w.update(func() {
		switch arc, _ := arcNamed(s.Arc); {
		case s.From == "" && s.To == "":
		case vision.Unnamed(s.From) || vision.Unnamed(s.To): // such names may be other bases' now
			w.chosen = true
			w.note("Choose the pair again: before the program restarted it was one with a base that has no name.")
		default:
			w.choice, w.chosen = live.Choice{From: s.From, To: s.To, Arc: arc}, s.Chosen
			w.note(fmt.Sprintf("The pair is %s to %s, as before the program restarted.", cmp.Or(s.From, "nobody"), cmp.Or(s.To, "nobody")))
		}
		if !s.Held {
			return
		}
		text := "What was held before the restart is gone: it was held at " + s.HeldAt.Local().Format("15:04")
		if s.Asked != "" {
			text += ", when a judge was asked for by " + s.Asked
		}
		w.note(text + ". The answers are those of the table as it stands now.")
	})
}
