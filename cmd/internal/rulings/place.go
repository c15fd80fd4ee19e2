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

	"sightline/calibration/regular"
)

// ErrMoved is in the error for a ruling that could not be kept because the log's folder
// or a file of it was moved, removed or replaced while the ruling was written.
var ErrMoved = errors.New("the log was moved or removed meanwhile")

// placed are the files that must stay where they are while a log is written: SQLite
// holds them open, and what it writes goes to them wherever they are.
var placed = [...]string{dbName, dbName + "-wal", dbName + "-shm", lockName}

// held remembers the files that are open, by device and inode.
type held [len(placed)]fs.FileInfo

// holding looks at the files that lie in a folder.
func holding(dir string) (h held, err error) {
	for i, name := range placed {
		if h[i], err = os.Stat(filepath.Join(dir, name)); err != nil {
			return h, err
		}
	}
	return h, nil
}

// moved returns nil while the folder's names lead to the files that are open, or an
// ErrMoved that says which one does not.
func (l *Log) moved() error {
	for i, name := range placed {
		now, err := os.Stat(filepath.Join(l.dir, name))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("%w: %s is no longer in %s", ErrMoved, name, l.dir)
		case err != nil:
			return fmt.Errorf("%w: %w", ErrMoved, err)
		case !os.SameFile(now, l.held[i]):
			return fmt.Errorf("%w: %s is another file than the one that was opened", ErrMoved, name)
		case name == dbName && (now.Size() != l.held[i].Size() || !now.ModTime().Equal(l.held[i].ModTime())):
			return errChanged
		}
	}
	return nil
}

// whyMoved returns why an error came of the files' being moved, removed or overwritten; nil
// when it did not.
func (l *Log) whyMoved(err error) error {
	if errors.Is(err, ErrMoved) || errors.Is(err, errChanged) {
		return err
	}
	if l.held[0] != nil && l.write != nil {
		if why := l.moved(); why != nil {
			return fmt.Errorf("%w: %w", why, err)
		}
	}
	if errors.Is(err, fs.ErrNotExist) || l.lock != nil && l.lockMoved() {
		return fmt.Errorf("%w: %w", ErrMoved, err)
	}
	return nil
}

// lockMoved reports whether the lock's name no longer leads to the lock that is held.
func (l *Log) lockMoved() bool {
	mine, err := l.lock.Stat()
	now, err2 := os.Stat(filepath.Join(l.dir, lockName))
	return err != nil || err2 != nil || !os.SameFile(mine, now)
}

// hasFiles returns an ErrMoved when a file of an entry is not where it was put.
func (l *Log) hasFiles(files []content) error {
	s := store{l.dir, l.disk}
	for _, c := range files {
		if info, err := os.Stat(s.path(c.ref)); err != nil || info.Size() != c.ref.Bytes {
			return fmt.Errorf("%w: %s is not where it was put", ErrMoved, c.ref.Path())
		}
	}
	return nil
}

// leave lets go of a log that was moved or overwritten, and of its lock. Closing its
// database must remove no WAL: the one of that name may be another log's.
func (l *Log) leave(why error) {
	if l.left == nil {
		l.left = why
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
		l.leaveOverwritten()
	}
	l.shut()
}

// arrived tells that a log was left, once the next ruling is recorded.
func (l *Log) arrived(e *Entry) {
	left := l.left
	l.left = nil
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

// setAside renames what a database that is gone left of itself: SQLite would take an old
// WAL for the new database's.
func setAside(dir string) error {
	for _, end := range []string{"-wal", "-journal"} {
		path := filepath.Join(dir, dbName+end)
		raw, err := regular.Read(path, math.MaxInt64-1)
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
