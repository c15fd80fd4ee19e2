package game

import (
	"sync/atomic"
	"time"
)

// Liveness is one loop's sign of life. Beat says that the loop came round; Rest that it
// waits for something that need never come. The zero value has not beaten.
type Liveness struct{ At atomic.Pointer[time.Time] }

// Beat says that the loop came round just now.
func (l *Liveness) Beat() {
	now := time.Now() // with the monotonic reading: setting the clock does no harm
	l.At.Store(&now)
}

// Rest says that the loop waits, for however long.
func (l *Liveness) Rest() { l.At.Store(&time.Time{}) }

// Alive reports whether the loop rests or came round no longer than within ago.
func (l *Liveness) Alive(now time.Time, within time.Duration) bool {
	at := l.At.Load()
	return at != nil && (at.IsZero() || now.Sub(*at) <= within)
}
