package hall

import (
	"context"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"sightline/cmd/internal/event"
)

// The limits of ages and of clock measurements.
const (
	staleAfter  = 3 * time.Second
	aheadMost   = 500 * time.Millisecond // error of a measurement: how much too early a message may seem to arrive
	slowAnswer  = 2 * time.Second        // a slower answer is too inexact
	trustClock  = 30 * time.Second       // how long a measurement is valid: clocks drift
	clocksKept  = 8
	clockEvery  = 5 * time.Second
	clockHurry  = time.Second // interval between requests while there is no measurement
	nobodySince = -1          // age in ms of something never received
)

// started is the origin on machines without the clock that steady reads.
var started = time.Now()

// steady reads a clock that is never set and that runs while the machine sleeps. What waited in
// buffers meanwhile has aged.
func steady() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &t) != nil {
		return time.Since(started)
	}
	return time.Duration(t.Nano())
}

// every calls do once per period until ctx is cancelled.
func every(ctx context.Context, period time.Duration, do func()) {
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			do()
		}
	}
}

// sample is one measurement of a table's steady clock relative to the hall's.
type sample struct {
	at     time.Duration // on the hall's clock
	offset time.Duration // the table's minus the hall's
	error  time.Duration // largest possible error: half of the round trip
}

// clock holds the measurements of a table's clocks. All times are on the hall's steady clock unless
// named as the table's.
type clock struct {
	session string
	samples []sample
	newest  event.Clock // the last reading
}

// measured adds a reading that was requested at asked and came at came.
func (c *clock) measured(r event.Clock, asked, came time.Duration) {
	if came-asked > slowAnswer || came < asked {
		return
	}
	if r.Session != c.session {
		c.session, c.samples = r.Session, nil
	}
	half := (came - asked) / 2
	s := sample{at: came, offset: time.Duration(r.UpMS)*time.Millisecond - (asked + half), error: half}
	if n := len(c.samples); n > 0 && (c.samples[n-1].offset-s.offset).Abs() > c.samples[n-1].error+s.error+aheadMost {
		c.samples = nil // one of the machines slept
	}
	c.samples = append(c.samples, s)
	if len(c.samples) > clocksKept {
		c.samples = c.samples[1:]
	}
	c.newest = r
}

// best returns the most exact valid measurement. It reports false if there is none.
func (c *clock) best(now time.Duration) (s sample, ok bool) {
	for _, k := range c.samples {
		if now-k.at <= trustClock && (!ok || k.error < s.error) {
			s, ok = k, true
		}
	}
	return s, ok
}

// age returns the largest possible age of something with a time on the table's steady clock. It
// reports false if the age is unknown, or if the time seems to lie in the future: one of the
// machines slept, and the clock must be measured again.
func (c *clock) age(session string, upMS int64, now time.Duration) (d time.Duration, ok bool) {
	s, known := c.best(now)
	if !known || session != c.session {
		return 0, false
	}
	d = now + s.offset - time.Duration(upMS)*time.Millisecond
	if d < -s.error-aheadMost {
		c.samples = nil
		return 0, false
	}
	return max(0, d) + s.error, true
}

// table returns the present time of the table's own clock, which people set, from an earlier
// reading.
func (c *clock) table(r event.Clock, now time.Duration) (unixMS int64, ok bool) {
	s, known := c.best(now)
	if !known || r.Session != c.session {
		return 0, false
	}
	return r.AtMS + (now + s.offset).Milliseconds() - r.UpMS, true
}

// reads returns the latest possible reading of the table's steady clock at a time.
func (c *clock) reads(at, now time.Duration) (upMS int64, ok bool) {
	s, known := c.best(now)
	if !known {
		return 0, false
	}
	return (at + s.offset + s.error + aheadMost).Milliseconds(), true
}

// hurry reports whether there is no valid measurement.
func (c *clock) hurry(now time.Duration) bool {
	_, ok := c.best(now)
	return !ok
}

// stale reports whether something of this age must not be shown as live.
func stale(age time.Duration) bool { return age > staleAfter }

// oldest sorts by age, the oldest first.
func oldest[T any](list []T, waiting func(T) int64) {
	slices.SortStableFunc(list, func(a, b T) int { return int(min(1, max(-1, waiting(b)-waiting(a)))) })
}
