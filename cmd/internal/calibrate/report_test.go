package calibrate

import (
	"bytes"
	"encoding/json"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/calibration/verify"
	"sightline/cmd/internal/terminal"
	"sightline/engine/geom"
)

// handLaid is a table registered from markers that a hand laid; change moves them first.
func handLaid(t *testing.T, change func(m []calibration.Marker)) (calibration.Table, []calibration.MarkerSighting) {
	t.Helper()
	layout := calibration.DefaultLayout(calibration.MatSide, calibration.MatSide)
	cam := calibration.Camera{
		Intrinsics: calibration.Intrinsics{Width: 1920, Height: 1080, Fx: 1225, Fy: 1225, Cx: 959.5, Cy: 539.5},
		Extrinsics: calibration.Extrinsics{R: [3][3]float64{{1, 0, 0}, {0, -1, 0}, {0, 0, -1}}, T: calibration.Vec3{-457.2, 457.2, 1250}},
	}
	rng := rand.New(rand.NewPCG(5, 5))
	markers := append([]calibration.Marker(nil), layout.Markers...)
	for i := range markers {
		markers[i].Center = markers[i].Center.Add(geom.Point{X: 0.2 * rng.NormFloat64(), Y: 0.2 * rng.NormFloat64()})
	}
	if change != nil {
		change(markers)
	}
	var seen []calibration.MarkerSighting
	for _, m := range markers {
		s := calibration.MarkerSighting{ID: m.ID}
		for k, p := range m.Corners() {
			px, _ := cam.PixelOf(p, m.Z)
			s.Corners[k] = px.Add(geom.Pixel{X: 0.05 * rng.NormFloat64(), Y: 0.05 * rng.NormFloat64()})
		}
		seen = append(seen, s)
	}
	table, err := calibration.Register(cam.Intrinsics, layout, seen)
	require.NoError(t, err)
	return table, seen
}

func report(t *testing.T, table calibration.Table, scale calibration.ScaleCheck) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, printTable(&b, &table, scale, verify.FlatnessFit{}, "table.json"))
	return b.String()
}

func TestAGoodTableNeedsNoAdvice(t *testing.T) {
	table, _ := handLaid(t, nil)
	text := report(t, table, calibration.ScaleCheck{})
	assert.Contains(t, text, "8 of 8 used: 0 1 2 3 4 5 6 7")
	assert.Contains(t, text, "sure to")
	assert.Contains(t, text, "marker  along the edge")
	_, corner, ok := sureness(calibration.NewBudget(table, calibration.Uncertainty{}))
	require.True(t, ok)
	assert.Empty(t, advise(&table, calibration.ScaleCheck{}, corner))
}

func TestTheReportSaysWhatToDo(t *testing.T) {
	advice := func(table calibration.Table, scale calibration.ScaleCheck) string {
		return report(t, table, scale)
	}
	bumped, _ := handLaid(t, func(m []calibration.Marker) { m[6].Center.X += 3 })
	text := advice(bumped, calibration.ScaleCheck{})
	assert.Contains(t, text, "left out: it was moved")
	assert.Regexp(t, `Marker 6 lies \d\.\d mm from its place .*Lay it again`, text)

	few, seen := handLaid(t, nil)
	few, err := calibration.Register(few.Intrinsics, few.Layout, seen[:5])
	require.NoError(t, err)
	assert.Contains(t, advice(few, calibration.ScaleCheck{}), "Only 5 markers are used")

	rough := few
	rough.PlacementFactor = 4
	assert.Contains(t, advice(rough, calibration.ScaleCheck{}), "The markers scatter by 0.60 mm where 0.30 mm was expected")

	suspect := few
	suspect.FocalDoubt, suspect.FocalSigmas = 0.031, 2.1
	assert.Contains(t, advice(suspect, calibration.ScaleCheck{}), "The markers suspect the lens: its focal length may be off by 3 %")
	suspect.FocalSigmas = 1.9
	assert.NotContains(t, advice(suspect, calibration.ScaleCheck{}), "suspect the lens",
		"chance is no suspicion, however wide it leaves the focal length")

	oblong := few
	oblong.Intrinsics.Fx *= 1.02
	assert.Regexp(t, `^warning: The lens file's fx and fy \([0-9.]+ and [0-9.]+ px\) differ by 2\.0 %, as if the camera's pixels were not square`, advice(oblong, calibration.ScaleCheck{}))

	for side, ids := range map[bool][]int{true: {5, 6, 7}, false: {0, 1, 3}} {
		three, seen := handLaid(t, nil)
		three, err := calibration.Register(three.Intrinsics, three.Layout, slices.DeleteFunc(slices.Clone(seen),
			func(m calibration.MarkerSighting) bool { return !slices.Contains(ids, m.ID) }))
		require.NoError(t, err)
		text := advice(three, calibration.ScaleCheck{})
		assert.Equal(t, side, strings.Contains(text, "All 3 markers that are used lie along one side of the mat"), text)
		assert.Equal(t, side, strings.Contains(text, "run gives no answers"), text)
		assert.NotEqual(t, side, strings.Contains(text, "Only 3 markers are used"), text)
	}

	blurred := few
	blurred.CornerSigma = 0.4
	assert.Contains(t, advice(blurred, calibration.ScaleCheck{}), "focus the camera")

	vague := few
	vague.ScaleSigma = 0.002
	assert.Regexp(t, `What counts most there is the scale \(measure two long distances`, advice(vague, calibration.ScaleCheck{}))

	good, seen := handLaid(t, nil)
	scale, err := good.MeasureScale([]calibration.ScaleDistance{{From: 0, To: 7, Length: 975, Sigma: 0.3}},
		calibration.Centers(good.Intrinsics, seen))
	require.NoError(t, err)
	text = advice(good, scale)
	assert.Contains(t, text, "contradict the layout")
	assert.True(t, strings.HasPrefix(text, "warning: "), "what is wrong comes first: %.60s", text)
	assert.Regexp(t, `markers 0 to 7: measured 975\.0 ± 0\.3 mm, 970\.\d+ mm by the layout: \+4\.\d+ mm`, text)
}

func TestTheBudgetIsPrintedAndDrawn(t *testing.T) {
	table, _ := handLaid(t, nil)
	dir := t.TempDir()
	file, picture := filepath.Join(dir, "table.json"), filepath.Join(dir, "heat.svg")
	require.NoError(t, calibration.SaveTable(file, &table))
	var b bytes.Buffer
	require.NoError(t, (&budgetCmd{Calibration: file, Out: picture, Height: 4, Frames: 1}).run(&b, io.Discard))
	for _, want := range []string{"pixel noise", "lens", "pose", "model", "height", "flatness", "scale", "print", "insert play",
		"all together", "distance of 300 mm"} {
		assert.Contains(t, b.String(), want)
	}
	svg, err := os.ReadFile(picture)
	require.NoError(t, err)
	assert.Contains(t, string(svg), "<svg")

	var doc struct {
		Version int
		Hash    string `json:"calibration"`
		Places  []struct {
			Name  string
			Sigma float64   `json:"sigma_mm"`
			Cov   []float64 `json:"covariance_mm2"`
			Terms []struct {
				Name string
				Cov  []float64 `json:"covariance_mm2"`
			}
		}
		Distances []struct {
			Sigma float64 `json:"sigma_mm"`
		}
	}
	b.Reset()
	require.NoError(t, (&budgetCmd{Calibration: file, Height: 4, Frames: 1, JSON: true}).run(&b, io.Discard))
	require.NoError(t, json.Unmarshal(b.Bytes(), &doc))
	assert.Equal(t, table.Hash, doc.Hash)
	require.Len(t, doc.Places, 3)
	require.Len(t, doc.Distances, 3)
	for _, p := range doc.Places { // the terms add up to what stands there
		sum := [3]float64{}
		for _, term := range p.Terms {
			for i, v := range term.Cov {
				sum[i] += v
			}
		}
		assert.InDeltaSlice(t, p.Cov, sum[:], 1e-12, p.Name)
	}
	assert.Less(t, doc.Places[0].Sigma, doc.Places[2].Sigma, "the corner is less sure than the centre")

	var looks bytes.Buffer
	require.NoError(t, os.WriteFile(filepath.Join(dir, "A1.json"), []byte("{}"), 0o644))
	assert.ErrorContains(t, (&budgetCmd{Calibration: file, Looks: dir, Frames: 1}).run(&looks, io.Discard), "--looks "+dir+": expected looks")
	for _, bad := range []budgetCmd{
		{Calibration: file, Height: -1, Frames: 1}, {Calibration: file, Height: 4}, {Calibration: filepath.Join(dir, "none.json"), Frames: 1},
		{Calibration: file, Frames: 1, Out: filepath.Join(dir, "none", "x.svg")},
	} {
		assert.Error(t, bad.run(&b, io.Discard))
	}
}

func TestMarkerSigmaAndDistancesAreChecked(t *testing.T) {
	c := tableCmd{MarkerSigma: 0.1, Distance: []string{"0:7:970.4", "2:5:970.4:0.2"}}
	l, err := c.layout()
	require.NoError(t, err)
	assert.Equal(t, 0.1*geom.Millimeter, l.Placement.XY)
	d, err := c.distances(l)
	require.NoError(t, err)
	assert.Len(t, d, 2)
	c.MarkerSigma = -1
	_, err = c.layout()
	assert.ErrorContains(t, err, "--marker-sigma")
	for _, bad := range []string{"0:77:970", "0:7", "0:7:0"} {
		_, err = (&tableCmd{Distance: []string{bad}}).distances(l)
		assert.ErrorContains(t, err, "--distance", bad)
	}
}

func TestADistanceThatCannotBeTrueIsRefused(t *testing.T) {
	c := tableCmd{}
	refused := func(length geom.Length) error {
		table, seen := handLaid(t, nil)
		scale, err := table.MeasureScale([]calibration.ScaleDistance{{From: 2, To: 5, Length: 970.4, Sigma: 0.3}, {From: 0, To: 7, Length: length,
			Sigma: 0.3}}, calibration.Centers(table.Intrinsics, seen))
		require.NoError(t, err)
		return c.believe(scale)
	}
	assert.NoError(t, refused(970.4))
	assert.NoError(t, refused(971.4), "an unlucky reading is told, not refused")
	err := refused(1000)
	assert.ErrorContains(t, err, "--distance 0:7:1000: the layout puts these markers 970.", "the wrong one of the two is named")
	assert.ErrorContains(t, err, "--force-distance")
	assert.ErrorAs(t, err, &terminal.Unanswered{}, "exit status 1")
	c.ForceDistance = true
	assert.NoError(t, refused(1000))
}
