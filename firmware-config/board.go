// Package firmwareconfig holds the files that tell a board what is wired to it,
// and reads them strictly, so that a test can check that they are valid.
//
// A [Board] is plain values: names of pins and buses as the operating system
// knows them. Nothing here touches hardware; the program hands the values on.
package firmwareconfig

import (
	_ "embed"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/BurntSushi/toml"
)

// Board says what is wired where.
type Board struct {
	Lamps   map[string]Lamp // by the names of LampNames; a lamp that is absent is not wired
	Display Display         // its Kind is "" when there is no display
	Encoder Encoder         // its A is "" when there is none
	Buttons map[string]Button
	Strip   Strip // its Kind is "" when there is none
}

// Lamp is one light and its pin.
type Lamp struct {
	Pin       string // as the header names it: "GPIO17"
	ActiveLow bool   // lit when the pin is low
	Label     string // what stands next to it; "" for its name
}

// Display is a small screen on an I²C bus or an SPI port.
type Display struct {
	Kind        string // "ssd1306", or "" for none
	Bus         string // "I2C1" or "SPI0.0"
	Address     uint16 // on I²C: 7 bits, 0x08…0x77
	DataCommand string // on SPI: the pin of the D/C line
	Contrast    byte   // brightness, 1…255; 0 for full
	Rotated     bool   // it hangs upside down
}

// Encoder is the rotary encoder: two pins, each with a contact to ground. Where right
// and left are exchanged, so are A and B.
type Encoder struct{ A, B string }

// Button is one push button and its pin.
type Button struct {
	Pin        string
	ActiveHigh bool // the contact leads to 3.3 V, not to ground
}

// Strip is a strip of lights along the mat's edge.
type Strip struct {
	Kind       string   // "ws2812" or "apa102", or "" for none
	Port       string   // "SPI0.0"
	Lights     int      // how many, all sides together
	Sides      []string // "near", "right", "far", "left", in the strip's order
	Reversed   bool     // the cable is at the end of the last side
	Brightness float64  // share of full light, more than 0 and at most 1
}

// LampNames returns the lamps that a board may have.
func LampNames() []string {
	return []string{"range1", "range2", "range3", "in_arc", "obstructed", "overlap", "too_close", "no_view"}
}

// ButtonNames returns the buttons that a board may have; the encoder's push is "knob".
func ButtonNames() []string { return []string{"knob", "choose", "freeze"} }

// SideNames returns the mat's sides that a strip may lie along, as player 1 sees them.
func SideNames() []string { return []string{"near", "right", "far", "left"} }

//go:embed board.toml
var boardTOML string

// Default returns the board that the shipped board.toml describes.
func Default() Board {
	b, err := Parse(strings.NewReader(boardTOML))
	if err != nil {
		panic("firmwareconfig: the shipped " + err.Error()) // a test parses it
	}
	return b
}

// rawBoard is a board as the file spells it.
type rawBoard struct {
	Lamps map[string]struct {
		Pin       string `toml:"pin"`
		ActiveLow bool   `toml:"active_low"`
		Label     string `toml:"label"`
	} `toml:"lamps"`
	Display *struct {
		Kind        string `toml:"kind"`
		Bus         string `toml:"bus"`
		Address     uint16 `toml:"address"`
		DataCommand string `toml:"data_command"`
		Contrast    uint8  `toml:"contrast"`
		Rotated     bool   `toml:"rotated"`
	} `toml:"display"`
	Encoder *struct {
		A string `toml:"a"`
		B string `toml:"b"`
	} `toml:"encoder"`
	Buttons map[string]struct {
		Pin        string `toml:"pin"`
		ActiveHigh bool   `toml:"active_high"`
	} `toml:"buttons"`
	Strip *struct {
		Kind       string   `toml:"kind"`
		Port       string   `toml:"port"`
		Lights     int      `toml:"lights"`
		Sides      []string `toml:"sides"`
		Reversed   bool     `toml:"reversed"`
		Brightness float64  `toml:"brightness"`
	} `toml:"strip"`
}

// Parse reads a board file. An unknown key, a wrong type, an unknown lamp and a
// pin that is used twice are errors that name the line or the key.
func Parse(r io.Reader) (Board, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return Board{}, fmt.Errorf("board file: %w", err)
	}
	var raw rawBoard
	meta, err := toml.Decode(string(text), &raw)
	if err != nil {
		return Board{}, fmt.Errorf("board file: %w", err)
	}
	if unknown := meta.Undecoded(); len(unknown) > 0 {
		return Board{}, fmt.Errorf("board file: line %d: unknown key %q", LineOf(string(text), unknown[0]), unknown[0].String())
	}
	b, err := raw.board()
	if err != nil {
		return Board{}, fmt.Errorf("board file: %w", err)
	}
	return b, nil
}

// LineOf returns the line of a key in a TOML file: the last line of the shortest beginning of the
// file that defines it. The decoder does not report a key's place, and these files are short. It is
// exact for values on one line.
func LineOf(text string, key toml.Key) int {
	lines := strings.SplitAfter(text, "\n")
	for n := range lines {
		var tree map[string]any
		meta, err := toml.Decode(strings.Join(lines[:n+1], ""), &tree)
		if err == nil && HasKey(meta, key) {
			return n + 1
		}
	}
	return len(lines)
}

// HasKey reports whether a TOML file defines the key. (The decoder's own IsDefined does not look into
// arrays.)
func HasKey(meta toml.MetaData, key toml.Key) bool {
	return slices.ContainsFunc(meta.Keys(), func(k toml.Key) bool { return slices.Equal(k, key) })
}

// A pin is a line's name, or a chip and the line's number on it: "/dev/gpiochip0:17".
var (
	pinName = regexp.MustCompile(`^([A-Za-z0-9_.\-]+|/dev/gpiochip[0-9]+:[0-9]+)$`)
	i2cBus  = regexp.MustCompile(`^(I2C|/dev/i2c-)?[0-9]{1,2}$`)
	spiPort = regexp.MustCompile(`^(SPI|/dev/spidev)[0-9]\.[0-9]$`)
)

// maxLabel is what fits next to a lamp.
const maxLabel = 24

// board checks the values and gives them their types.
func (raw rawBoard) board() (Board, error) {
	b := Board{Lamps: map[string]Lamp{}, Buttons: map[string]Button{}}
	owners := pinOwners{}
	for _, name := range sortedKeys(raw.Lamps) {
		l := raw.Lamps[name]
		if !slices.Contains(LampNames(), name) {
			return Board{}, fmt.Errorf("lamps.%s: expected one of %s", name, strings.Join(LampNames(), ", "))
		}
		if err := owners.take(l.Pin, "lamps."+name, "pin"); err != nil {
			return Board{}, err
		}
		if len(l.Label) > maxLabel || !plainText(l.Label) {
			return Board{}, fmt.Errorf("lamps.%s.label: got %q, expected at most %d letters", name, l.Label, maxLabel)
		}
		b.Lamps[name] = Lamp(l)
	}
	for _, part := range []func(*Board, pinOwners) error{raw.display, raw.controls, raw.strip} {
		if err := part(&b, owners); err != nil {
			return Board{}, err
		}
	}
	return b, nil
}

func plainText(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
}

// pinOwners remembers what each pin belongs to.
type pinOwners map[string]string

func (p pinOwners) take(pin, owner, key string) error {
	switch {
	case !pinName.MatchString(pin):
		return fmt.Errorf("%s.%s: got %q, expected the name of a pin such as GPIO17", owner, key, pin)
	case p[pin] != "":
		return fmt.Errorf("%s.%s: %s already belongs to %s", owner, key, pin, p[pin])
	}
	p[pin] = owner
	return nil
}

func (raw rawBoard) display(b *Board, owners pinOwners) error {
	if raw.Display == nil {
		return nil
	}
	d := Display(*raw.Display)
	switch spi := spiPort.MatchString(d.Bus); {
	case d.Kind != "ssd1306":
		return fmt.Errorf("display.kind: got %q, expected \"ssd1306\"", d.Kind)
	case !spi && !i2cBus.MatchString(d.Bus):
		return fmt.Errorf("display.bus: got %q, expected an I²C bus such as I2C1, or an SPI port such as SPI0.0", d.Bus)
	case spi && d.Address != 0:
		return errors.New("display.address: a display on SPI has none")
	case spi:
		if err := owners.take(d.DataCommand, "display", "data_command"); err != nil {
			return err
		}
	case d.DataCommand != "":
		return errors.New("display.data_command: a display on I²C has none")
	case d.Address < 0x08 || d.Address > 0x77: // the rest is reserved (I²C specification, table 4)
		return fmt.Errorf("display.address: got %#x, expected 0x08…0x77", d.Address)
	}
	b.Display = d
	return nil
}

func (raw rawBoard) controls(b *Board, owners pinOwners) error {
	if raw.Encoder != nil {
		b.Encoder = Encoder(*raw.Encoder)
		if err := owners.take(b.Encoder.A, "encoder", "a"); err != nil {
			return err
		}
		if err := owners.take(b.Encoder.B, "encoder", "b"); err != nil {
			return err
		}
	}
	for _, name := range sortedKeys(raw.Buttons) {
		if !slices.Contains(ButtonNames(), name) {
			return fmt.Errorf("buttons.%s: expected one of %s", name, strings.Join(ButtonNames(), ", "))
		}
		if err := owners.take(raw.Buttons[name].Pin, "buttons."+name, "pin"); err != nil {
			return err
		}
		b.Buttons[name] = Button(raw.Buttons[name])
	}
	return nil
}

// maxLights is what one SPI transfer of the kernel's default 4096 bytes carries
// (WS2812: twelve bytes a light).
const maxLights = 340

func (raw rawBoard) strip(b *Board, _ pinOwners) error {
	if raw.Strip == nil {
		return nil
	}
	s := Strip(*raw.Strip)
	if s.Brightness == 0 {
		s.Brightness = 0.2
	}
	switch {
	case s.Kind != "ws2812" && s.Kind != "apa102":
		return fmt.Errorf("strip.kind: got %q, expected \"ws2812\" or \"apa102\"", s.Kind)
	case !spiPort.MatchString(s.Port):
		return fmt.Errorf("strip.port: got %q, expected an SPI port such as SPI0.0", s.Port)
	case s.Port == b.Display.Bus:
		return fmt.Errorf("strip.port: %s already belongs to display", s.Port)
	case s.Lights < 1 || s.Lights > maxLights:
		return fmt.Errorf("strip.lights: got %d, expected 1 to %d", s.Lights, maxLights)
	case !(s.Brightness > 0 && s.Brightness <= 1):
		return fmt.Errorf("strip.brightness: got %v, expected more than 0 and at most 1", s.Brightness)
	case len(s.Sides) == 0:
		return fmt.Errorf("strip.sides: missing; expected some of %s, in the strip's order", strings.Join(SideNames(), ", "))
	}
	for i, side := range s.Sides {
		if !slices.Contains(SideNames(), side) || slices.Contains(s.Sides[:i], side) {
			return fmt.Errorf("strip.sides: got %q, expected each of %s once at most", side, strings.Join(SideNames(), ", "))
		}
	}
	b.Strip = s
	return nil
}

// sortedKeys keeps the order of checks, and so of errors, the same every time.
func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
