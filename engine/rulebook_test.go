package engine_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/engine/internal/enginetest"
	"sightline/engine/move"
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
		{"G22", "a line has no width: one that passes a corner by a hair is as long as it is", "1e; A small 0 0 0; B small 140.001 0 0",
			100.001, 2},
		{"G117", "guides do not count for range: they would make this contact", "1e; A small 0 0 0; B small 0 43 0", 3, 1},
		{"G210", "a large base is 80 mm long", "1e; A small 0 0 0; B large 0 160 0", 100, 1},
		{"G211", "a small base is 40 mm long", "1e; A small 0 0 0; B small 0 140 90", 100, 1},
		{"G212", "a huge base is longer than any single one", "1e; A small 0 0 0; B huge-225 0 232.4 0", 100, 1},
	} {
		t.Run(c.rule+" "+c.name, func(t *testing.T) {
			s := enginetest.Scene(t, c.scene)
			p := enginetest.MeasurePair(t, &s, 3)
			assert.InDelta(t, c.distance, float64(p.Range.Distance), 1e-9)
			assert.Equal(t, c.band, p.Range.Band)
			assert.Equal(t, []int{c.band}, p.Range.Possible)
		})
	}
}

// G3, G4, G5, G28, G29 and G65: a large ship stands next to the arc with one corner in
// it. Its range is 1, its attack range is 2, and by the bullseye it is no target.
func TestTheRuleBookOnRangeAndAttackRange(t *testing.T) {
	for _, rules := range []string{"1e", "2.0", "2.5"} {
		s := enginetest.Scene(t, rules+"; A small 0 0 0; B large 150 100 0")
		p := enginetest.MeasurePair(t, &s, 3)
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
	s := enginetest.Scene(t, "1e; A small 0 0 0; B small 0 138 0")
	before := enginetest.MeasurePair(t, &s, 3)
	back, err := engine.MeasurePair(&s, "B", "A", engine.Options{})
	require.NoError(t, err)
	assert.Equal(t, before.Range.Distance, back.Range.Distance)
	assert.Equal(t, engine.Yes, arcOf(t, &before, engine.ArcFront).InArc)
	assert.Equal(t, engine.No, arcOf(t, &back, engine.ArcFront).InArc, "G24: but the arcs are those of the ship measured from")

	// G24: an aura is within its range of the ship that has it, and of no other: with a
	// third ship between, each has its own neighbours at range 1.
	aura := enginetest.Scene(t, "1e; A small 0 0 0; B small 0 138 0; C small 0 270 0")
	for _, c := range []struct {
		of, to string
		want   engine.Outcome
	}{{"A", "B", engine.Yes}, {"A", "C", engine.No}, {"B", "A", engine.Yes}, {"B", "C", engine.Yes}, {"C", "A", engine.No},
		{"C", "B", engine.Yes}} {
		v, err := engine.MeasurePair(&aura, c.of, c.to, engine.Options{})
		require.NoError(t, err)
		assert.Equal(t, c.want, v.At(1, 1), "G24 from %s to %s", c.of, c.to)
	}

	s.Ships[1].Pose.Y += 4 // a tractor beam
	after := enginetest.MeasurePair(t, &s, 3)
	assert.Equal(t, 1, before.Range.Band)
	assert.Equal(t, 2, after.Range.Band)
	s.Ships[1].Pose.Y -= 4
	assert.Equal(t, before, enginetest.MeasurePair(t, &s, 3))
}

func TestTheRuleBookOnObstruction(t *testing.T) {
	for _, c := range []struct {
		rule, name, scene string
		verdict           string
		by                []string
	}{
		{"G32", "between parallel edges the attacker may choose a clear line",
			"2.5; A small 0 0 0; B small 0 200 0; rock square 20 100 0 20", "may", []string{"rock"}},
		{"G34", "and so in the first edition", "1e; A small 0 0 0; B small 0 200 0; rock square 20 100 0 20", "may", []string{"rock"}},
		{"G35", "but no longer line: a rock across all of the closest ones obstructs",
			"1e; A small 0 0 0; B small 0 200 0; rock square 0 100 0 50", "must", []string{"rock"}},
		{"G35", "also where a longer line would pass it", "1e; A small 0 0 0; B small 0 200 2; rock square 20 100 0 20", "must",
			[]string{"rock"}},
		{"G36", "through an obstacle", "1e; A small 0 0 0; B small 60 200 0; rock square 30 100 0 30", "must", []string{"rock"}},
		{"G37", "through an obstacle, 2.0", "2.0; A small 0 0 0; B small 60 200 0; rock square 30 100 0 30", "must", []string{"rock"}},
		{"G38", "two obstruct as one does", "1e; A small 0 0 0; B small 0 250 0; rock square 0 80 0 50; stone square 0 160 0 50",
			"must", []string{"rock", "stone"}},
		{"G23", "a line that grazes is not through: it has no width", "1e; A small 0 0 0; B small 0 200 0; rock square 40 100 0 40",
			"never", nil},
		{"G39", "a ship between does not obstruct", "1e; A small 0 0 0; B small 0 200 0; C large 0 100 0", "never", nil},
		{"G40", "nor in 2.5, where it is named", "2.5; A small 0 0 0; B small 0 200 0; C small 0 100 0", "never", nil},
	} {
		t.Run(c.rule+" "+c.name, func(t *testing.T) {
			s := enginetest.Scene(t, c.scene)
			p := enginetest.MeasurePair(t, &s, 3)
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

// G33: where the closest point cannot be told, the attacker chooses: of two sides that
// no one could tell from parallel ones, one end is surely clear of the rock and one surely
// behind it. Where only the measurement cannot tell which end is the nearer, and a
// player could, it is too close to call.
func TestTheRuleBookOnIndistinguishableLines(t *testing.T) {
	for _, c := range []struct {
		name     string
		rock     int
		variance float64 // of the headings
		want     string
	}{
		{"the rock is beside one end", -20, 1e-5, "may"},
		{"beside the other", 20, 1e-5, "may"},
		{"in the middle", 0, 1e-5, "may"},
		{"its edge is where the end is, within the doubt", -29, 1e-5, "too_close"},
		{"it is far off", -45, 1e-5, "never"},
		{"the heading is known to a degree and a half only", -20, 7e-4, "too_close"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := enginetest.Scene(t, fmt.Sprintf("1e; A small 0 0 0; B small 0 200 0.05; rock square %d 100 0 20", c.rock))
			exact := enginetest.MeasurePair(t, &s, 3)
			assert.Len(t, exact.Range.Lines, 1)
			for i := range s.Ships {
				s.Ships[i].Covariance = geom.Cov3{0: 0.04, 4: 0.04, 8: c.variance}
			}
			measured := enginetest.MeasurePair(t, &s, 3)
			o := arcOf(t, &measured, engine.ArcFront).Attack.Obstruction
			assert.Equal(t, c.want, o.Verdict)
			if c.want == "may" {
				assert.Greater(t, float64(o.Margin), 1.0)
				assert.Equal(t, []string{"rock"}, o.By)
			}
		})
	}
	t.Run("a rock across all of the lines", func(t *testing.T) {
		s := enginetest.Scene(t, "1e; A small 0 0 0; B small 0 200 0.05; rock square 0 100 0 60")
		for i := range s.Ships {
			s.Ships[i].Covariance = geom.Cov3{0: 0.04, 4: 0.04, 8: 1e-5}
		}
		measured := enginetest.MeasurePair(t, &s, 3)
		assert.Equal(t, "must", arcOf(t, &measured, engine.ArcFront).Attack.Obstruction.Verdict)
	})
}

func TestTheRuleBookOnArcs(t *testing.T) {
	s2 := math.Sqrt2
	for _, c := range []struct {
		rule, name, scene string
		arc               engine.Arc
		in                engine.Outcome
	}{
		{"G45", "any part of the base: no corner is inside, a side crosses the arc", "2.5; A small 0 0 0; B huge-195 0 150 90",
			engine.ArcBullseye, engine.Yes},
		{"G45", "and no part of it", "1e; A small 0 0 0; B small 150 100 0", engine.ArcFront, engine.No},
		{"G46", "an arc crosses the whole play area", "1e; A small 0 0 0; B small 0 800 0", engine.ArcFront, engine.Yes},
		{"G56", "a target must be in the arc: beside it is not", "2.5; A small 0 0 0; B small 150 100 0", engine.ArcFront, engine.No},
		{"G59", "the diagonals cross in the base's centre: the left arc begins there", "2.5; A small 0 0 0; B small -40 0 0",
			engine.ArcLeft, engine.Yes},
		{"G59", "and a base on the corner is in both", "2.5; A small 0 0 0; B small 40 40 0", engine.ArcFront, engine.Yes},
		{"G59", "in both", "2.5; A small 0 0 0; B small 40 40 0", engine.ArcRight, engine.Yes},
		{"G60", "the full arcs divide at the middle of the sides", "2.5; A small 0 0 0; B small 100 19 0", engine.ArcFullRear, engine.Yes},
		{"G60", "a base in front of that line is in the full front arc only", "2.5; A small 0 0 0; B small 100 20.001 0",
			engine.ArcFullRear, engine.No},
		{"G61", "a turret fires where it points", "2.5; A small 0 0 0 left; B small -100 0 0", engine.ArcTurret, engine.Yes},
		{"G61", "and nowhere else", "2.5; A small 0 0 0 left; B small 100 0 0", engine.ArcTurret, engine.No},
		{"G63", "the bullseye lies inside the front arc", "2.5; A small 0 0 0; B small 0 150 0", engine.ArcBullseye, engine.Yes},
		{"G64", "it is a strip: 7.5 mm to each side, near", "2.5; A small 0 0 0; B small 27.499 60 0", engine.ArcBullseye, engine.Yes},
		{"G64", "and far", "2.5; A small 0 0 0; B small 27.501 300 0", engine.ArcBullseye, engine.No},
		{"G118", "guides do not count for arcs: a base turned with them towards the strip", "2.5; A small 0 0 0; B small " +
			num(7.5+20*s2+0.1) + " 150 45", engine.ArcBullseye, engine.No},
		{"G120", "nor does a miniature that hangs over", "1e; A small 0 0 0; B small 150 100 0", engine.ArcFront, engine.No},
	} {
		t.Run(c.rule+" "+c.name, func(t *testing.T) {
			s := enginetest.Scene(t, c.scene)
			p := enginetest.MeasurePair(t, &s, 3)
			assert.Equal(t, c.in, arcOf(t, &p, c.arc).InArc)
		})
	}
}

func num(v float64) string { return geom.Length(v).String()[:len(geom.Length(v).String())-3] }

// G47, G50, G51 and G55: a ship has the arcs that its token prints.
func TestTheRuleBookOnPrintedArcs(t *testing.T) {
	names := func(s engine.Scene) (arcs []string) {
		p := enginetest.MeasurePair(t, &s, 3)
		for _, a := range p.Arcs {
			arcs = append(arcs, a.Arc.String())
		}
		return arcs
	}
	assert.Equal(t, []string{"front"}, names(enginetest.Scene(t, "1e; A small 0 0 0; B small 0 100 0")),
		"G50, G51: a turret's ship too has its front arc")
	aux := enginetest.Scene(t, "1e; A small 0 0 0; B small 0 -100 0")
	aux.Ships[0].Arcs = []string{"rear_aux"}
	assert.Equal(t, []string{"front", "rear_aux"}, names(aux), "G47")
	p := enginetest.MeasurePair(t, &aux, 3)
	assert.Equal(t, engine.Yes, arcOf(t, &p, engine.ArcRearAux).InArc)
	assert.Subset(t, names(enginetest.Scene(t, "2.0; A small 0 0 0; B small 0 100 0")), []string{"front", "rear", "left", "right"}, "G55")
}

// G15, G21, G79 and G218: obstacles are objects, to which range is measured as to
// ships. G174: a ship may stand on one. G202, G203: the mat is 914.4 mm square.
func TestTheRuleBookOnObjects(t *testing.T) {
	s := enginetest.Scene(t, "2.5; A small 100 100 0; rock square 100 270 0 100; stone square 100 105 0 20")
	s.MatWidth, s.MatHeight = 914.4*geom.Millimeter, 914.4*geom.Millimeter
	r, err := engine.Measure(&s, engine.Options{})
	require.NoError(t, err)
	require.Len(t, r.Objects, 2)
	assert.InDelta(t, 100, float64(r.Objects[0].Range.Distance), 1e-9, "to the closest point of the outline")
	assert.Equal(t, 1, r.Objects[0].Range.Band)
	assert.Equal(t, engine.No, r.Objects[0].Range.Beyond(1), "G15: no part of the rock is nearer than its closest point")
	assert.Equal(t, engine.Yes, r.Objects[0].Range.Beyond(0))
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

// The rules that ask for a band, with the band that they ask for: G31 and G57 attack
// at 1–3, G74 jams at 1, G75 coordinates at 1–2, G78 locks at 1–3 in the first edition
// and G77 at 0–3 later, G58 attacks at 0–3.
func TestTheRuleBookOnBandsThatAreAskedFor(t *testing.T) {
	touching, near, far, beyond := "A small 0 0 0; B small 0 40 0", "A small 0 0 0; B small 0 90 0",
		"A small 0 0 0; B small 0 290 0", "A small 0 0 0; B small 0 341 0"
	byGuides := "A small 0 0 0; B small 0 43.2 0"
	for _, c := range []struct {
		rule, rules, ships string
		lo, hi             int
		want               engine.Outcome
	}{
		{"G31", "1e", near, 1, 2, engine.Yes},
		{"G31", "1e", far, 1, 2, engine.No},
		{"G57", "2.0", touching, 1, 3, engine.No},
		{"G57", "2.0", far, 1, 3, engine.Yes},
		{"G57", "2.0", beyond, 1, 3, engine.No},
		{"G57", "2.0", byGuides, 1, 3, engine.No},
		{"G58", "2.5", byGuides, 0, 0, engine.Yes},
		{"G78", "1e", byGuides, 1, 3, engine.Yes},
		{"G58", "2.5", touching, 0, 3, engine.Yes},
		{"G58", "2.5", beyond, 0, 3, engine.No},
		{"G74", "2.0", touching, 1, 1, engine.No},
		{"G74", "2.0", near, 1, 1, engine.Yes},
		{"G75", "2.5", touching, 1, 2, engine.No},
		{"G75", "2.5", near, 1, 2, engine.Yes},
		{"G77", "2.5", touching, 0, 3, engine.Yes},
		{"G78", "1e", touching, 1, 3, engine.Yes},
		{"G78", "1e", beyond, 1, 3, engine.No},
	} {
		s := enginetest.Scene(t, c.rules+"; "+c.ships)
		p := enginetest.MeasurePair(t, &s, 3)
		assert.Equal(t, c.want, p.At(c.lo, c.hi), "%s: %s, range %d–%d", c.rule, c.ships, c.lo, c.hi)
	}
	// G57 is a bar on attacks as well: at range 0 the standing forbids in 2.0 what in 2.5
	// (G58) it allows.
	for _, ships := range []string{touching, byGuides, near} {
		for rules, want := range map[string]engine.Outcome{"2.0": engine.No, "2.5": engine.Yes} {
			s := enginetest.Scene(t, rules+"; "+ships)
			all, err := enginetest.StandingState(&s, nil, engine.Options{})
			require.NoError(t, err)
			if ships == near {
				want = engine.Yes
			}
			for _, st := range all {
				assert.Equal(t, want, st.MayAttack(map[string]string{"A": "B", "B": "A"}[st.ID]), "G57 G58 %s; %s", rules, ships)
			}
			if ships != near {
				assert.Len(t, all, 2)
			}
		}
	}
}

// G52: one question may be about all of a ship's arcs at once: the auxiliary arc of a
// token counts where the front arc misses.
func TestTheRuleBookOnAllArcsTogether(t *testing.T) {
	s := enginetest.Scene(t, "1e; A small 0 0 0; B small 0 -100 0")
	p := enginetest.MeasurePair(t, &s, 3)
	assert.Equal(t, engine.No, p.InAnyArc())
	s.Ships[0].Arcs = []string{"rear_aux"}
	p = enginetest.MeasurePair(t, &s, 3)
	assert.Equal(t, engine.Yes, p.InAnyArc())
}

// G105, G106, G107 and G108: a ship that backs up keeps the middles of both pairs of
// guides on the template's line, which continues straight past both ends. Here turn 1
// to the right, centre line of 35 mm, laid from the front edge at (0, 20).
func TestTheRuleBookOnTheLineBackedUpAlong(t *testing.T) {
	offLine := func(p geom.Point) float64 {
		centre := geom.Point{X: 35, Y: 20}
		switch v := p.Sub(centre); {
		case p.Y <= 20: // before the template
			return math.Abs(p.X)
		case p.X >= 35: // past its end
			return math.Abs(p.Y - 55)
		default:
			return math.Abs(v.Norm() - 35)
		}
	}
	moved := 0
	for x := 60.0; x < 130; x += 3.5 {
		for _, rules := range []string{"1e", "2.5"} {
			s := enginetest.Scene(t, rules+"; A small 0 0 0; B small "+num(x)+" 70 20")
			r, err := move.Execute(&s, "A", move.Maneuver{Bearing: move.TightTurn, Speed: 1}, engine.Options{})
			require.NoError(t, err)
			if r.FullyExecuted || r.Final == r.Full {
				continue
			}
			moved++
			for _, end := range []float64{20, -20} {
				assert.InDelta(t, 0, offLine(r.Final.Transform(geom.Point{Y: end})), 1e-9, "%s, blocker at %v", rules, x)
			}
		}
	}
	assert.Greater(t, moved, 20)
}

// G141 and G142: the ion maneuvers are maneuvers like others: straight 1, or in 2.5 a
// bank of speed 1. G88 and G91: an action without its side or direction is none.
func TestTheRuleBookOnWhatIsDeclared(t *testing.T) {
	s := enginetest.Scene(t, "2.5; A small 0 0 0")
	c := math.Sqrt2 / 2
	for _, m := range []struct {
		rule, text string
		end        geom.Point
	}{
		{"G141", "straight 1", geom.Point{Y: 80}},
		// An eighth of a circle of 80 mm, then half a base along the new heading.
		{"G142", "bank right 1", geom.Point{X: 80*(1-c) + 20*c, Y: 20 + 80*c + 20*c}},
		{"G142", "bank left 1", geom.Point{X: -80*(1-c) - 20*c, Y: 20 + 80*c + 20*c}},
		{"G142", "straight 1", geom.Point{Y: 80}},
	} {
		maneuver, err := move.ParseManeuver(m.text)
		require.NoError(t, err)
		r, err := move.Execute(&s, "A", maneuver, engine.Options{})
		require.NoError(t, err)
		assert.InDelta(t, 0, float64(r.Final.Point.Distance(m.end)), 1e-9, "%s: %s", m.rule, m.text)
	}
	for _, text := range []string{"barrel-roll", "boost", "decloak", "barrel-roll straight", "boost back"} {
		_, err := move.ParseAction(text)
		assert.Error(t, err, "G88, G91: %s", text)
	}
}

// G169, G170, G171, G180, G187 and G189: what a move meets is told apart: with the
// template, with the base at its end, and which ships it would have ended on. Nothing
// but ships stops it, and a mine is met by where the ship truly ends.
func TestTheRuleBookOnWhatAMoveMeets(t *testing.T) {
	straight := move.Maneuver{Bearing: move.Straight, Speed: 3}
	s := enginetest.Scene(t, "1e; A small 0 0 0; under square 0 60 0 10; end square 10 165 0 20; side square 60 60 0 20")
	s.Devices = []engine.Token{{ID: "mine", Kind: "proximity_mine", Pose: geom.Pose{Point: geom.Point{Y: 200}}}}
	r, err := move.Execute(&s, "A", straight, engine.Options{})
	require.NoError(t, err)
	assert.True(t, r.FullyExecuted, "G180: obstacles do not stop it")
	assert.InDelta(t, 160, r.Final.Y, 1e-9)
	assert.Equal(t, []move.Hit{
		{ID: "under", Template: engine.Yes, Base: engine.No},
		{ID: "end", Template: engine.No, Base: engine.Yes},
	}, r.Obstacles, "G169, G171: by the template, by the base, and not at all")
	require.Len(t, r.Devices, 1, "G187, G189: the base ends on the mine")
	assert.Equal(t, engine.Yes, r.Devices[0].Base)

	s.Ships = append(s.Ships, engine.Ship{ID: "B", Base: engine.Small, Pose: geom.Pose{Point: geom.Point{Y: 180}}})
	r, err = move.Execute(&s, "A", straight, engine.Options{})
	require.NoError(t, err)
	assert.Equal(t, []string{"B"}, r.FirstOverlapped, "G170: it would have ended on B")
	assert.False(t, r.FullyExecuted)
	assert.Empty(t, r.Devices, "G189: it stops short of the mine")
}

// G231: a ship that fled lets its supply cache go at range 1 of where it stood before
// its maneuver, not of where it ended.
func TestTheRuleBookOnACacheOfAShipThatFled(t *testing.T) {
	s := enginetest.Scene(t, "2.5; A small 30 60 270")
	s.MatWidth, s.MatHeight = 914.4*geom.Millimeter, 914.4*geom.Millimeter
	s.Markers = []engine.Token{{ID: "cache", Kind: "supply_cache", Pose: geom.Pose{Point: geom.Point{X: 120, Y: 60}}}}
	r, err := move.Execute(&s, "A", move.Maneuver{Bearing: move.Straight, Speed: 3}, engine.Options{})
	require.NoError(t, err)
	require.Equal(t, engine.Yes, r.Flees)
	before, err := engine.CheckJettison(&s, "A", "cache", engine.Options{})
	require.NoError(t, err)
	assert.Equal(t, engine.Yes, before.Legal)
	s.Ships[0].Pose = r.Final
	after, err := engine.CheckJettison(&s, "A", "cache", engine.Options{})
	require.NoError(t, err)
	assert.Equal(t, engine.No, after.Legal)
}
