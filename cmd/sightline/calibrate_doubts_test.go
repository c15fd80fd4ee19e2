//go:build !nocv

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
)

// Whatever command reads a file that no longer says what was measured, warns of it, and
// of a table whose lens was changed before the table was made.
func TestEveryCommandWarnsOfAFileThatWasChangedByHand(t *testing.T) {
	dir := t.TempDir()
	picture, lens, _ := simulated(t, dir, calibration.DefaultLayout(calibration.MatSide, calibration.MatSide))
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
	assert.Contains(t, stderr, "hand-lens.json: changed by hand since it was made")
	assert.True(t, strings.HasPrefix(stdout, "warning: changed by hand: the lens file"), "%.80s", stdout)

	for _, c := range []struct{ name, file, want string }{
		{"rms", edit(good, "rms.json", `"rms_px": [0-9.]+`, `"rms_px": 0.001`), "changed by hand since it was made"},
		{"place", edit(good, "place.json", `("translation_mm": \[ *)[-0-9.]+`, `${1}33`), "camera.center_mm says "},
		{"lens", handMade, "changed by hand: the lens file that it was made with"},
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
