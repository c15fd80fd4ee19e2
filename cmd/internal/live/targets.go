package live

import (
	"cmp"
	"slices"

	"sightline/cmd/internal/sentence"
	"sightline/engine"
)

// Targets is everything that the agreement lets the chosen attacker measure to.
type Targets struct {
	Ships   []Target // enemies first, then by distance
	Reason  string   // why ships are missing; "" when none is
	Objects []Object // obstacles, devices and markers, nearest first
	Blasts  []Blast  // devices with the ships near them
}

// Target is a ship that the chosen attacker may measure to.
type Target struct {
	ID     string
	Player int
	Pair   *engine.PairVerdict // the permitted part; nil: Title says why there is none
	Title  string              // "Range 2"
	Arcs   []engine.ArcVerdict // those that the target is in, or may be in

	NoAttack, NoLock *Restriction // nil: the rules allow it
}

// Targets lists what the chosen attacker may measure to. It lists no ships while there are no
// answers.
func (s *State) Targets() Targets {
	out := Targets{Blasts: s.blasts()}
	scene := &s.Located.Scene
	from := scene.Ship(s.Choice.From)
	if from == nil || !s.answers() {
		return out
	}
	out.Objects = s.objects()
	for i := range scene.Ships {
		to := &scene.Ships[i]
		if to.ID == from.ID {
			continue
		}
		if permit := s.Policy.Pair(scene.Rules, from, to); !permit.Range {
			out.Reason = permit.Why
			continue
		}
		out.Ships = append(out.Ships, s.target(from, to))
	}
	slices.SortStableFunc(out.Ships, func(a, b Target) int {
		return cmp.Or(cmp.Compare(a.rank(from), b.rank(from)), cmp.Compare(a.distance(), b.distance()))
	})
	return out
}

// answers reports whether there are answers, live or held.
func (s *State) answers() bool { return s.Health.Code == OK || s.Held }

// rank sorts enemies before friendly ships, and known ranges before unknown ones.
func (t *Target) rank(from *engine.Ship) (n int) {
	if t.Player == from.Player && from.Player != 0 {
		n = 2
	}
	if t.Pair == nil || t.Pair.Range.Outcome == engine.NoView {
		n++
	}
	return n
}

func (t *Target) distance() float64 {
	if t.Pair == nil {
		return 0
	}
	return float64(t.Pair.Range.Distance)
}

func (s *State) target(from, to *engine.Ship) Target {
	t := Target{ID: to.ID, Player: to.Player}
	for _, id := range []string{from.ID, to.ID} {
		if k, ok := s.Track(id); ok && !k.State.Stands() {
			t.Title = sentence.Upper(TrackText(&k, s.Located.Captured))
			return t
		}
	}
	p := pairIn(&s.Result, from.ID, to.ID)
	if p == nil {
		t.Title = "Not measured"
		return t
	}
	if t.Pair = s.Policy.PairResult(&s.Located.Scene, p); t.Pair == nil {
		return t
	}
	t.Title = RangeTitle(t.Pair.Range)
	t.NoAttack, t.NoLock = s.RestrictedFrom("attack", from.ID, to.ID), s.RestrictedFrom("lock", from.ID, to.ID)
	for _, a := range t.Pair.Arcs {
		if a.InArc != engine.No {
			t.Arcs = append(t.Arcs, a)
		}
	}
	return t
}
