package vision

import (
	"math"

	"sightline/engine/geom"
)

// bareMat is where a picture shows the mat as it was learnt, with nothing on it, in
// cells of diffStep. Where a ship hides the mat, where glare is, and outside the picture
// it says nothing.
type bareMat struct {
	width, height int
	cells         []cellSight
}

// cellSight is what a picture shows of a cell of the mat.
type cellSight uint8

const (
	cellUnseen cellSight = iota
	cellBare
	cellCovered // it differs from the empty mat
)

// at returns what is seen of a point on the mat; nothing off the mat.
func (b *bareMat) at(p geom.Point) cellSight {
	x, y := int(math.Floor(p.X/diffStep)), int(math.Floor(p.Y/diffStep))
	if b == nil || x < 0 || y < 0 || x >= b.width || y >= b.height {
		return cellUnseen
	}
	return b.cells[y*b.width+x]
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

// contradicts reports whether a sight of the mat says that an obstacle does not lie where
// another camera's sight has it: of what differs from the mat for that one, it sees more
// than half, and more than half of what it sees is the empty mat. Prints are dark like many a
// mat in part, so that what looks bare to both speaks against nobody.
func (b *bareMat) contradicts(outline geom.Polygon, other *bareMat) bool {
	if b == nil || other == nil {
		return false
	}
	lies, seen, bare := 0, 0, 0
	inside(outline, func(p geom.Point) {
		if other.at(p) != cellCovered {
			return
		}
		lies++
		switch b.at(p) {
		case cellBare:
			seen++
			bare++
		case cellCovered:
			seen++
		}
	})
	return lies > 0 && 2*seen > lies && 2*bare > seen
}

// clears reports whether a sight of the mat shows that nothing lies in an outline any more.
func (b *bareMat) clears(outline geom.Polygon) bool {
	if b == nil {
		return false
	}
	all, bare := 0, 0
	inside(outline, func(p geom.Point) {
		all++
		if b.at(p) == cellBare {
			bare++
		}
	})
	return 10*bare > 9*all
}
