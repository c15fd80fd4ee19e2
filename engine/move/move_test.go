package move_test

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/engine/internal/enginetest"
	"sightline/engine/move"
	"sightline/engine/scenefile"
)

// moved executes a maneuver in a scene of the tests' one-line form.
func moved(t testing.TB, s engine.Scene, ship, maneuver string) move.Result {
	t.Helper()
	m, err := move.ParseManeuver(maneuver)
	require.NoError(t, err)
	r, err := move.Execute(&s, ship, m, engine.Options{})
	require.NoError(t, err)
	return r
}

func repositioned(t testing.TB, s engine.Scene, ship, action string) move.Result {
	t.Helper()
	a, err := move.ParseAction(action)
	require.NoError(t, err)
	r, err := move.Reposition(&s, ship, a, engine.Options{})
	require.NoError(t, err)
	return r
}

func assertPose(t testing.TB, x, y, deg float64, got geom.Pose) {
	t.Helper()
	assert.InDelta(t, x, got.X, 1e-9, "x")
	assert.InDelta(t, y, got.Y, 1e-9, "y")
	assert.InDelta(t, 0, (got.Heading - geom.Angle(deg)*geom.Degree).Signed().Degrees(), 1e-9, "heading %v", got.Heading)
}

const r45 = math.Sqrt2 / 2 // sine and cosine of 45°

func TestTheFullPoseOfEveryManeuver(t *testing.T) {
	for _, c := range []struct {
		rule, maneuver string
		x, y, deg      float64 // of a small base from the origin, nose along +y
	}{
		{"G122 G123 from the front edge to the rear edge: a straight 1 moves a small base by 80", "straight 1", 0, 80, 0},
		{"a straight 5", "straight 5", 0, 240, 0},
		{"G126 a bank turns by 45°", "bank right 1", 80 - 80*r45 + 20*r45, 20 + 80*r45 + 20*r45, 45},
		{"G126 a bank to the left", "bank left 2", -(130 - 130*r45 + 20*r45), 20 + 130*r45 + 20*r45, 315},
		{"G127 a turn turns by 90°", "turn right 2", 62.5 + 20, 20 + 62.5, 90},
		{"G127 a turn to the left", "turn left 3", -110, 110, 270},
		{"G128 a Koiogran turn turns about on the spot", "koiogran 4", 0, 200, 180},
		{"G129 a Segnor's loop turns by 225°", "segnor right 3", 180 - 180*r45 + 20*r45, 20 + 180*r45 + 20*r45, 225},
		{"G139 stationary counts and moves nothing", "stationary", 0, 0, 0},
		{"G140 reverse straight", "reverse straight 1", 0, -80, 0},
		{"G140 a reverse left bank backs toward the left rear and the nose turns right", "reverse bank left 1", -(80 - 80*r45 + 20*r45),
			-(20 + 80*r45 + 20*r45), 45},
		{"G140 reverse bank right", "reverse bank right 1", 80 - 80*r45 + 20*r45, -(20 + 80*r45 + 20*r45), 315},
		{"G130 G132 a Tallon roll in the middle", "tallon right 1 middle", 55, 55, 180},
		{"G132 at the left of the template's end", "tallon right 1 left", 55, 65, 180},
		{"G132 at the right of the template's end", "tallon right 1 right", 55, 45, 180},
		{"G132 a left Tallon roll at the left of the end", "tallon left 1 left", -55, 45, 180},
	} {
		t.Run(c.rule, func(t *testing.T) {
			for _, rules := range []string{"1e", "2.0", "2.5"} {
				r := moved(t, enginetest.Scene(t, rules+"; A small 0 0 0"), "A", c.maneuver)
				assertPose(t, c.x, c.y, c.deg, r.Final)
				assertPose(t, c.x, c.y, c.deg, r.Full)
				assert.True(t, r.FullyExecuted)
				assert.Equal(t, c.maneuver, r.Maneuver)
			}
		})
	}
}

func TestTemplatesHaveTheProfilesRadii(t *testing.T) {
	s := enginetest.Scene(t, "2.5; A large 0 0 0")
	s.Profile = "measured"
	assertPose(t, 35.4+40, 40+35.4, 90, moved(t, s, "A", "turn right 1").Full)
	own := engine.Nominal()
	own.Turn[0] = 37
	s.Dimensions = &own
	assertPose(t, 37+40, 40+37, 90, moved(t, s, "A", "turn right 1").Full)
}

func TestOverlaps(t *testing.T) {
	t.Run("G103 G118 guides count: a straight 1 does not clear a touching small base", func(t *testing.T) {
		for _, gap := range []struct {
			mm   float64
			free bool
		}{{0, false}, {1.59, false}, {3.19, false}, {3.21, true}} {
			s := enginetest.Scene(t, "2.5; A small 0 0 0; B small 0 40 0")
			s.Ships[1].Pose.Y = 40 - gap.mm
			r := moved(t, s, "A", "straight 1")
			assert.Equal(t, gap.free, r.FullyExecuted, "gap %v", gap.mm)
		}
	})
	t.Run("without guides it does", func(t *testing.T) {
		s := enginetest.Scene(t, "2.5; A small 0 0 0; B small 0 40 0")
		p := engine.Nominal()
		p.Guides = false
		s.Dimensions = &p
		r := moved(t, s, "A", "straight 1")
		assert.True(t, r.FullyExecuted, "contact is not an overlap")
		assert.Equal(t, []string{"B"}, r.Touching)
	})
	t.Run("G104 G109 G110 back along the template into contact", func(t *testing.T) {
		r := moved(t, enginetest.Scene(t, "2.5; A small 0 0 0; B small 0 100 0"), "A", "straight 2")
		assert.False(t, r.FullyExecuted)
		assertPose(t, 0, 60-3.2, 0, r.Final) // guides against guides
		assertPose(t, 0, 120, 0, r.Full)
		assert.Equal(t, []string{"B"}, r.FirstOverlapped)
		assert.Equal(t, []string{"B"}, r.Touching)
	})
	t.Run("G104 the first free place going back, not the nearest free one", func(t *testing.T) {
		// Nearest along the line is 3 mm further on; back there are two ships to leave.
		s := enginetest.Scene(t, "2.5; A small 0 0 0; B small 0 157 0; C small 0 95 0")
		r := moved(t, s, "A", "straight 4")
		assertPose(t, 0, 95-43.2, 0, r.Final)
		assert.Equal(t, []string{"B"}, r.FirstOverlapped, "G113 what forced it")
		assert.Equal(t, []string{"C"}, r.Touching, "G110 the last it backed over")
		assert.Equal(t, []string{"B"}, r.Overlapped, "G113: 2.5 asks for the first")
		s.Rules = engine.Rules1e
		assert.Equal(t, []string{"C"}, moved(t, s, "A", "straight 4").Overlapped, "G112: 1e asks for the last")
	})
	t.Run("G111 it may not leave its place", func(t *testing.T) {
		r := moved(t, enginetest.Scene(t, "2.0; A small 0 0 0; B small 0 43.2 0"), "A", "straight 1")
		assertPose(t, 0, 0, 0, r.Final)
		assert.Equal(t, []string{"B"}, r.Touching)
	})
	t.Run("G114 of a friend and an enemy overlapped at once the friend counts in 2.5", func(t *testing.T) {
		s := enginetest.Scene(t, "2.5; A large 0 0 0; B small -25 130 0; C small 25 130 0")
		for _, c := range []struct {
			rules   engine.Rules
			a, b, c int
			want    []string
		}{
			{engine.Rules25, 1, 1, 2, []string{"B"}},
			{engine.Rules25, 2, 1, 2, []string{"C"}},
			{engine.Rules25, 1, 2, 2, []string{"B", "C"}}, // enemies only: any of them
			{engine.Rules25, 1, 1, 1, []string{"B", "C"}}, // friends only
			{engine.Rules25, 0, 1, 2, []string{"B", "C"}}, // whose ship it is no one knows
			{engine.Rules25, 1, 1, 0, []string{"B", "C"}}, // C may be a friend too
			{engine.Rules20, 1, 1, 2, []string{"B", "C"}}, // 2.0 has no such rule
			{engine.Rules1e, 1, 1, 2, []string{"B", "C"}}, // nor has the first edition
		} {
			s.Rules = c.rules
			s.Ships[0].Player, s.Ships[1].Player, s.Ships[2].Player = c.a, c.b, c.c
			r := moved(t, s, "A", "straight 2")
			assert.Equal(t, c.want, r.Overlapped, "%+v", c)
			assert.Equal(t, []string{"B", "C"}, r.FirstOverlapped, "both are overlapped all the same")
		}
	})
	t.Run("G100 G101 aligned blockers are both touched", func(t *testing.T) {
		r := moved(t, enginetest.Scene(t, "1e; A large 0 0 0; B small -25 130 0; C small 25 130 0"), "A", "straight 2")
		assert.Equal(t, []string{"B", "C"}, r.Touching)
		assert.Equal(t, []string{"B", "C"}, r.FirstOverlapped)
	})
	t.Run("G115 G116 G163 a template over a ship is moving through it", func(t *testing.T) {
		r := moved(t, enginetest.Scene(t, "2.5; A small 0 0 0; B small 0 80 0"), "A", "straight 4")
		assert.True(t, r.FullyExecuted)
		assert.Equal(t, []string{"B"}, r.MovedThrough)
		assertPose(t, 0, 200, 0, r.Final)
	})
	t.Run("G124 G125 the width of the base counts only at the ends", func(t *testing.T) {
		r := moved(t, enginetest.Scene(t, "2.5; A large 0 0 0; B small 35 110 0"), "A", "straight 5")
		assert.True(t, r.FullyExecuted)
		assert.Empty(t, r.MovedThrough)
	})
	t.Run("G134 G135 no turning about when partial", func(t *testing.T) {
		assertPose(t, 0, 160-43.2, 0, moved(t, enginetest.Scene(t, "2.5; A small 0 0 0; B small 0 160 0"), "A", "koiogran 3").Final)
		r := moved(t, enginetest.Scene(t, "1e; A small 0 0 0; B small 60 130 0"), "A", "segnor right 2")
		assert.False(t, r.FullyExecuted)
		assert.Less(t, r.Final.Heading.Degrees(), 45.0)
	})
	t.Run("G137 obstacles do not stop the turning about", func(t *testing.T) {
		r := moved(t, enginetest.Scene(t, "2.5; A small 0 0 0; rock square 0 160 0 30"), "A", "koiogran 3")
		assertPose(t, 0, 160, 180, r.Final)
		assert.Equal(t, []move.Hit{{ID: "rock", Template: engine.No, Base: engine.Yes}}, r.Obstacles)
	})
	t.Run("G95 G97 G98 contact without an overlap is not touching in 1e, and is range 0 after", func(t *testing.T) {
		s := enginetest.Scene(t, "1e; A small 0 0 0; B small 40 120 0")
		assert.Empty(t, moved(t, s, "A", "straight 2").Touching)
		s.Rules = engine.Rules25
		assert.Equal(t, []string{"B"}, moved(t, s, "A", "straight 2").Touching)
	})
	t.Run("overlapping at the start already", func(t *testing.T) {
		r := moved(t, enginetest.Scene(t, "2.5; A small 0 0 0; B large 0 30 0"), "A", "straight 1")
		assertPose(t, 0, 0, 0, r.Final)
		assert.False(t, r.FullyExecuted)
	})
}

func TestTallonRolls(t *testing.T) {
	t.Run("G132 three places, each with its legality", func(t *testing.T) {
		r := moved(t, enginetest.Scene(t, "2.5; A small 0 0 0; B small 55 98 0"), "A", "tallon right 1")
		require.Len(t, r.Options, 3)
		assert.True(t, r.Chosen)
		assert.Equal(t, "left", r.Options[0].Name)
		assert.Equal(t, engine.No, r.Options[0].Legal, "not judged at the middle place")
		assert.Equal(t, "overlaps B", r.Options[0].Why)
		assert.Equal(t, engine.Yes, r.Options[2].Legal)
		assert.True(t, r.FullyExecuted)
	})
	t.Run("G136 none free: no 90°, and back", func(t *testing.T) {
		for _, rules := range []string{"1e", "2.0", "2.5"} {
			r := moved(t, enginetest.Scene(t, rules+"; A small 0 0 0; B large 60 60 0"), "A", "tallon right 1")
			assert.False(t, r.Chosen)
			assert.False(t, r.FullyExecuted)
			assert.LessOrEqual(t, r.Final.Heading.Degrees(), 90.0)
			assert.Equal(t, []string{"B"}, r.FirstOverlapped)
		}
	})
	t.Run("G131 G133 1e slides the whole side and must avoid ships if it can", func(t *testing.T) {
		r := moved(t, enginetest.Scene(t, "1e; A large 0 0 0; B small 75 143 0"), "A", "tallon right 1")
		assert.True(t, r.Chosen)
		legal := legalSlides(r)
		require.Len(t, legal, 1)
		// Slides run along the template's end: +x of the travel, here toward -y. The
		// ship points backward, so that its rear guides face B's.
		assert.InDelta(t, 75+40+20+1.6+1.8-143, legal[0][0], 1e-9)
		assert.InDelta(t, 30, legal[0][1], 1e-9)
	})
	t.Run("G133 1e also at a chosen place: it avoids ships, and the player chooses another", func(t *testing.T) {
		for _, c := range []struct {
			ships, roll string
			chosen      bool
			inFull      engine.Outcome
		}{
			{"1e; A large 0 0 0; B small 75 143 0", "tallon right 1 left", true, engine.Yes}, // free on the right
			{"1e; A large 0 0 0; B small 75 143 0", "tallon right 1 right", false, engine.Yes},
			{"2.0; A large 0 0 0; B small 75 143 0", "tallon right 1 left", false, engine.No},
			{"1e; A small 0 0 0; B large 60 60 0", "tallon right 1 left", false, engine.No}, // no place is free
		} {
			r := moved(t, enginetest.Scene(t, c.ships), "A", c.roll)
			assert.Equal(t, c.chosen, r.Chosen, c)
			assert.Equal(t, c.inFull, r.InFull, c)
		}
	})
	t.Run("G137 obstacles do not cancel the 90°", func(t *testing.T) {
		r := moved(t, enginetest.Scene(t, "2.0; A small 0 0 0; rock square 55 55 0 20"), "A", "tallon right 1 middle")
		assertPose(t, 55, 55, 180, r.Final)
	})
}

// legalSlides returns the legal intervals of a continuous choice.
func legalSlides(r move.Result) [][2]float64 {
	var legal [][2]float64
	for _, o := range r.Options {
		if o.Range && o.Legal == engine.Yes {
			legal = append(legal, [2]float64{o.From.Millimeters(), o.To.Millimeters()})
		}
	}
	return legal
}

func TestObstaclesAndDevicesOnTheWay(t *testing.T) {
	hit := func(id string, template, base engine.Outcome) move.Hit {
		return move.Hit{ID: id, Template: template, Base: base}
	}
	t.Run("G162 G181 template and base apart, G168 in order from the start", func(t *testing.T) {
		s := enginetest.Scene(t, "2.5; A small 0 0 0; far square 0 160 0 10; near square 8 60 0 10; aside square 25 60 0 10")
		r := moved(t, s, "A", "straight 3")
		assert.Equal(t, []move.Hit{hit("near", engine.Yes, engine.No), hit("far", engine.No, engine.Yes)}, r.Obstacles)
	})
	t.Run("G164 G165 G167 cut at the final pose", func(t *testing.T) {
		s := enginetest.Scene(t, "2.5; A small 0 0 0; B small 0 110 0; rock square 0 106 0 10")
		assert.Equal(t, []move.Hit(nil), moved(t, s, "A", "straight 2").Obstacles, "it stops before the rock")
		s.Ships = s.Ships[:1]
		assert.Equal(t, []move.Hit{hit("rock", engine.No, engine.Yes)}, moved(t, s, "A", "straight 2").Obstacles)
		assert.Equal(t, []move.Hit{hit("rock", engine.Yes, engine.No)}, moved(t, s, "A", "straight 4").Obstacles)
	})
	t.Run("G166 only template and final base, not the sweep of the base", func(t *testing.T) {
		assert.Empty(t, moved(t, enginetest.Scene(t, "1e; A large 0 0 0; rock square 30 90 0 20"), "A", "straight 4").Obstacles)
	})
	t.Run("G138 an obstacle under the start has no effect by itself", func(t *testing.T) {
		assert.Empty(t, moved(t, enginetest.Scene(t, "2.5; A small 0 0 0; rock square 0 0 0 10"), "A", "straight 1").Obstacles)
	})
	t.Run("guides count: a rock between the rear guides' tips and the edge", func(t *testing.T) {
		// G118: the guide's outer corner is at (13.6, 21.6) in front of the final base.
		r := moved(t, enginetest.Scene(t, "2.5; A small 0 0 0; rock square 12 91.5 0 10"), "A", "reverse straight 1")
		assert.Empty(t, r.Obstacles)
		r = moved(t, enginetest.Scene(t, "2.5; A small 0 0 0; rock square 12 106.5 0 10"), "A", "straight 1")
		assert.Equal(t, []move.Hit{hit("rock", engine.No, engine.Yes)}, r.Obstacles)
		r = moved(t, enginetest.Scene(t, "2.5; A small 0 0 0; rock square 0 106.5 0 10"), "A", "straight 1")
		assert.Empty(t, r.Obstacles, "between the guides")
	})
	t.Run("G187 G188 G190 G196 mines moved through and overlapped, each of them", func(t *testing.T) {
		s := enginetest.Scene(t, "2.5; A small 0 0 0")
		for i, y := range []float64{60, 160} {
			s.Devices = append(s.Devices, engine.Token{ID: string(rune('x' + i)), Kind: "bomb", Pose: geom.Pose{Point: geom.Point{Y: y}}})
		}
		assert.Equal(t, []move.Hit{hit("x", engine.Yes, engine.No), hit("y", engine.No, engine.Yes)}, moved(t, s, "A", "straight 3").Devices)
	})
	t.Run("G43 dropped cargo is an obstacle", func(t *testing.T) {
		s := enginetest.Scene(t, "2.5; A small 0 0 0")
		s.Devices = []engine.Token{{ID: "c", Kind: "cargo", Pose: geom.Pose{Point: geom.Point{Y: 100}}}}
		r := moved(t, s, "A", "straight 2")
		assert.Len(t, r.Obstacles, 1)
		assert.Empty(t, r.Devices)
	})
	t.Run("a device of a size that is not known", func(t *testing.T) {
		s := enginetest.Scene(t, "2.5; A small 0 0 0")
		s.Devices = []engine.Token{{ID: "near", Kind: "wibble", Pose: geom.Pose{Point: geom.Point{Y: 60}}}, {ID: "far", Kind: "wibble",
			Pose: geom.Pose{Point: geom.Point{Y: 400}}}}
		assert.Equal(t, []move.Hit{hit("near", engine.NoView, engine.No)}, moved(t, s, "A", "straight 3").Devices)
	})
}

func TestFleeing(t *testing.T) {
	at := func(x, y, deg float64) engine.Scene {
		s := enginetest.Scene(t, "2.5; A small 0 0 0")
		s.MatWidth, s.MatHeight = 914.4, 914.4
		s.Ships[0].Pose = geom.Pose{Point: geom.Point{X: x, Y: y}, Heading: geom.Angle(deg) * geom.Degree}
		return s
	}
	r := moved(t, at(457.2, 914.4-100, 0), "A", "straight 1")
	assert.Equal(t, engine.No, r.Flees, "G117 G197: flush with the edge, and guides do not count")
	assert.InDelta(t, 0, r.Margin.Millimeters(), 1e-9)
	r = moved(t, at(457.2, 914.4-99.9, 0), "A", "straight 1")
	assert.Equal(t, engine.Yes, r.Flees, "G200")
	assert.Equal(t, []string{"far"}, r.Edges)
	r = moved(t, at(890, 850, 45), "A", "straight 1")
	assert.Equal(t, []string{"right", "far"}, r.Edges, "G201: over two edges at once")
	r = moved(t, at(457.2, 30, 180), "A", "turn right 1")
	assert.Equal(t, []string{"near"}, r.Edges)

	s := at(457.2, 914.4-99, 0)
	s.Ships = append(s.Ships, engine.Ship{ID: "B", Base: engine.Small, Pose: geom.Pose{Point: geom.Point{X: 457.2, Y: 914.4 - 25}}})
	r = moved(t, s, "A", "straight 1")
	assert.Equal(t, engine.No, r.Flees, "G199: tested after the back-up")
	assert.False(t, r.FullyExecuted)

	s.MatWidth, s.MatHeight = 0, 0
	assert.Equal(t, engine.NoView, moved(t, s, "A", "straight 1").Flees)

	over := at(40, 870, 0) // G198: the template alone leaves the mat
	assert.Equal(t, engine.No, repositioned(t, over, "A", "barrel-roll right").Flees)
}

func TestDrops(t *testing.T) {
	drop := func(s engine.Scene, d string) move.Result {
		parsed, err := move.ParseDrop(d)
		require.NoError(t, err)
		r, err := move.LayDrop(&s, "A", parsed, engine.Options{})
		require.NoError(t, err)
		return r
	}
	s := enginetest.Scene(t, "2.5; A small 0 0 0; B small 0 -85 0")
	r := drop(s, "straight 1")
	// G182 G195: rear edge, 40 mm of template, then the card, its guides next to the template.
	assertPose(t, 0, -20-40-(32.6/2-1.8), 0, r.Final)
	assert.Equal(t, []string{"B"}, r.FirstOverlapped, "G185")
	r = drop(s, "bank left 1")
	assert.Less(t, r.Final.X, -20.0, "to the ship's own left")
	assert.InDelta(t, 45, r.Final.Heading.Degrees(), 1e-9)
	assert.InDelta(t, 270, drop(s, "turn right 1").Final.Heading.Degrees(), 1e-9)

	s.Ships[1].Pose.Point = geom.Point{X: 60, Y: -82}
	assert.Equal(t, []string{"B"}, drop(s, "straight 1 cluster_mines").FirstOverlapped, "G192 G193: the card at the side")
	assert.Equal(t, drop(s, "straight 1").Final, drop(s, "straight 1 Proton Bombs").Final, "as the card names them")
	_, err := move.ParseDrop("straight 1 foo")
	assert.ErrorContains(t, err, `no such device "foo", expected one of bomb, bomblet, `)
	assert.Empty(t, drop(s, "straight 1").FirstOverlapped)
	s.MatWidth, s.MatHeight = 914.4, 914.4
	assert.Equal(t, engine.No, drop(s, "straight 1").Flees, "G184: nothing flees")

	t.Run("G184: what of a device is off the mat does not count", func(t *testing.T) {
		// Where the card is nearest to A it is off the near edge.
		for _, rules := range []string{"1e", "2.5"} {
			s := enginetest.Scene(t, rules+"; A small 60 22 0")
			s.Devices = []engine.Token{{ID: "bomb", Kind: "mine", Outline: []geom.Point{{X: -30}, {Y: -30}, {X: 30}, {Y: 30}},
				Pose: geom.Pose{Point: geom.Point{X: 0, Y: -20}}}}
			r, err := engine.Measure(&s, engine.Options{})
			require.NoError(t, err)
			whole := r.Objects[0].Range.Distance
			assert.InDelta(t, 32/math.Sqrt2, whole.Millimeters(), 1e-9)
			s.MatWidth, s.MatHeight = 914.4, 914.4
			r, err = engine.Measure(&s, engine.Options{})
			require.NoError(t, err)
			assert.Greater(t, r.Objects[0].Range.Distance, whole)
			assert.InDelta(t, math.Hypot(30, 2), r.Objects[0].Range.Distance.Millimeters(), 1e-9, "to where its side crosses the edge")
		}
		// B hangs over the edge, and only there the bomb lies on it.
		s := enginetest.Scene(t, "1e; A small 100 70 0; B small 140 -9 45")
		assert.Equal(t, []string{"B"}, drop(s, "straight 1").FirstOverlapped)
		s.MatWidth, s.MatHeight = 914.4, 914.4
		assert.Empty(t, drop(s, "straight 1").FirstOverlapped)
	})

	t.Run("G184: a device that is off the mat as a whole counts for nothing", func(t *testing.T) {
		// A hangs over the edge by half, and there the dropped cargo lies under it.
		for _, rules := range []string{"1e", "2.0", "2.5"} {
			s := enginetest.Scene(t, rules+"; A small 100 0 0; B small 100 100 0")
			for _, c := range []struct {
				y     float64
				sigma geom.Length
				on    bool
			}{{-24, 0, true}, {-24.25, 0, false}, {-25, 0.1, false}, {-24.5, 0.1, true}} {
				s.MatWidth, s.MatHeight = 914.4, 914.4
				s.Devices = []engine.Token{{ID: "cargo", Kind: "spare_parts", Sigma: c.sigma, Pose: geom.Pose{Point: geom.Point{X: 100, Y: c.y}}}}
				r, err := engine.Measure(&s, engine.Options{})
				require.NoError(t, err)
				m, err := move.Execute(&s, "A", move.Maneuver{Bearing: move.Stationary}, engine.Options{})
				require.NoError(t, err)
				assert.Equal(t, c.on, len(r.Objects) > 0, "%v %v", rules, c)
				assert.Equal(t, c.on, len(m.Obstacles) > 0, "%v %v", rules, c)
				var why []string
				for _, p := range r.Problems {
					if p.ID == "cargo" {
						why = append(why, p.Problem)
					}
				}
				if !c.on {
					assert.Equal(t, []string{"device not measured: all of it lies outside the play area"}, why)
				}
			}
			s.MatWidth, s.MatHeight = 0, 0
			r, err := engine.Measure(&s, engine.Options{})
			require.NoError(t, err)
			assert.NotEmpty(t, r.Objects, "without a mat it has no edges")
		}
	})
	t.Run("G184: how much of a dropped device is off the mat", func(t *testing.T) {
		for _, c := range []struct {
			x, y  float64
			drop  string
			says  string
			edges []string
		}{
			{300, 30, "straight 1", "wholly", []string{"near"}},
			{300, 58, "straight 1", "wholly", []string{"near"}}, // its front edge, guides and all, 0.2 mm outside
			{300, 58.3, "straight 1", "partly", []string{"near"}},
			{300, 90.7, "straight 1", "partly", []string{"near"}},
			{300, 90.9, "straight 1", "no", nil},
			{300, 900, "launch straight 1", "wholly", []string{"far"}},
			{10, 300, "straight 1", "partly", []string{"left"}},
			{41, 400, "straight 1 cluster_mines", "partly", []string{"left"}}, // one of three cards
			{-30, 20, "straight 1", "wholly", []string{"left", "near"}},
		} {
			s := enginetest.Scene(t, fmt.Sprintf("2.5; A small %g %g 0", c.x, c.y))
			s.MatWidth, s.MatHeight = 914.4, 914.4
			r := drop(s, c.drop)
			assert.Equal(t, c.says, r.Outside, "%v", c)
			assert.Equal(t, c.edges, r.Edges, "%v", c)
			assert.Equal(t, engine.Yes, r.Outcome)
			assert.Equal(t, engine.No, r.Flees, "devices do not flee")
			s.Ships[0].Covariance = geom.Cov3{9, 0, 0, 0, 9, 0, 0, 0, 1e-9}
			if r = drop(s, c.drop); r.Outside == "too_close" {
				assert.Equal(t, engine.Indeterminate, r.Outcome)
				assert.NotEmpty(t, r.Undecided)
			} else {
				assert.Equal(t, c.says, r.Outside, "%v", c)
			}
		}
		s := enginetest.Scene(t, "2.5; A small 300 58 0")
		assert.Equal(t, "no_view", drop(s, "straight 1").Outside, "without a mat")
		s.MatWidth, s.MatHeight = 914.4, 914.4
		s.Ships[0].Covariance = geom.Cov3{0.04, 0, 0, 0, 0.04, 0, 0, 0, 1e-9}
		r := drop(s, "straight 1")
		assert.Equal(t, "too_close", r.Outside)
		assert.Equal(t, []string{"any of the device inside the play area"}, r.Undecided)
		s.Ships[0].Pose.Y = 30
		r = drop(s, "straight 1")
		assert.Equal(t, "wholly", r.Outside)
		assert.InDelta(t, 0.2, r.Sigma.Millimeters(), 0.01)
	})
	t.Run("G195: a launch uses the front guides", func(t *testing.T) {
		s := enginetest.Scene(t, "2.5; A small 0 0 0; B small 0 130 0")
		r := drop(s, "launch straight 2")
		assertPose(t, 0, 20+80+(32.6/2-1.8), 180, r.Final)
		assert.Equal(t, []string{"B"}, r.FirstOverlapped)
		assert.Equal(t, "launch straight 2", r.Maneuver)
		assert.Less(t, drop(s, "launch bank left 1").Final.X, -20.0, "to the ship's own left")
	})
	huge := enginetest.Scene(t, "1e; A huge-195 0 0 0")
	assertPose(t, 0, -97.5-40-(32.6/2-1.8), 0, drop(huge, "straight 1").Final)
}

func TestMovesAreNamedAsPlayersNameThem(t *testing.T) {
	for words, want := range map[string]string{
		"Bank Left 1": "bank left 1", "K-turn 3": "koiogran 3", "Koiogran turn 4": "koiogran 4", "Segnor's loop left 2": "segnor left 2",
		"tallon roll right 3 middle": "tallon right 3 middle", "stop": "stationary", " reverse  bank LEFT 1": "reverse bank left 1",
	} {
		m, err := move.ParseManeuver(words)
		require.NoError(t, err, words)
		assert.Equal(t, want, m.String())
	}
	for words, want := range map[string]string{"Barrel roll left": "barrel-roll left", "barrel_roll right": "barrel-roll right",
		"Boost Straight": "boost straight"} {
		a, err := move.ParseAction(words)
		require.NoError(t, err, words)
		assert.Equal(t, want, a.String())
	}
	_, err := move.ParseManeuver("slam 2")
	assert.ErrorContains(t, err, "a SLAM executes a maneuver of the speed that the ship has executed: ask for that maneuver")
	_, err = move.ParseAction("SLAM")
	assert.ErrorContains(t, err, "ask for that maneuver")
}

func TestHugeShipsHaveNoManeuversHere(t *testing.T) {
	s := enginetest.Scene(t, "1e; A huge-195 0 0 0; B small 0 150 0; rock square 45 0 0 30")
	still := moved(t, s, "A", "stationary")
	assert.Equal(t, s.Ships[0].Pose, still.Final, "G139: standing still needs no template")
	assert.Equal(t, engine.Yes, hitOf(still, "rock").Base)
	_, err := move.Execute(&s, "A", move.Maneuver{Bearing: move.Straight, Speed: 1}, engine.Options{})
	assert.ErrorIs(t, err, move.ErrHuge)
	_, err = move.Execute(&s, "Z", move.Maneuver{Bearing: move.Straight, Speed: 1}, engine.Options{})
	assert.ErrorIs(t, err, engine.ErrNoShip)
}

func TestAMoveHasTheContractsKeys(t *testing.T) {
	s := enginetest.Scene(t, "2.5; A small 0 0 0; B small 0 100 0; rock square 0 60 0 10")
	s.MatWidth, s.MatHeight = 914.4, 914.4
	doc, err := scenefile.MarshalMove(moved(t, s, "A", "straight 2"))
	require.NoError(t, err)
	var got map[string]any
	require.NoError(t, json.Unmarshal(doc, &got))
	for _, k := range []string{"version", "ship", "maneuver", "full", "final", "fully_executed", "first_overlapped", "touching",
		"obstacles", "devices", "moved_through", "flees", "margin_mm"} {
		assert.Contains(t, got, k)
	}
	assert.NotContains(t, got, "options")
	assert.Equal(t, []any{}, got["devices"])
	assert.Equal(t, map[string]any{"id": "rock", "template": "no", "base": "yes"}, got["obstacles"].([]any)[0])

	doc, err = scenefile.MarshalMove(repositioned(t, s, "A", "barrel-roll left"))
	require.NoError(t, err)
	got = nil
	require.NoError(t, json.Unmarshal(doc, &got))
	assert.NotContains(t, got, "final", "options stand in its place")
	o := got["options"].([]any)[0].(map[string]any)
	for _, k := range []string{"name", "final", "legal", "why"} {
		assert.Contains(t, o, k)
	}
	s.Rules = engine.Rules1e
	doc, err = scenefile.MarshalMove(repositioned(t, s, "A", "barrel-roll left"))
	require.NoError(t, err)
	assert.Contains(t, string(doc), `"from_mm":-20,"to_mm":20`)
}
