package calibration_test

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/calibration/atomicfile"
	"sightline/calibration/atomicfile/faultdisk"
	"sightline/calibration/internal/document"
)

// numbered is a table that can be told from others: number n.
func numbered(n int) calibration.Table {
	t := sampleTable()
	t.RMS = float64(n) / 1000
	return t
}

// numbersIn returns the numbers of all whole tables in a directory, by their files,
// and fails for a file that is none. Temporary files are left out.
func numbersIn(t *testing.T, dir string) map[string]int {
	t.Helper()
	out := map[string]int{}
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		table, err := calibration.LoadTable(filepath.Join(dir, e.Name()))
		require.NoError(t, err, "every file that is there is whole")
		require.Equal(t, calibration.Intact, table.Integrity, e.Name())
		out[e.Name()] = int(table.RMS*1000 + 0.5)
	}
	return out
}

func temporaries(t *testing.T, dir string) (out []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			out = append(out, filepath.Join(dir, e.Name()))
		}
	}
	return out
}

func TestAnOldFileIsKeptUnderItsTimeAndHash(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "table.json")
	first, second, third := numbered(1), numbered(2), numbered(3)
	kept, err := calibration.StoreTable(path, &first)
	require.NoError(t, err)
	assert.Empty(t, kept, "there was none")
	at := time.Date(2026, 11, 21, 10, 15, 0, 123, time.UTC)
	require.NoError(t, os.Chtimes(path, at, at))

	kept, err = calibration.StoreTable(path, &second)
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(dir, "table.2026-11-21T10-15-00Z."+first.Hash[:8]+".json"), kept)
	_, err = calibration.StoreTable(path, &third)
	require.NoError(t, err)

	numbers := numbersIn(t, dir)
	assert.Len(t, numbers, 3, "%v", numbers)
	assert.Equal(t, 3, numbers["table.json"])
	assert.Equal(t, 1, numbers[filepath.Base(kept)])
	assert.Empty(t, temporaries(t, dir))
	back, err := calibration.LoadTable(kept)
	require.NoError(t, err)
	assert.Equal(t, first.Hash, back.Hash, "a kept file is found by the hash that an answer named")
}

func TestTheSameFileAgainMakesNoNewVersion(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "table.json")
	table := numbered(1)
	for range 3 {
		kept, err := calibration.StoreTable(path, &table)
		require.NoError(t, err)
		assert.Empty(t, kept)
	}
	assert.Len(t, numbersIn(t, dir), 1)
}

func TestALinkStaysALink(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "real"), 0o700))
	real, link := filepath.Join(dir, "real", "table.json"), filepath.Join(dir, "table.json")
	require.NoError(t, os.WriteFile(real, nil, 0o600))
	require.NoError(t, os.Symlink(real, link))
	table := numbered(7)
	require.NoError(t, calibration.SaveTable(link, &table))
	target, err := os.Readlink(link)
	require.NoError(t, err)
	assert.Equal(t, real, target)
	assert.Equal(t, map[string]int{"table.json": 7}, numbersIn(t, filepath.Dir(real)))
}

func TestTwoThatSaveAtOnceLoseNothing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "table.json")
	const savers, each = 4, 5
	var all sync.WaitGroup
	for s := range savers {
		all.Go(func() {
			for k := range each {
				table := numbered(1 + s*each + k)
				assert.NoError(t, calibration.SaveTable(path, &table))
			}
		})
	}
	all.Wait()
	var got []int
	for _, n := range numbersIn(t, dir) {
		got = append(got, n)
	}
	slices.Sort(got)
	assert.Len(t, slices.Compact(got), savers*each)
}

func TestRestsOfASaveThatWasCutOffAreRemoved(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "table[1].json") // a name that a pattern would stumble over
	old, young := filepath.Join(dir, ".table[1].json.tmp-1"), filepath.Join(dir, ".table[1].json.tmp-2")
	other := filepath.Join(dir, ".lens.json.tmp-1")
	for _, p := range []string{old, young, other} {
		require.NoError(t, os.WriteFile(p, []byte("half"), 0o600))
	}
	past := time.Now().Add(-time.Hour)
	require.NoError(t, os.Chtimes(old, past, past))
	require.NoError(t, os.Chtimes(other, past, past))
	table := numbered(1)
	require.NoError(t, calibration.SaveTable(path, &table))
	assert.NoFileExists(t, old)
	assert.FileExists(t, young, "another program may be writing it right now")
	assert.FileExists(t, other, "it is another file's")
}

// A stepDisk is a disk that counts a save's steps and does something before each.
type stepDisk struct {
	document.Disk
	faults faultdisk.Disk
	steps  int
}

func newStepDisk(d document.Disk, noLinks bool, before func(step int, name string) error) *stepDisk {
	s := &stepDisk{Disk: d}
	s.faults = faultdisk.Disk{Disk: d, NoLinks: noLinks, Before: func(name string) error {
		s.steps++
		return before(s.steps-1, name)
	}}
	return s
}

func (d *stepDisk) Create(dir, pattern string, mode fs.FileMode) (atomicfile.File, error) {
	return d.faults.Create(dir, pattern, mode)
}
func (d *stepDisk) Link(from, to string) error   { return d.faults.Link(from, to) }
func (d *stepDisk) Rename(from, to string) error { return d.faults.Rename(from, to) }
func (d *stepDisk) SyncDir(dir string) error     { return d.faults.SyncDir(dir) }

func fileOf(t *testing.T, n int) []byte {
	t.Helper()
	table := numbered(n)
	raw, err := calibration.MarshalTable(&table)
	require.NoError(t, err)
	return raw
}

func TestWhatFailsLosesNothingAndLeavesNothing(t *testing.T) {
	for _, noLinks := range []bool{false, true} {
		for at := 0; ; at++ {
			dir := t.TempDir()
			path := filepath.Join(dir, "table.json")
			require.NoError(t, os.WriteFile(path, fileOf(t, 1), 0o600))
			failed := ""
			d := newStepDisk(document.OSDisk{}, noLinks, func(step int, name string) error {
				if step != at {
					return nil
				}
				failed = name
				return &fs.PathError{Op: "write", Path: "/somewhere/.tmp", Err: syscall.ENOSPC}
			})
			_, err := document.SaveOn(d, time.Now, path, fileOf(t, 2))
			if failed == "" {
				require.NoError(t, err)
				assert.Greater(t, at, 5, "all steps were tried")
				break
			}
			if noLinks || failed != "link" { // a link that fails becomes a copy
				require.ErrorIs(t, err, syscall.ENOSPC, "%s", failed)
				assert.NotContains(t, err.Error(), ".tmp", "a temporary name helps nobody")
			}
			assert.Empty(t, temporaries(t, dir), "%s", failed)
			numbers := numbersIn(t, dir)
			assert.Contains(t, []int{1, 2}, numbers["table.json"], "%s", failed)
			assert.True(t, slices.Contains(slicesOf(numbers), 1), "%s: the old one is still there", failed)
		}
	}
}

func slicesOf(m map[string]int) (out []int) {
	for _, n := range m {
		out = append(out, n)
	}
	return out
}

func TestWhereNothingCanBeWrittenItIsSaidInOneLine(t *testing.T) {
	table := numbered(1)
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "dir.json"), 0o700))
	for path, want := range map[string]string{
		filepath.Join(dir, "missing", "table.json"): "no such file or directory",
		filepath.Join(dir, "dir.json"):              "expected a file",
		"/sys/kernel/table.json":                    "permission denied", // the system's own: not even root writes there
		"/dev/null":                                 "expected a file",
	} {
		err := calibration.SaveTable(path, &table)
		if errors.Is(err, syscall.EROFS) {
			continue // /sys of a container
		}
		require.ErrorContains(t, err, want, path)
		assert.Contains(t, err.Error(), path)
		assert.NotContains(t, err.Error(), "\n")
		assert.NotContains(t, err.Error(), ".tmp")
	}
	if os.Getuid() == 0 {
		return // root may write into every directory
	}
	path := filepath.Join(dir, "table.json")
	require.NoError(t, os.Chmod(dir, 0o500))
	defer func() { _ = os.Chmod(dir, 0o700) }()
	assert.ErrorIs(t, calibration.SaveTable(path, &table), os.ErrPermission)
}

// TestMain lets the test program be a process that saves until it is killed.
func TestMain(m *testing.M) {
	switch os.Getenv("SAVE_UNTIL") {
	case "":
		os.Exit(m.Run())
	case "step":
		saveAndDie()
	case "killed":
		saveForEver()
	}
}

// saveAndDie saves table 2 and kills itself before the step that it was told.
func saveAndDie() {
	at, _ := strconv.Atoi(os.Getenv("SAVE_STEP"))
	d := newStepDisk(document.OSDisk{}, os.Getenv("SAVE_LINKS") == "no", func(step int, _ string) error {
		if step == at {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			time.Sleep(time.Hour)
		}
		return nil
	})
	table := numbered(2)
	raw, err := calibration.MarshalTable(&table)
	if err == nil {
		_, err = document.SaveOn(d, time.Now, os.Getenv("SAVE_PATH"), raw)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// saveForEver saves tables 2, 3, 4 … over each other, and says when each is saved.
func saveForEver() {
	for n := 2; ; n++ {
		table := numbered(n)
		if err := calibration.SaveTable(os.Getenv("SAVE_PATH"), &table); err != nil {
			fmt.Println("error", err)
			return
		}
		fmt.Println(n)
	}
}

func helper(path string, env ...string) *exec.Cmd {
	c := exec.Command(os.Args[0])
	c.Env = append(append(os.Environ(), "SAVE_PATH="+path), env...)
	return c
}

func TestASaveThatIsKilledAtAnyStepLosesNothing(t *testing.T) {
	for _, links := range []string{"yes", "no"} {
		for _, before := range []bool{true, false} { // was there a file before?
			steps := 0
			for ; ; steps++ {
				dir := t.TempDir()
				path := filepath.Join(dir, "table.json")
				if before {
					require.NoError(t, os.WriteFile(path, fileOf(t, 1), 0o600))
				}
				err := helper(path, "SAVE_UNTIL=step", "SAVE_LINKS="+links, fmt.Sprintf("SAVE_STEP=%d", steps)).Run()
				numbers := numbersIn(t, dir)
				if before {
					assert.True(t, slices.Contains(slicesOf(numbers), 1), "step %d: the old table is there: %v", steps, numbers)
					assert.Contains(t, []int{1, 2}, numbers["table.json"], "step %d: the name has a whole table", steps)
				}
				if err == nil {
					assert.Equal(t, 2, numbers["table.json"])
					assert.Empty(t, temporaries(t, dir))
					break
				}
				// The next save works, and clears away what is left, once it is old.
				past := time.Now().Add(-time.Hour)
				for _, p := range temporaries(t, dir) {
					require.NoError(t, os.Chtimes(p, past, past))
				}
				table := numbered(3)
				require.NoError(t, calibration.SaveTable(path, &table))
				assert.Equal(t, 3, numbersIn(t, dir)["table.json"])
				assert.Empty(t, temporaries(t, dir), "step %d", steps)
			}
			assert.GreaterOrEqual(t, steps, 7, "it was killed at every step")
		}
	}
}

func TestASaveThatIsKilledAtAnyMomentLosesNothing(t *testing.T) {
	rounds := 200
	if testing.Short() {
		rounds = 15
	}
	rng := rand.New(rand.NewPCG(5, 6))
	within := 0
	for range rounds {
		dir := t.TempDir()
		path := filepath.Join(dir, "table.json")
		require.NoError(t, os.WriteFile(path, fileOf(t, 1), 0o600))
		c := helper(path, "SAVE_UNTIL=killed")
		out, err := c.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, c.Start())
		lines := bufio.NewScanner(out)
		require.True(t, lines.Scan(), "the first save is done") // then it is in the middle of one
		time.Sleep(time.Duration(rng.IntN(10000)) * time.Microsecond)
		require.NoError(t, c.Process.Kill())
		said := 2
		for ok := true; ok; ok = lines.Scan() {
			if n, err := strconv.Atoi(lines.Text()); err == nil {
				said = n
			} else {
				require.NotContains(t, lines.Text(), "error")
			}
		}
		_ = c.Wait()
		numbers := numbersIn(t, dir)
		got := slicesOf(numbers)
		slices.Sort(got)
		got = slices.Compact(got)
		for n := 1; n <= said; n++ {
			require.Contains(t, got, n, "what was saved is there")
		}
		assert.Contains(t, []int{said, said + 1}, numbers["table.json"])
		if len(temporaries(t, dir)) > 0 || numbers["table.json"] > said {
			within++
		}
	}
	t.Logf("%d of %d were killed within a save", within, rounds)
}

// A powerDisk is a model of a disk that forgets what was not forced to it: the
// content of a file that was not synced may be lost in part, and of the changes to a
// directory since its last sync any may be missing.
type powerDisk struct {
	content [][]byte // of each file that was ever made
	durable []bool   // its content is on the disk
	names   map[string]int
	onDisk  map[string]int // the names as of the last sync
	pending []func(map[string]int)
	at      time.Time
	check   func(*powerDisk) // after every step: now the power fails
}

type powerInfo struct{ at time.Time }

func (powerInfo) Name() string         { return "" }
func (powerInfo) Size() int64          { return 0 }
func (powerInfo) Mode() fs.FileMode    { return 0o644 }
func (i powerInfo) ModTime() time.Time { return i.at }
func (powerInfo) IsDir() bool          { return false }
func (powerInfo) Sys() any             { return nil }

func (d *powerDisk) Lock(string) (func(), error)  { return func() {}, nil }
func (d *powerDisk) List(string, string) []string { return nil }
func (d *powerDisk) Read(path string) ([]byte, fs.FileInfo, error) {
	i, ok := d.names[path]
	if !ok {
		return nil, nil, fs.ErrNotExist
	}
	return d.content[i], powerInfo{d.at}, nil
}

func (d *powerDisk) change(f func(map[string]int)) {
	f(d.names)
	d.pending = append(d.pending, f)
	d.check(d)
}

func (d *powerDisk) Create(dir, pattern string, _ fs.FileMode) (atomicfile.File, error) {
	i := len(d.content)
	d.content, d.durable = append(d.content, nil), append(d.durable, false)
	f := &powerFile{d, i, filepath.Join(dir, fmt.Sprint(pattern, i))}
	d.change(func(names map[string]int) { names[f.name] = i })
	return f, nil
}

func (d *powerDisk) Link(old, new string) error {
	i := d.names[old]
	d.change(func(names map[string]int) { names[new] = i })
	return nil
}

func (d *powerDisk) Rename(old, new string) error {
	i := d.names[old]
	d.change(func(names map[string]int) {
		delete(names, old)
		names[new] = i
	})
	return nil
}

func (d *powerDisk) Remove(path string) error {
	d.change(func(names map[string]int) { delete(names, path) })
	return nil
}

func (d *powerDisk) Mkdir(string, fs.FileMode) error { return nil }

func (d *powerDisk) SyncDir(string) error {
	for _, f := range d.pending {
		f(d.onDisk)
	}
	d.pending = nil
	d.check(d)
	return nil
}

type powerFile struct {
	d    *powerDisk
	i    int
	name string
}

func (f *powerFile) Name() string { return f.name }
func (f *powerFile) Close() error { return nil }
func (f *powerFile) Write(raw []byte) (int, error) {
	f.d.content[f.i], f.d.durable[f.i] = append(f.d.content[f.i], raw...), false
	f.d.check(f.d)
	return len(raw), nil
}
func (f *powerFile) Sync() error {
	f.d.durable[f.i] = true
	f.d.check(f.d)
	return nil
}

// afterCuts calls f with every state in which a power cut may leave the names.
func (d *powerDisk) afterCuts(f func(read func(path string) string)) {
	for subset := range 1 << len(d.pending) {
		names := map[string]int{}
		for k, v := range d.onDisk {
			names[k] = v
		}
		for k, change := range d.pending {
			if subset>>k&1 == 1 {
				change(names)
			}
		}
		for _, share := range []int{0, 1, 2} {
			f(func(path string) string {
				i, ok := names[path]
				switch {
				case !ok:
					return "nothing"
				case d.durable[i]:
					return string(d.content[i])
				}
				return string(d.content[i][:len(d.content[i])*share/2])
			})
		}
	}
}

func TestAPowerCutAtAnyStepLosesNothing(t *testing.T) {
	const path = "/cal/table.json"
	cuts := 0
	for _, noLinks := range []bool{false, true} {
		old, fresh := string(fileOf(t, 1)), string(fileOf(t, 2))
		d := &powerDisk{content: [][]byte{[]byte(old)}, durable: []bool{true}, at: time.Unix(1700000000, 0).UTC()}
		d.names, d.onDisk = map[string]int{path: 0}, map[string]int{path: 0}
		table, err := calibration.ParseTableFile([]byte(old))
		require.NoError(t, err)
		kept := "/cal/table." + d.at.Format("2006-01-02T15-04-05Z") + "." + table.Hash[:8] + ".json"
		d.check = func(d *powerDisk) {
			d.afterCuts(func(read func(string) string) {
				cuts++
				switch read(path) {
				case old:
				case fresh:
					assert.Equal(t, old, read(kept), "the new one is there, and the old one is kept")
				default:
					t.Errorf("after %d changes: %.20q is neither the old file nor the new one", len(d.pending), read(path))
				}
			})
		}
		var disk document.Disk = d
		if noLinks {
			disk = newStepDisk(d, true, func(int, string) error { return nil })
		}
		name, err := document.SaveOn(disk, time.Now, path, []byte(fresh))
		require.NoError(t, err)
		assert.Equal(t, kept, name)
		d.check = func(*powerDisk) {}
		d.afterCuts(func(read func(string) string) { assert.Equal(t, fresh, read(path), "once saved, it stays saved") })
	}
	assert.Greater(t, cuts, 50)
}
