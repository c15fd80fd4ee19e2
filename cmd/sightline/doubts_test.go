//go:build opencv

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/cmd/internal/commandtest"
)

// Whatever command reads a file that no longer says what was measured, warns of it, and
// of a table whose lens was changed before the table was made.
func TestEveryCommandWarnsOfAFileThatWasChangedByHand(t *testing.T) {
	dir := t.TempDir()
	picture, lens, _ := commandtest.EmptyTable(t, dir, calibration.DefaultLayout(calibration.MatSide, calibration.MatSide))
	edit := func(from, name, old, new string) string {
		raw, err := os.ReadFile(from)
		require.NoError(t, err)
		changed := regexp.MustCompile(old).ReplaceAllString(string(raw), new)
		require.NotEqual(t, string(raw), changed)
		to := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(to, []byte(changed), 0o600))
		return to
	}
	good, handMade := filepath.Join(dir, "good.json"), filepath.Join(dir, "hand-lens-table.json")
	code, _, stderr := called(t, "calibrate", "table", "--lens", lens, picture, "-o", good)
	require.Zero(t, code, stderr)
	handLens := edit(lens, "hand-lens.json", `"image_width"`, `"camera_name": "mine", "image_width"`)
	code, stdout, stderr := called(t, "calibrate", "table", "--lens", handLens, picture, "-o", handMade)
	require.Zero(t, code, stderr)
	const changed = "made with a lens file that was changed by hand"
	assert.True(t, strings.HasPrefix(stdout, "warning: "+handMade+": "+changed+": what follows is unverified\n"), "%.200s", stdout)
	assert.NotContains(t, stderr, "changed by hand", "it is said once")
	_, _, stderr = called(t, "calibrate", "table", "--json", "--lens", handLens, picture, "-o", filepath.Join(dir, "again.json"))
	assert.Equal(t, 1, strings.Count(stderr, "changed by hand"), stderr)
	shifted := edit(handLens, "shifted-lens.json", `("data": \[\s*)[0-9.]+`, `${1}2000`)
	code, _, stderr = called(t, "calibrate", "table", "--lens", shifted, picture, "-o", filepath.Join(dir, "none.json"))
	assert.Equal(t, 1, code)
	assert.Contains(t, stderr, "shifted-lens.json: changed by hand since it was made", "where there is no table, this may be why")

	for _, c := range []struct{ name, file, want string }{
		{"rms", edit(good, "rms.json", `"rms_px": [0-9.]+`, `"rms_px": 0.001`), "changed by hand since it was made"},
		{"place", edit(good, "place.json", `("translation_mm": \[ *)[-0-9.]+`, `${1}33`), "camera.center_mm says "},
		{"lens", handMade, changed},
	} {
		for _, args := range [][]string{
			{"calibrate", "budget"}, {"calibrate", "verify", picture}, {"locate", picture},
			{"obstacles", "learn-mat", picture, "-o", filepath.Join(dir, "mat.png")},
		} {
			_, _, stderr := called(t, append(args, "--calibration", c.file)...)
			assert.Contains(t, stderr, "warning: "+c.file, "%s, %v", c.name, args[:2])
			assert.Contains(t, stderr, c.want, "%s, %v", c.name, args[:2])
		}
		_, stdout, _ := called(t, "calibrate", "budget", "--json", "--calibration", c.file)
		var doc struct{ Integrity string }
		require.NoError(t, json.Unmarshal([]byte(stdout), &doc), c.name)
		assert.Contains(t, doc.Integrity, c.want, c.name)
	}
	_, _, stderr = called(t, "calibrate", "budget", "--calibration", good)
	assert.Empty(t, stderr, "a file as it was made needs no warning")
}

func TestLocateSaysWhatMakesAShipVisible(t *testing.T) {
	dir := t.TempDir()
	picture, lens, _ := commandtest.EmptyTable(t, dir, calibration.DefaultLayout(calibration.MatSide, calibration.MatSide))
	table := filepath.Join(dir, "table.json")
	code, _, stderr := called(t, "calibrate", "table", "--lens", lens, picture, "-o", table)
	require.Zero(t, code, stderr)
	_, stdout, stderr := called(t, "locate", "--calibration", table, picture)
	if strings.Contains(stdout, ": 0 ships") {
		assert.Contains(t, stderr, "sightline print tokens")
	} else {
		assert.NotContains(t, stderr, "hint")
	}
}
