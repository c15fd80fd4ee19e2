package tablesim

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/calibration/lens"
	"sightline/engine/geom"
)

// near reports which side of a held board is nearest to the camera, by its corners.
func near(t *testing.T, g Grip) lens.Side {
	t.Helper()
	b := board(t, "9x6:25mm")
	h, err := g.Hold(DefaultCamera(960, 540).Intrinsics, b)
	require.NoError(t, err)
	// Straight beneath the camera's axis: the tilt alone counts.
	at := func(x, y float64) float64 { return h.Pose.Camera(calibration.Vec3{x, y, 0})[2] }
	depth := [4]float64{at(0, 62.5), at(200, 62.5), at(100, 0), at(100, 125)}
	best := lens.Left
	for s := range depth {
		if depth[s] < depth[best] {
			best = lens.Side(s)
		}
	}
	return best
}

func TestObeyFollowsTheAdvice(t *testing.T) {
	for n := range 12 {
		for side, name := range []string{"left", "right", "top", "bottom"} {
			g := Obey("tilt the board's "+name+" side towards the camera, by about 30 degrees", n)
			assert.Equal(t, lens.Side(side), near(t, g), "%s, attempt %d", name, n)
		}
		g := Obey("bring the board to the top left corner of the picture, its bottom side tilted towards the camera: a point there is known to "+
			"0.10 mm, wanted 0.06", n)
		assert.Equal(t, lens.Bottom, near(t, g))
		assert.Less(t, g.U, 0.2)
		assert.Less(t, g.V, 0.23)
		g = Obey("bring the board to the right edge of the picture", n)
		assert.Greater(t, g.U, 0.8)
		assert.Zero(t, g.TiltX)
		assert.Greater(t, Obey("bring the board closer, until it fills more than half of the picture", n).Share, 0.6)
		assert.Less(t, Obey("hold the board further away, until it fills a third of the picture", n).Share, 0.3)
		assert.Equal(t, 90*geom.Degree, Obey("turn the board by a quarter, tilted, for another view (9 of at least 10)", n).Roll)
	}
	assert.NotEqual(t, Obey("tilt the board's left side towards the camera", 1), Obey("tilt the board's left side towards the camera", 2))
}
