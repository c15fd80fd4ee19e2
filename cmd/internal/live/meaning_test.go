package live

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"sightline/engine"
	"sightline/engine/geom"
)

// attackView is A1 of player 1 and B1 of player 2, in the front arc at the given ranges.
func attackView(r engine.Rules, obstruction string, bands ...int) *State {
	attack := engine.AttackVerdict{Obstruction: engine.ObstructionVerdict{Verdict: obstruction, By: []string{"rock1"}}}
	attack.RangeVerdict = engine.RangeVerdict{Outcome: engine.Yes, Band: bands[0], Possible: bands}
	if len(bands) > 1 {
		attack.Outcome = engine.Indeterminate
	}
	s := pairView(attack.RangeVerdict, engine.ArcVerdict{Arc: engine.ArcFront, InArc: engine.Yes, Attack: &attack})
	s.ObstaclesWatched = true
	s.Located.Scene.Rules = r
	s.Located.Scene.Ships = []engine.Ship{{ID: "A1", Player: 1}, {ID: "B1", Player: 2}, {ID: "A2", Player: 1}}
	s.Play = &Play{Ships: []PlayShip{{ID: "A1", Pilot: "Wedge Antilles", Arcs: []string{"front"}}}}
	return s
}

// The dice that range and obstruction add: G67 (1e), G68, G71 and G72 (2.0, 2.5).
func TestWhatAnAnswerMeansForTheDice(t *testing.T) {
	const wedge = "A1 (Wedge Antilles) can attack B1 at range "
	for _, c := range []struct {
		rules       engine.Rules
		obstruction string
		bands       []int
		want        string
		outcome     engine.Outcome
	}{
		{engine.Rules25, "never", []int{1}, wedge + "1: one more attack die.", engine.Yes},
		{engine.Rules1e, "never", []int{1}, wedge + "1: one more attack die.", engine.Yes},
		{engine.Rules20, "never", []int{2}, wedge + "2.", engine.Yes},
		{engine.Rules20, "never", []int{3}, wedge + "3: one more defence die.", engine.Yes},
		{engine.Rules20, "must", []int{3}, wedge + "3: two more defence dice (obstructed by rock1).", engine.Yes},
		{engine.Rules1e, "must", []int{1}, wedge + "1: one more attack die, one more defence die (obstructed by rock1).", engine.Yes},
		{engine.Rules1e, "may", []int{2}, wedge + "2: the attacker may choose a clear line past rock1.", engine.Yes},
		{engine.Rules25, "too_close", []int{2}, wedge + "2: too close to call whether rock1 obstructs.", engine.Yes},
		{engine.Rules25, "never", []int{0}, wedge + "0: no attack dice can be added, defence dice are not reduced at range 0.", engine.Yes},
		{engine.Rules25, "never", []int{1, 2}, wedge + "1 or 2: one more attack die at range 1.", engine.Yes},
		{engine.Rules25, "must", []int{2, 3}, wedge + "2 or 3: one more defence die (obstructed by rock1), another at range 3.", engine.Yes},
		{engine.Rules25, "never", []int{3, 4}, "A1 (Wedge Antilles) can perhaps attack B1 at range 3: one more defence die; whether it is in " +
			"range is too close to call.", engine.Indeterminate},
		{engine.Rules25, "never", []int{4}, "No shot: B1 is beyond range 3.", engine.No},
		{engine.Rules20, "never", []int{0}, "No shot: B1 is at range 0.", engine.No},
	} {
		s := attackView(c.rules, c.obstruction, c.bands...)
		assert.Equal(t, Meaning{c.outcome, c.want}, s.Meaning(), "%v %s %v", c.rules, c.obstruction, c.bands)
	}
}

func TestWhatAnAnswerMeansWithoutAShot(t *testing.T) {
	s := attackView(engine.Rules25, "never", 1)
	s.Pair.Arcs[0].InArc, s.Pair.Arcs[0].Attack = engine.No, nil
	assert.Equal(t, "No shot: B1 is outside the front arc.", s.Meaning().Text)

	s = attackView(engine.Rules25, "never", 1)
	s.Pair.Arcs[0].InArc = engine.Indeterminate
	assert.Equal(t, Meaning{engine.Indeterminate, "A1 (Wedge Antilles) can perhaps attack B1 at range 1: one more attack die; whether B1 is " +
		"in the front arc is too close to call."}, s.Meaning())

	s.ObstaclesWatched = false
	assert.Contains(t, s.Meaning().Text, "obstacles are not watched", "a line that is not watched is not called clear")

	s.Choice.Arc = engine.ArcRear
	assert.Equal(t, "No shot: by the ship data A1 has no primary weapon in the rear arc.", s.Meaning().Text)

	s = attackView(engine.Rules25, "never", 1)
	s.Located.Scene.Ships[1].Player = 1
	assert.Equal(t, "No shot: B1 is a friendly ship.", s.Meaning().Text)

	s = attackView(engine.Rules25, "never", 1)
	s.Pair.Arcs[0].InArc = engine.NoView
	assert.Equal(t, engine.NoView, s.Meaning().Outcome)

	s.Pair.Arcs = nil
	assert.Empty(t, s.Meaning().Text, "the agreement tells no arcs")
	s.Pair = nil
	assert.Empty(t, s.Meaning().Text)
}

// G48, G49: secondary weapons of the first edition use the standard arc. G69, G70: the range
// must be one of the weapon's.
func TestWhatAnAnswerMeansForOtherWeapons(t *testing.T) {
	s := attackView(engine.Rules1e, "never", 1)
	torpedo := Weapon{Special: true, From: 2, To: 3}
	assert.Equal(t, "No shot: B1 is at range 1, and the weapon's ranges are 2–3.", s.MeaningOf(s.Pair, engine.ArcFront, torpedo).Text)
	s = attackView(engine.Rules1e, "never", 3)
	assert.Equal(t, "A1 (Wedge Antilles) can attack B1 at range 3.", s.MeaningOf(s.Pair, engine.ArcFront, torpedo).Text)
	s = attackView(engine.Rules20, "never", 3)
	assert.Contains(t, s.MeaningOf(s.Pair, engine.ArcFront, torpedo).Text, "one more defence die", "its card has the symbol of the bonus")
	torpedo.NoBonus = true
	assert.Equal(t, "A1 (Wedge Antilles) can attack B1 at range 3.", s.MeaningOf(s.Pair, engine.ArcFront, torpedo).Text)

	s = attackView(engine.Rules1e, "never", 2)
	s.Play, s.Pair.Arcs[0].Arc = nil, engine.ArcRearAux
	assert.Equal(t, "No shot: secondary weapons do not fire in the rear aux arc.", s.MeaningOf(s.Pair, engine.ArcRearAux, torpedo).Text)
	assert.Equal(t, "A1 can attack B1 at range 2.", s.MeaningOf(s.Pair, engine.ArcRearAux, Primary(engine.Rules1e)).Text)
}

// What an obstacle forbids is said in place of the dice (G178).
func TestWhatAnAnswerMeansWhereTheRulesForbidTheAttack(t *testing.T) {
	s := attackView(engine.Rules25, "never", 1)
	scene := engine.Scene{Rules: engine.Rules25, MatWidth: 914, MatHeight: 914, Ships: []engine.Ship{
		{ID: "A1", Player: 1, Base: engine.Small, Pose: geom.Pose{Point: geom.Point{X: 300, Y: 300}}},
		{ID: "B1", Player: 2, Base: engine.Small, Pose: geom.Pose{Point: geom.Point{X: 300, Y: 420}, Heading: 0}},
	}, Obstacles: []engine.Obstacle{{ID: "rock1", Kind: "asteroid", Pose: geom.Pose{Point: geom.Point{X: 300, Y: 300}},
		Outline: []geom.Point{{X: -20, Y: -20}, {X: 20, Y: -20}, {X: 20, Y: 20}, {X: -20, Y: 20}}}}}
	r, err := engine.Measure(&scene, engine.Options{Sigmas: 3})
	assert.NoError(t, err)
	s.Located.Scene, s.Result = scene, r
	for i := range r.Pairs {
		if r.Pairs[i].From == "A1" {
			s.Pair = &r.Pairs[i]
		}
	}
	assert.Contains(t, s.Meaning().Text, "rock1")
	assert.Equal(t, engine.No, s.Meaning().Outcome)
}

func TestAShipHasTheArcsOfItsData(t *testing.T) {
	p := &Play{Ships: []PlayShip{{ID: "A1", Arcs: []string{"front", "double_turret"}}, {ID: "A2"}}}
	assert.True(t, p.HasArc("A1", "turret"))
	assert.True(t, p.HasArc("A1", "double_turret"))
	assert.True(t, p.HasArc("A1", "rear"), "the turret may point there")
	assert.False(t, p.HasArc("A1", "full_rear"))
	assert.True(t, p.HasArc("A2", "rear"), "not known")
	assert.True(t, (*Play)(nil).HasArc("A1", "rear"), "no game")
	assert.Equal(t, "A1", p.Named("A1"))
}

// lockView is A1 that locks B1 at the given ranges, under the agreement that keeps the edition's
// windows.
func lockView(r engine.Rules, bands ...int) *State {
	s := attackView(r, "never", bands...)
	s.Pair.Range = s.Pair.Arcs[0].Attack.RangeVerdict
	s.Pair.Arcs = nil
	s.Policy = Policy{Measuring: MeasuringEdition, Window: &Window{Declaration: Declaration{Doing: DoLock, Ship: "A1", Target: "B1"}}}
	return s
}

// G84: a lock in range must be acquired; G77, G78: which range that is.
func TestWhatAnAnswerMeansForALock(t *testing.T) {
	const wedge = "A1 (Wedge Antilles) "
	for _, c := range []struct {
		rules   engine.Rules
		bands   []int
		want    string
		outcome engine.Outcome
	}{
		{engine.Rules1e, []int{3}, wedge + "must acquire the lock on B1, which is in range (1e G84).", engine.Yes},
		{engine.Rules1e, []int{4}, "No lock: B1 is beyond range 3. Another target or another action may be declared.", engine.No},
		{engine.Rules1e, []int{3, 4}, "Whether B1 is in range is too close to call: in range, " + wedge + "must acquire the lock (1e G84); " +
			"beyond it, another target or another action may be declared.", engine.Indeterminate},
		{engine.Rules20, []int{0}, wedge + "can lock B1.", engine.Yes},
		{engine.Rules25, []int{3, 4}, "Whether " + wedge + "can lock B1 is too close to call.", engine.Indeterminate},
		{engine.Rules25, []int{4}, "No lock: B1 is beyond range 3.", engine.No},
	} {
		s := lockView(c.rules, c.bands...)
		assert.Equal(t, Meaning{c.outcome, c.want}, s.Meaning(), "%v %v", c.rules, c.bands)
	}
	s := lockView(engine.Rules25, 2)
	s.Result.Standing = []engine.Standing{{ID: "B1", Restrictions: []engine.Restriction{{Act: "lock", Because: "gas1",
		Outcome: engine.Indeterminate, Why: "at range 0 of a gas cloud", Rule: "2.5 G179"}}}}
	assert.Equal(t, engine.Indeterminate, s.Meaning().Outcome)
	s.Result.Standing[0].Restrictions[0].Outcome = engine.Yes
	assert.Equal(t, engine.No, s.Meaning().Outcome)
	s.Policy.Window.Doing = DoAbility
	assert.Empty(t, s.Meaning().Text, "an ability is no lock")
}

// G94: Dash Rendar chooses whether he uses his ability before an overlap is measured.
func TestAnAbilityIsChosenBeforeTheOverlapIsMeasured(t *testing.T) {
	s := attackView(engine.Rules1e, "never", 2)
	s.Policy.Measuring = MeasuringEdition
	s.Play.Ships[0].Pilot = "Dash Rendar"
	d := Declaration{Doing: DoManeuver, Ship: "A1", Move: "bank left 1"}
	_, err := s.CheckDeclaration(d)
	assert.ErrorContains(t, err, "before an overlap is measured (1e G94)")
	d.Ability = "used"
	out, err := s.CheckDeclaration(d)
	assert.NoError(t, err)
	assert.Equal(t, "A1: bank left 1, using the ability", out.Text())
	d.Ability = "perhaps"
	_, err = s.CheckDeclaration(d)
	assert.ErrorIs(t, err, ErrInvalid)

	d.Ability = "not used"
	out, err = s.CheckDeclaration(d)
	assert.NoError(t, err)
	assert.Equal(t, "A1: bank left 1, without the ability", out.Text())
	out, err = s.CheckDeclaration(Declaration{Doing: DoAttack, Ship: "A1", Ability: "used"})
	assert.NoError(t, err)
	assert.Empty(t, out.Ability)
	s.Located.Scene.Rules = engine.Rules20
	_, err = s.CheckDeclaration(Declaration{Doing: DoManeuver, Ship: "A1", Move: "bank left 1"})
	assert.NoError(t, err, "only in the first edition")
}

// A ruling names the pilots of its game.
func TestARulingNamesThePilots(t *testing.T) {
	r := Ruling{From: "A1", To: "B1", Title: "Range 2", Pilots: [2]string{"Wedge Antilles", ""}}
	assert.Equal(t, "A1 (Wedge Antilles) to B1: range 2; ruled as measured.", RulingText(&r))
	s := attackView(engine.Rules25, "never", 2)
	assert.Contains(t, s.Text().Live, "A1 (Wedge Antilles) to B1: ")
}
