package ship

import (
	"image"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/internal/visiontest"
)

// An outline beside which the picture brightens more along another, as along a base beside its miniature, is not believed, also where the
// other lies out of reach.
func TestAnOutlineBesideABrighterOneIsNotBelieved(t *testing.T) {
	table := visiontest.Table(visiontest.Scale)
	l, err := NewLocator(table, calibration.Uncertainty{})
	require.NoError(t, err)
	at := visiontest.Pose(97.3, 103.8, 20)
	beside := geom.Pose{Point: at.Point.Add(geom.Point{X: 8, Y: -5}), Heading: at.Heading - 0.05}
	draw := func(lights map[geom.Pose]float64) vision.Frame {
		g := image.NewGray(image.Rect(0, 0, table.Intrinsics.Width, table.Intrinsics.Height))
		for i := range g.Pix {
			var sum float64
			for k := range 16 {
				px := geom.Pixel{X: float64(i%g.Stride) + float64(k%4)/4 - 0.375, Y: float64(i/g.Stride) + float64(k/4)/4 - 0.375}
				light := 40.0
				if p, ok := table.PointAt(px, l.top(at.Point)); ok {
					for pose, v := range lights {
						q := p.Sub(pose.Point)
						u, w := q.Dot(pose.Right()), q.Dot(pose.Forward())
						if d := 20 - max(math.Abs(float64(u)), math.Abs(float64(w))); d > 0 && d < 1.6 {
							light = max(light, v)
						}
					}
				}
				sum += light / 16
			}
			g.Pix[i] = uint8(sum + 0.5)
		}
		return vision.Frame{Gray: g}
	}
	hint := vision.EdgeHint{Base: engine.Small, Pose: beside, Reach: 3 * geom.Millimeter, Turn: 8 * geom.Degree}
	for _, c := range []struct {
		name  string
		other float64
		found bool
	}{{"alone", 0, true}, {"darker", 80, true}, {"brighter", 220, false}} {
		s, ok, err := l.Edges(draw(map[geom.Pose]float64{beside: 120, at: c.other}), hint)
		require.NoError(t, err)
		assert.Equal(t, c.found, ok, c.name)
		if ok {
			assert.False(t, s.Ours, c.name)
			assert.Less(t, float64(s.Pose.Distance(beside.Point)), 4*math.Sqrt(s.Covariance[0]), c.name)
		}
	}
}

// Edges that all lie well inside a base's size are none of its plastic's: a place by them is not stated.
func TestLinesInsideAForeignBaseAreNotItsEdges(t *testing.T) {
	for inset, stated := range map[geom.Length]bool{-1.2: true, -0.3: true, 0.2: true, 0.5: true, 0.7: false, 1.1: false} {
		s := vision.EdgeSight{Base: engine.Small, Sides: [4]float64{1, 1, 1, 1}, Inset: inset}
		assert.Equal(t, stated, foreign(&s), "%v inside", inset)
		if stated {
			assert.Greater(t, s.Covariance[0], 0.6, "the place is stated with what the frame hides")
		}
	}
}
