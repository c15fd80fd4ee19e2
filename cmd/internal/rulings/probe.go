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
			return nil
		case !errors.Is(err, fs.ErrNotExist) || path == filepath.Dir(path):
			return err
		}
		path = filepath.Dir(path)
	}
}
