package hardware

import (
	"slices"
	"time"

	"sightline/engine"
)

// Lamp is one of the panel's lamps.
type Lamp int

// The lamps, in the order in which they stand on the panel.
const (
	LampRange1 Lamp = iota
	LampRange2
	LampRange3
	LampInArc
	LampObstructed
	LampTooClose
	NumLamps int = iota
)

var lampNames = [NumLamps]string{"range1", "range2", "range3", "in_arc", "obstructed", "too_close"}

// String returns the lamp's name as board.toml writes it: "range1", "in_arc".
func (l Lamp) String() string {
	if l < 0 || int(l) >= NumLamps {
		return "?"
	}
	return lampNames[l]
}

// Light is what a lamp does.
type Light int8

// A lamp is dark, lit, or blinks.
const (
	Dark Light = iota
	Lit
	Blinking
)

// String returns "dark", "lit" or "blinking".
func (l Light) String() string { return [...]string{"dark", "lit", "blinking"}[max(0, min(int(l), 2))] }

// BlinkHalf is how long a blinking lamp is lit, and then dark: 2 Hz is seen at a
// glance and disturbs nobody.
const BlinkHalf = 250 * time.Millisecond

// Lights says what each lamp does in a state. A decided answer is steady, an
// undecided one blinks together with the steady too_close lamp. Without a view
// everything is dark; the display says why.
func Lights(s State) (lights [NumLamps]Light) {
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
	if s.TooClose() {
		lights[LampTooClose] = Lit
	}
	return lights
}

// lightOf shows a question's outcome on its own lamp.
func lightOf(o engine.Outcome) Light {
	switch o {
	case engine.Yes:
		return Lit
	case engine.Indeterminate:
		return Blinking
	}
	return Dark
}

// LampsAt says which lamps are lit at an instant: Lights with the blinking done.
// All blinking lamps blink together.
func LampsAt(s State, t time.Time) (on [NumLamps]bool) {
	phase := (t.UnixNano()/int64(BlinkHalf))%2 == 0
	for i, l := range Lights(s) {
		on[i] = l == Lit || l == Blinking && phase
	}
	return on
}
