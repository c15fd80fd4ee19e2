package move

import (
	"math"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/engine/internal/pieces"
)

// quad is a rectangle on the table, counter-clockwise.
type quad [4]geom.Point

func quadAt(p geom.Pose, x0, x1, y0, y1 float64) quad {
	return quad{
		p.Transform(geom.Point{X: x1, Y: y1}), p.Transform(geom.Point{X: x0, Y: y1}),
		p.Transform(geom.Point{X: x0, Y: y0}), p.Transform(geom.Point{X: x1, Y: y0}),
	}
}

// grown returns the quad's outline moved out by dx along its first side and by dy
// along its second (inward if negative). It reports false if nothing is left.
func (q quad) grown(dx, dy float64) (quad, bool) {
	u, v := q[0].Sub(q[1]), q[1].Sub(q[2])
	lu, lv := u.Norm(), v.Norm()
	if lu+2*dx <= 0 || lv+2*dy <= 0 || lu == 0 || lv == 0 {
		return q, false
	}
	u, v = u.Mul(dx/lu), v.Mul(dy/lv)
	return quad{q[0].Add(u).Add(v), q[1].Sub(u).Add(v), q[2].Sub(u).Sub(v), q[3].Add(u).Sub(v)}, true
}

// footprint is a base on the table: first the base itself, then its four guides if
// they count (G117, G118).
type footprint struct {
	parts [5]quad
	n     int
}

func newFootprint(p *engine.Profile, b engine.Base, at geom.Pose, withGuides bool) footprint {
	w, l := p.Size(b)
	x, y := float64(w/2), float64(l/2)
	f := footprint{n: 1}
	f.parts[0] = quadAt(at, -x, x, -y, y)
	if !withGuides || !p.Guides {
		return f
	}
	for _, g := range pieces.Guides(y, float64(engine.GuideReach(b))) {
		f.parts[f.n] = quadAt(at, g.X0, g.X1, g.Y0, g.Y1)
		f.n++
	}
	return f
}

// guided returns the footprint with slender guides, or unchanged, with rectangular ones.
func (f footprint) guided(slender bool) footprint {
	for i := 1; slender && i < f.n; i++ {
		f.parts[i] = pieces.Slender(f.parts[i], i > 2)
	}
	return f
}

// separation returns how far two convex quads are apart along the best separating
// normal; negative by the depth of an overlap. They have inner points in common
// exactly when it is negative.
func (q *quad) separation(r *quad) float64 {
	best := math.Inf(-1)
	for range 2 {
		for i := range q {
			e := q[(i+1)%4].Sub(q[i])
			n := geom.Point{X: e.Y, Y: -e.X}.Mul(1 / e.Norm())
			least := math.Inf(1)
			for j := range r {
				least = min(least, n.Dot(r[j].Sub(q[i])))
			}
			best = max(best, least)
		}
		q, r = r, q
	}
	return best
}

func (f *footprint) separation(g *footprint) float64 {
	best := math.Inf(1)
	for i := range f.n {
		for j := range g.n {
			best = min(best, f.parts[i].separation(&g.parts[j]))
		}
	}
	return best
}

// gap returns the signed distance of two footprints.
func (f *footprint) gap(g *footprint) float64 {
	if s := f.separation(g); s <= 0 {
		return s
	}
	best := math.Inf(1)
	for i := range f.n {
		for j := range g.n {
			best = min(best, outlineGap(f.parts[i][:], g.parts[j][:]))
		}
	}
	return best
}

// outlineGap returns the signed distance of a footprint from a polygon.
func (f *footprint) outlineGap(g geom.Polygon) float64 {
	best := math.Inf(1)
	for i := range f.n {
		best = min(best, convexGap(f.parts[i][:], g))
	}
	return best
}
