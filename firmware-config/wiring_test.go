package firmwareconfig_test

import (
	"bytes"
	"encoding/xml"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	firmwareconfig "sightline/firmware-config"
)

func TestTheWiringPictureIsThatOfTheShippedBoard(t *testing.T) {
	got, err := firmwareconfig.WiringSVG(firmwareconfig.Default())
	require.NoError(t, err)
	want, err := os.ReadFile("../docs/wiring.svg")
	require.NoError(t, err)
	assert.True(t, bytes.Equal(want, got), "docs/wiring.svg is not what the program draws now; run: sightline doctor wiring -o "+
		"docs/wiring.svg")
}

// Numbers of the header that stand in board.toml's comments, written by hand.
func TestPinsHaveTheirPlacesOnTheHeader(t *testing.T) {
	for name, want := range map[string]int{"GPIO2": 3, "GPIO3": 5, "GPIO17": 11, "GPIO27": 13, "GPIO22": 15, "GPIO23": 16, "GPIO24": 18,
		"GPIO10": 19, "GPIO25": 22,
		"GPIO11": 23, "GPIO8": 24, "GPIO7": 26, "GPIO5": 29, "GPIO6": 31, "GPIO12": 32, "GPIO13": 33, "GPIO19": 35, "GPIO16": 36, "GPIO26": 37,
		"GPIO20": 38, "GPIO21": 40} {
		pin, ok := firmwareconfig.HeaderPin(name)
		assert.True(t, ok, name)
		assert.Equal(t, want, pin, name)
	}
	for _, name := range []string{"GND", "3.3 V", "GPIO28", "", "/dev/gpiochip0:17"} {
		_, ok := firmwareconfig.HeaderPin(name)
		assert.False(t, ok, name)
	}
}

func drawn(t *testing.T, board string) string {
	t.Helper()
	b, err := firmwareconfig.Parse(strings.NewReader(board))
	require.NoError(t, err)
	svg, err := firmwareconfig.WiringSVG(b)
	require.NoError(t, err)
	for d := xml.NewDecoder(bytes.NewReader(svg)); ; { // it is XML, whatever the labels say
		if _, err := d.Token(); err == io.EOF {
			break
		} else {
			require.NoError(t, err)
		}
	}
	return string(svg)
}

func TestTheWiringPictureShowsWhatIsWiredAndNothingElse(t *testing.T) {
	assert.NotContains(t, drawn(t, ""), "Display")
	assert.Contains(t, drawn(t, "[lamps.range1]\npin=\"GPIO17\"\nlabel=\"<near> & far\""), "&lt;near&gt; &amp; far")
	assert.Contains(t, drawn(t, "[lamps.range1]\npin=\"GPIO17\"\nactive_low=true"), "range1 (to 3.3 V)")
	assert.Contains(t, drawn(t, "[lamps.range1]\npin=\"/dev/gpiochip3:4\""), "Not on this header: range1 on /dev/gpiochip3:4")
	spi := drawn(t, "[display]\nkind=\"ssd1306\"\nbus=\"SPI0.0\"\ndata_command=\"GPIO12\"")
	for _, s := range []string{"Display D/C", "Display CS", "on SPI"} {
		assert.Contains(t, spi, s)
	}
	both := drawn(t, "[display]\nkind=\"ssd1306\"\nbus=\"I2C1\"\naddress=0x3d\n[strip]\nkind=\"apa102\"\nport=\"SPI0.0\"\nlights=9\n"+
		"sides=[\"near\"]")
	for _, s := range []string{"0x3d", "Strip clock", "APA102, 9 lights"} {
		assert.Contains(t, both, s)
	}
	assert.Contains(t, drawn(t, "[display]\nkind=\"ssd1306\"\nbus=\"I2C3\"\naddress=0x3c"), "Not on this header: Display on I2C3")
}

func TestAPinThatTwoPartsNeedIsNotDrawn(t *testing.T) {
	for board, want := range map[string]string{
		"[lamps.range1]\npin=\"GPIO3\"\n[display]\nkind=\"ssd1306\"\nbus=\"I2C1\"\naddress=0x3c":                "Range1 and Display SCL",
		"[buttons.knob]\npin=\"GPIO10\"\n[strip]\nkind=\"ws2812\"\nport=\"SPI0.0\"\nlights=9\nsides=[\"near\"]": "Encoder push and Strip data",
		"[display]\nkind=\"ssd1306\"\nbus=\"SPI0.1\"\ndata_command=\"GPIO12\"\n[strip]\nkind=\"ws2812\"\nport=\"SPI0.0\"\nlights=9\n" +
			"sides=[\"near\"]": "Display data (MOSI) and Strip data",
	} {
		b, err := firmwareconfig.Parse(strings.NewReader(board))
		require.NoError(t, err)
		_, err = firmwareconfig.WiringSVG(b)
		assert.ErrorContains(t, err, strings.Replace(want, "Range1", "range1", 1))
	}
}
