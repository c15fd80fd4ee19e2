package lens_test

import (
	"encoding/json"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/calibration/lens"
)

func calibratedLens() calibration.Intrinsics {
	in := calibration.Intrinsics{Width: 1920, Height: 1080, Fx: 1225.5, Fy: 1226.25, Cx: 968.8, Cy: 533.1,
		Distortion: [5]float64{-0.085, 0.03, 0.0006, -0.0004, -0.004}, RMS: 0.21, Views: 12, Covariance: make([]float64, 81)}
	for i := range 9 {
		in.Covariance[10*i] = 0.25 / float64(i+1)
	}
	return in
}

func TestALensGoesThroughItsFile(t *testing.T) {
	for _, name := range []string{"lens.json", "lens.yaml", "LENS.YML"} {
		for _, in := range []calibration.Intrinsics{calibratedLens(), {Width: 640, Height: 480, Fx: 500, Fy: 501, Cx: 320, Cy: 240}} {
			path := filepath.Join(t.TempDir(), name)
			require.NoError(t, lens.Save(path, in))
			back, _, err := lens.Load(path)
			require.NoError(t, err)
			assert.Equal(t, in, back)
		}
	}
}

func TestALensFileHasTheKeysOfCameraInfo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lens.json")
	require.NoError(t, lens.Save(path, calibratedLens()))
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	var f map[string]any
	require.NoError(t, json.Unmarshal(raw, &f))
	assert.Equal(t, 1920.0, f["image_width"])
	assert.Equal(t, 1080.0, f["image_height"])
	assert.Equal(t, "plumb_bob", f["distortion_model"])
	assert.Equal(t, map[string]any{"rows": 3.0, "cols": 3.0,
		"data": []any{1225.5, 0.0, 968.8, 0.0, 1226.25, 533.1, 0.0, 0.0, 1.0}}, f["camera_matrix"])
	assert.Equal(t, map[string]any{"rows": 1.0, "cols": 5.0,
		"data": []any{-0.085, 0.03, 0.0006, -0.0004, -0.004}}, f["distortion_coefficients"])
	assert.Equal(t, 0.21, f["rms_px"])
	assert.Equal(t, 12.0, f["views"])
	assert.Len(t, f["covariance"], 81)
	assert.Regexp(t, "^[0-9a-f]{64}$", f["hash"])
	assert.Len(t, f, 9)
}

const rosYAML = `image_width: 640
image_height: 480
camera_name: narrow_stereo
camera_matrix:
  rows: 3
  cols: 3
  data: [535.9, 0, 342.3, 0, 535.9, 235.6, 0, 0, 1]
distortion_model: plumb_bob
distortion_coefficients:
  rows: 1
  cols: 5
  data: [-0.266, -0.0386, 0.00178, -0.00028, 0.238]
rectification_matrix:
  rows: 3
  cols: 3
  data: [1, 0, 0, 0, 1, 0, 0, 0, 1]
projection_matrix:
  rows: 3
  cols: 4
  data: [535.9, 0, 342.3, 0, 0, 535.9, 235.6, 0, 0, 0, 1, 0]
binning_x: 0
roi: {x_offset: 0, y_offset: 0, height: 0, width: 0, do_rectify: false}
`

func TestACameraInfoFileFromElsewhereLoads(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ros.yaml")
	require.NoError(t, os.WriteFile(path, []byte(rosYAML), 0o600))
	in, _, err := lens.Load(path)
	require.NoError(t, err)
	assert.Equal(t, calibration.Intrinsics{Width: 640, Height: 480, Fx: 535.9, Fy: 535.9, Cx: 342.3, Cy: 235.6,
		Distortion: [5]float64{-0.266, -0.0386, 0.00178, -0.00028, 0.238}}, in)

	four := strings.Replace(strings.Replace(rosYAML, "cols: 5", "cols: 4", 1), ", 0.238]", "]", 1)
	require.NoError(t, os.WriteFile(path, []byte(four), 0o600))
	in, _, err = lens.Load(path)
	require.NoError(t, err, "four coefficients leave k3 out")
	assert.Zero(t, in.Distortion[4])
}

func TestTheRenderedTablesLensLoadsWhenItIsSavedAlone(t *testing.T) {
	_, file, _, _ := runtime.Caller(0)
	raw, err := os.ReadFile(filepath.Join(filepath.Dir(file), "..", "..", "..", "shared", "tables", "01", "truth.json"))
	if err != nil {
		t.Skipf("the shared material is not here: %v", err)
	}
	var truth struct {
		Lens json.RawMessage `json:"lens"`
	}
	require.NoError(t, json.Unmarshal(raw, &truth))
	path := filepath.Join(t.TempDir(), "lens.json")
	require.NoError(t, os.WriteFile(path, truth.Lens, 0o600))
	in, _, err := lens.Load(path)
	require.NoError(t, err)
	assert.Equal(t, 1225.0, in.Fx)
	assert.Equal(t, 1920, in.Width)
	assert.Nil(t, in.Covariance)
}

// replaced returns the lens's file with one piece of text replaced.
func replaced(t *testing.T, raw []byte, old, by string) []byte {
	t.Helper()
	require.Contains(t, string(raw), old)
	return []byte(strings.Replace(string(raw), old, by, 1))
}

func TestABadLensFileIsNamedWithItsKey(t *testing.T) {
	dir := t.TempDir()
	good := filepath.Join(dir, "good.json")
	require.NoError(t, lens.Save(good, calibratedLens()))
	raw, err := os.ReadFile(good)
	require.NoError(t, err)
	for _, c := range []struct {
		name, file string
		raw        []byte
		want       string
	}{
		{"empty", "a.json", nil, "empty"},
		{"empty YAML", "a.yaml", nil, "empty"},
		{"cut off", "a.json", raw[:len(raw)/2], "it ends in the middle"},
		{"unknown key", "a.json", replaced(t, raw, `"image_width"`, `"image_widht"`), `unknown key "image_widht"`},
		{"unknown key in YAML", "a.yaml", []byte(strings.Replace(rosYAML, "image_height", "image_heigth", 1)),
			`line 2: unknown key "image_heigth"`},
		{"unknown ending", "a.txt", raw, "expected .json"},
		{"not JSON", "a.json", []byte("image_width: 3"), "not JSON"},
		{"YAML that does not end", "a.yaml", []byte(rosYAML[:150]), "yaml"},
		{"two documents", "a.json", append(append([]byte{}, raw...), raw...), "something follows"},
		{"text for a number", "a.json", replaced(t, raw, "1920", `"1920"`), `image_width: expected a whole number, got string`},
		{"another model", "a.json", replaced(t, raw, "plumb_bob", "fisheye"), `distortion_model: expected plumb_bob, got "fisheye"`},
		{"no picture size", "a.json", replaced(t, raw, "1920", "0"), "image_width"},
		{"skew", "a.json", replaced(t, raw, "1225.5, 0,", "1225.5, 2,"), "camera_matrix"},
		{"negative focal length", "a.json", replaced(t, raw, "1225.5", "-1225.5"), "camera_matrix"},
		{"matrix too short", "a.json", replaced(t, raw, "1225.5, 0,", "1225.5,"), "camera_matrix: expected 3 rows"},
		{"not a number", "a.yaml", []byte(strings.Replace(rosYAML, "342.3", ".nan", 1)), "finite"},
		{"covariance too short", "a.json", replaced(t, raw, "0.25,", ""), "covariance: expected 81"},
		{"negative variance", "a.json", replaced(t, raw, "0.25,", "-0.25,"), "covariance: expected finite"},
		{"negative rms", "a.json", replaced(t, raw, `"rms_px": 0.21`, `"rms_px": -1`), "rms_px"},
	} {
		path := filepath.Join(dir, c.file)
		require.NoError(t, os.WriteFile(path, c.raw, 0o600))
		_, _, err := lens.Load(path)
		if assert.Error(t, err, c.name) {
			assert.Contains(t, err.Error(), c.want, c.name)
			assert.Contains(t, err.Error(), path, c.name)
			assert.NotContains(t, err.Error(), "\n", c.name)
		}
	}
	_, _, err = lens.Load(filepath.Join(dir, "missing.json"))
	assert.ErrorIs(t, err, os.ErrNotExist)
}

func TestALensFileIsWrittenWholeOrNotAtAll(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "lens.json")
	require.NoError(t, lens.Save(path, calibratedLens()))
	before, err := os.ReadFile(path)
	require.NoError(t, err)

	bad := calibratedLens()
	bad.Cx = math.NaN()
	assert.Error(t, lens.Save(path, bad))
	assert.ErrorIs(t, lens.Save(filepath.Join(dir, "nowhere", "lens.json"), calibratedLens()), os.ErrNotExist)
	assert.ErrorContains(t, lens.Save(filepath.Join(dir, "lens"), calibratedLens()), "expected .json")

	after, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, before, after)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, entries, 1, "nothing is left behind")
}

func TestALensFileIsKeptTooWhateverItHeld(t *testing.T) {
	for _, name := range []string{"lens.json", "lens.yaml"} {
		dir := t.TempDir()
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte("my notes, by mistake"), 0o600))
		kept, err := lens.Store(path, calibratedLens())
		require.NoError(t, err)
		raw, err := os.ReadFile(kept)
		require.NoError(t, err)
		assert.Equal(t, "my notes, by mistake", string(raw))
		assert.Equal(t, filepath.Ext(name), filepath.Ext(kept))
		info, err := os.Stat(path)
		require.NoError(t, err)
		assert.Equal(t, fs.FileMode(0o600), info.Mode().Perm(), "the new file is as private as the old one")
	}
}

func TestAnEmptyFileIsNotWorthKeeping(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lens.json")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	kept, err := lens.Store(path, calibratedLens())
	require.NoError(t, err)
	assert.Empty(t, kept)
}

func FuzzLoadLens(f *testing.F) {
	dir := f.TempDir()
	if err := lens.Save(filepath.Join(dir, "a.json"), calibratedLens()); err != nil {
		f.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(dir, "a.json"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw, false)
	f.Add([]byte(rosYAML), true)
	f.Add([]byte("{}"), false)
	f.Fuzz(func(t *testing.T, raw []byte, isYAML bool) {
		in, err := lens.Parse(raw, isYAML)
		if err == nil && in.Validate() != nil {
			t.Errorf("Parse gave a lens that cannot be: %v", in.Validate())
		}
	})
}

// The example of docs/lens.md is a lens file.
func TestTheExampleLensIsOne(t *testing.T) {
	raw, err := os.ReadFile("../../docs/lens.md")
	require.NoError(t, err)
	_, rest, ok := strings.Cut(string(raw), "```json\n")
	require.True(t, ok)
	example, _, ok := strings.Cut(rest, "```")
	require.True(t, ok)
	lens, err := lens.Parse([]byte(example), false)
	require.NoError(t, err)
	assert.Equal(t, calibration.Intrinsics{Width: 1920, Height: 1080, Fx: 1225, Fy: 1226.2, Cx: 968.8, Cy: 533.1,
		Distortion: [5]float64{-0.085, 0.03, 0.0006, -0.0004, -0.004}}, lens)
}
