package pipeline

import (
	"path/filepath"
	"sync/atomic"

	"sightline/calibration"
)

// Adopted passes what the guided calibration saves to the running pipelines. Its methods are
// safe for concurrent use.
type Adopted struct {
	lens  atomic.Pointer[calibration.Intrinsics]
	fresh atomic.Pointer[adoption]
}

// adoption is a saved calibration that the pipeline has not picked up yet.
type adoption struct {
	file     CalibrationFile // without a table: only the lens is new
	lensName string          // "": the lens is unchanged
}

// SetTable makes the pipeline restart with a table that was just made or verified, read from
// path.
func (a *Adopted) SetTable(t *calibration.Table, path string) {
	a.add(func(next *adoption) { next.file = CalibrationFile{Table: t, Name: filepath.Base(path), Path: path} })
}

// SetLens makes the pipeline restart with a lens that was saved to path.
func (a *Adopted) SetLens(lens calibration.Intrinsics, path string) {
	a.lens.Store(&lens)
	a.add(func(next *adoption) { next.lensName = filepath.Base(path) })
}

// add changes the pending adoption. The pipeline picks up nothing during a guided calibration,
// which may save both a lens and a table.
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

// Lens returns a function that returns the saved lens or, before there is one, that of known.
func (a *Adopted) Lens(known func() (calibration.Intrinsics, bool)) func() (calibration.Intrinsics, bool) {
	return func() (calibration.Intrinsics, bool) {
		if l := a.lens.Load(); l != nil {
			return *l, true
		}
		return known()
	}
}

// take returns and clears the pending adoption.
func (a *Adopted) take() (file CalibrationFile, lensName string, ok bool) {
	f := a.fresh.Swap(nil)
	if f == nil {
		return CalibrationFile{}, "", false
	}
	return f.file, f.lensName, true
}
