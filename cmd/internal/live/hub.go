package live

import (
	"sync"

	"sightline/cmd/internal/setup"
	"sightline/vision"
)

// Broadcast holds the newest value and hands it to everyone who listens. A listener
// that is slow misses values; it never holds anybody up and always gets the newest one.
type Broadcast[T any] struct {
	mu        sync.Mutex // guards what follows
	newest    T
	listeners map[chan T]struct{}
	missed    uint64
}

// Publish makes of the newest value the next one.
func (b *Broadcast[T]) Publish(next func(T) T) {
	b.mu.Lock()
	defer b.mu.Unlock()
	v := next(b.newest)
	b.newest = v
	for c := range b.listeners {
		select {
		case <-c: // an older one that was not fetched
			b.missed++
		default:
		}
		c <- v // there is room: only publish sends, and it holds the lock
	}
}

func (b *Broadcast[T]) get() T {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.newest
}

// Listen returns a channel that gives the newest value at once and then each newer
// one, and the function that ends it.
func (b *Broadcast[T]) Listen() (values <-chan T, stop func()) {
	c := make(chan T, 1)
	b.mu.Lock()
	defer b.mu.Unlock()
	c <- b.newest
	if b.listeners == nil {
		b.listeners = map[chan T]struct{}{}
	}
	b.listeners[c] = struct{}{}
	return c, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.listeners, c)
	}
}

// Hub holds the newest state and hands it to everyone who listens. A listener that
// is slow misses states; it never holds anybody up and always gets the newest one.
type Hub struct{ b Broadcast[State] }

// NewHub returns a hub that holds the state.
func NewHub(first State) *Hub { return &Hub{Broadcast[State]{newest: first}} }

// Publish makes a state the newest one.
func (h *Hub) Publish(v State) {
	h.b.Publish(func(old State) State {
		v.Seq = old.Seq + 1
		return v
	})
}

// Newest returns the newest state.
func (h *Hub) Newest() State { return h.b.get() }

// Listen returns a channel that gives the newest state at once and then each newer
// one, and the function that ends it.
func (h *Hub) Listen() (states <-chan State, stop func()) { return h.b.Listen() }

// Missed returns how many states slow listeners did not get.
func (h *Hub) Missed() uint64 {
	h.b.mu.Lock()
	defer h.b.mu.Unlock()
	return h.b.missed
}

// CalibrationState is what is known of a guided calibration at one instant.
type CalibrationState struct {
	Seq   uint64 // counts the states from 1
	State setup.State
	Frame vision.Frame // the picture that the state speaks of; Gray is nil when there is none
}

// CalibrationHub is the same as a Hub, for the guided calibration.
type CalibrationHub struct{ b Broadcast[CalibrationState] }

// NewCalibrationHub returns a hub that holds the zero state.
func NewCalibrationHub() *CalibrationHub { return &CalibrationHub{} }

// Publish makes a state the newest one.
func (h *CalibrationHub) Publish(v CalibrationState) {
	h.b.Publish(func(old CalibrationState) CalibrationState {
		v.Seq = old.Seq + 1
		return v
	})
}

// Newest returns the newest state.
func (h *CalibrationHub) Newest() CalibrationState { return h.b.get() }

// Listen returns a channel that gives the newest state at once and then each newer
// one, and the function that ends it.
func (h *CalibrationHub) Listen() (states <-chan CalibrationState, stop func()) { return h.b.Listen() }
