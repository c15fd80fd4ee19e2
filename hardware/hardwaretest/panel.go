// Package hardwaretest provides a panel without hardware that records what it showed.
package hardwaretest

import (
	"sync"
	"time"

	"sightline/hardware"
)

// Panel is a hardware.Panel without hardware. The zero value is ready to use.
type Panel struct {
	Now func() time.Time // for blinking; nil: time.Now
	Err error            // returned by Show, when set

	mu     sync.Mutex
	shown  []hardware.State
	halted bool
}

var _ hardware.Panel = (*Panel)(nil)

// Show implements hardware.Panel: it records the state.
func (p *Panel) Show(s hardware.State) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.shown, p.halted = append(p.shown, s), false
	return p.Err
}

// Halt implements hardware.Panel.
func (p *Panel) Halt() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.halted = true
	return nil
}

// String implements hardware.Panel.
func (p *Panel) String() string { return "test panel" }

// Shown returns all states shown, oldest first.
func (p *Panel) Shown() []hardware.State {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]hardware.State(nil), p.shown...)
}

// Last returns the newest state. It reports false if there is none.
func (p *Panel) Last() (s hardware.State, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.shown) == 0 {
		return s, false
	}
	return p.shown[len(p.shown)-1], true
}

// Halted reports whether Halt was called last.
func (p *Panel) Halted() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.halted
}

// Lamps returns which lamps are lit; none after Halt.
func (p *Panel) Lamps() (on [hardware.NumLamps]bool) {
	s, ok := p.Last()
	if !ok || p.Halted() {
		return on
	}
	now := p.Now
	if now == nil {
		now = time.Now
	}
	return hardware.LampsAt(s, now())
}
