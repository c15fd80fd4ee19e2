package flown_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/engine"
	"sightline/engine/flown"
	"sightline/engine/geom"
	"sightline/engine/move"
)

var usual = flown.Slop{Place: 1.5, Turn: 1.5 * geom.Degree}

func at(x, y, degrees float64) geom.Pose {
	return geom.Pose{Point: geom.Point{X: x, Y: y}, Heading: geom.Angle(degrees) * geom.Degree}
}

// alone is a table with A1 in its middle.
func alone(rules engine.Rules, base engine.Base) engine.Scene {
	return engine.Scene{Rules: rules, MatWidth: 914.4, MatHeight: 914.4, Ships: []engine.Ship{{ID: "A1", Player: 1, Base: base,
		Pose: at(450, 450, 20)}}}
}

// with returns a table on which A1 stands at a pose.
func with(s engine.Scene, p geom.Pose) engine.Scene {
	s.Ships = append([]engine.Ship{}, s.Ships...)
	s.Ships[0].Pose = p
	return s
}

func asked(t *testing.T, before, after engine.Scene, c flown.Candidates) flown.Verdict {
	t.Helper()
	v, err := flown.Flown(&before, &after, "A1", c, usual)
	require.NoError(t, err)
	return v
}

// Every maneuver that is executed in full on an empty table is told from all others, in each
// edition and with each base, a millimetre and a degree off.
func TestEveryManeuverIsDistinguishedFromAllOthers(t *testing.T) {
	for _, rules := range []engine.Rules{engine.Rules1e, engine.Rules20, engine.Rules25} {
		for _, base := range []engine.Base{engine.Small, engine.Medium, engine.Large} {
			s := alone(rules, base)
			for _, m := range flown.Every().Maneuvers {
				r, err := move.Execute(&s, "A1", m, engine.Options{})
				require.NoError(t, err)
				end := r.Full
				end.X, end.Heading = end.X+1, (end.Heading + geom.Degree).Normalized()
				v := asked(t, s, with(s, end), flown.Every())
				assert.Equal(t, engine.Yes, v.Outcome, "%v %v %v: %v", rules, base, m, v.String())
				assert.Equal(t, m.String(), v.Best.Name, "%v %v", rules, base)
				assert.False(t, v.Best.Partial)
				assert.InDelta(t, 1, v.Best.Distance.Millimeters(), 0.05, "%v %v %v", rules, base, m)
				assert.InDelta(t, 1, v.Best.Turn.Degrees(), 1e-6)
				assert.Empty(t, v.Others)
			}
		}
	}
}

// Actions are found, and actions that end at the same place are named too.
func TestActionsAreFound(t *testing.T) {
	for _, c := range []struct {
		action, maneuver string // what is named first where maneuvers count too
		base             engine.Base
		also             []string
	}{
		{"boost left", "bank left 1", engine.Small, []string{"boost left"}},
		{"boost straight", "straight 1", engine.Large, []string{"boost straight", "decloak forward"}},
		{"barrel-roll left", "barrel-roll left", engine.Small, nil},
		{"decloak right", "decloak right", engine.Small, nil},
		{"barrel-roll right", "barrel-roll right", engine.Large, []string{"decloak right"}},
		{"decloak forward", "straight 2", engine.Small, []string{"decloak forward"}},
	} {
		s := alone(engine.Rules25, c.base)
		a, err := move.ParseAction(c.action)
		require.NoError(t, err)
		r, err := move.Reposition(&s, "A1", a, engine.Options{})
		require.NoError(t, err)
		v := asked(t, s, with(s, r.Full), flown.Every())
		assert.Equal(t, engine.Yes, v.Outcome, c.action)
		assert.Equal(t, c.maneuver, v.Best.Name)
		assert.Equal(t, c.also, v.Best.Also)

		v = asked(t, s, with(s, r.Full), flown.Candidates{Actions: flown.Every().Actions})
		assert.Equal(t, engine.Yes, v.Outcome, c.action)
		assert.True(t, v.Best.Action)
		assert.Contains(t, append(v.Best.Also, v.Best.Name), c.action)
	}
	s := alone(engine.Rules25, engine.Small)
	forward := with(s, geom.Pose{Point: s.Ships[0].Pose.Transform(geom.Point{X: -80, Y: 10}), Heading: s.Ships[0].Pose.Heading})
	v := asked(t, s, forward, flown.Every())
	assert.Equal(t, "barrel-roll left", v.Best.Name)
	assert.Equal(t, "forward", v.Best.Place)
	s.Rules, forward.Rules = engine.Rules1e, engine.Rules1e
	forward.Ships[0].Pose.Point = s.Ships[0].Pose.Transform(geom.Point{X: -80, Y: 17.3})
	v = asked(t, s, forward, flown.Every())
	assert.Equal(t, "barrel-roll left", v.Best.Name, "in the first edition anywhere along the slide")
	assert.InDelta(t, 0, v.Best.Distance.Millimeters(), 1e-9)
}

// A ship that another one stops is found backed up, touching it.
func TestABumpIsFound(t *testing.T) {
	s := alone(engine.Rules25, engine.Small)
	s.Ships[0].Pose = at(450, 300, 0)
	s.Ships = append(s.Ships, engine.Ship{ID: "B1", Player: 2, Base: engine.Small, Pose: at(385, 400, 150)})
	bank := move.Maneuver{Bearing: move.BankTurn, Speed: 2, Left: true}
	r, err := move.Execute(&s, "A1", bank, engine.Options{})
	require.NoError(t, err)
	require.False(t, r.FullyExecuted)
	dial, err := flown.ParseDial("2BW,2FW,2KR,3TW")
	require.NoError(t, err)
	v := asked(t, s, with(s, r.Final), flown.Candidates{Maneuvers: dial})
	assert.Equal(t, engine.Yes, v.Outcome, v.String())
	assert.Equal(t, "bank left 2", v.Best.Name)
	assert.True(t, v.Best.Partial)
	assert.Equal(t, []string{"B1"}, v.Best.Touching)
	assert.Equal(t, "bank left 2, backed up to touch B1, 0.0 mm and 0.0° off", v.String())

	// Two maneuvers along the same line are stopped at the same place and cannot be told apart.
	ahead := alone(engine.Rules25, engine.Small)
	ahead.Ships[0].Pose = at(450, 300, 0)
	ahead.Ships = append(ahead.Ships, engine.Ship{ID: "B1", Player: 2, Base: engine.Large, Pose: at(450, 430, 0)})
	dial, err = flown.ParseDial("2F 3F 1F 3B")
	require.NoError(t, err)
	r, err = move.Execute(&ahead, "A1", move.Maneuver{Bearing: move.Straight, Speed: 2}, engine.Options{})
	require.NoError(t, err)
	v = asked(t, ahead, with(ahead, r.Final), flown.Candidates{Maneuvers: dial})
	assert.Equal(t, engine.Indeterminate, v.Outcome, v.String())
	names := []string{v.Best.Name}
	for _, o := range v.Others {
		names = append(names, o.Name)
	}
	assert.ElementsMatch(t, []string{"straight 1", "straight 2", "straight 3"}, names)
}

// A Tallon roll that is stopped at the place which the player chose ends where the turn does,
// though another of its places is free.
func TestATallonRollMayBeStoppedAtOneOfItsPlaces(t *testing.T) {
	s := alone(engine.Rules25, engine.Small)
	s.Ships[0].Pose = at(450, 300, 0)
	s.Ships = append(s.Ships, engine.Ship{ID: "B1", Player: 2, Base: engine.Small, Pose: at(532.5, 430, 90)})
	any := move.Maneuver{Bearing: move.Tallon, Speed: 2}
	left := any
	left.Slide = move.SlideLeft
	stopped, err := move.Execute(&s, "A1", left, engine.Options{})
	require.NoError(t, err)
	require.False(t, stopped.FullyExecuted)
	free, err := move.Execute(&s, "A1", any, engine.Options{})
	require.NoError(t, err)
	require.True(t, free.FullyExecuted, "at one of the places")
	dial, err := flown.ParseDial("2YW 2RR")
	require.NoError(t, err)
	v := asked(t, s, with(s, stopped.Final), flown.Candidates{Maneuvers: dial})
	assert.Equal(t, engine.Indeterminate, v.Outcome, v.String())
	s.Rules = engine.Rules1e // there it avoids ships where it can
	v = asked(t, s, with(s, stopped.Final), flown.Candidates{Maneuvers: dial})
	assert.Equal(t, "turn right 2", v.Best.Name)
	assert.Equal(t, engine.Yes, v.Outcome, v.String())
}

// A bump that cannot be excluded counts: a ship that could have passed the corner of another,
// had the template been laid half a millimetre further, is found wherever it stopped.
func TestABorderlineBumpIsFoundEitherWay(t *testing.T) {
	s := alone(engine.Rules20, engine.Small)
	s.Ships[0].Pose = at(450, 300, 0)
	s.Ships = append(s.Ships, engine.Ship{ID: "B1", Player: 2, Base: engine.Small, Pose: at(490.2, 450, 0)}) // 0.2 mm to the right of the end
	passes := flown.Candidates{Maneuvers: []move.Maneuver{{Bearing: move.Straight, Speed: 3}, {Bearing: move.BankTurn, Speed: 3}}}
	v := asked(t, s, with(s, at(450, 460, 0)), passes)
	assert.Equal(t, "straight 3", v.Best.Name)
	assert.False(t, v.Best.Partial)
	v = asked(t, s, with(s, at(450.5, 410, 0)), passes) // its front against B1's rear
	assert.Equal(t, engine.Yes, v.Outcome, v.String())
	assert.Equal(t, "straight 3", v.Best.Name)
	assert.True(t, v.Best.Partial)
}

// Where a ship stops that bumped depends on how the template was laid, more finely than the places that are tried show:
// with hardly any slop in place the true maneuver must not be ruled out by another along nearly the same line.
func TestABumpIsNotRuledOutByATinySlop(t *testing.T) {
	s := engine.Scene{Rules: engine.Rules20, MatWidth: 914.4, MatHeight: 914.4, Ships: []engine.Ship{
		{ID: "A1", Player: 1, Base: engine.Medium, Pose: at(344.8848, 322.0852, 0)},
		{ID: "B0", Player: 2, Base: engine.Medium, Pose: at(439.2255, 461.9756, 0)},
	}}
	dial, err := flown.ParseDial("1P,3Y") // Segnor's loop, laid 0.4° askew, stopped by B0
	require.NoError(t, err)
	after := with(s, at(378.8487, 417.1035, 44.8775))
	v, err := flown.Flown(&s, &after, "A1", flown.Candidates{Maneuvers: dial}, flown.Slop{Place: 0.02, Turn: 1.5 * geom.Degree})
	require.NoError(t, err)
	assert.Equal(t, "segnor right 1", v.Best.Name, v.String())
	assert.True(t, v.Best.Partial)
}

// All places of a Tallon roll seem to be taken, one by a fifth of a millimetre: there the ship may stand.
func TestATallonRollMayHaveEndedAtAPlaceThatSeemsTaken(t *testing.T) {
	for _, rules := range []engine.Rules{engine.Rules1e, engine.Rules20, engine.Rules25} {
		s := alone(rules, engine.Small)
		s.Ships[0].Pose = at(450, 450, 0)
		s.Ships = append(s.Ships, engine.Ship{ID: "B1", Player: 2, Base: engine.Small, Pose: at(505, 473.6, 90)})
		dial, err := flown.ParseDial("1R,1F,2Y")
		require.NoError(t, err)
		v := asked(t, s, with(s, at(505, 515, 180)), flown.Candidates{Maneuvers: dial})
		assert.Equal(t, engine.Yes, v.Outcome, v.String())
		assert.Equal(t, "tallon right 1", v.Best.Name)
		assert.False(t, v.Best.Partial)
		assert.Less(t, v.Best.Distance.Millimeters(), 0.3)
	}
}

func TestWithoutAFitTheNearestIsReported(t *testing.T) {
	s := alone(engine.Rules25, engine.Small)
	r, err := move.Execute(&s, "A1", move.Maneuver{Bearing: move.BankTurn, Speed: 2, Left: true}, engine.Options{})
	require.NoError(t, err)
	short := r.Full
	short.Point = short.Transform(geom.Point{Y: -6})
	v := asked(t, s, with(s, short), flown.Every())
	assert.Equal(t, engine.No, v.Outcome)
	assert.Zero(t, v.Best)
	assert.Equal(t, "fits none; nearest bank left 2, ends 6.0 mm short", v.String())
	assert.Len(t, v.Others, 3)

	pushed := s.Ships[0].Pose
	pushed.Point = pushed.Transform(geom.Point{X: 3.1})
	pushed.Heading += 1.2 * geom.Degree
	dial, err := flown.ParseDial("2B,3F")
	require.NoError(t, err)
	v = asked(t, s, with(s, pushed), flown.Candidates{Maneuvers: dial})
	assert.Equal(t, engine.No, v.Outcome)
	assert.Contains(t, v.String(), "it stands 3.1 mm and 1.2° from where it stood")

	wild := asked(t, s, with(s, at(100, 800, 77)), flown.Candidates{})
	assert.Equal(t, "fits none", wild.String())

	flip := asked(t, s, with(s, at(450+157*math.Sin(20*math.Pi/180), 450+157*math.Cos(20*math.Pi/180), 200)), flown.Every())
	assert.Equal(t, engine.Yes, flip.Outcome)
	assert.Equal(t, "koiogran 3", flip.Best.Name)
	assert.InDelta(t, -3, flip.Best.Ahead.Millimeters(), 1e-6, "short, though its nose points back")
}

// The old pose's uncertainty is carried along: a heading that is 1.5° unsure makes the end of a
// straight 5 unsure by 6 mm to the sides, and by nothing along it.
func TestTheOldPosesUncertaintyIsPropagated(t *testing.T) {
	s := alone(engine.Rules25, engine.Small)
	s.Ships[0].Pose = at(450, 100, 0)
	straight, err := flown.ParseDial("5F")
	require.NoError(t, err)
	for _, c := range []struct {
		turn  float64 // degrees
		x, y  float64
		wants engine.Outcome
	}{{0, 12, 0, engine.No}, {1.5, 12, 0, engine.Yes}, {0, 0, 12, engine.No}, {1.5, 0, 12, engine.No}} {
		s.Ships[0].Covariance = geom.Cov3{8: math.Pow(c.turn*math.Pi/180, 2)}
		v := asked(t, s, with(s, at(450+c.x, 340+c.y, 0)), flown.Candidates{Maneuvers: straight})
		assert.Equal(t, c.wants, v.Outcome, "%+v", c)
	}
}

func TestScenesThatCannotBeCompared(t *testing.T) {
	s := alone(engine.Rules25, engine.Small)
	change := func(f func(*engine.Scene)) *engine.Scene {
		c := with(s, s.Ships[0].Pose)
		f(&c)
		return &c
	}
	for want, after := range map[string]*engine.Scene{
		`after: "A1": no such ship`:             change(func(c *engine.Scene) { c.Ships[0].ID = "A2" }),
		`after: rules: expected those of`:       change(func(c *engine.Scene) { c.Rules = engine.Rules1e }),
		`base: expected that of before, small`:  change(func(c *engine.Scene) { c.Ships[0].Base = engine.Large }),
		`after: "A1": which way its nose point`: change(func(c *engine.Scene) { c.Ships[0].Quarters = true }),
		`after: ships[0]`:                       change(func(c *engine.Scene) { c.Ships[0].Pose.X = math.NaN() }),
	} {
		_, err := flown.Flown(&s, after, "A1", flown.Every(), usual)
		assert.ErrorContains(t, err, want)
	}
	huge := alone(engine.Rules25, engine.Huge195)
	_, err := flown.Flown(&huge, &huge, "A1", flown.Every(), usual)
	assert.ErrorIs(t, err, move.ErrHuge)
	_, err = flown.Flown(&s, &s, "A1", flown.Every(), flown.Slop{Place: -1})
	assert.ErrorContains(t, err, "slop: expected 0 or more")
	_, err = flown.Flown(&s, &s, "A1", flown.Every(), flown.Slop{})
	assert.NoError(t, err)
}

func TestParseDial(t *testing.T) {
	dial, err := flown.ParseDial("0OR, 1BB 2F,3TW,3YW,4KR,2LR,2PR,3ER,3RR,1SW,1AR,1DR,2NG,2F")
	require.NoError(t, err)
	var names []string
	for _, m := range dial {
		names = append(names, m.String())
	}
	assert.Equal(t, strings.Split("stationary, bank left 1, straight 2, turn left 3, turn right 3, koiogran 4, segnor left 2, segnor "+
		"right 2, "+
		"tallon left 3, tallon right 3, reverse straight 1, reverse bank left 1, reverse bank right 1, bank right 2", ", "), names)
	for _, bad := range []string{"", " , ", "1", "B1", "1Q", "1BX", "9F", "4B", "1BBB", "0B", "2O"} {
		_, err := flown.ParseDial(bad)
		assert.Error(t, err, bad)
	}
}

func TestTheWireForm(t *testing.T) {
	s := alone(engine.Rules25, engine.Small)
	doc := func(after geom.Pose, c flown.Candidates) map[string]any {
		raw, err := flown.Marshal(asked(t, s, with(s, after), c))
		require.NoError(t, err)
		var m map[string]any
		require.NoError(t, json.Unmarshal(raw, &m))
		return m
	}
	still := doc(s.Ships[0].Pose, flown.Every())
	assert.Equal(t, map[string]any{"version": 1.0, "ship": "A1", "outcome": "yes", "maneuver": "stationary", "residual_mm": 0.0,
		"residual_deg": 0.0,
		"partial":      false, "touching": []any{}, "alternatives": []any{}, "moved_mm": 0.0, "turned_deg": 0.0,
		"text": "stationary, 0.0 mm and 0.0° off"}, still)
	boost := doc(s.Ships[0].Pose, flown.Candidates{Actions: flown.Every().Actions})
	assert.Equal(t, "no", boost["outcome"])
	assert.NotContains(t, boost, "maneuver")
	assert.NotContains(t, boost, "residual_mm")
	first := boost["alternatives"].([]any)[0].(map[string]any)
	assert.Contains(t, first, "action")
	assert.Contains(t, first, "residual_mm")
	assert.NotContains(t, first, "maneuver")
}
