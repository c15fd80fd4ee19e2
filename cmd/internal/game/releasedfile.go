package game

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"sightline/calibration/atomicfile"
	"sightline/calibration/regularfile"
	"sightline/cmd/internal/live"
)

// What players released although a judge was to see it is kept in two files of the data directory each, so that a crash does not lose it
// within the time in which a judge can hold it again. * is its number. The description, as of what is held, makes it count: it is written
// last and removed first.
const (
	releasedFile   = "released-*.gob"
	releasedPixels = "released-*.pixels"
)

// keptReleased is what the files have of released pictures; mu guards the fields, as it does the game's.
type keptReleased struct {
	numbers map[uint64]bool
	told    bool      // that it failed
	again   time.Time // nothing is tried before: it failed
}

func releasedName(pattern string, number uint64) string {
	return strings.Replace(pattern, "*", strconv.FormatUint(number, 10), 1)
}

// storeReleased brings the files of released pictures up to date.
func (g *Game) storeReleased() {
	missing, gone := g.unstoredReleased()
	var failed error
	for i := range missing {
		err := g.writeReleased(&missing[i])
		g.mu.Lock()
		if failed = cmp.Or(failed, err); err == nil {
			g.keptReleased.numbers[missing[i].view.Number] = true
		}
		g.mu.Unlock()
	}
	for _, number := range gone {
		err := g.removeReleased(number)
		g.mu.Lock()
		if failed = cmp.Or(failed, err); err == nil {
			delete(g.keptReleased.numbers, number)
		}
		g.mu.Unlock()
	}
	if len(missing)+len(gone) == 0 {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if failed != nil {
		if !g.keptReleased.told {
			g.o.Log.Warn("what was released before a judge saw it is not kept for a restart", "err", failed)
		}
		g.keptReleased.again = g.o.Now().Add(heldAgain)
	}
	g.keptReleased.told = failed != nil
}

// unstoredReleased returns the released pictures that have no files, and the numbers of those whose files are to be removed.
func (g *Game) unstoredReleased() (missing []released, gone []uint64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.o.Now().Before(g.keptReleased.again) {
		return nil, nil
	}
	for _, r := range g.released {
		if r.awaited && !g.keptReleased.numbers[r.view.Number] {
			missing = append(missing, r)
		}
	}
	for number := range g.keptReleased.numbers {
		still := slices.ContainsFunc(g.released, func(r released) bool { return r.awaited && r.view.Number == number })
		// One that is held again keeps them until it is described as that.
		h := g.holding()
		if !still && (h == nil || h.Number != number || g.kept.shown == g.held) {
			gone = append(gone, number)
		}
	}
	return missing, gone
}

// writeReleased writes the files of a released picture.
func (g *Game) writeReleased(r *released) error {
	h := r.shown.hold
	raw := pixelsOf(h.Frame)
	if err := atomicfile.Write(g.file(releasedName(releasedPixels, h.Number)), raw, 0o600); err != nil {
		return err
	}
	now := g.o.Now()
	d := describedHeld(h, hashOf(raw), g.o.Clock.Stamp(now))
	d.Choice = live.Choice{From: r.view.From, To: r.view.To}
	d.ReleasedAt, d.ReleasedFor, d.ReleasedBy = r.view.ReleasedAt.Round(0), now.Sub(r.view.ReleasedAt), r.view.By
	doc, err := encodeHeld(d, g.o.Version)
	if err != nil {
		return err
	}
	return atomicfile.Write(g.file(releasedName(releasedFile, h.Number)), doc, 0o600)
}

// removeReleased removes the files of a released picture.
func (g *Game) removeReleased(number uint64) error {
	err := os.Remove(g.file(releasedName(releasedFile, number)))
	if err == nil {
		err = atomicfile.OS{}.SyncDir(g.o.Dir)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	_ = os.Remove(g.file(releasedName(releasedPixels, number))) // without a description it counts for nothing
	return nil
}

// resumeReleased offers again what had been released when the program ended, except what is held again, and what was released too long
// ago. If the machine's clock does not tell, it was released when it was written.
func (g *Game) resumeReleased() {
	now := g.o.Now()
	paths, _ := filepath.Glob(g.file(releasedFile))
	for _, path := range paths {
		d, err := g.readReleased(path)
		age := d.ReleasedFor
		if since, known := g.o.Clock.Since(d.Written, now); known {
			age += max(0, since)
		}
		if err == nil && age >= releasedFor {
			err = fmt.Errorf("it was released on %s", d.ReleasedAt.Local().Format("2006-01-02 at 15:04"))
		}
		if err != nil {
			g.o.Log.Warn("what was released before the restart cannot be held again", "file", filepath.Base(path), "err", err)
			continue
		}
		h := &d.Held
		if held := g.holding(); held != nil && held.Number == h.Number {
			continue
		}
		g.holds = max(g.holds, h.Number)
		g.keptReleased.numbers[h.Number] = true
		g.released = append(g.released, released{heldAsShown(h), live.Released{Number: h.Number, At: h.At, AskedBy: h.AskedBy,
			From: d.Choice.From, To: d.Choice.To, ReleasedAt: now.Add(-age), By: d.ReleasedBy}, true})
	}
	slices.SortFunc(g.released, func(a, b released) int { return b.view.ReleasedAt.Compare(a.view.ReleasedAt) })
	g.released = g.released[:min(len(g.released), awaitedMost)]
	g.tidyReleased()
}

// readReleased reads the files of a released picture.
func (g *Game) readReleased(path string) (d heldDocument, err error) {
	raw, err := regularfile.Read(path, heldMost)
	if err == nil {
		d, err = decodeHeld(raw, g.o.Version)
	}
	if err != nil {
		return d, err
	}
	if want := releasedName(releasedFile, d.Held.Number); filepath.Base(path) != want {
		return d, fmt.Errorf("it is the description of %s", want)
	}
	return d, d.readPixels(g.file(releasedName(releasedPixels, d.Held.Number)))
}

// tidyReleased removes the files that are of no released picture, and what killed writes left of them: no other program writes these.
func (g *Game) tidyReleased() {
	keep := map[string]bool{}
	for _, r := range g.released {
		keep[releasedName(releasedFile, r.view.Number)], keep[releasedName(releasedPixels, r.view.Number)] = true, true
	}
	for _, pattern := range []string{releasedFile, releasedPixels} {
		g.removeFiles(pattern, func(name string) bool { return keep[name] })
	}
}
