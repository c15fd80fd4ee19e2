package under

import (
	"image"
	"math"
	"slices"

	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/internal/gray"
)

const (
	// partLeast is the least area, in mm², of a part that no miniature explains, and partOpen half the width, in cells, of what is too
	// narrow for it. It is looked for within partReach mm of the base.
	partLeast, partOpen, partReach = 50, 1, 55.0
	// A miniature on the next base explains what adjoins a rim if solidShare of what lies between that and its own hidden rim differs from
	// the mat too, gaps of twice explainGap cells closed. With 0.9 the wings of one fighter (1605) do not, and without it a rock under one
	// ship, 1 mm from the engine of another, does (1613, pasted).
	solidShare, explainGap = 0.75, 2
	// partCover is the share of a part that an outline must contain. A part of partAlone mm² or more, about half of the smallest obstacle,
	// counts even if no outline fits.
	partCover, partAlone = 0.6, 250
	// looseFrom is how far from all bases, in mm, a part lies to which no miniature leads. Nearer ones are shadows and glints next to bases.
	// The first form of the rule refused 24 of 1695 clear lines, and 31 from 4 mm on (29 pictures of 1601 to 1634, 2026-11-28).
	looseFrom = 5.0
	// A piece of what such a part belongs to has pieceLeast cells or more, and is no farther than looseReach mm from it. The pieces of an
	// asteroid in the shadow between two ships (1616, pasted) are 6 mm apart.
	pieceLeast, looseReach = 20, 10.0
)

// Post is the rim of a ship, and where its miniature may appear on the mat.
type Post struct {
	Rim  Rim
	Pegs []geom.Point             // where the end of its peg may appear
	May  func(at geom.Point) bool // whether the miniature may hide a point of the mat

	hides window // what Explain found that it may hide
	leads window // the same, with what lies between it and the end of its peg where that appears beyond the rim
}

// window holds the cells of a part of the mat.
type window struct {
	box image.Rectangle
	set []bool
}

func (w *window) at(x, y int) bool {
	return image.Pt(x, y).In(w.box) && w.set[(y-w.box.Min.Y)*w.box.Dx()+x-w.box.Min.X]
}

// Explain finds what may be the miniature of each post, of what lies on the mat or was noticed there: what it may hide, behind a part of
// the rim that is hidden, and leads straight there. light are the cells that are nearly as light as paper: what hides white cells of a rim
// there may look like them.
func (m *Mat) Explain(posts []Post, noticed, light []bool) {
	for i := range posts {
		p := &posts[i]
		b := m.near(p.Rim)
		p.hides, p.leads = window{b, make([]bool, b.Dx()*b.Dy())}, window{b, make([]bool, b.Dx()*b.Dy())}
		solid := window{b, make([]bool, b.Dx()*b.Dy())}
		place := func(k int) int { return (k/m.Width-b.Min.Y)*b.Dx() + k%m.Width - b.Min.X }
		m.eachNear(p.Rim, func(k int) { solid.set[place(k)] = m.Lies[k] || noticed[k] || m.Covered[k] })
		solid.set = gray.Close(solid.set, b.Dx(), b.Dy(), explainGap)
		m.eachNear(p.Rim, func(k int) {
			if at := m.middle(k); (m.Lies[k] || noticed[k]) && !m.Covered[k] && p.May(at) {
				rim, end := p.explains(at, light[k], &solid)
				p.hides.set[place(k)], p.leads.set[place(k)] = rim, rim || end
			}
		})
	}
}

// Unexplained returns the parts of what was noticed next to ships that no miniature explains, as cells. A miniature stands on a
// peg in the middle of its base and hides the rim where it reaches over it. So what lies behind a visible stretch of the rim, as seen
// from the end of the peg, is not part of it; it may be part of the miniature on the next base. light are the cells that are nearly as
// light as paper: what hides white cells of a rim there may look like them.
func (m *Mat) Unexplained(posts []Post, noticed, light []bool) (parts [][]int32) {
	mask := make([]bool, len(noticed))
	found := false
	for i := range posts {
		m.eachNear(posts[i].Rim, func(k int) {
			mask[k] = noticed[k] && !m.Covered[k]
			found = found || mask[k]
		})
	}
	if !found {
		return nil
	}
	for i := range posts {
		p := &posts[i]
		m.eachNear(p.Rim, func(k int) {
			if mask[k] && p.May(m.middle(k)) {
				rim, _ := p.explains(m.middle(k), light[k], nil)
				mask[k] = !rim
			}
		})
	}
	w, h := m.Width, m.Height
	for _, b := range gray.Blobs(gray.Open(gray.Close(mask, w, h, 1), w, h, partOpen), w, h, partLeast, 0) {
		var part []int32
		for _, k := range b.Cells {
			if !m.Covered[k] {
				part = append(part, k)
			}
		}
		parts = append(parts, part)
	}
	return parts
}

// Loose returns the parts of what passes for miniatures to which none leads: one that is seen beyond its base begins over it and has no
// gap. The visible part of a rock may be in pieces, between which it is as dark as shadow. Explain must have been called. miniatures are
// the cells of what passes for miniatures, dark those of shadows. What may be the miniature of a ship without a rim counts for nothing.
func (m *Mat) Loose(posts []Post, miniatures, dark []bool) (parts [][]int32) {
	next := make([]bool, len(miniatures))
	for i := range posts {
		m.eachNear(posts[i].Rim, func(k int) { next[k] = miniatures[k] && !m.Covered[k] })
	}
	rimless := slices.DeleteFunc(slices.Clone(m.Bases), func(b geom.Polygon) bool {
		return slices.ContainsFunc(posts, func(p Post) bool { return len(p.Rim) > 0 && near(b, p.Rim[0].At, ownReach) })
	})
	blobs := gray.Blobs(next, m.Width, m.Height, pieceLeast, 1)
	for _, b := range blobs {
		var part []int32
		for _, k := range b.Cells {
			if next[k] && m.loose(posts, rimless, int(k)) {
				part = append(part, k)
			}
		}
		if len(part) >= partLeast {
			parts = append(parts, part)
		}
	}
	if len(parts) == 0 {
		return nil
	}
	solid := slices.Clone(m.Lies)
	for k := range solid {
		solid[k] = solid[k] || miniatures[k] || dark[k] || m.Covered[k]
	}
	for i := range parts {
		parts[i] = m.pieces(parts[i], blobs, solid)
	}
	return parts
}

// loose reports whether no miniature leads to a cell, and no base is near.
func (m *Mat) loose(posts []Post, rimless []geom.Polygon, k int) bool {
	at := m.middle(k)
	return !slices.ContainsFunc(posts, func(p Post) bool { return p.leads.at(k%m.Width, k/m.Width) }) &&
		!slices.ContainsFunc(m.Bases, func(b geom.Polygon) bool { return near(b, at, looseFrom) }) &&
		!slices.ContainsFunc(rimless, func(b geom.Polygon) bool { return near(b, at, partReach) })
}

// near reports whether a point is in a polygon or less than reach mm from it.
func near(b geom.Polygon, p geom.Point, reach float64) bool {
	return b.Contains(p) || b.BoundaryDistance(p) < reach
}

// pieces returns a part with the blobs next to it, if what lies between is no bare mat: a rock in a hard shadow is as dark as that in
// places, and its pieces are one thing.
func (m *Mat) pieces(part []int32, blobs []gray.Blob, solid []bool) []int32 {
	out := slices.Clone(part)
	for _, b := range blobs {
		if !slices.Contains(b.Cells, part[0]) && slices.ContainsFunc(b.Cells, func(k int32) bool {
			return slices.ContainsFunc(part, func(from int32) bool { return m.joined(m.middle(int(from)), m.middle(int(k)), solid) })
		}) {
			out = append(out, b.Cells...)
		}
	}
	return out
}

// joined reports whether two points are less than looseReach apart and solidShare of the cells between are solid.
func (m *Mat) joined(from, to geom.Point, solid []bool) bool {
	far := float64(from.Distance(to))
	if far > looseReach {
		return false
	}
	n, set := int(far/vision.DiffStep), 0
	for i := range n {
		p := from.Lerp(to, float64(i)/float64(n))
		if solid[int(p.Y/vision.DiffStep)*m.Width+int(p.X/vision.DiffStep)] {
			set++
		}
	}
	return float64(set) >= solidShare*float64(n)
}

// near returns the cells up to partReach beyond the rectangle about a rim.
func (m *Mat) near(r Rim) image.Rectangle {
	if len(r) == 0 {
		return image.Rectangle{}
	}
	lo, hi := r.Places().Bounds()
	return image.Rect(int(lo.X-partReach), int(lo.Y-partReach), int(hi.X+partReach), int(hi.Y+partReach)).
		Intersect(image.Rect(0, 0, m.Width, m.Height))
}

// eachNear calls do for each of them.
func (m *Mat) eachNear(r Rim, do func(k int)) {
	b := m.near(r)
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			do(y*m.Width + x)
		}
	}
}

// explains reports whether the miniature may cover a point: as seen from the end of its peg, the rim in front of the point is hidden. In
// front of a light point white cells do not count as visible. Unless solid is nil, it must hold what lies between: from the rim on, or, as
// end says, from the end of the peg if that appears beyond the rim.
func (p *Post) explains(at geom.Point, light bool, solid *window) (rim, end bool) {
	for _, q := range p.Pegs {
		along := at.Sub(q)
		best, seen := math.Inf(1), false
		var from geom.Point
		for i := range p.Rim {
			c := &p.Rim[i]
			d := along.Dot(c.Out)
			t := c.At.Sub(q).Dot(c.Out) / d
			if d <= 0 || t < 0 || t > 1 {
				continue
			}
			crosses := q.Add(along.Mul(t))
			if off := crosses.Sub(c.At).Norm(); off < best {
				best, seen, from = off, visible(c) && !(light && c.White), crosses
			}
		}
		switch {
		case seen:
		case solid == nil, !math.IsInf(best, 1) && solid.holds(from, at):
			return true, end
		case math.IsInf(best, 1):
			end = end || solid.holds(q, at)
		}
	}
	return false, end
}

// holds reports whether solidShare of the cells between two points are set.
func (w *window) holds(from, to geom.Point) bool {
	n, set := int(float64(from.Distance(to))/vision.DiffStep), 0
	for i := range n {
		if p := from.Lerp(to, float64(i)/float64(n)); w.at(int(p.X/vision.DiffStep), int(p.Y/vision.DiffStep)) {
			set++
		}
	}
	return float64(set) >= solidShare*float64(n)
}
