package hardware_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"sightline/engine"
	"sightline/hardware"
	"sightline/hardware/hardwaretest"
)

// lights writes the lamps as one line: range 1, 2, 3, in arc, obstructed, overlap,
// too close, no view; # lit, * blinking, ! flashing, . dark.
func lights(s hardware.State) string {
	text := ""
	for _, l := range hardware.Lights(s) {
		text += string(".#*!"[l])
	}
	return text
}

func pair(change func(*hardware.State)) hardware.State {
	s := hardware.State{
		From: "A1", To: "B1", Range: engine.Yes, Band: 2, Possible: []int{2}, DistanceMM: 147.32, SigmaMM: 0.21,
		Arc: "front", InArc: engine.No, Obstructed: engine.NoView, Contact: engine.No, MarginMM: 47.32, ArcMarginMM: -12.4,
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
		"nothing chosen: a flash now and then":  {hardware.State{Reason: "choose"}, ".......!"},
		"nothing chosen and no camera":          {hardware.State{Reason: "no camera", Blind: true}, ".......#"},
		"decided band lights its lamp":          {pair(nil), ".#......"},
		"contact lights overlap, no range lamp": {pair(func(s *hardware.State) { s.Band, s.Contact = 0, engine.Yes }), ".....#.."},
		"touching or range 1": {pair(func(s *hardware.State) {
			s.Range, s.Possible, s.Contact = engine.Indeterminate, []int{0, 1}, engine.Indeterminate
		}), "*....*#."},
		"beyond range 3 lights no range lamp":    {pair(func(s *hardware.State) { s.Band = 4 }), "........"},
		"in the arc":                             {pair(func(s *hardware.State) { s.InArc = engine.Yes }), ".#.#...."},
		"obstructed":                             {pair(func(s *hardware.State) { s.Obstructed = engine.Yes }), ".#..#..."},
		"a clear line leaves the lamp dark":      {pair(func(s *hardware.State) { s.Obstructed = engine.No }), ".#......"},
		"arc too close blinks, band stays":       {pair(func(s *hardware.State) { s.InArc = engine.Indeterminate }), ".#.*..#."},
		"obstruction too close blinks":           {pair(func(s *hardware.State) { s.Obstructed = engine.Indeterminate }), ".#..*.#."},
		"the attacker may choose: not too close": {pair(func(s *hardware.State) { s.AttackerChooses = true }), ".#..*..."},
		"two bands blink and too_close is lit": {pair(func(s *hardware.State) { s.Range, s.Possible = engine.Indeterminate, []int{2, 3} }),
			".**...#."},
		"range 3 or beyond":           {pair(func(s *hardware.State) { s.Range, s.Possible = engine.Indeterminate, []int{3, 4} }), "..*...#."},
		"the arc is not seen":         {pair(func(s *hardware.State) { s.InArc = engine.NoView }), ".#.....*"},
		"a frozen answer is not live": {pair(func(s *hardware.State) { s.Frozen = true }), ".#.....!"},
		"an attack that the rules forbid is none in the arc": {pair(func(s *hardware.State) {
			s.InArc, s.NoAttack = engine.Yes, "no attack: at range 0 of an asteroid, rock1 (2.0 G177)"
		}), ".#...#.."},
		"perhaps it is forbidden": {pair(func(s *hardware.State) {
			s.InArc, s.NoAttack, s.NoAttackOpen = engine.Yes,
				"perhaps no attack", true
		}), ".#.*.*#."},
		"out of the arc and perhaps forbidden": {pair(func(s *hardware.State) {
			s.Contact, s.NoAttack, s.NoAttackOpen = engine.Yes,
				"perhaps no attack", true
		}), ".#...##."},
		"no view: no answer, whatever stands": {pair(func(s *hardware.State) {
			s.Range, s.InArc, s.Contact = engine.NoView, engine.Yes,
				engine.Yes
		}), ".......#"},
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

// A flash cannot be taken for blinking: it is dark for longer than blinking ever is.
func TestAFlashIsShortAndSeldom(t *testing.T) {
	lit, longest, dark := 0, 0, 0
	const step = 10 * time.Millisecond
	for i := range 600 {
		if hardware.Flashing.LitAt(time.Unix(1000, 0).Add(time.Duration(i) * step)) {
			lit, dark = lit+1, 0
		} else {
			dark++
		}
		longest = max(longest, dark)
	}
	assert.Equal(t, 3*10, lit, "three flashes of 100 ms in six seconds")
	assert.Greater(t, time.Duration(longest)*step, 2*hardware.BlinkHalf)
}

func TestZeroStateIsDarkAndSaysThatNothingIsChosen(t *testing.T) {
	assert.Equal(t, ".......!", lights(hardware.State{}))
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
