package web

import (
	"sync"

	"sightline/cmd/internal/setup"
	"sightline/vision"
)

// broadcast holds the newest value and hands it to everyone who listens. A listener
// that is slow misses values; it never holds anybody up and always gets the newest one.
type broadcast[T any] struct {
	mu        sync.Mutex // guards what follows
	newest    T
	listeners map[chan T]struct{}
	missed    uint64
}

// publish makes of the newest value the next one.
func (b *broadcast[T]) publish(next func(T) T) {
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

func (b *broadcast[T]) get() T {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.newest
}

// listen returns a channel that gives the newest value at once and then each newer
// one, and the function that ends it.
func (b *broadcast[T]) listen() (values <-chan T, stop func()) {
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

// Hub holds the newest view and hands it to everyone who listens. A listener that
// is slow misses views; it never holds anybody up and always gets the newest one.
type Hub struct{ b broadcast[View] }

// NewHub returns a hub that holds the view.
func NewHub(first View) *Hub { return &Hub{broadcast[View]{newest: first}} }

// Publish makes a view the newest one.
func (h *Hub) Publish(v View) {
	h.b.publish(func(old View) View {
		v.Seq = old.Seq + 1
		return v
	})
}

// Newest returns the newest view.
func (h *Hub) Newest() View { return h.b.get() }

// Listen returns a channel that gives the newest view at once and then each newer
// one, and the function that ends it.
func (h *Hub) Listen() (views <-chan View, stop func()) { return h.b.listen() }

// Missed returns how many views slow listeners did not get.
func (h *Hub) Missed() uint64 {
	h.b.mu.Lock()
	defer h.b.mu.Unlock()
	return h.b.missed
}

// CalibrationView is what is known of a guided calibration at one instant.
type CalibrationView struct {
	Seq   uint64 // counts the views from 1
	State setup.State
	Frame vision.Frame // the picture that the state speaks of; Gray is nil when there is none
}

// CalibrationHub is the same as a Hub, for the guided calibration.
type CalibrationHub struct{ b broadcast[CalibrationView] }

// NewCalibrationHub returns a hub that holds the zero view.
func NewCalibrationHub() *CalibrationHub { return &CalibrationHub{} }

// Publish makes a view the newest one.
func (h *CalibrationHub) Publish(v CalibrationView) {
	h.b.publish(func(old CalibrationView) CalibrationView {
		v.Seq = old.Seq + 1
		return v
	})
}

// Newest returns the newest view.
func (h *CalibrationHub) Newest() CalibrationView { return h.b.get() }

// Listen returns a channel that gives the newest view at once and then each newer
// one, and the function that ends it.
func (h *CalibrationHub) Listen() (views <-chan CalibrationView, stop func()) { return h.b.listen() }
