package engine_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/engine/internal/enginetest"
)

func onMat(s engine.Scene) engine.Scene {
	s.MatWidth, s.MatHeight = 914.4, 914.4
	return s
}

// notPassed lists the checks that are not passed: "r near edge no G205".
func notPassed(t *testing.T, checks []engine.Check, err error) []string {
	t.Helper()
	require.NoError(t, err)
	out := []string{}
	for _, c := range checks {
		if c.Legal != engine.Yes {
			out = append(out, fmt.Sprintf("%s %s %s %s", c.ID, c.Against, c.Legal, c.Rule))
		}
	}
	return out
}

func TestWhereObstaclesMayBePlaced(t *testing.T) {
	for _, c := range []struct {
		name, scene string
		want        []string
	}{
		{"G205 beyond range 2 of the edges and range 1 of each other", "2.5; r square 220 220 0 20; q square 350 220 0 20", []string{}},
		{"G205 exactly 200 mm from an edge is not beyond range 2", "2.5; r square 210 220 0 20", []string{"r left edge no 2.5 G205"}},
		{"G204 exactly 100 mm from another is range 1", "1e; r square 220 220 0 20; q square 340 220 0 20", []string{"q r no 1e G204"}},
		{"G204 a hair more is not", "1e; r square 220 220 0 20; q square 340.000001 220 0 20", []string{}},
		{"G205 too near the far right corner", "2.5; r square 800 800 0 20", []string{"r right edge no 2.5 G205", "r far edge no 2.5 G205"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := onMat(enginetest.Scene(t, c.scene))
			checks, err := engine.CheckObstacles(&s, engine.Options{})
			assert.Equal(t, c.want, notPassed(t, checks, err))
		})
	}
	s := onMat(enginetest.Scene(t, "2.5; r square 220 220 0 20; q square 340.3 220 0 20"))
	s.Obstacles[0].Sigma = 0.2
	checks, err := engine.CheckObstacles(&s, engine.Options{})
	assert.Equal(t, []string{"q r too_close 2.5 G205"}, notPassed(t, checks, err))
	s.MatWidth = 0
	_, err = engine.CheckObstacles(&s, engine.Options{})
	assert.ErrorContains(t, err, "mat")
}

func TestWhereShipsMayBeDeployed(t *testing.T) {
	for _, c := range []struct {
		name, scene string
		player      int
		want        []string
	}{
		{"G13 G206 the whole base is within range 1", "1e; A small 300 80 0", 1, []string{}},
		{"G206 a small ship may not stick out", "1e; A small 300 80.001 0", 1, []string{"A near edge no 1e G206"}},
		{"G207 nor in 2.5, player 2's edge", "2.5; A small 300 830 180", 2, []string{"A far edge no 2.5 G207"}},
		{"G207 the opponent's edge is not one's own", "2.5; A small 300 50 0", 2, []string{"A far edge no 2.5 G207"}},
		{"G208 a large ship that fills the strip may stick out", fmt.Sprintf("1e; A large 300 %.17g 45", 40*math.Sqrt2), 1, []string{}},
		{"G208 one that does not fill it may not", "1e; A large 300 61 0", 1, []string{"A near edge no 1e G206"}},
		{"G208 is the first edition's", fmt.Sprintf("2.5; A large 300 %.17g 45", 40*math.Sqrt2), 1, []string{"A near edge no 2.5 G207"}},
		{"G209 not out of the play area", "1e; A large 300 39 0", 1, []string{"A near edge no 1e G209"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := onMat(enginetest.Scene(t, c.scene))
			s.Ships[0].Player = c.player
			checks, err := engine.CheckDeployment(&s, engine.Options{})
			assert.Equal(t, c.want, notPassed(t, checks, err))
		})
	}
	s := onMat(enginetest.Scene(t, "1e; A large 300 60.5 0"))
	s.Ships[0].Player, s.Ships[0].Covariance = 1, geom.Cov3{4: 0.04}
	checks, err := engine.CheckDeployment(&s, engine.Options{})
	assert.Equal(t, []string{"A near edge too_close 1e G206"}, notPassed(t, checks, err))

	s = onMat(enginetest.Scene(t, fmt.Sprintf("1e; A large 300 %.17g 45", 40*math.Sqrt2)))
	s.Ships[0].Player = 1
	checks, err = engine.CheckDeployment(&s, engine.Options{})
	require.NoError(t, err)
	sticks := checks[slices.IndexFunc(checks, func(c engine.Check) bool { return c.Rule == "1e G208" })]
	assert.InDelta(t, 0, float64(sticks.Margin), 1e-9, "the least way off the edge breaks the rule, not the 13.1 mm that it sticks out")
	assert.InDelta(t, 0, float64(sticks.Distance), 1e-9)
}

// No source gives the strip of huge ships: one that is longer than range 1 is not called illegal.
func TestHugeShipsAreDeployedByRulesOfTheirOwn(t *testing.T) {
	for _, rules := range []string{"1e", "2.0", "2.5"} {
		s := onMat(enginetest.Scene(t, rules+"; A huge-195 300 110 0; B huge-195 600 45 90"))
		s.Ships[0].Player, s.Ships[1].Player = 1, 1
		checks, err := engine.CheckDeployment(&s, engine.Options{})
		assert.Empty(t, notPassed(t, checks, err))
		within := func(id string) int {
			return len(slices.DeleteFunc(slices.Clone(checks), func(c engine.Check) bool { return c.ID != id || c.Why == "in the play area" }))
		}
		assert.Equal(t, 0, within("A"), "nothing is said of the strip")
		assert.Equal(t, 1, within("B"), "a ship within range 1 is")
	}
}

func TestRangesToTheEdgesOfThePlayArea(t *testing.T) {
	s := onMat(enginetest.Scene(t, "2.5; A small 120 60 0; r square 300 400 45 20"))
	e, err := engine.EdgeRanges(&s, "A", engine.Options{})
	require.NoError(t, err)
	assert.InDelta(t, 40, float64(e[engine.EdgeNear].Nearest.Distance), 1e-9)
	assert.InDelta(t, 80, float64(e[engine.EdgeNear].Farthest.Distance), 1e-9)
	assert.InDelta(t, 100, float64(e[engine.EdgeLeft].Nearest.Distance), 1e-9)
	assert.Equal(t, 1, e[engine.EdgeLeft].Nearest.Band)
	assert.InDelta(t, 914.4-140, float64(e[engine.EdgeRight].Nearest.Distance), 1e-9)
	assert.Equal(t, engine.No, e[engine.EdgeNear].Past)
	e, err = engine.EdgeRanges(&s, "r", engine.Options{})
	require.NoError(t, err)
	assert.InDelta(t, 400-10*math.Sqrt2, float64(e[engine.EdgeNear].Nearest.Distance), 1e-9)
	_, err = engine.EdgeRanges(&s, "X", engine.Options{})
	assert.ErrorContains(t, err, `"X"`)
	s.Ships[0].Pose.Y = 19
	e, err = engine.EdgeRanges(&s, "A", engine.Options{})
	require.NoError(t, err)
	assert.Equal(t, engine.Yes, e[engine.EdgeNear].Past, "G197 G200")
	assert.Equal(t, engine.No, e[engine.EdgeLeft].Past, "G201 only that edge")
}

func TestHyperspaceMarkers(t *testing.T) {
	at := func(x, y float64) geom.Pose { return geom.Pose{Point: geom.Point{X: x, Y: y}} }
	for _, c := range []struct {
		name  string
		poses []geom.Pose
		want  []string
	}{
		{"G214 G215 both well placed", []geom.Pose{at(200, 200), at(600, 200)}, []string{}},
		{"G214 beyond range 1 of the edges", []geom.Pose{at(126.35, 200)}, []string{"h0 left edge no 2.0 G214"}},
		{"G214 beyond range 0 of obstacles", []geom.Pose{at(450, 466.8)}, []string{"h0 r no 2.0 G214"}},
		{"G215 beyond range 3 of the first", []geom.Pose{at(200, 200), at(552, 200)}, []string{"h1 h0 no 2.0 G215"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := onMat(enginetest.Scene(t, "2.0; r square 450 500 0 20"))
			for i, p := range c.poses {
				s.Markers = append(s.Markers, engine.Token{ID: fmt.Sprint("h", i), Kind: "hyperspace_marker", Pose: p})
			}
			checks, err := engine.CheckHyperspaceMarkers(&s, engine.Options{})
			assert.Equal(t, c.want, notPassed(t, checks, err))
		})
	}
	p := engine.Nominal()
	front := engine.HyperspacePose(&p, at(500, 500), 0, engine.Small)
	assert.InDelta(t, 500+23.2+1.6+20, front.Y, 1e-9, "G216 rear guides flush against the marker's front side")
	right := engine.HyperspacePose(&p, at(500, 500), 1, engine.Large)
	assert.InDelta(t, 500+26.35+1.8+40, right.X, 1e-9, "G217 the next side clockwise")
	assert.InDelta(t, 90, right.Heading.Degrees(), 1e-9)
}

// features places a scenario's features at these points.
func features(s engine.Scene, kind string, at ...geom.Point) engine.Scene {
	for i, p := range at {
		s.Markers = append(s.Markers, engine.Token{ID: fmt.Sprint("f", i), Kind: kind, Pose: geom.Pose{Point: p}})
	}
	return s
}

func TestWhereScenarioFeaturesMayBePlaced(t *testing.T) {
	mid := geom.Point{X: 457.2, Y: 457.2}
	four := []geom.Point{mid, {X: 200, Y: 300}, {X: 714, Y: 300}, {X: 200, Y: 614}, {X: 714, Y: 614}}
	moved := func(i int, p geom.Point) []geom.Point {
		at := append([]geom.Point(nil), four...)
		at[i] = p
		return at
	}
	for _, c := range []struct {
		name     string
		scenario engine.Scenario
		kind     string
		at       []geom.Point
		rock     string
		want     []string
	}{
		{"G220 G221 G222 G223 an assault set up well", engine.AssaultAtTheSatelliteArray, "satellite", four, "", []string{}},
		{"the same with supply caches", engine.SalvageMission, "supply_cache", four, "", []string{}},
		{"G220 off the centre", engine.ChanceEngagement, "satellite", []geom.Point{{X: 458.2, Y: 457.2}}, "", []string{"f0 centre no 2.5 G220"}},
		{"G223 scramble: one by each player's edge", engine.ScrambleTheTransmissions, "satellite", []geom.Point{mid, {X: 457, Y: 180},
			{X: 457, Y: 734}}, "", []string{}},
		{"G223 scramble: both by the same edge", engine.ScrambleTheTransmissions, "satellite", []geom.Point{mid, {X: 200, Y: 300},
			{X: 714, Y: 300}}, "", []string{"satellite edges no 2.5 G222 G223"}},
		{"G221 at range 2 of the centre", engine.AssaultAtTheSatelliteArray, "satellite", moved(1, geom.Point{X: 230, Y: 457.2}), "",
			[]string{"f1 f0 no 2.5 G221", "f1 near edge no 2.5 G222 G223", "f3 f1 no 2.5 G221"}},
		{"G221 two at range 2 of each other", engine.ScrambleTheTransmissions, "satellite", []geom.Point{mid, {X: 200, Y: 350}, {X: 200,
			Y: 560}}, "", []string{"f2 f1 no 2.5 G221"}},
		{"G221 exactly 200 mm from the centre's is range 2", engine.ScrambleTheTransmissions, "satellite", []geom.Point{mid,
			{X: 457.2, Y: 457.2 - 200 - 36.1}, {X: 457.2, Y: 734}}, "", []string{"f1 f0 no 2.5 G221"}},
		{"G221 exactly 300 mm is range 3", engine.ScrambleTheTransmissions, "satellite", []geom.Point{mid,
			{X: 457.2, Y: 457.2 - 300 - 36.1}, {X: 457.2, Y: 734}}, "", []string{}},
		{"G222 G223 exactly 400 mm from an edge is range 4", engine.ScrambleTheTransmissions, "satellite", []geom.Point{mid,
			{X: 200, Y: 400 + 18.05}, {X: 714, Y: 914.4 - 400 - 18.05}}, "", []string{}},
		{"G222 G223 and no more", engine.ScrambleTheTransmissions, "satellite", []geom.Point{mid, {X: 200, Y: 400 + 18.06},
			{X: 714, Y: 914.4 - 400 - 18.06}}, "", []string{"f1 near edge no 2.5 G222 G223", "f2 far edge no 2.5 G222 G223"}},
		{"G224 an obstacle may touch a satellite", engine.ChanceEngagement, "satellite", []geom.Point{mid},
			"; r square 485.1 457.2 0 20", []string{}},
		{"G224 and not overlap it", engine.ChanceEngagement, "satellite", []geom.Point{mid}, "; r square 485.09 457.2 0 20",
			[]string{"r f0 no 2.5 G224"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := features(onMat(enginetest.Scene(t, "2.5"+c.rock)), c.kind, c.at...)
			checks, err := engine.CheckFeatures(&s, c.scenario, engine.Options{})
			assert.Equal(t, c.want, notPassed(t, checks, err))
		})
	}
	s := onMat(enginetest.Scene(t, "2.5"))
	_, err := engine.CheckFeatures(&s, engine.SalvageMission, engine.Options{})
	assert.ErrorContains(t, err, "expected 5 of the kind supply_cache")
	s = features(s, "satellite", geom.Point{X: 458.2, Y: 457.2})
	s.Markers[0].Sigma = 0.5
	checks, err := engine.CheckFeatures(&s, engine.ChanceEngagement, engine.Options{})
	assert.Equal(t, []string{"f0 centre too_close 2.5 G220"}, notPassed(t, checks, err))
}

func TestWhoControlsAndContests(t *testing.T) {
	mid := geom.Point{X: 457.2, Y: 457.2}
	for _, c := range []struct {
		name, scene string
		scenario    engine.Scenario
		player      int
		counts      [2]int
	}{
		{"G225 one ship against none", "2.5; A1 small 457.2 560 0", engine.AssaultAtTheSatelliteArray, 1, [2]int{1, 0}},
		{"G225 as many each is nobody's", "2.5; A1 small 457.2 560 0; B1 small 457.2 350 0", engine.AssaultAtTheSatelliteArray, 0, [2]int{1, 1}},
		{"G226 a medium ship counts as two", "2.5; A1 small 457.2 560 0; B1 medium 457.2 350 0", engine.AssaultAtTheSatelliteArray, 2,
			[2]int{1, 2}},
		{"G226 and a large ship as two, not more", "2.5; A1 small 457.2 560 0; A2 small 560 457.2 0; B1 large 457.2 350 0",
			engine.AssaultAtTheSatelliteArray, 0, [2]int{2, 2}},
		{"G225 range 2 does not count", "2.5; A1 small 457.2 600 0", engine.AssaultAtTheSatelliteArray, 0, [2]int{0, 0}},
		{"G225 contact does", "2.5; A1 small 457.2 480 0", engine.AssaultAtTheSatelliteArray, 1, [2]int{1, 0}},
		{"G227 contested at range 2 by one alone", "2.5; A1 small 457.2 650 0; A2 small 600 457.2 0", engine.ChanceEngagement, 1, [2]int{2, 0}},
		{"G227 contested by both", "2.5; A1 small 457.2 650 0; A2 small 600 457.2 0; B1 small 457.2 350 0", engine.ChanceEngagement, 0,
			[2]int{2, 1}},
		{"G226 elsewhere a large ship counts once: it contests", "2.5; A1 large 457.2 650 0", engine.ChanceEngagement, 1, [2]int{1, 0}},
		{"G226 and may scramble", "2.5; A1 large 457.2 560 0", engine.ScrambleTheTransmissions, 0, [2]int{1, 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := features(enginetest.Scene(t, c.scene), "satellite", mid)
			for i := range s.Ships {
				s.Ships[i].Player = 1 + strings.Index("AB", s.Ships[i].ID[:1])
			}
			counts, err := engine.Counts(&s, c.scenario, engine.Options{})
			require.NoError(t, err)
			require.Len(t, counts, 1)
			assert.Equal(t, c.player, counts[0].Player)
			assert.Equal(t, engine.Yes, counts[0].Outcome)
			assert.Equal(t, c.counts, counts[0].Least)
			assert.Equal(t, c.counts, counts[0].Most)
		})
	}
	s := features(enginetest.Scene(t, "2.5; A small 457.2 595.25 0; B small 457.2 350 0; C small 380 380 0"), "satellite", mid)
	for i, p := range []int{1, 2, 2} {
		s.Ships[i].Player, s.Ships[i].Covariance = p, geom.Cov3{0: 0.04, 4: 0.04}
	}
	counts, err := engine.Counts(&s, engine.AssaultAtTheSatelliteArray, engine.Options{})
	require.NoError(t, err)
	assert.Equal(t, engine.Yes, counts[0].Outcome, "whichever way the ship too close to call falls, player 2 has more")
	assert.Equal(t, []string{"A"}, counts[0].Possible)
	s.Ships = s.Ships[:2]
	counts, err = engine.Counts(&s, engine.AssaultAtTheSatelliteArray, engine.Options{})
	require.NoError(t, err)
	assert.Equal(t, engine.Indeterminate, counts[0].Outcome)
	s.Markers[0].Kind = "supply_cache"
	counts, err = engine.Counts(&s, engine.SalvageMission, engine.Options{})
	require.NoError(t, err)
	assert.Equal(t, []string{"A", "B"}, counts[0].InRange, "G228 who may tow")
	assert.Equal(t, "2.5 G232", countRule(t, engine.ScrambleTheTransmissions), "G232 who may scramble")
}

func countRule(t *testing.T, c engine.Scenario) string {
	s := features(enginetest.Scene(t, "2.5; A small 457.2 560 0"), "satellite", geom.Point{X: 457.2, Y: 457.2})
	counts, err := engine.Counts(&s, c, engine.Options{})
	require.NoError(t, err)
	require.Equal(t, []string{"A"}, counts[0].InRange)
	return counts[0].Rule
}

func TestWhereACacheMayBeJettisoned(t *testing.T) {
	for name, c := range map[string]struct {
		y    float64
		want engine.Outcome
	}{
		"G229 at range 1":                   {100, engine.Yes},
		"G230 not in contact":               {20 + 18.05, engine.No},
		"G229 not at range 2":               {20 + 18.05 + 100.001, engine.No},
		"G229 exactly 100 mm is at range 1": {20 + 18.05 + 100, engine.Yes},
	} {
		t.Run(name, func(t *testing.T) {
			s := features(enginetest.Scene(t, "2.5; A small 0 0 0"), "supply_cache", geom.Point{Y: c.y})
			got, err := engine.CheckJettison(&s, "A", "f0", engine.Options{})
			require.NoError(t, err)
			assert.Equal(t, c.want, got.Legal)
		})
	}
}

func TestScenarioNames(t *testing.T) {
	for _, c := range []engine.Scenario{engine.AssaultAtTheSatelliteArray, engine.ChanceEngagement, engine.SalvageMission,
		engine.ScrambleTheTransmissions} {
		got, err := engine.ParseScenario(c.String())
		require.NoError(t, err)
		assert.Equal(t, c, got)
	}
	_, err := engine.ParseScenario("race")
	assert.Error(t, err)
}
