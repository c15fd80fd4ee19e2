package app

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"sightline/calibration"
	"sightline/calibration/lens"
	"sightline/cmd/internal/live"
	"sightline/cmd/internal/pipeline"
	"sightline/vision"
	"sightline/vision/capture"
	"sightline/vision/locate"
	"sightline/vision/opencv"
)

// newHub returns a hub whose state is that before the first picture.
func newHub() *live.Hub {
	return live.NewHub(live.State{Health: live.Health{Code: live.Starting, Title: "Starting"}})
}

// logCamera returns a function that logs changes of the camera's state.
func logCamera(log *slog.Logger) func(capture.FeedStatus) {
	return func(s capture.FeedStatus) {
		if s.Source == "" {
			return // no camera was chosen: the program's first line says so
		}
		if s.Err != "" {
			log.Warn("camera", "source", s.Source, "state", string(s.State), "err", s.Err)
			return
		}
		log.Info("camera", "source", s.Source, "state", string(s.State))
	}
}

// logSkipped returns a function that logs each unreadable picture once.
func logSkipped(log *slog.Logger) func(string, error) {
	var told sync.Map
	return func(path string, err error) {
		if _, known := told.LoadOrStore(path, true); !known {
			log.Warn("a picture is left out", "err", err)
		}
	}
}

// pipelineParts reads the configured files, and also returns the learnt obstacles. turns schedules
// the searches for obstacles.
func pipelineParts(c Config, source *opener, turns locate.Options) (pipeline.Options, *learnt, error) {
	after, most := frozenAfter(c.Camera.Source)
	o := pipeline.Options{
		RegistrationOptions: pipeline.RegistrationOptions{Layout: c.Table.Layout, Lens: source.knownLens, Record: c.Table.Record},
		FrozenAfter:         after, FrozenMost: most, Tracking: trackingOf(c.Camera.Source), Secondary: turns.Further, Now: time.Now,
	}
	matKey := "table.empty_mat"
	if turns.Further {
		matKey = "empty_mat"
		if _, err := os.Stat(c.Table.EmptyMat); c.Table.EmptyMat != "" && err != nil {
			return o, nil, fmt.Errorf("%s: %w", matKey, err) // only the main camera's mat is learnt on the page
		}
	}
	known, err := newLearnt(c.Table, matKey, slog.Default())
	if err != nil {
		return o, nil, err
	}
	if o.Tracking.SettleFrames != 1 { // in a directory each picture stands for itself
		turns.InBackground, o.NewChange = true, pipeline.NewChangeDetector
	}
	looks, err := newKnownLooks(c, slog.Default())
	if err != nil {
		return o, nil, err
	}
	known.looks = looks
	o.NewLocator = func(t calibration.Table) (pipeline.Locator, error) {
		now := turns
		now.Looks = looks.now()
		return known.locator(t, now)
	}
	err = loadCalibration(&o, c)
	return o, known, err
}

// loadCalibration loads the configured lens and table.
func loadCalibration(o *pipeline.Options, c Config) error {
	if c.Camera.Lens != "" {
		lens, file, err := lens.Load(c.Camera.Lens)
		if err != nil {
			return fmt.Errorf("camera.lens: %w", err)
		}
		o.LensName = fmt.Sprintf("%s, %s, %v", filepath.Base(c.Camera.Lens), file.Hash[:8], file.Integrity)
		o.Lens = func() (calibration.Intrinsics, bool) { return lens, true }
	}
	if c.Table.Calibration == "" {
		return nil
	}
	table, err := calibration.LoadTable(c.Table.Calibration)
	if err != nil {
		return fmt.Errorf("table.calibration: %w", err)
	}
	o.File = pipeline.CalibrationFile{Table: &table, Name: filepath.Base(c.Table.Calibration), Path: c.Table.Calibration}
	o.Layout = table.Layout
	if c.Camera.Lens == "" {
		o.Lens = func() (calibration.Intrinsics, bool) { return table.Intrinsics, true }
	}
	return nil
}

// locatorOptions loads what was learnt about obstacles. matKey is the configuration key of the
// empty mat's picture.
func locatorOptions(c Config, matKey string) (o locate.Options, err error) {
	if c.Table.Catalogue == "" {
		return o, nil
	}
	known, err := newLearnt(c.Table, matKey, slog.Default())
	return known.options(), err
}

// knownLens returns the lens that an open source provides.
func (o *opener) knownLens() (calibration.Intrinsics, bool) {
	if lens := o.lens.Load(); lens != nil {
		return *lens, true
	}
	return calibration.Intrinsics{}, false
}

func openLocator(t calibration.Table, o locate.Options) (pipeline.Locator, error) {
	l, err := locate.New(t, o)
	if err != nil {
		return nil, err
	}
	return l, nil
}

// openMarkers returns the marker detector, or nil without OpenCV.
func openMarkers(log *slog.Logger) vision.MarkerDetector {
	d, err := opencv.NewMarkerDetector(opencv.MarkerOptions{})
	if err != nil {
		log.Warn("the mat's markers cannot be seen", "err", err)
		return nil
	}
	return d
}
