// Package exposure measures a picture's light at the markers and on the mat
// ([Gauges]), holds a camera's exposure by it ([Controller]), and averages
// pictures of a table at rest ([Averager]). Grey levels are 0 to 255.
package exposure

import (
	"fmt"
	"math"
)

// Grey levels of the markers' paper (Light.Paper). The goal lies where a camera's tone curve is
// still steep: below its shoulder, which begins at 200 to 230 in most cameras. From 240 on,
// tokens in more light than the markers are burnt out.
const (
	Goal      = 205.0 // what the controller aims at
	goalLow   = 185.0 // good enough from here
	goalHigh  = 225.0 // to here
	leaveLow  = 130.0 // once held, an exposure stays held from here
	leaveHigh = 240.0 // to here
)

// The controller's timing and limits. Looks are one second apart.
const (
	leastSettle  = 2    // the first look after a change that counts
	mostSettle   = 6    // the look after a change at which the level counts even if it has not settled
	settledLevel = 4.0  // grey levels by which two looks may differ if the light is steady
	leaveAfter   = 3    // looks in a row outside leaveLow to leaveHigh before the exposure is changed again
	mostStep     = 4.0  // largest factor of light in one change
	blindStep    = 0.5  // factor where white is clipped, which hides how much too light it is
	deadChanges  = 3    // changes without effect before a control is given up
	mostChanges  = 24   // changes without success before the exposure is left as it is
	leastEffect  = 0.25 // share of the expected change, in logarithms of light, below which a change had no effect
)

// linearOf returns the linear light of a grey level by the sRGB curve, 1 at 255.
func linearOf(level float64) float64 {
	v := level / 255
	if v <= 0.04045 {
		return v / 12.92
	}
	return math.Pow((v+0.055)/1.055, 2.4)
}

// Control is one of a camera's controls that makes its picture brighter the higher it
// is: exposure time, gain.
type Control struct {
	Name     string // for people: "exposure"
	Min, Max int32
	Step     int32 // its values are Min, Min+Step, …; 0 counts as 1
	Value    int32 // as it is now
	Linear   bool  // the light is proportional to it; otherwise it only grows with it
}

// Code is the state of an exposure controller.
type Code string

// The codes.
const (
	None      Code = "none"      // nothing sets the exposure
	Waiting   Code = "waiting"   // no marker was seen yet
	Adjusting Code = "adjusting" // a change was made, and the picture does not show it yet
	Held      Code = "held"      // the paper's white is right, and nothing changes
	Paused    Code = "paused"    // a change is due, but the picture must not change now
	Limit     Code = "limit"     // the paper's white is wrong, and the controls are at their ends
	Failed    Code = "failed"    // the camera accepts no control, or overrides it
)

// State is what a controller knows, for people and programs.
type State struct {
	Code   Code
	Says   string // in a sentence
	Change string // the last changed control and its value; "": none was changed
}

// Change is a request to set a control.
type Change struct {
	Control int // its index in the list given to NewController
	Value   int32
}

// Controller brings the white of the markers' paper to Goal and holds it there. It changes one
// control at a time, and waits until the picture shows the change. It does no I/O: See returns
// the change to make, and Took takes its result. It belongs to one goroutine.
type Controller struct {
	controls []exposureKnob
	code     Code
	says     string
	change   string

	pending  bool    // a change was asked for and Took was not called
	knob     int     // the control that was changed last
	before   float64 // level before that change
	expected float64 // logarithm of the factor of light that the change should have; 0: unknown
	looks    int     // since that change
	last     float64 // level of the look before; 0: none
	outside  int     // looks in a row outside leaveLow to leaveHigh
	changes  int     // since the level was right
	settled  bool    // the level was right once, or as near as the controls allow
}

type exposureKnob struct {
	Control
	dead int // changes in a row without effect

	dark, bright int32 // the last value that was too dark and the last that was too bright, since the light changed
	hasDark      bool
	hasBright    bool
}

// NewController returns a controller. To brighten, it uses the controls in their order, each to
// its end; to darken, in the reverse order. List exposure time before gain.
func NewController(controls []Control) *Controller {
	e := &Controller{code: Waiting, says: "No marker has been seen yet."}
	for _, c := range controls {
		c.Step = max(c.Step, 1)
		e.controls = append(e.controls, exposureKnob{Control: c})
	}
	if len(controls) == 0 {
		e.fail("The camera has no control of its exposure.")
	}
	return e
}

// State returns what the controller does.
func (e *Controller) State() State { return State{e.code, e.says, e.change} }

// See takes a look at the light, one second after the look before, and returns the change to
// make, or nil. While busy, something depends on an unchanged picture, and it returns nil.
func (e *Controller) See(l Light, busy bool) *Change {
	if e.code == Failed || e.pending {
		return nil
	}
	if l.Edges == 0 {
		e.last, e.outside = 0, 0
		return nil
	}
	level := l.Paper
	steady := e.last > 0 && math.Abs(level-e.last) <= settledLevel
	e.last = level
	e.looks++
	if e.code == Adjusting {
		arrived := steady && e.looks >= leastSettle && math.Abs(level-e.before) > settledLevel
		if !arrived && e.looks < mostSettle {
			return nil
		}
		e.judge(level)
	}
	if e.code == Waiting && !steady {
		return nil
	}
	return e.decide(level, steady, busy)
}

// decide returns the change that a level needs when no other change is under way.
func (e *Controller) decide(level float64, steady, busy bool) *Change {
	if e.settled && level >= leaveLow && level <= leaveHigh || level >= goalLow && level <= goalHigh {
		e.outside, e.settled, e.changes = 0, true, 0
		if e.code != Limit || level >= goalLow && level <= goalHigh {
			e.to(Held, "The markers' paper is at grey level %.0f, and the exposure is held.", level)
		}
		return nil
	}
	if e.outside++; e.settled && (e.outside < leaveAfter || !steady) {
		return nil
	}
	if busy {
		e.to(Paused, "The markers' paper is at grey level %.0f; the exposure is changed when nothing is held any more.", level)
		return nil
	}
	if e.settled { // the light has changed
		e.settled = false
		e.forget(-1)
	}
	return e.next(level)
}

// forget drops the limits known for all controls but one. A control's limits hold only while the
// other controls and the light stay the same.
func (e *Controller) forget(but int) {
	for i := range e.controls {
		if i != but {
			e.controls[i].hasDark, e.controls[i].hasBright = false, false
		}
	}
}

// next chooses a change that brings a level nearer to the goal.
func (e *Controller) next(level float64) *Change {
	factor := min(max(linearOf(Goal)/max(linearOf(level), 1e-3), 1/mostStep), mostStep)
	known := level < burntLevel
	if !known {
		factor = blindStep
	}
	for i := range e.controls {
		n := i
		if factor < 1 { // the last control that brightened is the first to darken
			n = len(e.controls) - 1 - i
		}
		k := &e.controls[n]
		if k.dead >= deadChanges || e.changes >= mostChanges {
			continue
		}
		value, ok := k.toward(factor)
		if !ok {
			continue
		}
		e.forget(n) // the others' limits were for the old value of this one
		e.before, e.expected, e.knob, e.looks, e.pending = level, 0, n, 0, true
		e.changes++
		if k.Linear && known && k.Value > 0 && value > 0 {
			e.expected = math.Log(float64(value) / float64(k.Value))
		}
		e.to(Adjusting, "The markers' paper is at grey level %.0f of 255: the camera's %s goes from %d to %d.", level, k.Name, k.Value,
			value)
		return &Change{n, value}
	}
	e.settled = true
	e.stop(level, factor)
	return nil
}

// stop states why nothing changes although the level is wrong.
func (e *Controller) stop(level, factor float64) {
	alive, near := false, false
	for _, k := range e.controls {
		alive = alive || k.dead < deadChanges
		near = near || k.hasDark && k.hasBright
	}
	switch {
	case !alive:
		e.fail("The camera's exposure was changed %d times and the picture did not follow: its automatic control works "+
			"against it, or the driver ignores it. Switch that off, or set the exposure at the camera.", deadChanges)
	case near && level < leaveHigh && level > leaveLow:
		e.to(Held, "The markers' paper is at grey level %.0f, as near to %.0f as the camera's steps allow, and the exposure is held.",
			level, Goal)
	case factor > 1:
		e.to(Limit, "The markers' paper is at grey level %.0f and the camera's exposure at its end: give more light.", level)
	default:
		e.to(Limit, "The markers' paper is at grey level %.0f and the camera's exposure at its end: dim the light, or put a grey "+
			"filter in front of the lens.", level)
	}
}

// toward returns the value that changes the light by about a factor. It reports false if every
// such value is known to be wrong.
func (k *exposureKnob) toward(factor float64) (int32, bool) {
	var want float64
	switch v := float64(k.Value); {
	case k.Linear && v > 0:
		want = v * factor
	default: // a factor of mostStep crosses half of the range
		want = v + (float64(k.Max)-float64(k.Min))*math.Log(factor)/math.Log(mostStep)/2
	}
	steps := math.Round((want - float64(k.Min)) / float64(k.Step))
	low, high := float64(k.Min), float64(k.Max)
	if k.hasDark {
		low = max(low, float64(k.dark)+float64(k.Step))
	}
	if k.hasBright {
		high = min(high, float64(k.bright)-float64(k.Step))
	}
	value := min(max(float64(k.Min)+steps*float64(k.Step), low), high)
	if factor > 1 {
		value = max(value, float64(k.Value)+float64(k.Step))
	} else {
		value = min(value, float64(k.Value)-float64(k.Step))
	}
	if value < low || value > high {
		return 0, false
	}
	return int32(value), true
}

// judge records whether the last change had an effect, and whether its value is too dark or too
// bright.
func (e *Controller) judge(level float64) {
	k := &e.controls[e.knob]
	moved := math.Log(linearOf(level) / max(linearOf(e.before), 1e-6))
	clipped := e.before >= burntLevel && level >= burntLevel
	switch {
	case clipped: // clipping hides any effect
	case e.expected != 0 && moved/e.expected < leastEffect || e.expected == 0 && math.Abs(level-e.before) < 1:
		k.dead++
	default:
		k.dead = 0
	}
	switch {
	case k.dead > 0:
	case level < goalLow:
		k.dark, k.hasDark = k.Value, true
	case level > goalHigh:
		k.bright, k.hasBright = k.Value, true
	}
}

// Took takes the result of a change: the control's value as the camera reports it, or the error.
// A control that cannot be set is given up.
func (e *Controller) Took(c Change, value int32, err error) {
	e.pending = false
	k := &e.controls[c.Control]
	if err != nil {
		k.dead = deadChanges
		for _, other := range e.controls {
			if other.dead < deadChanges {
				e.to(Waiting, "The camera's %s cannot be set: %v.", k.Name, err)
				return
			}
		}
		e.fail("The camera's %s cannot be set: %v.", k.Name, err)
		return
	}
	if value == k.Value { // the camera rounds: it has no value between this one and the requested one
		if c.Value > value {
			k.bright, k.hasBright = c.Value, true
		} else {
			k.dark, k.hasDark = c.Value, true
		}
	}
	k.Value, e.change = value, fmt.Sprintf("%s %d", k.Name, value)
}

func (e *Controller) to(code Code, format string, a ...any) {
	e.code, e.says = code, fmt.Sprintf(format, a...)
}

func (e *Controller) fail(format string, a ...any) { e.to(Failed, format, a...) }
