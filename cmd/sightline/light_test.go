//go:build opencv

package main

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/calibration/lens"
	"sightline/cmd/internal/commandtest"
	"sightline/engine/geom"
	"sightline/vision/tablesim"
)

// What is wrong with a picture's light is said with what is told of it, for its own reason.
func TestCommandsReportBadLight(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	exposed := func(name string, gain float64) {
		table := tablesim.RandomTable(3, 1280, 720)
		m, err := tablesim.CameraNamed("render")
		require.NoError(t, err)
		m.Gain = gain
		table.Model, table.Look.Light, table.Look.Samples = &m, 0.6, 2
		f, _, err := table.Render()
		require.NoError(t, err)
		commandtest.WritePNG(t, in(name), f.Gray)
		require.NoError(t, lens.Save(in("lens.json"), table.Camera.Intrinsics))
	}
	said := func(args ...string) (int, string) {
		code, out, warn := called(t, args...)
		return code, out + warn
	}
	exposed("good.png", 1)
	exposed("bright.png", 2)
	exposed("burnt.png", 3)
	code, text := said("calibrate", "table", "--lens", in("lens.json"), in("good.png"), "-o", in("table.json"))
	require.Zero(t, code, text)
	assert.NotContains(t, text, "expos")
	for name, says := range map[string]string{"good.png": "", "bright.png": "shorten the exposure to", "burnt.png": "burnt out"} {
		_, text := said("locate", "--calibration", in("table.json"), in(name))
		if says == "" {
			assert.NotContains(t, text, "expos", name)
		} else {
			assert.Contains(t, text, says, name)
		}
		_, text = said("calibrate", "table", "--lens", in("lens.json"), in(name), "-o", in("again.json"))
		assert.Contains(t, text, says, name)
	}

	// So much light that no marker is left.
	exposed("white.png", 60)
	code, text = said("calibrate", "table", "--lens", in("lens.json"), in("white.png"), "-o", in("again.json"))
	assert.NotZero(t, code)
	assert.Contains(t, text, "of the picture is burnt out")

	glare := func(name string, top float64) {
		table := tablesim.RandomTable(3, 1280, 720)
		table.Scene.Ships, table.Scene.Obstacles, table.Minis, table.Clutter = nil, nil, nil, nil
		f, _, err := table.Render()
		require.NoError(t, err)
		cal := calibration.Table{Camera: table.Camera, Layout: table.Layout}
		for y := range 720 {
			for x := range 1280 {
				if p, ok := cal.PointAt(geom.Pixel{X: float64(x), Y: float64(y)}, 0); ok {
					d := float64(p.Distance(geom.Point{X: 300, Y: 500})) / 150
					i := y*f.Gray.Stride + x
					f.Gray.Pix[i] = uint8(min(float64(f.Gray.Pix[i])+top*max(1-d*d, 0), 255))
				}
			}
		}
		commandtest.WritePNG(t, in(name), f.Gray)
	}
	glare("sheen.png", 120)
	code, text = said("obstacles", "learn-mat", "--calibration", in("table.json"), in("sheen.png"), "-o", in("mat.png"))
	assert.Zero(t, code, text)
	glare("glare.png", 600)
	code, text = said("obstacles", "learn-mat", "--calibration", in("table.json"), in("glare.png"), "-o", in("mat.png"))
	assert.NotZero(t, code)
	assert.Contains(t, text, "glare")
	assert.NotContains(t, text, "paper lies on the mat")
}
