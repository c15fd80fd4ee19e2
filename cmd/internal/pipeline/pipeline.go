// Package pipeline takes each picture through the stages, from the registration of the
// camera to the measured table, and hands what they saw to the game:
//
//	picture -> Registration -> Locate -> Stock -> Track -> Fuse -> Measure -> game.Seen
//
// Each stage is a small type with its own state. A picture that shows nothing new is not
// searched (package track). A pipeline and its stages belong to one goroutine.
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

// Frames is where a pipeline gets its pictures: a capture.Feed.
type Frames interface {
	Next(ctx context.Context, after uint64) (vision.Frame, error)
	Status() capture.FeedStatus
}

// Options are the parts of a Pipeline.
type Options struct {
	Name   string // of the task; "": "pipeline"
	Frames Frames

	RegistrationOptions
	Adopted *Adopted // calibrations that are made while the program runs; nil: none are

	NewLocator func(calibration.Table) (Locator, error)
	// NewChange returns what tells that a picture need not be searched as it shows what the
	// one before showed; nil: every picture is searched.
	NewChange func(calibration.Table) (*track.ChangeDetector, error)
	Tracking  track.TrackerOptions // how ships are followed; zero: the defaults
	// FrozenAfter is how long a camera may send exactly the same picture; 0: for ever.
	FrozenAfter time.Duration
	// Exposure is shown the light once a second, and whether something is held that a change of
	// the exposure would spoil; it returns how the exposure stands. nil: nothing sets it.
	Exposure func(l exposure.Light, busy bool) exposure.State

	// Dial returns the maneuvers of a ship's dial, which tell ships that look alike; nil, or none: every maneuver.
	Dial func(ship string) []move.Maneuver
	// Names keeps the names of ships without our tokens while the program does not run; nil: nothing does.
	Names *naming.Memory

	Cameras   []SecondaryCamera // whose views are fused with this one's
	Secondary bool              // this is such a camera: what it sees is measured by another
	Game      *game.Game
	Now       func() time.Time

	// Renamed is told that a person named two ships wrongly, before what was seen of them is published; nil: no one is.
	Renamed func(was, is string)
}

// Pipeline takes each picture through the stages, from registration to measuring, and
// hands what they saw to the game. It belongs to the goroutine of Run, but for the methods
// that say otherwise.
type Pipeline struct {
	o        Options
	Loop     game.Liveness // of Run
	placing  atomic.Pointer[placing]
	relearnt atomic.Bool

	pictures     pictureCheck
	light        lightGauge
	registration *Registration
	locate       Locate
	track        *Track
	stock        Stock
	fuse         Fuse
	measure      Measure

	size    image.Point // of the pictures
	picture pictureState
	own     []vision.Track // the ships as this camera sees them
	told    told
	notes   []string // for people, with what is published next
	dropped bool     // what was seen is of another registration
}

// New returns a pipeline that waits for its first picture.
func New(o Options) *Pipeline {
	if o.Adopted == nil {
		o.Adopted = &Adopted{}
	}
	p := &Pipeline{
		o:        o,
		pictures: pictureCheck{frozenAfter: o.FrozenAfter},
		light:    lightGauge{exposure: o.Exposure},
		locate:   Locate{newLocator: o.NewLocator},
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

// Run works until ctx is cancelled.
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

// Update takes one picture all the way.
func (p *Pipeline) Update(f vision.Frame) {
	now := p.o.Now()
	if p.o.Game.Busy() {
		p.publishFrame(f, now)
		return
	}
	p.receive(f)
	if !p.track.single && p.stock.came(capturedAt(f, now)) && p.registration.State() != Unknown {
		p.note("There were no pictures for a while: ships without our tokens keep their names where they stand as they stood.")
		p.drop()
		p.track.detectChange(*p.registration.Table())
	}
	p.examine(f, now)
	if p.rest(f, now) {
		return
	}
	p.registration.Update(f, now)
	if p.registration.State() == Unknown {
		p.publishFrame(f, now)
		return
	}
	p.publish(func(*game.Seen) {}) // that the camera moved is told before the search
	p.search(f, now)
}

// receive takes what came since the last picture: another picture size, calibration or
// catalogue.
func (p *Pipeline) receive(f vision.Frame) {
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
	if p.dropped { // the search for another registration takes a while
		p.publish(func(*game.Seen) {})
	}
}

// relearn searches for obstacles with what has been learnt by now. The ships stand where
// they stood: the camera is where it was.
func (p *Pipeline) relearn() {
	table := *p.registration.Table()
	if err := p.locate.install(table); err != nil { // no answer may rest on what was learnt before
		p.note("What was learnt cannot be used: " + err.Error())
		p.registration.Invalidate(err)
		return
	}
	p.track.detectChange(table) // or a picture at rest would not be searched again
}

// examine looks at the picture itself, and at the light.
func (p *Pipeline) examine(f vision.Frame, now time.Time) {
	changed := p.registration.RenewVerification(now)
	if state := p.pictures.look(f.Gray, now); state != p.picture {
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
	relearnt := p.relearnt.Swap(false) // else all that has begun would begin again with the next picture
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

// drop forgets what was seen through a registration that is no longer in use.
func (p *Pipeline) drop() {
	p.track.reset()
	p.own = nil
	p.stock.names.Lose()
	p.stock.swaps = swaps{}
	p.locate.problem, p.measure.problem = "", ""
	p.dropped = true
}

// search searches a picture and measures what stands in it.
func (p *Pipeline) search(f vision.Frame, now time.Time) {
	located, err := p.locate.Update(f)
	if err != nil {
		p.publishFrame(f, now)
		return
	}
	if located.Captured.IsZero() {
		located.Captured = now
	}
	p.track.lookAgain(f.Name, located.Captured)
	widen := p.registration.drift.widen
	widen(&located.Scene)
	widenUnnamed(&located, widen)
	rules := p.o.Game.Rules()
	located.Scene.Rules, located.Scene.Profile = rules.Edition, rules.Profile
	located.Doubtful = p.doubtful()
	edges := p.locate.edgeSearch(f, &located, widen)
	p.place(edges)
	for _, id := range p.stock.update(edges, p.followed()) {
		p.track.forget(id)
	}
	tracked := p.track.Update(f, located, edges.finder())
	p.own = tracked.Tracks
	for _, id := range p.stock.swaps.take() {
		p.track.forget(id)
	}
	p.track.searched(f.Gray, now, &tracked, rules)
	for _, e := range tracked.Events {
		p.note(e.String() + ".")
	}
	fused := p.join(tracked)
	printed(&fused, rules)
	p.notes = append(p.notes, p.told.newDuplicates(located.Duplicates, p.o.Now())...)
	p.notes = append(p.notes, p.told.newTokens(&located, p.o.Now())...)
	p.publishMeasured(f, now, fused, rules)
}

// followed are the ships that this camera's pictures have shown: what another one sees is no place that this one has looked at.
func (p *Pipeline) followed() []vision.Track {
	if len(p.fuse.cameras) == 0 {
		return p.o.Game.Tracks()
	}
	return p.own
}

// join adds what the secondary cameras see.
func (p *Pipeline) join(t vision.Tracked) Fused {
	fused := p.fuse.Update(t, &p.registration.Table().Camera)
	for _, c := range fused.Changes {
		p.o.Game.NoteCamera(c)
	}
	p.notes = append(p.notes, p.told.newConflicts(fused.Fusion)...)
	return fused
}

// Relearn makes the pipeline search for obstacles with what has been learnt by now. It is
// safe for concurrent use.
func (p *Pipeline) Relearn() { p.relearnt.Store(true) }

// rest takes a picture that shows what the last one showed that was searched. It reports
// false when the picture must be searched.
func (p *Pipeline) rest(f vision.Frame, now time.Time) bool {
	began := time.Now()
	unchanged := p.track.unchanged(f.Gray, now) // asked of every picture
	if !unchanged || !p.calm() {
		return false
	}
	p.stand(f, now, began)
	return true
}

// printed puts on the ships what a game knows that their tokens print.
func printed(seen *Fused, rules game.Rules) {
	rules.Printed.Apply(&seen.Located.Scene)
	seen.Tracks = rules.Printed.ApplyToTracks(rules.Edition, seen.Tracks)
}

// stand takes what was found before for what a picture shows. It is measured again when
// other cameras see more or less than before.
func (p *Pipeline) stand(f vision.Frame, now, began time.Time) {
	tracked := p.track.rest(capturedAt(f, now), f.Seq)
	p.own = tracked.Tracks
	p.stock.rest(p.locate.locator, f, &tracked)
	fused := p.join(tracked)
	fused.Elapsed = time.Since(began)
	printed(&fused, p.track.rules)
	if len(p.fuse.cameras) > 0 {
		if scene := fused.Standing(); !p.measure.measured(&scene) {
			p.publishMeasured(f, now, fused, p.track.rules)
			return
		}
	}
	p.publishSeen(f, now, fused)
}

// calm reports whether nothing but the picture asks for a search: the markers lie where
// they were, nothing failed, and the rules are those that were measured by.
func (p *Pipeline) calm() bool {
	return p.placing.Load() == nil && !p.stock.ready(p.locate.locator) && !p.doubtful() &&
		p.locate.problem == "" && p.measure.problem == "" && p.track.rules == p.o.Game.Rules()
}

// doubtful reports whether the picture may not show the table as the registration has it.
func (p *Pipeline) doubtful() bool {
	return p.picture != pictureGood || p.pictures.empty || !p.registration.Trusted()
}

// capturedAt returns when a picture was taken, or else when it came in.
func capturedAt(f vision.Frame, now time.Time) time.Time {
	if f.Captured.IsZero() {
		return now
	}
	return f.Captured
}

// note tells people something with what is published next.
func (p *Pipeline) note(text string) { p.notes = append(p.notes, text) }

// publish hands what the stages know to the game.
func (p *Pipeline) publish(change func(*game.Seen)) {
	health, dropped, notes := p.health(), p.dropped, p.notes
	p.dropped, p.notes = false, nil
	p.o.Game.Update(func(s *game.Seen) {
		if dropped {
			s.Forget()
		}
		s.Health, s.Register, s.Region, s.Mat = health, p.registration.View(), p.registration.Region(), p.registration.Layout()
		s.Light = p.light.view
		change(s)
	}, notes...)
}

// publishFrame publishes a picture in which nothing was searched.
func (p *Pipeline) publishFrame(f vision.Frame, now time.Time) {
	p.publish(func(s *game.Seen) { s.Frame, s.FrameAt = f, now })
}

// publishSeen publishes a picture whose ships stand as they were measured.
func (p *Pipeline) publishSeen(f vision.Frame, now time.Time, seen Fused) {
	p.publish(func(s *game.Seen) {
		s.Frame, s.FrameAt, s.Located, s.Tracks, s.Cameras = f, now, seen.Located, seen.Tracks, seen.Cameras
	})
}

// publishMeasured measures what stands and publishes it.
func (p *Pipeline) publishMeasured(f vision.Frame, now time.Time, seen Fused, rules game.Rules) {
	scene := seen.Standing()
	result := p.measure.Update(&scene, rules.Touch.Options(&scene, rules.Sigmas))
	p.publish(func(s *game.Seen) {
		s.Frame, s.FrameAt, s.Located, s.Tracks, s.Cameras, s.Result = f, now, seen.Located, seen.Tracks, seen.Cameras, result
	})
}

// health says what of the stages stops the answers.
func (p *Pipeline) health() live.Health {
	problem := cmp.Or(p.locate.problem, p.measure.problem)
	switch {
	case p.picture != pictureGood:
		return pictureHealth(p.picture, p.pictures.frozenAfter)
	case problem != "" && p.registration.State() != Unknown:
		return live.Health{
			Code: live.Broken, Title: "Cannot measure", Detail: problem,
			Advice: "Restart the program with a calibration that fits this camera.",
		}
	}
	return p.registration.Health()
}
