// Package game owns the state of the table that everyone sees: what the pipeline saw last, and
// what people chose, agreed on, held and ruled. It publishes each change as a live.State and
// stores what must survive a restart. It knows no HTTP and processes no pictures.
package game

import (
	"cmp"
	"context"
	"fmt"
	"image"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"sightline/calibration"
	"sightline/cmd/internal/kept"
	"sightline/cmd/internal/live"
	"sightline/cmd/internal/sentence"
	"sightline/engine"
	"sightline/hardware"
	"sightline/vision"
	"sightline/vision/capture"
)

// The times of a game.
const (
	StaleAfter   = 2 * time.Second        // an older picture gives no answers (Options.StaleAfter)
	publishEvery = 500 * time.Millisecond // a state is published at least this often
)

// Options are the parts of a Game.
type Options struct {
	Name       string                    // of the task; "": "answers"
	Camera     func() capture.FeedStatus // of the main camera
	Mat        calibration.Layout        // until there is a registration
	Rules      Rules
	Judges     bool // there is a judge's secret: only judges change the agreement on measuring
	Hub        *live.Hub
	PanelName  func() string
	Screen     func(*live.State) hardware.Screen // what the panel's menu shows; nil: the answer
	Labels     [hardware.NumLamps]string         // of the lamps
	Busy       func() bool                       // a calibration needs the camera: no answers; nil: never
	StaleAfter time.Duration                     // an older picture gives no answers; 0: the constant
	News       <-chan string                     // notes from other tasks; nil: none
	Learnt     func() live.Learnt                // what pictures are measured by now; nil: not known
	Damaged    func() []string                   // which ships' looks cannot be read, in sentences; nil: none
	Now        func() time.Time
	Clock      *kept.Clock // tells how old is what was stored; nil: Now does
	Log        *slog.Logger

	// Dir stores the match, the agreement on measuring, the chosen pair, and what is held; "": nothing
	// is stored.
	Dir     string
	Version string // the program's: another one does not take up what is held
}

// Game is the state of the table. It publishes each change as a live.State. Its methods are
// safe for concurrent use.
type Game struct {
	o    Options
	Loop Liveness // of Run

	stored session // as last written; owned by Run
	failed bool    // writing it failed

	mu           sync.Mutex // guards the fields below: the parts of the next state
	seen         Seen
	notebook     notebook
	held         *shown     // nil: live
	kept         keptHeld   // what the files have of it
	released     []released // newest first
	keptReleased keptReleased
	holds        uint64       // the number of the last held picture
	restart      time.Time    // nothing can be held until then: a restart was announced
	ruling       *live.Ruling // the last ruling; nil: none yet

	rulingsTrouble string // why rulings cannot be recorded; "": they can

	choice live.Choice
	chosen bool // by a person: the program no longer chooses
	match  live.Match
	play   *live.Play // nil: no game
	policy live.Policy

	unstored bool // the agreement on measuring could not be stored

	direction live.Direction // of the stream

	numbered map[string]engine.Ship // the chosen unidentified bases, as last seen

	underway map[string]bool // ships that moved and have not come to rest
}

// New returns a game without a picture, with what Dir has stored.
func New(o Options) *Game {
	o.StaleAfter = cmp.Or(o.StaleAfter, StaleAfter)
	g := &Game{
		o:            o,
		seen:         Seen{Mat: o.Mat},
		notebook:     notebook{now: o.Now, log: o.Log},
		choice:       live.Choice{Arc: engine.ArcFront},
		underway:     map[string]bool{},
		keptReleased: keptReleased{numbers: map[uint64]bool{}},
		policy:       live.Policy{Measuring: o.Rules.Measuring, JudgesOnly: o.Judges},
	}
	g.stored = g.session()
	g.load()
	return g
}

// load restores what was stored before a restart. What cannot be read is left out.
func (g *Game) load() {
	if g.o.Dir == "" {
		return
	}
	match, err := loadMatch(g.file(matchFile))
	if err != nil {
		g.o.Log.Warn("the match starts over", "err", err)
	}
	g.match = match
	if g.direction, err = loadDirection(g.file(directionFile)); err != nil {
		g.o.Log.Warn("the overlays show every widget again", "err", err)
	}
	agreed, lost, err := loadAgreement(g.file(agreementFile), g.o.Rules.Measuring, g.o.Now(), g.o.Clock)
	if err != nil {
		g.o.Log.Warn("the agreement on measuring starts over", "err", err)
	}
	g.restoreAgreement(agreed, lost)
	before, err := loadSession(g.file(sessionFile), g.o.Now(), g.o.Clock)
	if err != nil {
		g.o.Log.Warn("the pair must be chosen again", "err", err)
	}
	g.resumeHeld()
	g.resumeReleased()
	if g.held == nil {
		g.resume(before)
		return
	}
	g.stored, g.chosen = before, before.Chosen
}

// file returns the path of a stored file; "" without Dir.
func (g *Game) file(name string) string {
	if g.o.Dir == "" {
		return ""
	}
	return filepath.Join(g.o.Dir, name)
}

// String names the task.
func (g *Game) String() string { return cmp.Or(g.o.Name, "answers") }

// Run publishes the state regularly until ctx is cancelled, so that it is current even when no
// picture comes.
func (g *Game) Run(ctx context.Context) error {
	ticker := time.NewTicker(publishEvery)
	defer ticker.Stop()
	if g.o.Dir != "" {
		var keeping sync.WaitGroup
		keeping.Go(func() { g.keepHeld(ctx) })
		defer keeping.Wait()
	}
	for {
		g.Publish()
		g.storeSession()
		g.storeAgreementAgain()
		g.Loop.Beat()
		select {
		case <-ctx.Done():
			g.storeSession()
			return nil
		case text := <-g.o.News:
			g.Note(text)
		case <-ticker.C:
		}
	}
}

// Update changes what was seen, adds notes, and publishes both.
func (g *Game) Update(change func(*Seen), notes ...string) {
	g.update(func() {
		change(&g.seen)
		g.followNumbers()
		for _, text := range notes {
			g.note(text)
		}
		g.chooseFirst()
	})
}

// update changes the state and publishes it.
func (g *Game) update(change func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	change()
	now := g.o.Now()
	g.expire(now)
	g.o.Hub.Publish(g.view(now))
}

// Publish publishes the current state.
func (g *Game) Publish() { g.update(func() {}) }

// note adds a note. The caller holds mu.
func (g *Game) note(text string) { g.notebook.add(text) }

// Note adds a note and publishes it.
func (g *Game) Note(text string) { g.update(func() { g.note(text) }) }

// NoteCamera adds the note that a secondary camera dropped out or came back. The next update
// publishes it.
func (g *Game) NoteCamera(c CameraChange) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.notebook.camera(c)
}

// Rules returns the rules; the edition may change while the program runs.
func (g *Game) Rules() Rules {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.o.Rules
}

// Held reports whether a picture is held.
func (g *Game) Held() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.held != nil
}

// Tracks returns the ships as last published.
func (g *Game) Tracks() []vision.Track {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.seen.Tracks
}

// Busy reports whether a calibration needs the camera.
func (g *Game) Busy() bool { return g.o.Busy != nil && g.o.Busy() }

// shown is what is shown and answered from: the newest or the held picture.
type shown struct {
	Seen
	hold *live.Held // nil: live
}

// shown returns what is shown now. The caller holds mu.
func (g *Game) shown() *shown {
	if g.held != nil {
		return g.held
	}
	return &shown{Seen: g.seen}
}

// Rules are what answers depend on apart from the scene.
type Rules struct {
	Edition   engine.Rules
	Profile   string
	Sigmas    float64
	Measuring live.Measuring // the configured agreement
	Touch     *live.Touch    // which ships touch in a first edition game; nil: unknown
	Printed   *live.Printed  // arcs printed on its tokens; nil: only the front arc
}

// Choose sets the chosen pair.
func (g *Game) Choose(c live.Choice) {
	g.update(func() { g.choice, g.chosen = c, true })
}

// chooseFirst chooses a pair while no person has chosen one: the ship that moved last, else
// player 1's first ship, and the enemy nearest to it. The caller holds mu.
func (g *Game) chooseFirst() {
	if g.chosen || g.held != nil {
		return
	}
	moved := g.movedLast()
	if g.choice.From != "" && (moved == "" || moved == g.choice.From) {
		return
	}
	ships := g.seen.Located.Scene.Ships
	i := slices.IndexFunc(ships, func(s engine.Ship) bool { return s.ID == moved || moved == "" && s.Player == 1 })
	if i < 0 {
		return
	}
	best := -1
	for k, s := range ships {
		if s.Player != ships[i].Player && s.Player != 0 &&
			(best < 0 || s.Pose.Distance(ships[i].Pose.Point) < ships[best].Pose.Distance(ships[i].Pose.Point)) {
			best = k
		}
	}
	if best >= 0 {
		g.choice.From, g.choice.To = ships[i].ID, ships[best].ID
	}
}

// movedLast returns a player's ship that has come to rest since the last picture; "": none.
// The caller holds mu.
func (g *Game) movedLast() (id string) {
	for i := range g.seen.Tracks {
		k := &g.seen.Tracks[i]
		switch {
		case k.State == vision.Moving || k.State == vision.Lifted:
			g.underway[k.Ship.ID] = true
		case k.State.Stands() && g.underway[k.Ship.ID]:
			delete(g.underway, k.Ship.ID)
			if k.Ship.Player != 0 {
				id = k.Ship.ID
			}
		}
	}
	return id
}

// AskJudge holds the answers and notes that a judge was called.
func (g *Game) AskJudge() { _ = g.AskJudgeFor("") } // a refusal is noted

// AskJudgeFor does the same and records who asked; who may be "". An error is a *live.Refusal,
// and is also noted.
func (g *Game) AskJudgeFor(who string) error {
	if err := g.Hold(live.HoldRequest{Hold: true, AskJudge: true}); err != nil {
		g.Note(err.Error())
		return err
	}
	var title string
	g.update(func() {
		if g.held == nil { // a note that a judge was called would be believed, and no judge's page shows a call
			title = g.view(g.o.Now()).Health.Title
			return
		}
		if !g.addAsker(who) {
			return
		}
		by, what := "", " at this table."
		if who != "" {
			by = " by " + who
		}
		if g.choice.From != "" && g.choice.To != "" {
			what = fmt.Sprintf(": %s to %s.", g.choice.From, g.choice.To)
		}
		g.note("A judge was called" + by + what)
	})
	if title == "" {
		return nil
	}
	err := &live.Refusal{Kind: live.ErrOvertaken, Text: "Nothing can be held now: " + sentence.Lower(title) + "."}
	g.Note(err.Text)
	return err
}

// SetEdition changes the edition of the rules. The table is measured again.
func (g *Game) SetEdition(r engine.Rules) {
	g.update(func() {
		if r == g.o.Rules.Edition {
			return
		}
		g.o.Rules.Edition = r
		g.closeWindow(r)
		g.seen.Located.Scene.Rules = r
		g.seen.Result = engine.Result{} // measured with the next picture
		if g.held != nil && g.held.Located.Scene.Rules != r {
			held := *g.held
			held.Located.Scene.Rules = r
			standing := (&live.Held{Located: held.Located, Tracks: held.Tracks}).Scene()
			g.o.Rules.Printed.Apply(&standing)
			if result, err := engine.Measure(&standing, g.o.Rules.Touch.Options(&standing, g.o.Rules.Sigmas)); err == nil {
				held.Result = result
			}
			held.hold = g.renumbered(held.hold, &held)
			g.held = &held
		}
		g.note(fmt.Sprintf("The rules are now those of %v.", r))
	})
}

// Seen is what the pipeline knows after a picture. It is a plain value.
type Seen struct {
	Frame   vision.Frame
	FrameAt time.Time // when it arrived; zero before the first one
	Ended   bool      // no more pictures will come

	Health   live.Health // of the pictures and the registration
	Register live.Register
	Mat      calibration.Layout
	Region   image.Rectangle // the part of the picture to show; empty: all of it
	Light    live.Light

	Located vision.Located
	Tracks  []vision.Track // of Located's ships, in the same order
	Result  engine.Result  // of the standing ships
	Cameras []live.Camera
	Turned  []string // which bases' cards lie a quarter turn off, in sentences
}

// Forget drops what was seen through a registration that no longer holds.
func (s *Seen) Forget() {
	s.Located, s.Tracks, s.Result = vision.Located{}, nil, engine.Result{}
}
