package rulings

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"

	"modernc.org/sqlite"

	"sightline/calibration/regularfile"
)

// ErrMoved is in the error for a ruling that was not recorded because the log's folder or a file in
// it was moved, removed or replaced while it was written.
var ErrMoved = errors.New("the log was moved or removed meanwhile")

// openNames are the files that must stay in place while a log is written: SQLite keeps them open
// and writes to them even if they are moved.
var openNames = [...]string{dbName, dbName + "-wal", dbName + "-shm", lockName}

// openFiles identify the open files by device and inode.
type openFiles [len(openNames)]fs.FileInfo

// statOpenFiles stats the files of these names in a folder.
func statOpenFiles(dir string) (h openFiles, err error) {
	for i, name := range openNames {
		if h[i], err = os.Stat(filepath.Join(dir, name)); err != nil {
			return h, err
		}
	}
	return h, nil
}

// moved returns nil while the names in the folder are those of the open files, else an ErrMoved that
// says which is not.
func (l *Log) moved() error {
	for i, name := range openNames {
		now, err := os.Stat(filepath.Join(l.dir, name))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("%w: %s is no longer in %s", ErrMoved, name, l.dir)
		case err != nil:
			return fmt.Errorf("%w: %w", ErrMoved, err)
		case !os.SameFile(now, l.files[i]):
			return fmt.Errorf("%w: %s is another file than the one that was opened", ErrMoved, name)
		case name == dbName && (now.Size() != l.files[i].Size() || !now.ModTime().Equal(l.files[i].ModTime())):
			return errChanged
		}
	}
	return nil
}

// whyMoved wraps an error caused by moving, removing or overwriting the files. It returns nil for any
// other error.
func (l *Log) whyMoved(err error) error {
	if errors.Is(err, ErrMoved) || errors.Is(err, errChanged) {
		return err
	}
	if l.files[0] != nil && l.write != nil {
		if why := l.moved(); why != nil {
			return fmt.Errorf("%w: %w", why, err)
		}
	}
	if errors.Is(err, fs.ErrNotExist) || l.lock != nil && l.lockMoved() {
		return fmt.Errorf("%w: %w", ErrMoved, err)
	}
	return nil
}

// lockMoved reports whether the lock's name is no longer that of the held lock.
func (l *Log) lockMoved() bool {
	mine, err := l.lock.Stat()
	now, err2 := os.Stat(filepath.Join(l.dir, lockName))
	return err != nil || err2 != nil || !os.SameFile(mine, now)
}

// hasFiles returns an ErrMoved when a file of an entry is missing.
func (l *Log) hasFiles(files []content) error {
	s := store{l.dir, l.disk}
	for _, c := range files {
		if info, err := os.Stat(s.path(c.ref)); err != nil || info.Size() != c.ref.Bytes {
			return fmt.Errorf("%w: %s is not where it was put", ErrMoved, c.ref.Path())
		}
	}
	return nil
}

// abandon closes and unlocks a log that was moved or overwritten. Closing the database must not
// remove the WAL: the one of that name may be another log's.
func (l *Log) abandon(why error) {
	if l.abandoned == nil {
		l.abandoned = why
	}
	if l.write != nil {
		if conn, err := l.write.Conn(context.Background()); err == nil {
			_ = conn.Raw(func(driver any) error {
				_, err := driver.(sqlite.FileControl).FileControlPersistWAL("main", 1)
				return err
			})
			_ = conn.Close()
		}
	}
	if l.write != nil && errors.Is(why, errChanged) {
		l.closeOverwritten()
	}
	l.closeAll()
}

// announceMoved gives notice of an abandoned log, after the next ruling.
func (l *Log) announceMoved(e *Entry) {
	left := l.abandoned
	l.abandoned = nil
	if !errors.Is(left, ErrMoved) {
		return
	}
	text := fmt.Sprintf("The rulings in %s were moved, removed or replaced while the program ran (%v). ", l.dir, left)
	if e.Number == 1 {
		text += "A new record begins there with ruling 1."
	} else {
		text += fmt.Sprintf("The record that is there now continues with ruling %d.", e.Number)
	}
	if l.o.Notice != nil {
		l.o.Notice(text)
	}
}

// setAside renames the remains of a removed database: SQLite would take its WAL for the new
// database's.
func setAside(dir string) error {
	for _, end := range []string{"-wal", "-journal"} {
		path := filepath.Join(dir, dbName+end)
		raw, err := regularfile.Read(path, math.MaxInt64-1)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return err
		case len(raw) == 0:
			err = os.Remove(path)
		default: // evidence: a database that was moved without it can be completed by hand
			err = os.Rename(path, fmt.Sprintf("%s.left-%.8s", path, hashOf(raw)))
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := os.Remove(filepath.Join(dir, dbName+"-shm")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
