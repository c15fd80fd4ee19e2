package calibrate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"sightline/calibration"
	"sightline/calibration/verify"
	"sightline/cmd/internal/app"
	"sightline/cmd/internal/pictures"
	"sightline/cmd/internal/sheet"
	"sightline/cmd/internal/terminal"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/exposure"
	"sightline/vision/fiducial"
	"sightline/vision/opencv"
)

type tableCmd struct {
	pictures.Input `embed:""`

	Lens        string   `required:"" placeholder:"FILE" help:"The lens file, from calibrate lens."`
	Out         string   `name:"output" aliases:"out" short:"o" required:"" placeholder:"FILE" help:"The table calibration to write, JSON."`
	Mat         string   `placeholder:"WxH" help:"The mat's width and height in mm, with the markers as print mat-markers lays them. Default: 914.4x914.4."`
	Config      string   `placeholder:"FILE" help:"Take the mat and its markers from this configuration file instead."`
	MarkerSigma float64  `placeholder:"MM" help:"How exactly the markers were laid, as a standard deviation. Default: the configuration's, or 0.3 mm for cards laid by hand with a steel rule."`
	Distance    []string `placeholder:"A:B:MM" help:"A distance measured with a steel rule between the centres of markers A and B (or between the same corner of both), to set the scale by; A:B:MM:SIGMA where you read it better or worse than to 0.3 mm. May be repeated."`

	ForceDistance bool `needs:"distance" help:"Take a measured distance even if it cannot be true of these markers as they were laid (beyond 6 sigmas)."`

	Flatness    []string `placeholder:"IMAGE" help:"Measure how flat the mat is from pictures of the check card at a grid of places (nine or more), or a directory of them; the camera as in the other pictures."`
	MatFlatness float64  `needs:"flatness" default:"0.3" placeholder:"MM" help:"With --flatness: by how much you expect the mat to be uneven, as a standard deviation. Default: ${default}."`
	CardLength  string   `needs:"flatness" placeholder:"MM[,MM]" help:"With --flatness: the 220 mm bars of the check card as measured with a steel rule."`

	JSON bool `name:"json" help:"Print one JSON document: what was written."`
}

// maxMarkerMove in px is how far a marker may move between averaged pictures. Noise moves corners
// by 0.1 px; a larger motion means that the camera was moved.
const maxMarkerMove = 1.5

// Run implements the command.
func (c *tableCmd) Run(ctx context.Context) error {
	return terminal.Named("calibrate table", terminal.Progress(ctx, c.run))
}

func (c *tableCmd) run(ctx context.Context, out, progress io.Writer) error {
	if err := c.Check(); err != nil {
		return err
	}
	layout, err := c.layout()
	if err != nil {
		return err
	}
	distances, err := c.distances(layout)
	if err != nil {
		return err
	}
	// The report warns of a lens file that was changed by hand; without a report, this does.
	lens, integrity, err := pictures.LoadLens(io.Discard, c.Lens)
	if err != nil {
		return err
	}
	if err := pictures.CheckOutput(c.Out); err != nil {
		return err
	}
	seen, err := c.sightings(ctx, layout, progress)
	if err != nil {
		return err
	}
	t, centers, err := c.register(lens, integrity, layout, seen, progress)
	if err != nil {
		return err
	}
	scale, err := t.MeasureScale(distances, centers)
	if err != nil {
		return terminal.Unanswered{Err: err}
	}
	if err := c.believe(scale); err != nil {
		return err
	}
	flat, err := c.measureFlatness(ctx, &t, progress)
	if err != nil {
		return err
	}
	kept, err := calibration.StoreTable(c.Out, &t)
	if err != nil {
		return err
	}
	pictures.TellKept(progress, c.Out, kept)
	for _, r := range t.Rejected {
		fmt.Fprintf(progress, "%s: left out: %s\n", r.Name, r.Reason)
	}
	if c.JSON {
		return c.printJSON(out, progress, &t, scale)
	}
	return printTable(out, &t, scale, flat, c.Out)
}

// register finds the table's pose from the markers and reports what is doubtful about it. It also
// returns the markers' centres.
func (c *tableCmd) register(lens calibration.Intrinsics, integrity calibration.Integrity, layout calibration.Layout,
	seen *sightings, progress io.Writer) (t calibration.Table, centers map[int]geom.Pixel, err error) {
	if seen.size.W != lens.Width || seen.size.H != lens.Height {
		scaled, err := lens.Scaled(seen.size.W, seen.size.H)
		if err != nil {
			return t, nil, fmt.Errorf("--lens %s does not suit %s: %w", c.Lens, seen.size.Name, err)
		}
		fmt.Fprintf(progress, "%s is for %d×%d pictures, scaled to %d×%d\n", c.Lens, lens.Width, lens.Height, scaled.Width, scaled.Height)
		lens = scaled
	}
	merged, err := seen.merged()
	if err != nil {
		return t, nil, terminal.Unanswered{Err: err}
	}
	t, err = calibration.Register(lens, layout, merged)
	switch {
	case errors.Is(err, calibration.ErrMarkers):
		if integrity == calibration.Edited {
			pictures.TellDoubts(progress, c.Lens, []string{integrity.String()})
		}
		return t, nil, terminal.Unanswered{Err: fmt.Errorf("%s: %w", seen.size.Name, exposure.ExplainMarkers(err, seen.first.Gray, merged))}
	case err != nil:
		return t, nil, err
	}
	pictures.TellLight(progress, seen.first, merged, &t)
	t.Made, t.LensIntegrity = seen.captured, integrity
	return t, calibration.Centers(lens, merged), nil
}

// printJSON prints the result for programs, and the warnings to progress.
func (c *tableCmd) printJSON(out, progress io.Writer, t *calibration.Table, scale calibration.ScaleCheck) error {
	_, corner, _ := sureness(calibration.NewBudget(*t, calibration.Uncertainty{}))
	printWarnings(progress, t, c.Out, scale, corner)
	doc, err := calibration.MarshalTable(t)
	if err != nil {
		return err
	}
	_, err = out.Write(doc)
	return err
}

// layout returns the mat and its markers with their placement sigmas.
func (c *tableCmd) layout() (calibration.Layout, error) {
	l, err := c.places()
	if err != nil || c.MarkerSigma == 0 {
		return l, err
	}
	if !(c.MarkerSigma > 0) || c.MarkerSigma > 10 {
		return l, fmt.Errorf("--marker-sigma: expected more than 0 and at most 10 mm, got %v", c.MarkerSigma)
	}
	l.Placement = calibration.PlacementOf(geom.Length(c.MarkerSigma))
	return l, nil
}

// distances returns the measured distances.
func (c *tableCmd) distances(l calibration.Layout) (out []calibration.ScaleDistance, err error) {
	known := map[int]bool{}
	for _, m := range l.Markers {
		known[m.ID] = true
	}
	for _, s := range c.Distance {
		d, err := calibration.ParseScaleDistance(s)
		if err != nil {
			return nil, fmt.Errorf("--distance: %w", err)
		}
		if !known[d.From] || !known[d.To] {
			return nil, fmt.Errorf("--distance %s: expected two of this mat's markers", s)
		}
		out = append(out, d)
	}
	return out, nil
}

// believe refuses distances that cannot be those of these markers: one wrong digit would stretch
// every answer on the table.
func (c *tableCmd) believe(scale calibration.ScaleCheck) error {
	if c.ForceDistance || !scale.Impossible() {
		return nil
	}
	d := scale.Worst()
	return terminal.Unanswered{Err: fmt.Errorf("--distance %d:%d:%g: the layout puts these markers %.1f mm apart, sure to ± %.2f mm with "+
		"the rule; the distances are %.0f sigmas off, so nothing was written. Measure again, from centre to centre, and "+
		"check --mat; --force-distance takes it as it is",
		d.From, d.To, float64(d.Length), float64(d.Seen), float64(d.Expected), scale.Sigmas)}
}

// places returns the mat and its markers.
func (c *tableCmd) places() (calibration.Layout, error) {
	switch {
	case c.Mat != "" && c.Config != "":
		return calibration.Layout{}, errors.New("expected --mat or --config, got both")
	case c.Config != "":
		cfg, err := app.LoadConfig(c.Config)
		return cfg.Table.Layout, err
	case c.Mat != "":
		w, h, err := sheet.ParseMat(c.Mat)
		return calibration.DefaultLayout(w, h), err
	}
	return calibration.DefaultLayout(calibration.MatSide, calibration.MatSide), nil
}

// sightings collects the markers in several pictures of a resting camera.
type sightings struct {
	size     pictures.SameSize
	captured time.Time // of the first picture
	first    vision.Frame
	names    []string
	ids      []int // in the order in which they were first seen
	corners  map[int][]sighting
	doubled  map[int]bool // seen twice in one picture
}

type sighting struct {
	name    string
	corners [4]geom.Pixel
}

func (c *tableCmd) sightings(ctx context.Context, layout calibration.Layout, progress io.Writer) (*sightings, error) {
	d, err := opencv.NewMarkerDetector(opencv.MarkerOptions{})
	if err != nil {
		return nil, err
	}
	defer d.Close()
	known := map[int]bool{}
	for _, m := range layout.Markers {
		known[m.ID] = true
	}
	s := &sightings{corners: map[int][]sighting{}, doubled: map[int]bool{}}
	err = c.Each(ctx, func(f vision.Frame) (useful, enough bool, err error) {
		if err := s.size.Check(f); err != nil {
			return false, false, err
		}
		found, err := markersIn(d, f)
		if err != nil {
			return false, false, err
		}
		n := 0
		for _, m := range found {
			if known[m.ID] {
				n++
			}
		}
		if c.Live() && n == 0 {
			return false, false, nil
		}
		fmt.Fprintf(progress, "%s: %d of %d markers\n", f.Name, n, len(layout.Markers))
		s.add(f, found)
		return true, c.Live() && len(s.names) >= pictures.LiveFrames, nil
	})
	if err == nil && len(s.names) == 0 {
		err = terminal.Unanswered{Err: fmt.Errorf("source %s: no marker of the mat was seen", c.Source)}
	}
	return s, err
}

// markersIn returns the markers in a picture. Errors name the picture.
func markersIn(d vision.MarkerDetector, f vision.Frame) ([]vision.Detection, error) {
	found, err := fiducial.DetectMarkers(d, f.Gray)
	if err != nil {
		err = fmt.Errorf("%s: %w", f.Name, err)
	}
	if errors.Is(err, fiducial.ErrMirrored) {
		err = terminal.Unanswered{Err: err}
	}
	return found, err
}

func (s *sightings) add(f vision.Frame, found []vision.Detection) {
	if len(s.names) == 0 {
		s.captured, s.first = f.Captured, f
	}
	s.names = append(s.names, f.Name)
	here := map[int]bool{}
	for _, m := range found {
		if here[m.ID] {
			s.doubled[m.ID] = true
		}
		here[m.ID] = true
		if s.corners[m.ID] == nil {
			s.ids = append(s.ids, m.ID)
		}
		s.corners[m.ID] = append(s.corners[m.ID], sighting{f.Name, m.Corners})
	}
}

// merged returns each marker at its mean place. A marker that appears twice in one picture is
// returned twice, so that Register rejects it. merged fails if a marker moved between pictures.
func (s *sightings) merged() (out []calibration.MarkerSighting, err error) {
	for _, id := range s.ids {
		all := s.corners[id]
		if s.doubled[id] {
			out = append(out, calibration.MarkerSighting{ID: id, Corners: all[0].corners}, calibration.MarkerSighting{ID: id,
				Corners: all[0].corners})
			continue
		}
		m := calibration.MarkerSighting{ID: id}
		for _, one := range all {
			for k, p := range one.corners {
				if d := p.Sub(all[0].corners[k]).Norm(); d > maxMarkerMove {
					return nil, fmt.Errorf("marker %d lies %.1f px apart in %s and %s: expected pictures of one camera that stands still", id, d,
						all[0].name, one.name)
				}
				m.Corners[k] = m.Corners[k].Add(p.Mul(1 / float64(len(all))))
			}
		}
		out = append(out, m)
	}
	return out, nil
}

// measureFlatness fits a surface to the check card's sightings and returns the fit; zero if it was
// not requested.
func (c *tableCmd) measureFlatness(ctx context.Context, t *calibration.Table, progress io.Writer) (fit verify.FlatnessFit,
	err error) {
	if len(c.Flatness) == 0 {
		return fit, nil
	}
	if !(c.MatFlatness > 0) || c.MatFlatness > 20 {
		return fit, fmt.Errorf("--mat-flatness: expected more than 0 and at most 20 mm, got %v", c.MatFlatness)
	}
	card := verifyCmd{CardLength: c.CardLength, Thickness: 0.2, BaseTop: 4, Limit: 1, Places: 1}
	setup, err := card.setup()
	if err != nil {
		return fit, err
	}
	setup.Limits = calibration.DefaultUncertainty
	setup.Limits.Flatness = geom.Length(c.MatFlatness)
	card.Input, card.Calibration = pictures.Input{Images: c.Flatness}, "the table"
	if len(c.Flatness) == 1 && pictures.IsDirectory(c.Flatness[0]) {
		card.Input = pictures.Input{Source: c.Flatness[0]}
	}
	w := cardWatch{table: t, progress: progress}
	if err := card.watch(ctx, &w); err != nil {
		return fit, fmt.Errorf("--flatness: %w", err)
	}
	fit, err = verify.FitSurface(*t, setup, w.sightings())
	if errors.Is(err, verify.ErrNoCard) {
		return fit, terminal.Unanswered{Err: fmt.Errorf("--flatness: %w", err)}
	}
	t.Surface = fit.Surface
	return fit, err
}
