package engine

import (
	"fmt"
	"math"
	"slices"

	"sightline/engine/geom"
	"sightline/engine/internal/uncertain"
)

// Measurer measures scene after scene. When only some ships have moved since the last scene,
// it evaluates only their own pairs and objects, and the pairs between which they stood or
// stand. The zero value is ready to use. A Measurer must not be used by several goroutines at
// once. Callers may keep and share its results but must not change them.
type Measurer struct {
	table  table
	result Result

	// The scene of the last result.
	ships   []Ship
	profile Profile
	rest    fingerprint // everything else
	valid   bool

	spare fingerprint
	moved []bool
}

// memory is the storage of the verdicts' lists. When one of its arrays grows, lists that were
// handed out keep the old array, so that none of them changes under its owner.
type memory struct {
	lines   []geom.Line
	bands   []int
	ids     []string
	arcs    []ArcVerdict
	attacks []AttackVerdict
}

// renew hands the arrays over to the verdicts and makes new ones of the same size.
func (m *memory) renew() {
	m.lines, m.bands, m.ids = emptied(m.lines), emptied(m.bands), emptied(m.ids)
	m.arcs, m.attacks = emptied(m.arcs), emptied(m.attacks)
}

// emptied returns a new empty list with room for as many elements.
func emptied[T any](s []T) []T { return make([]T, 0, len(s)) }

// list returns the names appended since the memory held n of them, those of the pieces of one thing
// once; nil for none.
func (m *memory) list(n int) []string {
	m.ids = m.ids[:n+len(slices.Compact(m.ids[n:]))]
	if n == len(m.ids) {
		return nil
	}
	return m.ids[n:len(m.ids):len(m.ids)]
}

// Measure answers every question about a scene, as the function [Measure] does.
func (m *Measurer) Measure(s *Scene, o Options) (Result, error) {
	valid := m.valid
	m.valid = false
	if err := m.table.prepare(s, o); err != nil {
		return Result{}, err
	}
	rest := m.table.rest(m.spare[:0])
	m.table.mem.renew()
	if valid && m.profile == m.table.profile && slices.Equal(rest, m.rest) && m.sameFleet(s) {
		m.result = m.again(s)
	} else {
		m.result = m.table.measure()
	}
	m.valid, m.profile, m.rest, m.spare = true, m.table.profile, rest, m.rest
	m.ships = grow(m.ships, len(s.Ships))
	for i := range s.Ships {
		arcs := append(m.ships[i].Arcs[:0], s.Ships[i].Arcs...)
		m.ships[i] = s.Ships[i]
		m.ships[i].Arcs = arcs
	}
	return m.result, nil
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

// again evaluates what the moved ships affect and keeps the other verdicts.
func (m *Measurer) again(s *Scene) Result {
	t, n := &m.table, len(s.Ships)
	r := Result{Rules: s.Rules, Pairs: slices.Clone(m.result.Pairs), Objects: slices.Clone(m.result.Objects)}
	for i := range s.Ships {
		for j := range i {
			there, back := &r.Pairs[pairAt(n, j, i)], &r.Pairs[pairAt(n, i, j)]
			if m.touched(s, j, i, there) || m.touched(s, i, j, back) {
				*there, *back = t.pair(j, i)
			}
		}
		if !m.moved[i] {
			continue
		}
		for j := range t.outlines {
			r.Objects[i*len(t.outlines)+j] = t.object(&t.ships[i], &t.outlines[j])
		}
	}
	r.Problems = t.problems(nil)
	r.Standing = t.standing(&r)
	return r
}

// touched reports whether a pair has to be measured again: one of the two has
// moved, or a ship that has moved was on a line between them or is on one now.
func (m *Measurer) touched(s *Scene, i, j int, p *PairVerdict) bool {
	if m.moved[i] || m.moved[j] {
		return true
	}
	for k := range s.Ships {
		if m.moved[k] && s.Ships[k].Base.Huge() { // it may obstruct, or be the nearest that could
			return true
		}
	}
	pm := &m.table.pm
	var before *AttackVerdict
	for a := range p.Arcs {
		at := p.Arcs[a].Attack
		if at == nil || at == before { // several arcs mostly share one
			continue
		}
		before = at
		lines := lineFamily{at.Lines[0], at.Lines[len(at.Lines)-1]}
		pm.corridor.set(lines.a, lines.b)
		for k := range s.Ships {
			if !m.moved[k] {
				continue
			}
			if slices.Contains(at.Obstruction.Ships, s.Ships[k].ID) {
				return true
			}
			o := &m.table.ships[k]
			if _, ok := pm.corridor.within(0, o.ship.Pose.Point, o.radius); ok && pm.through(lines, o.from.V) {
				return true
			}
		}
	}
	return false
}

// fingerprint is what a result depends on, bit by bit: two scenes with equal fingerprints
// are measured alike.
type fingerprint []uint64

func (w *fingerprint) word(v uint64)      { *w = append(*w, v) }
func (w *fingerprint) real(v float64)     { w.word(math.Float64bits(v)) }
func (w *fingerprint) point(p geom.Point) { w.real(p.X); w.real(p.Y) }
func (w *fingerprint) text(s string) {
	w.word(uint64(len(s)))
	for i := range len(s) {
		w.word(uint64(s[i]))
	}
}
func (w *fingerprint) yes(b bool) {
	if b {
		w.word(1)
	} else {
		w.word(0)
	}
}

// rest appends everything that a result depends on except the ships and the profile.
func (t *table) rest(w fingerprint) fingerprint {
	s := t.scene
	w.word(uint64(s.Rules))
	w.real(t.k)
	w.real(s.ScaleSigma)
	w.real(float64(s.MatWidth))
	w.real(float64(s.MatHeight))
	w.yes(s.ObstaclesUnseen)
	w.word(uint64(len(s.Unknown)))
	for _, u := range s.Unknown {
		w.outline(u)
	}
	w.word(uint64(len(s.Blind)))
	for _, b := range s.Blind {
		w.outline(b.Outline)
	}
	w.word(uint64(len(t.outlines)))
	for i := range t.outlines {
		r := &t.outlines[i]
		w.text(r.id)
		w.text(r.kind)
		w.point(r.At)
		w.real(r.Sigma)
		w.yes(r.device)
		w.yes(r.obstacle)
		w.outline(r.Polygon)
		for _, p := range r.others {
			w.outline(p.Polygon)
		}
		for _, p := range [...][]*uncertain.Outline{r.least, r.most} {
			w.word(uint64(len(p)))
			for _, o := range p {
				w.outline(o.Polygon)
			}
		}
	}
	w.text(t.untouched)
	w.yes(t.relation != nil)
	for _, pairs := range [...]Touching{t.relation, t.mayTouch, t.overlaps, t.known} {
		w.word(uint64(len(pairs)))
		for _, p := range pairs {
			w.text(p[0])
			w.text(p[1])
		}
	}
	return w
}

func (w *fingerprint) outline(g geom.Polygon) {
	w.word(uint64(len(g)))
	for _, p := range g {
		w.point(p)
	}
}

// Pair answers the questions about one ordered pair of ships, like [MeasurePair].
func (m *Measurer) Pair(s *Scene, from, to string, o Options) (PairVerdict, error) {
	m.valid = false
	if err := m.table.prepare(s, o); err != nil {
		return PairVerdict{}, err
	}
	m.table.mem.renew()
	a, b := s.indexOf(from), s.indexOf(to)
	switch {
	case a < 0:
		return PairVerdict{}, fmt.Errorf("engine: measure from %q: %w", from, ErrNoShip)
	case b < 0:
		return PairVerdict{}, fmt.Errorf("engine: measure to %q: %w", to, ErrNoShip)
	case a == b:
		return PairVerdict{}, fmt.Errorf("engine: measure from %q: expected another ship to measure to", from)
	}
	t, pm := &m.table, &m.table.pm
	pm.face(t, &t.ships[min(a, b)], &t.ships[max(a, b)]) // as when all pairs are measured
	pm.measureMutual()
	if a > b {
		pm.turnRound()
	}
	return pm.verdict(), nil
}
