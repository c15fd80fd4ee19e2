package pipeline

import (
	"path/filepath"
	"sync/atomic"

	"sightline/calibration"
)

// Adopted is what the guided calibration has saved since the program began. Its methods
// are safe for concurrent use.
type Adopted struct {
	lens  atomic.Pointer[calibration.Intrinsics]
	fresh atomic.Pointer[adoption]
}

// adoption is a calibration that a pipeline has not taken yet.
type adoption struct {
	file     CalibrationFile // without a table: only the lens is new
	lensName string          // "": the lens is as before
}

// SetTable makes the pipeline begin again with a table that was just made or verified, and
// the file that it was read from.
func (a *Adopted) SetTable(t *calibration.Table, path string) {
	a.add(func(next *adoption) { next.file = CalibrationFile{Table: t, Name: filepath.Base(path), Path: path} })
}

// SetLens makes the pipeline begin again with a lens that was saved in a file.
func (a *Adopted) SetLens(lens calibration.Intrinsics, path string) {
	a.lens.Store(&lens)
	a.add(func(next *adoption) { next.lensName = filepath.Base(path) })
}

// add adds to what the pipeline has not taken yet: it takes nothing during a guided
// calibration, which may save both a lens and a table.
func (a *Adopted) add(change func(*adoption)) {
	for {
		before, next := a.fresh.Load(), adoption{}
		if before != nil {
			next = *before
		}
		change(&next)
		if a.fresh.CompareAndSwap(before, &next) {
			return
		}
	}
}

// Lens returns the lens that was saved, or else the one that known returns.
func (a *Adopted) Lens(known func() (calibration.Intrinsics, bool)) func() (calibration.Intrinsics, bool) {
	return func() (calibration.Intrinsics, bool) {
		if l := a.lens.Load(); l != nil {
			return *l, true
		}
		return known()
	}
}

// take returns what came since it was taken last.
func (a *Adopted) take() (file CalibrationFile, lensName string, ok bool) {
	f := a.fresh.Swap(nil)
	if f == nil {
		return CalibrationFile{}, "", false
	}
	return f.file, f.lensName, true
}
