package obstacle

import (
	"cmp"
	"image"
	"math"
	"math/bits"
	"slices"

	"sightline/engine/geom"
	"sightline/vision/internal/gray"
)

// Steps of the search by edges. The distance to an edge grows evenly over nearMost, so
// that a guess 3 mm and 5° off still costs less than a wrong one.
const (
	seekStep     = 3 // mm
	seekHeadings = 36
	seekWorst    = 2.2 // mm: mean distance of an outline from edges
	seekEach     = 4   // guesses of each face that are settled
	seekFill     = 0.6 // share of an outline's inside that must differ from the mat
)

// edgeSeek says how outlines are sought by the edges in a blob.
type edgeSeek struct {
	span     float64 // rad: the headings that differ from each other
	headings int     // that are tried
	worst    float64 // mm: mean distance of an outline from edges
	fill     float64 // share of an outline's inside that must differ from the mat
}

// seek looks for every outline all over a blob by the edges in it. It is slow and finds
// what shadow or another thing close by hides from the mask's border.
func (f *Finder) seek(b gray.Blob) []hypothesis {
	all := f.seekShapes(b, f.shapes, edgeSeek{2 * math.Pi, seekHeadings, seekWorst, seekFill}, func(s *shape) bool {
		return s.area <= 1.6*float64(len(b.Cells))
	})
	slices.SortStableFunc(all, func(a, b hypothesis) int { return cmp.Compare(a.cost, b.cost) })
	return all
}

// seekShapes looks for the shapes that may lie in a blob all over it, and settles the best
// places of each.
func (f *Finder) seekShapes(b gray.Blob, shapes []shape, how edgeSeek, fits func(*shape) bool) (all []hypothesis) {
	var radius float64
	for i := range shapes {
		radius = max(radius, shapes[i].radius)
	}
	f.lanes.set(&f.focus, f.focus.edges.near, b, seekStep, radius)
	for i := range shapes {
		if s := &shapes[i]; fits(s) {
			all = append(all, f.seekShape(s, how)...)
		}
	}
	for i := range all {
		f.settleByEdges(&all[i])
	}
	return all
}

// seekShape returns the best of the lanes' places for one shape, best first.
func (f *Finder) seekShape(s *shape, how edgeSeek) (best []hypothesis) {
	for k := range how.headings {
		turned := f.turn(s, geom.Angle(how.span*float64(k)/float64(how.headings)))
		cells, lies := f.cellsOf(turned), turnOf(geom.Pose{Heading: turned.heading})
		offsets, limit := f.lanes.offsets(cells.at, cells.fields), how.worst
		if len(best) == seekEach {
			limit = best[seekEach-1].cost
		}
		most := laneLimit(limit, len(offsets))
		for i := range f.lanes.chunks {
			chunk := &f.lanes.chunks[i]
			for left := f.lanes.below(offsets, chunk, most); left != 0; left &= left - 1 {
				x, y := chunk.x+seekStep*bits.TrailingZeros8(left), chunk.y
				lies.Point = geom.Point{X: float64(x) + 0.5, Y: float64(y) + 0.5}
				var c float64
				if at := image.Pt(x, y).Sub(f.focus.box.Min); cells.within(at.X, at.Y, &f.focus) {
					c = cells.cost(f.focus.edges.near, at.Y*f.focus.box.Dx()+at.X, limit)
				} else {
					c = f.edgeCost(turned, lies.Point, limit)
				}
				if c < limit && f.filled(s, lies, how.fill) {
					best = insertGuess(best, hypothesis{s, lies.Pose, c})
					if len(best) == seekEach {
						limit = best[seekEach-1].cost
						most = laneLimit(limit, len(offsets))
					}
				}
			}
		}
	}
	return best
}

// insertGuess keeps the best seekEach guesses, best first, of places that differ.
func insertGuess(best []hypothesis, g hypothesis) []hypothesis {
	at := 0
	for i := range best {
		if alike(best[i].pose, g.pose, 2*seekStep, 0.3) {
			if best[i].cost <= g.cost {
				return best
			}
			best = slices.Delete(best, i, i+1)
			break
		}
	}
	for at < len(best) && best[at].cost <= g.cost {
		at++
	}
	best = slices.Insert(best, at, g)
	return best[:min(len(best), seekEach)]
}

// turnedShape is an outline's border at one heading, with the field of each point.
type turnedShape struct {
	heading geom.Angle
	points  []geom.Point
	fields  []int
}

// turn returns a shape's border at a heading, in an order in which neighbours are
// apart, so that a wrong place is soon given up.
func (f *Finder) turn(s *shape, heading geom.Angle) turnedShape {
	n := len(s.border)
	t := turnedShape{heading: heading, points: make([]geom.Point, 0, n), fields: make([]int, 0, n)}
	sin, cos := math.Sincos(float64(heading))
	for i := range n {
		k := i * 7 % n
		if n%7 == 0 {
			k = i
		}
		p := s.border[k]
		t.points = append(t.points, geom.Point{X: cos*p.X + sin*p.Y, Y: -sin*p.X + cos*p.Y})
		t.fields = append(t.fields, direction(s.normals[k]-float64(heading)))
	}
	return t
}

// turnedCells are the cells of a turned outline's points in the fields of the focus, from the cell where it lies.
type turnedCells struct {
	lo, hi  image.Point
	at      []image.Point
	fields  []int
	offsets []int
}

// cellsOf returns the cells of an outline that lies in the middle of a cell.
func (f *Finder) cellsOf(t turnedShape) *turnedCells {
	n := len(t.points)
	c := &turnedCells{fields: t.fields, at: make([]image.Point, 0, n), offsets: make([]int, 0, n)}
	w, h := f.focus.box.Dx(), f.focus.box.Dy()
	for i, p := range t.points {
		at := image.Pt(int(math.Floor(p.X+0.5)), int(math.Floor(p.Y+0.5)))
		c.lo, c.hi = image.Pt(min(c.lo.X, at.X), min(c.lo.Y, at.Y)), image.Pt(max(c.hi.X, at.X), max(c.hi.Y, at.Y))
		c.at = append(c.at, at)
		c.offsets = append(c.offsets, (t.fields[i]*h+at.Y)*w+at.X)
	}
	return c
}

// within reports whether all points of the outline lie in the focus, if it lies at a cell of it.
func (c *turnedCells) within(x, y int, s *focus) bool {
	return x+c.lo.X >= 0 && y+c.lo.Y >= 0 && x+c.hi.X < s.box.Dx() && y+c.hi.Y < s.box.Dy()
}

// cost is edgeCost at a cell.
func (c *turnedCells) cost(near []uint8, cell int, limit float64) float64 {
	var sum float64
	limit *= float64(len(c.offsets))
	for _, o := range c.offsets {
		if sum += nearCost[near[cell+o]]; sum > limit {
			return math.Inf(1)
		}
	}
	return sum / float64(len(c.offsets))
}

// edgeCost is the mean distance, in mm, of an outline from edges of its direction; a
// large number when it is more than limit.
func (f *Finder) edgeCost(t turnedShape, at geom.Point, limit float64) float64 {
	var sum float64
	limit *= float64(len(t.points))
	for i, p := range t.points {
		if k, ok := f.focus.at(int(at.X+p.X), int(at.Y+p.Y)); ok {
			sum += nearCost[f.focus.edges.near[t.fields[i]*len(f.focus.near)+k]]
		} else {
			sum += nearCosts
		}
		if sum > limit {
			return math.Inf(1)
		}
	}
	return sum / float64(len(t.points))
}

// settleByEdges moves a guess downhill in small steps.
func (f *Finder) settleByEdges(c *hypothesis) {
	turned := f.turn(c.shape, c.pose.Heading) // most steps do not turn it
	descend(c, func(p geom.Pose) float64 {
		if p.Heading != turned.heading {
			turned = f.turn(c.shape, p.Heading)
		}
		return f.edgeCost(turned, p.Point, math.Inf(1))
	})
}
