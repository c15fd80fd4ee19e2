package obstacle

import (
	"cmp"
	"image"
	"math"
	"slices"

	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/internal/ghost"
	"sightline/vision/internal/gray"
)

// A matcher recognises the catalogue's outline that a blob of the compared picture shows. bright:
// only what is lighter than the mat is in the blob, so that no shadow is part of it.
type matcher interface {
	match(g *image.Gray, b gray.Blob, bright bool) (vision.ObstacleView, bool)
}

// recognise asks one matcher after the other until an answer may stand in a scene. Where nothing fits what
// is lighter than the mat, the search of all that differs from it follows: no more is asked there.
func (f *Finder) recognise(g *image.Gray, b gray.Blob, bright bool) (v vision.ObstacleView, ok bool) {
	for _, m := range f.matchers {
		if o, found := m.match(g, b, bright); found {
			v, ok = o, true
			v.Denied = f.accepted(&v) && (f.deniedByArea(&v) || ghost.Of(v.Outline, f.diff.work, f.diff.diff, f.diff.view.Width))
		}
		if f.accepted(&v) || bright && !(ok && v.Misfit < f.good) {
			break
		}
	}
	return v, ok
}

// edgeMatcher goes by the outline's edges: the mask's border and the steps of light in the picture.
type edgeMatcher struct{ *Finder }

const (
	headings     = 60
	goodMisfit   = 0.40 // an obstacle that fits better is not searched for any further
	scanHeadings = 36
	scanStep     = 4 // mm
)

// match finds the catalogue's outline that fits a blob best: centred on the blob
// first; where that fits badly, because shadow or another thing is part of the blob,
// anywhere in it.
func (f edgeMatcher) match(g *image.Gray, b gray.Blob, scan bool) (vision.ObstacleView, bool) {
	w := f.diff.view.Width
	var center geom.Point
	for _, c := range b.Cells {
		center.X += (float64(int(c)%w) + 0.5) * vision.DiffStep
		center.Y += (float64(int(c)/w) + 0.5) * vision.DiffStep
	}
	area := float64(len(b.Cells))
	center = center.Mul(1 / area)
	var guesses []hypothesis
	for i := range f.shapes {
		s := &f.shapes[i]
		if s.area < 0.7*area || s.area > 1.4*area {
			continue
		}
		for k := range headings {
			pose := geom.Pose{Point: center, Heading: geom.Angle(2 * math.Pi * float64(k) / headings)}
			guesses = append(guesses, hypothesis{s, pose, f.cost(s, turnOf(pose), math.Inf(1))})
		}
	}
	best, ok := f.best(g, guesses)
	if ok && best.Misfit < f.good {
		return best, ok
	}
	better := func(other vision.ObstacleView, found bool) {
		if found && (!ok || compareViews(&other, &best) < 0) {
			best, ok = other, true
		}
	}
	if scan {
		better(f.best(g, f.scan(b)))
	}
	if !ok || best.Misfit > f.good {
		other, found := f.fitBest(g, f.seek(b), seekFits)
		better(other, found && (other.Sure || other.Misfit < seekMisfit && (other.Second == "" || other.Margin > seekMargin)))
	}
	return best, ok
}

// Among so many more guesses a wrong one may fit by chance: what is found by the edges
// alone must fit better, and alone.
const (
	seekMisfit = 0.30
	seekMargin = 0.10
)

// How many guesses are fitted to the picture, of those by the mask and by the edges.
const (
	maskFits = 6
	seekFits = 16
	faceFits = 6
)

// scan tries every outline all over a blob.
func (f edgeMatcher) scan(b gray.Blob) []hypothesis {
	const worst = 1.6
	var out []hypothesis
	f.lanes.set(&f.focus, f.focus.near, b, scanStep, f.widest)
	for i := range f.shapes {
		s := &f.shapes[i]
		if s.area > 1.2*float64(len(b.Cells)) {
			continue
		}
		var turns [scanHeadings]turn
		var offsets [scanHeadings][]int
		for k := range turns {
			turns[k] = turnOf(geom.Pose{Heading: geom.Angle(2 * math.Pi * float64(k) / scanHeadings)})
			offsets[k] = f.lanes.offsets(f.cellsOf(f.turn(s, turns[k].Heading)).at, nil)
		}
		most := laneLimit(worst, len(s.border))
		for j := range f.lanes.chunks {
			chunk := &f.lanes.chunks[j]
			var below [scanHeadings]uint8
			for k := range below {
				below[k] = f.lanes.below(offsets[k], chunk, most)
			}
			for place := range 8 {
				for k := range turns {
					if below[k]>>place&1 == 0 {
						continue
					}
					t := &turns[k]
					t.X, t.Y = float64(chunk.x+scanStep*place)+0.5, float64(chunk.y)+0.5
					if !f.filled(s, *t, 1) {
						continue
					}
					if c := f.cost(s, *t, worst); c < worst {
						out = append(out, hypothesis{s, t.Pose, c})
					}
				}
			}
		}
	}
	return out
}

// turn is a pose with the sine and the cosine of its heading.
type turn struct {
	geom.Pose
	sin, cos float64
}

func turnOf(p geom.Pose) turn {
	sin, cos := math.Sincos(float64(p.Heading))
	return turn{p, sin, cos}
}

// cell returns the cell of a point in the token's frame.
func (t *turn) cell(p geom.Point) (i, j int) {
	return int(t.X + t.cos*p.X + t.sin*p.Y), int(t.Y - t.sin*p.X + t.cos*p.Y)
}

// filled reports whether at least a share of an outline's inside is part of the mask.
func (f *Finder) filled(s *shape, t turn, share float64) bool {
	in := len(s.inner)
	for _, p := range s.inner {
		if f.focus.isSolid(t.cell(p)) {
			continue
		}
		if in--; float64(in) < share*float64(len(s.inner)) {
			return false
		}
	}
	return true
}

// best settles the best guesses and fits them to the picture.
func (f edgeMatcher) best(g *image.Gray, guesses []hypothesis) (best vision.ObstacleView, ok bool) {
	slices.SortFunc(guesses, func(a, b hypothesis) int { return cmp.Compare(a.cost, b.cost) })
	guesses = slices.Clone(guesses[:min(len(guesses), 60)])
	for i := range guesses {
		f.settle(&guesses[i])
	}
	slices.SortFunc(guesses, func(a, b hypothesis) int { return cmp.Compare(a.cost, b.cost) })
	return f.fitBest(g, guesses, maskFits)
}

// fitBest fits the first of some guesses, the best first, to the picture.
func (f edgeMatcher) fitBest(g *image.Gray, guesses []hypothesis, most int) (best vision.ObstacleView, ok bool) {
	var fits []vision.ObstacleView
	tried := 0
	for i, c := range guesses {
		if tried >= most || c.cost > 2.5 {
			break
		}
		if slices.ContainsFunc(guesses[:i], func(o hypothesis) bool { return o.shape == c.shape && alike(o.pose, c.pose, 3, 0.1) }) {
			continue
		}
		tried++
		if v, ok := f.refineOnce(g, c); ok && v.Visible >= acceptVisible {
			fits = append(fits, v)
		}
	}
	if len(fits) == 0 {
		return best, false
	}
	best = f.leader(fits)
	if f.accepted(&best) {
		best = f.leader(append(fits, f.otherFace(g, &best)...))
	}
	return best, true
}

// leader returns the fit that is sure, or else the one whose edges fit best.
func (f *Finder) leader(fits []vision.ObstacleView) vision.ObstacleView {
	best := leading(fits, costOf)
	if best.Sure = f.sureOf(&best); best.Sure {
		return best
	}
	return leading(fits, func(v *vision.ObstacleView) float64 { return v.Misfit })
}

// otherFace fits the other face of what is about to be believed at the same place, however it is turned: a face that was not among
// the guesses would be no rival.
func (f edgeMatcher) otherFace(g *image.Gray, v *vision.ObstacleView) (fits []vision.ObstacleView) {
	for i := range f.shapes {
		s := &f.shapes[i]
		if s.entry != v.Entry || s.flipped == v.Flipped {
			continue
		}
		var guesses []hypothesis
		for k := range headings {
			pose := geom.Pose{Point: v.Pose.Point, Heading: geom.Angle(2 * math.Pi * float64(k) / headings)}
			guesses = append(guesses, hypothesis{s, pose, f.edgeCost(f.turn(s, pose.Heading), pose.Point, math.Inf(1))})
		}
		slices.SortStableFunc(guesses, func(a, b hypothesis) int { return cmp.Compare(a.cost, b.cost) })
		for _, c := range guesses[:faceFits] {
			f.settleByEdges(&c)
			if o, ok := f.refineOnce(g, c); ok && o.Visible >= acceptVisible {
				fits = append(fits, o)
			}
		}
	}
	return fits
}

// A place is where an outline may lie.
type place struct {
	shape *shape
	pose  geom.Pose
}

// refineOnce is refine, which is not done again for a guess of the same search: what is lighter than the mat and all that differs
// from it have many in common.
func (f *Finder) refineOnce(g *image.Gray, c hypothesis) (vision.ObstacleView, bool) {
	at := place{c.shape, c.pose}
	fit, ok := f.refined[at]
	if !ok {
		if v, ok := f.refine(g, c); ok {
			fit = &v
		}
		f.refined[at] = fit
	}
	if fit == nil {
		return vision.ObstacleView{}, false
	}
	return *fit, true
}

// leading returns the fit that costs least, with the next that is another one.
func leading(fits []vision.ObstacleView, cost func(*vision.ObstacleView) float64) vision.ObstacleView {
	slices.SortStableFunc(fits, func(a, b vision.ObstacleView) int { return cmp.Compare(cost(&a), cost(&b)) })
	best := fits[0]
	for i := range fits[1:] {
		if v := &fits[i+1]; !samePlace(v, &best) {
			best.Second, best.Margin = v.Entry.Name, cost(v)-cost(&best)
			break
		}
	}
	return best
}

// samePlace reports whether two fits put the same face of an entry into about the same place.
func samePlace(v, o *vision.ObstacleView) bool {
	return v.Entry == o.Entry && v.Flipped == o.Flipped && alike(v.Pose, o.Pose, 3, 0.18)
}

// alike reports whether two poses are less than reach mm and turn rad apart.
func alike(p, o geom.Pose, reach geom.Length, turn float64) bool {
	return p.Distance(o.Point) < reach && float64(p.Heading.Distance(o.Heading)) < turn
}

// compareViews orders matches by which is believed rather than the other: what is sure, and
// then what fits better; what is denied last.
func compareViews(v, o *vision.ObstacleView) int {
	switch {
	case v.Denied != o.Denied:
		if v.Denied {
			return 1
		}
		return -1
	case v.Sure && o.Sure:
		return cmp.Compare(costOf(v), costOf(o))
	case v.Sure:
		return -1
	case o.Sure:
		return 1
	}
	return cmp.Compare(rankOf(v), rankOf(o))
}

// rankOf is the misfit; of what the area decided, the edges may count for little.
func rankOf(v *vision.ObstacleView) float64 {
	if v.Area > 0 {
		return min(v.Misfit, goodMisfit)
	}
	return v.Misfit
}

// costOf is how badly a fit explains the picture, by its edges and by what lies inside and
// outside.
func costOf(v *vision.ObstacleView) float64 { return v.Misfit + regionWeight*v.Region }

// cost is the mean distance, in mm, of an outline from the mask's border, and more
// where its inside is empty or its outside is not; a large number when it is more than limit.
func (f edgeMatcher) cost(s *shape, t turn, limit float64) float64 {
	var sum float64
	most := limit * float64(len(s.border)) * (1 + 1e-9) // what the rounding of the mean may hide
	for _, p := range s.border {
		if k, ok := f.focus.at(t.cell(p)); ok {
			sum += nearCost[f.focus.near[k]]
		} else {
			sum += nearCosts
		}
		if sum > most {
			return math.Inf(1)
		}
	}
	sum /= float64(len(s.border))
	for _, p := range s.inner {
		if k, ok := f.focus.at(t.cell(p)); !ok || !f.focus.solid[k] {
			sum += 2 / float64(len(s.inner))
		}
	}
	for _, p := range s.outer {
		if k, ok := f.focus.at(t.cell(p)); ok && f.focus.solid[k] {
			sum += 1 / float64(len(s.outer))
		}
	}
	return sum
}

// settle moves a guess downhill in small steps.
func (f edgeMatcher) settle(c *hypothesis) {
	descend(c, func(p geom.Pose) float64 { return f.cost(c.shape, turnOf(p), math.Inf(1)) })
}

// descend moves a guess to where it costs less, in steps that become smaller.
func descend(c *hypothesis, cost func(geom.Pose) float64) {
	move, turn := 2.0, 0.06
	c.cost = cost(c.pose)
	for range 12 {
		improved := false
		for _, d := range [...][3]float64{{move, 0, 0}, {-move, 0, 0}, {0, move, 0}, {0, -move, 0}, {0, 0, turn}, {0, 0, -turn}} {
			p := c.pose
			p.X, p.Y, p.Heading = p.X+d[0], p.Y+d[1], p.Heading+geom.Angle(d[2])
			if v := cost(p); v < c.cost {
				c.pose, c.cost, improved = p, v, true
			}
		}
		if !improved {
			move, turn = move/2, turn/2
		}
	}
}
