package geom

import (
	"math"
	"slices"
)

// MeetsInterior reports whether the segment from a to b passes through the
// polygon's interior by more than tol: grazing the boundary is not through. A
// segment of no length passes through when it lies deeper inside than tol.
func (g Polygon) MeetsInterior(a, b Point, tol float64) bool {
	tol = max(tol, 1e-9)
	_, d := g.Deeper(a, b, tol)
	return d > tol
}

// Deeper returns a point of the segment from a to b that lies deeper inside the polygon
// than some depth, in mm, not below 1e-9, and its own depth. Where there is none such the
// depth that it returns is no more than the one given.
func (g Polygon) Deeper(a, b Point, than float64) (Point, float64) {
	d := deepest{g: g, a: a, b: b, tol: max(than, 1e-9), budget: 4096}
	d.best, d.stop = d.tol, true
	d.run()
	return d.at, d.best
}

// Deepest returns the point of the segment from a to b that lies deepest inside
// the polygon, and its depth in mm, exact to tol (not below 1e-9 mm). A segment
// that stays outside has a depth of zero or less, which is then only a bound and
// not its distance.
func (g Polygon) Deepest(a, b Point, tol float64) (Point, float64) {
	d := deepest{g: g, a: a, b: b, tol: max(tol, 1e-9), budget: 4096, best: math.Inf(-1)}
	d.run()
	return d.at, d.best
}

// DeepestBeyond returns the depth in mm of the point of the segment from a to b that lies deepest
// inside the polygon, exact to tol, or known where no point is deeper than that by more than tol. It
// is faster than [Polygon.Deepest].
func (g Polygon) DeepestBeyond(a, b Point, tol, known float64) float64 {
	d := deepest{g: g, a: a, b: b, tol: max(tol, 1e-9), budget: 4096, best: known}
	d.run()
	return d.best
}

// run looks into every piece that is inside, and at both ends where there is none.
func (d *deepest) run() {
	// Cut the segment where it crosses the outline: inside each piece the depth
	// keeps its sign, so that the shortest chord cannot be missed.
	g, a, b := d.g, d.a, d.b
	var room [32]float64 // more crossings than most outlines have; on the stack
	cuts := append(room[:0], 0, 1)
	for i, j := 0, len(g)-1; i < len(g); j, i = i, i+1 {
		if t, ok := crossAt(a, b, g[j], g[i]); ok {
			cuts = append(cuts, t)
		}
	}
	slices.Sort(cuts)
	var chords [256]chord // of the outline and of the shrinking lists below it; on the stack
	for i := 1; i < len(cuts); i++ {
		if cuts[i] > cuts[i-1] && g.Contains(a.Lerp(b, (cuts[i]+cuts[i-1])/2)) {
			d.piece(cuts[i-1], cuts[i], chords[:0])
		}
	}
	if d.best < 0 {
		for _, p := range [...]Point{a, b} {
			if depth := -g.BoundaryDistance(p); depth > d.best {
				d.best, d.at = depth, p
			}
		}
	}
}

// piece looks at both ends of a piece that is inside, and into it.
func (d *deepest) piece(t0, t1 float64, chords []chord) {
	p, q := d.a.Lerp(d.b, t0), d.a.Lerp(d.b, t1)
	from, to := math.Inf(1), math.Inf(1)
	for i, j := 0, len(d.g)-1; i < len(d.g); j, i = i, i+1 {
		c := chord{int32(j), math.Sqrt(squareFrom(p, d.g[j], d.g[i])), math.Sqrt(squareFrom(q, d.g[j], d.g[i]))}
		from, to = min(from, c.from), min(to, c.to)
		chords = append(chords, c)
	}
	if from > d.best {
		d.best, d.at = from, p
	}
	if to > d.best {
		d.best, d.at = to, q
	}
	d.search(t0, t1, chords)
}

// crossAt returns where along ab the segment cd crosses it.
func crossAt(a, b, c, d Point) (float64, bool) {
	u, v, w := b.Sub(a), d.Sub(c), c.Sub(a)
	const slack = 1e-9 // of the edge's length: a crossing at a corner counts for both edges
	den := u.Cross(v)
	from := u.Cross(w) // how far c is to the left of ab, and d
	if to := from + den; from*to > 0 && min(math.Abs(from), math.Abs(to)) > 2*slack*math.Abs(den) {
		return 0, false
	}
	if den == 0 {
		return 0, false
	}
	t, s := w.Cross(v)/den, -from/den
	return t, t > 0 && t < 1 && s >= -slack && s <= 1+slack
}

// deepest is a branch and bound over a segment. The distance from any one edge
// is convex along the segment, so that over a piece it is nowhere more than its chord;
// the depth, the least of these distances, cannot exceed the least of the chords.
type deepest struct {
	g      Polygon
	a, b   Point
	tol    float64
	best   float64
	at     Point
	stop   bool // at anything deeper than tol
	budget int
}

// chord is the distance of an edge from both ends of a piece.
type chord struct {
	edge     int32
	from, to float64
}

// rise returns how much more the distance is at the piece's end than at its beginning.
func (c *chord) rise() float64 { return c.to - c.from }

// search looks into the piece from t0 to t1. chords are those of the edges that may
// be the nearest to some point of it; search overwrites them.
func (d *deepest) search(t0, t1 float64, chords []chord) {
	d.budget--
	if d.budget < 0 || d.stop && d.best > d.tol {
		return
	}
	limit := d.best + d.tol
	if d.stop {
		limit = d.best
	}
	t, most := peak(chords, limit)
	if most <= limit {
		return
	}
	const share = 1.0 / 16 // of the piece at least: where the peak is at an end, the halves shrink
	t = t0 + (t1-t0)*min(max(t, share), 1-share)
	p, m, q := d.a.Lerp(d.b, t0), d.a.Lerp(d.b, t), d.a.Lerp(d.b, t1)
	left, right := m.Sub(p), q.Sub(m)
	// An edge is no nearer to any point of a piece than half of what its distances from both ends
	// exceed the piece's length.
	reach := 2 * most * (1 + 1e-9)
	leftReach, rightReach := reach+math.Sqrt(left.Dot(left)), reach+math.Sqrt(right.Dot(right))
	least := math.Inf(1)
	before, after := chords[len(chords):], chords[:0] // the first behind the list, in the same array while it lasts
	for _, c := range chords {
		v := squareFrom(m, d.g[c.edge], d.g.after(int(c.edge)))
		least = min(least, v)
		at := math.Sqrt(v)
		if c.from+at <= leftReach {
			before = append(before, chord{c.edge, c.from, at})
		}
		if at+c.to <= rightReach {
			after = append(after, chord{c.edge, at, c.to})
		}
	}
	if depth := math.Sqrt(least); depth > d.best { // the piece is inside
		d.best, d.at = depth, m
	}
	d.search(t0, t, before)
	d.search(t, t1, after)
}

// peak returns a bound for the least of the chords, and about where along the piece, from 0 to 1,
// that is largest. A bound of no more than enough need not be the lowest.
func peak(chords []chord, enough float64) (t, bound float64) {
	up, down := &chords[0], &chords[0] // the lowest at the beginning and at the end
	for i := range chords {
		c := &chords[i]
		if c.from < up.from || c.from == up.from && c.to < up.to {
			up = c
		}
		if c.to < down.to || c.to == down.to && c.from < down.from {
			down = c
		}
	}
	if up.rise() <= 0 {
		return 0, up.from
	}
	if down.rise() >= 0 {
		return 1, down.to
	}
	for range 8 { // two or three do
		t = (down.from - up.from) / (up.rise() - down.rise())
		bound = up.from + t*up.rise()
		if bound <= enough {
			break
		}
		lowest, at := up, bound*(1-1e-12)
		for i := range chords {
			if v := chords[i].from + t*chords[i].rise(); v < at {
				lowest, at = &chords[i], v
			}
		}
		switch {
		case lowest == up:
			return t, bound
		case lowest.rise() > 0:
			up = lowest
		default:
			down = lowest
		}
	}
	return t, bound
}

// after returns the vertex after the i-th.
func (g Polygon) after(i int) Point {
	if i+1 == len(g) {
		return g[0]
	}
	return g[i+1]
}
