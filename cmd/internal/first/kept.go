package first

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"sightline/calibration/strictjson"
	"sightline/cmd/internal/setup"
	"sightline/cmd/internal/sheet"
	"sightline/engine/geom"
)

// Kept holds the user's choices on the way to the first table.
type Kept struct {
	Version int     `json:"version"`
	Quick   bool    `json:"quick"`            // the quick way: no board, no verification
	Paper   string  `json:"paper"`            // "a4" or "letter"
	Ships   string  `json:"ships"`            // to print, as sheet.ParseShips reads them
	Print   *Print  `json:"print,omitempty"`  // nil: no bar was measured
	Camera  *Camera `json:"camera,omitempty"` // nil: none was chosen

	// Calibrated is the camera that the saved lens and table belong to; nil: unknown.
	Calibrated *Camera `json:"calibrated,omitempty"`
}

// Print is the printer's scale, from the measured bars of a sheet.
type Print struct {
	BarX   float64 `json:"bar_x_mm"`
	BarY   float64 `json:"bar_y_mm"`
	ScaleX float64 `json:"scale_x"` // printed length divided by the drawn length
	ScaleY float64 `json:"scale_y"`
	Good   bool    `json:"good"` // the last sheet needs no correction
}

// Camera is the camera that the user chose on the page.
type Camera struct {
	Source string  `json:"source"`
	Name   string  `json:"name"`
	Width  int     `json:"width_px"` // 0: the camera's own choice
	Height int     `json:"height_px"`
	FPS    float64 `json:"frames_per_second"`
}

const (
	keptVersion  = 1
	keptMost     = 64 << 10
	defaultPaper = "a4"
	defaultShips = "A1-A4,B1-B4"
)

// LoadKept reads the stored choices. Without a file it returns the defaults.
func LoadKept(path string) (Kept, error) {
	// Everyone begins with the quick way: it needs nothing that the exact way does not need too, and
	// its result states its uncertainty.
	k := Kept{Version: keptVersion, Quick: true, Paper: defaultPaper, Ships: defaultShips}
	read := k
	if _, err := strictjson.Load(path, keptMost, &read); err != nil {
		return k, fmt.Errorf("first table: %w", err)
	}
	if err := read.check(); err != nil {
		return k, fmt.Errorf("first table: %s: %w", path, err)
	}
	return read, nil
}

// check returns an error for what the page never writes.
func (k *Kept) check() error {
	if k.Version != keptVersion {
		return fmt.Errorf("version: expected %d, got %d", keptVersion, k.Version)
	}
	if k.Paper != "a4" && k.Paper != "letter" {
		return fmt.Errorf("paper: expected a4 or letter, got %q", k.Paper)
	}
	if _, err := sheet.ParseShips(k.Ships); err != nil {
		return fmt.Errorf("ships: %w", err)
	}
	if p := k.Print; p != nil {
		if _, err := sheet.ParsePrinterScale(p.ScaleX, p.ScaleY); err != nil {
			return fmt.Errorf("print: %w", err)
		}
	}
	if c := k.Camera; c != nil && (c.Source == "" || c.Width < 0 || c.Height < 0 || !(c.FPS >= 0)) {
		return errors.New("camera: expected a source, and a size and a rate that are not negative")
	}
	return nil
}

// Known returns the camera of a source, with its name if it was chosen on the page.
func (k *Kept) Known(source string) Camera {
	if k.Camera != nil && k.Camera.Source == source {
		return *k.Camera
	}
	return Camera{Source: source}
}

// save writes the file atomically.
func (k Kept) save(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	return strictjson.Save(path, k, 0o644)
}

// measure takes the measured bars of a sheet. The sheet was drawn for the scale in the intent, or
// for the known one.
func (k *Kept) measure(known sheet.PrinterScale, in intentJSON) (string, error) {
	x, y := geom.Length(in.BarX)*geom.Millimeter, geom.Length(in.BarY)*geom.Millimeter
	before, err := setup.PrintState{ScaleX: known.X, ScaleY: known.Y}.Drawn(in.ScaleX, in.ScaleY)
	if err != nil {
		return "", err
	}
	after, err := before.Measured(x, y)
	if err != nil {
		return "", err
	}
	k.Print = &Print{
		BarX: x.Millimeters(), BarY: y.Millimeters(), ScaleX: after.ScaleX, ScaleY: after.ScaleY, Good: after.Phase == setup.Saved,
	}
	return after.Verdict, nil
}
