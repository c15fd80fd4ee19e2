package doctor_test

import (
	"bytes"
	"context"
	"image"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/calibration/lens"
	"sightline/calibration/verify"
	"sightline/cmd/internal/doctor"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/tablesim"
)

// simulatedCamera is the camera of the simulated table, its lens file, its table file
// and what it sees of the markers.
type simulatedCamera struct {
	table       calibration.Table
	lens, file  string
	seen        markers
	pictureSize image.Point
}

func newSimulatedCamera(t *testing.T) simulatedCamera {
	t.Helper()
	o, err := tablesim.ParseSpec("sim:1920x1080")
	require.NoError(t, err)
	s, err := tablesim.Open(o)
	require.NoError(t, err)
	defer s.Close()
	dir := t.TempDir()
	c := simulatedCamera{lens: filepath.Join(dir, "lens.json"), file: filepath.Join(dir, "table.json"), pictureSize: image.Pt(1920, 1080)}
	layout := calibration.DefaultLayout(calibration.MatSide, calibration.MatSide)
	c.table = calibration.Table{Camera: s.Camera(), Layout: layout, ScaleSigma: 0.0003, PoseCovariance: make([]float64, 36),
		Made: newBox().now.Add(-time.Hour)}
	for i := range 6 { // rad², mm²
		c.table.PoseCovariance[7*i] = []float64{1e-9, 1e-9, 1e-9, 1e-3, 1e-3, 1e-3}[i]
	}
	require.NoError(t, lens.Save(c.lens, c.table.Intrinsics))
	require.NoError(t, calibration.SaveTable(c.file, &c.table))
	for _, m := range layout.Markers {
		d := vision.Detection{ID: m.ID}
		visible := true
		for k, p := range m.Corners() {
			px, ok := c.table.PixelOf(p, m.Z)
			visible = visible && ok
			d.Corners[k] = px
		}
		if visible {
			c.seen = append(c.seen, d)
		}
	}
	require.GreaterOrEqual(t, len(c.seen), 4)
	return c
}

// on puts the simulated camera's files and markers on a box.
func (c simulatedCamera) on(w *whole) {
	w.setup.Lens, w.setup.Table, w.box.Markers = c.lens, c.file, c.seen
}

func states(findings []doctor.Finding) (all []doctor.State) {
	for _, f := range findings {
		all = append(all, f.State)
	}
	return all
}

func TestAValidCalibrationIsOK(t *testing.T) {
	c, w := newSimulatedCamera(t), newBox()
	c.on(w)
	loaded, err := calibration.LoadTable(c.file)
	require.NoError(t, err)
	record := verify.Record{At: w.now, Outcome: verify.Pass, WorstError: 0.2, WorstNormalised: 1, Places: 5, Covered: 0.9,
		Calibration: loaded.Hash}
	require.NoError(t, verify.SaveRecord(c.file, record))
	got := w.examine(t, "camera", "calibration")
	assert.Equal(t, []doctor.State{doctor.OK}, states(got["lens"]), "%+v", got["lens"])
	assert.Equal(t, []doctor.State{doctor.OK, doctor.OK}, states(got["table"]), "%+v", got["table"])
	assert.Contains(t, got["table"][1].Says, "stands where the file puts it")
	assert.Equal(t, []doctor.State{doctor.OK}, states(got["verification"]), "%+v", got["verification"])
	assert.Contains(t, got["verification"][0].Says, "largest error 0.20 mm")

	record.Outcome = verify.Fail
	require.NoError(t, verify.SaveRecord(c.file, record))
	assert.Equal(t, doctor.Wrong, w.examine(t, "calibration")["verification"][0].State)
	record.Outcome, record.Calibration = verify.Pass, "another"
	require.NoError(t, verify.SaveRecord(c.file, record))
	assert.Contains(t, w.examine(t, "calibration")["verification"][0].Says, "no longer holds")
	require.NoError(t, os.WriteFile(verify.RecordPath(c.file), []byte("{"), 0o600))
	assert.Contains(t, w.examine(t, "calibration")["verification"][0].Says, "cannot be read")
}

func TestAnInvalidCalibrationIsExplained(t *testing.T) {
	replace := func(t *testing.T, file, old, new string) {
		raw, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Contains(t, string(raw), old)
		require.NoError(t, os.WriteFile(file, bytes.Replace(raw, []byte(old), []byte(new), 1), 0o600))
	}
	for name, c := range map[string]struct {
		do    func(*testing.T, *simulatedCamera, *whole)
		check string
		state doctor.State
		says  string
	}{
		"never verified": {func(*testing.T, *simulatedCamera, *whole) {}, "verification", doctor.Warning, "never verified"},
		"table file edited": {func(t *testing.T, c *simulatedCamera, _ *whole) {
			replace(t, c.file, `"scale_sigma": 0.0003`, `"scale_sigma": 0.0001`)
		}, "table", doctor.Wrong, "was changed"},
		"made long ago": {func(_ *testing.T, _ *simulatedCamera, w *whole) { w.now = w.now.Add(90 * 24 * time.Hour) }, "table", doctor.Warning,
			"90 days ago"},
		"made tomorrow": {func(_ *testing.T, _ *simulatedCamera, w *whole) { w.now = w.now.Add(-48 * time.Hour) }, "table", doctor.Warning,
			"in the future"},
		"camera was pushed": {func(_ *testing.T, c *simulatedCamera, w *whole) {
			var moved markers
			for _, d := range c.seen {
				for k := range d.Corners {
					d.Corners[k] = geom.Pixel{X: d.Corners[k].X + 6, Y: d.Corners[k].Y}
				}
				moved = append(moved, d)
			}
			w.box.Markers = moved
		}, "table", doctor.Wrong, "not where the file puts it"},
		"pictures of another shape": {func(_ *testing.T, _ *simulatedCamera, w *whole) {
			w.cam.picture = image.NewGray(image.Rect(0, 0, 1600, 1200))
		}, "lens", doctor.Wrong, "does not fit"},
		"pictures of another size": {func(_ *testing.T, _ *simulatedCamera, w *whole) {
			w.cam.picture = image.NewGray(image.Rect(0, 0, 1280, 720))
		}, "lens", doctor.Warning, "scaled"},
	} {
		t.Run(name, func(t *testing.T) {
			sim, w := newSimulatedCamera(t), newBox()
			sim.on(w)
			c.do(t, &sim, w)
			w.box.Camera = func(context.Context) (vision.Source, error) { return w.cam, nil }
			got := w.examine(t, "camera", "calibration")[c.check]
			for _, f := range got {
				if f.State == c.state && assert.ObjectsAreEqual(true, bytes.Contains([]byte(f.Says), []byte(c.says))) {
					return
				}
			}
			t.Errorf("%+v, want %s: …%s…", got, c.state, c.says)
		})
	}
}
