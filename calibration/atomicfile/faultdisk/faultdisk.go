// Package faultdisk provides a disk that fails, for tests.
package faultdisk

import (
	"io/fs"
	"os"
	"syscall"

	"sightline/calibration/atomicfile"
)

// Disk wraps another disk and calls a function before each step.
type Disk struct {
	atomicfile.Disk
	// Before is called before each step with its name: create, write (before any content is
	// written), write half (after half of it), sync, close, link, rename, mkdir or sync folder.
	// The step fails with its error. Removing never fails.
	Before func(step string) error
	// NoLinks makes it a file system without links, such as FAT.
	NoLinks bool
}

func (d *Disk) step(name string) error {
	if d.Before == nil {
		return nil
	}
	return d.Before(name)
}

// Create implements atomicfile.Disk.
func (d *Disk) Create(dir, pattern string, mode fs.FileMode) (atomicfile.File, error) {
	if err := d.step("create"); err != nil {
		return nil, err
	}
	f, err := d.Disk.Create(dir, pattern, mode)
	if err != nil {
		return nil, err
	}
	return &file{f, d}, nil
}

// Link implements atomicfile.Disk.
func (d *Disk) Link(from, to string) error {
	if d.NoLinks {
		return &os.LinkError{Op: "link", Old: from, New: to, Err: syscall.EPERM}
	}
	if err := d.step("link"); err != nil {
		return err
	}
	return d.Disk.Link(from, to)
}

// Rename implements atomicfile.Disk.
func (d *Disk) Rename(from, to string) error {
	if err := d.step("rename"); err != nil {
		return err
	}
	return d.Disk.Rename(from, to)
}

// Mkdir implements atomicfile.Disk.
func (d *Disk) Mkdir(path string, mode fs.FileMode) error {
	if err := d.step("mkdir"); err != nil {
		return err
	}
	return d.Disk.Mkdir(path, mode)
}

// SyncDir implements atomicfile.Disk.
func (d *Disk) SyncDir(path string) error {
	if err := d.step("sync folder"); err != nil {
		return err
	}
	return d.Disk.SyncDir(path)
}

// file is a file on a Disk.
type file struct {
	atomicfile.File
	d *Disk
}

func (f *file) Write(content []byte) (int, error) {
	if err := f.d.step("write"); err != nil {
		return 0, err
	}
	n, err := f.File.Write(content[:len(content)/2])
	if err != nil {
		return n, err
	}
	if err := f.d.step("write half"); err != nil {
		return n, err
	}
	m, err := f.File.Write(content[n:])
	return n + m, err
}

func (f *file) Sync() error {
	if err := f.d.step("sync"); err != nil {
		return err
	}
	return f.File.Sync()
}

func (f *file) Close() error {
	err := f.File.Close()
	if e := f.d.step("close"); e != nil {
		return e
	}
	return err
}
