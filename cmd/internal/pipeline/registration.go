package pipeline

import (
	"errors"
	"fmt"
	"image"
	"log/slog"
	"math"
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

// The states. Only Trusted gives answers.
const (
	Unknown      RegistrationState = iota // no calibration
	Confirming                            // a calibration file is in use, not confirmed yet
	Contradicted                          // the same, and the markers contradicted it once
	Trusted                               // the markers are where the registration puts them
	Moved                                 // the markers moved together and still move
	Settled                               // they moved together and lie still: time to register again
	Refocused                             // the picture grew or shrank about its middle: the lens was touched
	Lost                                  // too few markers are seen
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
	markersInPlace                          // this and the following come from the drift monitor
	markersMoved
	markersSettled
	pictureGrew
	markersGone
)

// driftEvents maps the drift monitor's verdicts to events.
var driftEvents = map[watch.State]registrationEvent{
	watch.OK: markersInPlace, watch.Covered: markersInPlace, watch.Moved: markersMoved,
	watch.Settled: markersSettled, watch.LensChanged: pictureGrew, watch.Lost: markersGone,
}

// next returns the state after an event. An event that does not apply leaves the state.
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
	Markers  vision.MarkerDetector // nil: the program cannot find markers
	Track    markerTracker         // nil: fiducial.TrackMarkers
	Layout   calibration.Layout
	Lens     func() (calibration.Intrinsics, bool) // the lens, once it is known
	LensName string                                // the lens file and its integrity, for people
	File     CalibrationFile
	Record   string // file to which each registration is saved; "": none
	Log      *slog.Logger
}

// laterStages are the stages that depend on a registration: the Pipeline.
type laterStages interface {
	install(calibration.Table) error // prepares for a table; an error leaves the registration as it was
	drop()                           // discards what was seen through the old registration
	note(text string)                // reports to people
}

// Registration is the stage that knows where the camera stands over the table. It finds the
// place from a calibration file or from the mat's markers, and notices when it no longer
// holds. It belongs to the pipeline's goroutine.
type Registration struct {
	o     RegistrationOptions
	later laterStages
	file  verifiedFile

	state      RegistrationState
	table      calibration.Table // in use, unless the state is Unknown
	drift      DriftMonitor
	verdict    watch.Verdict   // on the last picture
	problem    error           // in Unknown: why; nil: searching for the markers
	failed     string          // in Contradicted and Settled: why registering again failed; "": not tried
	unclear    string          // in Confirming, and for a mat without markers: why it is not confirmed; "": not tried
	edgesAt    time.Time       // when the edges of a mat without markers were last in place
	view       live.Register   // for people
	region     image.Rectangle // the part of the picture to show; empty: all of it
	searchedAt time.Time       // when the whole picture was last searched for markers

	grown   float64   // relative sigma of the focal length, because the picture grew and the camera was registered again; 0: it did not
	grownBy float64   // in Refocused: by how much the picture has grown
	grownAt time.Time // since when
}

// NewRegistration returns a registration in state Unknown.
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

// Table returns the table in use. It is valid unless the state is Unknown.
func (r *Registration) Table() *calibration.Table { return &r.table }

// Layout returns the layout of the mat and its markers.
func (r *Registration) Layout() calibration.Layout { return r.o.Layout }

// Trusted reports whether the last picture surely shows the table where the registration puts
// it. If not, new poses of ships are not believed.
func (r *Registration) Trusted() bool {
	return r.state != Contradicted && r.state != Confirming && r.state != Lost && r.drift.trusted()
}

// Update checks the registration against a picture, or searches for one.
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

// step changes the state after an event.
func (r *Registration) step(e registrationEvent) { r.state = r.state.next(e) }

// Invalidate drops the registration and returns to Unknown. With a nil error the next picture
// searches for a new one.
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

// Replace drops the registration for a calibration saved while the program runs: a table file,
// a new lens that Lens now returns, or both.
func (r *Registration) Replace(file CalibrationFile, lensName string) {
	if file.Table != nil {
		r.file.CalibrationFile, r.o.Layout = file, file.Table.Layout
	}
	if lensName != "" {
		r.o.LensName = lensName
	}
	r.grown = 0
	r.Invalidate(nil)
	r.view = live.Register{}
}

// find registers the camera from the markers while its place is unknown.
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

// confirm compares the calibration file with the markers once enough are seen. If they
// contradict it twice in a row, the camera is registered from them.
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
	if errors.Is(err, fiducial.ErrMirrored) {
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
	// A shift within the file's own uncertainty does not contradict it. With some markers covered, the uncertainty of the
	// others weighs more and may hide a larger move.
	shift := r.table.Shift(&table)
	switch agrees, hides := max(calibration.MovedLimit, 3*r.table.PlaceSigma()), 3*table.PlaceSigma(); {
	case shift <= agrees:
		r.acceptFile(seen)
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

// leaveUnclear records why the calibration file is not confirmed yet.
func (r *Registration) leaveUnclear(why string) {
	r.failed, r.unclear = "", why
	r.step(fileUnclear)
}

// compare registers the camera from the markers in a picture, for comparison with the file.
func (r *Registration) compare(g *image.Gray) (calibration.Table, []calibration.MarkerSighting, error) {
	if r.o.Markers != nil {
		return r.register(g)
	}
	seen := r.o.Track(g, watch.NewMonitor(r.table, nil).Expected()) // without a detector, only where the file puts them
	t, err := calibration.Register(r.table.Intrinsics, r.table.Layout, seen)
	return t, seen, err
}

// needed returns how many markers can confirm or contradict the registration in use: markersToTrust, or as many as it was made
// from.
func (r *Registration) needed() int {
	if n := len(r.table.Used); n > 0 {
		return min(n, markersToTrust)
	}
	return markersToTrust
}

// tooFew returns an error if a registration uses fewer markers than needed.
func (r *Registration) tooFew(t *calibration.Table) error {
	if need := r.needed(); len(t.Used) < need {
		return fmt.Errorf("only %d markers agree, at least %d are needed", len(t.Used), need)
	}
	return nil
}

// acceptFile trusts the calibration file and starts monitoring it.
func (r *Registration) acceptFile(seen []calibration.MarkerSighting) {
	r.drift.reset(r.table, seen)
	r.verdict.Seen, r.failed = 0, ""
	for _, m := range seen { // a check card's markers are not the mat's
		if slices.ContainsFunc(r.table.Layout.Markers, func(k calibration.Marker) bool { return k.ID == m.ID }) {
			r.verdict.Seen++
		}
	}
	r.o.Log.Info("markers", "state", "ok", "in_place", r.verdict.Seen, "of", r.verdict.Of)
	r.step(fileConfirmed)
}

// follow checks the markers for drift, and registers again once a moved camera rests.
func (r *Registration) follow(f vision.Frame, now time.Time) {
	if r.byEdges() {
		r.followEdges(f, now)
		return
	}
	v, err := r.drift.Update(f.Gray, now)
	if err != nil {
		r.o.Log.Warn("searching for the mat's markers failed", "err", err)
	}
	before := r.state
	r.step(driftEvents[v.State])
	if r.state == Settled && now.Sub(r.searchedAt) >= reSearchEvery && r.o.Markers != nil {
		r.searchedAt = now
		if r.registerAgain(f, now) {
			return
		}
	}
	if r.state == Refocused && r.growthRests(v.Grown, now) && r.registerGrown(f, v.Grown, now) {
		return
	}
	if before != r.state || r.verdict.State != v.State {
		r.o.Log.Info("markers", "state", v.State.String(), "in_place", v.Seen, "of", v.Of)
	}
	r.verdict = v
	if r.state != Settled && r.state != Refocused {
		r.failed = ""
	}
}

// When a picture that grew or shrank about its middle is taken for that of the same table again.
const (
	// grownMost is the largest growth: 13 mm of height at 1.3 m, or a focus that was locked a little elsewhere. A lens that changed by
	// more may have changed in other ways too.
	grownMost = 0.01
	// grownRests is how long it must stay so, by grownStill: an autofocus that still searches swings for a second or two.
	grownRests = 3 * time.Second
	grownStill = 0.0005
)

// growthRests reports whether a small growth has stayed as it is for long enough to register again.
func (r *Registration) growthRests(grown float64, now time.Time) bool {
	if r.grownAt.IsZero() || math.Abs(grown-r.grownBy) > grownStill || r.verdict.State != watch.LensChanged {
		r.grownBy, r.grownAt = grown, now
	}
	return math.Abs(grown) <= grownMost && now.Sub(r.grownAt) >= grownRests && now.Sub(r.searchedAt) >= reSearchEvery && r.o.Markers != nil
}

// registerGrown registers again after the picture grew. Nothing shows whether the camera was lowered or its lens refocused: the focal
// length is less sure by as much, until there is a new lens. It reports false if the markers do not suffice, or fit worse than before.
func (r *Registration) registerGrown(f vision.Frame, grown float64, now time.Time) bool {
	before := r.grown
	r.searchedAt, r.grown = now, math.Hypot(before, grown)
	table, seen, err := r.register(f.Gray)
	if err == nil {
		err = r.tooFew(&table)
	}
	if limit := 2*r.table.RMS + lensDoubt; err == nil && table.RMS > limit {
		err = fmt.Errorf("the markers fit worse than before: %.2f px instead of %.2f px", table.RMS, r.table.RMS)
	}
	if err != nil {
		r.failed, r.grown = reason(err), before
		return false
	}
	note := fmt.Sprintf("The picture grew by %.2f %% about its middle: the camera was lowered, or its lens refocused. Sigma allows for "+
		"either; registered again from %d markers.", 100*grown, len(table.Used))
	if grown < 0 {
		note = fmt.Sprintf("The picture shrank by %.2f %% about its middle: the camera was raised, or its lens refocused. Sigma allows for "+
			"either; registered again from %d markers.", -100*grown, len(table.Used))
	}
	if !r.setFound(f, table, seen, now, note) {
		r.grown = before
		return false
	}
	return true
}

// RenewVerification reads the calibration file's verification record if it has changed since:
// people verify the calibration while the program runs. It reports whether it had.
func (r *Registration) RenewVerification(now time.Time) bool {
	if r.state == Unknown || !r.file.renew(now) {
		return false
	}
	r.view.Verified = r.file.answer(&r.table)
	return true
}

// View returns the registration and its monitoring for people.
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

// Region returns the part of the picture to show; empty: all of it.
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

// registerAgain finds the camera's new place after a move. It reports false if the markers do
// not suffice; the next pictures try again.
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
		note += fmt.Sprintf(" They fit worse than before (%.2f px instead of %.2f px): was the lens refocused?", table.RMS, r.table.RMS)
	}
	return r.setFound(f, table, seen, now, note)
}

// lensDoubt, in px, is how far the markers' rms may exceed twice its old value after a move
// before the lens is suspected. Registrations of one camera from other places differ by less
// (docs/accuracy.md: 0.06-0.11 px on photographs).
const lensDoubt = 0.15

// setFound uses a registration from the markers. It reports whether that worked.
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

// set uses a table from now on. It reports whether the later stages accepted it.
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

// record saves a registration to its file. Answers do not depend on it.
func (r *Registration) record(t calibration.Table) {
	if r.o.Record == "" {
		return
	}
	if err := calibration.SaveTable(r.o.Record, &t); err != nil {
		r.later.note("The registration could not be recorded: " + err.Error())
	}
}

// setProblem records why there is no registration, and logs it once.
func (r *Registration) setProblem(err error) {
	if r.problem == nil || r.problem.Error() != err.Error() {
		r.o.Log.Info("no calibration", "why", reason(err))
	}
	r.problem = err
}

// reason returns an error of registering for people.
func reason(err error) string { return strings.TrimPrefix(err.Error(), "calibration: register: ") }
