package move

import (
	"cmp"
	"math"
	"slices"

	"sightline/engine/geom"
)

// slideBlocks returns the open intervals of t for which a rectangle moved by
// t·dir (a unit vector) has inner points in common with a simple polygon. The
// rectangle's inside meets an edge over one interval; between such intervals it
// is wholly outside the polygon or wholly within it.
func slideBlocks(q quad, g geom.Polygon, dir geom.Point) []interval {
	across := geom.Point{X: -dir.Y, Y: dir.X}
	local := func(p geom.Point) geom.Point { return geom.Point{X: dir.Dot(p.Sub(q[0])), Y: across.Dot(p.Sub(q[0]))} }
	var r quad
	for i := range q {
		r[i] = local(q[i])
	}
	var runs []interval
	for i := range g {
		if b, ok := edgeBlock(&r, local(g[i]), local(g[(i+1)%len(g)])); ok {
			runs = append(runs, b)
		}
	}
	slices.SortFunc(runs, func(a, b interval) int { return cmp.Compare(a.lo, b.lo) })
	var merged []interval
	centre := q[0].Add(q[2]).Mul(0.5)
	for _, b := range runs {
		n := len(merged)
		if n == 0 {
			merged = append(merged, b)
			continue
		}
		last := &merged[n-1]
		if b.lo < last.hi || g.Contains(centre.Add(dir.Mul((last.hi+b.lo)/2))) {
			last.hi = math.Max(last.hi, b.hi)
		} else {
			merged = append(merged, b)
		}
	}
	return merged
}

// edgeBlock returns the shifts along x for which the inside of a rectangle meets
// the segment ab.
func edgeBlock(r *quad, a, b geom.Point) (interval, bool) {
	y0, y1 := r[0].Y, r[0].Y
	for _, p := range r {
		y0, y1 = math.Min(y0, p.Y), math.Max(y1, p.Y)
	}
	if a.Y > b.Y {
		a, b = b, a
	}
	const thin = geom.Tie / 10 // a side along the slide does not meet an edge that it lies on
	lo, hi := math.Max(y0+thin, a.Y), math.Min(y1-thin, b.Y)
	if lo > hi {
		return interval{}, false
	}
	// Shift = x of the segment - x of the rectangle; over y its least is where the
	// rectangle's right side is furthest ahead of the segment: convex in y, so at a
	// limit or at a corner's height.
	out := interval{math.Inf(1), math.Inf(-1)}
	look := func(y float64) {
		x0, x1 := r.chord(y)
		xs := [2]float64{a.X, b.X}
		if b.Y > a.Y {
			x := a.X + (b.X-a.X)*((y-a.Y)/(b.Y-a.Y))
			xs = [2]float64{x, x}
		}
		out.lo = math.Min(out.lo, math.Min(xs[0], xs[1])-x1)
		out.hi = math.Max(out.hi, math.Max(xs[0], xs[1])-x0)
	}
	look(lo)
	look(hi)
	for _, p := range r {
		if p.Y > lo && p.Y < hi {
			look(p.Y)
		}
	}
	return out, out.hi-out.lo > geom.Tie
}

// chord returns where the line at the height y enters and leaves the rectangle.
func (q *quad) chord(y float64) (x0, x1 float64) {
	x0, x1 = math.Inf(1), math.Inf(-1)
	for i, p := range q {
		n := q[(i+1)%4]
		if (p.Y-y)*(n.Y-y) > 0 {
			continue
		}
		xs := [2]float64{p.X, n.X}
		if p.Y != n.Y {
			x := p.X + (n.X-p.X)*((y-p.Y)/(n.Y-p.Y))
			xs = [2]float64{x, x}
		}
		for _, x := range xs {
			x0, x1 = math.Min(x0, x), math.Max(x1, x)
		}
	}
	return x0, x1
}
