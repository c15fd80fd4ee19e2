// Package atomicfile writes files so that after a failure, a kill or a power cut either
// the old content or the new one is there, complete. It writes a temporary file in the same
// folder, syncs and renames it, and syncs the folder.
//
// Errors are of type *fs.PathError, name the target file, never the temporary one, and
// wrap the system's error.
package atomicfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Disk is the steps of writing a file.
type Disk interface {
	// Create creates a new file in a folder, with a name as os.CreateTemp makes it.
	Create(dir, pattern string, mode fs.FileMode) (File, error)
	Link(from, to string) error
	Rename(from, to string) error
	Remove(path string) error
	Mkdir(path string, mode fs.FileMode) error
	// SyncDir makes the names in a folder durable.
	SyncDir(path string) error
}

// File is a file being written.
type File interface {
	io.Writer
	Name() string
	Sync() error
	Close() error
}

// Write replaces the content of a file, or creates it. It follows a symbolic link. The program's first write of a file removes what
// killed writes of it left behind an hour ago or longer.
func Write(path string, content []byte, mode fs.FileMode) error {
	p, err := Prepare(OS{}, path, content, mode)
	if err != nil {
		return err
	}
	if _, done := swept.LoadOrStore(p.path, true); !done {
		removeLeft(p.path)
	}
	return p.Commit()
}

// swept holds the paths of files whose temporary files this program has looked for: that lists the whole folder.
var swept sync.Map

const leftFor = time.Hour // much longer than another program takes to write the same file

// removeLeft removes a file's temporary files from killed writes.
func removeLeft(path string) {
	entries, _ := os.ReadDir(filepath.Dir(path)) // what cannot be listed stays
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), Temporary(path)) {
			continue
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && time.Since(info.ModTime()).Abs() >= leftFor {
			_ = os.Remove(filepath.Join(filepath.Dir(path), e.Name()))
		}
	}
}

// WriteNew creates a file, and fails with fs.ErrExist if it exists. If several programs create it
// at once, one succeeds: on a file system without links, the last one.
func WriteNew(path string, content []byte, mode fs.FileMode) error {
	return WriteNewOn(OS{}, path, content, mode)
}

// WriteNewOn is WriteNew on any disk.
func WriteNewOn(d Disk, path string, content []byte, mode fs.FileMode) error {
	p, err := Prepare(d, path, content, mode)
	if err != nil {
		return err
	}
	err = NameNew(d, p.temporary, path)
	if err == nil {
		err = d.SyncDir(filepath.Dir(path))
	} else {
		_ = d.Remove(p.temporary)
	}
	return failed(path, err)
}

// NameNew renames a file to a new path, and fails with fs.ErrExist if that exists.
func NameNew(d Disk, from, to string) error {
	switch err := d.Link(from, to); {
	case err == nil:
		return d.Remove(from)
	case errors.Is(err, fs.ErrExist):
		return err
	default: // not every file system has links
		return d.Rename(from, to)
	}
}

// Pending is a file whose new content is on the disk under a temporary name.
type Pending struct {
	disk            Disk
	path, temporary string
}

// Prepare writes the new content of a file under a temporary name; Commit renames it. The caller
// must call Commit or Discard. A failed Prepare leaves nothing behind.
func Prepare(d Disk, path string, content []byte, mode fs.FileMode) (*Pending, error) {
	at := path
	if real, err := filepath.EvalSymlinks(path); err == nil {
		at = real
	}
	f, err := d.Create(filepath.Dir(at), Temporary(at)+"*", mode)
	if err != nil {
		return nil, failed(path, err)
	}
	if _, err = f.Write(content); err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		_ = d.Remove(f.Name())
		return nil, failed(path, err)
	}
	return &Pending{d, at, f.Name()}, nil
}

// Commit gives the file its name. When only making the name durable fails, the new content
// is in place, and a power cut may bring the old one back.
func (p *Pending) Commit() error { return p.CommitAs(p.path) }

// CommitAs gives the file another name in the same folder.
func (p *Pending) CommitAs(path string) error {
	if err := p.disk.Rename(p.temporary, path); err != nil {
		p.Discard()
		return failed(path, err)
	}
	return failed(path, p.disk.SyncDir(filepath.Dir(path)))
}

// Discard removes the temporary file.
func (p *Pending) Discard() { _ = p.disk.Remove(p.temporary) }

// MkdirAll creates a folder and its parents, as os.MkdirAll does, and makes their names
// durable.
func MkdirAll(d Disk, path string, mode fs.FileMode) error {
	path = filepath.Clean(path)
	above := filepath.Dir(path)
	if _, err := os.Stat(above); errors.Is(err, fs.ErrNotExist) && above != path {
		if err := MkdirAll(d, above, mode); err != nil {
			return err
		}
	}
	made := d.Mkdir(path, mode)
	if made != nil {
		info, err := os.Stat(path)
		if err != nil || !info.IsDir() {
			if err == nil {
				made = syscall.ENOTDIR
			}
			return &fs.PathError{Op: "mkdir", Path: path, Err: Cause(made)}
		}
	}
	err := d.SyncDir(above)
	if err != nil && (made == nil || !errors.Is(err, fs.ErrPermission)) { // an existing folder may lie in one that is not readable
		return &fs.PathError{Op: "mkdir", Path: path, Err: Cause(err)}
	}
	return nil
}

// Temporary returns the prefix of the names of a file's temporary files.
func Temporary(path string) string { return "." + filepath.Base(path) + ".tmp-" }

// IsTemporary reports whether a name is that of a temporary file.
func IsTemporary(name string) bool {
	return strings.HasPrefix(name, ".") && strings.Contains(name, ".tmp-")
}

// failed returns an error that names the file.
func failed(path string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: "write", Path: path, Err: Cause(err)}
}

// Cause returns an error of package os without its path, for callers that name the file
// themselves.
func Cause(err error) error {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		return path.Err
	case errors.As(err, &link):
		return link.Err
	}
	return err
}

// OS is the disk of the operating system.
type OS struct{}

// Create implements Disk.
func (OS) Create(dir, pattern string, mode fs.FileMode) (File, error) {
	f, err := os.CreateTemp(dir, pattern)
	if err != nil {
		return nil, err
	}
	if err := f.Chmod(mode); err != nil {
		_ = f.Close()
		_ = os.Remove(f.Name())
		return nil, err
	}
	return f, nil
}

// Link implements Disk.
func (OS) Link(from, to string) error { return os.Link(from, to) }

// Rename implements Disk.
func (OS) Rename(from, to string) error { return os.Rename(from, to) }

// Remove implements Disk.
func (OS) Remove(path string) error { return os.Remove(path) }

// Mkdir implements Disk.
func (OS) Mkdir(path string, mode fs.FileMode) error { return os.Mkdir(path, mode) }

// SyncDir implements Disk.
func (OS) SyncDir(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) { // EINVAL: the file system cannot sync folders
		return err
	}
	return nil
}
