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

// Publish makes a value the newest one.
func (b *Broadcast[T]) Publish(v T) { b.Update(func(T) T { return v }) }

// Update makes of the newest value the next one.
func (b *Broadcast[T]) Update(next func(T) T) {
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
		c <- v // there is room: only Update sends, and it holds the lock
	}
}

// Newest returns the newest value.
func (b *Broadcast[T]) Newest() T {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.newest
}

// Missed returns how many values slow listeners did not get.
func (b *Broadcast[T]) Missed() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.missed
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

// Hub broadcasts the states of the table, and numbers them.
type Hub struct{ Broadcast[State] }

// NewHub returns a hub that holds the state.
func NewHub(first State) *Hub { return &Hub{Broadcast[State]{newest: first}} }

// Publish makes a state the newest one.
func (h *Hub) Publish(s State) {
	h.Update(func(old State) State {
		s.Seq = old.Seq + 1
		return s
	})
}

// CalibrationState is what is known of a guided calibration at one instant.
type CalibrationState struct {
	Seq   uint64 // counts the states from 1
	State setup.State
	Frame vision.Frame // the picture that the state speaks of; Gray is nil when there is none
}

// CalibrationHub broadcasts the states of a guided calibration, and numbers them.
type CalibrationHub struct{ Broadcast[CalibrationState] }

// NewCalibrationHub returns a hub that holds the zero state.
func NewCalibrationHub() *CalibrationHub { return &CalibrationHub{} }

// Publish makes a state the newest one.
func (h *CalibrationHub) Publish(v CalibrationState) {
	h.Update(func(old CalibrationState) CalibrationState {
		v.Seq = old.Seq + 1
		return v
	})
}
