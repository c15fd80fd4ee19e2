package firmwareconfig

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"slices"
	"strings"
)

// headerPins are the 40 pins of a Raspberry Pi's header, the same on every model since
// the B+ (Raspberry Pi documentation, GPIO and the 40-pin header).
var headerPins = [40]string{
	"3.3 V", "5 V", "GPIO2", "5 V", "GPIO3", "GND", "GPIO4", "GPIO14", "GND", "GPIO15",
	"GPIO17", "GPIO18", "GPIO27", "GND", "GPIO22", "GPIO23", "3.3 V", "GPIO24", "GPIO10", "GND",
	"GPIO9", "GPIO25", "GPIO11", "GPIO8", "GND", "GPIO7", "GPIO0", "GPIO1", "GPIO5", "GND",
	"GPIO6", "GPIO12", "GPIO13", "GND", "GPIO19", "GPIO16", "GPIO26", "GPIO20", "GND", "GPIO21",
}

// HeaderPin returns the number that a pin of this name has on the header, 1 to 40;
// false for a name that is not on it. Power and ground stand there several times.
func HeaderPin(name string) (int, bool) {
	if i := slices.Index(headerPins[:], name); i >= 0 && strings.HasPrefix(name, "GPIO") {
		return i + 1, true
	}
	return 0, false
}

// symbol is how a part is drawn that hangs on a pin.
type symbol int

const (
	symbolTag       symbol = iota // a wire to a part that is named
	symbolLamp                    // resistor, lamp, ground
	symbolLampLow                 // resistor, lamp, 3.3 V
	symbolSwitch                  // contact to ground
	symbolSwitchTop               // contact to 3.3 V
)

// use is what one pin is for.
type use struct {
	pin    int    // on the header; 0: not on it
	line   string // "GPIO17"
	label  string // "Range 1"
	symbol symbol
}

// uses lists what each pin of the board is for, in the order of the board file.
func uses(b Board) (all []use) {
	on := func(line, label string, s symbol) {
		pin, _ := HeaderPin(line)
		all = append(all, use{pin, line, label, s})
	}
	for _, name := range LampNames() {
		l, ok := b.Lamps[name]
		if !ok {
			continue
		}
		label, s := l.Label, symbolLamp
		if label == "" {
			label = name
		}
		if l.ActiveLow {
			s = symbolLampLow
		}
		on(l.Pin, label, s)
	}
	if b.Encoder.A != "" {
		on(b.Encoder.A, "Encoder A", symbolSwitch)
		on(b.Encoder.B, "Encoder B", symbolSwitch)
	}
	for _, name := range ButtonNames() {
		if button, ok := b.Buttons[name]; ok {
			s := symbolSwitch
			if button.ActiveHigh {
				s = symbolSwitchTop
			}
			label := map[string]string{"knob": "Encoder push", "choose": "Button choose", "freeze": "Button freeze"}[name]
			on(button.Pin, label, s)
		}
	}
	return append(append(all, displayUses(b.Display)...), stripUses(b.Strip)...)
}

// fixed is a use of a pin whose number is given.
func fixed(pin int, label string) use { return use{pin, headerPins[pin-1], label, symbolTag} }

func displayUses(d Display) []use {
	switch number := strings.TrimPrefix(strings.TrimPrefix(d.Bus, "/dev/i2c-"), "I2C"); {
	case d.Kind == "":
		return nil
	case number == "1":
		return []use{fixed(1, "Display VCC"), fixed(3, "Display SDA"), fixed(5, "Display SCL"), fixed(9, "Display GND")}
	case spiSelect(d.Bus) != 0:
		dc, _ := HeaderPin(d.DataCommand)
		return []use{fixed(17, "Display VCC"), fixed(19, "Display data (MOSI)"), fixed(23, "Display clock"), fixed(25, "Display GND"),
			fixed(spiSelect(d.Bus), "Display CS"), {dc, d.DataCommand, "Display D/C", symbolTag}}
	}
	return []use{{0, d.Bus, "Display", symbolTag}}
}

func stripUses(s Strip) []use {
	switch {
	case s.Kind == "":
		return nil
	case spiSelect(s.Port) == 0:
		return []use{{0, s.Port, "Strip", symbolTag}}
	case s.Kind == "apa102":
		return []use{fixed(19, "Strip data"), fixed(23, "Strip clock"), fixed(25, "Strip ground")}
	}
	return []use{fixed(19, "Strip data"), fixed(25, "Strip ground")}
}

// spiSelect returns the pin of a port's chip select on the first SPI bus; 0 for others.
func spiSelect(port string) int {
	switch strings.TrimPrefix(strings.TrimPrefix(port, "/dev/spidev"), "SPI") {
	case "0.0":
		return 24
	case "0.1":
		return 26
	}
	return 0
}

// Measures of the drawing, in px.
const (
	wiringWidth  = 960
	wiringTop    = 96
	wiringRow    = 30
	headerLeft   = 385
	headerRight  = 575
	wiringBottom = wiringTop + 20*wiringRow
)

// drawing collects SVG.
type drawing struct{ bytes.Buffer }

func (d *drawing) line(x1, y1, x2, y2 float64) {
	fmt.Fprintf(d, "<path d=\"M%g %gL%g %g\"/>\n", x1, y1, x2, y2)
}

func (d *drawing) text(x, y float64, class, text string) {
	fmt.Fprintf(d, "<text x=\"%g\" y=\"%g\" class=\"%s\">", x, y, class)
	_ = xml.EscapeText(d, []byte(text)) // a buffer takes everything
	d.WriteString("</text>\n")
}

// WiringSVG draws what the board file says is wired: the header, and on each pin that
// is used the part that hangs on it. A pin that two parts need is an error that names
// both (Parse sees only pins that are named; buses have theirs by themselves).
func WiringSVG(b Board) ([]byte, error) {
	byPin, elsewhere := map[int]use{}, []use(nil)
	for _, u := range uses(b) {
		if u.pin == 0 {
			elsewhere = append(elsewhere, u)
			continue
		}
		if other, taken := byPin[u.pin]; taken && strings.HasPrefix(u.line, "GPIO") {
			return nil, fmt.Errorf("pin %d (%s): %s and %s both need it", u.pin, u.line, other.label, u.label)
		} else if taken { // power and ground are shared
			u.label = other.label + ", " + u.label
		}
		byPin[u.pin] = u
	}
	height := wiringBottom + 118 + 20*len(elsewhere)
	d := &drawing{}
	fmt.Fprintf(d, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d">
<style>
text{font:14px sans-serif;fill:#111}.b{font-weight:bold}.r{text-anchor:end}.m{text-anchor:middle}.s{font-size:12px;fill:#444}.t{font-size:22px;font-weight:bold}
.n{text-anchor:middle;font-size:10px;font-weight:bold}.w{fill:#fff}path{fill:none;stroke:#111;stroke-width:1.6}.f{fill:#111}.off{opacity:.45}
</style>
<rect width="%d" height="%d" fill="#fff"/>
`, wiringWidth, height, wiringWidth, height, wiringWidth, height)
	d.text(30, 40, "t", "Sightline: what is wired to which pin")
	d.text(30, 64, "s", "A Raspberry Pi's 40-pin header, seen from above, with the board's edge to the right. Drawn from the board file.")
	d.header(byPin)
	for pin := 1; pin <= len(headerPins); pin++ {
		if u, ok := byPin[pin]; ok {
			d.part(u)
		}
	}
	d.notes(b, elsewhere)
	d.WriteString("</svg>\n")
	return d.Bytes(), nil
}

// rowOf returns the height of a pin's row, and whether it is on the left.
func rowOf(pin int) (y float64, left bool) {
	return wiringTop + wiringRow*(float64((pin-1)/2)+0.5), pin%2 == 1
}

func (d *drawing) header(used map[int]use) {
	fmt.Fprintf(d, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"6\" fill=\"#e8efe8\" stroke=\"#111\"/>\n", headerLeft, wiringTop,
		headerRight-headerLeft, 20*wiringRow)
	for i, name := range headerPins {
		pin := i + 1
		y, left := rowOf(pin)
		_, isUsed := used[pin]
		x, tx, class := 499.0, 518.0, "s"
		if left {
			x, tx, class = 461, 442, "s r"
		}
		fill, number := "#fff", "n"
		switch {
		case name == "GND":
			fill, number = "#222", "n w"
		case name == "3.3 V":
			fill = "#f5b041"
		case name == "5 V":
			fill, number = "#c0392b", "n w"
		case isUsed:
			fill = "#7fc8f8"
		}
		if !isUsed && strings.HasPrefix(name, "GPIO") {
			class += " off"
		}
		fmt.Fprintf(d, "<circle cx=\"%g\" cy=\"%g\" r=\"11\" fill=\"%s\" stroke=\"#111\"/>\n", x, y, fill)
		d.text(x, y+3.5, number, fmt.Sprint(pin))
		d.text(tx, y+4.5, class, name)
	}
}

// part draws what hangs on a pin, away from the header.
func (d *drawing) part(u use) {
	y, left := rowOf(u.pin)
	at := func(distance float64) float64 { // from the header's edge
		if left {
			return headerLeft - distance
		}
		return headerRight + distance
	}
	class := "b"
	if left {
		class = "b r"
	}
	switch u.symbol {
	case symbolTag:
		d.line(at(0), y, at(150), y)
		fmt.Fprintf(d, "<circle cx=\"%g\" cy=\"%g\" r=\"3\" class=\"f\"/>\n", at(150), y)
		d.text(at(172), y+5, class, u.label)
		return
	case symbolLamp, symbolLampLow:
		d.line(at(0), y, at(25), y)
		fmt.Fprintf(d, "<rect x=\"%g\" y=\"%g\" width=\"40\" height=\"11\" fill=\"none\" stroke=\"#111\" stroke-width=\"1.6\"/>\n",
			min(at(25), at(65)), y-5.5)
		d.line(at(65), y, at(84), y)
		d.lamp(at, y, u.symbol == symbolLampLow)
		d.line(at(104), y, at(140), y)
	case symbolSwitch, symbolSwitchTop:
		d.line(at(0), y, at(60), y)
		d.line(at(62), y, at(98), y-10)
		fmt.Fprintf(d, "<circle cx=\"%g\" cy=\"%g\" r=\"2.5\" class=\"f\"/><circle cx=\"%g\" cy=\"%g\" r=\"2.5\" class=\"f\"/>\n", at(61), y,
			at(100), y)
		d.line(at(100), y, at(140), y)
	}
	if u.symbol == symbolLampLow || u.symbol == symbolSwitchTop {
		d.line(at(140), y-8, at(140), y+8)
		d.text(at(172), y+5, class, u.label+" (to 3.3 V)")
		return
	}
	for i, half := range []float64{8, 5, 2} { // ground
		d.line(at(140+4*float64(i)), y-half, at(140+4*float64(i)), y+half)
	}
	d.text(at(172), y+5, class, u.label)
}

// lamp draws a light-emitting diode: the triangle points the way the current goes.
func (d *drawing) lamp(at func(float64) float64, y float64, low bool) {
	base, tip := 84.0, 104.0
	if low {
		base, tip = tip, base
	}
	fmt.Fprintf(d, "<path class=\"f\" d=\"M%g %gL%g %gL%g %gZ\"/>\n", at(base), y-8, at(base), y+8, at(tip), y)
	d.line(at(tip), y-8, at(tip), y+8)
	for _, shift := range []float64{0, 7} { // the light
		fmt.Fprintf(d, "<path d=\"M%g %gL%g %gM%g %gL%g %gL%g %g\" stroke-width=\"1\"/>\n",
			at(92+shift), y-9, at(97+shift), y-14, at(94+shift), y-14, at(97+shift), y-14, at(97+shift), y-11)
	}
}

func (d *drawing) notes(b Board, elsewhere []use) {
	notes := []string{}
	if len(b.Lamps) > 0 {
		notes = append(notes, "Each lamp: pin, resistor of 1 kΩ, the lamp's long leg, its short leg to ground (one to 3.3 V: the other way "+
			"round).")
	}
	notes = append(notes, "Every ground sign is any of the black pins: 6, 9, 14, 20, 25, 30, 34, 39. Never join 5 V to a GPIO pin: it "+
		"destroys the board.")
	switch {
	case b.Display.Kind != "" && b.Display.DataCommand == "":
		notes = append(notes, fmt.Sprintf("Display: %s, 128×64, I²C address %#x. Its VCC is 3.3 V, not 5 V.", strings.ToUpper(b.Display.Kind),
			b.Display.Address))
	case b.Display.Kind != "":
		notes = append(notes, fmt.Sprintf("Display: %s, 128×64, on SPI. Its VCC is 3.3 V, not 5 V.", strings.ToUpper(b.Display.Kind)))
	}
	if b.Encoder.A != "" {
		notes = append(notes, "Encoder: the middle one of its three pins is the common ground of A and B. The board's own pull-ups do the rest.")
	}
	if b.Strip.Kind != "" {
		notes = append(notes, fmt.Sprintf("Strip: %s, %d lights, from its own supply of 5 V; join its ground with the board's. Many need a "+
			"level shifter for the data.", strings.ToUpper(b.Strip.Kind), b.Strip.Lights))
	}
	for _, u := range elsewhere {
		notes = append(notes, fmt.Sprintf("Not on this header: %s on %s.", u.label, u.line))
	}
	for i, n := range notes {
		d.text(30, wiringBottom+30+20*float64(i), "s", n)
	}
}
