package move

import (
	"fmt"
	"math"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/engine/internal/pieces"
	"sightline/engine/internal/uncertain"
)

// LayDrop lays a device by a template from the ship's rear guides, or launches it
// from the front ones (G182, G195). The result names the ships over it as overlapped
// (G185). A part outside the play area is ignored (G184; see Result.Outside), and
// nothing flees.
func LayDrop(s *engine.Scene, ship string, d Drop, o engine.Options) (Result, error) {
	if err := d.Template.Validate(); err != nil {
		return Result{}, fmt.Errorf("engine: %w", err)
	}
	m, err := newMover(s, ship, o)
	if err != nil {
		return Result{}, err
	}
	kind := d.Device
	if kind == "" {
		kind = "bomb"
	}
	parts := pieces.Outlines(kind)
	if parts == nil {
		return Result{}, fmt.Errorf("engine: drop: no size is known of %q", pieces.ShortName(kind))
	}
	t := d.Template
	t.Left = t.Left == d.Launch // seen backwards, the ship's left is to the right
	c := m.newPath(t, !d.Launch)
	at := devicePose(&c, parts[0])
	m.result.Maneuver, m.result.Full, m.result.Final, m.result.FullyExecuted = d.String(), at, at, true
	m.result.InFull = engine.Yes // nothing stops a device
	m.outside(at, parts)
	var laid []geom.Polygon
	w, h := float64(s.MatWidth), float64(s.MatHeight)
	for _, p := range parts {
		for _, g := range pieces.InsideMat(w, h, at, p) {
			laid = append(laid, at.TransformAll(g))
		}
	}
	m.under(laid, limitsOf(w, h, at, parts, m.slackAtEdges(at, parts)))
	return m.done(), nil
}

// outside decides how much of a dropped device lies outside the play area. Its pose is
// as uncertain as that of the ship from which it was laid.
func (m *mover) outside(at geom.Pose, parts [][]geom.Point) {
	w, h := float64(m.scene.MatWidth), float64(m.scene.MatHeight)
	if w <= 0 || h <= 0 {
		m.result.Outside = engine.NoView.String()
		return
	}
	mat := geom.Polygon{{}, {X: w}, {X: w, Y: h}, {Y: h}}
	d := margins{uncertain.RelativeError{K: m.k, Bodies: [2]uncertain.Body{m.own()}}}
	var all geom.Polygon
	in, out := margin{}, farAway // the most certain of the parts that reach into the play area, the least certain of the others
	for _, p := range parts {
		g := at.TransformAll(p)
		all = append(all, g...)
		gap := convexGap(g, mat)
		switch v := d.convex(g, mat, gap); {
		case gap < 0 && (in == (margin{}) || v.certainty() > in.certainty()):
			in = v
		case gap >= 0:
			out = lessCertain(out, v)
		}
	}
	inside := out
	if in != (margin{}) {
		inside = in
	}
	over, worst := engine.No, farAway
	for e, v := range d.edges(all, w, h) {
		o := v.outcome()
		if o == engine.Yes {
			m.result.Edges = append(m.result.Edges, edgeNames[e])
		}
		if over = over.Or(o); v.gap < worst.gap {
			worst = v
		}
	}
	m.note("the device beyond the edge", over, worst.gap, worst.slack)
	some := inside.outcome()
	if over != engine.No {
		m.note("any of the device inside the play area", some, inside.gap, inside.slack)
	}
	switch {
	case over == engine.No:
		m.result.Outside = "no"
	case over == engine.Yes && some == engine.No:
		m.result.Outside = "wholly"
	case over == engine.Yes && some == engine.Yes:
		m.result.Outside = "partly"
	default:
		m.result.Outside = engine.Indeterminate.String()
	}
}

// deviceGuide is how far a device's guides protrude from its card: the difference of a
// bomb card's length and width. No source states it.
const deviceGuide = 1.8 * geom.Millimeter

// devicePose returns the pose of a device at the end of a template: its card's
// edge flush with the end, its guides next to it, facing the ship.
func devicePose(c *path, outline []geom.Point) geom.Pose {
	front := math.Inf(-1)
	for _, p := range outline {
		front = max(front, p.Y)
	}
	end, h := c.line.at(c.line.length)
	p := geom.Pose{Point: c.frame.Transform(end), Heading: (c.frame.Heading + geom.Angle(h) + math.Pi).Normalized()}
	p.Point = p.Transform(geom.Point{Y: float64(deviceGuide) - front})
	return p
}

// slackAtEdges returns how much nearer to or further from each of the mat's edges a dropped device may lie.
func (m *mover) slackAtEdges(at geom.Pose, parts [][]geom.Point) (slack [4]float64) {
	d := margins{uncertain.RelativeError{K: m.k, Bodies: [2]uncertain.Body{m.own()}}}
	for _, p := range parts {
		for _, q := range at.TransformAll(p) {
			for e, n := range [4]geom.Point{{X: -1}, {X: 1}, {Y: -1}, {Y: 1}} {
				slack[e] = max(slack[e], d.Along(n, q))
			}
		}
	}
	return slack
}

// under lists what a dropped device overlaps, given what of it lies in the play area.
func (m *mover) under(laid []geom.Polygon, limits *limits) {
	for i := range m.others {
		o := &m.others[i]
		under := limits.decide(func(gs []geom.Polygon) margin {
			return anyOf(len(gs), func(j int) margin { return m.underShip(gs[j], o) })
		}, laid)
		hit := under.outcome()
		m.note("the device under "+o.id, hit, under.gap, under.slack)
		if hit == engine.Yes {
			m.result.FirstOverlapped = append(m.result.FirstOverlapped, o.id)
		}
	}
	for i := range m.things {
		t := &m.things[i]
		if !t.obstacle {
			continue
		}
		on := limits.decide(func(gs []geom.Polygon) margin {
			return anyOf(len(gs), func(j int) margin { return m.ofParts(t, func(g geom.Polygon) margin { return m.onCard(gs[j], t, g) }) })
		}, laid)
		hit := on.outcome()
		m.note("the device on "+t.id, hit, on.gap, on.slack)
		if hit != engine.No {
			m.result.Obstacles = append(m.result.Obstacles, Hit{t.id, engine.No, hit})
		}
	}
}

// underShip returns the margin of a card of a dropped device and a ship.
func (m *mover) underShip(card geom.Polygon, o *neighbour) margin {
	return ofGuides(func(slender bool) margin {
		shape := o.shape.guided(slender)
		return judged(shape.outlineGap(card), m.slack(o.err, o.At, card...), func() margin {
			d := m.errorAgainst(m.own(), o.Body, 0)
			return d.footprint(&shape, card)
		})
	})
}

// onCard returns the margin of a card of a dropped device and an outline of something on the table.
func (m *mover) onCard(card geom.Polygon, t *thing, outline geom.Polygon) margin {
	gap := convexGap(card, outline)
	return judged(gap, m.slack(t.err, t.at, card...), func() margin {
		d := m.errorAgainst(m.own(), uncertain.Body{At: t.at}, t.err.Variance)
		return d.convex(card, outline, gap)
	})
}
