package game

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/live"
	"sightline/engine"
	"sightline/vision/token"
)

// sessionBench is the game of a table with three ships that keeps its session in a file,
// after a restart with what it kept before.
func sessionBench(t *testing.T, path string, after time.Duration) *gameBench {
	_, err := loadSession(path, time.Unix(1700000000, 0).Add(after), nil)
	require.NoError(t, err)
	b := newGameBench(t, func(b *gameBench, o *Options) {
		b.ships = []engine.Ship{gameShip("A1", 300, 300), gameShip("B1", 300, 700), gameShip("B3", 300, 420)}
		o.Dir = filepath.Dir(path)
		b.now = b.now.Add(after)
	})
	return b
}

func notesOf(b *gameBench) string {
	var all []string
	for _, n := range b.hub.Newest().Notes {
		all = append(all, n.Text)
	}
	return strings.Join(all, "\n")
}

func TestAChosenPairOutlivesTheProgram(t *testing.T) {
	path := filepath.Join(t.TempDir(), sessionFile)
	first := sessionBench(t, path, 0)
	first.picture(time.Millisecond)
	require.Equal(t, "B3", first.hub.Newest().Choice.To, "the nearest, as nobody has chosen")
	pair := live.Choice{From: "A1", To: "B1", Arc: engine.ArcBullseye}
	first.game.Choose(pair)
	first.game.storeSession()
	info, err := os.Stat(path)
	require.NoError(t, err)
	first.game.storeSession()
	again, err := os.Stat(path)
	require.NoError(t, err)
	assert.True(t, os.SameFile(info, again), "written only when it has changed")

	b := sessionBench(t, path, time.Hour)
	assert.Contains(t, notesOf(b), "The pair is A1 to B1, as before the program restarted.")
	b.picture(time.Millisecond)
	assert.Equal(t, pair, b.hub.Newest().Choice)
	require.NotNil(t, b.hub.Newest().Pair)
	assert.Equal(t, "B1", b.hub.Newest().Pair.To)

	b = sessionBench(t, path, agreementFor+time.Minute)
	b.picture(time.Millisecond)
	assert.Equal(t, "B3", b.hub.Newest().Choice.To, "the next day is another game")
	assert.NotContains(t, notesOf(b), "as before")
}

// Each run numbers the bases without a name from the start.
func TestAPairWithABaseWithoutANameIsChosenAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), sessionFile)
	first := sessionBench(t, path, 0)
	first.game.Choose(live.Choice{From: "A1", To: token.UnidentifiedID(2)})
	first.game.storeSession()
	b := sessionBench(t, path, time.Minute)
	b.picture(time.Millisecond)
	assert.Empty(t, b.hub.Newest().Choice.From, "nor does the program choose for them")
	assert.Contains(t, notesOf(b), "Choose the pair again")
}

func TestWhatWasHeldBeforeARestartIsToldToBeGone(t *testing.T) {
	path := filepath.Join(t.TempDir(), sessionFile)
	first := sessionBench(t, path, 0)
	first.picture(time.Millisecond)
	first.picture(200 * time.Millisecond)
	first.game.AskJudgeFor("player 2")
	require.NotNil(t, first.hub.Newest().Hold)
	first.game.storeSession()

	b := sessionBench(t, path, time.Minute)
	assert.Nil(t, b.hub.Newest().Hold)
	at := first.hub.Newest().Hold.At.Local().Format("15:04")
	assert.Contains(t, notesOf(b), "What was held before the restart is gone: it was held at "+at+", when a judge was called by player 2.")
	b.game.storeSession()
	assert.NotContains(t, notesOf(sessionBench(t, path, 2*time.Minute)), "is gone", "it is told once")

	first.freeze(false)
	first.game.storeSession()
	assert.NotContains(t, notesOf(sessionBench(t, path, time.Minute)), "is gone", "it was let go of")
}

func TestASessionThatCannotBeReadOrKeptIsTold(t *testing.T) {
	path := filepath.Join(t.TempDir(), sessionFile)
	for _, bad := range []string{"", "{", `{"from":"Z9","arc":"front"}`, `{"from":"A1","to":"B1","arc":"up"}`, `{"who":"A1"}`} {
		require.NoError(t, os.WriteFile(path, []byte(bad), 0o600))
		s, err := loadSession(path, time.Now(), nil)
		assert.ErrorContains(t, err, path, "%q", bad)
		assert.Zero(t, s)
	}
	b := newGameBench(t, func(_ *gameBench, o *Options) { o.Dir = filepath.Join(t.TempDir(), "nowhere") })
	for _, to := range []string{"B1", "B2"} {
		b.game.Choose(live.Choice{From: "A1", To: to})
		b.game.storeSession()
	}
	assert.Equal(t, 1, strings.Count(notesOf(b), "could not be saved"))
}

func TestASessionIsKeptOnceTheDiskHasRoom(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "full")
	b := newGameBench(t, func(_ *gameBench, o *Options) { o.Dir = dir })
	b.game.Choose(live.Choice{From: "A1", To: "B2"})
	b.game.storeSession()
	require.NoError(t, os.Mkdir(dir, 0o700))
	b.game.storeSession()
	s, err := loadSession(filepath.Join(dir, sessionFile), b.now, nil)
	require.NoError(t, err)
	assert.Equal(t, "B2", s.To)
}
