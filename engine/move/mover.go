package move

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/engine/internal/pieces"
	"sightline/engine/internal/uncertain"
)

// neighbour is another ship on the table.
type neighbour struct {
	id     string
	player int
	radius float64 // of the circle around it, guides included
	shape  footprint
	err    uncertain.PointError // in any direction
	uncertain.Body
}

// thing is an obstacle or a device on the table.
type thing struct {
	id       string
	obstacle bool
	unknown  bool // a device whose size no source gives: outlines holds what it can reach
	at       geom.Point
	outlines []geom.Polygon
	limits   *limits // nil: the mat's edge leaves open nothing of it
	start    float64 // distance from the moving ship at the start
	err      uncertain.PointError
}

// mover is one ship about to move.
type mover struct {
	scene   *engine.Scene
	profile engine.Profile
	k       float64
	ship    *engine.Ship
	w, l    float64 // of its base
	start   footprint
	others  []neighbour
	things  []thing
	result  Result
	inexact bool    // some pose on the table, or the scale, is uncertain
	pulled  bool    // by a tractor beam: obstacles forbid nothing (G160)
	nearest float64 // by how much the question of Margin is decided
}

// newMover prepares a scene for moving one ship.
func newMover(s *engine.Scene, id string, o engine.Options) (*mover, error) {
	m := &mover{scene: s, nearest: math.Inf(1)}
	var err error
	if m.k, m.profile, err = s.Ready(o); err != nil {
		return nil, fmt.Errorf("engine: %w", err)
	}
	if m.ship = s.Ship(id); m.ship == nil {
		return nil, fmt.Errorf("engine: move %q: %w", id, engine.ErrNoShip)
	}
	if m.ship.Quarters {
		return nil, fmt.Errorf("engine: move %q: its heading is known to a %s turn only: %w", id, halfOrQuarter(m.ship.Base), ErrQuarters)
	}
	w, l := m.profile.Size(m.ship.Base)
	m.w, m.l = float64(w), float64(l)
	m.start = newFootprint(&m.profile, m.ship.Base, m.ship.Pose, false)
	m.inexact = s.ScaleSigma > 0
	for i := range s.Ships {
		m.inexact = m.inexact || s.Ships[i].Covariance != geom.Cov3{}
		if o := &s.Ships[i]; o != m.ship {
			m.others = append(m.others, m.neighbour(o))
		}
	}
	for i := range s.Obstacles {
		o := &s.Obstacles[i]
		m.add(o.ID, true, o.Pose, o.Sigma, []pieces.Part{{Outline: o.Outline}})
	}
	for i := range s.Devices {
		m.addDevice(&s.Devices[i])
	}
	slices.SortStableFunc(m.things, func(a, b thing) int { return cmp.Compare(a.start, b.start) })
	m.result = Result{Ship: id, Outcome: engine.Yes, Flees: engine.No, Margin: geom.Length(math.Inf(1))}
	return m, nil
}

// halfOrQuarter names the turn after which a base's edges look the same.
func halfOrQuarter(b engine.Base) string {
	if b.Huge() {
		return "half"
	}
	return "quarter"
}

// guidesOut is more than any guide protrudes from its base, in mm (rules/dimensions 1.1).
const guidesOut = 2.0

// neighbour prepares another ship.
func (m *mover) neighbour(o *engine.Ship) neighbour {
	covariance := o.Covariance
	if o.Quarters && !o.Base.Huge() { // its guides may stand on the other two sides
		covariance[0] += geom.Sq(guidesOut / m.k)
		covariance[4] += geom.Sq(guidesOut / m.k)
		m.inexact = true
	}
	n := neighbour{id: o.ID, player: o.Player, Body: uncertain.Body{At: o.Pose.Point, Cov: covariance}}
	n.shape = newFootprint(&m.profile, o.Base, o.Pose, true)
	n.err = n.WorstPoint(m.k, n.shape.parts[0][:]...)
	for i := range n.shape.n {
		for _, p := range n.shape.parts[i] {
			n.radius = max(n.radius, p.Sub(n.At).Norm())
		}
	}
	return n
}

// addDevice appends a device, or what of it lies in the play area (G184).
func (m *mover) addDevice(t *engine.Token) {
	w, h, slack := float64(m.scene.MatWidth), float64(m.scene.MatHeight), m.k*float64(t.Sigma)
	all := pieces.Parts(t.Kind, t.Outline)
	var parts []pieces.Part
	var whole [][]geom.Point
	for _, p := range all {
		whole = append(whole, p.Outline)
		for _, g := range pieces.OnMat(w, h, t.Pose, p.Outline, slack) {
			parts = append(parts, pieces.Part{Outline: g})
		}
	}
	if len(parts) > 0 || len(all) == 0 { // else all of it lies outside
		m.add(t.ID, pieces.ObstacleKind(t.Kind) == "debris", t.Pose, t.Sigma, parts)
		m.things[len(m.things)-1].limits = limitsOf(w, h, t.Pose, whole, [4]float64{slack, slack, slack, slack})
	}
}

// limits are the least and the most of a device that may lie in the play area, where its place
// next to the edge is uncertain.
type limits struct{ least, most []geom.Polygon }

// limitsOf returns the limits of a device made of the given outlines; nil if the edges leave
// nothing open. slack is as for [pieces.MatLimits].
func limitsOf(w, h float64, at geom.Pose, outlines [][]geom.Point, slack [4]float64) *limits {
	var l limits
	crossed := false
	for _, g := range outlines {
		least, most, open := pieces.MatLimits(w, h, at, g, slack)
		crossed = crossed || open
		for _, p := range [2]struct {
			to *[]geom.Polygon
			of [][]geom.Point
		}{{&l.least, least}, {&l.most, most}} {
			for _, g := range p.of {
				*p.to = append(*p.to, at.TransformAll(g))
			}
		}
	}
	if !crossed {
		return nil
	}
	return &l
}

// decide returns the margin of a question about a device of which more or less may count, given the
// margins of the likeliest part, the least and the most: with an overlap of the least it surely overlaps,
// without one of the most it surely does not.
func (l *limits) decide(ask func([]geom.Polygon) margin, likely []geom.Polygon) margin {
	if l == nil {
		return ask(likely)
	}
	least, most := ask(l.least), ask(l.most)
	switch {
	case least.outcome() != engine.No:
		return least
	case most.outcome() != engine.Yes:
		return most
	}
	return margin{0, -most.gap} // it depends on what lies in the play area
}

// add appends something that lies on the table. Dropped cargo is an obstacle (G43).
func (m *mover) add(id string, obstacle bool, at geom.Pose, sigma geom.Length, parts []pieces.Part) {
	const widest = 61 * geom.Millimeter // no known device reaches further from its centre
	t := thing{id: id, obstacle: obstacle, start: math.Inf(1), err: uncertain.PointError{Variance: float64(sigma * sigma)}}
	if t.unknown = len(parts) == 0; t.unknown {
		r := float64(widest)
		parts = []pieces.Part{{Outline: []geom.Point{{X: r, Y: r}, {X: -r, Y: r}, {X: -r, Y: -r}, {X: r, Y: -r}}}}
	}
	corners := 0
	for _, p := range parts {
		g := at.TransformAll(p.Outline)
		for _, q := range g {
			t.at = t.at.Add(q)
		}
		t.outlines, corners = append(t.outlines, g), corners+len(g)
		t.start = min(t.start, m.start.outlineGap(g))
	}
	t.at = t.at.Mul(1 / float64(corners))
	m.things = append(m.things, t)
}

// slack returns the error, in mm at k standard deviations, of a gap between points of the
// moving ship and something else. The moving ship has the error of its pose before the move:
// a template carries over the error of the base to which it was laid.
func (m *mover) slack(other uncertain.PointError, at geom.Point, points ...geom.Point) float64 {
	own := m.own()
	l := other.And(own.WorstPoint(m.k, points...))
	scaled := m.scene.ScaleSigma * at.Sub(m.ship.Pose.Point).Norm()
	return m.k*math.Sqrt(l.Variance+scaled*scaled) + l.SecondOrder
}

// overlapping decides from a signed gap whether interiors meet: contact is not an
// overlap.
func overlapping(gap, slack float64) engine.Outcome {
	switch {
	case slack == 0 && gap < -geom.Tie, slack > 0 && gap+slack < 0:
		return engine.Yes
	case slack == 0, gap-slack > 0:
		return engine.No
	}
	return engine.Indeterminate
}

// note records a question and its margin.
func (m *mover) note(what string, o engine.Outcome, gap, slack float64) {
	if o == engine.NoView {
		return
	}
	if o == engine.Indeterminate {
		m.doubt(what)
	}
	if v := math.Abs(gap) - slack; v < m.nearest {
		m.nearest, m.result.Nearest = v, what
		m.result.Margin, m.result.Sigma = geom.Length(math.Abs(gap)), geom.Length(slack/m.k)
	}
}

// doubt notes that something is too close to call.
func (m *mover) doubt(what string) {
	m.result.Outcome = engine.Indeterminate
	if !slices.Contains(m.result.Undecided, what) {
		m.result.Undecided = append(m.result.Undecided, what)
	}
}

func (m *mover) huge() bool { return m.ship.Base.Huge() }

// done returns the result. If obstacles were not looked for, meeting none means nothing.
func (m *mover) done() Result {
	r := m.result
	if m.scene.ObstaclesUnseen || m.unknownNear(r.Full, r.Final) {
		r.Undecided = append(r.Undecided, NotLooked)
		if r.Outcome == engine.Yes {
			r.Outcome = engine.NoView
		}
	}
	return r
}

// unknownNear reports whether something that may be an obstacle lies near the way to one of
// the places: nearer than the base's half diagonal plus the distance of a turn's arc from
// its chord (at most 26 mm). A zero pose is no place.
func (m *mover) unknownNear(to ...geom.Pose) bool {
	w, l := m.ship.Base.Size()
	reach := math.Hypot(float64(w), float64(l))/2 + 30
	return m.scene.AnyDoubtful(func(u geom.Polygon) bool {
		return slices.ContainsFunc(to, func(p geom.Pose) bool {
			return p != (geom.Pose{}) && geom.Gap(geom.Polygon{m.ship.Pose.Point, p.Point}, u) <= reach
		})
	})
}

func (m *mover) baseAt(p geom.Pose) []geom.Point {
	f := newFootprint(&m.profile, m.ship.Base, p, false)
	return f.parts[0][:]
}
