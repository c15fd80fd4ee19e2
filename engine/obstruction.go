package engine

import (
	"math"
	"sort"

	"sightline/engine/geom"
)

// maxObstructionMargin is the largest margin that is stated for obstruction: with
// no obstacle about, nothing would change the verdict, and 1 m is further than
// any attack reaches.
const maxObstructionMargin = 1000 * geom.Millimeter

// rock is an obstacle's outline on the table.
type rock struct {
	id      string
	outline geom.Polygon
	centre  geom.Point // of the circle around it
	radius  float64
	sigma   float64
}

func newRock(o *Obstacle) rock {
	r := rock{id: o.ID, sigma: float64(o.Sigma), outline: make(geom.Polygon, len(o.Outline))}
	for i, p := range o.Outline {
		r.outline[i] = o.Pose.Transform(p)
		r.centre = r.centre.Add(r.outline[i].Mul(1 / float64(len(o.Outline))))
	}
	for _, p := range r.outline {
		r.radius = math.Max(r.radius, p.Sub(r.centre).Norm())
	}
	return r
}

// beam is the set of measuring lines between which the truth, or the attacker,
// may choose: all lines from a to b.
type beam struct{ a, b Line }

func (m beam) at(t float64) Line {
	return Line{m.a[0].Lerp(m.b[0], t), m.a[1].Lerp(m.b[1], t)}
}

// hull returns the area that the beam's lines cover.
func (m beam) hull() geom.Polygon {
	if m.a == m.b {
		return geom.Polygon{m.a[0], m.a[1]}
	}
	return geom.Polygon{m.a[0], m.a[1], m.b[1], m.b[0]}
}

// obstruction says whether obstacles are on the measuring line. "Through" an
// obstacle means through its interior; grazing its edge is not.
func (m *pairMeasure) obstruction(d *meeting) ObstructionVerdict {
	permitted := beam{d.lines[0], d.lines[0]}
	if d.band {
		permitted.b = d.lines[1]
	}
	var v ObstructionVerdict
	if m.exact && m.sharpRocks() {
		v = m.exactObstruction(permitted)
	} else {
		possible := permitted
		if d.rivalled {
			possible = beam{d.rival[0], d.rival[1]}
		}
		v = m.measuredObstruction(possible)
	}
	v.Margin = min(v.Margin, maxObstructionMargin)
	v.Ships = m.shipsOn(permitted)
	return v
}

func (m *pairMeasure) sharpRocks() bool {
	for i := range m.rocks {
		if m.rocks[i].sigma > 0 {
			return false
		}
	}
	return true
}

// bound returns a lower bound of the distance between a beam's hull and the rock.
func (r *rock) bound(hull geom.Polygon) float64 {
	if hull.Contains(r.centre) {
		return 0
	}
	return math.Max(0, hull.BoundaryDistance(r.centre)-r.radius)
}

// exactObstruction decides a beam of parallel lines exactly. Which obstacles a
// line meets can change only where the line passes a corner of an outline, or a
// crossing of the outline with either end of the beam; so it is enough to look at
// those lines and at one line between each two of them.
func (m *pairMeasure) exactObstruction(b beam) ObstructionVerdict {
	v := ObstructionVerdict{Verdict: "never"}
	var near []*rock
	hull, clearance := b.hull(), math.Inf(1)
	for i := range m.rocks {
		r := &m.rocks[i]
		d := r.bound(hull)
		if d == 0 {
			near = append(near, r)
		}
		if d < clearance {
			clearance = math.Min(clearance, geom.Gap(hull, r.outline))
		}
	}
	on := make([]bool, len(near))
	depth := func(t float64) float64 {
		l, most := b.at(t), 0.0
		for i, r := range near {
			if _, d := r.outline.Deepest(l[0], l[1], 1e-6); d > tie {
				most, on[i] = math.Max(most, d), true
			}
		}
		return most
	}
	ts := b.changes(near)
	blocked := 0
	for _, t := range ts {
		if depth(t) > 0 {
			blocked++
		}
	}
	for i, r := range near {
		if on[i] {
			v.By = append(v.By, r.id)
		}
	}
	width := apart(b.a, b.b)
	switch blocked {
	case 0:
		v.Margin = geom.Length(clearance)
	case len(ts):
		v.Verdict = "must"
		v.Margin = geom.Length(leastOver(depth, ts, width))
	default:
		v.Verdict = "may"
		// It ends when the deepest passage has become clear, or the widest gap shut.
		deepest := -leastOver(func(t float64) float64 { return -depth(t) }, ts, width)
		widest := -leastOver(func(t float64) float64 {
			l, free := b.at(t), math.Inf(1)
			for _, r := range near {
				if _, d := r.outline.Deepest(l[0], l[1], 1e-6); d > tie {
					return 0
				}
				free = math.Min(free, geom.Gap(geom.Polygon{l[0], l[1]}, r.outline))
			}
			return -free
		}, ts, width)
		v.Margin = geom.Length(math.Min(deepest, widest))
	}
	return v
}

// leastOver returns the least value over [0, 1], to a twentieth of a millimetre,
// of a function that changes by no more than the way gone, width from 0 to 1.
func leastOver(f func(float64) float64, ts []float64, width float64) float64 {
	const tol = 0.05
	least, budget := math.Inf(1), 500
	var within func(t0, f0, t1, f1 float64)
	within = func(t0, f0, t1, f1 float64) {
		budget--
		if budget < 0 || (f0+f1-(t1-t0)*width)/2 > least-tol {
			return
		}
		t := (t0 + t1) / 2
		ft := f(t)
		least = math.Min(least, ft)
		within(t0, f0, t, ft)
		within(t, ft, t1, f1)
	}
	ts = append([]float64(nil), ts...)
	sort.Float64s(ts)
	fs := make([]float64, len(ts))
	for i, t := range ts {
		fs[i] = f(t)
		least = math.Min(least, fs[i])
	}
	for i := 1; i < len(ts); i++ {
		within(ts[i-1], fs[i-1], ts[i], fs[i])
	}
	return least
}

// changes returns the places t in [0, 1] of the beam's lines at which to look.
func (m beam) changes(rocks []*rock) []float64 {
	across := m.b[0].Sub(m.a[0])
	w2 := across.Dot(across)
	if w2 == 0 {
		return []float64{0}
	}
	ts := []float64{0, 1}
	add := func(p geom.Point) {
		if t := p.Sub(m.a[0]).Dot(across) / w2; t > 0 && t < 1 {
			ts = append(ts, t)
		}
	}
	for _, r := range rocks {
		for i, p := range r.outline {
			q := r.outline[(i+1)%len(r.outline)]
			add(p)
			for end := range 2 {
				if c, ok := crossing(p, q, m.a[end], m.b[end]); ok {
					add(c)
				}
			}
		}
	}
	sort.Float64s(ts)
	for i, n := 1, len(ts); i < n; i++ {
		ts = append(ts, (ts[i-1]+ts[i])/2)
	}
	return ts
}

// crossing returns the point where the segments ab and cd cross.
func crossing(a, b, c, d geom.Point) (geom.Point, bool) {
	u, v, w := b.Sub(a), d.Sub(c), c.Sub(a)
	den := u.Cross(v)
	if den == 0 {
		return geom.Point{}, false
	}
	t, s := w.Cross(v)/den, w.Cross(u)/den
	return a.Lerp(b, t), t >= 0 && t <= 1 && s >= 0 && s <= 1
}

// measuredObstruction decides what holds for every line that may be the measuring
// line within the uncertainty: never when all of them keep clear of every
// obstacle, must when all of them pass deep enough through one. A choice of the
// attacker ("may") needs edges that are exactly parallel, which no measurement
// can assert, and so everything else is too close.
func (m *pairMeasure) measuredObstruction(b beam) ObstructionVerdict {
	v := ObstructionVerdict{Verdict: "never"}
	sd := math.Max(m.lineSigma(b.a), m.lineSigma(b.b))
	hull := b.hull()
	closest, deepest := math.Inf(1), 0.0
	must := false
	for i := range m.rocks {
		r := &m.rocks[i]
		total := m.k * math.Hypot(sd, r.sigma)
		if d := r.bound(hull); d > total && d > closest {
			continue
		}
		gap := geom.Gap(hull, r.outline)
		closest = math.Min(closest, gap)
		if gap > total {
			continue
		}
		v.By = append(v.By, r.id)
		depth := beamDepth(b, r.outline)
		must = must || depth > total
		deepest = math.Max(deepest, depth)
	}
	switch {
	case len(v.By) == 0:
		v.Margin = geom.Length(closest)
	case must:
		v.Verdict, v.Margin = "must", geom.Length(deepest)
	default:
		v.Verdict, v.Margin = "too_close", geom.Length(math.Max(closest, deepest))
	}
	return v
}

// beamDepth returns a depth inside an outline that every line of the beam
// reaches, or 0 when some line keeps out.
func beamDepth(b beam, outline geom.Polygon) float64 {
	const steps = 16
	if b.a == b.b {
		_, d := outline.Deepest(b.a[0], b.a[1], 1e-3)
		return math.Max(0, d)
	}
	// A line between two that were looked at is no further from either than half
	// their distance, and neither is its depth.
	between := apart(b.a, b.b) / steps / 2
	least := math.Inf(1)
	for i := range steps + 1 {
		l := b.at(float64(i) / steps)
		_, d := outline.Deepest(l[0], l[1], 1e-3)
		least = math.Min(least, d-between)
	}
	return math.Max(0, least)
}

// lineSigma returns the standard deviation of where a measuring line runs on the
// table: the largest over its two ends, along and across. An end that is the foot
// of a perpendicular slides along its side when the side turns.
func (m *pairMeasure) lineSigma(l Line) float64 {
	if m.exact {
		return 0
	}
	u := l[1].Sub(l[0])
	d := u.Norm()
	if d < tie {
		u = geom.Point{X: 1}
	} else {
		u = u.Mul(1 / d)
	}
	n := geom.Point{X: -u.Y, Y: u.X}
	var own [2]float64
	most := 0.0
	for i, p := range l {
		var along, across gradient
		m.push(&along, i, u, p)
		m.push(&across, i, n, p)
		own[i] = m.variance(&across)
		most = math.Max(most, m.variance(&along))
	}
	for i, s := range [...]*shape{&m.base, &m.to} {
		v := own[i]
		if !isCorner(l[i], s) {
			v = own[1-i] + sq(d)*m.bodies[i].cov[8]
		}
		most = math.Max(most, v)
	}
	return math.Sqrt(most)
}

func isCorner(p geom.Point, s *shape) bool {
	for _, q := range s.v {
		if p.Sub(q).Norm() < 1e-6 {
			return true
		}
	}
	return false
}

// shipsOn lists the other ships whose bases a permitted line passes through. In
// 2.0 and 2.5 that has no effect of its own.
func (m *pairMeasure) shipsOn(b beam) []string {
	var ids []string
	hull := b.hull()
	for i := range m.others {
		o := &m.others[i]
		if o.ship == m.from || o.ship == m.target || !o.near(hull) {
			continue
		}
		if beamThrough(b, o.outline[:]) {
			ids = append(ids, o.ship.ID)
		}
	}
	return ids
}

// beamThrough reports whether some line of a beam passes through the interior of
// a convex outline.
func beamThrough(b beam, outline geom.Polygon) bool {
	if b.a == b.b {
		return outline.MeetsInterior(b.a[0], b.a[1], tie)
	}
	for _, t := range b.changes([]*rock{{outline: outline}}) {
		if l := b.at(t); outline.MeetsInterior(l[0], l[1], tie) {
			return true
		}
	}
	return false
}

// stander is a ship's base on the table, for asking what stands on a line.
type stander struct {
	ship    *Ship
	outline [4]geom.Point
	radius  float64
}

func (o *stander) near(hull geom.Polygon) bool {
	return hull.BoundaryDistance(o.ship.Pose.Point) <= o.radius || hull.Contains(o.ship.Pose.Point)
}
