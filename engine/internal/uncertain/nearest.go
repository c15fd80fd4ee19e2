package uncertain

import (
	"math"

	"sightline/engine/geom"
)

// candidate is a closest pair of a point of one shape and a point of the other.
type candidate struct {
	p, q geom.Point // on the first and the second shape
	u    geom.Point // unit vector from p to q; the edge's normal when they coincide
	d    float64
	foot bool // the line is square to a side

	corner geom.Point // the end that is no foot, if one is
}

// relevance returns how much further apart than the nearest pair a pair may be and still widen the
// interval: twice k times the largest standard deviation of any point.
func (g *Propagator) relevance(a, b *Shape) float64 {
	lever0, lever1 := leversOf(a, b)
	return 2.01 * g.K * math.Sqrt(g.VarianceBound(lever0, lever1))
}

// nearest lists the pairs that may be the nearest: a vertex of one shape, and the point of the
// other's outline that is closest to it. Pairs count that are at most loose further apart than the
// nearest one. No shortest line leads to a side from its back, so vertices less than behind in
// front of a side are skipped. The shapes are no further apart than most.
func (g *Propagator) nearest(a, b *Shape, behind, most, loose float64) []candidate {
	g.near = g.near[:0]
	r := reach{loose: geom.Tie + loose, best: math.Inf(1), behind: behind}
	r.lower(most)
	if len(b.V) > len(b.buf) { // near vertices of an outline rule out most of the others
		r.lower(nearestVertices(a, b, r.best))
	}
	g.addFeet(a, b, &r, false)
	g.addFeet(b, a, &r, true)
	for i, p := range a.V {
		if x, y := b.round.Centre.X-p.X, b.round.Centre.Y-p.Y; x*x+y*y > geom.Sq(r.most+b.round.Radius) {
			continue
		}
		for j, q := range b.V {
			x, y := q.X-p.X, q.Y-p.Y
			if d2 := x*x + y*y; d2 <= r.most*r.most {
				d := r.lower(math.Sqrt(d2))
				c := candidate{p: p, q: q, d: d, u: geom.Point{X: 1}}
				switch {
				case d > geom.Tie:
					c.u = geom.Point{X: x / d, Y: y / d}
				case b.Edges[j].Hi > 0:
					c.u = b.Edges[j].Out().Mul(-1)
				case a.Edges[i].Hi > 0:
					c.u = a.Edges[i].Out()
				}
				g.near = append(g.near, c)
			}
		}
	}
	kept := 0
	for i := range g.near {
		if g.near[i].d <= r.most {
			if kept < i {
				g.near[kept] = g.near[i]
			}
			kept++
		}
	}
	return g.near[:kept]
}

// nearestVertices returns the distance of the nearest two vertices of two shapes, or most if that is less.
func nearestVertices(a, b *Shape, most float64) float64 {
	least := most * most
	for _, p := range a.V {
		if x, y := b.round.Centre.X-p.X, b.round.Centre.Y-p.Y; x*x+y*y > geom.Sq(most+b.round.Radius) {
			continue
		}
		for _, q := range b.V {
			x, y := q.X-p.X, q.Y-p.Y
			if d2 := x*x + y*y; d2 < least {
				least = d2
			}
		}
	}
	return math.Sqrt(least)
}

// reach limits how far apart a pair of points may be and still count.
type reach struct{ best, loose, most, behind float64 }

// lower lowers the limit for a pair d apart, and returns d.
func (r *reach) lower(d float64) float64 {
	if d <= r.best {
		r.best, r.most = d, (d+r.loose)*(1+1e-15) // squares round
	}
	return d
}

// addFeet lists the vertices of a with the feet of their perpendiculars on the sides
// of b.
func (g *Propagator) addFeet(a, b *Shape, r *reach, swapped bool) {
	behind := r.behind
	if len(b.V) < 3 && b.rays == nil {
		behind = math.Inf(-1)
	}
	vertices := a.V
	if len(vertices) > len(a.buf) { // an outline with many vertices: keep only those near enough
		g.some = g.some[:0]
		for _, p := range vertices {
			if x, y := p.X-b.round.Centre.X, p.Y-b.round.Centre.Y; x*x+y*y <= geom.Sq(r.most+b.round.Radius+1e-6) {
				g.some = append(g.some, p)
			}
		}
		vertices = g.some
	}
	for j := range b.Edges {
		e := &b.Edges[j]
		at, out := e.At, e.Out()
		x, y := a.round.Centre.X-at.X, a.round.Centre.Y-at.Y
		t, h := x*e.Dir.X+y*e.Dir.Y, x*out.X+y*out.Y
		// Skip a side if all of a is past one of its ends, behind it or too far away. One branch is
		// cheaper than four unpredictable ones.
		if Negative(t+a.round.Radius-(e.Lo-geom.Tie))|Negative(e.Hi+geom.Tie-(t-a.round.Radius))|
			Negative(h+a.round.Radius-behind)|Negative(r.most-(h-a.round.Radius)) != 0 {
			continue
		}
		for _, p := range vertices {
			x, y := p.X-at.X, p.Y-at.Y
			h := x*out.X + y*out.Y
			if h < behind || h > r.most {
				continue
			}
			t := x*e.Dir.X + y*e.Dir.Y
			if t < e.Lo-geom.Tie || t > e.Hi+geom.Tie || -h > r.most || e.Lo == e.Hi {
				continue
			}
			c := candidate{p: p, q: geom.Point{X: at.X + t*e.Dir.X, Y: at.Y + t*e.Dir.Y}, d: r.lower(math.Abs(h)), u: out, foot: true, corner: p}
			if h >= -geom.Tie { // from the vertex to its foot
				c.u = out.Mul(-1)
			}
			if swapped {
				c.p, c.q, c.u = c.q, c.p, c.u.Mul(-1)
			}
			g.near = append(g.near, c)
		}
	}
}

// Negative returns 1 for a negative number, else 0.
func Negative(x float64) uint64 { return math.Float64bits(x) >> 63 }

// extremes collects lines and keeps the two that are furthest apart.
type extremes struct {
	n   int
	l   [2]geom.Line
	gap float64
}

// Apart returns how far two lines that lie side by side are apart at their wider end.
func Apart(a, b geom.Line) float64 {
	return max(a[0].Sub(b[0]).Norm(), a[1].Sub(b[1]).Norm())
}

func (e *extremes) add(l geom.Line) {
	if e.n == 0 {
		e.l[0], e.l[1], e.n = l, l, 1
		return
	}
	// The lines lie side by side. A line further from one of the two kept lines than they are apart
	// replaces the other one.
	d0, d1 := Apart(l, e.l[0]), Apart(l, e.l[1])
	switch {
	case max(d0, d1) <= e.gap:
	case d0 >= d1:
		e.l[1], e.gap = l, d0
	default:
		e.l[0], e.gap = l, d1
	}
}

// pair returns the two extreme lines and whether they differ by more than
// rounding.
func (e *extremes) pair() ([2]geom.Line, bool) { return e.l, e.gap > 1e-6 }
