package engine

import "fmt"

// Measurer measures scene after scene in the same memory: once it has seen a
// scene as large as those to come, measuring a pair allocates nothing. The zero
// value is ready to use. It is not for use by several goroutines at once.
type Measurer struct {
	table  table
	result Result
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
	if err := m.table.prepare(s, o); err != nil {
		return nil, err
	}
	m.table.mem.reset()
	m.table.measure(&m.result)
	return &m.result, nil
}

// Pair answers the questions about one ordered pair of ships, like [MeasurePair].
// What it returns is valid until the next call.
func (m *Measurer) Pair(s *Scene, from, to string, o Options) (PairVerdict, error) {
	if err := m.table.prepare(s, o); err != nil {
		return PairVerdict{}, err
	}
	m.table.mem.reset()
	a, b := s.ship(from), s.ship(to)
	switch {
	case a == nil:
		return PairVerdict{}, fmt.Errorf("engine: measure from %q: %w", from, ErrNoShip)
	case b == nil:
		return PairVerdict{}, fmt.Errorf("engine: measure to %q: %w", to, ErrNoShip)
	case a == b:
		return PairVerdict{}, fmt.Errorf("engine: measure from %q: expected another ship to measure to", from)
	}
	return m.table.pair(a, b), nil
}
