package engine_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/engine/internal/enginetest"
)

func TestAtWithinAndBeyondARange(t *testing.T) {
	for _, c := range []struct {
		name, scene string
		ask         func(*engine.PairVerdict) engine.Outcome
		want        engine.Outcome
	}{
		{"G10 at the range of the closest point", "1e; A small 0 0 0; B small 0 140 0",
			func(p *engine.PairVerdict) engine.Outcome { return p.At(1, 1) }, engine.Yes},
		{"G11 a base in two bands is at the near one", "1e; A small 0 0 0; B small 0 230 0",
			func(p *engine.PairVerdict) engine.Outcome { return p.At(2, 2) }, engine.Yes},
		{"G11 and not at the far one", "1e; A small 0 0 0; B small 0 230 0", func(p *engine.PairVerdict) engine.Outcome {
			return p.At(3,
				3)
		}, engine.No},
		{"G9 a range of several bands holds both its ends", "1e; A small 0 0 0; B small 0 340 0",
			func(p *engine.PairVerdict) engine.Outcome { return p.At(2, 3) }, engine.Yes},
		{"G12 within: the whole base is", "1e; A small 0 0 0; B small 0 100 0",
			func(p *engine.PairVerdict) engine.Outcome { return p.Within(1) }, engine.Yes},
		{"G12 at range 1 is not within it", "1e; A small 0 0 0; B small 0 121 0",
			func(p *engine.PairVerdict) engine.Outcome { return p.Within(1) }, engine.No},
		{"G12 within to the last millimetre", "1e; A large 0 0 0; B small 0 120 0",
			func(p *engine.PairVerdict) engine.Outcome { return p.Within(1) }, engine.Yes},
		{"G14 beyond: no part is at that range", "1e; A small 0 0 0; B small 0 245 0",
			func(p *engine.PairVerdict) engine.Outcome { return p.Beyond(2) }, engine.Yes},
		{"G14 exactly 200 mm is not beyond range 2", "1e; A small 0 0 0; B small 0 240 0",
			func(p *engine.PairVerdict) engine.Outcome { return p.Beyond(2) }, engine.No},
		{"epic: range 5 ends at 500 mm", "1e; A small 0 0 0; B huge-195 0 617.5 0",
			func(p *engine.PairVerdict) engine.Outcome { return p.At(5, 5) }, engine.Yes},
		{"epic: range 4", "2.5; A small 0 0 0; B small 0 440 0", func(p *engine.PairVerdict) engine.Outcome { return p.At(4, 4) }, engine.Yes},
		{"G74 range 1 does not hold contact in 2.0", "2.0; A small 0 0 0; B small 0 40 0",
			func(p *engine.PairVerdict) engine.Outcome { return p.At(1, 1) }, engine.No},
		{"G77 range 0–3 does", "2.0; A small 0 0 0; B small 0 40 0", func(p *engine.PairVerdict) engine.Outcome { return p.At(0, 3) },
			engine.Yes},
		{"G19 contact is range 1 in the first edition", "1e; A small 0 0 0; B small 0 40 0",
			func(p *engine.PairVerdict) engine.Outcome { return p.At(1, 1) }, engine.Yes},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := enginetest.Scene(t, c.scene)
			p := enginetest.MeasurePair(t, &s, 3)
			assert.Equal(t, c.want, c.ask(&p))
		})
	}
	s := enginetest.Scene(t, "2.5; A small 0 0 0; B small 0 100.05 0")
	s.Ships[1].Covariance = geom.Cov3{0: 0.04, 4: 0.04}
	p := enginetest.MeasurePair(t, &s, 3)
	assert.Equal(t, engine.Indeterminate, p.Within(1), "G12 within is too close to call where the furthest corner may be on either side")
	assert.Equal(t, engine.Yes, p.Beyond(0))
}

// The slow method tries every point of the target's sides.
func TestTheFurthestPointOfTheTargetIsACorner(t *testing.T) {
	s := enginetest.Scene(t, "2.5; A large 0 0 20; B medium 150 130 50")
	a, b := enginetest.RectOf(s.Ships[0]), enginetest.RectOf(s.Ships[1])
	want := 0.0
	for i := range 4 {
		for k := range 1001 {
			want = math.Max(want, a.Distance(b.Edge(i, float64(k)/1000)))
		}
	}
	assert.InDelta(t, want, float64(enginetest.MeasurePair(t, &s, 3).Farthest.Distance), 1e-9)
}

func TestInFrontBehindAndFlanking(t *testing.T) {
	for _, c := range []struct {
		name, scene string
		want        engine.Side
		onlyFront   engine.Outcome
	}{
		{"in front", "2.5; A small 0 0 0; B small 100 50 0", engine.SideInFront, engine.Yes},
		{"behind", "2.5; A small 0 0 0; B small 100 -50 0", engine.SideBehind, engine.No},
		{"G66 across the mid line is flanking, and in no full arc only", "2.5; A small 0 0 0; B small 100 5 0", engine.SideFlanking, engine.No},
		{"a base that touches the mid line from the front is in front", "2.5; A small 0 0 0; B small 100 20 0", engine.SideInFront, engine.Yes},
		{"the first edition knows no full arcs", "1e; A small 0 0 0; B small 100 50 0", engine.SideNone, engine.NoView},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := enginetest.Scene(t, c.scene)
			p := enginetest.MeasurePair(t, &s, 3)
			assert.Equal(t, c.want, p.Side())
			assert.Equal(t, c.onlyFront, p.OnlyIn(engine.ArcFullFront))
		})
	}
	s := enginetest.Scene(t, "2.5; A small 0 0 0; B small 100 20.1 0")
	s.Ships[1].Covariance = geom.Cov3{4: 0.04}
	p := enginetest.MeasurePair(t, &s, 3)
	assert.Equal(t, engine.SideTooClose, p.Side())
}

func TestInsideAnArcAtARangeIsAThirdQuantity(t *testing.T) {
	// G28–G30: A turret ship whose target's near part is outside its printed arc.
	s := enginetest.Scene(t, "1e; A small 0 0 0; B large 150 100 0")
	s.Ships[0].Arcs = []string{"primary_turret"}
	p := enginetest.MeasurePair(t, &s, 3)
	turret := enginetest.ArcNamed(t, p, engine.ArcPrimaryTurret)
	require.NotNil(t, turret.Attack)
	assert.Equal(t, p.Range.Distance, turret.Attack.Distance, "G7 G8 a turret measures from the closest to the closest point")
	assert.Equal(t, engine.Yes, turret.InArc)
	front := enginetest.ArcNamed(t, p, engine.ArcFront)
	assert.Greater(t, front.Attack.Distance, turret.Attack.Distance)
	assert.Equal(t, engine.Yes, p.At(1, 1), "G5 all else uses the plain range")
	assert.Equal(t, engine.Yes, p.InArcAt(engine.ArcFront, 2, 2))
	assert.Equal(t, engine.No, p.InArcAt(engine.ArcFront, 1, 1))

	s = enginetest.Scene(t, "1e; A small 0 0 0; B small 60 0 0")
	p = enginetest.MeasurePair(t, &s, 3)
	assert.Equal(t, engine.No, p.InArcAt(engine.ArcFront, 1, 3), "out of the arc is at no range inside it")
	assert.Equal(t, engine.No, p.InAnyArc(), "G53")
	s.Ships[0].Arcs = []string{"primary_turret"}
	p = enginetest.MeasurePair(t, &s, 3)
	assert.Equal(t, engine.No, p.InAnyArc(), "G50 G53: a primary turret prints no arc around the ship")
}

func TestArcsThatTokensPrintBesides(t *testing.T) {
	with := func(text string, arcs ...string) engine.Scene {
		s := enginetest.Scene(t, text)
		s.Ships[0].Arcs = arcs
		return s
	}
	tan := math.Tan(40.45 * math.Pi / 180)
	for _, c := range []struct {
		name  string
		scene engine.Scene
		arc   engine.Arc
		in    engine.Outcome
	}{
		{"G47 the auxiliary arc mirrors the front arc", with(fmt.Sprintf("1e; A small 0 0 0; B small %.17g -100 0", 120*tan+20),
			"rear_aux"), engine.ArcRearAux, engine.Yes},
		{"G47 and is no wider", with(fmt.Sprintf("1e; A small 0 0 0; B small %.17g -100 0", 120*tan+20.001), "rear_aux"),
			engine.ArcRearAux, engine.No},
		{"the 180° arc ends at the points in the middle of the sides", with("1e; A small 0 0 0; B small 100 -20 0", "full_front_180"),
			engine.ArcFullFront180, engine.Yes},
		{"and not behind them", with("1e; A small 0 0 0; B small 100 -20.001 0", "full_front_180"), engine.ArcFullFront180, engine.No},
		{"a mobile arc is the sector that it points at", with("1e; A small 0 0 0 left; B small -100 0 0", "mobile"), engine.ArcMobile,
			engine.Yes},
		{"beside which the front arc stays", with("1e; A small 0 0 0 left; B small 0 100 0", "mobile"), engine.ArcFront, engine.Yes},
		{"G61 a turret arc", with("2.5; A small 0 0 0 left; B small -100 0 0"), engine.ArcTurret, engine.Yes},
		{"G62 a double turret has the opposite arc too", with("2.5; A small 0 0 0 left; B small 100 0 0", "double_turret"),
			engine.ArcDoubleTurret, engine.Yes},
		{"G62 and each arc only its own side", with("2.5; A small 0 0 0 left; B small 100 0 0", "double_turret"), engine.ArcTurret, engine.No},
		{"G62 front and rear", with("2.5; A small 0 0 0 rear; B small 0 100 0", "double_turret"), engine.ArcDoubleTurret, engine.Yes},
		{"a huge ship's arc of 90°", with("1e; A huge-195 0 0 0; B small 119.999 100 0", "front_90"), engine.ArcFront90, engine.Yes},
		{"no more than that", with("1e; A huge-195 0 0 0; B small 140.001 100 0", "front_90"), engine.ArcFront90, engine.No},
		{"a huge ship's arc of 136°", with("1e; A huge-225 0 0 0; B small 250 100 0", "front_136"), engine.ArcFront136, engine.Yes},
		{"a huge ship's arc of 106°", with("1e; A huge-225 0 0 0; B small 250 100 0", "front_106"), engine.ArcFront106, engine.No},
		{"the second edition's huge arc reaches the long sides", with("2.5; A huge-225 0 0 0; B small 70 80 0"), engine.ArcFront, engine.Yes},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := enginetest.ArcNamed(t, enginetest.MeasurePair(t, &c.scene, 3), c.arc)
			assert.Equal(t, c.in, a.InArc, "margin %v", a.Margin)
		})
	}
}

func TestG46AnArcOfTheFirstEditionHasNoEnd(t *testing.T) {
	s := enginetest.Scene(t, "1e; A small 0 0 0; B small 0 800 0")
	front := enginetest.ArcNamed(t, enginetest.MeasurePair(t, &s, 3), engine.ArcFront)
	assert.Equal(t, engine.Yes, front.InArc)
	assert.Equal(t, 8, front.Attack.Band)
}

func TestObstructionOfTurretsAndOnDevices(t *testing.T) {
	s := enginetest.Scene(t, "1e; A small 0 0 0; B small 200 0 0; r square 100 0 0 60")
	s.Ships[0].Arcs = []string{"primary_turret"}
	o := enginetest.ArcNamed(t, enginetest.MeasurePair(t, &s, 3), engine.ArcPrimaryTurret).Attack.Obstruction
	assert.Equal(t, "must", o.Verdict, "G36 an attack outside the arc is obstructed like any other")

	s = enginetest.Scene(t, "2.5; A small 0 0 0; B small 0 300 45")
	s.Devices = []engine.Token{{ID: "b", Kind: "bomb", Pose: geom.Pose{Point: geom.Point{Y: 100}}}}
	s.Markers = []engine.Token{{ID: "m", Kind: "satellite", Pose: geom.Pose{Point: geom.Point{Y: 150}}}}
	o = enginetest.ArcNamed(t, enginetest.MeasurePair(t, &s, 3), engine.ArcFront).Attack.Obstruction
	assert.Equal(t, "never", o.Verdict, "G41 G42 bombs and scenario features do not obstruct")
	assert.Equal(t, []string{"b"}, o.Devices)
	s.Devices[0].Kind = "cargo"
	o = enginetest.ArcNamed(t, enginetest.MeasurePair(t, &s, 3), engine.ArcFront).Attack.Obstruction
	assert.Equal(t, "must", o.Verdict, "G43 cargo counts as debris")
	assert.Equal(t, []string{"b"}, o.By)
	s.Devices[0].Kind = "electro-chaff"
	assert.Equal(t, "must", enginetest.ArcNamed(t, enginetest.MeasurePair(t, &s, 3), engine.ArcFront).Attack.Obstruction.Verdict)
}

func TestAnAttackerOnAnObstacleIsObstructedByIt(t *testing.T) {
	s := enginetest.Scene(t, "2.5; A small 0 0 0; B small 0 200 45; r square 0 10 0 60")
	o := enginetest.ArcNamed(t, enginetest.MeasurePair(t, &s, 3), engine.ArcFront).Attack.Obstruction
	assert.Equal(t, "must", o.Verdict)
	s = enginetest.Scene(t, "2.5; A small 0 0 0; B small 0 200 45; r square 0 -15 0 60")
	o = enginetest.ArcNamed(t, enginetest.MeasurePair(t, &s, 3), engine.ArcFront).Attack.Obstruction
	assert.Equal(t, "never", o.Verdict, "unless the line leaves from a part that is not on it")
}

func TestDevicesAndMarkersAreObjects(t *testing.T) {
	at := func(y float64) geom.Pose { return geom.Pose{Point: geom.Point{Y: y}} }
	for _, c := range []struct {
		name, kind string
		distance   float64 // from a small base's front edge to a token centred 100 mm before it
	}{
		{"G183 a bomb with its guides", "bomb", 100 - 16.3},
		{"G191 proton bomb", "proton_bomb", 100 - 16.3},
		{"as its card names it", "Proton Bombs", 100 - 16.3},
		{"one of the cluster mines", "cluster_mine", 100 - 19.8},
		{"proximity mine", "proximity_mine", 100 - 34.7},
		{"Conner net", "conner_net", 100 - 40.7},
		{"electro-chaff", "electro-chaff", 100 - 20.35},
		{"cargo", "cargo", 100 - 32.9},
		{"spare parts", "spare parts", 100 - 24.25},
		{"probe", "probe_droid", 100 - 23.9},
		{"buzz droids", "buzz_droids", 100 - 20.7},
		{"sensor buoy", "sensor_buoy", 100 - 25.5},
		{"container", "container", 100 - 19.65},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := enginetest.Scene(t, "2.5; A small 0 0 0")
			s.Devices = []engine.Token{{ID: "d", Kind: c.kind, Pose: at(120)}}
			r := enginetest.Measured(t, s)
			require.Len(t, r.Objects, 1)
			assert.InDelta(t, c.distance, float64(r.Objects[0].Range.Distance), 1e-9)
			assert.Equal(t, c.kind, r.Objects[0].Kind)
			assert.Empty(t, r.Problems)
		})
	}
	t.Run("G192 G193 cluster mines are three objects", func(t *testing.T) {
		s := enginetest.Scene(t, "1e; A small 0 0 0")
		s.Devices = []engine.Token{{ID: "c", Kind: "cluster_mines", Pose: at(120)}}
		r := enginetest.Measured(t, s)
		require.Len(t, r.Objects, 3)
		assert.Equal(t, []string{"c", "c.left", "c.right"}, []string{r.Objects[0].To, r.Objects[1].To, r.Objects[2].To})
		assert.InDelta(t, 100-21.05, float64(r.Objects[0].Range.Distance), 1e-9)
		assert.InDelta(t, math.Hypot(20.2-20, 100-19.8), float64(r.Objects[1].Range.Distance), 1e-9)
	})
	t.Run("G16 markers", func(t *testing.T) {
		s := enginetest.Scene(t, "2.5; A small 0 0 0")
		for i, kind := range []string{"satellite", "supply_cache", "hyperspace_marker"} {
			s.Markers = append(s.Markers, engine.Token{ID: kind, Kind: kind, Pose: at(float64(120 + 100*i))})
		}
		r := enginetest.Measured(t, s)
		require.Len(t, r.Objects, 3)
		for i, want := range []float64{100 - 18.05, 200 - 18.05, 300 - 23.2} {
			assert.InDelta(t, want, float64(r.Objects[i].Range.Distance), 1e-9)
		}
	})
	t.Run("an outline of one's own, and a kind of no known size", func(t *testing.T) {
		s := enginetest.Scene(t, "2.5; A small 0 0 0")
		s.Devices = []engine.Token{
			{ID: "own", Kind: "odd", Pose: at(120), Sigma: 0.5, Outline: []geom.Point{{X: -5, Y: -5}, {X: 5, Y: -5}, {X: 0, Y: 5}}},
			{ID: "q", Kind: "odd", Pose: at(200)},
		}
		r := enginetest.Measured(t, s)
		require.Len(t, r.Objects, 1)
		assert.InDelta(t, 95, float64(r.Objects[0].Range.Distance), 1e-9)
		assert.InDelta(t, 0.5, float64(r.Objects[0].Range.Sigma), 1e-6)
		require.Len(t, r.Problems, 1)
		assert.Equal(t, "q", r.Problems[0].ID)
	})
}

func TestHugeBasesOfBothLengths(t *testing.T) {
	for base, length := range map[string]float64{"huge-195": 195, "huge-225": 224.8} {
		s := enginetest.Scene(t, fmt.Sprintf("1e; A %s 0 0 0; B small 0 %.17g 0", base, length/2+20+100))
		p := enginetest.MeasurePair(t, &s, 3)
		assert.InDelta(t, 100, float64(p.Range.Distance), 1e-9, "G212 %s", base)
		assert.Equal(t, 1, p.Range.Band)
		s = enginetest.Scene(t, fmt.Sprintf("1e; A %s 0 0 0; B small 160 0 0", base))
		assert.InDelta(t, 100, float64(enginetest.MeasurePair(t, &s, 3).Range.Distance), 1e-9)
	}
}

// A turret covers the side that it points to, a double turret the opposite one as well, a mobile arc its side and the front.
func TestG61G62ATurretCoversTheSideThatItPointsTo(t *testing.T) {
	opposite := map[string]string{"front": "rear", "rear": "front", "left": "right", "right": "left"}
	places := map[string]string{"front": "0 100", "rear": "0 -100", "left": "-100 0", "right": "100 0"}
	for turret := range places {
		for side, at := range places {
			s := enginetest.Scene(t, fmt.Sprintf("2.5; A small 0 0 0 %s; B small %s 0", turret, at))
			s.Ships[0].Arcs = []string{"double_turret"}
			p := enginetest.MeasurePair(t, &s, 3)
			assert.Equal(t, side == turret, p.Arc(engine.ArcTurret).InArc == engine.Yes, "a turret to the %s, a ship to the %s", turret, side)
			assert.Equal(t, side == opposite[turret], p.Arc(engine.ArcDoubleTurret).InArc == engine.Yes, "its other side, a ship to the %s", side)

			s.Rules, s.Ships[0].Arcs = engine.Rules1e, []string{"mobile"}
			p = enginetest.MeasurePair(t, &s, 3)
			assert.Equal(t, side == turret, p.Arc(engine.ArcMobile).InArc == engine.Yes, "a mobile arc to the %s, a ship to the %s", turret, side)
			assert.Equal(t, side == "front", p.Arc(engine.ArcFront).InArc == engine.Yes, "the printed arc, a ship to the %s", side)
		}
	}
}

// What a token prints, by edition and base: where the front arc's edge leaves it.
func TestTheFrontArcOfEveryToken(t *testing.T) {
	for _, c := range []struct {
		bases, rules string
		degrees      float64
	}{
		{"small", "1e", 40.45},
		{"large", "1e", 42.03},
		{"huge-195 huge-225", "1e", 40.45},
		{"small", "2.0 2.5", 40.62},
		{"medium", "2.0 2.5", 41.40},
		{"large", "2.0 2.5", 41.76},
		{"huge-195 huge-225", "2.0 2.5", 41.45},
	} {
		for _, base := range strings.Fields(c.bases) {
			for _, rules := range strings.Fields(c.rules) {
				edge := 170*math.Tan(c.degrees*math.Pi/180) + 20 // the target's far left corner is on the arc's edge
				for _, off := range []float64{-0.01, 0.01} {
					s := enginetest.Scene(t, fmt.Sprintf("%s; A %s 0 0 0; B small %.17g 150 0", rules, base, edge+off))
					front := enginetest.ArcNamed(t, enginetest.MeasurePair(t, &s, 3), engine.ArcFront)
					assert.Equal(t, off < 0, front.InArc == engine.Yes, "%s %s, %v mm out", rules, base, off)
					assert.InDelta(t, -off*math.Cos(c.degrees*math.Pi/180), front.Margin.Millimeters(), 1e-9)
				}
			}
		}
	}
}
