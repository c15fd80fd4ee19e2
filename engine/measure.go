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

	touching Touching

	sharp  bool // no outline on the table is uncertain
	rocks  []rock
	others []stander
	mem    memory
	pm     pairMeasure
}

// prepare checks a scene and works out what all its measurements share.
func (t *table) prepare(s *Scene, o Options) error {
	t.scene, t.k, t.touching = s, o.Sigmas, o.Touching
	if t.k == 0 {
		t.k = DefaultSigmas
	}
	if !(t.k > 0 && t.k <= maxSigmas) {
		return fmt.Errorf("engine: sigmas: expected more than 0 and at most %d, got %g", maxSigmas, o.Sigmas)
	}
	if err := s.Validate(); err != nil {
		return fmt.Errorf("engine: %w", err)
	}
	var err error
	if t.profile, err = s.dimensions(); err != nil {
		return fmt.Errorf("engine: %w", err)
	}
	t.setRocks()
	t.others = grow(t.others, len(s.Ships))
	for i := range s.Ships {
		var b shape
		b.base(&t.profile, &s.Ships[i], bodyFrom)
		t.others[i].ship = &s.Ships[i]
		copy(t.others[i].outline[:], b.v)
		t.others[i].radius = arcReach(s.Ships[i].Pose.Point, &b)
	}
	return nil
}

// setRocks places all outlines on the table: obstacles, devices, markers.
func (t *table) setRocks() {
	s, n := t.scene, 0
	t.sharp = true
	add := func(id, kind string, pose geom.Pose, outline []geom.Point, sigma geom.Length) *rock {
		t.rocks = grow(t.rocks, n+1)
		r := &t.rocks[n]
		n++
		r.set(id, kind, pose, outline, sigma)
		return r
	}
	for i := range s.Obstacles {
		o := &s.Obstacles[i]
		add(o.ID, o.Kind, o.Pose, o.Outline, o.Sigma).obstacle = true
		t.sharp = t.sharp && o.Sigma == 0
	}
	for i, list := range [...][]Token{s.Devices, s.Markers} {
		for j := range list {
			k := &list[j]
			for _, p := range k.parts() {
				r := add(k.ID+p.name, k.Kind, k.Pose, p.outline, k.Sigma)
				r.obstacle = isObstacle(k.Kind)
				r.device = i == 0 && !r.obstacle
				t.sharp = t.sharp && (!r.obstacle || k.Sigma == 0)
			}
		}
	}
	t.rocks = t.rocks[:n]
}

// grow returns the slice with n elements, in the same memory where it has the
// room; what lies beyond its old length is as it was left.
func grow[T any](s []T, n int) []T {
	if n <= cap(s) {
		return s[:n]
	}
	return append(s[:cap(s)], make([]T, n-cap(s))...)
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
// ship against each obstacle, device and marker, and what is wrong with the scene
// itself. The error says what makes the scene impossible to measure. See
// [Measurer] for measuring again and again.
func Measure(s *Scene, o Options) (Result, error) {
	var m Measurer
	r, err := m.Measure(s, o)
	if err != nil {
		return Result{}, err
	}
	return *r, nil
}

// measure fills r, whose lists it uses again.
func (t *table) measure(r *Result) {
	s, standing := t.scene, r.Standing[:0]
	*r = Result{Rules: s.Rules, Pairs: r.Pairs[:0], Objects: r.Objects[:0], Problems: r.Problems[:0]}
	for i := range s.Ships {
		for j := range s.Ships {
			if i != j {
				r.Pairs = append(r.Pairs, t.pair(&s.Ships[i], &s.Ships[j]))
			}
		}
	}
	for i := range s.Ships {
		for j := range t.rocks {
			r.Objects = append(r.Objects, t.object(&s.Ships[i], &t.rocks[j]))
		}
	}
	r.Problems = t.problems(r.Problems)
	r.Standing = t.standing(r, standing)
}

// MeasurePair answers the questions about one ordered pair of ships.
func MeasurePair(s *Scene, from, to string, o Options) (PairVerdict, error) {
	var m Measurer
	return m.Pair(s, from, to, o)
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
	start, part  shape // what of them is in an arc
	reach        float64
	contact      Outcome
	direct       meeting // from base to base

	region region // the arc that is being measured
	lane   lane
	look   look
	sights []sight // what was answered about obstruction
	one    rock
	ones   [1]*rock
}

func (t *table) pair(from, to *Ship) PairVerdict {
	m := &t.pm
	m.gauge.set(body{from.Pose.Point, from.Covariance}, body{to.Pose.Point, to.Covariance}, t.scene.ScaleSigma, t.k)
	m.table, m.k, m.rules, m.from, m.target = t, t.k, t.scene.Rules, from, to
	m.ones[0], m.sights = &m.one, m.sights[:0]
	m.base.base(&t.profile, from, bodyFrom)
	m.to.base(&t.profile, to, bodyTo)
	m.reach = arcReach(from.Pose.Point, &m.base, &m.to)

	m.direct = m.gap(&m.base, &m.to)
	m.contact = contactOutcome(m.direct.span)
	farthest := m.farthest(&m.base, &m.to, &m.part)
	v := PairVerdict{
		From: from.ID, To: to.ID,
		Range:    t.mem.rangeVerdict(m.rules, &m.direct, m.contact, m.k),
		Farthest: t.mem.rangeVerdict(m.rules, &farthest, No, m.k),
		Contact:  m.contact,
	}
	var buf [12]Arc
	first := len(t.mem.arcs)
	for _, a := range arcsOf(m.rules, from, buf[:0]) {
		t.mem.arcs = append(t.mem.arcs, m.measureArc(a))
	}
	v.Arcs = t.mem.arcs[first:len(t.mem.arcs):len(t.mem.arcs)]
	return v
}

// problems lists what the rules do not allow or what makes answers doubtful, and
// only what is decided.
func (t *table) problems(ps []Problem) []Problem {
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
	for _, list := range [...][]Token{t.scene.Devices, t.scene.Markers} {
		for i := range list {
			if k := &list[i]; len(k.parts()) == 0 {
				ps = append(ps, Problem{ID: k.ID, Problem: "not measured: the size of its kind is not known"})
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
	g := &t.pm.gauge
	g.set(body{s.Pose.Point, s.Covariance}, body{}, t.scene.ScaleSigma, t.k)
	b, mat := &t.pm.base, &t.pm.to
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

// radius returns the radius of the circle around a base.
func (t *table) radius(s *Ship) float64 {
	w, l := t.profile.Size(s.Base)
	return math.Hypot(float64(w), float64(l)) / 2
}

// overlaps begins the problem of a ship that lies on another.
const overlaps = "overlaps "

// overlapping reports two bases that lie on each other, which cannot be.
func (t *table) overlapping(a, b *Ship) (Problem, bool) {
	if far := float64(a.Pose.Distance(b.Pose.Point)); far > t.radius(a)+t.radius(b) {
		return Problem{}, false // however they are turned
	}
	g := &t.pm.gauge
	g.set(body{a.Pose.Point, a.Covariance}, body{b.Pose.Point, b.Covariance}, t.scene.ScaleSigma, t.k)
	x, y := &t.pm.base, &t.pm.to
	x.base(&t.profile, a, bodyFrom)
	y.base(&t.profile, b, bodyTo)
	s := g.separation(x, y)
	return Problem{ID: a.ID, Problem: overlaps + b.ID, Margin: geom.Length(-s.val)}, s.hi < -tie
}
