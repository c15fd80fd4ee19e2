package round

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// own gives a ship of the game a dial and actions of its own.
func (s *simulated) own(id string, dial, actions []string) {
	s.t.Helper()
	start := *s.events[0].Start
	for i := range start.Ships {
		if start.Ships[i].ID == id {
			start.Ships[i].Dial, start.Ships[i].Actions = dial, actions
		}
	}
	s.played = play(s.t, start)
}

// G143: a stressed ship of the first edition that reveals a red maneuver flies straight 2, be
// it on its dial or not.
func TestAStressedShipOfTheFirstEditionFliesStraight2(t *testing.T) {
	s := simulate(t, "1e", 3)
	s.own("B2", []string{"1FG", "3FW", "4KR"}, nil)
	s.run("to Activation\nB2 straight 2")
	assert.Equal(t, "straight 2", s.last().Move)
	assert.Equal(t, []string{"straight 2 is not on its dial; a stressed ship that revealed a red maneuver flies it (1e G143)"},
		s.last().Says)

	for _, c := range []struct {
		edition, dial string
		want          string
	}{
		{"1e", "koiogran 4", "koiogran 4 is red, and so was its maneuver before: a ship that is still stressed flies straight 2 (1e G143)"},
		{"2.0", "koiogran 4", "koiogran 4 is red, and so was its maneuver before: a ship that is still stressed may not execute it"},
	} {
		s := simulate(t, c.edition, 3)
		s.own("A2", []string{"1FB", "1FG", "3FW", "4KR"}, nil)
		for i := range s.truth.Ships { // room for all
			s.ship("A2").Pose.Y = 300
			s.truth.Ships[i].Pose.X = 150 + 200*float64(i)
		}
		s.truth.Obstacles = nil
		s.watch = NewWatch(s.Game)
		s.look()
		s.run("to Activation\nA2 koiogran 4")
		assert.NotContains(t, s.last().Says, c.want, "the first red one")
		s.run("to Planning\nto Activation\nA2 straight 3\nto Planning\nto Activation\nA2 koiogran 4")
		assert.Contains(t, s.last().Says, c.want, "%s: a white one takes no stress off", c.edition)
		s.run("to Planning\nto Activation\nA2 straight 1\nto Planning\nto Activation\nA2 koiogran 4")
		assert.NotContains(t, s.last().Says, c.want, "%s: a green or blue one may have", c.edition)
	}
}

// G144, G145: SLAM flies the speed of the maneuver of this round, and a further maneuver does
// not change that speed.
func TestSLAMHasTheSpeedOfTheManeuver(t *testing.T) {
	dial := []string{"1FB", "2FW", "2BW", "2NW", "3FW", "3TR"}
	for _, c := range []struct {
		edition, rule string
	}{{"1e", "1e G145"}, {"2.0", "2.0 G144"}, {"2.5", "2.5 G144"}} {
		slam := func(actions ...string) *simulated {
			s := simulate(t, c.edition, 3)
			s.own("B2", dial, actions)
			s.truth.Obstacles = nil
			return s
		}
		s := slam("slam")
		s.run("to Activation\nB2 straight 2\nB2 bank left 2")
		assert.Equal(t, "bank left 2", s.last().Move)
		assert.Equal(t, []string{"SLAM, at the speed of its maneuver (" + c.rule + ")"}, s.last().Says)
		assert.Equal(t, []int{2}, s.Piece("B2").Speeds)

		s = slam("slam")
		s.run("to Activation\nB2 straight 2\nB2 straight 3")
		assert.Equal(t, "straight 3", s.last().Move)
		assert.Equal(t, []string{"SLAM flies the speed of its maneuver of this round, 2 (" + c.rule + ")"}, s.last().Says)
		assert.Equal(t, []int{2}, s.Piece("B2").Speeds, "G145")

		s = slam("focus")
		s.run("to Activation\nB2 straight 2\nB2 bank left 2")
		assert.Equal(t, []string{"it has moved already in this round: straight 2"}, s.last().Says)

		s = slam("slam")
		s.run("to Activation\nB2 straight 2")
		s.Piece("B2").Speeds = []int{2, 3} // a bump that may have been of either
		s.run("B2 bank left 2")
		assert.Equal(t, []string{"SLAM: too close to call whether it has the speed of its maneuver, 2 or 3 (" + c.rule + ")"}, s.last().Says)

		s = slam("slam")
		s.run("to Activation\ntap")
		s.fly("B2", "bank left 2")
		assert.Equal(t, "bank left 2", s.last().Move, "the tap came before the camera saw the ship at rest")
		assert.Empty(t, s.last().Says)
		assert.Equal(t, []int{2}, s.Piece("B2").Speeds)
	}
}

// A boost ends where straight 1 does: what is not known of the maneuver leaves both.
func TestATapThatIsNoManeuverLeavesABoostOpen(t *testing.T) {
	s := simulate(t, "2.0", 3)
	s.run("to Activation\nB2 straight 3\nA2 straight 4\ntap\nA1 straight 1")
	assert.Equal(t, "too_close", s.last().Outcome)
	assert.Equal(t, "straight 1 or boost straight", s.last().Short())
	s = simulate(t, "2.0", 3)
	s.run("to Activation\nB2 straight 3\nA2 straight 4\nA1 straight 2\nA1 straight 1")
	assert.Equal(t, "boost straight", s.last().Short())
}
