package game

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/kept"
	"sightline/cmd/internal/live"
)

// machine is a machine's clock. Its time of day is a gameBench's.
type machine struct {
	boot string
	up   time.Duration
	set  bool
}

func (m *machine) clock() *kept.Clock {
	return &kept.Clock{Uptime: func() (string, time.Duration) { return m.boot, m.up }, Set: func() bool { return m.set }}
}

// What is stored has the age that the machine's uptime gives it, whatever its clock is set to. After a start of a machine whose clock is
// not known to be right, then or now, no picture is lost, and no more is measured than was agreed on or configured.
func TestAClockThatIsSetHidesAndRenewsNothing(t *testing.T) {
	const years = 20 * 365 * 24 * time.Hour
	type what struct{ agreed, pair, held, released bool }
	for name, c := range map[string]struct {
		setThen    bool
		boot       string
		up, day    time.Duration // since it was stored
		setNow     bool
		want       what
		agreeAgain bool
	}{
		"set forward since":                 {false, "a", 50 * time.Minute, years, true, what{true, true, true, true}, false},
		"set back since":                    {true, "a", 50 * time.Minute, -years, true, what{true, true, true, true}, false},
		"old, and set back since":           {true, "a", agreementFor + time.Minute, time.Minute, true, what{}, false},
		"released long ago, and set back":   {true, "a", 2 * time.Hour, time.Minute, true, what{true, true, true, false}, false},
		"started since":                     {true, "b", 0, 50 * time.Minute, true, what{true, true, true, true}, false},
		"started the next day":              {true, "b", 0, 13 * time.Hour, true, what{}, false},
		"started, and set for the first":    {false, "b", 0, years, true, what{false, true, true, true}, true},
		"started without a clock":           {true, "b", 0, -years, false, what{false, true, true, true}, true},
		"started without a clock, minutes":  {true, "b", 0, time.Minute, false, what{false, true, true, true}, true},
		"started with a clock that is back": {true, "b", 0, -years, true, what{false, true, true, true}, true},
	} {
		dir, m := t.TempDir(), &machine{"a", time.Hour, c.setThen}
		judges := func(o *Options) { o.Clock, o.Rules.Measuring = m.clock(), live.MeasuringEdition }
		first := keptBench(t, dir, time.Unix(1700000000, 0), judges)
		released := held(t, first, 3).Number
		letGo(t, first)
		picture := held(t, first, 4).Number
		first.game.storeSession()
		first.game.Agree(live.MeasuringFree, true)
		*m = machine{c.boot, m.up + c.up, c.setNow}

		next := keptBench(t, dir, first.now.Add(c.day), judges)
		now := next.hub.Newest()
		got := what{
			agreed: now.Policy.Measuring == live.MeasuringFree, pair: now.Choice.From == "A1",
			held:     now.Hold != nil && now.Hold.Number == picture,
			released: len(now.Released) == 1 && now.Released[0].Number == released,
		}
		assert.Equal(t, c.want, got, name)
		if c.agreeAgain {
			assert.Contains(t, notesOf(next), "clock does not tell whether it was today: everyone may measure", name)
		} else {
			assert.NotContains(t, notesOf(next), "Agree on measuring again", name)
		}
	}
}

// Without a clock, the stricter agreement counts: also one that was made before the start.
func TestAnAgreementOfUnknownAgeAllowsNoMore(t *testing.T) {
	m := &machine{"a", time.Hour, false}
	dir := t.TempDir()
	free := func(o *Options) { o.Clock, o.Rules.Measuring = m.clock(), live.MeasuringFree }
	first := keptBench(t, dir, time.Unix(1700000000, 0), free)
	first.game.Agree(live.MeasuringJudge, true)
	m.boot = "b"
	next := keptBench(t, dir, first.now.Add(100*time.Hour), free)
	require.Equal(t, live.MeasuringJudge, next.hub.Newest().Policy.Measuring)
}
