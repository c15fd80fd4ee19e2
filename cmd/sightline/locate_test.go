//go:build opencv

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
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
	"sightline/cmd/internal/commandtest"
	"sightline/cmd/internal/pictures"
	"sightline/cmd/internal/terminal"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/engine/scenefile"
	"sightline/vision/tablesim"
)

// photographed writes a picture of a simulated table and the lens's file, and
// returns their names with the truth.
func photographed(t *testing.T, table *tablesim.Table, dir string) (picture, lensFile string, truth tablesim.Truth) {
	t.Helper()
	frame, truth, err := table.Render()
	require.NoError(t, err)
	picture, lensFile = filepath.Join(dir, "table.png"), filepath.Join(dir, "lens.json")
	commandtest.WritePNG(t, picture, frame.Gray)
	require.NoError(t, lens.Save(lensFile, table.Camera.Intrinsics))
	return picture, lensFile, truth
}

func TestFromAPictureToAnAnswer(t *testing.T) {
	dir := t.TempDir()
	picture, lensFile, truth := photographed(t, tablesim.RandomTable(3, 1920, 1080), dir)
	calibrated := filepath.Join(dir, "table.json")
	require.Zero(t, run([]string{"calibrate", "table", "--lens", lensFile, picture, "-o", calibrated}))

	var out, warn bytes.Buffer
	c := locateCmd{Calibration: []string{calibrated}, Images: []string{picture}, Rules: "2.0", JSON: true}
	require.NoError(t, c.locate(context.Background(), &out, &warn))
	assert.Empty(t, warn.String())
	scenes, list, err := scenefile.Parse(out.Bytes())
	require.NoError(t, err)
	require.True(t, list)
	require.Len(t, scenes, 1)
	assert.Equal(t, engine.Rules20, scenes[0].Rules)
	assert.True(t, scenes[0].ObstaclesUnseen)
	assert.GreaterOrEqual(t, len(scenes[0].Ships), len(truth.Ships)-1)
	for _, s := range scenes[0].Ships {
		want, ok := truth.Ship(s.ID)
		require.True(t, ok, "%s is not on the table", s.ID)
		assert.Less(t, float64(s.Pose.Distance(want.Pose.Point)), 0.6, "%s: position, mm", s.ID)
		assert.Greater(t, s.Covariance[0], 0.0)
	}

	// What locate writes, measure reads.
	var answers bytes.Buffer
	m := measureCmd{Scene: "-", Sigmas: 3, JSON: true}
	require.NoError(t, m.measure(bytes.NewReader(out.Bytes()), &answers))
	assert.Contains(t, answers.String(), `"results":[`)

	// How the calibration was verified goes with every answer.
	assert.Contains(t, out.String(), `"verified":null`)
	assert.NotContains(t, answers.String(), "verified")
	table, err := calibration.LoadTable(calibrated)
	require.NoError(t, err)
	require.NoError(t, verify.SaveRecord(calibrated, verify.Record{
		At: time.Date(2026, 11, 21, 10, 30, 0, 0, time.UTC), Outcome: verify.Pass, WorstError: 0.21, WorstNormalised: 1.3, Places: 5,
		Covered: 0.9, Calibration: table.Hash,
	}))
	const verified = `"verified":{"at":"2026-11-21T10:30:00Z","outcome":"pass","worst_error_mm":0.21,"worst_sigmas":1.3,"places":5,"covered":0.9,"holds":true,"why":""}`
	out.Reset()
	require.NoError(t, c.locate(context.Background(), &out, &warn))
	assert.Contains(t, out.String(), verified)
	answers.Reset()
	require.NoError(t, m.measure(bytes.NewReader(out.Bytes()), &answers))
	assert.Contains(t, answers.String(), verified)

	var people bytes.Buffer
	c.JSON = false
	require.NoError(t, c.locate(context.Background(), &people, &warn))
	assert.Contains(t, people.String(), scenes[0].Ships[0].ID)
	assert.Contains(t, people.String(), "verified 2026-11-21 10:30 UTC: pass, largest error 0.21 mm")
}

func TestAMovedCameraIsRegisteredAgain(t *testing.T) {
	dir := t.TempDir()
	table := tablesim.RandomTable(4, 1920, 1080)
	picture, lensFile, _ := photographed(t, table, dir)
	calibrated := filepath.Join(dir, "table.json")
	require.Zero(t, run([]string{"calibrate", "table", "--lens", lensFile, picture, "-o", calibrated}))

	table.Camera.Extrinsics = table.Camera.Extrinsics.Perturbed(calibration.Vec3{0.004, -0.003, 0.002}, calibration.Vec3{})
	moved, _, truth := photographed(t, table, dir)
	var out, warn bytes.Buffer
	c := locateCmd{Calibration: []string{calibrated}, Images: []string{moved}, Rules: "2.5", JSON: true}
	require.NoError(t, c.locate(context.Background(), &out, &warn))
	assert.Contains(t, warn.String(), "registered again")
	scenes, _, err := scenefile.Parse(out.Bytes())
	require.NoError(t, err)
	for _, s := range scenes[0].Ships {
		want, ok := truth.Ship(s.ID)
		require.True(t, ok)
		assert.Less(t, float64(s.Pose.Distance(want.Pose.Point)), 0.6, "%s", s.ID)
	}
}

func TestPicturesOfATableAtRestAreAveraged(t *testing.T) {
	dir := t.TempDir()
	table := tablesim.RandomTable(3, 1920, 1080)
	picture, lensFile, truth := photographed(t, table, dir)
	calibrated := filepath.Join(dir, "table.json")
	require.Zero(t, run([]string{"calibrate", "table", "--lens", lensFile, picture, "-o", calibrated}))
	var out, warn bytes.Buffer
	c := locateCmd{Calibration: []string{calibrated}, Images: []string{picture, picture}, Rules: "2.5", JSON: true, Average: true}
	require.NoError(t, c.locate(context.Background(), &out, &warn))
	scenes, _, err := scenefile.Parse(out.Bytes())
	require.NoError(t, err)
	require.Len(t, scenes, 1, "of all pictures")
	assert.GreaterOrEqual(t, len(scenes[0].Ships), len(truth.Ships)-1)

	dark := filepath.Join(dir, "dark.png")
	commandtest.WritePNG(t, dark, image.NewGray(image.Rect(0, 0, 1920, 1080)))
	c.Images = []string{picture, dark}
	assert.ErrorContains(t, c.locate(context.Background(), &out, &warn), "--average: exposure: average: something moved between")
	c.Images = []string{picture}
	assert.ErrorContains(t, c.locate(context.Background(), &out, &warn), "--average: expected two pictures or more")
}

func TestAPictureThatShowsNothingCannotBeAnswered(t *testing.T) {
	dir := t.TempDir()
	picture, lensFile, _ := photographed(t, tablesim.RandomTable(5, 1920, 1080), dir)
	calibrated := filepath.Join(dir, "table.json")
	require.Zero(t, run([]string{"calibrate", "table", "--lens", lensFile, picture, "-o", calibrated}))
	dark := filepath.Join(dir, "dark.png")
	commandtest.WritePNG(t, dark, image.NewGray(image.Rect(0, 0, 1920, 1080)))

	var out, warn bytes.Buffer
	c := locateCmd{Calibration: []string{calibrated}, Images: []string{dark}, Rules: "2.5", JSON: true}
	err := c.locate(context.Background(), &out, &warn)
	assert.True(t, errors.As(err, new(terminal.Unanswered)), "%v", err)
	assert.ErrorContains(t, err, "dark.png: nothing confirms that the camera stands where it was calibrated: "+
		"none of the mat's markers can be seen")
	assert.JSONEq(t, `{"version":1,"verified":null,"scenes":[{"version":1,"rules":"2.5","mat":{"width_mm":914.4,"height_mm":914.4},"scale_sigma":0.0003,"ships":[]}]}`, out.String())

	small := filepath.Join(dir, "small.png")
	commandtest.WritePNG(t, small, image.NewGray(image.Rect(0, 0, 640, 480)))
	c.Images = []string{small}
	assert.ErrorContains(t, c.locate(context.Background(), &out, &warn), "640×480")
}

func TestAPlacedShipThatIsNotThereCannotBeAnswered(t *testing.T) {
	dir := t.TempDir()
	table := tablesim.RandomTable(3, 1280, 720)
	table.Scene.Ships, table.Scene.Obstacles, table.Clutter = table.Scene.Ships[:1], nil, nil
	picture, lensFile, _ := photographed(t, table, dir)
	calibrated := filepath.Join(dir, "table.json")
	require.Zero(t, run([]string{"calibrate", "table", "--lens", lensFile, picture, "-o", calibrated}))
	s := table.Scene.Ships[0]
	empty := geom.Point{X: 200, Y: 200}
	if s.Pose.Distance(empty) < 150 {
		empty = geom.Point{X: 600, Y: 600}
	}
	for _, c := range []struct {
		at   string
		says string // "": answered
	}{
		{fmt.Sprintf("B18,small,%.0f,%.0f", empty.X, empty.Y), "B18 is not located"},
		{fmt.Sprintf("%s,%v,%.0f,%.0f", s.ID, s.Base, s.Pose.X, s.Pose.Y), ""}, // its code is read
	} {
		var out, warn bytes.Buffer
		cmd := locateCmd{Calibration: []string{calibrated}, Images: []string{picture}, Rules: "2.5", JSON: true, At: []string{c.at}}
		err := cmd.locate(context.Background(), &out, &warn)
		if c.says == "" {
			require.NoError(t, err, c.at)
		} else {
			assert.ErrorContains(t, err, c.says)
			assert.ErrorAs(t, err, &terminal.Unanswered{}, "exit status 1")
		}
		scenes, _, err := scenefile.Parse(out.Bytes())
		require.NoError(t, err, "the rest is answered")
		assert.Len(t, scenes[0].Ships, 1)
	}
}

func TestADirectoryCountsAsAllOfItsPictures(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"b.png", "a.jpg", "notes.txt"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o644))
	}
	p := pictures.Input{Source: dir}
	assert.False(t, p.Live())
	names, err := p.Files()
	require.NoError(t, err)
	assert.Equal(t, []string{filepath.Join(dir, "a.jpg"), filepath.Join(dir, "b.png")}, names)

	empty := t.TempDir()
	_, err = pictures.Input{Source: empty}.Files()
	assert.ErrorContains(t, err, "expected .jpg or .png files")
}

func TestPicturesOfSeveralCamerasAreOneScene(t *testing.T) {
	table := tablesim.RandomTable(3001, 1920, 1080)
	var pictures, calibrations []string
	var truth tablesim.Truth
	for i, tilt := range []geom.Angle{35 * geom.Degree, -35 * geom.Degree} {
		dir := t.TempDir()
		var ok bool
		table.Camera, ok = tablesim.ObliqueCamera(1920, 1080, tilt, 0)
		require.True(t, ok)
		var picture, lensFile string
		picture, lensFile, truth = photographed(t, table, dir)
		calibrated := filepath.Join(dir, "table.json")
		require.Zero(t, run([]string{"calibrate", "table", "--lens", lensFile, picture, "-o", calibrated}), "camera %d", i)
		pictures, calibrations = append(pictures, picture), append(calibrations, calibrated)
	}
	var out, warn bytes.Buffer
	c := locateCmd{Calibration: calibrations, Images: pictures, Rules: "2.5", JSON: true, Fuse: true}
	require.NoError(t, c.locate(context.Background(), &out, &warn))
	scenes, _, err := scenefile.Parse(out.Bytes())
	require.NoError(t, err)
	require.Len(t, scenes, 1)
	assert.Len(t, scenes[0].Ships, len(truth.Ships))
	for _, s := range scenes[0].Ships {
		want, ok := truth.Ship(s.ID)
		require.True(t, ok)
		assert.Less(t, float64(s.Pose.Distance(want.Pose.Point)), 0.6, s.ID)
	}
	var people bytes.Buffer
	c.JSON = false
	require.NoError(t, c.locate(context.Background(), &people, &warn))
	assert.Contains(t, people.String(), "all cameras: 8 ships")

	for _, bad := range []locateCmd{
		{Calibration: calibrations[:1], Images: pictures, Fuse: true},
		{Calibration: calibrations, Images: pictures[:1], Fuse: true},
		{Calibration: calibrations[:1], Images: pictures[:1], Fuse: true},
		{Calibration: calibrations, Images: pictures},
	} {
		bad.Rules = "2.5"
		assert.ErrorContains(t, bad.locate(context.Background(), &out, &warn), "expected")
	}

	// Exchanged calibrations are no calibrations: the markers put each picture right.
	c.Calibration = []string{calibrations[1], calibrations[0]}
	c.JSON = true
	out.Reset()
	warn.Reset()
	require.NoError(t, c.locate(context.Background(), &out, &warn))
	assert.Contains(t, warn.String(), "registered again")
}
