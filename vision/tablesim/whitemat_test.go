package tablesim_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/vision/exposure"
	"sightline/vision/locate"
	"sightline/vision/obstacle/trace"
	"sightline/vision/tablesim"
)

func TestObstaclesOnAWhiteMatAreRecognised(t *testing.T) {
	if testing.Short() {
		t.Skip("it draws and searches whole pictures: run without -short")
	}
	table, catalogue := obstacleTable(t)
	table.Look.Mat = tablesim.MatWhite
	l, err := locate.New(tableOf(table), locate.Options{Catalogue: catalogue, Background: learn(t, noiseless(table))})
	require.NoError(t, err)
	got, err := l.Locate(noisy(render(t, noiseless(table)), 3))
	require.NoError(t, err)
	assert.Empty(t, got.Obstacles.Unseen)
	blind := 0.0
	for _, b := range got.Scene.Blind {
		blind += math.Abs(b.Outline.Area())
	}
	assert.Less(t, blind, 0.005*914*914, "next to ships, in their shadow")
	assert.Len(t, got.Obstacles.Views, 3)
}

// A white mat is learnt as it is. In too much light it is clipped, and the reason is the exposure, not a lamp's mirror image.
func TestAWhiteMatInTooMuchLightIsNoGlare(t *testing.T) {
	table, _ := obstacleTable(t)
	table.Look.Mat, table.Look.Samples = tablesim.MatWhite, 1
	table = bareOf(table)
	cal := tableOf(table)
	for light, want := range map[float64]string{0.8: "", 1.6: "Shorten the exposure"} {
		table.Look.Light = light
		f := render(t, table)
		assert.False(t, trace.HasPaper(f, cal), "the mat is no sheet of paper")
		var g exposure.Gauges
		seen := g.Look(f.Gray, markersOf(&cal), &cal)
		if want == "" {
			assert.Empty(t, seen.Clipped(), "%+v", seen)
			continue
		}
		assert.Contains(t, seen.Clipped(), want, "%+v", seen)
		assert.NotContains(t, seen.Advice(), "lamp", "%+v", seen)
	}
}
