package web

import "sync"

// Hub holds the newest view and hands it to everyone who listens. A listener that
// is slow misses views; it never holds anybody up and always gets the newest one.
type Hub struct {
	mu        sync.Mutex // guards what follows
	newest    View
	listeners map[chan View]struct{}
	missed    uint64
}

// NewHub returns a hub that holds the view.
func NewHub(first View) *Hub {
	return &Hub{newest: first, listeners: map[chan View]struct{}{}}
}

// Publish makes a view the newest one.
func (h *Hub) Publish(v View) {
	h.mu.Lock()
	defer h.mu.Unlock()
	v.Seq = h.newest.Seq + 1
	h.newest = v
	for c := range h.listeners {
		select {
		case <-c: // an older one that was not fetched
			h.missed++
		default:
		}
		c <- v // there is room: only Publish sends, and it holds the lock
	}
}

// Newest returns the newest view.
func (h *Hub) Newest() View {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.newest
}

// Listen returns a channel that gives the newest view at once and then each newer
// one, and the function that ends it.
func (h *Hub) Listen() (views <-chan View, stop func()) {
	c := make(chan View, 1)
	h.mu.Lock()
	defer h.mu.Unlock()
	c <- h.newest
	h.listeners[c] = struct{}{}
	return c, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.listeners, c)
	}
}

// Missed returns how many views slow listeners did not get.
func (h *Hub) Missed() uint64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.missed
}
