package hall

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"sightline/cmd/internal/event"
)

// TestATablesClockIsKnownOrNothingIsShown lays out what the hall makes of a table's clocks: ages
// are the most that they can be, and what cannot be dated has none.
func TestATablesClockIsKnownOrNothingIsShown(t *testing.T) {
	const s = time.Second
	at := func(session string, up, wall time.Duration) event.Clock {
		return event.Clock{Session: session, UpMS: up.Milliseconds(), AtMS: wall.Milliseconds()}
	}
	var c clock
	_, ok := c.age("a", 100_000, 10*s)
	assert.False(t, ok, "nothing was measured")

	// The table's program is 90 s older than the hall's, and its clock half an hour fast.
	c.measured(at("a", 101*s, 1900*s), 10*s, 12*s)
	age, ok := c.age("a", 101_000, 12*s)
	assert.True(t, ok)
	assert.Equal(t, 2*s, age, "1 s, and 1 s of doubt")
	c.measured(at("a", 103*s, 1902*s), 13*s-10*time.Millisecond, 13*s+10*time.Millisecond)
	age, _ = c.age("a", 103_000, 14*s)
	assert.InDelta(t, 1010, age.Milliseconds(), 1, "the better measurement counts")
	age, _ = c.age("a", 83_000, 14*s)
	assert.True(t, stale(age), "what a Wi-Fi held back for 20 s")

	now, ok := c.table(at("a", 104*s, 1903*s), 16*s)
	assert.True(t, ok)
	assert.Equal(t, int64(1905_000), now, "its own clock, two seconds later")
	now, _ = c.table(at("a", 105*s, 100*s), 16*s)
	assert.Equal(t, int64(101_000), now, "somebody set it")

	_, ok = c.age("b", 1000, 14*s)
	assert.False(t, ok, "the table's program began again")
	_, ok = c.age("a", 103_000, 60*s)
	assert.False(t, ok, "the last measurement is too old")
	_, ok = c.age("a", 120_000, 14*s)
	assert.False(t, ok, "from the future: the hall's machine slept")
	_, ok = c.age("a", 103_000, 14*s)
	assert.False(t, ok, "and all is measured again")

	c = clock{}
	c.measured(at("a", 101*s, 0), 10*s, 12*s+time.Millisecond)
	assert.True(t, c.hurry(13*s), "an answer that took long says too little")
}
