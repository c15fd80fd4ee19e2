package hardware

import (
	"os"
	"sync"
	"time"
)

// Flush waits until the display's goroutine has nothing more to do.
func (b *Board) Flush() {
	s := b.screen
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.busy {
		s.idle.Wait()
	}
}

// Contents of the package that tests look at.
var (
	PhoneAddress = phoneAddress
	BreakAddress = breakAddress
	Monotonic    = monotonic
)

// FakeLines is a control's lines without a kernel.
type FakeLines struct {
	mu    sync.Mutex
	edges []Edge
	level uint64
	err   error
	wake  chan struct{}
	shut  bool
}

// NewFakeLines returns lines without edges.
func NewFakeLines() *FakeLines { return &FakeLines{wake: make(chan struct{}, 1)} }

// Send makes edges happen, and an error after them when it is not nil.
func (f *FakeLines) Send(err error, edges ...Edge) {
	f.mu.Lock()
	f.edges, f.err = append(f.edges, edges...), err
	f.mu.Unlock()
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

func (f *FakeLines) readEdges(deadline time.Time, edges []Edge) ([]Edge, error) {
	select {
	case <-f.wake:
	case <-time.After(time.Until(deadline)):
	}
	return f.drainEdges(edges)
}

func (f *FakeLines) drainEdges(edges []Edge) ([]Edge, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	edges = append(edges, f.edges...)
	err := f.err
	if f.shut {
		err = os.ErrClosed
	}
	f.edges, f.err = nil, nil
	return edges, err
}

func (f *FakeLines) levels() (uint64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.level, nil
}

// Close implements edgeSource.
func (f *FakeLines) Close() error {
	f.mu.Lock()
	f.shut = true
	f.mu.Unlock()
	select {
	case f.wake <- struct{}{}:
	default:
	}
	return nil
}

// FakeControls returns controls on fake lines, opened by open each time.
func FakeControls(clock func() time.Duration, open [NumControls]func() (*FakeLines, error)) *Controls {
	c := OpenControls([NumControls]ControlLines{}, nil)
	c.clock = clock
	for i, o := range open {
		if o == nil {
			continue
		}
		c.open[i] = func() (edgeSource, error) {
			l, err := o()
			if err != nil {
				return nil, err
			}
			l.mu.Lock()
			defer l.mu.Unlock()
			l.shut = false
			return l, nil
		}
	}
	return c
}
