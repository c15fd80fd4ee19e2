package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"sightline/cmd/internal/draw"
	"sightline/cmd/internal/sheet"
	"sightline/cmd/internal/terminal"
	"sightline/engine"
	"sightline/engine/move"
	"sightline/engine/scenefile"
)

// drawCmd draws a scene from above.
type drawCmd struct {
	Scene  string   `arg:"" help:"The scene file; - is standard input."`
	Out    string   `name:"output" aliases:"out" short:"o" required:"" placeholder:"OUT" help:"SVG file to write, - for standard output."`
	Rules  string   `help:"Draw by this edition instead of the scene's: 1e, 2.0 or 2.5."`
	From   string   `help:"Show the range bands around this ship." placeholder:"ID"`
	To     string   `help:"Measure to this ship or obstacle." placeholder:"ID"`
	Arcs   []string `help:"Arcs of --from to show, with the attack range in each: front, bullseye …" placeholder:"ARC"`
	Sigmas float64  `default:"3" help:"How many standard deviations a margin must exceed to decide."`

	Ship     string `help:"Show a move of this ship: with --maneuver, --action or --drop." placeholder:"ID"`
	Maneuver string `help:"The maneuver to show: bank left 1, koiogran 4 …" placeholder:"M"`
	Action   string `help:"The action to show: barrel-roll left, boost straight …" placeholder:"A"`
	Drop     string `help:"The drop to show: straight 1 …" placeholder:"D"`

	Index int `default:"1" help:"Which scene of a list to draw, from 1."`
}

// Run implements the command.
func (c *drawCmd) Run() error { return c.draw(os.Stdin, os.Stdout) }

// draw reads the scene, from stdin for "-", and writes its picture.
func (c *drawCmd) draw(stdin io.Reader, out io.Writer) error {
	file := c.Scene
	if file == "-" {
		file = "standard input"
	}
	if ext := strings.ToLower(filepath.Ext(c.Out)); ext != "" && ext != ".svg" {
		return fmt.Errorf("draw: -o %s: expected a name that ends in .svg: the drawing is an SVG picture, which browsers print to PDF", c.Out)
	}
	data, err := (&measureCmd{Scene: c.Scene}).read(stdin)
	if err != nil {
		return fmt.Errorf("draw: %w", err)
	}
	scene, err := c.scene(data)
	if err != nil {
		return fmt.Errorf("draw: %s: %w", file, err)
	}
	o, err := c.options()
	if err != nil {
		return fmt.Errorf("draw: %w", err)
	}
	svg, err := draw.SVG(scene, o)
	switch {
	// A valid question about something that is not there.
	case errors.Is(err, draw.ErrNotThere), errors.Is(err, move.ErrHuge), errors.Is(err, move.ErrBankRoll),
		errors.Is(err, move.ErrQuarters):
		return terminal.Unanswered{Err: fmt.Errorf("%s: %w", file, err)}
	case err != nil:
		return fmt.Errorf("%s: %w", file, err)
	}
	if c.Out == "-" {
		_, err = out.Write(svg)
	} else if err = sheet.Create(c.Out, func(w io.Writer) error {
		_, err := w.Write(svg)
		return err
	}); err == nil {
		_, err = fmt.Fprintln(out, "wrote", c.Out)
	}
	if err != nil {
		return fmt.Errorf("draw: %w", err)
	}
	return nil
}

// scene returns the scene to draw.
func (c *drawCmd) scene(data []byte) (*engine.Scene, error) {
	scenes, _, err := scenefile.Parse(data)
	if err != nil {
		return nil, err
	}
	if c.Index < 1 || c.Index > len(scenes) {
		return nil, fmt.Errorf("--index: expected 1 to %d, got %d", len(scenes), c.Index)
	}
	s := &scenes[c.Index-1]
	if c.Rules != "" {
		if s.Rules, err = engine.ParseRules(c.Rules); err != nil {
			return nil, fmt.Errorf("--%w", err)
		}
	}
	return s, nil
}

func (c *drawCmd) options() (draw.Options, error) {
	if !(c.Sigmas > 0) {
		return draw.Options{}, fmt.Errorf("--sigmas: expected more than 0, got %g", c.Sigmas)
	}
	if c.To != "" && c.From == "" {
		return draw.Options{}, errors.New("--to: expected --from as well")
	}
	if len(c.Arcs) > 0 && c.From == "" {
		return draw.Options{}, errors.New("--arcs: expected --from, the ship that they belong to")
	}
	o := draw.Options{From: c.From, To: c.To, Sigmas: c.Sigmas}
	for _, name := range c.Arcs {
		a, err := engine.ParseArc(strings.TrimSpace(name))
		if err != nil {
			return o, fmt.Errorf("--arcs: %w", err)
		}
		o.Arcs = append(o.Arcs, a)
	}
	var err error
	o.Move, err = c.move()
	return o, err
}

// move parses the move to show; nil if there is none.
func (c *drawCmd) move() (*draw.Moved, error) {
	given := 0
	for _, s := range [...]string{c.Maneuver, c.Action, c.Drop} {
		if s != "" {
			given++
		}
	}
	switch {
	case c.Ship == "" && given == 0:
		return nil, nil
	case c.Ship == "":
		return nil, errors.New("--ship: expected the ship that moves")
	case given != 1:
		return nil, errors.New("--ship: expected one of --maneuver, --action and --drop as well")
	}
	m := &draw.Moved{Ship: c.Ship}
	switch {
	case c.Maneuver != "":
		v, err := move.ParseManeuver(c.Maneuver)
		if err != nil {
			return nil, fmt.Errorf("--maneuver: %w", err)
		}
		m.Maneuver = &v
	case c.Action != "":
		v, err := move.ParseAction(c.Action)
		if err != nil {
			return nil, fmt.Errorf("--action: %w", err)
		}
		m.Action = &v
	default:
		v, err := move.ParseDrop(c.Drop)
		if err != nil {
			return nil, fmt.Errorf("--drop: %w", err)
		}
		m.Drop = &v
	}
	return m, nil
}
