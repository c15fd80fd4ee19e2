package game

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/live"
)

// letGo lets a player release what is held for a judge. The files are written.
func letGo(t *testing.T, b *gameBench) {
	t.Helper()
	require.NoError(t, b.game.Hold(live.HoldRequest{Held: b.hub.Newest().Hold.Number, By: "Ben"}))
	b.game.storeHeld()
	b.game.storeReleased()
}

// releasedFiles are those of released pictures, with what killed writes left.
func releasedFiles(t *testing.T, dir string) []string {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(dir, "*released-*"))
	require.NoError(t, err)
	return left
}

// A picture that a player released although a judge was called can be held again after a crash, as it was, until its hour is over.
func TestWhatAJudgeHasNotSeenOutlastsARestart(t *testing.T) {
	dir := t.TempDir()
	first := keptBench(t, dir, time.Unix(1700000000, 0), nil)
	want := held(t, first, 3)
	letGo(t, first)
	view := first.hub.Newest().Released[0]
	require.Len(t, releasedFiles(t, dir), 2)
	require.NoError(t, os.WriteFile(filepath.Join(dir, ".released-1.pixels.tmp-1"), nil, 0o600)) // killed while it was written

	next := keptBench(t, dir, first.now.Add(-time.Hour), nil) // its clock is behind
	now := next.hub.Newest()
	assert.Nil(t, now.Hold)
	require.Len(t, now.Released, 1)
	assert.True(t, next.now.Equal(now.Released[0].ReleasedAt), "it was released now, as far as this clock tells")
	view.ReleasedAt, view.At, now.Released[0].ReleasedAt = time.Time{}, now.Released[0].At, time.Time{}
	assert.Equal(t, view, now.Released[0])
	assert.Len(t, releasedFiles(t, dir), 2)
	assert.Error(t, next.game.Hold(live.HoldRequest{Restart: true}), "it is asked for before a restart all the same")

	require.NoError(t, next.game.Hold(live.HoldRequest{Hold: true, Judge: true, Held: want.Number}))
	sameHeld(t, want, next.hub.Newest().Hold)
	next.game.storeReleased()
	assert.Len(t, releasedFiles(t, dir), 2, "until it is kept as what is held")
	both := keptBench(t, dir, next.now, nil).hub.Newest()
	assert.Len(t, both.Released, 1, "it crashed in between")
	next.game.storeHeld()
	both = keptBench(t, dir, next.now, nil).hub.Newest()
	sameHeld(t, want, both.Hold)
	assert.Empty(t, both.Released, "it is held, and not offered too")
	next.game.storeReleased()
	assert.Empty(t, releasedFiles(t, dir))
	next.freeze(false)
	next.game.storeHeld()
	next.game.storeReleased()
	assert.Empty(t, releasedFiles(t, dir), "a judge released it")
}

// After its hour, or where a byte differs, nothing is offered, and its files go.
func TestWhatWasReleasedLongAgoIsNotOffered(t *testing.T) {
	for name, c := range map[string]struct {
		after  time.Duration
		spoil  string
		change func(*Options)
	}{
		"in time":           {after: 59 * time.Minute},
		"an hour later":     {after: time.Hour},
		"another version":   {change: func(o *Options) { o.Version = "1.1" }},
		"a changed picture": {spoil: releasedPixels},
		"a changed file":    {spoil: releasedFile},
	} {
		dir := t.TempDir()
		b := keptBench(t, dir, time.Unix(1700000000, 0), nil)
		want := held(t, b, 3)
		letGo(t, b)
		if c.spoil != "" {
			path := filepath.Join(dir, releasedName(c.spoil, want.Number))
			raw, err := os.ReadFile(path)
			require.NoError(t, err)
			raw[len(raw)/2] ^= 1
			require.NoError(t, os.WriteFile(path, raw, 0o600))
		}
		next := keptBench(t, dir, b.now.Add(c.after), c.change)
		if name == "in time" {
			assert.Len(t, next.hub.Newest().Released, 1)
			next.now = next.now.Add(2 * time.Minute)
			next.game.Publish()
			next.game.storeReleased()
		}
		assert.Empty(t, next.hub.Newest().Released, name)
		assert.Empty(t, releasedFiles(t, dir), name)
	}
}

// A disk that takes nothing is tried again.
func TestWhatWasReleasedIsWrittenOnceThereIsRoom(t *testing.T) {
	dir := t.TempDir()
	b := keptBench(t, dir, time.Unix(1700000000, 0), nil)
	want := held(t, b, 3)
	inTheWay := filepath.Join(dir, releasedName(releasedFile, want.Number))
	require.NoError(t, os.MkdirAll(filepath.Join(inTheWay, "full"), 0o700))
	letGo(t, b)
	require.NoError(t, os.RemoveAll(inTheWay))
	b.now = b.now.Add(heldAgain)
	b.game.storeReleased()
	assert.Len(t, keptBench(t, dir, b.now, nil).hub.Newest().Released, 1)
}
