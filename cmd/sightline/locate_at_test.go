package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/web"
	"sightline/engine"
	"sightline/engine/geom"
)

func TestShipsArePlacedOnTheCommandLine(t *testing.T) {
	got, err := readPlaced([]string{"A1,small,420,310,90", "B2, large, 100.5, 200"})
	require.NoError(t, err)
	assert.Equal(t, []web.PlacedShip{
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
