// Package setup is the guided calibration: print, lens, table, verify. It is a state machine
// without I/O and clock. Package app shows it pictures and carries out its work; package web shows
// its state and passes on requests.
//
// Every step can be left, resumed and repeated. Cancelling keeps what was saved and discards the
// rest.
package setup

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"sightline/calibration"
	"sightline/calibration/lens"
	"sightline/calibration/quick"
	"sightline/calibration/verify"
	"sightline/engine/geom"
)

// Step is one of the four steps of a calibration.
type Step string

// The steps, in their order.
const (
	Print  Step = "print"  // print sheets and measure their bars
	Lens   Step = "lens"   // show a board to the camera
	Table  Step = "table"  // find the camera's pose from the mat's markers
	Verify Step = "verify" // measure the printed check card
)

// Steps are all steps in their order.
var Steps = [...]Step{Print, Lens, Table, Verify}

// Phase is the progress of a step.
type Phase string

// The phases. Some steps have only some of them.
const (
	Waiting Phase = "waiting" // not started, or waiting for the user
	Looking Phase = "looking" // searching pictures
	Solving Phase = "solving" // computing a solution
	Ready   Phase = "ready"   // with an unsaved result
	Saved   Phase = "saved"   // the result is saved, or the step is finished
)

// ErrOrder is wrapped by refusals of what is possible only at another time, such as saving a lens
// before there is one.
var ErrOrder = errors.New("not now")

// refusal is an error in a sentence for people.
type refusal struct {
	text string
	kind error // ErrOrder, or nil if it is never possible
}

func (r *refusal) Error() string { return r.text }
func (r *refusal) Unwrap() error { return r.kind }

func notNow(format string, a ...any) error { return &refusal{fmt.Sprintf(format, a...), ErrOrder} }
func wrong(format string, a ...any) error  { return &refusal{fmt.Sprintf(format, a...), nil} }

// Options are the machine's dependencies.
type Options struct {
	Layout    calibration.Layout
	LensPath  string // file of the lens
	TablePath string // file of the table

	// ScaleX and ScaleY are the printer's scale, as far as it is known at the start; 0 means 1.
	ScaleX, ScaleY float64

	// Print returns the printer's scale instead, unless nil.
	Print func() PrintState

	// Lens returns the lens in use, with which the table can be calibrated without the lens step.
	// Nil: no lens.
	Lens func() (calibration.Intrinsics, bool)

	// Saved returns the table in use from TablePath, with which an earlier calibration can be
	// verified. Nil: no table.
	Saved func() (calibration.Table, bool)

	// Guide sets the limits of the guided capture.
	Guide lens.GuideOptions
}

// State is everything that people see of a calibration. It is a plain value; the machine never
// changes what a state points to.
type State struct {
	Active bool // a calibration is running
	Step   Step
	Camera Camera
	Print  PrintState
	Lens   LensState
	Table  TableState
	Verify VerifyState
}

// Busy reports whether the calibration uses the camera, so that there are no other answers.
func (s *State) Busy() bool { return s.Active && s.Step != Print }

// Phase returns the progress of a step.
func (s *State) Phase(step Step) Phase {
	switch step {
	case Print:
		return s.Print.Phase
	case Lens:
		return s.Lens.Phase
	case Table:
		return s.Table.Phase
	}
	return s.Verify.Phase
}

// Camera is the state of the camera.
type Camera struct {
	Lost          string // why there are no pictures; "": there are
	Width, Height int    // of the pictures, px; 0 before the first one
}

// Want is what to search the next picture for.
type Want int

// What to search for.
const (
	Nothing Want = iota
	Board        // the board of State.Lens.Board
	Markers      // the mat's markers
	Card         // the check card's markers
)

// Sighting is the result of searching a picture.
type Sighting struct {
	At            time.Time
	Width, Height int // px
	Board         calibration.BoardSighting
	Markers       []calibration.MarkerSighting
	Mirrored      bool // they can only be read with left and right exchanged
}

// Work is a task for the caller, who reports its end by Solved or Saved: a SolveLens, a SaveLens, a
// SaveTable, a SaveVerification, or nil for nothing.
type Work any

// SolveLens asks to solve a lens from views; Machine.Solved takes the result.
type SolveLens struct {
	Board         calibration.Board
	Views         []calibration.BoardView
	Width, Height int
	run           int
}

// SaveLens asks to save a lens; Machine.Saved takes the result.
type SaveLens struct {
	Path string
	Lens calibration.Intrinsics
}

// SaveTable asks to save a table; Machine.Saved takes the result, including the table's hash.
type SaveTable struct {
	Path  string
	Table calibration.Table
	Quick bool // its lens was estimated with it
}

// SaveVerification asks to save a verification next to its table's file; Machine.Saved takes the
// result.
type SaveVerification struct {
	TablePath string
	Record    verify.Record
}

// Action is a request of the page.
type Action string

// The actions.
const (
	Start   Action = "start"   // start a calibration, or join the running one
	Cancel  Action = "cancel"  // end it; unsaved results are lost
	Finish  Action = "finish"  // end it after everything is saved
	Go      Action = "go"      // to a step
	Bars    Action = "bars"    // the measured bars of a sheet
	Quick   Action = "quick"   // go to the table step, with a lens estimated from the markers
	Capture Action = "capture" // start a new capture of the lens with a board
	Solve   Action = "solve"   // solve the lens from the views so far
	More    Action = "more"    // continue to capture views after a solution
	Rule    Action = "rule"    // distances between markers, measured with a steel rule
	Measure Action = "card"    // start a new verification with the measured check card
	Save    Action = "save"    // save the result of the present step
	Again   Action = "again"   // restart the present step
)

// Intent is a request of the page with its arguments.
type Intent struct {
	Do         Action
	Step       Step        // of Go; of Save, Again and More the step that was seen, "" for any
	Board      string      // of Capture, for calibration.ParseBoard
	BarX, BarY geom.Length // of Bars
	ScaleX     float64     // of Bars: the printer's scale for which the measured sheet was drawn; 0: the newest
	ScaleY     float64
	Card       CardMeasures                // of Measure
	Distances  []calibration.ScaleDistance // of Rule; none: use the markers' own scale again
}

// Machine is a guided calibration. It belongs to one goroutine at a time.
type Machine struct {
	o     Options
	state State

	guide   *lens.Guide
	run     int  // number of captures: results of earlier ones are dropped
	solved  bool // the guide was satisfied once, and a solution was requested
	missing time.Time
	lens    *calibration.Intrinsics      // solved here, saved or not
	seen    []Sighting                   // of the table, newest last
	last    []calibration.MarkerSighting // the markers of the present estimate
	views   []quick.View                 // from other places of the camera, for an estimated lens
	table   *calibration.Table
	placed  placed            // the table in its markers' own scale
	away    bool              // the camera has left the place in table, which is not saved
	laidAt  time.Time         // when the card was last measured
	laid    []Sighting        // of the check card at the present place, newest last
	places  []verify.Sighting // the measured ones
}

// New returns an idle machine.
func New(o Options) *Machine {
	if o.ScaleX == 0 {
		o.ScaleX = 1
	}
	if o.ScaleY == 0 {
		o.ScaleY = 1
	}
	m := &Machine{o: o}
	m.reset()
	return m
}

func (m *Machine) reset() {
	camera := m.state.Camera
	m.state = State{Step: Print, Camera: camera}
	m.run++
	m.guide, m.solved, m.lens = nil, false, nil
	m.resetPrint()
	m.resetLens()
	m.resetTable()
	m.resetVerify()
}

// State returns what people see.
func (m *Machine) State() State { return m.state }

// Wants returns what to search the next picture for.
func (m *Machine) Wants() Want {
	switch s := &m.state; {
	case !s.Active:
		return Nothing
	case s.Step == Lens && s.Lens.Phase == Looking:
		return Board
	case s.Step == Table && s.Table.Phase != Waiting && s.Table.Phase != Saved:
		return Markers
	case s.Step == Verify && s.Verify.Phase != Waiting:
		return Card
	}
	return Nothing
}

// actions are all valid actions.
var actions = [...]Action{Start, Cancel, Finish, Go, Quick, Bars, Capture, Solve, More, Rule, Measure, Save, Again}

// Do carries out a request and returns the resulting work. Its error is a sentence; it wraps
// ErrOrder if the request is possible at another time.
func (m *Machine) Do(in Intent) (Work, error) {
	if in.Do == Start {
		m.start()
		return nil, nil
	}
	if !slices.Contains(actions[:], in.Do) {
		return nil, wrong("There is no action %q.", in.Do)
	}
	if !m.state.Active && (in.Do == Cancel || in.Do == Finish) {
		return nil, nil // a double tap
	}
	if !m.state.Active {
		return nil, notNow("No calibration is running: start one first.")
	}
	if (in.Do == Save || in.Do == Again || in.Do == More) && in.Step != "" && in.Step != m.state.Step {
		return nil, notNow("Another device went to another step meanwhile: nothing was done. Look again.")
	}
	switch in.Do {
	case Cancel, Finish:
		m.reset()
		return nil, nil
	case Go:
		return nil, m.goTo(in.Step)
	case Quick:
		m.quick()
		return nil, nil
	case Bars:
		return nil, m.bars(in)
	case Capture:
		return nil, m.capture(in.Board)
	case Solve:
		return m.solve()
	case More:
		return nil, m.more()
	case Rule:
		return nil, m.rule(in.Distances)
	case Measure:
		return nil, m.card(in.Card)
	case Save:
		return m.save()
	case Again:
		m.again()
		return nil, nil
	}
	return nil, wrong("There is no action %q.", in.Do)
}

func (m *Machine) start() {
	if !m.state.Active {
		m.reset()
		m.state.Active = true
	}
}

// goTo changes to another step. Every step keeps its results.
func (m *Machine) goTo(step Step) error {
	switch step {
	case Print, Lens:
	case Table:
		if _, ok := m.bestLens(); !ok {
			return notNow("The table needs the lens: do the lens first.")
		}
		if m.state.Table.Quick && m.state.Table.Phase != Saved { // the lens was estimated, and now a lens is known
			m.resetTable()
		}
		if m.state.Table.Phase == Waiting {
			m.state.Table.Phase = Looking
		}
	case Verify:
		if m.table == nil && !m.takeUp() {
			return notNow("There is nothing to verify: do the table first.")
		}
	default:
		return wrong("There is no step %q.", step)
	}
	m.state.Step = step
	return nil
}

// bestLens returns the lens solved here, or the one in use.
func (m *Machine) bestLens() (calibration.Intrinsics, bool) {
	if m.lens != nil {
		return *m.lens, true
	}
	if m.o.Lens != nil {
		return m.o.Lens()
	}
	return calibration.Intrinsics{}, false
}

// save requests that the present step's result be saved. If it is saved already, there is no work.
func (m *Machine) save() (Work, error) {
	if m.state.Step != Print && m.state.Phase(m.state.Step) == Saved {
		return nil, nil
	}
	switch m.state.Step {
	case Lens:
		if m.state.Lens.Phase != Ready || m.lens == nil {
			return nil, notNow("There is no new lens to save.")
		}
		return SaveLens{Path: m.o.LensPath, Lens: *m.lens}, nil
	case Table:
		if m.state.Table.Phase != Ready || m.table == nil {
			return nil, notNow("There is no new table calibration to save.")
		}
		return SaveTable{Path: m.o.TablePath, Table: *m.table, Quick: m.state.Table.Quick}, nil
	}
	if m.state.Step == Verify && m.state.Verify.Result != nil {
		if m.state.Table.Phase != Saved || m.table.Hash == "" {
			return nil, notNow("Save the table first: a verification belongs to a saved table.")
		}
		at := m.laidAt
		return SaveVerification{m.o.TablePath, m.state.Verify.Result.Record(at, m.table.Hash)}, nil
	}
	return nil, notNow("This step has nothing to save.")
}

// Saved reports the end of a SaveLens, SaveTable or SaveVerification.
func (m *Machine) Saved(w Work, err error) {
	switch w := w.(type) {
	case SaveLens:
		if err != nil {
			m.state.Lens.Problem = "The lens could not be saved: " + err.Error() + "."
			return
		}
		m.state.Lens.Problem, m.state.Lens.Phase, m.state.Lens.SavedAs = "", Saved, w.Path
	case SaveTable:
		if err != nil {
			m.state.Table.Problem = "The table calibration could not be saved: " + err.Error() + "."
			return
		}
		m.state.Table.Problem, m.state.Table.Phase, m.state.Table.SavedAs = "", Saved, w.Path
		m.table = &w.Table
	case SaveVerification:
		v := &m.state.Verify
		if err != nil {
			v.Problem = "The verification could not be saved: " + err.Error() + "."
			return
		}
		v.Problem, v.Phase, v.SavedAs = "", Saved, verify.RecordPath(w.TablePath)
	}
}

// again restarts the present step.
func (m *Machine) again() {
	switch m.state.Step {
	case Print:
		m.resetPrint()
	case Lens:
		m.run++
		m.guide, m.lens, m.solved = nil, nil, false
		m.resetLens()
	case Table:
		estimate := m.state.Table.Quick
		m.resetTable()
		m.state.Table.Phase, m.state.Table.Quick = Looking, estimate
	case Verify:
		m.resetVerify()
	}
}

// Offer shows the machine the result of searching a picture.
func (m *Machine) Offer(s Sighting) Work {
	m.state.Camera.Lost = ""
	changed := m.state.Camera.Width != 0 && (m.state.Camera.Width != s.Width || m.state.Camera.Height != s.Height)
	m.state.Camera.Width, m.state.Camera.Height = s.Width, s.Height
	if changed {
		m.pictureChanged()
	}
	switch m.Wants() {
	case Board:
		return m.offerBoard(s)
	case Markers:
		m.offerMarkers(s)
	case Card:
		m.offerCard(s)
	}
	return nil
}

// CameraLost reports that there are no pictures, and why. Collected data stays for when they
// return.
func (m *Machine) CameraLost(why string) {
	m.state.Camera.Lost = why
	m.state.Lens.Corners, m.state.Table.Markers = nil, nil
}

// pictureChanged drops data that belongs to another size of pictures.
func (m *Machine) pictureChanged() {
	const why = "The picture's size changed: begin again."
	m.seen = nil
	if m.guide != nil && m.state.Lens.Phase != Saved {
		board := m.state.Lens.Board
		m.run++
		m.guide, m.solved, m.lens = nil, false, nil
		m.resetLens()
		m.state.Lens.Board, m.state.Lens.Phase, m.state.Lens.Problem = board, Looking, why
	}
	if m.state.Table.Phase == Ready {
		estimate := m.state.Table.Quick
		m.resetTable()
		m.state.Table.Phase, m.state.Table.Problem, m.state.Table.Quick = Looking, why, estimate
	}
}
