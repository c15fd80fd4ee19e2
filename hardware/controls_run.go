package hardware

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/warthog618/go-gpiocdev/uapi"
)

// edgeSource gives the edges of one control's lines: the kernel's, or a test's.
type edgeSource interface {
	readEdges(deadline time.Time, edges []Edge) ([]Edge, error) // waits
	drainEdges(edges []Edge) ([]Edge, error)                    // does not
	levels() (uint64, error)
	Close() error // ends a wait
}

// ControlLines says on which lines one control hangs: A and B of the encoder, one
// line of everything else. None: it is not fitted.
type ControlLines struct {
	Names      []string
	ActiveHigh bool // the contact leads to 3.3 V, not to ground
}

// Controls are the panel's encoder and buttons.
type Controls struct {
	open  [NumControls]func() (edgeSource, error) // nil: not fitted
	clock func() time.Duration
	log   *slog.Logger

	delivering sync.Mutex // one input after the other is handed on

	mu      sync.Mutex // guards what follows
	failure [NumControls]error
	stale   int // inputs that were dropped because they were too old
	lost    int // times that the kernel had dropped edges
}

// OpenControls returns the controls of the wiring. Nothing is touched before Run.
func OpenControls(lines [NumControls]ControlLines, log *slog.Logger) *Controls {
	c := &Controls{clock: monotonic, log: log}
	if log == nil {
		c.log = slog.Default()
	}
	for i, l := range lines {
		if len(l.Names) == 0 {
			continue
		}
		flags := uapi.LineFlagV2Input | uapi.LineFlagV2EdgeBoth
		if l.ActiveHigh {
			flags |= uapi.LineFlagV2BiasPullDown
		} else {
			flags |= uapi.LineFlagV2BiasPullUp | uapi.LineFlagV2ActiveLow
		}
		c.open[i] = func() (edgeSource, error) { return requestLines(flags, l.Names...) }
	}
	return c
}

// edgeWait is the longest wait for an edge. It only bounds how late a lost line is
// noticed: an edge and Close end a wait at once.
const edgeWait = 500 * time.Millisecond

// edgeLate is how long after its moment an edge may come out of the kernel.
const edgeLate = 2 * time.Millisecond

// Run reads the controls until ctx is cancelled and hands on what people do, one
// input after the other. A control that is missing or fails is tried again on its own.
// What could not be handed on for longer than StaleAfter is dropped.
func (c *Controls) Run(ctx context.Context, do func(Did)) error {
	var readers sync.WaitGroup
	for i, open := range c.open {
		if open != nil {
			readers.Go(func() { c.read(ctx, Control(i), do) })
		}
	}
	readers.Wait()
	<-ctx.Done()
	return nil
}

// read reads one control, and opens it again when it fails.
func (c *Controls) read(ctx context.Context, which Control, do func(Did)) {
	for ctx.Err() == nil {
		err := c.readOpen(ctx, which, do)
		if ctx.Err() != nil {
			return
		}
		c.failed(which, err)
		select {
		case <-ctx.Done():
		case <-time.After(lampRetry):
		}
	}
}

// failed remembers a failure and says so when it is new.
func (c *Controls) failed(which Control, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	said := errors.Is(err, errNoGPIO) && slices.ContainsFunc(c.failure[:], func(e error) bool { return errors.Is(e, errNoGPIO) })
	if c.failure[which] == nil && !said { // a machine without GPIO is said once for all
		c.log.Warn("hardware: the panel continues without a control", "control", which.String(), "err", err)
	}
	c.failure[which] = err
}

// readOpen opens a control and reads it until something fails.
func (c *Controls) readOpen(ctx context.Context, which Control, do func(Did)) error {
	lines, err := c.open[which]()
	if err != nil {
		return err
	}
	defer lines.Close()
	defer context.AfterFunc(ctx, func() { lines.Close() })() // ends a wait
	d := decoder{control: which}
	if err := d.resume(lines); err != nil {
		return err
	}
	c.mu.Lock()
	if c.failure[which] != nil {
		c.log.Info("hardware: a control is back", "control", which.String())
	}
	c.failure[which] = nil
	c.mu.Unlock()
	var edges []Edge
	for {
		edges, err = lines.readEdges(time.Now().Add(c.wait(&d)), edges[:0])
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			return err
		}
		now := c.clock()
		if edges, err = lines.drainEdges(edges); err != nil { // what came up to now
			return err
		}
		for _, e := range edges {
			for _, did := range d.edge(e, len(edges) >= edgeQueue) {
				c.deliver(did, do)
			}
		}
		if d.lost {
			c.mu.Lock()
			c.lost++
			c.mu.Unlock()
			if err := d.resume(lines); err != nil {
				return err
			}
			continue
		}
		for _, did := range d.advance(now - edgeLate) {
			c.deliver(did, do)
		}
	}
}

// wait is how long to wait for an edge.
func (c *Controls) wait(d *decoder) time.Duration {
	if at, ok := d.button.Due(); ok {
		return max(0, min(at+edgeLate-c.clock(), edgeWait)) + time.Millisecond
	}
	return edgeWait
}

// resume takes the lines as they are: at the start, and when edges were lost. A
// button that is down then has not been pressed.
func (d *decoder) resume(lines edgeSource) error {
	levels, err := lines.levels()
	if err != nil {
		return err
	}
	a, b := levels&1 != 0, levels&2 != 0
	d.turn.Resume(a, b)
	d.button = Button{Debouncer: Debouncer{level: a, raw: a}}
	d.any, d.lost = false, false
	return nil
}

// deliver hands an input on, unless it is too old by then.
func (c *Controls) deliver(did Did, do func(Did)) {
	c.delivering.Lock()
	defer c.delivering.Unlock()
	if did.Fresh(c.clock()) {
		do(did)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stale++
}

// Dropped returns how many inputs were too old to be handed on, and how often the
// kernel had to drop edges because no one read them.
func (c *Controls) Dropped() (stale, lost int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stale, c.lost
}

// String says what works and what does not, in one line for people; "" when no
// control is fitted.
func (c *Controls) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	fitted, working := 0, 0
	var said []string
	for i, open := range c.open {
		if open == nil {
			continue
		}
		fitted++
		if err := c.failure[i]; err == nil {
			working++
		} else if text := err.Error(); errors.Is(err, errNoGPIO) {
			said = append(said, text)
		} else {
			said = append(said, fmt.Sprintf("%v: %s", Control(i), text))
		}
	}
	if fitted == 0 {
		return ""
	}
	said = slices.Compact(said)
	return strings.Join(append([]string{fmt.Sprintf("%d of %d controls", working, fitted)}, said...), "; ")
}
