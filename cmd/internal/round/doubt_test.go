package round

import (
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"

	"sightline/engine"
	"sightline/engine/geom"
)

// under moves a ship under a hand that stays over it for so long.
func (s *simulated) under(id string, stays time.Duration, moves ...string) {
	s.t.Helper()
	s.hand = func(k engine.Ship) bool { return k.ID == id }
	s.now = s.now.Add(stays)
	for _, m := range moves {
		s.fly(id, m)
	}
	s.hand = func(engine.Ship) bool { return false }
	s.look()
}

// Straight 2 and a boost end where straight 4 does: of a ship that was not seen at rest between
// the two, neither is reported as what it flew.
func TestAManeuverAndABoostUnderAHandAreNotTakenForAnother(t *testing.T) {
	s := simulate(t, "2.0", 3)
	s.run("to Activation\nB2 straight 2\nA2 straight 4")
	s.under("A1", 20*time.Second, "straight 2", "boost straight")
	assert.Equal(t, "too_close", s.last().Outcome)
	assert.Equal(t, "straight 4 or straight 2 and boost straight", s.last().Short(), s.last().Text)
	assert.Contains(t, s.last().Text, "because it was not seen at rest in between")

	s = simulate(t, "2.0", 3)
	s.run("to Activation\nB2 straight 2\nA2 straight 4")
	s.under("A1", 20*time.Second, "bank left 2", "barrel-roll right")
	assert.Equal(t, "too_close", s.last().Outcome, "that is no maneuver's end")
	assert.Contains(t, append([]string{s.last().Move}, s.last().Others...), "bank left 2 and barrel-roll right")

	s = simulate(t, "2.0", 3)
	s.run("to Activation\nB2 straight 2\nA2 straight 4\ntap")
	s.under("A1", 20*time.Second, "straight 2", "boost straight")
	assert.Contains(t, s.last().Others, "straight 2 and boost straight", "nor where a tap said that it has moved")

	s = simulate(t, "2.0", 3)
	s.own("A1", []string{"2FB", "4FW"}, []string{"focus"})
	s.run("to Activation\nB2 straight 2\nA2 straight 4")
	s.under("A1", 20*time.Second, "straight 4")
	assert.Equal(t, "straight 4", s.last().Short(), "a ship that cannot boost did not")

	s = simulate(t, "2.0", 3)
	s.run("to Activation\nB2 straight 2\nA2 straight 4\nA1 straight 4")
	assert.Equal(t, "straight 4", s.last().Short(), "nor one that was seen at rest a moment before")
}

// While the machine slept nobody saw the ship, though no time passed by the clock that counts seconds.
func TestAShipMayHaveMovedTwiceWhileTheMachineSlept(t *testing.T) {
	s := simulate(t, "2.0", 3)
	s.now = time.Now()
	s.run("to Activation\nB2 straight 2\nA2 straight 4")
	*(*uint64)(unsafe.Pointer(&s.now)) += 3600 << 30 // the seconds of a time.Time with a monotonic reading
	s.under("A1", 0, "straight 2", "boost straight")
	assert.Equal(t, "straight 4 or straight 2 and boost straight", s.last().Short(), s.last().Text)
}

// A ship that was covered while it moved, and is seen again in a later phase, moved when its turn
// was tapped.
func TestAShipThatMovedUnderAHandIsFollowedInTheNextPhase(t *testing.T) {
	s := simulate(t, "2.0", 3)
	s.own("B2", []string{"2FB", "2BW"}, []string{"focus"})
	s.run("to Activation")
	s.hand = func(k engine.Ship) bool { return k.ID == "B2" }
	s.fly("B2", "bank left 2")
	s.run("tap\nA2 straight 4\nA1 straight 4\nB1 straight 4")
	assert.Equal(t, Engagement, s.Phase)
	s.hand = func(engine.Ship) bool { return false }
	s.look()
	assert.Equal(t, "bank left 2", s.last().Short())
	assert.Empty(t, s.last().Says, "it did not move in the Engagement phase")
}

// Two ships that change places have flown nothing that is reported.
func TestTwoShipsThatChangePlaces(t *testing.T) {
	for _, edition := range []string{"1e", "2.0", "2.5"} {
		s := simulate(t, edition, 3)
		s.run("to Activation")
		a, b := s.ship("A1").Pose, s.ship("A2").Pose
		s.ship("A1").Pose, s.ship("A2").Pose = b, a
		s.look()
		for _, e := range s.events {
			if e.Flown != nil {
				assert.Equal(t, "not known", e.Flown.Short(), "%s: %s %s", edition, e.Ship, e.Flown.Text)
			}
		}
	}
}

// A base with any part over the edge has fled, in all editions, however far it is over it; at the
// edge it is too close to call.
func TestABaseThatIsPartlyOverTheEdgeHasFled(t *testing.T) {
	for _, edition := range []string{"1e", "2.0", "2.5"} {
		for over, want := range map[float64]string{20: "yes", 3: "yes", 0.2: "too_close", -4: ""} {
			s := simulate(t, edition, 3)
			s.ship("B2").Pose = geom.Pose{Point: geom.Point{X: 914.4 - 40 - 120 - 40 + over, Y: 500}, Heading: 90 * geom.Degree}
			s.watch = NewWatch(s.Game)
			s.look()
			s.run("to Activation")
			s.ship("B2").Pose.X = 914.4 - 40 + over
			s.look()
			assert.Equal(t, want, s.last().Flees, "%s %g mm", edition, over)
			assert.Equal(t, OnTable, s.Piece("B2").Status, "people say that it fled")
		}
	}
}

// A ship that is pushed against another in its turn may have bumped, and may have been nudged.
func TestAPushAgainstAnotherShipIsNoSureBump(t *testing.T) {
	for _, edition := range []string{"1e", "2.0", "2.5"} {
		s := simulate(t, edition, 3)
		s.ship("B1").Pose = geom.Pose{Point: geom.Point{X: 700, Y: 400}, Heading: 180 * geom.Degree}
		s.ship("B2").Pose = geom.Pose{Point: geom.Point{X: 700, Y: 400 + 20 + 40 + 3.4 + 6}, Heading: 180 * geom.Degree}
		s.watch = NewWatch(s.Game)
		s.look()
		s.run("to Activation")
		s.ship("B2").Pose.Y -= 6
		s.look()
		assert.NotEqual(t, "yes", s.last().Outcome, edition)
		assert.NotContains(t, s.last().Says, "it bumped, and backed up until it touches B1", edition)
		assert.Empty(t, s.Touch, edition)
	}
}

// G219: scenario features are not moved. A search that finds one a little elsewhere moved nothing.
func TestAScenarioFeatureThatIsMovedIsSaid(t *testing.T) {
	s := simulate(t, "2.5", 3)
	s.truth.Markers = []engine.Token{{ID: "sat1", Kind: "satellite", Sigma: 0.5, Pose: geom.Pose{Point: geom.Point{X: 457, Y: 457}}}}
	s.look()
	s.truth.Markers[0].Pose.X += 60 // it is still being placed
	s.look()
	s.run("first 1\nto Activation")
	events := len(s.events)
	s.truth.Markers[0].Pose.X += 4
	s.look()
	assert.Len(t, s.events, events)
	s.truth.Markers[0].Pose.X += 16
	s.look()
	assert.Equal(t, "sat1 lies 20.0 mm from where it lay: scenario features are not moved (2.5 G219)", s.events[len(s.events)-1].Text)
	assert.Len(t, s.events, events+1, "said once")
	s.look()
	assert.Len(t, s.events, events+1)
}

// A ship whose card may lie a quarter turn off in its base flew along its base: where its move fits only then, it is named with that doubt,
// and where it fits both ways, neither is sure. As soon as its guides were seen, nothing is doubted.
func TestAShipWhoseCardMayLieTurnedFliesAlongItsBase(t *testing.T) {
	flown := func(turned geom.Angle, doubt, seenThen bool, maneuver string) Flown {
		s := simulate(t, "2.0", 3)
		s.card = func(k *engine.Ship) {
			if k.ID == "A1" {
				k.Pose.Heading, k.TurnDoubt = (k.Pose.Heading + turned).Normalized(), doubt
			}
		}
		s.watch = NewWatch(s.Game)
		s.look()
		s.run("to Activation\nB2 straight 2\nA2 straight 4")
		doubt = doubt && !seenThen
		s.fly("A1", maneuver)
		s.look()
		return *s.last()
	}
	for _, side := range []geom.Angle{90 * geom.Degree, 270 * geom.Degree} {
		f := flown(side, true, false, "bank left 2")
		assert.Equal(t, "too_close", f.Outcome, f.Text)
		assert.Contains(t, f.Short(), "bank left 2", f.Text)
		assert.Contains(t, f.Text, "because its card may lie a quarter turn off in its base")
		assert.Empty(t, f.Says, "it is not told that a move is not on its dial")
	}
	f := flown(90*geom.Degree, false, false, "bank left 2")
	assert.NotContains(t, f.Short(), "bank left 2", "without a doubt its card's heading counts")
	f = flown(0, true, false, "bank left 2")
	assert.Equal(t, "bank left 2", f.Short(), "nothing fits if its card lies turned")
	assert.Equal(t, "yes", f.Outcome)
	f = flown(0, true, true, "straight 3")
	assert.Equal(t, "straight 3", f.Short(), "its guides were seen since")
}
