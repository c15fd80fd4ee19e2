package app

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"path/filepath"

	"sightline/cmd/internal/doctor"
	"sightline/cmd/internal/rulings"
	"sightline/hardware"
	"sightline/vision"
	"sightline/vision/opencv"
)

// Wiring returns the wiring in the configuration's board file.
func (c Config) Wiring() (hardware.Wiring, error) { return wiringOf(c) }

// Setup returns what the examination should find: the configuration, and what the pages saved, as
// Run uses them.
func (c Config) Setup() (doctor.Setup, error) {
	quiet := slog.New(slog.DiscardHandler)
	kept := keptFirst(quiet)
	c = withSavedCalibration(c, &kept, quiet)
	w, err := wiringOf(c)
	if err != nil {
		return doctor.Setup{}, err
	}
	dir, err := filepath.Abs(c.dataDir())
	if err != nil {
		return doctor.Setup{}, err
	}
	trouble, folder := "", c.Rulings.Find().Dir
	probed := rulings.Probe(context.Background(), folder)
	if probed != nil && !errors.Is(probed, rulings.ErrGone) {
		trouble = rulingsTrouble(probed, folder)
	}
	return doctor.Setup{
		RulingsTrouble: trouble, RulingsDenied: errors.Is(probed, fs.ErrPermission),
		Panel: c.Panel.Enabled, Wiring: w, Source: c.Camera.Source, Lens: c.Camera.Lens, Table: c.Table.Calibration,
		Layout: c.Table.Layout, DataDir: dir,
	}, nil
}

// Markers returns the marker detector and its closer. The detector is nil without OpenCV.
func Markers() (vision.MarkerDetector, io.Closer) {
	d, err := opencv.NewMarkerDetector(opencv.MarkerOptions{})
	if err != nil {
		return nil, io.NopCloser(nil)
	}
	return d, d
}
