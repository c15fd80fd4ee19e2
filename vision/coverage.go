package vision

import (
	"math"

	"sightline/engine/geom"
)

// Coverage is where a picture shows the learnt mat with nothing on it, in cells of DiffStep. It
// says nothing where a ship hides the mat, in glare, and outside the picture.
type Coverage struct {
	Width, Height int
	Cells         []Cell
}

// Cell is the state of a cell of the mat.
type Cell uint8

// The states of a cell.
const (
	CellUnseen  Cell = iota // outside the picture, or hidden
	CellBare                // the empty mat
	CellCovered             // it differs from the empty mat
)

// At returns the state of the mat at a point; CellUnseen off the mat.
func (b *Coverage) At(p geom.Point) Cell {
	x, y := int(math.Floor(p.X/DiffStep)), int(math.Floor(p.Y/DiffStep))
	if b == nil || x < 0 || y < 0 || x >= b.Width || y >= b.Height {
		return CellUnseen
	}
	return b.Cells[y*b.Width+x]
}

// bareStep is the spacing, in mm, of the points in an outline that are tested.
const bareStep = 3

// inside calls do for points in an outline, bareStep apart.
func inside(outline geom.Polygon, do func(geom.Point)) {
	if len(outline) < 3 {
		return
	}
	lo, hi := outline[0], outline[0]
	for _, p := range outline {
		lo = geom.Point{X: min(lo.X, p.X), Y: min(lo.Y, p.Y)}
		hi = geom.Point{X: max(hi.X, p.X), Y: max(hi.Y, p.Y)}
	}
	for y := lo.Y + bareStep/2; y < hi.Y; y += bareStep {
		for x := lo.X + bareStep/2; x < hi.X; x += bareStep {
			if p := (geom.Point{X: x, Y: y}); outline.Contains(p) {
				do(p)
			}
		}
	}
}

// Contradicts reports whether this view of the mat shows that an obstacle does not lie where
// another camera sees it: of the cells that differ from the mat for the other camera, it sees more
// than half, and more than half of these are empty mat. Parts of many prints are as dark as a mat,
// so cells that look empty to both cameras do not count.
func (b *Coverage) Contradicts(outline geom.Polygon, other *Coverage) bool {
	if b == nil || other == nil {
		return false
	}
	lies, seen, bare := 0, 0, 0
	inside(outline, func(p geom.Point) {
		if other.At(p) != CellCovered {
			return
		}
		lies++
		switch b.At(p) {
		case CellBare:
			seen++
			bare++
		case CellCovered:
			seen++
		}
	})
	return lies > 0 && 2*seen > lies && 2*bare > seen
}

// Clears reports whether this view shows that nothing lies in an outline any more.
func (b *Coverage) Clears(outline geom.Polygon) bool {
	if b == nil {
		return false
	}
	all, bare := 0, 0
	inside(outline, func(p geom.Point) {
		all++
		if b.At(p) == CellBare {
			bare++
		}
	})
	return 10*bare > 9*all
}

// DiffStep is the spacing, in mm, of the cells in which a picture is compared with
// the empty mat.
const DiffStep = 1.0
