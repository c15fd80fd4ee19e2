package looks

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"sightline/calibration"
	"sightline/engine"
	"sightline/vision"
	"sightline/vision/jig"
	"sightline/vision/look"
	"sightline/vision/token"
)

// Jig guides a person at a terminal who shows a ship's card on the jig sheet.
type Jig struct {
	session  *jig.Session
	live     bool // pictures come from a camera: only a base at rest counts
	progress io.Writer
	before   vision.Frame
	told     string // the last message, if live
	last     error  // why the last picture was not taken
}

// NewJig parses the values of --jig (A1,small or A1+A2,small) and --name, and begins.
func NewJig(text string, names []string, live bool, progress io.Writer) (*Jig, error) {
	part := strings.Split(text, ",")
	if len(part) != 2 {
		return nil, fmt.Errorf("--jig %q: expected SHIP,BASE, such as A1,small", text)
	}
	ids := strings.Split(strings.TrimSpace(part[0]), "+")
	for _, id := range ids {
		if _, err := token.CodeOfID(id); err != nil {
			return nil, fmt.Errorf("--jig %q: %w", text, err)
		}
	}
	base, err := engine.ParseBase(strings.TrimSpace(part[1]))
	if err != nil {
		return nil, fmt.Errorf("--jig %q: %w", text, err)
	}
	if len(names) > 1 {
		return nil, fmt.Errorf("--name: expected one name at most, of the ship that --jig says, got %d", len(names))
	}
	c := look.Card{Name: ids[0], Ships: ids, Base: base}
	if len(names) == 1 {
		c.Pilot = strings.TrimSpace(names[0])
	}
	s, err := jig.NewSession(c)
	if err != nil {
		return nil, fmt.Errorf("--jig %q: %w", text, err)
	}
	j := &Jig{session: s, live: live, progress: progress}
	if live {
		j.tell("push the %v base of %s into the corner, without its miniature and pegs, its front to the arrow 1", base, ids[0])
	}
	return j, nil
}

// tell prints a message. If live, it does not repeat the last one.
func (j *Jig) tell(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if !j.live || text != j.told {
		fmt.Fprintln(j.progress, text)
	}
	j.told = text
}

// Add adds a picture. useful reports whether it gave a view, enough whether all four quarter turns were taken.
func (j *Jig) Add(t calibration.Table, f vision.Frame, seen []calibration.MarkerSighting) (useful, enough bool) {
	if j.live {
		before := j.before
		j.before = f
		if place, err := jig.Find(&t, seen); err == nil && !jig.Rests(&t, place, before, f) {
			return false, false
		}
	}
	r := j.session.Add(t, f, seen)
	j.last = r.Err
	next := j.session.Next()
	switch {
	case j.live && errors.Is(r.Err, jig.ErrTurn): // just taken, and about to be turned
		return false, false
	case r.Err != nil && j.live:
		j.tell("not taken: %v", r.Err)
		return false, false
	case r.Err != nil:
		j.tell("%s: not taken: %v", f.Name, r.Err)
		return false, false
	case j.live && next < jig.Turns:
		j.tell("turn %d of %d is taken: turn the base to the arrow %d", r.Turn+1, jig.Turns, next+1)
	default:
		j.tell("%s: turn %d of %d is taken", f.Name, r.Turn+1, jig.Turns)
	}
	return true, next == jig.Turns
}

// Learn makes the look of the four turns. If one is missing, the error says why the last picture was not taken.
func (j *Jig) Learn() (*look.Look, error) {
	name := j.session.Card().Name
	if j.session.Next() < jig.Turns && j.last != nil {
		return nil, fmt.Errorf("%s: turn %d was not shown: %w", name, j.session.Next()+1, j.last)
	}
	l, err := j.session.Learn()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return l, nil
}
