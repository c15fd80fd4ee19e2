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
	outline := &r.shape
	if far := a.far(r.centre); far > r.radius || r.keepsOff(a) || geom.Gap(a.v, r.outline) > 0 {
		if r.core == 0 { // the circle's middle may be outside the outline
			far = a.far(r.outline[0])
		}
		var m closestPair
		var near []candidate
		m.Interval, near = g.shortest(a, outline, far-r.core)
		m.lines, m.band = linesOf(near, m.Val)
		m.Hi = max(m.Hi, m.Val)
		if m.Lo > 0 && m.Val <= g.relevance(a, outline)+g.k*g.scaled.Norm() && g.mayMeet(a, r) {
			m.Lo = 0
		}
		return m
	}
	return g.overlapWithOutline(a, r)
}

// mayMeet reports whether a convex shape and an outline that are apart may meet after all: near
// contact a corner may slip round another, whichever way is the looser. Where they would meet
// there is a vertex of one of the two and a side of the other, and that vertex wanders at most
// as far as the two bodies do there against each other.
func (g *propagator) mayMeet(a *shape, r *obstacleOutline) bool {
	if g.exact {
		return false
	}
	for _, p := range a.v {
		if r.outline.BoundaryDistance(p) <= g.wander(p) {
			return true
		}
	}
	for _, q := range r.outline {
		if a.far(q) <= g.wander(q) {
			return true
		}
	}
	return false
}

// overlapWithOutline measures how deep a convex shape and an outline lie in one another: the
// deepest point of one's side in the other. A concave outline has no one direction of
// separation, so that the interval takes the largest error of the point, whichever way it
// points. As long as some point is deeper than it wanders, the two surely meet.
func (g *propagator) overlapWithOutline(a *shape, r *obstacleOutline) closestPair {
	m := closestPair{Interval: geom.Interval{Lo: math.Inf(1), Val: math.Inf(1), Hi: math.Inf(1)}}
	look := func(p geom.Point, depth float64) {
		depth = max(0, depth)
		off := g.wander(p)
		if -depth < m.Val {
			m.lines = [2]Line{{p, p}, {p, p}}
		}
		m.Interval = m.Min(geom.Interval{Lo: -depth - off, Val: -depth, Hi: -depth + off})
	}
	tol := 1e-6
	if !g.exact {
		tol = 0.01
	}
	for i, p := range a.v {
		look(r.outline.Deepest(p, a.next(i), tol))
	}
	for i, p := range r.outline {
		look(a.deepest(p, r.shape.next(i)))
	}
	return m
}

// wander returns how far a point may be off against the other body, k standard deviations
// away in the direction that is the loosest.
func (g *propagator) wander(p geom.Point) float64 {
	if g.exact {
		return 0
	}
	c, secondOrder := g.at(p)
	return g.k*math.Sqrt(c.Largest()) + secondOrder
}
