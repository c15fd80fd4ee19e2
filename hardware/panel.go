// Package hardware shows the answer at the table: lamps for range, arc,
// obstruction and doubt, a small display of 128×64 dots, and a strip of lights at the
// mat's edge. It also reads the buttons and the knob ([Controls]).
//
// A [Panel] is given a [State] of plain values and shows it. What the lamps do
// ([LampsAt]) and what the display holds ([Draw]) are pure functions of the state,
// so that the real board, the web page and the tests show the same thing. This is
// the only package that imports periph.
package hardware

import (
	"fmt"

	"sightline/engine"
)

// Panel shows the answer. Show may be called often: a panel does only what
// changed. Show and Halt may be called from different goroutines.
type Panel interface {
	// Show shows the state. An error means that a part just failed; the panel
	// continues without it and tries again on its own where that makes sense.
	Show(State) error
	// Halt puts every lamp out and blanks the display.
	Halt() error
	// String names the panel and says what works, in one line for people.
	String() string
}

// State is everything that the panel shows, as plain values.
type State struct {
	From, To string // the chosen pair's ids, "A1" and "B1"; empty when none is chosen

	Range      engine.Outcome // Yes: Band is decided. Indeterminate: one of Possible. NoView: nothing is known
	Band       int            // 0 contact, 1, 2, 3, then 4 … beyond
	Possible   []int          // every band that fits, ascending
	DistanceMM float64
	SigmaMM    float64 // standard deviation of the distance

	Arc   string         // the arc that is asked about, "front"
	InArc engine.Outcome // whether the target is in it

	// Obstructed says whether an obstacle stands on the line. NoView means that
	// obstacles are not watched, which is not the same as a clear line.
	Obstructed engine.Outcome
	// AttackerChooses: some permitted line is clear and some is not.
	AttackerChooses bool

	// NoAttack says why the rules forbid the attack where the ships stand, "" when
	// nothing speaks against it. NoAttackOpen: no one can tell whether they do.
	NoAttack     string
	NoAttackOpen bool

	// Contact says whether the two ships touch or overlap, guides counted: range 0.
	Contact engine.Outcome

	Blind  bool // the camera gives nothing to answer from, whatever is chosen
	Frozen bool // the answer is that of an earlier picture: held by a person, or of a ship that is covered now

	// Withheld: the camera sees the pair, and the players' agreement on measuring
	// forbids the answer. Nothing is wrong; Reason says what it is.
	Withheld bool

	// Reason says in a few words why there is no answer or why it is too close:
	// "no camera", "ship moving".
	Reason string

	Turn string // of the game that is played: "R3 Activation: B2 next"; "": none is

	Edition      string  // of the rules, "2.5"
	MarginMM     float64 // of the distance to what would change the range
	ArcMarginMM  float64 // of the target to the arc's edge; negative outside
	ObstructedBy string  // the obstacles' ids, "rock1"

	// Pointers are where on the mat the strip points: the chosen ships.
	Pointers []Pointer

	// Screen is what the display shows in place of the answer; the zero value is
	// the answer.
	Screen Screen
}

// Pointer is a place on the mat that the strip points at.
type Pointer struct {
	XMM, YMM float64 // from the near left corner: right, away from player 1
	Target   bool    // the target's colour, not the attacker's
}

// Chosen reports whether a pair is chosen.
func (s State) Chosen() bool { return s.From != "" && s.To != "" }

// Answered reports whether the camera sees enough of a chosen pair to measure it,
// whether or not the answer is decided.
func (s State) Answered() bool { return s.Chosen() && s.Range != engine.NoView }

// TooClose reports whether any of the questions is undecided.
func (s State) TooClose() bool {
	if !s.Answered() {
		return false
	}
	return s.Range == engine.Indeterminate || s.Contact == engine.Indeterminate || s.InArc == engine.Indeterminate ||
		s.Obstructed == engine.Indeterminate && !s.AttackerChooses || s.NoAttack != "" && s.NoAttackOpen
}

// Pair returns "A1→B1", or "" when no pair is chosen.
func (s State) Pair() string {
	if !s.Chosen() {
		return ""
	}
	return s.From + "→" + s.To
}

// BandText names a range band for people: "0" … "3", and ">3" beyond.
func BandText(band int) string {
	if band > 3 {
		return ">3"
	}
	return fmt.Sprint(band)
}
