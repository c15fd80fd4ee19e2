package calibrate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"text/tabwriter"

	"sightline/calibration"
	"sightline/calibration/lens"
	"sightline/cmd/internal/coverage"
	"sightline/cmd/internal/pictures"
	"sightline/cmd/internal/terminal"
	"sightline/vision"
	"sightline/vision/opencv"
)

type lensCmd struct {
	pictures.Input `embed:""`

	Board string `required:"" placeholder:"BOARD" help:"The board: chessboard:9x6:25mm has 9 by 6 inner corners and squares of 25 mm, charuco:9x6:25mm:18mm also markers of 18 mm."`
	Out   string `name:"output" aliases:"out" short:"o" required:"" placeholder:"FILE" help:"The lens file to write, .json or .yaml."`
	JSON  bool   `name:"json" help:"Print one JSON document."`
}

// Run implements the command.
func (c *lensCmd) Run(ctx context.Context) error {
	var err error
	if c.Live() { // a live capture draws its own progress
		err = c.run(ctx, os.Stdout, os.Stderr)
	} else {
		err = terminal.Progress(ctx, c.run)
	}
	return terminal.Named("calibrate lens", err)
}

func (c *lensCmd) run(ctx context.Context, out, progress io.Writer) error {
	board, err := calibration.ParseBoard(c.Board)
	if err != nil {
		return fmt.Errorf("--%w", err)
	}
	if err := c.Check(); err != nil {
		return err
	}
	if err := lens.CheckPath(c.Out); err != nil {
		return err
	}
	if err := pictures.CheckOutput(c.Out); err != nil {
		return err
	}
	shot, err := c.capture(ctx, board, progress)
	if err != nil {
		return err
	}
	if shot.larger > len(shot.taken) {
		return terminal.Unanswered{Err: fmt.Errorf("--board %s: in %d pictures the board continues beyond %d×%d inner corners: count them "+
			"again, where four squares meet (one fewer than squares, each way)", c.Board, shot.larger, board.Cols, board.Rows)}
	}
	s, err := lens.Solve(board, shot.views(), shot.size.W, shot.size.H)
	for _, d := range s.Dropped {
		fmt.Fprintf(progress, "%s: left out: %s\n", d.Name, d.Reason)
	}
	s.Dropped = append(shot.dropped, s.Dropped...)
	switch {
	case errors.Is(err, lens.ErrViews):
		return terminal.Unanswered{Err: err}
	case err != nil:
		return err
	}
	kept, err := lens.Store(c.Out, s.Lens)
	if err != nil {
		return err
	}
	pictures.TellKept(progress, c.Out, kept)
	state, err := shot.stateOf(board, s)
	if err != nil {
		return err
	}
	if c.JSON {
		return printLensJSON(out, s, state)
	}
	return printLens(out, s, state, c.Out)
}

// lensCapture holds the captured views of the board.
type lensCapture struct {
	guide   *lens.Guide // nil before the first picture
	size    pictures.SameSize
	dropped []calibration.Rejection // pictures without the board
	taken   []calibration.BoardSighting
	larger  int // number of pictures of a board with more corners
}

// stateOf returns the coverage of the views that the solution used. It excludes rejected views, and
// the solution replaces the guide's own estimate of the lens.
func (l *lensCapture) stateOf(board calibration.Board, s lens.Solution) (lens.GuideState, error) {
	used := map[string]bool{}
	for _, v := range s.Views {
		used[v.Name] = true
	}
	g := l.guide
	if len(used) < len(l.taken) {
		var err error
		if g, err = lens.NewGuide(board, l.size.W, l.size.H, lens.GuideOptions{}); err != nil {
			return lens.GuideState{}, err
		}
		for _, v := range l.taken {
			if used[v.Name] {
				g.Add(v)
			}
		}
	}
	state := g.State()
	if !state.Enough && strings.Contains(state.Advice, "known to") {
		state.Advice += " (the guide's estimate; the solution's own figure stands at \"on the mat\")"
	}
	state.Sigma = nil
	return state, nil
}

func (l *lensCapture) views() []calibration.BoardView {
	if l.guide == nil {
		return nil
	}
	return l.guide.Views()
}

// capture finds the board in the pictures. Of files it uses every picture with the board; from a
// live source the guide takes useful views until it has enough.
func (c *lensCmd) capture(ctx context.Context, board calibration.Board, progress io.Writer) (l lensCapture, err error) {
	finder, err := opencv.NewBoardFinder(board)
	if err != nil {
		return l, err
	}
	defer finder.Close()
	report := coverage.NewReport(progress)
	err = c.Each(ctx, func(f vision.Frame) (useful, enough bool, err error) {
		if err := l.size.Check(f); err != nil {
			return false, false, err
		}
		if l.guide == nil {
			if l.guide, err = lens.NewGuide(board, l.size.W, l.size.H, lens.GuideOptions{}); err != nil {
				return false, false, fmt.Errorf("%s: %w", f.Name, err)
			}
		}
		find := finder.Find
		if c.Live() {
			find = finder.FindQuick
		}
		seen, err := find(f)
		if err != nil {
			return false, false, fmt.Errorf("%s: %w", f.Name, err)
		}
		if seen.Larger {
			l.larger++
		}
		if c.Live() {
			step := l.guide.Offer(seen)
			report.Step(f.Name, step, l.guide.State())
			if step.Outcome == lens.GuideTaken {
				l.taken = append(l.taken, seen)
			}
			return step.Outcome == lens.GuideTaken, l.guide.State().Enough, nil
		}
		step := l.guide.Add(seen)
		if step.Outcome != lens.GuideTaken {
			l.dropped = append(l.dropped, calibration.Rejection{Name: f.Name, Reason: step.Reason})
			fmt.Fprintf(progress, "%s: left out: %s\n", f.Name, step.Reason)
			return false, false, nil
		}
		l.taken = append(l.taken, seen)
		fmt.Fprintf(progress, "%s: board found, %d corners (%d)\n", f.Name, len(seen.Pixels), l.guide.State().Views)
		return true, false, nil
	})
	return l, err
}

// printLens prints a solved lens for people.
func printLens(out io.Writer, s lens.Solution, g lens.GuideState, file string) error {
	sx, sy := s.FocalSigma()
	in := s.Lens
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "picture\t%d×%d px\n", in.Width, in.Height)
	fmt.Fprintf(w, "focal length\tfx %.2f ± %.2f, fy %.2f ± %.2f px\n", in.Fx, sx, in.Fy, sy)
	c := in.Covariance
	fmt.Fprintf(w, "principal point\tcx %.2f ± %.2f, cy %.2f ± %.2f px\n", in.Cx, math.Sqrt(c[20]), in.Cy, math.Sqrt(c[30]))
	d := in.Distortion
	fmt.Fprintf(w, "distortion\tk1 %.5f, k2 %.5f, p1 %.5f, p2 %.5f, k3 %.5f\n", d[0], d[1], d[2], d[3], d[4])
	fmt.Fprintf(w, "rms\t%.3f px over %d views, %.3f px on corners held out\n", in.RMS, in.Views, s.HeldOut)
	fmt.Fprintf(w, "on the mat\t± %.2f mm from the lens alone, at the worst point of a 3 ft mat that fills the picture\n", float64(s.MatSigma))
	for _, m := range s.Models {
		fmt.Fprintf(w, "model\t%s\n", modelLine(m))
	}
	for _, v := range s.Views {
		fmt.Fprintf(w, "view\t%s: %.3f px, %d corners\n", v.Name, v.RMS, v.Corners)
	}
	for _, d := range s.Dropped {
		fmt.Fprintf(w, "left out\t%s: %s\n", d.Name, d.Reason)
	}
	picture := coverage.Picture(g)
	for i, line := range picture[:len(picture)-1] { // without what to do next
		fmt.Fprintf(w, "%s\t%s\n", map[bool]string{true: "coverage"}[i == 0], line)
	}
	for _, a := range lensAdvice(s, g) {
		fmt.Fprintf(w, "better\t%s\n", a)
	}
	fmt.Fprintf(w, "wrote\t%s\n", file)
	return w.Flush()
}

// modelLine returns a row of the table of distortion models.
func modelLine(m lens.Model) string {
	line := fmt.Sprintf("%s: rms %.3f px, held out %.3f px", m.Name, m.RMS, m.HeldOut)
	if m.Worse > 0 {
		line += fmt.Sprintf(" (worse by %.2g ± %.2g px²)", m.Worse, m.StandardError)
	}
	if m.LeftOut > 0 {
		line += fmt.Sprintf(", leaves out %.1f sigmas", math.Sqrt(m.LeftOut))
	}
	if m.Chosen {
		line += " - chosen"
	}
	return line
}

// lensAdvice returns what would improve the lens.
func lensAdvice(s lens.Solution, g lens.GuideState) []string {
	out := append([]string{}, s.Advice...)
	if !g.Enough {
		out = append(out, g.Advice)
	}
	return out
}

// lensView is a view of a lens document.
type lensView struct {
	Name string  `json:"name"`
	RMS  float64 `json:"rms_px"`

	Corners int `json:"corners"`
}

// lensModel is a distortion model that was compared.
type lensModel struct {
	Name          string  `json:"name"`
	RMS           float64 `json:"rms_px"`
	HeldOut       float64 `json:"held_out_px"`
	Worse         float64 `json:"worse_px2"`
	StandardError float64 `json:"standard_error_px2"`
	LeftOut       float64 `json:"left_out_sigmas"`
	Chosen        bool    `json:"chosen"`
}

// lensRejection is a rejected view.
type lensRejection struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// lensDoc is the document of printLensJSON.
type lensDoc struct {
	Version int             `json:"version"`
	Lens    json.RawMessage `json:"lens"`
	RMS     float64         `json:"rms_px"`
	FxSigma float64         `json:"fx_sigma_px"`
	FySigma float64         `json:"fy_sigma_px"`
	Tilt    float64         `json:"tilt_deg"` // between the two boards that differ most
	Views   []lensView      `json:"views"`
	Dropped []lensRejection `json:"dropped"`

	Model    string      `json:"model"`
	Models   []lensModel `json:"models"`
	HeldOut  float64     `json:"held_out_rms_px"`
	CxSigma  float64     `json:"cx_sigma_px"`
	CySigma  float64     `json:"cy_sigma_px"`
	MatSigma float64     `json:"mat_sigma_mm"`
	Covered  float64     `json:"covered"`  // share of the picture, 0…1
	Coverage [][]int     `json:"coverage"` // corners in each cell of a grid over the picture, row by row
	Advice   []string    `json:"advice"`
}

// printLensJSON prints a solved lens for programs: the lens as in its file, the views with their
// residuals, and the rejected views.
func printLensJSON(out io.Writer, s lens.Solution, g lens.GuideState) error {
	lens, err := lens.Marshal(s.Lens)
	if err != nil {
		return err
	}
	sx, sy := s.FocalSigma()
	doc := lensDoc{Version: 1, Lens: lens, RMS: s.Lens.RMS, FxSigma: sx, FySigma: sy, Tilt: s.Tilt.Degrees(),
		Views: []lensView{}, Dropped: []lensRejection{}, Model: s.Model, Models: []lensModel{}, HeldOut: s.HeldOut,
		CxSigma: math.Sqrt(s.Lens.Covariance[20]), CySigma: math.Sqrt(s.Lens.Covariance[30]), MatSigma: float64(s.MatSigma),
		Covered: g.Covered, Advice: lensAdvice(s, g)}
	for _, row := range g.Counts {
		doc.Coverage = append(doc.Coverage, row[:])
	}
	for _, m := range s.Models {
		doc.Models = append(doc.Models, lensModel{m.Name, m.RMS, m.HeldOut, m.Worse, m.StandardError, math.Sqrt(m.LeftOut), m.Chosen})
	}
	for _, v := range s.Views {
		doc.Views = append(doc.Views, lensView{v.Name, v.RMS, v.Corners})
	}
	for _, d := range s.Dropped {
		doc.Dropped = append(doc.Dropped, lensRejection(d))
	}
	return json.NewEncoder(out).Encode(doc)
}
