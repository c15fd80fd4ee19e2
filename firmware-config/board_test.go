package firmwareconfig_test

import (
	"errors"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	firmwareconfig "sightline/firmware-config"
)

func TestTheShippedBoardHasEveryLampOnAPinOfItsOwn(t *testing.T) {
	b := firmwareconfig.Default()
	pins := map[string]bool{}
	for _, name := range firmwareconfig.LampNames() {
		l, ok := b.Lamps[name]
		require.True(t, ok, "no lamp %s", name)
		assert.False(t, pins[l.Pin], "pin %s twice", l.Pin)
		assert.NotContains(t, []string{"GPIO2", "GPIO3"}, l.Pin, "the display's bus needs this pin")
		pins[l.Pin] = true
	}
	assert.Len(t, b.Lamps, len(firmwareconfig.LampNames()))
	assert.Equal(t, firmwareconfig.Display{Kind: "ssd1306", Bus: "I2C1", Address: 0x3c}, b.Display)
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
		"unknown key in a lamp":     {"\n[lamps.in_arc]\npin = \"GPIO4\"\nactive_hi = true\n", `line 4: unknown key "lamps.in_arc.active_hi"`},
		"unknown key in display":    {"[display]\nkind=\"ssd1306\"\nbus=\"I2C1\"\naddress=0x3c\nrotate=1", `line 5: unknown key "display.rotate"`},
		"unknown table":             {"# board\n[buttons]\nnext = \"GPIO1\"\n", `unknown key "buttons"`},
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
