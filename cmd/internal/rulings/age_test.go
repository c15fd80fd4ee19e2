package rulings_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/rulings"
)

const day = 24 * time.Hour

// clocked is a log that keeps pictures for 30 days, on a machine whose clock and running
// time the test sets.
type clocked struct {
	*rulings.Log
	t    *testing.T
	dir  string
	now  time.Time
	boot string
	up   time.Duration
}

func newClocked(t *testing.T) *clocked {
	c := &clocked{t: t, dir: t.TempDir(), now: noon, boot: "first", up: time.Hour}
	c.open()
	return c
}

func (c *clocked) open() {
	c.t.Helper()
	var err error
	c.Log, err = rulings.OpenClocked(c.dir, rulings.Options{Key: key, Keep: 30 * day}, func() (string, time.Duration) { return c.boot, c.up })
	require.NoError(c.t, err)
	c.t.Cleanup(func() { c.Close() })
}

// pass lets the machine run for a while, with a clock that is right.
func (c *clocked) pass(d time.Duration) { c.now, c.up = c.now.Add(d), c.up+d }

// restart switches the machine off for a while, and on.
func (c *clocked) restart(boot string, off time.Duration) {
	require.NoError(c.t, c.Close())
	c.boot, c.up, c.now = boot, time.Minute, c.now.Add(off+time.Minute)
	c.open()
}

func (c *clocked) rule(n int) {
	c.t.Helper()
	r := ruling(c.t, n)
	r.At = c.now
	_, err := c.Append(ctx, r, files(n))
	require.NoError(c.t, err)
}

func (c *clocked) pruned(want int, why string) {
	c.t.Helper()
	n, err := c.Prune(ctx, c.now)
	require.NoError(c.t, err, why)
	assert.Equal(c.t, want, n, why)
}

func TestPicturesAreRemovedForTheTimeThatTheMachineRan(t *testing.T) {
	c := newClocked(t)
	c.rule(0)
	c.pass(29 * day)
	c.pruned(0, "29 days")
	c.rule(1)
	c.pass(day + time.Second)
	c.pruned(2, "30 days: frame and colour of the first")
	c.restart("second", 100*day)
	c.pruned(0, "switched off for 100 days: of those there is no evidence")
	c.pass(28 * day)
	c.pruned(0, "29 days of running since the second ruling")
	c.pass(day + time.Second)
	c.pruned(2, "30 of them")
}

func TestAClockThatLeapsRemovesNoPicture(t *testing.T) {
	for name, leap := range map[string]time.Duration{"ahead": 2 * 365 * day, "back": -2 * 365 * day} {
		t.Run(name+", while the program runs", func(t *testing.T) {
			c := newClocked(t)
			c.rule(0)
			c.pass(31 * day) // old, but for the clock
			c.now = c.now.Add(leap)
			_, err := c.Prune(ctx, c.now)
			require.ErrorIs(t, err, rulings.ErrClock)
			_, err = c.Prune(ctx, c.now)
			require.ErrorIs(t, err, rulings.ErrClock, "nor when it is asked again")
			c.rule(1)
			_, err = c.Prune(ctx, c.now)
			require.ErrorIs(t, err, rulings.ErrClock, "nor after a ruling by that clock")
			c.now = c.now.Add(-leap)
			_, err = c.Prune(ctx, c.now)
			require.ErrorIs(t, err, rulings.ErrClock, "set right, it leapt again")
			if leap < 0 {
				c.pass(day)
				c.pruned(2, "a day later it is trusted again")
			}
		})
		t.Run(name+", while the machine is off", func(t *testing.T) {
			c := newClocked(t)
			c.rule(0)
			c.pass(20 * day)
			c.rule(1)
			c.restart("second", leap)
			n, err := c.Prune(ctx, c.now)
			assert.Zero(t, n)
			if leap < 0 {
				assert.ErrorIs(t, err, rulings.ErrClock)
			}
			c.rule(2) // dated by the clock as it is
			c.pass(day)
			n, _ = c.Prune(ctx, c.now)
			assert.Zero(t, n, "21 days of running")
		})
	}
}

func TestARestartDoesNotForgetThatTheClockLeapt(t *testing.T) {
	for name, boot := range map[string]string{"of the program": "first", "of the machine": "second"} {
		t.Run(name, func(t *testing.T) {
			c := newClocked(t)
			c.rule(0)
			c.pass(31 * day)
			c.now = c.now.Add(365 * day)
			_, err := c.Prune(ctx, c.now)
			require.ErrorIs(t, err, rulings.ErrClock)
			require.NoError(t, c.Close())
			c.pass(time.Hour)
			if boot != c.boot {
				c.boot, c.up = boot, time.Minute
			}
			c.open()
			n, err := c.Prune(ctx, c.now)
			require.ErrorIs(t, err, rulings.ErrClock, "an hour later")
			assert.Zero(t, n)
			c.rule(1)
			_, err = c.Prune(ctx, c.now)
			require.ErrorIs(t, err, rulings.ErrClock)
			c.pass(day)
			c.pruned(2, "a day later it is trusted again")
		})
	}
}

func TestAClockThatIsBehindTheRecordRemovesNoPicture(t *testing.T) {
	c := newClocked(t)
	c.now = noon.AddDate(10, 0, 0)
	c.rule(0)
	c.restart("second", -10*365*day)
	for range 3 {
		c.pass(31 * day)
		_, err := c.Prune(ctx, c.now)
		assert.ErrorIs(t, err, rulings.ErrClock, "the last entry is of a time to come")
	}
}

func TestWhatWasRecordedAtAWrongTimeIsKeptAsLong(t *testing.T) {
	c := newClocked(t)
	right := c.now
	c.now = time.Unix(0, 0) // a board without a clock that keeps time
	c.rule(0)
	c.now = right
	c.pass(2 * day)
	_, err := c.Prune(ctx, c.now)
	require.ErrorIs(t, err, rulings.ErrClock)
	c.pass(26 * day)
	c.pruned(0, "56 years by the clock, 28 days of running")
	c.pass(3 * day)
	c.pruned(2, "")
}

func TestTheSystemTellsForHowLongItRuns(t *testing.T) {
	boot, up := rulings.SystemUptime()
	assert.NotEmpty(t, boot)
	assert.Positive(t, up)
	again, later := rulings.SystemUptime()
	assert.Equal(t, boot, again)
	assert.GreaterOrEqual(t, later, up)
}
