package rulings_test

import (
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/racetest"
	"sightline/cmd/internal/rulings"
)

// tamper changes a closed log's database as somebody would who may write to the folder
// and takes the triggers away first, and puts them back after.
func tamper(t testing.TB, dir string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "rulings.db"))
	require.NoError(t, err)
	defer db.Close()
	rows, err := db.Query("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'")
	require.NoError(t, err)
	triggers := map[string]string{}
	for rows.Next() {
		var name, text string
		require.NoError(t, rows.Scan(&name, &text))
		triggers[name] = text
	}
	require.NoError(t, rows.Err())
	require.Len(t, triggers, 13)
	for name := range triggers {
		_, err := db.Exec("DROP TRIGGER " + name)
		require.NoError(t, err)
	}
	for _, s := range statements {
		_, err := db.Exec(s)
		require.NoError(t, err, s)
	}
	for _, text := range triggers {
		_, err := db.Exec(text)
		require.NoError(t, err)
	}
}

// rewrite is an SQL expression for a record with a text put in place of another.
func rewrite(old, new string) string {
	return fmt.Sprintf("replace(record, '%s', '%s')", strings.ReplaceAll(old, "'", "''"), strings.ReplaceAll(new, "'", "''"))
}

func TestALogThatNobodyTouchedVerifies(t *testing.T) {
	l, _ := newLog(t, 4)
	r, err := l.Verify(ctx)
	require.NoError(t, err)
	assert.True(t, r.OK(), "%v", r.Findings)
	assert.EqualValues(t, 4, r.Entries)
	assert.Equal(t, 4*2+3, r.Files, "pictures of each, and one calibration, lens and catalogue for all")
	assert.Empty(t, r.Notes)
	head, err := l.Head(ctx)
	require.NoError(t, err)
	assert.Equal(t, head, r.Head)
	r, err = l.Verify(ctx, head)
	require.NoError(t, err)
	assert.True(t, r.OK())

	none, _ := newLog(t, 0)
	r, err = none.Verify(ctx)
	require.NoError(t, err)
	assert.True(t, r.OK(), "a log that is not there yet")
}

func TestEveryTamperingWithTheDatabaseIsFound(t *testing.T) {
	// Each column of the record, by a value of another ruling; columns of the table.
	changes := map[string]string{}
	for key, to := range map[string][2]string{
		"version": {`"version":1`, `"version":2`}, "number": {`"number":2`, `"number":7`}, "at": {`2026-11-21T12:01:00.12`,
			`2026-11-20T12:01:00.12`},
		"captured": {`"captured":"2026-11-21T12:00:59`, `"captured":"2026-11-21T12:00:58`}, "program": {`"program":"v1"`, `"program":"v2"`},
		"source": {`"source":"sim:"`, `"source":"sim"`}, "edition": {`"edition":"2.5"`, `"edition":"2.0"`}, "profile": {`"profile":"nominal","s`,
			`"profile":"measured","s`},
		"sigmas": {`"sigmas":3`, `"sigmas":2`}, "from": {`"from":"A1"`, `"from":"A2"`}, "to": {`"to":"B1"`, `"to":"B2"`}, "arc": {`"arc":"front"`,
			`"arc":"rear"`},
		"question": {`Is B1`, `Is A1`}, "asked_by": {`player 1`, `player 2`}, "answer": {`"answer":"Range 2`, `"answer":"Range 3`},
		"decision": {`as_measured`, `overruled`}, "ruling": {`"ruling":"Range 2`, `"ruling":"Range 3`}, "reason": {`"reason":""`, `"reason":" "`},
		"judge": {`Zoë`, `Zoe`}, "scene": {`"x_mm":401`, `"x_mm":402`}, "verdict": {`"contact":"no"`, `"contact":"yes"`},
		"unanswered": {`"unanswered":""`, `"unanswered":"x"`},
		"files":      {`"role":"color"`, `"role":"frame"`}, "previous": {`"previous":"`, `"previous":"0`}, "a space": {`{"version"`,
			`{ "version"`}, "a key twice": {`"judge":`, `"judge":"x","judge":`},
		"the case of a key": {`"judge":`, `"Judge":`},
	} {
		changes["record, "+key] = "UPDATE entries SET record = " + rewrite(to[0], to[1]) + " WHERE number = 2"
	}
	changes["hash"] = "UPDATE entries SET hash = replace(hash, substr(hash, 1, 4), 'beef') WHERE number = 2"
	changes["hash, of the last"] = "UPDATE entries SET hash = replace(hash, substr(hash, 1, 4), 'beef') WHERE number = 4"
	changes["deletion in the middle"] = "DELETE FROM entries WHERE number = 2"
	changes["deletion of the first"] = "DELETE FROM entries WHERE number = 1"
	changes["deletion in the middle, numbers moved up"] = "DELETE FROM entries WHERE number = 2; UPDATE entries SET number = number - 1 " +
		"WHERE number > 2"
	changes["reordering"] = "UPDATE entries SET number = 99 WHERE number = 2; UPDATE entries SET number = 2 WHERE number = 3; UPDATE " +
		"entries SET number = 3 WHERE number = 99"
	changes["insertion"] = "INSERT INTO entries (number, record, hash) SELECT 5, replace(record, '\"number\":4', '\"number\":5'), " +
		"replace(hash, substr(hash, 1, 4), 'beef') FROM entries WHERE number = 4"
	changes["insertion before the first"] = "INSERT INTO entries (number, record, hash) SELECT 99, record, replace(hash, substr(hash, 1, " +
		"4), 'beef') FROM entries WHERE number = 1"
	changes["a record that says nothing"] = "UPDATE entries SET record = '{}' WHERE number = 3"
	changes["a record that is a list"] = "UPDATE entries SET record = '[]' WHERE number = 3"
	changes["a column more"] = "ALTER TABLE entries ADD COLUMN note TEXT"
	changes["a table more"] = "CREATE TABLE other (x)"
	l, whole := newLog(t, 4)
	require.NoError(t, l.Close())
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			require.NoError(t, os.CopyFS(dir, os.DirFS(whole)))
			tamper(t, dir, change)
			l, err := rulings.Open(dir, rulings.Options{ReadOnly: true})
			require.NoError(t, err, "what was tampered with can be looked at")
			defer l.Close()
			r, err := l.Verify(ctx)
			require.NoError(t, err)
			require.False(t, r.OK(), "nothing was found")
			for _, f := range r.Findings {
				assert.NotEmpty(t, f.What)
				assert.NotEmpty(t, f.Expected)
				assert.NotEmpty(t, f.Found)
				assert.NotEqual(t, f.Expected, f.Found)
			}
			if strings.HasPrefix(name, "record, ") {
				assert.EqualValues(t, 2, r.Findings[0].Entry, "%v", r.Findings)
				e, err := l.Entry(ctx, 2)
				require.NoError(t, err)
				assert.NotEmpty(t, e.Damage, "an entry that was changed is never shown as it were whole")
			}
		})
	}
}

func TestOneByteOfAnyFileIsFound(t *testing.T) {
	racetest.Skip(t)
	l, dir := newLog(t, 2)
	entries, err := l.Entries(ctx, 1, 2)
	require.NoError(t, err)
	for _, f := range entries[1].Files {
		path := filepath.Join(dir, filepath.FromSlash(f.Path()))
		good, err := os.ReadFile(path)
		require.NoError(t, err)
		for name, bad := range map[string][]byte{
			"a bit":     flipped(good, len(good)/2),
			"its end":   good[:len(good)-1],
			"one more":  append(append([]byte(nil), good...), 0),
			"its whole": {},
		} {
			require.NoError(t, os.WriteFile(path, bad, 0o644))
			r, err := l.Verify(ctx)
			require.NoError(t, err)
			require.NotEmpty(t, r.Findings, "%s of %s", name, f.Role)
			assert.Contains(t, r.Findings[0].What, f.Path())
			assert.Contains(t, r.Findings[0].Expected, f.SHA256)
			replayed, err := l.Replay(ctx, 2, "v1")
			require.NoError(t, err)
			assert.NotEmpty(t, replayed.Chain)
			_, err = l.File(ctx, f)
			assert.ErrorIs(t, err, rulings.ErrCorrupt)
		}
		require.NoError(t, os.Remove(path))
		r, err := l.Verify(ctx)
		require.NoError(t, err)
		require.NotEmpty(t, r.Findings)
		assert.Equal(t, "no such file", r.Findings[0].Found)
		require.NoError(t, os.WriteFile(path, good, 0o644))
	}
	r, err := l.Verify(ctx)
	require.NoError(t, err)
	assert.True(t, r.OK(), "%v", r.Findings)
}

func flipped(raw []byte, i int) []byte {
	out := append([]byte(nil), raw...)
	out[i] ^= 1
	return out
}

func TestOneByteOfTheDatabaseIsFound(t *testing.T) {
	l, dir := newLog(t, 3)
	require.NoError(t, l.Close())
	path := filepath.Join(dir, "rulings.db")
	good, err := os.ReadFile(path)
	require.NoError(t, err)
	// SQLite's pages may hold old copies in room that is free: the last is the one in use.
	at := strings.LastIndex(string(good), "obstructed by the rock")
	require.Positive(t, at)
	require.NoError(t, os.WriteFile(path, flipped(good, at), 0o644))
	l, err = rulings.Open(dir, rulings.Options{ReadOnly: true})
	require.NoError(t, err)
	defer l.Close()
	found := 0
	for n := range int64(3) {
		r, err := l.Replay(ctx, n+1, "v1")
		require.NoError(t, err)
		if assert.NotEmpty(t, r.Chain, "each replay says that the chain is broken") {
			found++
		}
		assert.False(t, r.Same())
	}
	assert.Equal(t, 3, found)
}

func TestACutOffEndIsFoundByAHeadThatWasWrittenDown(t *testing.T) {
	racetest.Skip(t)
	l, dir := newLog(t, 4)
	head, err := l.Head(ctx)
	require.NoError(t, err)
	require.NoError(t, l.Close())
	tamper(t, dir, "DELETE FROM entries WHERE number = 4")
	_, err = rulings.Open(dir, rulings.Options{Key: key})
	require.ErrorIs(t, err, rulings.ErrCorrupt)
	assert.ErrorContains(t, err, "the log ends with entry 3, and had 4", "who does not know of the signatures leaves one")
	tamper(t, dir, "DELETE FROM signatures WHERE number = 4")
	_, err = rulings.Open(dir, rulings.Options{Key: key})
	assert.ErrorContains(t, err, "the log ends with entry 3, and had 4", "nor of the looks at the clock")
	tamper(t, dir, "DELETE FROM looks WHERE entry = 4")
	l, err = rulings.Open(dir, rulings.Options{Key: key})
	require.NoError(t, err)
	r, err := l.Verify(ctx)
	require.NoError(t, err)
	assert.True(t, r.OK(), "the chain alone cannot know")
	r, err = l.Verify(ctx, head)
	require.NoError(t, err)
	require.Len(t, r.Findings, 1)
	assert.Contains(t, r.Findings[0].Found, "the log ends with entry 3")

	// Rewritten up to there, it is another chain.
	_, err = l.Append(ctx, ruling(t, 9), files(9))
	require.NoError(t, err)
	r, err = l.Verify(ctx, head)
	require.NoError(t, err)
	require.Len(t, r.Findings, 1)
	assert.Equal(t, "hash that was written down elsewhere", r.Findings[0].What)
	require.NoError(t, l.Close())
}

func TestTheLogRefusesToForgetThroughSQL(t *testing.T) {
	l, dir := newLog(t, 2)
	require.NoError(t, l.Close())
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "rulings.db"))
	require.NoError(t, err)
	defer db.Close()
	for _, s := range []string{
		"UPDATE entries SET record = record", "UPDATE entries SET hash = hash WHERE number = 1", "DELETE FROM entries",
		"DELETE FROM entries WHERE number = 2",
		"INSERT OR REPLACE INTO entries (number, record, hash) SELECT 2, '{}', hash FROM entries WHERE number = 1",
		"REPLACE INTO entries (number, record, hash) VALUES (3, '{}', (SELECT hash FROM entries WHERE number = 2))",
		"INSERT INTO entries (number, record, hash) VALUES (7, '{}', '" + strings.Repeat("a", 64) + "')",
		"INSERT INTO entries (record, hash) VALUES ('{}', 'short')",
		"UPDATE pruned SET at = ''",
	} {
		_, err := db.Exec(s)
		if s != "UPDATE pruned SET at = ''" { // of no rows
			assert.Error(t, err, s)
		}
	}
	require.NoError(t, db.Close())
	l, err = rulings.Open(dir, rulings.Options{Key: key})
	require.NoError(t, err)
	defer l.Close()
	r, err := l.Verify(ctx)
	require.NoError(t, err)
	assert.True(t, r.OK(), "%v", r.Findings)
	assert.EqualValues(t, 2, r.Entries)
}

func TestTheChainCanBeCheckedByAnotherProgram(t *testing.T) {
	racetest.Skip(t)
	// What docs/rulings.md says, without this package: hash the records, follow previous.
	l, dir := newLog(t, 5)
	require.NoError(t, l.Close())
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "rulings.db")+"?mode=ro")
	require.NoError(t, err)
	defer db.Close()
	rows, err := db.Query("SELECT record, hash, previous, from_id, ruling FROM entries ORDER BY number")
	require.NoError(t, err)
	before, n := strings.Repeat("0", 64), 0
	for rows.Next() {
		var record, hash, previous, from, text string
		require.NoError(t, rows.Scan(&record, &hash, &previous, &from, &text))
		sum := sha256.Sum256([]byte(record))
		assert.Equal(t, hex.EncodeToString(sum[:]), hash)
		assert.Equal(t, before, previous)
		var r map[string]any
		require.NoError(t, json.Unmarshal([]byte(record), &r))
		assert.Equal(t, []any{r["from"], r["ruling"], r["previous"]}, []any{from, text, previous})
		for _, f := range r["files"].([]any) {
			ref := f.(map[string]any)
			matches, err := filepath.Glob(filepath.Join(dir, "files", ref["sha256"].(string)[:2], ref["sha256"].(string)+".*"))
			require.NoError(t, err)
			require.Len(t, matches, 1)
			raw, err := os.ReadFile(matches[0])
			require.NoError(t, err)
			sum := sha256.Sum256(raw)
			assert.Equal(t, ref["sha256"], hex.EncodeToString(sum[:]))
		}
		before, n = hash, n+1
	}
	require.NoError(t, rows.Err())
	assert.Equal(t, 5, n)
}

func TestOldPicturesArePrunedAndSaidSo(t *testing.T) {
	dir := t.TempDir()
	var up time.Duration
	l, err := rulings.OpenClocked(dir, rulings.Options{Key: key, Keep: 30 * day}, func() (string, time.Duration) { return "boot", up })
	require.NoError(t, err)
	defer l.Close()
	for n, age := range []int{0, 0, 0, 50} { // days
		up = time.Duration(age) * day
		r := ruling(t, n)
		r.At = r.At.AddDate(0, 0, age)
		f := files(n)
		if n == 1 || n == 3 { // the same picture for a ruling then and one now
			f = files(1)
		}
		_, err := l.Append(ctx, r, f)
		require.NoError(t, err)
	}
	n, err := l.Prune(ctx, noon.AddDate(0, 0, 50))
	require.NoError(t, err)
	assert.Equal(t, 4, n)
	r, err := l.Verify(ctx)
	require.NoError(t, err)
	assert.True(t, r.OK(), "%v", r.Findings)
	assert.Equal(t, 4, r.Pruned, "frame and colour of entries 1 and 3; entry 4 still rests on that of 2")
	e, err := l.Entry(ctx, 1)
	require.NoError(t, err)
	frame, _ := e.File(rulings.RoleFrame)
	_, err = l.File(ctx, frame)
	assert.ErrorIs(t, err, rulings.ErrPruned)
	got, err := l.Replay(ctx, 1, "v1")
	require.NoError(t, err)
	assert.Equal(t, rulings.Pruned, got.Picture.State)
	assert.True(t, got.Same(), "the engine still gives the verdict")
	e, err = l.Entry(ctx, 2)
	require.NoError(t, err)
	frame, _ = e.File(rulings.RoleFrame)
	_, err = l.File(ctx, frame)
	assert.NoError(t, err)
	for _, f := range e.Files {
		if f.Role == rulings.RoleCalibration {
			require.NoError(t, os.Remove(filepath.Join(dir, filepath.FromSlash(f.Path()))))
		}
	}
	r, err = l.Verify(ctx)
	require.NoError(t, err)
	assert.Len(t, r.Findings, 4, "a calibration is never pruned: each of the entries misses it")
	up = 365 * day
	n, err = l.Prune(ctx, noon.AddDate(1, 0, 0))
	require.NoError(t, err)
	assert.Equal(t, 2, n)
}

func TestFilesThatNoEntryNamesAreNotedAndLeft(t *testing.T) {
	l, dir := newLog(t, 1)
	stray := filepath.Join(dir, "files", "ab", strings.Repeat("ab", 32)+".png")
	require.NoError(t, os.MkdirAll(filepath.Dir(stray), 0o755))
	require.NoError(t, os.WriteFile(stray, []byte("x"), 0o644))
	r, err := l.Verify(ctx)
	require.NoError(t, err)
	assert.True(t, r.OK())
	require.Len(t, r.Notes, 1)
	assert.Contains(t, r.Notes[0], "no entry names it")
	assert.FileExists(t, stray)
}

// A flipped bit anywhere in the database is reported, or it is where nothing stands.
func TestNoFlippedBitOfTheDatabaseGoesUnnoticed(t *testing.T) {
	racetest.Skip(t)
	l, dir := newLog(t, 3)
	want, err := l.Entries(ctx, 1, 10)
	require.NoError(t, err)
	require.NoError(t, l.Close())
	path := filepath.Join(dir, "rulings.db")
	good, err := os.ReadFile(path)
	require.NoError(t, err)
	step := 97
	if testing.Short() {
		step = 499
	}
	reported, silent := 0, 0
	for i := 0; i < len(good); i += step {
		require.NoError(t, os.WriteFile(path, flipped(good, i), 0o644))
		l, err := rulings.Open(dir, rulings.Options{ReadOnly: true})
		if err != nil {
			reported++
			continue
		}
		r, err := l.Verify(ctx)
		got, err2 := l.Entries(ctx, 1, 10)
		require.NoError(t, l.Close())
		if err != nil || err2 != nil || !r.OK() {
			reported++
			continue
		}
		silent++
		assert.Equal(t, want, got, "byte %d", i)
	}
	t.Logf("%d flips reported, %d where nothing stands", reported, silent)
	assert.Greater(t, reported, silent/10)
}
