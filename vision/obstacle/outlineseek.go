package obstacle

import (
	"cmp"
	"math"
	"slices"

	"sightline/engine/geom"
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
func (f *Finder) seek(b blob) []hypothesis {
	all := f.seekShapes(b, f.shapes, edgeSeek{2 * math.Pi, seekHeadings, seekWorst, seekFill}, func(s *shape) bool {
		return s.area <= 1.6*float64(len(b.cells))
	})
	slices.SortStableFunc(all, func(a, b hypothesis) int { return cmp.Compare(a.cost, b.cost) })
	return all
}

// seekShapes looks for the shapes that may lie in a blob all over it, and settles the best
// places of each.
func (f *Finder) seekShapes(b blob, shapes []shape, how edgeSeek, fits func(*shape) bool) (all []hypothesis) {
	var places []geom.Point
	for y := b.box.Min.Y; y < b.box.Max.Y; y += seekStep {
		for x := b.box.Min.X; x < b.box.Max.X; x += seekStep {
			if f.focus.isSolid(x, y) {
				places = append(places, geom.Point{X: float64(x) + 0.5, Y: float64(y) + 0.5})
			}
		}
	}
	for i := range shapes {
		if s := &shapes[i]; fits(s) {
			all = append(all, f.seekShape(s, places, how)...)
		}
	}
	for i := range all {
		f.settleByEdges(&all[i])
	}
	return all
}

// seekShape returns the best places of one shape, best first.
func (f *Finder) seekShape(s *shape, places []geom.Point, how edgeSeek) (best []hypothesis) {
	for k := range how.headings {
		turned := f.turn(s, geom.Angle(how.span*float64(k)/float64(how.headings)))
		for _, p := range places {
			limit := how.worst
			if len(best) == seekEach {
				limit = best[seekEach-1].cost
			}
			at := geom.Pose{Point: p, Heading: turned.heading}
			if c := f.edgeCost(turned, p, limit); c < limit && f.filled(s, at, how.fill) {
				best = insertGuess(best, hypothesis{s, at, c})
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
	t := turnedShape{heading: heading}
	sin, cos := math.Sincos(float64(heading))
	n := len(s.border)
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

// edgeCost is the mean distance, in mm, of an outline from edges of its direction; a
// large number when it is more than limit.
func (f *Finder) edgeCost(t turnedShape, at geom.Point, limit float64) float64 {
	var sum float64
	limit *= float64(len(t.points))
	for i, p := range t.points {
		if k, ok := f.focus.at(int(at.X+p.X), int(at.Y+p.Y)); ok {
			sum += nearCost[f.focus.edges.near[t.fields[i]][k]]
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
	descend(c, func(p geom.Pose) float64 { return f.edgeCost(f.turn(c.shape, p.Heading), p.Point, math.Inf(1)) })
}
