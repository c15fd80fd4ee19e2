package doctor_test

import (
	"context"
	"errors"
	"image"
	"io"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/cmd/internal/doctor"
	"sightline/hardware"
	"sightline/vision"
	"sightline/vision/capture"
)

// lamp is a lamp's line that remembers what it was told.
type lamp struct {
	levels []bool
	err    error
	closed bool
}

func (l *lamp) Set(on bool) error { l.levels = append(l.levels, on); return l.err }
func (l *lamp) Close() error      { l.closed = true; return nil }

// camera gives a picture again and again.
type camera struct {
	picture *image.Gray
	clock   *time.Time
	every   time.Duration
	frames  int // then err
	err     error
}

func (c *camera) Next(context.Context) (vision.Frame, error) {
	if c.frames == 0 {
		return vision.Frame{}, c.err
	}
	c.frames--
	*c.clock = c.clock.Add(c.every)
	return vision.Frame{Gray: c.picture}, nil
}
func (c *camera) Close() error   { return nil }
func (c *camera) String() string { return "/dev/video0" }

// markers finds what a test says.
type markers []vision.Detection

func (m markers) DetectMarkers(*image.Gray) ([]vision.Detection, error) { return m, nil }

// mirror finds markers in every second picture: the mirrored ones.
type mirror struct{ shown int }

func (m *mirror) DetectMarkers(*image.Gray) ([]vision.Detection, error) {
	if m.shown++; m.shown%2 == 0 {
		return found(8), nil
	}
	return nil, nil
}

// whole is a box on which everything is well, and its parts to break.
type whole struct {
	files  fstest.MapFS
	box    doctor.Box
	setup  doctor.Setup
	lamps  map[string]*lamp
	cam    *camera
	now    time.Time
	runs   map[string]string // the output of programs; absent: they are not installed
	inputs []hardware.Input
}

var errAbsent = errors.New("no such line")

func newBox() *whole {
	w := &whole{lamps: map[string]*lamp{}, now: time.Date(2026, 11, 21, 18, 0, 0, 0, time.UTC)}
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	w.files = fstest.MapFS{
		"proc/device-tree/model": file("Raspberry Pi 4 Model B Rev 1.5\x00"),
		"etc/passwd":             file("root:x:0:0::/root:/bin/sh\nsightline:x:990:990::/:/bin/false\n"),
		"etc/group":              file("gpio:x:993:sightline\ni2c:x:994:sightline\nspi:x:995:sightline\nvideo:x:44:sightline\n"),
		"dev/gpiochip0":          file(""), "dev/i2c-1": file(""), "dev/video0": file(""), "dev/spidev0.0": file(""),
		"proc/mounts":                          file("/dev/root / ext4 ro,noatime 0 0\n/dev/mmcblk0p3 /var/lib/sightline ext4 rw 0 0\n"),
		"run/systemd/timesync/synchronized":    file(""),
		"sys/class/thermal/thermal_zone0/temp": file("48312\n"),
		"proc/meminfo":                         file("MemTotal: 3884124 kB\nMemAvailable: 3012345 kB\n"),
		"proc/vmstat":                          file("oom_kill 0\n"),
		"sys/devices/platform/soc/soc:firmware/get_throttled": file("0\n"),
	}
	w.runs = map[string]string{
		"systemctl is-active sightline.service": "inactive\n",
		"systemctl show sightline.service -p LoadState,ActiveState,NRestarts,StatusText,Result": "LoadState=loaded\nActiveState=inactive\n" +
			"NRestarts=0\n",
		"timedatectl show -p NTPSynchronized --value": "yes\n",
	}
	w.cam = &camera{picture: table(nil, 200, 30), clock: &w.now, every: time.Second / 30, frames: 1000, err: io.EOF}
	off := func() (func() error, error) { return func() error { return nil }, nil }
	w.box = doctor.Box{
		FS:       w.files,
		Writable: func(string) error { return nil }, Openable: func(string) error { return nil },
		Space: func(string) (doctor.Space, error) { return doctor.Space{Free: 20 << 30, Total: 32 << 30}, nil },
		Exec: func(_ context.Context, name string, args ...string) (string, error) {
			if out, ok := w.runs[strings.Join(append([]string{name}, args...), " ")]; ok {
				return out, nil
			}
			return "", errors.New(name + ": not found")
		},
		User: func() (doctor.Account, error) {
			return doctor.Account{Name: "sightline", Groups: []string{"gpio", "i2c", "spi", "video"}}, nil
		},
		Now:    func() time.Time { return w.now },
		Worked: func() (own, idle time.Duration) { return 0, 2 * time.Duration(w.now.UnixNano()) },
		Lamp: func(line string, _ bool) (hardware.Output, error) {
			if w.lamps[line] == nil {
				w.lamps[line] = &lamp{}
			}
			return w.lamps[line], nil
		},
		Absent:  func(err error) bool { return errors.Is(err, errAbsent) },
		Display: off, Strip: off,
		Controls: func(ctx context.Context, did func(hardware.Did)) error {
			for _, in := range w.inputs {
				did(hardware.Did{Input: in})
			}
			<-ctx.Done()
			return nil
		},
		Camera:  func(context.Context) (vision.Source, error) { return w.cam, nil },
		Markers: found(8),
		Ask:     func(string) bool { return true }, Tell: func(string) {}, Pause: func(time.Duration) {},
	}
	w.inputs = []hardware.Input{hardware.TurnRight, hardware.TurnLeft, hardware.PushKnob, hardware.PushChoose, hardware.PushFreeze}
	wiring := hardware.Wiring{Bus: "I2C1", Display: hardware.DisplayOptions{Address: 0x3c}, StripPort: "SPI0.0"}
	wiring.Lines[hardware.LampRange1], wiring.Lines[hardware.LampNoView] = "GPIO17", "GPIO26"
	wiring.Controls[hardware.ControlTurn].Names = []string{"GPIO23", "GPIO24"}
	for i, c := range []hardware.Control{hardware.ControlKnob, hardware.ControlChoose, hardware.ControlFreeze} {
		wiring.Controls[c].Names = []string{[]string{"GPIO25", "GPIO16", "GPIO20"}[i]}
	}
	w.setup = doctor.Setup{Panel: true, Wiring: wiring, Source: "/dev/video0", Lens: "", Table: "testdata-none",
		Layout: calibration.DefaultLayout(calibration.MatSide, calibration.MatSide), DataDir: "/var/lib/sightline"}
	return w
}

// square is where the n-th marker stands in a picture of these tests.
func square(n int) image.Rectangle {
	at := image.Pt(100+300*(n%4), 100+400*(n/4))
	return image.Rectangle{at, at.Add(image.Pt(80, 80))}
}

// found says that the first n markers are seen.
func found(n int) (all markers) {
	for i := range n {
		r := square(i)
		px := func(p image.Point) (c [2]float64) { return [2]float64{float64(p.X), float64(p.Y)} }
		d := vision.Detection{ID: i}
		for k, p := range []image.Point{r.Min, {X: r.Max.X, Y: r.Min.Y}, r.Max, {X: r.Min.X, Y: r.Max.Y}} {
			d.Corners[k].X, d.Corners[k].Y = px(p)[0], px(p)[1]
		}
		all = append(all, d)
	}
	return all
}

// table draws eight black squares on white paper on a grey mat; blur makes every edge
// a ramp of that many pixels.
func table(blur []int, white, black uint8) *image.Gray {
	g := image.NewGray(image.Rect(0, 0, 1920, 1080))
	for i := range g.Pix {
		g.Pix[i] = 110
	}
	ramp := 1
	if len(blur) > 0 {
		ramp = blur[0]
	}
	for n := range 8 {
		r := square(n)
		for y := r.Min.Y - 20; y < r.Max.Y+20; y++ {
			for x := r.Min.X - 20; x < r.Max.X+20; x++ {
				inside := min(x-r.Min.X, r.Max.X-1-x, y-r.Min.Y, r.Max.Y-1-y)
				k := min(1, max(0, (float64(inside)+0.5)/float64(ramp)+0.5))
				g.Pix[y*g.Stride+x] = uint8(float64(white) + k*(float64(black)-float64(white)))
			}
		}
	}
	return g
}

func (w *whole) examine(t *testing.T, only ...string) map[string][]doctor.Finding {
	t.Helper()
	byCheck := map[string][]doctor.Finding{}
	for _, f := range doctor.Examine(t.Context(), w.box, w.setup, only, nil) {
		byCheck[f.Check] = append(byCheck[f.Check], f)
		assert.NotEmpty(t, f.Says, f.Check)
		if f.State == doctor.Wrong || f.State == doctor.Warning {
			assert.NotEmpty(t, f.Do, "%s: %s", f.Check, f.Says)
		}
	}
	return byCheck
}

func TestAWorkingBoxIsOK(t *testing.T) {
	w := newBox()
	w.setup.Source, w.setup.Table = "/dev/video0", "" // no calibration: see the next tests
	findings := doctor.Examine(t.Context(), w.box, w.setup, nil, nil)
	for _, f := range findings {
		if f.Check != "lens" {
			assert.Equal(t, doctor.OK, f.State, "%+v", f)
		}
	}
	for _, line := range []string{"GPIO17", "GPIO26"} {
		assert.Equal(t, []bool{true, false}, w.lamps[line].levels, "%s was lit and put out", line)
		assert.True(t, w.lamps[line].closed)
	}
}

// Each box is broken in one way; the named check must say so, in these words.
func TestFaultsOfTheBoxAreExplained(t *testing.T) {
	set := func(path, text string) func(*whole) {
		return func(w *whole) { w.files[path] = &fstest.MapFile{Data: []byte(text)} }
	}
	remove := func(paths ...string) func(*whole) {
		return func(w *whole) {
			for _, p := range paths {
				delete(w.files, p)
			}
		}
	}
	throttled := func(bits string) func(*whole) {
		return set("sys/devices/platform/soc/soc:firmware/get_throttled", bits)
	}
	show := func(text string) func(*whole) {
		return func(w *whole) {
			w.runs["systemctl show sightline.service -p LoadState,ActiveState,NRestarts,StatusText,Result"] = text
		}
	}
	for name, c := range map[string]struct {
		do     func(*whole)
		only   string
		check  string
		state  doctor.State
		says   string
		advice string
	}{
		"an old Pi": {set("proc/device-tree/model", "Raspberry Pi 2 Model B"), "board", "board", doctor.Warning, "not made for this model",
			"Zero 2 W"},
		"another board": {set("proc/device-tree/model", "Radxa ROCK"), "board", "board", doctor.OK, "Radxa", ""},
		"a laptop":      {remove("proc/device-tree/model"), "board", "board", doctor.OK, "no board model", ""},
		"not in gpio": {func(w *whole) {
			w.box.User = func() (doctor.Account, error) {
				return doctor.Account{Name: "ann", Groups: []string{"i2c", "spi", "video"}}, nil
			}
		}, "user", "user", doctor.Wrong, "ann is not in the group gpio", "usermod -aG gpio ann"},
		"root": {func(w *whole) {
			w.box.User = func() (doctor.Account, error) { return doctor.Account{Name: "root", Root: true}, nil }
		}, "user", "user", doctor.Warning, "root", "sudo -u sightline"},
		"nobody": {func(w *whole) {
			w.box.User = func() (doctor.Account, error) { return doctor.Account{}, errors.New("no entry") }
		}, "user", "user", doctor.Wrong, "no entry", "log in"},
		"no gpiochip on a Pi": {remove("dev/gpiochip0"), "interfaces", "interfaces", doctor.Wrong, "/dev/gpiochip*", "upgrade"},
		"I2C is off":          {remove("dev/i2c-1"), "interfaces", "interfaces", doctor.Wrong, "switched off", "i2c_arm=on"},
		"SPI is off":          {remove("dev/spidev0.0"), "interfaces", "interfaces", doctor.Wrong, "strip", "spi=on"},
		"camera unplugged":    {remove("dev/video0"), "interfaces", "interfaces", doctor.Wrong, "/dev/video0 is not there", "plug"},
		"camera has another number": {func(w *whole) { remove("dev/video0")(w); set("dev/video2", "")(w) }, "interfaces", "interfaces",
			doctor.Wrong, "not there", "/dev/video2"},
		"devices are root's": {func(w *whole) { w.box.Openable = func(string) error { return syscall.EACCES } }, "interfaces", "interfaces",
			doctor.Wrong, "permission denied", "70-sightline.rules"},
		"disk full": {func(w *whole) {
			w.box.Space = func(string) (doctor.Space, error) { return doctor.Space{Free: 1 << 20, Total: 8 << 30}, nil }
		}, "disk", "disk", doctor.Wrong, "full", "remove"},
		"disk nearly full": {func(w *whole) {
			w.box.Space = func(string) (doctor.Space, error) { return doctor.Space{Free: 300 << 20, Total: 8 << 30}, nil }
		}, "disk", "disk", doctor.Warning, "nearly full: 300 MB", "remove"},
		"data read-only": {func(w *whole) {
			w.box.Space = func(string) (doctor.Space, error) { return doctor.Space{Free: 8 << 30, ReadOnly: true}, nil }
		}, "disk", "disk", doctor.Wrong, "read-only", "mount"},
		"data directory missing": {func(w *whole) {
			w.box.Space = func(string) (doctor.Space, error) { return doctor.Space{}, syscall.ENOENT }
		}, "disk", "disk", doctor.Wrong, "no such file", "tmpfiles"},
		"data directory another's": {func(w *whole) { w.box.Writable = func(string) error { return syscall.EACCES } }, "disk", "disk",
			doctor.Wrong, "may not write", "chown"},
		"rulings damaged": {func(w *whole) { w.setup.RulingsTrouble = "the record is damaged." }, "disk", "disk", doctor.Wrong,
			"No judge's ruling can be recorded: the record is damaged.", "docs/rulings.md"},
		"rulings another user's": {func(w *whole) {
			w.setup.RulingsTrouble, w.setup.RulingsDenied = "the folder may not be written.", true
		}, "disk", "disk", doctor.Warning, "by this user: the folder may not be written.", "run doctor as the service's user"},
		"data in memory": {set("proc/mounts", "overlay / overlay rw 0 0\n"), "disk", "disk", doctor.Warning, "lost when the power goes",
			"partition"},
		"root writable": {set("proc/mounts", "/dev/root / ext4 rw 0 0\n"), "disk", "disk", doctor.OK, "writable", ""},
		"clock of 1970": {func(w *whole) { w.now = time.Unix(30, 0) }, "clock", "clock", doctor.Wrong, "1970-01-01", "date -s"},
		"clock of 2200": {func(w *whole) { w.now = time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC) }, "clock", "clock", doctor.Wrong, "2200",
			"network"},
		"clock not set": {func(w *whole) {
			remove("run/systemd/timesync/synchronized")(w)
			w.runs["timedatectl show -p NTPSynchronized --value"] = "no\n"
		}, "clock", "clock", doctor.Warning, "no clock of its own", "network"},
		"clock from its chip": {func(w *whole) {
			remove("run/systemd/timesync/synchronized")(w)
			set("dev/rtc0", "")(w)
			w.runs["timedatectl show -p NTPSynchronized --value"] = "no\n"
		}, "clock", "clock", doctor.OK, "clock chip", ""},
		"too hot": {set("sys/class/thermal/thermal_zone1/temp", "84100"), "temperature", "temperature", doctor.Wrong, "84 °C",
			"heat sink"},
		"warm": {set("sys/class/thermal/thermal_zone0/temp", "72000"), "temperature", "temperature", doctor.Warning, "72 °C",
			"heat sink"},
		"a thermometer gone mad": {set("sys/class/thermal/thermal_zone0/temp", "-274000"), "temperature", "temperature", doctor.Skipped,
			"does not say", ""},
		"under-voltage now": {throttled("0x50005"), "power", "power", doctor.Wrong, "voltage is too low", "power supply"},
		"throttled before":  {throttled("40000"), "power", "power", doctor.Warning, "Since the start", "air"},
		"throttled by vcgencmd": {func(w *whole) {
			remove("sys/devices/platform/soc/soc:firmware/get_throttled")(w)
			w.runs["vcgencmd get_throttled"] = "throttled=0x8\n"
		}, "power", "power", doctor.Wrong, "limit of temperature", "air"},
		"throttling not told": {throttled("what?"), "power", "power", doctor.Warning, "does not say", "vcgencmd"},
		"no memory":           {set("proc/meminfo", "MemAvailable: 40000 kB\n"), "memory", "memory", doctor.Wrong, "39 MB", "desktop"},
		"little memory":       {set("proc/meminfo", "MemAvailable: 100000 kB\n"), "memory", "memory", doctor.Warning, "97 MB", "desktop"},
		"memory not told":     {remove("proc/meminfo"), "memory", "memory", doctor.Skipped, "does not say", ""},
		"service in a loop": {show("LoadState=loaded\nActiveState=active\nNRestarts=7\n"), "service", "service", doctor.Warning,
			"7 times", "journalctl"},
		"service failed": {show("LoadState=loaded\nActiveState=failed\nResult=watchdog\n"), "service", "service", doctor.Wrong,
			"failed (watchdog)", "journalctl"},
		"service not installed": {show("LoadState=not-found\nActiveState=inactive\n"), "service", "service", doctor.Skipped,
			"not installed", ""},
		"lamp does not light": {func(w *whole) { w.box.Ask = func(q string) bool { return !strings.Contains(q, "no_view") } }, "lamps",
			"lamp no_view", doctor.Wrong, "did not light", "GPIO26"},
		"lamp held by another": {func(w *whole) { w.box.Lamp = func(string, bool) (hardware.Output, error) { return nil, syscall.EBUSY } },
			"lamps", "lamp range1", doctor.Wrong, "busy", "systemctl stop"},
		"lamp's pin not on this chip": {func(w *whole) { w.box.Lamp = func(string, bool) (hardware.Output, error) { return nil, errAbsent } },
			"lamps", "lamp range1", doctor.Wrong, "no such line", "gpioinfo"},
		"lamp's chip unplugged": {func(w *whole) { w.lamps["GPIO17"] = &lamp{err: syscall.ENODEV} }, "lamps", "lamp range1", doctor.Wrong,
			"no such device", "dmesg"},
		"no panel on a laptop": {func(w *whole) {
			remove("proc/device-tree/model")(w)
			w.box.Lamp = func(string, bool) (hardware.Output, error) { return nil, errAbsent }
		}, "lamps", "lamps", doctor.Skipped, "No panel: the page's is used", ""},
		"panel off": {func(w *whole) { w.setup.Panel = false }, "lamps", "lamps", doctor.Skipped, "switched off", ""},
		"service has the panel": {func(w *whole) { w.runs["systemctl is-active sightline.service"] = "active\n" }, "lamps", "lamps",
			doctor.Skipped, "service is using it", "systemctl stop"},
		"display unplugged": {func(w *whole) { w.box.Display = func() (func() error, error) { return nil, syscall.ENXIO } }, "display",
			"display", doctor.Wrong, "does not answer", "0x3c"},
		"display upside down": {func(w *whole) { w.box.Ask = func(string) bool { return false } }, "display", "display", doctor.Wrong,
			"does not show", "rotated"},
		"display falls off": {func(w *whole) {
			w.box.Display = func() (func() error, error) { return func() error { return syscall.EREMOTEIO }, nil }
		}, "display", "display", doctor.Wrong, "then failed", "SDA"},
		"strip dark": {func(w *whole) { w.box.Ask = func(string) bool { return false } }, "strip", "strip", doctor.Wrong, "does not show",
			"strip.kind"},
		"no person to press": {func(w *whole) { w.box.Tell = nil }, "controls", "controls", doctor.Skipped, "No person is present", "terminal"},
		"camera busy": {func(w *whole) {
			w.box.Camera = func(context.Context) (vision.Source, error) { return nil, syscall.EBUSY }
		}, "camera", "camera", doctor.Wrong, "busy", "systemctl stop"},
		"camera without pictures": {func(w *whole) { w.cam.frames, w.cam.err = 0, errors.New("timed out") }, "camera", "camera", doctor.Wrong,
			"no picture: timed out", "cable"},
		"camera slow": {func(w *whole) { w.cam.every = time.Second / 2 }, "camera", "camera", doctor.Warning, "2.0 pictures a second",
			"light"},
		"this program is slow": {func(w *whole) {
			w.cam.every = time.Second / 2
			w.box.Worked = func() (own, idle time.Duration) {
				return time.Duration(w.now.UnixNano()), time.Duration(w.now.UnixNano())
			}
		}, "camera", "camera", doctor.Warning, "This computer does not keep up with the camera: ", capture.SlowComputerAdvice},
		"other programs leave it no processor": {func(w *whole) {
			w.cam.every = time.Second / 2
			w.box.Worked = func() (own, idle time.Duration) { return time.Duration(w.now.UnixNano()) / 3, 0 }
		}, "camera", "camera", doctor.Warning, "or other programs leave it no processor", "stop what else runs on it; then"},
		"a folder of pictures": {func(w *whole) { w.setup.Source, w.cam.every = t.TempDir(), time.Second/2 }, "camera", "camera", doctor.OK,
			"2.0 pictures a second", ""},
		"a slow stream": {func(w *whole) { w.setup.Source, w.cam.every = "http://camera.example/", time.Second/2 }, "camera", "camera",
			doctor.Warning, "slow", "network"},
		"camera small": {func(w *whole) { w.cam.picture = image.NewGray(image.Rect(0, 0, 640, 480)) }, "camera", "camera", doctor.Warning,
			"640×480", "1920"},
		"lens cap": {func(w *whole) { w.cam.picture = image.NewGray(image.Rect(0, 0, 1920, 1080)) }, "camera", "exposure", doctor.Wrong, "black",
			"lens cap"},
		"blinded": {func(w *whole) {
			w.cam.picture = table(nil, 255, 255)
			for i := range w.cam.picture.Pix {
				w.cam.picture.Pix[i] = 255
			}
		}, "camera", "exposure", doctor.Wrong, "white", "exposure"},
		"mirroring lamp": {func(w *whole) {
			p := table(nil, 200, 30)
			for i := range 200000 {
				p.Pix[len(p.Pix)-1-i] = 255
			}
			w.cam.picture = p
		}, "camera", "exposure", doctor.Warning, "burnt out", "exposure"},
		"markers out of view": {func(w *whole) { w.box.Markers = found(0) }, "camera", "markers", doctor.Wrong, "None", "whole mat"},
		"markers covered":     {func(w *whole) { w.box.Markers = found(2) }, "camera", "markers", doctor.Warning, "2 of the mat's 8", "uncover"},
		"mirrored": {func(w *whole) { w.box.Markers = &mirror{} }, "camera", "markers", doctor.Wrong, "left and right exchanged",
			"mirroring"},
		"no OpenCV": {func(w *whole) { w.box.Markers = nil }, "camera", "markers", doctor.Skipped, "without OpenCV", ""},
		"out of focus": {func(w *whole) { w.cam.picture = table([]int{9}, 200, 30) }, "camera", "sharpness", doctor.Wrong, "not sharp",
			"focus"},
		"flat picture": {func(w *whole) { w.cam.picture = table(nil, 120, 80) }, "camera", "sharpness", doctor.Warning, "flat", "light"},
		"markers burnt out": {func(w *whole) { w.cam.picture = table(nil, 255, 30) }, "camera", "sharpness", doctor.Warning, "burnt out",
			"exposure"},
		"no lens": {func(w *whole) { w.setup.Table = "" }, "calibration", "lens", doctor.Wrong, "No lens file", "calibrate lens"},
		"lens file missing": {func(w *whole) { w.setup.Lens = "/nowhere/lens.json" }, "calibration", "lens", doctor.Wrong, "cannot be used",
			"calibrate lens"},
		"table file missing": {func(w *whole) { w.setup.Table = "/nowhere/table.json" }, "calibration", "table", doctor.Wrong, "cannot be used",
			"calibrate table"},
		"simulated table": {func(w *whole) { w.setup.Source, w.setup.Table = "sim:", "" }, "calibration", "calibration", doctor.Skipped,
			"simulated", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newBox()
			c.do(w)
			got := w.examine(t, c.only)[c.check]
			require.NotEmpty(t, got, "nothing was said of %s", c.check)
			for _, f := range got {
				if f.State == c.state && strings.Contains(f.Says, c.says) && strings.Contains(f.Do, c.advice) {
					return
				}
			}
			t.Errorf("%+v, want %s: …%s… → …%s…", got, c.state, c.says, c.advice)
		})
	}
}

func TestTheServicesUserIsCheckedToo(t *testing.T) {
	w := newBox()
	w.box.User = func() (doctor.Account, error) {
		return doctor.Account{Name: "ann", Groups: []string{"gpio", "i2c", "spi", "video"}}, nil
	}
	w.files["etc/group"] = &fstest.MapFile{Data: []byte("gpio:x:1:sightline\ni2c:x:2:ann\nspi:x:3:sightline\nvideo:x:4:ann,sightline\n")}
	got := w.examine(t, "user")["user"]
	require.Len(t, got, 2)
	assert.Equal(t, doctor.Wrong, got[1].State)
	assert.Contains(t, got[1].Says, "sightline is not in the group i2c")
}

func TestWrongAndMissingInputsAreReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // twice ten seconds for presses that do not come
		w := newBox()
		w.inputs = []hardware.Input{hardware.TurnLeft}
		w.setup.Wiring.Controls[hardware.ControlKnob].Names = nil
		w.setup.Wiring.Controls[hardware.ControlChoose].Names = nil
		w.setup.Wiring.Controls[hardware.ControlFreeze].Names = nil
		got := w.examine(t, "controls")["control encoder"]
		require.Len(t, got, 2)
		assert.Equal(t, doctor.Wrong, got[0].State)
		assert.Equal(t, `Asked to turn the knob to the right, got "turn left".`, got[0].Says)
		assert.Contains(t, got[0].Do, "exchange a and b")
		assert.Equal(t, "Asked to turn the knob to the left, got nothing within 10 seconds.", got[1].Says)
	})
}

func TestWithoutAPersonLampsAreOnlySwitched(t *testing.T) {
	w := newBox()
	w.box.Ask, w.box.Tell = nil, nil
	got := w.examine(t)
	assert.Equal(t, doctor.OK, got["lamp range1"][0].State)
	assert.Contains(t, got["lamp range1"][0].Says, "no person confirmed")
	assert.Contains(t, got["display"][0].Says, "no person confirmed")
	assert.Equal(t, []bool{true, false}, w.lamps["GPIO17"].levels)
}

func TestOnlyWrongFindingsFail(t *testing.T) {
	assert.False(t, doctor.Failed([]doctor.Finding{{State: doctor.Warning}, {State: doctor.Skipped}, {State: doctor.OK}}))
	assert.True(t, doctor.Failed([]doctor.Finding{{State: doctor.OK}, {State: doctor.Wrong}}))
}

// Where no camera was chosen there is none to plug in.
func TestWithoutACameraItSaysHowToChooseOne(t *testing.T) {
	w := newBox()
	w.box.Camera = nil // it is not opened
	all := doctor.Examine(t.Context(), w.box, doctor.Setup{DataDir: t.TempDir()}, []string{"camera"}, nil)
	require.Len(t, all, 1)
	assert.Equal(t, "No camera is chosen yet.", all[0].Says)
	assert.Contains(t, all[0].Do, "/first")
}

// The machine that the tests run on, with its real files and programs.
func TestThisMachineCanBeExamined(t *testing.T) {
	w := newBox()
	box := doctor.Here(hardware.Wiring{})
	box.Camera, box.Markers, box.Pause = w.box.Camera, w.box.Markers, w.box.Pause
	dir := t.TempDir()
	setup := doctor.Setup{Source: "sim:", DataDir: dir}
	for _, f := range doctor.Examine(t.Context(), box, setup, []string{"board", "user", "disk", "clock", "temperature", "power", "memory",
		"service"}, nil) {
		assert.NotEmpty(t, f.Says)
	}
	require.NoError(t, box.Writable(dir))
	assert.Error(t, box.Writable(dir+"/nothing"))
	assert.Error(t, box.Openable(dir+"/nothing"))
	s, err := box.Space(dir)
	require.NoError(t, err)
	assert.Positive(t, s.Total)
	assert.False(t, s.ReadOnly)
	_, err = box.Exec(t.Context(), "no-such-program-anywhere")
	assert.ErrorContains(t, err, "no-such-program-anywhere")
}
