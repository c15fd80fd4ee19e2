package game

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/live"
)

var someMatch = live.Match{Title: "Store championship", Round: "Round 3", Sides: [2]live.MatchSide{{Name: "Ada", Score: 7, Squad: 20},
	{Name: "Ben", Score: 4}}}

func TestTheMatchIsKeptOverARestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), matchFile)
	before := newGameBench(t, func(_ *gameBench, o *Options) { o.Dir = filepath.Dir(path) })
	require.NoError(t, before.game.SetMatch(someMatch))
	assert.Equal(t, someMatch, before.hub.Newest().Match)

	kept, err := loadMatch(path)
	require.NoError(t, err)
	assert.Equal(t, someMatch, kept)
	after := newGameBench(t, func(_ *gameBench, o *Options) { o.Dir = filepath.Dir(path) })
	after.game.Publish()
	assert.Equal(t, someMatch, after.hub.Newest().Match)
	left, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	assert.Len(t, left, 1, "nothing is left beside it")
}

func TestAMatchThatCannotBeKeptIsNotShown(t *testing.T) {
	b := newGameBench(t, func(_ *gameBench, o *Options) { o.Dir = filepath.Join(t.TempDir(), "nowhere") })
	require.ErrorContains(t, b.game.SetMatch(someMatch), "nowhere")
	assert.Zero(t, b.hub.Newest().Match)
}

func TestAMatchFileIsReadStrictly(t *testing.T) {
	path := filepath.Join(t.TempDir(), matchFile)
	m, err := loadMatch(path)
	require.NoError(t, err, "none yet")
	assert.Zero(t, m)
	for name, text := range map[string]string{
		"cut off": `{"title":"a`, "another key": `{"titel":"a"}`, "too large a score": `{"sides":[{"score":1000},{}]}`, "empty": "",
	} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		m, err := loadMatch(path)
		require.ErrorContains(t, err, path, name)
		assert.Zero(t, m, name)
	}
}
