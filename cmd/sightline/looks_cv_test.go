//go:build opencv

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/engine/geom"
	"sightline/engine/scenefile"
	"sightline/vision/jig"
	"sightline/vision/look"
	"sightline/vision/tablesim"
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

// stockTable calibrates the table of a folder of pictures next to the project, and skips where there is none.
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

// A newcomer shows a ship on the jig sheet, in four quarter turns, and a wrong base is refused.
func TestAShipIsShownOnTheJigSheet(t *testing.T) {
	if testing.Short() {
		t.Skip("renders forty pictures of the simulated table: 7 s of a processor")
	}
	dir := t.TempDir()
	table := filepath.Join(dir, "table.json")
	code, _, stderr := called(t, "calibrate", "quick", "--source", "sim:jig=1", "-o", table)
	require.Zero(t, code, stderr)
	code, _, stderr = called(t, "looks", "learn", "--calibration", table, "--jig", "A1,small", "--name", "Academy", "--source", "sim:jig=2",
		"-o", filepath.Join(dir, "looks"))
	require.Zero(t, code, stderr)
	for _, want := range []string{"its front to the arrow 1", "turn 3 of 4 is taken: turn the base to the arrow 4", "learnt from 4 views"} {
		assert.Contains(t, stderr, want)
	}
	known, err := look.Load(filepath.Join(dir, "looks"))
	require.NoError(t, err)
	require.Len(t, known.Looks, 1)
	assert.Equal(t, "Academy", known.Looks[0].Pilot)
	assert.Equal(t, jig.TurnSigma, known.Looks[0].Known.Turn)

	require.NoError(t, os.Mkdir(filepath.Join(dir, "pictures"), 0o777))
	source, err := tablesim.Open(tablesim.Options{Jig: 2 * time.Second})
	require.NoError(t, err)
	defer source.Close()
	var picture string
	for range 6 {
		f, err := source.Next(t.Context())
		require.NoError(t, err)
		picture = filepath.Join(dir, "pictures", fmt.Sprintf("%d.png", f.Seq))
		var raw bytes.Buffer
		require.NoError(t, png.Encode(&raw, f.Gray))
		require.NoError(t, os.WriteFile(picture, raw.Bytes(), 0o644))
	}
	code, _, stderr = called(t, "looks", "learn", "--calibration", table, "--jig", "A1,medium", picture, "-o", filepath.Join(dir, "looks"))
	assert.Equal(t, 1, code)
	assert.Contains(t, stderr, "a small base stands in the corner, not a medium one")
	code, _, stderr = called(t, "looks", "learn", "--calibration", table, "--jig", "A1,small", picture, picture, "-o",
		filepath.Join(dir, "looks"))
	assert.Equal(t, 1, code)
	assert.Contains(t, stderr, "turn 2 was not shown: this turn was taken")
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

// Ships whose cards lie turned in their bases are refused by name, and the others are located.
func TestShipsThatAreRefusedLeaveTheOthers(t *testing.T) {
	dir := t.TempDir()
	shown, picture, table := stockTable(t, dir, "enrol-1080p")
	args := []string{"looks", "learn", "--calibration", table, picture, "-o", filepath.Join(dir, "looks")}
	for _, s := range shown.Ships {
		id, _, _ := strings.Cut(s.ID, "_")
		turn := 90.0 // the table's cards lie right, and the looks are turned
		if id == "A1" {
			turn = 0
		}
		args = append(args, "--at", fmt.Sprintf("%s,%s,%g,%g,%g", id, s.Base, s.X, s.Y, math.Mod(s.Heading+turn, 360)))
	}
	code, _, stderr := called(t, args...)
	require.Zero(t, code, stderr)
	truth, picture, table := stockTable(t, dir, "t1-1080p")
	args = []string{"locate", "--json", "--calibration", table, "--looks", filepath.Join(dir, "looks"), picture}
	for _, w := range truth.Ships {
		if w.Base == "small" && w.ID != "A2" && w.ID != "A3" { // A1's copies
			args = append(args, "--at", fmt.Sprintf("%s,%s,%.0f,%.0f", w.ID, w.Base, w.X, w.Y))
		}
	}
	code, stdout, stderr := called(t, args...)
	assert.Equal(t, 1, code, stderr)
	assert.Regexp(t, `[AB]\d is not located: [AB]\d at .* its card seems turned in its base`, stderr)
	scenes, _, err := scenefile.Parse([]byte(stdout))
	require.NoError(t, err)
	right := 0
	for _, s := range scenes[0].Ships {
		assert.True(t, s.ID == "A1" || s.TurnDoubt, s.ID)
		if s.ID == "A1" {
			right++
		}
	}
	assert.Equal(t, 1, right, stderr)
}
