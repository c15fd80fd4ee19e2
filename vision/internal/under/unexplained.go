package under

import (
	"math"

	"sightline/engine/geom"
	"sightline/vision/internal/gray"
)

const (
	// partLeast is the least area, in mm², of a part that no miniature explains, and partOpen half the width, in cells, of what is too
	// narrow for it. It is looked for within partReach mm of the base.
	partLeast, partOpen, partReach = 50, 1, 55.0
	// partCover is the share of a part that an outline must contain. A part of partAlone mm² or more, about half of the smallest obstacle,
	// counts even if no outline fits.
	partCover, partAlone = 0.6, 250
)

// Post is the rim of a ship, and where its miniature may appear on the mat.
type Post struct {
	Rim  Rim
	Pegs []geom.Point             // where the end of its peg may appear
	May  func(at geom.Point) bool // whether the miniature may hide a point of the mat
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
			mask[k] = mask[k] && !(p.May(m.middle(k)) && p.explains(m.middle(k), light[k]))
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

// eachNear calls do for every cell up to partReach beyond the rectangle about a rim.
func (m *Mat) eachNear(r Rim, do func(k int)) {
	if len(r) == 0 {
		return
	}
	lo, hi := r.Places().Bounds()
	for y := max(int(lo.Y-partReach), 0); y < min(int(hi.Y+partReach), m.Height); y++ {
		for x := max(int(lo.X-partReach), 0); x < min(int(hi.X+partReach), m.Width); x++ {
			do(y*m.Width + x)
		}
	}
}

// explains reports whether the miniature may cover a point: as seen from the end of its peg, the rim in front of the point is hidden. In
// front of a light point white cells do not count as visible.
func (p *Post) explains(at geom.Point, light bool) bool {
	for _, q := range p.Pegs {
		along := at.Sub(q)
		best, seen := math.Inf(1), false
		for i := range p.Rim {
			c := &p.Rim[i]
			d := along.Dot(c.Out)
			t := c.At.Sub(q).Dot(c.Out) / d
			if d <= 0 || t < 0 || t > 1 {
				continue
			}
			if off := q.Add(along.Mul(t)).Sub(c.At).Norm(); off < best {
				best, seen = off, visible(c) && !(light && c.White)
			}
		}
		if !seen {
			return true
		}
	}
	return false
}
