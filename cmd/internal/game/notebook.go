package game

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"sightline/cmd/internal/live"
)

// notesToKeep is how many notes are shown.
const notesToKeep = 4

// notebook has the notes for people, newest first.
type notebook struct {
	now   func() time.Time
	log   *slog.Logger
	notes []live.Note
	falls map[string]cameraFalls // by secondary camera, while notes of it are shown
}

// add adds a note, and drops the oldest.
func (n *notebook) add(text string) {
	n.log.Info(text)
	n.notes = append([]live.Note{{At: n.now(), Text: text}}, n.notes...)
	n.notes = n.notes[:min(len(n.notes), notesToKeep)]
}

// cameraFalls counts how often a secondary camera dropped out while notes about it were shown.
type cameraFalls struct {
	count int
	since time.Time
	why   string // of the last time
}

// CameraChange is a secondary camera that dropped out or came back.
type CameraChange struct {
	Name   string
	Why    string // why it dropped out; "": it came back
	Detail string
}

// camera notes a change of a secondary camera. A camera that drops out again while its note is
// still shown keeps one note, with a count, so that it does not displace others.
func (n *notebook) camera(c CameraChange) {
	out, in := c.Name+" is left out", c.Name+" is back"
	of := func(note live.Note) bool {
		return strings.HasPrefix(note.Text, out) || strings.HasPrefix(note.Text, in)
	}
	f := n.falls[c.Name]
	if !slices.ContainsFunc(n.notes, of) {
		f = cameraFalls{since: n.now()}
	}
	text, last := in+".", ", last: "+f.why
	if c.Why != "" {
		f.count, f.why = f.count+1, c.Why
		text, last = out+": "+c.Why+". "+c.Detail, ""
	}
	if f.count > 1 {
		n.notes = slices.DeleteFunc(slices.Clone(n.notes), of)
		text += fmt.Sprintf(" It was left out %d times since %s%s.", f.count, f.since.Format("15:04"), last)
	}
	if n.falls == nil {
		n.falls = map[string]cameraFalls{}
	}
	n.falls[c.Name] = f
	n.add(text)
}
