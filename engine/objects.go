package engine

import (
	"math"

	"sightline/engine/geom"
	"sightline/engine/internal/uncertain"
)

// object measures a ship against an obstacle, a device or a marker (G15, G16, G21).
// Range leaves the ship's guides out; contact and overlaps count them (G117, G118). A
// device's guides are part of its outline (G183).
func (t *table) object(o *measuredShip, r *obstacleOutline) ObjectVerdict {
	d, touch := t.toOutline(o, &r.Outline)
	if len(r.others) > 0 {
		d, touch = t.toNearest(o, r.pieces())
	}
	if r.open {
		most, touchMost := t.toNearest(o, r.most)
		d.Lo, touch.Lo = min(d.Lo, most.Lo), min(touch.Lo, touchMost.Lo)
	}
	outside := r.open && len(r.least) == 0
	switch {
	case outside: // what lies in the play area, if anything, may be anywhere in what may
		for _, g := range r.most {
			for _, q := range g.Polygon {
				far := o.from.Far(q) + t.pm.PointBound(q)
				d.Hi, touch.Hi = max(d.Hi, far), max(touch.Hi, far)
			}
		}
	case r.open:
		least, touchLeast := t.toNearest(o, r.least)
		d.Hi, touch.Hi = max(d.Hi, least.Hi), max(touch.Hi, touchLeast.Hi)
	}
	contact, overlap := contactOutcome(touch), overlapOutcome(touch)
	if outside {
		contact, overlap = contact.And(Indeterminate), overlap.And(Indeterminate)
	}
	v := ObjectVerdict{
		From: o.ship.ID, To: r.id, Kind: r.kind,
		Range:   t.mem.rangeVerdict(t.scene.Rules, &d, touch, contact, t.k),
		Contact: contact, Overlap: overlap, obstacle: r.obstacle,
	}
	if outside {
		v.Range.Outside, v.Range.Outcome = true, Indeterminate
		if d := geom.Length(math.Abs(t.reachesIn(r.Polygon))); d < v.Range.Margin {
			v.Range.Margin, v.Range.Sigma = d, geom.Length(r.Sigma)
		}
	}
	return v
}

// toOutline measures a ship against an outline: its base, and its outline with guides.
func (t *table) toOutline(o *measuredShip, r *uncertain.Outline) (d uncertain.ClosestPair, touch geom.Interval) {
	g := &t.pm.Propagator
	g.Set(o.ship.body(), r.Body(), t.scene.ScaleSigma, t.k)
	d = g.GapToOutline(&o.from, r)
	return d, t.touchingOutline(o, r, d.Interval)
}

// toNearest measures a ship against the nearest of several outlines.
func (t *table) toNearest(o *measuredShip, pieces []*uncertain.Outline) (d uncertain.ClosestPair, touch geom.Interval) {
	d, touch = t.toOutline(o, pieces[0])
	for _, p := range pieces[1:] {
		e, other := t.toOutline(o, p)
		least := d.Min(e.Interval)
		if e.Val < d.Val {
			d = e
		}
		d.Interval, touch = least, touch.Min(other)
	}
	return d, touch
}

// reachesIn returns how far an outline reaches over the nearest edge into the play area; negative if it
// does not.
func (t *table) reachesIn(g geom.Polygon) float64 {
	least := math.Inf(1)
	for e := EdgeNear; e <= EdgeLeft; e++ {
		at, in := e.line(t.scene)
		most := math.Inf(-1)
		for _, p := range g {
			most = max(most, in.Dot(p.Sub(at)))
		}
		least = min(least, most)
	}
	return least
}
