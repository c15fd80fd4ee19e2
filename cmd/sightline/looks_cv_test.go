//go:build opencv

package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/engine/geom"
	"sightline/engine/scenefile"
)

// stockTruth is what the test reads of the truth of a picture.
type stockTruth struct {
	Lens  json.RawMessage `json:"lens"`
	Ships []struct {
		ID      string  `json:"id"`
		Base    string  `json:"base"`
		X       float64 `json:"x_mm"`
		Y       float64 `json:"y_mm"`
		Heading float64 `json:"heading_deg"`
	} `json:"ships"`
}

// stockTable calibrates the table of a folder of pictures beside the project, and skips where that is not there.
func stockTable(t *testing.T, dir, name string) (truth stockTruth, picture, table string) {
	t.Helper()
	folder := filepath.Join("..", "..", "..", "shared", "stock", name)
	raw, err := os.ReadFile(filepath.Join(folder, "truth.json"))
	if err != nil {
		t.Skipf("%s is not here: these pictures are not part of the project", name)
	}
	require.NoError(t, json.Unmarshal(raw, &truth))
	lens := filepath.Join(dir, name+"-lens.json")
	require.NoError(t, os.WriteFile(lens, truth.Lens, 0o644))
	picture, table = filepath.Join(folder, "image.jpg"), filepath.Join(dir, name+"-table.json")
	code, _, stderr := called(t, "calibrate", "table", "--lens", lens, picture, "-o", table)
	require.Zero(t, code, stderr)
	return truth, picture, table
}

// A newcomer shows ships once, and finds them on another table, in other light.
func TestStockShipsAreShownOnceAndFound(t *testing.T) {
	dir := t.TempDir()
	shown, picture, table := stockTable(t, dir, "enrol-1080p")
	args := []string{"looks", "learn", "--calibration", table, picture, "-o", filepath.Join(dir, "looks"), "--name", "Academy"}
	for _, s := range shown.Ships {
		id, _, _ := strings.Cut(s.ID, "_")
		args = append(args, "--at", fmt.Sprintf("%s,%s,%g,%g,%g", id, s.Base, s.X, s.Y, s.Heading))
	}
	code, _, stderr := called(t, args...)
	require.Zero(t, code, stderr)
	assert.Contains(t, stderr, "B4: medium base, learnt from 4 views\n")
	code, stdout, stderr := called(t, "looks", "list", filepath.Join(dir, "looks"))
	require.Zero(t, code, stderr)
	assert.Contains(t, stdout, "Academy")

	truth, picture, table := stockTable(t, dir, "t2-1080p")
	args = []string{"locate", "--json", "--calibration", table, "--looks", filepath.Join(dir, "looks"), picture}
	for _, s := range truth.Ships {
		args = append(args, "--at", fmt.Sprintf("%s,%s,%.0f,%.0f", s.ID, s.Base, s.X+2, s.Y-2))
	}
	code, stdout, stderr = called(t, args...)
	require.Zero(t, code, stderr)
	scenes, _, err := scenefile.Parse([]byte(stdout))
	require.NoError(t, err)
	found := 0
	for _, s := range scenes[0].Ships {
		for _, w := range truth.Ships {
			if w.ID != s.ID || s.Seen != "look" {
				continue
			}
			found++
			assert.Less(t, math.Hypot(s.Pose.X-w.X, s.Pose.Y-w.Y), 0.7, s.ID)
			assert.Less(t, math.Abs((s.Pose.Heading - geom.Angle(w.Heading)*geom.Degree).Signed().Degrees()), 1.0, s.ID)
			if s.ID == "A3" {
				assert.Equal(t, "A1", s.Look, "another copy's")
			}
		}
	}
	assert.GreaterOrEqual(t, found, 9, "of %d", len(truth.Ships))
}
