package naming

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
	"sightline/engine"
	"sightline/engine/geom"
)

var quiet = slog.New(slog.DiscardHandler)

func TestNamesAreKeptForADay(t *testing.T) {
	path, now := filepath.Join(t.TempDir(), File), time.Unix(1700000000, 0)
	m, err := OpenMemory(path, now, nil, quiet)
	require.NoError(t, err)
	assert.Empty(t, m.Known())
	require.NoError(t, m.Write(now))
	assert.NoFileExists(t, path, "nothing was named yet")
	ships := []engine.Ship{
		{ID: "A2", Player: 1, Base: engine.Small, Seen: "look", Look: "A1", TurnDoubt: true,
			Pose: geom.Pose{Point: geom.Point{X: 200.5, Y: 310}, Heading: 1}},
		{ID: "B10", Player: 2, Base: engine.Large, Seen: "edges", Quarters: true, Pose: geom.Pose{Point: geom.Point{X: 4, Y: 5}, Heading: 2}},
	}
	m.keep(map[string]engine.Ship{"B10": ships[1], "A2": ships[0]})
	require.NoError(t, m.Write(now))
	read := func(at time.Time) []engine.Ship {
		again, err := OpenMemory(path, at, nil, quiet)
		require.NoError(t, err)
		return again.Known()
	}
	got := read(now.Add(keptFor))
	require.Len(t, got, 2)
	for i := range got {
		assert.InDelta(t, float64(ships[i].Pose.Heading), float64(got[i].Pose.Heading), 1e-9)
		got[i].Pose.Heading = ships[i].Pose.Heading
	}
	assert.Equal(t, ships, got)
	assert.Empty(t, read(now.Add(keptFor+time.Second)), "the next day's ships are others")
	assert.Len(t, read(now.Add(-time.Hour)), 2, "a power cut set the clock of a board without a battery back")
	assert.Empty(t, read(now.Add(-keptFor-time.Second)), "the clock is wrong")

	require.NoError(t, os.Remove(path))
	m.keep(map[string]engine.Ship{"B10": ships[1], "A2": ships[0]})
	require.NoError(t, m.Write(now))
	assert.NoFileExists(t, path, "nothing changed")
	ships[1].Pose.X += 0.2
	m.keep(map[string]engine.Ship{"B10": ships[1]})
	require.NoError(t, m.Write(now))
	assert.Len(t, read(now), 1)
}

const keptText = `{"version": 1, "at": "2023-11-14T22:13:20Z", "ships": [{"id": "A1", "base": "small", "seen": "look", "look": "A1",
 "x_mm": 1, "y_mm": 2, "heading_deg": 3}]}`

func TestBadFilesOfNamesAreRefused(t *testing.T) {
	for _, c := range []struct{ from, to, want string }{
		{keptText, "", "expected JSON"}, {keptText, "[]", "expected JSON"}, {"]}", "]} {}", "something follows"},
		{`"version": 1`, `"version": 2`, "version: expected 1, got 2"}, {`"version"`, `"more": 1, "version"`, "more"},
		{`"version": 1`, `"version": 1, "Version": 1`, "appears twice"}, {`"A1", "base"`, `"?1", "base"`, "ships[0].id"},
		{`"small"`, `"tiny"`, "ships[0].base"}, {`"look", "look"`, `"code", "look"`, "ships[0].seen"},
		{`"x_mm": 1`, `"x_mm": 1e9`, "ships[0]: expected a place"},
	} {
		path := filepath.Join(t.TempDir(), File)
		require.Contains(t, keptText, c.from)
		require.NoError(t, os.WriteFile(path, []byte(strings.Replace(keptText, c.from, c.to, 1)), 0o600))
		m, err := OpenMemory(path, time.Unix(1700000000, 0), nil, quiet)
		assert.ErrorContains(t, err, c.want)
		assert.ErrorContains(t, err, path)
		assert.Empty(t, m.Known(), "and the program goes on without")
	}
}

func FuzzReadKept(f *testing.F) {
	f.Add([]byte(keptText))
	f.Add([]byte(`{"version":1}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var kept keptFile
		if strictjson.Decode(raw, &kept) == nil {
			_ = kept.Check()
		}
	})
}
