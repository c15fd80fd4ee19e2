package vision

import (
	"math"

	"sightline/engine/geom"
)

// Coverage is where a picture shows the mat as it was learnt, with nothing on it, in
// cells of DiffStep. Where a ship hides the mat, where glare is, and outside the picture
// it says nothing.
type Coverage struct {
	Width, Height int
	Cells         []Cell
}

// Cell is what a picture shows of a cell of the mat.
type Cell uint8

// The cells.
const (
	CellUnseen  Cell = iota // outside the picture, or hidden
	CellBare                // the empty mat
	CellCovered             // it differs from the empty mat
)

// At returns what is seen of a point on the mat; nothing off the mat.
func (b *Coverage) At(p geom.Point) Cell {
	x, y := int(math.Floor(p.X/DiffStep)), int(math.Floor(p.Y/DiffStep))
	if b == nil || x < 0 || y < 0 || x >= b.Width || y >= b.Height {
		return CellUnseen
	}
	return b.Cells[y*b.Width+x]
}

// bareStep is how far apart, in mm, an outline's inside is asked whether it is bare.
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

// Contradicts reports whether a sight of the mat says that an obstacle does not lie where
// another camera's sight has it: of what differs from the mat for that one, it sees more
// than half, and more than half of what it sees is the empty mat. Prints are dark like many a
// mat in part, so that what looks bare to both speaks against no camera.
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

// Clears reports whether a sight of the mat shows that nothing lies in an outline any more.
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
