package move

import (
	"fmt"
	"math"

	"sightline/engine"
	"sightline/engine/geom"
)

// TemplateKind is the shape of a maneuver template.
type TemplateKind int

// The three shapes.
const (
	TemplateStraight TemplateKind = iota
	TemplateBank                  // an eighth of a circle (G126)
	TemplateTurn                  // a quarter of a circle (G127)
)

// Template is a maneuver template: its shape, its speed and the side that it
// bends to.
type Template struct {
	Kind  TemplateKind
	Speed int // straight 1 to 5, bank and turn 1 to 3
	Left  bool
}

// Dimensions that all templates share (rules/dimensions 1.2).
const (
	templateHalf = 10 * geom.Millimeter // half of the width
	straightUnit = 40 * geom.Millimeter // length of straight 1
)

// line returns the template's centre line in the given profile.
func (t Template) line(p *engine.Profile) centreLine {
	side := 1.0
	if t.Left {
		side = -1
	}
	switch t.Kind {
	case TemplateBank:
		r := float64(p.Bank[t.Speed-1])
		return centreLine{length: r * math.Pi / 4, radius: r, side: side}
	case TemplateTurn:
		r := float64(p.Turn[t.Speed-1])
		return centreLine{length: r * math.Pi / 2, radius: r, side: side}
	}
	return centreLine{length: float64(straightUnit) * float64(t.Speed), side: side}
}

// Validate returns an error for a template that does not exist.
func (t Template) Validate() error {
	most := 3
	if t.Kind == TemplateStraight {
		most = 5
	}
	if t.Kind < TemplateStraight || t.Kind > TemplateTurn || t.Speed < 1 || t.Speed > most {
		return fmt.Errorf("template: expected a speed from 1 to %d, got %d", most, t.Speed)
	}
	return nil
}

// centreLine is the line down the middle of a template, in the template's own frame:
// it begins at the origin along +y and continues straight past both ends, as if a
// straight template lay at each (G107, G108):
//
//	           ____ exit straight
//	         /
//	        | arc of the radius, here to the right (side 1)
//	(0,0) --+-- start
//	        |
//	        | entry straight
//
// Places on it are counted by s, the millimetres from the template's start.
type centreLine struct {
	length float64
	radius float64 // 0: straight
	side   float64 // 1 right, -1 left
}

// at returns the point at s and the heading of the line there (clockwise from +y).
func (p centreLine) at(s float64) (geom.Point, float64) {
	if p.radius == 0 || s <= 0 {
		return geom.Point{Y: s}, 0
	}
	phi := math.Min(s, p.length) / p.radius
	sin, cos := math.Sincos(phi)
	q := geom.Point{X: 2 * p.radius * geom.Sq(math.Sin(phi/2)), Y: p.radius * sin}
	if s > p.length {
		q = q.Add(geom.Point{X: sin, Y: cos}.Mul(s - p.length))
	}
	q.X *= p.side
	return q, p.side * phi
}

// templateChords is how many chords an edge of a bent template is drawn with.
const templateChords = 24

// templateOutline returns the outline of a template at a frame, for drawing only: its
// round edges are chords.
func templateOutline(p centreLine, frame geom.Pose) []geom.Point {
	n := 1
	if p.radius > 0 {
		n = templateChords
	}
	g := make([]geom.Point, 0, 2*n+2)
	for _, side := range [2]float64{1, -1} {
		for i := range n + 1 {
			s := p.length * float64(i) / float64(n)
			if side < 0 {
				s = p.length - s
			}
			at, h := p.at(s)
			sin, cos := math.Sincos(h)
			g = append(g, frame.Transform(at.Add(geom.Point{X: cos, Y: -sin}.Mul(side*float64(templateHalf)))))
		}
	}
	return g
}

// ahead returns the first place on the line beyond s at the straight distance l from the
// place s: where a base's front mark is when its rear mark is at s (G105, G106). The line
// turns by at most a quarter, so the distance from a place only grows along it, and the
// answer is unique.
func (p centreLine) ahead(s, l float64) float64 {
	if p.radius == 0 || s >= p.length || s+l <= 0 {
		return s + l
	}
	r := p
	r.side = 1 // both sides are alike
	from, _ := r.at(s)
	end, phi := r.at(r.length)
	if d := end.Sub(from); d.Norm() <= l { // on the exit straight
		sin, cos := math.Sincos(phi)
		b := d.Dot(geom.Point{X: sin, Y: cos})
		return r.length - b + math.Sqrt(math.Max(0, b*b-d.Dot(d)+l*l))
	}
	if s >= 0 { // a chord of the arc
		return s + 2*r.radius*math.Asin(math.Min(1, l/(2*r.radius)))
	}
	// From the entry straight to the arc: R²cosφ + R·s·sinφ = (2R² + s² - l²)/2.
	c := (2*r.radius*r.radius + s*s - l*l) / 2
	a := r.radius * math.Hypot(r.radius, s)
	return r.radius * (math.Atan2(s, r.radius) + math.Acos(math.Max(-1, math.Min(1, c/a))))
}

// pose returns the pose of a base of length l whose rear mark is at s and whose
// front mark is on the line too, in the template's frame (G105 to G108).
func (p centreLine) pose(s, l float64) geom.Pose {
	rear, _ := p.at(s)
	front, _ := p.at(p.ahead(s, l))
	d := front.Sub(rear)
	return geom.Pose{Point: rear.Add(front).Mul(0.5), Heading: geom.Angle(math.Atan2(d.X, d.Y))}
}

// rates bounds how fast a base of length l moves and turns, per millimetre of its
// rear mark along the line: mm/mm of its centre and rad/mm. With α and β the
// angles between base and line at the rear and the front mark, the front mark
// moves cosα/cosβ as fast as the rear one.
func (p centreLine) rates(l float64) (speed, turn float64) {
	if p.radius == 0 {
		return 1, 0
	}
	const samples = 512
	for i := range samples + 1 {
		s := -l + (p.length+l)*float64(i)/samples
		v := p.ahead(s, l)
		_, hr := p.at(s)
		_, hf := p.at(v)
		h := float64(p.pose(s, l).Heading)
		ahead := math.Cos(h-hr) / math.Max(1e-6, math.Cos(hf-h))
		speed = math.Max(speed, (1+ahead)/2)
		turn = math.Max(turn, (math.Abs(math.Sin(h-hr))+ahead*math.Abs(math.Sin(hf-h)))/l)
	}
	return 1.25 * speed, 1.25 * turn // 1.25: between the samples
}

// sweptArea is the area that a template covers from its start up to a base that
// stands on it (G164, G165): cut off at the base's rear edge.
type sweptArea struct {
	line  centreLine
	frame geom.Pose  // the template's start on the table
	cut   float64    // place of the rear mark; nothing is covered when it is not positive
	rear  geom.Point // the rear mark in the template's frame, mirrored to the right
	ahead geom.Point // the base's heading there
	rect  [4]geom.Point
	ends  [4]geom.Point // corners of the area, mirrored frame: start inner, outer, cut inner, outer
}

// newSweptArea makes the area of a template up to the base of length l at s.
func newSweptArea(p centreLine, frame geom.Pose, s, l float64) sweptArea {
	w := float64(templateHalf)
	right := p
	right.side = 1
	s = math.Min(s, p.length)
	a := sweptArea{line: right, frame: frame, cut: s}
	a.rear, _ = right.at(s)
	sin, cos := math.Sincos(float64(right.pose(s, l).Heading))
	a.ahead = geom.Point{X: sin, Y: cos}
	if s <= 0 {
		a.cut = 0
		return a
	}
	if p.radius == 0 {
		a.rect = [4]geom.Point{{X: w, Y: s}, {X: -w, Y: s}, {X: -w}, {X: w}}
	} else {
		c := geom.Point{X: p.radius}
		inner, outer := math.Max(0, p.radius-w), p.radius+w
		a.ends = [4]geom.Point{{X: p.radius - inner}, {X: -w}, a.onCut(c, inner), a.onCut(c, outer)}
		if d := a.ends[0].Sub(a.rear).Dot(a.ahead); d > 0 {
			// A base wider than the bend is tight: the rear edge meets the start.
			d0 := a.ends[1].Sub(a.rear).Dot(a.ahead)
			a.ends[0] = a.ends[1].Lerp(a.ends[0], d0/(d0-d))
			a.ends[2] = a.ends[0]
		}
	}
	a.line.side = p.side // at the end: everything above is mirrored to the right
	return a
}

// onCut returns where the circle of radius r around c meets the rear edge's line,
// on the template's side.
func (a *sweptArea) onCut(c geom.Point, r float64) geom.Point {
	t := geom.Point{X: -a.ahead.Y, Y: a.ahead.X} // along the edge, to the left: away from c
	d := a.rear.Sub(c)
	b := d.Dot(t)
	return a.rear.Add(t.Mul(-b + math.Sqrt(math.Max(0, b*b-d.Dot(d)+r*r))))
}

// local maps a point of the table to the template's frame, mirrored so that the template
// bends to the right.
func (a *sweptArea) local(p geom.Point) geom.Point {
	q := a.frame.Inverse(p)
	q.X *= a.line.side
	return q
}

// gap returns the signed distance from the area to a polygon on the table: positive if they
// are apart; negative, and then a lower bound of the depth, if they overlap; infinite for an
// empty polygon. The arcs are exact, not chords.
func (a *sweptArea) gap(outline geom.Polygon) float64 {
	if a.cut <= 0 || len(outline) == 0 {
		return math.Inf(1)
	}
	local := make(geom.Polygon, len(outline))
	for i, p := range outline {
		local[i] = a.local(p)
	}
	if a.line.radius == 0 {
		return convexGap(a.rect[:], local)
	}
	return a.bentGap(local)
}

// bentGap is gap for a bank or a turn. The area is the part of a ring between two
// lines, and the closest points of it and a polygon are a corner of the one and
// an edge of the other, or the foot of the ring's centre on an edge: its inner
// side is hollow and touches corners only.
func (a *sweptArea) bentGap(g geom.Polygon) float64 {
	depth, dist := math.Inf(-1), math.Inf(1)
	for i, p := range g {
		q := g[(i+1)%len(g)]
		depth = math.Max(depth, a.edgeDepth(p, q))
		dist = math.Min(dist, a.pointDistance(p))
		foot, _ := geom.ClosestOnSegment(geom.Point{X: a.line.radius}, p, q)
		dist = math.Min(dist, a.pointDistance(foot))
		for _, e := range a.ends {
			on, _ := geom.ClosestOnSegment(e, p, q)
			dist = math.Min(dist, on.Sub(e).Norm())
		}
	}
	// Or the polygon swallows the area.
	middle, _ := centreLine{a.line.length, a.line.radius, 1}.at(a.cut / 2)
	for _, p := range append([]geom.Point{middle}, a.ends[:]...) {
		depth = math.Max(depth, g.Depth(p))
	}
	if depth > 0 {
		return -depth
	}
	return dist
}

// depth returns how deep a point of the mirrored frame lies inside the area;
// negative outside.
func (a *sweptArea) depth(p geom.Point) float64 {
	r := p.Sub(geom.Point{X: a.line.radius}).Norm()
	d := float64(templateHalf) - math.Abs(r-a.line.radius)
	return math.Min(d, math.Min(p.Y, a.rear.Sub(p).Dot(a.ahead)))
}

// edgeDepth returns a lower bound, of the right sign, of how deep a segment
// reaches into the area: the parts of the segment between the two lines and
// between the two circles are computed exactly.
func (a *sweptArea) edgeDepth(p, q geom.Point) float64 {
	best := math.Inf(-1)
	for _, t := range a.inside(p, q) {
		for i := 1; i < 8 && t[0] < t[1]; i++ {
			best = math.Max(best, a.depth(p.Lerp(q, t[0]+(t[1]-t[0])*float64(i)/8)))
		}
	}
	return best
}

// inside returns the parts of a segment of the mirrored frame, in fractions of it,
// that lie in the area of a bent template. A part whose end is not behind its start
// is empty.
func (a *sweptArea) inside(p, q geom.Point) [2][2]float64 {
	none := [2][2]float64{{1, 0}, {1, 0}}
	t0, t1 := 0.0, 1.0
	for _, d := range [2][2]float64{{p.Y, q.Y}, {a.rear.Sub(p).Dot(a.ahead), a.rear.Sub(q).Dot(a.ahead)}} {
		switch {
		case d[0] <= 0 && d[1] <= 0:
			return none
		case d[0] < 0:
			t0 = math.Max(t0, d[0]/(d[0]-d[1]))
		case d[1] < 0:
			t1 = math.Min(t1, d[0]/(d[0]-d[1]))
		}
	}
	c := geom.Point{X: a.line.radius}
	out0, out1, ok := insideCircle(p, q, c, a.line.radius+float64(templateHalf))
	t0, t1 = math.Max(t0, out0), math.Min(t1, out1)
	if !ok || t0 >= t1 {
		return none
	}
	parts := [2][2]float64{{t0, t1}, {1, 0}}
	if in0, in1, ok := insideCircle(p, q, c, a.line.radius-float64(templateHalf)); ok {
		parts = [2][2]float64{{t0, math.Min(t1, in0)}, {math.Max(t0, in1), t1}}
	}
	return parts
}

// insideCircle returns the part of the line pq, in fractions of pq, that lies
// within the circle of radius r around c; ok is false when none does.
func insideCircle(p, q, c geom.Point, r float64) (t0, t1 float64, ok bool) {
	u, d := q.Sub(p), p.Sub(c)
	l2 := u.Dot(u)
	if r <= 0 || l2 == 0 {
		return 0, 0, false
	}
	b := d.Dot(u) / l2
	h := d.Sub(u.Mul(b)) // from c to the line's nearest point
	disc := (r*r - h.Dot(h)) / l2
	if disc <= 0 {
		return 0, 0, false
	}
	w := math.Sqrt(disc)
	return -b - w, -b + w, true
}

// pointDistance returns the distance of a point of the mirrored frame from the
// area, 0 inside.
func (a *sweptArea) pointDistance(p geom.Point) float64 {
	if a.depth(p) >= 0 {
		return 0
	}
	best := math.Inf(1)
	for i := 0; i < 4; i += 2 {
		q, _ := geom.ClosestOnSegment(p, a.ends[i], a.ends[i+1])
		best = math.Min(best, q.Sub(p).Norm())
	}
	c := geom.Point{X: a.line.radius}
	d := p.Sub(c)
	r := d.Norm()
	if r == 0 {
		return math.Min(best, math.Max(0, a.line.radius-float64(templateHalf)))
	}
	for _, w := range [2]float64{-1, 1} {
		on := math.Max(0, a.line.radius+w*float64(templateHalf))
		q := c.Add(d.Mul(on / r))
		if q.Y >= 0 && a.rear.Sub(q).Dot(a.ahead) >= 0 {
			best = math.Min(best, math.Abs(r-on))
		}
	}
	return best
}

// convexGap returns the signed distance between a convex polygon and a simple
// one: positive apart; 0 when only their boundaries meet; negative, by a lower
// bound of the depth, when their interiors do. Moving either by less than that
// depth leaves them overlapping.
func convexGap(a, g geom.Polygon) float64 {
	depth := math.Inf(-1)
	for i, p := range g {
		depth = math.Max(depth, chordDepth(a, p, g[(i+1)%len(g)]))
	}
	if depth <= 0 { // or g swallows a
		for _, p := range a {
			depth = math.Max(depth, g.Depth(p))
		}
	}
	if depth > 0 {
		return -depth
	}
	return outlineGap(a, g)
}

// outlineGap returns the distance between the boundaries of two polygons that do
// not cross.
func outlineGap(a, g geom.Polygon) float64 {
	best := math.Inf(1)
	for range 2 {
		for _, p := range a {
			best = math.Min(best, g.BoundaryDistance(p))
		}
		a, g = g, a
	}
	return best
}

// chordDepth returns how deep the segment pq reaches into a convex polygon whose
// vertices run counter-clockwise: the largest, along the segment, of the least
// distance to the edges, which is concave; its top is where two edges' distances
// cross, or an end.
func chordDepth(a geom.Polygon, p, q geom.Point) float64 {
	var dp, dq [8]float64
	n := min(len(a), len(dp))
	for i := range n {
		e := a[(i+1)%len(a)].Sub(a[i])
		e = e.Mul(1 / e.Norm())
		dp[i], dq[i] = e.Cross(p.Sub(a[i])), e.Cross(q.Sub(a[i]))
		if dp[i] <= 0 && dq[i] <= 0 {
			return math.Max(dp[i], dq[i])
		}
	}
	least := func(t float64) float64 {
		v := math.Inf(1)
		for i := range n {
			v = math.Min(v, dp[i]+t*(dq[i]-dp[i]))
		}
		return v
	}
	best := math.Max(least(0), least(1))
	for i := range n {
		for j := range i {
			slope := (dq[i] - dp[i]) - (dq[j] - dp[j])
			if slope == 0 {
				continue
			}
			if t := (dp[j] - dp[i]) / slope; t > 0 && t < 1 {
				best = math.Max(best, least(t))
			}
		}
	}
	return best
}

// table maps a point of the mirrored frame to the table.
func (a *sweptArea) table(p geom.Point) geom.Point {
	p.X *= a.line.side
	return a.frame.Transform(p)
}

// chords returns the outline of a bent template's area on the table, its round
// edges made of n chords each.
func (a *sweptArea) chords(n int) geom.Polygon {
	c := geom.Point{X: a.line.radius}
	turn := func(p geom.Point) float64 { d := p.Sub(c); return math.Atan2(d.Y, -d.X) } // from the start on
	var g geom.Polygon
	arc := func(from, to geom.Point) {
		r, t0, t1 := from.Sub(c).Norm(), turn(from), turn(to)
		g = append(g, a.table(from))
		for i := 1; i < n; i++ {
			sin, cos := math.Sincos(t0 + (t1-t0)*float64(i)/float64(n))
			g = append(g, a.table(geom.Point{X: c.X - r*cos, Y: r * sin}))
		}
		g = append(g, a.table(to))
	}
	arc(a.ends[1], a.ends[3])
	if a.ends[0] == a.ends[2] { // tight: the inner edge is a corner
		return append(g, a.table(a.ends[0]))
	}
	arc(a.ends[2], a.ends[0])
	return g
}

// corners returns the corners of the area on the table.
func (a *sweptArea) corners() []geom.Point {
	local := a.ends
	if a.line.radius == 0 {
		local = a.rect
	}
	out := make([]geom.Point, len(local))
	for i, p := range local {
		p.X *= a.line.side
		out[i] = a.frame.Transform(p)
	}
	return out
}
