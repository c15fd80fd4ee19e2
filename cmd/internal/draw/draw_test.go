package draw_test

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/draw"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/engine/move"
)

func table() engine.Scene {
	at := func(x, y, deg float64) geom.Pose {
		return geom.Pose{Point: geom.Point{X: x, Y: y}, Heading: geom.Angle(deg) * geom.Degree}
	}
	return engine.Scene{
		Rules: engine.Rules25, MatWidth: 914.4, MatHeight: 914.4,
		Ships: []engine.Ship{
			{ID: "A1", Player: 1, Base: engine.Small, Pose: at(400, 200, 0), Turret: "left"},
			{ID: "B1", Player: 2, Base: engine.Large, Pose: at(420, 460, 180), Covariance: geom.Cov3{0: 0.09, 4: 0.01, 8: 1e-6}},
		},
		Obstacles: []engine.Obstacle{{ID: "rock1", Kind: "gas", Pose: at(410, 300, 0), Sigma: 0.2,
			Outline: []geom.Point{{X: -30, Y: -20}, {X: 30, Y: -20}, {X: 0, Y: 25}}}},
		Devices: []engine.Token{{ID: "bomb", Kind: "bomb", Player: 1, Pose: at(200, 200, 45)}},
		Markers: []engine.Token{{ID: "sat", Kind: "satellite", Pose: at(457.2, 457.2, 0)}},
	}
}

// wellFormed parses an SVG and returns the names of its elements and all its text.
func wellFormed(t *testing.T, svg []byte) (elements map[string]int, text string) {
	t.Helper()
	elements = map[string]int{}
	dec := xml.NewDecoder(strings.NewReader(string(svg)))
	for {
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return elements, text
		}
		require.NoError(t, err)
		switch tok := tok.(type) {
		case xml.StartElement:
			elements[tok.Name.Local]++
		case xml.CharData:
			text += string(tok)
		}
	}
}

func TestTheCaptionNamesShipsOnTheLine(t *testing.T) {
	s := engine.Scene{Rules: engine.Rules20}
	for i, id := range []string{"A1", "C1", "B1"} {
		s.Ships = append(s.Ships, engine.Ship{ID: id, Base: engine.Small, Pose: geom.Pose{Point: geom.Point{Y: 100 * float64(i)}}})
	}
	svg, err := draw.SVG(&s, draw.Options{From: "A1", To: "B1", Arcs: []engine.Arc{engine.ArcFront}})
	require.NoError(t, err)
	assert.Contains(t, string(svg), "obstructed: never, on the line: C1")
}

func TestADrawingShowsEverythingOnTheTableAndIsAlwaysTheSame(t *testing.T) {
	s := table()
	o := draw.Options{From: "A1", To: "B1", Arcs: []engine.Arc{engine.ArcFront, engine.ArcBullseye, engine.ArcTurret}}
	svg, err := draw.SVG(&s, o)
	require.NoError(t, err)
	again, err := draw.SVG(&s, o)
	require.NoError(t, err)
	assert.Equal(t, string(svg), string(again))

	elements, text := wellFormed(t, svg)
	assert.Equal(t, 1, elements["ellipse"], "one ship is measured")
	for _, want := range []string{"A1", "B1", "rock1", "bomb", "sat", "player 1", "200.0 mm · range 2", "front arc: yes",
		"obstructed: too close (rock1)", "obstructed: must (rock1)", "turret arc: no"} {
		assert.Contains(t, text, want)
	}
	for _, class := range []string{`class="rock gas"`, `class="guide"`, `class="nose"`, `class="turret"`, `class="band band3"`,
		`class="span attack`} {
		assert.Contains(t, string(svg), class)
	}
}

func TestTheMeasuringLineStandsWhereTheEngineMeasured(t *testing.T) {
	s := table()
	s.Ships[1].Covariance = geom.Cov3{}
	s.Ships[1].Pose = geom.Pose{Point: geom.Point{X: 500, Y: 460}}
	svg, err := draw.SVG(&s, draw.Options{From: "A1", To: "B1"})
	require.NoError(t, err)
	// From (420, 220) to (460, 420); the picture's top is 4 % above the mat.
	top := 914.4 + 0.04*914.4
	assert.Contains(t, string(svg), `<path class="line range" d="M420 `+short(top-220)+"L460 "+short(top-420)+`"/>`)
}

func short(v float64) string {
	return strings.TrimRight(strings.TrimRight(xmlNumber(v), "0"), ".")
}

func TestAnObstacleIsMeasuredToAsWell(t *testing.T) {
	s := table()
	svg, err := draw.SVG(&s, draw.Options{From: "A1", To: "rock1"})
	require.NoError(t, err)
	_, text := wellFormed(t, svg)
	assert.Contains(t, text, "contact no, overlap no")
	assert.Contains(t, text, "60.0 mm · range 1")
}

func TestNamesAreTextAndNothingElse(t *testing.T) {
	s := table()
	evil := `</text><script>alert("x")</script>&` + "\x00\x1b" + strings.Repeat("long", 500)
	s.Ships[0].ID, s.Obstacles[0].ID, s.Devices[0].ID, s.Markers[0].ID = evil, evil+"1", evil+"2", evil+"3"
	for _, o := range []draw.Options{{}, {From: evil, To: "B1", Title: evil, Arcs: []engine.Arc{engine.ArcFront}},
		{From: evil, To: evil + "1"}} {
		svg, err := draw.SVG(&s, o)
		require.NoError(t, err)
		elements, _ := wellFormed(t, svg)
		assert.Zero(t, elements["script"])
		assert.Less(t, len(svg), 40000, "a long name does not swell the picture")
	}
}

func TestWhatCannotBeDrawnIsRefused(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*engine.Scene, *draw.Options)
		want   string
		there  bool
	}{
		{"no such attacker", func(_ *engine.Scene, o *draw.Options) { o.From = "C9" }, `from "C9"`, true},
		{"no such target", func(_ *engine.Scene, o *draw.Options) { o.From, o.To = "A1", "C9" }, `to "C9"`, true},
		{"a target without an attacker", func(_ *engine.Scene, o *draw.Options) { o.To = "B1" }, "to: expected a ship to measure from", false},
		{"itself", func(_ *engine.Scene, o *draw.Options) { o.From, o.To = "A1", "A1" }, "expected another object", false},
		{"arcs of nobody", func(_ *engine.Scene, o *draw.Options) { o.Arcs = []engine.Arc{engine.ArcFront} }, "arcs: expected a ship", false},
		{"not a number", func(s *engine.Scene, _ *draw.Options) { s.Ships[0].Pose.X = math.NaN() }, "x_mm", false},
		{"a crossing outline", func(s *engine.Scene, _ *draw.Options) {
			s.Obstacles[0].Outline = []geom.Point{{}, {X: 10, Y: 10}, {X: 10}, {Y: 10}}
		}, "simple polygon", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, o := table(), draw.Options{}
			c.change(&s, &o)
			_, err := draw.SVG(&s, o)
			require.ErrorContains(t, err, c.want)
			assert.Equal(t, c.there, errors.Is(err, draw.ErrNotThere))
		})
	}
}

func TestEmptyAndFarTablesAreDrawnToo(t *testing.T) {
	for name, s := range map[string]engine.Scene{
		"empty":         {Rules: engine.Rules1e},
		"without a mat": {Rules: engine.Rules1e, Ships: []engine.Ship{{ID: "A", Base: engine.Huge195}}},
		"a kilometre off": {Rules: engine.Rules20, Ships: []engine.Ship{{ID: "A", Base: engine.Small,
			Pose: geom.Pose{Point: geom.Point{X: 1e6, Y: -1e6}}},
			{ID: "B", Base: engine.Small, Pose: geom.Pose{Point: geom.Point{X: -1e6, Y: 1e6}}}}},
	} {
		o := draw.Options{}
		if len(s.Ships) > 0 {
			o.From, o.Arcs = "A", []engine.Arc{engine.ArcFront}
		}
		svg, err := draw.SVG(&s, o)
		require.NoError(t, err, name)
		wellFormed(t, svg)
		assert.Less(t, len(svg), 40000, name)
	}
}

func xmlNumber(v float64) string { return strconv.FormatFloat(v, 'f', 2, 64) }

func TestMovesAreDrawnWhereTheyEnd(t *testing.T) {
	straight := move.Maneuver{Bearing: move.Straight, Speed: 1}
	for _, c := range []struct {
		name string
		move draw.Moved
		want []string
	}{
		{"a maneuver that is blocked", draw.Moved{Ship: "A1", Maneuver: &move.Maneuver{Bearing: move.Straight, Speed: 4}},
			[]string{`class="template"`, `class="ghost"`, `class="final"`, "A1: straight 4, not fully executed; overlaps B1; ends touching B1",
				"rock1: template yes"}},
		{"a maneuver", draw.Moved{Ship: "A1", Maneuver: &straight}, []string{`class="template"`, `class="final" transform="translate(400 `,
			"A1: straight 1"}},
		{"a reverse bank", draw.Moved{Ship: "A1", Maneuver: &move.Maneuver{Bearing: move.ReverseBank, Speed: 1, Left: true}},
			[]string{`class="template"`, "A1: reverse bank left 1"}},
		{"a stationary maneuver", draw.Moved{Ship: "A1", Maneuver: &move.Maneuver{}}, []string{"A1: stationary"}},
		{"a choice of places", draw.Moved{Ship: "A1", Maneuver: &move.Maneuver{Bearing: move.Tallon, Speed: 1}}, []string{`class="option"`,
			"middle: legal"}},
		{"a roll", draw.Moved{Ship: "A1", Action: &move.Action{Kind: move.BarrelRoll, To: move.ToLeft}}, []string{`class="option"`,
			"A1: barrel-roll left"}},
		{"a boost", draw.Moved{Ship: "A1", Action: &move.Action{Kind: move.Boost, To: move.ToLeft}}, []string{`class="template"`,
			"A1: boost left"}},
		{"a drop", draw.Moved{Ship: "A1", Drop: &move.Drop{Template: move.Template{Speed: 1}}}, []string{`class="template"`, ">bomb<"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := table()
			s.Ships[1].Covariance = geom.Cov3{}
			svg, err := draw.SVG(&s, draw.Options{Move: &c.move})
			require.NoError(t, err)
			wellFormed(t, svg)
			for _, w := range c.want {
				assert.Contains(t, string(svg), w)
			}
			assert.NotContains(t, string(svg), "NaN")
		})
	}
	s := table()
	_, err := draw.SVG(&s, draw.Options{Move: &draw.Moved{Ship: "Z9", Maneuver: &straight}})
	require.ErrorIs(t, err, draw.ErrNotThere)
	_, err = draw.SVG(&s, draw.Options{Move: &draw.Moved{Ship: "A1"}})
	require.ErrorContains(t, err, "expected a maneuver, an action or a drop")
}

// areaOf returns the drawn area of an arc of a ship.
func areaOf(t *testing.T, ship engine.Ship, rules engine.Rules, arc engine.Arc) string {
	t.Helper()
	s := table()
	s.Rules, s.Obstacles, s.Ships = rules, nil, append(s.Ships, ship)
	svg, err := draw.SVG(&s, draw.Options{From: ship.ID, To: "B1", Arcs: []engine.Arc{arc}})
	require.NoError(t, err)
	_, area, ok := strings.Cut(string(svg), `<path class="arc"`)
	require.True(t, ok, arc)
	_, area, _ = strings.Cut(area, ` d="`)
	area, _, _ = strings.Cut(area, `"`)
	return area
}

func TestEachArcIsDrawnAsTheSectorThatItIs(t *testing.T) {
	small := engine.Ship{ID: "Z1", Player: 1, Base: engine.Small, Pose: geom.Pose{Point: geom.Point{X: 500, Y: 700}}, Turret: "left",
		Arcs: []string{"double_turret", "mobile", "rear_aux", "full_front_180"}}
	huge := engine.Ship{ID: "Z1", Player: 1, Base: engine.Huge225, Pose: small.Pose, Arcs: []string{"front_90", "front_106", "front_136"}}
	for _, c := range []struct {
		rules engine.Rules
		ship  engine.Ship
		arc   engine.Arc
		like  engine.Arc
	}{
		{engine.Rules20, small, engine.ArcTurret, engine.ArcLeft},
		{engine.Rules20, small, engine.ArcDoubleTurret, engine.ArcRight},
		{engine.Rules1e, small, engine.ArcMobile, engine.ArcLeft},
		{engine.Rules1e, small, engine.ArcRearAux, engine.ArcRear},
		{engine.Rules1e, small, engine.ArcFullFront180, engine.ArcFullFront},
	} {
		assert.Equal(t, areaOf(t, c.ship, c.rules, c.like), areaOf(t, c.ship, c.rules, c.arc), "%v as %v", c.arc, c.like)
	}
	areas := map[string]bool{}
	for _, arc := range []engine.Arc{engine.ArcFront90, engine.ArcFront106, engine.ArcFront136} {
		areas[areaOf(t, huge, engine.Rules1e, arc)] = true
	}
	assert.Len(t, areas, 3, "huge ships' front arcs differ in width")
}
