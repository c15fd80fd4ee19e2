package hardware

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"
)

// Output is one GPIO line that lights a lamp. It is never read back.
type Output interface {
	Set(lit bool) error
	Close() error // lets the line go
}

// Parts are the parts of a Board. Any of them may be missing.
type Parts struct {
	Name string // for people: "board.toml"

	// Lamps open the lamps' lines, dark. The board owns a line and closes it. It calls the function
	// again after each failure. Nil: the lamp is not fitted.
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

	mu    sync.Mutex // guards the fields below
	lamps [NumLamps]lampLine
	strip stripLine
}

var _ Panel = (*Board)(nil)

// NewBoard returns a panel made of the parts. It does not access hardware yet.
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

// showLamps sets every lamp. It first puts lamps out and then lights others, so that two answers
// are never visible at once.
func (b *Board) showLamps(on [NumLamps]bool, now time.Time) error {
	var failed []error
	without := 0 // lamps that fail because the machine has no GPIO: one error for all
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

// plain returns an error without the package's prefix, for the panel's own line.
func plain(err error) string { return strings.TrimPrefix(err.Error(), "hardware: ") }

// A lamp whose line fails is reopened at once, then for a while at every refresh, so that a passing
// error is hardly visible, and then once a second.
const (
	lampPatience = time.Second
	lampRetry    = time.Second
)

// lampLine is the line of one lamp, if it could be opened.
type lampLine struct {
	open    func() (Output, error) // nil: not fitted
	out     Output                 // nil: closed
	failure error
	since   time.Time // of the failure
	retryAt time.Time
}

// show sets the lamp. It returns only the first failure of a series.
func (l *lampLine) show(lit bool, now time.Time) error {
	if l.open == nil || l.out == nil && now.Before(l.retryAt) {
		return nil
	}
	err := l.set(lit)
	if err != nil { // the chip may have been unplugged and reconnected
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

// set writes the level even if it is unchanged, because a chip that was unplugged and reconnected
// has lost it. If writing fails, set closes the line: a dark lamp is better than a wrong one.
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

// halt puts the lamp out and closes its line.
func (l *lampLine) halt() error {
	if l.out == nil {
		return nil
	}
	err := errors.Join(l.out.Set(false), l.out.Close())
	l.out, l.retryAt = nil, time.Time{}
	return err
}
