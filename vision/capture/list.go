package capture

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

// Found is a camera of this machine.
type Found struct {
	Source  string // the source's name: "/dev/video0", "csi:0"
	Name    string // the camera's own name
	Modes   []Mode // the modes it reports, the most pixels first; none: it does not report them
	Problem string // why it could not be queried; "": it was
}

// Mode is one kind of pictures that a camera delivers.
type Mode struct {
	Format        string  // the driver's name: "MJPG", "YUYV", "SRGGB10_CSI2P"
	Width, Height int     // px
	FPS           float64 // the highest frame rate; 0: not reported
}

// List returns the machine's cameras: V4L2 capture devices and the cameras of rpicam-apps, also
// those that another program uses.
func List(ctx context.Context) []Found {
	paths, _ := filepath.Glob("/dev/video*")
	slices.SortFunc(paths, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) // video2 before video10
	})
	var out []Found
	for _, path := range paths {
		if c, ok := listDevice(path); ok {
			out = append(out, c)
		}
	}
	return append(out, listCSI(ctx)...)
}

// The ioctl requests of linux/videodev2.h that list a device's capabilities.
const (
	vidiocQueryCap           = 0x80685600 // 0, struct v4l2_capability
	vidiocEnumFmt            = 0xc0405602 // 2, struct v4l2_fmtdesc
	vidiocEnumFrameSizes     = 0xc02c564a // 74, struct v4l2_frmsizeenum
	vidiocEnumFrameIntervals = 0xc034564b // 75, struct v4l2_frmivalenum
)

// v4l2Capability is struct v4l2_capability.
type v4l2Capability struct {
	driver       [16]byte
	card, bus    [32]byte
	version      uint32
	capabilities uint32
	device       uint32
	reserved     [3]uint32
}

// v4l2Format is struct v4l2_fmtdesc.
type v4l2Format struct {
	index, kind, flags uint32
	description        [32]byte
	pixels, mbus       uint32
	reserved           [3]uint32
}

// v4l2FrameSize is struct v4l2_frmsizeenum.
type v4l2FrameSize struct {
	index, pixels, kind uint32
	size                [6]uint32 // width and height, or minimum, maximum and step of both
	reserved            [2]uint32
}

// v4l2FrameInterval is struct v4l2_frmivalenum.
type v4l2FrameInterval struct {
	index, pixels, width, height, kind uint32
	interval                           [6]uint32 // seconds as a fraction; the shortest first
	reserved                           [2]uint32
}

const (
	capVideoCapture = 0x1
	capDevice       = 0x80000000 // the device field is valid
	bufVideoCapture = 1
	kindDiscrete    = 1
	mostListed      = 64 // of each kind, for a driver whose lists never end
)

// rawDrivers are the drivers of parts of a Raspberry Pi's camera pipeline. Their raw pictures are
// of no use; rpicam-apps process them.
var rawDrivers = []string{"unicam", "rp1-cfe", "bcm2835-isp", "pispbe", "bcm2835-codec", "rpi-hevc-dec"}

// asker is a V4L2 device that can be queried by ioctl.
type asker interface {
	ioctl(request uintptr, arg unsafe.Pointer) error
}

// listDevice queries a device. It reports false if it is not a capture device.
func listDevice(path string) (Found, bool) {
	fd, err := syscall.Open(path, syscall.O_RDWR|syscall.O_CLOEXEC|syscall.O_NONBLOCK, 0)
	if err != nil {
		if errors.Is(err, syscall.ENODEV) || errors.Is(err, syscall.ENXIO) || errors.Is(err, syscall.ENOENT) {
			return Found{}, false
		}
		return Found{Source: path, Name: filepath.Base(path), Problem: err.Error()}, true
	}
	d := listedDevice(fd)
	defer syscall.Close(fd)
	return describeDevice(path, d)
}

// listedDevice is a device opened for its lists.
type listedDevice int

func (d listedDevice) ioctl(request uintptr, arg unsafe.Pointer) error {
	for {
		_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(d), request, uintptr(arg))
		switch errno {
		case 0:
			return nil
		case syscall.EINTR:
			continue
		}
		return errno
	}
}

func describeDevice(path string, d asker) (Found, bool) {
	var c v4l2Capability
	if err := d.ioctl(vidiocQueryCap, unsafe.Pointer(&c)); err != nil {
		return Found{}, false
	}
	can := c.capabilities
	if can&capDevice != 0 {
		can = c.device
	}
	driver := cString(c.driver[:])
	if can&capVideoCapture == 0 || slices.Contains(rawDrivers, driver) {
		return Found{}, false
	}
	return Found{Source: path, Name: cmp.Or(cString(c.card[:]), driver), Modes: modesOf(d)}, true
}

// modesOf lists a device's modes: for each format and size the highest frame rate.
func modesOf(d asker) (out []Mode) {
	for i := range uint32(mostListed) {
		f := v4l2Format{index: i, kind: bufVideoCapture}
		if d.ioctl(vidiocEnumFmt, unsafe.Pointer(&f)) != nil {
			break
		}
		for k := range uint32(mostListed) {
			s := v4l2FrameSize{index: k, pixels: f.pixels}
			if d.ioctl(vidiocEnumFrameSizes, unsafe.Pointer(&s)) != nil {
				break
			}
			w, h := s.size[0], s.size[1]
			if s.kind != kindDiscrete { // minimum, maximum and step of the width, then of the height
				w, h = s.size[1], s.size[4]
			}
			out = append(out, Mode{fourCC(f.pixels), int(w), int(h), fastest(d, f.pixels, w, h)})
			if s.kind != kindDiscrete {
				break
			}
		}
	}
	sortModes(out)
	return out
}

// fastest returns the highest frame rate of a format and size; 0 if it is not reported.
func fastest(d asker, pixels, w, h uint32) (fps float64) {
	for i := range uint32(mostListed) {
		v := v4l2FrameInterval{index: i, pixels: pixels, width: w, height: h}
		if d.ioctl(vidiocEnumFrameIntervals, unsafe.Pointer(&v)) != nil {
			break
		}
		if v.interval[0] > 0 {
			fps = max(fps, float64(v.interval[1])/float64(v.interval[0]))
		}
		if v.kind != kindDiscrete {
			break
		}
	}
	return fps
}

// sortModes sorts by pixels, then by frame rate, both descending.
func sortModes(modes []Mode) {
	slices.SortStableFunc(modes, func(a, b Mode) int {
		return cmp.Or(cmp.Compare(b.Width*b.Height, a.Width*a.Height), cmp.Compare(b.FPS, a.FPS))
	})
}

func cString(b []byte) string {
	s, _, _ := bytes.Cut(b, []byte{0})
	return strings.TrimSpace(strings.ToValidUTF8(string(s), "?"))
}

func fourCC(code uint32) string {
	b := []byte{byte(code), byte(code >> 8), byte(code >> 16), byte(code >> 24)}
	for i := range b {
		if b[i] < ' ' || b[i] > '~' {
			b[i] = '?'
		}
	}
	return strings.TrimSpace(string(b))
}

// listWithin is how long rpicam-apps may take to list their cameras.
const listWithin = 5 * time.Second

// listCSI returns the cameras of rpicam-apps; none if these are not installed.
func listCSI(ctx context.Context) []Found {
	ctx, cancel := context.WithTimeout(ctx, listWithin)
	defer cancel()
	for _, name := range []string{"rpicam-hello", "libcamera-hello"} {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		text, err := exec.CommandContext(ctx, path, "--list-cameras").CombinedOutput()
		if err != nil {
			return nil
		}
		return parseCSIList(string(text))
	}
	return nil
}

// The lines of rpicam-hello --list-cameras about a camera, and about each of its modes.
var (
	csiListed = regexp.MustCompile(`^(\d{1,2}) : (\S+) \[`)
	csiFormat = regexp.MustCompile(`'([A-Za-z0-9_]+)' :`)
	csiMode   = regexp.MustCompile(`([1-9]\d{1,4})x([1-9]\d{1,4}) \[(\d+(?:\.\d+)?) fps`)
)

// parseCSIList parses the output of rpicam-hello --list-cameras.
func parseCSIList(text string) (out []Found) {
	format := ""
	for line := range strings.Lines(text) {
		if m := csiListed.FindStringSubmatch(line); m != nil {
			out = append(out, Found{Source: "csi:" + m[1], Name: fmt.Sprintf("%s (camera port %s)", m[2], m[1])})
			format = ""
			continue
		}
		if len(out) == 0 {
			continue
		}
		if m := csiFormat.FindStringSubmatch(line); m != nil {
			format = m[1]
		}
		if m := csiMode.FindStringSubmatch(line); m != nil {
			w, _ := strconv.Atoi(m[1])
			h, _ := strconv.Atoi(m[2])
			fps, _ := strconv.ParseFloat(m[3], 64)
			last := &out[len(out)-1]
			last.Modes = append(last.Modes, Mode{format, w, h, fps})
		}
	}
	for i := range out {
		sortModes(out[i].Modes)
	}
	return out
}
