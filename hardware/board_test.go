package hardware_test

import (
	"bytes"
	"errors"
	"image"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"periph.io/x/conn/v3/gpio"
	"periph.io/x/conn/v3/i2c"
	"periph.io/x/conn/v3/i2c/i2ctest"

	"sightline/engine"
	"sightline/hardware"
)

// pin is a fake GPIO output. (periph's gpiotest needs a module of its own for its clock.)
type pin struct {
	level  gpio.Level
	writes int
	err    error
}

func (p *pin) Out(l gpio.Level) error {
	if p.err != nil {
		return p.err
	}
	p.level, p.writes = l, p.writes+1
	return nil
}

// bus is an I²C bus with an SSD1306's picture memory behind it: enough of the
// chip to see what a person would see.
type bus struct {
	i2ctest.Record
	err          error
	opened       int
	address      uint16
	on           bool
	page, column int
	memory       [8][128]byte
}

func (b *bus) Close() error { return nil }

func (b *bus) Tx(addr uint16, w, r []byte) error {
	if b.err != nil {
		return b.err
	}
	b.address = addr
	if err := b.Record.Tx(addr, w, r); err != nil {
		return err
	}
	if w[0] == 0x40 {
		b.column += copy(b.memory[b.page][b.column:], w[1:])
		return nil
	}
	b.command(w[1:])
	return nil
}

func (b *bus) command(c []byte) {
	switch {
	case len(c) == 3 && c[0]&0xF8 == 0xB0:
		b.page, b.column = int(c[0]&7), int(c[1]&15)|int(c[2]&15)<<4
	case len(c) > 20: // the opening sequence: a chip that lost its power has lost its picture
		b.memory, b.on = [8][128]byte{}, c[len(c)-1] == 0xAF
	case bytes.Equal(c, []byte{0xAE}):
		b.on = false
	case bytes.Equal(c, []byte{0xAF}):
		b.on = true
	}
}

// shows reports whether the chip shows exactly the picture of the state.
func (b *bus) shows(s hardware.State) bool {
	img := hardware.Draw(s)
	for page := range 8 {
		if !bytes.Equal(b.memory[page][:], img.Pix[128*page:128*page+128]) {
			return false
		}
	}
	return b.on
}

type rig struct {
	pins  [hardware.NumLamps]*pin
	bus   *bus
	now   time.Time
	board *hardware.Board
}

func newRig() *rig {
	r := &rig{bus: &bus{}, now: time.Unix(1000, 0)}
	parts := hardware.Parts{Name: "test board", Now: func() time.Time { return r.now }}
	for i := range r.pins {
		r.pins[i] = &pin{}
		parts.Lamps[i] = r.pins[i]
	}
	parts.ActiveLow[hardware.LampTooClose] = true
	parts.OpenBus = func() (i2c.BusCloser, error) {
		r.bus.opened++
		if r.bus.err != nil {
			return nil, r.bus.err
		}
		return r.bus, nil
	}
	r.board = hardware.NewBoard(parts)
	return r
}

func TestBoardShowsLampsAndPicture(t *testing.T) {
	r := newRig()
	s := pair(func(s *hardware.State) { s.InArc = engine.Yes })
	require.NoError(t, r.board.Show(s))
	assert.Equal(t, gpio.High, r.pins[hardware.LampRange2].level)
	assert.Equal(t, gpio.High, r.pins[hardware.LampInArc].level)
	assert.Equal(t, gpio.Low, r.pins[hardware.LampRange1].level)
	assert.Equal(t, gpio.High, r.pins[hardware.LampTooClose].level, "an active-low lamp is dark when high")
	assert.True(t, r.bus.shows(s))
	assert.Equal(t, uint16(0x3C), r.bus.address)
	assert.Contains(t, r.board.String(), "6 of 6 lamps; display")
}

func TestBoardWritesOnlyWhatChanged(t *testing.T) {
	r := newRig()
	require.NoError(t, r.board.Show(pair(nil)))
	writes, ops := r.pins[0].writes, len(r.bus.Ops)
	require.NoError(t, r.board.Show(pair(nil)))
	assert.Equal(t, writes, r.pins[0].writes)
	assert.Len(t, r.bus.Ops, ops)
}

func TestPictureIsSentAgainAfterAnError(t *testing.T) {
	r := newRig()
	require.NoError(t, r.board.Show(pair(nil)))
	second := pair(func(s *hardware.State) { s.Band = 3 })
	r.bus.err = errors.New("no such device or address")
	err := r.board.Show(second)
	require.ErrorIs(t, err, r.bus.err)
	assert.True(t, r.pins[hardware.LampRange3].level == gpio.High, "the lamps go on without the display")
	require.NoError(t, r.board.Show(second), "a known failure is not said twice")
	assert.Contains(t, r.board.String(), "no such device")

	r.bus.err = nil
	require.NoError(t, r.board.Show(second))
	assert.False(t, r.bus.shows(second), "not before its time")
	r.now = r.now.Add(time.Second)
	require.NoError(t, r.board.Show(second))
	assert.True(t, r.bus.shows(second), "the same picture is sent again")
	assert.NotContains(t, r.board.String(), "no such device")
}

func TestDisplayIsTriedAgainMoreAndMoreSeldom(t *testing.T) {
	r := newRig()
	r.bus.err = errors.New("nobody there")
	require.Error(t, r.board.Show(pair(nil)))
	for range 1200 { // two minutes
		r.now = r.now.Add(100 * time.Millisecond)
		require.NoError(t, r.board.Show(pair(nil)))
	}
	// At 0, 1, 3, 7, 15, 31, then every 30 s: 61, 91.
	assert.InDelta(t, 8, r.bus.opened, 1)
}

func TestUnpluggedDisplayIsNoticedWithoutANewPicture(t *testing.T) {
	r := newRig()
	require.NoError(t, r.board.Show(pair(nil)))
	r.bus.err = errors.New("unplugged")
	r.now = r.now.Add(3 * time.Second)
	require.Error(t, r.board.Show(pair(nil)))
	r.bus.err = nil
	r.bus.memory, r.bus.on = [8][128]byte{}, false // a chip that lost its power
	r.now = r.now.Add(3 * time.Second)
	require.NoError(t, r.board.Show(pair(nil)))
	assert.True(t, r.bus.shows(pair(nil)))
}

func TestHaltPutsEverythingOut(t *testing.T) {
	r := newRig()
	require.NoError(t, r.board.Show(pair(func(s *hardware.State) { s.Range, s.Possible = engine.Indeterminate, []int{1, 2} })))
	require.NoError(t, r.board.Halt())
	for i, p := range r.pins {
		want := gpio.Level(i == int(hardware.LampTooClose)) // active low
		assert.Equal(t, want, p.level, "lamp %v", hardware.Lamp(i))
	}
	assert.Equal(t, [8][128]byte{}, r.bus.memory)
	assert.False(t, r.bus.on)
}

func TestHaltBlanksADisplayThatHadFailed(t *testing.T) {
	r := newRig()
	require.NoError(t, r.board.Show(pair(nil)))
	r.bus.err = errors.New("glitch")
	require.Error(t, r.board.Show(pair(func(s *hardware.State) { s.Band = 1 })))
	r.bus.err = nil
	require.NoError(t, r.board.Halt())
	assert.Equal(t, [8][128]byte{}, r.bus.memory)
	assert.False(t, r.bus.on)
}

func TestABrokenLampDoesNotStopTheOthers(t *testing.T) {
	r := newRig()
	r.pins[hardware.LampRange1].err = errors.New("device or resource busy")
	require.ErrorContains(t, r.board.Show(pair(nil)), "range1: device or resource busy")
	require.NoError(t, r.board.Show(pair(nil)), "said once")
	assert.Equal(t, gpio.High, r.pins[hardware.LampRange2].level)
	assert.Contains(t, r.board.String(), "5 of 6 lamps")
}

func TestBoardWithoutPartsGoesOn(t *testing.T) {
	b := hardware.NewBoard(hardware.Parts{Name: "bare", Missing: []string{"no GPIO line GPIO17 for lamp range1"}})
	require.NoError(t, b.Show(pair(nil)))
	require.NoError(t, b.Halt())
	assert.Equal(t, "bare: 0 of 6 lamps; no display; no GPIO line GPIO17 for lamp range1", b.String())
}

func TestOpenOnAMachineWithoutThePartsSaysWhatIsMissing(t *testing.T) {
	b := hardware.Open(hardware.Wiring{
		Name: "pi", Lines: [hardware.NumLamps]string{"NO-SUCH-LINE"}, Bus: "no-such-bus",
	}, discard())
	require.ErrorContains(t, b.Show(pair(nil)), "no-such-bus")
	assert.Regexp(t, "no GPIO line NO-SUCH-LINE for lamp range1|no GPIO on this machine", b.String())
	require.NoError(t, b.Halt())
}

func TestDisplayAtAnotherAddress(t *testing.T) {
	bus := &bus{}
	b := hardware.NewBoard(hardware.Parts{Address: 0x3D, OpenBus: func() (i2c.BusCloser, error) { return bus, nil }})
	require.NoError(t, b.Show(pair(nil)))
	assert.Equal(t, uint16(0x3D), bus.address)
	assert.Equal(t, image.Rect(0, 0, 128, 64), hardware.Draw(pair(nil)).Bounds())
}
