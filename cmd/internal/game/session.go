package game

import (
	"cmp"
	"fmt"
	"time"

	"sightline/cmd/internal/kept"
	"sightline/cmd/internal/live"
	"sightline/engine"
	"sightline/vision/token"
)

// sessionFile stores the chosen pair, and that a picture was held, in the data directory: after a
// restart during a game the program must not answer about a pair that no one chose, nor lose a
// held picture silently. It is valid as long as an agreement.
const sessionFile = "session.json"

// session is the content of the file.
type session struct {
	From   string    `json:"from"`
	To     string    `json:"to"`
	Arc    string    `json:"arc"`
	Chosen bool      `json:"chosen"` // by a person
	Held   bool      `json:"held"`
	HeldAt time.Time `json:"held_at"`
	Asked  string    `json:"asked"` // who called a judge; "": no one

	kept.Stamp // when it was written
}

// loadSession returns the stored session; the zero session if there is none that still counts.
func loadSession(path string, now time.Time, clock *kept.Clock) (session, error) {
	var s session
	found, err := readFile(path, "session", &s)
	if err != nil || !found {
		return session{}, err
	}
	for _, id := range []string{s.From, s.To} {
		if _, err := token.CodeOfID(id); id != "" && !token.Unidentified(id) && err != nil {
			return session{}, fmt.Errorf("session: %s: %w", path, err)
		}
	}
	s.Arc = cmp.Or(s.Arc, engine.ArcFront.String())
	if _, err := engine.ParseArc(s.Arc); err != nil {
		return session{}, fmt.Errorf("session: %s: arc: expected one such as front, got %q", path, s.Arc)
	}
	if age, known := clock.Since(s.Stamp, now); known && age > agreementFor {
		return session{}, nil
	}
	return s, nil
}

// session returns the current session, without its time. The caller holds mu.
func (g *Game) session() session {
	s := session{From: g.choice.From, To: g.choice.To, Arc: g.choice.Arc.String(), Chosen: g.chosen, Held: g.held != nil}
	if g.held != nil && g.held.hold != nil {
		s.HeldAt, s.Asked = g.held.hold.At, g.held.hold.AskedBy
	}
	return s
}

// storeSession stores the session if it has changed. Only Run calls it, so that choosing never
// waits for the disk.
func (g *Game) storeSession() {
	if g.o.Dir == "" {
		return
	}
	g.mu.Lock()
	s := g.session()
	g.mu.Unlock()
	nothing := g.stored == (session{}) && !s.Chosen && !s.Held // do not create a file before anyone does something
	if s == g.stored || nothing {
		return
	}
	dated := s
	dated.Stamp = g.o.Clock.Stamp(g.o.Now())
	err := writeFile(g.file(sessionFile), dated)
	if err == nil { // else the next call tries again
		g.stored = s
	}
	if err != nil && !g.failed {
		g.o.Log.Warn("the chosen pair is not stored", "err", err)
		g.Note("The chosen pair could not be saved: if the program restarts, choose it again.")
	}
	g.failed = err != nil
}

// resume continues a stored session when the program starts.
func (g *Game) resume(s session) {
	if s == (session{}) {
		return
	}
	g.stored = s // the notes below are made once: the file is then written without what they say
	g.update(func() {
		switch arc, _ := engine.ParseArc(s.Arc); {
		case s.From == "" && s.To == "":
		case token.Unidentified(s.From) || token.Unidentified(s.To): // such names may be other bases' now
			g.chosen = true
			g.note("Choose the pair again: before the restart it included a base without a name.")
		default:
			g.choice, g.chosen = live.Choice{From: s.From, To: s.To, Arc: arc}, s.Chosen
			g.note(fmt.Sprintf("The pair is %s to %s, as before the program restarted.", cmp.Or(s.From, "nobody"), cmp.Or(s.To, "nobody")))
		}
		if !s.Held {
			return
		}
		text := "What was held before the restart is gone: it was held at " + s.HeldAt.Local().Format("15:04")
		if s.Asked != "" {
			text += ", when a judge was called by " + s.Asked
		}
		g.note(text + ". The answers are those of the table as it stands now.")
	})
}

// heldUnsaved is the note that a crash would lose what is held.
const heldUnsaved = "The held picture could not be saved: if the program restarts before it is released, it is lost."

// heldAgainText is the note that what was held is held again.
func heldAgainText(h *live.Held) string {
	text := "What was held before the restart is held again: it was held at " + h.At.Local().Format("15:04:05")
	if h.AskedBy != "" {
		text += ", when a judge was called by " + h.AskedBy
	}
	return text + "."
}
