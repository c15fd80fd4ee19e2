package app

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"sightline/calibration"
	"sightline/calibration/lens"
	"sightline/calibration/regularfile"
	"sightline/cmd/internal/access"
	"sightline/cmd/internal/first"
	"sightline/cmd/internal/game"
	"sightline/cmd/internal/kept"
	"sightline/cmd/internal/pipeline"
	"sightline/cmd/internal/play"
	"sightline/cmd/internal/projector"
	"sightline/cmd/internal/status"
	"sightline/cmd/internal/web"
	"sightline/engine/move"
	"sightline/hardware"
	"sightline/vision"
	"sightline/vision/capture"
	"sightline/vision/locate"
	"sightline/vision/obstacle"
)

// Task is a part of the program that runs concurrently.
type Task interface {
	// Run works until ctx is cancelled and then returns nil; any error stops the program.
	Run(ctx context.Context) error
	String() string
}

// Options replace parts of the program in tests.
type Options struct {
	Panel      hardware.Panel                                   // nil: the one of the configuration
	Input      Inputs                                           // nil: the controls of the configuration
	Open       func(ctx context.Context) (vision.Source, error) // nil: the source of the configuration
	Ready      func(address string)                             // called with the page's address once it is served
	Guide      lens.GuideOptions                                // of the guided calibration; zero: its defaults
	Log        *slog.Logger                                     // nil: slog.Default()
	Version    string                                           // the program's, for the record
	StaleAfter time.Duration                                    // age of a stale picture or camera; 0: the default
	StateDir   string                                           // folder of the state; "": StateDir()

	tail *status.Tail // of Log
}

// Run builds every part from the configuration and runs it until ctx is cancelled. What the user
// named must exist (a file, a free port), or it fails before anything starts. What comes and goes
// (camera, markers, hardware) is a state, not an error. If the page chooses another camera, Run
// builds everything again with it.
func Run(ctx context.Context, c Config, o Options) error {
	if o.Log == nil {
		o.Log = slog.Default()
	}
	tail := status.NewTail(o.Log.Handler())
	o.Log, o.tail = slog.New(tail), tail
	if err := checkSource(c.Camera.Source); err != nil && o.Open == nil {
		return fmt.Errorf("camera.source: %w", err)
	}
	kept := keptFirst(o.Log)
	if o.Open == nil {
		c = c.chosen(&kept)
	}
	for address := c.Web.Listen; ; {
		listener, err := listen(address)
		if err != nil {
			return err
		}
		address = listener.Addr().String() // the same again, even if the system chose the port
		next, err := runWith(ctx, c, kept, o, listener)
		if err != nil || next == nil {
			return err
		}
		kept, o.Ready = keptFirst(o.Log), nil
		c = c.withCamera(*next)
	}
}

// runWith builds and runs everything with one camera. It returns the camera to start again with, or
// nil at the end.
func runWith(ctx context.Context, c Config, kept first.Kept, o Options, listener net.Listener) (*first.Camera, error) {
	defer listener.Close()
	ctx, restart := context.WithCancelCause(ctx)
	defer restart(nil)
	c = withSavedCalibration(c, &kept, o.Log)
	tellLens(c, o.Log)
	limitGarbage(c)
	encrypted, err := tlsOf(c.Web)
	if err != nil {
		return nil, err
	}
	p := &program{kept: kept, restart: restart}
	defer p.close()
	if o.Open == nil {
		if p.demo, err = newDemo(&c, o.Log); err != nil {
			return nil, err
		}
	}
	if p.demo != nil {
		p.closers = append(p.closers, p.demo.Close)
	}
	c = withObstacleFiles(c)
	if err := p.build(ctx, c, o, listener, encrypted); err != nil {
		return nil, err
	}
	if o.Ready != nil {
		o.Ready(shownAddress(c.Web.Listen, listener))
	}
	err = runTasks(ctx, p.tasks...)
	if next, ok := errors.AsType[*another](context.Cause(ctx)); ok && err == nil {
		return &next.camera, nil
	}
	return nil, err
}

// program holds the tasks, and the resources to close at the end.
type program struct {
	tasks   []Task
	closers []func() error
	relearn []func() // of the pipelines
	demo    *demo    // nil: no demo
	over    *projector.Desk
	kept    first.Kept
	restart context.CancelCauseFunc // restarts with another camera, which is the cause
}

// learnt makes all pipelines use what was just learnt.
func (p *program) learnt() {
	for _, relearn := range p.relearn {
		relearn()
	}
}

// close closes the resources in reverse order.
func (p *program) close() {
	for _, c := range slices.Backward(p.closers) {
		_ = c()
	}
}

// opener returns the opener of the main camera.
func (p *program) opener(c Camera, log *slog.Logger, tell func(string)) *opener {
	o := newOpener(c, log, tell)
	if p.demo != nil {
		o.opened = p.demo.opened
	}
	return o
}

// calibrator returns the guided calibration of the page for the first table.
func (p *program) calibrator(c Config, g *guide, adopted *pipeline.Adopted, o Options) (*Calibrator, *guide) {
	options := calibratorOptions(c, g.feed, g.lens, adopted, o)
	options.Markers = p.markers(o.Log)
	g.leads(&options)
	calibrator := NewCalibrator(options)
	p.over.Calibrating(calibrator.Busy)
	g.busy = calibrator.Busy
	return calibrator, g
}

// markers opens a marker detector. It returns nil without OpenCV.
func (p *program) markers(log *slog.Logger) vision.MarkerDetector {
	d := openMarkers(log)
	if closer, ok := d.(io.Closer); ok {
		p.closers = append(p.closers, closer.Close)
	}
	return d
}

// newsMost is how many texts may wait until the game shows them.
const newsMost = 64

// build builds all parts, each from those before it.
func (p *program) build(ctx context.Context, c Config, o Options, listener net.Listener, encrypted *tls.Config) error {
	news := make(chan string, newsMost)
	source := p.opener(c.Camera, o.Log, func(text string) { news <- text })
	if o.Open == nil {
		o.Open = source.open
	}
	feed := capture.NewFeed(o.Open, capture.FeedOptions{Name: c.Camera.Source, StallAfter: o.StaleAfter, OnChange: logCamera(o.Log)})
	hub, pairing, table := newHub(), &access.Pairing{}, (*play.Table)(nil)
	code := func() string { return pairing.Code(time.Now()) }
	address := newPageAddress(c.Web.scheme(), listener.Addr(), func(now string) { tellPairing(o.Log, now, code()) })
	menu := &panelMenu{address: address.get, code: code, now: time.Now}
	wired, err := fittedWiring(c)
	if err != nil {
		return err
	}
	showing := newPanelTask(wired, hub, o)
	searches := &obstacle.Searches{}
	main, known, err := pipelineParts(c, source, locate.Options{Searches: searches})
	if err != nil {
		return err
	}
	var adopted pipeline.Adopted
	main.Frames, main.Adopted, main.Exposure, main.Log = p.projected(c, hub, feed, o), &adopted, source.holding.light, o.Log
	main.Lens, main.Markers = adopted.Lens(main.Lens), p.markers(o.Log)
	calibrator, guide := p.calibrator(c, newGuide(c, p.kept, hub, main.Frames, known, main.Lens, p.restart, o.Log), &adopted, o)
	if main.Cameras, err = p.secondaryCameras(c, searches, o); err != nil {
		return err
	}
	g := game.New(game.Options{
		Camera: feed.Status, Version: o.Version, Mat: main.Layout, Rules: c.Rules, Judges: c.Web.JudgeSecretFile != "", Clock: kept.ThisMachine(),
		Hub: hub, PanelName: showing.name, Screen: menu.screen, Labels: wired.Labels, Busy: p.over.Busy, StaleAfter: o.StaleAfter, Log: o.Log,
		Learnt: known.versions(looksDir(c)), Damaged: known.looks.damaged, News: news, Now: time.Now, Dir: p.gameDir(c.dataDir(), news, o.Log),
	})
	main.Renamed, guide.hold = func(was, is string) { table.Rename(was, is) }, g.Hold
	main.Game, main.Names, main.Lying, main.Dial = g, p.names(c, o), p.lying(c, o), func(s string) []move.Maneuver { return table.Dial(s) }
	frames := pipeline.New(main)
	p.relearn = append(p.relearn, frames.Relearn)
	learner := newLearner(main.Frames, hub, known, p.learnt, time.Now, o.Log)
	ruling := p.judges(ctx, c, g, main.NewLocator, o)
	mayAsk, err := accessOf(c.Web, o.StateDir, address.get, "sightline judge-secret", o.Log)
	if err != nil {
		return err
	}
	mayAsk.Pairing = pairing
	if table, err = newPlay(c, hub, g, ruling, o.Log); err != nil {
		return err
	}
	page := &webTask{listener: listener, server: web.NewServer(web.Options{
		Hub: hub, Choose: g.Choose, SetMatch: g.SetMatch, Agree: g.Agree, Declare: g.Declare, PlaceShip: frames.PlaceShip,
		Calibration: calibrator.o.Hub, Calibrate: calibrator.Do, Layout: c.Table.Layout, Learning: learner, Freeze: g.Hold,
		AskJudge: g.AskJudgeFor, Rulings: ruling, Access: mayAsk, TLS: encrypted, Metrics: figures(o.Version, ruling, c.dataDir()),
		Routes: append(p.routes(c, hub, g, table, o), guide.desk.Routes()...),
	})}
	table.SetJudges(page.server.IsJudge)
	service := newServiceTask(hub, page.server, o.Log,
		map[string]*game.Liveness{"pipeline": &frames.Loop, "answers": &g.Loop, "panel": &showing.loop})
	p.tasks = append(p.tasks, feedTask{feed}, g, frames, calibrator, p.over, learner, showing,
		&controlsTask{inputs: showing.inputs, hub: hub, menu: menu, game: g}, table, page, service)
	return p.joinHall(c, hub, g, ruling, page.server, o)
}

// gameLock is the file that a program locks while it stores its game in a folder.
const gameLock = "game.lock"

// gameDir returns the folder in which the game stores its match, pair and agreement. It returns "",
// with a note, if another program stores its own in dir: each would overwrite the other's.
func (p *program) gameDir(dir string, news chan<- string, log *slog.Logger) string {
	lock, err := regularfile.Lock(filepath.Join(dir, gameLock), 0o600)
	if errors.Is(err, regularfile.ErrLocked) {
		log.Warn("match, pair and agreement are not kept: another program keeps its own there", "folder", dir)
		news <- "Another Sightline keeps its match and pair in " + dir + ": those of this one are lost when it ends."
		return ""
	}
	if err == nil {
		p.closers = append(p.closers, func() error { return errors.Join(os.Remove(lock.Name()), lock.Close()) })
	}
	return dir // without a lock, too: the game reports what it cannot write
}

// judges returns the record of rulings, and closes it at the end.
func (p *program) judges(ctx context.Context, c Config, g *game.Game, locator func(calibration.Table) (pipeline.Locator, error),
	o Options) *judges {
	j := newJudges(c, g, locator, o)
	p.closers = append(p.closers, j.Close)
	j.check(ctx)
	return j
}

// runTasks runs the tasks until ctx is cancelled or one of them fails; the error names that one. It
// returns when all have stopped.
func runTasks(ctx context.Context, tasks ...Task) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, t := range tasks {
		group.Go(func() error {
			if err := t.Run(ctx); err != nil {
				return fmt.Errorf("%v: %w", t, err)
			}
			return nil
		})
	}
	return group.Wait()
}
