package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"sightline/calibration/regularfile"
	"sightline/cmd/internal/app"
	"sightline/cmd/internal/doctor"
	"sightline/cmd/internal/sentence"
	"sightline/cmd/internal/sheet"
	"sightline/cmd/internal/terminal"
	firmwareconfig "sightline/firmware-config"
	"sightline/hardware"
	"sightline/vision"
)

// doctorCmd examines the box, puts out its lights, or draws its wiring.
type doctorCmd struct {
	Check  doctorCheckCmd  `cmd:"" default:"withargs" help:"Test lamps, display, controls, camera, calibration and the board, and say what to do."`
	Dark   doctorDarkCmd   `cmd:"" help:"Put out lamps, display and strip after a program was killed."`
	Held   doctorHeldCmd   `cmd:"" help:"Report whether a picture is held, which a restart may lose: exit status 0 if none is."`
	Wiring doctorWiringCmd `cmd:"" help:"Draw what is wired to which pin, as SVG."`
}

// doctorCheckCmd examines the box.
type doctorCheckCmd struct {
	Config string   `help:"Configuration file. Default: sightline.toml, if it is there." placeholder:"FILE"`
	Source string   `help:"Examine this source in place of the configuration's." placeholder:"SOURCE"`
	Only   []string `help:"Only these checks: board, user, interfaces, disk, clock, temperature, power, memory, service, lamps, display, strip, controls, camera, calibration." placeholder:"CHECK"`
	Yes    bool     `help:"Ask no questions, for scripts. Lamps and display are still switched; controls are left out."`
	JSON   bool     `name:"json" help:"Print one JSON document."`
}

// Run implements the command.
func (c *doctorCheckCmd) Run(ctx context.Context) error {
	for _, name := range c.Only {
		if !slices.Contains(doctor.Names(), name) {
			return fmt.Errorf("doctor: --only %s: expected one of %s", name, strings.Join(doctor.Names(), ", "))
		}
	}
	config, err := doctorConfig(c.Config, c.Source)
	if err != nil {
		return fmt.Errorf("doctor: %w", err)
	}
	setup, err := config.Setup()
	if err != nil {
		return fmt.Errorf("doctor: %w", err)
	}
	box := doctor.Here(setup.Wiring)
	box.Camera = func(ctx context.Context) (vision.Source, error) { return app.OpenSource(ctx, config.Camera) }
	markers, closer := app.Markers()
	defer closer.Close()
	box.Markers = markers
	if !c.Yes && terminal.Is(os.Stdin) && terminal.Is(os.Stderr) {
		askOn(&box, os.Stdin, os.Stderr)
	}
	return c.examine(ctx, box, setup, os.Stdout)
}

// examine runs the checks and prints what they find, each as soon as it is known.
func (c *doctorCheckCmd) examine(ctx context.Context, box doctor.Box, setup doctor.Setup, out io.Writer) error {
	show := func(f doctor.Finding) { printFinding(out, f) }
	if c.JSON {
		show = nil
	}
	findings := doctor.Examine(ctx, box, setup, c.Only, show)
	if err := ctx.Err(); err != nil {
		return terminal.Unanswered{Err: errors.New("doctor: stopped before the end")}
	}
	if c.JSON {
		doc, err := json.MarshalIndent(struct {
			Version  int              `json:"version"`
			Healthy  bool             `json:"healthy"`
			Findings []doctor.Finding `json:"findings"`
		}{1, !doctor.Failed(findings), append([]doctor.Finding{}, findings...)}, "", " ")
		if err != nil {
			return fmt.Errorf("doctor: %w", err)
		}
		if _, err := out.Write(append(doc, '\n')); err != nil {
			return err
		}
	}
	if n := wrongs(findings); n > 0 {
		return terminal.Unanswered{Err: fmt.Errorf("doctor: %d of %d findings are wrong", n, len(findings))}
	}
	return nil
}

func wrongs(findings []doctor.Finding) (n int) {
	for _, f := range findings {
		if f.State == doctor.Wrong {
			n++
		}
	}
	return n
}

// printFinding prints a finding, and the advice below it.
func printFinding(out io.Writer, f doctor.Finding) {
	mark := map[doctor.State]string{doctor.OK: "ok", doctor.Warning: "look", doctor.Wrong: "WRONG", doctor.Skipped: "-"}[f.State]
	fmt.Fprintf(out, "%-6s %-16s %s\n", mark, f.Check, terminal.OneLine(errors.New(f.Says)))
	if f.Do != "" {
		fmt.Fprintf(out, "%-6s %-16s → %s\n", "", "", f.Do)
	}
}

func doctorConfig(file, source string) (app.Config, error) {
	config, err := app.LoadConfig(file)
	if err != nil {
		return config, err
	}
	config, err = config.With(app.Overrides{Source: source})
	return config.WithChosenCamera(slog.New(slog.NewTextHandler(os.Stderr, nil))), err
}

// askOn lets the examination ask a person. The end of the input means no.
func askOn(box *doctor.Box, in io.Reader, out io.Writer) {
	answers := bufio.NewScanner(in)
	box.Tell = func(text string) { fmt.Fprintln(out, text) }
	box.Ask = func(question string) bool {
		for {
			fmt.Fprintf(out, "%s [y/n] ", question)
			if !answers.Scan() {
				fmt.Fprintln(out)
				return false
			}
			switch strings.ToLower(strings.TrimSpace(answers.Text())) {
			case "y", "yes":
				return true
			case "n", "no":
				return false
			}
		}
	}
}

// doctorDarkCmd puts out all lights and the display.
type doctorDarkCmd struct {
	Config string `help:"Configuration file. Default: sightline.toml, if it is there." placeholder:"FILE"`
}

// darkWithin limits the wait for a bus that hangs, which delays the start of the service.
const darkWithin = 5 * time.Second

// Run implements the command.
func (c *doctorDarkCmd) Run() error {
	config, err := app.LoadConfig(c.Config)
	if err != nil {
		return fmt.Errorf("doctor dark: %w", err)
	}
	wiring, err := config.Wiring()
	if err != nil {
		return fmt.Errorf("doctor dark: %w", err)
	}
	return putOut(func() error { return hardware.PutOut(wiring) }, darkWithin)
}

// putOut calls dark, and gives up after a while.
func putOut(dark func() error, within time.Duration) error {
	done := make(chan error, 1)
	go func() { done <- dark() }()
	select {
	case err := <-done:
		if err != nil {
			return terminal.Unanswered{Err: fmt.Errorf("doctor dark: %w", err)}
		}
		return nil
	case <-time.After(within):
		return terminal.Unanswered{Err: fmt.Errorf("doctor dark: a bus hangs: not done after %v", within)}
	}
}

// doctorHeldCmd asks the running program whether an answer is held.
type doctorHeldCmd struct {
	Config  string `help:"Configuration file. Default: sightline.toml, if it is there." placeholder:"FILE"`
	Restart bool   `help:"If nothing is held, refuse new holds for 20 s, for a restart."`
}

// Run implements the command.
func (c *doctorHeldCmd) Run(ctx context.Context) error {
	config, err := app.LoadConfig(c.Config)
	if err != nil {
		return fmt.Errorf("doctor held: %w", err)
	}
	switch why, err := app.Held(ctx, config.Web, c.Restart); {
	case err != nil:
		return terminal.Unanswered{Err: err}
	case why != "":
		return terminal.Unanswered{Err: errors.New(sentence.Lower(strings.TrimSuffix(why, ".")))}
	}
	fmt.Println("nothing is held")
	return nil
}

// doctorWiringCmd draws the wiring.
type doctorWiringCmd struct {
	Board string `help:"Board file; without it, the shipped one." placeholder:"FILE"`
	Out   string `name:"output" aliases:"out" short:"o" default:"-" help:"SVG file to write, - for standard output." placeholder:"FILE"`
}

// Run implements the command.
func (c *doctorWiringCmd) Run() error {
	board := firmwareconfig.Default()
	if c.Board != "" {
		f, err := regularfile.Open(c.Board)
		if err != nil {
			return fmt.Errorf("doctor wiring: %w", err)
		}
		defer f.Close()
		if board, err = firmwareconfig.Parse(f); err != nil {
			return fmt.Errorf("doctor wiring: %s: %w", c.Board, err)
		}
	}
	svg, err := firmwareconfig.WiringSVG(board)
	if err != nil {
		return fmt.Errorf("doctor wiring: %w", err)
	}
	if c.Out == "-" {
		_, err = os.Stdout.Write(svg)
		return err
	}
	if err := sheet.WriteFile(c.Out, svg); err != nil {
		return fmt.Errorf("doctor wiring: %w", err)
	}
	return nil
}
