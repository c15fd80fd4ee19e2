package engine_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/engine/internal/enginetest"
)

func TestRangeIsMeasuredBetweenTheClosestPointsOfTheBases(t *testing.T) {
	for _, c := range []struct {
		name, scene string
		distance    float64
		band        int
		contact     engine.Outcome
		margin      float64
		lines       int
	}{
		{"exactly 100 mm is range 1", "2.5; A small 0 0 0; B small 0 140 0", 100, 1, engine.No, 0, 2},
		{"a hair more is range 2", "2.5; A small 0 0 0; B small 0 140.000001 0", 100.000001, 2, engine.No, 1e-6, 2},
		{"exactly 300 mm is range 3", "2.5; A small 0 0 0; B small 0 340 0", 300, 3, engine.No, 0, 2},
		{"beyond range 3", "2.5; A small 0 0 0; B small 0 345 0", 305, 4, engine.No, 5, 2},
		{"corner to corner", "2.5; A small 0 0 0; B small 70 80 0", 50, 1, engine.No, 50, 1},
		{"corner to edge", "2.5; A small 0 0 0; B small 0 100 45", 80 - 20*math.Sqrt2, 1, engine.No, 20 + 20*math.Sqrt2, 1},
		{"large and medium bases", "2.0; A large 0 0 90; B medium 200 0 0", 130, 2, engine.No, 30, 2},
		{"a huge base is as long as it is", "1e; A huge-195 0 0 0; B small 0 217.5 0", 100, 1, engine.No, 0, 2},
		{"touching is range 0", "2.5; A small 0 0 90; B small 0 40 90", 0, 0, engine.Yes, 0, 2},
		{"touching when turned", "2.5; A small 0 0 120; B small 20 34.64101615137755 120", 0, 0, engine.Yes, 0, 2},
		{"touching is range 1 in the first edition", "1e; A small 0 0 0; B small 0 40 0", 0, 1, engine.Yes, 100, 2},
		{"near range 1 in the first edition", "1e; A small 0 0 0; B small 0 45 0", 5, 1, engine.No, 95, 2},
		{"G17 G117 guide touches guide", "2.0; A small 0 0 0; B small 0 43.2 0", 3.2, 0, engine.Yes, 0, 2},
		{"guides a tenth of a millimetre apart", "2.5; A small 0 0 0; B small 0 43.3 180", 3.3, 1, engine.No, 0.1, 2},
		{"a guide touches a base beside its guides", "2.5; A small 0 0 0; B small 5 41.6 0", 1.6, 0, engine.Yes, 0, 2},
		{"guides between guides, bases together", "2.5; A small 0 0 0; B small 5 40 0", 0, 0, engine.Yes, 1.6, 2},
		{"guides of two sizes touch", "2.5; A medium 0 0 0; B large 0 73.5 0", 3.5, 0, engine.Yes, 0, 2},
		{"a guide touches the side of a base", "2.0; A small 0 0 0; B large 0 61.6 90", 1.6, 0, engine.Yes, 0, 2},
		{"guides of huge bases touch", "2.5; A huge-195 0 0 0; B huge-225 0 213.5 0", 3.6, 0, engine.Yes, 0, 2},
		{"G19 guides touch at range 1 in the first edition", "1e; A small 0 0 0; B small 0 43.2 0", 3.2, 1, engine.Yes, 96.8, 2},
		{"contact is the nearest limit until half a band", "2.5; A small 0 0 0; B small 0 90 0", 50, 1, engine.No, 46.8, 2},
		{"corners that touch", "2.5; A small 0 0 0; B small 40 40 0", 0, 0, engine.Yes, 0, 1},
		{"overlapping bases are at range 0", "2.5; A small 0 0 0; B small 5 30 0", 0, 0, engine.Yes, 10, 1},
		{"coincident bases are at range 0", "2.5; A small 7 7 30; B small 7 7 30", 0, 0, engine.Yes, 40, 1},
		{"one base within another", "2.5; A large 0 0 0; B small 3 0 45", 0, 0, engine.Yes, 37 + 20*math.Sqrt2, 1},
		{"bases that cross without a corner inside", "2.5; A huge-195 0 0 0; B huge-195 0 0 90", 0, 0, engine.Yes, 137.5, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := enginetest.Scene(t, c.scene)
			got := enginetest.MeasurePair(t, &s, 3)
			assert.InDelta(t, c.distance, float64(got.Range.Distance), 1e-9)
			assert.Equal(t, c.band, got.Range.Band)
			assert.Equal(t, []int{c.band}, got.Range.Possible)
			assert.Equal(t, c.contact, got.Contact)
			assert.InDelta(t, c.margin, float64(got.Range.Margin), 1e-9)
			assert.Zero(t, got.Range.Sigma)
			assert.Equal(t, engine.Yes, got.Range.Outcome)
			require.Len(t, got.Range.Lines, c.lines)
			for _, l := range got.Range.Lines {
				assert.InDelta(t, c.distance, float64(l[0].Distance(l[1])), 1e-9)
			}
		})
	}
}

func TestParallelEdgesGiveTheBandOfLinesToChooseFrom(t *testing.T) {
	s := enginetest.Scene(t, "2.5; A small 100 100 0; B large 130 260 180")
	got := enginetest.MeasurePair(t, &s, 3)
	require.Len(t, got.Range.Lines, 2)
	xs := []float64{got.Range.Lines[0][0].X, got.Range.Lines[1][0].X}
	assert.ElementsMatch(t, []float64{90, 120}, xs)
}

func TestArcs(t *testing.T) {
	tan := math.Tan(40.62 * math.Pi / 180)
	sin := math.Sin(40.62 * math.Pi / 180)
	for _, c := range []struct {
		name, scene string
		arc         engine.Arc
		in          engine.Outcome
		margin      float64
	}{
		{"straight ahead is in the front arc", "2.5; A small 0 0 0; B small 0 100 0", engine.ArcFront, engine.Yes,
			20*math.Cos(40.62*math.Pi/180) + 120*sin},
		{"straight ahead is not in the rear arc", "2.5; A small 0 0 0; B small 0 100 0", engine.ArcRear, engine.No, -80},
		{"a corner on the arc's line is in the arc", fmt.Sprintf("2.5; A small 0 0 0; B small %.17g 100 0", 120*tan+20),
			engine.ArcFront, engine.Yes, 0},
		{"and in the neighbouring arc too", fmt.Sprintf("2.5; A small 0 0 0; B small %.17g 100 0", 120*tan+20), engine.ArcRight,
			engine.Yes, 40*math.Sin(49.38*math.Pi/180) + 40*math.Cos(49.38*math.Pi/180)},
		{"a corner just beyond the line is not", fmt.Sprintf("2.5; A small 0 0 0; B small %.17g 100 0", 120*tan+20+1e-6),
			engine.ArcFront, engine.No, -1e-6 * math.Cos(40.62*math.Pi/180)},
		{"beside is in the left arc", "2.5; A small 0 0 0; B small -100 0 0", engine.ArcLeft, engine.Yes,
			20*math.Cos(49.38*math.Pi/180) + 120*math.Sin(49.38*math.Pi/180)},
		{"level with the hashmarks is in the full front arc", "2.5; A small 0 0 0; B small 100 -20 0", engine.ArcFullFront, engine.Yes, 0},
		{"and in the full rear arc", "2.5; A small 0 0 0; B small 100 -20 0", engine.ArcFullRear, engine.Yes, 40},
		{"behind the hashmarks is not in the full front arc", "2.5; A small 0 0 0; B small 100 -25 0", engine.ArcFullFront, engine.No, -5},
		{"the bullseye's edge touches a corner of a small base", "2.5; A small 0 0 0; B small 27.5 200 0", engine.ArcBullseye, engine.Yes, 0},
		{"the bullseye passes a corner", "2.5; A small 0 0 0; B small 28 200 0", engine.ArcBullseye, engine.No, -0.5},
		{"no bullseye to the rear", "2.5; A small 0 0 0; B small 0 -100 0", engine.ArcBullseye, engine.No, -80},
		{"the bullseye is rectangular: as wide far away as near", "2.5; A small 0 0 90; B small 340 27.5 0", engine.ArcBullseye, engine.Yes, 0},
		{"a turret to the left", "2.5; A small 0 0 0 left; B small -100 0 0", engine.ArcTurret, engine.Yes,
			20*math.Cos(49.38*math.Pi/180) + 120*math.Sin(49.38*math.Pi/180)},
		{"a turret to the rear", "2.5; A small 0 0 0 rear; B small 0 100 0", engine.ArcTurret, engine.No, -80},
		{"the half angle of a large base", fmt.Sprintf("2.0; A large 0 0 0; B small %.17g 100 0", 120*math.Tan(41.76*math.Pi/180)+20),
			engine.ArcFront, engine.Yes, 0},
		{"the half angle of the first edition", fmt.Sprintf("1e; A small 0 0 0; B small %.17g 100 0",
			120*math.Tan(40.45*math.Pi/180)+20), engine.ArcFront, engine.Yes, 0},
		{"wider than the first edition's small arc", fmt.Sprintf("1e; A small 0 0 0; B small %.17g 100 0", 120*tan+20), engine.ArcFront,
			engine.No, -120 * math.Sin((40.62-40.45)*math.Pi/180) / math.Cos(40.62*math.Pi/180)},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := enginetest.Scene(t, c.scene)
			got := enginetest.ArcNamed(t, enginetest.MeasurePair(t, &s, 3), c.arc)
			assert.Equal(t, c.in, got.InArc, "margin %v", got.Margin)
			assert.InDelta(t, c.margin, float64(got.Margin), 1e-9)
			assert.Equal(t, c.in == engine.Yes, got.Attack != nil)
		})
	}
}

func TestEachEditionHasItsOwnArcs(t *testing.T) {
	names := func(s engine.Scene) (names []string) {
		for _, a := range enginetest.MeasurePair(t, &s, 3).Arcs {
			names = append(names, a.Arc.String())
		}
		return names
	}
	s := enginetest.Scene(t, "2.5; A small 0 0 0; B small 0 100 0")
	assert.Equal(t, []string{"front", "rear", "left", "right", "full_front", "full_rear", "bullseye"}, names(s))
	s.Ships[0].Turret = "left"
	assert.Equal(t, "turret", names(s)[7])
	s = enginetest.Scene(t, "1e; A small 0 0 0; B small 0 100 0")
	assert.Equal(t, []string{"front"}, names(s))
	s.Ships[0].Arcs = []string{"rear_aux", "full_front_180", "mobile"}
	assert.Equal(t, []string{"front", "rear_aux", "full_front_180"}, names(s), "a mobile arc that points nowhere is none")
	s.Ships[0].Turret = "right"
	assert.Equal(t, []string{"front", "rear_aux", "full_front_180", "mobile"}, names(s))
}

func TestAttackRangeIsMeasuredInsideTheArcOnly(t *testing.T) {
	// B lies next to A's nose: its nearest corner (20+d, -20) is outside the front
	// arc, whose line x = y·tan 40.62° crosses B's left side.
	s := enginetest.Scene(t, "2.5; A small 0 0 0; B large 110 100 0")
	got := enginetest.MeasurePair(t, &s, 3)
	tan := math.Tan(40.62 * math.Pi / 180)
	cut := geom.Point{X: 70, Y: 70 / tan}
	require.Less(t, cut.Y, 140.0)
	front := enginetest.ArcNamed(t, got, engine.ArcFront)
	require.NotNil(t, front.Attack)
	assert.InDelta(t, math.Hypot(50, 40), float64(got.Range.Distance), 1e-9, "all other effects use the plain range")
	assert.InDelta(t, math.Hypot(cut.X-20, cut.Y-20), float64(front.Attack.Distance), 1e-9)
	// Where the line must start in the arc, it starts where the diagonal leaves
	// the front edge, 17.15 mm from its middle.
	assert.InDelta(t, math.Hypot(cut.X-20*tan, cut.Y-20), float64(front.Attack.DistanceArcStart), 1e-9)

	s.Rules = engine.Rules1e
	tan = math.Tan(40.45 * math.Pi / 180)
	front = enginetest.ArcNamed(t, enginetest.MeasurePair(t, &s, 3), engine.ArcFront)
	assert.InDelta(t, math.Hypot(70-20*tan, 70/tan-20), float64(front.Attack.Distance), 1e-9, "the first edition begins in the arc")
	assert.Equal(t, front.Attack.Distance, front.Attack.DistanceArcStart)
}

func TestTheSameTargetIsAtAnotherRangeInTheBullseye(t *testing.T) {
	s := enginetest.Scene(t, "2.5; A small 0 0 0; B small 25 138 10")
	got := enginetest.MeasurePair(t, &s, 3)
	front, eye := enginetest.ArcNamed(t, got, engine.ArcFront), enginetest.ArcNamed(t, got, engine.ArcBullseye)
	require.NotNil(t, front.Attack)
	require.NotNil(t, eye.Attack)
	assert.Equal(t, 1, front.Attack.Band)
	assert.Equal(t, 2, eye.Attack.Band)
}

func TestObstruction(t *testing.T) {
	for _, c := range []struct {
		name, scene string
		verdict     string
		by          string
		margin      float64
	}{
		{"nothing about", "2.5; A small 0 0 0; B small 0 200 45", "never", "", 1000},
		{"a rock beside the line", "2.5; A small 0 0 0; B small 0 200 45; r square 15 100 0 20", "never", "", 5},
		{"a rock on the line", "2.5; A small 0 0 0; B small 0 200 45; r square 5 100 0 20", "must", "r", 5},
		{"a line that grazes is not through", "2.5; A small 0 0 0; B small 0 200 45; r square 10 100 0 20", "never", "", 0},
		{"a rock at the attacker's own edge", "2.5; A small 0 0 0; B small 0 200 45; r square 0 20 0 20", "must", "r", 10},
		{"a line wholly inside a rock", "2.5; A small 0 0 0; B small 0 90 45; r square 0 40 0 400", "must", "r", 200},
		{"a band with a rock in it: the attacker chooses", "2.5; A small 0 0 0; B small 0 200 0; r square 0 100 0 20", "may", "r", 10},
		{"a band wholly behind a rock", "2.5; A small 0 0 0; B small 0 200 0; r square 0 100 0 60", "must", "r", 10},
		{"a rock exactly as wide as the band: its edges graze", "2.5; A small 0 0 0; B small 0 200 0; r square 0 100 0 40", "may", "r", 0},
		{"two rocks that together fill the band", "2.5; A small 0 0 0; B small 0 200 0; r square -13 100 0 30; q square 13 130 0 30",
			"must", "q r", 2},
		{"two rocks that leave a gap", "2.5; A small 0 0 0; B small 0 200 0; r square -17 100 0 30; q square 17 130 0 30", "may", "q r", 2},
		{"two rocks that meet on one line leave that line", "2.5; A small 0 0 0; B small 0 200 0; r square -15 100 0 30; q square 15 " +
			"130 0 30", "may", "q r", 0},
		{"a rock beside the band", "2.5; A small 0 0 0; B small 0 200 0; r square 40 100 0 20", "never", "", 10},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := enginetest.Scene(t, c.scene)
			got := enginetest.ArcNamed(t, enginetest.MeasurePair(t, &s, 3), engine.ArcFront)
			require.NotNil(t, got.Attack)
			o := got.Attack.Obstruction
			assert.Equal(t, c.verdict, o.Verdict)
			assert.ElementsMatch(t, strings.Fields(c.by), o.By)
			assert.InDelta(t, c.margin, float64(o.Margin), 1e-6)
		})
	}
}

// What is the same in both directions is said the same, to the last bit. The table is crowded, with
// ships that touch and lines that begin in a rock.
func TestBothDirectionsSayTheSame(t *testing.T) {
	reversed := func(lines []geom.Line) []geom.Line {
		var turned []geom.Line
		for _, l := range lines {
			turned = append(turned, geom.Line{l[1], l[0]})
		}
		return turned
	}
	r, shared := rand.New(rand.NewPCG(31, 5)), 0
	for range enginetest.Shorter(60, 15) {
		s := crowd(9, 5)
		for i := range s.Ships {
			s.Ships[i].Pose.Point = geom.Point{X: 400 * r.Float64(), Y: 400 * r.Float64()}
		}
		for i := range s.Obstacles {
			s.Obstacles[i].Pose.Point = geom.Point{X: 400 * r.Float64(), Y: 400 * r.Float64()}
		}
		pairs := map[[2]string]engine.PairVerdict{}
		for _, p := range enginetest.Measured(t, s).Pairs {
			pairs[[2]string{p.From, p.To}] = p
		}
		for id, there := range pairs {
			back := pairs[[2]string{id[1], id[0]}]
			want := back.Range
			want.Lines = reversed(want.Lines)
			require.Equal(t, want, there.Range, id)
			require.Equal(t, back.Contact, there.Contact, id)
			for _, a := range there.Arcs {
				for _, b := range back.Arcs {
					if there.Contact == engine.No && min(a.Margin, b.Margin) > 125 { // all of the other base is well in the arc
						shared++
						require.Equal(t, b.Attack.Obstruction, a.Attack.Obstruction, id)
					}
				}
			}
		}
	}
	require.Greater(t, shared, 1000)
}

// An obstructed line's margin is how deep it passes through the rock, also where the measurement
// shows early that it surely does: at a rock in which the line begins.
func TestTheMarginOfAMeasuredLineIsThatOfAnExactOne(t *testing.T) {
	r, asked := rand.New(rand.NewPCG(8, 15)), 0
	for range 400 {
		s := enginetest.Scene(t, "2.5; A small 0 0 0; B small 30 220 45")
		s.Obstacles = []engine.Obstacle{{ID: "rock", Kind: "asteroid", Outline: enginetest.Star(r, 12, 30),
			Pose: geom.Pose{Point: geom.Point{X: 10 * r.NormFloat64(), Y: 30 + 10*r.NormFloat64()}}}}
		exact := enginetest.ArcNamed(t, enginetest.MeasurePair(t, &s, 3), engine.ArcFront).Attack.Obstruction
		for i := range s.Ships {
			s.Ships[i].Covariance = geom.Cov3{0: 0.05, 4: 0.05}
		}
		s.Obstacles[0].Sigma = 0.2
		measured := enginetest.ArcNamed(t, enginetest.MeasurePair(t, &s, 3), engine.ArcFront).Attack.Obstruction
		if exact.Verdict == "must" && measured.Verdict == "must" {
			asked++
			require.InDelta(t, float64(exact.Margin), float64(measured.Margin), 0.1)
		}
	}
	require.Greater(t, asked, 100)
}

// A thin wall just in front of the target, known to half a millimetre, may as well stand just
// behind the end of the line: the end that is nearer decides, not the one with more room.
func TestAWallNearTheLinesEndIsNoDeeperThanTheEndIsNear(t *testing.T) {
	for arc, ships := range map[engine.Arc]string{
		engine.ArcFullFront: "A small 0 0 45; B small 200 0 45",
		engine.ArcFullRear:  "B small 0 0 45; A small 200 0 45",
	} {
		s := enginetest.Scene(t, "2.5; "+ships+"; r square 0 0 0 1")
		corner := 200 - 20*math.Sqrt2
		s.Obstacles[0].Outline = []geom.Point{
			{X: corner - 0.35, Y: -30}, {X: corner - 0.05, Y: -30}, {X: corner - 0.05, Y: 30}, {X: corner - 0.35, Y: 30},
		}
		s.Obstacles[0].Sigma = 0.5
		o := enginetest.ArcNamed(t, enginetest.MeasurePair(t, &s, 3), arc).Attack.Obstruction
		assert.Equal(t, "too_close", o.Verdict, arc)
		assert.LessOrEqual(t, float64(o.Margin), 0.5)
	}
}

func TestAConcaveRockObstructsOnlyWhereItStands(t *testing.T) {
	// A C-shaped rock whose opening lets one part of the band through.
	//
	//	  x: -20 … -12 wall, -12 … 12 gap (with a floor at the right), 12 … 20 wall
	s := enginetest.Scene(t, "2.5; A small 0 0 0; B small 0 200 0; r square 0 0 0 1")
	s.Obstacles[0].Outline = []geom.Point{
		{X: -25, Y: 90}, {X: -12, Y: 90}, {X: -12, Y: 220}, {X: 12, Y: 220}, {X: 12, Y: 90},
		{X: 25, Y: 90}, {X: 25, Y: 240}, {X: -25, Y: 240},
	}
	o := enginetest.ArcNamed(t, enginetest.MeasurePair(t, &s, 3), engine.ArcFront).Attack.Obstruction
	assert.Equal(t, "may", o.Verdict, "the bridge of the C lies behind the target")
	assert.InDelta(t, 6.5, float64(o.Margin), 0.02, "the walls, 13 mm thick, are the smaller change")
}

// G43, G184: each piece into which the mat's edge cuts dropped cargo obstructs, and is named once.
func TestEachPieceOfCutCargoObstructs(t *testing.T) {
	for _, sigma := range []geom.Length{0, 0.2} {
		s := enginetest.Scene(t, "2.5; A small 100 21 0; B small 300 30 45")
		s.MatWidth, s.MatHeight = 914.4, 914.4
		prongs := func(first, second float64) engine.Token {
			return engine.Token{ID: "cargo", Kind: "cargo", Sigma: sigma, Outline: []geom.Point{
				{X: 180, Y: -20}, {X: 260, Y: -20}, {X: 260, Y: second}, {X: 210, Y: second}, {X: 210, Y: -5}, {X: 190, Y: -5},
				{X: 190, Y: first}, {X: 180, Y: first}}}
		}
		for _, c := range []struct {
			first, second float64
			verdict       string
			by            []string
		}{{40, 20, "must", []string{"cargo"}}, {20, 40, "must", []string{"cargo"}}, {40, 40, "must", []string{"cargo"}}, {20, 20, "never", nil}} {
			s.Devices = []engine.Token{prongs(c.first, c.second)}
			o := enginetest.ArcNamed(t, enginetest.MeasurePair(t, &s, 3), engine.ArcRight).Attack.Obstruction
			assert.Equal(t, c.verdict, o.Verdict, c)
			assert.Equal(t, c.by, o.By, c)
		}
	}
}

func TestShipsOnTheLineAreListedAndDoNotObstruct(t *testing.T) {
	s := enginetest.Scene(t, "2.5; A small 0 0 0; B small 0 200 45; C small 10 100 0; D small 80 100 0")
	o := enginetest.ArcNamed(t, enginetest.MeasurePair(t, &s, 3), engine.ArcFront).Attack.Obstruction
	assert.Equal(t, "never", o.Verdict)
	assert.Equal(t, []string{"C"}, o.Ships)
}

func TestObjects(t *testing.T) {
	for _, c := range []struct {
		name, scene      string
		distance         float64
		band             int
		contact, overlap engine.Outcome
	}{
		{"apart", "2.5; A small 0 0 0; r square 80 0 0 20", 50, 1, engine.No, engine.No},
		{"touching is contact and no overlap", "2.5; A small 0 0 0; r square 30 0 0 20", 0, 0, engine.Yes, engine.No},
		{"overlapping", "2.5; A small 0 0 0; r square 28 0 0 20", 0, 0, engine.Yes, engine.Yes},
		{"a rock under a base", "2.5; A large 0 0 0; r square 3 0 10 20", 0, 0, engine.Yes, engine.Yes},
		{"a base on a big rock", "2.5; A small 0 0 0; r square 3 0 10 200", 0, 0, engine.Yes, engine.Yes},
		{"only a guide overlaps", "2.5; A small 0 0 0; r square 12 30.5 0 20", 0.5, 0, engine.Yes, engine.Yes},
		{"a guide touches", "2.5; A small 0 0 0; r square 12 31.6 0 20", 1.6, 0, engine.Yes, engine.No},
		{"a guide just does not touch", "2.5; A small 0 0 0; r square 12 31.61 0 20", 1.61, 1, engine.No, engine.No},
		{"between the guides nothing overlaps", "2.5; A small 0 0 0; r square 0 25.5 0 10", 0.5, 1, engine.No, engine.No},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := enginetest.Scene(t, c.scene)
			r, err := engine.Measure(&s, engine.Options{})
			require.NoError(t, err)
			require.Len(t, r.Objects, 1)
			o := r.Objects[0]
			assert.InDelta(t, c.distance, float64(o.Range.Distance), 1e-9)
			assert.Equal(t, c.band, o.Range.Band)
			assert.Equal(t, c.contact, o.Contact)
			assert.Equal(t, c.overlap, o.Overlap)
		})
	}
	s := enginetest.Scene(t, "2.5; A small 0 0 0; r square 12 30.5 0 20")
	p := engine.Nominal()
	p.Guides = false
	s.Dimensions = &p
	r, err := engine.Measure(&s, engine.Options{})
	require.NoError(t, err)
	assert.Equal(t, engine.No, r.Objects[0].Overlap, "a profile without guides has none")
	assert.Equal(t, engine.No, r.Objects[0].Contact)
}

func TestProblems(t *testing.T) {
	s := enginetest.Scene(t, "2.5; A small 15 100 0; B small 300 300 0; C small 330 310 0; D small 20 400 0")
	s.MatWidth, s.MatHeight = 914.4, 914.4
	r, err := engine.Measure(&s, engine.Options{})
	require.NoError(t, err)
	require.Len(t, r.Problems, 2, "a base flush with the edge is still inside")
	assert.Equal(t, engine.Problem{ID: "A", Problem: "outside the play area", Margin: 5}, r.Problems[0])
	assert.Equal(t, engine.Problem{ID: "C", Problem: "overlaps B", Margin: 10}, r.Problems[1])

	for i := range s.Ships { // a measured table says so only when it is sure
		s.Ships[i].Covariance = geom.Cov3{0: 9, 4: 9}
	}
	r, err = engine.Measure(&s, engine.Options{})
	require.NoError(t, err)
	assert.Empty(t, r.Problems)
}

func TestSigmaOfADistance(t *testing.T) {
	cov := geom.Cov3{0: 0.06, 4: 0.06}
	s := enginetest.Scene(t, "2.5; A small 0 0 0; B small 0 250 45")
	s.Ships[0].Covariance = cov
	got := enginetest.MeasurePair(t, &s, 3)
	assert.InDelta(t, math.Sqrt(0.06), float64(got.Range.Sigma), 1e-9, "one ship uncertain")
	s.Ships[1].Covariance = cov
	got = enginetest.MeasurePair(t, &s, 3)
	assert.InDelta(t, math.Sqrt(0.12), float64(got.Range.Sigma), 1e-9, "both")
	s.ScaleSigma = 0.0003
	got = enginetest.MeasurePair(t, &s, 3)
	d := float64(got.Range.Distance)
	assert.InDelta(t, math.Sqrt(0.12+sq(0.0003*d)), float64(got.Range.Sigma), 1e-9, "and the scale")

	s = enginetest.Scene(t, "2.5; A small 0 0 0; B small 100 250 30") // the nearest corner is off B's centre line
	s.Ships[1].Covariance = geom.Cov3{8: sq(0.2 * math.Pi / 180)}
	got = enginetest.MeasurePair(t, &s, 3)
	const h = 1e-4
	turned := enginetest.Scene(t, fmt.Sprintf("2.5; A small 0 0 0; B small 100 250 %.9f", 30+h*180/math.Pi))
	slope := float64(enginetest.MeasurePair(t, &turned, 3).Range.Distance-got.Range.Distance) / h
	assert.Greater(t, math.Abs(slope), 3.0)
	assert.InDelta(t, math.Abs(slope)*0.2*math.Pi/180, float64(got.Range.Sigma), 1e-3, "the heading's lever")
}

func sq(x float64) float64 { return x * x }

func TestParallelEdgesHaveTheSigmaOfTheirLooserEnd(t *testing.T) {
	s := enginetest.Scene(t, "2.5; A small 0 0 0; B large 0 160 0")
	const turn = 0.3 * math.Pi / 180
	s.Ships[1].Covariance = geom.Cov3{8: sq(turn)}
	got := enginetest.MeasurePair(t, &s, 3)
	assert.InDelta(t, 20*turn+140*3*sq(turn)/2, float64(got.Range.Sigma), 1e-4, "20 mm of B's edge face A, 140 mm from B's centre")
}

func TestTouchingShipsOnAMeasuredTableAreTooCloseToCall(t *testing.T) {
	s := enginetest.Scene(t, "2.5; A small 0 0 0; B small 0 43.2 0")
	s.Ships[0].Covariance = geom.Cov3{0: 0.06, 4: 0.06, 8: 1e-5}
	got := enginetest.MeasurePair(t, &s, 3)
	assert.Equal(t, engine.Indeterminate, got.Contact)
	assert.Equal(t, []int{0, 1}, got.Range.Possible)
	assert.Equal(t, engine.Indeterminate, got.Range.Outcome)
	s.Rules = engine.Rules1e
	got = enginetest.MeasurePair(t, &s, 3)
	assert.Equal(t, []int{1}, got.Range.Possible, "in the first edition both are range 1")
	assert.Equal(t, engine.Yes, got.Range.Outcome)
}

func TestABandThatFitsIsListed(t *testing.T) {
	s := enginetest.Scene(t, "2.5; A small 0 0 0; B small 0 239.9 45")
	s.Ships[1].Pose.Y = 200 + 20 + 20*math.Sqrt2 - 0.1
	s.Ships[1].Covariance = geom.Cov3{0: 0.04, 4: 0.04}
	got := enginetest.MeasurePair(t, &s, 3).Range
	assert.Equal(t, []int{2, 3}, got.Possible)
	assert.Equal(t, 2, got.Band)
	assert.Equal(t, engine.Indeterminate, got.Outcome)
	got = enginetest.MeasurePair(t, &s, 0.4).Range
	assert.Equal(t, []int{2}, got.Possible)
	assert.Equal(t, engine.Yes, got.Outcome)
}

// transformed returns the scene moved, turned and perhaps mirrored as a whole.
func transformed(s engine.Scene, by geom.Pose, mirror bool) engine.Scene {
	s.Ships = append([]engine.Ship(nil), s.Ships...)
	for i := range s.Ships {
		p := &s.Ships[i].Pose
		if mirror {
			p.X, p.Heading = -p.X, -p.Heading
		}
		p.Point = by.Transform(p.Point)
		p.Heading += by.Heading
		// Circular covariances need no turning; so the tests use those.
	}
	return s
}

func sameRange(t *testing.T, a, b engine.RangeVerdict, what string) {
	t.Helper()
	assert.InDelta(t, float64(a.Distance), float64(b.Distance), 1e-7, what)
	assert.InDelta(t, float64(a.Sigma), float64(b.Sigma), 1e-5, what)
	if a.Margin > 1e-6 {
		assert.Equal(t, a.Band, b.Band, what)
	}
}

func TestIdentities(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	mirrored := map[engine.Arc]engine.Arc{engine.ArcLeft: engine.ArcRight, engine.ArcRight: engine.ArcLeft}
	for n := range 400 {
		s := randomScene(r)
		for i := range s.Ships {
			v := sq(0.1 + 0.4*r.Float64())
			s.Ships[i].Covariance = geom.Cov3{0: v, 4: v, 8: sq(0.2 * r.Float64() * math.Pi / 180)}
		}
		got := enginetest.MeasurePair(t, &s, 3)

		back, err := engine.MeasurePair(&s, "B", "A", engine.Options{})
		require.NoError(t, err)
		sameRange(t, got.Range, back.Range, "swapped")
		assert.Equal(t, got.Contact, back.Contact)

		by := geom.Pose{Point: geom.Point{X: 3000 * r.NormFloat64(), Y: 3000 * r.NormFloat64()}, Heading: geom.Angle(6 * r.Float64())}
		for _, mirror := range []bool{false, true} {
			moved := transformed(s, by, mirror)
			other := enginetest.MeasurePair(t, &moved, 3)
			what := fmt.Sprintf("scene %d moved by %v, mirror %v", n, by, mirror)
			sameRange(t, got.Range, other.Range, what)
			for _, a := range got.Arcs {
				arc := a.Arc
				if m, ok := mirrored[arc]; ok && mirror {
					arc = m
				}
				b := enginetest.ArcNamed(t, other, arc)
				assert.InDelta(t, float64(a.Margin), float64(b.Margin), 1e-7, what)
				if math.Abs(float64(a.Margin)) < 1e-6 {
					continue
				}
				assert.Equal(t, a.InArc, b.InArc, "%s: %v", what, a.Arc)
				if a.Attack != nil && b.Attack != nil {
					assert.InDelta(t, float64(a.Attack.Distance), float64(b.Attack.Distance), 1e-6, what)
				}
			}
		}
		if t.Failed() {
			t.Fatalf("%+v", s)
		}
	}
}

// decided lists the questions that a verdict decides.
func decided(v engine.PairVerdict) map[string]bool {
	d := map[string]bool{}
	if v.Range.Outcome == engine.Yes {
		d["range"] = true
	}
	if v.Contact != engine.Indeterminate {
		d["contact"] = true
	}
	for _, a := range v.Arcs {
		if a.InArc != engine.Indeterminate {
			d["in "+a.Arc.String()] = true
		}
		if a.InArc == engine.Yes && a.Attack.Outcome == engine.Yes {
			d["attack "+a.Arc.String()] = true
		}
	}
	return d
}

func TestGrowingUncertaintyNeverDecidesMore(t *testing.T) {
	if testing.Short() {
		t.Skip("needs many draws, in one goroutine: nothing for the race detector")
	}
	r := rand.New(rand.NewPCG(9, 10))
	for range 600 {
		s := randomScene(r)
		nearBandEdge(t, r, &s, 1)
		enginetest.Uncertain(r, &s.Ships[0], 1)
		enginetest.Uncertain(r, &s.Ships[1], 1)
		before := decided(enginetest.MeasurePair(t, &s, 3))
		sigmas := decided(enginetest.MeasurePair(t, &s, 4.5))
		for i := range s.Ships {
			for j := range s.Ships[i].Covariance {
				s.Ships[i].Covariance[j] *= 2.25
			}
		}
		s.ScaleSigma *= 1.5
		grown := decided(enginetest.MeasurePair(t, &s, 3))
		for q := range grown {
			require.True(t, before[q], "%s is decided only when less is known: %+v", q, s)
		}
		for q := range sigmas {
			require.True(t, before[q], "%s is decided only at more sigmas: %+v", q, s)
		}
	}
}

func TestUnmeasurableScenesAreRefused(t *testing.T) {
	good := func() engine.Scene {
		return enginetest.Scene(t, "2.5; A small 0 0 0; B small 0 100 0; r square 0 50 0 10")
	}
	for name, spoil := range map[string]func(*engine.Scene){
		"rules: expected 1e, 2.0 or 2.5":    func(s *engine.Scene) { s.Rules = 0 },
		"ships[1] (B): x_mm":                func(s *engine.Scene) { s.Ships[1].Pose.X = 1e308 },
		"ships[0] (A): y_mm":                func(s *engine.Scene) { s.Ships[0].Pose.Y = math.NaN() },
		"ships[0] (A): heading_deg":         func(s *engine.Scene) { s.Ships[0].Pose.Heading = geom.Angle(math.Inf(1)) },
		"ships[1]: id: \"A\" appears twice": func(s *engine.Scene) { s.Ships[1].ID = "A" },
		"ships[0] (A): base":                func(s *engine.Scene) { s.Ships[0].Base = 17 },
		"ships[0] (A): covariance":          func(s *engine.Scene) { s.Ships[0].Covariance[0] = -1 },
		"positive semi-definite":            func(s *engine.Scene) { s.Ships[0].Covariance = geom.Cov3{0: 1, 1: 2, 3: 2, 4: 1} },
		"symmetric":                         func(s *engine.Scene) { s.Ships[0].Covariance = geom.Cov3{0: 1, 1: 0.5, 4: 1} },
		"obstacles[0] (r): outline_mm":      func(s *engine.Scene) { s.Obstacles[0].Outline = s.Obstacles[0].Outline[:2] },
		"edge from vertex":                  func(s *engine.Scene) { o := s.Obstacles[0].Outline; o[0], o[1] = o[1], o[0] },
		"profile: small_mm":                 func(s *engine.Scene) { p := engine.Nominal(); p.Small = 0; s.Dimensions = &p },
		"profile: expected nominal":         func(s *engine.Scene) { s.Profile = "mine" },
		"scale_sigma":                       func(s *engine.Scene) { s.ScaleSigma = math.NaN() },
		"ships[0] (A): turret":              func(s *engine.Scene) { s.Ships[0].Turret = "up" },
	} {
		s := good()
		spoil(&s)
		_, err := engine.Measure(&s, engine.Options{})
		if assert.Error(t, err, name) {
			assert.Contains(t, err.Error(), name)
		}
	}
	s := good()
	for _, k := range []float64{-1, math.NaN(), math.Inf(1)} {
		_, err := engine.Measure(&s, engine.Options{Sigmas: k})
		assert.ErrorContains(t, err, "sigmas")
	}
	_, err := engine.MeasurePair(&s, "A", "X", engine.Options{})
	assert.ErrorIs(t, err, engine.ErrNoShip)
}

func TestNoVerdictHasNaN(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	finite := func(v engine.RangeVerdict, s engine.Scene) {
		for _, x := range []geom.Length{v.Distance, v.Sigma, v.Margin} {
			if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) || x < 0 {
				t.Fatalf("%+v: %+v", v, s)
			}
		}
	}
	for range enginetest.Shorter(800, 60) {
		s := randomScene(r)
		switch r.IntN(4) {
		case 0:
			s.Ships[1].Pose = s.Ships[0].Pose
		case 1:
			s.Ships[1].Pose.Point = s.Ships[0].Pose.Point.Add(geom.Point{X: 60 * r.NormFloat64(), Y: 1e-12 * r.NormFloat64()})
		case 2:
			s.Ships[0].Pose.X, s.Ships[0].Pose.Y = 1e6, -1e6
		}
		if r.IntN(2) == 0 {
			enginetest.Uncertain(r, &s.Ships[0], 1000*r.Float64())
		}
		s.Obstacles = []engine.Obstacle{{ID: "r", Outline: enginetest.Star(r, 5, 60), Sigma: geom.Length(r.Float64()), Pose: s.Ships[1].Pose}}
		res, err := engine.Measure(&s, engine.Options{})
		require.NoError(t, err)
		for _, p := range res.Pairs {
			finite(p.Range, s)
			for _, a := range p.Arcs {
				require.False(t, math.IsNaN(float64(a.Margin)) || math.IsNaN(float64(a.Sigma)) || math.IsInf(float64(a.Sigma), 0), "%+v: %+v", a, s)
				if a.Attack != nil {
					finite(a.Attack.RangeVerdict, s)
				}
			}
		}
		for _, o := range res.Objects {
			finite(o.Range, s)
		}
	}
}

// A line turns about the corner at its end: near that corner a rock is passed as surely as the
// corner is known, however far the other end slides along its side.
func TestALineIsKnownBestNearTheCornerAtItsEnd(t *testing.T) {
	for _, c := range []struct {
		along float64 // of the way from the corner
		want  string
	}{{0.2, "never"}, {0.5, "too_close"}, {0.8, "too_close"}} {
		s := engine.Scene{Rules: engine.Rules25, Ships: []engine.Ship{
			{ID: "A", Base: engine.Large, Covariance: geom.Cov3{8: 4e-5}},
			{ID: "B", Base: engine.Small, Pose: geom.Pose{Point: geom.Point{Y: 40 + 200 + 20*math.Sqrt2}, Heading: 45 * geom.Degree},
				Covariance: geom.Cov3{0: 0.01, 4: 0.01}},
		}}
		square := []geom.Point{{X: 0, Y: -10}, {X: 20, Y: -10}, {X: 20, Y: 10}, {X: 0, Y: 10}}
		s.Obstacles = []engine.Obstacle{{ID: "rock", Outline: square,
			Pose: geom.Pose{Point: geom.Point{X: 1.5, Y: 240 - 200*c.along}}}}
		v, err := engine.MeasurePair(&s, "A", "B", engine.Options{})
		require.NoError(t, err)
		assert.Equal(t, c.want, enginetest.ArcNamed(t, v, engine.ArcFront).Attack.Obstruction.Verdict, "%v of the way", c.along)
	}
}

// The other way round: a side turns before a corner straight ahead. Its normal turns too, so the lever is the way to the corner.
func TestASideThatTurnsComesNearerToTheCornerAhead(t *testing.T) {
	sd := float64(geom.Degree)
	nearer := 120 * (1 - math.Cos(3*sd)) // 0.16 mm: of the 120 mm from A's centre to B's corner
	for _, c := range []struct {
		margin float64 // mm above 100
		want   []int
	}{{0.6 * nearer, []int{1, 2}}, {1.5 * nearer, []int{2}}} {
		s := enginetest.Scene(t, "2.5; A small 300 300 0; B small 300 600 45")
		s.Ships[1].Pose.Y = 300 + 20 + 100 + c.margin + 20*math.Sqrt2
		s.Ships[0].Covariance = geom.Cov3{8: sd * sd}
		got := enginetest.MeasurePair(t, &s, 3)
		require.Equal(t, c.want, got.Range.Possible, "%+v", c)
		s.Ships[0].Pose.Heading, s.Ships[0].Covariance = geom.Angle(3*sd), geom.Cov3{}
		require.Contains(t, got.Range.Possible, enginetest.MeasurePair(t, &s, 3).Range.Band)
	}
}

// What would change an attack's range next to contact is contact, with the guides, as for the range between the bases.
func TestTheMarginOfAnAttackCountsTheWayToContactToo(t *testing.T) {
	for rules, margin := range map[string]float64{"1e": 90, "2.0": 10 - 2*1.6, "2.5": 10 - 2*1.6} {
		s := enginetest.Scene(t, rules+"; A small 0 0 0; B small 0 50 0")
		p := enginetest.MeasurePair(t, &s, 3)
		require.InDelta(t, margin, p.Range.Margin.Millimeters(), 1e-9, rules)
		require.InDelta(t, margin, enginetest.ArcNamed(t, p, engine.ArcFront).Attack.Margin.Millimeters(), 1e-9, rules)
	}
}

// A rock that reaches past the end of the line is met, if at all, near that end: what counts is how well the ship there is known, not
// the other one.
func TestARockPastTheEndOfALineIsAsUncertainAsThatEnd(t *testing.T) {
	clear := []geom.Point{{X: 301, Y: 332}, {X: 321, Y: 324}, {X: 321, Y: 340}}
	deep := []geom.Point{{X: 297, Y: 332}, {X: 321, Y: 324}, {X: 321, Y: 342}}
	for _, c := range []struct {
		name    string
		sd      [2]float64 // of the two ships, mm; the rock lies at the first
		outline []geom.Point
		want    string
	}{
		{"1 mm off, at the well-known ship", [2]float64{0.05, 1}, clear, "never"},
		{"1 mm off, at the badly known ship", [2]float64{1, 0.05}, clear, "too_close"},
		{"1 mm deep, at the well-known ship", [2]float64{0.05, 1}, deep, "must"},
		{"1 mm deep, at the badly known ship", [2]float64{1, 0.05}, deep, "too_close"},
	} {
		// From corner to corner: the line runs from (300, 328.3) to (300, 571.7).
		s := enginetest.Scene(t, "2.5; A small 300 300 45; B small 300 600 45")
		for i, sd := range c.sd {
			s.Ships[i].Covariance = geom.Cov3{0: sd * sd, 4: sd * sd}
		}
		s.Obstacles = []engine.Obstacle{{ID: "rock", Outline: c.outline}}
		for _, p := range enginetest.Measured(t, s).Pairs { // it lies at the end, or at the beginning
			arc := engine.ArcFullFront
			if p.From == "B" {
				arc = engine.ArcFullRear
			}
			require.Equal(t, c.want, enginetest.ArcNamed(t, p, arc).Attack.Obstruction.Verdict, "%s, from %s", c.name, p.From)
		}
	}
}

// A corner that points at the other base only moves away when its ship turns, and to first order it does not move at all. Where little
// else is uncertain, that decides.
func TestATurnShortensALeverTowardsTheOtherShip(t *testing.T) {
	sd := float64(geom.Degree)
	shorter := 20 * math.Sqrt2 * (1 - math.Cos(3*sd)) // 0.039 mm
	for _, c := range []struct {
		margin float64 // mm below 100
		drift  bool    // the ship slides as it turns, so that a point 200 mm ahead of it stays
		want   []int
	}{
		{0.6 * shorter, false, []int{1, 2}},
		{0.6 * shorter, true, []int{1, 2}},
		{1.5 * shorter, false, []int{1}},
	} {
		s := enginetest.Scene(t, "2.5; A small 300 300 45; B small 300 600 0")
		s.Ships[1].Pose.Y = 300 + 20*math.Sqrt2 + 100 - c.margin + 20
		s.Ships[0].Covariance = geom.Cov3{8: sd * sd}
		if c.drift {
			s.Ships[0].Covariance = geom.Cov3{0: geom.Sq(200 * sd), 2: -200 * sd * sd, 6: -200 * sd * sd, 8: sd * sd}
		}
		got := enginetest.MeasurePair(t, &s, 3)
		require.Equal(t, c.want, got.Range.Possible, "%+v", c)
		turned := s
		turned.Ships = slices.Clone(s.Ships)
		turned.Ships[0].Pose.Heading += geom.Angle(3 * sd)
		if c.drift {
			turned.Ships[0].Pose.X -= 200 * 3 * sd
		}
		truth := enginetest.MeasurePair(t, &turned, 3)
		require.Contains(t, got.Range.Possible, truth.Range.Band)
	}
}
