package hardware

import (
	"errors"
	"log/slog"

	"github.com/warthog618/go-gpiocdev/uapi"
)

// Wiring says to which line or bus each part of the panel is connected. The zero value is a panel
// without parts.
type Wiring struct {
	Name      string
	Lines     [NumLamps]string // GPIO line names, "GPIO17"; "" for a lamp that is not fitted
	ActiveLow [NumLamps]bool   // lit when the line is low
	Labels    [NumLamps]string // the lamps' labels for the page; "" for the lamp's name
	Controls  [NumControls]ControlLines

	Bus         string // of the display: "I2C1", or "SPI0.0"; "" for no display
	DataCommand string // GPIO line of a display on SPI
	Display     DisplayOptions

	StripPort       string // "SPI0.0"; "" for no strip
	StripKind       string // "ws2812" or "apa102"
	StripBrightness float64
	Strip           StripLayout
}

// Open returns the panel of the wiring. It does not access hardware yet, and parts may be missing:
// the panel's String names them, and the panel retries.
func Open(w Wiring, log *slog.Logger) *Board {
	p := Parts{Name: w.Name, Log: log}
	for i, name := range w.Lines {
		if name != "" {
			p.Lamps[i] = func() (Output, error) { return OpenOutput(name, w.ActiveLow[i]) }
		}
	}
	if w.Bus != "" {
		p.Display = w.openDisplay
	}
	if w.StripPort != "" {
		p.Strip = w.openStrip
	}
	return NewBoard(p)
}

// OpenOutput opens a GPIO line as an output that is off.
func OpenOutput(name string, activeLow bool) (Output, error) {
	flags := uapi.LineFlagV2Output
	if activeLow {
		flags |= uapi.LineFlagV2ActiveLow
	}
	lines, err := requestLines(flags, name)
	if err != nil {
		return nil, err
	}
	return lines, nil
}

func (w Wiring) openStrip() (*Strip, error) {
	port, err := OpenSPI(w.StripPort)
	if err != nil {
		return nil, err
	}
	return NewStrip(port, w.StripKind, w.StripBrightness, w.Strip)
}

func (w Wiring) openDisplay() (*Display, error) {
	if w.DataCommand == "" {
		bus, err := OpenI2C(w.Bus)
		if err != nil {
			return nil, err
		}
		return NewDisplayI2C(bus, w.Display)
	}
	port, err := OpenSPI(w.Bus)
	if err != nil {
		return nil, err
	}
	dc, err := OpenOutput(w.DataCommand, false)
	if err != nil {
		return nil, errors.Join(err, port.Close())
	}
	return NewDisplaySPI(port, dc, w.Display)
}
