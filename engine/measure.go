package engine

import (
	"fmt"
	"math"

	"sightline/engine/geom"
)

// table is a scene made ready for measuring.
type table struct {
	scene   *Scene
	profile Profile
	k       float64
	rocks   []rock
	others  []stander
}

// prepare checks a scene and works out what all its measurements share.
func prepare(s *Scene, o Options) (*table, error) {
	t := &table{scene: s, k: o.Sigmas}
	if t.k == 0 {
		t.k = DefaultSigmas
	}
	if !(t.k > 0 && t.k <= maxSigmas) {
		return nil, fmt.Errorf("engine: sigmas: expected more than 0 and at most %d, got %g", maxSigmas, o.Sigmas)
	}
	if err := s.Validate(); err != nil {
		return nil, fmt.Errorf("engine: %w", err)
	}
	var err error
	if t.profile, err = s.dimensions(); err != nil {
		return nil, fmt.Errorf("engine: %w", err)
	}
	t.rocks = make([]rock, len(s.Obstacles))
	for i := range s.Obstacles {
		t.rocks[i] = newRock(&s.Obstacles[i])
	}
	t.others = make([]stander, len(s.Ships))
	for i := range s.Ships {
		var b shape
		b.base(&t.profile, &s.Ships[i], bodyFrom)
		t.others[i].ship = &s.Ships[i]
		copy(t.others[i].outline[:], b.v)
		t.others[i].radius = arcReach(s.Ships[i].Pose.Point, &b)
	}
	return t, nil
}

// maxSigmas is more standard deviations than anyone needs.
const maxSigmas = 100

// dimensions returns the profile that the scene is measured with.
func (s *Scene) dimensions() (Profile, error) {
	if s.Dimensions != nil {
		return *s.Dimensions, s.Dimensions.Validate()
	}
	return ProfileNamed(s.Profile)
}

// Measure answers every question about a scene: each ordered pair of ships, each
// ship against each obstacle, and what is wrong with the scene itself. The error
// says what makes the scene impossible to measure.
func Measure(s *Scene, o Options) (Result, error) {
	t, err := prepare(s, o)
	if err != nil {
		return Result{}, err
	}
	r := Result{Rules: s.Rules}
	for i := range s.Ships {
		for j := range s.Ships {
			if i != j {
				r.Pairs = append(r.Pairs, t.pair(&s.Ships[i], &s.Ships[j]))
			}
		}
	}
	for i := range s.Ships {
		for j := range s.Obstacles {
			r.Objects = append(r.Objects, t.object(&s.Ships[i], &s.Obstacles[j], &t.rocks[j]))
		}
	}
	r.Problems = t.problems()
	return r, nil
}

// MeasurePair answers the questions about one ordered pair of ships.
func MeasurePair(s *Scene, from, to string, o Options) (PairVerdict, error) {
	t, err := prepare(s, o)
	if err != nil {
		return PairVerdict{}, err
	}
	a, b := s.ship(from), s.ship(to)
	switch {
	case a == nil:
		return PairVerdict{}, fmt.Errorf("engine: measure from %q: %w", from, ErrNoShip)
	case b == nil:
		return PairVerdict{}, fmt.Errorf("engine: measure to %q: %w", to, ErrNoShip)
	case a == b:
		return PairVerdict{}, fmt.Errorf("engine: measure from %q: expected another ship to measure to", from)
	}
	return t.pair(a, b), nil
}

func (s *Scene) ship(id string) *Ship {
	for i := range s.Ships {
		if s.Ships[i].ID == id {
			return &s.Ships[i]
		}
	}
	return nil
}

// pairMeasure is one ordered pair of ships being measured.
type pairMeasure struct {
	gauge
	*table
	k            float64
	rules        Rules
	from, target *Ship
	base, to     shape // their bases
	reach        float64
	contact      Outcome
	direct       meeting // from base to base
}

func (t *table) pair(from, to *Ship) PairVerdict {
	m := pairMeasure{
		gauge: newGauge(body{from.Pose.Point, from.Covariance}, body{to.Pose.Point, to.Covariance}, t.scene.ScaleSigma, t.k),
		table: t, k: t.k, rules: t.scene.Rules, from: from, target: to,
	}
	m.base.base(&t.profile, from, bodyFrom)
	m.to.base(&t.profile, to, bodyTo)
	m.reach = arcReach(from.Pose.Point, &m.base, &m.to)

	m.direct = m.gap(&m.base, &m.to)
	m.contact = contactOutcome(m.direct.span)
	v := PairVerdict{
		From: from.ID, To: to.ID,
		Range:   rangeVerdict(m.rules, &m.direct, m.contact, m.k),
		Contact: m.contact,
	}
	var buf [8]Arc
	arcs := arcsOf(m.rules, from, buf[:0])
	v.Arcs = make([]ArcVerdict, len(arcs))
	for i, a := range arcs {
		v.Arcs[i] = m.measureArc(a)
	}
	return v
}

// problems lists what the rules do not allow or what makes answers doubtful, and
// only what is decided.
func (t *table) problems() []Problem {
	var ps []Problem
	for i := range t.scene.Ships {
		if p, ok := t.outside(&t.scene.Ships[i]); ok {
			ps = append(ps, p)
		}
	}
	for i := range t.scene.Ships {
		for j := range i {
			if p, ok := t.overlapping(&t.scene.Ships[i], &t.scene.Ships[j]); ok {
				ps = append(ps, p)
			}
		}
	}
	return ps
}

// outside reports a ship of which a part is outside the play area: it has fled.
func (t *table) outside(s *Ship) (Problem, bool) {
	w, h := float64(t.scene.MatWidth), float64(t.scene.MatHeight)
	if w <= 0 || h <= 0 {
		return Problem{}, false
	}
	g := newGauge(body{s.Pose.Point, s.Covariance}, body{}, t.scene.ScaleSigma, t.k)
	var b, mat shape
	b.base(&t.profile, s, bodyFrom)
	mat.rectangle(geom.Pose{}, bodyTo, 0, w, 0, h)
	out := span{math.Inf(-1), math.Inf(-1), math.Inf(-1)}
	for i, p := range mat.v {
		e := mat.next(i).Sub(p)
		n := geom.Point{X: e.Y, Y: -e.X}.Mul(1 / e.Norm())
		for _, q := range b.v {
			d := n.Dot(q.Sub(p))
			leaf, _ := g.leaf(d, n, bodyTo, bodyFrom, q, q, d)
			out = out.most(leaf)
		}
	}
	return Problem{ID: s.ID, Problem: "outside the play area", Margin: geom.Length(out.val)}, out.lo > tie
}

// overlapping reports two bases that lie on each other, which cannot be.
func (t *table) overlapping(a, b *Ship) (Problem, bool) {
	g := newGauge(body{a.Pose.Point, a.Covariance}, body{b.Pose.Point, b.Covariance}, t.scene.ScaleSigma, t.k)
	var x, y shape
	x.base(&t.profile, a, bodyFrom)
	y.base(&t.profile, b, bodyTo)
	s := g.separation(&x, &y)
	return Problem{ID: a.ID, Problem: "overlaps " + b.ID, Margin: geom.Length(-s.val)}, s.hi < -tie
}
