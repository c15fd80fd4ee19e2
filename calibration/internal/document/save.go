package document

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"sightline/calibration/atomicfile"
)

// A calibration file is never overwritten: the previous file is kept as a backup, named
// after its time and hash, before the new file takes the name.
//
// The order of the steps keeps the files complete when the power fails between any two
// of them: the new content is written to a temporary file and synced, the old file gets
// its second name, the directory is synced, and only then the new file is renamed to the
// old one's name, in one step.

// store saves files on a disk.
type store struct {
	disk Disk
	now  func() time.Time
}

// Save saves a file on the real disk, see store.save.
func Save(path string, raw []byte) (kept string, err error) {
	return SaveOn(OSDisk{}, time.Now, path, raw)
}

// SaveOn saves a file on any disk.
func SaveOn(d Disk, now func() time.Time, path string, raw []byte) (kept string, err error) {
	return store{d, now}.save(path, raw)
}

// staleAfter is the age at which a temporary file must be left over from an interrupted
// save: a save takes well under a second.
const staleAfter = 10 * time.Minute

// save writes raw to the file, and returns the name of the backup: "" when there was no
// file, or one with the same content. When it fails, the old file is unchanged and no
// temporary file is left. It removes those of an earlier interrupted save.
func (s store) save(path string, raw []byte) (kept string, err error) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // follow a link
	}
	dir := filepath.Dir(path)
	unlock, err := s.disk.Lock(dir)
	if err != nil {
		return "", atomicfile.Cause(err)
	}
	defer unlock()
	s.removeStale(path)
	old, info, err := s.disk.Read(path)
	mode := fs.FileMode(0o644)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return "", fmt.Errorf("the file that is there: %w", atomicfile.Cause(err))
	case bytes.Equal(old, raw):
		return "", atomicfile.Cause(s.disk.SyncDir(dir))
	default:
		mode = info.Mode().Perm()
	}
	fresh, err := atomicfile.Prepare(s.disk, path, raw, mode)
	if err != nil {
		return "", atomicfile.Cause(err)
	}
	if len(old) > 0 {
		if kept, err = s.backUp(path, old, info); err == nil {
			err = s.disk.SyncDir(dir)
		}
		if err != nil {
			fresh.Discard()
			return "", fmt.Errorf("keep the file that is there: %w", atomicfile.Cause(err))
		}
	}
	return kept, atomicfile.Cause(fresh.Commit())
}

// backUp gives the existing file a second name, made of its time and its hash.
func (s store) backUp(path string, old []byte, info fs.FileInfo) (string, error) {
	for n := 1; ; n++ {
		name := backupName(path, old, info.ModTime(), n)
		there, _, err := s.disk.Read(name)
		switch {
		case err == nil && bytes.Equal(there, old):
			return name, nil // kept by an interrupted save
		case err == nil && n < 100:
			continue // another file of the same second with the same hash
		case !errors.Is(err, fs.ErrNotExist):
			return "", fmt.Errorf("%s: %w", name, err)
		}
		if err := s.disk.Link(path, name); err == nil {
			return name, nil
		}
		// A file system without hard links (FAT, some networks) needs a copy.
		copied, err := atomicfile.Prepare(s.disk, path, old, info.Mode().Perm())
		if err != nil {
			return "", err
		}
		return name, copied.CommitAs(name)
	}
}

// backupName is the name of a file's backup: table.json becomes
// table.2026-11-21T10-15-00Z.1a2b3c4d.json, with the first eight digits of Hash.
func backupName(path string, raw []byte, at time.Time, n int) string {
	ext := filepath.Ext(path)
	count := ""
	if n > 1 {
		count = fmt.Sprintf("-%d", n)
	}
	return fmt.Sprintf("%s.%s.%s%s%s", strings.TrimSuffix(path, ext),
		at.UTC().Format("2006-01-02T15-04-05Z"), Hash(raw, IsYAML(path))[:8], count, ext)
}

// removeStale removes the temporary files of interrupted saves of this file.
func (s store) removeStale(path string) {
	for _, name := range s.disk.List(filepath.Dir(path), atomicfile.Temporary(path)) {
		if _, info, err := s.disk.Read(name); err == nil && s.now().Sub(info.ModTime()) > staleAfter {
			_ = s.disk.Remove(name)
		}
	}
}
