package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"sightline/calibration"
	"sightline/calibration/lens"
	"sightline/calibration/regular"
	"sightline/cmd/internal/live"
	"sightline/cmd/internal/web"
	firmwareconfig "sightline/firmware-config"
	"sightline/hardware"
	"sightline/vision"
	"sightline/vision/opencv"
)

// Task is one of the program's parts that run side by side.
type Task interface {
	// Run works until ctx is cancelled and then returns nil; any error stops the program.
	Run(ctx context.Context) error
	String() string
}

// Options are what a test may put in place of the real thing.
type Options struct {
	Panel      hardware.Panel                                   // nil: the one of the configuration
	Input      Inputs                                           // nil: the controls of the configuration
	Open       func(ctx context.Context) (vision.Source, error) // nil: the source of the configuration
	Ready      func(address string)                             // told where the page is
	Guide      lens.GuideOptions                                // of the guided calibration; zero: its defaults
	Log        *slog.Logger                                     // nil: slog.Default()
	Version    string                                           // the program's, for the record
	StaleAfter time.Duration                                    // for a machine slower than real; 0: as it should be
	StateDir   string                                           // for what is remembered; "": StateDir()
}

// Run builds every part from the configuration and runs it until ctx is cancelled.
// What the user named and is not there (a file, a free port) is an error before
// anything starts; what comes and goes (camera, markers, hardware) is a state.
func Run(ctx context.Context, c Config, o Options) error {
	if o.Log == nil {
		o.Log = slog.Default()
	}
	c = withSavedCalibration(c, o.Log)
	c = withObstacleFiles(c)
	if err := checkSource(c.Camera.Source); err != nil && o.Open == nil {
		return fmt.Errorf("camera.source: %w", err)
	}
	encrypted, err := tlsOf(c.Web)
	if err != nil {
		return err
	}
	listener, err := listen(c.Web.Listen)
	if err != nil {
		return err
	}
	defer listener.Close()

	source := &opener{camera: c.Camera, skipped: logSkipped(o.Log)}
	if o.Open == nil {
		o.Open = source.open
	}
	feed := vision.NewFeed(o.Open, vision.FeedOptions{Name: c.Camera.Source, OnChange: logCamera(o.Log)})

	wired, err := wiringOf(c)
	if err != nil {
		return err
	}
	panel, inputs := o.Panel, o.Input
	if panel == nil {
		panel = hardware.Open(wired, o.Log)
	}
	if inputs == nil {
		inputs = hardware.OpenControls(wired.Controls, o.Log)
	}
	hub := live.NewHub(live.State{Health: live.Health{Code: live.Starting, Title: "Starting"}})
	showing := &panelTask{panel: panel, inputs: inputs, hub: hub, log: o.Log}
	touching := &controlsTask{inputs: inputs, hub: hub, address: phoneAddress(c.Web.scheme(), listener.Addr()), now: time.Now}
	searches := &vision.Searches{}
	watching, err := watcherOptions(c, source, vision.LocatorOptions{Searches: searches})
	if err != nil {
		return err
	}
	watching.Frames, watching.Hub, watching.PanelName, watching.Log = feed, hub, showing.name, o.Log
	watching.Markers = openMarkers(o.Log)
	if closer, ok := watching.Markers.(interface{ Close() error }); ok {
		defer closer.Close()
	}
	var adopted adopted
	watching.Lens = adopted.over(watching.Lens)
	watching.MatchFile = filepath.Join(c.dataDir(), matchFile)
	if watching.Match, err = loadMatch(watching.MatchFile); err != nil {
		o.Log.Warn("the match starts over", "err", err)
	}
	watching.AgreementFile, watching.SessionFile = filepath.Join(c.dataDir(), agreementFile), filepath.Join(c.dataDir(), sessionFile)
	watching.Judges = c.Web.JudgeSecretFile != "" // whoever names one has a judge
	watching.Screen, watching.Labels, watching.StaleAfter = touching.screen, wired.Labels, o.StaleAfter
	cameras, err := openEyes(c, &watching, searches, o)
	if err != nil {
		return err
	}
	defer cameras.Close()
	watcher := NewWatcher(watching)
	agreed, err := loadAgreement(watching.AgreementFile, c.Rules.Measuring, watcher.o.Now())
	if err != nil {
		o.Log.Warn("the agreement on measuring starts over", "err", err)
	}
	watcher.takeUp(agreed)
	before, err := loadSession(watching.SessionFile, watcher.o.Now())
	if err != nil {
		o.Log.Warn("the pair must be chosen again", "err", err)
	}
	watcher.resume(before)
	touching.watcher = watcher
	source.holding.tell = watcher.Tell
	watcher.o.Exposure = source.holding.light
	calibrator := newCalibrator(c, watcher, feed, watching.Lens, &adopted, o)
	watcher.o.Busy = calibrator.Busy
	if closer, ok := calibrator.o.Markers.(interface{ Close() error }); ok {
		defer closer.Close()
	}
	learner := newLearner(feed, watcher, cameras.tasks, o.Log)
	ruling := newJudges(c, watcher, o)
	defer ruling.Close()
	ruling.check(ctx)
	access, err := accessOf(c.Web, o.StateDir, touching.address, o.Log)
	if err != nil {
		return err
	}
	page := &webTask{
		server: web.NewServer(web.Options{
			Hub: hub, Choose: watcher.Choose, SetMatch: watcher.SetMatch,
			Agree: watcher.Agree, Declare: watcher.Declare, PlaceShip: watcher.PlaceShip,
			Calibration: calibrator.o.Hub, Calibrate: calibrator.Do, Layout: c.Table.Layout, Learning: learner,
			Freeze: watcher.Hold, AskJudge: watcher.AskJudgeFor, Rulings: ruling,
			Access: access, TLS: encrypted,
		}),
		listener: listener,
	}
	touching.code = page.server.PairingCode
	tellPairing(o.Log, touching.address, page.server.PairingCode())
	if o.Ready != nil {
		o.Ready(shownAddress(c.Web.Listen, listener))
	}
	service := &serviceTask{
		socket: serviceManagerHere(), hub: hub, log: o.Log, answers: page.server.Answers,
		hearts: map[string]*heart{"watcher": &watcher.looking, "answers": &watcher.telling, "panel": &showing.heart},
	}
	return runTasks(ctx, append([]Task{feedTask{feed}, watcher, calibrator, learner, showing, touching, page, service}, cameras.tasks...)...)
}

// runTasks runs the tasks until ctx is cancelled or one of them fails; that one is
// named. It returns when all have stopped.
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

// listen takes the page's address.
func listen(address string) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("web.listen: %s is in use by another program (perhaps another sightline); choose another with --listen", address)
	}
	if err != nil {
		return nil, fmt.Errorf("web.listen: %s: %w", address, err)
	}
	return l, nil
}

// shownAddress is the address for people: the host as they wrote it, the port as it is.
func shownAddress(wanted string, l net.Listener) string {
	host, _, _ := net.SplitHostPort(wanted)
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		return l.Addr().String()
	}
	if host == "" {
		host = "localhost"
	}
	return net.JoinHostPort(host, port)
}

// logCamera writes the camera's ups and downs to the log.
func logCamera(log *slog.Logger) func(vision.FeedStatus) {
	return func(s vision.FeedStatus) {
		if s.Err != "" {
			log.Warn("camera", "source", s.Source, "state", string(s.State), "err", s.Err)
			return
		}
		log.Info("camera", "source", s.Source, "state", string(s.State))
	}
}

// logSkipped writes each picture that cannot be read to the log, once.
func logSkipped(log *slog.Logger) func(string, error) {
	var told sync.Map
	return func(path string, err error) {
		if _, known := told.LoadOrStore(path, true); !known {
			log.Warn("a picture is left out", "err", err)
		}
	}
}

// watcherOptions reads the files that the configuration names. turns says when searches for
// obstacles have their turn.
func watcherOptions(c Config, source *opener, turns vision.LocatorOptions) (WatcherOptions, error) {
	o := WatcherOptions{Layout: c.Table.Layout, Rules: c.Rules, Now: time.Now, Lens: source.knownLens, FrozenAfter: frozenAfter(c.Camera.Source), Tracking: trackingOf(c.Camera.Source), Record: c.Table.Record}
	matKey := "table.empty_mat"
	if turns.Further {
		matKey = "empty_mat"
		if _, err := os.Stat(c.Table.EmptyMat); c.Table.EmptyMat != "" && err != nil {
			return o, fmt.Errorf("%s: %w", matKey, err) // the page learns the main camera's alone
		}
	}
	known, err := newLearnt(c.Table, matKey, slog.Default())
	if err != nil {
		return o, err
	}
	o.Learnt = known
	looking := turns
	o.NewLocator = func(t calibration.Table) (Locator, error) { return known.locator(t, looking) }
	if o.Tracking.SettleFrames != 1 { // the pictures of a directory speak each for itself
		looking.Beside, o.NewSteady = true, newSteady
	}
	if c.Camera.Lens != "" {
		lens, file, err := lens.LoadFile(c.Camera.Lens)
		if err != nil {
			return o, fmt.Errorf("camera.lens: %w", err)
		}
		o.LensName = fmt.Sprintf("%s, %s, %v", filepath.Base(c.Camera.Lens), file.Hash[:8], file.Integrity)
		o.Lens = func() (calibration.Intrinsics, bool) { return lens, true }
	}
	if c.Table.Calibration == "" {
		return o, nil
	}
	table, err := calibration.LoadTable(c.Table.Calibration)
	if err != nil {
		return o, fmt.Errorf("table.calibration: %w", err)
	}
	o.Table, o.TableName, o.TableFile, o.Layout = &table, filepath.Base(c.Table.Calibration), c.Table.Calibration, table.Layout
	if c.Camera.Lens == "" {
		o.Lens = func() (calibration.Intrinsics, bool) { return table.Intrinsics, true }
	}
	return o, nil
}

// locatorOptions loads what is needed to find obstacles, as far as it was learnt, the
// picture of the empty mat under the given key.
func locatorOptions(c Config, matKey string) (o vision.LocatorOptions, err error) {
	if c.Table.Catalogue == "" {
		return o, nil
	}
	known, err := newLearnt(c.Table, matKey, slog.Default())
	return known.options(), err
}

// knownLens returns the lens that the source brought, once it is open.
func (o *opener) knownLens() (calibration.Intrinsics, bool) {
	if lens := o.lens.Load(); lens != nil {
		return *lens, true
	}
	return calibration.Intrinsics{}, false
}

func newLocator(t calibration.Table, o vision.LocatorOptions) (Locator, error) {
	l, err := vision.NewLocator(t, o)
	if err != nil {
		return nil, err
	}
	return l, nil
}

// openMarkers returns the marker detector, or nil in a program without OpenCV.
func openMarkers(log *slog.Logger) vision.MarkerDetector {
	d, err := opencv.NewMarkerDetector(opencv.MarkerOptions{})
	if err != nil {
		log.Warn("the mat's markers cannot be seen", "err", err)
		return nil
	}
	return d
}

// wiringOf returns what the board file says is wired, as package hardware wants it.
func wiringOf(c Config) (hardware.Wiring, error) {
	if !c.Panel.Enabled {
		return hardware.Wiring{Name: "panel off"}, nil
	}
	board, name := firmwareconfig.Default(), "board.toml"
	if c.Panel.Board != "" {
		f, err := regular.Open(c.Panel.Board)
		if err != nil {
			return hardware.Wiring{}, fmt.Errorf("panel.board: %w", err)
		}
		defer f.Close()
		if board, err = firmwareconfig.Parse(f); err != nil {
			return hardware.Wiring{}, fmt.Errorf("panel.board: %s: %w", c.Panel.Board, err)
		}
		name = filepath.Base(c.Panel.Board)
	}
	return wiring(board, name, c.Table.Layout)
}

// wiring turns a board file into what package hardware wants.
func wiring(b firmwareconfig.Board, name string, mat calibration.Layout) (hardware.Wiring, error) {
	w := hardware.Wiring{
		Name: name, Bus: b.Display.Bus, DataCommand: b.Display.DataCommand,
		Display:   hardware.DisplayOptions{Address: b.Display.Address, Contrast: b.Display.Contrast, Rotated: b.Display.Rotated},
		StripPort: b.Strip.Port, StripKind: b.Strip.Kind, StripBrightness: b.Strip.Brightness,
		Strip: hardware.StripLayout{
			Lights: b.Strip.Lights, Reversed: b.Strip.Reversed,
			WidthMM: mat.Width.Millimeters(), HeightMM: mat.Height.Millimeters(),
		},
	}
	for _, name := range b.Strip.Sides {
		side, err := hardware.ParseSide(name)
		if err != nil {
			return w, err
		}
		w.Strip.Sides = append(w.Strip.Sides, side)
	}
	for i := range hardware.NumLamps {
		lamp := b.Lamps[hardware.Lamp(i).String()]
		w.Lines[i], w.ActiveLow[i], w.Labels[i] = lamp.Pin, lamp.ActiveLow, lamp.Label
	}
	if b.Encoder.A != "" {
		w.Controls[hardware.ControlTurn].Names = []string{b.Encoder.A, b.Encoder.B}
	}
	for i := range hardware.NumControls {
		if button, ok := b.Buttons[hardware.Control(i).String()]; ok {
			w.Controls[i] = hardware.ControlLines{Names: []string{button.Pin}, ActiveHigh: button.ActiveHigh}
		}
	}
	return w, nil
}

// feedTask keeps the camera running.
type feedTask struct{ *vision.Feed }

func (feedTask) String() string { return "camera" }

// webTask serves the page.
type webTask struct {
	server   *web.Server
	listener net.Listener
}

func (t *webTask) Run(ctx context.Context) error { return t.server.Serve(ctx, t.listener) }
func (t *webTask) String() string                { return "page" }

// panelTask shows the newest view on the panel and puts it dark at the end.
type panelTask struct {
	panel  hardware.Panel
	inputs Inputs
	hub    *live.Hub
	log    *slog.Logger
	says   atomic.Pointer[string]
	heart  heart
}

// panelEvery is how often the panel is shown its state: often enough for blinking.
const panelEvery = 50 * time.Millisecond

func (t *panelTask) String() string { return "panel" }

// name returns what the panel last said of itself.
func (t *panelTask) name() string {
	if s := t.says.Load(); s != nil {
		return *s
	}
	return ""
}

// Run shows every view, and the newest one again and again for blinking and for a
// display that comes back.
func (t *panelTask) Run(ctx context.Context) error {
	views, stop := t.hub.Listen()
	defer stop()
	ticker := time.NewTicker(panelEvery)
	defer ticker.Stop()
	var state hardware.State
	for {
		select {
		case <-ctx.Done():
			return t.panel.Halt()
		case v := <-views:
			state = v.Panel
		case <-ticker.C:
		}
		if err := t.panel.Show(state); err != nil {
			t.log.Warn("the panel continues without a part", "err", err)
		}
		said := t.panel.String()
		if controls := t.inputs.String(); controls != "" {
			said += "; " + controls
		}
		t.says.Store(&said)
		t.heart.Beat()
	}
}
