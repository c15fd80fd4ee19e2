package access

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"sightline/cmd/internal/kept"
)

// A pairing is as old as the machine's uptime says, whatever its clock is set to. After a start of a machine whose clock is not known to
// be right, a judge pairs again.
func TestAClockThatIsSetNeitherEndsNorRenewsAPairing(t *testing.T) {
	const years = 20 * 365 * 24 * time.Hour
	for name, c := range map[string]struct {
		setThen       bool
		boot          string
		up, day       time.Duration // since it was paired
		setNow        bool
		judge, player bool
	}{
		"a minute later":                     {true, "a", time.Minute, time.Minute, true, true, true},
		"set forward since":                  {false, "a", time.Minute, years, true, true, true},
		"set back since":                     {true, "a", time.Minute, -years, true, true, true},
		"the next day, and set back":         {true, "a", 13 * time.Hour, -years, true, false, true},
		"the next week, and set back":        {true, "a", 8 * 24 * time.Hour, time.Minute, true, false, false},
		"started since":                      {true, "b", 0, time.Hour, true, true, true},
		"started the next day":               {true, "b", 0, 13 * time.Hour, true, false, true},
		"started, and set for the first":     {false, "b", 0, time.Hour, true, false, true},
		"started without a clock":            {true, "b", 0, time.Hour, false, false, true},
		"started with a clock that is years": {true, "b", 0, years, true, false, false},
	} {
		boot, up, set := "a", time.Hour, c.setThen
		s := newSessions(Options{JudgeSecret: "a secret of tests",
			Clock: &kept.Clock{Uptime: func() (string, time.Duration) { return boot, up }, Set: func() bool { return set }}})
		now := time.Unix(1700000000, 0)
		_, judge := s.make(Judge, "Jo", now)
		_, player := s.make(Player, "Anna", now)
		boot, up, set = c.boot, up+c.up, c.setNow
		_, isJudge := s.parse(judge, now.Add(c.day))
		_, isPlayer := s.parse(player, now.Add(c.day))
		assert.Equal(t, []bool{c.judge, c.player}, []bool{isJudge, isPlayer}, "%s: judge and player", name)
	}
}
