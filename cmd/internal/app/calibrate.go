package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"sightline/calibration"
	"sightline/calibration/lens"
	"sightline/calibration/verify"
	"sightline/cmd/internal/first"
	"sightline/cmd/internal/live"
	"sightline/cmd/internal/pipeline"
	"sightline/cmd/internal/setup"
	"sightline/vision"
	"sightline/vision/fiducial"
	"sightline/vision/opencv"
)

// Where the guided calibration saves its files if the configuration names none, and where the next
// start looks for them.
const (
	DefaultLensPath  = "calibration/lens.json"
	DefaultTablePath = "calibration/table.json"
)

// CalibratorOptions are the dependencies of a Calibrator.
type CalibratorOptions struct {
	Frames    pipeline.Frames
	FindBoard func(vision.Frame, calibration.Board) (calibration.BoardSighting, error)
	Markers   vision.MarkerDetector // its own; nil: it finds no markers
	SolveLens func(board calibration.Board, views []calibration.BoardView, width, height int) (lens.Solution, error)
	Setup     setup.Options
	Hub       *live.CalibrationHub
	// NewLens receives every saved lens, NewTable every saved or verified table, so that the program
	// uses them from now on.
	NewLens  func(lens calibration.Intrinsics, file string)
	NewTable func(file string)
	// NewPrint, when set, receives the measured scale of the printer.
	NewPrint func(setup.PrintState)
	Log      *slog.Logger

	table *tableFile
}

// tableFile is the file in which tables are saved.
type tableFile struct {
	path  string
	inUse atomic.Bool // the program uses its content
	log   *slog.Logger
}

// load reads the table in use. It reports false if there is none.
func (f *tableFile) load() (calibration.Table, bool) {
	if !f.inUse.Load() {
		return calibration.Table{}, false
	}
	t, err := calibration.LoadTable(f.path)
	if err != nil {
		f.log.Warn("calibration: the saved table cannot be read", "err", err)
	}
	return t, err == nil
}

// Calibrator runs the guided calibration: it shows pictures to the machine, and finds, solves and
// saves for it.
type Calibrator struct {
	o    CalibratorOptions
	busy atomic.Bool
	wake chan struct{}

	mu      sync.Mutex // guards the fields below
	machine *setup.Machine
	frame   vision.Frame
	solving sync.WaitGroup
}

// NewCalibrator returns an idle calibrator.
func NewCalibrator(o CalibratorOptions) *Calibrator {
	c := &Calibrator{o: o, machine: setup.New(o.Setup), wake: make(chan struct{}, 1)}
	c.publish()
	return c
}

// String names the task.
func (c *Calibrator) String() string { return "calibration" }

// Busy reports whether the camera is needed for a calibration.
func (c *Calibrator) Busy() bool { return c.busy.Load() }

// publish publishes the current state. The caller holds mu, or is the only user.
func (c *Calibrator) publish() {
	s := c.machine.State()
	c.busy.Store(s.Busy())
	c.o.Hub.Publish(live.CalibrationState{State: s, Frame: c.frame})
}

// Do carries out an intent of the page; errors are sentences for people.
func (c *Calibrator) Do(in setup.Intent) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.machine.State()
	work, err := c.machine.Do(in)
	c.work(work)
	after := c.machine.State()
	if in.Do == setup.Bars && err == nil && c.o.NewPrint != nil {
		c.o.NewPrint(after.Print)
	}
	if before.Active != after.Active {
		c.o.Log.Info("calibration", "running", after.Active)
		c.frame = vision.Frame{}
	}
	c.publish()
	select {
	case c.wake <- struct{}{}:
	default:
	}
	return err
}

// work carries out the machine's requests. The caller holds mu.
func (c *Calibrator) work(w setup.Work) {
	switch w := w.(type) {
	case setup.SolveLens:
		c.solving.Go(func() { c.solve(w) })
	case setup.SaveLens:
		err := inItsDirectory(w.Path, func() error { return lens.Save(w.Path, w.Lens) })
		c.saved(w, w.Path, err)
		if err == nil {
			c.o.NewLens(w.Lens, w.Path)
		}
	case setup.SaveTable:
		// SaveTable sets the table's hash.
		err := inItsDirectory(w.Path, func() error { return calibration.SaveTable(w.Path, &w.Table) })
		c.saved(w, w.Path, err)
		if err == nil && w.Quick {
			c.o.NewLens(w.Table.Intrinsics, w.Path) // for when the camera is moved
		}
		if err == nil {
			c.o.NewTable(w.Path)
		}
	case setup.SaveVerification:
		err := verify.SaveRecord(w.TablePath, w.Record)
		c.saved(w, verify.RecordPath(w.TablePath), err)
		if err == nil {
			c.o.NewTable(w.TablePath)
		}
	}
}

func (c *Calibrator) saved(w setup.Work, path string, err error) {
	if err != nil {
		c.o.Log.Warn("calibration: not saved", "path", path, "err", err)
	} else {
		c.o.Log.Info("calibration: saved", "path", path)
	}
	c.machine.Saved(w, err)
}

// inItsDirectory saves a file after making its directory.
func inItsDirectory(path string, save func() error) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	return save()
}

func (c *Calibrator) solve(w setup.SolveLens) {
	s, err := c.o.SolveLens(w.Board, w.Views, w.Width, w.Height)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.machine.Solved(w, s, err)
	c.publish()
}

// cameraPatience is how long a picture may take before the page reports a silent camera.
const cameraPatience = 3 * time.Second

// Run shows pictures to the calibration until ctx is cancelled.
func (c *Calibrator) Run(ctx context.Context) error {
	defer c.solving.Wait()
	var seq uint64
	for {
		if !c.active() {
			select {
			case <-ctx.Done():
				return nil
			case <-c.wake:
				continue
			}
		}
		f, err := c.next(ctx, seq)
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, io.EOF):
			c.cameraLost("the recording has come to its end")
			select {
			case <-ctx.Done():
			case <-c.wake:
			}
		case err != nil:
			c.cameraLost(c.whyLost())
		default:
			seq = f.Seq
			c.look(f)
		}
	}
}

func (c *Calibrator) active() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.machine.State()
	return s.Active
}

// next waits for a picture, at most cameraPatience.
func (c *Calibrator) next(ctx context.Context, after uint64) (vision.Frame, error) {
	ctx, cancel := context.WithTimeout(ctx, cameraPatience)
	defer cancel()
	return c.o.Frames.Next(ctx, after)
}

func (c *Calibrator) whyLost() string {
	if s := c.o.Frames.Status(); s.Err != "" {
		return cmp.Or(s.Source, "The camera") + " gives no pictures: " + s.Trouble()
	}
	return fmt.Sprintf("no picture for %.0f s", cameraPatience.Seconds())
}

func (c *Calibrator) cameraLost(why string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.machine.State().Active { // it ended while it waited for a picture
		return
	}
	c.machine.CameraLost(why)
	c.publish()
}

// look finds the wanted pattern in a picture and shows it to the machine. Finding takes a while and
// runs without the lock; a result that is no longer wanted is dropped.
func (c *Calibrator) look(f vision.Frame) {
	c.mu.Lock()
	want, board := c.machine.Wants(), c.machine.State().Lens.Board
	c.mu.Unlock()
	s := setup.Sighting{At: f.Captured}
	s.Width, s.Height = f.Size()
	switch want {
	case setup.Board:
		s.Board = c.findBoard(f, board)
	case setup.Markers, setup.Card:
		s.Markers, s.Mirrored = c.findMarkers(f)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := c.machine.State(); !now.Active || c.machine.Wants() != want || now.Lens.Board != board {
		return
	}
	c.frame = f
	c.work(c.machine.Offer(s))
	c.publish()
}

func (c *Calibrator) findBoard(f vision.Frame, spec string) calibration.BoardSighting {
	b, err := calibration.ParseBoard(spec)
	if err != nil {
		return calibration.BoardSighting{Reason: err.Error()}
	}
	s, err := c.o.FindBoard(f, b)
	if err != nil {
		return calibration.BoardSighting{Reason: err.Error()}
	}
	return s
}

func (c *Calibrator) findMarkers(f vision.Frame) (seen []calibration.MarkerSighting, mirrored bool) {
	if c.o.Markers == nil {
		return nil, false
	}
	found, err := fiducial.DetectMarkers(c.o.Markers, f.Gray)
	if errors.Is(err, fiducial.ErrMirrored) {
		return nil, true
	}
	if err != nil {
		c.o.Log.Warn("calibration: look for markers", "err", err)
		return nil, false
	}
	return vision.Sightings(found), false
}

// findBoard finds the board in a picture.
func findBoard(f vision.Frame, b calibration.Board) (calibration.BoardSighting, error) {
	finder, err := opencv.NewBoardFinder(b)
	if err != nil {
		return calibration.BoardSighting{}, err
	}
	defer finder.Close()
	return finder.FindQuick(f)
}

// calibrationPaths returns the files of lens and table.
func calibrationPaths(c Config) (lens, table string) {
	lens, table = c.Camera.Lens, c.Table.Calibration
	if lens == "" {
		lens = DefaultLensPath
	}
	if table == "" {
		table = DefaultTablePath
	}
	return lens, table
}

// withSavedCalibration uses the files that the guided calibration saved in their default places, if
// the configuration names none. It ignores them for the simulated table, which knows its own lens,
// and if they belong to another camera.
func withSavedCalibration(c Config, kept *first.Kept, log *slog.Logger) Config {
	if strings.HasPrefix(c.Camera.Source, "sim:") {
		return c
	}
	if of := kept.Calibrated; of != nil && !sameCamera(*of, kept.Known(c.Camera.Source)) {
		log.Info("calibration: what was saved is of another camera, and not used", "of", of.Source, "now", c.Camera.Source)
		return c
	}
	adopt := func(to *string, path string) {
		if *to != "" {
			return
		}
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			*to = path
			log.Info("calibration: found", "path", path)
		}
	}
	adopt(&c.Camera.Lens, DefaultLensPath)
	adopt(&c.Table.Calibration, DefaultTablePath)
	return c
}

// tellLens logs how to calibrate the lens of a camera without a lens file.
func tellLens(c Config, log *slog.Logger) {
	if c.Camera.Source == "" || strings.HasPrefix(c.Camera.Source, "sim:") || c.Camera.Lens != "" || c.Table.Calibration != "" {
		return
	}
	log.Info("calibration: no lens is known yet; the page /first leads to one, or the command",
		"command", "sightline calibrate lens --board chessboard:9x6:25mm --source "+c.Camera.Source+" -o "+DefaultLensPath)
}

// calibratorOptions returns the dependencies of the guided calibration except the marker detector.
// known returns the present lens; saved files go to adopted.
func calibratorOptions(c Config, frames pipeline.Frames, known func() (calibration.Intrinsics, bool), adopted *pipeline.Adopted,
	o Options) CalibratorOptions {
	log := o.Log
	lensPath, tablePath := calibrationPaths(c)
	file := &tableFile{path: tablePath, log: log}
	file.inUse.Store(c.Table.Calibration != "")
	return CalibratorOptions{
		Frames: frames, FindBoard: findBoard, SolveLens: lens.Solve,
		Setup: setup.Options{
			Layout: c.Table.Layout, LensPath: lensPath, TablePath: tablePath,
			ScaleX: c.Print.ScaleX, ScaleY: c.Print.ScaleY, Lens: known, Guide: o.Guide,
			Saved: file.load,
		},
		table:   file,
		Hub:     live.NewCalibrationHub(),
		NewLens: adopted.SetLens,
		NewTable: func(path string) {
			t, err := calibration.LoadTable(path) // with its hash and its seal
			if err != nil {
				log.Warn("calibration: the table that was saved cannot be read", "err", err)
				return
			}
			file.inUse.Store(true)
			adopted.SetTable(&t, path)
		},
		Log: log,
	}
}
