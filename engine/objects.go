package engine

import (
	"math"

	"sightline/engine/geom"
)

// object measures a ship against an obstacle, a device or a marker (G15, G16, G21).
// Range leaves the ship's guides out; contact and overlaps count them (G117, G118). A
// device's guides are part of its outline (G183).
func (t *table) object(o *measuredShip, r *obstacleOutline) ObjectVerdict {
	s, v2 := o.ship, sq(r.sigma)
	g := &t.pm.propagator
	g.set(body{s.Pose.Point, s.Covariance}, body{r.at, geom.Cov3{0: v2, 4: v2}}, t.scene.ScaleSigma, t.k)

	d := g.gapToOutline(&o.from, r)
	touch := t.touchingOutline(o, r, d.Interval)
	contact := contactOutcome(touch)
	return ObjectVerdict{
		From: s.ID, To: r.id, Kind: r.kind,
		Range:   t.mem.rangeVerdict(t.scene.Rules, &d, touch, contact, t.k),
		Contact: contact, Overlap: overlapOutcome(touch), obstacle: r.obstacle,
	}
}

// gapToOutline measures the signed gap between a convex shape and any simple
// polygon.
func (g *propagator) gapToOutline(a *shape, r *obstacleOutline) closestPair {
	outline, poly := &r.shape, r.outline
	if far := a.far(r.centre); far > r.radius || r.keepsOff(a) || geom.Gap(a.v, poly) > 0 {
		if r.core == 0 { // the circle's middle may be outside the outline
			far = a.far(r.outline[0])
		}
		m, _ := g.shortest(a, outline, far-r.core)
		m.Hi = max(m.Hi, m.Val)
		// Near contact a corner may slip round another, whichever way is the looser.
		if m.Val <= g.k*math.Sqrt(g.pointVariance(a)) {
			m.Lo = min(m.Lo, 0)
		}
		return m
	}
	// They meet. How deep: the deepest point of one's side in the other. A concave
	// outline has no one direction of separation, so that the interval takes the
	// largest error of any corner, whichever way it points.
	at, depth := a.v[0], math.Inf(-1)
	look := func(c geom.Point, d float64) {
		if d > depth {
			at, depth = c, d
		}
	}
	tol := 1e-6
	if !g.exact {
		tol = 0.01
	}
	for i, p := range a.v {
		look(poly.Deepest(p, a.next(i), tol))
	}
	for i, p := range outline.v {
		look(a.deepest(p, outline.next(i)))
	}
	depth = max(0, depth)
	sd := g.k * math.Sqrt(g.pointVariance(a))
	return closestPair{
		Interval: geom.Interval{Lo: -depth - sd, Val: -depth, Hi: -depth + sd},
		lines:    [2]Line{{at, at}, {at, at}},
	}
}

// pointVariance returns the largest variance of the distance between corners of
// a and the other body, over all directions.
func (g *propagator) pointVariance(a *shape) float64 {
	if g.exact {
		return 0
	}
	v := 0.0
	for _, p := range a.v {
		c, _ := g.at(p)
		v = max(v, c.Largest())
	}
	return v
}
