package obstacle

import (
	"image"
	"slices"

	"sightline/calibration"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/catalogue"
	"sightline/vision/internal/gray"
	"sightline/vision/internal/parts"
	"sightline/vision/token"
)

// things returns what lies on the mat, is no known obstacle and belongs to no ship,
// and is so wide that the catalogue's narrowest obstacle could be it or lie under it.
// It leaves in f.diff.mask where they are. lights are the paper's, as blind takes them.
//
// What differs from the mat little, or in parts, is noticed in large squares only, and only
// those about its middle are beyond the limit: a thing reaches as far as those squares do, to
// whatever small squares in them differ from the mat. A square that is beyond it only because
// what is sure counts for more in noise may lie half on bare mat, where noise differs too: of
// it a thing reaches to what is sure, unless it was noticed in no other square.
func (f *Finder) things(known []vision.ObstacleView, lights []paperLight) []vision.UnknownObject {
	w := f.diff.view.Width
	for _, v := range known {
		f.erase(v.Outline, thingMargin)
	}
	half := f.thingHalf()
	mask, plain := f.diff.mask, make([]bool, len(f.diff.mask))
	f.test.widen(half, matShare)
	for k, v := range f.test.wide {
		plain[k] = v > f.test.limit
	}
	f.test.widen(half, f.test.most)
	for k, v := range f.test.wide {
		mask[k] = v > f.test.limit
	}
	// The edge of a shadow is as sharp as print, and narrow.
	broad := gray.Open(mask, w, f.diff.view.Height, half)
	for k := range mask {
		mask[k] = mask[k] && (broad[k] || f.test.shade[k] != plainShade)
	}
	var blobs, miniatures []gray.Blob
	for _, b := range f.diff.blobs(half * half) {
		if !f.grainy() && f.miniature(b) { // in more noise what is told of miniatures and rims is chance
			miniatures = append(miniatures, b)
		} else {
			blobs = append(blobs, b)
		}
	}
	blobs = f.withoutSpecks(blobs, half, lights)
	pairs := f.fragments(blobs, lights)
	reach, sureReach := f.reach(blobs, plain, half)
	_, miniature := f.reach(miniatures, plain, half)
	clear(mask)
	for k, set := range miniature {
		miniature[k] = set && f.test.energy[k] > unevenLimit
	}
	pieces := make([][]int32, len(blobs))
	for n, b := range blobs {
		cells := b.Cells
		box := b.Box.Inset(-half).Intersect(image.Rect(0, 0, w, f.diff.view.Height))
		for j := box.Min.Y; j < box.Max.Y; j++ {
			for k := j*w + box.Min.X; k < j*w+box.Max.X; k++ {
				if e := f.test.energy[k]; reach[k] && e > unevenLimit || sureReach[k] && e >= f.test.most {
					cells = append(cells, int32(k))
				}
			}
		}
		pieces[n] = cells
	}
	var out []vision.UnknownObject
	for _, group := range parts.Groups(len(blobs), pairs) {
		var all []int32
		for _, n := range group {
			all = append(all, pieces[n]...)
		}
		out = append(out, f.thing(all, matSmall)) // of a faint thing's rim the small squares lie half on bare mat, and do not differ
	}
	return append(out, f.underShips(miniature, lights)...)
}

// In half of a token's squares its print has leastPrint or more. In the others it may go unnoticed in noise; where the rest is noticed, the
// hull of that covers them. faintPrint is what a print may fall to between two parts of a token that are apart, and joinLeast the share of
// what lies between them that must hide such a print.
const (
	faintPrint = leastPrint / 2
	joinLeast  = 0.25
)

// fragments returns the pairs of f.diff.mask's blobs that may be parts of one obstacle. lights are the paper's.
func (f *Finder) fragments(blobs []gray.Blob, lights []paperLight) [][2]int {
	if len(blobs) < 2 {
		return nil
	}
	m, half := &f.test, f.thingHalf()
	f.expectedEnergy(lights, faintPrint)
	gray.SumBoxes(m.a, m.a, m.w, m.h, half)
	least := m.limit * float32((2*half+1)*(2*half+1))
	p := parts.Finder{Width: m.w, Less: f.smallest, Far: 2 * f.widest, Hidden: joinLeast, Hides: func(k int) bool { return m.a[k] < least }}
	return p.Pairs(blobs)
}

// reach returns where the squares lie in which blobs were noticed: first those whose middles plain holds, or all squares of
// a blob if it holds none of them; then all of every blob.
func (f *Finder) reach(blobs []gray.Blob, plain []bool, half int) (some, all []bool) {
	w, h := f.diff.view.Width, f.diff.view.Height
	some, all = make([]bool, len(plain)), make([]bool, len(plain))
	for _, b := range blobs {
		found := slices.ContainsFunc(b.Cells, func(c int32) bool { return plain[c] })
		for _, c := range b.Cells {
			some[c], all[c] = plain[c] || !found, true
		}
	}
	return gray.BoxMask(some, w, h, half, true), gray.BoxMask(all, w, h, half, true)
}

// A speck is what is noticed in fewer squares than speckShare of the smallest obstacle's area; speckReach is how far about it,
// in half squares, the rest of an obstacle is looked for.
const (
	speckShare = 1.0 / 8
	speckReach = 4
)

// withoutSpecks leaves out those of f.diff.mask's blobs that are too small for an obstacle: nothing else was noticed about
// them, and the mat there is seen so well that the rest of an obstacle would have been.
func (f *Finder) withoutSpecks(blobs []gray.Blob, half int, lights []paperLight) []gray.Blob {
	m := &f.test
	most := int(speckShare * f.smallest)
	if !slices.ContainsFunc(blobs, func(b gray.Blob) bool { return len(b.Cells) <= most }) {
		return blobs
	}
	sums, least := f.expectedSums(lights, nil)
	return slices.DeleteFunc(blobs, func(b gray.Blob) bool {
		around := b.Box.Inset(-speckReach * half)
		if len(b.Cells) > most || !around.In(image.Rect(0, 0, m.w, m.h)) {
			return false
		}
		noticed := 0
		for j := around.Min.Y; j < around.Max.Y; j++ {
			for k := j*m.w + around.Min.X; k < j*m.w+around.Max.X; k++ {
				if f.diff.mask[k] {
					noticed++
				}
				if !m.seen[k] || sums[k] < least || noticed > most {
					return false
				}
			}
		}
		return true
	})
}

// unevenLimit is the energy of a small square above which it is no bare mat, and a dark one no evenly dimmed mat: what half covers one
// has more.
const unevenLimit = matShare - 0.5

// thing makes a thing of cells, and marks them in f.diff.mask. It reaches so many cells beyond them. Cells may be listed twice.
func (f *Finder) thing(cells []int32, beyond float64) vision.UnknownObject {
	w := f.diff.view.Width
	var all geom.Polygon
	n := 0
	for _, c := range cells {
		if !f.diff.mask[c] {
			n++
		}
		f.diff.mask[c] = true
		all = append(all, geom.Point{X: (float64(int(c)%w) + 0.5) * vision.DiffStep, Y: (float64(int(c)/w) + 0.5) * vision.DiffStep})
	}
	hull := all.Hull(nil)
	if len(hull) < 3 { // a row of cells
		beyond = max(beyond, 0.5)
	}
	for _, p := range hull {
		for _, d := range [4]geom.Point{{X: -1, Y: -1}, {X: 1, Y: -1}, {X: 1, Y: 1}, {X: -1, Y: 1}} {
			all = append(all, p.Add(d.Mul(beyond*vision.DiffStep)))
		}
	}
	t := vision.UnknownObject{Outline: all.Hull(nil), Area: float64(n) * vision.DiffStep * vision.DiffStep}
	t.OutlinePx = f.pixels(t.Outline, 0)
	return t
}

// shadowEdge is by how many standard deviations, in the mean, the edge of a shadow is darker
// than the mat.
const shadowEdge = 0.5

// thingMargin is how far round a known obstacle, in mm, what the picture shows is its own.
const thingMargin = 4.0

// miniature reports whether a blob is a ship's miniature: all of it lies near one ship, and what is lighter than the mat where
// the picture may show its miniature, but for a speck. A miniature that reaches beyond its base begins over it: what is apart from the
// base and from where its peg may end, is no shadow, and was noticed in as many squares as lie in half of the smallest obstacle, is
// another thing.
func (f *Finder) miniature(b gray.Blob) bool {
	w, gap := f.diff.view.Width, float64(f.thingHalf())*vision.DiffStep
	shadow := 0
	for _, c := range b.Cells {
		if f.test.shade[c] == plainShade {
			shadow++
		}
	}
	speck := speckShare * f.smallest
	large := 2*shadow < len(b.Cells) && float64(len(b.Cells)) > f.smallest/4
	return slices.ContainsFunc(f.bases, func(base geom.Polygon) bool {
		const every = 5
		pegs, begins, beyond := f.pegEnds(base), false, 0
		for i := 0; i < len(b.Cells); i += every {
			c := int(b.Cells[i])
			p := cellAt(c%w, c/w)
			off := 0.0
			if !base.Contains(p) {
				off = base.BoundaryDistance(p)
			}
			if off > token.MiniatureReach {
				return false
			}
			begins = begins || off < gap || slices.ContainsFunc(pegs, func(q geom.Point) bool { return float64(p.Distance(q)) < gap })
			if f.test.energy[c] > unevenLimit && f.test.shade[c] == noShade && !f.mayHide(base, p) {
				beyond += every
			}
		}
		return (begins || !large) && float64(beyond) <= speck
	})
}

// mayHide reports whether the miniature on a base may hide a point of the mat.
func (f *Finder) mayHide(base geom.Polygon, p geom.Point) bool {
	const step = 5.0
	for z := 0.0; z <= miniatureHigh; z += step {
		q := p.Lerp(geom.Point{X: f.fit.eye[0], Y: f.fit.eye[1]}, z/f.fit.eye[2])
		if base.Contains(q) || base.BoundaryDistance(q) <= overhang {
			return true
		}
	}
	return false
}

// A miniature ends no more than miniatureHigh mm above the mat, and reaches no farther than overhang mm beyond its base. A gas cloud
// under a ship reached 43 mm to its side (1413), and four lines across it were called clear.
const (
	miniatureHigh = 75.0
	overhang      = 30.0
)

// thingShare is the half side of the square that a thing must hold, as a share of the
// largest circle's radius in the catalogue's narrowest outline: a square in that circle
// has 0.71 of it.
const thingShare = 0.7

// thingHalf returns that half side in cells.
func (f *Finder) thingHalf() int { return max(int(thingShare*f.narrowest/vision.DiffStep), 3) }

// erase makes bare mat of what the test saw inside an outline and up to margin mm round it.
func (f *Finder) erase(outline geom.Polygon, margin float64) {
	f.eachInside(outline, margin, func(k int) { f.test.energy[k] = min(f.test.energy[k], 1) })
}

// eachInside calls do for every cell inside an outline and up to margin mm round it.
func (f *Finder) eachInside(outline geom.Polygon, margin float64, do func(k int)) {
	w, h := f.diff.view.Width, f.diff.view.Height
	lo, hi := outline.Bounds()
	for j := max(int(lo.Y-margin), 0); j <= min(int(hi.Y+margin), h-1); j++ {
		for i := max(int(lo.X-margin), 0); i <= min(int(hi.X+margin), w-1); i++ {
			if p := cellAt(i, j); outline.Contains(p) || outline.BoundaryDistance(p) < margin {
				do(j*w + i)
			}
		}
	}
}

// hiddenBy returns the part of the mat that a ship's base hides from the camera: the
// base's foot and its top as the camera throws it on the mat.
func hiddenBy(base geom.Polygon, top geom.Length, eye calibration.Vec3) geom.Polygon {
	var all geom.Polygon
	for _, p := range base {
		all = append(all, p, onMat(p, eye, float64(top)))
	}
	return all.Hull(nil)
}

// suspects makes things of what may be an obstacle and is not beyond doubt.
func (f *Finder) suspects(doubtful []vision.ObstacleView) (out []vision.UnknownObject) {
	for _, v := range doubtful {
		area, _ := catalogue.Centroid(v.Outline)
		t := vision.UnknownObject{Outline: geom.Polygon(v.Outline).Hull(nil), Area: area}
		t.OutlinePx = f.pixels(t.Outline, 0)
		out = append(out, t)
	}
	return out
}
