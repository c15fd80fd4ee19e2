package engine

import (
	"fmt"
	"math"
	"slices"

	"sightline/engine/geom"
)

// Measurer measures scene after scene in the same memory: once it has seen a
// scene as large as those to come, measuring a pair allocates nothing. The zero
// value is ready to use. It is not for use by several goroutines at once.
//
// Measuring the same table again with some ships moved evaluates only what those
// ships touch: their own pairs and objects, and the pairs between which they stood
// or stand.
type Measurer struct {
	table  table
	result Result

	// What the result is of: the ships, and a hash of everything else.
	ships []Ship
	rest  uint64
	valid bool
	full  int // how many arcs a whole measurement holds
	moved []bool
}

// memory holds what the verdicts' lists point into. Growing moves to a new array
// and leaves the lists handed out before in the old one, so that none of them
// changes under its owner before the next reset.
type memory struct {
	lines   []Line
	bands   []int
	ids     []string
	arcs    []ArcVerdict
	attacks []AttackVerdict
}

func (m *memory) reset() {
	m.lines, m.bands, m.ids = m.lines[:0], m.bands[:0], m.ids[:0]
	m.arcs, m.attacks = m.arcs[:0], m.attacks[:0]
}

// list returns the names appended since the memory held n of them; nil for none.
func (m *memory) list(n int) []string {
	if n == len(m.ids) {
		return nil
	}
	return m.ids[n:len(m.ids):len(m.ids)]
}

// Measure answers every question about a scene, as the function [Measure] does.
// The result and all it holds are valid until the next call.
func (m *Measurer) Measure(s *Scene, o Options) (*Result, error) {
	valid := m.valid
	m.valid = false
	if err := m.table.prepare(s, o); err != nil {
		return nil, err
	}
	rest := m.table.restHash()
	// What verdicts that are replaced held stays in the memory until the next whole
	// measurement.
	if valid && rest == m.rest && m.sameFleet(s) && len(m.table.mem.arcs) <= 4*m.full {
		m.again(s)
	} else {
		m.table.mem.reset()
		m.table.measure(&m.result)
		m.full = len(m.table.mem.arcs)
	}
	m.rest, m.valid = rest, true
	m.ships = grow(m.ships, len(s.Ships))
	for i := range s.Ships {
		arcs := append(m.ships[i].Arcs[:0], s.Ships[i].Arcs...)
		m.ships[i] = s.Ships[i]
		m.ships[i].Arcs = arcs
	}
	return &m.result, nil
}

// sameFleet reports whether the ships are those of the last result but for where
// they stand, and which of them have moved.
func (m *Measurer) sameFleet(s *Scene) bool {
	if len(s.Ships) != len(m.ships) || len(s.Ships) < 2 {
		return false
	}
	m.moved = grow(m.moved, len(s.Ships))
	for i := range s.Ships {
		a, b := &s.Ships[i], &m.ships[i]
		if a.ID != b.ID || a.Base != b.Base || a.Turret != b.Turret || a.Quarters != b.Quarters || !slices.Equal(a.Arcs, b.Arcs) {
			return false
		}
		m.moved[i] = a.Pose != b.Pose || a.Covariance != b.Covariance
	}
	return true
}

// again evaluates what the moved ships touch.
func (m *Measurer) again(s *Scene) {
	t, r, n := &m.table, &m.result, len(s.Ships)
	for i := range s.Ships {
		for j := range s.Ships {
			at := i*(n-1) + j
			if j > i {
				at--
			}
			if i == j || !m.touched(s, i, j, &r.Pairs[at]) {
				continue
			}
			r.Pairs[at] = t.pair(i, j)
		}
		if !m.moved[i] {
			continue
		}
		for j := range t.rocks {
			r.Objects[i*len(t.rocks)+j] = t.object(&t.others[i], &t.rocks[j])
		}
	}
	r.Problems = t.problems(r.Problems[:0])
	r.Standing = t.standing(r, r.Standing[:0])
}

// touched reports whether a pair has to be measured again: one of the two has
// moved, or a ship that has moved was on a line between them or is on one now.
func (m *Measurer) touched(s *Scene, i, j int, p *PairVerdict) bool {
	if m.moved[i] || m.moved[j] {
		return true
	}
	for k := range s.Ships {
		if m.moved[k] && s.Ships[k].Base.huge() { // it may obstruct, or be the nearest that could
			return true
		}
	}
	pm := &m.table.pm
	for a := range p.Arcs {
		at := p.Arcs[a].Attack
		if at == nil {
			continue
		}
		lines := beam{at.Lines[0], at.Lines[len(at.Lines)-1]}
		pm.lane.set(lines)
		for k := range s.Ships {
			if !m.moved[k] {
				continue
			}
			if slices.Contains(at.Obstruction.Ships, s.Ships[k].ID) {
				return true
			}
			o := &m.table.others[k]
			if _, ok := pm.lane.within(0, o.ship.Pose.Point, o.radius); ok && pm.through(lines, o.from.v) {
				return true
			}
		}
	}
	return false
}

// hash is FNV-1a over words.
type hash uint64

func (h *hash) word(v uint64)      { *h = (*h ^ hash(v)) * 1099511628211 }
func (h *hash) real(v float64)     { h.word(math.Float64bits(v)) }
func (h *hash) point(p geom.Point) { h.real(p.X); h.real(p.Y) }
func (h *hash) text(s string) {
	h.word(uint64(len(s)))
	for i := range len(s) {
		h.word(uint64(s[i]))
	}
}

// restHash is a hash of all that a result depends on beside the ships.
func (t *table) restHash() uint64 {
	h := hash(14695981039346656037)
	s := t.scene
	h.word(uint64(s.Rules))
	h.real(t.k)
	h.real(s.ScaleSigma)
	h.real(float64(s.MatWidth))
	h.real(float64(s.MatHeight))
	for i := range profileKeys {
		for n := range max(1, profileKeys[i].n) {
			h.real(*profileKeys[i].at(&t.profile, n))
		}
	}
	for _, a := range t.profile.HalfAngle1e {
		h.real(float64(a))
	}
	if t.profile.Guides {
		h.word(1)
	}
	for i := range t.rocks {
		r := &t.rocks[i]
		h.text(r.id)
		h.text(r.kind)
		h.point(r.at)
		h.real(r.sigma)
		if r.device {
			h.word(1)
		}
		if r.obstacle {
			h.word(2)
		}
		for _, p := range r.outline {
			h.point(p)
		}
	}
	for _, list := range [...][]Token{s.Devices, s.Markers} {
		h.word(uint64(len(list)))
		for i := range list { // of kinds that are not measured there is a problem to state
			h.text(list[i].ID)
		}
	}
	if t.relation != nil {
		h.word(1)
	}
	for _, pairs := range [...]Touching{t.relation, t.known} {
		h.word(uint64(len(pairs)))
		for _, p := range pairs {
			h.text(p[0])
			h.text(p[1])
		}
	}
	return uint64(h)
}

// Pair answers the questions about one ordered pair of ships, like [MeasurePair].
// What it returns is valid until the next call.
func (m *Measurer) Pair(s *Scene, from, to string, o Options) (PairVerdict, error) {
	m.valid = false
	if err := m.table.prepare(s, o); err != nil {
		return PairVerdict{}, err
	}
	m.table.mem.reset()
	a, b := s.indexOf(from), s.indexOf(to)
	switch {
	case a < 0:
		return PairVerdict{}, fmt.Errorf("engine: measure from %q: %w", from, ErrNoShip)
	case b < 0:
		return PairVerdict{}, fmt.Errorf("engine: measure to %q: %w", to, ErrNoShip)
	case a == b:
		return PairVerdict{}, fmt.Errorf("engine: measure from %q: expected another ship to measure to", from)
	}
	return m.table.pair(a, b), nil
}
