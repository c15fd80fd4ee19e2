package obstacle

import (
	"slices"

	"sightline/calibration"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/catalogue"
	"sightline/vision/internal/gray"
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

// underShips returns where an obstacle may lie that is partly under a ship. miniatures are the cells of what passes for miniatures; some
// of it may be print, however dark.
func (f *Finder) underShips(miniatures []bool, lights []paperLight) (out []vision.UnknownObject) {
	m := f.lyingMat()
	posts, light := f.posts(), f.lightAmong(miniatures, lights)
	m.Explain(posts, miniatures, f.lightAmong(m.Lies, lights))
	apart := f.withoutShadowEdges(miniatures)
	parts := slices.DeleteFunc(m.Unexplained(posts, apart, light), func(part []int32) bool { return f.shadowed(part, lights) })
	loose := slices.DeleteFunc(m.Loose(posts, apart, f.shadows()), func(part []int32) bool { return f.shadowed(part, lights) })
	next := make([]bool, len(miniatures)) // of the miniatures, without what may be their shadows
	for k, set := range miniatures {
		next[k] = set && m.Lies[k]
		m.Lies[k] = m.Lies[k] || set
	}
	if f.underneath == nil {
		for i := range f.shapes {
			f.underneath = append(f.underneath, under.NewOutline(f.shapes[i].outline))
		}
	}
	for _, cells := range loose {
		out = append(out, f.thing(cells, matSmall))
	}
	for _, cells := range m.Groups(posts, parts, next, f.underneath, f.widest, int(speckShare*f.smallest)) {
		out = append(out, f.thing(cells, 0))
	}
	return out
}

// The edge of a hard shadow is as uneven as print. edgeNarrow is half the width, in cells, of what it may make of the small squares that
// lie on it: those of a sharp edge are five cells wide. What is lighter or wider is no more than edgeOther of it.
const (
	edgeNarrow = 3
	edgeOther  = 0.15
)

// withoutShadowEdges returns cells without the pieces that are narrow and as dark as shadow.
func (f *Finder) withoutShadowEdges(cells []bool) []bool {
	w, h, out := f.test.w, f.test.h, slices.Clone(cells)
	wide := gray.Open(cells, w, h, edgeNarrow)
	for _, b := range gray.Blobs(cells, w, h, 1, 0) {
		other := 0
		for _, k := range b.Cells {
			if wide[k] || f.test.shade[k] != plainShade {
				other++
			}
		}
		if float64(other) <= edgeOther*float64(len(b.Cells)) {
			for _, k := range b.Cells {
				out[k] = false
			}
		}
	}
	return out
}

// shadows returns the cells that are darker than the mat, as shadows are.
func (f *Finder) shadows() []bool {
	out := make([]bool, len(f.test.shade))
	for k, s := range f.test.shade {
		out[k] = f.test.seen[k] && s == plainShade
	}
	return out
}

// lightAmong returns the cells next to those of some cells that are nearly as light as paper.
func (f *Finder) lightAmong(cells []bool, lights []paperLight) []bool {
	w, h := f.test.w, f.test.h
	light := make([]bool, len(cells))
	for k, set := range cells {
		if set {
			more := linearOf(float64(f.diff.work[k])) - linearOf(float64(matGrey(f.diff, k)))
			light[k] = more >= paperLike*lightOn(lights, cellAt(k%w, k/w))
		}
	}
	return gray.BoxMask(light, w, h, lightReach, true)
}

// shadowed reports whether most of some cells are a shadow: darker than the mat, which shows there, dimmed evenly.
func (f *Finder) shadowed(cells []int32, lights []paperLight) bool {
	dark := 0
	var all geom.Polygon
	for _, k := range cells {
		if f.test.shade[k] == plainShade {
			dark++
		}
		all = append(all, cellAt(int(k)%f.test.w, int(k)/f.test.w))
	}
	hull := all.Hull(nil)
	if 2*dark < len(cells) || len(hull) < 3 {
		return false
	}
	_, middle := catalogue.Centroid(hull)
	uneven, light, ok := f.unevenness(hull)
	return ok && uneven < shadowEven*leastPrint*light*lightOn(lights, middle)
}

// posts returns the rims of the ships, each with the places where the end of its peg may appear.
func (f *Finder) posts() (out []under.Post) {
	for _, r := range f.rims {
		var middle geom.Point
		for _, c := range r {
			middle = middle.Add(c.At.Mul(1 / float64(len(r))))
		}
		top := geom.Polygon(r.Places().Hull(nil))
		p := under.Post{Rim: r, May: func(at geom.Point) bool { return f.mayHide(top, at) }}
		for z := postStep; z <= postHigh; z += postStep {
			p.Pegs = append(p.Pegs, onMat(middle, f.fit.eye, z))
		}
		out = append(out, p)
	}
	return out
}

// paperLike is the share of white paper's light by which something must be lighter than the mat to look like the white cells of a rim: a
// grey wedge with about 0.4 of it did, in the simulator.
const paperLike = 0.25

// lightReach is how far about light cells, in cells, small squares differ from the mat because of them.
const lightReach = matSmall + 1

// A peg ends postHigh mm above the mat at most; heights are tried in steps of postStep.
const postStep, postHigh = 15.0, 60.0

// lyingMat is what the picture that was compared last shows of the mat.
func (f *Finder) lyingMat() *under.Mat {
	t := &f.test
	m := &under.Mat{Width: t.w, Height: t.h, Lies: make([]bool, len(t.energy)), Covered: f.covered, Seen: t.seen, Bases: f.bases}
	for k := range m.Lies { // what is darker than the mat may be a shadow
		m.Lies[k] = t.seen[k] && t.energy[k] > unevenLimit && t.shade[k] != plainShade
	}
	m.Own = func(k int) float32 { // the energy of the small square about a cell reaches into its neighbours
		z := max(t.z[k], 0)
		return min(z*z/unevenLimit, 1)
	}
	return m
}

// goesUnder reports whether an outline holds what adjoins a rim that is seen, but for the little by which that seems larger. It lies on
// the mat then, and goes on under that base: a miniature hides the rim that it passes over.
func (f *Finder) goesUnder(outline geom.Polygon) bool {
	return slices.ContainsFunc(f.exits, func(adjoins []geom.Point) bool {
		return float64(within(outline, matSmall*vision.DiffStep, adjoins)) >= under.Cover*float64(len(adjoins))
	})
}

// within returns how many of some points are in an outline or less than margin mm from it.
func within(outline geom.Polygon, margin float64, points []geom.Point) (n int) {
	for _, p := range points {
		if outline.Contains(p) || outline.BoundaryDistance(p) < margin {
			n++
		}
	}
	return n
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
