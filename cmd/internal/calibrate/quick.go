package calibrate

import (
	"context"
	"errors"
	"fmt"
	"image"
	_ "image/jpeg" // pictures whose size is asked for
	_ "image/png"
	"io"
	"os"
	"strconv"
	"strings"

	"sightline/calibration"
	"sightline/calibration/lens"
	"sightline/calibration/quick"
	"sightline/calibration/verify"
	"sightline/cmd/internal/pictures"
	"sightline/cmd/internal/terminal"
	"sightline/engine/geom"
	"sightline/vision"
)

type quickCmd struct {
	pictures.Input `embed:""`

	Out         string  `name:"output" short:"o" required:"" placeholder:"FILE" help:"The table calibration to write, JSON."`
	LensOut     string  `name:"lens-output" placeholder:"FILE" help:"Write the estimated lens too, JSON or YAML, for camera.lens of the configuration."`
	Mat         string  `placeholder:"WxH" help:"The mat's width and height in mm. Default: 914.4x914.4."`
	Config      string  `placeholder:"FILE" help:"Take the mat and its markers from this configuration file instead."`
	MarkerSigma float64 `without:"corners" placeholder:"MM" help:"How exactly the markers were laid, as a standard deviation. Default: the configuration's, or 0.3 mm for cards laid by hand with a steel rule."`
	Corners     string  `placeholder:"X,Y;X,Y;…" help:"For a mat without markers: its corners in one picture, in pixels: near left, near right, far right, far left as player 1 sees them; then any number of points on its edges, which show the lens's distortion."`
	JSON        bool    `name:"json" help:"Print one JSON document: what was written."`
}

// Run implements the command.
func (c *quickCmd) Run(ctx context.Context) error {
	return terminal.Named("calibrate quick", terminal.Progress(ctx, c.run))
}

func (c *quickCmd) run(ctx context.Context, out, progress io.Writer) error {
	if err := c.Check(); err != nil {
		return err
	}
	if err := pictures.CheckOutput(c.Out); err != nil {
		return err
	}
	if c.LensOut != "" {
		if err := pictures.CheckOutput(c.LensOut); err != nil {
			return fmt.Errorf("--lens-output: %w", err)
		}
	}
	table := tableCmd{Input: c.Input, Mat: c.Mat, Config: c.Config, MarkerSigma: c.MarkerSigma}
	layout, err := table.layout()
	if err != nil {
		return err
	}
	var in quick.Input
	if c.Corners != "" {
		in, err = c.corners(ctx, layout)
	} else {
		in, err = table.quickInput(ctx, layout, progress)
	}
	if err != nil {
		return err
	}
	s, err := quick.Solve(in)
	for _, r := range s.Unused {
		fmt.Fprintf(progress, "%s: left out: %s\n", r.Name, r.Reason)
	}
	switch {
	case errors.Is(err, quick.ErrMarkers):
		return terminal.Unanswered{Err: err}
	case err != nil:
		return err
	}
	return c.write(&s, out, progress)
}

// write saves the solution and reports it.
func (c *quickCmd) write(s *quick.Solution, out, progress io.Writer) error {
	t := &s.Table
	kept, err := calibration.StoreTable(c.Out, t)
	if err != nil {
		return err
	}
	pictures.TellKept(progress, c.Out, kept)
	if c.LensOut != "" {
		kept, err := lens.Store(c.LensOut, t.Intrinsics)
		if err != nil {
			return err
		}
		pictures.TellKept(progress, c.LensOut, kept)
	}
	if c.JSON {
		doc, err := calibration.MarshalTable(t)
		if err != nil {
			return err
		}
		_, err = out.Write(doc)
		return err
	}
	fmt.Fprintf(out, "The lens is estimated from %s: focal length %.0f px, known to %.0f %%. A chessboard makes it exact: calibrate lens.\n\n",
		c.basis(s), t.Fx, 100*s.FocalSigma)
	return printTable(out, t, calibration.ScaleCheck{}, verify.FlatnessFit{}, c.Out)
}

// basis says in words from what a lens was estimated.
func (c *quickCmd) basis(s *quick.Solution) string {
	switch {
	case c.Corners != "":
		return "the mat's corners"
	case s.Views == 1:
		return "the markers in one view"
	}
	return fmt.Sprintf("the markers in %d views", s.Views)
}

// quickInput collects the markers of the pictures. Pictures of a resting camera count as one.
func (c *tableCmd) quickInput(ctx context.Context, layout calibration.Layout, progress io.Writer) (quick.Input, error) {
	seen, err := c.sightings(ctx, layout, progress)
	if err != nil {
		return quick.Input{}, err
	}
	return quick.Input{Layout: layout, Views: quick.Merge(seen.views()), Width: seen.size.W, Height: seen.size.H}, nil
}

// views returns the markers of each picture, in order.
func (s *sightings) views() []quick.View {
	out := make([]quick.View, len(s.names))
	for i, name := range s.names {
		out[i].Name = name
	}
	for _, id := range s.ids {
		for _, one := range s.corners[id] {
			for i := range out {
				if out[i].Name == one.name {
					out[i].Seen = append(out[i].Seen, calibration.MarkerSighting{ID: id, Corners: one.corners})
				}
			}
		}
	}
	return out
}

// corners parses --corners and reads the size of the picture in which they were marked.
func (c *quickCmd) corners(ctx context.Context, layout calibration.Layout) (in quick.Input, err error) {
	at, err := parseCorners(c.Corners)
	if err != nil {
		return in, err
	}
	if len(c.Images) > 1 {
		return in, fmt.Errorf("--corners: expected one picture, got %d", len(c.Images))
	}
	w, h, err := c.size(ctx)
	if err != nil {
		return in, err
	}
	for _, p := range at {
		if p.X < -0.5 || p.Y < -0.5 || p.X > float64(w)-0.5 || p.Y > float64(h)-0.5 {
			return in, fmt.Errorf("--corners: (%g, %g) is not in the picture of %d×%d", p.X, p.Y, w, h)
		}
	}
	in, err = quick.Corners(layout.Width, layout.Height, at, 0, w, h)
	if errors.Is(err, quick.ErrMarkers) {
		err = terminal.Unanswered{Err: err}
	}
	return in, err
}

// parseCorners parses four or more points.
func parseCorners(text string) (at []geom.Pixel, err error) {
	const want = "expected X,Y;X,Y;X,Y;X,Y in pixels, such as 310,980;1602,977;1490,80;402,85"
	for part := range strings.SplitSeq(text, ";") {
		xs, ys, ok := strings.Cut(part, ",")
		x, errX := strconv.ParseFloat(strings.TrimSpace(xs), 64)
		y, errY := strconv.ParseFloat(strings.TrimSpace(ys), 64)
		if !ok || errX != nil || errY != nil {
			return nil, fmt.Errorf("--corners: %q: %s", strings.TrimSpace(part), want)
		}
		at = append(at, geom.Pixel{X: x, Y: y})
	}
	if len(at) < 4 {
		return nil, fmt.Errorf("--corners: got %d points: %s", len(at), want)
	}
	return at, nil
}

// size returns the size of the first picture, for a file without decoding it.
func (c *quickCmd) size(ctx context.Context) (w, h int, err error) {
	if c.Source == "" {
		f := os.Stdin
		if name := c.Images[0]; name != "-" {
			if f, err = os.Open(name); err != nil {
				return 0, 0, err
			}
			defer f.Close()
		}
		size, _, err := image.DecodeConfig(f)
		if err != nil {
			return 0, 0, fmt.Errorf("%s: not a JPEG or PNG picture: %w", c.Images[0], err)
		}
		return size.Width, size.Height, nil
	}
	err = c.Each(ctx, func(f vision.Frame) (useful, enough bool, err error) {
		w, h = f.Size()
		return true, true, nil
	})
	if err == nil && w == 0 {
		err = terminal.Unanswered{Err: fmt.Errorf("source %s: no picture", c.Source)}
	}
	return w, h, err
}
