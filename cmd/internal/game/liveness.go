package game

import (
	"sync/atomic"
	"time"
)

// Liveness is a loop's sign of life for a watchdog. The loop calls Beat in each round, and Rest
// before it waits for something that may never come. The zero value is not alive.
type Liveness struct{ At atomic.Pointer[time.Time] }

// Beat records a round of the loop.
func (l *Liveness) Beat() {
	now := time.Now() // with the monotonic reading: setting the clock does no harm
	l.At.Store(&now)
}

// Rest records that the loop waits, for however long.
func (l *Liveness) Rest() { l.At.Store(&time.Time{}) }

// Alive reports whether the loop rests, or beat within the given time.
func (l *Liveness) Alive(now time.Time, within time.Duration) bool {
	at := l.At.Load()
	return at != nil && (at.IsZero() || now.Sub(*at) <= within)
}
