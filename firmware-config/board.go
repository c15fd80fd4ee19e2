// Package firmwareconfig holds the files that tell a board what is wired to it,
// and reads them strictly, so that a test can prove that they are valid.
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

	"github.com/BurntSushi/toml"
)

// Board says what is wired where.
type Board struct {
	Lamps   map[string]Lamp // by the names of LampNames; a lamp that is absent is not wired
	Display Display         // its Kind is "" when there is no display
}

// Lamp is one light and its pin.
type Lamp struct {
	Pin       string // as the header names it: "GPIO17"
	ActiveLow bool   // lit when the pin is low
}

// Display is a small screen on an I²C bus.
type Display struct {
	Kind    string // "ssd1306", or "" for none
	Bus     string // "I2C1"
	Address uint16 // 7 bits, 0x08…0x77
}

// LampNames returns the lamps that a board may have.
func LampNames() []string {
	return []string{"range1", "range2", "range3", "in_arc", "obstructed", "too_close"}
}

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
	} `toml:"lamps"`
	Display *struct {
		Kind    string `toml:"kind"`
		Bus     string `toml:"bus"`
		Address uint16 `toml:"address"`
	} `toml:"display"`
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
		return Board{}, fmt.Errorf("board file: line %d: unknown key %q", lineOf(string(text), unknown[0]), unknown[0].String())
	}
	b, err := raw.board()
	if err != nil {
		return Board{}, fmt.Errorf("board file: %w", err)
	}
	return b, nil
}

// lineOf returns the line on which a key is defined: the last line of the shortest
// beginning of the file that defines it. (The decoder does not say where a key
// stood; board files are short.) It is exact for values on one line.
func lineOf(text string, key toml.Key) int {
	lines := strings.SplitAfter(text, "\n")
	for n := range lines {
		var tree map[string]any
		meta, err := toml.Decode(strings.Join(lines[:n+1], ""), &tree)
		if err == nil && meta.IsDefined(key...) {
			return n + 1
		}
	}
	return len(lines)
}

var pinName = regexp.MustCompile(`^[A-Za-z0-9_.\-]+$`)

// board checks the values and gives them their types.
func (raw rawBoard) board() (Board, error) {
	b := Board{Lamps: map[string]Lamp{}}
	usedBy := map[string]string{}
	for _, name := range sortedKeys(raw.Lamps) {
		l := raw.Lamps[name]
		switch {
		case !slices.Contains(LampNames(), name):
			return Board{}, fmt.Errorf("lamps.%s: expected one of %s", name, strings.Join(LampNames(), ", "))
		case !pinName.MatchString(l.Pin):
			return Board{}, fmt.Errorf("lamps.%s.pin: got %q, expected the name of a pin such as GPIO17", name, l.Pin)
		case usedBy[l.Pin] != "":
			return Board{}, fmt.Errorf("lamps.%s.pin: %s already belongs to lamps.%s", name, l.Pin, usedBy[l.Pin])
		}
		usedBy[l.Pin] = name
		b.Lamps[name] = Lamp{Pin: l.Pin, ActiveLow: l.ActiveLow}
	}
	if raw.Display == nil {
		return b, nil
	}
	d := Display{Kind: raw.Display.Kind, Bus: raw.Display.Bus, Address: raw.Display.Address}
	switch {
	case d.Kind != "ssd1306":
		return Board{}, fmt.Errorf("display.kind: got %q, expected \"ssd1306\"", d.Kind)
	case d.Bus == "":
		return Board{}, errors.New("display.bus: missing; expected the name of an I²C bus such as I2C1")
	case d.Address < 0x08 || d.Address > 0x77: // the rest is reserved (I²C specification, table 4)
		return Board{}, fmt.Errorf("display.address: got %#x, expected 0x08…0x77", d.Address)
	}
	b.Display = d
	return b, nil
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
