package look

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/engine"
	"sightline/engine/geom"
)

// A miniature that hides a part of the frame is noticed in one view; a bare base is not refused.
func TestAMiniatureOverTheFrameIsNoticed(t *testing.T) {
	for _, base := range bases {
		d := drawing{table: tableAt(1.02), bases: quarters(base, drawnArt(1)), noise: 1.5}
		w, _ := base.Size()
		view := d.views(1)[1]
		require.NoError(t, CheckFrame(base, view), "%v", base)
		d.hides = discOver(view.Pose.Add(geom.Point{X: float64(w)/2 - 4, Y: 2}), 12, 0.5)
		assert.ErrorContains(t, CheckFrame(base, d.views(2)[1]), "is a miniature on the base?", "%v", base)
	}
	d := drawing{table: tableAt(1.02), bases: quarters(engine.Small, drawnArt(1))}
	away := d.views(1)[0]
	away.Pose.X = -300
	assert.NoError(t, CheckFrame(engine.Small, away), "it is not in the picture: Learn says so")
}
