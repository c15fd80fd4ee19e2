package under

import (
	"math"

	"sightline/vision/internal/gray"
)

const (
	// An obstacle may be taken for a miniature if apartShare of it or more is where miniatures are seen next to their bases.
	apartShare = 0.5
	// apartOdds limits the expected number of obstacles, of tableObstacles laid anywhere on the mat, within what passes for one miniature.
	// Above it an obstacle may lie there. For 17 miniatures of small ships seen from above (1601 to 1603, 2026-11-28) the number was at
	// most 0.00008, for those seen at 33 degrees at most 0.00015. It was 0.001 for an asteroid next to a large ship that was not reported
	// although 0.6 of it was in view.
	apartOdds      = 1e-4
	tableObstacles = 6
)

// placeApart adds the places where an obstacle would pass for a miniature: it hides no bare mat, apartShare or more of it is where a
// miniature is seen next to its base, and there are more such places than apartOdds allows. miniatures are the cells of what passes for
// miniatures, without shadows.
func (m *Mat) placeApart(miniatures []bool, outlines []*Outline, cells []bool) {
	w, h := m.Width, m.Height
	next := make([]bool, len(cells))
	for k := range next {
		next[k] = miniatures[k] && !m.Covered[k]
	}
	least := math.MaxInt // points of an outline
	for _, s := range outlines {
		least = min(least, s.apartLeast())
	}
	var g *ground
	for _, b := range gray.Blobs(next, w, h, least*pointStep*pointStep/2, 1) {
		if g == nil {
			g = m.ground(closeGap)
		}
		placed, expected := make([]bool, len(cells)), 0.0
		for _, s := range outlines {
			if len(b.Cells) < s.apartLeast()*pointStep*pointStep/2 {
				continue
			}
			n := g.lay(s, b.Box, placed, func(k int, at []int, _, _ float64) bool {
				seen := 0
				for _, d := range at {
					if next[k+d] {
						seen++
					}
				}
				return seen >= s.apartLeast()
			})
			expected += float64(n) * placeStep * placeStep / placeHeadings / float64(w*h) * tableObstacles / float64(len(outlines))
		}
		if expected >= apartOdds {
			g.add(placed, cells)
		}
	}
}

// apartLeast is how many of the outline's points must be where a miniature is seen.
func (s *Outline) apartLeast() int { return int(math.Ceil(apartShare * float64(len(s.points)))) }
