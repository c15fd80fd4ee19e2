// Package pipeline processes the pictures of one camera in stages and passes the result to
// package game:
//
//	picture -> Change -> Registration -> Locate -> Stock -> Track -> Fuse -> Measure -> game.Seen
//
// Each stage is a small type with its own state; [Pipeline.Update] calls them in this order.
// Change is a track.ChangeDetector, which Track owns: a picture that shows nothing new skips
// the search and goes straight to Fuse. A pipeline and its stages belong to one goroutine.
package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"sync/atomic"
	"time"

	"sightline/calibration"
	"sightline/cmd/internal/game"
	"sightline/cmd/internal/live"
	"sightline/cmd/internal/naming"
	"sightline/engine/move"
	"sightline/vision"
	"sightline/vision/capture"
	"sightline/vision/exposure"
	"sightline/vision/track"
)

// Frames delivers the pictures: a capture.Feed.
type Frames interface {
	Next(ctx context.Context, after uint64) (vision.Frame, error)
	Status() capture.FeedStatus
}

// Options are the parts of a Pipeline.
type Options struct {
	Name   string // of the task; "": "pipeline"
	Frames Frames

	RegistrationOptions
	Adopted *Adopted // calibrations saved while the program runs; nil: none

	NewLocator func(calibration.Table) (Locator, error)
	// NewChange returns the detector that lets the pipeline skip unchanged pictures. Nil
	// searches every picture.
	NewChange func(calibration.Table) (*track.ChangeDetector, error)
	Tracking  track.TrackerOptions // zero: the defaults
	// FrozenAfter is how long a camera may send exactly the same picture; 0: for ever.
	FrozenAfter time.Duration
	// FrozenMost is the same once the stream's encoder is seen to leave out what does not change; 0: FrozenAfter.
	FrozenMost time.Duration
	// Exposure receives the light once a second, and whether a picture is held, which a change of
	// the exposure would spoil. It returns the state of the exposure. Nil: nothing controls it.
	Exposure func(l exposure.Light, busy bool) exposure.State

	// Dial returns the maneuvers of a ship's dial, which help to distinguish ships that look alike;
	// nil or no maneuvers mean any maneuver.
	Dial func(ship string) []move.Maneuver
	// Names stores the names of ships without our tokens while the program does not run; nil: they are lost.
	Names *naming.Memory
	// Lying stores the obstacles on the mat while the program does not run; nil: they are forgotten.
	Lying *Lying

	Cameras   []SecondaryCamera // whose views are fused with this one's
	Secondary bool              // this is a secondary camera: the main camera's pipeline measures
	Game      *game.Game
	Now       func() time.Time

	// Renamed is called when a person corrects a ship's name, before the result is published; may be nil.
	Renamed func(was, is string)
}

// Pipeline processes the pictures of one camera. It belongs to the goroutine of Run; only
// PlaceShip, PlaceCard and Relearn are safe for concurrent use.
type Pipeline struct {
	o        Options
	Loop     game.Liveness           // of Run
	placing  atomic.Pointer[placing] // set by PlaceShip and PlaceCard
	relearnt atomic.Bool             // set by Relearn

	// The stages, and the checks of the picture itself.
	pictures     pictureCheck
	light        lightGauge
	registration *Registration
	locate       Locate
	stock        Stock
	track        *Track // and Change
	fuse         Fuse
	measure      Measure

	size       image.Point // of the pictures
	picture    pictureState
	unsearched *live.Health   // what stopped the answers, until a picture after it was searched; nil: nothing
	own        []vision.Track // the ships as this camera alone sees them
	reported   reported
	notes      []string // to publish next
	dropped    bool     // the published ships belong to a dropped registration
}

// New returns a pipeline; Run starts it.
func New(o Options) *Pipeline {
	if o.Adopted == nil {
		o.Adopted = &Adopted{}
	}
	p := &Pipeline{
		o:        o,
		pictures: pictureCheck{frozenAfter: o.FrozenAfter, frozenMost: o.FrozenMost},
		light:    lightGauge{exposure: o.Exposure},
		locate:   Locate{newLocator: o.NewLocator, kept: o.Lying, lying: o.Lying.Before()},
		track:    newTrack(o.Tracking, o.NewChange, o.Log),
		stock:    Stock{names: naming.Names{Dial: o.Dial, Memory: o.Names}},
		fuse:     Fuse{cameras: o.Cameras},
		measure:  Measure{off: o.Secondary},
	}
	p.registration = NewRegistration(o.RegistrationOptions, p)
	p.stock.names.Lose()
	return p
}

// String names the task.
func (p *Pipeline) String() string { return cmp.Or(p.o.Name, "pipeline") }

// Run processes pictures until ctx is cancelled.
func (p *Pipeline) Run(ctx context.Context) error {
	var seq uint64
	for {
		p.Loop.Rest()
		f, err := p.o.Frames.Next(ctx, seq)
		p.Loop.Beat()
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, io.EOF):
			p.o.Game.Update(func(s *game.Seen) { s.Ended = true })
			p.Loop.Rest()
			<-ctx.Done()
			return nil
		case err != nil:
			return fmt.Errorf("pipeline: next picture: %w", err)
		}
		seq = f.Seq
		p.Update(f)
	}
}

// Update takes one picture through all stages.
func (p *Pipeline) Update(f vision.Frame) {
	now := p.o.Now()
	if p.o.Game.Busy() {
		busy := game.Calibrating()
		p.unsearched = &busy // what is known of the table is from before
		p.publishFrame(f, now)
		return
	}
	p.applyChanges(f)
	if !p.track.single && p.stock.gapBefore(capturedAt(f, now)) && p.registration.State() != Unknown {
		p.note("There were no pictures for a while. Ships without our tokens keep their names if they stand where they stood.")
		p.drop()
		p.track.detectChange(*p.registration.Table())
	}
	p.examine(f, now)
	if p.skipUnchanged(f, now) {
		return
	}
	p.registration.Update(f, now)
	if p.registration.State() == Unknown {
		p.publishFrame(f, now)
		return
	}
	p.publish(func(*game.Seen) {}) // a moved camera is reported before the search
	p.search(f, now)
}

// applyChanges applies what changed since the last picture: its size, the calibration or the
// catalogue.
func (p *Pipeline) applyChanges(f vision.Frame) {
	before := p.size
	p.size.X, p.size.Y = f.Size()
	if before != p.size && before != (image.Point{}) {
		p.registration.Invalidate(nil)
		p.note(fmt.Sprintf("The picture's size changed from %d×%d to %d×%d.", before.X, before.Y, p.size.X, p.size.Y))
	}
	if file, lensName, ok := p.o.Adopted.take(); ok {
		p.registration.Replace(file, lensName)
	}
	if p.relearnt.Swap(false) && p.registration.State() != Unknown {
		p.relearn()
	}
	if p.dropped { // do not show old ships during the search for a new registration
		p.publish(func(*game.Seen) {})
	}
}

// relearn makes a new locator with what has been learnt by now. The ships keep their tracks,
// since the camera has not moved.
func (p *Pipeline) relearn() {
	table := *p.registration.Table()
	if err := p.locate.install(table); err != nil { // no answer may use what was learnt before
		p.note("What was learnt cannot be used: " + err.Error())
		p.registration.Invalidate(err)
		return
	}
	p.track.detectChange(table) // else an unchanged picture would not be searched
}

// examine checks the picture itself, and measures the light.
func (p *Pipeline) examine(f vision.Frame, now time.Time) {
	changed := p.registration.RenewVerification(now)
	if state := p.pictures.update(f.Gray, now); state != p.picture {
		if was := p.health(); state == pictureGood {
			p.unsearched = &was // what is known of the table is from pictures that were not good
		}
		p.picture, changed = state, true
	}
	note, measured := p.light.update(f, now, p.registration, p.o.Game.Held)
	if note != "" {
		p.note(note)
	}
	if changed || measured {
		p.publish(func(*game.Seen) {})
	}
}

// install prepares the later stages for a registration.
func (p *Pipeline) install(t calibration.Table) error {
	relearnt := p.relearnt.Swap(false) // else the next picture would install everything again
	if err := p.locate.install(t); err != nil {
		if relearnt {
			p.relearnt.Store(true)
		}
		return err
	}
	p.drop()
	p.track.detectChange(t)
	return nil
}

// drop discards what was seen through a registration that no longer holds.
func (p *Pipeline) drop() {
	p.track.reset()
	p.own, p.reported.turned = nil, nil
	p.stock.names.Lose()
	p.stock.swaps = swaps{}
	p.locate.problem, p.measure.problem = "", ""
	p.dropped = true
}

// search locates, tracks and measures the ships in a picture.
func (p *Pipeline) search(f vision.Frame, now time.Time) {
	located, err := p.locate.Update(f, p.doubtful())
	if err != nil {
		p.publishFrame(f, now)
		return
	}
	if located.Captured.IsZero() {
		located.Captured = now
	}
	p.track.resetIfOlder(f.Name, located.Captured)
	widen := p.registration.drift.widen
	widen(&located.Scene)
	widenUnnamed(&located, widen)
	rules := p.o.Game.Rules()
	located.Scene.Rules, located.Scene.Profile = rules.Edition, rules.Profile
	edges := p.locate.edgeSearch(f, &located, widen)
	p.place(edges)
	for _, id := range p.stock.update(edges, p.ownTracks()) {
		p.track.forget(id)
	}
	tracked := p.track.Update(f, located, edges.finder())
	p.own = tracked.Tracks
	for _, id := range p.stock.swaps.takeOpen() {
		p.track.forget(id)
	}
	p.track.searched(f.Gray, now, &tracked, rules)
	for _, e := range tracked.Events {
		p.note(e.String() + ".")
	}
	fused := p.fuseCameras(tracked)
	addPrintedArcs(&fused, rules)
	p.notes = append(p.notes, p.reported.newDuplicates(located.Duplicates, p.o.Now())...)
	p.notes = append(p.notes, p.reported.newTokens(&located, p.o.Now())...)
	p.notes = append(p.notes, p.reported.newTurned(edges.turned, p.o.Now())...)
	p.reported.turnedBack(edges.turned, edges.searched, tracked.Tracks)
	p.publishMeasured(f, now, fused, rules)
}

// ownTracks returns the ships that this camera has seen. Those that only another camera sees are no evidence about places that
// this one has searched.
func (p *Pipeline) ownTracks() []vision.Track {
	if len(p.fuse.cameras) == 0 {
		return p.o.Game.Tracks()
	}
	return p.own
}

// fuseCameras adds what the secondary cameras see.
func (p *Pipeline) fuseCameras(t vision.Tracked) Fused {
	fused := p.fuse.Update(t, &p.registration.Table().Camera)
	for _, c := range fused.Changes {
		p.o.Game.NoteCamera(c)
	}
	p.notes = append(p.notes, p.reported.newConflicts(fused.Fusion)...)
	return fused
}

// Relearn makes the next picture be searched with what has been learnt by now. It is safe for
// concurrent use.
func (p *Pipeline) Relearn() { p.relearnt.Store(true) }

// skipUnchanged publishes a picture that shows the same as the last searched one. It reports
// false when the picture must be searched.
func (p *Pipeline) skipUnchanged(f vision.Frame, now time.Time) bool {
	began := time.Now()
	unchanged := p.track.unchanged(f.Gray, now) // the detector must see every picture
	if !unchanged || !p.maySkip() {
		return false
	}
	p.publishUnchanged(f, now, began)
	return true
}

// addPrintedArcs gives the ships the arcs that the game knows to be printed on their tokens.
func addPrintedArcs(seen *Fused, rules game.Rules) {
	rules.Printed.Apply(&seen.Located.Scene)
	seen.Tracks = rules.Printed.ApplyToTracks(rules.Edition, seen.Tracks)
}

// publishUnchanged publishes what was found before. It measures again only when other cameras
// see something new.
func (p *Pipeline) publishUnchanged(f vision.Frame, now, began time.Time) {
	tracked := p.track.repeat(capturedAt(f, now), f.Seq)
	p.own = tracked.Tracks
	p.stock.searchInBackground(p.locate.locator, f, &tracked)
	fused := p.fuseCameras(tracked)
	fused.Elapsed = time.Since(began)
	addPrintedArcs(&fused, p.track.rules)
	if len(p.fuse.cameras) > 0 {
		if scene := fused.Standing(); !p.measure.measured(&scene) {
			p.publishMeasured(f, now, fused, p.track.rules)
			return
		}
	}
	p.publishSeen(f, now, fused)
}

// maySkip reports whether an unchanged picture need not be searched: no one places a ship, the
// registration is trusted, nothing failed, and the rules are the same.
func (p *Pipeline) maySkip() bool {
	return p.placing.Load() == nil && !p.stock.searchDone(p.locate.locator) && !p.doubtful() &&
		p.locate.problem == "" && p.measure.problem == "" && p.track.rules == p.o.Game.Rules()
}

// doubtful reports whether the picture may not show the table where the registration puts it.
func (p *Pipeline) doubtful() bool {
	return p.picture != pictureGood || p.pictures.empty || !p.registration.Trusted()
}

// capturedAt returns when a picture was taken, or when it arrived if that is not known.
func capturedAt(f vision.Frame, now time.Time) time.Time {
	if f.Captured.IsZero() {
		return now
	}
	return f.Captured
}

// note adds a note to what is published next.
func (p *Pipeline) note(text string) { p.notes = append(p.notes, text) }

// publish passes the state of the stages to the game.
func (p *Pipeline) publish(change func(*game.Seen)) {
	health, dropped, notes, turned := p.health(), p.dropped, p.notes, p.reported.turnedNow()
	p.dropped, p.notes = false, nil
	p.o.Game.Update(func(s *game.Seen) {
		if dropped {
			s.Forget()
		}
		s.Health, s.Register, s.Region, s.Mat = health, p.registration.View(), p.registration.Region(), p.registration.Layout()
		s.Light, s.Turned = p.light.view, turned
		change(s)
	}, notes...)
}

// publishFrame publishes a picture that was not searched.
func (p *Pipeline) publishFrame(f vision.Frame, now time.Time) {
	p.publish(func(s *game.Seen) { s.Frame, s.FrameAt = f, now })
}

// publishSeen publishes a picture whose ships were measured before.
func (p *Pipeline) publishSeen(f vision.Frame, now time.Time, seen Fused) {
	p.unsearched = nil
	p.publish(func(s *game.Seen) {
		s.Frame, s.FrameAt, s.Located, s.Tracks, s.Cameras = f, now, seen.Located, seen.Tracks, seen.Cameras
	})
}

// publishMeasured measures the standing ships and publishes them.
func (p *Pipeline) publishMeasured(f vision.Frame, now time.Time, seen Fused, rules game.Rules) {
	scene := seen.Standing()
	result := p.measure.Update(&scene, rules.Touch.Options(&scene, rules.Sigmas))
	p.unsearched = nil
	p.publish(func(s *game.Seen) {
		s.Frame, s.FrameAt, s.Located, s.Tracks, s.Cameras, s.Result = f, now, seen.Located, seen.Tracks, seen.Cameras, result
	})
}

// health returns what stops the answers: the picture, a failed stage, or the registration.
func (p *Pipeline) health() live.Health {
	problem := cmp.Or(p.locate.problem, p.measure.problem)
	switch {
	case p.picture != pictureGood:
		return p.pictures.health(p.picture)
	case problem != "" && p.registration.State() != Unknown:
		return live.Health{
			Code: live.Broken, Title: "Cannot measure", Detail: problem,
			Advice: "Restart the program with a calibration that fits this camera.",
		}
	}
	if health := p.registration.Health(); health.Code != live.OK || p.unsearched == nil {
		return health
	}
	return *p.unsearched
}
