package engine_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/engine"
	"sightline/engine/geom"
)

// The rule book, case by case: each case is a table of a few millimetres that anyone
// can lay out and measure, and names the rule that it is about. docs/rules.md lists
// them all.

// arcOf returns the verdict of one arc.
func arcOf(t *testing.T, p *engine.PairVerdict, a engine.Arc) engine.ArcVerdict {
	t.Helper()
	for _, v := range p.Arcs {
		if v.Arc == a {
			return v
		}
	}
	t.Fatalf("%s → %s: no %s arc", p.From, p.To, a)
	return engine.ArcVerdict{}
}

func TestTheRuleBookOnRange(t *testing.T) {
	for _, c := range []struct {
		rule, name, scene string
		distance          float64
		band              int
	}{
		{"G1", "between the closest points, wherever they are", "1e; A small 0 0 180; B small 70 80 0", 50, 1},
		{"G2", "a band is closed at its far edge", "1e; A small 0 0 0; B small 0 140 0", 100, 1},
		{"G2", "and the next one begins behind it", "1e; A small 0 0 0; B small 0 140.001 0", 100.001, 2},
		{"G10", "at the band of the closest point", "1e; A small 0 0 0; B large 0 250 0", 190, 2},
		{"G11", "a base over ranges 2 and 3 is at range 2", "1e; A small 0 0 0; B large 0 250 0", 190, 2},
		{"G16", "the same in 2.0", "2.0; A small 0 0 0; B large 0 250 0", 190, 2},
		{"G17", "contact is range 0", "2.5; A small 0 0 0; B small 40 10 0", 0, 0},
		{"G19", "in the first edition contact is range 1", "1e; A small 0 0 0; B small 40 10 0", 0, 1},
		{"G20", "from the plastic base: 40 mm wide, whatever stands on it", "2.5; A small 0 0 0; B small 0 139 0", 99, 1},
		{"G119", "no miniature takes part", "1e; A small 0 0 0; B small 0 139 0", 99, 1},
		{"G22", "a line has no width: one that passes a corner by a hair is as long as it is", "1e; A small 0 0 0; B small 140.001 0 0", 100.001, 2},
		{"G117", "guides do not count for range: they would make this contact", "1e; A small 0 0 0; B small 0 43 0", 3, 1},
		{"G210", "a large base is 80 mm long", "1e; A small 0 0 0; B large 0 160 0", 100, 1},
		{"G211", "a small base is 40 mm long", "1e; A small 0 0 0; B small 0 140 90", 100, 1},
		{"G212", "a huge base is longer than any single one", "1e; A small 0 0 0; B huge-225 0 232.4 0", 100, 1},
	} {
		t.Run(c.rule+" "+c.name, func(t *testing.T) {
			s := scene(t, c.scene)
			p := measurePair(t, &s, 3)
			assert.InDelta(t, c.distance, float64(p.Range.Distance), 1e-9)
			assert.Equal(t, c.band, p.Range.Band)
			assert.Equal(t, []int{c.band}, p.Range.Possible)
		})
	}
}

// G3, G4, G5, G28, G29 and G65: a large ship stands beside the arc with one corner in
// it. Its range is 1, its attack range is 2, and by the bullseye it is no target.
func TestTheRuleBookOnRangeAndAttackRange(t *testing.T) {
	for _, rules := range []string{"1e", "2.0", "2.5"} {
		s := scene(t, rules+"; A small 0 0 0; B large 150 100 0")
		p := measurePair(t, &s, 3)
		front := arcOf(t, &p, engine.ArcFront)
		require.Equal(t, engine.Yes, front.InArc)
		assert.Equal(t, 1, p.Range.Band, "%s: G5: everything but the attack", rules)
		assert.Equal(t, 2, front.Attack.Band, "%s: G3, G4: the closest point in the arc", rules)
		assert.Greater(t, float64(front.Attack.Distance), float64(p.Range.Distance), "%s: G28, G29: both at once", rules)
		for _, l := range front.Attack.Lines { // where the line ends is in the arc
			half := 40.62
			if rules == "1e" {
				half = 40.45
			}
			assert.LessOrEqual(t, math.Abs(math.Atan2(l[1].X, l[1].Y))*180/math.Pi, half+1e-9, rules)
		}
		if rules != "1e" {
			assert.Equal(t, engine.No, arcOf(t, &p, engine.ArcBullseye).InArc)
			right := arcOf(t, &p, engine.ArcRight)
			assert.Equal(t, 1, right.Attack.Band, "%s: G65: range 1 in one arc and 2 in another", rules)
		}
	}
}

// G24: a range is measured from the ship that has the ability; the distance is the
// same from the other. G26 and G27: nothing is remembered, so that a ship that was
// moved between two attacks is measured where it now is.
func TestTheRuleBookOnMeasuringAgain(t *testing.T) {
	s := scene(t, "1e; A small 0 0 0; B small 0 138 0")
	before := measurePair(t, &s, 3)
	back, err := engine.MeasurePair(&s, "B", "A", engine.Options{})
	require.NoError(t, err)
	assert.Equal(t, before.Range.Distance, back.Range.Distance)
	assert.Equal(t, engine.Yes, arcOf(t, &before, engine.ArcFront).InArc)
	assert.Equal(t, engine.No, arcOf(t, &back, engine.ArcFront).InArc, "G24: but the arcs are those of the ship measured from")

	s.Ships[1].Pose.Y += 4 // a tractor beam
	after := measurePair(t, &s, 3)
	assert.Equal(t, 1, before.Range.Band)
	assert.Equal(t, 2, after.Range.Band)
	s.Ships[1].Pose.Y -= 4
	assert.Equal(t, before, measurePair(t, &s, 3))
}

func TestTheRuleBookOnObstruction(t *testing.T) {
	for _, c := range []struct {
		rule, name, scene string
		verdict           string
		by                []string
	}{
		{"G32", "between parallel edges the attacker may choose a clear line", "2.5; A small 0 0 0; B small 0 200 0; rock square 20 100 0 20", "may", []string{"rock"}},
		{"G34", "and so in the first edition", "1e; A small 0 0 0; B small 0 200 0; rock square 20 100 0 20", "may", []string{"rock"}},
		{"G35", "but no longer line: a rock across all of the closest ones obstructs", "1e; A small 0 0 0; B small 0 200 0; rock square 0 100 0 50", "must", []string{"rock"}},
		{"G35", "also where a longer line would pass it", "1e; A small 0 0 0; B small 0 200 2; rock square 20 100 0 20", "must", []string{"rock"}},
		{"G36", "through an obstacle", "1e; A small 0 0 0; B small 60 200 0; rock square 30 100 0 30", "must", []string{"rock"}},
		{"G37", "through an obstacle, 2.0", "2.0; A small 0 0 0; B small 60 200 0; rock square 30 100 0 30", "must", []string{"rock"}},
		{"G38", "two obstruct as one does", "1e; A small 0 0 0; B small 0 250 0; rock square 0 80 0 50; stone square 0 160 0 50", "must", []string{"rock", "stone"}},
		{"G23", "a line that grazes is not through: it has no width", "1e; A small 0 0 0; B small 0 200 0; rock square 40 100 0 40", "never", nil},
		{"G39", "a ship between does not obstruct", "1e; A small 0 0 0; B small 0 200 0; C large 0 100 0", "never", nil},
		{"G40", "nor in 2.5, where it is named", "2.5; A small 0 0 0; B small 0 200 0; C small 0 100 0", "never", nil},
	} {
		t.Run(c.rule+" "+c.name, func(t *testing.T) {
			s := scene(t, c.scene)
			p := measurePair(t, &s, 3)
			attack := arcOf(t, &p, engine.ArcFront).Attack
			require.NotNil(t, attack)
			assert.Equal(t, c.verdict, attack.Obstruction.Verdict)
			assert.Equal(t, c.by, attack.Obstruction.By)
			if len(s.Ships) == 3 {
				assert.Equal(t, []string{"C"}, attack.Obstruction.Ships)
			}
		})
	}
}

// G33: where the measurement cannot tell which point is the closest, no one line is
// claimed: the verdict on a rock beside one of the two is too close to call.
func TestTheRuleBookOnLinesThatCannotBeTold(t *testing.T) {
	s := scene(t, "1e; A small 0 0 0; B small 0 200 0.05; rock square -20 100 0 20")
	exact := measurePair(t, &s, 3)
	assert.Len(t, exact.Range.Lines, 1)
	for i := range s.Ships {
		s.Ships[i].Covariance = geom.Cov3{0: 0.04, 4: 0.04, 8: 1e-5}
	}
	measured := measurePair(t, &s, 3)
	assert.Equal(t, "too_close", arcOf(t, &measured, engine.ArcFront).Attack.Obstruction.Verdict)
}

func TestTheRuleBookOnArcs(t *testing.T) {
	s2 := math.Sqrt2
	for _, c := range []struct {
		rule, name, scene string
		arc               engine.Arc
		in                engine.Outcome
	}{
		{"G45", "any part of the base: no corner is inside, a side crosses the arc", "2.5; A small 0 0 0; B huge-195 0 150 90", engine.ArcBullseye, engine.Yes},
		{"G45", "and no part of it", "1e; A small 0 0 0; B small 150 100 0", engine.ArcFront, engine.No},
		{"G46", "an arc crosses the whole play area", "1e; A small 0 0 0; B small 0 800 0", engine.ArcFront, engine.Yes},
		{"G56", "a target must be in the arc: beside it is not", "2.5; A small 0 0 0; B small 150 100 0", engine.ArcFront, engine.No},
		{"G59", "the diagonals cross in the base's centre: the left arc begins there", "2.5; A small 0 0 0; B small -40 0 0", engine.ArcLeft, engine.Yes},
		{"G59", "and a base on the corner is in both", "2.5; A small 0 0 0; B small 40 40 0", engine.ArcFront, engine.Yes},
		{"G59", "in both", "2.5; A small 0 0 0; B small 40 40 0", engine.ArcRight, engine.Yes},
		{"G60", "the full arcs divide at the middle of the sides", "2.5; A small 0 0 0; B small 100 19 0", engine.ArcFullRear, engine.Yes},
		{"G60", "a base in front of that line is in the full front arc only", "2.5; A small 0 0 0; B small 100 20.001 0", engine.ArcFullRear, engine.No},
		{"G61", "a turret fires where it points", "2.5; A small 0 0 0 left; B small -100 0 0", engine.ArcTurret, engine.Yes},
		{"G61", "and nowhere else", "2.5; A small 0 0 0 left; B small 100 0 0", engine.ArcTurret, engine.No},
		{"G63", "the bullseye lies inside the front arc", "2.5; A small 0 0 0; B small 0 150 0", engine.ArcBullseye, engine.Yes},
		{"G64", "it is a strip: 7.5 mm to each side, near", "2.5; A small 0 0 0; B small 27.499 60 0", engine.ArcBullseye, engine.Yes},
		{"G64", "and far", "2.5; A small 0 0 0; B small 27.501 300 0", engine.ArcBullseye, engine.No},
		{"G118", "guides do not count for arcs: a base turned with them towards the strip", "2.5; A small 0 0 0; B small " + num(7.5+20*s2+0.1) + " 150 45", engine.ArcBullseye, engine.No},
		{"G120", "nor does a miniature that hangs over", "1e; A small 0 0 0; B small 150 100 0", engine.ArcFront, engine.No},
	} {
		t.Run(c.rule+" "+c.name, func(t *testing.T) {
			s := scene(t, c.scene)
			p := measurePair(t, &s, 3)
			assert.Equal(t, c.in, arcOf(t, &p, c.arc).InArc)
		})
	}
}

func num(v float64) string { return geom.Length(v).String()[:len(geom.Length(v).String())-3] }

// G47, G50, G51 and G55: a ship has the arcs that its token prints.
func TestTheRuleBookOnPrintedArcs(t *testing.T) {
	names := func(s engine.Scene) (arcs []string) {
		p := measurePair(t, &s, 3)
		for _, a := range p.Arcs {
			arcs = append(arcs, a.Arc.String())
		}
		return arcs
	}
	assert.Equal(t, []string{"front"}, names(scene(t, "1e; A small 0 0 0; B small 0 100 0")), "G50, G51: a turret's ship too has its front arc")
	aux := scene(t, "1e; A small 0 0 0; B small 0 -100 0")
	aux.Ships[0].Arcs = []string{"rear_aux"}
	assert.Equal(t, []string{"front", "rear_aux"}, names(aux), "G47")
	p := measurePair(t, &aux, 3)
	assert.Equal(t, engine.Yes, arcOf(t, &p, engine.ArcRearAux).InArc)
	assert.Subset(t, names(scene(t, "2.0; A small 0 0 0; B small 0 100 0")), []string{"front", "rear", "left", "right"}, "G55")
}

// G15, G21, G79 and G218: obstacles are objects, to which range is measured as to
// ships. G174: a ship may stand on one. G202, G203: the mat is 914.4 mm square.
func TestTheRuleBookOnObjects(t *testing.T) {
	s := scene(t, "2.5; A small 100 100 0; rock square 100 270 0 100; stone square 100 105 0 20")
	s.MatWidth, s.MatHeight = 914.4*geom.Millimeter, 914.4*geom.Millimeter
	r, err := engine.Measure(&s, engine.Options{})
	require.NoError(t, err)
	require.Len(t, r.Objects, 2)
	assert.InDelta(t, 100, float64(r.Objects[0].Range.Distance), 1e-9, "to the closest point of the outline")
	assert.Equal(t, 1, r.Objects[0].Range.Band)
	assert.Equal(t, engine.No, r.Objects[0].Contact)
	assert.Equal(t, engine.Yes, r.Objects[1].Overlap)
	assert.Equal(t, 0, r.Objects[1].Range.Band)
	assert.Empty(t, r.Problems, "a ship on an obstacle is no mistake")

	s.Ships[0].Pose.X = 914.4 - 20
	r, err = engine.Measure(&s, engine.Options{})
	require.NoError(t, err)
	assert.Empty(t, r.Problems, "G202, G203: up to the edge of the mat")
	s.Ships[0].Pose.X += 0.001
	r, err = engine.Measure(&s, engine.Options{})
	require.NoError(t, err)
	assert.Len(t, r.Problems, 1)
}
