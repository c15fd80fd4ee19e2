package setup

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"sightline/calibration"
	"sightline/calibration/lens"
	"sightline/engine/geom"
)

// LensState is the step of the lens.
type LensState struct {
	Phase Phase
	Board string // as calibration.ParseBoard reads it; "": none

	Corners []geom.Pixel // of the board in the last picture; none: not found
	Outcome lens.GuideOutcome
	Now     string // result of the last picture, in words

	Guide   lens.GuideState
	Views   []View
	Refused []Refused

	Result  *LensResult
	SavedAs string // "": not saved
	Problem string // an error, in words
}

// View is a captured view.
type View struct {
	Name  string
	Added string // its contribution, in words
}

// Refused is a reason why pictures were not used, and how often in a row.
type Refused struct {
	Outcome lens.GuideOutcome
	Reason  string
	Times   int
}

// LensResult is a solved lens.
type LensResult struct {
	Lens    calibration.Intrinsics
	Dropped []calibration.Rejection // views that do not fit the others
	Mat     geom.Length             // uncertainty from the lens at a point of the mat; 0: unknown
}

// Limits of the step's lists and times.
const (
	refusedToKeep = 6
	missingFor    = 8 * time.Second // after this long without a board, the board itself is in doubt
)

func (m *Machine) resetLens() {
	m.state.Lens = LensState{Phase: Waiting}
	m.missing = time.Time{}
}

// capture starts a new capture with a board.
func (m *Machine) capture(spec string) error {
	if m.state.Step != Lens {
		return notNow("Go to the step of the lens first.")
	}
	b, err := calibration.ParseBoard(spec)
	if err != nil {
		return wrong("The board cannot be read: %v.", err)
	}
	m.run++
	m.guide, m.solved, m.lens = nil, false, nil
	m.resetLens()
	m.state.Lens.Board, m.state.Lens.Phase = b.String(), Looking
	return nil
}

// offerBoard shows the guide the board in a picture.
func (m *Machine) offerBoard(s Sighting) Work {
	l := &m.state.Lens
	if m.guide == nil && !m.newGuide(s) {
		return nil
	}
	s.Board.At, s.Board.Name = s.At, fmt.Sprintf("view %d", len(l.Views)+1)
	step := m.guide.Offer(s.Board)
	l.Guide, l.Outcome, l.Now = m.guide.State(), step.Outcome, step.Reason
	l.Corners = slices.Clone(s.Board.Pixels)
	m.noteMissing(s, step)
	switch step.Outcome {
	case lens.GuideTaken:
		l.Now = "Taken: " + step.Added + "."
		l.Views = append(slices.Clip(l.Views), View{s.Board.Name, step.Added})
	case lens.GuideBlurred, lens.GuideDim, lens.GuideDisagrees, lens.GuideInvalid:
		m.refuse(step)
	case lens.GuideNothingNew:
		l.Now = "That view has already been taken." // the advice is next to it
	}
	if l.Guide.Enough && !m.solved {
		return m.beginSolve()
	}
	return nil
}

// newGuide makes the guide for pictures of this size.
func (m *Machine) newGuide(s Sighting) bool {
	b, err := calibration.ParseBoard(m.state.Lens.Board)
	if err == nil {
		m.guide, err = lens.NewGuide(b, s.Width, s.Height, m.o.Guide)
	}
	if err != nil {
		m.guide = nil
		m.state.Lens.Problem = "The capture cannot begin: " + err.Error() + "."
		return false
	}
	m.state.Lens.Guide = m.guide.State()
	return true
}

// noteMissing doubts the board if it has not been found for a while.
func (m *Machine) noteMissing(s Sighting, step lens.GuideStep) {
	if step.Outcome != lens.GuideNotFound || m.missing.IsZero() || s.At.Before(m.missing) {
		m.missing = s.At
	}
	if s.At.Sub(m.missing) >= missingFor {
		if b, err := calibration.ParseBoard(m.state.Lens.Board); err == nil {
			m.state.Lens.Now = fmt.Sprintf("No board with %d × %d inner corners is seen. Is it this board? Is all of it in the picture, without a "+
				"thumb on a square, and in even light?", b.Cols, b.Rows)
		}
	}
}

// refuse records why a picture was not used, and counts repetitions.
func (m *Machine) refuse(step lens.GuideStep) {
	l := &m.state.Lens
	if n := len(l.Refused); n > 0 && l.Refused[n-1].Outcome == step.Outcome {
		l.Refused = slices.Clone(l.Refused)
		l.Refused[n-1].Times++
		l.Refused[n-1].Reason = step.Reason
		return
	}
	l.Refused = append(slices.Clip(l.Refused), Refused{step.Outcome, step.Reason, 1})
	l.Refused = l.Refused[max(0, len(l.Refused)-refusedToKeep):]
}

// solve solves the lens from the views so far. The solver refuses views that do not determine a
// lens.
func (m *Machine) solve() (Work, error) {
	switch {
	case m.state.Step == Lens && (m.state.Lens.Phase == Solving || m.state.Lens.Phase == Ready):
		return nil, nil // a double tap
	case m.state.Step != Lens || m.state.Lens.Phase != Looking:
		return nil, notNow("No views are being taken.")
	case len(m.state.Lens.Views) < lens.MinViews:
		return nil, notNow("%d views are too few, at least %d are needed: %s.", len(m.state.Lens.Views), lens.MinViews, m.state.Lens.Guide.Advice)
	}
	return m.beginSolve(), nil
}

func (m *Machine) beginSolve() Work {
	l := &m.state.Lens
	b, _ := calibration.ParseBoard(l.Board) // it parsed before
	l.Phase, l.Problem, m.solved = Solving, "", true
	return SolveLens{Board: b, Views: m.guide.Views(), Width: m.state.Camera.Width, Height: m.state.Camera.Height, run: m.run}
}

// Solved delivers the result of a SolveLens. The result for a capture that was given up is dropped.
func (m *Machine) Solved(w SolveLens, s lens.Solution, err error) {
	l := &m.state.Lens
	if w.run != m.run || l.Phase != Solving {
		return
	}
	if err != nil {
		// Keep the views: with more of them it may succeed.
		l.Phase, l.Problem = Looking, solveProblem(err)
		return
	}
	intrinsics := s.Lens
	m.lens = &intrinsics
	l.Phase, l.Result = Ready, &LensResult{Lens: intrinsics, Dropped: s.Dropped}
	if mat, ok := lens.MatSigma(intrinsics); ok {
		l.Result.Mat = mat
	}
	if m.table != nil { // it was made with another lens
		m.resetTable()
		m.resetVerify()
	}
}

// solveProblem explains why there is no lens.
func solveProblem(err error) string {
	if errors.Is(err, lens.ErrViews) {
		return "No lens yet: " + err.Error() + ". The views are kept; take more."
	}
	return "The lens could not be calculated: " + err.Error() + "."
}

// more continues to capture views after a solution, or after it was saved.
func (m *Machine) more() error {
	if t := &m.state.Table; m.state.Step == Table && t.Quick && t.Phase == Ready {
		return m.anotherView()
	}
	l := &m.state.Lens
	if t := &m.state.Table; m.state.Step == Table && t.Quick && t.Phase == Looking && len(m.views) > 0 ||
		m.state.Step == Lens && m.guide != nil && l.Phase == Looking {
		return nil // a double tap
	}
	if m.state.Step != Lens || m.guide == nil || (l.Phase != Ready && l.Phase != Saved) {
		return notNow("There is no lens that more views could improve.")
	}
	m.lens = nil
	l.Phase, l.Result, l.SavedAs = Looking, nil, ""
	return nil
}
