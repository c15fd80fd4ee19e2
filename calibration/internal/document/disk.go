package document

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"sightline/calibration/atomicfile"
	"sightline/calibration/regularfile"
)

// Disk is the file system steps of a save, so a test can stop after any of them or let it
// fail.
type Disk interface {
	atomicfile.Disk
	// Lock keeps other programs from saving into the directory.
	Lock(dir string) (unlock func(), err error)
	// Read returns a regular file's content and description.
	Read(path string) ([]byte, fs.FileInfo, error)
	// List lists the files of a directory whose names have a prefix.
	List(dir, prefix string) []string
}

// maxFile is far more than any lens or table file holds. Without a limit, a wrong file
// would fill the memory.
const maxFile = 4 << 20

// Read reads a file. Its error does not contain the path, which callers add.
func Read(path string) ([]byte, error) {
	raw, err := regularfile.Read(path, maxFile)
	return raw, atomicfile.Cause(err)
}

// OSDisk is the real disk.
type OSDisk struct{ atomicfile.OS }

// Lock locks a folder against other processes until the returned function is called.
func (OSDisk) Lock(dir string) (func(), error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	// A file system without locks is used without one; closing the file unlocks it.
	_ = syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
	return func() { _ = f.Close() }, nil
}

// Read returns a file's content and description.
func (OSDisk) Read(path string) ([]byte, fs.FileInfo, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil, err
	}
	raw, err := regularfile.Read(path, maxFile)
	return raw, info, err
}

// List returns the names in a folder with a prefix; none when it cannot be read.
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
