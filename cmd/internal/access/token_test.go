package access

import (
	"encoding/base64"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"sightline/cmd/internal/kept"
)

// An overlay's token is as old as the machine's uptime says: a clock that a network sets in the middle of a stream does not end it.
func TestAClockThatIsSetNeitherEndsNorRenewsAToken(t *testing.T) {
	const day, years = 24 * time.Hour, 20 * 365 * 24 * time.Hour
	for name, c := range map[string]struct {
		setThen  bool
		boot     string
		up, wall time.Duration // since it was made
		setNow   bool
		sees     bool
	}{
		"a minute later":                {true, "a", time.Minute, time.Minute, true, true},
		"set forward since":             {false, "a", time.Minute, years, true, true},
		"set back since":                {true, "a", time.Minute, -years, true, true},
		"91 days later, and set back":   {true, "a", 91 * day, -years, true, false},
		"started since":                 {true, "b", 0, 89 * day, true, true},
		"started 91 days later":         {true, "b", 0, 91 * day, true, false},
		"started without a clock":       {true, "b", 0, time.Minute, false, true},
		"started, set for the first":    {false, "b", 0, day, true, true},
		"started with a clock of years": {true, "b", 0, years, true, false},
	} {
		boot, up, set := "a", time.Hour, c.setThen
		s := newSessions(Options{Clock: &kept.Clock{Uptime: func() (string, time.Duration) { return boot, up }, Set: func() bool { return set }}})
		now := time.Unix(1700000000, 0)
		token := s.readToken(now)
		assert.LessOrEqual(t, len(token), 128)
		assert.True(t, s.maySee(token, now))
		boot, up, set = c.boot, up+c.up, c.setNow
		assert.Equal(t, c.sees, s.maySee(token, now.Add(c.wall)), name)
	}
}

// A token of an earlier version says only when it expires.
func TestATokenOfAnEarlierVersionStillLetsRead(t *testing.T) {
	s := newSessions(Options{Clock: kept.ThisMachine()})
	now := time.Unix(1700000000, 0)
	until := strconv.FormatInt(now.Add(time.Hour).Unix(), 36)
	token := until + "." + base64.RawURLEncoding.EncodeToString(s.mac("overlay", []byte(until)))
	assert.True(t, s.maySee(token, now))
	assert.False(t, s.maySee(token, now.Add(time.Hour)))
	assert.False(t, s.maySee("z"+token, now))
}
