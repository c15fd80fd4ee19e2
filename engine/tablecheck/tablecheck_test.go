package tablecheck_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/engine/tablecheck"
)

func at(x, y, degrees float64) geom.Pose {
	return geom.Pose{Point: geom.Point{X: x, Y: y}, Heading: geom.Angle(degrees) * geom.Degree}
}

func scene(rules engine.Rules) engine.Scene {
	return engine.Scene{Rules: rules, MatWidth: 914.4, MatHeight: 914.4}
}

func ship(id string, player int, base engine.Base, p geom.Pose) engine.Ship {
	return engine.Ship{ID: id, Player: player, Base: base, Pose: p}
}

func rock(id string, x, y float64) engine.Obstacle {
	return engine.Obstacle{ID: id, Kind: "asteroid", Pose: at(x, y, 0), Outline: []geom.Point{{X: -20, Y: -20}, {X: 20, Y: -20},
		{X: 20, Y: 20}, {X: -20, Y: 20}}}
}

// line returns the line of a rule and of things.
func line(t *testing.T, r tablecheck.Report, rule string, of ...string) tablecheck.Line {
	t.Helper()
	var found []tablecheck.Line
	for _, l := range r.Lines {
		if l.Rule == rule && strings.Join(l.Of, " ") == strings.Join(of, " ") {
			found = append(found, l)
		}
	}
	require.Len(t, found, 1, "%s of %v in %+v", rule, of, r.Lines)
	return found[0]
}

func TestSetup(t *testing.T) {
	s := scene(engine.Rules20)
	s.Ships = []engine.Ship{ship("A1", 1, engine.Small, at(300, 50, 0)), ship("B1", 2, engine.Large, at(300, 800, 180)),
		ship("C1", 0, engine.Small, at(500, 500, 0))}
	s.Obstacles = []engine.Obstacle{rock("rock1", 300, 400), rock("rock2", 430, 400), rock("rock3", 600, 235)}
	s.Markers = []engine.Token{{ID: "h1", Kind: "hyperspace_marker", Pose: at(450, 600, 0)}, {ID: "h2", Kind: "hyperspace_marker",
		Pose: at(450, 200, 0)}}
	r, err := tablecheck.Setup(&s, 0, engine.Options{})
	require.NoError(t, err)

	near := line(t, r, "G205", "rock1")
	assert.Equal(t, engine.Yes, near.Outcome, "one line for the four edges, of the nearest")
	assert.InDelta(t, 80, near.Margin.Millimeters(), 1e-9)
	assert.Equal(t, "rock1 is legal by 80.0 mm: beyond range 2 of each edge (280.0 mm from the left edge)", near.Text)
	edge := line(t, r, "G205", "rock3")
	assert.Equal(t, engine.Yes, edge.Outcome)
	assert.InDelta(t, 15, edge.Margin.Millimeters(), 1e-9)
	pair := line(t, r, "G205", "rock2", "rock1")
	assert.Equal(t, engine.No, pair.Outcome)
	assert.Equal(t, "rock2 is illegal by 10.0 mm: beyond range 1 of each other obstacle (90.0 mm from rock1)", pair.Text)
	assert.Equal(t, engine.Yes, line(t, r, "G207", "A1").Outcome)
	deployed := line(t, r, "G207", "B1")
	assert.Equal(t, engine.No, deployed.Outcome)
	assert.InDelta(t, -54.4, deployed.Margin.Millimeters(), 1e-9)
	assert.Equal(t, engine.Yes, line(t, r, "G200", "B1").Outcome)
	assert.Equal(t, engine.Yes, line(t, r, "G215", "h2", "h1").Outcome)
	assert.Equal(t, []string{"C1: its place is not judged: the scene does not say whose it is"}, r.Notes)

	s.Obstacles[2].Pose.Y, s.Obstacles[2].Sigma = 220.2, 0.3
	r, err = tablecheck.Setup(&s, 0, engine.Options{})
	require.NoError(t, err)
	close := line(t, r, "G205", "rock3")
	assert.Equal(t, engine.Indeterminate, close.Outcome)
	assert.Equal(t, "rock3 is too close to call, 0.2 ± 0.3 mm: beyond range 2 of each edge (200.2 mm from the near edge)", close.Text)
}

func TestSetupOfTheFirstEdition(t *testing.T) {
	s := scene(engine.Rules1e)
	s.Ships = []engine.Ship{ship("A1", 1, engine.Large, at(300, 40, 0))}
	s.Obstacles = []engine.Obstacle{rock("rock1", 300, 210)}
	s.ObstaclesUnseen = true
	r, err := tablecheck.Setup(&s, 0, engine.Options{})
	require.NoError(t, err)
	assert.Equal(t, engine.No, line(t, r, "G204", "rock1").Outcome)
	assert.Equal(t, engine.Yes, line(t, r, "G206", "A1").Outcome)
	assert.Equal(t, engine.Yes, line(t, r, "G209", "A1").Outcome)
	assert.Equal(t, []string{"obstacles were not looked for"}, r.Notes)
}

// array is the table of Assault at the Satellite Array with the satellites where they belong.
func array() engine.Scene {
	s := scene(engine.Rules25)
	mid := 457.2
	for i, p := range []geom.Pose{at(mid, mid, 0), at(mid-220, mid-150, 0), at(mid+220, mid-150, 0), at(mid-220, mid+150, 0),
		at(mid+220, mid+150, 0)} {
		s.Markers = append(s.Markers, engine.Token{ID: "sat" + string(rune('1'+i)), Kind: "satellite", Pose: p})
	}
	return s
}

func TestSetupFindsTheScenario(t *testing.T) {
	s := array()
	r, err := tablecheck.Setup(&s, 0, engine.Options{})
	require.NoError(t, err)
	assert.Equal(t, engine.Yes, line(t, r, "G220", "sat1").Outcome)
	assert.Equal(t, engine.Yes, line(t, r, "G221", "sat2", "sat1").Outcome)
	assert.Equal(t, engine.Yes, line(t, r, "G222 G223", "sat2").Outcome)
	assert.Empty(t, r.Notes)

	s.Markers[0].Sigma = 0.2
	r, err = tablecheck.Setup(&s, 0, engine.Options{})
	require.NoError(t, err)
	assert.Contains(t, line(t, r, "G220", "sat1").Text, "too close to call, 0.0 ± 0.2 mm")

	s.Obstacles = []engine.Obstacle{rock("rock1", 457.2, 457.2)}
	s.Markers[4].Pose.Y -= 310
	r, err = tablecheck.Setup(&s, 0, engine.Options{})
	require.NoError(t, err)
	assert.Equal(t, engine.No, line(t, r, "G224", "rock1", "sat1").Outcome)
	sides := line(t, r, "G222 G223", "satellite")
	assert.Equal(t, engine.No, sides.Outcome)
	assert.Equal(t, "satellite: not as many by one player's edge as by the other's", sides.Text)

	s.Markers = s.Markers[:2]
	r, err = tablecheck.Setup(&s, 0, engine.Options{})
	require.NoError(t, err)
	assert.Equal(t, []string{"satellites or caches: no scenario has this many"}, r.Notes)
	r, err = tablecheck.Setup(&s, engine.ScrambleTheTransmissions, engine.Options{})
	require.NoError(t, err)
	assert.Equal(t, []string{"markers: expected 3 of the kind satellite for this scenario, got 2"}, r.Notes)
}

func TestWhoControlsSatellites(t *testing.T) {
	s := array()
	s.Ships = []engine.Ship{
		// sat2: 1 to 2
		ship("A1", 1, engine.Small, at(457.2-220, 457.2-150+90, 0)), ship("B1", 2, engine.Medium, at(457.2-220, 457.2-150-100, 0)),
		ship("A2", 1, engine.Small, at(457.2+220, 457.2-150+90, 0)), ship("B2", 2, engine.Small, at(457.2+220, 457.2-150-90, 0)), // sat3: 1 to 1
		ship("A3", 1, engine.Small, at(457.2-220, 457.2+150+90, 0)), ship("C1", 0, engine.Small, at(457.2+220, 457.2+150+90, 0)),
	}
	r, err := tablecheck.Scenario(&s, engine.AssaultAtTheSatelliteArray, engine.Options{})
	require.NoError(t, err)
	want := []tablecheck.Control{{Objective: "sat1", Outcome: engine.Yes}, {Objective: "sat2", Player: 2, Outcome: engine.Yes},
		{Objective: "sat3", Outcome: engine.Yes}, {Objective: "sat4", Player: 1, Outcome: engine.Yes},
		{Objective: "sat5", Outcome: engine.Indeterminate, Possible: []int{1, 2}}}
	assert.Equal(t, want, r.Control)
	assert.Contains(t, line(t, r, "G225 G226", "B1", "sat2").Text, "B1 counts as 2 at sat2: at range 0–1")
	assert.Equal(t, []string{"C1: it may count at sat5 for either player: the scene does not say whose it is"}, r.Notes)

	// B1, of weight 2 against 1, may be out of range: both outcomes are shown, and not a draw,
	// which two ships against one cannot make.
	s.Ships[1].Pose.Y -= line(t, r, "G225 G226", "B1", "sat2").Margin.Millimeters() - 0.1
	s.Ships[1].Covariance = geom.Cov3{0: 0.04, 4: 0.04, 8: 1e-5}
	r, err = tablecheck.Scenario(&s, engine.AssaultAtTheSatelliteArray, engine.Options{})
	require.NoError(t, err)
	assert.Equal(t, tablecheck.Control{Objective: "sat2", Player: 2, Outcome: engine.Indeterminate, Possible: []int{1, 2}}, r.Control[1])
	doubt := line(t, r, "G225 G226", "B1", "sat2")
	assert.Equal(t, engine.Indeterminate, doubt.Outcome)
	assert.Contains(t, doubt.Text, "B1 is too close to call at sat2: range 1 or beyond (0.1 ± 0.2 mm from 100)")

	// With two ships of player 1 there, B1 can only draw: it is player 1's or neither's.
	s.Ships[2].Pose = at(457.2-220+60, 457.2-150+60, 0)
	r, err = tablecheck.Scenario(&s, engine.AssaultAtTheSatelliteArray, engine.Options{})
	require.NoError(t, err)
	assert.Equal(t, []int{0, 1}, r.Control[1].Possible)
}

// A ship whose player is not known counts for one of the two, and so may decide.
func TestAShipOfEitherPlayerMayDecideAnObjective(t *testing.T) {
	below, above := at(457.2, 360, 0), at(457.2, 560, 0)
	for _, c := range []struct {
		name     string
		ships    []engine.Ship
		scenario engine.Scenario
		want     []tablecheck.Control
	}{
		{"one against a medium of either", []engine.Ship{ship("A1", 1, engine.Small, below), ship("?1", 0, engine.Medium, above)},
			engine.AssaultAtTheSatelliteArray, []tablecheck.Control{{Objective: "sat1", Player: 1, Outcome: engine.Indeterminate,
				Possible: []int{1, 2}}}},
		{"two against a small of either", []engine.Ship{ship("A1", 1, engine.Medium, below), ship("?1", 0, engine.Small, above)},
			engine.AssaultAtTheSatelliteArray, []tablecheck.Control{{Objective: "sat1", Player: 1, Outcome: engine.Yes}}},
		{"contested by one, and by one of either", []engine.Ship{ship("A1", 1, engine.Small, below), ship("?1", 0, engine.Small, above)},
			engine.ChanceEngagement, []tablecheck.Control{{Objective: "sat1", Player: 1, Outcome: engine.Yes},
				{Objective: "sat1", Player: 2, Outcome: engine.Indeterminate}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := scene(engine.Rules25)
			s.Markers = []engine.Token{{ID: "sat1", Kind: "satellite", Pose: at(457.2, 457.2, 0)}}
			s.Ships = c.ships
			r, err := tablecheck.Scenario(&s, c.scenario, engine.Options{})
			require.NoError(t, err)
			assert.Equal(t, c.want, r.Control)
		})
	}
}

func TestTheOtherScenarios(t *testing.T) {
	s := scene(engine.Rules25)
	s.Markers = []engine.Token{{ID: "sat1", Kind: "satellite", Pose: at(457.2, 457.2, 0)}}
	s.Ships = []engine.Ship{ship("A1", 1, engine.Small, at(457.2, 640, 0)), ship("B1", 2, engine.Small, at(457.2, 100, 0))}
	r, err := tablecheck.Scenario(&s, engine.ChanceEngagement, engine.Options{})
	require.NoError(t, err)
	assert.Equal(t, []tablecheck.Control{{Objective: "sat1", Player: 1, Outcome: engine.Yes}}, r.Control, "player 2 contests nothing")
	s.Ships[1].Pose.Y = 280
	r, err = tablecheck.Scenario(&s, engine.ChanceEngagement, engine.Options{})
	require.NoError(t, err)
	assert.Len(t, r.Control, 2, "both contest it")

	r, err = tablecheck.Scenario(&s, engine.ScrambleTheTransmissions, engine.Options{})
	require.NoError(t, err)
	assert.Empty(t, r.Control, "who scrambled it last, no table shows")
	assert.Equal(t, []string{"markers: expected 3 of the kind satellite for this scenario, got 1"}, r.Notes)
	s.Ships[0].Pose.Y = 560
	r, err = tablecheck.Scenario(&s, engine.ScrambleTheTransmissions, engine.Options{})
	require.NoError(t, err)
	assert.Contains(t, line(t, r, "G232", "A1", "sat1").Text, "A1 may scramble sat1")
	s.Markers[0].Kind = "supply_cache"
	r, err = tablecheck.Scenario(&s, engine.SalvageMission, engine.Options{})
	require.NoError(t, err)
	assert.Contains(t, line(t, r, "G228", "A1", "sat1").Text, "A1 may tow sat1")
}

func TestWhatCannotBeAnswered(t *testing.T) {
	s := scene(engine.Rules25)
	_, err := tablecheck.Scenario(&s, engine.ChanceEngagement, engine.Options{})
	assert.ErrorIs(t, err, tablecheck.ErrNoFeatures)
	s.MatWidth = 0
	_, err = tablecheck.Setup(&s, 0, engine.Options{})
	assert.ErrorIs(t, err, tablecheck.ErrNoMat)
	first := scene(engine.Rules1e)
	_, err = tablecheck.Scenario(&first, engine.ChanceEngagement, engine.Options{})
	assert.ErrorIs(t, err, tablecheck.ErrRules)
	_, err = tablecheck.Setup(&first, engine.ChanceEngagement, engine.Options{})
	assert.ErrorIs(t, err, tablecheck.ErrRules)
}

func TestTheWireForm(t *testing.T) {
	s := array()
	r, err := tablecheck.Scenario(&s, engine.AssaultAtTheSatelliteArray, engine.Options{})
	require.NoError(t, err)
	raw, err := tablecheck.Marshal(r)
	require.NoError(t, err)
	var doc struct {
		Version int
		Lines   []map[string]any
		Control []map[string]any
		Notes   []string
	}
	require.NoError(t, json.Unmarshal(raw, &doc))
	assert.Equal(t, 1, doc.Version)
	assert.Equal(t, map[string]any{"rule": "G220", "of": []any{"sat1"}, "outcome": "yes", "margin_mm": 0.0, "sigma_mm": 0.0,
		"text": "sat1 is legal by 0.0 mm: centred in the play area (0.0 mm from the centre)"}, doc.Lines[0])
	assert.Equal(t, map[string]any{"objective": "sat1", "player": 0.0, "outcome": "yes"}, doc.Control[0])
	assert.NotNil(t, doc.Notes)
}
