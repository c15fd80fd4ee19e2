package rulings_test

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
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

	"sightline/calibration/atomicfile"
	"sightline/calibration/atomicfile/faultdisk"
	"sightline/cmd/internal/racetest"
	"sightline/cmd/internal/rulings"
)

// TestMain turns the test's program into one that records rulings until it is killed,
// when it is asked to.
func TestMain(m *testing.M) {
	if dir := os.Getenv("RULINGS_TEST_MIGRATOR"); dir != "" {
		if err := migrateAndDie(dir, os.Getenv("RULINGS_TEST_STEP")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if dir := os.Getenv("RULINGS_TEST_GAME"); dir != "" {
		if err := playForEver(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if dir := os.Getenv("RULINGS_TEST_WRITER"); dir != "" {
		if err := writeForEver(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// writeForEver records rulings and says of each, on standard output, that it is
// recorded: its number and hash.
func writeForEver(dir string) error {
	var checked time.Time // when it was last checked that a ruling is in its place
	l, err := rulings.OpenChecked(dir, rulings.Options{Key: key}, func() { checked = time.Now() })
	if err != nil {
		return err
	}
	fmt.Println("ready")
	for n := 0; ; n++ {
		var t testing.T // nothing of a ruling fails here
		e, err := l.Append(ctx, ruling(&t, n%100), files(os.Getpid()*1000+n))
		switch {
		case errors.Is(err, rulings.ErrMoved): // it is said that it could not be kept
			fmt.Println("refused")
		case err != nil:
			return err
		default:
			fmt.Println(e.Number, e.Hash, checked.UnixNano())
		}
	}
}

// kills is how often the writer is killed: few in the quick tests, and as many as
// RULINGS_KILLS says.
func kills() int {
	if n, err := strconv.Atoi(os.Getenv("RULINGS_KILLS")); err == nil {
		return n
	}
	return 10
}

// writerPace is how long a writer takes from its start to its first ruling, at least
// 75 ms. Moments of kills are drawn from twice that, so that a busy machine has
// writers that are killed before and after they wrote, as a quiet one has.
func writerPace(t *testing.T) time.Duration {
	t.Helper()
	begun := time.Now()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), "RULINGS_TEST_WRITER="+filepath.Join(t.TempDir(), "pace"))
	out, err := c.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	in := bufio.NewScanner(out)
	require.True(t, in.Scan(), "the writer opens the log")
	require.True(t, in.Scan(), "the writer keeps a ruling")
	took := time.Since(begun)
	require.NoError(t, c.Process.Kill())
	_ = c.Wait() // it was killed
	return max(75*time.Millisecond, took)
}

func TestAWriterThatIsKilledAtAnyMomentLosesNothing(t *testing.T) {
	racetest.Skip(t) // also the program that is killed has one
	dir := filepath.Join(t.TempDir(), "rulings")
	longest := 2 * writerPace(t)
	acknowledged := map[int64]string{}
	rulingsBefore, empty := 0, 0
	for kill := 0; kill < kills() || len(acknowledged) == 0; kill++ {
		if kill >= kills() { // the machine is slower than it was when the pace was taken
			longest *= 2
		}
		// From before the log is there, through its making, to the middle of later writes.
		n := killWriter(t, dir, rand.N(longest), acknowledged)
		if n == 0 {
			empty++
		}
		if len(acknowledged) == 0 {
			continue
		}
		l, err := rulings.Open(dir, rulings.Options{Key: key})
		require.NoError(t, err, "kill %d", kill)
		heads := []rulings.Head{}
		for number, hash := range acknowledged {
			heads = append(heads, rulings.Head{Number: number, Hash: hash})
		}
		r, err := l.Verify(ctx, heads...) // the chain, every file, integrity_check, and every ruling that was acknowledged
		require.NoError(t, err)
		require.True(t, r.OK(), "kill %d: %v", kill, r.Findings)
		rulingsBefore = int(r.Entries)
		require.NoError(t, l.Close())
	}
	temporary, err := filepath.Glob(filepath.Join(dir, "files", "*", ".*"))
	require.NoError(t, err)
	assert.Empty(t, temporary, "what was cut off is tidied up when the log is opened")
	t.Logf("%d kills, %d of them before the first ruling of their program: %d rulings acknowledged, %d recorded, all whole", kills(), empty,
		len(acknowledged), rulingsBefore)
	assert.NotEmpty(t, acknowledged)
}

// killWriter runs a writer, kills it a while after it began, and remembers what it
// acknowledged. It returns how many that were.
func killWriter(t *testing.T, dir string, after time.Duration, acknowledged map[int64]string) (n int) {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), "RULINGS_TEST_WRITER="+dir)
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
		var number int64
		var hash string
		if k, _ := fmt.Sscan(in.Text(), &number, &hash); k == 2 && len(hash) == 64 { // the last line may be cut
			acknowledged[number] = hash
			n++
		}
	}
	err = c.Wait()
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit)
	require.True(t, exit.Sys().(syscall.WaitStatus).Signaled(), "it was killed, and did not fail: %s", &problems)
	return n
}

func TestAFullDiskLosesNothingAndGoesOnWithRoom(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "rulings")
	full := "" // the step for which there is no room
	d := &faultdisk.Disk{Disk: atomicfile.OS{}, Before: func(step string) error {
		if step == full {
			return fmt.Errorf("test: %w", syscall.ENOSPC)
		}
		return nil
	}}
	l, err := rulings.OpenOn(dir, rulings.Options{Key: key}, d)
	require.NoError(t, err)
	defer l.Close()
	_, err = l.Append(ctx, ruling(t, 0), files(0))
	require.NoError(t, err)
	want := int64(1)
	for i, step := range []string{"mkdir", "create", "write", "write half", "sync", "close", "rename", "sync folder"} {
		full = step
		_, err := l.Append(ctx, ruling(t, 1+i), files(1+i))
		require.ErrorIs(t, err, rulings.ErrFull, step)
		assert.NotErrorIs(t, err, rulings.ErrRuling)
		assert.Contains(t, err.Error(), "there is no room on the disk")
		full = ""
		head, err := l.Head(ctx)
		require.NoError(t, err)
		assert.Equal(t, want, head.Number, "%s: nothing was recorded", step)
		_, err = l.Append(ctx, ruling(t, 1+i), files(1+i))
		require.NoError(t, err, "%s: it goes on", step)
		want++
	}
	r, err := l.Verify(ctx)
	require.NoError(t, err)
	assert.True(t, r.OK(), "%v", r.Findings)
	assert.EqualValues(t, 9, r.Entries)
	assert.Empty(t, r.Notes, "nothing is left of what failed")
}

func TestAFullDatabaseLosesNothingAndGoesOnWithRoom(t *testing.T) {
	l, _ := newLog(t, 1)
	pages, err := l.Pages()
	require.NoError(t, err)
	require.NoError(t, l.Limit(pages+3))
	n := 1
	for ; err == nil; n++ {
		require.Less(t, n, 50)
		_, err = l.Append(ctx, ruling(t, n), files(n))
	}
	require.ErrorIs(t, err, rulings.ErrFull)
	assert.Contains(t, err.Error(), "there is no room on the disk")
	before, err := l.Head(ctx)
	require.NoError(t, err)
	assert.EqualValues(t, n-1, before.Number)
	require.NoError(t, l.Limit(1_000_000))
	e, err := l.Append(ctx, ruling(t, n), files(n))
	require.NoError(t, err)
	assert.Equal(t, before.Hash, e.Previous)
	r, err := l.Verify(ctx)
	require.NoError(t, err)
	assert.True(t, r.OK(), "%v", r.Findings)
}

// A disk on which a new record has nearly room, for whichever of its files it is too small.
func TestADiskThatIsTooSmallForANewRecord(t *testing.T) {
	failed := 0
	for kilobytes := 24; kilobytes <= 120; kilobytes += 4 {
		mount := t.TempDir()
		if err := syscall.Mount("tmpfs", mount, "tmpfs", 0, fmt.Sprintf("size=%dk", kilobytes)); err != nil {
			t.Skipf("mounting a small file system needs root: %v", err)
		}
		l, err := rulings.Open(filepath.Join(mount, "rulings"), rulings.Options{Key: key})
		if err == nil {
			_, err = l.Append(ctx, ruling(t, 0), files(0))
			require.NoError(t, l.Close())
		}
		if err != nil {
			failed++
			assert.ErrorIs(t, err, rulings.ErrFull, "%d kB", kilobytes)
		}
		require.NoError(t, syscall.Unmount(mount, syscall.MNT_DETACH))
	}
	assert.Greater(t, failed, 5)
}

// A real file system without room: everything that is written meets its end, SQLite's
// log as well as the pictures.
func TestARealDiskThatIsFull(t *testing.T) {
	mount := t.TempDir()
	if err := syscall.Mount("tmpfs", mount, "tmpfs", 0, "size=400k"); err != nil {
		t.Skipf("mounting a small file system needs root: %v", err)
	}
	defer syscall.Unmount(mount, syscall.MNT_DETACH)
	dir := filepath.Join(mount, "rulings")
	l, err := rulings.Open(dir, rulings.Options{Key: key})
	require.NoError(t, err)
	defer l.Close()
	n := 0
	for ; err == nil; n++ {
		require.Less(t, n, 200)
		_, err = l.Append(ctx, ruling(t, n%50), files(n))
	}
	require.ErrorIs(t, err, rulings.ErrFull)
	require.Greater(t, n, 5)
	for range 3 { // it stays so, and takes no harm
		_, err = l.Append(ctx, ruling(t, 1), files(1000))
		require.ErrorIs(t, err, rulings.ErrFull)
	}
	r, err := l.Verify(ctx)
	require.NoError(t, err)
	assert.True(t, r.OK(), "%v", r.Findings)
	assert.EqualValues(t, n-1, r.Entries)
	t.Logf("%d rulings until there was no room", r.Entries)
	require.NoError(t, syscall.Mount("tmpfs", mount, "tmpfs", syscall.MS_REMOUNT, "size=4M"))
	_, err = l.Append(ctx, ruling(t, 1), files(1000))
	require.NoError(t, err, "it goes on when there is room")
	r, err = l.Verify(ctx)
	require.NoError(t, err)
	assert.True(t, r.OK(), "%v", r.Findings)
	assert.EqualValues(t, n, r.Entries)
}

func TestAFolderThatCannotBeWritten(t *testing.T) {
	l, dir := newLog(t, 2)
	require.NoError(t, l.Close())
	if os.Geteuid() != 0 {
		require.NoError(t, os.Chmod(dir, 0o555))
		defer os.Chmod(dir, 0o755)
	} else if err := syscall.Mount(dir, dir, "", syscall.MS_BIND, ""); err != nil { // root may write where it may not
		t.Skipf("a folder that root cannot write needs a mount: %v", err)
	} else {
		defer syscall.Unmount(dir, syscall.MNT_DETACH)
		require.NoError(t, syscall.Mount("", dir, "", syscall.MS_BIND|syscall.MS_REMOUNT|syscall.MS_RDONLY, ""))
	}
	_, err := rulings.Open(dir, rulings.Options{Key: key})
	require.Error(t, err)
	assert.Contains(t, err.Error(), dir)
	assert.True(t, errors.Is(err, syscall.EROFS) || errors.Is(err, fs.ErrPermission), "%v", err)
	look, err := rulings.Open(dir, rulings.Options{ReadOnly: true})
	require.NoError(t, err, "it can be looked at")
	defer look.Close()
	r, err := look.Verify(ctx)
	require.NoError(t, err)
	assert.True(t, r.OK(), "%v", r.Findings)
	assert.EqualValues(t, 2, r.Entries)

	// And one in which no log can be made: the ruling is refused, clearly.
	fresh, err := rulings.Open(filepath.Join(dir, "new"), rulings.Options{Key: key})
	require.NoError(t, err)
	defer fresh.Close()
	_, err = fresh.Append(ctx, ruling(t, 0), files(0))
	require.Error(t, err)
	assert.True(t, errors.Is(err, syscall.EROFS) || errors.Is(err, fs.ErrPermission), "%v", err)
}

func TestADamagedLogIsNeverReplacedByANewOne(t *testing.T) {
	l, whole := newLog(t, 3)
	require.NoError(t, l.Close())
	good, err := os.ReadFile(filepath.Join(whole, "rulings.db"))
	require.NoError(t, err)
	noise := append([]byte(nil), good...)
	for i := 4096; i < len(noise); i++ {
		noise[i] = byte(i * 7)
	}
	foreign := append([]byte(nil), good...)
	copy(foreign[68:], "OTHR")
	unknown := append([]byte(nil), good...)
	unknown[63] = 0
	for name, c := range map[string]struct {
		db   []byte
		want string
	}{
		"emptied":           {[]byte{}, "no SQLite database"},
		"cut off":           {good[:len(good)/2], ""},
		"of noise":          {noise, ""},
		"another program's": {foreign, "another program's database"},
		"of no version":     {unknown, "version 0, which no program wrote"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			require.NoError(t, os.CopyFS(dir, os.DirFS(whole)))
			path := filepath.Join(dir, "rulings.db")
			require.NoError(t, os.Remove(path))
			require.NoError(t, os.WriteFile(path, c.db, 0o644))
			_, err := rulings.Open(dir, rulings.Options{Key: key})
			require.Error(t, err)
			assert.Contains(t, err.Error(), c.want)
			assert.ErrorIs(t, err, rulings.ErrCorrupt)
			after, err := os.ReadFile(path)
			require.NoError(t, err)
			assert.Equal(t, c.db, after, "what is left of it is left alone")
		})
	}
}

func TestAFileThatWasDamagedIsSetAsideAndWrittenAnew(t *testing.T) {
	l, dir := newLog(t, 1)
	e, err := l.Entry(ctx, 1)
	require.NoError(t, err)
	ref, _ := e.File(rulings.RoleCalibration)
	path := filepath.Join(dir, filepath.FromSlash(ref.Path()))
	require.NoError(t, os.WriteFile(path, []byte("{}"), 0o644))
	_, err = l.Append(ctx, ruling(t, 1), files(1)) // with the same calibration
	require.NoError(t, err)
	r, err := l.Verify(ctx)
	require.NoError(t, err)
	assert.True(t, r.OK(), "%v", r.Findings)
	require.Len(t, r.Notes, 1)
	assert.Contains(t, r.Notes[0], ".damaged-", "what stood there is kept as evidence")
}
