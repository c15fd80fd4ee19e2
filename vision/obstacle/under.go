package obstacle

import (
	"slices"

	"sightline/calibration"
	"sightline/vision"
	"sightline/vision/token"
)

// A miniature hides the rim of its base where it passes over it. What adjoins a rim that is seen does not come from over the
// base: it lies on the mat, and may go on under the base.

// rim is that of a ship whose code was read, its cells where they hide the mat.
type rim []vision.RimCell

// rimsOf returns the rims of the ships that were read in a picture.
func rimsOf(l *vision.Located, eye calibration.Vec3) (rims []rim) {
	for i := range l.Ships {
		r := slices.Clone(l.Ships[i].Rim)
		for k := range r {
			r[k].At = onMat(r[k].At, eye, float64(token.BaseTop))
		}
		rims = append(rims, r)
	}
	return rims
}

const (
	// underLeast is how much of a rim, in mm, must be seen where something adjoins it, with gaps of underGap cells; one cell of
	// it must be dark, for a light miniature shows light where white is printed, and none among them may be hidden: of what hides
	// the rim some cells look as printed by chance.
	underLeast, underGap = 8.0, 2
	// underDeep is how far, in mm, it must reach beyond what counts as the ship's, and underReach how far from the rim that ends.
	underDeep, underReach = 5, 8.0
	// underColumn is the share of what lies straight away from a cell of the rim that must be no bare mat, underRow that of each
	// row along the rim: what is apart from the rim by a strip of mat may lie higher.
	underColumn, underRow = 0.7, 0.5
)

// underShips returns what lies on the mat and adjoins the rims of ships; limit is the energy from which a cell is no bare mat.
func (f *Finder) underShips(limit float32) []blob {
	m := &f.test
	adjoins := map[int32]bool{}
	for _, r := range f.rims {
		var run [][underDeep]int32 // cells away from the rim
		length, dark, gap := 0.0, false, 0
		skipped, hidden := false, false // a cell that something hides, since the run's last cell and among its cells
		end := func() {
			if length >= underLeast && dark && !hidden && f.liesAlong(run, limit) {
				for _, away := range run {
					for _, k := range away {
						adjoins[k] = true
					}
				}
			}
			run, dark, length, hidden = run[:0], false, 0, false
		}
		for i := range 2 * len(r) { // twice, for a run may pass the first cell
			c := &r[i%len(r)]
			away, ok := f.adjoining(c, limit)
			switch {
			case ok && c.Seen:
				hidden = hidden || skipped && len(run) > 0
				run, length, gap, skipped = append(run, away), length+c.Width, 0, false
				dark = dark || !c.White
				continue
			case ok:
				skipped = true
			}
			if gap++; gap > underGap {
				end()
			}
		}
		end()
	}
	if len(adjoins) == 0 {
		return nil
	}
	mask := make([]bool, len(m.energy))
	for k := range mask {
		mask[k] = m.seen[k] && m.energy[k] > limit
	}
	return slices.DeleteFunc(f.diff.regions(mask, int(speckShare*f.smallest), 1), func(b blob) bool {
		return !slices.ContainsFunc(b.cells, func(k int32) bool { return adjoins[k] })
	})
}

// own is the energy of a cell by itself that is lighter than the mat, up to limit: that of the small square about it reaches
// into its neighbours.
func (f *Finder) own(k int32, limit float32) float32 {
	z := max(f.test.z[k], 0)
	return min(z*z, limit)
}

// adjoining returns the cells next to what a ship hides, straight away from a rim's cell, and whether something lies on them.
func (f *Finder) adjoining(c *vision.RimCell, limit float32) (away [underDeep]int32, ok bool) {
	w, h := f.test.w, f.test.h
	for d := 0.0; d < underReach && !ok; d++ {
		ok = true
		for n := range away {
			p := c.At.Add(c.Out.Mul(d + float64(n)))
			i, j := int(p.X/vision.DiffStep), int(p.Y/vision.DiffStep)
			if p.X < 0 || p.Y < 0 || i >= w || j >= h {
				return away, false
			}
			away[n] = int32(j*w + i)
			ok = ok && !f.covered[away[n]]
		}
	}
	var column float32
	lit := 0
	for _, k := range away {
		column += f.own(k, limit) / underDeep
		if m := &f.test; m.seen[k] && m.energy[k] > limit && m.mean[k] > -shadowEdge {
			lit++
		}
	}
	return away, ok && 2*lit > underDeep && column > underColumn*limit
}

// liesAlong reports whether something lies in every row of a run along a rim.
func (f *Finder) liesAlong(run [][underDeep]int32, limit float32) bool {
	for n := range underDeep {
		var row float32
		for i := range run {
			row += f.own(run[i][n], limit) / float32(len(run))
		}
		if row < underRow*limit {
			return false
		}
	}
	return true
}
