package hall

import (
	"context"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"sightline/cmd/internal/event"
)

// What makes a message too old to be shown as live, and a measurement of a clock good enough.
const (
	staleAfter  = 3 * time.Second
	aheadMost   = 500 * time.Millisecond // that a message may come before it was sent: the measurement's own error
	slowAnswer  = 2 * time.Second        // an answer that took longer says too little
	trustClock  = 30 * time.Second       // how long a measurement counts: clocks drift
	clocksKept  = 8
	clockEvery  = 5 * time.Second
	clockHurry  = time.Second // while there is none
	nobodySince = -1          // age in ms of what was never heard
)

// started is for a machine without the clock that steady reads.
var started = time.Now()

// steady is a clock that no one sets and that runs while the machine sleeps: what waited
// meanwhile in its buffers is as old as it is.
func steady() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &t) != nil {
		return time.Since(started)
	}
	return time.Duration(t.Nano())
}

// every does something once in a period, until ctx is cancelled.
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

// sample is one measurement of a table's steady clock against the hall's.
type sample struct {
	at     time.Duration // on the hall's clock
	offset time.Duration // the table's minus the hall's
	error  time.Duration // at most: half of the way there and back
}

// clock is what the hall knows of a table's clocks. All times are on the hall's steady clock
// but those that are named the table's.
type clock struct {
	session string
	samples []sample
	newest  event.Clock // the last reading
}

// measured takes a reading that was asked for at one time and came at another.
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

// best is the measurement to use now; ok is false when there is none.
func (c *clock) best(now time.Duration) (s sample, ok bool) {
	for _, k := range c.samples {
		if now-k.at <= trustClock && (!ok || k.error < s.error) {
			s, ok = k, true
		}
	}
	return s, ok
}

// age is how old something is that the table's steady clock dates: the most that it can be.
// ok is false when that is not known, or it seems to come from the future: one of the machines
// slept, and its clock must be measured again.
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

// table returns what the table's own clock, which people set, says now, by a reading of it.
func (c *clock) table(r event.Clock, now time.Duration) (unixMS int64, ok bool) {
	s, known := c.best(now)
	if !known || r.Session != c.session {
		return 0, false
	}
	return r.AtMS + (now + s.offset).Milliseconds() - r.UpMS, true
}

// reads returns what the table's steady clock reads at a time, at most.
func (c *clock) reads(at, now time.Duration) (upMS int64, ok bool) {
	s, known := c.best(now)
	if !known {
		return 0, false
	}
	return (at + s.offset + s.error + aheadMost).Milliseconds(), true
}

// hurry reports whether there is no measurement to use.
func (c *clock) hurry(now time.Duration) bool {
	_, ok := c.best(now)
	return !ok
}

// stale reports whether something of that age is not to be shown as live.
func stale(age time.Duration) bool { return age > staleAfter }

// oldest sorts by age, the oldest first.
func oldest[T any](list []T, waiting func(T) int64) {
	slices.SortStableFunc(list, func(a, b T) int { return int(min(1, max(-1, waiting(b)-waiting(a)))) })
}
