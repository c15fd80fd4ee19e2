package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/cmd/internal/live"
	"sightline/cmd/internal/terminal"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/engine/scenefile"
	"sightline/vision"
	"sightline/vision/locate"
	"sightline/vision/ship"
	"sightline/vision/tablesim"
	"sightline/vision/token"
)

func TestFrontEdgesAreMarkedOnTheCommandLine(t *testing.T) {
	got, err := readMarked([]string{"A1,small,812,440.5,853,441", "B2, large, 1,2, 3,4, 0.3"}, nil)
	require.NoError(t, err)
	assert.Equal(t, []markedShip{
		{"A1", 1, ship.Mark{Base: engine.Small, Left: geom.Pixel{X: 812, Y: 440.5}, Right: geom.Pixel{X: 853, Y: 441}}},
		{"B2", 2, ship.Mark{Base: engine.Large, Left: geom.Pixel{X: 1, Y: 2}, Right: geom.Pixel{X: 3, Y: 4}, Sigma: 0.3}},
	}, got)
	for text, says := range map[string]string{
		"A1":                      "expected SHIP,BASE,X1,Y1,X2,Y2",
		"A1,small,1,2,3":          "expected SHIP,BASE,X1,Y1,X2,Y2",
		"A1,small,1,2,3,4,5,6":    "expected SHIP,BASE,X1,Y1,X2,Y2",
		"A1,small,1,2,three,4":    `got "three"`,
		"A1,small,1,2,NaN,4":      `got "NaN"`,
		"A1,small,1,2,3,4,0":      "more than 0",
		"A1,small,1,2,3,4,-1":     "more than 0",
		"A1,small,1,2,3,4,21":     "at most 20 px",
		"A1,tiny,1,2,3,4":         "expected small",
		"X1,small,1,2,3,4":        "expected A1",
		"B1,small,10,10,20,10,+1": "--at says where B1 stands",
	} {
		_, err := readMarked([]string{text}, []live.PlacedShip{{ID: "B1"}})
		assert.ErrorContains(t, err, says, text)
	}
	_, err = readMarked([]string{"A1,small,1,2,3,4", "A1,small,1,2,3,5"}, nil)
	assert.ErrorContains(t, err, "marked twice")
	c := locateCmd{Images: []string{"a.png", "b.png"}, Mark: []string{"A1,small,1,2,3,4"}, Rules: "2.5"}
	assert.ErrorContains(t, c.locate(t.Context(), nil, nil), "expected one picture")
}

// A ship that a person marked stands in the scene where the mark says, as exactly as it says; what the picture
// says against it is told.
func TestAMarkedShipIsAcceptedUnlessContradicted(t *testing.T) {
	cam := tablesim.DefaultCamera(1920, 1080)
	table := calibration.Table{Camera: cam, Layout: calibration.DefaultLayout(calibration.MatSide, calibration.MatSide)}
	l, err := locate.New(table, locate.Options{})
	require.NoError(t, err)
	at := geom.Pose{Point: geom.Point{X: 300, Y: 400}, Heading: 30 * geom.Degree}
	mark := func(id string, base engine.Base, pose geom.Pose) markedShip {
		w, h := base.Size()
		var px [2]geom.Pixel
		for i, x := range [2]geom.Length{-w / 2, w / 2} {
			px[i], _ = cam.PixelOf(pose.Transform(geom.Point{X: float64(x), Y: float64(h) / 2}), token.BaseTop)
		}
		return markedShip{id, 1, ship.Mark{Base: base, Left: px[0], Right: px[1]}}
	}
	locate := func(m markedShip, also ...engine.Ship) (got picture, warned string, missed error) {
		var warn strings.Builder
		got.name, got.warn = "a.png", &warn
		got.Scene = engine.Scene{Rules: engine.Rules25, MatWidth: calibration.MatSide, MatHeight: calibration.MatSide, Ships: also}
		got.Located.Ships = make([]vision.ShipView, len(also))
		got.markAll(l, []markedShip{m})
		return got, warn.String(), got.missed
	}
	got, _, missed := locate(mark("A1", engine.Small, at))
	require.NoError(t, missed)
	require.Len(t, got.Ships, 1)
	s := got.Scene.Ships[0]
	assert.Equal(t, "mark", s.Seen)
	assert.False(t, s.Quarters)
	assert.Less(t, float64(s.Pose.Distance(at.Point)), 0.01)
	assert.InDelta(t, 30, s.Pose.Heading.Degrees(), 0.01)
	doc, err := scenefile.MarshalList([]engine.Scene{got.Scene})
	require.NoError(t, err)
	again, _, err := scenefile.Parse(doc)
	require.NoError(t, err)
	assert.Equal(t, "mark", again[0].Ships[0].Seen)
	assert.InEpsilon(t, s.Covariance[0], again[0].Ships[0].Covariance[0], 0.01)

	for says, c := range map[string]struct {
		m    markedShip
		also engine.Ship
	}{
		"a.png: B1 stands where --mark puts A1: it is not located": {
			mark("A1", engine.Small, at), engine.Ship{ID: "B1", Base: engine.Small, Pose: geom.Pose{Point: geom.Point{X: 320, Y: 400}}}},
		"a.png: the code of A1 is read at (500, 400), 200 mm from there: --mark is left out": {
			mark("A1", engine.Small, at), engine.Ship{ID: "A1", Base: engine.Small, Pose: geom.Pose{Point: geom.Point{X: 500, Y: 400}}}},
		"a.png: --mark of A1: its base would stand at (-10, 400), off the mat": {
			mark("A1", engine.Small, geom.Pose{Point: geom.Point{X: -10, Y: 400}}), engine.Ship{}},
	} {
		got, _, missed := locate(c.m, c.also)
		assert.EqualError(t, missed, says)
		var u terminal.Unanswered
		assert.True(t, errors.As(missed, &u), "exit status 1")
		assert.Len(t, got.Scene.Ships, 1, "what else was located stands")
	}
	short := mark("A1", engine.Small, at)
	short.Base = engine.Large
	_, _, missed = locate(short)
	assert.ErrorContains(t, missed, "a.png: --mark of A1: the marked edge is 40.0 mm long: the front of a large base is 80 mm")

	got, warn, missed := locate(mark("A1", engine.Small, at), engine.Ship{ID: "A1", Base: engine.Small, Pose: at, Seen: "both"})
	assert.NoError(t, missed)
	assert.Equal(t, "both", got.Scene.Ships[0].Seen, "a code is surer")
	assert.Len(t, got.Scene.Ships, 1)
	assert.Contains(t, warn, "--mark is not needed")
}

// The order of two corners decides which way a ship points, and nothing in the picture contradicts the other
// one: the answer says what was understood.
func TestTheDirectionOfAMarkedShipIsReported(t *testing.T) {
	px := func(x, y float64) geom.Pixel { return geom.Pixel{X: x, Y: y} }
	for want, corners := range map[string][4]geom.Pixel{
		"up":             {px(10, 10), px(20, 10), px(20, 20), px(10, 20)},
		"down":           {px(20, 20), px(10, 20), px(10, 10), px(20, 10)},
		"right":          {px(20, 10), px(20, 20), px(10, 20), px(10, 10)},
		"left":           {px(10, 20), px(10, 10), px(20, 10), px(20, 20)},
		"up and left":    {px(0, 10), px(10, 0), px(20, 10), px(10, 20)},
		"down and right": {px(20, 10), px(10, 20), px(0, 10), px(10, 0)},
	} {
		assert.Equal(t, want, noseOf(corners))
	}
}

// A table for people says what is known of a base without a certain name, and asks only for what is not.
func TestTheTableListsPossibleShips(t *testing.T) {
	card := engine.Ship{ID: "?1", Base: engine.Small, Seen: "look", Look: "x", NameDoubt: []string{"A1", "A2"}}
	edges := engine.Ship{ID: "?2", Base: engine.Small, Seen: "edges", Quarters: true}
	mark := engine.Ship{ID: "B1", Base: engine.Small, Seen: "mark"}
	var out strings.Builder
	require.NoError(t, printScenes(&out, []scene{{Scene: engine.Scene{Ships: []engine.Ship{card, mark}}, name: "x.png"}}))
	assert.Contains(t, out.String(), "x.png: 1 ship, and 1 base whose name is not certain")
	assert.Contains(t, out.String(), "look, may be A1 or A2")
	assert.NotContains(t, out.String(), "none that was shown")
	assert.NotContains(t, out.String(), "which way it points")
	card.LookDoubt = true
	require.NoError(t, printScenes(&out, []scene{{Scene: engine.Scene{Ships: []engine.Ship{card}}, name: "y.png"}}))
	assert.Contains(t, out.String(), "look, may be A1 or A2 or none that was shown")
	assert.Regexp(t, `B1 .* –  +mark`, out.String())
	assert.Equal(t, "0 ships, and 1 base whose code is not read: --at says which ship it is, and which way it points",
		shipsText([]engine.Ship{edges}))
	var warn strings.Builder
	tellTokens(&warn, []scene{{name: "x.png"}})
	for _, way := range []string{"print tokens", "--looks", "--at", "--mark"} {
		assert.Contains(t, warn.String(), way)
	}
}
