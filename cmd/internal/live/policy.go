package live

import (
	"fmt"
	"slices"
	"time"

	"sightline/engine"
)

// Measuring is the players' agreement on when to measure. While it forbids an answer, no output
// shows it.
type Measuring string

// The agreements.
const (
	MeasuringFree    Measuring = "free"    // everything, any time
	MeasuringEdition Measuring = "edition" // in the windows that the edition's rules open
	MeasuringJudge   Measuring = "judge"   // only the judge measures
)

// ParseMeasuring returns the agreement of a name.
func ParseMeasuring(s string) (Measuring, error) {
	switch m := Measuring(s); m {
	case MeasuringFree, MeasuringEdition, MeasuringJudge:
		return m, nil
	}
	return "", fmt.Errorf("measuring: expected %q, %q or %q, got %.40q", MeasuringFree, MeasuringEdition, MeasuringJudge, s)
}

// Window is a declaration in force: until it closes, its player may measure what the rules
// allow.
type Window struct {
	Declaration
	Opened, Until time.Time
}

// Proposal is a proposed agreement. It comes into force at Until unless someone objects.
type Proposal struct {
	To    Measuring
	Until time.Time
}

// Policy is the agreement in force and what is declared under it.
type Policy struct {
	Measuring  Measuring     // "" is free
	Window     *Window       // nil: none is open
	Turn       []Declaration // open by the game's turn order without being declared: the active ships' attacks and locks
	Proposal   *Proposal     // nil: none
	JudgesOnly bool          // only judges change the agreement
}

// Permit says which part of a pair's answer may be shown.
type Permit struct {
	Range, Arcs bool
	Why         string // why not all of it, in a few words; "" when all
}

var everything = Permit{Range: true, Arcs: true}

// Pair returns what may be answered about two ships in an edition.
func (p *Policy) Pair(r engine.Rules, from, to *engine.Ship) Permit {
	switch p.Measuring {
	case MeasuringFree, "":
		return everything
	case MeasuringEdition:
	default:
		return Permit{Why: "only the judge measures at this table"}
	}
	open := p.declarations()
	if len(open) == 0 {
		return Permit{Why: "no one has declared what to measure for"}
	}
	best := open[0].permits(r, from, to)
	for i := range open {
		switch now := open[i].permits(r, from, to); {
		case now.Arcs:
			return now
		case now.Range:
			best = now
		}
	}
	return best
}

// declarations lists what is open: the declared window, then the turn's.
func (p *Policy) declarations() []Declaration {
	if p.Window == nil {
		return p.Turn
	}
	return append([]Declaration{p.Window.Declaration}, p.Turn...)
}

// permits returns what a declaration lets players measure between two ships.
func (w *Declaration) permits(r engine.Rules, from, to *engine.Ship) Permit {
	switch {
	case w.moves():
		return Permit{Why: "a movement is declared, which measures no ranges"}
	case !w.toShips():
		return Permit{Why: w.Text() + ": that measures no range between ships"}
	case from.ID != w.Ship:
		return Permit{Why: "only " + w.Ship + " measures now"}
	case w.Doing == DoAttack && !enemies(from, to):
		return Permit{Why: "an attack measures to enemies only"}
	case w.Doing == DoLock && r == engine.Rules1e && to.ID != w.Target:
		return Permit{Why: "only to " + w.Target + ", the declared target of the lock"}
	case w.Doing == DoAttack:
		return everything
	}
	return Permit{Range: true, Why: w.Text() + ": that measures ranges, not arcs"}
}

// Reach reports whether ranges may be drawn round a ship. A lock of the first edition measures
// to one ship only.
func (p *Policy) Reach(r engine.Rules, ship string) bool {
	switch {
	case p.Measuring == MeasuringFree || p.Measuring == "":
		return true
	case p.Measuring != MeasuringEdition:
		return false
	}
	return slices.ContainsFunc(p.declarations(), func(w Declaration) bool {
		return w.toShips() && w.Ship == ship && (w.Doing != DoLock || r != engine.Rules1e)
	})
}

// Move reports whether a move may be previewed (ok), and with it the ranges and arcs after it
// (after). why says in a few words why not.
func (p *Policy) Move(doing Doing, ship, move string) (ok, after bool, why string) {
	switch p.Measuring {
	case MeasuringFree, "":
		return true, true, ""
	case MeasuringEdition:
	default:
		return false, false, "only the judge measures at this table"
	}
	w := p.Window
	if w == nil || w.Ship != ship || w.Doing != doing || w.Move != move {
		return false, false, "it must be declared before it is tried"
	}
	return true, false, ""
}

// Object reports whether the range from a ship to an obstacle, a device or a marker may be
// shown.
func (p *Policy) Object(s *engine.Scene, ship, object string) bool {
	if p.Measuring == MeasuringFree || p.Measuring == "" {
		return true
	}
	if p.Measuring != MeasuringEdition {
		return false
	}
	return slices.ContainsFunc(p.declarations(), func(w Declaration) bool { return w.permitsObject(s, ship, object) })
}

// permitsObject reports whether a declaration lets players measure from a ship to an object.
func (w *Declaration) permitsObject(s *engine.Scene, ship, object string) bool {
	group, kind := objectOf(s, object)
	switch w.Doing {
	case DoLock: // scenario features are no objects (G79, G218, G219)
		return s.Rules == engine.Rules25 && w.Ship == ship && group != GroupMarker
	case DoTow:
		return w.Ship == ship && kind == kindCache
	case DoScramble:
		return w.Ship == ship && isSatellite(kind)
	case DoBlast:
		return partOf(object, w.Target)
	}
	return false
}

// Restrictions returns what forbids a ship an act, "attack" or "lock", against another, if the
// declaration of that act permits showing it.
func (p *Policy) Restrictions(s *engine.Scene, r *engine.Result, act, from, to string) []engine.ShipRestriction {
	a, b := s.Ship(from), s.Ship(to)
	if a == nil || b == nil {
		return nil
	}
	permit := p.Pair(s.Rules, a, b)
	if !permit.Range || act == "attack" && !permit.Arcs || act == "lock" && p.Measuring == MeasuringEdition && !p.locks(from) {
		return nil
	}
	return r.Restrictions(act, from, to)
}

// locks reports whether a lock of a ship is open.
func (p *Policy) locks(ship string) bool {
	return slices.ContainsFunc(p.declarations(), func(w Declaration) bool { return w.Doing == DoLock && w.Ship == ship })
}

// Apply returns the permitted part of a measurement, and whether there is any. It does not
// change its argument.
func (p *Policy) Apply(s *engine.Scene, r engine.Result) (engine.Result, bool) {
	if p.Measuring == MeasuringFree || p.Measuring == "" {
		return r, true
	}
	out := engine.Result{Rules: r.Rules, Problems: r.Problems}
	permitted := map[string][]engine.Restriction{}
	for i := range r.Pairs {
		pair := p.PairResult(s, &r.Pairs[i])
		if pair == nil {
			continue
		}
		out.Pairs = append(out.Pairs, *pair)
		for _, act := range []string{"attack", "lock"} {
			for _, b := range p.Restrictions(s, &r, act, pair.From, pair.To) {
				if !slices.Contains(permitted[b.ID], b.Restriction) {
					permitted[b.ID] = append(permitted[b.ID], b.Restriction)
				}
			}
		}
	}
	for i := range r.Standing {
		if id := r.Standing[i].ID; len(permitted[id]) > 0 {
			out.Standing = append(out.Standing, engine.Standing{ID: id, Restrictions: permitted[id]})
		}
	}
	for i := range r.Objects {
		if o := &r.Objects[i]; p.Object(s, o.From, o.To) {
			out.Objects = append(out.Objects, *o)
		}
	}
	return out, len(out.Pairs)+len(out.Objects) > 0
}

// PairResult returns the permitted part of a pair's verdict; nil: none.
func (p *Policy) PairResult(s *engine.Scene, pair *engine.PairVerdict) *engine.PairVerdict {
	from, to := s.Ship(pair.From), s.Ship(pair.To)
	if from == nil || to == nil {
		return nil
	}
	permit := p.Pair(s.Rules, from, to)
	switch {
	case !permit.Range:
		return nil
	case permit.Arcs:
		return pair
	}
	cut := *pair
	cut.Arcs = nil
	return &cut
}

// WithholdPair reduces the state's pair to what the agreement permits. If nothing is left, Pair
// is nil and Reason says why.
func (s *State) WithholdPair() {
	if s.Pair == nil {
		return
	}
	scene := &s.Located.Scene
	from, to := scene.Ship(s.Choice.From), scene.Ship(s.Choice.To)
	if from == nil || to == nil {
		return
	}
	permit := s.Policy.Pair(scene.Rules, from, to)
	s.Pair = s.Policy.PairResult(scene, s.Pair)
	if s.Withheld = s.Pair == nil; s.Withheld {
		s.Reason = permit.Why
	}
}

// VisibleResult returns what the agreement permits of the measurement; a judge gets all of it.
// If nothing is permitted, the error is a *Refusal.
func (s *State) VisibleResult(judge bool) (engine.Result, error) {
	if judge {
		return s.Result, nil
	}
	result, ok := s.Policy.Apply(&s.Located.Scene, s.Result)
	switch {
	case ok:
		return result, nil
	case s.Policy.Measuring == MeasuringJudge:
		return result, &Refusal{ErrForbidden, "Only the judge measures at this table."}
	}
	return result, &Refusal{ErrForbidden, "The players agreed to measure only when the rules allow it: " + s.whyUnmeasured() + "."}
}

// whyUnmeasured says why the declaration opens no measurement.
func (s *State) whyUnmeasured() string {
	w := s.Policy.Window
	if w == nil {
		return "nothing is declared that would"
	}
	if w.moves() {
		return w.Text() + " is declared: a movement measures no ranges"
	}
	scene := s.Standing()
	if w.Doing == DoBlast {
		return w.Text() + ", and no ship is seen standing still"
	}
	if scene.Ship(w.Ship) == nil {
		if k, known := s.Track(w.Ship); known && !k.State.Stands() {
			return w.Text() + ", and " + TrackText(&k, s.Located.Captured)
		}
		return w.Text() + ", and " + w.Ship + " is not seen"
	}
	if s.Choice.From == w.Ship && s.Choice.To != "" && s.Pair == nil && s.Reason != "" {
		return w.Text() + ": " + s.Reason
	}
	return w.Text() + ", and no ship that it measures to is seen standing still"
}

// rangeOnly reports whether the agreement permits the pair's range but not its arcs.
func (s *State) rangeOnly() bool { return s.Pair != nil && len(s.Pair.Arcs) == 0 }
