package firmwareconfig_test

import (
	"errors"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	firmwareconfig "sightline/firmware-config"
)

func TestTheShippedBoardHasEveryPartOnAPinOfItsOwn(t *testing.T) {
	b := firmwareconfig.Default()
	pins := map[string]bool{"GPIO2": true, "GPIO3": true} // the display's bus
	take := func(what, pin string) {
		require.NotEmpty(t, pin, what)
		assert.False(t, pins[pin], "%s: pin %s twice", what, pin)
		pins[pin] = true
	}
	for _, name := range firmwareconfig.LampNames() {
		take(name, b.Lamps[name].Pin)
		assert.NotEmpty(t, b.Lamps[name].Label, name)
	}
	for _, name := range firmwareconfig.ButtonNames() {
		take(name, b.Buttons[name].Pin)
	}
	take("A", b.Encoder.A)
	take("B", b.Encoder.B)
	assert.Len(t, b.Lamps, len(firmwareconfig.LampNames()))
	assert.Equal(t, firmwareconfig.Display{Kind: "ssd1306", Bus: "I2C1", Address: 0x3c, Contrast: 255}, b.Display)
	assert.Empty(t, b.Strip.Kind)
	for _, spi := range []string{"GPIO8", "GPIO9", "GPIO10", "GPIO11"} {
		assert.False(t, pins[spi], "%s is left to a strip or a display on SPI", spi)
	}
}

// The comments of the shipped file are for copying: what they offer must be read.
func TestWhatTheShippedFileOffersInCommentsIsValid(t *testing.T) {
	text, err := os.ReadFile("board.toml")
	require.NoError(t, err)
	_, strip, found := strings.Cut(string(text), "# [strip]\n")
	require.True(t, found)
	strip = "[strip]\n" + strings.ReplaceAll(strip, "\n# ", "\n")
	b, err := firmwareconfig.Parse(strings.NewReader(string(text) + "\n" + strings.Replace(strip, "# kind", "kind", 1)))
	require.NoError(t, err)
	assert.Equal(t, firmwareconfig.Strip{Kind: "ws2812", Port: "SPI0.0", Lights: 55, Sides: []string{"near"}, Brightness: 0.2}, b.Strip)

	onSPI := strings.Replace(strings.Replace(string(text), `bus = "I2C1" `, `bus = "SPI0.0" # `, 1), "address = 0x3c",
		`data_command = "GPIO12"`, 1)
	b, err = firmwareconfig.Parse(strings.NewReader(onSPI))
	require.NoError(t, err)
	assert.Equal(t, "GPIO12", b.Display.DataCommand)
}

func TestABoardMayHaveFewerLampsAndNoDisplay(t *testing.T) {
	b, err := firmwareconfig.Parse(strings.NewReader("[lamps.in_arc]\npin = \"GPIO4\"\nactive_low = true\n"))
	require.NoError(t, err)
	assert.Equal(t, map[string]firmwareconfig.Lamp{"in_arc": {Pin: "GPIO4", ActiveLow: true}}, b.Lamps)
	assert.Empty(t, b.Display.Kind)

	b, err = firmwareconfig.Parse(strings.NewReader(""))
	require.NoError(t, err)
	assert.Empty(t, b.Lamps)
}

func TestABadBoardFileIsRefusedWithTheLineOrTheKey(t *testing.T) {
	for name, c := range map[string]struct{ file, want string }{
		"unknown key in a lamp": {"\n[lamps.in_arc]\npin = \"GPIO4\"\nactive_hi = true\n", `line 4: unknown key "lamps.in_arc.active_hi"`},
		"unknown key in display": {"[display]\nkind=\"ssd1306\"\nbus=\"I2C1\"\naddress=0x3c\nrotate=1",
			`line 5: unknown key "display.rotate"`},
		"unknown table":        {"# board\n[knobs]\nnext = \"GPIO1\"\n", `unknown key "knobs"`},
		"unknown button":       {"[buttons.next]\npin = \"GPIO1\"\n", "buttons.next: expected one of knob, choose, freeze"},
		"button without a pin": {"[buttons.knob]\n", "buttons.knob.pin"},
		"button on a lamp's pin": {"[lamps.range1]\npin=\"GPIO4\"\n[buttons.knob]\npin=\"GPIO4\"\n",
			"buttons.knob.pin: GPIO4 already belongs to lamps.range1"},
		"encoder with one pin":     {"[encoder]\na=\"GPIO4\"\n", `encoder.b: got ""`},
		"encoder on one pin":       {"[encoder]\na=\"GPIO4\"\nb=\"GPIO4\"\n", "encoder.b: GPIO4 already belongs to encoder"},
		"label that is too long":   {"[lamps.range1]\npin=\"GPIO4\"\nlabel=\"" + strings.Repeat("x", 30) + "\"\n", "lamps.range1.label"},
		"SPI display without D/C":  {"[display]\nkind=\"ssd1306\"\nbus=\"SPI0.0\"\n", `display.data_command: got ""`},
		"SPI display with address": {"[display]\nkind=\"ssd1306\"\nbus=\"SPI0.0\"\naddress=0x3c\n", "display.address"},
		"I2C display with D/C": {"[display]\nkind=\"ssd1306\"\nbus=\"I2C1\"\naddress=0x3c\ndata_command=\"GPIO4\"\n",
			"display.data_command"},
		"contrast out of range": {"[display]\nkind=\"ssd1306\"\nbus=\"I2C1\"\naddress=0x3c\ncontrast=256\n", "out of range"},
		"strip of another kind": {"[strip]\nkind=\"neon\"\n", `strip.kind: got "neon"`},
		"strip without a port":  {"[strip]\nkind=\"apa102\"\nlights=5\nsides=[\"near\"]\n", "strip.port"},
		"strip without lights":  {"[strip]\nkind=\"apa102\"\nport=\"SPI0.0\"\nsides=[\"near\"]\n", "strip.lights: got 0"},
		"strip without sides":   {"[strip]\nkind=\"apa102\"\nport=\"SPI0.0\"\nlights=5\n", "strip.sides"},
		"strip twice along a side": {"[strip]\nkind=\"apa102\"\nport=\"SPI0.0\"\nlights=5\nsides=[\"near\",\"near\"]\n",
			"each of near, right, far, left once"},
		"strip too bright": {"[strip]\nkind=\"apa102\"\nport=\"SPI0.0\"\nlights=5\nsides=[\"near\"]\nbrightness=1.5\n",
			"strip.brightness: got 1.5"},
		"strip on the display's": {"[display]\nkind=\"ssd1306\"\nbus=\"SPI0.0\"\ndata_command=\"GPIO4\"\n[strip]\nkind=\"apa102\"\n" +
			"port=\"SPI0.0\"\nlights=5\nsides=[\"near\"]\n", "SPI0.0 already belongs to display"},
		"unknown lamp":              {"[lamps.range4]\npin = \"GPIO4\"\n", "lamps.range4: expected one of range1"},
		"lamp without a pin":        {"[lamps.range1]\n", "lamps.range1.pin"},
		"two lamps on one pin":      {"[lamps.range1]\npin=\"GPIO4\"\n[lamps.range2]\npin=\"GPIO4\"\n", "GPIO4 already belongs to lamps.range1"},
		"wrong type":                {"[lamps.range1]\npin = 4\n", "line 2"},
		"not TOML":                  {"[lamps.range1]\npin GPIO4\n", "line 2"},
		"display of another kind":   {"[display]\nkind=\"sh1106\"\nbus=\"I2C1\"\naddress=0x3c\n", `display.kind: got "sh1106"`},
		"display without a bus":     {"[display]\nkind=\"ssd1306\"\naddress=0x3c\n", "display.bus"},
		"display without address":   {"[display]\nkind=\"ssd1306\"\nbus=\"I2C1\"\n", "display.address: got 0x0"},
		"address of eight bits":     {"[display]\nkind=\"ssd1306\"\nbus=\"I2C1\"\naddress=0x78\n", "expected 0x08…0x77"},
		"address out of its type":   {"[display]\nkind=\"ssd1306\"\nbus=\"I2C1\"\naddress=70000\n", "out of range"},
		"pin that cannot be a name": {"[lamps.range1]\npin=\"GPIO 4\"\n", "lamps.range1.pin"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := firmwareconfig.Parse(strings.NewReader(c.file))
			require.ErrorContains(t, err, "board file: ")
			assert.ErrorContains(t, err, c.want)
		})
	}
	_, err := firmwareconfig.Parse(iotest.ErrReader(errors.New("card pulled out")))
	assert.ErrorContains(t, err, "card pulled out")
}

func FuzzParseNeverPanics(f *testing.F) {
	f.Add("[lamps.range1]\npin=\"GPIO4\"\n")
	f.Add("[display]\nkind=\"ssd1306\"\nbus=\"I2C1\"\naddress=0x3c\nx.y=[1,\n2]\n")
	f.Fuzz(func(t *testing.T, text string) {
		b, err := firmwareconfig.Parse(strings.NewReader(text))
		if err != nil {
			assert.Empty(t, b.Lamps)
		}
	})
}
