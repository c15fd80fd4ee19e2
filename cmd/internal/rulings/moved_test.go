package rulings_test

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/rulings"
)

// upset is something that happens to an open log's folder.
type upset struct {
	do    func(dir, away string) error
	lost  bool // what was recorded before is gone; else it is in the folder or in away
	fresh bool // the next ruling is the first of a log of its own
	bare  bool // away has the database without the files
}

// remove is rm of some files of the folder.
func remove(names ...string) func(dir, _ string) error {
	return func(dir, _ string) error {
		for _, name := range names {
			if err := os.Remove(filepath.Join(dir, name)); err != nil && !os.IsNotExist(err) {
				return err
			}
		}
		return nil
	}
}

// move is mv of some files of the folder to another one.
func move(names ...string) func(dir, away string) error {
	return func(dir, away string) error {
		if err := os.MkdirAll(away, 0o755); err != nil {
			return err
		}
		for _, name := range names {
			if err := os.Rename(filepath.Join(dir, name), filepath.Join(away, name)); err != nil && !os.IsNotExist(err) {
				return err
			}
		}
		return nil
	}
}

// removeTree is rm -rf, again where a writer put something into the folder meanwhile.
func removeTree(dir string) (err error) {
	for range 100 {
		if err = os.RemoveAll(dir); err == nil {
			return nil
		}
	}
	return err
}

const (
	dbFile, walFile, shmFile, lockFile = "rulings.db", "rulings.db-wal", "rulings.db-shm", "rulings.lock"
)

var upsets = map[string]upset{
	"rm -rf rulings":                     {do: func(dir, _ string) error { return removeTree(dir) }, lost: true, fresh: true},
	"rm -rf rulings; mkdir rulings":      {do: emptied, lost: true, fresh: true},
	"rm rulings.db rulings.db-*":         {do: remove(dbFile, walFile, shmFile), lost: true, fresh: true},
	"rm rulings.db":                      {do: remove(dbFile), lost: true, fresh: true},
	"rm everything but files":            {do: remove(dbFile, walFile, shmFile, lockFile), lost: true, fresh: true},
	"mv rulings away":                    {do: os.Rename, fresh: true},
	"mv rulings.db rulings.db-* away":    {do: move(dbFile, walFile, shmFile), fresh: true, bare: true},
	"mv rulings.db away":                 {do: move(dbFile), fresh: true, bare: true},
	"rm rulings.db-wal":                  {do: remove(walFile)},
	"rm rulings.db-shm":                  {do: remove(shmFile)},
	"rm rulings.lock":                    {do: remove(lockFile)},
	"rm rulings.db-wal and rulings.lock": {do: remove(walFile, lockFile)},
	"mv away and back":                   {do: awayAndBack},
	"mv rulings away; a link to it":      {do: linked},
	"a copy in its place":                {do: copied},
	"an older copy in its place":         {do: older, lost: true},
}

func emptied(dir, _ string) error { return first(removeTree(dir), os.Mkdir(dir, 0o755)) }

func awayAndBack(dir, away string) error { return first(os.Rename(dir, away), os.Rename(away, dir)) }

func linked(dir, away string) error { return first(os.Rename(dir, away), os.Symlink(away, dir)) }

func older(dir, _ string) error {
	return first(removeTree(dir), os.CopyFS(dir, os.DirFS(dir+".older")))
}

func copied(dir, _ string) error {
	return first(os.CopyFS(dir+".copy", os.DirFS(dir)), removeTree(dir), os.Rename(dir+".copy", dir))
}

// first is the first error.
func first(all ...error) error {
	for _, err := range all {
		if err != nil {
			return err
		}
	}
	return nil
}

// found returns the hashes of a folder's whole entries, as who opens it finds them. In a
// log that was not taken apart, nothing else may be found.
func found(t *testing.T, dir string, bare bool) []string {
	t.Helper()
	l, err := rulings.Open(dir, rulings.Options{ReadOnly: true})
	if err != nil {
		return nil
	}
	defer l.Close()
	r, err := l.Verify(ctx)
	require.NoError(t, err)
	for _, f := range r.Findings {
		assert.True(t, bare && f.Found == "no such file", "%s: %v", dir, f)
	}
	all, err := l.Entries(ctx, 1, 100_000)
	require.NoError(t, err)
	var out []string
	for _, e := range all {
		if assert.Empty(t, e.Damage) {
			out = append(out, e.Hash)
		}
	}
	return out
}

// upsetLog is a log with two rulings, and one older copy of it with one.
func upsetLog(t *testing.T, checking func()) (l *rulings.Log, dir string, notices *[]string) {
	t.Helper()
	dir, notices = filepath.Join(t.TempDir(), "rulings"), &[]string{}
	l, err := rulings.OpenChecked(dir, rulings.Options{Key: key, Notice: func(text string) { *notices = append(*notices, text) }}, checking)
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	_, err = l.Append(ctx, ruling(t, 0), files(0))
	require.NoError(t, err)
	require.NoError(t, os.CopyFS(dir+".older", os.DirFS(dir)))
	_, err = l.Append(ctx, ruling(t, 1), files(1))
	require.NoError(t, err)
	return l, dir, notices
}

// kept checks a log after an upset and a ruling: the ruling is in it, the ones before
// are where the upset left them, and nothing refuses at the next start.
func kept(t *testing.T, u upset, l *rulings.Log, dir string, before []string, e rulings.Entry) {
	t.Helper()
	now := found(t, dir, false)
	assert.Contains(t, now, e.Hash, "who opens the folder finds the ruling")
	assert.Equal(t, u.fresh, e.Number == 1, "entry %d", e.Number)
	if !u.lost {
		all := append(now, found(t, dir+".away", u.bare)...)
		for _, hash := range before {
			assert.Contains(t, all, hash)
		}
	}
	shown, err := l.Last(ctx, 1)
	require.NoError(t, err)
	assert.Equal(t, e.Hash, shown[0].Hash)
	require.NoError(t, l.Close())
	again, err := rulings.Open(dir, rulings.Options{Key: key})
	require.NoError(t, err, "nothing refuses at the next start")
	defer again.Close()
	next, err := again.Append(ctx, ruling(t, 50), files(50))
	require.NoError(t, err)
	assert.Equal(t, e.Hash, next.Previous)
	found(t, dir, false)
}

func TestARulingIsKeptWhateverHappenedToTheFolder(t *testing.T) {
	for name, u := range upsets {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, dir, notices := upsetLog(t, nil)
			before := found(t, dir, false)
			require.Len(t, before, 2)
			require.NoError(t, u.do(dir, dir+".away"))
			seen, err := l.Last(ctx, 10)
			require.NoError(t, err, "the page lists what is there")
			assert.Equal(t, u.fresh, len(seen) == 0)
			e, err := l.Append(ctx, ruling(t, 2), files(2))
			require.NoError(t, err)
			if name == "mv away and back" || name == "mv rulings away; a link to it" {
				assert.Empty(t, *notices, "it is the same log")
			} else if assert.Len(t, *notices, 1) {
				assert.Equal(t, u.fresh, strings.Contains((*notices)[0], "A new record begins there with ruling 1."), *notices)
			}
			kept(t, u, l, dir, before, e)
		})
	}
}

func TestARulingIsKeptWhateverHappensWhileItIsWritten(t *testing.T) {
	for name, u := range upsets {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var do func()
			l, dir, _ := upsetLog(t, func() {
				if do != nil {
					do()
				}
			})
			before := found(t, dir, false)
			do = func() { do = nil; require.NoError(t, u.do(dir, dir+".away")) }
			e, err := l.Append(ctx, ruling(t, 2), files(2))
			require.NoError(t, err)
			assert.Nil(t, do)
			kept(t, u, l, dir, before, e)
			all := found(t, dir, false)
			slices.Sort(all)
			assert.Equal(t, all, slices.Compact(slices.Clone(all)))
			if !u.fresh && !u.lost {
				assert.Len(t, all, 4, "it is recorded once")
			}
		})
	}
}

func TestAFileThatGoesWhileARulingIsWrittenIsPutAgain(t *testing.T) {
	first := true
	var dir string
	var l *rulings.Log
	l, dir, _ = upsetLog(t, func() {
		if dir != "" && first {
			first = false
			require.NoError(t, os.RemoveAll(filepath.Join(dir, "files")))
		}
	})
	e, err := l.Append(ctx, ruling(t, 2), files(2))
	require.NoError(t, err)
	assert.EqualValues(t, 3, e.Number)
	for _, f := range e.Files {
		_, err := l.File(ctx, f)
		assert.NoError(t, err, f.Role)
	}
}

func TestARulingThatCannotBeKeptIsRefused(t *testing.T) {
	busy, n := false, 0
	var dir string
	l, dir, notices := upsetLog(t, func() {
		if n++; busy {
			_ = os.Rename(dir, fmt.Sprintf("%s.%d", dir, n))
		}
	})
	busy = true
	_, err := l.Append(ctx, ruling(t, 2), files(2))
	require.ErrorIs(t, err, rulings.ErrMoved)
	assert.NoDirExists(t, dir)
	assert.Empty(t, *notices)
	all, err := l.Last(ctx, 10)
	require.NoError(t, err)
	assert.Empty(t, all, "nothing is shown that is not there")
	busy = false
	e, err := l.Append(ctx, ruling(t, 3), files(3))
	require.NoError(t, err)
	assert.EqualValues(t, 1, e.Number)
	assert.Len(t, *notices, 1)
}

func TestClosingALogThatWasMovedLeavesAnotherOneAlone(t *testing.T) {
	l, dir, _ := upsetLog(t, nil)
	require.NoError(t, os.Rename(dir, dir+".away"))
	wal := filepath.Join(dir, "rulings.db-wal")
	require.NoError(t, os.Mkdir(dir, 0o755))
	require.NoError(t, os.WriteFile(wal, []byte("another log's"), 0o644))
	require.NoError(t, l.Close())
	assert.FileExists(t, wal)
	assert.Len(t, found(t, dir+".away", false), 2)
}

func TestAFolderWithoutItsDatabaseBeginsALogOfItsOwn(t *testing.T) {
	l, dir := newLog(t, 2)
	require.NoError(t, l.Close())
	require.NoError(t, os.Remove(filepath.Join(dir, "rulings.db")))
	_, err := rulings.Open(dir, rulings.Options{ReadOnly: true})
	require.ErrorIs(t, err, rulings.ErrGone, "who looks is told")
	assert.ErrorIs(t, rulings.Probe(ctx, dir), rulings.ErrGone)
	again, err := rulings.Open(dir, rulings.Options{Key: key})
	require.NoError(t, err)
	defer again.Close()
	e, err := again.Append(ctx, ruling(t, 2), files(2))
	require.NoError(t, err)
	assert.EqualValues(t, 1, e.Number)
	r, err := again.Verify(ctx)
	require.NoError(t, err)
	assert.True(t, r.OK(), "%v", r.Findings)
	assert.Len(t, r.Notes, 4, "the pictures of the rulings that are gone are named, and left")
	assert.NoError(t, rulings.Probe(ctx, dir))
}

func TestAnotherProgramsEntryIsNotBuiltOn(t *testing.T) {
	l, dir := newLog(t, 2)
	forge(t, dir, "", nil)
	_, err := l.Append(ctx, ruling(t, 5), files(5))
	require.ErrorIs(t, err, rulings.ErrCorrupt)
	assert.ErrorContains(t, err, "its last entry is 3, which this program did not write: it wrote 2 last")
	require.NoError(t, os.Rename(dir, dir+".away"))
	e, err := l.Append(ctx, ruling(t, 5), files(5))
	require.NoError(t, err, "moved away, it makes room for a new one")
	assert.EqualValues(t, 1, e.Number)
}

// trial is a writer that rulings are asked of while its folder suffers.
type trial struct {
	t        *testing.T
	dir      string
	rng      *rand.Rand
	mu       sync.Mutex           // guards acks and refused
	acks     map[string]time.Time // when it was last checked that it is in its place, by hash
	refused  int
	happened []happening
	away     map[string]bool // folders that hold what was moved: whether without their files
	writer   *exec.Cmd
	done     chan struct{}
	problems strings.Builder
}

// happening is what was done to the folder, and when.
type happening struct {
	name       string
	start, end time.Time
}

func (r *trial) start() {
	r.writer = exec.Command(os.Args[0])
	r.writer.Env = append(os.Environ(), "RULINGS_TEST_WRITER="+r.dir)
	out, err := r.writer.StdoutPipe()
	require.NoError(r.t, err)
	r.writer.Stderr = &r.problems
	require.NoError(r.t, r.writer.Start())
	r.done = make(chan struct{})
	go r.read(out)
}

func (r *trial) read(out io.Reader) {
	defer close(r.done)
	for in := bufio.NewScanner(out); in.Scan(); {
		var number, nanoseconds int64
		var hash string
		k, _ := fmt.Sscan(in.Text(), &number, &hash, &nanoseconds)
		r.mu.Lock()
		if k == 3 && len(strconv.FormatInt(nanoseconds, 10)) == 19 { // the last line may be cut
			r.acks[hash] = time.Unix(0, nanoseconds)
		} else if in.Text() == "refused" {
			r.refused++
		}
		r.mu.Unlock()
	}
}

func (r *trial) kill() {
	r.t.Helper()
	require.NoError(r.t, r.writer.Process.Kill(), "%s", &r.problems)
	<-r.done
	err := r.writer.Wait()
	require.ErrorContains(r.t, err, "signal: killed", "it was killed, and did not fail: %s", &r.problems)
}

// acknowledged is how many rulings the writer acknowledged.
func (r *trial) acknowledged() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.acks)
}

// suffer does something to the folder.
func (r *trial) suffer(names []string) {
	name := names[r.rng.IntN(len(names))]
	away := fmt.Sprintf("%s.away%d", r.dir, len(r.happened))
	h := happening{name: name, start: time.Now()}
	if name == "kill" {
		r.kill()
	} else if err := upsets[name].do(r.dir, away); err != nil && !os.IsNotExist(err) {
		r.t.Logf("%s: %v", name, err) // a writer was in the way: half of it was done
	}
	h.end = time.Now()
	r.happened = append(r.happened, h)
	r.away[away] = upsets[name].bare
	if name == "kill" {
		r.start()
	}
}

// excused reports whether a ruling that is found nowhere was removed after it was
// acknowledged, and not moved before that.
func (r *trial) excused(checked time.Time) bool {
	for _, h := range r.happened {
		u := upsets[h.name]
		switch {
		case h.name == "kill" || h.end.Before(checked):
		case u.lost:
			return true
		case u.fresh && h.start.After(checked): // it was moved
			return false
		}
	}
	return false
}

func TestNoAcknowledgedRulingIsLostInAFolderThatSuffers(t *testing.T) {
	r := &trial{t: t, dir: filepath.Join(t.TempDir(), "rulings"), acks: map[string]time.Time{}, away: map[string]bool{},
		rng: rand.New(rand.NewPCG(uint64(os.Getpid()), 2))}
	names := []string{
		"kill", "kill", "kill", "rm -rf rulings", "mv rulings away", "mv rulings away", "rm rulings.db rulings.db-*", "rm rulings.db",
		"rm everything but files",
		"mv rulings.db rulings.db-* away", "mv rulings.db away", "rm rulings.db-wal", "rm rulings.db-shm", "rm rulings.lock",
	}
	longest := 2 * writerPace(t)
	r.start()
	for range max(30, kills()) {
		time.Sleep(rand.N(longest))
		r.suffer(names)
	}
	for time.Sleep(2 * longest); r.acknowledged() == 0; time.Sleep(longest) { // few on a busy machine
	}
	r.kill()

	have := map[string]bool{}
	for _, hash := range found(t, r.dir, false) {
		have[hash] = true
	}
	for away, bare := range r.away {
		for _, hash := range found(t, away, bare) {
			have[hash] = true
		}
	}
	gone, lost := 0, 0
	for hash, checked := range r.acks {
		switch {
		case have[hash]:
		case r.excused(checked):
			gone++
		default:
			lost++
			t.Errorf("%s was acknowledged at %s, and is nowhere", hash, checked)
		}
	}
	t.Logf("%d kills, moves and removals; %d rulings acknowledged, %d refused; %d found, %d removed after they were acknowledged, %d lost",
		len(r.happened), len(r.acks), r.refused, len(r.acks)-gone-lost, gone, lost)
	l, err := rulings.Open(r.dir, rulings.Options{Key: key})
	require.NoError(t, err, "nothing refuses at the next start")
	require.NoError(t, l.Close())
}
