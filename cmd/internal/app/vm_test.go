//go:build opencv

package app_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"image"
	"image/png"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/calibration/lens"
	"sightline/cmd/internal/app"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision/tablesim"
)

// loopback is a camera of the kernel's that shows what is written to it
// (v4l2loopback). It is opened without package os, whose poller would start it.
type loopback struct {
	fd            int
	width, height int

	mu      sync.Mutex
	picture []byte // YUYV
	change  int    // how often show was called
	frames  int    // written since the last change
	first   time.Time
}

func openLoopback(t *testing.T, path string, width, height int) *loopback {
	fd, err := syscall.Open(path, syscall.O_RDWR, 0)
	require.NoError(t, err)
	t.Cleanup(func() { _ = syscall.Close(fd) })
	var format [208]byte // v4l2_format, linux/videodev2.h
	for i, v := range []uint32{2 /* output */, 0, uint32(width), uint32(height), 0x56595559 /* YUYV */, 1 /* no fields */, uint32(2 * width),
		uint32(2 * width * height)} {
		binary.NativeEndian.PutUint32(format[4*i:], v)
	}
	const setFormat = 0xC0D05605
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(fd), setFormat, uintptr(unsafe.Pointer(&format)))
	require.Zero(t, errno, "set the format of %s: %v", path, errno)
	return &loopback{fd: fd, width: width, height: height}
}

// show makes a picture the one that is sent from the next frame on.
func (l *loopback) show(g *image.Gray) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.picture = make([]byte, 2*l.width*l.height)
	for i, v := range g.Pix {
		l.picture[2*i], l.picture[2*i+1] = uint8(16+219*int(v)/255), 128 // video levels
	}
	l.change, l.frames = l.change+1, 0
}

// run sends frames until ctx ends; each has a little noise of its own.
func (l *loopback) run(ctx context.Context) {
	r := rand.New(rand.NewPCG(1, 2))
	for ctx.Err() == nil {
		l.mu.Lock()
		frame := l.picture
		for range 1000 {
			i := 2 * r.IntN(len(frame)/2)
			frame[i] = max(16, min(234, frame[i]^1))
		}
		if _, err := syscall.Write(l.fd, frame); err == nil {
			if l.frames == 0 {
				l.first = time.Now()
			}
			l.frames++
		}
		l.mu.Unlock()
		select {
		case <-ctx.Done():
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// since returns how many frames were sent since the last change, and how long ago the first was.
func (l *loopback) since() (frames int, age time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.frames, time.Since(l.first)
}

// lampsOfTheChip reads the reference wiring's lamps from the simulated chip.
func lampsOfTheChip(t *testing.T) (on []string) {
	for _, lamp := range []struct{ name, line string }{
		{"range1", "17"}, {"range2", "27"}, {"range3", "22"}, {"in_arc", "5"}, {"obstructed", "6"}, {"overlap", "19"}, {"too_close", "13"},
		{"no_view", "26"},
	} {
		paths, err := filepath.Glob("/sys/devices/platform/gpio-sim.0/gpiochip*/sim_gpio" + lamp.line + "/value")
		require.NoError(t, err)
		require.Len(t, paths, 1)
		b, err := os.ReadFile(paths[0])
		require.NoError(t, err)
		if strings.TrimSpace(string(b)) == "1" {
			on = append(on, lamp.name)
		}
	}
	return on
}

// glassOfTheBus is the picture that the display's bus has been sent, page by page.
func glassOfTheBus(t *testing.T) (memory [8][128]byte) {
	b, err := os.ReadFile("/sys/kernel/debug/fakebus/i2c")
	require.NoError(t, err)
	page, column := 0, 0
	for len(b) >= 4 {
		n := int(binary.LittleEndian.Uint16(b))
		m := b[4 : 4+n]
		b = b[4+n:]
		switch {
		case n == 4 && m[0] == 0 && m[1]&0xF8 == 0xB0: // page, low and high nibble of the column
			page, column = int(m[1]&7), int(m[2]&15)|int(m[3]&15)<<4
		case n > 1 && m[0] == 0x40:
			column += copy(memory[page][column:], m[1:])
		}
	}
	return memory
}

// pagesDisplay is the display as the page shows it.
func pagesDisplay(t *testing.T, address string) (memory [8][128]byte) {
	answer, err := http.Get("http://" + address + "/api/display.png")
	require.NoError(t, err)
	defer answer.Body.Close()
	b, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	img, err := png.Decode(bytes.NewReader(b))
	require.NoError(t, err)
	for y := range 64 {
		for x := range 128 {
			if v, _, _, _ := img.At(x, y).RGBA(); v > 0x8000 {
				memory[y/8][x] |= 1 << (y % 8)
			}
		}
	}
	return memory
}

// TestVMOneTurnFromFrameToLamp runs the whole program against the kernel's camera, GPIO
// and I²C: make test-hardware.
func TestVMOneTurnFromFrameToLamp(t *testing.T) {
	if os.Getenv("SIGHTLINE_IN_VM") == "" {
		t.Skip("needs the virtual machine: make test-hardware")
	}
	const width, height = 1280, 720
	ship := func(id string, player int, x, y, deg float64) engine.Ship {
		return engine.Ship{ID: id, Player: player, Base: engine.Small, Pose: geom.Pose{Point: geom.Point{X: x, Y: y},
			Heading: geom.Angle(deg) * geom.Degree}}
	}
	table := &tablesim.Table{
		Camera: tablesim.DefaultCamera(width, height), Layout: calibration.DefaultLayout(calibration.MatSide, calibration.MatSide),
		Look: tablesim.DefaultLook(), Seed: 7,
		Scene: engine.Scene{Rules: engine.Rules25, MatWidth: calibration.MatSide, MatHeight: calibration.MatSide},
	}
	turn := []struct {
		what  string
		b1    engine.Ship
		lamps []string
	}{
		{"B1 stands 150 mm in front of A1", ship("B1", 2, 300, 490, 180), []string{"range2", "in_arc"}},
		{"B1 comes to 80 mm", ship("B1", 2, 300, 420, 180), []string{"range1", "in_arc"}},
		{"B1 turns away to the side, 240 mm", ship("B1", 2, 580, 300, 90), []string{"range3"}},
	}
	table.Look.Samples = 2 // this processor is slow
	var pictures []*image.Gray
	for _, step := range turn {
		table.Scene.Ships = []engine.Ship{ship("A1", 1, 300, 300, 0), step.b1}
		f, _, err := table.Render()
		require.NoError(t, err)
		pictures = append(pictures, f.Gray)
	}

	c := app.DefaultConfig()
	c.Camera.Source, c.Web.Listen = "/dev/video0", "localhost:0"
	c.Camera.Lens = filepath.Join(t.TempDir(), "lens.json")
	require.NoError(t, lens.Save(c.Camera.Lens, table.Camera.Intrinsics))
	camera := openLoopback(t, "/dev/video0", width, height)
	camera.show(pictures[0])
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go camera.run(ctx)

	ready, done := make(chan string, 1), make(chan error, 1)
	var log bytes.Buffer
	go func() {
		done <- app.Run(ctx, c, app.Options{StateDir: t.TempDir(), Ready: func(a string) { ready <- a },
			Log: slog.New(slog.NewTextHandler(&log, nil)), StaleAfter: time.Minute})
	}()
	address := <-ready
	started := time.Now()
	for i, step := range turn {
		if i > 0 {
			camera.show(pictures[i])
		}
		deadline := time.Now().Add(8 * time.Minute)
		for {
			seen := lampsOfTheChip(t)
			frames, age := camera.since()
			if frames > 0 && fmt.Sprint(seen) == fmt.Sprint(step.lamps) {
				t.Logf("%s: %v after %d frames, %v", step.what, seen, frames, age.Round(time.Millisecond))
				if i == 0 {
					t.Logf("the first answer %v after the start", time.Since(started).Round(time.Millisecond))
				} else {
					assert.GreaterOrEqual(t, frames, 2, "one frame cannot tell that a ship has come to rest")
				}
				break
			}
			if time.Now().After(deadline) {
				stop()
				<-done
				t.Fatalf("%s: lamps %v, want %v\n%s", step.what, seen, step.lamps, log.String())
			}
			time.Sleep(2 * time.Millisecond)
		}
	}
	// What the bus was sent is what the page shows; the figures change with every frame.
	same := func() bool { return glassOfTheBus(t) == pagesDisplay(t, address) }
	assert.Eventually(t, same, 8*time.Minute, 10*time.Millisecond, "the glass and the page's display")

	stop()
	require.NoError(t, <-done)
	assert.Empty(t, lampsOfTheChip(t), "the end leaves the panel dark")
	assert.Zero(t, glassOfTheBus(t))
}
