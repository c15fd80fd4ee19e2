package enrol

import (
	"context"
	"errors"
	"fmt"
	"image"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"sightline/calibration"
	"sightline/cmd/internal/live"
	"sightline/cmd/internal/sentence"
	"sightline/vision"
	"sightline/vision/jig"
	"sightline/vision/look"
)

// Options are the page's dependencies.
type Options struct {
	Hub     *live.Hub
	Markers vision.MarkerDetector // nil: the sheet cannot be seen
	Dir     string                // the looks' folder
	Changed func()                // tells the program that the folder's looks have changed
	Now     func() time.Time
	Log     *slog.Logger
}

const (
	lookEvery = 400 * time.Millisecond // interval between pictures while a person shows a ship
	lookWatch = 10 * time.Second       // how long pictures are read after the page's last request
)

// Desk shows one ship after another to the camera. It is safe for concurrent use.
type Desk struct {
	o Options

	mu      sync.Mutex // guards the fields below
	session *jig.Session
	asked   time.Time
	before  vision.Frame // the last picture
	left    vision.Frame // that from which the last turn was taken, unless it was a first one: the base may still stand there
	leftBy  string       // the ship whose base that is
	why     string       // why no view was taken from it
	sheet   bool         // the picture shows the sheet
	view    *image.NRGBA // the rectified sheet
	seq     uint64       // of view
	learnt  string       // the last learnt look
	stamp   string       // of the folder when it was last read
	read    *look.Library
	problem error // why it could not be read
}

// New returns a desk without a ship.
func New(o Options) *Desk { return &Desk{o: o} }

// String names the task.
func (d *Desk) String() string { return "looks" }

// Run reads pictures while a person shows a ship, until ctx is cancelled.
func (d *Desk) Run(ctx context.Context) error {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
			d.Look()
		}
	}
}

// Look reads the newest picture if a person shows a ship.
func (d *Desk) Look() {
	d.mu.Lock()
	session, watched := d.session, d.o.Now().Sub(d.asked) < lookWatch
	d.mu.Unlock()
	if session == nil || !watched {
		return
	}
	state := d.o.Hub.Newest()
	table, err := ready(&state)
	if err == nil && d.o.Markers == nil {
		err = errors.New("this program cannot see markers: it was built without OpenCV")
	}
	var seen []calibration.MarkerSighting
	if err == nil {
		var found []vision.Detection
		if found, err = d.o.Markers.DetectMarkers(state.Frame.Gray); err == nil {
			seen = vision.Sightings(found)
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.session != session || state.Frame.Gray != nil && state.Frame.Seq == d.before.Seq && d.before.Gray != nil {
		return // another session began, or there is no new picture
	}
	before := d.before
	d.before = state.Frame
	if err != nil {
		d.why, d.sheet = sentence.Of(err), false
		return
	}
	d.add(table, before, state.Frame, seen)
}

// add adds a picture to the session. The caller holds mu.
func (d *Desk) add(table calibration.Table, before, now vision.Frame, seen []calibration.MarkerSighting) {
	place, err := jig.Find(&table, seen)
	if d.sheet = err == nil; !d.sheet {
		d.why = sentence.Of(err)
		return
	}
	d.view = place.View(&table, now)
	d.seq++
	if !jig.Rests(&table, place, before, now) {
		return // the message about the last one still applies
	}
	if d.session.Next() == jig.Turns { // it could not be saved
		d.finish()
		return
	}
	if d.session.Next() == 0 && d.left.Gray != nil && jig.Rests(&table, place, d.left, now) {
		d.why = fmt.Sprintf("The base of %s still stands there as it did last: put the base of %s there, its front to the arrow 1.", d.leftBy,
			d.session.Card().Name)
		return
	}
	r := d.session.Add(table, now, seen)
	if r.Err == nil {
		if d.left, d.leftBy = now, d.session.Card().Name; r.Turn == 0 {
			d.left = vision.Frame{}
		}
	}
	switch {
	case errors.Is(r.Err, jig.ErrTurn): // the hand that turns the base comes into the picture
		d.why = ""
	case r.Err != nil:
		d.why = sentence.Of(r.Err)
	default:
		d.why = ""
		d.finish()
	}
}

// finish saves the look after all turns were taken. The caller holds mu.
func (d *Desk) finish() {
	if d.session.Next() < jig.Turns {
		return
	}
	l, err := d.session.Learn()
	if err != nil {
		d.why = sentence.Of(fmt.Errorf("%w; begin again with the first turn", err))
		return
	}
	if err := l.Save(d.o.Dir); err != nil {
		d.why = sentence.Of(fmt.Errorf("it cannot be saved, and is tried again: %w", err))
		return
	}
	d.o.Log.Info("looks: learnt", "look", l.Name)
	d.session, d.learnt = nil, l.Name
	d.o.Changed()
}

// ready returns the table of a state. Its error tells people why nothing can be shown.
func ready(s *live.State) (calibration.Table, error) {
	switch {
	case s.Held:
		return calibration.Table{}, live.ErrReleaseFirst
	case s.Frame.Gray == nil || len(s.Register.File) == 0 || s.Health.Code != live.OK: // a look through a moved camera would be wrong
		return calibration.Table{}, fmt.Errorf("%s: %s", sentence.Lower(s.Health.Title), sentence.Lower(s.Health.Detail))
	}
	t, err := calibration.ParseTableFile(s.Register.File)
	if w, h := s.Frame.Size(); err == nil && (w != t.Intrinsics.Width || h != t.Intrinsics.Height) {
		err = errors.New("the calibration is for pictures of another size")
	}
	return t, err
}

// begin begins to show a ship, with the first turn. While another one is being shown it is refused: two people may have the page
// open, and the base on the sheet would be learnt under the wrong name.
func (d *Desk) begin(c look.Card) error {
	s, err := jig.NewSession(c)
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.session != nil && d.session.Card().Name != c.Name && d.o.Now().Sub(d.asked) < lookWatch {
		return &live.Refusal{Kind: live.ErrOvertaken, Text: d.session.Card().Name + " is being shown now, here or on another device: show " +
			"all its turns, or press Stop."}
	}
	d.session, d.before, d.why, d.view, d.sheet, d.learnt, d.asked = s, vision.Frame{}, "", nil, false, "", d.o.Now()
	return nil
}

// stop ends showing.
func (d *Desk) stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.session, d.view, d.why = nil, nil, ""
}

// known reads the folder if it has changed since the last call. A missing folder counts as empty. The caller must not hold mu.
func (d *Desk) known() (*look.Library, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	stamp := StampOf(d.o.Dir)
	if d.read == nil && d.problem == nil || stamp != d.stamp {
		d.stamp = stamp
		d.read, d.problem = look.Load(d.o.Dir)
		if errors.Is(d.problem, fs.ErrNotExist) {
			d.read, d.problem = &look.Library{}, nil
		}
	}
	return d.read, d.problem
}

// StampOf changes when a file of a folder does.
func StampOf(dir string) string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err.Error()
	}
	var out strings.Builder
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			fmt.Fprintln(&out, e.Name(), info.Size(), info.ModTime().UnixNano())
		}
	}
	return out.String()
}

// errChanged is the error for a look that was changed since the requester saw it.
var errChanged = &live.Refusal{Kind: live.ErrOvertaken, Text: "Someone has changed this card since you looked at it. It is shown as " +
	"it is now: look again."}

// errGone is the error for a look that was deleted meanwhile.
var errGone = errors.New("this look is no longer there: it was deleted or renamed")

// change changes a look's name, its ships, or the direction of its front. version is that of the picture that the requester saw;
// "": any.
func (d *Desk) change(name, version string, f func(*look.Look) (*look.Look, error)) error {
	b, err := d.known()
	if err != nil {
		return err
	}
	i := slices.IndexFunc(b.Looks, func(l *look.Look) bool { return l.Name == name })
	if i < 0 {
		return errGone
	}
	if version != "" && version != b.Looks[i].Version() {
		return errChanged
	}
	l, err := f(b.Looks[i])
	if err != nil {
		return err
	}
	if l.Name != name && slices.ContainsFunc(b.Looks, func(o *look.Look) bool { return o.Name == l.Name }) {
		return fmt.Errorf("%s has a look of its own: delete that first", l.Name)
	}
	if l.Name == name {
		err = l.Save(d.o.Dir)
	} else {
		err = l.Rename(d.o.Dir, name)
	}
	d.o.Changed()
	return unwritten(err)
}

// unwritten returns the refusal for what the disk did not take, or nil.
func unwritten(err error) error {
	if err == nil {
		return nil
	}
	return &live.Refusal{Kind: live.ErrUnwritten, Text: sentence.Of(err)}
}

// remove deletes a look's files.
func (d *Desk) remove(name string) error {
	if err := look.CheckName(name); err != nil {
		return err
	}
	switch err := look.Remove(d.o.Dir, name); {
	case errors.Is(err, fs.ErrNotExist):
		return errGone
	case err != nil:
		return unwritten(fmt.Errorf("%s cannot be deleted: %w", name, err))
	}
	return nil
}

// shipsOf reads "A1 A2", "A1,A2" or "A1+A2".
func shipsOf(text string) []string {
	return strings.FieldsFunc(strings.ToUpper(text), func(r rune) bool { return r == ' ' || r == ',' || r == '+' })
}
