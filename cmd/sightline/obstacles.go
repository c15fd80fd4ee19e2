package main

import (
	"context"
	"fmt"
	"io"

	"sightline/calibration"
	"sightline/cmd/internal/pictures"
	"sightline/cmd/internal/sentence"
	"sightline/cmd/internal/sheet"
	"sightline/cmd/internal/terminal"
	"sightline/vision"
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
	if err := writeMat(c.Out, mat); err != nil {
		return err
	}
	w, h := mat.Size()
	fmt.Fprintf(progress, "learnt a mat of %.1f × %.1f mm from %s: %s\n", float64(w), float64(h),
		sentence.Counted(learner.Frames(), "picture"), c.Out)
	return nil
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
