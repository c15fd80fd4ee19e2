package engine

// object measures a ship against an obstacle, a device or a marker (G15, G16, G21).
// Range leaves the ship's guides out; contact and overlaps count them (G117, G118). A
// device's guides are part of its outline (G183).
func (t *table) object(o *measuredShip, r *obstacleOutline) ObjectVerdict {
	s := o.ship
	g := &t.pm.Propagator
	g.Set(s.body(), r.Body(), t.scene.ScaleSigma, t.k)

	d := g.GapToOutline(&o.from, &r.Outline)
	touch := t.touchingOutline(o, r, d.Interval)
	contact := contactOutcome(touch)
	return ObjectVerdict{
		From: s.ID, To: r.id, Kind: r.kind,
		Range:   t.mem.rangeVerdict(t.scene.Rules, &d, touch, contact, t.k),
		Contact: contact, Overlap: overlapOutcome(touch), obstacle: r.obstacle,
	}
}
