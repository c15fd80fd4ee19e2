package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"sightline/engine"
)

type measureCmd struct {
	Scene  string  `arg:"" help:"The scene file; - is standard input."`
	Rules  string  `help:"Measure by this edition instead of the scene's: 1e, 2.0 or 2.5."`
	From   string  `help:"Only from this ship." placeholder:"ID"`
	To     string  `help:"Only to this ship or obstacle." placeholder:"ID"`
	Sigmas float64 `default:"3" help:"How many standard deviations a margin must exceed to decide."`
	JSON   bool    `name:"json" help:"Print one JSON document."`
}

// maxSceneFile is more than a thousand crowded tables.
const maxSceneFile = 64 << 20

func (c *measureCmd) Run() error { return c.measure(os.Stdin, os.Stdout) }

// measure reads the scene, from stdin for "-", and prints what it says to out.
func (c *measureCmd) measure(stdin io.Reader, out io.Writer) error {
	name := c.Scene
	if name == "-" {
		name = "standard input"
	}
	data, err := c.read(stdin)
	if err != nil {
		return fmt.Errorf("measure: %w", err)
	}
	scenes, list, err := engine.ParseScenes(data)
	if err != nil {
		return fmt.Errorf("measure: %s: %w", name, err)
	}
	results, err := c.results(scenes)
	if err != nil {
		return fmt.Errorf("measure: %s: %w", name, err)
	}
	if !c.JSON {
		return printResults(out, results, list)
	}
	var doc []byte
	if list {
		doc, err = engine.MarshalResults(results)
	} else {
		doc, err = engine.MarshalResult(results[0])
	}
	if err != nil {
		return fmt.Errorf("measure: %w", err)
	}
	_, err = out.Write(append(doc, '\n'))
	return err
}

func (c *measureCmd) read(stdin io.Reader) ([]byte, error) {
	r := stdin
	if c.Scene != "-" {
		f, err := os.Open(c.Scene)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		r = f
	}
	data, err := io.ReadAll(io.LimitReader(r, maxSceneFile+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxSceneFile {
		return nil, fmt.Errorf("%s: expected at most %d MB", c.Scene, maxSceneFile>>20)
	}
	return data, nil
}

// results measures every scene and keeps what was asked for.
func (c *measureCmd) results(scenes []engine.Scene) ([]engine.Result, error) {
	if !(c.Sigmas > 0) {
		return nil, fmt.Errorf("--sigmas: expected more than 0, got %g", c.Sigmas)
	}
	var rules engine.Rules
	if c.Rules != "" {
		var err error
		if rules, err = engine.ParseRules(c.Rules); err != nil {
			return nil, fmt.Errorf("--%w", err)
		}
	}
	if err := c.known(scenes); err != nil {
		return nil, err
	}
	results := make([]engine.Result, len(scenes))
	for i := range scenes {
		if rules != engine.RulesUnknown {
			scenes[i].Rules = rules
		}
		r, err := engine.Measure(&scenes[i], engine.Options{Sigmas: c.Sigmas})
		if err != nil {
			return nil, err
		}
		results[i] = c.asked(r)
	}
	return results, nil
}

// known checks that the ships that were asked about are there. One that a camera
// did not find is a question that cannot be answered, not a mistake.
func (c *measureCmd) known(scenes []engine.Scene) error {
	from, to := c.From == "", c.To == ""
	for i := range scenes {
		for _, s := range scenes[i].Ships {
			from, to = from || s.ID == c.From, to || s.ID == c.To
		}
		for _, o := range scenes[i].Obstacles {
			to = to || o.ID == c.To
		}
		for _, d := range scenes[i].Devices {
			to = to || d.ID == c.To
		}
		for _, m := range scenes[i].Markers {
			to = to || m.ID == c.To
		}
	}
	switch {
	case !from:
		return unanswered{fmt.Errorf("--from: no ship %q in the scene", c.From)}
	case !to:
		return unanswered{fmt.Errorf("--to: no ship, obstacle, device or marker %q in the scene", c.To)}
	case c.From != "" && c.From == c.To:
		return errors.New("--to: expected another ship than --from")
	}
	return nil
}

// asked keeps the pairs and objects of --from and --to.
func (c *measureCmd) asked(r engine.Result) engine.Result {
	other := func(from, to string) bool {
		part := strings.HasPrefix(to, c.To+".") // of a device of several cards
		return c.From != "" && from != c.From || c.To != "" && to != c.To && !part
	}
	r.Pairs = slices.DeleteFunc(r.Pairs, func(p engine.PairVerdict) bool { return other(p.From, p.To) })
	r.Objects = slices.DeleteFunc(r.Objects, func(o engine.ObjectVerdict) bool { return other(o.From, o.To) })
	r.Standing = slices.DeleteFunc(r.Standing, func(s engine.Standing) bool { return c.From != "" && s.ID != c.From })
	return r
}

// printResults prints tables for people.
func printResults(out io.Writer, results []engine.Result, list bool) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for i := range results {
		if list {
			fmt.Fprintf(w, "scene %d\n", i+1)
		}
		printResult(w, &results[i])
	}
	return w.Flush()
}

func printResult(w io.Writer, r *engine.Result) {
	fmt.Fprintf(w, "rules %s\n", r.Rules)
	if len(r.Pairs) > 0 {
		fmt.Fprintln(w, "\nFROM\tTO\tMEASURED\tANSWER\tDISTANCE mm\t± mm\tMARGIN mm\tRANGE\tOBSTRUCTED")
	}
	for i := range r.Pairs {
		p := &r.Pairs[i]
		row(w, p.From, p.To, "range", "", &p.Range, "")
		row(w, p.From, p.To, "contact", words(p.Contact), nil, "")
		for j := range p.Arcs {
			printArc(w, p, &p.Arcs[j])
		}
	}
	if len(r.Objects) > 0 {
		fmt.Fprintln(w, "\nFROM\tTO\tKIND\tCONTACT\tDISTANCE mm\t± mm\tMARGIN mm\tRANGE\tOVERLAP")
	}
	for i := range r.Objects {
		o := &r.Objects[i]
		row(w, o.From, o.To, o.Kind, words(o.Contact), &o.Range, words(o.Overlap))
	}
	printStanding(w, r.Standing)
	if len(r.Problems) > 0 {
		fmt.Fprintln(w, "\nPROBLEM\tSHIP\tBY mm")
	}
	for _, p := range r.Problems {
		fmt.Fprintf(w, "%s\t%s\t%.2f\n", p.Problem, p.ID, p.Margin.Millimeters())
	}
}

// printStanding prints what ships may not do where they stand.
func printStanding(w io.Writer, all []engine.Standing) {
	title := "\nSHIP\tMAY NOT\tBECAUSE\tANSWER\tRULE"
	for _, s := range all {
		for _, b := range s.Bars {
			if title != "" {
				fmt.Fprintln(w, title)
				title = ""
			}
			act, target := b.Act, b.Target
			if target != "" {
				act += " " + target
			}
			fmt.Fprintf(w, "%s\t%s\t%s (%s)\t%s\t%s\n", s.ID, act, b.Why, b.Because, words(b.Outcome), b.Rule)
		}
	}
}

func printArc(w io.Writer, p *engine.PairVerdict, a *engine.ArcVerdict) {
	name := "in " + strings.ReplaceAll(a.Arc.String(), "_", " ") + " arc"
	fmt.Fprintf(w, "%s\t%s\t%s\t%s\t\t%.2f\t%.2f\t\t\n", p.From, p.To, name, words(a.InArc), a.Sigma.Millimeters(), a.Margin.Millimeters())
	if at := a.Attack; at != nil {
		o := words2(at.Obstruction.Verdict)
		if len(at.Obstruction.By) > 0 {
			o += " (" + strings.Join(at.Obstruction.By, ", ") + ")"
		}
		if on := slices.Concat(at.Obstruction.Ships, at.Obstruction.Devices); len(on) > 0 {
			o += ", on the line: " + strings.Join(on, ", ")
		}
		row(w, p.From, p.To, "  attack range", "", &at.RangeVerdict, o)
	}
}

// row prints a measured distance; r may be nil.
func row(w io.Writer, from, to, what, answer string, r *engine.RangeVerdict, last string) {
	if r == nil {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t\t\t\t\t%s\n", from, to, what, answer, last)
		return
	}
	if answer == "" {
		answer = "decided"
		if r.Outcome != engine.Yes {
			answer = words(r.Outcome)
		}
	}
	fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%.2f\t%.2f\t%.2f\t%s\t%s\n", from, to, what, answer,
		r.Distance.Millimeters(), r.Sigma.Millimeters(), r.Margin.Millimeters(), bands(r.Possible), last)
}

// bands prints the bands that a range may be: "2", or "2 or 3".
func bands(possible []int) string {
	s := make([]string, len(possible))
	for i, b := range possible {
		s[i] = strconv.Itoa(b)
	}
	if len(s) > 3 {
		return s[0] + " to " + s[len(s)-1]
	}
	return strings.Join(s, " or ")
}

func words(o engine.Outcome) string { return words2(o.String()) }

func words2(s string) string { return strings.ReplaceAll(s, "_", " ") }
