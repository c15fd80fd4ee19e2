package obstacle

import (
	"slices"

	"sightline/calibration"
	"sightline/vision"
	"sightline/vision/internal/under"
	"sightline/vision/token"
)

// rimsOf returns the rims of the ships that were read in a picture.
func rimsOf(l *vision.Located, eye calibration.Vec3) (rims []under.Rim) {
	for i := range l.Ships {
		r := slices.Clone(l.Ships[i].Rim)
		for k := range r {
			r[k].At = onMat(r[k].At, eye, float64(token.BaseTop))
		}
		rims = append(rims, r)
	}
	return rims
}

// underShips returns where an obstacle may lie that lies partly under a ship; limit is the energy from which a cell is no bare mat.
func (f *Finder) underShips(limit float32) (out []vision.UnknownObject) {
	t := &f.test
	m := under.Mat{Width: t.w, Height: t.h, Lies: make([]bool, len(t.energy)), Covered: f.covered, Seen: t.seen, Bases: f.bases}
	for k := range m.Lies { // what is darker than the mat may be a shadow
		m.Lies[k] = t.seen[k] && t.energy[k] > limit && t.shade[k] != plainShade
	}
	m.Own = func(k int) float32 { // the energy of the small square about a cell reaches into its neighbours
		z := max(t.z[k], 0)
		return min(z*z/limit, 1)
	}
	if f.underneath == nil {
		for i := range f.shapes {
			f.underneath = append(f.underneath, under.NewOutline(f.shapes[i].outline))
		}
	}
	for _, cells := range m.Groups(f.rims, f.underneath, f.widest, int(speckShare*f.smallest)) {
		out = append(out, f.thing(cells))
	}
	return out
}
