package pipeline

import (
	"log/slog"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/live"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/tablesim"
)

// A ship stands on a rock when the camera is pushed, or the light goes off: a search that knows nothing of the rock takes what stands out
// of it for the ship's miniature, and calls the lines across it clear.
func TestARockUnderAShipOutlastsAPushOfTheCamera(t *testing.T) {
	if testing.Short() {
		t.Skip("it renders and searches pictures")
	}
	w := newFaultyTable(t, 688, 640, 14, true, func(o *tablesim.Options) { o.Still = true })
	truth, err := w.source.TruthAt(1)
	require.NoError(t, err)
	ships, rock := slices.Clone(truth.Scene.Ships), truth.Scene.Obstacles[0]
	w.source.Arrange(func(t *tablesim.Table) { t.Scene.Ships = slices.Clone(ships) })
	rocks := func(pictures int) (n int) {
		for range pictures {
			w.next()
		}
		require.Equal(t, live.OK, w.view.Health.Code, "%+v", w.view.Health)
		return len(w.view.Located.Scene.Obstacles)
	}
	require.Equal(t, 1, rocks(12))
	ships[0].Pose = geom.Pose{Point: geom.Point{X: rock.Pose.X + 5, Y: rock.Pose.Y - 8}, Heading: 1}
	require.Equal(t, 1, rocks(10))

	middle := geom.Point{X: float64(w.source.Layout().Width) / 2, Y: float64(w.source.Layout().Height) / 2}
	for name, by := range map[string]geom.Point{"a little": {X: 1, Y: -2}, "far": {X: -12, Y: 8}} {
		pushed := movedCamera(w.source.Camera(), by, 0.5*geom.Degree, middle)
		w.source.Disturb(func(t *tablesim.Table) { t.Camera = pushed })
		assert.Equal(t, 1, rocks(15), name)
	}
	w.source.Disturb(func(t *tablesim.Table) { t.Camera, t.Look.Light = w.source.Camera(), 0.002 })
	for range 8 {
		w.next()
	}
	require.Equal(t, live.Dark, w.view.Health.Code)
	w.source.Disturb(func(*tablesim.Table) {})
	assert.Equal(t, 1, rocks(15), "after the dark")
	copy(ships, truth.Scene.Ships)
	require.Equal(t, 1, rocks(12))
	w.source.Arrange(func(t *tablesim.Table) { t.Scene.Obstacles = nil })
	pushed := movedCamera(w.source.Camera(), geom.Point{X: 2}, 0, middle)
	w.source.Disturb(func(t *tablesim.Table) { t.Camera = pushed })
	assert.Zero(t, rocks(15), "what is gone is not remembered")
}

// Most of a rock that is half under a ship looks like the mat in dim light: it may lie there still, and is unknown at least.
func TestARockUnderAShipIsNotAbsentInDimLight(t *testing.T) {
	if testing.Short() {
		t.Skip("it renders and searches pictures")
	}
	w := newFaultyTable(t, 688, 640, 13, true, func(o *tablesim.Options) { o.Still = true })
	truth, err := w.source.TruthAt(1)
	require.NoError(t, err)
	ships := slices.Clone(truth.Scene.Ships)
	w.source.Arrange(func(t *tablesim.Table) { t.Scene.Ships = slices.Clone(ships) })
	seen := func(pictures int) {
		t.Helper()
		for range pictures {
			w.next()
			sight := w.view.Located.Obstacles
			require.True(t, sight.Unseen != "" || len(sight.Views)+len(sight.Unknown) > 0, "picture %d: it is called absent", w.view.Frame.Seq)
		}
	}
	seen(14)
	ships[1].Pose = geom.Pose{Point: geom.Point{X: 217.98, Y: 169.19}, Heading: 300.22 * geom.Degree}
	seen(10)
	for _, light := range []float64{0.3, 0.2, 0.15} {
		w.source.Disturb(func(t *tablesim.Table) { t.Look.Light *= light })
		seen(8)
		w.source.Disturb(func(*tablesim.Table) {})
		seen(10)
	}
	copy(ships, truth.Scene.Ships)
	seen(14)
	assert.Len(t, w.view.Located.Scene.Obstacles, 1)
}

// The program starts again while a ship stands on a rock.
func TestARockUnderAShipIsNotAbsentAfterARestart(t *testing.T) {
	if testing.Short() {
		t.Skip("it renders and searches pictures")
	}
	path, quiet := filepath.Join(t.TempDir(), LyingFile), slog.New(slog.DiscardHandler)
	start := func() (w *faultyTable, ships []engine.Ship, rock engine.Obstacle) {
		w = newFaultyTable(t, 688, 640, 13, true, func(o *tablesim.Options) { o.Still = true })
		truth, err := w.source.TruthAt(1)
		require.NoError(t, err)
		ships = slices.Clone(truth.Scene.Ships)
		w.source.Arrange(func(t *tablesim.Table) { t.Scene.Ships = slices.Clone(ships) })
		kept, err := OpenLying(path, w.now, quiet)
		require.NoError(t, err)
		w.pipeline.locate.kept, w.pipeline.locate.lying = kept, kept.Before()
		return w, ships, truth.Scene.Obstacles[0]
	}
	w, _, _ := start()
	for range 12 {
		w.next()
	}
	require.Len(t, w.view.Located.Scene.Obstacles, 1)
	require.NoError(t, w.pipeline.locate.kept.Write(w.now))

	w, ships, rock := start()
	away := ships[1].Pose
	ships[1].Pose = geom.Pose{Point: geom.Point{X: 217.98, Y: 169.19}, Heading: 300.22 * geom.Degree}
	watched := 0
	for range 12 {
		w.next()
		if sight := w.view.Located.Obstacles; sight.Unseen == "" {
			watched++
			assert.True(t, len(sight.Views) == 1 || slices.ContainsFunc(sight.Unknown, func(u vision.UnknownObject) bool {
				return geom.Polygon(u.Outline).Contains(rock.Pose.Point)
			}), "picture %d: it is called absent", w.view.Frame.Seq)
		}
	}
	assert.Positive(t, watched)
	require.NoError(t, w.pipeline.locate.kept.Write(w.now))
	kept, err := OpenLying(path, w.now, quiet)
	require.NoError(t, err)
	assert.Len(t, kept.Before(), 1, "another restart does not forget it")

	ships[1].Pose = away
	for range 12 {
		w.next()
	}
	assert.Len(t, w.view.Located.Scene.Obstacles, 1, "it is seen again")
	assert.Empty(t, w.view.Located.Obstacles.Missed)
}
