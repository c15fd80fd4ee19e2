package hardware_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/engine"
	"sightline/hardware"
)

// These tests run against the kernel's own GPIO, I²C and SPI in the virtual machine of
// hardware/vm: make test-hardware. There, every skip is a failure.

func inVM(t *testing.T) {
	t.Helper()
	if os.Getenv("SIGHTLINE_IN_VM") == "" {
		t.Skip("needs the virtual machine: make test-hardware")
	}
	t.Cleanup(func() {
		set(t, "fail", 0)
		set(t, "hold_ms", 0)
		set(t, "chip", 0x3c)
	})
	empty(t, "i2c")
	empty(t, "spi")
}

// set sets a parameter of the module fakebus.
func set(t testing.TB, name string, value int) {
	t.Helper()
	require.NoError(t, os.WriteFile("/sys/module/fakebus/parameters/"+name, fmt.Append(nil, value), 0))
}

func empty(t testing.TB, bus string) {
	t.Helper()
	require.NoError(t, os.WriteFile("/sys/kernel/debug/fakebus/"+bus, []byte("0"), 0))
}

// message is one message that a bus of fakebus has seen.
type message struct {
	tag    byte // I²C: the address. SPI: the level of the data/command line
	failed bool
	bytes  []byte
}

func messages(t testing.TB, bus string) (out []message) {
	t.Helper()
	f, err := os.Open("/sys/kernel/debug/fakebus/" + bus)
	require.NoError(t, err)
	defer f.Close()
	b, err := io.ReadAll(f)
	require.NoError(t, err)
	for len(b) >= 4 {
		n := int(binary.LittleEndian.Uint16(b))
		out = append(out, message{b[2], b[3]&2 != 0, b[4 : 4+n]})
		b = b[4+n:]
	}
	require.Empty(t, b)
	return out
}

// i2cGlass is what stands on the display's glass after what the bus has seen since it
// was emptied, begun with what stood there before.
func i2cGlass(t testing.TB, g *glass) {
	t.Helper()
	for _, m := range messages(t, "i2c") {
		switch {
		case len(m.bytes) == 0:
		case m.bytes[0] == 0x40:
			g.data(m.bytes[1:])
		default:
			g.commands(m.bytes[1:])
		}
	}
	empty(t, "i2c")
}

// simulated returns the file of a line of the simulated GPIO chip. Looking for the
// chip is slow there: its folder is remembered until it is plugged in again.
func simulated(t testing.TB, line, file string) string {
	t.Helper()
	if chipFolder == "" {
		paths, err := filepath.Glob("/sys/devices/platform/gpio-sim.*/gpiochip*/sim_gpio17")
		require.NoError(t, err)
		require.Len(t, paths, 1)
		chipFolder = filepath.Dir(paths[0])
	}
	return chipFolder + "/sim_gpio" + strings.TrimPrefix(line, "GPIO") + "/" + file
}

var chipFolder string

// level reads what a line's pin has, as an LED on it would.
func level(t testing.TB, line string) bool {
	t.Helper()
	b, err := os.ReadFile(simulated(t, line, "value"))
	require.NoError(t, err)
	return strings.TrimSpace(string(b)) == "1"
}

// plug plugs the GPIO chip in or out.
func plug(t testing.TB, in bool) {
	t.Helper()
	live := []byte("0")
	if in {
		live = []byte("1")
	}
	chipFolder = ""
	require.NoError(t, os.WriteFile("/sys/kernel/config/gpio-sim/pi/live", live, 0))
}

// lampLines is the reference wiring of board.toml; one lamp hangs the other way round.
var lampLines = [hardware.NumLamps]string{"GPIO17", "GPIO27", "GPIO22", "GPIO5", "GPIO6", "GPIO19", "GPIO13", "GPIO26"}

const activeLowLamp = hardware.LampTooClose

func vmWiring() hardware.Wiring {
	w := hardware.Wiring{Name: "vm", Lines: lampLines, Bus: "I2C1"}
	w.ActiveLow[activeLowLamp] = true
	return w
}

// vmBoard is a board on the simulated chip with a clock of the test's.
func vmBoard(now func() time.Time) *hardware.Board {
	p := hardware.Parts{Name: "vm", Now: now, Log: discard()}
	for i, line := range lampLines {
		p.Lamps[i] = func() (hardware.Output, error) {
			return hardware.OpenOutput(line, i == int(activeLowLamp))
		}
	}
	p.Display = func() (*hardware.Display, error) {
		bus, err := hardware.OpenI2C("/dev/i2c-1")
		if err != nil {
			return nil, err
		}
		return hardware.NewDisplayI2C(bus, hardware.DisplayOptions{})
	}
	return hardware.NewBoard(p)
}

// lampsSeen reads all lamps from the chip.
func lampsSeen(t testing.TB) (on [hardware.NumLamps]bool) {
	t.Helper()
	for i, line := range lampLines {
		on[i] = level(t, line) != (i == int(activeLowLamp))
	}
	return on
}

// verdicts are states that together light, blink and darken every lamp.
func verdicts() []hardware.State {
	var out []hardware.State
	for _, contact := range []engine.Outcome{engine.No, engine.Yes, engine.Indeterminate} {
		for band := range 6 {
			for _, o := range []engine.Outcome{engine.Yes, engine.No, engine.Indeterminate, engine.NoView} {
				out = append(out, pair(func(s *hardware.State) {
					s.Band, s.InArc, s.Obstructed, s.Contact = band, o, o, contact
					if band == 5 {
						s.Range, s.Possible = engine.Indeterminate, []int{2, 3}
					}
				}))
			}
		}
	}
	return append(out, hardware.State{}, hardware.State{Blind: true}, pair(func(s *hardware.State) { s.Range = engine.NoView }))
}

func TestVMEachLampFollowsItsVerdict(t *testing.T) {
	inVM(t)
	now := time.Unix(1000, 0)
	b := vmBoard(func() time.Time { return now })
	var lit, dark [hardware.NumLamps]int
	for _, s := range verdicts() {
		for range 4 { // through two periods of blinking
			now = now.Add(hardware.BlinkHalf)
			require.NoError(t, b.Show(s))
			want, got := hardware.LampsAt(s, now), lampsSeen(t)
			require.Equal(t, want, got, "%+v", s)
			for i, on := range got {
				if on {
					lit[i]++
				} else {
					dark[i]++
				}
			}
		}
	}
	for i := range lit {
		assert.Positive(t, lit[i], "%v was lit", hardware.Lamp(i))
		assert.Positive(t, dark[i], "%v was dark", hardware.Lamp(i))
	}
	require.NoError(t, b.Halt())
	for i, line := range lampLines {
		if i != int(activeLowLamp) { // a line that no one holds has no level of its own
			assert.False(t, level(t, line), line)
		}
	}
}

func TestVMTheGlassShowsWhatIsDrawn(t *testing.T) {
	inVM(t)
	now := time.Unix(1000, 0)
	b := vmBoard(func() time.Time { return now })
	var g glass
	all := verdicts()
	for _, s := range screens {
		all = append(all, s)
	}
	bytesSent, before := 0, -1
	for i, s := range all {
		s.DistanceMM += float64(i) // a digit more or less: a part of the picture
		now = now.Add(50 * time.Millisecond)
		require.NoError(t, b.Show(s))
		b.Flush()
		for _, m := range messages(t, "i2c") {
			require.Equal(t, byte(0x3c), m.tag)
			bytesSent += len(m.bytes)
		}
		if before >= 0 && bytesSent-before < 900 {
			before = -2 // a partial update was among them
		} else if before != -2 {
			before = bytesSent
		}
		i2cGlass(t, &g)
		require.True(t, g.shows(s), "picture %d: %+v", i, s)
	}
	assert.Equal(t, -2, before, "no update was partial: the test does not test that")
	require.NoError(t, b.Halt())
	i2cGlass(t, &g)
	assert.False(t, g.on)
	assert.Zero(t, g.memory)
}

func TestVMTheGlassIsRightAgainAfterBusErrors(t *testing.T) {
	inVM(t)
	r := rand.New(rand.NewPCG(21, 22))
	now := time.Unix(1000, 0)
	b := vmBoard(func() time.Time { return now })
	var g glass
	all := verdicts()
	told := 0
	for i := range 200 {
		s := all[r.IntN(len(all))]
		set(t, "keep", r.IntN(130)) // how much of the message arrives before it breaks off
		set(t, "fail", 1+r.IntN(3))
		now = now.Add(100 * time.Millisecond)
		if b.Show(s) != nil {
			told++
		}
		b.Flush()
		set(t, "fail", 0)
		now = now.Add(31 * time.Second) // it is tried again by then, however often it failed
		if b.Show(s) != nil {
			told++
		}
		b.Flush()
		i2cGlass(t, &g)
		require.True(t, g.shows(s), "after error %d", i)
		require.NotContains(t, b.String(), "remote I/O error")
	}
	assert.Positive(t, told)
	require.NoError(t, b.Halt())
}

func TestVMADisplayThatIsUnpluggedComesBackWithTheRightPicture(t *testing.T) {
	inVM(t)
	now := time.Unix(1000, 0)
	b := vmBoard(func() time.Time { return now })
	var g glass
	show := func(s hardware.State, after time.Duration) error {
		now = now.Add(after)
		err := b.Show(s)
		b.Flush()
		i2cGlass(t, &g)
		return err
	}
	first, second := pair(nil), pair(func(s *hardware.State) { s.Band = 3 })
	require.NoError(t, show(first, 0))
	require.True(t, g.shows(first))

	set(t, "chip", 0) // no one answers
	g.unplug()
	require.NoError(t, show(second, 0))
	require.ErrorContains(t, show(second, 0), "no such device or address")
	assert.Contains(t, b.String(), "display: ")
	assert.True(t, lampsSeen(t)[hardware.LampRange3], "the lamps go on")
	set(t, "chip", 0x3c)
	for range 4 {
		require.NoError(t, show(second, time.Second))
	}
	assert.True(t, g.shows(second))
	assert.Equal(t, "vm: 8 of 8 lamps; display", b.String())

	g.unplug() // for a moment: no one noticed
	for range 11 {
		require.NoError(t, show(second, time.Second))
	}
	assert.True(t, g.shows(second))

	set(t, "chip", 0x3d) // strapped the other way
	require.NoError(t, show(first, 0))
	require.ErrorContains(t, show(first, 0), "no such device or address")
	require.ErrorContains(t, b.Halt(), "blank the display", "a display that may still show an old answer is not passed over")
}

func TestVMAHangingBusBlocksNothing(t *testing.T) {
	inVM(t)
	b := hardware.Open(vmWiring(), discard())
	require.NoError(t, b.Show(pair(nil)))
	b.Flush()
	set(t, "hold_ms", 3000)
	set(t, "error", int(syscall.ETIMEDOUT))
	set(t, "fail", -1)
	longest := time.Duration(0)
	for band := range 20 {
		s := pair(func(s *hardware.State) { s.Band = 1 + band%3 })
		start := time.Now()
		_ = b.Show(s) // perhaps the failure is told
		longest = max(longest, time.Since(start))
		seen := lampsSeen(t)
		require.Equal(t, []bool{band%3 == 0, band%3 == 1, band%3 == 2}, seen[:3])
		time.Sleep(20 * time.Millisecond)
	}
	t.Logf("the longest Show took %v while every message took 3 s", longest)
	assert.Less(t, longest, 2*time.Second)
	assert.Error(t, b.Halt())
	set(t, "hold_ms", 0)
	set(t, "error", int(syscall.EREMOTEIO))
}

func TestVMADisplayOnSPI(t *testing.T) {
	inVM(t)
	set(t, "dc_line", 12)
	w := hardware.Wiring{Name: "vm", Bus: "SPI0.0", DataCommand: "GPIO12"}
	b := hardware.Open(w, discard())
	var g glass
	for i, s := range verdicts() {
		s.DistanceMM += float64(i)
		require.NoError(t, b.Show(s))
		b.Flush()
		for _, m := range messages(t, "spi") {
			require.Less(t, m.tag, byte(2), "the data/command line is there")
			if m.tag == 1 {
				g.data(m.bytes)
			} else {
				g.commands(m.bytes)
			}
		}
		empty(t, "spi")
		require.True(t, g.shows(s), "picture %d", i)
	}
	require.NoError(t, b.Halt())
}

func TestVMAStripOnSPI(t *testing.T) {
	inVM(t)
	w := hardware.Wiring{
		Name: "vm", StripPort: "/dev/spidev0.0", StripKind: "apa102", StripBrightness: 1,
		Strip: hardware.StripLayout{Lights: 9, Sides: []hardware.Side{hardware.Near}, WidthMM: 900, HeightMM: 900},
	}
	b := hardware.Open(w, discard())
	s := pair(func(s *hardware.State) {
		s.Pointers = []hardware.Pointer{{XMM: 250, YMM: 100}, {XMM: 650, YMM: 700, Target: true}}
	})
	require.NoError(t, b.Show(s))
	sent := messages(t, "spi")
	require.NotEmpty(t, sent)
	lights := ""
	for i := range 9 {
		led := sent[len(sent)-1].bytes[4+4*i:]
		switch {
		case led[2] > led[3]:
			lights += "a" // green: the attacker
		case led[3] > 0:
			lights += "t"
		default:
			lights += "."
		}
	}
	assert.Equal(t, "..a...t..", lights)
	require.NoError(t, b.Halt())
}

func TestVMALineInUseWorksOnceReleased(t *testing.T) {
	inVM(t)
	other, err := hardware.OpenOutput("GPIO27", false)
	require.NoError(t, err)
	b := hardware.Open(vmWiring(), discard())
	s := pair(func(s *hardware.State) { s.InArc = engine.Yes })
	require.ErrorContains(t, b.Show(s), "lamp range2: GPIO line GPIO27: device or resource busy (another program or a kernel driver holds it)")
	assert.True(t, lampsSeen(t)[hardware.LampInArc])
	assert.False(t, lampsSeen(t)[hardware.LampRange2])
	assert.Contains(t, b.String(), "7 of 8 lamps")
	require.NoError(t, other.Close())
	require.NoError(t, b.Show(s))
	assert.True(t, lampsSeen(t)[hardware.LampRange2], "at the next refresh")
	require.NoError(t, b.Halt())
}

func TestVMAChipThatIsUnpluggedComesBack(t *testing.T) {
	inVM(t)
	b := hardware.Open(vmWiring(), discard())
	s := pair(func(s *hardware.State) { s.InArc = engine.Yes })
	require.NoError(t, b.Show(s))
	plug(t, false)
	require.ErrorContains(t, b.Show(s), "no GPIO on this machine")
	require.Contains(t, b.String(), "0 of 8 lamps; no GPIO on this machine")
	plug(t, true)
	require.NoError(t, b.Show(s))
	assert.Equal(t, hardware.LampsAt(s, time.Now()), lampsSeen(t))
	require.NoError(t, b.Halt())
}

// controlLines is the reference wiring of the controls.
var controlLines = [hardware.NumControls]hardware.ControlLines{
	hardware.ControlTurn: {Names: []string{"GPIO23", "GPIO24"}}, hardware.ControlKnob: {Names: []string{"GPIO25"}},
	hardware.ControlChoose: {Names: []string{"GPIO16"}}, hardware.ControlFreeze: {Names: []string{"GPIO20"}, ActiveHigh: true},
}

// fingers are a person's at the simulated contacts.
type fingers struct {
	t     testing.TB
	did   chan hardware.Did
	c     *hardware.Controls
	stale int // what came too late so far
}

func newFingers(t *testing.T, slow func()) *fingers {
	f := &fingers{t: t, did: make(chan hardware.Did, 1000), c: hardware.OpenControls(controlLines, discard())}
	f.rest()
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- f.c.Run(ctx, func(d hardware.Did) {
			if slow != nil {
				slow()
			}
			f.did <- d
		})
	}()
	t.Cleanup(func() {
		stop()
		select {
		case err := <-done:
			assert.NoError(t, err)
		case <-time.After(time.Minute):
			t.Error("the controls do not stop")
		}
	})
	time.Sleep(2 * time.Second) // the lines are open: it takes some 20 ms
	return f
}

// rest opens every contact.
func (f *fingers) rest() {
	for _, c := range controlLines {
		for _, line := range c.Names {
			f.contact(line, false)
		}
	}
}

// contact closes or opens a contact.
func (f *fingers) contact(line string, closed bool) {
	high := closed == (line == "GPIO20") // the one that leads to 3.3 V
	pull := "pull-down"
	if high {
		pull = "pull-up"
	}
	require.NoError(f.t, os.WriteFile(simulated(f.t, line, "pull"), []byte(pull), 0))
}

// bouncing closes or opens a contact that bounces up to n times, and reports whether
// it did so as fast as contacts do: when the machine halts for a moment, it is not a
// bounce any more.
func (f *fingers) bouncing(r *rand.Rand, line string, closed bool, n int) (fast bool) {
	fast = true
	last := time.Now()
	touch := func(closed bool) {
		f.contact(line, closed)
		fast = fast && time.Since(last) < hardware.Settle*2/3
		last = time.Now()
	}
	touch(closed)
	for range r.IntN(n + 1) {
		touch(!closed)
		touch(closed)
	}
	return fast
}

// quarter is the time between an encoder's edges when it is turned by 60 detents a second.
const quarter = 4 * time.Millisecond

// step turns the encoder by one detent.
func (f *fingers) step(r *rand.Rand, right bool, bounces int) {
	a, b := "GPIO23", "GPIO24"
	if !right {
		a, b = b, a
	}
	for _, closed := range []bool{true, false} {
		for _, line := range []string{a, b} {
			f.bouncing(r, line, closed, bounces)
			time.Sleep(quarter)
		}
	}
}

func (f *fingers) next() hardware.Did {
	f.t.Helper()
	d, late := f.arrives()
	require.False(f.t, late, "the machine halted for longer than hardware.StaleAfter")
	return d
}

// arrives returns what happens next; late: it came too late to count, because the machine halted.
func (f *fingers) arrives() (d hardware.Did, late bool) {
	f.t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); {
		select {
		case d := <-f.did:
			return d, false
		case <-time.After(10 * time.Millisecond):
			if stale, _ := f.c.Dropped(); stale > f.stale {
				f.stale = stale
				return hardware.Did{}, true
			}
		}
	}
	f.t.Fatal("nothing happens: " + f.c.String())
	return hardware.Did{}, false
}

// turn turns the encoder by one detent, again when the machine halted meanwhile, and returns the input.
func (f *fingers) turn(r *rand.Rand, right bool) hardware.Input {
	f.t.Helper()
	for {
		f.step(r, right, 0)
		if d, late := f.arrives(); !late {
			return d.Input
		}
	}
}

func (f *fingers) nothing() {
	f.t.Helper()
	select {
	case d := <-f.did:
		f.t.Fatalf("%v once too often", d.Input)
	case <-time.After(150 * time.Millisecond):
	}
	f.stale, _ = f.c.Dropped()
}

// hand makes the program busy with a first step, until busy is closed.
func (f *fingers) hand(r *rand.Rand, handed <-chan struct{}) {
	for {
		f.step(r, true, 0)
		select {
		case <-handed:
			return
		case <-time.After(time.Second): // it came too late: the machine halted
		}
	}
}

func TestVMEveryTurnOfTheEncoderArrivesOnce(t *testing.T) {
	inVM(t)
	r := rand.New(rand.NewPCG(23, 24))
	f := newFingers(t, nil)
	for i := range 100 {
		right := r.IntN(2) == 0
		f.step(r, right, 3)
		want := hardware.TurnLeft
		if right {
			want = hardware.TurnRight
		}
		d, late := f.arrives()
		require.True(t, late || d.Input == want, "step %d: %v, expected %v", i, d.Input, want)
	}
	f.nothing()
	_, lost := f.c.Dropped()
	assert.Zero(t, lost)
	t.Logf("%d of 100 came too late", f.stale)
	assert.Less(t, f.stale, 90, "the machine halts all the time")
}

func TestVMEveryPressArrivesOnce(t *testing.T) {
	inVM(t)
	r := rand.New(rand.NewPCG(25, 26))
	f := newFingers(t, nil)
	press := map[string]hardware.Input{"GPIO25": hardware.PushKnob, "GPIO16": hardware.PushChoose, "GPIO20": hardware.PushFreeze}
	counted := 0
	for end := time.Now().Add(5 * time.Minute); counted < 30 && time.Now().Before(end); {
		for line, want := range press {
			began := time.Now()
			fast := f.bouncing(r, line, true, 10)
			time.Sleep(60 * time.Millisecond)
			fast = f.bouncing(r, line, false, 10) && fast && time.Since(began) < hardware.HoldAfter*2/3
			if !fast {
				time.Sleep(100 * time.Millisecond)
				for len(f.did) > 0 {
					<-f.did
				}
				continue
			}
			d, late := f.arrives()
			require.True(t, late || d.Input == want, "%v, expected %v", d.Input, want)
			counted++
		}
	}
	t.Logf("%d presses", counted)
	require.GreaterOrEqual(t, counted, 10, "the machine is too slow to bounce")
	f.contact("GPIO20", true)
	d, late := f.arrives()
	require.True(t, late || d.Input == hardware.HoldFreeze, "while it is held: %v", d.Input)
	f.contact("GPIO20", false)
	f.nothing()
}

func TestVMWhatHappensWhileBusyDoesNotFireLate(t *testing.T) {
	inVM(t)
	r := rand.New(rand.NewPCG(27, 28))
	var once sync.Once
	busy, handed := make(chan struct{}), make(chan struct{})
	f := newFingers(t, func() { once.Do(func() { close(handed); <-busy }) })
	f.hand(r, handed)
	for range 5 {
		f.step(r, false, 0)
	}
	time.Sleep(hardware.StaleAfter + 100*time.Millisecond)
	close(busy)
	assert.Equal(t, hardware.TurnRight, f.next().Input)
	f.nothing()
	assert.Equal(t, hardware.TurnRight, f.turn(r, true))
}

// A flood that the kernel's queue cannot hold: some steps are lost and none turns round.
func TestVMAFloodOfEdgesNeverReversesAStep(t *testing.T) {
	inVM(t)
	r := rand.New(rand.NewPCG(29, 30))
	var once sync.Once
	busy, handed := make(chan struct{}), make(chan struct{})
	f := newFingers(t, func() { once.Do(func() { close(handed); <-busy }) })
	f.hand(r, handed)
	for range 40 { // 160 edges and more; the queue holds 64
		f.step(r, true, 2)
	}
	close(busy)
	lost := func() bool { _, lost := f.c.Dropped(); return lost > 0 }
	require.Eventually(t, lost, time.Minute, 10*time.Millisecond, "the queue was never full: the test tests nothing")
	for quiet := false; !quiet; {
		select {
		case d := <-f.did:
			require.Equal(t, hardware.TurnRight, d.Input)
		case <-time.After(time.Second):
			quiet = true
		}
	}
	f.nothing()
	assert.Equal(t, hardware.TurnLeft, f.turn(r, false), "and it goes on")
}

func TestVMControlsComeBackWithTheirChip(t *testing.T) {
	inVM(t)
	r := rand.New(rand.NewPCG(31, 32))
	f := newFingers(t, nil)
	plug(t, false)
	require.Eventually(t, func() bool { return strings.HasPrefix(f.c.String(), "0 of 4 controls") }, time.Minute, 10*time.Millisecond,
		f.c.String())
	plug(t, true)
	f.rest()
	require.Eventually(t, func() bool { return f.c.String() == "4 of 4 controls" }, time.Minute, 10*time.Millisecond, f.c.String())
	time.Sleep(2 * time.Second) // the lines are open again
	for len(f.did) > 0 {
		<-f.did
	}
	f.stale, _ = f.c.Dropped()
	assert.Equal(t, hardware.TurnRight, f.turn(r, true))
}

// openFiles counts this process's file descriptors.
func openFiles(t testing.TB) int {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	return len(all)
}

// TestVMAThousandFaults injects errors at random moments of a run, at the kernel's
// level: messages that break off, a display or a GPIO chip that is unplugged, lines
// that somebody else takes meanwhile.
func TestVMAThousandFaults(t *testing.T) {
	inVM(t)
	r := rand.New(rand.NewPCG(33, 34))
	now := time.Unix(1000, 0)
	b := vmBoard(func() time.Time { return now })
	all := verdicts()
	require.NoError(t, b.Show(all[0]))
	b.Flush()
	var g glass
	i2cGlass(t, &g)
	files, routines := openFiles(t), runtime.NumGoroutine()
	kinds := map[string]int{}
	var s hardware.State
	for fault := range 1000 {
		kind := []string{"message", "message", "message", "display", "display", "gpio line", "gpio line"}[r.IntN(7)]
		if fault%100 == 50 { // seldom: this kernel keeps the numbers of a chip's lines when it goes while they are held
			kind = "gpio chip"
		}
		kinds[kind]++
		var taken []hardware.Output
		switch kind {
		case "message":
			set(t, "keep", r.IntN(130))
			set(t, "fail", 1+r.IntN(4))
		case "display":
			set(t, "chip", 0)
			g.unplug()
		case "gpio chip":
			plug(t, false)
		case "gpio line": // somebody is faster when the program begins again
			require.NoError(t, b.Halt())
			for _, i := range r.Perm(len(lampLines))[:1+r.IntN(len(lampLines))] {
				out, err := hardware.OpenOutput(lampLines[i], false)
				require.NoError(t, err)
				taken = append(taken, out)
			}
		}
		for range 1 + r.IntN(3) { // while it lasts
			s = all[r.IntN(len(all))]
			now = now.Add(time.Duration(r.IntN(900)) * time.Millisecond)
			_ = b.Show(s) // told once; what counts is what is seen
			if kind == "message" || kind == "display" {
				require.Equal(t, hardware.LampsAt(s, now), lampsSeen(t), "fault %d: the lamps have nothing to do with the display", fault)
			}
			if r.IntN(2) == 0 {
				b.Flush()
			}
		}
		set(t, "fail", 0)
		set(t, "chip", 0x3c)
		if kind == "gpio chip" {
			plug(t, true)
		}
		for _, out := range taken {
			require.NoError(t, out.Close())
		}
		if wait := now.Add(time.Second); kind == "gpio chip" || kind == "gpio line" {
			now = wait // a line that stays away for a second is tried once a second
		}
		_ = b.Show(s)
		require.Equal(t, hardware.LampsAt(s, now), lampsSeen(t), "fault %d (%s): right at the next refresh", fault, kind)
		b.Flush()
		if fault%10 == 9 { // the display is tried again after half a minute at most
			for range 4 {
				now = now.Add(16 * time.Second)
				_ = b.Show(s)
				b.Flush()
			}
			i2cGlass(t, &g)
			require.True(t, g.shows(s), "fault %d (%s): the display", fault, kind)
		} else {
			i2cGlass(t, &g)
		}
	}
	t.Logf("faults: %v", kinds)
	assert.Equal(t, "vm: 8 of 8 lamps; display", b.String())
	assert.Equal(t, files, openFiles(t), "file descriptors")
	assert.LessOrEqual(t, runtime.NumGoroutine(), routines, "goroutines")
	require.NoError(t, b.Halt())
}

// TestVMACrashLeavesNoWrongLampLit: a program that is killed lets its lines go.
func TestVMACrashLeavesNoWrongLampLit(t *testing.T) {
	if os.Getenv("SIGHTLINE_CRASH") != "" {
		b := hardware.Open(vmWiring(), discard())
		require.NoError(t, b.Show(pair(nil)))
		fmt.Println("lit")
		time.Sleep(time.Minute)
	}
	inVM(t)
	child := exec.Command(os.Args[0], "-test.run=TestVMACrashLeavesNoWrongLampLit")
	child.Env = append(os.Environ(), "SIGHTLINE_CRASH=1")
	out, err := child.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())
	line := make([]byte, 4)
	_, err = io.ReadFull(out, line)
	require.NoError(t, err)
	require.True(t, bytes.HasPrefix(line, []byte("lit")))
	require.True(t, level(t, "GPIO27"))
	require.NoError(t, child.Process.Kill())
	var exit *exec.ExitError
	require.True(t, errors.As(child.Wait(), &exit))
	assert.False(t, level(t, "GPIO27"), "the kernel took the line back")
}
