package under

import (
	"image"
	"math"
	"slices"

	"sightline/vision/internal/gray"
)

// ground is where outlines may lie.
type ground struct {
	w, h int
	free []bool         // cells where the picture does not show bare mat
	room map[int][]bool // by half side: where a square of so many cells to each side holds no bare mat
}

// ground returns where outlines may lie, with gaps of so many cells closed in what lies on the mat.
func (m *Mat) ground(gap int) *ground {
	g := &ground{m.Width, m.Height, gray.Close(m.Lies, m.Width, m.Height, gap), map[int][]bool{}}
	for k := range g.free {
		g.free[k] = g.free[k] || m.Covered[k] || !m.Seen[k]
	}
	return g
}

// lay tries an outline in all headings, its middle no farther from a rectangle than the outline reaches. It adds to placed the cells of
// each place that hides no bare mat and fits, and returns how many places there are. fits gets the cell of the middle, how far from it the
// outline's points are, in cells, and the heading.
func (g *ground) lay(s *Outline, about image.Rectangle, placed []bool, fits func(k int, at []int, sin, cos float64) bool) (n int) {
	spots := g.spots(s, about)
	at := make([]int, len(s.points))
	for turn := 0; turn < placeHeadings && len(spots) > 0; turn++ {
		sin, cos := math.Sincos(2 * math.Pi * float64(turn) / placeHeadings)
		for i, p := range s.points {
			at[i] = int(math.Round(-sin*p.X+cos*p.Y))*g.w + int(math.Round(cos*p.X+sin*p.Y))
		}
		for _, k := range spots {
			if slices.ContainsFunc(at, func(d int) bool { return !g.free[k+d] }) || !fits(k, at, sin, cos) {
				continue
			}
			n++
			for _, d := range at {
				placed[k+d] = true
			}
		}
	}
	return n
}

// spots returns the cells near a rectangle where the middle of an outline has room.
func (g *ground) spots(s *Outline, about image.Rectangle) (out []int) {
	if g.room[s.half] == nil {
		g.room[s.half] = gray.BoxMask(g.free, g.w, g.h, s.half, false)
	}
	box := about.Inset(-s.reach).Intersect(image.Rect(s.reach, s.reach, g.w-s.reach, g.h-s.reach))
	for y := box.Min.Y; y < box.Max.Y; y += placeStep {
		for x := box.Min.X; x < box.Max.X; x += placeStep {
			if k := y*g.w + x; g.room[s.half][k] {
				out = append(out, k)
			}
		}
	}
	return out
}

// add adds to cells what was placed, and the cells next to it that are free.
func (g *ground) add(placed, cells []bool) {
	for k, set := range gray.BoxMask(placed, g.w, g.h, 1, true) {
		cells[k] = cells[k] || set && g.free[k]
	}
}
