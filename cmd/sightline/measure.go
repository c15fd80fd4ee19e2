package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"sightline/calibration/regularfile"
	"sightline/calibration/verify"
	"sightline/cmd/internal/terminal"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/engine/scenefile"
)

type measureCmd struct {
	Scene  string   `arg:"" help:"The scene file; - is standard input."`
	Rules  string   `help:"Measure by this edition instead of the scene's: 1e, 2.0 or 2.5."`
	From   string   `help:"Only from this ship." placeholder:"ID"`
	To     string   `help:"Only to this ship or obstacle." placeholder:"ID"`
	Arc    []string `help:"Only these arcs: front, bullseye … Without it, all arcs that the target is or may be in." placeholder:"ARC"`
	Sigmas float64  `default:"3" help:"How many standard deviations a margin must exceed to decide."`
	JSON   bool     `name:"json" help:"Print one JSON document."`

	arcs []engine.Arc // of Arc
}

// maxSceneFile is the largest accepted scene file: more than a thousand crowded tables.
const maxSceneFile = 64 << 20

func (c *measureCmd) Run() error { return c.measure(os.Stdin, os.Stdout) }

// measure reads the scene, from stdin for "-", and prints its results to out.
func (c *measureCmd) measure(stdin io.Reader, out io.Writer) error {
	name := sceneName(c.Scene)
	data, err := c.read(stdin)
	if err != nil {
		return fmt.Errorf("measure: %w", err)
	}
	scenes, list, err := scenefile.Parse(data)
	if err != nil {
		return fmt.Errorf("measure: %s: %w", name, err)
	}
	if err := c.parseArcs(); err != nil {
		return fmt.Errorf("measure: %w", err)
	}
	for i := range scenes {
		if !c.JSON {
			plainNames(&scenes[i], &c.From, &c.To)
		}
	}
	results, err := c.results(scenes)
	if err != nil {
		return fmt.Errorf("measure: %s: %w", name, err)
	}
	if !c.JSON {
		return c.printResults(out, results, list)
	}
	var doc []byte
	if list {
		doc, err = scenefile.MarshalResults(results)
	} else {
		doc, err = scenefile.MarshalResult(results[0])
	}
	if err == nil {
		doc, err = withVerification(doc, data)
	}
	return printDoc(out, "measure", doc, err)
}

// withVerification copies the scene's verification, if it has one, to the answer.
func withVerification(answer, scene []byte) ([]byte, error) {
	var from struct {
		Verified *verify.AnswerJSON `json:"verified"`
	}
	if err := json.Unmarshal(scene, &from); err != nil || from.Verified == nil {
		return answer, nil // the scene was read; the rest is not needed
	}
	return verify.AddTo(answer, from.Verified)
}

func (c *measureCmd) read(stdin io.Reader) ([]byte, error) {
	r := stdin
	if c.Scene != "-" {
		f, err := regularfile.Open(c.Scene)
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

// parseArcs parses the requested arcs.
func (c *measureCmd) parseArcs() error {
	c.arcs = nil
	for _, name := range c.Arc {
		a, err := engine.ParseArc(strings.ReplaceAll(strings.TrimSpace(name), " ", "_"))
		if err != nil {
			return fmt.Errorf("--%w", err)
		}
		c.arcs = append(c.arcs, a)
	}
	return nil
}

// results measures every scene and keeps what was requested.
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
	found := false
	for i := range scenes {
		if rules != engine.RulesUnknown {
			scenes[i].Rules = rules
		}
		r, err := engine.Measure(&scenes[i], engine.Options{Sigmas: c.Sigmas})
		if err != nil {
			return nil, err
		}
		results[i] = c.asked(r)
		if err := c.sections(&scenes[i], &results[i]); err != nil {
			return nil, err
		}
		for _, p := range results[i].Pairs {
			found = found || len(p.Arcs) > 0
		}
	}
	if len(c.arcs) > 0 && !found {
		return nil, terminal.Unanswered{Err: fmt.Errorf("--arc: no ship that is measured from has the arc %s in this edition",
			strings.Join(c.Arc, ", "))}
	}
	return results, nil
}

// sections also measures to the fore and aft sections of huge ships.
func (c *measureCmd) sections(s *engine.Scene, r *engine.Result) error {
	for i := range r.Pairs {
		p := &r.Pairs[i]
		at := slices.IndexFunc(s.Ships, func(ship engine.Ship) bool { return ship.ID == p.To })
		if !engine.HasSections(s.Rules, &s.Ships[at]) {
			continue
		}
		var err error
		if p.Sections, err = engine.MeasureSections(s, p.From, p.To, engine.Options{Sigmas: c.Sigmas}); err != nil {
			return err
		}
		for j := range p.Sections {
			p.Sections[j].Arcs = c.chosen(p.Sections[j].Arcs)
		}
	}
	return nil
}

// chosen returns the requested arcs.
func (c *measureCmd) chosen(arcs []engine.ArcVerdict) []engine.ArcVerdict {
	if len(c.arcs) == 0 {
		return arcs
	}
	return slices.DeleteFunc(slices.Clone(arcs), func(a engine.ArcVerdict) bool { return !slices.Contains(c.arcs, a.Arc) })
}

// known returns an error if a requested ship is missing. A camera may not have found it, so the
// question is valid but cannot be answered.
func (c *measureCmd) known(scenes []engine.Scene) error {
	var ships, others []string
	for i := range scenes {
		ships = append(ships, shipNames(&scenes[i])...)
		for _, o := range scenes[i].Obstacles {
			others = append(others, o.ID)
		}
		for _, d := range scenes[i].Devices {
			others = append(others, d.ID)
		}
		for _, m := range scenes[i].Markers {
			others = append(others, m.ID)
		}
	}
	targets := slices.Concat(ships, others)
	switch {
	case c.From != "" && !slices.Contains(ships, c.From):
		return terminal.Unanswered{Err: fmt.Errorf("--from: no ship %q in the scene%s", c.From, meant(ships, c.From))}
	case c.To != "" && !slices.Contains(targets, c.To):
		return terminal.Unanswered{Err: fmt.Errorf("--to: no ship, obstacle, device or marker %q in the scene%s", c.To, meant(targets, c.To))}
	case c.From != "" && c.From == c.To:
		return errors.New("--to: expected another ship than --from")
	}
	return nil
}

// noShip is the error for a flag that names no ship of the scene.
func noShip(s *engine.Scene, flag, id string) error {
	return terminal.Unanswered{Err: fmt.Errorf("%s: no ship %q in the scene%s", flag, id, meant(shipNames(s), id))}
}

// shipNames lists the names of a scene's ships.
func shipNames(s *engine.Scene) (names []string) {
	for i := range s.Ships {
		names = append(names, s.Ships[i].ID)
	}
	return names
}

// meant suggests the name that differs only in case, or else lists the names.
func meant(names []string, id string) string {
	var there []string
	for _, name := range names {
		if strings.EqualFold(name, id) {
			return fmt.Sprintf(": did you mean %s? Capital and small letters are not the same in names", name)
		}
		if !slices.Contains(there, name) {
			there = append(there, name)
		}
	}
	if len(there) == 0 {
		return ", which has no ships"
	}
	return ", which has " + strings.Join(there, ", ")
}

// asked returns the part of a result that --from, --to and --arc request.
func (c *measureCmd) asked(r engine.Result) engine.Result {
	r = r.Between(c.From, c.To)
	for i := range r.Pairs {
		r.Pairs[i].Arcs = c.chosen(r.Pairs[i].Arcs)
	}
	return r
}

// printResults prints tables for people.
func (c *measureCmd) printResults(out io.Writer, results []engine.Result, list bool) error {
	w := bufio.NewWriter(out)
	for i := range results {
		if list {
			fmt.Fprintf(w, "scene %d\n", i+1)
		}
		c.printResult(w, &results[i])
	}
	return w.Flush()
}

func (c *measureCmd) printResult(w io.Writer, r *engine.Result) {
	fmt.Fprintf(w, "rules %s\n", r.Rules)
	if len(r.Pairs) > 0 {
		fmt.Fprintln(w)
		c.printPairs(w, r.Pairs)
		fmt.Fprint(w, c.legend())
		if unseen(r.Pairs) {
			fmt.Fprint(w, noViewLegend)
		}
	}
	if len(r.Objects) > 0 {
		fmt.Fprintln(w)
		var g terminal.Grid
		g.Add("FROM", "TO", "KIND", "RANGE", "DISTANCE mm", "MARGIN mm", "OVERLAP")
		for i := range r.Objects {
			o := &r.Objects[i]
			g.Add(append(append([]string{o.From, o.To, o.Kind}, distance(&o.Range, o.Contact)...), words(o.Overlap))...)
		}
		_ = g.Print(w) // told when it is flushed
	}
	printStanding(w, r.Standing)
	if len(r.Problems) > 0 {
		fmt.Fprintln(w)
		var g terminal.Grid
		g.Add("PROBLEM", "OF", "BY mm")
		for _, p := range r.Problems {
			by := ""
			if p.Margin != 0 {
				by = fmt.Sprintf("%.2f", p.Margin.Millimeters())
			}
			g.Add(p.Problem, p.ID, by)
		}
		_ = g.Print(w) // told when it is flushed
	}
}

// printPairs prints the measurements between ships.
func (c *measureCmd) printPairs(w io.Writer, pairs []engine.PairVerdict) {
	var g terminal.Grid
	g.Add("FROM", "TO", "MEASURED", "IN ARC", "BY mm", "RANGE", "DISTANCE mm", "MARGIN mm", "OBSTRUCTED")
	for i := range pairs {
		p := &pairs[i]
		g.Add(append([]string{p.From, p.To, "range", "", ""}, distance(&p.Range, p.Contact)...)...)
		c.addArcs(&g, "", p.Arcs)
		for j := range p.Sections {
			v := &p.Sections[j]
			g.Add(append([]string{"", "", v.Section.String() + " section", "", ""}, distance(&v.Range, v.Contact)...)...)
			c.addArcs(&g, v.Section.String()+", ", v.Arcs)
		}
	}
	_ = g.Print(w) // told when it is flushed
}

// legend explains the table.
func (c *measureCmd) legend() string {
	return fmt.Sprintf(`
RANGE: every band that it may be; "too close" if the measurement leaves more than one.
BY: how deep the target reaches into the arc; negative: how far it lies outside.
DISTANCE: from base to base. For contact the guides count too.
MARGIN: how far the distance is from another band, or the guides from touching.
±: one standard deviation; a margin of less than %g of them is too close to call.
`, c.Sigmas)
}

// noViewLegend explains an obstruction without an answer.
const noViewLegend = `no view: nothing says what obstacles lie there. locate finds them with --catalogue and --empty-mat (sightline
obstacles --help); where they were looked for, something hides the place.
`

// unseen reports whether an obstruction has no answer because obstacles are not seen.
func unseen(pairs []engine.PairVerdict) bool {
	at := func(a engine.ArcVerdict) bool {
		return a.Attack != nil && a.Attack.Obstruction.Verdict == engine.NoView.String()
	}
	return slices.ContainsFunc(pairs, func(p engine.PairVerdict) bool {
		return slices.ContainsFunc(p.Arcs, at) ||
			slices.ContainsFunc(p.Sections, func(s engine.SectionVerdict) bool { return slices.ContainsFunc(s.Arcs, at) })
	})
}

// printStanding prints what ships may not do where they stand.
func printStanding(w io.Writer, all []engine.Standing) {
	var g terminal.Grid
	for _, s := range all {
		for _, b := range s.Restrictions {
			if len(g.Rows) == 0 {
				fmt.Fprintln(w)
				g.Add("SHIP", "MAY NOT", "BECAUSE", "ANSWER", "RULE")
			}
			act := b.Act
			if b.Target != "" {
				act += " " + b.Target
			}
			g.Add(s.ID, act, fmt.Sprintf("%s (%s)", b.Why, b.Because), words(b.Outcome), b.Rule)
		}
	}
	_ = g.Print(w) // told when it is flushed
}

// addArcs adds a row for each requested arc and each arc that the target is or may be in, and names
// the others.
func (c *measureCmd) addArcs(g *terminal.Grid, before string, arcs []engine.ArcVerdict) {
	var not []string
	for i := range arcs {
		a := &arcs[i]
		name := words2(a.Arc.String())
		if a.InArc == engine.No && len(c.arcs) == 0 {
			not = append(not, name)
			continue
		}
		row := []string{"", "", before + name, words(a.InArc), plusMinus(a.Margin, a.Sigma)}
		if at := a.Attack; at != nil {
			row = append(append(row, distance(&at.RangeVerdict, engine.No)...), obstructed(&at.Obstruction))
		}
		g.Add(row...)
	}
	if len(not) > 0 {
		g.Text(2, before+"not in "+strings.Join(not, ", "))
	}
}

// obstructed says whether a line is obstructed, and by what.
func obstructed(o *engine.ObstructionVerdict) string {
	s := words2(o.Verdict)
	if len(o.By) > 0 {
		s += " (" + strings.Join(o.By, ", ") + ")"
	}
	if on := slices.Concat(o.Ships, o.Devices); len(on) > 0 {
		s += ", on the line: " + strings.Join(on, ", ")
	}
	return s
}

// distance returns the cells of a range: bands, distance and margin.
func distance(r *engine.RangeVerdict, contact engine.Outcome) []string {
	band := bands(r.Possible)
	switch {
	case contact == engine.Yes && r.Distance > 0:
		band += ", " + engine.ContactWords(r.Distance)
	case contact == engine.Yes:
		band += ", contact"
	case contact == engine.Indeterminate && r.Outcome == engine.Yes: // first edition: contact is range 1
		band += ", perhaps in contact"
	case r.Outcome != engine.Yes:
		band += ", " + words(r.Outcome)
	}
	return []string{band, plusMinus(r.Distance, r.Sigma), fmt.Sprintf("%.2f", r.Margin.Millimeters())}
}

// plusMinus formats a length with its standard deviation, if it has one.
func plusMinus(v, sigma geom.Length) string {
	if sigma == 0 {
		return fmt.Sprintf("%.2f", v.Millimeters())
	}
	return fmt.Sprintf("%.2f ± %.2f", v.Millimeters(), sigma.Millimeters())
}

// bands formats the possible bands in the page's words: "2", "2 or 3", ">3".
func bands(possible []int) string {
	var s []string
	for _, b := range possible {
		if b > 3 {
			s = append(s, ">3")
			break
		}
		s = append(s, strconv.Itoa(b))
	}
	if len(s) > 3 {
		return s[0] + " to " + s[len(s)-1]
	}
	return strings.Join(s, " or ")
}

func words(o engine.Outcome) string { return words2(o.String()) }

func words2(s string) string { return strings.ReplaceAll(s, "_", " ") }
