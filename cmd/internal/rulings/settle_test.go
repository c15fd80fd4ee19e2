package rulings_test

import (
	"bytes"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/rulings"
)

// stepped is a log with three rulings, and the steps that its settles take from now on.
func stepped(t *testing.T) (l *rulings.Log, path string, steps *[]string, at map[string]func()) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "rulings")
	steps, at = &[]string{}, map[string]func(){}
	l, err := rulings.OpenStepped(dir, rulings.Options{Key: key}, func(step string) {
		*steps = append(*steps, step)
		if do := at[step]; do != nil {
			delete(at, step)
			do()
		}
	})
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	for n := range 3 {
		_, err = l.Append(ctx, ruling(t, n), files(n))
		require.NoError(t, err)
	}
	*steps = nil
	return l, filepath.Join(dir, dbFile), steps, at
}

// Reading every entry back is for a database that something else may have written to.
func TestEveryEntryIsReadBackAfterAnotherProgramHadTheDatabase(t *testing.T) {
	l, path, steps, at := stepped(t)
	every := func() bool {
		t.Helper()
		*steps = nil
		_, err := l.Append(ctx, ruling(t, 5), files(5))
		require.NoError(t, err)
		require.Contains(t, *steps, "checkpoint")
		return slices.Contains(*steps, "every entry")
	}
	if every() {
		t.Skip("this file system does not tell who closes a file")
	}
	assert.False(t, every(), "nothing else wrote to it")

	read(t, path)
	assert.False(t, every(), "another program read it")

	open := func() { // for writing, as a copy does, and leaves it as it was
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		require.NoError(t, err)
		require.NoError(t, f.Close())
	}
	open()
	assert.True(t, every())
	assert.False(t, every())
	at["checkpoint"] = open
	assert.True(t, every(), "it was open while the checkpoint wrote to it")
	assert.False(t, every())

	db, err := sql.Open("sqlite", "file:"+path)
	require.NoError(t, err)
	defer db.Close()
	_, err = db.Exec("CREATE TABLE notes (text TEXT)")
	require.NoError(t, err)
	assert.True(t, every(), "by SQL, from a connection that stays open")
	assert.False(t, every())
}

// A copy over the database while the checkpoint writes to it changes nothing that the
// checkpoint does not change too. This one has the newest entry, and not an older one.
func TestACopyOverTheDatabaseWithinACheckpointTakesNoRuling(t *testing.T) {
	l, path, steps, at := stepped(t)
	at["checkpoint"] = func() {
		f, err := os.OpenFile(path, os.O_RDWR, 0) // as rsync --inplace does
		require.NoError(t, err)
		raw := read(t, path)
		second := bytes.LastIndex(raw, []byte(`{"version":1,"number":2,`))
		require.Positive(t, second)
		_, err = f.WriteAt([]byte("Zoe"), int64(second+bytes.Index(raw[second:], []byte("Zoë"))))
		require.NoError(t, err)
		require.NoError(t, f.Close())
	}
	_, err := l.Append(ctx, ruling(t, 20), files(20))
	require.ErrorIs(t, err, rulings.ErrOverwritten)
	assert.Contains(t, *steps, "every entry")
}

// BenchmarkAppendToALongLog records a ruling without pictures: with 10 000 entries it costs
// what it costs with 10.
func BenchmarkAppendToALongLog(b *testing.B) {
	for _, count := range []int{10, 1_000, 10_000} {
		b.Run(fmt.Sprint(count), func(b *testing.B) {
			l, _ := newLog(b, 1)
			r := ruling(b, 1)
			require.NoError(b, l.Fill(ctx, r, count-2))
			_, err := l.Append(ctx, r, rulings.Files{}) // reads every entry back
			require.NoError(b, err)
			for b.Loop() {
				if _, err := l.Append(ctx, r, rulings.Files{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
