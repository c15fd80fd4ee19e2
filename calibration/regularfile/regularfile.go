// Package regularfile opens regular files that users name, and refuses anything else:
// opening a named pipe blocks until a writer comes, and reading a device may never end. A
// pipe that the program was started with (/dev/stdin, or /dev/fd/63 of a shell's
// <(command)) already has its writer and is read like a file.
package regularfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
)

// ErrKind is in the errors about a path that exists and is not a regular file.
var ErrKind = errors.New("expected a file")

// Open opens a regular file, or a symbolic link to one, for reading. It never blocks. Its
// errors are of type *fs.PathError and say what the path is instead of a file.
func Open(path string) (*os.File, error) { return open(path, os.O_RDONLY, 0) }

// OpenOrCreate opens a regular file for reading and writing, and creates it if needed.
func OpenOrCreate(path string, mode fs.FileMode) (*os.File, error) {
	return open(path, os.O_RDWR|os.O_CREATE, mode)
}

// ErrLocked is in the error for a file that another program has locked.
var ErrLocked = errors.New("another program has locked it")

// Lock opens a file as OpenOrCreate does and locks it until it is closed or the program ends. It
// fails with ErrLocked, without waiting, when another program holds the lock. The holder may
// remove the file before closing it.
func Lock(path string, mode fs.FileMode) (*os.File, error) {
	for {
		f, err := OpenOrCreate(path, mode)
		if err != nil {
			return nil, err
		}
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
			f.Close()
			if errors.Is(err, syscall.EWOULDBLOCK) {
				err = ErrLocked
			}
			return nil, &fs.PathError{Op: "lock", Path: path, Err: err}
		}
		locked, err := f.Stat()
		if there, again := os.Stat(path); err == nil && again == nil && os.SameFile(locked, there) {
			return f, nil
		}
		f.Close() // it was removed between being opened and being locked
		if err != nil {
			return nil, err
		}
	}
}

// Read returns the content of a regular file of at most most bytes.
func Read(path string, most int64) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadAll(f, path, most)
}

// ReadAll reads all of r, which must hold at most most bytes. Errors name path.
func ReadAll(r io.Reader, path string, most int64) ([]byte, error) {
	content, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(content)) > most {
		err = &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("expected at most %s", size(most))}
	}
	return content, err
}

// size formats a limit.
func size(bytes int64) string {
	switch {
	case bytes >= 1<<20:
		return fmt.Sprintf("%d MB", bytes>>20)
	case bytes >= 1<<10:
		return fmt.Sprintf("%d kB", bytes>>10)
	}
	return fmt.Sprintf("%d bytes", bytes)
}

// WithoutPath removes the path from an error of package os, for messages that name the path already.
func WithoutPath(err error) error {
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// Check returns an error for a path that is not a regular file.
func Check(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	return check(path, info.Mode())
}

func check(path string, mode fs.FileMode) error {
	is := "something else"
	switch {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		is = "a directory"
	case mode&fs.ModeNamedPipe != 0 && inherited(path):
		return nil
	case mode&fs.ModeNamedPipe != 0:
		is = "a pipe"
	case mode&fs.ModeSocket != 0:
		is = "a socket"
	case mode&fs.ModeDevice != 0:
		is = "a device"
	}
	return &fs.PathError{Op: "open", Path: path, Err: fmt.Errorf("is %s, %w", is, ErrKind)}
}

// inherited reports whether a path names a file that the program was started with.
func inherited(path string) bool {
	return path == "/dev/stdin" || strings.HasPrefix(path, "/dev/fd/") || strings.HasPrefix(path, "/proc/self/fd/")
}

func open(path string, flag int, mode fs.FileMode) (*os.File, error) {
	// Checked before, since opening a device may have an effect, and again after opening,
	// since the path may have been replaced.
	if err := Check(path); err != nil && !(flag&os.O_CREATE != 0 && errors.Is(err, fs.ErrNotExist)) {
		return nil, err
	}
	f, err := os.OpenFile(path, flag|syscall.O_NONBLOCK, mode)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil {
		err = check(path, info.Mode())
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
