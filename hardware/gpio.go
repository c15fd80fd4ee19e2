package hardware

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/warthog618/go-gpiocdev"
	"github.com/warthog618/go-gpiocdev/uapi"
	"golang.org/x/sys/unix"
)

// GPIO lines are used through the kernel's character devices, /dev/gpiochipN, by the
// second version of their interface (linux/gpio.h, since Linux 5.10), which package
// uapi wraps. It is the same on every Raspberry Pi, on other boards and in the tests'
// virtual machine, and it gives what periph's GPIO does not: the time of each edge, a
// first level without a glitch, and a line that can be released and requested again.

// edgeQueue is how many unread edges the kernel keeps for each request.
const edgeQueue = 64

// lineEventSize is the size of an event as the kernel writes it, in bytes.
var lineEventSize = binary.Size(uapi.LineEvent{})

// lineAddress identifies a line: its chip's device and its offset on the chip.
type lineAddress struct {
	chip   string
	offset uint32
}

// errNoGPIO is the error for any line on a machine without GPIO chips.
var errNoGPIO = errors.New("no GPIO on this machine")

// findLine finds a line by its name, "GPIO17", or as "/dev/gpiochip0:17". If several chips have a
// line of that name, it returns the processor's own.
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
		a, err := findOn(c, name)
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

// gpioChips returns the devices of the machine's chips. The Pi's own pins come first:
// their chip is labelled pinctrl-…, and other chips may have lines of the same names.
func gpioChips() ([]string, error) {
	names := gpiocdev.Chips()
	if len(names) == 0 {
		return nil, errNoGPIO
	}
	var first, rest []string
	for _, name := range names {
		path := "/dev/" + name
		if chip, err := gpiocdev.NewChip(path); err == nil && strings.HasPrefix(chip.Label, "pinctrl-") {
			first = append(first, path)
			chip.Close()
		} else {
			if err == nil {
				chip.Close()
			}
			rest = append(rest, path)
		}
	}
	return append(first, rest...), nil
}

// findOn returns the address of the line of that name on one chip.
func findOn(path, name string) (lineAddress, error) {
	chip, err := gpiocdev.NewChip(path)
	if err != nil {
		return lineAddress{}, fmt.Errorf("%s: %w", path, err)
	}
	defer chip.Close()
	offset, err := chip.FindLine(name)
	if errors.Is(err, gpiocdev.ErrNotFound) {
		return lineAddress{}, errNoLine
	}
	return lineAddress{path, uint32(offset)}, err
}

// gpioLines are lines of one chip that this program has requested.
type gpioLines struct {
	file    *os.File
	offsets []uint32
}

// requestLines requests lines of one chip by name. Outputs start at level 0. The kernel gives a
// line to only one program.
func requestLines(flags uapi.LineFlagV2, names ...string) (*gpioLines, error) {
	request := uapi.LineRequest{Lines: uint32(len(names)), EventBufferSize: edgeQueue, Config: uapi.LineConfig{Flags: flags}}
	copy(request.Consumer[:], "sightline")
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
	if flags.IsOutput() {
		request.Config.AddAttribute(uapi.LineConfigAttribute{Attr: uapi.OutputValues(0).Encode(), Mask: uapi.NewLineBitMask(len(names))})
	}
	f, err := os.Open(chip)
	if err != nil {
		return nil, fmt.Errorf("GPIO line %s: %w", strings.Join(names, ", "), err)
	}
	defer f.Close()
	if err := uapi.GetLine(f.Fd(), &request); err != nil {
		return nil, fmt.Errorf("GPIO line %s: %w", strings.Join(names, ", "), errnoOf(err))
	}
	// Not blocking, so that the runtime waits for edges and Close ends the wait.
	if err := syscall.SetNonblock(int(request.Fd), true); err != nil {
		_ = syscall.Close(int(request.Fd))
		return nil, fmt.Errorf("GPIO line %s: %w", strings.Join(names, ", "), err)
	}
	file := os.NewFile(uintptr(request.Fd), "GPIO "+strings.Join(names, ", "))
	return &gpioLines{file, slices.Clone(request.Offsets[:len(names)])}, nil
}

// errnoOf explains the one error that people can do something about.
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

// Set sets the first line's level: true is active.
func (l *gpioLines) Set(on bool) error {
	v := uapi.LineValues{Mask: 1}
	if on {
		v.Bits = 1
	}
	return l.call(func(fd uintptr) error { return uapi.SetLineValuesV2(fd, v) })
}

// levels reads the lines: bit i is the level of line i.
func (l *gpioLines) levels() (uint64, error) {
	v := uapi.LineValues{Mask: uapi.NewLineBitMask(len(l.offsets))}
	err := l.call(func(fd uintptr) error { return uapi.GetLineValuesV2(fd, &v) })
	return uint64(v.Bits), err
}

// Close releases the lines. The chip decides which level an output has then: on a Raspberry Pi it
// becomes an input, and the lamp is dark.
func (l *gpioLines) Close() error { return l.file.Close() }

// Edge is one change of one line as the kernel saw it.
type Edge struct {
	At   time.Duration // on the kernel's monotonic clock
	Line int           // index of the line in the request
	High bool          // the line is active from here on
	Seq  uint32        // counts the edges of the request from 1
}

// readEdges waits for edges until the deadline and returns them, oldest first. Without any it
// returns os.ErrDeadlineExceeded.
func (l *gpioLines) readEdges(deadline time.Time, edges []Edge) ([]Edge, error) {
	if err := l.file.SetReadDeadline(deadline); err != nil {
		return edges, err
	}
	buf := make([]byte, edgeQueue*lineEventSize)
	n, err := l.file.Read(buf)
	return l.appendEdges(edges, buf[:n]), err
}

// drainEdges returns the queued edges without waiting.
func (l *gpioLines) drainEdges(edges []Edge) ([]Edge, error) {
	buf := make([]byte, edgeQueue*lineEventSize)
	n := 0
	err := l.call(func(fd uintptr) (err error) {
		n, err = syscall.Read(int(fd), buf)
		return err
	})
	if errors.Is(err, syscall.EAGAIN) {
		err = nil
	}
	return l.appendEdges(edges, buf[:max(n, 0)]), err
}

func (l *gpioLines) appendEdges(edges []Edge, b []byte) []Edge {
	for ; len(b) >= lineEventSize; b = b[lineEventSize:] {
		var e uapi.LineEvent
		if _, err := binary.Decode(b, binary.NativeEndian, &e); err != nil {
			return edges
		}
		edges = append(edges, Edge{
			At:   time.Duration(e.Timestamp),
			High: e.ID == uapi.LineEventRisingEdge,
			Line: slices.Index(l.offsets, e.Offset),
			Seq:  e.Seqno,
		})
	}
	return edges
}

// monotonic reads the clock of the kernel's edge times.
func monotonic() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		panic("hardware: the kernel has no monotonic clock: " + err.Error())
	}
	return time.Duration(ts.Nano())
}
