package hardware

import (
	"slices"
	"time"

	"sightline/engine"
)

// Lamp is one of the panel's lamps.
type Lamp int

// The lamps.
const (
	LampRange1 Lamp = iota
	LampRange2
	LampRange3
	LampInArc
	LampObstructed
	LampOverlap
	LampTooClose
	LampNoView
	NumLamps int = iota
)

var lampNames = [NumLamps]string{"range1", "range2", "range3", "in_arc", "obstructed", "overlap", "too_close", "no_view"}

// String returns the lamp's name as board.toml writes it: "range1", "in_arc".
func (l Lamp) String() string {
	if l < 0 || int(l) >= NumLamps {
		return "?"
	}
	return lampNames[l]
}

// Light is the state of a lamp.
type Light int8

// The states of a lamp.
const (
	Dark     Light = iota
	Lit            // it is so
	Blinking       // it cannot be decided
	Flashing       // not live: nothing is chosen, or the answer is frozen
)

// String returns "dark", "lit", "blinking" or "flashing".
func (l Light) String() string {
	return [...]string{"dark", "lit", "blinking", "flashing"}[max(0, min(int(l), 3))]
}

// The blink patterns. 2 Hz is noticed at a glance without disturbing; a flash every two seconds
// shows that the box runs, and cannot be mistaken for blinking.
const (
	BlinkHalf  = 250 * time.Millisecond // how long a blinking lamp is lit, and then dark
	FlashEvery = 2 * time.Second
	FlashFor   = 100 * time.Millisecond
)

// LitAt reports whether a lamp in this state is lit at a time. All blinking lamps blink together,
// on every panel and page whose clock is right.
func (l Light) LitAt(t time.Time) bool {
	switch l {
	case Lit:
		return true
	case Blinking:
		return (t.UnixNano()/int64(BlinkHalf))%2 == 0
	case Flashing:
		return t.UnixNano()%int64(FlashEvery) < int64(FlashFor)
	}
	return false
}

// Lights returns the state of each lamp. A decided answer is steady; an undecided one blinks, and
// the too_close lamp is steady. Without a view only no_view is lit, and the display says why.
func Lights(s State) (lights [NumLamps]Light) {
	lights[LampNoView] = noView(s)
	if !s.Answered() {
		return lights
	}
	for i, band := range []int{1, 2, 3} {
		lamp := LampRange1 + Lamp(i)
		switch {
		case s.Range == engine.Yes && s.Band == band:
			lights[lamp] = Lit
		case s.Range == engine.Indeterminate && slices.Contains(s.Possible, band):
			lights[lamp] = Blinking
		}
	}
	lights[LampInArc] = lightOf(s.InArc)
	lights[LampObstructed] = lightOf(s.Obstructed)
	if s.AttackerChooses {
		lights[LampObstructed] = Blinking
	}
	lights[LampOverlap] = lightOf(s.Contact)
	if s.NoAttack != "" {
		forbidden(&lights, s.NoAttackOpen)
	}
	if s.TooClose() {
		lights[LampTooClose] = Lit
	}
	return lights
}

// forbidden changes the lamps for an attack that the rules forbid, or, with open, may forbid, where
// the ships stand.
func forbidden(lights *[NumLamps]Light, open bool) {
	arc, overlap := &lights[LampInArc], &lights[LampOverlap]
	switch {
	case !open:
		*arc, *overlap = Dark, Lit
		return
	case *arc == Lit:
		*arc = Blinking
	}
	if *overlap == Dark {
		*overlap = Blinking
	}
}

// noView shows how much the camera sees of the question: everything (dark), not the arc (blinking),
// nothing (lit). It flashes if the answer is not live.
func noView(s State) Light {
	switch {
	case s.Blind || s.Chosen() && s.Range == engine.NoView && !s.Withheld:
		return Lit
	case !s.Chosen() || s.Frozen:
		return Flashing
	case s.Arc != "" && s.InArc == engine.NoView:
		return Blinking
	}
	return Dark
}

// lightOf returns the state of a question's own lamp.
func lightOf(o engine.Outcome) Light {
	switch o {
	case engine.Yes:
		return Lit
	case engine.Indeterminate:
		return Blinking
	}
	return Dark
}

// LampsAt returns which lamps are lit at a time, blinking included.
func LampsAt(s State, t time.Time) (on [NumLamps]bool) {
	for i, l := range Lights(s) {
		on[i] = l.LitAt(t)
	}
	return on
}
