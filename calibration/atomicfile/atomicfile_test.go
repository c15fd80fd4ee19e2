package atomicfile_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration/atomicfile"
	"sightline/calibration/atomicfile/faultdisk"
)

// writers are the ways to write a file.
var writers = map[string]func(d atomicfile.Disk, path string) error{
	"Commit": func(d atomicfile.Disk, path string) error {
		p, err := atomicfile.Prepare(d, path, []byte("new content"), 0o640)
		if err != nil {
			return err
		}
		return p.Commit()
	},
	"WriteNew": func(d atomicfile.Disk, path string) error {
		return atomicfile.WriteNewOn(d, path, []byte("new content"), 0o640)
	},
}

// names lists a folder.
func names(t *testing.T, dir string) (out []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func TestWhateverStepFailsTheOldOrTheNewFileIsThereWhole(t *testing.T) {
	for name, write := range writers {
		for _, noLinks := range []bool{false, true} {
			for at := 0; ; at++ {
				dir := t.TempDir()
				path := filepath.Join(dir, "table.json")
				if name == "Commit" {
					require.NoError(t, os.WriteFile(path, []byte("old"), 0o600))
				}
				steps, failed := 0, ""
				d := &faultdisk.Disk{Disk: atomicfile.OS{}, NoLinks: noLinks, Before: func(step string) error {
					if steps++; steps-1 != at {
						return nil
					}
					failed = step
					return &fs.PathError{Op: step, Path: "/somewhere/.x.tmp-1", Err: syscall.ENOSPC}
				}}
				err := write(d, path)
				content, _ := os.ReadFile(path)
				if failed == "" || failed == "link" { // a link that fails becomes a rename
					require.NoError(t, err)
					assert.Equal(t, "new content", string(content))
				} else {
					require.ErrorIs(t, err, syscall.ENOSPC, failed)
					assert.Equal(t, "write "+path+": no space left on device", err.Error())
				}
				switch {
				case failed == "sync folder":
					assert.Equal(t, "new content", string(content))
				case failed == "" || failed == "link":
				case name == "Commit":
					assert.Equal(t, "old", string(content), failed)
				default:
					assert.NoFileExists(t, path, failed)
				}
				for _, n := range names(t, dir) {
					assert.False(t, atomicfile.IsTemporary(n), "%s left %s", failed, n)
				}
				if failed == "" {
					assert.GreaterOrEqual(t, at, 7, "every step failed once")
					info, err := os.Stat(path)
					require.NoError(t, err)
					assert.EqualValues(t, 0o640, info.Mode().Perm())
					break
				}
			}
		}
	}
}

// memory is a disk that a power cut makes forget what was not synced.
type memory struct {
	content map[string]*struct {
		bytes  string
		synced bool
	}
	onDisk map[string]string // what a power cut leaves: content by path, "?" for what was not synced
}

func (m *memory) Create(dir, pattern string, _ fs.FileMode) (atomicfile.File, error) {
	name := filepath.Join(dir, strings.Replace(pattern, "*", "1", 1))
	m.content[name] = &struct {
		bytes  string
		synced bool
	}{}
	return &inMemory{m, name}, nil
}
func (m *memory) Link(from, to string) error {
	if m.content[to] != nil {
		return fs.ErrExist
	}
	m.content[to] = m.content[from]
	return nil
}
func (m *memory) Rename(from, to string) error {
	m.content[to] = m.content[from]
	return m.Remove(from)
}
func (m *memory) Remove(path string) error        { delete(m.content, path); return nil }
func (m *memory) Mkdir(string, fs.FileMode) error { return nil }
func (m *memory) SyncDir(dir string) error {
	m.onDisk = map[string]string{}
	for name, c := range m.content {
		if filepath.Dir(name) != dir {
			continue
		}
		m.onDisk[name] = "?"
		if c.synced {
			m.onDisk[name] = c.bytes
		}
	}
	return nil
}

type inMemory struct {
	m    *memory
	name string
}

func (f *inMemory) Name() string { return f.name }
func (f *inMemory) Write(b []byte) (int, error) {
	f.m.content[f.name].bytes += string(b)
	f.m.content[f.name].synced = false
	return len(b), nil
}
func (f *inMemory) Sync() error  { f.m.content[f.name].synced = true; return nil }
func (f *inMemory) Close() error { return nil }

// After a write the file and its name outlast a power cut, and no step brought a name to
// the disk whose content was not there.
func TestWhatWasWrittenOutlastsAPowerCut(t *testing.T) {
	for name, write := range writers {
		for _, noLinks := range []bool{false, true} {
			m := &memory{content: map[string]*struct {
				bytes  string
				synced bool
			}{}}
			d := &faultdisk.Disk{Disk: m, NoLinks: noLinks, Before: func(step string) error {
				if step == "rename" || step == "link" {
					for path, c := range m.content {
						assert.True(t, c.synced, "%s is not synced when it gets its name", path)
					}
				}
				return nil
			}}
			require.NoError(t, write(d, "/nowhere/file"))
			assert.Equal(t, map[string]string{"/nowhere/file": "new content"}, m.onDisk, name)
		}
	}
}

func TestANewFileIsWrittenOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "session.key")
	var all sync.WaitGroup
	var wrote atomic.Int32
	for i := range 20 {
		all.Go(func() {
			err := atomicfile.WriteNew(path, []byte(fmt.Sprint(i)), 0o600)
			if err == nil {
				wrote.Add(1)
			} else {
				assert.ErrorIs(t, err, fs.ErrExist)
			}
		})
	}
	all.Wait()
	assert.EqualValues(t, 1, wrote.Load())
	assert.Equal(t, []string{"session.key"}, names(t, filepath.Dir(path)))
}

func TestALinkStaysALink(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "real"), 0o700))
	real, link := filepath.Join(dir, "real", "file"), filepath.Join(dir, "link")
	require.NoError(t, os.WriteFile(real, []byte("old"), 0o600))
	require.NoError(t, os.Symlink("real/file", link))
	require.NoError(t, atomicfile.Write(link, []byte("new"), 0o600))
	content, err := os.ReadFile(real)
	require.NoError(t, err)
	assert.Equal(t, "new", string(content))
	to, err := os.Readlink(link)
	require.NoError(t, err)
	assert.Equal(t, "real/file", to)
}

func TestFoldersAreMadeAndTheirNamesSynced(t *testing.T) {
	root := t.TempDir()
	var steps []string
	d := &faultdisk.Disk{Disk: atomicfile.OS{}, Before: func(step string) error { steps = append(steps, step); return nil }}
	path := filepath.Join(root, "a", "b")
	require.NoError(t, atomicfile.MkdirAll(d, path, 0o700))
	assert.DirExists(t, path)
	assert.Equal(t, []string{"mkdir", "sync folder", "mkdir", "sync folder"}, steps)
	require.NoError(t, atomicfile.MkdirAll(d, path, 0o700), "who made it before may not have come so far")
	assert.Equal(t, "sync folder", steps[len(steps)-1])

	file := filepath.Join(root, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	for _, under := range []string{file, filepath.Join(file, "x")} {
		err := atomicfile.MkdirAll(d, under, 0o700)
		require.ErrorIs(t, err, syscall.ENOTDIR)
		assert.ErrorContains(t, err, "mkdir "+under)
	}
	require.NoError(t, atomicfile.MkdirAll(d, "/", 0o700))
}

// A write that is killed leaves its temporary file. The first write of another program removes it, and nothing else.
func TestAFirstWriteRemovesWhatAKilledOneLeft(t *testing.T) {
	dir := t.TempDir()
	path, now := filepath.Join(dir, "names.json"), time.Now()
	for name, age := range map[string]time.Duration{
		".names.json.tmp-1": 2 * time.Hour, ".names.json.tmp-2": -2 * time.Hour, ".names.json.tmp-3": time.Minute,
		".names.jsonx.tmp-4": 2 * time.Hour, "names.json.tmp-5": 2 * time.Hour, ".other.json.tmp-6": 2 * time.Hour,
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
		require.NoError(t, os.Chtimes(filepath.Join(dir, name), now, now.Add(-age)))
	}
	require.NoError(t, os.Mkdir(filepath.Join(dir, ".names.json.tmp-7"), 0o700))
	require.NoError(t, os.Chtimes(filepath.Join(dir, ".names.json.tmp-7"), now, now.Add(-2*time.Hour)))
	require.NoError(t, atomicfile.Write(path, []byte("{}"), 0o600))
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	assert.ElementsMatch(t, []string{"names.json", ".names.json.tmp-3", ".names.jsonx.tmp-4", "names.json.tmp-5", ".other.json.tmp-6",
		".names.json.tmp-7"}, names)

	left := filepath.Join(dir, ".names.json.tmp-8")
	require.NoError(t, os.WriteFile(left, nil, 0o600))
	require.NoError(t, os.Chtimes(left, now, now.Add(-2*time.Hour)))
	require.NoError(t, atomicfile.Write(path, []byte("{}"), 0o600))
	assert.FileExists(t, left, "a later write lists no folder")
}
