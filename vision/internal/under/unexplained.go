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

// Post is the rim of a ship, and the places where the end of its miniature's peg may appear on the mat.
type Post struct {
	Rim  Rim
	Pegs []geom.Point
}

// Unexplained returns the parts of what was noticed next to ships that their miniatures do not explain, as cells. A miniature stands on a
// peg in the middle of its base and hides the rim where it reaches over it. So what lies behind a visible stretch of the rim, as seen
// from the end of the peg, is not part of it. light are the cells that are nearly as light as paper: what hides white cells of a rim there
// may look like them.
func (m *Mat) Unexplained(posts []Post, noticed, light []bool) (parts [][]int32) {
	for i := range posts {
		p := &posts[i]
		if len(p.Rim) == 0 {
			continue
		}
		lo, hi := p.Rim[0].At, p.Rim[0].At
		for _, c := range p.Rim {
			lo = geom.Point{X: min(lo.X, c.At.X), Y: min(lo.Y, c.At.Y)}
			hi = geom.Point{X: max(hi.X, c.At.X), Y: max(hi.Y, c.At.Y)}
		}
		x0, y0 := max(int(lo.X-partReach), 0), max(int(lo.Y-partReach), 0)
		x1, y1 := min(int(hi.X+partReach), m.Width), min(int(hi.Y+partReach), m.Height)
		if x1 <= x0 || y1 <= y0 {
			continue
		}
		w, h := x1-x0, y1-y0
		mask := make([]bool, w*h)
		for y := range h {
			for x := range w {
				k := (y+y0)*m.Width + x + x0
				mask[y*w+x] = noticed[k] && !m.Covered[k] && !p.explains(m.middle(k), light[k])
			}
		}
		for _, b := range gray.Blobs(gray.Open(gray.Close(mask, w, h, 1), w, h, partOpen), w, h, partLeast, 0) {
			var part []int32
			for _, c := range b.Cells {
				k := (int(c)/w+y0)*m.Width + int(c)%w + x0
				if !m.Covered[k] {
					part = append(part, int32(k))
				}
			}
			parts = append(parts, part)
		}
	}
	return parts
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
