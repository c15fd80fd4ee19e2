package main

import (
	"cmp"
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
	"sightline/engine/tablecheck"
)

type checkCmd struct {
	Scene    string  `arg:"" help:"The scene file; - is standard input."`
	Setup    bool    `help:"Whether obstacles, ships, satellites or caches and hyperspace markers were placed legally."`
	Scenario string  `placeholder:"NAME" help:"assault, chance, salvage or scramble: which ships count at its markers, and who controls them."`
	Rules    string  `help:"Check by this edition instead of the scene's: 1e, 2.0 or 2.5."`
	Sigmas   float64 `default:"3" help:"How many standard deviations a margin must exceed to decide."`
	JSON     bool    `name:"json" help:"Print one JSON document."`
	Draw     string  `placeholder:"OUT" help:"With --setup: also draw where things may be placed, as SVG."`
	Area     string  `placeholder:"WHAT" help:"What to place: obstacles (default), ships, features (satellites, supply caches) or markers (hyperspace)."`
}

func (c *checkCmd) Run() error { return c.check(os.Stdin, os.Stdout) }

// check reads the scene, from stdin for "-", and prints the report to out.
func (c *checkCmd) check(stdin io.Reader, out io.Writer) error {
	scenario, err := c.asked()
	if err != nil {
		return fmt.Errorf("check: %w", err)
	}
	s, err := oneScene("check", c.Scene, stdin)
	if err != nil {
		return err
	}
	if c.Rules != "" {
		if s.Rules, err = engine.ParseRules(c.Rules); err != nil {
			return fmt.Errorf("check: --%w", err)
		}
	}
	if !c.JSON {
		plainNames(s)
	}
	report, err := c.report(s, scenario)
	if errors.Is(err, tablecheck.ErrNoMat) || errors.Is(err, tablecheck.ErrNoFeatures) {
		err = terminal.Unanswered{Err: err}
	}
	if err != nil {
		return fmt.Errorf("check: %s: %w", sceneName(c.Scene), err)
	}
	if err := c.picture(s); err != nil {
		return err
	}
	if !c.JSON {
		return printCheck(out, &report, c.Setup)
	}
	doc, err := tablecheck.Marshal(report)
	return printDoc(out, "check", doc, err)
}

// asked returns the requested scenario.
func (c *checkCmd) asked() (engine.Scenario, error) {
	switch {
	case !(c.Sigmas > 0):
		return 0, fmt.Errorf("--sigmas: expected more than 0, got %g", c.Sigmas)
	case c.Area != "" && c.Draw == "":
		return 0, errors.New("--area: expected --draw as well")
	case c.Setup && c.Scenario == "":
		return 0, nil
	case c.Scenario == "":
		return 0, errors.New("expected --setup or --scenario")
	case c.Draw != "" && !c.Setup:
		return 0, errors.New("--draw: expected --setup as well")
	}
	scenario, err := engine.ParseScenario(c.Scenario)
	if err != nil {
		return 0, fmt.Errorf("--%w", err)
	}
	return scenario, nil
}

// picture draws where things may be placed.
func (c *checkCmd) picture(s *engine.Scene) error {
	if c.Draw == "" {
		return nil
	}
	if ext := strings.ToLower(filepath.Ext(c.Draw)); ext != ".svg" {
		return fmt.Errorf("check: --draw %s: expected a name that ends in .svg", c.Draw)
	}
	what, err := tablecheck.ParsePlacing(cmp.Or(c.Area, string(tablecheck.PlaceObstacles)))
	if err != nil {
		return fmt.Errorf("check: --%w", err)
	}
	areas, err := tablecheck.Areas(s, what, engine.Options{Sigmas: c.Sigmas})
	if errors.Is(err, tablecheck.ErrNoFeatures) {
		err = terminal.Unanswered{Err: err}
	}
	if err != nil {
		return fmt.Errorf("check: %s: %w", sceneName(c.Scene), err)
	}
	svg, err := draw.SVG(s, draw.Options{Areas: areas, Sigmas: c.Sigmas})
	if err != nil {
		return fmt.Errorf("check: %s: %w", sceneName(c.Scene), err)
	}
	return sheet.Create(c.Draw, func(w io.Writer) error {
		_, err := w.Write(svg)
		return err
	})
}

// report checks the setup or the scenario.
func (c *checkCmd) report(s *engine.Scene, scenario engine.Scenario) (tablecheck.Report, error) {
	o := engine.Options{Sigmas: c.Sigmas}
	if !c.Setup {
		return tablecheck.Scenario(s, scenario, o)
	}
	return tablecheck.Setup(s, scenario, o)
}

// printCheck prints a report for people. During a game it omits legal placements.
func printCheck(out io.Writer, r *tablecheck.Report, setup bool) error {
	var g terminal.Grid
	g.Add("RULE", "ANSWER", "")
	for i := range r.Lines {
		if l := &r.Lines[i]; setup || !l.Placed || l.Outcome != engine.Yes {
			g.Add(l.Rule, words(l.Outcome), l.Text)
		}
	}
	if len(g.Rows) > 1 {
		if err := g.Print(out); err != nil {
			return err
		}
	}
	for _, c := range r.Control {
		if _, err := fmt.Fprintf(out, "%s: %s\n", c.Objective, controller(&c)); err != nil {
			return err
		}
	}
	for _, n := range r.Notes {
		if _, err := fmt.Fprintf(out, "note: %s\n", n); err != nil {
			return err
		}
	}
	return nil
}

// controller says who controls an objective.
func controller(c *tablecheck.Control) string {
	who := func(player int) string {
		if player == 0 {
			return "no player"
		}
		return fmt.Sprintf("player %d", player)
	}
	if c.Outcome == engine.Yes {
		return who(c.Player)
	}
	var may []string
	for _, p := range c.Possible {
		may = append(may, who(p))
	}
	if len(may) == 0 {
		may = []string{who(c.Player), "not"}
	}
	return "too close to call: " + strings.Join(may, " or ")
}
