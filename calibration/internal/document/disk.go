package document

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"sightline/calibration/atomicfile"
	"sightline/calibration/regular"
)

// Disk is what a save does to the file system, so that a test can stop it after any
// of its steps, or let any of them fail.
type Disk interface {
	atomicfile.Disk
	// Lock keeps other programs from saving into the directory meanwhile.
	Lock(dir string) (unlock func(), err error)
	// Read returns a regular file's content, the time of its last change and its mode.
	Read(path string) ([]byte, fs.FileInfo, error)
	// List lists the files of a directory whose names begin so.
	List(dir, prefix string) []string
}

// maxFile is far more than any lens or table file holds. Without a limit, a device
// or a wrong file would fill the memory.
const maxFile = 4 << 20

// Read reads a file with an error that does not say the path twice.
func Read(path string) ([]byte, error) {
	raw, err := regular.Read(path, maxFile)
	return raw, atomicfile.Cause(err)
}

// OSDisk is the real disk.
type OSDisk struct{ atomicfile.OS }

// Lock keeps other processes that lock a folder out of it until the function that it returns is called.
func (OSDisk) Lock(dir string) (func(), error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	// A file system that cannot lock is used without; the lock ends with the file.
	_ = syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
	return func() { _ = f.Close() }, nil
}

// Read returns a file's content and what the system says about it.
func (OSDisk) Read(path string) ([]byte, fs.FileInfo, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil, err
	}
	raw, err := regular.Read(path, maxFile)
	return raw, info, err
}

// List returns the names in a folder that begin with prefix; none where it cannot be read.
func (OSDisk) List(dir, prefix string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), prefix) {
			out = append(out, filepath.Join(dir, e.Name()))
		}
	}
	return out
}
