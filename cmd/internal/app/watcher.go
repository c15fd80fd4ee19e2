package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"sightline/calibration"
	"sightline/cmd/internal/web"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
)

// The watcher's times and lengths.
const (
	staleAfter  = 2 * time.Second        // an older picture gives no answers
	checkEvery  = time.Second            // how often the markers are looked at
	tellEvery   = 500 * time.Millisecond // a view is published at least this often
	movingBy    = 1 * geom.Millimeter    // a ship that moved further since the picture before is moving
	notesToKeep = 4
)

// Frames is where the watcher gets its pictures: a vision.Feed.
type Frames interface {
	Next(ctx context.Context, after uint64) (vision.Frame, error)
	Status() vision.FeedStatus
}

// Locator finds the ships in a picture: a vision.Locator.
type Locator interface {
	Locate(vision.Frame) (vision.Located, error)
}

// WatcherOptions are the watcher's parts.
type WatcherOptions struct {
	Frames     Frames
	Markers    vision.MarkerDetector // nil: no markers can be seen
	NewLocator func(calibration.Table) (Locator, error)
	Lens       func() (calibration.Intrinsics, bool) // the lens, once it is known
	Table      *calibration.Table                    // from a file; nil: from the markers
	TableName  string                                // names Table for people
	Layout     calibration.Layout
	Camera     bool // the pictures come from a camera: two are never exactly the same
	Rules      Rules
	Hub        *web.Hub
	PanelName  func() string
	Busy       func() bool // a calibration needs the camera: no answers; nil: never
	Now        func() time.Time
	Log        *slog.Logger
}

// Watcher goes from pictures to answers: it registers the camera, locates the
// ships, measures, and publishes what it knows.
type Watcher struct {
	o         WatcherOptions
	registrar registrar
	fresh     atomic.Pointer[recalibration]

	// Owned by the goroutine of Run.
	locator   Locator
	located   calibration.Table // what locator works with
	checkedAt time.Time
	blind     time.Time   // since when no check has succeeded
	size      image.Point // of the pictures
	pixels    []byte      // of the picture before, when Camera is set
	same      time.Time   // since when the pictures are exactly the same; zero: people were told

	mu         sync.Mutex // guards what follows: what the next view is made from
	frame      vision.Frame
	frameAt    time.Time // when it came in; zero before the first one
	ended      bool
	registered web.Register
	region     image.Rectangle
	unready    string // why there is no registration
	broken     string // why locating failed
	suspect    bool   // the camera seems to have moved; the next picture tells
	last       vision.Located
	moving     map[string]geom.Length
	result     engine.Result
	notes      []web.Note
	choice     web.Choice
	chosen     bool // by a person: the program no longer chooses by itself
}

// NewWatcher returns a watcher.
func NewWatcher(o WatcherOptions) *Watcher {
	return &Watcher{
		o:         o,
		registrar: registrar{detector: o.Markers, layout: o.Layout, lens: o.Lens},
		choice:    web.Choice{Arc: engine.ArcFront},
	}
}

// String names the task.
func (w *Watcher) String() string { return "watcher" }

// Run works until ctx is cancelled.
func (w *Watcher) Run(ctx context.Context) error {
	var telling sync.WaitGroup
	defer telling.Wait()
	telling.Go(func() { w.tell(ctx) })
	var seq uint64
	for {
		f, err := w.o.Frames.Next(ctx, seq)
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, io.EOF):
			w.update(func() { w.ended = true })
			<-ctx.Done()
			return nil
		case err != nil:
			return fmt.Errorf("app: next picture: %w", err)
		}
		seq = f.Seq
		w.look(f)
	}
}

// tell publishes now and then, so that everyone hears even when no picture comes.
func (w *Watcher) tell(ctx context.Context) {
	ticker := time.NewTicker(tellEvery)
	defer ticker.Stop()
	for {
		w.update(func() {})
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// update changes what is known and publishes it.
func (w *Watcher) update(change func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change()
	w.o.Hub.Publish(w.view(w.o.Now()))
}

// note remembers something that people should know. The caller holds mu.
func (w *Watcher) note(text string) {
	w.o.Log.Info(text)
	w.notes = append([]web.Note{{At: w.o.Now(), Text: text}}, w.notes...)
	w.notes = w.notes[:min(len(w.notes), notesToKeep)]
}

// look takes one picture all the way.
func (w *Watcher) look(f vision.Frame) {
	at := w.o.Now()
	if w.busy() {
		w.update(func() { w.frame, w.frameAt = f, at })
		return
	}
	w.prepare(f)
	if w.locator == nil {
		w.update(func() { w.frame, w.frameAt = f, at })
		return
	}
	located, err := w.locator.Locate(f)
	if err != nil {
		w.update(func() { w.frame, w.frameAt, w.broken = f, at, err.Error() })
		return
	}
	located.Scene.Rules, located.Scene.Profile = w.o.Rules.Edition, w.o.Rules.Profile
	result, err := engine.Measure(&located.Scene, engine.Options{Sigmas: w.o.Rules.Sigmas})
	w.update(func() {
		w.frame, w.frameAt, w.broken = f, at, ""
		if err != nil {
			w.broken = err.Error()
		}
		w.moving = moved(w.last.Scene, located.Scene)
		w.last, w.result = located, result
		w.chooseFirst()
	})
}

// moved returns the ships that are further than movingBy from where they were.
func moved(before, now engine.Scene) map[string]geom.Length {
	out := map[string]geom.Length{}
	for _, s := range now.Ships {
		i := slices.IndexFunc(before.Ships, func(b engine.Ship) bool { return b.ID == s.ID })
		if i < 0 {
			continue
		}
		if d := before.Ships[i].Pose.Distance(s.Pose.Point); d > movingBy {
			out[s.ID] = d
		}
	}
	return out
}

// prepare sees to it that there is a locator that fits the picture, and that the
// camera has not moved since.
func (w *Watcher) prepare(f vision.Frame) {
	w.checkSize(f)
	w.checkFrozen(f)
	w.takeRecalibration()
	if w.locator == nil && w.o.Table != nil && w.unready == "" {
		w.adoptFile(f)
	}
	now := w.o.Now()
	if w.o.Markers == nil {
		if w.locator == nil && w.o.Table == nil {
			w.setUnready("this program was built without OpenCV and cannot see the mat's markers")
		}
		return
	}
	if now.Sub(w.checkedAt) < checkEvery && !w.suspect {
		return
	}
	w.checkedAt = now
	table, err := w.registrar.register(f.Gray)
	if err != nil {
		w.checkFailed(err, now)
		return
	}
	w.blind = time.Time{}
	table.Made = f.Captured
	w.checked(table)
}

// checkSize starts anew when the pictures have another size than before: whoever
// changed a camera's settings need not start the program again.
func (w *Watcher) checkSize(f vision.Frame) {
	width, height := f.Size()
	before := w.size
	w.size = image.Pt(width, height)
	if before == w.size || before == (image.Point{}) {
		return
	}
	w.locator, w.checkedAt, w.blind = nil, time.Time{}, time.Time{}
	w.update(func() {
		w.registered, w.region, w.unready, w.broken, w.suspect = web.Register{}, image.Rectangle{}, "", "", false
		w.last, w.result, w.moving = vision.Located{}, engine.Result{}, nil
		w.note(fmt.Sprintf("The picture's size changed from %d×%d to %d×%d.", before.X, before.Y, width, height))
	})
}

// frozenAfter is how long a camera may send exactly the same picture. A sensor's
// noise alone makes each one different, but an encoder may hide it for some seconds.
const frozenAfter = 15 * time.Second

// checkFrozen tells people of a camera that sends the same picture again and again.
// It is no more than a note: someone may show a still picture on purpose.
func (w *Watcher) checkFrozen(f vision.Frame) {
	if !w.o.Camera {
		return
	}
	now := w.o.Now()
	gap := now.Sub(w.frameAt) > staleAfter // only this goroutine writes frameAt
	if gap || !bytes.Equal(w.pixels, f.Gray.Pix) {
		w.pixels, w.same = f.Gray.Pix, now
		return
	}
	if !w.same.IsZero() && now.Sub(w.same) > frozenAfter {
		w.same = time.Time{}
		w.update(func() {
			w.note(fmt.Sprintf("The camera has sent exactly the same picture for %.0f s: is it frozen?", frozenAfter.Seconds()))
		})
	}
}

// adoptFile takes the calibration file, made to fit the picture's size.
func (w *Watcher) adoptFile(f vision.Frame) {
	t := *w.o.Table
	width, height := f.Size()
	lens, err := t.Intrinsics.Scaled(width, height)
	if err != nil {
		w.setUnready(fmt.Sprintf("%s: %v", w.o.TableName, err))
		return
	}
	t.Intrinsics = lens
	w.adopt(t, w.o.TableName, "")
}

// blindAfter is how long no marker check may succeed before people are told.
const blindAfter = 20 * time.Second

// checkFailed takes a look at the markers that gave no registration: usually a
// hand over them. An older registration stays.
func (w *Watcher) checkFailed(err error, now time.Time) {
	if w.locator == nil {
		w.setUnready(strings.TrimPrefix(err.Error(), "calibration: register: "))
		return
	}
	if w.blind.IsZero() {
		w.blind = now
	}
	w.update(func() {
		w.suspect = false
		if now.Sub(w.blind) > blindAfter {
			w.blind = now
			w.note("The mat's markers are not seen: should the camera move now, nobody would notice.")
		}
	})
}

// checked compares a new registration with the one in use.
func (w *Watcher) checked(table calibration.Table) {
	if w.locator == nil {
		w.adopt(table, "the mat's markers", fmt.Sprintf("Registered from %d markers, %.2f px rms.", len(table.Used), table.RMS))
		return
	}
	shift := w.located.Shift(&table)
	switch {
	case shift <= movedBy || len(table.Used) < markersToTrust:
		w.update(func() { w.suspect = false })
	case !w.suspect: // once may be a hand at a marker; the next picture decides
		w.update(func() { w.suspect = true })
	default:
		w.adopt(table, "the mat's markers", fmt.Sprintf("The camera moved by %.1f mm; registered again from %d markers.", shift.Millimeters(), len(table.Used)))
	}
}

// adopt works with a registration from now on.
func (w *Watcher) adopt(t calibration.Table, from, note string) {
	locator, err := w.o.NewLocator(t)
	if err != nil {
		w.setUnready(err.Error())
		return
	}
	w.locator, w.located = locator, t
	w.update(func() {
		w.suspect, w.unready = false, ""
		w.registered = web.Register{From: from, RMSPx: t.RMS, Markers: t.Used, At: w.o.Now()}
		w.region = regionOf(&t)
		w.last = vision.Located{} // the old places are those of another registration
		if note != "" {
			w.note(note)
		}
	})
}

func (w *Watcher) setUnready(why string) {
	w.update(func() {
		if w.unready != why {
			w.o.Log.Info("no calibration", "why", why)
		}
		w.unready = why
	})
}

// recalibration is a calibration that was made while the program runs.
type recalibration struct {
	table *calibration.Table // nil: only the lens is new
	name  string
}

// Recalibrate makes the watcher begin anew with what a calibration has just found: a
// table, or, when that is nil, whatever the lens (WatcherOptions.Lens) now says. It
// is safe to call while Run runs.
func (w *Watcher) Recalibrate(t *calibration.Table, name string) {
	w.fresh.Store(&recalibration{t, name})
}

// takeRecalibration takes over what Recalibrate was given.
func (w *Watcher) takeRecalibration() {
	r := w.fresh.Swap(nil)
	if r == nil {
		return
	}
	if r.table != nil {
		w.o.Table, w.o.TableName, w.o.Layout = r.table, r.name, r.table.Layout
		w.registrar.layout = r.table.Layout
	}
	w.locator, w.checkedAt, w.blind = nil, time.Time{}, time.Time{}
	w.update(func() {
		w.registered, w.unready, w.broken, w.suspect = web.Register{}, "", "", false
		w.last, w.result, w.moving = vision.Located{}, engine.Result{}, nil
	})
}

// busy reports whether a calibration needs the camera.
func (w *Watcher) busy() bool { return w.o.Busy != nil && w.o.Busy() }

// Choose makes a pair the chosen one.
func (w *Watcher) Choose(c web.Choice) {
	w.update(func() { w.choice, w.chosen = c, true })
}

// chooseFirst chooses a first pair when both players have ships on the table and
// nobody has chosen yet: player 1's first ship and the enemy nearest to it.
func (w *Watcher) chooseFirst() {
	if w.chosen || w.choice.From != "" {
		return
	}
	ships := w.last.Scene.Ships
	i := slices.IndexFunc(ships, func(s engine.Ship) bool { return s.Player == 1 })
	if i < 0 {
		return
	}
	best := -1
	for k, s := range ships {
		if s.Player == 2 && (best < 0 || s.Pose.Distance(ships[i].Pose.Point) < ships[best].Pose.Distance(ships[i].Pose.Point)) {
			best = k
		}
	}
	if best >= 0 {
		w.choice.From, w.choice.To = ships[i].ID, ships[best].ID
	}
}
