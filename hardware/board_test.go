package hardware_test

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"periph.io/x/conn/v3/i2c"
	"periph.io/x/conn/v3/i2c/i2ctest"

	"sightline/engine"
	"sightline/hardware"
)

// discard is a log that no one reads.
func discard() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

// pin is a fake GPIO output. It has one holder at a time and is dark without one, as
// a Raspberry Pi's is.
type pin struct {
	lit    bool
	opened int
	held   bool
	err    error
}

func (p *pin) open() (hardware.Output, error) {
	if p.err != nil {
		return nil, p.err
	}
	if p.held {
		return nil, errors.New("opened twice")
	}
	p.opened, p.held, p.lit = p.opened+1, true, false
	return p, nil
}

func (p *pin) Set(lit bool) error {
	if p.err != nil {
		return p.err
	}
	p.lit = lit
	return nil
}

func (p *pin) Close() error {
	p.held, p.lit = false, false
	return nil
}

// glass is what a person sees of an SSD1306, made from the bytes that it is sent by
// its data sheet: commands and data, page addressing and horizontal addressing.
type glass struct {
	on         bool
	horizontal bool
	page, col  int
	memory     [8][128]byte
	contrast   byte
	turned     bool // by 180°: both scan directions other than usual
}

// unplug takes the chip's power.
func (g *glass) unplug() { *g = glass{} }

// data writes bytes of picture where the chip stands.
func (g *glass) data(b []byte) {
	for _, v := range b {
		g.memory[g.page][g.col] = v
		g.col++
		if g.col == 128 {
			g.col = 0
			if g.horizontal {
				g.page = (g.page + 1) % 8
			}
		}
	}
}

// parameters says how many bytes follow a command (data sheet, table 9).
func parameters(command byte) int {
	switch {
	case command == 0x21 || command == 0x22:
		return 2
	case command == 0x20 || command == 0x81 || command == 0x8D || command == 0xA8 ||
		command >= 0xD3 && command <= 0xDB:
		return 1
	}
	return 0
}

// commands obeys a row of commands.
func (g *glass) commands(b []byte) {
	for len(b) > 0 {
		c, n := b[0], parameters(b[0])
		if len(b) < 1+n { // cut off: the chip waits for the rest, which never comes
			return
		}
		p := b[1 : 1+n]
		b = b[1+n:]
		switch {
		case c <= 0x0F:
			g.col = g.col&0xF0 | int(c)
		case c <= 0x1F:
			g.col = g.col&0x0F | int(c&7)<<4
		case c == 0x20:
			g.horizontal = p[0] == 0
		case c == 0x21:
			g.col = int(p[0])
		case c == 0x22:
			g.page = int(p[0])
		case c == 0x81:
			g.contrast = p[0]
		case c == 0xC0 || c == 0xC8: // rows from below
			g.turned = c == 0xC0
		case c == 0xAE || c == 0xAF:
			g.on = c == 0xAF
		case c >= 0xB0 && c <= 0xB7:
			g.page = int(c & 7)
		}
	}
}

// shows reports whether the glass shows exactly the picture of the state.
func (g *glass) shows(s hardware.State) bool {
	img := hardware.Draw(s)
	for page := range 8 {
		if !bytes.Equal(g.memory[page][:], img.Pix[128*page:128*page+128]) {
			return false
		}
	}
	return g.on
}

// bus is an I²C bus with an SSD1306 on it.
type bus struct {
	i2ctest.Record
	mu      sync.Mutex
	err     error
	opened  int
	closed  int
	address uint16
	sent    int
	glass   glass
	hang    chan struct{} // when not nil, every transfer waits for it
}

func (b *bus) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed++
	return nil
}

func (b *bus) Tx(addr uint16, w, _ []byte) error {
	b.mu.Lock()
	hang := b.hang
	b.mu.Unlock()
	if hang != nil {
		<-hang
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err != nil {
		return b.err
	}
	b.address = addr
	b.sent += len(w)
	if w[0] == 0x40 {
		b.glass.data(w[1:])
	} else {
		b.glass.commands(w[1:])
	}
	return nil
}

func (b *bus) fail(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.err = err
}

// rig is a board with fake parts and a clock of its own.
type rig struct {
	pins  [hardware.NumLamps]*pin
	bus   *bus
	now   time.Time
	board *hardware.Board
}

func newRig() *rig {
	r := &rig{bus: &bus{}, now: time.Unix(1000, 0)}
	parts := hardware.Parts{Name: "test board", Now: func() time.Time { return r.now }, Log: discard()}
	for i := range r.pins {
		r.pins[i] = &pin{}
		parts.Lamps[i] = r.pins[i].open
	}
	parts.Display = func() (*hardware.Display, error) {
		r.bus.mu.Lock()
		r.bus.opened++
		err := r.bus.err
		r.bus.mu.Unlock()
		if err != nil {
			return nil, err
		}
		return hardware.NewDisplayI2C(r.bus, hardware.DisplayOptions{})
	}
	r.board = hardware.NewBoard(parts)
	return r
}

// show shows a state and waits for the display.
func (r *rig) show(s hardware.State) error {
	err := r.board.Show(s)
	r.board.Flush()
	return err
}

func TestBoardShowsLampsAndPicture(t *testing.T) {
	r := newRig()
	s := pair(func(s *hardware.State) { s.InArc = engine.Yes })
	require.NoError(t, r.show(s))
	assert.True(t, r.pins[hardware.LampRange2].lit)
	assert.True(t, r.pins[hardware.LampInArc].lit)
	assert.False(t, r.pins[hardware.LampRange1].lit)
	assert.True(t, r.bus.glass.shows(s))
	assert.Equal(t, uint16(0x3C), r.bus.address)
	assert.Equal(t, byte(0xFF), r.bus.glass.contrast)
	assert.Equal(t, "test board: 8 of 8 lamps; display", r.board.String())
}

func TestTheDisplayIsSentOnlyWhatChanged(t *testing.T) {
	r := newRig()
	require.NoError(t, r.show(pair(nil)))
	sent := r.bus.sent
	require.NoError(t, r.show(pair(nil)))
	assert.Equal(t, sent, r.bus.sent)
	require.NoError(t, r.show(pair(func(s *hardware.State) { s.DistanceMM += 0.1 })))
	assert.Less(t, r.bus.sent-sent, 200, "one digit is not a whole picture")
}

func TestPictureIsSentAgainAfterAnError(t *testing.T) {
	r := newRig()
	require.NoError(t, r.show(pair(nil)))
	second := pair(func(s *hardware.State) { s.Band = 3 })
	gone := errors.New("no such device or address")
	r.bus.fail(gone)
	require.NoError(t, r.show(second), "Show does not wait for the display")
	assert.True(t, r.pins[hardware.LampRange3].lit, "the lamps go on without the display")
	require.ErrorIs(t, r.show(second), gone)
	require.NoError(t, r.show(second), "a known failure is not said twice")
	assert.Contains(t, r.board.String(), "no such device")

	r.bus.fail(nil)
	require.NoError(t, r.show(second))
	assert.False(t, r.bus.glass.shows(second), "not before its time")
	r.now = r.now.Add(time.Second)
	require.NoError(t, r.show(second))
	assert.True(t, r.bus.glass.shows(second), "the same picture is sent again")
	assert.NotContains(t, r.board.String(), "no such device")
}

func TestTheDisplayIsRetriedLessAndLessOften(t *testing.T) {
	r := newRig()
	r.bus.fail(errors.New("nobody there"))
	told := 0
	for range 1200 { // two minutes
		if r.show(pair(nil)) != nil {
			told++
		}
		r.now = r.now.Add(100 * time.Millisecond)
	}
	assert.Equal(t, 1, told)
	// At 0, 1, 3, 7, 15, 31, then every 30 s: 61, 91.
	assert.InDelta(t, 8, r.bus.opened, 1)
}

func TestUnpluggedDisplayIsNoticedWithoutANewPicture(t *testing.T) {
	r := newRig()
	require.NoError(t, r.show(pair(nil)))
	r.bus.fail(errors.New("unplugged"))
	r.bus.glass.unplug()
	r.now = r.now.Add(3 * time.Second)
	require.NoError(t, r.show(pair(nil)))
	require.Error(t, r.show(pair(nil)))
	r.bus.fail(nil)
	r.now = r.now.Add(3 * time.Second)
	require.NoError(t, r.show(pair(nil)))
	assert.True(t, r.bus.glass.shows(pair(nil)))
}

// A display that loses its power for a moment answers the next question as if nothing
// had been.
func TestADisplayUnpluggedBetweenTwoProbesComesBack(t *testing.T) {
	r := newRig()
	require.NoError(t, r.show(pair(nil)))
	r.bus.glass.unplug()
	for range 12 {
		r.now = r.now.Add(time.Second)
		require.NoError(t, r.show(pair(nil)))
	}
	assert.True(t, r.bus.glass.shows(pair(nil)))
}

func TestLampsDoNotWaitForAHangingBus(t *testing.T) {
	r := newRig()
	r.bus.hang = make(chan struct{})
	require.NoError(t, r.board.Show(pair(nil)))
	require.NoError(t, r.board.Show(pair(func(s *hardware.State) { s.Band = 1 })))
	assert.True(t, r.pins[hardware.LampRange1].lit)
	assert.False(t, r.pins[hardware.LampRange2].lit)
	close(r.bus.hang)
	r.board.Flush()
	assert.True(t, r.bus.glass.shows(pair(func(s *hardware.State) { s.Band = 1 })), "the newest picture, not the oldest")
}

func TestHaltDoesNotWaitLongForAHangingBus(t *testing.T) {
	r := newRig()
	require.NoError(t, r.show(pair(nil)))
	r.bus.hang = make(chan struct{})
	defer close(r.bus.hang)
	require.ErrorContains(t, r.board.Halt(), "its bus hangs")
	for i, p := range r.pins {
		assert.False(t, p.lit, "lamp %v", hardware.Lamp(i))
	}
}

func TestHaltPutsEverythingOut(t *testing.T) {
	r := newRig()
	require.NoError(t, r.show(pair(func(s *hardware.State) { s.Range, s.Possible = engine.Indeterminate, []int{1, 2} })))
	require.NoError(t, r.board.Halt())
	for i, p := range r.pins {
		assert.False(t, p.lit || p.held, "lamp %v is dark and its line is free", hardware.Lamp(i))
	}
	assert.Zero(t, r.bus.glass.memory)
	assert.False(t, r.bus.glass.on)
	assert.Equal(t, r.bus.opened, r.bus.closed)
}

func TestHaltBlanksADisplayThatHadFailed(t *testing.T) {
	r := newRig()
	require.NoError(t, r.show(pair(nil)))
	r.bus.fail(errors.New("glitch"))
	require.NoError(t, r.show(pair(func(s *hardware.State) { s.Band = 1 })))
	r.bus.fail(nil)
	require.NoError(t, r.board.Halt())
	assert.Zero(t, r.bus.glass.memory)
	assert.False(t, r.bus.glass.on)
}

func TestAHaltedBoardCanShowAgain(t *testing.T) {
	r := newRig()
	require.NoError(t, r.show(pair(nil)))
	require.NoError(t, r.board.Halt())
	require.NoError(t, r.board.Halt(), "twice is no harm")
	require.NoError(t, r.show(pair(nil)))
	assert.True(t, r.bus.glass.shows(pair(nil)))
	assert.True(t, r.pins[hardware.LampRange2].lit)
}

func TestABrokenLampDoesNotAffectOthersAndRecovers(t *testing.T) {
	r := newRig()
	r.pins[hardware.LampRange2].err = errors.New("device or resource busy")
	s := pair(func(s *hardware.State) { s.InArc = engine.Yes })
	require.ErrorContains(t, r.show(s), "range2: device or resource busy")
	require.NoError(t, r.show(s), "said once")
	assert.True(t, r.pins[hardware.LampInArc].lit)
	assert.Contains(t, r.board.String(), "7 of 8 lamps; lamp range2: device or resource busy")

	r.pins[hardware.LampRange2].err = nil
	require.NoError(t, r.show(s))
	assert.True(t, r.pins[hardware.LampRange2].lit, "at the next refresh")
	assert.Contains(t, r.board.String(), "8 of 8 lamps")
}

func TestAMissingLampIsRetriedOnceASecond(t *testing.T) {
	r := newRig()
	p := r.pins[hardware.LampRange2]
	p.err = errors.New("busy")
	require.Error(t, r.show(pair(nil)))
	for range 100 {
		r.now = r.now.Add(50 * time.Millisecond)
		require.NoError(t, r.show(pair(nil)))
	}
	p.err = nil
	for range 20 {
		r.now = r.now.Add(50 * time.Millisecond)
		require.NoError(t, r.show(pair(nil)))
	}
	assert.True(t, p.lit, "within a second")
}

// A chip that was unplugged forgets its levels; only a write tells.
func TestALampWhoseChipLostItsStateIsLitAgain(t *testing.T) {
	r := newRig()
	require.NoError(t, r.show(pair(nil)))
	r.pins[hardware.LampRange2].lit = false
	require.NoError(t, r.show(pair(nil)))
	assert.True(t, r.pins[hardware.LampRange2].lit)
}

func TestABoardWithoutPartsWorks(t *testing.T) {
	b := hardware.NewBoard(hardware.Parts{Name: "bare"})
	require.NoError(t, b.Show(pair(nil)))
	require.NoError(t, b.Halt())
	assert.Equal(t, "bare: 0 of 8 lamps; no display", b.String())
}

func TestOpenOnAMachineWithoutThePartsSaysWhatIsMissing(t *testing.T) {
	b := hardware.Open(hardware.Wiring{
		Name: "pi", Lines: [hardware.NumLamps]string{"NO-SUCH-LINE"}, Bus: "I2C99", StripPort: "SPI7.7", StripKind: "ws2812",
	}, discard())
	err := b.Show(pair(nil))
	b.Flush()
	err = errors.Join(err, b.Show(pair(nil)))
	require.ErrorContains(t, err, "I2C99")
	require.ErrorContains(t, err, "SPI7.7")
	assert.Regexp(t, "no GPIO line NO-SUCH-LINE|no GPIO on this machine", b.String())
	require.NoError(t, b.Halt())
}

func TestDisplayAtAnotherAddressDimmedAndUpsideDown(t *testing.T) {
	bus := &bus{}
	d, err := hardware.NewDisplayI2C(bus, hardware.DisplayOptions{Address: 0x3D, Contrast: 40, Rotated: true})
	require.NoError(t, err)
	require.NoError(t, d.Draw(hardware.Draw(pair(nil))))
	assert.Equal(t, uint16(0x3D), bus.address)
	assert.Equal(t, byte(40), bus.glass.contrast)
	assert.True(t, bus.glass.shows(pair(nil)), "the chip itself turns the picture")
	assert.True(t, bus.glass.turned)
	assert.False(t, bus.glass.horizontal, "positions are those of page addressing")
}

var _ i2c.BusCloser = (*bus)(nil)
