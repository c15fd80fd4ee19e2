package hardware

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"
)

// Output is one GPIO line that lights a lamp. Nothing is ever read back.
type Output interface {
	Set(lit bool) error
	Close() error // lets the line go
}

// Parts are what a Board is built from. Any of them may be missing.
type Parts struct {
	Name string // for people: "board.toml"

	// Lamps opens each lamp's line, dark; the board owns it and closes it. It is
	// called again after each failure. nil: the lamp is not fitted.
	Lamps [NumLamps]func() (Output, error)

	// Display opens the display; nil: there is none.
	Display func() (*Display, error)

	// Strip opens the strip of lights along the mat's edge; nil: there is none.
	Strip func() (*Strip, error)

	Now func() time.Time // nil: time.Now
	Log *slog.Logger     // nil: slog.Default()
}

// Board is the real panel: lamps on GPIO lines, an SSD1306, a strip of lights.
type Board struct {
	name   string
	now    func() time.Time
	screen *screen

	mu    sync.Mutex // guards what follows
	lamps [NumLamps]lampLine
	strip stripLine
}

var _ Panel = (*Board)(nil)

// NewBoard returns a panel made of the parts. It touches nothing yet.
func NewBoard(p Parts) *Board {
	if p.Now == nil {
		p.Now = time.Now
	}
	if p.Log == nil {
		p.Log = slog.Default()
	}
	b := &Board{name: p.Name, now: p.Now, screen: newScreen(p.Display, p.Now, p.Log), strip: stripLine{open: p.Strip}}
	for i, open := range p.Lamps {
		b.lamps[i].open = open
	}
	return b
}

// Show implements Panel. It never waits for the display.
func (b *Board) Show(s State) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	return errors.Join(b.showLamps(LampsAt(s, now), now), b.strip.show(s.Pointers, now), b.screen.show(Draw(s)))
}

// showLamps brings every lamp to its level; those that go out do so first, so that
// two answers never stand there at once.
func (b *Board) showLamps(on [NumLamps]bool, now time.Time) error {
	var failed []error
	without := 0 // lamps that fail because the machine has no GPIO at all: one error for all
	for _, lit := range []bool{false, true} {
		for i := range b.lamps {
			if on[i] != lit {
				continue
			}
			if err := b.lamps[i].show(lit, now); errors.Is(err, errNoGPIO) {
				without++
			} else if err != nil {
				failed = append(failed, fmt.Errorf("hardware: lamp %v: %w", Lamp(i), err))
			}
		}
	}
	if without > 0 {
		failed = append(failed, fmt.Errorf("hardware: %d lamps: %w", without, errNoGPIO))
	}
	return errors.Join(failed...)
}

// Halt implements Panel.
func (b *Board) Halt() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	var errs []error
	for i := range b.lamps {
		if err := b.lamps[i].halt(); err != nil {
			errs = append(errs, fmt.Errorf("hardware: lamp %v: %w", Lamp(i), err))
		}
	}
	return errors.Join(append(errs, b.strip.halt(), b.screen.halt())...)
}

// String implements Panel: what works and what does not.
func (b *Board) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var said []string
	working := 0
	for i := range b.lamps {
		switch l := &b.lamps[i]; {
		case l.failure != nil && errors.Is(l.failure, errNoGPIO): // said once for all
			if len(said) == 0 || said[len(said)-1] != errNoGPIO.Error() {
				said = append(said, errNoGPIO.Error())
			}
		case l.failure != nil:
			said = append(said, fmt.Sprintf("lamp %v: %v", Lamp(i), l.failure))
		case l.open != nil:
			working++
		}
	}
	said = append([]string{fmt.Sprintf("%d of %d lamps", working, NumLamps)}, said...)
	said = append(said, b.screen.says())
	if s := b.strip.says(); s != "" {
		said = append(said, s)
	}
	return b.name + ": " + strings.Join(said, "; ")
}

// plain is an error for the panel's own line, where it is clear whose error it is.
func plain(err error) string { return strings.TrimPrefix(err.Error(), "hardware: ") }

// A lamp whose line fails is opened again at once, then at every refresh for a while,
// so that a passing error shows for no longer than one; then once a second.
const (
	lampPatience = time.Second
	lampRetry    = time.Second
)

// lampLine is one lamp's line: open when it could be opened.
type lampLine struct {
	open    func() (Output, error) // nil: not fitted
	out     Output                 // nil: closed
	failure error
	since   time.Time // of the failure
	retryAt time.Time
}

// show brings the lamp to its level. Only the first failure of a series is returned.
func (l *lampLine) show(lit bool, now time.Time) error {
	if l.open == nil || l.out == nil && now.Before(l.retryAt) {
		return nil
	}
	err := l.set(lit)
	if err != nil { // perhaps the chip went away and came back
		err = l.set(lit)
	}
	if err == nil {
		l.failure = nil
		return nil
	}
	first := l.failure == nil
	if l.failure = err; first {
		l.since = now
	}
	if l.retryAt = now; now.Sub(l.since) >= lampPatience {
		l.retryAt = now.Add(lampRetry)
	}
	if first {
		return err
	}
	return nil
}

// set writes the level, also when it is the one that was written before: a chip that
// was unplugged and came back has forgotten it, and only a write tells. It lets go of
// the line when that fails: better dark than wrong.
func (l *lampLine) set(lit bool) error {
	if l.out == nil {
		out, err := l.open()
		if err != nil {
			return err
		}
		l.out = out
	}
	if err := l.out.Set(lit); err != nil {
		_ = l.out.Close() // it failed already
		l.out = nil
		return err
	}
	return nil
}

// halt puts the lamp out and lets its line go.
func (l *lampLine) halt() error {
	if l.out == nil {
		return nil
	}
	err := errors.Join(l.out.Set(false), l.out.Close())
	l.out, l.retryAt = nil, time.Time{}
	return err
}
