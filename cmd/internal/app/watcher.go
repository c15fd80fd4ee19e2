package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"sightline/calibration"
	"sightline/calibration/verify"
	"sightline/calibration/watch"
	"sightline/cmd/internal/live"
	"sightline/engine"
	"sightline/hardware"
	"sightline/vision"
)

// The watcher's times and lengths.
const (
	staleAfter  = 2 * time.Second        // an older picture gives no answers (WatcherOptions.StaleAfter)
	checkEvery  = time.Second            // how often the camera's place is looked for while it is not known
	againEvery  = 300 * time.Millisecond // how often it is looked for after a move
	tellEvery   = 500 * time.Millisecond // a view is published at least this often
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
	// NewSteady returns what tells that a picture need not be searched as it shows what
	// the one before showed; nil: every picture is searched.
	NewSteady func(calibration.Table) (*vision.Steady, error)
	Lens      func() (calibration.Intrinsics, bool) // the lens, once it is known
	Table     *calibration.Table                    // from a file; nil: from the markers
	TableName string                                // names Table for people
	TableFile string                                // its path, for its verification; "": nobody verified it
	LensName  string                                // names the lens file for people, with its integrity
	Layout    calibration.Layout
	Record    string // file for each registration, older ones are kept beside it; "": none
	// FrozenAfter is how long exactly the same picture may come from a camera, of which
	// no two are; 0: for ever.
	FrozenAfter time.Duration
	// Track finds the markers where they are expected; nil: vision.TrackMarkers.
	Track      func(*image.Gray, []calibration.MarkerSighting) []calibration.MarkerSighting
	Tracking   vision.TrackerOptions // how ships are followed; zero: the defaults
	Rules      Rules
	Match      live.Match // as it was kept
	MatchFile  string     // where it is kept; "": nowhere
	Judges     bool       // there is a judge's secret: only judges change the agreement on measuring
	Hub        *live.Hub
	PanelName  func() string
	Screen     func(*live.State) hardware.Screen // what the panel's menu shows; nil: the answer
	Labels     [hardware.NumLamps]string         // beside the lamps
	Busy       func() bool                       // a calibration needs the camera: no answers; nil: never
	StaleAfter time.Duration                     // an older picture gives no answers; 0: staleAfter
	Now        func() time.Time
	Log        *slog.Logger
	Learnt     *learnt // what NewLocator finds obstacles with; nil: it knows by itself
	// Exposure is shown the light once a second, and whether something is held that a change of
	// the exposure would spoil; it returns how the exposure stands. nil: nothing sets it.
	Exposure func(l vision.Light, busy bool) vision.ExposureState
	Eyes     []Eye // further cameras, whose views are fused with this one's
	Name     string
	Eye      bool // this is such a further camera: what it sees is measured by another

	AgreementFile string // where the agreement on measuring is kept; "": nowhere
	SessionFile   string // where the chosen pair and what is held are written down; "": nowhere
}

// Watcher goes from pictures to answers: it registers the camera, locates the
// ships, measures, and publishes what it knows.
type Watcher struct {
	o         WatcherOptions
	registrar registrar
	fresh     atomic.Pointer[recalibration]
	placing   atomic.Pointer[placing]
	relearnt  atomic.Bool
	looking   heart // of the loop over the pictures
	telling   heart // of tell

	// Owned by the goroutine of Run.
	locator   Locator
	located   calibration.Table // what locator works with
	checkedAt time.Time         // when the camera's place was looked for last
	guard     guard
	pictures  pictureCheck
	lights    lightWatch
	tracker   *vision.Tracker
	places    *vision.Places
	steady    *vision.Steady // nil: every picture is searched
	measured  Rules          // that the last search was measured by
	size      image.Point    // of the pictures
	stood     engine.Scene   // that was measured last
	measurer  engine.Measurer
	eyesPast  map[string]pastObstacles
	taken     takenPicture // the one that was searched last

	recordSeen fileStamp // of the verification that was read last
	recordAt   time.Time // when its file was looked at last

	kept   session // as it was written down last; owned by tell
	unkept bool    // it could not be

	mu         sync.Mutex // guards what follows: what the next view is made from
	frame      vision.Frame
	frameAt    time.Time // when it came in; zero before the first one
	ended      bool
	registered live.Register
	region     image.Rectangle
	unready    string // why there is no registration
	broken     string // why locating failed
	watched    watch.Verdict
	watching   bool         // watched says something: markers of this registration were seen
	failed     string       // why registering again after a move failed
	doubtful   bool         // the markers contradicted the calibration file, once
	torn       []int        // markers that went away together; empty: none
	light      vision.Light // as measured last
	advice     []string     // what to do about it
	exposure   vision.ExposureState
	picture    pictureState // what is wrong with the pictures
	last       vision.Located
	tracks     []vision.Track // of last's ships, in their order
	result     engine.Result
	notes      []live.Note
	held       *shown       // a person froze it; nil: live
	released   []released   // what was let go, the newest first
	holds      uint64       // the number of what was held last
	ruling     *live.Ruling // the last ruling; nil: none yet

	rulingsTrouble string // what stops rulings from being recorded; "": nothing is known

	choice    live.Choice
	match     live.Match
	policy    live.Policy
	chosen    bool // by a person: the program no longer chooses by itself
	cameras   []live.Camera
	eyesWere  map[string]live.Code // the further cameras' states, by name
	conflicts map[string]bool      // ships about which the cameras contradict each other, as told
	twins     map[string]time.Time // ships whose code was seen twice, and when last
	eyesFell  map[string]eyeFalls  // by camera, while notes of it are shown
}

// NewWatcher returns a watcher.
func NewWatcher(o WatcherOptions) *Watcher {
	if o.Track == nil {
		o.Track = vision.TrackMarkers
	}
	if o.StaleAfter == 0 {
		o.StaleAfter = staleAfter
	}
	w := &Watcher{
		o:         o,
		registrar: registrar{detector: o.Markers, layout: o.Layout, lens: o.Lens},
		guard:     guard{detector: o.Markers, track: o.Track},
		pictures:  pictureCheck{frozenAfter: o.FrozenAfter},
		tracker:   vision.NewTracker(o.Tracking),
		places:    vision.NewPlaces(),
		choice:    live.Choice{Arc: engine.ArcFront},
		match:     o.Match,
		policy:    live.Policy{Measuring: o.Rules.Measuring, JudgesOnly: o.Judges},
	}
	w.kept = w.session()
	return w
}

// String names the task.
func (w *Watcher) String() string { return cmp.Or(w.o.Name, "watcher") }

// Run works until ctx is cancelled.
func (w *Watcher) Run(ctx context.Context) error {
	var telling sync.WaitGroup
	defer telling.Wait()
	telling.Go(func() { w.tell(ctx) })
	var seq uint64
	for {
		w.looking.Rest()
		f, err := w.o.Frames.Next(ctx, seq)
		w.looking.Beat()
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, io.EOF):
			w.update(func() { w.ended = true })
			w.looking.Rest()
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
		w.keepSession()
		w.telling.Beat()
		select {
		case <-ctx.Done():
			w.keepSession()
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
	now := w.o.Now()
	w.settle(now)
	w.o.Hub.Publish(w.view(now))
}

// note remembers something that people should know. The caller holds mu.
func (w *Watcher) note(text string) {
	w.o.Log.Info(text)
	w.notes = append([]live.Note{{At: w.o.Now(), Text: text}}, w.notes...)
	w.notes = w.notes[:min(len(w.notes), notesToKeep)]
}

// Tell notes something that people should know. It is safe to call while Run runs.
func (w *Watcher) Tell(text string) { w.update(func() { w.note(text) }) }

// look takes one picture all the way.
func (w *Watcher) look(f vision.Frame) {
	at := w.o.Now()
	if w.busy() {
		w.update(func() { w.frame, w.frameAt = f, at })
		return
	}
	w.begin(f)
	w.renewVerified()
	if w.rests(f, at) {
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
	if located.Captured.IsZero() {
		located.Captured = at
	}
	w.lookAgain(f.Name, located.Captured)
	w.widen(&located.Scene)
	w.widenUnnamed(&located)
	rules := w.rules()
	located.Scene.Rules, located.Scene.Profile = rules.Edition, rules.Profile
	located.Doubtful = !w.guard.trusted() || w.picture != pictureGood || w.pictures.empty || w.doubtful
	tracked := w.follow(f, located)
	w.searched(f.Gray, at, &tracked, rules)
	tracked = w.withEyes(tracked)
	standing := tracked.Standing()
	result, err := w.measure(&standing, rules)
	w.update(func() {
		w.frame, w.frameAt, w.broken = f, at, ""
		if err != nil {
			w.broken = err.Error()
		}
		w.last, w.tracks, w.result = tracked.Located, tracked.Tracks, result
		for _, e := range tracked.Events {
			w.note(e.String() + ".")
		}
		w.tellConflicts(tracked.Fusion)
		w.tellTwins(located.Twins)
		w.chooseFirst()
	})
}

// follow puts a picture's ships together with those of the pictures before.
func (w *Watcher) follow(f vision.Frame, located vision.Located) vision.Tracked {
	g := f.Gray
	w.place(f, &located)
	tracked := w.tracker.SeeEdges(located, func(id string) vision.Place { return w.places.Look(g, id) }, w.edges(f, &located))
	var still []vision.ShipView
	for _, k := range tracked.Tracks {
		if k.State == vision.Still && !vision.Unnamed(k.Ship.ID) {
			still = append(still, k.View)
		}
	}
	w.places.Remember(g, still)
	return tracked
}

// lookAgain sees to it that a picture counts that is not newer than the one before. The
// pictures of a directory come in the order of their names, again and again, and have the
// times of their files: the tracker would keep what it said of another picture, or of this
// one by a mat or a catalogue that is gone.
func (w *Watcher) lookAgain(name string, captured time.Time) {
	before := w.taken
	w.taken = takenPicture{name, captured}
	switch {
	case w.o.Tracking.SettleFrames != 1 || captured.After(before.captured):
	case w.taken == before:
		w.tracker.Again()
	default:
		w.tracker.Reset()
		w.places.Reset()
	}
}

// takenPicture tells the pictures of a directory from each other.
type takenPicture struct {
	name     string
	captured time.Time
}

// forget gives up what was seen through a registration that is no longer in use.
func (w *Watcher) forget() {
	w.tracker.Reset()
	w.places.Reset()
	w.steady = nil
}

// widen adds to the ships' uncertainty what the markers in view leave open: a motion
// of the camera that they could not have shown.
func (w *Watcher) widen(s *engine.Scene) {
	if w.guard.watch == nil {
		return
	}
	for i := range s.Ships {
		ship := &s.Ships[i]
		width, _ := ship.Base.Size()
		add := w.guard.watch.Unnoticed(ship.Pose, vision.BaseTop, width/2)
		for k := range add {
			ship.Covariance[k] += add[k]
		}
	}
}

// begin takes what is new with a picture but not what it shows of the table.
func (w *Watcher) begin(f vision.Frame) {
	w.checkSize(f)
	w.takeRecalibration()
	w.takeLearnt()
	if state := w.pictures.look(f.Gray, w.o.Now()); state != w.picture { // only this goroutine writes it
		w.update(func() { w.picture = state })
	}
	w.gauge(f, w.o.Now())
}

// prepare sees to it that there is a locator that fits the picture, and that the
// camera has not moved since.
func (w *Watcher) prepare(f vision.Frame) {
	now := w.o.Now()
	if w.locator == nil && w.o.Table != nil && w.unready == "" {
		w.adoptFile(f)
	}
	switch {
	case w.locator == nil:
		w.find(f, now)
	case w.guard.watch == nil:
		w.confirm(f, now)
	default:
		w.watchOver(f, now)
	}
}

// find looks for the camera's place while it is not known.
func (w *Watcher) find(f vision.Frame, now time.Time) {
	if w.o.Markers == nil {
		if w.o.Table == nil {
			w.setUnready("this program was built without OpenCV and cannot see the mat's markers")
		}
		return
	}
	if now.Sub(w.checkedAt) < checkEvery {
		return
	}
	w.checkedAt = now
	table, seen, err := w.registrar.register(f.Gray)
	if err != nil {
		w.setUnready(strings.TrimPrefix(err.Error(), "calibration: register: "))
		return
	}
	w.adoptFound(f, table, seen, fmt.Sprintf("Registered from %d markers, %.2f px rms.", len(table.Used), table.RMS))
}

// confirm compares a calibration file with the markers, as soon as they are seen, and
// starts to watch over it, or registers anew when they contradict it twice in a row.
func (w *Watcher) confirm(f vision.Frame, now time.Time) {
	if w.o.Markers == nil { // without a detector, markers can be seen where the file puts them
		if seen := w.o.Track(f.Gray, watch.NewMonitor(w.located, nil).Expected()); len(seen) >= markersToTrust {
			w.guard.begin(w.located, seen)
		}
		return
	}
	if now.Sub(w.checkedAt) < checkEvery && !w.doubtful {
		return
	}
	w.checkedAt = now
	table, seen, err := w.registrar.register(f.Gray)
	if errors.Is(err, errMirrored) {
		w.giveUp(err)
		return
	}
	if err != nil || len(table.Used) < markersToTrust {
		w.setDoubtful(false)
		return
	}
	// With some markers covered, the others' own places weigh more.
	switch shift := w.located.Shift(&table); {
	case shift <= max(movedBy, 3*table.PlaceSigma()):
		w.setDoubtful(false)
		w.guard.begin(w.located, seen)
	case !w.doubtful:
		w.setDoubtful(true)
	default:
		w.setDoubtful(false)
		w.adoptFound(f, table, seen, fmt.Sprintf("The camera is not where %s puts it, by %.1f mm; registered again from %d markers.", w.o.TableName, shift.Millimeters(), len(table.Used)))
	}
}

func (w *Watcher) setDoubtful(doubtful bool) {
	if w.doubtful != doubtful { // only this goroutine writes it
		w.update(func() { w.doubtful = doubtful })
	}
}

// watchOver asks the markers whether the registration still holds, and registers
// again when the camera was moved and lies still.
func (w *Watcher) watchOver(f vision.Frame, now time.Time) {
	v, err := w.guard.look(f.Gray, now)
	if err != nil {
		w.o.Log.Warn("the mat's markers cannot be looked for", "err", err)
	}
	if v.State == watch.Settled && now.Sub(w.checkedAt) >= againEvery && w.o.Markers != nil {
		w.checkedAt = now
		if w.registerAgain(f) {
			return
		}
	}
	w.update(func() {
		if was := w.watched.State; was != v.State || !w.watching {
			w.o.Log.Info("markers", "state", v.State.String(), "in_place", v.Seen, "of", v.Of)
		}
		w.watched, w.watching, w.torn = v, true, slices.Clone(w.guard.torn)
		if v.State != watch.Settled {
			w.failed = ""
		}
	})
}

// registerAgain finds the camera's new place after a move. It reports false, and says
// why, when the markers do not fix it: the watch goes on, and it is tried again.
func (w *Watcher) registerAgain(f vision.Frame) bool {
	table, seen, err := w.registrar.register(f.Gray)
	if err == nil && len(table.Used) < markersToTrust {
		err = fmt.Errorf("only %d markers agree, at least %d are needed", len(table.Used), markersToTrust)
	}
	if err != nil {
		why := strings.TrimPrefix(err.Error(), "calibration: register: ")
		w.update(func() { w.failed = why })
		return false
	}
	note := fmt.Sprintf("The camera or the table moved by %.1f mm; registered again from %d markers.", w.located.Shift(&table).Millimeters(), len(table.Used))
	if table.RMS > 2*w.located.RMS+lensDoubt {
		note += fmt.Sprintf(" They fit worse than before (%.2f px, it was %.2f px): was the lens refocused?", table.RMS, w.located.RMS)
	}
	w.adoptFound(f, table, seen, note)
	return true
}

// lensDoubt in px: by so much more than twice as before may the markers disagree
// after a move before the lens is called in question. Registrations of one camera
// from other places differ by less (docs/accuracy.md: 0.06-0.11 px on photographs).
const lensDoubt = 0.15

// adoptFound works with a registration from the markers.
func (w *Watcher) adoptFound(f vision.Frame, t calibration.Table, seen []calibration.MarkerSighting, note string) {
	t.Made = f.Captured
	if w.adopt(t, "the mat's markers", note) {
		w.guard.begin(t, seen)
	}
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
	w.locator, w.checkedAt, w.guard.watch = nil, time.Time{}, nil
	w.forget()
	w.update(func() {
		w.registered, w.region, w.unready, w.broken = live.Register{Times: w.registered.Times}, image.Rectangle{}, "", ""
		w.watched, w.watching, w.failed, w.doubtful, w.torn = watch.Verdict{}, false, "", false, nil
		w.last, w.result, w.tracks = vision.Located{}, engine.Result{}, nil
		w.note(fmt.Sprintf("The picture's size changed from %d×%d to %d×%d.", before.X, before.Y, width, height))
	})
}

// giveUp stops to work with the registration: no answer may rest on it.
func (w *Watcher) giveUp(why error) {
	w.locator, w.guard.watch = nil, nil
	w.forget()
	w.update(func() {
		w.registered, w.unready, w.doubtful = live.Register{Times: w.registered.Times}, why.Error(), false
		w.last, w.result, w.tracks = vision.Located{}, engine.Result{}, nil
	})
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

// adopt works with a registration from now on. It reports false, and says why on the
// page, when that cannot be.
func (w *Watcher) adopt(t calibration.Table, from, note string) bool {
	locator, err := w.o.NewLocator(t)
	if err != nil {
		w.setUnready(err.Error())
		return false
	}
	file, hash, err := t.Sealed()
	if err != nil {
		w.setUnready(err.Error())
		return false
	}
	w.locator, w.located = locator, t
	w.forget()
	w.watchForChange(t)
	w.guard.begin(t, nil)
	register := live.Register{
		From: from, RMSPx: t.RMS, Markers: t.Used, At: w.o.Now(), Times: w.registered.Times + 1,
		Hash: hash, BaseHash: w.registered.BaseHash, Lens: w.o.LensName, File: file,
	}
	fromFile := w.o.Table != nil && from == w.o.TableName
	if fromFile { // perhaps made to fit the picture's size: then its hash is another
		register.BaseHash, register.Integrity, register.Times = w.o.Table.Hash, w.o.Table.State(), w.registered.Times
	} else if d := t.Doubts(); len(d) > 0 { // registered anew, with a lens that nobody measured
		register.Integrity = t.State()
	}
	if register.BaseHash == "" {
		register.BaseHash = register.Hash
	}
	w.recordSeen, w.recordAt = w.recordStamp(), w.o.Now() // before it is read: what comes after is seen as new
	register.Verified = w.verified(&t)
	failed := w.record(&t)
	w.update(func() {
		w.unready, w.failed = "", ""
		w.watched, w.watching, w.torn = watch.Verdict{Of: len(t.Layout.Markers), Seen: len(t.Used)}, !fromFile, nil
		w.registered = register
		w.region = regionOf(&t)
		w.last, w.tracks, w.result = vision.Located{}, nil, engine.Result{} // the old places are those of another registration
		for _, text := range []string{note, failed} {
			if text != "" {
				w.note(text)
			}
		}
	})
	return true
}

// recordEvery is how often the file of the verification is looked at.
const recordEvery = time.Second

// recordStamp tells one state of the verification's file from another; zero when there
// is none.
func (w *Watcher) recordStamp() fileStamp {
	if w.o.Table == nil || w.o.TableFile == "" {
		return fileStamp{}
	}
	info, err := os.Stat(verify.RecordPath(w.o.TableFile))
	if err != nil {
		return fileStamp{}
	}
	return fileStamp{info.ModTime(), info.Size()}
}

// fileStamp is what changes when a file is written.
type fileStamp struct {
	at   time.Time
	size int64
}

// renewVerified reads the verification again when its file has changed: somebody has
// verified the calibration while the program runs.
func (w *Watcher) renewVerified() {
	now := w.o.Now()
	if w.locator == nil || now.Sub(w.recordAt) < recordEvery {
		return
	}
	w.recordAt = now
	stamp := w.recordStamp()
	if stamp == w.recordSeen {
		return
	}
	w.recordSeen = stamp
	verified := w.verified(&w.located)
	w.update(func() { w.registered.Verified = verified })
}

// verified returns what the last verification of the table's file says of the
// calibration in use. It is read when a calibration is adopted and when its file changes.
func (w *Watcher) verified(now *calibration.Table) *verify.AnswerJSON {
	if w.o.Table == nil || w.o.TableFile == "" {
		return nil
	}
	r, ok, err := verify.LoadRecord(w.o.TableFile)
	if err != nil {
		w.o.Log.Warn("the verification is left out", "err", err)
	}
	if !ok {
		return nil
	}
	return r.Answer(w.o.Table, now)
}

// record keeps a registration in the file of the configuration, if one is named. It
// returns what people should know when that fails; the answers do not suffer.
func (w *Watcher) record(t *calibration.Table) string {
	if w.o.Record == "" {
		return ""
	}
	kept := *t
	if err := calibration.SaveTable(w.o.Record, &kept); err != nil {
		return "The registration could not be recorded: " + err.Error()
	}
	return ""
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
	table    *calibration.Table // nil: only the lens is new
	file     string             // the table's
	lensFile string             // "": the lens is as before
}

// Recalibrate makes the watcher begin anew with a table that was just made or
// verified, and the file that it was read from. It is safe to call while Run runs.
func (w *Watcher) Recalibrate(t *calibration.Table, file string) {
	w.fresh.Store(&recalibration{table: t, file: file})
}

// NewLens makes the watcher begin anew with what WatcherOptions.Lens now says, read
// from that file. It is safe to call while Run runs.
func (w *Watcher) NewLens(file string) { w.fresh.Store(&recalibration{lensFile: file}) }

// takeRecalibration takes over what Recalibrate was given.
func (w *Watcher) takeRecalibration() {
	r := w.fresh.Swap(nil)
	if r == nil {
		return
	}
	if r.table != nil {
		w.o.Table, w.o.TableFile, w.o.TableName, w.o.Layout = r.table, r.file, filepath.Base(r.file), r.table.Layout
		w.registrar.layout = r.table.Layout
	}
	if r.lensFile != "" {
		w.o.LensName = filepath.Base(r.lensFile)
	}
	w.locator, w.checkedAt, w.guard.watch = nil, time.Time{}, nil
	w.forget()
	w.update(func() {
		w.registered, w.unready, w.broken = live.Register{}, "", ""
		w.watched, w.watching, w.failed, w.doubtful, w.torn = watch.Verdict{}, false, "", false, nil
		w.last, w.result, w.tracks = vision.Located{}, engine.Result{}, nil
	})
}

// busy reports whether a calibration needs the camera.
func (w *Watcher) busy() bool { return w.o.Busy != nil && w.o.Busy() }

// Choose makes a pair the chosen one.
func (w *Watcher) Choose(c live.Choice) {
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
