// Package game holds the table as everybody sees it: what the pipeline saw last, and what
// people chose, agreed on, hold and ruled. It decides what is said when, publishes each
// change as a live.State, and stores what must outlive the program. It knows no HTTP and
// looks at no picture.
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
	"sightline/cmd/internal/live"
	"sightline/engine"
	"sightline/hardware"
	"sightline/vision"
	"sightline/vision/capture"
)

// The times of a game.
const (
	StaleAfter   = 2 * time.Second        // an older picture gives no answers (Options.StaleAfter)
	publishEvery = 500 * time.Millisecond // a view is published at least this often
)

// Options are the parts of a Game.
type Options struct {
	Name       string                    // of the task; "": "answers"
	Camera     func() capture.FeedStatus // how the main camera is
	Mat        calibration.Layout        // before there is a registration
	Rules      Rules
	Judges     bool // there is a judge's secret: only judges change the agreement on measuring
	Hub        *live.Hub
	PanelName  func() string
	Screen     func(*live.State) hardware.Screen // what the panel's menu shows; nil: the answer
	Labels     [hardware.NumLamps]string         // of the lamps
	Busy       func() bool                       // a calibration needs the camera: no answers; nil: never
	StaleAfter time.Duration                     // an older picture gives no answers; 0: staleAfter
	News       <-chan string                     // what other tasks tell people; nil: nothing
	Now        func() time.Time
	Log        *slog.Logger

	// Dir is where the match, the agreement on measuring, and the chosen pair with what is
	// held are stored; "": nowhere.
	Dir string
}

// Game is the table as everybody sees it: what the pipeline saw, and what people chose,
// agreed on, hold and ruled. It publishes each change as a View. Its methods are safe for
// concurrent use.
type Game struct {
	o    Options
	Loop Liveness // of Run

	stored session // as it was written last; owned by Run
	failed bool    // it could not be written

	mu       sync.Mutex // guards what follows: what the next view is made from
	seen     Seen
	notebook notebook
	held     *shown       // a person froze it; nil: live
	released []released   // what was let go, the newest first
	holds    uint64       // the number of what was held last
	restart  time.Time    // until when nothing is held, because the program is about to be restarted
	ruling   *live.Ruling // the last ruling; nil: none yet

	rulingsTrouble string // what stops rulings from being recorded; "": nothing is known

	choice live.Choice
	match  live.Match
	play   *live.Play // nil: no game is played
	policy live.Policy

	direction live.Direction // of the stream

	chosen bool // by a person: the program no longer chooses

	numbered map[string]engine.Ship // the chosen bases without a name, where they were seen last

	underway map[string]bool // ships that were seen moving and have not come to rest
}

// New returns a game that waits for the first picture.
func New(o Options) *Game {
	o.StaleAfter = cmp.Or(o.StaleAfter, StaleAfter)
	g := &Game{
		o:        o,
		seen:     Seen{Mat: o.Mat},
		notebook: notebook{now: o.Now, log: o.Log},
		choice:   live.Choice{Arc: engine.ArcFront},
		underway: map[string]bool{},
		policy:   live.Policy{Measuring: o.Rules.Measuring, JudgesOnly: o.Judges},
	}
	g.stored = g.session()
	g.load()
	return g
}

// load takes up what was stored before the program was started again. What cannot be read
// is left out.
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
	agreed, err := loadAgreement(g.file(agreementFile), g.o.Rules.Measuring, g.o.Now())
	if err != nil {
		g.o.Log.Warn("the agreement on measuring starts over", "err", err)
	}
	g.takeUp(agreed)
	before, err := loadSession(g.file(sessionFile), g.o.Now())
	if err != nil {
		g.o.Log.Warn("the pair must be chosen again", "err", err)
	}
	g.resume(before)
}

// file returns the path of a file in which something is stored; "": it is not.
func (g *Game) file(name string) string {
	if g.o.Dir == "" {
		return ""
	}
	return filepath.Join(g.o.Dir, name)
}

// String names the task.
func (g *Game) String() string { return cmp.Or(g.o.Name, "answers") }

// Run publishes now and then until ctx is cancelled, so that people hear even when no
// picture comes.
func (g *Game) Run(ctx context.Context) error {
	ticker := time.NewTicker(publishEvery)
	defer ticker.Stop()
	for {
		g.Publish()
		g.storeSession()
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

// Update changes what was seen, notes what people should know, and publishes both.
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

// update changes what is known and publishes it.
func (g *Game) update(change func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	change()
	now := g.o.Now()
	g.settle(now)
	g.o.Hub.Publish(g.view(now))
}

// Publish publishes what is known now.
func (g *Game) Publish() { g.update(func() {}) }

// note notes something that people should know. The caller holds mu.
func (g *Game) note(text string) { g.notebook.add(text) }

// Note notes something that people should know.
func (g *Game) Note(text string) { g.update(func() { g.note(text) }) }

// NoteCamera notes that a secondary camera fell out or came back. It is published with
// what comes next.
func (g *Game) NoteCamera(c CameraChange) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.notebook.camera(c)
}

// Rules returns the rules, whose edition may change while the program runs.
func (g *Game) Rules() Rules {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.o.Rules
}

// Held reports whether somebody holds the picture.
func (g *Game) Held() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.held != nil
}

// Tracks returns the ships as they were published last.
func (g *Game) Tracks() []vision.Track {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.seen.Tracks
}

// Busy reports whether a calibration needs the camera.
func (g *Game) Busy() bool { return g.o.Busy != nil && g.o.Busy() }

// shown is what is shown and answered from: the newest picture's, or what is held.
type shown struct {
	Seen
	hold *live.Held // nil: it is live
}

// shown returns what is shown now. The caller holds mu.
func (g *Game) shown() *shown {
	if g.held != nil {
		return g.held
	}
	return &shown{Seen: g.seen}
}

// Rules says how answers are made.
type Rules struct {
	Edition   engine.Rules
	Profile   string
	Sigmas    float64
	Measuring live.Measuring // what the players agreed on, to begin with
	Touch     *live.Touch    // what touches in the first edition's game; nil: not kept
	Printed   *live.Printed  // the arcs that its tokens print; nil: none but the front arc
}

// Choose makes a pair the chosen one.
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

// movedLast returns a player's ship that has come to rest since the last picture; "": none
// has. The caller holds mu.
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

// AskJudge holds the answers and tells everybody that a judge is asked for.
func (g *Game) AskJudge() { _ = g.AskJudgeFor("") } // everybody is told

// AskJudgeFor does the same, and remembers who asked; "": not said. What it refuses is a
// *live.Refusal, of which everybody is told.
func (g *Game) AskJudgeFor(who string) error {
	if err := g.Hold(live.HoldRequest{Hold: true, AskJudge: true}); err != nil {
		g.Note(err.Error())
		return err
	}
	g.update(func() {
		if !g.asked(who) {
			return
		}
		by, what := "", " at this table."
		if who != "" {
			by = " by " + who
		}
		if g.choice.From != "" && g.choice.To != "" {
			what = fmt.Sprintf(": %s to %s.", g.choice.From, g.choice.To)
		}
		g.note("A judge is asked for" + by + what)
	})
	return nil
}

// SetEdition changes the edition of the rules; what is on the table is measured again.
func (g *Game) SetEdition(r engine.Rules) {
	g.update(func() {
		g.o.Rules.Edition = r
		g.ruled(r)
		g.seen.Located.Scene.Rules = r
		g.seen.Result = engine.Result{} // measured with the next picture
		if g.held != nil {
			held := *g.held
			held.Located.Scene.Rules = r
			standing := (&live.Held{Located: held.Located, Tracks: held.Tracks}).Scene()
			g.o.Rules.Printed.Apply(&standing)
			if result, err := engine.Measure(&standing, g.o.Rules.Touch.Options(&standing, g.o.Rules.Sigmas)); err == nil {
				held.Result = result
			}
			held.hold = g.renamed(held.hold, &held)
			g.held = &held
		}
		g.note(fmt.Sprintf("The rules are now those of %v.", r))
	})
}

// Seen is what the pipeline knows after a picture. It is a plain value.
type Seen struct {
	Frame   vision.Frame
	FrameAt time.Time // when it came in; zero before the first one
	Ended   bool      // no more pictures will come

	Health   live.Health // what of the pictures or of the registration stops the answers
	Register live.Register
	Mat      calibration.Layout
	Region   image.Rectangle // of the picture that is worth showing; empty: all of it
	Light    live.Light

	Located vision.Located
	Tracks  []vision.Track // of Located's ships, in their order
	Result  engine.Result  // of the ships that stand
	Cameras []live.Camera
}

// Forget drops what was seen through a registration that no longer holds.
func (s *Seen) Forget() {
	s.Located, s.Tracks, s.Result = vision.Located{}, nil, engine.Result{}
}
