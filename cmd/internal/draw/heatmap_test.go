package draw_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/cmd/internal/draw"
	"sightline/engine/geom"
)

// overMiddle is a camera 1250 mm above the mat's middle, registered from its markers.
func overMiddle(t *testing.T) calibration.Table {
	t.Helper()
	layout := calibration.DefaultLayout(calibration.MatSide, calibration.MatSide)
	cam := calibration.Camera{
		Intrinsics: calibration.Intrinsics{Width: 1920, Height: 1080, Fx: 1225, Fy: 1225, Cx: 959.5, Cy: 539.5},
		Extrinsics: calibration.Extrinsics{R: [3][3]float64{{1, 0, 0}, {0, -1, 0}, {0, 0, -1}}, T: calibration.Vec3{-457.2, 457.2, 1250}},
	}
	var seen []calibration.MarkerSighting
	for _, m := range layout.Markers[1:] {
		s := calibration.MarkerSighting{ID: m.ID}
		for k, p := range m.Corners() {
			s.Corners[k], _ = cam.PixelOf(p, m.Z)
		}
		seen = append(seen, s)
	}
	table, err := calibration.Register(cam.Intrinsics, layout, seen)
	require.NoError(t, err)
	return table
}

func heatMap(t *testing.T, table calibration.Table, o draw.HeatOptions) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, draw.HeatMap(&b, calibration.NewBudget(table, calibration.Uncertainty{}), o))
	return b.String()
}

func TestAHeatMapIsWellFormedAndSaysWhatItShows(t *testing.T) {
	svg := heatMap(t, overMiddle(t), draw.HeatOptions{Title: "a < b"})
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		_, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
	}
	assert.Contains(t, svg, "a &lt; b")
	assert.Contains(t, svg, "sigma, mm")
	assert.Contains(t, svg, "7 used, 1 left out")
	assert.Equal(t, 3, strings.Count(svg, `class="left"`), "the marker that is missing is crossed")
	assert.NotContains(t, svg, "NaN")
	assert.Less(t, len(svg), 200_000)
}

// The legend's bands hold every value of the mat, and each next colour is darker.
func TestTheLegendHoldsTheWholeMat(t *testing.T) {
	table := overMiddle(t)
	svg := heatMap(t, table, draw.HeatOptions{})
	b := calibration.NewBudget(table, calibration.Uncertainty{})
	least, most := math.Inf(1), 0.0
	for x := 0.0; x <= 914.4; x += 914.4 / 16 {
		for y := 0.0; y <= 914.4; y += 914.4 / 16 {
			terms, ok := b.At(geom.Point{X: x, Y: y}, 4)
			require.True(t, ok)
			s := float64(calibration.LargestSigma(terms.Total(1)))
			least, most = min(least, s), max(most, s)
		}
	}
	var low, high []float64
	var light []float64
	for _, line := range strings.Split(svg, "\n") {
		var a, z float64
		if i := strings.Index(line, " – "); i > 0 {
			start := strings.LastIndexByte(line[:i], '>') + 1
			_, err := fmt.Sscanf(line[start:], "%f – %f<", &a, &z)
			require.NoError(t, err, line)
			low, high = append(low, a), append(high, z)
		}
		if i := strings.Index(line, `fill="#`); i > 0 && strings.Contains(line, "stroke=") {
			var r, g, bl int
			_, err := fmt.Sscanf(line[i+7:], "%02x%02x%02x", &r, &g, &bl)
			require.NoError(t, err)
			light = append(light, 0.2126*float64(r)+0.7152*float64(g)+0.0722*float64(bl))
		}
	}
	require.Greater(t, len(low), 2)
	assert.LessOrEqual(t, low[0], least)
	assert.GreaterOrEqual(t, high[len(high)-1], most)
	for i := 1; i < len(light); i++ {
		assert.Less(t, light[i], light[i-1]-10, "band %d is darker than the one below it", i)
	}
}

func TestAHeatMapOfAMatBehindTheCameraFails(t *testing.T) {
	table := overMiddle(t)
	table.T[2] = -1250
	var b bytes.Buffer
	err := draw.HeatMap(&b, calibration.NewBudget(table, calibration.Uncertainty{}), draw.HeatOptions{})
	assert.ErrorContains(t, err, "behind the camera")
	assert.Zero(t, b.Len())
}
