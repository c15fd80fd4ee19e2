package rulings

import (
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/engine"
	"sightline/engine/geom"
)

// The picture of a ruling shows bases as large as they were measured.
func TestThePhotographShowsTheBasesThatWereMeasured(t *testing.T) {
	table := calibration.Table{Layout: calibration.DefaultLayout(calibration.MatSide, calibration.MatSide), Camera: calibration.Camera{
		Intrinsics: calibration.Intrinsics{Width: 1280, Height: 720, Fx: 700, Fy: 700, Cx: 639.5, Cy: 359.5},
		Extrinsics: calibration.Extrinsics{R: [3][3]float64{{1, 0, 0}, {0, -1, 0}, {0, 0, -1}}, T: calibration.Vec3{-457.2, 457.2, 1200}},
	}}
	width := func(small geom.Length) float64 {
		dimensions := engine.Nominal()
		dimensions.Small = small
		ship := engine.Ship{ID: "A1", Player: 1, Pose: geom.Pose{Point: geom.Point{X: 400, Y: 400}}}
		scene := engine.Scene{Ships: []engine.Ship{ship}, Dimensions: &dimensions}
		s := sketch{photo: &photo{Width: 1280, Height: 720}, table: &table}
		s.draw(&document{Entry: &Entry{}}, &scene)
		require.NotEmpty(t, s.Marks)
		xs := regexp.MustCompile(`[ML](\d+\.\d+) `).FindAllStringSubmatch(s.Marks[0].Path, -1)
		least, most := 1e9, 0.0
		for _, x := range xs {
			v, err := strconv.ParseFloat(x[1], 64)
			require.NoError(t, err)
			least, most = min(least, v), max(most, v)
		}
		return most - least
	}
	assert.InDelta(t, width(40)*1.25, width(50), 0.1)
}
