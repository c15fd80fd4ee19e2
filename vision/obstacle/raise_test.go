package obstacle

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/catalogue"
	"sightline/vision/token"
)

// A ship that stands on a rock's cardboard is higher than one on the mat, and seems to stand farther out: its sigma says so.
func TestAShipOnARockIsLessSureOfItsPlace(t *testing.T) {
	layout := calibration.DefaultLayout(calibration.MatSide, calibration.MatSide)
	table := calibration.Table{Layout: layout, Camera: calibration.Camera{
		Intrinsics: calibration.Intrinsics{Width: 1920, Height: 1080, Fx: 1225, Fy: 1225, Cx: 959.5, Cy: 539.5},
		Extrinsics: calibration.Extrinsics{R: [3][3]float64{{1, 0, 0}, {0, -1, 0}, {0, 0, -1}}, T: calibration.Vec3{-457.2, 457.2, 1250}},
	}}
	w := &Watch{finder: &Finder{table: table, highest: 2, errors: calibration.NewErrorModel(table, calibration.Uncertainty{})}}
	rock := vision.ObstacleView{Entry: &catalogue.Entry{Top: 2}}
	rock.Outline = []geom.Point{{X: 60, Y: 60}, {X: 130, Y: 60}, {X: 130, Y: 130}, {X: 60, Y: 130}}
	next := vision.ObstacleView{Entry: rock.Entry}
	next.Outline = []geom.Point{{X: 30, Y: 60}, {X: 72, Y: 60}, {X: 72, Y: 130}, {X: 30, Y: 130}}
	for name, c := range map[string]struct {
		sight  vision.ObstacleSight
		raised bool
	}{
		"recognised":         {vision.ObstacleSight{Views: []vision.ObstacleView{rock}}, true},
		"not recognised":     {vision.ObstacleSight{Adjoins: [][]geom.Point{{{X: 70, Y: 90}, {X: 62, Y: 90}}}}, true},
		"under another base": {vision.ObstacleSight{Adjoins: [][]geom.Point{{{X: 30, Y: 90}, {X: 22, Y: 90}}}}, false},
		"next to the base, and recognised": {vision.ObstacleSight{Views: []vision.ObstacleView{next},
			Adjoins: [][]geom.Point{{{X: 70, Y: 90}, {X: 62, Y: 90}}}}, false},
	} {
		t.Run(name, func(t *testing.T) { aShipOnARock(t, w, &c.sight, c.raised) })
	}
}

// aShipOnARock holds the covariances of a ship on a rock and of one next to it to what is seen.
func aShipOnARock(t *testing.T, w *Watch, sight *vision.ObstacleSight, raised bool) {
	table := &w.finder.table
	on, off := geom.Pose{Point: geom.Point{X: 95, Y: 95}}, geom.Pose{Point: geom.Point{X: 95, Y: 155}}
	out := vision.Located{Ships: make([]vision.ShipView, 2)}
	for _, pose := range []geom.Pose{on, off} {
		cov := w.finder.errors.Systematic(pose, token.BaseTop, 20)
		out.Scene.Ships = append(out.Scene.Ships, engine.Ship{Base: engine.Small, Pose: pose, Covariance: cov})
	}
	before := [2]geom.Cov3{out.Scene.Ships[0].Covariance, out.Scene.Ships[1].Covariance}
	w.raise(sight, &out)
	assert.Equal(t, before[1], out.Scene.Ships[1].Covariance, "it stands on the mat")
	assert.Zero(t, out.Ships[1].Shared)
	if !raised {
		assert.Equal(t, before[0], out.Scene.Ships[0].Covariance)
		return
	}
	px, ok := table.PixelOf(on.Point, token.BaseTop+2)
	require.True(t, ok)
	seems, ok := table.PointAt(px, token.BaseTop)
	require.True(t, ok)
	sigmas := func(c geom.Cov3) float64 {
		d := seems.Sub(on.Point)
		return math.Sqrt((c[4]*d.X*d.X - 2*c[1]*d.X*d.Y + c[0]*d.Y*d.Y) / (c[0]*c[4] - c[1]*c[1]))
	}
	assert.Greater(t, sigmas(before[0]), 3.0, "as if it stood on the mat")
	assert.Less(t, sigmas(out.Scene.Ships[0].Covariance), 1.5)
	assert.NotZero(t, out.Ships[0].Shared, "another camera has it too")
}
