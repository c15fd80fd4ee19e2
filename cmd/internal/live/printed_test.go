package live

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/engine"
	"sightline/engine/geom"
)

// turretView is A1 in the middle, and B1 of player 2 behind it at range 2, measured.
func turretView(t *testing.T, r engine.Rules, base engine.Base, arcs ...string) *State {
	t.Helper()
	scene := engine.Scene{Rules: r, MatWidth: 914, MatHeight: 914, Ships: []engine.Ship{
		{ID: "A1", Player: 1, Base: base, Pose: geom.Pose{Point: geom.Point{X: 400, Y: 500}}},
		{ID: "B1", Player: 2, Base: engine.Small, Pose: geom.Pose{Point: geom.Point{X: 400, Y: 300}}},
	}}
	s := &State{Sigmas: 3, Health: Health{Code: OK}, ObstaclesWatched: true, Choice: Choice{From: "A1", To: "B1", Arc: engine.ArcFront}}
	s.Play = &Play{Ships: []PlayShip{{ID: "A1", Player: 1, Arcs: arcs, Status: "on the table"},
		{ID: "B1", Player: 2, Status: "on the table"}}}
	NewPrinted(s.Play.Ships).Apply(&scene)
	result, err := engine.Measure(&scene, engine.Options{Sigmas: 3})
	require.NoError(t, err)
	s.Located.Scene, s.Result = scene, result
	for i := range result.Pairs {
		if result.Pairs[i].From == "A1" {
			s.Pair = &result.Pairs[i]
		}
	}
	return s
}

// G47, G50: what a token prints in addition to the front arc comes from the ship data.
func TestTheShipDataSayWhatFirstEditionTokensPrint(t *testing.T) {
	s := turretView(t, engine.Rules1e, engine.Large, "rear_aux", "front")
	assert.Equal(t, "A1 can attack B1 at range 2.", s.MeaningOf(s.Pair, engine.ArcRearAux, Primary(engine.Rules1e)).Text)

	s = turretView(t, engine.Rules1e, engine.Large, "front", "primary_turret")
	assert.Equal(t, "A1 can attack B1 at range 2.", s.Meaning().Text, "a turret needs no arc (G7)")
	assert.Equal(t, "Outside the front arc; for the turret: in range 2", s.Headline().Text)
	assert.NotEqual(t, HeadlineNoShot, s.Headline().Kind)

	s = turretView(t, engine.Rules1e, engine.Small, "front", "mobile")
	m := s.MeaningOf(s.Pair, engine.ArcMobile, Primary(engine.Rules1e))
	assert.Equal(t, engine.NoView, m.Outcome, m.Text)

	scene := s.Located.Scene
	NewPrinted([]PlayShip{{ID: "A1", Arcs: []string{"front", "bullseye"}}}).Apply(&scene)
	assert.Empty(t, scene.Ships[0].Arcs, "a scene of the first edition has no bullseye")
}

// G7, G8: a turret's attack is measured to the closest point, which may lie out of the arc.
func TestATurretMeasuresToTheClosestPoint(t *testing.T) {
	s := turretView(t, engine.Rules1e, engine.Small, "front", "primary_turret")
	scene := s.Located.Scene
	scene.Ships[1].Base, scene.Ships[1].Pose = engine.Large, geom.Pose{Point: geom.Point{X: 530, Y: 575}}
	result, err := engine.Measure(&scene, engine.Options{Sigmas: 3})
	require.NoError(t, err)
	for i := range result.Pairs {
		if result.Pairs[i].From == "A1" {
			s.Pair = &result.Pairs[i]
		}
	}
	front := s.Pair.Arc(engine.ArcFront)
	require.NotNil(t, front.Attack)
	require.Greater(t, front.Attack.Distance, s.Pair.Range.Distance)
	require.Equal(t, 2, front.Attack.Band)
	assert.Equal(t, "A1 can attack B1 at range 1: one more attack die.", s.Meaning().Text)
}

// Where a turret of 2.0 and 2.5 points no table shows (G61): the arc is asked for.
func TestATurretMayPointIntoEachArc(t *testing.T) {
	for _, turret := range []string{"turret", "double_turret"} {
		s := turretView(t, engine.Rules25, engine.Large, turret)
		m := s.MeaningOf(s.Pair, engine.ArcRear, Primary(engine.Rules25))
		assert.Equal(t, Meaning{engine.Yes, "A1 can attack B1 at range 2, if its turret points to the rear arc."}, m)
		assert.Equal(t, engine.NoView, s.MeaningOf(s.Pair, engine.ArcTurret, Primary(engine.Rules25)).Outcome)
		assert.True(t, s.Play.HasArc("A1", "left"))
		assert.False(t, s.Play.HasArc("A1", "full_front"))
	}
	s := turretView(t, engine.Rules25, engine.Small, "front")
	assert.Equal(t, engine.No, s.MeaningOf(s.Pair, engine.ArcRear, Primary(engine.Rules25)).Outcome)
	special := Weapon{Special: true, From: 1, To: 2}
	assert.Equal(t, Meaning{engine.Yes, "A1 can attack B1 at range 2."}, s.MeaningOf(s.Pair, engine.ArcRear, special),
		"its card names the arc")
}

// G63: every token has a bullseye; which shot it is, the weapon's own arc says.
func TestTheBullseyeOfAShipThatAttacksInTheFrontArc(t *testing.T) {
	s := turretView(t, engine.Rules20, engine.Small, "front")
	assert.True(t, s.Play.HasArc("A1", "bullseye"))
	assert.Equal(t, Meaning{engine.No, "B1 is outside the bullseye arc. In the front arc: No shot: B1 is outside the front arc."},
		s.MeaningOf(s.Pair, engine.ArcBullseye, Primary(engine.Rules20)))
	s = turretView(t, engine.Rules20, engine.Small, "full_front")
	assert.Contains(t, s.MeaningOf(s.Pair, engine.ArcBullseye, Primary(engine.Rules20)).Text, "In the full front arc: No shot")
	s = turretView(t, engine.Rules20, engine.Small, "turret")
	assert.Equal(t, "No shot: by the ship data A1 has no primary weapon in the bullseye arc.",
		s.MeaningOf(s.Pair, engine.ArcBullseye, Primary(engine.Rules20)).Text)
}

// At which ranges a huge ship attacks, its card says.
func TestTheRangesOfAHugeShipAreOnItsCard(t *testing.T) {
	s := turretView(t, engine.Rules1e, engine.Huge225, "front")
	s.Pair.Arcs[0].InArc = engine.Yes
	s.Pair.Arcs[0].Attack = &engine.AttackVerdict{RangeVerdict: engine.RangeVerdict{Outcome: engine.Yes, Band: 4},
		Obstruction: engine.ObstructionVerdict{Verdict: "never"}}
	m := s.Meaning()
	assert.Equal(t, Meaning{engine.Indeterminate, "A1 can perhaps attack B1 at range 4; the card of a huge ship says at which ranges it " +
		"attacks, and which dice the range changes."}, m)
	s.Pair.Arcs[0].Attack.Band = 1
	assert.NotContains(t, s.Meaning().Text, "one more attack die")
	s.Pair.Arcs[0].Attack.Band = 6
	assert.Equal(t, "No shot: B1 is beyond range 5.", s.Meaning().Text)
}

// What is out of the game neither attacks nor is attacked, though its base may still stand there.
func TestWhatIsOutOfTheGameIsNoTarget(t *testing.T) {
	for status, want := range map[string]string{"destroyed": "B1 is destroyed", "fled": "B1 has fled", "reserve": "B1 is in reserve",
		"docked": "B1 is docked"} {
		s := turretView(t, engine.Rules25, engine.Small, "front", "rear")
		s.Play.Ships[1].Status = status
		assert.Equal(t, Meaning{engine.No, "No shot: " + want + "."}, s.MeaningOf(s.Pair, engine.ArcRear, Primary(engine.Rules25)))
		assert.Equal(t, Headline{Kind: HeadlineNoShot, Text: "No shot: " + want}, s.Headline())
		s.Play.Ships[1].Stays = true
		assert.Equal(t, engine.Yes, s.MeaningOf(s.Pair, engine.ArcRear, Primary(engine.Rules25)).Outcome,
			"until its initiative has passed (G236)")
	}
}

// G72 follows the range, which may be open where the attack range is not.
func TestTheDefenceDiceAtAnOpenRange0(t *testing.T) {
	s := attackView(engine.Rules25, "never", 1)
	s.Pair.Range = engine.RangeVerdict{Outcome: engine.Indeterminate, Possible: []int{0, 1}}
	assert.Contains(t, s.Meaning().Text, "one more attack die, defence dice are not reduced if it is at range 0")
}
