package calibrate

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"

	"sightline/calibration"
	"sightline/cmd/internal/draw"
	"sightline/cmd/internal/looks"
	"sightline/cmd/internal/pictures"
	"sightline/cmd/internal/sheet"
	"sightline/cmd/internal/terminal"
	"sightline/engine/geom"
	"sightline/vision/look"
)

type budgetCmd struct {
	Calibration string  `required:"" placeholder:"FILE" help:"The table calibration, from calibrate table."`
	Out         string  `name:"output" aliases:"out" short:"o" placeholder:"FILE" help:"Draw how sure the calibration is over the mat, as SVG."`
	Height      float64 `without:"looks" placeholder:"MM" default:"4" help:"Height over the mat of what is measured. Default: 4, a base's top."`
	Looks       string  `placeholder:"DIR" help:"Print the budget of stock ships, whose looks are in this folder (docs/stock.md), 3.6 mm over the mat."`
	Frames      int     `default:"1" help:"How many frames are averaged: only noise shrinks."`
	JSON        bool    `name:"json" help:"Print one JSON document."`

	looks *look.Library // read from Looks; nil if that is empty
}

// Run implements the command.
func (c *budgetCmd) Run(ctx context.Context) error {
	err := terminal.Progress(ctx, func(_ context.Context, out, warn io.Writer) error { return c.run(out, warn) })
	return terminal.Named("calibrate budget", err)
}

func (c *budgetCmd) run(out, warn io.Writer) error {
	if c.Looks != "" {
		c.Height = float64(look.CardTop)
	}
	switch {
	case !(c.Height >= 0) || c.Height > 200:
		return fmt.Errorf("--height: expected 0 to 200 mm, got %v", c.Height)
	case c.Frames < 1:
		return fmt.Errorf("--frames: expected at least 1, got %d", c.Frames)
	}
	if c.Out != "" {
		if err := pictures.CheckOutput(c.Out); err != nil {
			return err
		}
	}
	t, err := pictures.LoadTable(warn, c.Calibration)
	if err != nil {
		return err
	}
	if c.looks, err = looks.Load(c.Looks, warn); err != nil {
		return err
	}
	budget := calibration.NewBudget(t, calibration.Uncertainty{})
	places, err := c.places(budget)
	if err != nil {
		return err
	}
	if c.Out != "" {
		var picture bytes.Buffer
		if err := draw.HeatMap(&picture, budget, draw.HeatOptions{Z: geom.Length(c.Height), Frames: c.Frames}); err != nil {
			return err
		}
		if err := sheet.WriteFile(c.Out, picture.Bytes()); err != nil {
			return err
		}
	}
	if c.JSON {
		return c.printJSON(out, budget, places)
	}
	return c.print(out, budget, places)
}

// budgetPlace is a place whose budget is printed.
type budgetPlace struct {
	name  string
	at    geom.Point
	terms calibration.Terms
	total geom.Cov2
}

// places returns the mat's centre and the worst of its edges' midpoints and of its corners. Base
// tops lie inside the mat, half a small base from its edge.
func (c *budgetCmd) places(b *calibration.Budget) ([]budgetPlace, error) {
	l := b.Table().Layout
	w, h := float64(l.Width), float64(l.Height)
	const in = 20
	groups := []struct {
		name   string
		points []geom.Point
	}{
		{"centre", []geom.Point{{X: w / 2, Y: h / 2}}},
		{"edge", []geom.Point{{X: in, Y: h / 2}, {X: w - in, Y: h / 2}, {X: w / 2, Y: in}, {X: w / 2, Y: h - in}}},
		{"corner", []geom.Point{{X: in, Y: in}, {X: w - in, Y: in}, {X: w - in, Y: h - in}, {X: in, Y: h - in}}},
	}
	at := func(p geom.Point) (calibration.Terms, bool) { return b.At(p, geom.Length(c.Height)) }
	if c.looks != nil {
		at = look.NewBudget(*b.Table(), c.looks).At
	}
	var out []budgetPlace
	for _, g := range groups {
		var worst budgetPlace
		for _, p := range g.points {
			terms, ok := at(p)
			if !ok {
				return nil, terminal.Unanswered{Err: fmt.Errorf("%s: the camera does not see the mat at %.0f, %.0f mm", c.Calibration, p.X, p.Y)}
			}
			if total := terms.Total(c.Frames); worst.terms == nil || calibration.LargestSigma(total) > calibration.LargestSigma(worst.total) {
				worst = budgetPlace{g.name, p, terms, total}
			}
		}
		out = append(out, worst)
	}
	return out, nil
}

// share returns the sigma, in mm along the longest axis, of a term in the mean of the frames.
func (c *budgetCmd) share(t calibration.Term) float64 {
	return float64(calibration.LargestSigma(calibration.Terms{t}.Total(c.Frames)))
}

// distances returns the sigma of distances of 100, 300 and 600 mm between two objects across the
// mat's middle.
func (c *budgetCmd) distances(b *calibration.Budget) (out [][2]float64) {
	if c.looks != nil {
		return nil // two cards have independent errors
	}
	l := b.Table().Layout
	mid := geom.Point{X: float64(l.Width) / 2, Y: float64(l.Height) / 2}
	for _, d := range [...]float64{100, 300, 600} {
		half := geom.Point{X: d / 2}
		z := geom.Length(c.Height)
		if s, ok := b.Distance(calibration.Spot{Point: mid.Sub(half), Z: z}, calibration.Spot{Point: mid.Add(half), Z: z}, c.Frames); ok {
			out = append(out, [2]float64{d, float64(s)})
		}
	}
	return out
}

// print prints the budget as a table for people.
func (c *budgetCmd) print(out io.Writer, b *calibration.Budget, places []budgetPlace) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "sigma in mm, %g mm over the mat\tvalue\tcentre\tedge\tcorner\tfrom\n", c.Height)
	for i, t := range places[0].terms {
		note := ""
		if t.Nature == calibration.Random {
			note = ", shrinks with frames"
		}
		fmt.Fprintf(w, "%s\t%s\t%.3f\t%.3f\t%.3f\t%s%s\n", t.Name, t.Input,
			c.share(t), c.share(places[1].terms[i]), c.share(places[2].terms[i]), t.Source, note)
	}
	fmt.Fprintf(w, "all together\t\t%.3f\t%.3f\t%.3f\talong the longest axis; the worst edge and corner\n",
		calibration.LargestSigma(places[0].total).Millimeters(), calibration.LargestSigma(places[1].total).Millimeters(),
		calibration.LargestSigma(places[2].total).Millimeters())
	for _, d := range c.distances(b) {
		fmt.Fprintf(w, "distance of %.0f mm\t\t%.3f\t\t\tbetween two objects, across the middle\n", d[0], d[1])
	}
	if c.Out != "" {
		fmt.Fprintf(w, "wrote\t%s\n", c.Out)
	}
	return w.Flush()
}

// printJSON prints the budget as one document.
func (c *budgetCmd) printJSON(out io.Writer, b *calibration.Budget, places []budgetPlace) error {
	type termJSON struct {
		Name       string    `json:"name"`
		Nature     string    `json:"nature"`
		Value      string    `json:"value"`
		Source     string    `json:"source"`
		Sigma      float64   `json:"sigma_mm"`
		Covariance []float64 `json:"covariance_mm2"` // xx, xy, yy, of one frame
	}
	type placeJSON struct {
		Name       string     `json:"name"`
		X          float64    `json:"x_mm"`
		Y          float64    `json:"y_mm"`
		Sigma      float64    `json:"sigma_mm"`
		Covariance []float64  `json:"covariance_mm2"`
		Terms      []termJSON `json:"terms"`
	}
	type distanceJSON struct {
		Distance float64 `json:"distance_mm"`
		Sigma    float64 `json:"sigma_mm"`
	}
	doc := struct {
		Version   int            `json:"version"`
		Hash      string         `json:"calibration"`
		Integrity string         `json:"integrity"`
		Height    float64        `json:"height_mm"`
		Frames    int            `json:"frames"`
		Places    []placeJSON    `json:"places"`
		Distances []distanceJSON `json:"distances"`
	}{Version: 1, Hash: b.Table().Hash, Integrity: b.Table().State(), Height: c.Height, Frames: c.Frames, Distances: []distanceJSON{}}
	triple := func(v geom.Cov2) []float64 { return []float64{v.XX, v.XY, v.YY} }
	for _, p := range places {
		one := placeJSON{Name: p.name, X: p.at.X, Y: p.at.Y, Sigma: float64(calibration.LargestSigma(p.total)), Covariance: triple(p.total)}
		for _, t := range p.terms {
			one.Terms = append(one.Terms, termJSON{t.Name, t.Nature.String(), t.Input, t.Source, c.share(t), triple(t.Cov)})
		}
		doc.Places = append(doc.Places, one)
	}
	for _, d := range c.distances(b) {
		doc.Distances = append(doc.Distances, distanceJSON{d[0], d[1]})
	}
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	return e.Encode(doc)
}
