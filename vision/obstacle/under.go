package obstacle

import (
	"slices"

	"sightline/calibration"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/catalogue"
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
	m := f.lyingMat(limit)
	if f.underneath == nil {
		for i := range f.shapes {
			f.underneath = append(f.underneath, under.NewOutline(f.shapes[i].outline))
		}
	}
	for _, cells := range m.Groups(f.rims, f.underneath, f.widest, int(speckShare*f.smallest)) {
		out = append(out, f.thing(cells, 0))
	}
	return out
}

// lyingMat is what the picture that was compared last shows of the mat.
func (f *Finder) lyingMat(limit float32) *under.Mat {
	t := &f.test
	m := &under.Mat{Width: t.w, Height: t.h, Lies: make([]bool, len(t.energy)), Covered: f.covered, Seen: t.seen, Bases: f.bases}
	for k := range m.Lies { // what is darker than the mat may be a shadow
		m.Lies[k] = t.seen[k] && t.energy[k] > limit && t.shade[k] != plainShade
	}
	m.Own = func(k int) float32 { // the energy of the small square about a cell reaches into its neighbours
		z := max(t.z[k], 0)
		return min(z*z/limit, 1)
	}
	return m
}

// goesUnder reports whether an outline holds what adjoins a rim that is seen, but for the little by which that seems larger. It lies on
// the mat then, and goes on under that base: a miniature hides the rim that it passes over.
func (f *Finder) goesUnder(outline geom.Polygon) bool {
	return slices.ContainsFunc(f.exits, func(adjoins []geom.Point) bool {
		in := 0
		for _, p := range adjoins {
			if outline.Contains(p) || outline.BoundaryDistance(p) < matSmall*vision.DiffStep {
				in++
			}
		}
		return float64(in) >= under.Cover*float64(len(adjoins))
	})
}

const (
	// A miniature stands on a peg in the middle of its base, which ends no more than pegHigh mm above the mat. A picture of the
	// miniature reaches to where that end is seen, or as near as pegNear.
	pegHigh, pegStep = 75.0, 5.0
	pegNear          = 8.0
	// apartSeen is the share of a thing's border that must be in view, with the mat next to it, if it is apart from a ship.
	apartSeen = 0.95
)

// pegEnds returns where the end of a peg in the middle of a base may appear on the mat.
func (f *Finder) pegEnds(base geom.Polygon) (ends []geom.Point) {
	_, middle := catalogue.Centroid(base)
	for z := pegStep; z <= pegHigh; z += pegStep {
		ends = append(ends, onMat(middle, f.fit.eye, z))
	}
	return ends
}

// apart reports whether no ship's miniature can be in an outline that the mat surrounds: none of their pegs ends in it.
func (f *Finder) apart(outline geom.Polygon) bool {
	return !slices.ContainsFunc(f.bases, func(b geom.Polygon) bool {
		return slices.ContainsFunc(f.pegEnds(b), func(p geom.Point) bool {
			return outline.Contains(p) || outline.BoundaryDistance(p) < pegNear
		})
	})
}
