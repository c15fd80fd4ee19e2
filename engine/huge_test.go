package engine_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/engine/internal/enginetest"
)

func TestHugeShipsObstructInEveryEdition(t *testing.T) {
	for _, c := range []struct {
		name, scene string
		verdict     string
		by          []string
		margin      float64
	}{
		{"squarely on the line", "A small 0 0 0; B small 0 400 45; H huge-195 0 200 90", "must", []string{"H"}, 97.5},
		{"the longer one", "A small 0 0 0; B small 0 400 45; H huge-225 0 200 90", "must", []string{"H"}, 112.4},
		{"beside the line", "A small 0 0 0; B small 0 400 45; H huge-195 107.5 200 90", "never", nil, 10},
		{"a line along its side is not through", "A small 0 0 0; B small 0 400 45; H huge-195 97.5 200 90", "never", nil, 0},
		{"half of a band", "A small 0 0 0; B small 0 400 0; H huge-195 97.5 200 90", "may", []string{"H"}, 20},
		{"its guides do not", "A small 0 0 0; B small 0 400 45; H huge-195 98.5 200 270", "never", nil, 1},
		{"beside a rock", "A small 0 0 0; B small 0 500 45; H huge-195 0 200 90; r square 5 400 0 20", "must", []string{"r", "H"}, 97.5},
		{"large ships do not", "A small 0 0 0; B small 0 400 45; H large 0 200 90", "never", nil, 1000},
	} {
		for _, rules := range []string{"1e", "2.0", "2.5"} {
			t.Run(rules+" "+c.name, func(t *testing.T) {
				s := enginetest.Scene(t, rules+"; "+c.scene)
				front := enginetest.ArcNamed(t, enginetest.MeasurePair(t, &s, 3), engine.ArcFront)
				require.NotNil(t, front.Attack)
				o := front.Attack.Obstruction
				margin := c.margin
				if rules == "1e" && c.verdict == "may" {
					margin = 17.051451518904727 // the line starts within the arc, whose edges cut the corners off
				}
				assert.Equal(t, c.verdict, o.Verdict, "G39 G40")
				assert.Equal(t, c.by, o.By)
				if c.name == "large ships do not" {
					assert.Equal(t, []string{"H"}, o.Ships)
				} else {
					assert.Empty(t, o.Ships, "what obstructs is not named as a ship on the line besides")
				}
				assert.InDelta(t, margin, float64(o.Margin), 1e-6)
			})
		}
	}
}

func TestAHugeShipDoesNotObstructItsOwnAttacksNorThoseAtIt(t *testing.T) {
	s := enginetest.Scene(t, "2.5; A huge-195 0 0 0; B huge-195 0 400 180")
	r, err := engine.Measure(&s, engine.Options{})
	require.NoError(t, err)
	for _, p := range r.Pairs {
		o := enginetest.ArcNamed(t, p, engine.ArcFront).Attack.Obstruction
		assert.Equal(t, "never", o.Verdict)
		assert.Empty(t, o.Ships)
	}
	s.Rules = engine.Rules1e
	parts, err := engine.MeasureSections(&s, "A", "B", engine.Options{})
	require.NoError(t, err)
	for _, p := range parts {
		for _, a := range p.Arcs {
			if a.Attack != nil {
				assert.Equal(t, "never", a.Attack.Obstruction.Verdict, "%v", p.Section)
			}
		}
	}
}

func TestAHugeShipsPoseUncertaintyAffectsObstruction(t *testing.T) {
	for _, c := range []struct {
		x       float64 // of its centre, 97.5 mm from its end, which the line is to pass
		verdict string
	}{{99, "never"}, {97.9, "too_close"}, {97.1, "too_close"}, {96, "must"}} {
		s := enginetest.Scene(t, fmt.Sprintf("2.5; A small 0 0 0; B small 0 400 45; H huge-195 %g 200 90", c.x))
		s.Ships[2].Covariance = geom.Cov3{0.04, 0, 0, 0, 0.04, 0, 0, 0, 1e-9}
		o := enginetest.ArcNamed(t, enginetest.MeasurePair(t, &s, 3), engine.ArcFront).Attack.Obstruction
		assert.Equal(t, c.verdict, o.Verdict, "%g", c.x)
	}
}

func TestAHugeShipObstructsEvenIfObstaclesAreUnseen(t *testing.T) {
	s := enginetest.Scene(t, "2.5; A small 0 0 0; B small 0 400 45; H huge-195 0 200 90")
	s.ObstaclesUnseen = true
	assert.Equal(t, "must", enginetest.ArcNamed(t, enginetest.MeasurePair(t, &s, 3), engine.ArcFront).Attack.Obstruction.Verdict)
	s.Ships[2].Pose.X = 300
	assert.Equal(t, "no_view", enginetest.ArcNamed(t, enginetest.MeasurePair(t, &s, 3), engine.ArcFront).Attack.Obstruction.Verdict)
}

func TestPartsUnknownToTheFirstEditionAreReported(t *testing.T) {
	for rules, want := range map[string][]engine.Problem{
		"1e":  {{ID: "B", Problem: "the first edition has no medium base"}, {ID: "r", Problem: "the first edition has no gas cloud"}},
		"2.0": nil, "2.5": nil,
	} {
		s := enginetest.Scene(t, rules+"; A small 0 0 0; B medium 0 400 45; r square 200 200 0 20")
		s.Obstacles[0].Kind = "gas"
		r, err := engine.Measure(&s, engine.Options{})
		require.NoError(t, err)
		assert.ElementsMatch(t, want, r.Problems, rules)
		assert.Len(t, r.Pairs, 2, "and measured all the same")
	}
}

func TestTokensThatAreNotMeasuredAreNamedAsWhatTheyAre(t *testing.T) {
	s := enginetest.Scene(t, "2.5; A small 0 0 0")
	s.Devices = []engine.Token{{ID: "d", Kind: "nuke"}}
	s.Markers = []engine.Token{{ID: "m"}}
	r, err := engine.Measure(&s, engine.Options{})
	require.NoError(t, err)
	assert.Equal(t, []engine.Problem{
		{ID: "d", Problem: `device not measured: no size is known of the kind "nuke", and no outline_mm is given`},
		{ID: "m", Problem: "marker not measured: neither kind nor outline_mm is given"},
	}, r.Problems)
	s.Devices[0].Outline = []geom.Point{{X: 100}, {X: 110}, {X: 110, Y: 10}}
	s.Markers = nil
	r, err = engine.Measure(&s, engine.Options{})
	require.NoError(t, err)
	assert.Empty(t, r.Problems)
	assert.Len(t, r.Objects, 1)
}

func TestMeasuringAgainSeesAHugeShipComeAndGo(t *testing.T) {
	var m engine.Measurer
	for _, x := range []float64{300, 0, 120, 97.4} {
		s := enginetest.Scene(t, fmt.Sprintf("2.5; A small 0 0 0; B small 0 400 45; H huge-195 %g 200 90", x))
		got, err := m.Measure(&s, engine.Options{})
		require.NoError(t, err)
		fresh, err := engine.Measure(&s, engine.Options{})
		require.NoError(t, err)
		assert.Equal(t, fresh.Pairs, got.Pairs, "%g", x)
	}
}
