package calibrate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/calibration/lens"
	"sightline/engine/geom"
	"sightline/vision/opencv"
	"sightline/vision/tablesim"
)

// mostOff is how far a table puts points of the mat, at a base's top, from where the simulated camera has them.
func mostOff(t *testing.T, cam *calibration.Camera, table *calibration.Table) (far float64) {
	t.Helper()
	for x := 50.0; x < 914; x += 100 {
		for y := 50.0; y < 914; y += 100 {
			px, ok := cam.PixelOf(geom.Point{X: x, Y: y}, 4)
			require.True(t, ok)
			p, ok := table.PointAt(px, 4)
			require.True(t, ok)
			far = max(far, float64(p.Distance(geom.Point{X: x, Y: y})))
		}
	}
	return far
}

// heightIsKnown tests that the height of the camera is printed with a sigma that its error does not exceed by much.
func heightIsKnown(t *testing.T, stdout string, cam *calibration.Camera) {
	t.Helper()
	var height, sigma float64
	_, line, _ := strings.Cut(stdout, "\ncamera")
	_, err := fmt.Sscanf(line, " %f ± %f mm over the mat", &height, &sigma)
	require.NoError(t, err, stdout)
	assert.LessOrEqual(t, math.Abs(height-cam.Center()[2]), 3*sigma)
	assert.Greater(t, sigma, 30.0, "one picture from above hardly tells height and focal length apart")
}

// Four corners of the mat and a few points of its edges are a calibration, also where no OpenCV is.
func TestCornersOfTheMatAreACalibration(t *testing.T) {
	dir := t.TempDir()
	picture := filepath.Join(dir, "table.png")
	var blank bytes.Buffer
	require.NoError(t, png.Encode(&blank, image.NewGray(image.Rect(0, 0, 1920, 1080))))
	require.NoError(t, os.WriteFile(picture, blank.Bytes(), 0o644))
	cam := tablesim.DefaultCamera(1920, 1080)
	layout := calibration.DefaultLayout(calibration.MatSide, calibration.MatSide)
	var corners, edges []string
	for i, p := range layout.Corners() {
		px, _ := cam.PixelOf(p, 0)
		corners = append(corners, fmt.Sprintf("%.1f,%.1f", px.X, px.Y))
		next := layout.Corners()[(i+1)%4]
		for _, k := range []float64{0.3, 0.7} {
			px, _ := cam.PixelOf(p.Add(next.Sub(p).Mul(k)), 0)
			edges = append(edges, fmt.Sprintf("%.1f, %.1f", px.X, px.Y))
		}
	}
	out, lensFile := filepath.Join(dir, "table.json"), filepath.Join(dir, "lens.yaml")
	code, stdout, stderr := called(t, "calibrate", "quick", "--corners", strings.Join(append(corners, edges...), ";"), "-o", out,
		"--lens-output", lensFile, picture)
	require.Zero(t, code, stderr)
	assert.Contains(t, stdout, "estimated from the mat's corners")
	table, err := calibration.LoadTable(out)
	require.NoError(t, err)
	assert.Less(t, mostOff(t, &cam, &table), 1.5)
	heightIsKnown(t, stdout, &cam)
	in, _, err := lens.Load(lensFile)
	require.NoError(t, err)
	assert.InDelta(t, table.Fx, in.Fx, 1e-3)

	code, stdout, _ = called(t, "calibrate", "quick", "--json", "--corners", strings.Join(corners, ";"), "-o", out, picture)
	require.Zero(t, code)
	assert.True(t, json.Valid([]byte(stdout)))
	for says, c := range map[string]struct {
		code int
		args []string
	}{
		"no pictures":            {2, []string{"-o", out}},
		"got 3 points":           {2, []string{"-o", out, picture, "--corners", strings.Join(corners[:3], ";")}},
		`"1": expected X,Y`:      {2, []string{"-o", out, picture, "--corners", "1;2"}},
		"is not in the picture":  {2, []string{"-o", out, picture, "--corners", "1,1;2,2;3,3;4000,4"}},
		"stand in a row":         {1, []string{"-o", out, picture, "--corners", "1,1;2,2;3,3;4,4"}},
		"are they in their orde": {1, []string{"-o", out, picture, "--corners", "100,900;1000,800;200,100;1000,400"}},
		"expected one picture":   {2, []string{"-o", out, picture, picture, "--corners", strings.Join(corners, ";")}},
		"not a JPEG or PNG":      {2, []string{"-o", out, out, "--corners", strings.Join(corners, ";")}},
		"--mat":                  {2, []string{"-o", out, picture, "--mat", "x", "--corners", strings.Join(corners, ";")}},
		"no such file":           {2, []string{"-o", out, "none.png", "--corners", strings.Join(corners, ";")}},
	} {
		code, _, stderr := called(t, append([]string{"calibrate", "quick"}, c.args...)...)
		assert.Equal(t, c.code, code, "%v: %s", c.args, stderr)
		assert.Contains(t, stderr, says)
	}
}

// The markers that one look at the simulated table shows are a calibration too.
func TestMarkersAloneAreACalibration(t *testing.T) {
	if _, err := opencv.NewMarkerDetector(opencv.MarkerOptions{}); err != nil {
		t.Skip("markers are detected by OpenCV: ", err)
	}
	out := filepath.Join(t.TempDir(), "table.json")
	code, stdout, stderr := called(t, "calibrate", "quick", "--source", "sim:1280x720", "-o", out)
	require.Zero(t, code, stderr)
	assert.Contains(t, stdout, "estimated from the markers in one view")
	table, err := calibration.LoadTable(out)
	require.NoError(t, err)
	assert.Len(t, table.Used, 8)
	cam := tablesim.DefaultCamera(1280, 720)
	assert.Less(t, mostOff(t, &cam, &table), 1.0)
	heightIsKnown(t, stdout, &cam)
}
