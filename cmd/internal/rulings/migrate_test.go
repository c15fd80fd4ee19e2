package rulings_test

import (
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration/atomicfile"
	"sightline/calibration/atomicfile/faultdisk"
	"sightline/cmd/internal/racetest"
	"sightline/cmd/internal/rulings"
)

// eras are the logs that the program wrote since there is a record, each as its sqlite3
// .dump printed it: in its first minutes (3ed8319), before a trigger compared the hash of
// the entry before and a ruling had a title; until entries were signed; one that was
// signed from its fourth entry on (2eaf7a2); and one with a game (b083373).
var eras = []string{"schema1-first", "schema1", "schema2", "schema3"}

// oldLog is a log of three entries of an era, or of four that end with a signed one.
func oldLog(t *testing.T, era string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "rulings")
	ref := "files/6a/6a8f6823260f64d48e38b3f1dd138d432c279b12719a095ab868613d19c268ec.json"
	require.NoError(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(ref)), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, ref), files(0).Calibration, 0o644))
	dump, err := os.ReadFile("testdata/" + era + ".sql")
	require.NoError(t, err)
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "rulings.db"))
	require.NoError(t, err)
	_, err = db.Exec(fmt.Sprintf("%s PRAGMA application_id = 0x5349474c; PRAGMA user_version = %c;", dump, era[len("schema")]))
	require.NoError(t, err)
	require.NoError(t, db.Close())
	return dir
}

// records returns the records of a database, without this package's reading of them.
func records(t *testing.T, path string) (out []string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?mode=ro")
	require.NoError(t, err)
	defer db.Close()
	rows, err := db.Query("SELECT number || ' ' || record || ' ' || hash FROM entries ORDER BY number")
	require.NoError(t, err)
	defer rows.Close()
	for rows.Next() {
		var text string
		require.NoError(t, rows.Scan(&text))
		out = append(out, text)
	}
	require.NoError(t, rows.Err())
	return out
}

// schemaNext is what a program after this one may add.
const schemaNext = `CREATE TABLE games (game INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;`

func TestALogOfEveryVersionIsWholeAndContinues(t *testing.T) {
	for _, era := range eras {
		t.Run(era, func(t *testing.T) {
			dir := oldLog(t, era)
			path := filepath.Join(dir, "rulings.db")
			before := records(t, path)
			r, last := verified(t, dir)
			require.Empty(t, r.Findings)
			require.Empty(t, last.Damage)
			require.EqualValues(t, len(before), r.Entries)
			assert.True(t, strings.HasPrefix(era, "schema1") == (r.SignedFrom == 0))

			var notices []string
			l, err := rulings.OpenNewer(dir, rulings.Options{Key: key, Notice: func(text string) { notices = append(notices, text) }}, schemaNext)
			require.NoError(t, err)
			names, err := filepath.Glob(filepath.Join(dir, "rulings.db.v*"))
			require.NoError(t, err)
			assert.Empty(t, names, "looking at it changes nothing")
			for n := range 2 {
				_, err = l.Append(ctx, ruling(t, 7+n), files(0))
				require.NoError(t, err)
			}
			report, err := l.Verify(ctx, rulings.Head{Number: last.Number, Hash: last.Hash})
			require.NoError(t, err)
			assert.Empty(t, report.Findings)
			version, err := l.Pragma("user_version")
			require.NoError(t, err)
			assert.Equal(t, "5", version)
			require.NoError(t, l.Close())
			copied := "rulings.db.v" + era[len("schema"):][:1]
			assert.Equal(t, []string{"The record in " + dir + " was of an older version. It continues in the present one; " + copied +
				" is a copy of it as it was."}, notices, "once")

			names, err = filepath.Glob(filepath.Join(dir, "rulings.db*"))
			require.NoError(t, err)
			assert.Equal(t, []string{path, filepath.Join(dir, copied)}, names, "one copy, and nothing temporary")

			after := records(t, path)
			require.Len(t, after, len(before)+2)
			assert.Equal(t, before, after[:len(before)], "byte for byte")
			assert.Equal(t, before, records(t, filepath.Join(dir, copied)))

			// The copy is a log of its own, as it was.
			aside := filepath.Join(t.TempDir(), "rulings")
			require.NoError(t, os.CopyFS(aside, os.DirFS(dir)))
			require.NoError(t, os.Rename(filepath.Join(aside, copied), filepath.Join(aside, "rulings.db")))
			r, _ = verified(t, aside)
			assert.Empty(t, r.Findings)
			assert.EqualValues(t, len(before), r.Entries)
		})
	}
}

// TestAMigrationThatIsKilledLosesNothing kills it at each of its steps.
func TestAMigrationThatIsKilledLosesNothing(t *testing.T) {
	racetest.Skip(t) // also the program that is killed has one
	for _, era := range eras {
		for _, step := range []string{"copied", "migrated", "committed"} {
			t.Run(era+" "+step, func(t *testing.T) {
				dir := oldLog(t, era)
				path := filepath.Join(dir, "rulings.db")
				before := records(t, path)
				c := exec.Command(os.Args[0])
				c.Env = append(os.Environ(), "RULINGS_TEST_MIGRATOR="+dir, "RULINGS_TEST_STEP="+step)
				out, err := c.CombinedOutput()
				var exit *exec.ExitError
				require.ErrorAs(t, err, &exit, "%s", out)
				require.True(t, exit.Sys().(syscall.WaitStatus).Signaled(), "%s", out)

				acknowledged := len(before)
				r, _ := verified(t, dir) // in whatever state it is
				require.Empty(t, r.Findings)
				require.GreaterOrEqual(t, int(r.Entries), acknowledged)
				l, err := rulings.OpenNewer(dir, rulings.Options{Key: key}, schemaNext)
				require.NoError(t, err)
				e, err := l.Append(ctx, ruling(t, 7), files(0))
				require.NoError(t, err)
				assert.EqualValues(t, r.Entries+1, e.Number)
				require.NoError(t, l.Close())
				names, err := filepath.Glob(path + "*")
				require.NoError(t, err)
				assert.Equal(t, []string{path, path + ".v" + era[len("schema"):][:1]}, names, "one copy, and nothing temporary")
				after := records(t, path)
				assert.Equal(t, before, after[:len(before)], "byte for byte")
				assert.Equal(t, before, records(t, names[1]))
			})
		}
	}
}

// migrateAndDie brings a log to a newer version, and kills itself at a step.
func migrateAndDie(dir, at string) error {
	die := func(step string) {
		if step == at {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}
	l, err := rulings.OpenNewerAt(dir, rulings.Options{Key: key}, schemaNext, die)
	if err != nil {
		return err
	}
	var t testing.T
	if _, err := l.Append(ctx, ruling(&t, 5), files(0)); err != nil {
		return err
	}
	return errors.New("it was not killed")
}

func TestACopyOfOtherEntriesIsNotReplaced(t *testing.T) {
	dir := oldLog(t, "schema1")
	other := filepath.Join(dir, "rulings.db.v1")
	require.NoError(t, os.WriteFile(other, []byte("somebody's"), 0o644))
	l, err := rulings.OpenNewer(dir, rulings.Options{Key: key}, schemaNext)
	require.NoError(t, err)
	defer l.Close()
	_, err = l.Append(ctx, ruling(t, 7), files(0))
	require.NoError(t, err)
	content, err := os.ReadFile(other)
	require.NoError(t, err)
	assert.Equal(t, "somebody's", string(content))
	assert.Len(t, records(t, other+".2"), 3)
}

func TestAMigrationWithoutRoomLeavesTheLogAsItWas(t *testing.T) {
	for _, step := range []string{"sync folder", "rename"} {
		dir := oldLog(t, "schema1-first")
		before := records(t, filepath.Join(dir, "rulings.db"))
		full := true
		d := &faultdisk.Disk{Disk: atomicfile.OS{}, Before: func(at string) error {
			if full && at == step {
				return fmt.Errorf("test: %w", syscall.ENOSPC)
			}
			return nil
		}}
		l, err := rulings.OpenOn(dir, rulings.Options{Key: key}, d)
		require.NoError(t, err)
		_, err = l.Append(ctx, ruling(t, 7), files(0))
		require.ErrorIs(t, err, rulings.ErrFull, step)
		assert.Equal(t, before, records(t, filepath.Join(dir, "rulings.db")))
		version, err := l.Pragma("user_version")
		require.NoError(t, err)
		assert.Equal(t, "1", version)
		full = false
		_, err = l.Append(ctx, ruling(t, 7), files(0))
		require.NoError(t, err, step)
		require.NoError(t, l.Close())
		r, _ := verified(t, dir)
		assert.Empty(t, r.Findings)
	}
}

func TestALogOfANewerProgramIsReadAndNotWritten(t *testing.T) {
	l, dir := newLog(t, 2)
	require.NoError(t, l.Close())
	path := filepath.Join(dir, "rulings.db")
	newer, err := rulings.OpenNewer(dir, rulings.Options{Key: key}, schemaNext)
	require.NoError(t, err)
	_, err = newer.Append(ctx, ruling(t, 2), files(2))
	require.NoError(t, err)

	look, err := rulings.Open(dir, rulings.Options{ReadOnly: true})
	require.NoError(t, err)
	require.ErrorIs(t, look.Newer(), rulings.ErrNewer)
	assert.ErrorContains(t, look.Newer(), "rulings.db is of version 5, and this program knows 1 to 4")
	require.NoError(t, look.Close())
	require.NoError(t, newer.Close())

	before, err := os.ReadFile(path)
	require.NoError(t, err)
	l, err = rulings.Open(dir, rulings.Options{Key: key})
	require.NoError(t, err, "it is opened")
	require.ErrorIs(t, l.Newer(), rulings.ErrNewer)
	_, err = l.Append(ctx, ruling(t, 3), files(3))
	require.ErrorIs(t, err, rulings.ErrNewer)
	assert.NotErrorIs(t, err, rulings.ErrCorrupt)
	n, err := l.Prune(ctx, noon.AddDate(9, 0, 0))
	require.NoError(t, err)
	assert.Zero(t, n)
	entries, err := l.Entries(ctx, 1, 10)
	require.NoError(t, err, "after the refusal it is still shown")
	require.Len(t, entries, 3)
	assert.Empty(t, entries[2].Damage)
	r, err := l.Verify(ctx)
	require.NoError(t, err)
	assert.Empty(t, r.Findings)
	assert.Contains(t, strings.Join(r.Notes, "\n"), "a newer program made the log")
	assert.ErrorIs(t, rulings.Probe(ctx, dir), rulings.ErrNewer)
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, before, after, "nothing was changed")

	// Moved away, it makes room for one of this program's.
	require.NoError(t, os.Rename(dir, dir+"-of-the-newer"))
	e, err := l.Append(ctx, ruling(t, 3), files(3))
	require.NoError(t, err)
	assert.EqualValues(t, 1, e.Number)
	assert.NoError(t, l.Newer())
	require.NoError(t, l.Close())
}

// A newer program that was killed leaves its version in the WAL alone.
func TestANewerVersionInTheWALIsNoticed(t *testing.T) {
	l, dir := newLog(t, 2)
	require.NoError(t, l.Close())
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), "RULINGS_TEST_MIGRATOR="+dir, "RULINGS_TEST_STEP=committed")
	require.Error(t, c.Run())
	head := make([]byte, 64)
	f, err := os.Open(filepath.Join(dir, "rulings.db"))
	require.NoError(t, err)
	defer f.Close()
	_, err = f.Read(head)
	require.NoError(t, err)
	require.EqualValues(t, 4, head[63], "the file itself says version 4")
	l, err = rulings.Open(dir, rulings.Options{Key: key})
	require.NoError(t, err)
	defer l.Close()
	require.ErrorIs(t, l.Newer(), rulings.ErrNewer)
	_, err = l.Append(ctx, ruling(t, 3), files(3))
	require.ErrorIs(t, err, rulings.ErrNewer)
	entries, err := l.Entries(ctx, 1, 10)
	require.NoError(t, err)
	assert.Len(t, entries, 3)
	again, err := rulings.OpenNewer(dir, rulings.Options{Key: key}, schemaNext)
	require.NoError(t, err, "the lock was given up")
	require.NoError(t, again.Close())
}

func TestARecordOfANewerVersionIsNotCalledChanged(t *testing.T) {
	l, dir := newLog(t, 1)
	last, err := l.Last(ctx, 1)
	require.NoError(t, err)
	require.NoError(t, l.Close())
	raw := strings.Replace(string(last[0].Canonical()), `{"version":1,`, `{"version":3,"weather":"rain",`, 1)
	_, err = rulings.ParseRecord([]byte(raw))
	require.ErrorIs(t, err, rulings.ErrNewer)
	hash := fmt.Sprintf("%x", sha256.Sum256([]byte(raw)))
	tamper(t, dir, "UPDATE entries SET record = '"+strings.ReplaceAll(raw, "'", "''")+"', hash = '"+hash+"'",
		"UPDATE signatures SET signature = '"+rulings.Sign(key, hash)+"'")
	r, e := verified(t, dir)
	assert.NotEmpty(t, r.Findings, "in a log of this version such a record is no program's")
	assert.True(t, e.Newer)
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "rulings.db"))
	require.NoError(t, err)
	_, err = db.Exec("PRAGMA user_version = 5")
	require.NoError(t, err)
	require.NoError(t, db.Close())
	r, e = verified(t, dir)
	assert.Empty(t, r.Findings)
	assert.Contains(t, strings.Join(r.Notes, "\n"),
		"entry 1: a newer program made the log: the record is of version 3, and this program reads 2")
	assert.NotEmpty(t, e.Damage, "its content is not shown as if it were understood")
}
