package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"sightline/cmd/internal/terminal"
	"sightline/engine"
	"sightline/engine/flown"
	"sightline/engine/geom"
	"sightline/engine/move"
)

type flownCmd struct {
	Before  string  `arg:"" help:"The scene file before the move; - is standard input."`
	After   string  `arg:"" help:"The scene file after it."`
	Ship    string  `required:"" placeholder:"ID" help:"The ship that moved."`
	Dial    string  `help:"The ship's dial, as squads check --json gives it: 1BB,2FB,4KR. Without it, every maneuver." placeholder:"DIAL"`
	Only    string  `help:"Only maneuvers, or only actions." placeholder:"maneuvers|actions"`
	SlopMM  float64 `name:"slop-mm" default:"1.5" help:"How precisely people set a ship down: the standard deviation along each axis, in mm."`
	SlopDeg float64 `name:"slop-deg" default:"1.5" help:"The same of its heading, in degrees."`
	JSON    bool    `name:"json" help:"Print one JSON document."`
}

func (c *flownCmd) Run() error { return c.flown(os.Stdin, os.Stdout) }

// flown reads both scenes, one from stdin for "-", and prints what the ship has flown to out.
func (c *flownCmd) flown(stdin io.Reader, out io.Writer) error {
	candidates, err := c.candidates()
	if err != nil {
		return fmt.Errorf("flown: %w", err)
	}
	if c.Before == "-" && c.After == "-" {
		return errors.New("flown: - stands for one of the two scenes only")
	}
	if !(c.SlopMM >= 0 && c.SlopMM <= 100) {
		return fmt.Errorf("flown: --slop-mm: expected 0 to 100, got %g", c.SlopMM)
	}
	if !(c.SlopDeg >= 0 && c.SlopDeg <= 45) {
		return fmt.Errorf("flown: --slop-deg: expected 0 to 45, got %g", c.SlopDeg)
	}
	before, err := oneScene("flown", c.Before, stdin)
	if err != nil {
		return err
	}
	after, err := oneScene("flown", c.After, stdin)
	if err != nil {
		return err
	}
	if !c.JSON {
		plainNames(before, &c.Ship)
		plainNames(after)
	}
	for i, scene := range []*engine.Scene{before, after} {
		if !slices.Contains(shipNames(scene), c.Ship) {
			return fmt.Errorf("flown: %s: %w", sceneName([]string{c.Before, c.After}[i]), noShip(scene, "--ship", c.Ship))
		}
	}
	slop := flown.Slop{Place: geom.Length(c.SlopMM), Turn: geom.Angle(c.SlopDeg) * geom.Degree}
	v, err := flown.Flown(before, after, c.Ship, candidates, slop)
	if errors.Is(err, flown.ErrQuarters) || errors.Is(err, move.ErrHuge) {
		return terminal.Unanswered{Err: err}
	}
	if err != nil {
		return err
	}
	if !c.JSON {
		return printFlown(out, &v)
	}
	doc, err := flown.Marshal(v)
	return printDoc(out, "flown", doc, err)
}

// candidates returns what the ship may have flown.
func (c *flownCmd) candidates() (flown.Candidates, error) {
	all := flown.Every()
	if c.Dial != "" {
		var err error
		if all.Maneuvers, err = flown.ParseDial(c.Dial); err != nil {
			return all, fmt.Errorf("--%w", err)
		}
	}
	switch c.Only {
	case "":
	case "maneuvers":
		all.Actions = nil
	case "actions":
		if c.Dial != "" {
			return all, errors.New("--dial: expected without --only actions: a dial has none")
		}
		all.Maneuvers = nil
	default:
		return all, fmt.Errorf("--only: expected maneuvers or actions, got %q", c.Only)
	}
	return all, nil
}

// printFlown prints the answer for people: one line, and a table of the alternatives.
func printFlown(out io.Writer, v *flown.Verdict) error {
	if _, err := fmt.Fprintf(out, "%s: %s\n", v.Ship, v.String()); err != nil {
		return err
	}
	rows := v.Others
	if v.Outcome == engine.Indeterminate {
		rows = append([]flown.Fit{v.Best}, rows...)
	}
	if len(rows) == 0 {
		return nil
	}
	var g terminal.Grid
	title := "MAY BE"
	if v.Outcome == engine.No {
		title = "NEAREST"
	}
	g.Add(title, "OFF mm", "OFF °", "BACKED UP")
	for i := range rows {
		f := &rows[i]
		backed := ""
		if f.Partial {
			backed = "yes"
		}
		g.Add(f.Name, fmt.Sprintf("%.1f", f.Distance.Millimeters()), fmt.Sprintf("%.1f", f.Turn.Degrees()), backed)
	}
	if _, err := fmt.Fprintln(out); err != nil {
		return err
	}
	return g.Print(out)
}
