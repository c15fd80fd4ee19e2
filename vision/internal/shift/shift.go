// Package shift finds by how much a printed mat was pushed or turned since it was learnt.
package shift

import (
	"math"
	"slices"

	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/internal/gray"
)

// Push is a small move of the mat: by By and by Turn radians, counterclockwise, about About. Where Unsure, the print repeats, and another
// one would let it look the same.
type Push struct {
	About, By geom.Point
	Turn      float64
	Unsure    bool
}

// At returns by how much a point of the mat was moved.
func (p *Push) At(at geom.Point) geom.Point {
	r := at.Sub(p.About)
	return geom.Point{X: p.By.X - p.Turn*r.Y, Y: p.By.Y + p.Turn*r.X}
}

// Then returns the push that another one makes of this, as long as both turn little.
func (p *Push) Then(q *Push) Push {
	none := geom.Point{}
	return Push{By: p.At(none).Add(q.At(none)), Turn: p.Turn + q.Turn, Unsure: p.Unsure || q.Unsure}
}

const (
	most       = 8   // cells: a mat that was pushed farther is another mat
	block      = 64  // cells: half a block's side, and how far the middles of blocks are apart;
	coarse     = 3   // where cells do not tell, larger ones do: of so many cells a side,
	farBlock   = 32  // and half a block's side in these
	printed    = 6   // grey levels by which a cell that tells of a push differs from its surroundings
	around     = 6   // cells: half the side of those
	blockCells = 60  // of such cells that a block needs, and
	blockMost  = 200 // about how many are compared
	differMost = 20  // grey levels: more says no more
	fits       = 0.6 // of what differs without a push may be left
	apart      = 2   // cells: what fits half as well, and lies farther from the best, makes that unsure
	blocks     = 12  // must tell of it, and
	agree      = 0.6 // of those that tell anything
	agreeing   = 0.8 // cells: how far a block may be off what all say
	moves      = 0.6 // cells: a smaller push is none
)

// found is by how much the mat of a block was pushed; where unsure, elsewhere it would fit about as well.
type found struct {
	at, by geom.Point
	unsure bool
}

// Find compares a picture of the mat, row by row, with what was learnt; diff is by how much it is lighter than that, in the picture's
// light, and what is not seen is NaN. It reports false where the mat lies as it was learnt, or cannot be told. A push that is found in
// larger cells is rough: what is left of it is found after the learnt mat was moved by it.
func Find(picture, diff []float32, w, h int) (Push, bool) {
	learnt := make([]float32, len(diff))
	for k, v := range picture {
		learnt[k] = v - diff[k]
	}
	p, told := inCells(picture, learnt, w, h, block, vision.DiffStep)
	if !told {
		p, told = inCells(larger(picture, w, h), larger(learnt, w, h), w/coarse, h/coarse, farBlock, coarse*vision.DiffStep)
	}
	return p, told && p != (Push{})
}

// larger returns the levels in cells of coarse×coarse, each with half of its neighbours: between two cells, they change little.
func larger(v []float32, w, h int) (out []float32) {
	sums, n := boxes(v, w, h, coarse)
	for y := coarse / 2; y+coarse/2 < h; y += coarse {
		for x := coarse / 2; x+coarse/2 < w; x += coarse {
			mean := float32(math.NaN())
			if k := y*w + x; v[k] == v[k] {
				mean = sums[k] / n[k]
			}
			out = append(out, mean)
		}
	}
	return out
}

// boxes returns the sums of what is seen about each cell, and of how many cells.
func boxes(v []float32, w, h, half int) (sums, n []float32) {
	sums, n = make([]float32, len(v)), make([]float32, len(v))
	for k, x := range v {
		if x == x {
			sums[k], n[k] = x, 1
		}
	}
	gray.SumBoxes(sums, sums, w, h, half)
	gray.SumBoxes(n, n, w, h, half)
	return sums, n
}

// inCells finds a push in cells of a size in mm, in blocks of so many cells, half a side. It is none where the mat lies as it was learnt;
// false where that cannot be told.
func inCells(picture, learnt []float32, w, h, block int, size float64) (Push, bool) {
	seen, print := texture(picture, w, h), texture(learnt, w, h)
	var kept []found
	for y := block; y <= h-block; y += block {
		for x := block; x <= w-block; x += block {
			if f, ok := ofBlock(seen, print, w, h, x, y, block); ok {
				f.at, f.by = geom.Point{X: float64(x) * size, Y: float64(y) * size}, f.by.Mul(size)
				kept = append(kept, f)
			}
		}
	}
	for all := len(kept); len(kept) >= blocks && float64(len(kept)) >= agree*float64(all); {
		p := fit(kept)
		worst, off, far := 0, 0.0, 0.0
		for i, f := range kept {
			far = max(far, p.At(f.at).Norm())
			if d := p.At(f.at).Sub(f.by).Norm(); d > off {
				worst, off = i, d
			}
		}
		if off <= agreeing*size {
			if far < moves*size {
				p = Push{}
			}
			return p, true
		}
		kept = slices.Delete(kept, worst, worst+1)
	}
	return Push{}, false
}

// texture returns by how much each cell differs from its surroundings.
func texture(v []float32, w, h int) []float32 {
	sums, n := boxes(v, w, h, around)
	for k, x := range v {
		sums[k] = x - sums[k]/max(n[k], 1)
	}
	return sums
}

// ofBlock returns by how much the print about a place was pushed, between cells by a parabola; false if it cannot be told.
func ofBlock(seen, print []float32, w, h, x, y, block int) (found, bool) {
	var cells []int
	for j := max(y-block, most+1); j < min(y+block, h-most-1); j++ {
		for k := j*w + max(x-block, most+1); k < j*w+min(x+block, w-most-1); k++ {
			if v := print[k]; v > printed || v < -printed {
				cells = append(cells, k)
			}
		}
	}
	if len(cells) < blockCells {
		return found{}, false
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
	var costs [2*most + 1][2*most + 1]float32
	for dy := -most; dy <= most; dy++ {
		for dx := -most; dx <= most; dx++ {
			c := differs(dx, dy, still)
			if costs[dy+most][dx+most] = c; c < best {
				best, bx, by = c, dx, dy
			}
		}
	}
	if far := max(bx, -bx, by, -by); far == most || far > 1 && best > fits*still {
		return found{}, false
	}
	between := func(before, after float32) float64 {
		return float64(max(-0.5, min(0.5, (before-after)/2/max(before-2*best+after, 1e-9))))
	}
	f := found{by: geom.Point{
		X: float64(bx) + between(differs(bx-1, by, all), differs(bx+1, by, all)),
		Y: float64(by) + between(differs(bx, by-1, all), differs(bx, by+1, all)),
	}}
	for dy := range costs {
		for dx, c := range costs[dy] {
			f.unsure = f.unsure || max(dx-most-bx, bx-dx+most, dy-most-by, by-dy+most) > apart && c < best+(still-best)/2
		}
	}
	return f, true
}

// fit fits a push to what blocks tell, by least squares.
func fit(all []found) (p Push) {
	n := float64(len(all))
	for _, f := range all {
		p.About, p.By = p.About.Add(f.at.Mul(1/n)), p.By.Add(f.by.Mul(1/n))
	}
	turn, square, unsure := 0.0, 0.0, 0
	for _, f := range all {
		if f.unsure {
			unsure++
		}
		r := f.at.Sub(p.About)
		turn, square = turn+r.Cross(f.by), square+r.Dot(r)
	}
	p.Turn, p.Unsure = turn/max(square, 1e-9), 2*unsure > len(all)
	return p
}
