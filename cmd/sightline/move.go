package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"sightline/cmd/internal/terminal"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/engine/move"
	"sightline/engine/scenefile"
)

type moveCmd struct {
	Scene    string  `arg:"" help:"The scene file; - is standard input."`
	Ship     string  `required:"" placeholder:"ID" help:"The ship that moves."`
	Maneuver string  `xor:"what" placeholder:"M" help:"straight 2, bank left 1, turn right 3, koiogran 4, segnor left 2, tallon right 3 [left|middle|right], stationary, reverse straight 1, reverse bank left 1. Give one of --maneuver, --action and --drop."`
	Action   string  `xor:"what" placeholder:"A" help:"barrel-roll left, boost straight|left|right, decloak left|right|forward, tractor left|right|forward; along a bank template: barrel-roll left bank forward|backward, decloak left bank forward, decloak forward bank left …"`
	Drop     string  `xor:"what" placeholder:"D" help:"straight 1, bank left 1 …: drop a bomb, or the device named after it, as in straight 1 proximity_mine; launch straight 5: from the front guides."`
	Rules    string  `help:"Move by this edition instead of the scene's: 1e, 2.0 or 2.5."`
	Sigmas   float64 `default:"3" help:"How many standard deviations a margin must exceed to decide."`
	JSON     bool    `name:"json" help:"Print one JSON document."`
}

func (c *moveCmd) Run() error { return c.move(os.Stdin, os.Stdout) }

// move reads the scene, from stdin for "-", and prints where the ship ends to out.
func (c *moveCmd) move(stdin io.Reader, out io.Writer) error {
	scene, err := oneScene("move", c.Scene, stdin)
	if err != nil {
		return err
	}
	if !c.JSON {
		plainNames(scene, &c.Ship)
	}
	r, err := c.result(scene)
	if err != nil {
		name := sceneName(c.Scene)
		switch {
		case errors.Is(err, engine.ErrNoShip), errors.Is(err, move.ErrHuge), errors.Is(err, move.ErrBankRoll),
			errors.Is(err, move.ErrQuarters):
			err = terminal.Unanswered{Err: err}
		}
		if errors.Is(err, engine.ErrNoShip) {
			err = noShip(scene, "--ship", c.Ship)
		}
		return fmt.Errorf("move: %s: %w", name, err)
	}
	if !c.JSON {
		return printMove(out, &r)
	}
	doc, err := scenefile.MarshalMove(r)
	return printDoc(out, "move", doc, err)
}

// result answers the one question that was asked.
func (c *moveCmd) result(s *engine.Scene) (move.Result, error) {
	if !(c.Sigmas > 0) {
		return move.Result{}, fmt.Errorf("--sigmas: expected more than 0, got %g", c.Sigmas)
	}
	if c.Rules != "" {
		r, err := engine.ParseRules(c.Rules)
		if err != nil {
			return move.Result{}, fmt.Errorf("--%w", err)
		}
		s.Rules = r
	}
	if c.Maneuver == "" && c.Action == "" && c.Drop == "" {
		return move.Result{}, errors.New("expected one of --maneuver, --action and --drop")
	}
	o := engine.Options{Sigmas: c.Sigmas}
	switch {
	case c.Action != "":
		a, err := move.ParseAction(c.Action)
		if err != nil {
			return move.Result{}, fmt.Errorf("--%w", err)
		}
		return move.Reposition(s, c.Ship, a, o)
	case c.Drop != "":
		d, err := move.ParseDrop(c.Drop)
		if err != nil {
			return move.Result{}, fmt.Errorf("--%w", err)
		}
		return move.LayDrop(s, c.Ship, d, o)
	}
	m, err := move.ParseManeuver(c.Maneuver)
	if err != nil {
		return move.Result{}, fmt.Errorf("--%w", err)
	}
	return move.Execute(s, c.Ship, m, o)
}

// printMove prints a table for people.
func printMove(out io.Writer, r *move.Result) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "%s: %s\n\nPOSE\tX mm\tY mm\tHEADING °\n", r.Ship, r.Maneuver)
	there := ""
	if r.Outside == "" {
		printPose(w, "full", r.Full)
	}
	switch {
	case r.Outside != "": // a device lies in one place, whatever is in the way
		printPose(w, "device", r.Final)
	case len(r.Options) == 1 && !r.Options[0].Range && r.Options[0].Legal != engine.Yes: // it does not end there, or no one can say
		printPose(w, "would end", r.Final)
		there = " there"
	case !r.Chosen:
		printPose(w, "final", r.Final)
	}
	fmt.Fprintln(w)
	if len(r.Options) == 1 && !r.Options[0].Range {
		o := &r.Options[0]
		fmt.Fprintf(w, "legal\t%s\n", because(words(o.Legal), o.Why))
	}
	if r.Outside == "" {
		fmt.Fprintf(w, "fully executed\t%s\n", words(r.InFull))
	}
	printMoveMeets(w, r, there)
	if r.Outside != "" {
		fmt.Fprintf(w, "outside the play area\t%s\n", outside(r.Outside))
	} else {
		why := ""
		if r.Flees == engine.NoView {
			why = noMat
		}
		fmt.Fprintf(w, "flees\t%s\n", because(words(r.Flees), why))
	}
	if m := r.Margin.Millimeters(); m < 1e9 {
		fmt.Fprintf(w, "margin mm\t%s to another answer: %s\n", plusMinus(r.Margin, r.Sigma), r.Nearest)
	}
	printHits(w, "OBSTACLE", r.Obstacles)
	printHits(w, "DEVICE", r.Devices)
	printMoveOptions(w, r)
	return w.Flush()
}

// printMoveMeets prints what the ship meets on its way and at its end. there is appended to what
// holds only if it ends there.
func printMoveMeets(w io.Writer, r *move.Result, there string) {
	for _, l := range []struct {
		name string
		ids  []string
	}{
		{"first overlapped", r.FirstOverlapped}, {"touching" + there, r.Touching}, {"treated as overlapped", r.Overlapped},
		{"moved through", r.MovedThrough}, {"beyond the edges", r.Edges},
		{"too close to call", slices.DeleteFunc(slices.Clone(r.Undecided), isNotLooked)},
		{"no view", slices.DeleteFunc(slices.Clone(r.Undecided), func(u string) bool { return !isNotLooked(u) })},
	} {
		if len(l.ids) > 0 {
			fmt.Fprintf(w, "%s\t%s\n", l.name, strings.Join(l.ids, ", "))
		}
	}
}

// printMoveOptions prints the ends to choose from. A single one was already printed by printMove.
func printMoveOptions(w io.Writer, r *move.Result) {
	if len(r.Options) > 1 || r.Chosen || len(r.Options) == 1 && r.Options[0].Range {
		fmt.Fprintln(w, "\nOPTION\tX mm\tY mm\tHEADING °\tLEGAL\tWHY")
	}
	for i := range r.Options {
		o := &r.Options[i]
		if len(r.Options) == 1 && !r.Chosen && !o.Range {
			break // said above
		}
		name := o.Name
		if o.Range {
			name += fmt.Sprintf(" %.2f to %.2f mm", o.From.Millimeters(), o.To.Millimeters())
		}
		fmt.Fprintf(w, "%s\t%.2f\t%.2f\t%.2f\t%s\t%s\n", name, o.Final.X, o.Final.Y, o.Final.Heading.Degrees(), words(o.Legal), o.Why)
	}
}

// isNotLooked reports whether an answer is undecided because obstacles were not seen, not because
// it is too close.
func isNotLooked(undecided string) bool { return undecided == move.NotLooked }

// noMat says why there is no answer about the play area.
const noMat = "the scene has no mat"

// because appends a reason, if there is one.
func because(answer, why string) string {
	if why == "" {
		return answer
	}
	return answer + ": " + why
}

// outside says how much of a device is ignored (G184).
func outside(answer string) string {
	switch answer {
	case "partly":
		return "partly: what lies outside is ignored"
	case "wholly":
		return "wholly: it is ignored and has no effect"
	case "no_view":
		return "no view: " + noMat
	}
	return words2(answer)
}

func printPose(w io.Writer, name string, p geom.Pose) {
	fmt.Fprintf(w, "%s\t%.2f\t%.2f\t%.2f\n", name, p.X, p.Y, p.Heading.Degrees())
}

func printHits(w io.Writer, title string, hits []move.Hit) {
	if len(hits) > 0 {
		fmt.Fprintf(w, "\n%s\tUNDER THE TEMPLATE\tUNDER THE BASE\n", title)
	}
	for _, h := range hits {
		fmt.Fprintf(w, "%s\t%s\t%s\n", h.ID, words(h.Template), words(h.Base))
	}
}
