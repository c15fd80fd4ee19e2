package hardware_test

import (
	"bytes"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/hardware"
)

func TestTheTestPictureLightsTheEdgesAndHalfOfTheSquares(t *testing.T) {
	img := hardware.TestPicture()
	for x := range hardware.DisplayWidth {
		assert.True(t, bool(img.BitAt(x, 0)) && bool(img.BitAt(x, hardware.DisplayHeight-1)), "column %d", x)
	}
	for y := range hardware.DisplayHeight {
		assert.True(t, bool(img.BitAt(0, y)) && bool(img.BitAt(hardware.DisplayWidth-1, y)), "row %d", y)
	}
	assert.NotEqual(t, img.BitAt(20, 40), img.BitAt(28, 40))
	if os.Getenv("SIGHTLINE_REPORT") != "" { // to look at
		var b bytes.Buffer
		require.NoError(t, png.Encode(&b, img))
		require.NoError(t, os.WriteFile(filepath.Join(os.Getenv("SIGHTLINE_REPORT"), "test-picture.png"), b.Bytes(), 0o600))
	}
}

func TestBusesHaveTheKernelsNames(t *testing.T) {
	for name, want := range map[string]string{"I2C1": "/dev/i2c-1", "10": "/dev/i2c-10", "/dev/i2c-3": "/dev/i2c-3",
		"SPI0.1": "/dev/spidev0.1", "/dev/spidev1.0": "/dev/spidev1.0"} {
		assert.Equal(t, want, hardware.BusDevice(name), name)
	}
}

// nowhere is a wiring whose parts are on no machine.
var nowhere = hardware.Wiring{Lines: [hardware.NumLamps]string{"no-such-line"}, Bus: "I2C99", StripPort: "SPI9.9", StripKind: "ws2812"}

func TestPuttingOutMissingPartsSucceeds(t *testing.T) {
	assert.NoError(t, hardware.PutOut(nowhere))
	assert.NoError(t, hardware.PutOut(hardware.Wiring{}))
}

func TestMissingPartsAreReported(t *testing.T) {
	_, err := nowhere.TryDisplay()
	assert.ErrorContains(t, err, "display")
	_, err = nowhere.TryStrip()
	assert.ErrorContains(t, err, "strip")
	_, err = hardware.Wiring{}.TryDisplay()
	assert.ErrorContains(t, err, "no display is wired")
	_, err = hardware.OpenOutput("no-such-line", false)
	assert.True(t, hardware.Absent(err), "%v", err)
	_, err = hardware.OpenOutput("/dev/gpiochip99:1", false)
	assert.False(t, hardware.Absent(err), "a chip that was named and is not there is a fault: %v", err)
}

// What a killed program left is put out, against a real kernel. (The simulated chip
// gives a line that is let go its pull's level, so that the lamps' own level after the
// end says nothing here; docs/hardware.md has the line for a real board.)
func TestVMLightsOfAKilledProgramArePutOut(t *testing.T) {
	inVM(t)
	w := hardware.Wiring{Bus: "I2C1", Display: hardware.DisplayOptions{Address: 0x3c}}
	w.Lines[0], w.Lines[1], w.ActiveLow[1] = "GPIO17", "GPIO27", true
	off, err := w.TryDisplay()
	require.NoError(t, err)
	defer off()
	held, err := hardware.OpenOutput("GPIO17", false)
	require.NoError(t, err)
	err = hardware.PutOut(w)
	assert.ErrorContains(t, err, "lamp range1")
	assert.ErrorContains(t, err, "busy", "somebody still lights it")
	assert.NotContains(t, err.Error(), "range2")
	require.NoError(t, held.Close())
	empty(t, "i2c")
	require.NoError(t, hardware.PutOut(w))
	sent := messages(t, "i2c")
	require.NotEmpty(t, sent)
	assert.Equal(t, []byte{0x00, 0xAE}, sent[len(sent)-1].bytes, "the chip is switched off at the end")
	assert.False(t, level(t, "GPIO17"))
	set(t, "chip", 0x3d) // unplugged
	assert.ErrorContains(t, hardware.PutOut(w), "display")
}
