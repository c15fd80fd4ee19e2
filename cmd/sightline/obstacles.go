package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"sightline/calibration"
	"sightline/cmd/internal/pictures"
	"sightline/cmd/internal/sentence"
	"sightline/cmd/internal/sheet"
	"sightline/cmd/internal/terminal"
	"sightline/vision"
	"sightline/vision/catalogue"
	"sightline/vision/imprint"
	"sightline/vision/locate"
	"sightline/vision/obstacle"
	"sightline/vision/obstacle/trace"
	"sightline/vision/opencv"
)

// obstaclesCmd is the group of commands with which the camera learns obstacles.
type obstaclesCmd struct {
	LearnMat learnMatCmd    `cmd:"" help:"Learn what the mat looks like with nothing on it."`
	Learn    learnTokensCmd `cmd:"" help:"Trace your own obstacles, laid on a sheet of white paper on the mat, into a catalogue."`
}

// learnMatCmd averages pictures of the empty mat.
type learnMatCmd struct {
	pictures.Input `embed:""`

	Calibration string `required:"" placeholder:"FILE" help:"The table calibration, from calibrate table."`
	Out         string `name:"output" aliases:"out" short:"o" required:"" placeholder:"FILE" help:"The learnt mat to write, a PNG picture."`
	Catalogue   string `placeholder:"FILE" help:"Your obstacles: the mat is not learnt with what looks like one of them on it. If the file of -o exists, the mat in it shows whether something unknown lies there now, too. By default obstacles.json in the folder of that file, if there is one."`
	Bare        bool   `help:"Learn the mat even if something is recognised on it: you vouch that nothing lies there."`
}

// Run implements the command.
func (c *learnMatCmd) Run(ctx context.Context) error {
	err := terminal.Progress(ctx, func(ctx context.Context, _, progress io.Writer) error { return c.run(ctx, progress) })
	return terminal.Named("obstacles learn-mat", err)
}

func (c *learnMatCmd) run(ctx context.Context, progress io.Writer) error {
	if err := c.Check(); err != nil {
		return err
	}
	table, err := pictures.LoadTable(progress, c.Calibration)
	if err != nil {
		return err
	}
	if err := pictures.CheckOutput(c.Out); err != nil {
		return err
	}
	markers, err := opencv.NewMarkerDetector(opencv.MarkerOptions{})
	if err != nil {
		return err
	}
	defer markers.Close()
	var learner *obstacle.BackgroundLearner
	var size pictures.SameSize
	err = c.Each(ctx, func(f vision.Frame) (useful, enough bool, err error) {
		if err := size.Check(f); err != nil {
			return false, false, err
		}
		if learner == nil {
			here, err := emptyTable(table, markers, f, progress)
			if err == nil && !c.Bare {
				err = c.checkBare(here, f, progress)
			}
			if err != nil {
				return false, false, err
			}
			learner = obstacle.NewBackgroundLearner(here)
		}
		if err := learner.Add(f); err != nil {
			return false, false, err
		}
		return true, c.Live() && learner.Frames() >= pictures.LiveFrames, nil
	})
	if err != nil {
		return err
	}
	if learner == nil {
		return terminal.Unanswered{Err: fmt.Errorf("source %s: no picture came", c.Source)}
	}
	mat, err := learner.Background()
	if err != nil {
		return terminal.Unanswered{Err: err}
	}
	if !c.Bare {
		if err := c.checkImprint(mat); err != nil {
			return err
		}
	}
	if err := writeMat(c.Out, mat); err != nil {
		return err
	}
	w, h := mat.Size()
	fmt.Fprintf(progress, "learnt a mat of %.1f × %.1f mm from %s: %s\n", float64(w), float64(h),
		sentence.Counted(learner.Frames(), "picture"), c.Out)
	return nil
}

// checkBare returns an error if the mat learnt before shows that an obstacle of the catalogue, or something unknown, lies on it: it would
// become a part of the mat, and no line across it would be obstructed.
func (c *learnMatCmd) checkBare(table calibration.Table, f vision.Frame, progress io.Writer) error {
	known, err := c.catalogue()
	if known == nil {
		return err
	}
	before, err := obstacle.LoadBackground(c.Out)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil: // a damaged file may be replaced
		fmt.Fprintf(progress, "the mat that was learnt before cannot say what lies on this one: %v\n", err)
		return nil
	}
	l, err := locate.New(table, locate.Options{Catalogue: known, Background: before})
	if err != nil {
		fmt.Fprintf(progress, "the mat that was learnt before cannot say what lies on this one: %v\n", err)
		return nil
	}
	got, err := l.Locate(f)
	if err != nil {
		return err
	}
	names, unknown := got.Obstacles.OnMat()
	if len(names) == 0 && unknown {
		names = []string{"something unknown"}
	}
	if len(names) > 0 {
		return terminal.Unanswered{Err: fmt.Errorf("%s: on the mat, as it was learnt before (%s), lies %s: take it away, or say --bare if "+
			"nothing lies there", f.Name, c.Out, strings.Join(names, ", "))}
	}
	return nil
}

// checkImprint returns an error if the mat as it is learnt now shows an obstacle of the catalogue, which the mat learnt before could not
// tell: there was none, or the light was another.
func (c *learnMatCmd) checkImprint(mat *obstacle.Background) error {
	known, err := c.catalogue()
	if known == nil {
		return err
	}
	names, err := imprint.On(mat, known)
	if err == nil && len(names) > 0 {
		err = terminal.Unanswered{Err: fmt.Errorf("on the mat seems to lie %s: take it away, or say --bare if nothing lies there",
			strings.Join(names, ", "))}
	}
	return err
}

// catalogue reads the obstacles that may lie on the mat; nil: there are none.
func (c *learnMatCmd) catalogue() (*catalogue.Catalogue, error) {
	list := c.Catalogue
	if list == "" {
		list = filepath.Join(filepath.Dir(c.Out), "obstacles.json")
		if _, err := os.Stat(list); errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
	}
	known, err := catalogue.Load(list)
	if err != nil {
		return nil, fmt.Errorf("--catalogue: %w", err)
	}
	return known, nil
}

// emptyTable registers the table in a picture of the empty mat. It fails if anything lies on the
// mat or glare hides it.
func emptyTable(table calibration.Table, markers vision.MarkerDetector, f vision.Frame, progress io.Writer) (calibration.Table, error) {
	here, seen, err := registered(table, markers, f, progress)
	if err != nil {
		return here, err
	}
	if err := checkEmpty(here, f, len(seen)); err != nil {
		return here, err
	}
	if trace.HasPaper(f, here) {
		return here, terminal.Unanswered{Err: fmt.Errorf("%s: a sheet of white paper lies on the mat: take it away, and whatever lies on it",
			f.Name)}
	}
	light := pictures.TellLight(progress, f, seen, &here)
	if why := light.Clipped(); why != "" {
		return here, terminal.Unanswered{Err: fmt.Errorf("%s: %s", f.Name, why)}
	}
	return here, nil
}

// checkEmpty returns an error if a picture does not show the mat, or shows ships on it, whose print
// would be learnt or traced.
func checkEmpty(table calibration.Table, f vision.Frame, markers int) error {
	l, err := locate.New(table, locate.Options{})
	if err != nil {
		return fmt.Errorf("%s: %w", f.Name, err)
	}
	got, err := l.Locate(f)
	switch {
	case err != nil:
		return err
	case len(got.Scene.Ships) > 0:
		return terminal.Unanswered{Err: fmt.Errorf("%s: ship %s is on the mat: take it away", f.Name, got.Scene.Ships[0].ID)}
	case markers == 0:
		return terminal.Unanswered{Err: fmt.Errorf("%s: none of the mat's markers can be seen", f.Name)}
	}
	return nil
}

func writeMat(path string, mat *obstacle.Background) error {
	if err := sheet.Create(path, mat.WritePNG); err != nil {
		return fmt.Errorf("-o: %w", err)
	}
	return nil
}
