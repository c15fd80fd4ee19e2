// Package hardware shows the answer at the table: on lamps for range, arc, obstruction and
// uncertainty, on a small display of 128×64 dots, and on a strip of lights at the mat's edge. It
// also reads the buttons and the knob ([Controls]).
//
// A [Panel] shows a [State] of plain values. What the lamps show ([LampsAt]) and what the display
// shows ([Draw]) are pure functions of the state, so that the real board, the web page and the
// tests show the same. Only this package imports periph.
package hardware

import (
	"fmt"

	"sightline/engine"
)

// Panel shows the answer. Show may be called often: a panel updates only what changed. Show and
// Halt may be called from different goroutines.
type Panel interface {
	// Show shows the state. An error means that a part has just failed; the panel continues without it
	// and retries where that makes sense.
	Show(State) error
	// Halt puts every lamp out and blanks the display.
	Halt() error
	// String names the panel and says which parts work, in one line for people.
	String() string
}

// State is what the panel shows, as plain values.
type State struct {
	From, To string // the chosen pair's ids, "A1" and "B1"; empty when none is chosen

	Range      engine.Outcome // Yes: Band is decided. Indeterminate: one of Possible. NoView: nothing is known
	Band       int            // 0 contact, 1, 2, 3, then 4 … beyond
	Possible   []int          // every band that fits, ascending
	DistanceMM float64
	SigmaMM    float64 // standard deviation of the distance

	Arc   string         // the arc that is asked about, "front"
	InArc engine.Outcome // whether the target is in it

	// Obstructed says whether an obstacle is on the line. NoView means that obstacles are not watched,
	// which is not the same as a clear line.
	Obstructed engine.Outcome
	// AttackerChooses means that some permitted lines are clear and some are not.
	AttackerChooses bool

	// NoAttack says why the rules forbid the attack where the ships stand; "" if they do not.
	// NoAttackOpen means that it cannot be decided.
	NoAttack     string
	NoAttackOpen bool

	// Contact says whether the two ships touch or overlap, guides counted: range 0.
	Contact engine.Outcome

	Blind  bool // the camera allows no answer, whatever is chosen
	Frozen bool // the answer is from an earlier picture: held by a person, or of a ship that is now covered

	// Withheld means that the camera sees the pair, but the players' agreement on measuring forbids
	// the answer. This is not a fault; Reason gives the reason.
	Withheld bool

	// Reason says in a few words why there is no answer or why it is too close: "no camera", "ship
	// moving".
	Reason string

	Turn string // of the game: "R3 Activation: B2 next"; "" without a game

	Edition      string  // of the rules, "2.5"
	MarginMM     float64 // of the distance to what would change the range
	ArcMarginMM  float64 // of the target to the arc's edge; negative outside
	ObstructedBy string  // the obstacles' ids, "rock1"

	// Pointers are the places at which the strip points: the chosen ships.
	Pointers []Pointer

	// Screen is what the display shows instead of the answer; the zero value is the answer.
	Screen Screen
}

// Pointer is a place on the mat at which the strip points.
type Pointer struct {
	XMM, YMM float64 // from the near left corner: right, away from player 1
	Target   bool    // the target's colour, not the attacker's
}

// Chosen reports whether there is a chosen pair.
func (s State) Chosen() bool { return s.From != "" && s.To != "" }

// Answered reports whether the camera sees enough of a chosen pair to measure it, decided or not.
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
