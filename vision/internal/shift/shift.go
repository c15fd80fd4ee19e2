// Package shift finds by how much a printed mat was pushed or turned since it was learnt.
package shift

import (
	"math"
	"slices"

	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/internal/gray"
)

// Push is a small move of the mat: by By and by Turn radians, counterclockwise, about About.
type Push struct {
	About, By geom.Point
	Turn      float64
}

// At returns by how much a point of the mat was moved.
func (p *Push) At(at geom.Point) geom.Point {
	r := at.Sub(p.About)
	return geom.Point{X: p.By.X - p.Turn*r.Y, Y: p.By.Y + p.Turn*r.X}
}

// Then returns the push that another one makes of this, as long as both turn little.
func (p *Push) Then(q *Push) Push {
	none := geom.Point{}
	return Push{By: p.At(none).Add(q.At(none)), Turn: p.Turn + q.Turn}
}

const (
	most       = 8   // cells: a mat that was pushed farther is another mat
	block      = 64  // cells: half a block's side, and how far the middles of blocks are apart
	printed    = 6   // grey levels by which a cell that tells of a push differs from its surroundings
	around     = 6   // cells: half the side of those
	blockCells = 60  // of such cells that a block needs, and
	blockMost  = 200 // about how many are compared
	differMost = 20  // grey levels: more says no more
	fits       = 0.6 // of what differs without a push may be left
	blocks     = 12  // must tell of it, and
	agree      = 0.6 // of those that tell anything
	agreeing   = 0.8 // cells: how far a block may be off what all say
	moves      = 0.6 // cells: a smaller push is none
)

// found is by how much the mat of a block was pushed.
type found struct{ at, by geom.Point }

// Find compares a picture of the mat with what was learnt, in the picture's light, row by row; what is not seen is NaN. It reports false
// where the mat lies as it was learnt, or cannot be told.
func Find(picture, learnt []float32, w, h int) (Push, bool) {
	seen, print := texture(picture, w, h), texture(learnt, w, h)
	var all []found
	for y := block; y <= h-block; y += block {
		for x := block; x <= w-block; x += block {
			if by, ok := ofBlock(seen, print, w, h, x, y); ok {
				all = append(all, found{geom.Point{X: float64(x) * vision.DiffStep, Y: float64(y) * vision.DiffStep}, by.Mul(vision.DiffStep)})
			}
		}
	}
	kept := all
	for len(kept) >= blocks && float64(len(kept)) >= agree*float64(len(all)) {
		p := fit(kept)
		worst, off, size := 0, 0.0, 0.0
		for i, f := range kept {
			size = max(size, p.At(f.at).Norm())
			if d := p.At(f.at).Sub(f.by).Norm(); d > off {
				worst, off = i, d
			}
		}
		if off <= agreeing {
			return p, size >= moves
		}
		kept = slices.Delete(slices.Clone(kept), worst, worst+1)
	}
	return Push{}, false
}

// texture returns by how much each cell differs from its surroundings.
func texture(v []float32, w, h int) []float32 {
	sums, n := make([]float32, len(v)), make([]float32, len(v))
	for k, x := range v {
		if x == x {
			sums[k], n[k] = x, 1
		}
	}
	gray.SumBoxes(sums, sums, w, h, around)
	gray.SumBoxes(n, n, w, h, around)
	for k, x := range v {
		sums[k] = x - sums[k]/max(n[k], 1)
	}
	return sums
}

// ofBlock returns by how much the print about a place was pushed, between cells by a parabola; false if it cannot be told.
func ofBlock(seen, print []float32, w, h, x, y int) (geom.Point, bool) {
	var cells []int
	for j := max(y-block, most+1); j < min(y+block, h-most-1); j++ {
		for k := j*w + max(x-block, most+1); k < j*w+min(x+block, w-most-1); k++ {
			if v := print[k]; v > printed || v < -printed {
				cells = append(cells, k)
			}
		}
	}
	if len(cells) < blockCells {
		return geom.Point{}, false
	}
	every := 1 + len(cells)/blockMost
	differs := func(dx, dy int, least float32) (sum float32) { // or more than least
		for i := 0; i < len(cells) && sum <= least; i += every {
			k := cells[i]
			if d := seen[k+dy*w+dx] - print[k]; d < differMost && d > -differMost {
				sum += max(d, -d)
			} else {
				sum += differMost // NaN, too
			}
		}
		return sum
	}
	const all = math.MaxFloat32
	still := differs(0, 0, all)
	best, bx, by := still, 0, 0
	for dy := -most; dy <= most; dy++ {
		for dx := -most; dx <= most; dx++ {
			if c := differs(dx, dy, best); c < best {
				best, bx, by = c, dx, dy
			}
		}
	}
	if far := max(bx, -bx, by, -by); far == most || far > 1 && best > fits*still {
		return geom.Point{}, false
	}
	between := func(before, after float32) float64 {
		return float64(max(-0.5, min(0.5, (before-after)/2/max(before-2*best+after, 1e-9))))
	}
	return geom.Point{
		X: float64(bx) + between(differs(bx-1, by, all), differs(bx+1, by, all)),
		Y: float64(by) + between(differs(bx, by-1, all), differs(bx, by+1, all)),
	}, true
}

// fit fits a push to what blocks tell, by least squares.
func fit(all []found) (p Push) {
	n := float64(len(all))
	for _, f := range all {
		p.About, p.By = p.About.Add(f.at.Mul(1/n)), p.By.Add(f.by.Mul(1/n))
	}
	turn, square := 0.0, 0.0
	for _, f := range all {
		r := f.at.Sub(p.About)
		turn, square = turn+r.Cross(f.by), square+r.Dot(r)
	}
	p.Turn = turn / max(square, 1e-9)
	return p
}
