package under

import (
	"image"
	"math"

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
)

// Post is the rim of a ship, and where its miniature may appear on the mat.
type Post struct {
	Rim  Rim
	Pegs []geom.Point             // where the end of its peg may appear
	May  func(at geom.Point) bool // whether the miniature may hide a point of the mat

	hides window // what Explain found that it may hide
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
		p.hides = window{b, make([]bool, b.Dx()*b.Dy())}
		solid := window{b, make([]bool, b.Dx()*b.Dy())}
		place := func(k int) int { return (k/m.Width-b.Min.Y)*b.Dx() + k%m.Width - b.Min.X }
		m.eachNear(p.Rim, func(k int) { solid.set[place(k)] = m.Lies[k] || noticed[k] || m.Covered[k] })
		solid.set = gray.Close(solid.set, b.Dx(), b.Dy(), explainGap)
		m.eachNear(p.Rim, func(k int) {
			if at := m.middle(k); (m.Lies[k] || noticed[k]) && !m.Covered[k] && p.May(at) {
				p.hides.set[place(k)] = p.explains(at, light[k], &solid)
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
			mask[k] = mask[k] && !(p.May(m.middle(k)) && p.explains(m.middle(k), light[k], nil))
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
// front of a light point white cells do not count as visible. Unless solid is nil, it must hold what lies between.
func (p *Post) explains(at geom.Point, light bool, solid *window) bool {
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
		if !seen && (solid == nil || !math.IsInf(best, 1) && solid.holds(from, at)) {
			return true
		}
	}
	return false
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
