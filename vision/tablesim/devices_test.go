package tablesim_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/engine"
	"sightline/engine/scenefile"
	"sightline/vision/locate"
)

// TestDevicesAndMarkersAreFoundByTheirOutlines: what a catalogue calls a bomb or a satellite
// stands among the scene's devices and markers, and is measured there; an obstacle stays one.
func TestDevicesAndMarkersAreFoundByTheirOutlines(t *testing.T) {
	table, c := obstacleTable(t)
	mat := learnt(t, table)
	for i, kind := range []string{"asteroid", "seismic_charge", "satellite"} {
		c.Entries[i].Kind, c.Entries[i].Name = kind, "my-"+kind
	}
	l, err := locate.New(tableOf(table), locate.Options{Catalogue: c, Background: mat})
	require.NoError(t, err)
	f, _, err := table.Render()
	require.NoError(t, err)
	got, err := l.Locate(f)
	require.NoError(t, err)
	s := &got.Scene
	require.Len(t, s.Obstacles, 1)
	require.Len(t, s.Devices, 1)
	require.Len(t, s.Markers, 1)
	assert.Equal(t, "asteroid", s.Obstacles[0].Kind)
	assert.Equal(t, s.Obstacles[0].ID, got.Obstacles.Views[0].ID, "an obstacle's view stands where it does")
	for i, k := range []engine.Token{s.Devices[0], s.Markers[0]} {
		truth := table.Scene.Obstacles[i+1]
		assert.Equal(t, []string{"seismic_charge", "satellite"}[i], k.Kind)
		lies := truth.Pose.TransformAll(truth.Outline)
		for _, p := range k.Outline {
			assert.Less(t, lies.BoundaryDistance(k.Pose.Transform(p)), 1.0, k.Kind)
		}
		assert.Positive(t, k.Sigma)
	}
	s.Rules = engine.Rules25
	r, err := engine.Measure(s, engine.Options{})
	require.NoError(t, err)
	require.Len(t, r.Objects, 6, "two ships, three things")
	exact := table.Scene // the same things where they truly lie
	as := func(i int, kind string) []engine.Token {
		o := table.Scene.Obstacles[i]
		return []engine.Token{{ID: "my-" + kind, Kind: kind, Pose: o.Pose, Outline: o.Outline}}
	}
	exact.Obstacles, exact.Devices, exact.Markers = exact.Obstacles[:1], as(1, "seismic_charge"), as(2, "satellite")
	want, err := engine.Measure(&exact, engine.Options{})
	require.NoError(t, err)
	for i, o := range r.Objects {
		assert.Equal(t, want.Objects[i].Kind, o.Kind)
		assert.InDelta(t, float64(want.Objects[i].Range.Distance), float64(o.Range.Distance), 3*float64(o.Range.Sigma)+0.3, "%s to %s", o.From,
			o.To)
	}
	doc, err := scenefile.Marshal(*s)
	require.NoError(t, err)
	again, _, err := scenefile.Parse(doc)
	require.NoError(t, err)
	assert.Len(t, again[0].Devices, 1)
	assert.Len(t, again[0].Markers, 1)
}
