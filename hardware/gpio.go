package hardware

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

// GPIO lines are used through the kernel's character devices, /dev/gpiochipN, by the
// second version of their interface (linux/gpio.h, since Linux 5.10). It is the same
// on every Raspberry Pi, on other boards and in the tests' virtual machine, and it
// gives what periph's GPIO does not: the time of each edge, a first level without a
// glitch, and a line that can be let go and asked for again.

// lineFlags are gpio_v2_line_flag.
type lineFlags uint64

const (
	flagActiveLow   lineFlags = 1 << 1
	flagInput       lineFlags = 1 << 2
	flagOutput      lineFlags = 1 << 3
	flagRisingEdge  lineFlags = 1 << 4
	flagFallingEdge lineFlags = 1 << 5
	flagPullUp      lineFlags = 1 << 8
	flagPullDown    lineFlags = 1 << 9
)

const (
	attrOutputValues = 2 // gpio_v2_line_attr_id
	eventRising      = 1 // gpio_v2_line_event_id
	maxLines         = 64
	nameSize         = 32
)

// The kernel's structures, field by field. All have the same layout on 32 and 64 bits.
type (
	chipInfo struct { // gpiochip_info
		Name, Label [nameSize]byte
		Lines       uint32
	}
	lineAttribute struct { // gpio_v2_line_attribute
		ID, _ uint32
		Value uint64
	}
	lineConfig struct { // gpio_v2_line_config
		Flags    uint64
		NumAttrs uint32
		_        [5]uint32
		Attrs    [10]struct {
			Attr lineAttribute
			Mask uint64
		}
	}
	lineRequest struct { // gpio_v2_line_request
		Offsets         [maxLines]uint32
		Consumer        [nameSize]byte
		Config          lineConfig
		NumLines        uint32
		EventBufferSize uint32
		_               [5]uint32
		FD              int32
	}
	lineInfo struct { // gpio_v2_line_info
		Name, Consumer   [nameSize]byte
		Offset, NumAttrs uint32
		Flags            uint64
		Attrs            [10]lineAttribute
		_                [4]uint32
	}
	lineValues struct{ Bits, Mask uint64 } // gpio_v2_line_values
)

const lineEventSize = 48 // of gpio_v2_line_event

// edgeQueue is how many edges the kernel keeps for each request until they are read.
const edgeQueue = 64

// gpioIoctl calls ioctl number nr of the GPIO interface (0xB4) with a structure:
// direction 2 for _IOR, 3 for _IOWR. The number's layout is that of x86 and ARM.
func gpioIoctl[T any](fd uintptr, direction, nr uintptr, arg *T) error {
	request := direction<<30 | unsafe.Sizeof(*arg)<<16 | 0xB4<<8 | nr
	for {
		_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, fd, request, uintptr(unsafe.Pointer(arg)))
		runtime.KeepAlive(arg)
		switch errno {
		case 0:
			return nil
		case syscall.EINTR:
		default:
			return errno
		}
	}
}

// text returns a name that the kernel ends with a zero.
func text(b [nameSize]byte) string {
	s, _, _ := bytes.Cut(b[:], []byte{0})
	return string(s)
}

// lineAddress says where a line is: the chip's device and the line's place on it.
type lineAddress struct {
	chip   string
	offset uint32
}

// errNoGPIO is what a machine without any GPIO chip gives for every line.
var errNoGPIO = errors.New("no GPIO on this machine")

// findLine looks for a line: by its name, "GPIO17" (the first chip that has it, those
// of the processor's own pins before others), or as "/dev/gpiochip0:17".
func findLine(name string) (lineAddress, error) {
	if chip, offset, ok := strings.Cut(name, ":"); ok && strings.HasPrefix(chip, "/dev/") {
		n, err := strconv.ParseUint(offset, 10, 32)
		if err != nil {
			return lineAddress{}, fmt.Errorf("GPIO line %s: expected a number after the colon", name)
		}
		return lineAddress{chip, uint32(n)}, nil
	}
	chips, err := gpioChips()
	if err != nil {
		return lineAddress{}, err
	}
	var unreadable error
	for _, c := range chips {
		a, err := c.find(name)
		if err == nil {
			return a, nil
		}
		if !errors.Is(err, errNoLine) {
			unreadable = errors.Join(unreadable, err)
		}
	}
	if unreadable != nil {
		return lineAddress{}, fmt.Errorf("GPIO line %s: %w", name, unreadable)
	}
	return lineAddress{}, fmt.Errorf("no GPIO line %s: %w", name, errNoLine)
}

var errNoLine = errors.New("no chip of this machine has a line of that name")

// gpioChip is one chip's device file.
type gpioChip string

// gpioChips returns the machine's chips. The Pi's own pins come first: their chip is
// labelled pinctrl-…, and other chips may have lines of the same names.
func gpioChips() ([]gpioChip, error) {
	paths, err := filepath.Glob("/dev/gpiochip*")
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, errNoGPIO
	}
	slices.SortFunc(paths, func(a, b string) int { // gpiochip10 after gpiochip9
		return (len(a)-len(b))*2 + strings.Compare(a, b)
	})
	var first, rest []gpioChip
	for _, p := range paths {
		c := gpioChip(p)
		if info, err := c.info(); err == nil && strings.HasPrefix(text(info.Label), "pinctrl-") {
			first = append(first, c)
		} else {
			rest = append(rest, c)
		}
	}
	return append(first, rest...), nil
}

func (c gpioChip) info() (info chipInfo, err error) {
	f, err := os.Open(string(c))
	if err != nil {
		return info, err
	}
	defer f.Close()
	return info, gpioIoctl(f.Fd(), 2, 0x01, &info)
}

// find returns the address of the chip's line of that name.
func (c gpioChip) find(name string) (lineAddress, error) {
	f, err := os.Open(string(c))
	if err != nil {
		return lineAddress{}, err
	}
	defer f.Close()
	var chip chipInfo
	if err := gpioIoctl(f.Fd(), 2, 0x01, &chip); err != nil {
		return lineAddress{}, fmt.Errorf("%s: %w", c, err)
	}
	for i := range chip.Lines {
		info := lineInfo{Offset: i}
		if err := gpioIoctl(f.Fd(), 3, 0x05, &info); err != nil {
			return lineAddress{}, fmt.Errorf("%s: line %d: %w", c, i, err)
		}
		if text(info.Name) == name {
			return lineAddress{string(c), i}, nil
		}
	}
	return lineAddress{}, errNoLine
}

// gpioLines are lines of one chip that this program holds.
type gpioLines struct {
	file    *os.File
	offsets []uint32
}

// requestLines asks the kernel for lines of one chip, by name. Outputs have the level
// 0 from the beginning. The kernel gives a line to one holder only.
func requestLines(flags lineFlags, names ...string) (*gpioLines, error) {
	request := lineRequest{NumLines: uint32(len(names)), EventBufferSize: edgeQueue, Config: lineConfig{Flags: uint64(flags)}}
	copy(request.Consumer[:nameSize-1], "sightline")
	var chip string
	for i, name := range names {
		at, err := findLine(name)
		if err != nil {
			return nil, err
		}
		if i > 0 && at.chip != chip {
			return nil, fmt.Errorf("GPIO lines %s: expected lines of one chip", strings.Join(names, ", "))
		}
		chip, request.Offsets[i] = at.chip, at.offset
	}
	if flags&flagOutput != 0 {
		request.Config.NumAttrs = 1
		request.Config.Attrs[0].Attr.ID, request.Config.Attrs[0].Mask = attrOutputValues, maskOf(len(names))
	}
	f, err := os.Open(chip)
	if err != nil {
		return nil, fmt.Errorf("GPIO line %s: %w", strings.Join(names, ", "), err)
	}
	defer f.Close()
	if err := gpioIoctl(f.Fd(), 3, 0x07, &request); err != nil {
		return nil, fmt.Errorf("GPIO line %s: %w", strings.Join(names, ", "), errnoOf(err))
	}
	// Not blocking, so that the runtime waits for edges and Close ends the wait.
	if err := syscall.SetNonblock(int(request.FD), true); err != nil {
		_ = syscall.Close(int(request.FD))
		return nil, fmt.Errorf("GPIO line %s: %w", strings.Join(names, ", "), err)
	}
	file := os.NewFile(uintptr(request.FD), "GPIO "+strings.Join(names, ", "))
	return &gpioLines{file, slices.Clone(request.Offsets[:len(names)])}, nil
}

// maskOf selects the first n lines of a request.
func maskOf(n int) uint64 { return uint64(1)<<n - 1 }

// errnoOf words the one error that people can do something about.
func errnoOf(err error) error {
	if errors.Is(err, syscall.EBUSY) {
		return fmt.Errorf("%w (another program or a kernel driver holds it)", err)
	}
	return err
}

// call runs an ioctl on the lines while they are open.
func (l *gpioLines) call(do func(fd uintptr) error) error {
	raw, err := l.file.SyscallConn()
	if err != nil {
		return err
	}
	var inner error
	if err := raw.Control(func(fd uintptr) { inner = do(fd) }); err != nil {
		return err
	}
	return inner
}

// Set gives the first line a level: true is the active one.
func (l *gpioLines) Set(on bool) error {
	v := lineValues{Mask: 1}
	if on {
		v.Bits = 1
	}
	return l.call(func(fd uintptr) error { return gpioIoctl(fd, 3, 0x0F, &v) })
}

// levels reads the lines: bit i is the level of the i-th.
func (l *gpioLines) levels() (uint64, error) {
	v := lineValues{Mask: maskOf(len(l.offsets))}
	err := l.call(func(fd uintptr) error { return gpioIoctl(fd, 3, 0x0E, &v) })
	return v.Bits, err
}

// Close lets the lines go. What level an output then has is the chip's affair: on a
// Raspberry Pi it becomes an input, and the lamp is dark.
func (l *gpioLines) Close() error { return l.file.Close() }

// Edge is one change of one line as the kernel saw it.
type Edge struct {
	At   time.Duration // on the kernel's monotonic clock
	Line int           // which of the lines that were asked for together
	High bool          // the line is active from here on
	Seq  uint32        // counts the edges of these lines from 1
}

// readEdges waits for edges until the deadline and returns those that are there,
// oldest first. os.ErrDeadlineExceeded means that there were none.
func (l *gpioLines) readEdges(deadline time.Time, edges []Edge) ([]Edge, error) {
	if err := l.file.SetReadDeadline(deadline); err != nil {
		return edges, err
	}
	var buf [edgeQueue * lineEventSize]byte
	n, err := l.file.Read(buf[:])
	return l.appendEdges(edges, buf[:n]), err
}

// drainEdges returns the edges that are there now, without waiting.
func (l *gpioLines) drainEdges(edges []Edge) ([]Edge, error) {
	var buf [edgeQueue * lineEventSize]byte
	n := 0
	err := l.call(func(fd uintptr) (err error) {
		n, err = syscall.Read(int(fd), buf[:])
		return err
	})
	if errors.Is(err, syscall.EAGAIN) {
		err = nil
	}
	return l.appendEdges(edges, buf[:max(n, 0)]), err
}

func (l *gpioLines) appendEdges(edges []Edge, b []byte) []Edge {
	for ; len(b) >= lineEventSize; b = b[lineEventSize:] {
		edges = append(edges, Edge{
			At:   time.Duration(binary.NativeEndian.Uint64(b)),
			High: binary.NativeEndian.Uint32(b[8:]) == eventRising,
			Line: slices.Index(l.offsets, binary.NativeEndian.Uint32(b[12:])),
			Seq:  binary.NativeEndian.Uint32(b[16:]),
		})
	}
	return edges
}

// monotonic reads the clock by which the kernel dates edges.
func monotonic() time.Duration {
	var ts syscall.Timespec
	const clockMonotonic = 1
	_, _, errno := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, clockMonotonic, uintptr(unsafe.Pointer(&ts)), 0)
	if errno != 0 {
		panic("hardware: the kernel has no monotonic clock: " + errno.Error())
	}
	return time.Duration(ts.Nano())
}
