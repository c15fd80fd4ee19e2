package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"io"
	"os"
	"strings"

	"sightline/calibration"
	"sightline/cmd/internal/pictures"
	"sightline/cmd/internal/sentence"
	"sightline/cmd/internal/sheet"
	"sightline/cmd/internal/terminal"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/catalogue"
	"sightline/vision/obstacle/trace"
	"sightline/vision/opencv"
)

// learnTokensCmd traces tokens into a catalogue.
type learnTokensCmd struct {
	pictures.Input `embed:""`

	Calibration string   `required:"" placeholder:"FILE" help:"The table calibration, from calibrate table."`
	Name        []string `required:"" placeholder:"NAME" help:"The tokens' names, from left to right as player 1 sees them: --name rock1,rock2."`
	Kind        string   `required:"" placeholder:"KIND" help:"Their kind: asteroid, debris or gas, or a device's or a marker's as listed above."`
	Top         float64  `default:"2" placeholder:"MM" help:"Height of their upper face over the mat, paper included. Default: ${default}."`
	Out         string   `name:"output" aliases:"out" short:"o" required:"" placeholder:"FILE" help:"The catalogue to add them to, which is made if it does not exist."`
	Alike       bool     `help:"Save a token although it looks like a catalogue entry or another one on the paper. Neither is recognised then: both are unknown."`
}

// Help lists the kinds.
func (*learnTokensCmd) Help() string {
	obstacles, devices, markers := catalogue.Kinds()
	return fmt.Sprintf("Kinds of obstacles: %s. Of devices: %s. Of a scenario's markers: %s.", strings.Join(obstacles, ", "),
		strings.Join(devices, ", "), strings.Join(markers, ", "))
}

// Run implements the command.
func (c *learnTokensCmd) Run(ctx context.Context) error {
	err := terminal.Progress(ctx, func(ctx context.Context, _, progress io.Writer) error { return c.run(ctx, progress) })
	return terminal.Named("obstacles learn", err)
}

func (c *learnTokensCmd) run(ctx context.Context, progress io.Writer) error {
	if err := c.Check(); err != nil {
		return err
	}
	if !(c.Top >= 0.2 && c.Top <= 20) {
		return fmt.Errorf("--top: expected 0.2 to 20 mm, got %v", c.Top)
	}
	if err := pictures.CheckOutput(c.Out); err != nil {
		return err
	}
	known, err := c.catalogue()
	if err != nil {
		return err
	}
	table, err := calibration.LoadTable(c.Calibration)
	if err != nil {
		return err
	}
	markers, err := opencv.NewMarkerDetector(opencv.MarkerOptions{})
	if err != nil {
		return err
	}
	defer markers.Close()
	frame, err := c.mean(ctx)
	if err != nil {
		return err
	}
	table, seen, err := registered(table, markers, frame, progress)
	if err != nil {
		return err
	}
	if err := checkEmpty(table, frame, len(seen)); err != nil {
		return err
	}
	on := "on the paper"
	if !trace.HasPaper(frame, table) {
		on = "though no sheet of white paper is seen"
	}
	found, err := trace.Outlines(frame, table, geom.Length(c.Top))
	if err != nil {
		return terminal.Unanswered{Err: fmt.Errorf("%s: %w", frame.Name, err)}
	}
	if len(found) != len(c.Name) {
		return terminal.Unanswered{Err: fmt.Errorf("%s: expected the %s that --name names, got %d that can be traced, %s", frame.Name,
			sentence.Counted(len(c.Name), "token"), len(found), on)}
	}
	if err := c.add(known, found, progress); err != nil {
		return err
	}
	doc, err := json.Marshal(known)
	if err != nil {
		return err
	}
	return sheet.WriteFile(c.Out, append(doc, '\n'))
}

// add adds the outlines to a catalogue, in the order of the names given.
func (c *learnTokensCmd) add(known *catalogue.Catalogue, found [][]geom.Point, progress io.Writer) error {
	for i, outline := range found {
		e, err := catalogue.NewEntry(c.Name[i], c.Kind, outline)
		if err != nil {
			return fmt.Errorf("%s: %w", c.Name[i], err)
		}
		e.Top = geom.Length(c.Top)
		if err := c.checkAlike(&e, known); err != nil {
			return err
		}
		known.Entries = append(known.Entries, e)
		fmt.Fprintf(progress, "%s: %s, %.0f mm², %d points\n", e.Name, e.Kind, geom.Polygon(e.Outline).Area(), len(e.Outline))
	}
	return nil
}

// checkAlike refuses a token that looks like one already in the catalogue, perhaps the same: the
// search could not distinguish them.
func (c *learnTokensCmd) checkAlike(e *catalogue.Entry, all *catalogue.Catalogue) error {
	if c.Alike {
		return nil
	}
	for i := range all.Entries {
		if known := &all.Entries[i]; catalogue.Alike(e.Outline, known.Outline) {
			return terminal.Unanswered{Err: fmt.Errorf("%s looks like %s: neither would be recognised. Leave it out if it is the same token; "+
				"--alike saves it all the same", e.Name, known.Name)}
		}
	}
	return nil
}

// catalogue returns the file's present catalogue.
func (c *learnTokensCmd) catalogue() (*catalogue.Catalogue, error) {
	known, err := catalogue.Load(c.Out)
	if errors.Is(err, os.ErrNotExist) {
		known, err = &catalogue.Catalogue{}, nil
	}
	if err != nil {
		return nil, err
	}
	named := map[string]bool{}
	for i, n := range c.Name {
		c.Name[i] = strings.TrimSpace(n)
		n = c.Name[i]
		err := catalogue.CheckEntry(n, c.Kind)
		switch {
		case n == "":
			err = fmt.Errorf("--name: expected a name for each token, got none for number %d", i+1)
		case err != nil:
		case known.Entry(n) != nil:
			err = fmt.Errorf("--name: %s holds %q already: expected another name", c.Out, n)
		case named[n]:
			err = fmt.Errorf("--name: expected each name once, got %q twice", n)
		}
		if err != nil {
			return nil, err
		}
		named[n] = true
	}
	return known, nil
}

// mean returns the mean of the pictures of a resting camera.
func (c *learnTokensCmd) mean(ctx context.Context) (vision.Frame, error) {
	var sum []uint32
	var out vision.Frame
	var size pictures.SameSize
	n := 0
	err := c.Each(ctx, func(f vision.Frame) (useful, enough bool, err error) {
		if err := size.Check(f); err != nil {
			return false, false, err
		}
		w, h := f.Size()
		if n == 0 {
			out, sum = f, make([]uint32, w*h)
		}
		for y := range h {
			for x, v := range f.Gray.Pix[y*f.Gray.Stride:][:w] {
				sum[y*w+x] += uint32(v)
			}
		}
		n++
		return true, c.Live() && n >= pictures.LiveFrames, nil
	})
	if err != nil {
		return out, err
	}
	if n == 0 {
		return out, terminal.Unanswered{Err: fmt.Errorf("source %s: no picture came", c.Source)}
	}
	w, h := out.Size()
	g := image.NewGray(image.Rect(0, 0, w, h))
	for i, v := range sum {
		g.Pix[i] = uint8((int(v) + n/2) / n)
	}
	out.Gray = g
	return out, nil
}
