package projector

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"sightline/calibration"
	"sightline/cmd/internal/live"
	"sightline/cmd/internal/sentence"
	"sightline/vision"
	"sightline/vision/capture"
)

// Frames delivers pictures: a capture.Feed.
type Frames interface {
	Next(ctx context.Context, after uint64) (vision.Frame, error)
	Status() capture.FeedStatus
}

// Options are the dependencies of a Desk.
type Options struct {
	Hub     *live.Hub
	Frames  Frames                // of the main camera, not gated
	Markers vision.MarkerDetector // its own; nil: it finds no tags
	Path    string                // file of the set-up
	Stale   time.Duration         // age from which a picture gives no answers
	Now     func() time.Time
	Log     *slog.Logger
}

// What the page in front of the projector can show.
const (
	showDark    = "dark"
	showPattern = "pattern"
	showLines   = "lines"
)

// command is what the screen shows until the next command, or until its time is over.
type command struct {
	seq   uint64
	show  string
	until time.Time // from then on the page shows nothing; zero: leaseTime after it asked
	tags  []Tag
	lines []Line
}

// screen is the page in front of the projector.
type screen struct {
	id            string
	width, height int
	asked         time.Time // last request
	shown         uint64    // number of the command on the page
	shownAt       time.Time // when the page reported it
}

// span is a time during which pictures may show the projector's lines.
type span struct{ from, to time.Time }

// Desk controls the screen. It shows patterns while the projector is set up, and afterwards lines
// between pictures.
type Desk struct {
	o           Options
	calibrating func() bool

	mu      sync.Mutex // guards the fields below
	changed chan struct{}
	kept    *kept // nil: never set up
	trouble string
	screen  screen
	now     command
	spans   []span // the last one may not be over
	why     string // why nothing is lit
	setup   *progress
	checked string // hash of the calibration last compared with the map
}

// progress is the progress of a set-up.
type progress struct {
	cancel context.CancelFunc
	text   string
	over   bool
	failed string // the error, a sentence
}

// New returns a desk with the stored set-up.
func New(o Options) *Desk {
	first := uint64(o.Now().UnixMilli()) // larger than any earlier program's, so no page takes an old command for a new one
	d := &Desk{o: o, changed: make(chan struct{}), now: command{seq: first, show: showDark},
		calibrating: func() bool { return false }}
	k, err := load(o.Path)
	if err != nil {
		o.Log.Warn("what was kept of the projector is left out", "err", err)
		d.trouble = "What was kept of the projector cannot be read: " + sentence.Of(err)
	}
	d.kept = k
	return d
}

// String names the task.
func (d *Desk) String() string { return "projector" }

// Times of the screen and of the lines.
const (
	screenLost = 3 * time.Second        // a page silent for this long is gone
	planEvery  = 50 * time.Millisecond  // interval between checks whether lines may be lit
	litLeast   = 250 * time.Millisecond // a shorter time is a flash
	spare      = 300 * time.Millisecond // time that a picture may take before answers are stale
	delayLeast = 150 * time.Millisecond // from the page to the camera's picture
	delayMost  = 10 * time.Second       // later than answers may be: reported, and nothing is lit
	delayKept  = time.Minute            // longer delays count as this
)

// litMost is the longest time for which lines are lit, 0.8 s. Answers are late by as much if
// something moves meanwhile.
func (d *Desk) litMost() time.Duration { return 2 * d.o.Stale / 5 }

// Run lights lines between pictures until ctx is cancelled.
func (d *Desk) Run(ctx context.Context) error {
	ticker := time.NewTicker(planEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			d.mu.Lock()
			defer d.mu.Unlock()
			if d.setup != nil {
				d.setup.cancel()
			}
			return nil
		case <-ticker.C:
			state := d.o.Hub.Newest()
			d.mu.Lock()
			d.plan(&state, d.o.Now())
			d.mu.Unlock()
		}
	}
}

// Calibrating sets the function that reports whether a calibration uses the camera. Call it before
// Run.
func (d *Desk) Calibrating(busy func() bool) { d.calibrating = busy }

// Busy reports whether a calibration of the camera or of the projector uses the camera.
func (d *Desk) Busy() bool {
	if d.calibrating() {
		return true
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.settingUp()
}

func (d *Desk) settingUp() bool { return d.setup != nil && !d.setup.over }

// tell issues a command. The caller holds mu.
func (d *Desk) tell(c command) uint64 {
	c.seq = d.now.seq + 1
	d.now = c
	close(d.changed)
	d.changed = make(chan struct{})
	return c.seq
}

// plan lights the lines of a state, or ends it. The caller holds mu.
func (d *Desk) plan(state *live.State, now time.Time) {
	if d.settingUp() {
		d.why = "it is being set up"
		return
	}
	lines, until, why := d.wanted(state, now)
	d.why = why
	lit := d.now.show == showLines
	switch {
	case lit && (why != "" || !now.Before(d.now.until)):
		d.tell(command{show: showDark})
	case !lit && why == "" && until.Sub(now) >= litLeast && d.litAlready(state) == nil:
		d.tell(command{show: showLines, lines: lines, until: until})
		d.spans = append(slices.DeleteFunc(d.spans, func(s span) bool { return now.Sub(s.to) > time.Minute }),
			span{now, until.Add(d.delay())})
	}
}

// litAlready returns the time during which lines were lit for a state's picture, or nil. Lines are
// lit once for each picture.
func (d *Desk) litAlready(state *live.State) *span {
	for i := range d.spans {
		if s := &d.spans[i]; s.to.After(state.Frame.Captured) {
			return s
		}
	}
	return nil
}

func (d *Desk) delay() time.Duration {
	if d.kept == nil {
		return delayMost
	}
	return time.Duration(d.kept.Delay) * time.Millisecond
}

// wanted returns the lines of a state, and until when they may be lit so that the next picture
// comes before answers are stale. why says in a few words why there are none. The caller holds mu.
func (d *Desk) wanted(state *live.State, now time.Time) (lines []Line, until time.Time, why string) {
	if why := d.hindrance(state, now); why != "" {
		return nil, until, why
	}
	d.compare(state)
	if d.kept.Void != "" {
		return nil, until, "it is to be set up again"
	}
	if lines = linesOf(state, &d.kept.Map, d.kept.Errors.Worst); len(lines) == 0 {
		return nil, until, "there is nothing to point at"
	}
	needs := d.delay() + 3*state.Figures.Locating/2 + spare
	if state.Figures.FPS > 0 {
		needs += time.Duration(float64(time.Second) / state.Figures.FPS)
	}
	if d.o.Stale-needs < litLeast+state.Figures.Locating {
		return nil, until, fmt.Sprintf("a picture takes %.1f s here, and no time is left to light anything", needs.Seconds())
	}
	until = state.Frame.Captured.Add(d.o.Stale - needs)
	if most := now.Add(d.litMost()); until.After(most) {
		until = most
	}
	return lines, until, ""
}

// hindrance returns in a few words why nothing may be lit. The caller holds mu.
func (d *Desk) hindrance(state *live.State, now time.Time) string {
	k := d.kept
	switch {
	case k == nil:
		return "it is not set up"
	case k.Void != "":
		return "it is to be set up again"
	case k.Off:
		return "it is switched off"
	case now.Sub(d.screen.asked) > screenLost:
		return "no page is in front of the projector"
	case d.screen.width != k.Map.Width || d.screen.height != k.Map.Height:
		return fmt.Sprintf("the screen has %d×%d px, and %d×%d when it was set up", d.screen.width, d.screen.height, k.Map.Width, k.Map.Height)
	case d.calibrating():
		return "the camera is being calibrated"
	case state.Health.Code != live.OK:
		return "there are no answers: " + state.Health.Title
	case state.Held:
		return "the answers are held"
	}
	for i := range state.Tracks {
		if s := state.Tracks[i].State; s == vision.Settling || s == vision.Moving || s == vision.Frozen {
			return state.Tracks[i].Ship.ID + " is " + s.String()
		}
	}
	return ""
}

// compare checks that the map is valid for the calibration in use. The caller holds mu.
func (d *Desk) compare(state *live.State) {
	if state.Register.Hash == d.checked || len(state.Register.File) == 0 {
		return
	}
	table, err := calibration.ParseTableFile(state.Register.File)
	if err != nil {
		d.o.Log.Warn("projector: the calibration in use cannot be read", "err", err)
		return
	}
	d.checked = state.Register.Hash
	if why := d.kept.voided(&table); why != "" {
		d.kept.Void = why
		d.o.Log.Warn("projector", "void", why)
		d.keep()
	}
}

// keep stores the set-up. The caller holds mu.
func (d *Desk) keep() {
	d.trouble = ""
	if err := d.kept.save(d.o.Path); err != nil {
		d.o.Log.Warn("projector: not saved", "path", d.o.Path, "err", err)
		d.trouble = "It lasts only until the program ends: " + sentence.Of(err)
	}
}

// dark records that the screen shows nothing. The caller holds mu.
func (d *Desk) dark(now time.Time) {
	if n := len(d.spans); n > 0 && d.now.show == showDark {
		if end := now.Add(d.delay()); end.Before(d.spans[n-1].to) {
			d.spans[n-1].to = end
		}
	}
}

// lit reports whether a picture taken at a time may show the projector's lines.
func (d *Desk) lit(at time.Time) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.ContainsFunc(d.spans, func(s span) bool { return !at.Before(s.from) && at.Before(s.to) })
}

// Gate passes on the pictures that cannot show the projector's lines, and holds back the others.
// What reads pictures through it need not know about the projector.
func (d *Desk) Gate(from Frames) Frames { return &gate{from, d} }

type gate struct {
	Frames
	desk *Desk
}

// Next returns the next picture that shows the mat without lines.
func (g *gate) Next(ctx context.Context, after uint64) (vision.Frame, error) {
	for {
		f, err := g.Frames.Next(ctx, after)
		if err != nil || !g.desk.lit(f.Captured) {
			return f, err
		}
		after = f.Seq
	}
}
