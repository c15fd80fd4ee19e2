package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"text/tabwriter"

	"sightline/calibration"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/opencv"
)

type calibrateLensCmd struct {
	pictureInput `embed:""`

	Board string `required:"" placeholder:"BOARD" help:"The chessboard: chessboard:9x6:25mm has 9 by 6 inner corners and squares of 25 mm."`
	Out   string `name:"output" short:"o" required:"" placeholder:"FILE" help:"The lens file to write, .json or .yaml."`
	JSON  bool   `name:"json" help:"Print one JSON document."`
}

// What is taken from a live source.
const (
	liveViews = 15 // enough for a lens; every further one costs time
	// liveMove is how far, as a share of the picture's width, a board's corners must
	// have moved on average to count as another view.
	liveMove = 0.04
)

// Run implements the command.
func (c *calibrateLensCmd) Run(ctx context.Context) error {
	if err := c.run(ctx, os.Stdout, os.Stderr); err != nil {
		return fmt.Errorf("calibrate lens: %w", err)
	}
	return nil
}

func (c *calibrateLensCmd) run(ctx context.Context, out, progress io.Writer) error {
	board, err := calibration.ParseBoard(c.Board)
	if err != nil {
		return fmt.Errorf("--%w", err)
	}
	if board.Kind != calibration.Chessboard {
		return fmt.Errorf("--board %q: %w", c.Board, calibration.ErrBoardKind)
	}
	if err := c.check(); err != nil {
		return err
	}
	if err := calibration.CheckLensPath(c.Out); err != nil {
		return err
	}
	if err := checkOutput(c.Out); err != nil {
		return err
	}
	views, dropped, size, err := c.views(ctx, board, progress)
	if err != nil {
		return err
	}
	s, err := calibration.SolveLens(board, views, size.w, size.h)
	for _, d := range s.Dropped {
		fmt.Fprintf(progress, "%s: left out: %s\n", d.Name, d.Reason)
	}
	s.Dropped = append(dropped, s.Dropped...)
	switch {
	case errors.Is(err, calibration.ErrLens):
		return unanswered{err}
	case err != nil:
		return err
	}
	kept, err := calibration.StoreLens(c.Out, s.Lens)
	if err != nil {
		return err
	}
	tellKept(progress, c.Out, kept)
	if c.JSON {
		return printLensJSON(out, s)
	}
	return printLens(out, s, c.Out)
}

// views finds the board in the pictures. Pictures without it are named in dropped.
func (c *calibrateLensCmd) views(ctx context.Context, board calibration.Board, progress io.Writer) (views []calibration.BoardView, dropped []calibration.Rejection, size sameSize, err error) {
	err = c.each(ctx, func(f vision.Frame) (useful, enough bool, err error) {
		if err := size.check(f); err != nil {
			return false, false, err
		}
		px, found, err := opencv.FindChessboard(f, board.Cols, board.Rows)
		switch {
		case err != nil:
			return false, false, fmt.Errorf("%s: %w", f.Name, err)
		case c.live() && (!found || !isNewView(views, px, size.w)):
			return false, false, nil
		case !found:
			reason := fmt.Sprintf("no chessboard with %d×%d inner corners was found in it", board.Cols, board.Rows)
			dropped = append(dropped, calibration.Rejection{Name: f.Name, Reason: reason})
			fmt.Fprintf(progress, "%s: left out: %s\n", f.Name, reason)
			return false, false, nil
		}
		views = append(views, calibration.BoardView{Name: f.Name, Pixels: px})
		fmt.Fprintf(progress, "%s: board found (%d)\n", f.Name, len(views))
		return true, c.live() && len(views) >= liveViews, nil
	})
	return views, dropped, size, err
}

// isNewView reports whether a board's corners lie elsewhere than in every view so far.
func isNewView(views []calibration.BoardView, px []geom.Pixel, width int) bool {
	for _, v := range views {
		sum := 0.0
		for i := range px {
			sum += px[i].Sub(v.Pixels[i]).Norm()
		}
		if sum/float64(len(px)) < liveMove*float64(width) {
			return false
		}
	}
	return true
}

// printLens prints a solved lens for people.
func printLens(out io.Writer, s calibration.LensSolution, file string) error {
	sx, sy := s.FocalSigma()
	in := s.Lens
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "picture\t%d×%d px\n", in.Width, in.Height)
	fmt.Fprintf(w, "focal length\tfx %.2f ± %.2f, fy %.2f ± %.2f px\n", in.Fx, sx, in.Fy, sy)
	fmt.Fprintf(w, "principal point\tcx %.2f, cy %.2f px\n", in.Cx, in.Cy)
	d := in.Distortion
	fmt.Fprintf(w, "distortion\tk1 %.5f, k2 %.5f, p1 %.5f, p2 %.5f, k3 %.5f\n", d[0], d[1], d[2], d[3], d[4])
	fmt.Fprintf(w, "rms\t%.3f px over %d views\n", in.RMS, in.Views)
	for _, v := range s.Views {
		fmt.Fprintf(w, "view\t%s: %.3f px\n", v.Name, v.RMS)
	}
	for _, d := range s.Dropped {
		fmt.Fprintf(w, "left out\t%s: %s\n", d.Name, d.Reason)
	}
	fmt.Fprintf(w, "wrote\t%s\n", file)
	return w.Flush()
}

// printLensJSON prints a solved lens for programs: the lens as its file holds it,
// the views with their residuals, and what was left out.
func printLensJSON(out io.Writer, s calibration.LensSolution) error {
	type view struct {
		Name string  `json:"name"`
		RMS  float64 `json:"rms_px"`
	}
	type rejection struct {
		Name   string `json:"name"`
		Reason string `json:"reason"`
	}
	lens, err := calibration.MarshalLens(s.Lens)
	if err != nil {
		return err
	}
	sx, sy := s.FocalSigma()
	doc := struct {
		Version int             `json:"version"`
		Lens    json.RawMessage `json:"lens"`
		RMS     float64         `json:"rms_px"`
		FxSigma float64         `json:"fx_sigma_px"`
		FySigma float64         `json:"fy_sigma_px"`
		Tilt    float64         `json:"tilt_deg"` // between the two boards that differ most
		Views   []view          `json:"views"`
		Dropped []rejection     `json:"dropped"`
	}{1, lens, s.Lens.RMS, sx, sy, s.Tilt.Degrees(), []view{}, []rejection{}}
	for _, v := range s.Views {
		doc.Views = append(doc.Views, view{v.Name, v.RMS})
	}
	for _, d := range s.Dropped {
		doc.Dropped = append(doc.Dropped, rejection(d))
	}
	return json.NewEncoder(out).Encode(doc)
}
