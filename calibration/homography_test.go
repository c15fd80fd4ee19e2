package calibration_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/engine/geom"
)

func TestAHomographyIsFoundFromPointsAndPixels(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		tilt := calibration.RotationFromVector(calibration.Vec3{0.6 * rng.NormFloat64(), 0.6 * rng.NormFloat64(), 0})
		turn := calibration.RotationFromVector(calibration.Vec3{0, 0, rng.Float64() * 6})
		e := calibration.Extrinsics{R: calibration.MulMat3(tilt, turn)}
		mid := e.Camera(calibration.Vec3{100, 62.5, 0})
		e.T = calibration.Vec3{50 - mid[0], -30 - mid[1], 500 - mid[2]}
		want := func(p geom.Point) geom.Pixel {
			q := e.Camera(calibration.Vec3{p.X, p.Y, 0})
			return geom.Pixel{X: 900*q[0]/q[2] + 640, Y: 910*q[1]/q[2] + 360}
		}
		var from []geom.Point
		var to []geom.Pixel
		for range 4 + rng.IntN(20) {
			p := geom.Point{X: 200 * rng.Float64(), Y: 120 * rng.Float64()}
			from, to = append(from, p), append(to, want(p))
		}
		h, ok := calibration.FitHomography(from, to)
		if !ok { // four random points may stand almost in a row
			assert.Less(t, len(from), 6)
			continue
		}
		for i := range from {
			got, ok := h.Map(from[i])
			require.True(t, ok)
			assert.InDelta(t, 0, got.Sub(to[i]).Norm(), 1e-5)
		}
	}
}

func TestPointsInARowFixNoHomography(t *testing.T) {
	row := []geom.Point{{X: 1}, {X: 2}, {X: 3}, {X: 4}, {X: 5}}
	px := []geom.Pixel{{X: 1}, {X: 2}, {X: 3}, {X: 4}, {X: 5}}
	for name, c := range map[string]struct {
		from []geom.Point
		to   []geom.Pixel
	}{
		"none": {}, "three": {row[:3], px[:3]}, "in a row": {row, px}, "in one place": {make([]geom.Point, 5), px},
		"unequal": {row, px[:4]}, "seen in one place": {[]geom.Point{{}, {X: 1}, {Y: 1}, {X: 1, Y: 1}}, make([]geom.Pixel, 4)},
	} {
		_, ok := calibration.FitHomography(c.from, c.to)
		assert.False(t, ok, name)
	}
	h := calibration.Homography{1, 0, 0, 0, 1, 0, 0, 0, -1}
	_, ok := h.Map(geom.Point{})
	assert.False(t, ok, "behind the camera")
}
