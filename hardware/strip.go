package hardware

import (
	"errors"
	"fmt"
	"image"
	"image/color"
	"io"
	"math"
	"slices"
	"time"

	"periph.io/x/conn/v3/display"
	"periph.io/x/conn/v3/physic"
	"periph.io/x/conn/v3/spi"
	"periph.io/x/devices/v3/apa102"
	"periph.io/x/devices/v3/nrzled"
)

// Side is one edge of the mat, as player 1 sees it.
type Side int8

// The edges in the order of a strip around the mat, counter-clockwise from the near left corner.
const (
	Near Side = iota
	Right
	Far
	Left
)

var sideNames = [...]string{"near", "right", "far", "left"}

// ParseSide reads "near", "right", "far" or "left".
func ParseSide(s string) (Side, error) {
	if i := slices.Index(sideNames[:], s); i >= 0 {
		return Side(i), nil
	}
	return 0, fmt.Errorf("side %q: expected near, right, far or left", s)
}

// StripLayout describes the strip: its lights lie evenly spaced along whole sides of the mat, one
// after the other.
type StripLayout struct {
	Lights            int
	Sides             []Side  // in the order of the strip
	Reversed          bool    // the cable is at the end of the last side
	WidthMM, HeightMM float64 // of the mat
}

// pointerHalf is half the width of the pointer to a ship, which is as wide as a small base.
const pointerHalf = 20.0 // mm

// The colours of the attacker and of the target. They also differ in brightness, for those who
// cannot distinguish green from red.
var (
	attackerColor = color.NRGBA{R: 0, G: 255, B: 60, A: 255}
	targetColor   = color.NRGBA{R: 150, G: 20, B: 0, A: 255}
)

// LightsAt returns the lights that point at a place on the mat, ascending: on each side those
// closest to it, at least one.
func (l StripLayout) LightsAt(xMM, yMM float64) []int {
	total := 0.0
	for _, s := range l.Sides {
		total += l.length(s)
	}
	if l.Lights <= 0 || !(total > 0) {
		return nil
	}
	pitch := total / float64(l.Lights)
	var out []int
	start := 0.0
	for _, s := range l.Sides {
		length := l.length(s)
		along := xMM
		if s == Right || s == Left {
			along = yMM
		}
		if s == Far || s == Left {
			along = length - along
		}
		along = math.Max(0, math.Min(along, length)) // also of NaN: Min and Max keep it, and no light is that
		// Light i lies at (i + ½) pitches from the beginning.
		low, high := max(start, start+along-pointerHalf), min(start+length, start+along+pointerHalf)
		first, last := int(math.Ceil(low/pitch-0.5)), int(math.Ceil(high/pitch-0.5))-1
		if last < first { // lights further apart than the pointer is wide
			first = int((start + along) / pitch)
			last = first
		}
		for i := max(first, 0); i <= min(last, l.Lights-1) && !math.IsNaN(along); i++ {
			out = append(out, l.place(i))
		}
		start += length
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// place returns the number of a light, counted from the cable.
func (l StripLayout) place(i int) int {
	if l.Reversed {
		return l.Lights - 1 - i
	}
	return i
}

func (l StripLayout) length(s Side) float64 {
	if s == Near || s == Far {
		return l.WidthMM
	}
	return l.HeightMM
}

// Colors returns the strip's colours: dark except for the lights that point at ships. Where
// attacker and target are in line, their lights alternate.
func (l StripLayout) Colors(pointers []Pointer) []color.NRGBA {
	out := make([]color.NRGBA, max(l.Lights, 0))
	for i := range out {
		out[i].A = 255
	}
	taken := map[int]bool{}
	for _, p := range pointers {
		c := attackerColor
		if p.Target {
			c = targetColor
		}
		for _, i := range l.LightsAt(p.XMM, p.YMM) {
			if !taken[i] || i%2 == 1 {
				out[i], taken[i] = c, true
			}
		}
	}
	return out
}

// Strip is an open strip of lights.
type Strip struct {
	layout StripLayout
	dev    display.Drawer
	port   io.Closer
	scale  float64 // brightness, 0 to 1
}

// NewStrip opens a strip of the kind "ws2812" or "apa102" on an SPI port. It takes ownership of the
// port, even if it fails. Brightness is the share of full light, more than 0 and at most 1.
func NewStrip(port spi.PortCloser, kind string, brightness float64, layout StripLayout) (*Strip, error) {
	s := &Strip{layout: layout, port: port, scale: brightness}
	var err error
	switch kind {
	case "ws2812":
		s.dev, err = nrzled.NewSPI(port, &nrzled.Opts{NumPixels: layout.Lights, Channels: 3, Freq: 2500 * physic.KiloHertz})
	case "apa102":
		o := apa102.PassThruOpts
		o.NumPixels = layout.Lights
		s.dev, err = apa102.New(port, &o)
	default:
		err = fmt.Errorf("strip %q: expected ws2812 or apa102", kind)
	}
	if err != nil {
		return nil, errors.Join(err, port.Close())
	}
	return s, nil
}

// Show lights the pointers.
func (s *Strip) Show(pointers []Pointer) error {
	colors := s.layout.Colors(pointers)
	img := image.NewNRGBA(image.Rect(0, 0, len(colors), 1))
	for i, c := range colors {
		dim := func(v uint8) uint8 { return uint8(math.Round(float64(v) * s.scale)) }
		img.SetNRGBA(i, 0, color.NRGBA{R: dim(c.R), G: dim(c.G), B: dim(c.B), A: 255})
	}
	return s.dev.Draw(s.dev.Bounds(), img, image.Point{})
}

// Close closes the port; the lights stay as they are.
func (s *Strip) Close() error { return s.port.Close() }

// stripEvery is how often an unchanged strip is written again: it cannot report that it lost power,
// and interference may have changed a colour.
const stripEvery = time.Second

// stripLine keeps a strip up to date. A write takes at most 3 ms (200 WS2812 at 2.5 MHz) and cannot
// block, so it needs no goroutine.
type stripLine struct {
	open    func() (*Strip, error) // nil: none
	strip   *Strip
	shown   []Pointer
	failure error
	writeAt time.Time
}

func (l *stripLine) show(pointers []Pointer, now time.Time) error {
	same := slices.Equal(l.shown, pointers) && l.strip != nil
	if l.open == nil || now.Before(l.writeAt) && (same || l.failure != nil) {
		return nil
	}
	l.writeAt = now.Add(stripEvery)
	err := l.write(pointers)
	first := l.failure == nil
	l.failure = err
	if err != nil && first {
		return fmt.Errorf("hardware: strip: %w", err)
	}
	return nil
}

func (l *stripLine) write(pointers []Pointer) (err error) {
	if l.strip == nil {
		if l.strip, err = l.open(); err != nil {
			l.strip = nil
			return err
		}
	}
	if err := l.strip.Show(pointers); err != nil {
		_ = l.strip.Close() // it failed already
		l.strip = nil
		return err
	}
	l.shown = slices.Clone(pointers)
	return nil
}

func (l *stripLine) halt() error {
	if l.strip == nil {
		return nil
	}
	err := errors.Join(l.strip.Show(nil), l.strip.Close())
	l.strip, l.shown, l.failure, l.writeAt = nil, nil, nil, time.Time{}
	if err != nil {
		return fmt.Errorf("hardware: strip: %w", err)
	}
	return nil
}

func (l *stripLine) says() string {
	switch {
	case l.open == nil:
		return ""
	case l.failure != nil:
		return "strip: " + l.failure.Error()
	}
	return "strip"
}
