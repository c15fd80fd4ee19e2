package hardware

import (
	"errors"
	"fmt"
	"image"
	"os"
	"slices"
	"strings"

	"periph.io/x/devices/v3/ssd1306/image1bit"
)

// These functions try single parts and put them out when the program cannot. Unlike a Board, they
// report errors at once and do not retry.

// Absent reports whether an error says that this machine lacks a GPIO line, or has none at all:
// there is no panel, as opposed to a broken one.
func Absent(err error) bool { return errors.Is(err, errNoGPIO) || errors.Is(err, errNoLine) }

// TestPicture returns a picture that shows a display's faults: a frame at the edge, a chequerboard
// on which dead rows and columns stand out, and words that show which way is up.
func TestPicture() *image1bit.VerticalLSB {
	img := image1bit.NewVerticalLSB(image.Rect(0, 0, DisplayWidth, DisplayHeight))
	for y := range DisplayHeight {
		for x := range DisplayWidth {
			edge := x == 0 || y == 0 || x == DisplayWidth-1 || y == DisplayHeight-1
			squares := y >= 2*lineHeight && (x/8+y/8)%2 == 0
			img.SetBit(x, y, image1bit.Bit(edge || squares))
		}
	}
	drawText(img, textWidth, 1, "Sightline test", image1bit.On)
	drawText(img, textWidth, lineHeight, "This is upright", image1bit.On)
	return img
}

// TryDisplay shows the test picture and returns a function that blanks the display. It fails if no
// display is wired or the display does not answer.
func (w Wiring) TryDisplay() (off func() error, err error) {
	if w.Bus == "" {
		return nil, errors.New("hardware: no display is wired")
	}
	d, err := w.openDisplay()
	if err != nil {
		return nil, fmt.Errorf("hardware: display: %w", err)
	}
	if err := d.Draw(TestPicture()); err != nil {
		return nil, errors.Join(fmt.Errorf("hardware: display: %w", err), d.Close())
	}
	return func() error { return errors.Join(d.blank(), d.Close()) }, nil
}

// TryStrip points the strip at the middle of the mat's near and far halves and returns a function
// that puts it out.
func (w Wiring) TryStrip() (off func() error, err error) {
	if w.StripPort == "" {
		return nil, errors.New("hardware: no strip is wired")
	}
	s, err := w.openStrip()
	if err != nil {
		return nil, fmt.Errorf("hardware: strip: %w", err)
	}
	middle := w.Strip.WidthMM / 2
	test := []Pointer{{XMM: middle, YMM: w.Strip.HeightMM / 4}, {XMM: middle, YMM: w.Strip.HeightMM * 3 / 4, Target: true}}
	if err := s.Show(test); err != nil {
		return nil, errors.Join(fmt.Errorf("hardware: strip: %w", err), s.Close())
	}
	return func() error { return errors.Join(s.Show(nil), s.Close()) }, nil
}

// BusDevice returns the device file of a bus or port of a Wiring: /dev/i2c-1 for "I2C1",
// /dev/spidev0.0 for "SPI0.0".
func BusDevice(name string) string {
	if n, ok := strings.CutPrefix(name, "SPI"); ok {
		return "/dev/spidev" + n
	}
	if strings.HasPrefix(name, "/") {
		return name
	}
	return "/dev/i2c-" + strings.TrimPrefix(name, "I2C")
}

// PutOut puts out all wired parts that can be reached, after the program that lit them was killed.
// A missing part is not an error.
func PutOut(w Wiring) error {
	var errs []error
	for i, name := range w.Lines {
		if name == "" {
			continue
		}
		out, err := OpenOutput(name, w.ActiveLow[i]) // opened dark
		if err == nil {
			err = errors.Join(out.Set(false), out.Close())
		}
		if err != nil && !Absent(err) {
			errs = append(errs, fmt.Errorf("hardware: lamp %v: %w", Lamp(i), err))
		}
	}
	if there(w.Bus) {
		d, err := w.openDisplay()
		if err == nil {
			err = errors.Join(d.blank(), d.Close())
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("hardware: display: %w", err))
		}
	}
	if there(w.StripPort) {
		s, err := w.openStrip()
		if err == nil {
			err = errors.Join(s.Show(nil), s.Close())
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("hardware: strip: %w", err))
		}
	}
	return errors.Join(errs...)
}

// there reports whether a bus is wired and exists on this machine.
func there(bus string) bool {
	if bus == "" {
		return false
	}
	_, err := os.Stat(BusDevice(bus))
	return err == nil
}

// HasLine reports whether this machine has a GPIO line with any of the names.
func HasLine(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		if name == "" {
			return false
		}
		_, err := findLine(name)
		return err == nil
	})
}
