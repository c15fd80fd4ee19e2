package calibration_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/engine/geom"
)

func sampleLens() calibration.Intrinsics {
	in := calibration.Intrinsics{Width: 1920, Height: 1080, Fx: 1225.5, Fy: 1226.25, Cx: 968.8, Cy: 533.1,
		Distortion: [5]float64{-0.085, 0.03, 0.0006, -0.0004, -0.004}, RMS: 0.21, Views: 12, Covariance: make([]float64, 81)}
	for i := range 9 {
		in.Covariance[10*i] = 0.25 / float64(i+1)
	}
	return in
}

// sampleTable is a camera 1250 mm above the mat's middle.
func sampleTable() calibration.Table {
	t := calibration.Table{Layout: calibration.DefaultLayout(calibration.MatSide, calibration.MatSide)}
	t.Intrinsics = sampleLens()
	t.R = [3][3]float64{{1, 0, 0}, {0, -1, 0}, {0, 0, -1}}
	t.T = calibration.Vec3{-457.2, 457.2, 1250}
	t.PoseCovariance = make([]float64, 36)
	for i := range 6 {
		t.PoseCovariance[7*i] = 1e-6
	}
	t.RMS, t.ScaleSigma = 0.07, 0.0003
	t.Used = []int{0, 1, 2, 4, 5, 6, 7}
	t.Rejected = []calibration.Rejection{{Name: "marker 3", Reason: "it lies 8.2 px from where the other markers put it"}}
	t.Made = time.Date(2026, 11, 21, 10, 30, 0, 250e6, time.UTC)
	return t
}

// changed returns the sample's file with one piece of text replaced.
func changed(t *testing.T, raw []byte, old, by string) []byte {
	t.Helper()
	require.Contains(t, string(raw), old)
	return []byte(strings.Replace(string(raw), old, by, 1))
}

func TestATableGoesThroughItsFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table.json")
	want := sampleTable()
	require.NoError(t, calibration.SaveTable(path, &want))
	assert.Regexp(t, "^[0-9a-f]{64}$", want.Hash)
	got, err := calibration.LoadTable(path)
	require.NoError(t, err)
	for i := range want.Layout.Markers { // degrees in the file: the last bit may differ
		assert.InDelta(t, float64(want.Layout.Markers[i].Heading), float64(got.Layout.Markers[i].Heading), 1e-15)
		got.Layout.Markers[i].Heading = want.Layout.Markers[i].Heading
	}
	assert.Equal(t, want, got)

	other := want
	other.RMS = 0.08
	require.NoError(t, calibration.SaveTable(path, &other))
	assert.NotEqual(t, want.Hash, other.Hash, "another content, another hash")
}

func TestATableFileSaysWhereTheMatsCornersAppear(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table.json")
	table := sampleTable()
	table.Distortion = [5]float64{}
	require.NoError(t, calibration.SaveTable(path, &table))
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	var f struct {
		MatCorners [][]float64 `json:"mat_corners_px"`
	}
	require.NoError(t, json.Unmarshal(raw, &f))
	k := 457.2 / 1250
	want := [][]float64{
		{968.8 - 1225.5*k, 533.1 + 1226.25*k}, {968.8 + 1225.5*k, 533.1 + 1226.25*k},
		{968.8 + 1225.5*k, 533.1 - 1226.25*k}, {968.8 - 1225.5*k, 533.1 - 1226.25*k},
	}
	require.Len(t, f.MatCorners, 4)
	for i := range want {
		assert.InDeltaSlice(t, want[i], f.MatCorners[i], 1e-9)
	}
}

func TestABadTableFileIsNamedWithItsKey(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "table.json")
	table := sampleTable()
	require.NoError(t, calibration.SaveTable(path, &table))
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	for _, c := range []struct {
		name string
		raw  []byte
		want string
	}{
		{"empty", nil, "empty"},
		{"cut off", raw[:len(raw)-40], "it ends in the middle"},
		{"unknown key", changed(t, raw, `"scale_sigma"`, `"scale_sgima"`), `unknown key "scale_sgima"`},
		{"unknown key of the lens", changed(t, raw, `"image_width"`, `"width"`), `unknown key "width"`},
		{"another version", changed(t, raw, `"version": 2`, `"version": 3`), "version: expected 2 (or an older one), got 3"},
		{"another kind of file", []byte(`{"image_width": 3}`), "version: missing"},
		{"no lens", []byte(`{"version": 1}`), "lens: missing"},
		{"no rotation", changed(t, raw, `"rotation": [ 1,`, `"rotation": [ 1.5,`), "camera.rotation"},
		{"mirror", changed(t, raw, `"rotation": [ 1,`, `"rotation": [ -1,`), "camera.rotation"},
		{"camera under the mat", changed(t, raw, "1250", "-1250"), "behind"},
		{"no mat", changed(t, raw, `"width_mm": 914.4`, `"width_mm": 0`), "mat: width"},
		{"marker twice", changed(t, raw, `"id": 1`, `"id": 0`), "id 0 appears twice"},
		{"bad lens", changed(t, raw, "plumb_bob", "fisheye"), "lens: distortion_model"},
	} {
		require.NoError(t, os.WriteFile(path, c.raw, 0o600))
		_, err := calibration.LoadTable(path)
		if assert.Error(t, err, c.name) {
			assert.Contains(t, err.Error(), c.want, c.name)
			assert.Contains(t, err.Error(), path, c.name)
			assert.NotContains(t, err.Error(), "\n", c.name)
		}
	}
	_, err = calibration.LoadTable(filepath.Join(dir, "missing.json"))
	assert.ErrorIs(t, err, os.ErrNotExist)
}

func TestATableFileIsWrittenWholeOrNotAtAll(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "table.json")
	good := sampleTable()
	require.NoError(t, calibration.SaveTable(path, &good))
	before, err := os.ReadFile(path)
	require.NoError(t, err)

	table := sampleTable()
	table.R[0][0] = 2
	assert.Error(t, calibration.SaveTable(path, &table))
	table = sampleTable()
	table.T = calibration.Vec3{}
	assert.Error(t, calibration.SaveTable(path, &table))
	table = sampleTable()
	assert.ErrorIs(t, calibration.SaveTable(filepath.Join(dir, "nowhere", "table.json"), &table), os.ErrNotExist)

	after, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, before, after)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, entries, 1, "nothing is left behind")
}

func FuzzLoadTable(f *testing.F) {
	table := sampleTable()
	raw, err := calibration.MarshalTable(&table)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Add([]byte(`{"version": 1}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		table, err := calibration.ParseTableFile(raw)
		if err != nil {
			return
		}
		if _, ok := table.PixelOf(geom.Point{}, 0); !ok {
			t.Error("ParseTable gave a camera that does not see the mat's corner")
		}
		if _, err := calibration.MarshalTable(&table); err != nil {
			t.Errorf("what was read cannot be written: %v", err)
		}
	})
}
