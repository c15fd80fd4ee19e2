package live

import (
	"sync"

	"sightline/cmd/internal/setup"
	"sightline/vision"
)

// Broadcast keeps the newest value and sends it to all listeners. A slow listener misses
// values, always gets the newest, and never delays anyone else.
type Broadcast[T any] struct {
	mu        sync.Mutex // guards the fields below
	newest    T
	listeners map[chan T]struct{}
	missed    uint64
}

// Publish replaces the newest value.
func (b *Broadcast[T]) Publish(v T) { b.Update(func(T) T { return v }) }

// Update replaces the newest value by what next returns for it.
func (b *Broadcast[T]) Update(next func(T) T) {
	b.mu.Lock()
	defer b.mu.Unlock()
	v := next(b.newest)
	b.newest = v
	for c := range b.listeners {
		select {
		case <-c: // an older value that was not received
			b.missed++
		default:
		}
		c <- v // cannot block: only Update sends, and it holds the lock
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

// Listen returns a channel that receives the newest value at once and then each newer
// one, and a function that ends it.
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

// NewHub returns a hub whose newest state is first.
func NewHub(first State) *Hub { return &Hub{Broadcast[State]{newest: first}} }

// Publish numbers a state and makes it the newest.
func (h *Hub) Publish(s State) {
	h.Update(func(old State) State {
		s.Seq = old.Seq + 1
		return s
	})
}

// CalibrationState is the state of a guided calibration at one instant.
type CalibrationState struct {
	Seq   uint64 // counts the states from 1
	State setup.State
	Frame vision.Frame // that State is about; Gray is nil without one
}

// CalibrationHub broadcasts the states of a guided calibration, and numbers them.
type CalibrationHub struct{ Broadcast[CalibrationState] }

// NewCalibrationHub returns a hub whose newest state is the zero state.
func NewCalibrationHub() *CalibrationHub { return &CalibrationHub{} }

// Publish numbers a state and makes it the newest.
func (h *CalibrationHub) Publish(v CalibrationState) {
	h.Update(func(old CalibrationState) CalibrationState {
		v.Seq = old.Seq + 1
		return v
	})
}
