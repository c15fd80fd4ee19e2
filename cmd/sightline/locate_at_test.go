package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/live"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
)

func TestShipsArePlacedOnTheCommandLine(t *testing.T) {
	got, err := readPlaced([]string{"A1,small,420,310,90", "B2, large, 100.5, 200"})
	require.NoError(t, err)
	assert.Equal(t, []live.PlacedShip{
		{ID: "A1", Player: 1, Base: engine.Small, Pose: geom.Pose{Point: geom.Point{X: 420, Y: 310}, Heading: 90 * geom.Degree}, Headed: true},
		{ID: "B2", Player: 2, Base: engine.Large, Pose: geom.Pose{Point: geom.Point{X: 100.5, Y: 200}}},
	}, got)
	for text, says := range map[string]string{
		"A1":               "expected SHIP,BASE,X,Y",
		"A1,small,1,2,3,4": "expected SHIP,BASE,X,Y",
		"A1,small,here,2":  `got "here"`,
		"A1,tiny,1,2":      "expected small",
		"X1,small,1,2":     "expected A1",
		"A1,huge-200,1,2":  "huge-195 or huge-225",
		"A1,small,NaN,2":   "x_mm",
		"A1,small,1,2,Inf": "heading_deg",
	} {
		_, err := readPlaced([]string{text})
		assert.ErrorContains(t, err, says, text)
	}
	_, err = readPlaced([]string{"A1,small,1,2", "A1,small,3,4"})
	assert.ErrorContains(t, err, "twice")
}

// Whoever says that a ship stands on another base, or elsewhere, has another ship in mind.
func TestACodeThatContradictsAtIsReported(t *testing.T) {
	read := engine.Ship{ID: "B1", Base: engine.Huge195, Pose: geom.Pose{Point: geom.Point{X: 500, Y: 600}}}
	said := func(base engine.Base, x float64) live.PlacedShip {
		return live.PlacedShip{ID: "B1", Player: 2, Base: base, Pose: geom.Pose{Point: geom.Point{X: x, Y: 600}}}
	}
	for why, p := range map[string]live.PlacedShip{
		"":                                    said(engine.Huge195, 690),
		"on a huge-195 base, not a small one": said(engine.Small, 520),
		"at (500, 600), 200 mm from there":    said(engine.Huge195, 700),
		"on a huge-195 base, not a small one, and at (500, 600), 300 mm from there": said(engine.Small, 800),
	} {
		assert.Equal(t, why, contradicted(&read, p))
		var warn strings.Builder
		got := picture{Located: vision.Located{Scene: engine.Scene{Ships: []engine.Ship{read}}}, name: "a.png", warn: &warn}
		require.NoError(t, got.placeAll(nil, vision.Frame{Name: "a.png"}, []live.PlacedShip{p}))
		if why == "" {
			assert.NoError(t, got.missed)
			assert.Contains(t, warn.String(), "--at is not needed")
			continue
		}
		assert.EqualError(t, got.missed, "a.png: the code of B1 is read "+why+": --at is left out")
		assert.Len(t, got.Scene.Ships, 1, "what is read stands")
	}
}
