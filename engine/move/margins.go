package move

import (
	"math"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/engine/internal/uncertain"
)

// This file computes how sure the answers about a move are. Two things overlap if a
// point of one is past an edge of the other. Each such pair of a point and an edge has
// its own margin and standard deviation, that of the direction in which the point would
// have to move. Examining every pair keeps an answer right where the deciding pair
// changes, at corners and along parallel sides: "no" needs every pair to be sure, "yes"
// a single one.

// margin is a signed distance in mm, negative by the depth of an overlap, and its error
// at the asked number of standard deviations, in mm.
type margin struct{ gap, slack float64 }

// certainty returns by how much a margin exceeds its error; negative if it is undecided.
func (a margin) certainty() float64 { return math.Abs(a.gap) - a.slack }

// outcome decides whether interiors meet: contact is not an overlap.
func (a margin) outcome() engine.Outcome { return overlapping(a.gap, a.slack) }

// lessCertain returns the margin with the smaller certainty.
func lessCertain(a, b margin) margin {
	if b.certainty() < a.certainty() {
		return b
	}
	return a
}

// moreCertain returns the margin with the larger certainty.
func moreCertain(a, b margin) margin {
	if b.certainty() > a.certainty() {
		return b
	}
	return a
}

// both returns the margin of two things that have to be, each where its margin is negative.
func both(a, b margin) margin {
	if b.gap+b.slack > a.gap+a.slack {
		return b
	}
	return a
}

// anyOf combines the margins of the n parts of a thing, which is overlapped if any part
// is.
func anyOf(n int, ask func(i int) margin) margin {
	over, free := margin{}, farAway
	for i := range n {
		v := ask(i)
		if v.gap < 0 && (over == (margin{}) || v.certainty() > over.certainty()) {
			over = v
		} else if v.gap >= 0 {
			free = lessCertain(free, v)
		}
	}
	if over != (margin{}) {
		return over
	}
	return free
}

var farAway = margin{gap: math.Inf(1)}

// margins measures the margins between two bodies whose poses are uncertain.
type margins struct{ uncertain.RelativeError }

// reach returns the distance of the point p from the segment ab in the direction in which
// it is the fewest standard deviations away.
func (d *margins) reach(p, a, b geom.Point) margin {
	c, secondOrder := d.At(p)
	det := c.XX*c.YY - c.XY*c.XY
	u, e := a.Sub(p), b.Sub(a)
	if det <= 1e-12*(c.XX+c.YY)*(c.XX+c.YY) { // one direction at most is uncertain
		on, _ := geom.ClosestOnSegment(p, a, b)
		n := on.Sub(p)
		if l := n.Norm(); l > 0 {
			return margin{l, d.Along(n.Mul(1/l), p)}
		}
		return margin{0, d.K * math.Sqrt(c.XX+c.YY)}
	}
	// The metric of the inverse covariance.
	inv := func(v geom.Point) geom.Point {
		return geom.Point{X: (c.YY*v.X - c.XY*v.Y) / det, Y: (c.XX*v.Y - c.XY*v.X) / det}
	}
	if ee := e.Dot(inv(e)); ee > 0 {
		u = u.Add(e.Mul(max(0, min(1, -u.Dot(inv(e))/ee))))
	}
	n := inv(u)
	l := n.Norm()
	if l == 0 {
		return margin{0, d.K*math.Sqrt(c.XX+c.YY) + secondOrder}
	}
	gap := u.Dot(n) / l
	return margin{gap, d.K*math.Sqrt(gap/l) + secondOrder}
}

// apart returns the margin of two outlines that do not overlap: that of the pair of a point
// and an edge with the least certainty.
func (d *margins) apart(a, g geom.Polygon) margin {
	best := farAway
	for range 2 {
		for _, p := range a {
			for i, q := range g {
				best = lessCertain(best, d.reach(p, q, g[(i+1)%len(g)]))
			}
		}
		a, g = g, a
	}
	return best
}

// overlapped returns the margin of two rectangles that overlap: they would be apart if all
// corners of one were past one side of the other.
func (d *margins) overlapped(q, r *quad) margin {
	best := margin{math.Inf(-1), 0}
	for range 2 {
		for i := range q {
			e := q[(i+1)%4].Sub(q[i])
			n := geom.Point{X: e.Y, Y: -e.X}.Mul(1 / e.Norm())
			side := margin{}
			for j, v := range r {
				if in := (margin{n.Dot(v.Sub(q[i])), d.Along(n, v)}); j == 0 || in.gap+in.slack < side.gap+side.slack {
					side = in
				}
			}
			if best.gap+best.slack < side.gap+side.slack {
				best = side
			}
		}
		q, r = r, q
	}
	if best.gap > 0 { // only the corner that would have decided last is outside
		best.gap = 0
	}
	return best
}

// footprints returns the margin of two bases.
func (d *margins) footprints(f, g *footprint) margin {
	over, free := margin{}, farAway
	for i := range f.n {
		for j := range g.n {
			a, b := &f.parts[i], &g.parts[j]
			switch sep := a.separation(b); {
			case sep < 0:
				if m := d.overlapped(a, b); over == (margin{}) || m.gap+m.slack < over.gap+over.slack {
					over = m
				}
			case over == (margin{}) && sep < free.gap+free.slack+100:
				free = lessCertain(free, d.apart(a[:], b[:]))
			}
		}
	}
	if over != (margin{}) {
		return over
	}
	return free
}

// depth returns the margin of a point inside a convex polygon.
func (d *margins) depth(a geom.Polygon, p geom.Point) margin {
	best := margin{math.Inf(-1), 0}
	for i, q := range a {
		e := a[(i+1)%len(a)].Sub(q)
		e = e.Mul(1 / e.Norm())
		n := geom.Point{X: e.Y, Y: -e.X} // outward
		best = lessCertain(best, margin{-e.Cross(p.Sub(q)), d.Along(n, p)})
	}
	return best
}

// swallowed returns the margin of a point inside a simple polygon; for a point outside, a
// margin that decides nothing.
func (d *margins) swallowed(g geom.Polygon, p geom.Point) margin {
	if !g.Contains(p) {
		return margin{0, math.Inf(1)}
	}
	best := margin{math.Inf(-1), 0}
	for i, q := range g {
		m := d.reach(p, q, g[(i+1)%len(g)])
		best = lessCertain(best, margin{-m.gap, m.slack})
	}
	return best
}

// chordPoints is the number of places at which the depth of an edge that runs through
// something is evaluated.
const chordPoints = 16

// convex returns the margin of a convex polygon and a simple one, whose nominal
// signed distance is gap.
func (d *margins) convex(a, g geom.Polygon, gap float64) margin {
	if gap >= 0 {
		return d.apart(a, g)
	}
	best := margin{0, math.Inf(1)}
	for _, p := range a {
		best = moreCertain(best, d.swallowed(g, p))
	}
	for i, p := range g {
		q := g[(i+1)%len(g)]
		t0, t1, ok := chord(a, p, q)
		for j := 0; ok && j <= chordPoints; j++ {
			best = moreCertain(best, d.depth(a, p.Lerp(q, t0+(t1-t0)*float64(j)/chordPoints)))
		}
	}
	return best
}

// chord returns the part of pq, in fractions of it, that lies in a convex polygon.
func chord(a geom.Polygon, p, q geom.Point) (t0, t1 float64, ok bool) {
	t1 = 1
	for i, v := range a {
		e := a[(i+1)%len(a)].Sub(v)
		dp, dq := e.Cross(p.Sub(v)), e.Cross(q.Sub(v))
		switch {
		case dp <= 0 && dq <= 0:
			return 0, 0, false
		case dp < 0:
			t0 = max(t0, dp/(dp-dq))
		case dq < 0:
			t1 = min(t1, dp/(dp-dq))
		}
	}
	return t0, t1, t0 < t1
}

// footprint returns the margin of a base and an outline.
func (d *margins) footprint(f *footprint, g geom.Polygon) margin {
	over, free := margin{}, farAway
	for i := range f.n {
		a := geom.Polygon(f.parts[i][:])
		if gap := convexGap(a, g); gap < 0 {
			if m := d.convex(a, g, gap); over == (margin{}) || m.certainty() > over.certainty() {
				over = m
			}
		} else if over == (margin{}) {
			free = lessCertain(free, d.apart(a, g))
		}
	}
	if over != (margin{}) {
		return over
	}
	return free
}

// sweptChords is how many chords stand for a round edge of a template when a clearance is
// measured. The chords of the widest template leave its edge by less than sweptSagitta,
// which is added to the slack.
const (
	sweptChords  = 48
	sweptSagitta = 0.014 // (150 + 10) mm or less on a turn of 90°/48; 190 mm on 45°/48
)

// swept returns the margin of a template's area and an outline, whose nominal signed
// distance is gap.
func (d *margins) swept(a *sweptArea, g geom.Polygon, gap float64) margin {
	switch {
	case math.IsInf(gap, 1):
		return farAway
	case gap < 0:
		in := d.underTemplate(a, g, gap)
		if in.outcome() != engine.Yes {
			in = moreCertain(in, d.across(a, g))
		}
		return in
	case a.line.radius == 0:
		return d.convex(a.frame.TransformAll(a.rect[:]), g, gap)
	}
	m := d.apart(a.chords(sweptChords), g)
	m.slack += sweptSagitta
	return m
}

// underTemplate returns the margin of the deepest point that an outline and the template over it share.
func (d *margins) underTemplate(a *sweptArea, g geom.Polygon, gap float64) margin {
	if a.line.radius == 0 {
		return d.convex(a.frame.TransformAll(a.rect[:]), g, gap)
	}
	best := margin{0, math.Inf(1)}
	middle, _ := centreLine{a.line.length, a.line.radius, 1}.at(a.cut / 2)
	for _, p := range append([]geom.Point{middle}, a.ends[:]...) {
		best = moreCertain(best, d.swallowed(g, a.table(p)))
	}
	for i, p := range g {
		q := g[(i+1)%len(g)]
		for _, t := range a.inside(a.local(p), a.local(q)) {
			for j := 0; j <= chordPoints && t[0] < t[1]; j++ {
				best = moreCertain(best, d.sweptDepth(a, p.Lerp(q, t[0]+(t[1]-t[0])*float64(j)/chordPoints)))
			}
		}
	}
	return best
}

// across returns the margin of an outline that crosses the template's middle line: a stretch of it that surely lies
// between the template's ends leads from surely one side of the line to surely the other. So it is decided also
// where the doubt is larger than half the template's width. It returns a margin that decides nothing of other outlines.
func (d *margins) across(a *sweptArea, g geom.Polygon) margin {
	best := margin{0, math.Inf(1)}
	off, between := make([]margin, len(g)), make([]margin, len(g))
	for i, p := range g {
		off[i], between[i] = d.besideLine(a, p)
	}
	for i := range g {
		way := between[i]
		for k := 1; k < len(g) && way.outcome() == engine.Yes; k++ {
			j := (i + k) % len(g)
			way = both(way, between[j])
			if (off[i].gap < 0) != (off[j].gap < 0) && way.outcome() == engine.Yes {
				from, to := off[i], off[j]
				from.gap, to.gap = -math.Abs(from.gap), -math.Abs(to.gap)
				best = moreCertain(best, both(way, both(from, to)))
			}
		}
	}
	return best
}

// besideLine returns how far a point of the table lies to the left (negative) or to the right of a template's middle
// line, and the margin by which it lies between the template's ends, negative where it does.
func (d *margins) besideLine(a *sweptArea, p geom.Point) (off, between margin) {
	q := a.local(p)
	dir := func(v geom.Point) geom.Point { return a.table(v).Sub(a.table(geom.Point{})) }
	along := func(v geom.Point) float64 { return d.Along(dir(v), p) }
	between = both(margin{-q.Y, along(geom.Point{Y: 1})}, margin{-a.rear.Sub(q).Dot(a.ahead), along(a.ahead)})
	if a.line.radius == 0 {
		return margin{q.X, along(geom.Point{X: 1})}, between
	}
	between = both(between, margin{q.X - a.line.radius, along(geom.Point{X: 1})}) // the line, not the rest of its circle
	out := q.Sub(geom.Point{X: a.line.radius})
	r := out.Norm()
	if r == 0 {
		return margin{a.line.radius, d.Along(dir(geom.Point{X: 1}), p)}, between
	}
	return margin{a.line.radius - r, along(out.Mul(1 / r))}, between
}

// sweptDepth returns the margin of a point of the table inside a bent template's area.
func (d *margins) sweptDepth(a *sweptArea, p geom.Point) margin {
	q := a.local(p)
	c := geom.Point{X: a.line.radius}
	out := q.Sub(c)
	r := out.Norm()
	if r == 0 {
		return margin{0, math.Inf(1)}
	}
	dir := func(v geom.Point) geom.Point { return a.table(v).Sub(a.table(geom.Point{})) }
	best := margin{-(float64(templateHalf) - math.Abs(r-a.line.radius)), d.Along(dir(out.Mul(1/r)), p)}
	best = lessCertain(best, margin{-q.Y, d.Along(dir(geom.Point{Y: 1}), p)})
	return lessCertain(best, margin{-a.rear.Sub(q).Dot(a.ahead), d.Along(dir(a.ahead), p)})
}

// edges returns the margins by which points reach beyond the mat's edges, negative beyond:
// of the point that is most surely beyond or, if it is not, of the one that most likely is.
func (d *margins) edges(points []geom.Point, w, h float64) (out [4]margin) {
	for e, n := range [4]geom.Point{{X: -1}, {X: 1}, {Y: -1}, {Y: 1}} {
		limit := [4]float64{0, w, 0, h}[e]
		sure, maybe := margin{math.Inf(-1), 0}, margin{math.Inf(-1), 0}
		for _, p := range points {
			m := margin{n.Dot(p) - limit, d.Along(n, p)}
			if m.gap-m.slack > sure.gap-sure.slack {
				sure = m
			}
			if m.gap+m.slack > maybe.gap+maybe.slack {
				maybe = m
			}
		}
		if out[e] = maybe; sure.gap > 0 {
			out[e] = sure
		}
		out[e].gap = -out[e].gap // negative beyond the edge, like an overlap
	}
	return out
}

// judged returns a margin with a bound of its slack if that bound decides, and calls refine
// only if it does not.
func judged(gap, bound float64, refine func() margin) margin {
	if bound == 0 || math.Abs(gap) > bound {
		return margin{gap, bound}
	}
	return refine()
}

// own returns the error of a base that was placed by a template: that of the base to which
// the template was laid.
func (m *mover) own() uncertain.Body {
	return uncertain.Body{At: m.ship.Pose.Point, Cov: m.ship.Covariance}
}

// errorAgainst returns the error of something on the table relative to the moving ship, whose
// own error is own.
func (m *mover) errorAgainst(own, that uncertain.Body, free float64) margins {
	return margins{uncertain.RelativeError{
		K: m.k, Bodies: [2]uncertain.Body{own, that}, Outline: free, Scaled: that.At.Sub(m.ship.Pose.Point).Mul(m.scene.ScaleSigma),
	}}
}

// ofGuides returns the margin with rectangular guides. If these surely overlap and not
// everything is exact, its slack covers what slender guides leave open.
func ofGuides(ask func(slender bool) margin) margin {
	v := ask(false)
	if v.slack > 0 && v.outcome() == engine.Yes {
		w := ask(true)
		v.slack = max(v.slack, w.gap+w.slack-v.gap)
	}
	return v
}

// against returns the margin of a base and another ship.
func (m *mover) against(base *footprint, o *neighbour) margin {
	return ofGuides(func(slender bool) margin {
		base, other := base.guided(slender), o.shape.guided(slender)
		return judged(base.gap(&other), m.slack(o.err, o.At, base.parts[0][:]...), func() margin {
			d := m.errorAgainst(m.own(), o.Body, 0)
			return d.footprints(&base, &other)
		})
	})
}

// onThing returns the margin of a base, with the error own, and an outline of something on
// the table.
func (m *mover) onThing(base *footprint, own uncertain.Body, secondOrder float64, t *thing, g geom.Polygon) margin {
	bound := math.Inf(1)
	if m.exact(t) {
		bound = 0
	} else if own.Cov == m.ship.Covariance {
		bound = m.slack(t.err, t.at, base.parts[0][:]...)
	}
	return ofGuides(func(slender bool) margin {
		base := base.guided(slender)
		return judged(base.outlineGap(g), bound, func() margin {
			d := m.errorAgainst(own, uncertain.Body{At: t.at}, t.err.Variance)
			r := d.footprint(&base, g)
			r.slack += secondOrder
			return r
		})
	})
}

// exact reports whether nothing is uncertain between the ship and a thing.
func (m *mover) exact(t *thing) bool {
	return m.ship.Covariance == (geom.Cov3{}) && t.err == (uncertain.PointError{}) && m.scene.ScaleSigma == 0
}

// underThing returns the margin of a template and an outline.
func (m *mover) underThing(a *sweptArea, t *thing, g geom.Polygon) margin {
	gap := a.gap(g)
	return judged(gap, m.slack(t.err, t.at, a.corners()...), func() margin {
		d := m.errorAgainst(m.own(), uncertain.Body{At: t.at}, t.err.Variance)
		return d.swept(a, g, gap)
	})
}

// settled is the error of the place where a ship that backed up ends. It depends on the
// ship's own pose and on that of the ship it backed up from; both errors are propagated
// along the way to first order.
type settled struct {
	ok          bool
	own         uncertain.Body
	secondOrder float64 // beyond first order
}

// settle computes the error of the place s on the way at which the base meets another ship;
// near and far are the ends of where it may be. The result is not ok if first order fails
// because several ships, or several corners, may stop the base.
func (m *mover) settle(c *path, s, near, far float64) settled {
	const h = 1e-4 // mm along the way, for slopes
	base := newFootprint(&m.profile, m.ship.Base, c.pose(s), true)
	var o *neighbour
	var touch contact
	for i := range m.others {
		if t := base.contact(&m.others[i].shape); t.gap < 1e-5 {
			if o != nil {
				return settled{}
			}
			o, touch = &m.others[i], t
		}
	}
	back := newFootprint(&m.profile, m.ship.Base, c.pose(s-h), true)
	if o == nil {
		return settled{}
	}
	slope := (back.separation(&o.shape) - base.separation(&o.shape)) / h
	if slope < 0.1 {
		return settled{}
	}
	// How the pair's distance changes with the two poses and the scale.
	own := m.own()
	wa, wb := geom.PointJacobian(touch.n, touch.at.Sub(own.At)), geom.PointJacobian(touch.n, touch.at.Sub(o.At))
	d := m.errorAgainst(own, o.Body, 0)
	pull := touch.n.Dot(d.Scaled)
	others := o.Cov.Variance(&wb) + pull*pull
	reach := m.k * math.Sqrt(own.Cov.Variance(&wa)+others) / slope
	if math.Abs(far-s-reach) > 0.25*reach+1e-3 || math.Abs(s-near-reach) > 0.25*reach+1e-3 {
		return settled{}
	}
	// The motion along the way, as that of a body that turns about the ship's start.
	p0, p1 := c.pose(s-h), c.pose(s+h)
	turn := float64((p1.Heading - p0.Heading).Signed()) / (2 * h)
	v := p1.Sub(p0.Point).Mul(1 / (2 * h))
	r := own.At.Sub(c.pose(s).Point)
	way := [3]float64{v.X + r.Y*turn, v.Y - r.X*turn, turn}
	// final = (1 - way·wa/slope)·own + way/slope·others
	var f [3]geom.Jacobian
	for i := range 3 {
		f[i][i] = 1
		f[i].Add(wa, -way[i]/slope)
	}
	cov := own.Cov.Propagated(&f)
	for i := range 3 {
		for j := range 3 {
			cov[3*i+j] += way[i] * way[j] * others / (slope * slope)
		}
	}
	speed, rate := c.line.rates(c.l)
	return settled{ok: true, own: uncertain.Body{At: own.At, Cov: cov}, secondOrder: reach * reach * speed * rate / 2}
}

// contact is where two bases meet or nearly do: the direction from the first to the
// second across the side that parts them, and the corner that is nearest to it.
type contact struct {
	gap   float64
	n, at geom.Point
}

// contact returns the pair of a side and a corner that decides whether two bases
// overlap.
func (f *footprint) contact(g *footprint) contact {
	best := contact{gap: math.Inf(1)}
	for i := range f.n {
		for j := range g.n {
			if t := f.parts[i].contact(&g.parts[j]); t.gap < best.gap {
				best = t
			}
		}
	}
	return best
}

func (q *quad) contact(r *quad) contact {
	best := contact{gap: math.Inf(-1)}
	sign := 1.0
	for range 2 {
		for i := range q {
			e := q[(i+1)%4].Sub(q[i])
			n := geom.Point{X: e.Y, Y: -e.X}.Mul(1 / e.Norm())
			least := contact{gap: math.Inf(1)}
			for _, v := range r {
				if d := n.Dot(v.Sub(q[i])); d < least.gap {
					least = contact{d, n.Mul(sign), v}
				}
			}
			if least.gap > best.gap {
				best = least
			}
		}
		q, r, sign = r, q, -1
	}
	return best
}
