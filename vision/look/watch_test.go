package look

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/engine"
	"sightline/engine/geom"
)

// A picture that rests is searched once, in the background, and again when it shows something else or a ship has gone.
func TestAPictureThatRestsIsSearchedOnce(t *testing.T) {
	l := small(t, 1, "A1")
	d := drawing{table: tableAt(1.02), noise: 1, matted: true,
		bases: []drawnBase{{base: engine.Small, art: drawnArt(1), pose: pose(100, 120, 200)}}}
	lies := func(p geom.Point) bool { return d.bases[0].pose.Distance(p) < 30 }
	w := NewWatch(d.table, &Library{Looks: []*Look{l}}, calibration.Uncertainty{})
	search := func(taken ...engine.Ship) ([]Sight, bool) {
		frame := d.draw(1)
		w.Rest(frame, lies, taken)
		for range 60000 {
			if found, current, ok := w.Take(frame); ok || w.search == nil {
				assert.Equal(t, ok, current, "nothing has changed since")
				return found, ok
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Fatal("the search does not end")
		return nil, false
	}
	_, _, ok := w.Take(d.draw(1))
	assert.False(t, ok, "nothing was searched")
	found, ok := search()
	require.True(t, ok)
	require.Len(t, found, 1)
	assert.Less(t, float64(found[0].Pose.Distance(d.bases[0].pose.Point)), 0.3)

	_, ok = search()
	assert.False(t, ok, "the picture is the same")
	there := engine.Ship{ID: "A1", Base: engine.Small, Pose: found[0].Pose}
	_, ok = search(there)
	assert.False(t, ok, "a ship more, and the picture is the same")

	d.bases[0].pose = pose(160, 120, 200)
	found, ok = search(there)
	require.True(t, ok, "the base was moved")
	require.Len(t, found, 1)
	_, ok = search()
	assert.True(t, ok, "a ship has gone that stood there")
	there.Pose = found[0].Pose
	_, ok = search(there)
	assert.False(t, ok, "what was found stands there")
	_, ok = search()
	assert.True(t, ok, "it may be another one of its like now")
}
