package live

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"sightline/engine"
	"sightline/hardware"
	"sightline/vision"
)

func pairView(r engine.RangeVerdict, arc engine.ArcVerdict) *State {
	return &State{
		Sigmas: 3, Choice: Choice{From: "A1", To: "B1", Arc: engine.ArcFront},
		Pair: &engine.PairVerdict{From: "A1", To: "B1", Range: r, Arcs: []engine.ArcVerdict{arc}},
	}
}

func TestRangeTitles(t *testing.T) {
	for want, r := range map[string]engine.RangeVerdict{
		"Range 2":            {Outcome: engine.Yes, Band: 2},
		"Contact (range 0)":  {Outcome: engine.Yes, Band: 0},
		"Beyond range 3":     {Outcome: engine.Yes, Band: 6},
		"Range 2 or 3":       {Outcome: engine.Indeterminate, Possible: []int{2, 3}},
		"Range 3 or beyond":  {Outcome: engine.Indeterminate, Possible: []int{3, 4}},
		"Contact or range 1": {Outcome: engine.Indeterminate, Possible: []int{0, 1}},
		"Too close to call":  {Outcome: engine.Indeterminate},
		"No view":            {Outcome: engine.NoView},
		"Range 1, 2 or 3":    {Outcome: engine.Indeterminate, Possible: []int{1, 2, 3}},
	} {
		assert.Equal(t, want, RangeTitle(r), "rangeTitle(%+v)", r)
	}
}

func TestTooCloseIsExplainedWithItsFigures(t *testing.T) {
	s := pairView(engine.RangeVerdict{Outcome: engine.Indeterminate, Possible: []int{2, 3}, Distance: 200.1, Sigma: 0.25, Margin: 0.1},
		engine.ArcVerdict{})
	text := s.Text().Explain
	assert.Contains(t, text, "0.10 mm")
	assert.Contains(t, text, "0.8 mm (3 standard deviations)")
	assert.Contains(t, text, "by hand")
}

func TestTheArcIsExplainedWithItsFigures(t *testing.T) {
	for _, c := range []struct {
		in   engine.Outcome
		want string
	}{
		{engine.No, "Outside the arc by 141.6 mm, and 0.9 mm is enough to be sure (3 standard deviations). Decided: "},
		{engine.Indeterminate, "The edge of the arc is only 141.60 mm away, and the camera is sure only beyond 0.9 mm (3 standard deviations). " +
			"Decided: "},
		{engine.Yes, "Decided: "},
		{engine.NoView, "Decided: "},
	} {
		s := pairView(engine.RangeVerdict{Outcome: engine.Yes, Band: 2, Margin: 2, Sigma: 0.2},
			engine.ArcVerdict{Arc: engine.ArcFront, InArc: c.in, Margin: -141.6, Sigma: 0.3})
		assert.True(t, strings.HasPrefix(s.Text().Explain, c.want), "%v: %s", c.in, s.Text().Explain)
	}
}

func TestObstaclesThatNobodyWatchesAreNeverClear(t *testing.T) {
	arc := engine.ArcVerdict{Arc: engine.ArcFront, InArc: engine.Yes, Attack: &engine.AttackVerdict{Obstruction: engine.ObstructionVerdict{
		Verdict: "never"}}}
	s := pairView(engine.RangeVerdict{Outcome: engine.Yes, Band: 1}, arc)
	assert.Equal(t, "obstacles are not watched", s.Text().Obstruction)
	s.Located.Obstacles = &vision.ObstacleSight{Unseen: vision.UnseenLooking}
	assert.Equal(t, "obstacles are being looked for", s.Text().Obstruction)
	assert.Contains(t, s.Text().Live, "Obstacles are being looked for.")
	s.Held = true
	assert.Equal(t, "obstacles are not watched", s.Text().Obstruction, "what is held is looked at no more")
	s.Held, s.Located.Obstacles = false, nil
	assert.Equal(t, engine.NoView, PanelState(s).Obstructed)
	s.ObstaclesWatched = true
	assert.Equal(t, "no obstacle on the line", s.Text().Obstruction)
	assert.Equal(t, engine.No, PanelState(s).Obstructed)
}

func TestObstructionVerdicts(t *testing.T) {
	for verdict, want := range map[string]struct {
		text    string
		outcome engine.Outcome
		chooses bool
	}{
		"must":      {"obstructed by rock1", engine.Yes, false},
		"may":       {"the attacker may choose a clear line past rock1", engine.Indeterminate, true},
		"too_close": {"too close to call whether rock1 obstructs", engine.Indeterminate, false},
		"strange":   {"no view of what lies on the line", engine.NoView, false},
	} {
		arc := engine.ArcVerdict{Arc: engine.ArcFront, InArc: engine.Yes, Attack: &engine.AttackVerdict{Obstruction: engine.ObstructionVerdict{
			Verdict: verdict, By: []string{"rock1"}}}}
		state := pairView(engine.RangeVerdict{Outcome: engine.Yes, Band: 1}, arc)
		state.ObstaclesWatched = true
		s := PanelState(state)
		assert.Equal(t, want.text, state.Text().Obstruction, verdict)
		assert.Equal(t, want.outcome, s.Obstructed, verdict)
		assert.Equal(t, want.chooses, s.AttackerChooses, verdict)
	}
}

func TestNoAnswerSaysWhyAndLightsOnlyNoView(t *testing.T) {
	s := &State{Choice: Choice{From: "A1", To: "B1"}, Reason: "no camera"}
	assert.Equal(t, "No answer for A1 to B1: no camera.", s.Text().Live)
	assert.Equal(t, onlyNoView, hardware.Lights(PanelState(s)))
}

func TestAnArcThatTheShipDoesNotHave(t *testing.T) {
	s := pairView(engine.RangeVerdict{Outcome: engine.Yes, Band: 1}, engine.ArcVerdict{Arc: engine.ArcRear})
	assert.Equal(t, "A1 has no front arc", s.Text().InArc)
	assert.Equal(t, engine.NoView, PanelState(s).InArc)
}

// onlyNoView is the panel without an answer.
var onlyNoView = [hardware.NumLamps]hardware.Light{hardware.LampNoView: hardware.Lit}

// A base without a name that may carry a card which was never shown is said to be another ship, perhaps.
func TestABaseThatMayBeAShipThatWasNotShownIsSaidToBe(t *testing.T) {
	for _, c := range []struct {
		may    []string
		player int
		want   string
	}{
		{[]string{"A1", "A2"}, 1, "?1 is A1 or A2, which look alike: tap it and say which ship it is"},
		{[]string{"A1", "A2"}, 0, "?1 is A1 or A2 or another ship with a card like theirs: tap it and say which ship it is"},
		{[]string{"A1"}, 0, "?1 is A1 or another ship with a card like its: tap it and say which ship it is"},
	} {
		k := vision.Track{Ship: engine.Ship{ID: "?1", Player: c.player, NameDoubt: c.may}, State: vision.Still}
		assert.Equal(t, c.want, TrackText(&k, time.Time{}))
	}
}
