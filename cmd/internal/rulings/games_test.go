package rulings_test

import (
	"bufio"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/racetest"
	"sightline/cmd/internal/rulings"
)

func event(n int) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`{"number":%d,"text":"A1 flew <bank left 2> & rests"}`, n))
}

func TestGamesAreKeptEventByEvent(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "rulings")
	l, err := rulings.Open(dir, rulings.Options{Key: key})
	require.NoError(t, err)
	games, err := l.Games(ctx)
	require.NoError(t, err)
	assert.Empty(t, games, "a log that is not there has no games")

	first, err := l.AppendGame(ctx, 0, []json.RawMessage{event(1), event(2)})
	require.NoError(t, err)
	assert.EqualValues(t, 1, first[0].Game)
	second, err := l.AppendGame(ctx, 0, []json.RawMessage{event(1)})
	require.NoError(t, err)
	assert.EqualValues(t, 3, second[0].Game)
	_, err = l.AppendGame(ctx, 1, []json.RawMessage{event(3)})
	require.NoError(t, err)
	_, err = l.Append(ctx, ruling(t, 1), files(1))
	require.NoError(t, err, "rulings and games share the database")

	games, err = l.Games(ctx)
	require.NoError(t, err)
	assert.Equal(t, []int64{3, 1}, games)
	events, err := l.Game(ctx, 1)
	require.NoError(t, err)
	require.Len(t, events, 3)
	assert.JSONEq(t, string(event(3)), string(events[2].Event))
	n, err := l.VerifyGames(ctx)
	require.NoError(t, err)
	assert.EqualValues(t, 4, n)
	r, err := l.Verify(ctx)
	require.NoError(t, err)
	assert.Empty(t, r.Findings)
	assert.EqualValues(t, 4, r.GameEvents)

	_, err = l.AppendGame(ctx, 2, []json.RawMessage{event(1)})
	assert.ErrorIs(t, err, rulings.ErrNoGame, "2 is the second event of game 1")
	_, err = l.Game(ctx, 9)
	assert.ErrorIs(t, err, rulings.ErrNoGame)
	_, err = l.AppendGame(ctx, 0, nil)
	assert.Error(t, err)
	require.NoError(t, l.Close())

	look, err := rulings.Open(dir, rulings.Options{ReadOnly: true})
	require.NoError(t, err)
	defer look.Close()
	events, err = look.Game(ctx, 1)
	require.NoError(t, err)
	assert.Len(t, events, 3)
	_, err = look.AppendGame(ctx, 1, []json.RawMessage{event(4)})
	assert.Error(t, err)
}

// What is recorded often is brought into the database file now and then.
func TestAThousandEventsAreKept(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "rulings")
	l, err := rulings.Open(dir, rulings.Options{Key: key})
	require.NoError(t, err)
	defer l.Close()
	var game int64
	for n := range 20 {
		var events []json.RawMessage
		for k := range 50 {
			events = append(events, event(50*n+k+1))
		}
		kept, err := l.AppendGame(ctx, game, events)
		require.NoError(t, err)
		game = kept[0].Game
	}
	events, err := l.Game(ctx, game)
	require.NoError(t, err)
	assert.Len(t, events, 1000)
	info, err := os.Stat(filepath.Join(dir, "rulings.db"))
	require.NoError(t, err)
	assert.Greater(t, info.Size(), int64(100_000), "not all of it waits in the WAL")
}

func TestAChangedEventIsFound(t *testing.T) {
	for what, statement := range map[string]string{
		"text":    `UPDATE game_events SET record = replace(record, 'bank left', 'bank right') WHERE number = 2`,
		"deleted": `DELETE FROM game_events WHERE number = 2`,
		"both":    `UPDATE game_events SET hash = (SELECT hash FROM game_events WHERE number = 3) WHERE number = 2`,
		"game":    `UPDATE game_events SET game = 2 WHERE number = 3`,
	} {
		dir := filepath.Join(t.TempDir(), "rulings")
		l, err := rulings.Open(dir, rulings.Options{Key: key})
		require.NoError(t, err)
		_, err = l.AppendGame(ctx, 0, []json.RawMessage{event(1), event(2), event(3)})
		require.NoError(t, err)
		require.NoError(t, l.Close())
		db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "rulings.db"))
		require.NoError(t, err)
		_, err = db.Exec(statement)
		require.ErrorContains(t, err, "append-only", what)
		for _, name := range []string{"game_events_no_update", "game_events_no_delete"} {
			_, err = db.Exec("DROP TRIGGER " + name)
			require.NoError(t, err)
		}
		_, err = db.Exec(statement)
		require.NoError(t, err, what)
		require.NoError(t, db.Close())
		l, err = rulings.Open(dir, rulings.Options{ReadOnly: true})
		require.NoError(t, err)
		_, err = l.VerifyGames(ctx)
		assert.ErrorIs(t, err, rulings.ErrCorrupt, what)
		r, err := l.Verify(ctx)
		require.NoError(t, err)
		assert.False(t, r.OK(), what)
		require.NoError(t, l.Close())
	}
}

// playForEver records events of a game and says of each that it is recorded.
func playForEver(dir string) error {
	l, err := rulings.Open(dir, rulings.Options{Key: key})
	if err != nil {
		return err
	}
	games, err := l.Games(ctx)
	if err != nil {
		return err
	}
	game, n := int64(0), 0
	if len(games) > 0 { // the game continues
		game = games[0]
		events, err := l.Game(ctx, game)
		if err != nil {
			return err
		}
		n = len(events)
	}
	fmt.Println("ready")
	for {
		n++
		kept, err := l.AppendGame(ctx, game, []json.RawMessage{event(n)})
		if err != nil {
			return err
		}
		game = kept[0].Game
		fmt.Println(n, kept[0].Hash)
	}
}

// gameKills is how often the writer of a game is killed: few in the quick tests, and as many
// as RULINGS_KILLS says.
func gameKills() int {
	if n, err := strconv.Atoi(os.Getenv("RULINGS_KILLS")); err == nil {
		return n
	}
	return 10
}

func TestAGameThatIsKilledAtAnyMomentLosesNoEvent(t *testing.T) {
	racetest.Skip(t) // also the program that is killed has one
	dir := filepath.Join(t.TempDir(), "rulings")
	longest := 4 * writerPace(t)
	acknowledged := map[int]string{}
	for kill := 0; kill < gameKills() || len(acknowledged) == 0; kill++ {
		if kill >= gameKills() { // the machine is slower than it was when the pace was taken
			longest *= 2
		}
		killGame(t, dir, rand.N(longest), acknowledged)
		l, err := rulings.Open(dir, rulings.Options{Key: key})
		require.NoError(t, err, "kill %d", kill)
		games, err := l.Games(ctx)
		require.NoError(t, err)
		if len(acknowledged) > 0 {
			require.Len(t, games, 1, "one game, which continues")
			events, err := l.Game(ctx, games[0])
			require.NoError(t, err)
			for n, hash := range acknowledged {
				require.LessOrEqual(t, n, len(events), "kill %d", kill)
				require.Equal(t, hash, events[n-1].Hash, "event %d after kill %d", n, kill)
			}
			for i := range events {
				require.JSONEq(t, string(event(i+1)), string(events[i].Event))
			}
		}
		_, err = l.VerifyGames(ctx)
		require.NoError(t, err, "kill %d", kill)
		require.NoError(t, l.Close())
	}
	t.Logf("%d kills: %d events acknowledged, none lost", gameKills(), len(acknowledged))
	assert.NotEmpty(t, acknowledged)
}

// killGame plays a game, and kills the program a while after it began.
func killGame(t *testing.T, dir string, after time.Duration, acknowledged map[int]string) {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), "RULINGS_TEST_GAME="+dir)
	out, err := c.StdoutPipe()
	require.NoError(t, err)
	var problems strings.Builder
	c.Stderr = &problems
	require.NoError(t, c.Start())
	in := bufio.NewScanner(out)
	require.True(t, in.Scan(), "the writer opens the log: %s", &problems)
	timer := time.AfterFunc(after, func() { c.Process.Kill() })
	defer timer.Stop()
	for in.Scan() {
		var n int
		var hash string
		if k, _ := fmt.Sscan(in.Text(), &n, &hash); k == 2 && len(hash) == 64 { // the last line may be cut
			acknowledged[n] = hash
		}
	}
	var exit *exec.ExitError
	require.True(t, errors.As(c.Wait(), &exit))
	require.True(t, exit.Sys().(syscall.WaitStatus).Signaled(), "it was killed, and did not fail: %s", &problems)
}
