package rulings

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Probe reports whether a ruling could be recorded in a folder, as far as possible without
// writing: nil when the log's header, schema and last entry are sound, or when there is no log
// and the folder could be created. It creates nothing, takes no lock, and may be called while
// another program writes. Its errors are those of Open, and fs.ErrPermission for a folder that
// this user may not write.
func Probe(ctx context.Context, dir string) error {
	if err := mayWrite(dir); err != nil {
		return fmt.Errorf("rulings: %s: %w", dir, err)
	}
	return probe(ctx, dir)
}

// probe checks an existing log. Its errors name the log and the folder.
func probe(ctx context.Context, dir string) error {
	l, err := Open(dir, Options{ReadOnly: true})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer l.Close()
	if err := l.Newer(); err != nil {
		return fmt.Errorf("rulings: open %s: %w", dir, err)
	}
	last, err := l.Last(ctx, 1)
	if err != nil {
		return err
	}
	if len(last) > 0 && last[0].Damage != "" {
		return fmt.Errorf("%w: entry %d: %s", ErrCorrupt, last[0].Number, last[0].Damage)
	}
	return nil
}

// mayWrite checks the permissions of the folder or its nearest existing parent.
func mayWrite(dir string) error {
	path, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	for {
		info, err := os.Stat(path)
		switch {
		case err == nil && !info.IsDir():
			return fmt.Errorf("%s: expected a folder: %w", path, syscall.ENOTDIR)
		case err == nil:
			const write, search = 2, 1
			if err := syscall.Access(path, write|search); err != nil {
				return &fs.PathError{Op: "write", Path: path, Err: err}
			}
			return keepsFiles(path)
		case !errors.Is(err, fs.ErrNotExist) || path == filepath.Dir(path):
			return err
		}
		path = filepath.Dir(path)
	}
}

// kernelFiles are file systems of the kernel's, where root may write and nothing can be made: statfs(2)'s f_type.
var kernelFiles = map[int64]string{0x9fa0: "proc", 0x62656572: "sysfs", 0x63677270: "cgroup2", 0x64626720: "debugfs", 0x1cd1: "devpts"}

// keepsFiles reports that a folder is in such a file system.
func keepsFiles(path string) error {
	var s syscall.Statfs_t
	if err := syscall.Statfs(path, &s); err != nil {
		return &fs.PathError{Op: "statfs", Path: path, Err: err}
	}
	if name, ok := kernelFiles[int64(s.Type)]; ok {
		return fmt.Errorf("%s: a file system of kind %s keeps no files: %w", path, name, syscall.EINVAL)
	}
	return nil
}
