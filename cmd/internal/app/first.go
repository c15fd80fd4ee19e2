package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"sightline/calibration"
	"sightline/cmd/internal/first"
	"sightline/cmd/internal/live"
	"sightline/cmd/internal/pipeline"
	"sightline/cmd/internal/setup"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/capture"
)

// DefaultFirstPath is where the page for the first table stores the user's choices: the camera, the
// print, the way.
const DefaultFirstPath = "calibration/first-table.json"

// firstBoard is the board that the page prints.
const firstBoard = "chessboard:9x6:25mm"

// errNoCamera is the error if no camera is chosen yet.
var errNoCamera = errors.New("no camera is chosen yet: choose one on the page /first")

// keptFirst reads the stored choices. It logs an unreadable file and continues without.
func keptFirst(log *slog.Logger) first.Kept {
	k, err := first.LoadKept(filepath.FromSlash(DefaultFirstPath))
	if err != nil {
		log.Warn("what the page of the first table kept is not used", "err", err)
	}
	return k
}

// withCamera uses the camera that the page chose. Another camera has another lens and another
// place, so the configured files do not apply to it.
func (c Config) withCamera(chosen first.Camera) Config {
	if chosen.Source != c.Camera.Source {
		c.Camera.Lens, c.Table.Calibration = "", ""
	}
	c.Camera.Source, c.Camera.Width, c.Camera.Height, c.Camera.FPS = chosen.Source, chosen.Width, chosen.Height, chosen.FPS
	return c
}

// chosen returns the configuration with the camera that the page chose, unless the configuration
// names one.
func (c Config) chosen(kept *first.Kept) Config {
	if c.Camera.Source != "" || kept.Camera == nil {
		return c
	}
	return c.withCamera(*kept.Camera)
}

// WithChosenCamera returns the configuration as Run uses it: with the camera that the page chose,
// unless the configuration names one.
func (c Config) WithChosenCamera(log *slog.Logger) Config {
	kept := keptFirst(log)
	return c.chosen(&kept)
}

// sameCamera reports whether two cameras are the same. After replugging, a camera's device may have
// another number, and its number may belong to another camera.
func sameCamera(a, b first.Camera) bool {
	if a.Name != "" && b.Name != "" {
		return a.Name == b.Name
	}
	return a.Source == b.Source
}

// another is the cause that ends the tasks to restart with another camera.
type another struct{ camera first.Camera }

func (a *another) Error() string { return "begin again with " + a.camera.Source }

// printState returns the printer's scale when a calibration begins.
func printState(c Print, kept *first.Kept) setup.PrintState {
	p := setup.PrintState{Phase: setup.Waiting, ScaleX: cmp.Or(c.ScaleX, 1), ScaleY: cmp.Or(c.ScaleY, 1)}
	if k := kept.Print; k != nil {
		p.ScaleX, p.ScaleY = k.ScaleX, k.ScaleY
		p.BarX, p.BarY = geom.Length(k.BarX)*geom.Millimeter, geom.Length(k.BarY)*geom.Millimeter
		if k.Good {
			p.Phase = setup.Saved
		}
	}
	return p
}

// guide connects the page for the first table with the program.
type guide struct {
	desk    *first.Desk
	config  Config
	hub     *live.Hub
	lens    func() (calibration.Intrinsics, bool)
	known   *learnt
	busy    func() bool
	hold    func(live.HoldRequest) error // of the game
	saved   func() bool                  // the table's file is in use
	feed    pipeline.Frames
	inUse   first.Camera
	restart context.CancelCauseFunc
	log     *slog.Logger
	mu      sync.Mutex
	hash    string // hash of the last table
	table   *calibration.Table
}

// newGuide returns the page for the first table. Some parts are built after it.
func newGuide(c Config, kept first.Kept, hub *live.Hub, feed pipeline.Frames, known *learnt, lens func() (calibration.Intrinsics, bool),
	restart context.CancelCauseFunc, log *slog.Logger) *guide {
	g := &guide{config: c, hub: hub, feed: feed, known: known, lens: lens, restart: restart, log: log,
		inUse: first.Camera{Source: c.Camera.Source, Width: c.Camera.Width, Height: c.Camera.Height, FPS: c.Camera.FPS}}
	if k := kept.Camera; k != nil && k.Source == c.Camera.Source {
		g.inUse.Name = k.Name
	}
	g.desk = first.New(first.Options{
		Path: filepath.FromSlash(DefaultFirstPath), Layout: c.Table.Layout, Facts: g.facts, Board: firstBoard, Named: c.Camera.Named,
		ScaleX: cmp.Or(c.Print.ScaleX, 1), ScaleY: cmp.Or(c.Print.ScaleY, 1),
		Frame:     func() vision.Frame { return hub.Newest().Frame },
		Look:      first.Look{List: capture.List, Take: takeOne, Now: time.Now},
		UseCamera: g.use, MayRestart: g.mayRestart, InUse: g.inUse,
	}, kept)
	return g
}

// use restarts with another camera, after the page has its answer.
func (g *guide) use(chosen first.Camera) {
	g.log.Info("camera", "chosen", chosen.Source, "name", chosen.Name)
	time.AfterFunc(200*time.Millisecond, func() { g.restart(&another{chosen}) })
}

// mayRestart refuses to lose what another device works on: a picture that is held, or that a judge may hold again, and a calibration.
func (g *guide) mayRestart() error {
	if g.busy() {
		return &live.Refusal{Kind: live.ErrOvertaken, Text: "This camera is being calibrated, here or on another device: finish or cancel that " +
			"first, on /calibrate."}
	}
	return g.hold(live.HoldRequest{Restart: true})
}

// takeOne opens a free camera and takes its second picture: the first is dark.
func takeOne(ctx context.Context, source string) (f vision.Frame, err error) {
	s, err := OpenSource(ctx, Camera{Source: source})
	if err != nil {
		return f, err
	}
	defer s.Close()
	for range 5 {
		if f, err = s.Next(ctx); err != nil {
			return f, err
		}
	}
	return f, nil
}

// facts returns the current state of the table for the steps.
func (g *guide) facts() first.Facts {
	v, status := g.hub.Newest(), g.feed.Status()
	f := first.Facts{
		Camera: g.config.Camera.Source, Live: status.State == capture.FeedLive, Trouble: status.Trouble(),
		Simulated: strings.HasPrefix(g.config.Camera.Source, "sim:"), Busy: g.busy(), Saved: g.saved(),
		Table: g.tableOf(&v), Missing: len(v.Register.Watch.Missing), Watched: v.ObstaclesWatched,
		Ships: len(v.Located.Scene.Ships), Answers: v.Health.Code == live.OK && len(v.Result.Pairs) > 0,
	}
	f.Ended = v.Health.Code == live.Ended
	if f.Camera != "" && !f.Live && f.Trouble == "" {
		f.Trouble = fmt.Sprintf("it is %s.", status.State)
	}
	if v.Frame.Gray != nil {
		_, f.Height = v.Frame.Size()
	}
	if in, ok := g.lens(); ok {
		f.Lens, f.Rough = true, rough(in)
	} else if f.Table != nil {
		f.Lens, f.Rough = true, rough(f.Table.Intrinsics)
	}
	f.RoughTable = f.Table != nil && rough(f.Table.Intrinsics)
	if r := v.Register.Verified; r != nil && r.Holds {
		f.Verified, f.Outcome, f.WorstError = true, r.Outcome, r.WorstError
	}
	f.MatLearnt, f.Tokens = g.known.soFar()
	return f
}

// roughFocal is the relative standard deviation of the focal length from which a lens counts as
// estimated. A board gives 0.1 % or less, markers alone 1 % or more.
const roughFocal = 0.004

func rough(in calibration.Intrinsics) bool {
	return len(in.Covariance) > 0 && math.Sqrt(in.Covariance[0]) > roughFocal*in.Fx
}

// tableOf returns the calibration in use, or nil.
func (g *guide) tableOf(v *live.State) *calibration.Table {
	if len(v.Register.File) == 0 {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.table == nil || g.hash != v.Register.Hash {
		t, err := tableOf(v)
		if err != nil {
			return nil
		}
		g.table, g.hash = &t, v.Register.Hash
	}
	return g.table
}

// leads makes the guided calibration start with what the page knows, and stores its results.
func (g *guide) leads(o *CalibratorOptions) {
	o.Setup.Print = func() setup.PrintState {
		kept := g.desk.Kept()
		return printState(g.config.Print, &kept)
	}
	o.NewPrint, g.saved = g.printed, o.table.inUse.Load
	newLens, newTable := o.NewLens, o.NewTable
	o.NewLens = func(in calibration.Intrinsics, file string) {
		g.calibrated()
		newLens(in, file)
	}
	o.NewTable = func(file string) {
		g.calibrated()
		newTable(file)
	}
}

// printed stores the printer's scale that the guided calibration measured.
func (g *guide) printed(p setup.PrintState) {
	g.keep(func(k *first.Kept) {
		k.Print = &first.Print{
			BarX: p.BarX.Millimeters(), BarY: p.BarY.Millimeters(), ScaleX: p.ScaleX, ScaleY: p.ScaleY, Good: p.Phase == setup.Saved,
		}
	})
}

// calibrated stores to which camera the saved lens and table belong.
func (g *guide) calibrated() {
	g.keep(func(k *first.Kept) {
		camera := g.inUse
		k.Calibrated = &camera
	})
}

func (g *guide) keep(change func(*first.Kept)) {
	err := g.desk.Keep(func(k *first.Kept) error {
		change(k)
		return nil
	})
	if err != nil {
		g.log.Warn("first table: not kept", "err", err)
	}
}
