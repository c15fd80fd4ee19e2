package hardware

import (
	"errors"
	"fmt"
	"image"
	"log/slog"
	"strings"
	"sync"
	"time"

	"periph.io/x/conn/v3/gpio"
	"periph.io/x/conn/v3/i2c"
	"periph.io/x/devices/v3/ssd1306"
	"periph.io/x/devices/v3/ssd1306/image1bit"
)

// Pin is what a lamp needs of a GPIO pin. Nothing is ever read back: with
// periph's gpioioctl, reading an output turns it into an input.
type Pin interface {
	Out(gpio.Level) error
}

// Parts are what a Board is built from. Any of them may be missing.
type Parts struct {
	Name      string         // for people: "Raspberry Pi, board.toml"
	Lamps     [NumLamps]Pin  // nil: not there
	ActiveLow [NumLamps]bool // lit when the pin is low
	Missing   []string       // what was looked for and not found, one line each

	// OpenBus opens the display's bus; the board owns it and closes it. nil: no display.
	OpenBus func() (i2c.BusCloser, error)
	Address uint16 // of the SSD1306; 0 means 0x3C

	Now func() time.Time // nil: time.Now
	Log *slog.Logger     // nil: slog.Default()
}

// How a display that fails is tried again, and how often a display that seems
// well is asked whether it is still there (it has nothing else to say so with).
const (
	retryFirst = time.Second
	retryMost  = 30 * time.Second
	askEvery   = 2 * time.Second
)

// Board is the real panel: lamps on GPIO pins and an SSD1306 on I²C.
type Board struct {
	parts Parts

	mu      sync.Mutex // guards everything below
	lit     [NumLamps]lampLevel
	broken  [NumLamps]error
	bus     i2c.BusCloser
	display *ssd1306.Dev // nil: closed; opened again at retryAt
	shown   *image1bit.VerticalLSB
	everUp  bool // the display has held a picture of ours
	failure error
	retryIn time.Duration
	retryAt time.Time
	askAt   time.Time
}

// lampLevel is what was last written to a lamp's pin; the zero value is "nothing yet".
type lampLevel int8

const (
	levelUnset lampLevel = iota
	levelOff
	levelOn
)

var _ Panel = (*Board)(nil)

// NewBoard returns a panel made of the parts. It touches nothing yet.
func NewBoard(p Parts) *Board {
	if p.Now == nil {
		p.Now = time.Now
	}
	if p.Log == nil {
		p.Log = slog.Default()
	}
	if p.Address == 0 {
		p.Address = ssd1306Address
	}
	return &Board{parts: p}
}

// Show implements Panel.
func (b *Board) Show(s State) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.parts.Now()
	return errors.Join(b.showLamps(LampsAt(s, now)), b.showPicture(Draw(s), now))
}

// showLamps writes the lamps that changed. A lamp that fails once is given up: a
// busy line stays busy, and gpioioctl is not to be trusted after a failed request.
func (b *Board) showLamps(on [NumLamps]bool) error {
	var failed []error
	for i, pin := range b.parts.Lamps {
		want := levelOff
		if on[i] {
			want = levelOn
		}
		if pin == nil || b.broken[i] != nil || b.lit[i] == want {
			continue
		}
		if err := pin.Out(gpio.Level(on[i] != b.parts.ActiveLow[i])); err != nil {
			b.broken[i] = fmt.Errorf("hardware: lamp %v: %w", Lamp(i), err)
			failed = append(failed, b.broken[i])
			continue
		}
		b.lit[i] = want
	}
	return errors.Join(failed...)
}

// showPicture brings the picture to the display, opening it again when its time has come.
func (b *Board) showPicture(img *image1bit.VerticalLSB, now time.Time) error {
	if b.parts.OpenBus == nil {
		return nil
	}
	if b.display == nil {
		if now.Before(b.retryAt) {
			return nil
		}
		if err := b.openDisplay(); err != nil {
			return b.displayFailed(err, now)
		}
	}
	if !now.Before(b.askAt) { // is it still there? the contrast is set to what it is
		b.askAt = now.Add(askEvery)
		if err := b.display.SetContrast(0xFF); err != nil {
			return b.displayFailed(err, now)
		}
	}
	if b.shown != nil && string(b.shown.Pix) == string(img.Pix) {
		return nil
	}
	if err := b.display.Draw(img.Bounds(), img, image.Point{}); err != nil {
		return b.displayFailed(err, now)
	}
	b.shown, b.everUp = img, true
	if b.failure != nil {
		b.parts.Log.Info("hardware: the display is back")
	}
	b.failure, b.retryIn = nil, 0
	return nil
}

// openDisplay opens the bus if need be and makes a new Dev. A Dev that has seen an
// error is never used again: it believes that the lost picture was shown and would
// not send it a second time.
func (b *Board) openDisplay() error {
	if b.bus == nil {
		bus, err := b.parts.OpenBus()
		if err != nil {
			return err
		}
		b.bus = bus
	}
	dev, err := ssd1306.NewI2C(addressed{b.bus, b.parts.Address}, &ssd1306.DefaultOpts)
	if err != nil {
		return err
	}
	b.display, b.shown = dev, nil
	return nil
}

// displayFailed lets go of the display and says when to try again. Only the first
// failure of a series is an error to the caller.
func (b *Board) displayFailed(err error, now time.Time) error {
	first := b.failure == nil
	b.closeDisplay()
	b.failure = fmt.Errorf("hardware: display: %w", err)
	b.retryIn = min(max(2*b.retryIn, retryFirst), retryMost)
	b.retryAt = now.Add(b.retryIn)
	if first {
		return b.failure
	}
	return nil
}

func (b *Board) closeDisplay() {
	b.display, b.shown = nil, nil
	if b.bus != nil {
		if err := b.bus.Close(); err != nil {
			b.parts.Log.Warn("hardware: close the display's bus", "err", err)
		}
		b.bus = nil
	}
}

// Halt implements Panel. A display that had failed is tried once more, so that it
// is not left with an old answer.
func (b *Board) Halt() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	errs := []error{b.showLamps([NumLamps]bool{})}
	if b.everUp {
		errs = append(errs, b.blankDisplay())
	}
	b.closeDisplay()
	b.everUp = false
	return errors.Join(errs...)
}

func (b *Board) blankDisplay() error {
	if b.display == nil {
		if err := b.openDisplay(); err != nil {
			return fmt.Errorf("hardware: blank the display: %w", err)
		}
	}
	dark := image1bit.NewVerticalLSB(image.Rect(0, 0, DisplayWidth, DisplayHeight))
	err := errors.Join(b.display.Draw(dark.Bounds(), dark, image.Point{}), b.display.Halt())
	if err != nil {
		return fmt.Errorf("hardware: blank the display: %w", err)
	}
	return nil
}

// String implements Panel: what works and what does not.
func (b *Board) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var said []string
	working := 0
	for i, pin := range b.parts.Lamps {
		if b.broken[i] != nil {
			said = append(said, plain(b.broken[i]))
		} else if pin != nil {
			working++
		}
	}
	said = append([]string{fmt.Sprintf("%d of %d lamps", working, NumLamps)}, said...)
	switch {
	case b.failure != nil:
		said = append(said, plain(b.failure))
	case b.parts.OpenBus == nil:
		said = append(said, "no display")
	default:
		said = append(said, "display")
	}
	said = append(said, b.parts.Missing...)
	return b.parts.Name + ": " + strings.Join(said, "; ")
}

// plain is an error for the panel's own line, where it is clear whose error it is.
func plain(err error) string { return strings.TrimPrefix(err.Error(), "hardware: ") }

// ssd1306Address is the one address that periph's driver knows.
const ssd1306Address = 0x3C

// addressed sends everything to another address, for displays strapped to 0x3D.
type addressed struct {
	i2c.Bus
	address uint16
}

// Tx implements i2c.Bus.
func (a addressed) Tx(_ uint16, w, r []byte) error { return a.Bus.Tx(a.address, w, r) }
