package app

import (
	"fmt"
	"path/filepath"

	"sightline/calibration"
	"sightline/calibration/regularfile"
	firmwareconfig "sightline/firmware-config"
	"sightline/hardware"
)

// wiringOf returns the board file's wiring for package hardware.
func wiringOf(c Config) (hardware.Wiring, error) {
	if !c.Panel.Enabled {
		return hardware.Wiring{Name: "panel off"}, nil
	}
	board, name := firmwareconfig.Default(), "board.toml"
	if c.Panel.Board != "" {
		f, err := regularfile.Open(c.Panel.Board)
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

// fittedWiring returns the wiring of this machine. If it has none of the lines of the default
// reference wiring, it has no panel, and nothing is missing.
func fittedWiring(c Config) (hardware.Wiring, error) {
	w, err := wiringOf(c)
	if err == nil && c.Panel.Enabled && c.Panel.Board == "" && !hardware.HasLine(w.Lines[:]...) {
		return hardware.Wiring{Name: "no panel"}, nil
	}
	return w, err
}

// wiring converts a board file for package hardware.
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
