package rulings_test

import (
	"archive/zip"
	"bytes"
	"database/sql"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/rulings"
)

// overwrite writes a file as cp does over one that is there: in place.
func overwrite(t *testing.T, path string, content []byte) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0)
	require.NoError(t, err)
	_, err = f.Write(content)
	require.NoError(t, err)
	require.NoError(t, f.Close())
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	return raw
}

// another is the database of another log.
func another(t *testing.T) []byte {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "rulings")
	l, err := rulings.Open(dir, rulings.Options{Key: key})
	require.NoError(t, err)
	for n := range 3 {
		_, err = l.Append(ctx, ruling(t, 20+n), files(20+n))
		require.NoError(t, err)
	}
	require.NoError(t, l.Close())
	return read(t, filepath.Join(dir, dbFile))
}

func TestADatabaseThatIsOverwrittenTakesNoRuling(t *testing.T) {
	for name, content := range map[string]func(dir string) []byte{
		"an older copy": func(dir string) []byte { return read(t, filepath.Join(dir+".older", dbFile)) },
		"another log":   func(string) []byte { return another(t) },
		"nothing":       func(string) []byte { return []byte{} },
		"half of it":    func(dir string) []byte { raw := read(t, filepath.Join(dir, dbFile)); return raw[:len(raw)/2] },
		"a text":        func(string) []byte { return []byte(strings.Repeat("my notes\n", 10000)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, dir, notices := upsetLog(t, nil)
			path := filepath.Join(dir, dbFile)
			good, bad := read(t, path), content(dir)
			overwrite(t, path, bad)
			for range 2 {
				_, err := l.Append(ctx, ruling(t, 2), files(2))
				require.ErrorIs(t, err, rulings.ErrOverwritten)
				assert.Equal(t, bad, read(t, path), "it is left as it is")
			}
			overwrite(t, path, good)
			e, err := l.Append(ctx, ruling(t, 2), files(2))
			require.NoError(t, err, "put right, it goes on")
			assert.EqualValues(t, 3, e.Number)
			assert.Len(t, found(t, dir, false), 3)

			overwrite(t, path, bad)
			_, err = l.Append(ctx, ruling(t, 3), files(3))
			require.ErrorIs(t, err, rulings.ErrOverwritten)
			assert.Empty(t, *notices)
			require.NoError(t, os.Rename(dir, dir+".away"))
			e, err = l.Append(ctx, ruling(t, 3), files(3))
			require.NoError(t, err, "moved away, it makes room for a new one")
			assert.EqualValues(t, 1, e.Number)
			assert.Len(t, *notices, 1)
			assert.Equal(t, bad, read(t, filepath.Join(dir+".away", dbFile)))
		})
	}
}

func TestAnOlderCopyIsContinuedAfterARestart(t *testing.T) {
	l, dir, _ := upsetLog(t, nil)
	overwrite(t, filepath.Join(dir, dbFile), read(t, filepath.Join(dir+".older", dbFile)))
	all, err := l.Last(ctx, 10)
	require.NoError(t, err)
	assert.Len(t, all, 1, "what is there is shown")
	_, err = l.Append(ctx, ruling(t, 2), files(2))
	require.ErrorIs(t, err, rulings.ErrOverwritten, "shown or not")
	require.NoError(t, l.Close())
	l, err = rulings.Open(dir, rulings.Options{Key: key})
	require.NoError(t, err)
	defer l.Close()
	e, err := l.Append(ctx, ruling(t, 2), files(2))
	require.NoError(t, err)
	assert.EqualValues(t, 2, e.Number)
	assert.Len(t, found(t, dir, false), 2)
}

// A database that holds every ruling is used further, however its pages lie.
func TestADatabaseThatIsOverwrittenWithItsLikeGoesOn(t *testing.T) {
	for name, content := range map[string]func(l *rulings.Log, path string) []byte{
		"itself": func(_ *rulings.Log, path string) []byte { return read(t, path) },
		"vacuumed": func(_ *rulings.Log, path string) []byte {
			db, err := sql.Open("sqlite", "file:"+path)
			require.NoError(t, err)
			defer db.Close()
			to := filepath.Join(t.TempDir(), "copy.db")
			_, err = db.Exec("PRAGMA page_size = 1024; VACUUM INTO ?", to)
			require.NoError(t, err)
			return read(t, to)
		},
		"the one of the zip": func(l *rulings.Log, _ string) []byte {
			var packed bytes.Buffer
			require.NoError(t, l.ExportZip(ctx, &packed))
			z, err := zip.NewReader(bytes.NewReader(packed.Bytes()), int64(packed.Len()))
			require.NoError(t, err)
			f, err := z.Open(dbFile)
			require.NoError(t, err)
			raw, err := io.ReadAll(f)
			require.NoError(t, err)
			return raw
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, dir, notices := upsetLog(t, nil)
			path := filepath.Join(dir, dbFile)
			overwrite(t, path, content(l, path))
			for n := range 2 {
				e, err := l.Append(ctx, ruling(t, 2+n), files(2+n))
				require.NoError(t, err)
				assert.EqualValues(t, 3+n, e.Number)
			}
			assert.Len(t, found(t, dir, false), 4)
			assert.Empty(t, *notices)
		})
	}
}

// A copy of the same size that bears the time of the file that it is copied over.
func TestADatabaseThatIsOverwrittenWithoutATraceLosesNoRuling(t *testing.T) {
	l, dir, _ := upsetLog(t, nil)
	path := filepath.Join(dir, dbFile)
	info, err := os.Stat(path)
	require.NoError(t, err)
	older := read(t, filepath.Join(dir+".older", dbFile))
	overwrite(t, path, append(older, make([]byte, max(0, int(info.Size())-len(older)))...))
	require.NoError(t, os.Chtimes(path, info.ModTime(), info.ModTime()))
	_, err = l.Append(ctx, ruling(t, 2), files(2))
	require.ErrorIs(t, err, rulings.ErrOverwritten, "it is read back before it is acknowledged")
}

// While another program reads, the WAL keeps what was committed. It must not get into what
// the database is overwritten with, and is kept as evidence.
func TestTheWALOfAnOverwrittenDatabaseIsSetAside(t *testing.T) {
	l, dir, _ := upsetLog(t, nil)
	path := filepath.Join(dir, dbFile)
	reader, err := sql.Open("sqlite", "file:"+path+"?mode=ro")
	require.NoError(t, err)
	defer reader.Close()
	tx, err := reader.BeginTx(ctx, nil)
	require.NoError(t, err)
	var n int
	require.NoError(t, tx.QueryRow("SELECT count(*) FROM entries").Scan(&n))
	_, err = l.Append(ctx, ruling(t, 2), files(2))
	require.NoError(t, err)
	older := read(t, filepath.Join(dir+".older", dbFile))
	overwrite(t, path, older)
	_, err = l.Append(ctx, ruling(t, 3), files(3))
	require.ErrorIs(t, err, rulings.ErrOverwritten)
	assert.Equal(t, older, read(t, path))
	aside, err := filepath.Glob(path + "-wal.left-*")
	require.NoError(t, err)
	assert.Len(t, aside, 1)
	require.NoError(t, tx.Rollback())
}

func TestNoAcknowledgedRulingIsLostInADatabaseThatIsOverwritten(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "rulings")
	path := filepath.Join(dir, dbFile)
	rng := rand.New(rand.NewPCG(uint64(os.Getpid()), 3))
	acked, refused, n := 0, 0, 0
	var older []byte
	for range max(10, kills()/4) {
		var checked time.Time
		l, err := rulings.OpenChecked(dir, rulings.Options{Key: key}, func() { checked = time.Now() })
		require.NoError(t, err)
		_, err = l.Append(ctx, ruling(t, n%100), files(n))
		require.NoError(t, err)
		n++
		if rng.IntN(2) == 0 || older == nil {
			older = read(t, path)
			_, err = l.Append(ctx, ruling(t, n%100), files(n)) // which older has not
			require.NoError(t, err)
			n++
		}
		done := make(chan time.Time)
		wait := time.Duration(rng.IntN(120_000)) * time.Microsecond
		go func() {
			time.Sleep(wait)
			f, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0)
			if err == nil {
				_, _ = f.Write(older)
				_ = f.Close()
			}
			done <- time.Now()
		}()
		after := map[string]time.Time{}
		for err == nil {
			var e rulings.Entry
			if e, err = l.Append(ctx, ruling(t, n%100), files(n)); err == nil {
				after[e.Hash] = checked
				acked++
			}
			n++
		}
		overwrittenAt := <-done
		require.ErrorIs(t, err, rulings.ErrOverwritten)
		refused++
		require.NoError(t, l.Close())
		maps.DeleteFunc(after, func(_ string, at time.Time) bool { return !at.After(overwrittenAt) })
		raw := read(t, path)
		if bytes.Equal(raw, older) || len(after) > 0 {
			assert.Subset(t, found(t, dir, false), slices.Collect(maps.Keys(after)))
		}
		if !bytes.Equal(raw, older) { // it was overwritten while a checkpoint wrote to it, and is broken
			t.Logf("overwritten within a checkpoint: %d bytes, expected %d", len(raw), len(older))
			overwrite(t, path, older)
			_ = os.Remove(path + "-wal")
			_ = os.Remove(path + "-shm")
		}
	}
	t.Logf("overwritten %d times; %d rulings acknowledged between", refused, acked)
}
