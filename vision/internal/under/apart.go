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
	// Where doubtOdds and more are expected with doubtShare of them in view, what is seen beyond the base is in doubt: three rocks of which
	// 0.39 to 0.54 was in view next to a freighter's saucer were silent (1613 and 1631, pasted; the number was 0.0002 and more), and so were
	// an asteroid that the catalogue lacks (1621, 0.00009) and one of which 0.90 was in view in noise (1681, 0.0001). It is 0.0001 or more
	// for 60 of 326 miniatures without a rock (35 pictures of 1601 to 1644, 2026-11-28). The doubtRim cells next to the mat are left out:
	// squares that lie half on them differ from it too, and lines count as on it from 3 mm away.
	doubtOdds            = 5e-5
	doubtShare, doubtRim = 0.35, 2
)

// placeApart adds the places where an obstacle would pass for a miniature: it hides no bare mat, apartShare or more of it is where a
// miniature is seen next to its base, and there are more such places than apartOdds allows. Where there are as many with doubtShare, it
// adds what is seen of the miniature. miniatures are the cells of what passes for miniatures, without shadows.
func (m *Mat) placeApart(miniatures []bool, outlines []*Outline, cells []bool) {
	w, h := m.Width, m.Height
	next := make([]bool, len(cells))
	for k := range next {
		next[k] = miniatures[k] && !m.Covered[k]
	}
	least := math.MaxInt // points of an outline
	for _, s := range outlines {
		least = min(least, s.share(doubtShare))
	}
	var g *ground
	var inner []bool
	for _, b := range gray.Blobs(next, w, h, least*pointStep*pointStep/2, 1) {
		if g == nil {
			g, inner = m.ground(closeGap), gray.BoxMask(next, w, h, doubtRim, false)
		}
		placed := make([]bool, len(cells))
		expected, doubtful := m.expected(g, b, next, outlines, placed)
		if expected >= apartOdds {
			g.add(placed, cells)
		}
		if doubtful >= doubtOdds {
			for _, k := range b.Cells {
				cells[k] = cells[k] || inner[k]
			}
		}
	}
}

// expected returns how many obstacles are expected where a blob of a miniature is seen, with apartShare and with doubtShare of them in
// view. placed gets the cells of the former.
func (m *Mat) expected(g *ground, b gray.Blob, next []bool, outlines []*Outline, placed []bool) (apart, doubtful float64) {
	for _, s := range outlines {
		if len(b.Cells) < s.share(doubtShare)*pointStep*pointStep/2 {
			continue
		}
		n, some := 0, 0
		n = g.lay(s, b.Box, placed, func(k int, at []int, _, _ float64) bool {
			seen := 0
			for _, d := range at {
				if next[k+d] {
					seen++
				}
			}
			if seen >= s.share(doubtShare) {
				some++
			}
			return seen >= s.share(apartShare)
		})
		each := float64(placeStep*placeStep) / placeHeadings / float64(m.Width*m.Height) * tableObstacles / float64(len(outlines))
		apart, doubtful = apart+float64(n)*each, doubtful+float64(some)*each
	}
	return apart, doubtful
}

// share is how many of the outline's points are a share of them, at least.
func (s *Outline) share(of float64) int { return int(math.Ceil(of * float64(len(s.points)))) }
