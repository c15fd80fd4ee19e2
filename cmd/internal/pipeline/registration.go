package pipeline

import (
	"errors"
	"fmt"
	"image"
	"log/slog"
	"slices"
	"strings"
	"time"

	"sightline/calibration"
	"sightline/calibration/quick"
	"sightline/calibration/watch"
	"sightline/cmd/internal/live"
	"sightline/vision"
	"sightline/vision/fiducial"
)

// RegistrationState says how well the camera's place over the table is known.
type RegistrationState int

// The states. Only in Trusted are there answers.
const (
	Unknown      RegistrationState = iota // there is no calibration
	Confirming                            // a calibration file is in use, and nothing has confirmed yet that it holds
	Contradicted                          // the same, and the markers contradicted it once
	Trusted                               // the markers are where the registration has them
	Moved                                 // the markers moved together and still move
	Settled                               // they moved together and lie still: time to register again
	Refocused                             // the picture grew or shrank about its middle: the lens was touched
	Lost                                  // too few markers are seen to tell
)

// String names the state.
func (s RegistrationState) String() string {
	return [...]string{"unknown", "confirming", "contradicted", "trusted", "moved", "settled", "refocused", "lost"}[s]
}

// registrationEvent is what changes a RegistrationState.
type registrationEvent int

const (
	invalidated    registrationEvent = iota // nothing that was known holds: another picture size, calibration or catalogue
	fileLoaded                              // a calibration file is in use
	registered                              // the markers gave the camera's place
	fileConfirmed                           // the markers agree with the file
	fileUnclear                             // too few markers are seen to compare the file with
	fileDenied                              // the markers contradict the file
	markersInPlace                          // what the drift monitor says of a picture
	markersMoved
	markersSettled
	pictureGrew
	markersGone
)

// driftEvents are the events for what the drift monitor says.
var driftEvents = map[watch.State]registrationEvent{
	watch.OK: markersInPlace, watch.Covered: markersInPlace, watch.Moved: markersMoved,
	watch.Settled: markersSettled, watch.LensChanged: pictureGrew, watch.Lost: markersGone,
}

// next returns the state after an event. An event that means nothing in a state leaves it.
func (s RegistrationState) next(e registrationEvent) RegistrationState {
	switch {
	case e == invalidated:
		return Unknown
	case e == registered:
		return Trusted
	case e == fileLoaded && s == Unknown:
		return Confirming
	case s == Confirming || s == Contradicted:
		switch e {
		case fileConfirmed:
			return Trusted
		case fileUnclear:
			return Confirming
		case fileDenied:
			return Contradicted
		}
	case s >= Trusted:
		switch e {
		case markersInPlace:
			return Trusted
		case markersMoved:
			return Moved
		case markersSettled:
			return Settled
		case pictureGrew:
			return Refocused
		case markersGone:
			return Lost
		}
	}
	return s
}

// How often the mat's markers are searched for.
const (
	searchEvery   = time.Second            // while the registration is unknown or not confirmed
	reSearchEvery = 300 * time.Millisecond // after a move
)

// RegistrationOptions are the parts of a Registration.
type RegistrationOptions struct {
	Markers  vision.MarkerDetector // nil: no markers can be searched for
	Track    markerTracker         // nil: fiducial.TrackMarkers
	Layout   calibration.Layout
	Lens     func() (calibration.Intrinsics, bool) // the lens, once it is known
	LensName string                                // the lens file and its integrity, for people
	File     CalibrationFile
	Record   string // file for each registration, older ones are kept there too; "": none
	Log      *slog.Logger
}

// laterStages is what depends on a registration.
type laterStages interface {
	install(calibration.Table) error // prepares for a table; an error leaves the registration as it was
	drop()                           // there is no registration any more
	note(text string)                // tells people what happened
}

// Registration is the first stage of a frame: it knows where the camera stands over the
// table, from a calibration file or from the mat's markers, and notices when that no longer
// holds. It belongs to the pipeline's goroutine.
type Registration struct {
	o     RegistrationOptions
	later laterStages
	file  verifiedFile

	state      RegistrationState
	table      calibration.Table // in use, unless the state is Unknown
	drift      DriftMonitor
	verdict    watch.Verdict   // on the last picture
	problem    error           // in Unknown: why; nil: the markers are being searched for
	failed     string          // in Contradicted and Settled: why the place was not found again; "": it was not tried
	unclear    string          // in Confirming, and for a mat without markers: what is not confirmed; "": nothing was looked at
	edgesAt    time.Time       // when the edges of a mat without markers were where the calibration puts them
	view       live.Register   // for people
	region     image.Rectangle // of the picture that is worth showing; empty: all of it
	searchedAt time.Time       // when the markers were searched for last
}

// NewRegistration returns a registration in Unknown.
func NewRegistration(o RegistrationOptions, later laterStages) *Registration {
	if o.Track == nil {
		o.Track = fiducial.TrackMarkers
	}
	return &Registration{
		o: o, later: later,
		file: verifiedFile{CalibrationFile: o.File, log: o.Log}, drift: DriftMonitor{detector: o.Markers, track: o.Track},
	}
}

// State returns how well the camera's place is known.
func (r *Registration) State() RegistrationState { return r.state }

// Table returns the table in use. It holds unless the state is Unknown.
func (r *Registration) Table() *calibration.Table { return &r.table }

// Layout returns the layout of the mat and its markers.
func (r *Registration) Layout() calibration.Layout { return r.o.Layout }

// Trusted reports whether the last picture shows, beyond doubt, the table as the
// registration has it. Where it does not, new places of ships are not believed.
func (r *Registration) Trusted() bool {
	return r.state != Contradicted && r.state != Confirming && r.state != Lost && r.drift.trusted()
}

// Update compares a picture with the registration, or finds one.
func (r *Registration) Update(f vision.Frame, now time.Time) {
	if r.state == Unknown && r.file.Table != nil && r.problem == nil {
		r.loadFile(f, now)
	}
	switch r.state {
	case Unknown:
		r.find(f, now)
	case Confirming, Contradicted:
		r.confirm(f, now)
	default:
		r.follow(f, now)
	}
}

// step changes the state by an event.
func (r *Registration) step(e registrationEvent) { r.state = r.state.next(e) }

// Invalidate drops the registration. why is nil when a new one is to be found at once.
func (r *Registration) Invalidate(why error) {
	r.step(invalidated)
	r.drift.reset(calibration.Table{}, nil)
	r.verdict, r.problem, r.failed, r.unclear = watch.Verdict{}, why, "", ""
	r.view, r.region = live.Register{Times: r.view.Times}, image.Rectangle{}
	if why == nil {
		r.searchedAt = time.Time{}
	}
	r.later.drop()
}

// Replace drops the registration in favour of a calibration that was made while the
// program runs: a table from a file, or nil and the lens that Lens now returns.
func (r *Registration) Replace(file CalibrationFile, lensName string) {
	if file.Table != nil {
		r.file.CalibrationFile, r.o.Layout = file, file.Table.Layout
	}
	if lensName != "" {
		r.o.LensName = lensName
	}
	r.Invalidate(nil)
	r.view = live.Register{}
}

// find searches for the camera's place while it is unknown.
func (r *Registration) find(f vision.Frame, now time.Time) {
	if r.o.Markers == nil {
		if r.file.Table == nil {
			r.setProblem(errors.New("this program was built without OpenCV and cannot see the mat's markers"))
		}
		return
	}
	if now.Sub(r.searchedAt) < searchEvery {
		return
	}
	r.searchedAt = now
	table, seen, err := r.register(f.Gray)
	if err != nil {
		r.setProblem(err)
		return
	}
	r.setFound(f, table, seen, now, fmt.Sprintf("Registered from %d markers, %.2f px rms.", len(table.Used), table.RMS))
}

// confirm compares the calibration file with the markers, as soon as they are seen. When
// they contradict it twice in a row the camera is registered from them.
func (r *Registration) confirm(f vision.Frame, now time.Time) {
	if now.Sub(r.searchedAt) < searchEvery && (r.state != Contradicted || r.failed != "") {
		return
	}
	r.searchedAt = now
	if r.byEdges() {
		if r.edgesConfirm(f, now) {
			r.step(fileConfirmed)
		}
		return
	}
	table, seen, err := r.compare(f.Gray)
	if errors.Is(err, ErrMirrored) {
		r.Invalidate(err)
		return
	}
	if err == nil {
		err = r.tooFew(&table)
	}
	if err != nil {
		r.leaveUnclear(reason(err))
		return
	}
	// What the file itself leaves open does not contradict it. With some markers covered, the others' own places weigh more,
	// and may hide a move that is larger.
	shift := r.table.Shift(&table)
	switch agrees, hides := max(calibration.MovedLimit, 3*r.table.PlaceSigma()), 3*table.PlaceSigma(); {
	case shift <= agrees:
		r.agree(seen)
	case shift <= hides:
		r.leaveUnclear(fmt.Sprintf("the %d markers that are seen put the mat's corner %.1f mm from there, which they know to %.1f mm",
			len(table.Used), shift.Millimeters(), table.PlaceSigma().Millimeters()))
	case r.state == Confirming:
		r.step(fileDenied)
	default:
		r.setFound(f, table, seen, now, fmt.Sprintf("The camera is not where %s puts it, by %.1f mm; registered again from %d markers.",
			r.file.Name, shift.Millimeters(), len(table.Used)))
	}
}

// leaveUnclear keeps waiting for what confirms the calibration file.
func (r *Registration) leaveUnclear(why string) {
	r.failed, r.unclear = "", why
	r.step(fileUnclear)
}

// compare returns the camera's place by the markers in a picture, to compare the file's with.
func (r *Registration) compare(g *image.Gray) (calibration.Table, []calibration.MarkerSighting, error) {
	if r.o.Markers != nil {
		return r.register(g)
	}
	seen := r.o.Track(g, watch.NewMonitor(r.table, nil).Expected()) // they can still be seen where the file puts them
	t, err := calibration.Register(r.table.Intrinsics, r.table.Layout, seen)
	return t, seen, err
}

// needed is how many markers confirm or contradict the registration in use: markersToTrust, or as many as it was made from.
func (r *Registration) needed() int {
	if n := len(r.table.Used); n > 0 {
		return min(n, markersToTrust)
	}
	return markersToTrust
}

// tooFew returns what is wrong with a registration from fewer markers; nil: nothing.
func (r *Registration) tooFew(t *calibration.Table) error {
	if need := r.needed(); len(t.Used) < need {
		return fmt.Errorf("only %d markers agree, at least %d are needed", len(t.Used), need)
	}
	return nil
}

// agree begins to monitor the file's registration.
func (r *Registration) agree(seen []calibration.MarkerSighting) {
	r.drift.reset(r.table, seen)
	r.verdict.Seen, r.failed = 0, ""
	for _, m := range seen { // a check card's are none of the mat's
		if slices.ContainsFunc(r.table.Layout.Markers, func(k calibration.Marker) bool { return k.ID == m.ID }) {
			r.verdict.Seen++
		}
	}
	r.o.Log.Info("markers", "state", "ok", "in_place", r.verdict.Seen, "of", r.verdict.Of)
	r.step(fileConfirmed)
}

// follow asks the markers whether the registration still holds, and registers again when
// the camera moved and lies still.
func (r *Registration) follow(f vision.Frame, now time.Time) {
	if r.byEdges() {
		r.followEdges(f, now)
		return
	}
	v, err := r.drift.Update(f.Gray, now)
	if err != nil {
		r.o.Log.Warn("the mat's markers cannot be looked for", "err", err)
	}
	before := r.state
	r.step(driftEvents[v.State])
	if r.state == Settled && now.Sub(r.searchedAt) >= reSearchEvery && r.o.Markers != nil {
		r.searchedAt = now
		if r.registerAgain(f, now) {
			return
		}
	}
	if before != r.state || r.verdict.State != v.State {
		r.o.Log.Info("markers", "state", v.State.String(), "in_place", v.Seen, "of", v.Of)
	}
	r.verdict = v
	if r.state != Settled {
		r.failed = ""
	}
}

// RenewVerification reads the verification of the calibration file again when it changed:
// somebody verified the calibration while the program runs. It reports whether it did.
func (r *Registration) RenewVerification(now time.Time) bool {
	if r.state == Unknown || !r.file.renew(now) {
		return false
	}
	r.view.Verified = r.file.answer(&r.table)
	return true
}

// View returns how the camera's place is known and monitored, for people.
func (r *Registration) View() live.Register {
	v := r.view
	switch {
	case r.state == Unknown:
	case r.byEdges():
		v.Watch = r.edgesView()
	default:
		v.Watch = watchView(r.verdict, r.state >= Trusted)
	}
	return v
}

// Region returns the part of the picture that is worth showing; empty: all of it.
func (r *Registration) Region() image.Rectangle { return r.region }

// loadFile uses the calibration file, scaled to the picture's size.
func (r *Registration) loadFile(f vision.Frame, now time.Time) {
	t := *r.file.Table
	lens, err := t.Intrinsics.Scaled(f.Size())
	if err != nil {
		r.setProblem(fmt.Errorf("%s: %w", r.file.Name, err))
		return
	}
	t.Intrinsics = lens
	if quick.IsCorners(t.Layout) {
		t = t.WithCameraSigma(fiducial.EdgesLeave)
	}
	view := live.Register{From: r.file.Name, BaseHash: r.file.Table.Hash, Integrity: r.file.Table.State(), Times: r.view.Times}
	if r.set(t, view, nil, now) {
		r.step(fileLoaded)
		r.record(t)
	}
}

// registerAgain finds the camera's new place after a move. When the markers do not fix it,
// it reports false and the next pictures are tried.
func (r *Registration) registerAgain(f vision.Frame, now time.Time) bool {
	table, seen, err := r.register(f.Gray)
	if err == nil {
		err = r.tooFew(&table)
	}
	if err != nil {
		r.failed = reason(err)
		return false
	}
	note := fmt.Sprintf("The camera or the table moved by %.1f mm; registered again from %d markers.",
		r.table.Shift(&table).Millimeters(), len(table.Used))
	if table.RMS > 2*r.table.RMS+lensDoubt {
		note += fmt.Sprintf(" They fit worse than before (%.2f px, it was %.2f px): was the lens refocused?", table.RMS, r.table.RMS)
	}
	return r.setFound(f, table, seen, now, note)
}

// lensDoubt in px: by so much more than twice as before may the markers disagree after a
// move before the lens is called in question. Registrations of one camera from other
// places differ by less (docs/accuracy.md: 0.06-0.11 px on photographs).
const lensDoubt = 0.15

// setFound uses a registration from the markers. It reports whether that can be.
func (r *Registration) setFound(f vision.Frame, t calibration.Table, seen []calibration.MarkerSighting, now time.Time, note string) bool {
	t.Made = f.Captured
	view := live.Register{From: "the mat's markers", BaseHash: r.view.BaseHash, Times: r.view.Times + 1}
	if d := t.Doubts(); len(d) > 0 { // with a lens that was not measured
		view.Integrity = t.State()
	}
	if !r.set(t, view, seen, now) {
		return false
	}
	r.step(registered)
	r.later.note(note)
	r.record(t)
	return true
}

// set uses a table from now on. It reports whether that can be.
func (r *Registration) set(t calibration.Table, view live.Register, seen []calibration.MarkerSighting, now time.Time) bool {
	file, hash, err := t.Sealed()
	if err == nil {
		err = r.later.install(t)
	}
	if err != nil {
		r.setProblem(err)
		r.failed = reason(err)
		return false
	}
	r.table = t
	r.drift.reset(t, seen)
	r.verdict = watch.Verdict{Of: len(t.Layout.Markers), Seen: len(t.Used)}
	r.problem, r.failed = nil, ""
	view.RMSPx, view.Markers, view.At, view.Hash, view.Lens, view.File = t.RMS, t.Used, now, hash, r.o.LensName, file
	if view.BaseHash == "" {
		view.BaseHash = hash
	}
	r.file.load(now)
	view.Verified = r.file.answer(&t)
	r.view, r.region = view, regionOf(&t)
	return true
}

// record keeps a registration in its file. The answers do not depend on it.
func (r *Registration) record(t calibration.Table) {
	if r.o.Record == "" {
		return
	}
	if err := calibration.SaveTable(r.o.Record, &t); err != nil {
		r.later.note("The registration could not be recorded: " + err.Error())
	}
}

// setProblem says why there is no registration.
func (r *Registration) setProblem(err error) {
	if r.problem == nil || r.problem.Error() != err.Error() {
		r.o.Log.Info("no calibration", "why", reason(err))
	}
	r.problem = err
}

// reason is an error of registering, for people.
func reason(err error) string { return strings.TrimPrefix(err.Error(), "calibration: register: ") }
