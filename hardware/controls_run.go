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

// edgeSource delivers the edges of one control's lines, from the kernel or a test.
type edgeSource interface {
	readEdges(deadline time.Time, edges []Edge) ([]Edge, error) // waits
	drainEdges(edges []Edge) ([]Edge, error)                    // does not
	levels() (uint64, error)
	Close() error // ends a wait
}

// ControlLines names the lines of one control: A and B of the encoder, one line of any other.
// Without names the control is not fitted.
type ControlLines struct {
	Names      []string
	ActiveHigh bool // the contact leads to 3.3 V, not to ground
}

// Controls are the panel's encoder and buttons.
type Controls struct {
	open  [NumControls]func() (edgeSource, error) // nil: not fitted
	clock func() time.Duration
	log   *slog.Logger

	delivering sync.Mutex // held while an input is delivered, so that they stay in order

	mu      sync.Mutex // guards the fields below
	failure [NumControls]error
	stale   int // inputs dropped because they were too old
	lost    int // how often the kernel dropped edges
}

// OpenControls returns the controls of the wiring. It does not access hardware before Run.
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

// edgeWait is the longest wait for an edge. It only limits how late a lost line is noticed, because
// an edge or Close ends a wait at once.
const edgeWait = 500 * time.Millisecond

// edgeLate is how long after its time an edge may arrive from the kernel.
const edgeLate = 2 * time.Millisecond

// Run reads the controls until ctx is cancelled and calls do for each input, one at a time. It
// retries controls that are missing or fail. It drops inputs that could not be delivered within
// StaleAfter.
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

// read reads one control, and reopens it when it fails.
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

// failed records a failure, and logs it if it is new.
func (c *Controls) failed(which Control, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	said := errors.Is(err, errNoGPIO) && slices.ContainsFunc(c.failure[:], func(e error) bool { return errors.Is(e, errNoGPIO) })
	if c.failure[which] == nil && !said { // log the lack of GPIO once for all controls
		c.log.Warn("hardware: the panel continues without a control", "control", which.String(), "err", err)
	}
	c.failure[which] = err
}

// readOpen opens a control and reads it until it fails.
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

// wait returns how long to wait for an edge.
func (c *Controls) wait(d *decoder) time.Duration {
	if at, ok := d.button.Due(); ok {
		return max(0, min(at+edgeLate-c.clock(), edgeWait)) + time.Millisecond
	}
	return edgeWait
}

// resume reads the lines' levels at the start and after lost edges. A button that is down then does
// not count as pressed.
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

// deliver passes an input on unless it is too old.
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

// Dropped returns how many inputs were dropped because they were too old, and how often the kernel
// dropped edges that were not read in time.
func (c *Controls) Dropped() (stale, lost int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stale, c.lost
}

// String says which controls work, in one line for people; "" if none is fitted.
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
