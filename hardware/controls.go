package hardware

import "time"

// What contacts do is decided by pure functions of the edges' times. A contact that
// closes bounces for some milliseconds; each press and each turn must count once.

// Settle is how long a button must be still before its level counts. Contacts of
// small push buttons bounce for 1 to 5 ms, bad ones for 10.
const Settle = 12 * time.Millisecond

// HoldAfter is how long a button is held before it counts as held, not pressed.
const HoldAfter = 800 * time.Millisecond

// Debouncer turns a bouncing line into a level that changes only when the line has
// been still for Settle. The zero value is a line that rests.
type Debouncer struct {
	level   bool          // what counts
	raw     bool          // what the last edge said
	edgeAt  time.Duration // of the last edge
	waiting bool          // raw differs from level, and the line is not still yet
}

// Change is a level that counts, and since when it does.
type Change struct {
	At   time.Duration
	High bool
}

// Edge takes an edge, in the order of time, and returns the change that came to pass
// before it, if any.
func (d *Debouncer) Edge(at time.Duration, high bool) (Change, bool) {
	c, changed := d.Advance(at)
	d.raw, d.edgeAt = high, at
	d.waiting = d.raw != d.level
	return c, changed
}

// Advance says that no edge came up to now, and returns the change that this makes, if
// any. An edge exactly at the end of Settle still counts as bouncing before it.
func (d *Debouncer) Advance(now time.Duration) (Change, bool) {
	if !d.waiting || now < d.edgeAt+Settle {
		return Change{}, false
	}
	d.level, d.waiting = d.raw, false
	return Change{d.edgeAt + Settle, d.level}, true
}

// Due returns when Advance has something to say, if no further edge comes.
func (d *Debouncer) Due() (at time.Duration, ok bool) { return d.edgeAt + Settle, d.waiting }

// Push is what a button's user did.
type Push struct {
	At   time.Duration
	Held bool // for HoldAfter; it counts at that moment, and the release counts no more
}

// Button makes pushes of a button's levels: a press counts when it is released, so
// that it can be told from a hold. The zero value is a button that no one touches.
type Button struct {
	Debouncer
	down   bool
	downAt time.Duration
	held   bool // this hold has counted
}

// Edge takes an edge and returns the push that came to pass before it, if any.
func (b *Button) Edge(at time.Duration, high bool) (Push, bool) {
	c, changed := b.Debouncer.Edge(at, high)
	return b.changed(c, changed, at)
}

// Advance says that no edge came up to now and returns the push that this makes, if any.
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

// Due returns when Advance has something to say, if no further edge comes.
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

// Edge takes an edge of line 0 (A) or 1 (B) and returns the step that it completes:
// +1 to the right, −1 to the left, or 0.
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

// phase is the place in the Gray code: 0 at rest, then A, A and B, B.
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
	step := q.quarters / 4 // −1, 0 or 1: every passage of the rest position ends here
	q.quarters = 0
	return step
}

// Resume takes the lines' levels again after edges were lost. What was under way is
// forgotten: whatever follows, no step comes from it, and none the wrong way round.
func (q *Quadrature) Resume(a, b bool) { *q = Quadrature{a: a, b: b} }

// Input is what a person did at the panel.
type Input int8

// The inputs: the encoder, its push, and the two buttons; each push short or held.
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

// String names the input for people: "turn right".
func (i Input) String() string {
	if i < 0 || int(i) >= len(inputNames) {
		return "?"
	}
	return inputNames[i]
}

// Control is one of the panel's controls.
type Control int8

// The controls. The knob turns and can be pushed.
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

// Did is an input and when it happened, on the clock of the edges.
type Did struct {
	Input Input
	At    time.Duration
}

// decoder makes inputs of one control's edges.
type decoder struct {
	control Control
	button  Button
	turn    Quadrature
	seq     uint32 // of the last edge
	any     bool   // an edge has come
	lost    bool   // the kernel had to drop edges: nothing is known until the lines are read
}

// edge takes an edge. full says that the kernel's queue was full when it was read. A
// gap in the edges' numbers then means that the queue ran over, and nothing is said
// until the lines have been read again: a step with a hole in it might seem to go the
// other way. Any other gap is a bounce that was faster than the kernel's handler, which
// makes one edge of several, with the level at which they ended: nothing is lost.
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

// advance says that no edge came up to now.
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
		in++ // the held one follows the pushed one
	}
	return []Did{{in, p.At}}
}

// StaleAfter is how old an input may be when it is handed on. One that waited longer,
// because the program was busy or stopped, would do something that no one wants now.
const StaleAfter = 300 * time.Millisecond

// Fresh reports whether an input may still be handed on.
func (d Did) Fresh(now time.Duration) bool { return now-d.At <= StaleAfter }
