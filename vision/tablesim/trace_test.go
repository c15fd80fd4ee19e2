package tablesim_test

import (
	"image/color"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/engine/geom"
	"sightline/vision/catalogue"
	"sightline/vision/obstacle/trace"
	"sightline/vision/tablesim"
)

// paperTable is obstacleTable with its tokens on sheets of white paper.
func paperTable(t testing.TB) (*tablesim.Table, *catalogue.Catalogue) {
	table, known := obstacleTable(t)
	table.Scene.Ships = nil
	for _, o := range table.Scene.Obstacles {
		table.Clutter = append(table.Clutter, tablesim.Clutter{
			Pose: geom.Pose{Point: o.Pose.Point}, Width: 130, Length: 130, Height: 0.1, Color: color.RGBA{240, 240, 240, 255},
		})
	}
	return table, known
}

func TestTokensAreTracedOnWhitePaper(t *testing.T) {
	table, known := paperTable(t)
	found, err := trace.Outlines(render(t, table), tableOf(table), catalogue.TokenTop)
	require.NoError(t, err)
	require.Len(t, found, 3, "from left to right")
	for i, outline := range found {
		o := table.Scene.Obstacles[i]
		truth := o.Pose.TransformAll(o.Outline)
		var mean, worst float64
		for _, p := range outline {
			d := truth.BoundaryDistance(p)
			mean += d / float64(len(outline))
			worst = max(worst, d)
		}
		assert.Less(t, mean, 0.25, "%s: mean distance of the traced outline, mm", o.ID)
		assert.Less(t, worst, 1.2, "%s: worst distance, at a corner, mm", o.ID)
		e, err := catalogue.NewEntry(o.ID, o.Kind, outline)
		require.NoError(t, err)
		want := geom.Polygon(known.Entries[i].Outline).Area()
		assert.InEpsilon(t, want, geom.Polygon(e.Outline).Area(), 0.02, "%s: area", o.ID)
	}
}

func TestNothingIsTracedWherePaperIsMissing(t *testing.T) {
	if testing.Short() {
		t.Skip("it draws and searches whole pictures: run without -short")
	}
	table, _ := obstacleTable(t)
	table.Scene.Ships, table.Scene.Obstacles = nil, nil
	_, err := trace.Outlines(render(t, table), tableOf(table), catalogue.TokenTop)
	assert.ErrorContains(t, err, "no dark-edged token on white paper")
}
