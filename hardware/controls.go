package hardware

import "time"

// Pure functions of the edges' times decide what contacts do. A closing contact bounces for some
// milliseconds, but each press and each turn must count once.

// Settle is how long a button must be still before its level counts. Small push buttons bounce for
// 1 to 5 ms, bad ones for 10.
const Settle = 12 * time.Millisecond

// HoldAfter is how long a button is down before it counts as held instead of pressed.
const HoldAfter = 800 * time.Millisecond

// Debouncer turns a bouncing line into a level that changes only after the line has been still for
// Settle. The zero value is an inactive line.
type Debouncer struct {
	level   bool          // what counts
	raw     bool          // what the last edge said
	edgeAt  time.Duration // of the last edge
	waiting bool          // raw differs from level and has not been still for Settle
}

// Change is a debounced level and since when it applies.
type Change struct {
	At   time.Duration
	High bool
}

// Edge processes an edge and returns the change that happened before it, if any. Edges must be in
// the order of time.
func (d *Debouncer) Edge(at time.Duration, high bool) (Change, bool) {
	c, changed := d.Advance(at)
	d.raw, d.edgeAt = high, at
	d.waiting = d.raw != d.level
	return c, changed
}

// Advance processes the time up to now, without edges, and returns the change in it, if any. An
// edge exactly at the end of Settle still counts as bouncing.
func (d *Debouncer) Advance(now time.Duration) (Change, bool) {
	if !d.waiting || now < d.edgeAt+Settle {
		return Change{}, false
	}
	d.level, d.waiting = d.raw, false
	return Change{d.edgeAt + Settle, d.level}, true
}

// Due returns when Advance will return a change if there are no further edges.
func (d *Debouncer) Due() (at time.Duration, ok bool) { return d.edgeAt + Settle, d.waiting }

// Push is a press of a button.
type Push struct {
	At   time.Duration
	Held bool // for HoldAfter: it counts then, and the release does not
}

// Button turns a button's edges into pushes. A press counts when it is released, to distinguish it
// from a hold. The zero value is a button that is not pressed.
type Button struct {
	Debouncer
	down   bool
	downAt time.Duration
	held   bool // this hold was returned
}

// Edge processes an edge and returns the push that happened before it, if any.
func (b *Button) Edge(at time.Duration, high bool) (Push, bool) {
	c, changed := b.Debouncer.Edge(at, high)
	return b.changed(c, changed, at)
}

// Advance processes the time up to now, without edges, and returns the push in it, if any.
func (b *Button) Advance(now time.Duration) (Push, bool) {
	c, changed := b.Debouncer.Advance(now)
	return b.changed(c, changed, now)
}

func (b *Button) changed(c Change, changed bool, now time.Duration) (Push, bool) {
	if changed && c.High {
		b.down, b.downAt, b.held = true, c.At, false
	}
	if changed && !c.High {
		counts := b.down && !b.held
		b.down = false
		return Push{c.At, c.At-b.downAt >= HoldAfter}, counts
	}
	if b.down && !b.held && now >= b.downAt+HoldAfter && !b.waiting {
		b.held = true
		return Push{b.downAt + HoldAfter, true}, true
	}
	return Push{}, false
}

// Due returns when Advance will return a push if there are no further edges.
func (b *Button) Due() (time.Duration, bool) {
	if at, ok := b.Debouncer.Due(); ok {
		return at, true
	}
	return b.downAt + HoldAfter, b.down && !b.held
}

// Quadrature decodes a rotary encoder's two lines A and B. Between two detents the
// lines go once through the Gray code, and rest with both inactive:
//
//	         detent           detent
//	A  ______/¯¯¯¯¯¯\__________/¯¯     one step to the right; to the left, B leads
//	B  __________/¯¯¯¯¯¯\__________
//
// Each edge changes one line and so moves one quarter forwards or back; bouncing of
// one line moves back and forth and cancels itself. A step counts on arriving at the
// rest position after a whole turn of the code; a step that is begun and taken back is
// none. The zero value rests at a detent.
type Quadrature struct {
	a, b     bool
	quarters int
}

// Edge processes an edge of line 0 (A) or 1 (B) and returns the step that it completes: +1 to the
// right, −1 to the left, or 0.
func (q *Quadrature) Edge(line int, high bool) int {
	before := q.phase()
	switch line {
	case 0:
		q.a = high
	case 1:
		q.b = high
	}
	return q.moved(before)
}

// phase returns the place in the Gray code: 0 at rest, then A, A and B, B.
func (q *Quadrature) phase() int {
	switch {
	case q.a && q.b:
		return 2
	case q.a:
		return 1
	case q.b:
		return 3
	}
	return 0
}

func (q *Quadrature) moved(before int) int {
	switch (q.phase() - before + 4) % 4 {
	case 1:
		q.quarters++
	case 3:
		q.quarters--
	}
	if q.phase() != 0 {
		return 0
	}
	step := q.quarters / 4 // −1, 0 or 1: the count restarts at each rest position
	q.quarters = 0
	return step
}

// Resume sets the lines' levels after edges were lost. A step in progress is dropped, so that none
// is counted in the wrong direction.
func (q *Quadrature) Resume(a, b bool) { *q = Quadrature{a: a, b: b} }

// Input is an action of a person at the panel.
type Input int8

// The inputs of the encoder, its push and the two buttons; each push short or held.
const (
	InputNone Input = iota
	TurnRight
	TurnLeft
	PushKnob
	HoldKnob
	PushChoose
	HoldChoose
	PushFreeze
	HoldFreeze
)

var inputNames = [...]string{"none", "turn right", "turn left", "push knob", "hold knob", "push choose", "hold choose", "push freeze",
	"hold freeze"}

// String returns the input's name for people: "turn right".
func (i Input) String() string {
	if i < 0 || int(i) >= len(inputNames) {
		return "?"
	}
	return inputNames[i]
}

// Control is one of the panel's controls.
type Control int8

// The controls. The knob can be turned and pushed.
const (
	ControlTurn Control = iota
	ControlKnob
	ControlChoose
	ControlFreeze
	NumControls int = iota
)

var controlNames = [NumControls]string{"encoder", "knob", "choose", "freeze"}

// String returns the control's name as board.toml writes it.
func (c Control) String() string {
	if c < 0 || int(c) >= NumControls {
		return "?"
	}
	return controlNames[c]
}

// Did is an input and its time on the clock of the edges.
type Did struct {
	Input Input
	At    time.Duration
}

// decoder turns one control's edges into inputs.
type decoder struct {
	control Control
	button  Button
	turn    Quadrature
	seq     uint32 // of the last edge
	any     bool   // an edge has come
	lost    bool   // the kernel dropped edges: the levels are unknown until the lines are read
}

// edge processes an edge. full says that the kernel's queue was full when it was read. A gap in the
// edges' numbers then means that the queue overflowed, and edge returns nothing until the lines
// have been read again: an incomplete step might seem to go the other way. Any other gap is a
// bounce that was faster than the kernel's handler, which merges several edges into one with the
// final level, and nothing is lost.
func (d *decoder) edge(e Edge, full bool) []Did {
	d.lost = d.lost || full && d.any && e.Seq != d.seq+1
	d.any, d.seq = true, e.Seq
	if d.lost {
		return nil
	}
	if d.control == ControlTurn {
		switch d.turn.Edge(e.Line, e.High) {
		case 1:
			return []Did{{TurnRight, e.At}}
		case -1:
			return []Did{{TurnLeft, e.At}}
		}
		return nil
	}
	p, ok := d.button.Edge(e.At, e.High)
	return d.pushed(p, ok)
}

// advance processes the time up to now, without edges.
func (d *decoder) advance(now time.Duration) []Did {
	if d.control == ControlTurn {
		return nil
	}
	p, ok := d.button.Advance(now)
	return d.pushed(p, ok)
}

func (d *decoder) pushed(p Push, ok bool) []Did {
	if !ok {
		return nil
	}
	in := map[Control]Input{ControlKnob: PushKnob, ControlChoose: PushChoose, ControlFreeze: PushFreeze}[d.control]
	if p.Held {
		in++ // the constant for held follows the one for pushed
	}
	return []Did{{in, p.At}}
}

// StaleAfter is the greatest age of an input that is delivered. An older one, delayed because the
// program was busy or stopped, would do something that is no longer wanted.
const StaleAfter = 300 * time.Millisecond

// Fresh reports whether an input may still be delivered.
func (d Did) Fresh(now time.Duration) bool { return now-d.At <= StaleAfter }
