package engine

import (
	"math"

	"sightline/engine/geom"
)

// Dimensions of the guides, the pairs of pegs at the front and the rear of a base
// between which a template lies (rules/dimensions 1.1).
const (
	guideInner = 10.1 * geom.Millimeter // half the gap between the two of a pair
	guideOuter = 13.6 * geom.Millimeter // half the outer span of a pair
)

// guideReach returns how far the guides stand out in front of and behind a base.
func guideReach(b Base) geom.Length {
	switch b {
	case Small:
		return 1.6 * geom.Millimeter
	case Medium:
		return 1.7 * geom.Millimeter
	}
	return 1.8 * geom.Millimeter
}

// object measures a ship against an obstacle, a device or a marker (G15, G16,
// G21). Range leaves the ship's guides out; overlaps count them (G117, G118),
// unless the profile leaves them out of everything. A device's guides are part of
// its outline (G183).
func (t *table) object(o *stander, r *rock) ObjectVerdict {
	s, v2 := o.ship, sq(r.sigma)
	g := &t.pm.gauge
	g.set(body{s.Pose.Point, s.Covariance}, body{r.at, geom.Cov3{0: v2, 4: v2}}, t.scene.ScaleSigma, t.k)

	d := g.gapToOutline(&o.from, r)
	contact := contactOutcome(d.span)
	v := ObjectVerdict{
		From: s.ID, To: r.id, Kind: r.kind,
		Range:   t.mem.rangeVerdict(t.scene.Rules, &d, contact, t.k),
		Contact: contact, obstacle: r.obstacle,
	}
	v.Overlap = overlapOutcome(d.span)
	// Beyond the guides' reach nothing can overlap.
	if reach := float64(guideReach(s.Base)); v.Overlap != Yes && t.profile.Guides && d.lo <= 2*reach {
		v.Overlap = t.guidesOverlap(g, s, r, v.Overlap)
	}
	return v
}

// overlapOutcome decides whether the interiors of two shapes meet: touching alone
// is not an overlap.
func overlapOutcome(s span) Outcome {
	if s.lo == s.hi {
		if s.val < -tie {
			return Yes
		}
		return No
	}
	return contactOutcome(s)
}

// guidesOverlap looks at the four guides; so is what the base itself said.
func (t *table) guidesOverlap(g *gauge, s *Ship, rock *rock, so Outcome) Outcome {
	_, l := t.profile.Size(s.Base)
	front, reach := float64(l/2), float64(guideReach(s.Base))
	for _, y := range [...]float64{front, -front - reach} {
		for _, x := range [...]float64{float64(guideInner), -float64(guideOuter)} {
			guide := &t.pm.part
			guide.rectangle(s.Pose, bodyFrom, x, x+float64(guideOuter-guideInner), y, y+reach)
			d := g.gapToOutline(guide, rock)
			switch overlapOutcome(d.span) {
			case Yes:
				return Yes
			case Indeterminate:
				so = Indeterminate
			}
		}
	}
	return so
}

// gapToOutline measures the signed gap between a convex shape and any simple
// polygon.
func (g *gauge) gapToOutline(a *shape, r *rock) meeting {
	outline, poly := &r.shape, r.outline
	if far := a.far(r.centre); far > r.radius || r.keepsOff(a) || geom.Gap(a.v, poly) > 0 {
		if r.core == 0 { // the circle's middle may be outside the outline
			far = a.far(r.outline[0])
		}
		m := g.distanceWithin(a, outline, far-r.core)
		m.hi = max(m.hi, m.val)
		// Near contact a corner may slip round another, whichever way is the looser.
		if m.val <= g.k*math.Sqrt(g.pointVariance(a)) {
			m.lo = min(m.lo, 0)
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
	return meeting{
		span:  span{-depth - sd, -depth, -depth + sd},
		lines: [2]Line{{at, at}, {at, at}},
	}
}

// pointVariance returns the largest variance of the distance between corners of
// a and the other body, over all directions.
func (g *gauge) pointVariance(a *shape) float64 {
	if g.exact {
		return 0
	}
	v := 0.0
	for _, p := range a.v {
		var x, y gradient
		for i, s := range [2]float64{1, -1} {
			g.push(&x, i, geom.Point{X: s}, p)
			g.push(&y, i, geom.Point{Y: s}, p)
		}
		xx, yy, xy := g.variance(&x), g.variance(&y), g.covariance(&x, &y)
		v = max(v, (xx+yy)/2+math.Hypot((xx-yy)/2, xy))
	}
	return v
}
