package pipeline

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration/strictjson"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/catalogue"
)

func TestObstaclesAreKeptForAGame(t *testing.T) {
	path, now, quiet := filepath.Join(t.TempDir(), LyingFile), time.Unix(1700000000, 0), slog.New(slog.DiscardHandler)
	l, err := OpenLying(path, now, quiet)
	require.NoError(t, err)
	require.NoError(t, l.Write(now))
	assert.NoFileExists(t, path, "nothing was seen yet")
	view := vision.ObstacleView{Entry: &catalogue.Entry{Name: "rock"}, Flipped: true, Misfit: 0.2,
		Pose: geom.Pose{Point: geom.Point{X: 200.5, Y: 310}, Heading: 1}}
	l.keep([]vision.ObstacleView{view})
	require.NoError(t, l.Write(now))
	read := func(at time.Time) []vision.ObstacleView {
		again, err := OpenLying(path, at, quiet)
		require.NoError(t, err)
		return again.Before()
	}
	got := read(now.Add(lyingFor))
	require.Len(t, got, 1)
	assert.InDelta(t, 1, float64(got[0].Pose.Heading), 1e-9)
	got[0].Pose.Heading = 1
	view.Before = true
	assert.Equal(t, view, got[0])
	assert.Empty(t, read(now.Add(lyingFor+time.Second)), "the next game's obstacles lie elsewhere")

	require.NoError(t, os.Remove(path))
	view.Pose.X += 0.1
	l.keep([]vision.ObstacleView{view})
	require.NoError(t, l.Write(now.Add(time.Second)))
	assert.NoFileExists(t, path, "nothing changed")
	require.NoError(t, l.Write(now.Add(lyingAgain)))
	assert.Len(t, read(now.Add(lyingAgain)), 1, "it still lies there")
	require.NoError(t, os.Remove(path))
	require.NoError(t, l.Write(now.Add(3*lyingAgain)))
	assert.NoFileExists(t, path, "no picture showed it since")
	l.keep(nil)
	require.NoError(t, l.Write(now.Add(3*lyingAgain)))
	assert.Empty(t, read(now.Add(3*lyingAgain)))
}

const lyingText = `{"version": 1, "at": "2023-11-14T22:13:20Z", "obstacles": [{"name": "rock", "x_mm": 1, "y_mm": 2, "heading_deg": 3,
 "misfit": 0.1}]}`

func TestBadFilesOfObstaclesAreRefused(t *testing.T) {
	for _, c := range []struct{ from, to, want string }{
		{lyingText, "", "expected JSON"}, {lyingText, "[]", "expected JSON"}, {"]}", "]} {}", "something follows"},
		{`"version": 1`, `"version": 2`, "version: expected 1, got 2"}, {`"version"`, `"more": 1, "version"`, "more"},
		{`"rock"`, `""`, "obstacles[0].name"}, {`"x_mm": 1`, `"x_mm": 1e9`, "obstacles[0]: expected a place"},
		{`"misfit": 0.1`, `"misfit": 2`, "obstacles[0].misfit: expected 0 to 1"},
	} {
		path := filepath.Join(t.TempDir(), LyingFile)
		require.Contains(t, lyingText, c.from)
		require.NoError(t, os.WriteFile(path, []byte(strings.Replace(lyingText, c.from, c.to, 1)), 0o600))
		l, err := OpenLying(path, time.Unix(1700000000, 0), slog.New(slog.DiscardHandler))
		assert.ErrorContains(t, err, c.want)
		assert.ErrorContains(t, err, path)
		assert.Empty(t, l.Before(), "and the program goes on without")
	}
}

func FuzzReadLying(f *testing.F) {
	f.Add([]byte(lyingText))
	f.Add([]byte(`{"version":1}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var kept lyingFile
		if strictjson.Decode(raw, &kept) == nil {
			_ = kept.Check()
		}
	})
}
