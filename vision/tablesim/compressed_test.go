package tablesim_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/exposure"
	"sightline/vision/locate"
	"sightline/vision/obstacle"
	"sightline/vision/tablesim"
)

// TestCompressionMakesNoThingsNextToShips takes pictures that have little noise and are compressed a lot, one and the mean of several. What
// JPEG adds about the ships is no thing, and the rocks are seen.
func TestCompressionMakesNoThingsNextToShips(t *testing.T) {
	if testing.Short() {
		t.Skip("draws pictures")
	}
	table, c := obstacleTable(t)
	o, err := tablesim.ParseSpec("sim:camera=good-webcam,quality=60")
	require.NoError(t, err)
	table.Model = o.Model
	table.Model.FullWell, table.Model.ReadNoise = 100_000, 0.0005
	for i := range 4 {
		table.Scene.Ships = append(table.Scene.Ships, engine.Ship{ID: []string{"A2", "A3", "B2", "B3"}[i], Player: 1 + i/2, Base: engine.Medium,
			Pose: geom.Pose{Point: geom.Point{X: 150 + 200*float64(i), Y: 780}, Heading: geom.Angle(0.3 + 0.4*float64(i))}})
	}
	shot := func(table *tablesim.Table, n uint64) vision.Frame {
		table.Shot = n
		return render(t, table)
	}
	empty := *table
	empty.Scene.Ships, empty.Scene.Obstacles = nil, nil
	learner := obstacle.NewBackgroundLearner(tableOf(table))
	for n := range uint64(4) {
		require.NoError(t, learner.Add(shot(&empty, 100+n)))
	}
	mat, err := learner.Background()
	require.NoError(t, err)
	one := shot(table, 2)
	var frames exposure.Averager
	for n := range uint64(4) {
		require.NoError(t, frames.Add(shot(table, 3+n)))
	}
	mean, err := frames.Frame()
	require.NoError(t, err)
	for name, f := range map[string]vision.Frame{"one": one, "mean": mean} {
		l, err := locate.New(tableOf(table), locate.Options{Catalogue: c, Background: mat})
		require.NoError(t, err)
		got, err := l.Locate(f)
		require.NoError(t, err)
		assert.Len(t, got.Scene.Ships, 6, name)
		assert.Len(t, got.Scene.Obstacles, 3, name)
		assert.Empty(t, got.Scene.Unknown, name)
		assert.Empty(t, got.Scene.Blind, name)
	}
}
