// Package setup is the guided calibration: print, lens, table, verify. It is a state
// machine without I/O and without a clock. Package app shows it pictures and does the
// work that it asks for; package web shows its state and brings it what people want.
//
// Every step can be left, resumed and repeated. What was saved stays saved
// when the calibration is cancelled; what was not is forgotten.
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

// Step is one of the four parts of a calibration.
type Step string

// The steps, in their order.
const (
	Print  Step = "print"  // sheets are printed and their bars measured
	Lens   Step = "lens"   // a board is held before the camera
	Table  Step = "table"  // the mat's markers give the camera's place
	Verify Step = "verify" // the printed check card is measured
)

// Steps are all steps in their order.
var Steps = [...]Step{Print, Lens, Table, Verify}

// Phase is the progress of a step.
type Phase string

// The phases. Not every step has all of them.
const (
	Waiting Phase = "waiting" // for a decision of the user's, or not begun
	Looking Phase = "looking" // pictures are looked at
	Solving Phase = "solving" // a solution is being worked out
	Ready   Phase = "ready"   // there is a result, which is not saved
	Saved   Phase = "saved"   // the result is saved, or the step is over
)

// ErrOrder is wrapped by refusals of what makes sense at another time: a lens that is
// to be saved before there is one.
var ErrOrder = errors.New("not now")

// refusal is an error in a sentence for people.
type refusal struct {
	text string
	kind error // ErrOrder, or nil for what makes no sense at any time
}

func (r *refusal) Error() string { return r.text }
func (r *refusal) Unwrap() error { return r.kind }

func notNow(format string, a ...any) error { return &refusal{fmt.Sprintf(format, a...), ErrOrder} }
func wrong(format string, a ...any) error  { return &refusal{fmt.Sprintf(format, a...), nil} }

// Options are what the machine must know of the program.
type Options struct {
	Layout    calibration.Layout
	LensPath  string // where a lens is saved
	TablePath string // where a table is saved

	// ScaleX and ScaleY are what the printer makes of a length, as far as it is known
	// when the calibration begins; 0 means 1.
	ScaleX, ScaleY float64

	// Print, when set, returns the printer's scale in their place.
	Print func() PrintState

	// Lens is the lens in use, once it is known: with it the table can be calibrated
	// without doing the lens first. Nil: none is known.
	Lens func() (calibration.Intrinsics, bool)

	// Saved is the table that stands in TablePath and is in use: with it a calibration can be
	// verified that was done before. Nil: there is none.
	Saved func() (calibration.Table, bool)

	// Guide sets the limits of the guided capture.
	Guide lens.GuideOptions
}

// State is everything that people see of a calibration. It is a plain value; the
// machine never changes what a state points to.
type State struct {
	Active bool // a calibration is under way
	Step   Step
	Camera Camera
	Print  PrintState
	Lens   LensState
	Table  TableState
	Verify VerifyState
}

// Busy reports whether the camera is needed for the calibration, so that the usual
// answers must stop.
func (s *State) Busy() bool { return s.Active && s.Step != Print }

// Phase returns how far a step has come.
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
	Lost          string // why there are none; "" while there are
	Width, Height int    // of the pictures, px; 0 before the first one
}

// Want is what to search the next picture for.
type Want int

// What may be wanted.
const (
	Nothing Want = iota
	Board        // the board of State.Lens.Board
	Markers      // the mat's markers
	Card         // the check card's markers
)

// Sighting is what was found in a picture.
type Sighting struct {
	At            time.Time
	Width, Height int // px
	Board         calibration.BoardSighting
	Markers       []calibration.MarkerSighting
}

// Work is something to be done outside of the machine, whose end it learns of by
// Solved or Saved: a SolveLens, a SaveLens, a SaveTable, a
// SaveVerification, or nil for nothing.
type Work any

// SolveLens asks for the lens of some views; Machine.Solved takes the answer.
type SolveLens struct {
	Board         calibration.Board
	Views         []calibration.BoardView
	Width, Height int
	run           int
}

// SaveLens asks for a lens to be saved; Machine.Saved takes the answer.
type SaveLens struct {
	Path string
	Lens calibration.Intrinsics
}

// SaveTable asks for a table to be saved; Machine.Saved takes the answer, with the
// table's hash in it.
type SaveTable struct {
	Path  string
	Table calibration.Table
	Quick bool // its lens was estimated with it
}

// SaveVerification asks for a verification to be kept next to its table's file;
// Machine.Saved takes the answer.
type SaveVerification struct {
	TablePath string
	Record    verify.Record
}

// Action names what people can want.
type Action string

// The actions.
const (
	Start   Action = "start"   // begin a calibration, or join the one that runs
	Cancel  Action = "cancel"  // end it; unsaved results are lost
	Finish  Action = "finish"  // end it, all being saved
	Go      Action = "go"      // to a step
	Bars    Action = "bars"    // the measured bars of a sheet
	Quick   Action = "quick"   // to the step of the table, with a lens estimated from the markers
	Capture Action = "capture" // a lens with a board; again from nothing
	Solve   Action = "solve"   // work the lens out from the views so far
	More    Action = "more"    // go on taking views after a solution
	Rule    Action = "rule"    // distances between markers, as a steel rule measured them
	Measure Action = "card"    // the check card, as it was measured; again from nothing
	Save    Action = "save"    // the result of the present step
	Again   Action = "again"   // the present step from its beginning
)

// Intent is a request of the page.
type Intent struct {
	Do         Action
	Step       Step        // of Go
	Board      string      // of Capture, as calibration.ParseBoard reads it
	BarX, BarY geom.Length // of Bars
	ScaleX     float64     // of Bars: the printer's scale for which the measured sheet was drawn; 0: the newest
	ScaleY     float64
	Card       CardMeasures                // of Measure
	Distances  []calibration.ScaleDistance // of Rule; none: the scale of the markers alone again
}

// Machine is a guided calibration. It belongs to one goroutine at a time.
type Machine struct {
	o     Options
	state State

	guide   *lens.Guide
	run     int  // counts the captures: answers to an older one are dropped
	solved  bool // the guide had enough once, and a solution was asked for
	missing time.Time
	lens    *calibration.Intrinsics      // solved here, saved or not
	seen    []Sighting                   // of the table, newest last
	last    []calibration.MarkerSighting // what the estimate rests on
	views   []quick.View                 // of a camera that stood elsewhere before, for an estimated lens
	table   *calibration.Table
	placed  placed            // what the table was found from, in its markers' own scale
	laidAt  time.Time         // when the last place was measured
	laid    []Sighting        // of the check card at the present place, newest last
	places  []verify.Sighting // that were measured
}

// New returns a machine in which nothing is under way.
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

// actions are all actions; any other is invalid.
var actions = [...]Action{Start, Cancel, Finish, Go, Quick, Bars, Capture, Solve, More, Rule, Measure, Save, Again}

// Do does what someone wants, or says in a sentence why it cannot be done now (an
// error that wraps ErrOrder) or at all. The work that it returns is to be done.
func (m *Machine) Do(in Intent) (Work, error) {
	if in.Do == Start {
		m.start()
		return nil, nil
	}
	if !slices.Contains(actions[:], in.Do) {
		return nil, wrong("There is no action %q.", in.Do)
	}
	if !m.state.Active && (in.Do == Cancel || in.Do == Finish) {
		return nil, nil // it was tapped twice
	}
	if !m.state.Active {
		return nil, notNow("No calibration is running: start one first.")
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
		return nil, m.again()
	}
	return nil, wrong("There is no action %q.", in.Do)
}

func (m *Machine) start() {
	if !m.state.Active {
		m.reset()
		m.state.Active = true
	}
}

// goTo leaves the present step for another one. Every step keeps what it has.
func (m *Machine) goTo(step Step) error {
	switch step {
	case Print, Lens:
	case Table:
		if _, ok := m.bestLens(); !ok {
			return notNow("The table needs the lens: do the lens first.")
		}
		if m.state.Table.Quick && m.state.Table.Phase != Saved { // the lens was estimated, and is known now
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

// bestLens returns the lens that was solved here, or the one in use.
func (m *Machine) bestLens() (calibration.Intrinsics, bool) {
	if m.lens != nil {
		return *m.lens, true
	}
	if m.o.Lens != nil {
		return m.o.Lens()
	}
	return calibration.Intrinsics{}, false
}

// save asks for the present step's result to be saved. Once it is saved, there is nothing more to do.
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

// Saved tells the machine how a SaveLens or SaveTable ended.
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
func (m *Machine) again() error {
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
	return nil
}

// Offer shows the machine what a picture showed.
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

// CameraLost tells the machine that no pictures come, and why. What was gathered is
// kept for when they come again.
func (m *Machine) CameraLost(why string) {
	m.state.Camera.Lost = why
	m.state.Lens.Corners, m.state.Table.Markers = nil, nil
}

// pictureChanged forgets what belongs to pictures of another size.
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
