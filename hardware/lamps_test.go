package hardware_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"sightline/engine"
	"sightline/hardware"
	"sightline/hardware/hardwaretest"
)

// lights writes the lamps as one line: range 1, 2, 3, in arc, obstructed, too
// close; # lit, * blinking, . dark.
func lights(s hardware.State) string {
	text := ""
	for _, l := range hardware.Lights(s) {
		text += string(".#*"[l])
	}
	return text
}

func pair(change func(*hardware.State)) hardware.State {
	s := hardware.State{
		From: "A1", To: "B1", Range: engine.Yes, Band: 2, Possible: []int{2}, DistanceMM: 147.32, SigmaMM: 0.21,
		Arc: "front", InArc: engine.No, Obstructed: engine.NoView,
	}
	if change != nil {
		change(&s)
	}
	return s
}

func TestLamps(t *testing.T) {
	for name, c := range map[string]struct {
		state hardware.State
		want  string
	}{
		"nothing chosen: all dark":                {hardware.State{Reason: "choose"}, "......"},
		"decided band lights its lamp":            {pair(nil), ".#...."},
		"contact lights no range lamp":            {pair(func(s *hardware.State) { s.Band = 0 }), "......"},
		"beyond range 3 lights no range lamp":     {pair(func(s *hardware.State) { s.Band = 4 }), "......"},
		"in the arc":                              {pair(func(s *hardware.State) { s.InArc = engine.Yes }), ".#.#.."},
		"obstructed":                              {pair(func(s *hardware.State) { s.Obstructed = engine.Yes }), ".#..#."},
		"a clear line leaves the lamp dark":       {pair(func(s *hardware.State) { s.Obstructed = engine.No }), ".#...."},
		"arc too close blinks, band stays":        {pair(func(s *hardware.State) { s.InArc = engine.Indeterminate }), ".#.*.#"},
		"obstruction too close blinks":            {pair(func(s *hardware.State) { s.Obstructed = engine.Indeterminate }), ".#..*#"},
		"the attacker may choose: not too close":  {pair(func(s *hardware.State) { s.AttackerChooses = true }), ".#..*."},
		"two bands blink and too_close is lit":    {pair(func(s *hardware.State) { s.Range, s.Possible = engine.Indeterminate, []int{2, 3} }), ".**..#"},
		"range 3 or beyond":                       {pair(func(s *hardware.State) { s.Range, s.Possible = engine.Indeterminate, []int{3, 4} }), "..*..#"},
		"no view: all dark, whatever else stands": {pair(func(s *hardware.State) { s.Range, s.InArc = engine.NoView, engine.Yes }), "......"},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, c.want, lights(c.state), "Lights(%+v)", c.state)
		})
	}
}

func TestBlinkingLampsBlinkTogetherAtTwoHertz(t *testing.T) {
	s := pair(func(s *hardware.State) { s.Range, s.Possible = engine.Indeterminate, []int{1, 2} })
	start := time.Unix(1000, 0)
	var text string
	for i := range 4 {
		on := hardware.LampsAt(s, start.Add(time.Duration(i)*hardware.BlinkHalf))
		assert.Equal(t, on[hardware.LampRange1], on[hardware.LampRange2], "both bands at half period %d", i)
		assert.True(t, on[hardware.LampTooClose], "too_close is steady")
		text += map[bool]string{true: "#", false: "."}[on[hardware.LampRange1]]
	}
	assert.Equal(t, "#.#.", text)
}

func TestZeroStateIsDarkAndSaysThatNothingIsChosen(t *testing.T) {
	assert.Equal(t, "......", lights(hardware.State{}))
	assert.False(t, hardware.State{}.Answered())
	assert.Empty(t, hardware.State{}.Pair())
}

func TestTestPanelIsDarkOnceHalted(t *testing.T) {
	var p hardwaretest.Panel
	assert.NoError(t, p.Show(pair(nil)))
	assert.True(t, p.Lamps()[hardware.LampRange2])
	assert.NoError(t, p.Halt())
	assert.Zero(t, p.Lamps())
	assert.True(t, p.Halted())
}
