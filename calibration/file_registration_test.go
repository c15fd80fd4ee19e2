package calibration

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/engine/geom"
)

// registered is a table as calibrate table makes it, with everything that it may hold.
func registered(t *testing.T) Table {
	t.Helper()
	c, l := overMat(), DefaultLayout(MatSide, MatSide)
	rng := rand.New(rand.NewPCG(4, 4))
	seen := see(c, laid(l, rng), 0.05, rng)
	for k := range seen[3].Corners {
		seen[3].Corners[k].X += 6
	}
	c.Covariance = make([]float64, 81)
	for i, s := range [9]float64{1, 1, 1, 1, 1e-3, 1e-3, 1e-4, 1e-4, 1e-3} {
		c.Covariance[10*i] = s * s
	}
	table, err := Register(c.Intrinsics, l, seen)
	require.NoError(t, err)
	table.Layout.Placement = DefaultPlacement
	table.Distances = []ScaleDistance{{0, 7, 970.6, 0.3}}
	table.Surface, err = NewSurface(0.26, []SurfacePlace{{geom.Point{X: 200, Y: 300}, 0.4}, {geom.Point{X: 700, Y: 300}, -0.1}},
		[]float64{0.04, 0.01, 0.01, 0.04})
	require.NoError(t, err)
	return table
}

func TestARegistrationGoesThroughItsFile(t *testing.T) {
	table := registered(t)
	path := filepath.Join(t.TempDir(), "table.json")
	require.NoError(t, SaveTable(path, &table))
	back, err := LoadTable(path)
	require.NoError(t, err)
	require.Len(t, back.Residuals, 8)
	for i := range back.Residuals {
		assert.InDelta(t, float64(table.Residuals[i].Turn), float64(back.Residuals[i].Turn), 1e-12)
		back.Residuals[i].Turn, back.Residuals[i].TurnSigma = table.Residuals[i].Turn, table.Residuals[i].TurnSigma
	}
	assert.InDelta(t, float64(table.Layout.Placement.Turn), float64(back.Layout.Placement.Turn), 1e-12)
	back.Layout.Placement = table.Layout.Placement
	table.FocalSigmas, table.OtherLens = 0, 0 // are for whoever registers, and not kept
	assert.Equal(t, table, back)

	// What it says of its errors is the same before and after.
	p := geom.Point{X: 800, Y: 120}
	a, ok1 := NewBudget(table, Uncertainty{}).At(p, 4)
	b, ok2 := NewBudget(back, Uncertainty{}).At(p, 4)
	require.True(t, ok1 && ok2)
	assert.InDelta(t, a.Total(1).XX, b.Total(1).XX, 1e-12)
}

func TestATableFileOfVersion1StillLoads(t *testing.T) {
	table := registered(t)
	table.Surface, table.Distances, table.CornerSigma, table.RegistrationCovariance, table.Residuals = nil, nil, 0, nil, nil
	raw, err := MarshalTable(&table)
	require.NoError(t, err)
	require.NotContains(t, string(raw), "registration")
	raw = bytes.Replace(raw, []byte(`"version": 2`), []byte(`"version": 1`), 1)
	from := bytes.Index(raw, []byte(`  "hash"`))
	if from >= 0 { // a file from before hashes were
		raw = append(raw[:from:from], raw[from+bytes.IndexByte(raw[from:], '\n')+1:]...)
	}
	path := filepath.Join(t.TempDir(), "table.json")
	require.NoError(t, os.WriteFile(path, raw, 0o600))
	back, err := LoadTable(path)
	require.NoError(t, err)
	terms, ok := NewBudget(back, Uncertainty{}).At(geom.Point{X: 457, Y: 457}, 4)
	require.True(t, ok)
	assert.Positive(t, terms.Named(TermPose).XX)
	assert.Positive(t, terms.Named(TermLens).XX)
}

func TestABadRegistrationIsNamedWithItsKey(t *testing.T) {
	table := registered(t)
	raw, err := MarshalTable(&table)
	require.NoError(t, err)
	for _, c := range []struct{ from, to, want string }{
		{`"corner_sigma_px": 0.0`, `"corner_sigma_px": -0.0`, "registration: corner_sigma_px"},
		{`"bent_sigma_mm": 0.0`, `"bent_sigma_mm": -0.0`, "registration: bent_sigma_mm"},
		{`"xy_mm": 0.3`, `"xy_mm": -0.3`, "registration: markers: placement: xy (mm)"},
		{`"from": 0,`, `"from": 77,`, "registration: measured_distances: marker 77"},
		{`"length_mm": 970.6`, `"length_mm": -1`, "registration: measured_distances: from marker 0 to 7"},
		{`"covariance_mm2": [ 0.04,`, `"covariance_mm2": [ -0.04,`, "registration: surface.covariance_mm2"},
		{`"covariance_mm2": [ 0.04,`, `"covariance_mm2": [`, "registration: surface.covariance_mm2"},
		{`"sigma_mm": 0.26`, `"sigma_mm": 0`, "surface: sigma"},
		{`"sigmas": `, `"sigmas": -`, "registration: markers: id 0"},
	} {
		changed := bytes.Replace(raw, []byte(c.from), []byte(c.to), 1)
		require.NotEqual(t, raw, changed, c.from)
		_, err := parseTable(changed)
		assert.ErrorContains(t, err, c.want)
	}
}

// A null is no number: a decoder makes a 0 of it, and of a variance certainty.
func TestANullInATableIsNoNumber(t *testing.T) {
	table := registered(t)
	raw, err := MarshalTable(&table)
	require.NoError(t, err)
	for _, key := range []string{"rotation", "translation_mm", "pose_covariance_rad_mm", "covariance_rad_mm", "covariance_mm2", "covariance"} {
		list := regexp.MustCompile(`("` + key + `": \[ )[^,]+,`)
		require.True(t, list.Match(raw), key)
		_, err := parseTable(list.ReplaceAll(raw, []byte("${1}null,")))
		assert.ErrorContains(t, err, key)
	}
}
