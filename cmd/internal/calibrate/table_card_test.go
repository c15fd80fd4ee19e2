//go:build opencv

package calibrate

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/cmd/internal/commandtest"
)

// A table is calibrated with two measured distances and the card at five places, all
// from pictures: the mat is flat and as large as it says, and that is what comes out.
func TestCalibrateTableWithDistancesAndTheCard(t *testing.T) {
	if testing.Short() {
		t.Skip("renders pictures")
	}
	r := newVerifyRig(t, 5)
	layout := calibration.DefaultLayout(calibration.MatSide, calibration.MatSide)
	picture, lens, _ := commandtest.EmptyTable(t, r.dir, layout)
	out := filepath.Join(r.dir, "measured.json")
	args := []string{"calibrate", "table", "--lens", lens, picture, "-o", out,
		"--distance", "0:7:970.4", "--distance", "2:5:970.4:0.2", "--card-length", "220"}
	for _, p := range r.pictures {
		args = append(args, "--flatness", p)
	}
	code, stdout, stderr := called(t, args...)
	require.Zero(t, code, stderr)
	assert.Contains(t, stdout, "flatness")
	assert.Contains(t, stdout, "from 5 places")
	assert.Regexp(t, `scale +changed by [-+]0\.0\d\d %`, stdout)
	assert.NotContains(t, stdout, "contradict")
	table, err := calibration.LoadTable(out)
	require.NoError(t, err)
	require.NotNil(t, table.Surface)
	assert.Len(t, table.Distances, 2)
	assert.Less(t, table.ScaleSigma, calibration.DefaultScaleSigma)
	for _, p := range table.Surface.Places {
		assert.Less(t, p.Z.Millimeters(), 0.3)
		assert.Greater(t, p.Z.Millimeters(), -0.3)
	}

	code, _, stderr = called(t, "calibrate", "table", "--lens", lens, picture, "-o", out, "--flatness", picture)
	assert.Equal(t, 1, code)
	assert.Contains(t, stderr, "no check card is seen")
	code, _, stderr = called(t, "calibrate", "table", "--lens", lens, picture, "-o", out, "--distance", "0:99:970")
	assert.Equal(t, 2, code)
	assert.Contains(t, stderr, "--distance 0:99:970: expected two of this mat's markers")
}
