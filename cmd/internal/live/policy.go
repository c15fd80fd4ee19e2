package live

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"sightline/cmd/internal/sentence"
	"sightline/engine"
	"sightline/engine/move"
)

// Measuring is what the players of a table agreed on about measuring. The program keeps
// it: while it forbids an answer, nothing that is shown tells it.
type Measuring string

// The agreements.
const (
	MeasuringFree    Measuring = "free"    // everything, any time
	MeasuringEdition Measuring = "edition" // in the windows that the edition's rules open
	MeasuringJudge   Measuring = "judge"   // only the judge measures
)

// ParseMeasuring reads an agreement by its name.
func ParseMeasuring(s string) (Measuring, error) {
	switch m := Measuring(s); m {
	case MeasuringFree, MeasuringEdition, MeasuringJudge:
		return m, nil
	}
	return "", fmt.Errorf("measuring: expected %q, %q or %q, got %q", MeasuringFree, MeasuringEdition, MeasuringJudge, s)
}

// Doing is what a player declares to be about to do.
type Doing string

// What opens a window for measuring, by the rules' own words.
const (
	DoAttack   Doing = "attack"   // an attack's step "declare target" (G81, G85, G86)
	DoLock     Doing = "lock"     // acquiring a lock (G83, G87)
	DoAbility  Doing = "ability"  // an ability that needs ships at a range (G82)
	DoManeuver Doing = "maneuver" // executing the revealed maneuver
	DoAction   Doing = "action"   // a barrel roll, a boost, a decloaking: the side is declared first (G88, G91, G92)
	DoDrop     Doing = "drop"     // dropping or launching a device: the template is declared first (G93)
	DoTow      Doing = "tow"      // taking a supply cache in tow (G228)
	DoScramble Doing = "scramble" // scrambling a satellite (G232)
	DoBlast    Doing = "blast"    // a device detonates: each ship near it is measured (G191)
)

// Declaration is what a player says before measuring.
type Declaration struct {
	Doing  Doing
	Ship   string // "" of a blast
	Target string // of a lock in the first edition; of a blast the device; else ""
	Move   string // of a maneuver, an action or a drop, as the engine writes it: "bank left 1"

	// Ability says whether the pilot's ability is used: "used" or "not used"; "": it need not
	// be declared (G94).
	Ability string
}

// What may be declared of an ability.
const (
	abilityUsed   = "used"
	abilityUnused = "not used"
)

// choosesFirst reports whether a pilot of the first edition chooses whether to use an ability
// before it is measured whether the ship would overlap an obstacle (G94).
func choosesFirst(pilot string) bool { return pilot == "Dash Rendar" }

// moves reports whether a declaration is one of a movement.
func (d *Declaration) moves() bool {
	return d.Doing == DoManeuver || d.Doing == DoAction || d.Doing == DoDrop
}

// toShips reports whether a declaration measures from a ship to ships.
func (d *Declaration) toShips() bool {
	return d.Doing == DoAttack || d.Doing == DoLock || d.Doing == DoAbility
}

// Text says a declaration: "A1 attacks", "A1 locks B2", "A1: bank left 1".
func (d *Declaration) Text() string {
	switch d.Doing {
	case DoAttack:
		return d.Ship + " attacks"
	case DoLock:
		return strings.TrimSpace(d.Ship + " locks " + d.Target)
	case DoAbility:
		return d.Ship + " uses an ability"
	case DoTow:
		return d.Ship + " takes a supply cache in tow"
	case DoScramble:
		return d.Ship + " scrambles a satellite"
	case DoBlast:
		return d.Target + " detonates"
	}
	switch text := d.Ship + ": " + d.Move; d.Ability {
	case abilityUsed:
		return text + ", using the ability"
	case abilityUnused:
		return text + ", without the ability"
	default:
		return text
	}
}

// Check normalises a declaration for an edition, or says in a sentence what is wrong
// with it.
func (d *Declaration) Check(r engine.Rules) (Declaration, error) {
	out := *d
	if !slices.Contains([]string{"", abilityUsed, abilityUnused}, out.Ability) {
		return out, fmt.Errorf("ability: expected %q or %q, got %q", abilityUsed, abilityUnused, sentence.Shorten(out.Ability))
	}
	if out.Doing != DoManeuver && out.Doing != DoAction {
		out.Ability = ""
	}
	if out.Doing == DoBlast {
		if out.Ship, out.Move = "", ""; out.Target == "" {
			return out, fmt.Errorf("expected the device that detonates as the target, got none")
		}
		return out, nil
	}
	if out.Ship == "" {
		return out, fmt.Errorf("expected the ship that is about to act, got none")
	}
	var err error
	switch {
	case out.moves():
		out.Target = ""
		out.Move, err = CanonicalMove(out.Doing, out.Move)
	case out.Doing == DoLock && r == engine.Rules1e:
		out.Move = ""
		if out.Target == "" || out.Target == out.Ship {
			err = fmt.Errorf("the first edition declares a lock's target before it measures (G83): expected another ship as the target")
		}
	case (out.Doing == DoTow || out.Doing == DoScramble) && r != engine.Rules25:
		err = fmt.Errorf("supply caches are towed and satellites scrambled in 2.5 only (G228, G232)")
	case slices.Contains([]Doing{DoAttack, DoLock, DoAbility, DoTow, DoScramble}, out.Doing):
		out.Target, out.Move = "", ""
	default:
		err = fmt.Errorf("expected one of attack, lock, ability, maneuver, action, drop, tow, scramble and blast, got %q",
			sentence.Shorten(string(out.Doing)))
	}
	return out, err
}

// CheckDeclaration normalises a declaration for the table, or says as a *Refusal why it
// opens nothing.
func (s *State) CheckDeclaration(d Declaration) (Declaration, error) {
	out, err := d.Check(s.Located.Scene.Rules)
	if err != nil {
		return out, &Refusal{ErrInvalid, sentence.Of(err)}
	}
	for _, id := range []string{out.Ship, out.Target} {
		group, _ := ObjectOf(&s.Located.Scene, id)
		if id != "" && ShipOf(&s.Located.Scene, id) == nil && (out.Doing != DoBlast || group != GroupDevice) {
			return out, &Refusal{ErrOvertaken, sentence.Upper(sentence.Shorten(id)) + " is not on the table."}
		}
	}
	if s.Policy.Measuring != MeasuringEdition {
		return out, &Refusal{ErrOvertaken, "Nothing needs to be declared here: measuring is " + string(s.Policy.Measuring) + "."}
	}
	if s.Play != nil && s.Play.Planning {
		return out, &Refusal{ErrOvertaken, "Nothing is measured in the Planning phase."}
	}
	return out, s.abilityFirst(&out)
}

// abilityFirst asks for what must be chosen before a move is measured (G94).
func (s *State) abilityFirst(d *Declaration) error {
	own := s.Play.Ship(d.Ship)
	if s.Located.Scene.Rules != engine.Rules1e || own == nil || !choosesFirst(own.Pilot) {
		d.Ability = ""
		return nil
	}
	if d.Ability == "" && (d.Doing == DoManeuver || d.Doing == DoAction) {
		return &Refusal{ErrInvalid, own.Pilot + " chooses whether to use the ability before an overlap is measured (1e G94): declare it."}
	}
	return nil
}

// CanonicalMove returns a move as the engine writes it.
func CanonicalMove(doing Doing, asked string) (string, error) {
	switch doing {
	case DoManeuver:
		m, err := move.ParseManeuver(asked)
		return m.String(), err
	case DoAction:
		a, err := move.ParseAction(asked)
		return a.String(), err
	}
	d, err := move.ParseDrop(asked)
	return d.String(), err
}

// Window is a declaration that is in force: for its time it may be measured what the
// rules allow to who declared it.
type Window struct {
	Declaration
	Opened, Until time.Time
}

// Proposal is another agreement that somebody at the table proposes. It comes into
// force at Until unless anybody objects.
type Proposal struct {
	To    Measuring
	Until time.Time
}

// Policy is the agreement in force and what is declared under it.
type Policy struct {
	Measuring  Measuring     // "" is free
	Window     *Window       // nil: none is open
	Turn       []Declaration // what the round of the game opens without a declaration: the active ships' attacks and locks
	Proposal   *Proposal     // nil: none is made
	JudgesOnly bool          // only judges change the agreement
}

// Permit says which part of a pair's answer may be given.
type Permit struct {
	Range, Arcs bool
	Why         string // why not all of it, in a few words; "" when all
}

var everything = Permit{Range: true, Arcs: true}

// Pair says what may be answered about two ships in an edition.
func (p *Policy) Pair(r engine.Rules, from, to *engine.Ship) Permit {
	switch p.Measuring {
	case MeasuringFree, "":
		return everything
	case MeasuringEdition:
	default:
		return Permit{Why: "only the judge measures at this table"}
	}
	open := p.open()
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

// open lists what lets measure: what was declared before what the round opens.
func (p *Policy) open() []Declaration {
	if p.Window == nil {
		return p.Turn
	}
	return append([]Declaration{p.Window.Declaration}, p.Turn...)
}

// permits says what a declaration lets be answered about two ships.
func (w *Declaration) permits(r engine.Rules, from, to *engine.Ship) Permit {
	switch {
	case w.moves():
		return Permit{Why: "a movement is declared, which measures no ranges"}
	case !w.toShips():
		return Permit{Why: w.Text() + ": that measures no range between ships"}
	case from.ID != w.Ship:
		return Permit{Why: "only " + w.Ship + " measures now"}
	case w.Doing == DoAttack && from.Player == to.Player && from.Player != 0:
		return Permit{Why: "an attack measures to enemies only"}
	case w.Doing == DoLock && r == engine.Rules1e && to.ID != w.Target:
		return Permit{Why: "only to " + w.Target + ", the declared target of the lock"}
	case w.Doing == DoAttack:
		return everything
	}
	return Permit{Range: true, Why: w.Text() + ": that measures ranges, not arcs"}
}

// Reach says which ranges may be drawn round a ship: "" when none may, else all of
// them. A lock of the first edition measures to one ship only.
func (p *Policy) Reach(r engine.Rules, ship string) bool {
	switch {
	case p.Measuring == MeasuringFree || p.Measuring == "":
		return true
	case p.Measuring != MeasuringEdition:
		return false
	}
	return slices.ContainsFunc(p.open(), func(w Declaration) bool {
		return w.toShips() && w.Ship == ship && (w.Doing != DoLock || r != engine.Rules1e)
	})
}

// Move says whether a move may be tried; why is a few words when not. After says
// whether the ranges and arcs after it may be told too.
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

// Object says whether the range from a ship to an obstacle, a device or a marker may be
// told.
func (p *Policy) Object(s *engine.Scene, ship, object string) bool {
	if p.Measuring == MeasuringFree || p.Measuring == "" {
		return true
	}
	if p.Measuring != MeasuringEdition {
		return false
	}
	return slices.ContainsFunc(p.open(), func(w Declaration) bool { return w.permitsObject(s, ship, object) })
}

// permitsObject reports whether a declaration lets the range from a ship to an object be told.
func (w *Declaration) permitsObject(s *engine.Scene, ship, object string) bool {
	group, kind := ObjectOf(s, object)
	switch w.Doing {
	case DoLock: // on objects, which scenario features are not (G79, G218, G219)
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

// Forbidden says what may be told of what keeps a ship from an act, "attack" or "lock",
// against another: what the act's own declaration opens.
func (p *Policy) Forbidden(s *engine.Scene, r *engine.Result, act, from, to string) []engine.ShipRestriction {
	a, b := ShipOf(s, from), ShipOf(s, to)
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
	return slices.ContainsFunc(p.open(), func(w Declaration) bool { return w.Doing == DoLock && w.Ship == ship })
}

// Apply cuts out of a measurement what may not be told, and reports whether anything of
// it is left. The argument stays as it is.
func (p *Policy) Apply(s *engine.Scene, r engine.Result) (engine.Result, bool) {
	if p.Measuring == MeasuringFree || p.Measuring == "" {
		return r, true
	}
	out := engine.Result{Rules: r.Rules, Problems: r.Problems}
	told := map[string][]engine.Restriction{}
	for i := range r.Pairs {
		pair := p.Cut(s, &r.Pairs[i])
		if pair == nil {
			continue
		}
		out.Pairs = append(out.Pairs, *pair)
		for _, act := range []string{"attack", "lock"} {
			for _, b := range p.Forbidden(s, &r, act, pair.From, pair.To) {
				if !slices.Contains(told[b.ID], b.Restriction) {
					told[b.ID] = append(told[b.ID], b.Restriction)
				}
			}
		}
	}
	for i := range r.Standing {
		if id := r.Standing[i].ID; len(told[id]) > 0 {
			out.Standing = append(out.Standing, engine.Standing{ID: id, Restrictions: told[id]})
		}
	}
	for i := range r.Objects {
		if o := &r.Objects[i]; p.Object(s, o.From, o.To) {
			out.Objects = append(out.Objects, *o)
		}
	}
	return out, len(out.Pairs)+len(out.Objects) > 0
}

// Cut is what may be told of a pair; nil: nothing.
func (p *Policy) Cut(s *engine.Scene, pair *engine.PairVerdict) *engine.PairVerdict {
	from, to := ShipOf(s, pair.From), ShipOf(s, pair.To)
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

// ShipOf returns a scene's ship; nil when it is not there.
func ShipOf(s *engine.Scene, id string) *engine.Ship {
	i := slices.IndexFunc(s.Ships, func(k engine.Ship) bool { return k.ID == id })
	if i < 0 {
		return nil
	}
	return &s.Ships[i]
}

// Withhold cuts the state's pair down to what the agreement allows: with nothing left, Pair
// is nil and Reason says why.
func (s *State) Withhold() {
	if s.Pair == nil {
		return
	}
	scene := &s.Located.Scene
	from, to := ShipOf(scene, s.Choice.From), ShipOf(scene, s.Choice.To)
	if from == nil || to == nil {
		return
	}
	permit := s.Policy.Pair(scene.Rules, from, to)
	s.Pair = s.Policy.Cut(scene, s.Pair)
	if s.Withheld = s.Pair == nil; s.Withheld {
		s.Reason = permit.Why
	}
}

// rangeOnly reports whether the agreement lets the pair's range be told, and not its arcs.
func (s *State) rangeOnly() bool { return s.Pair != nil && len(s.Pair.Arcs) == 0 }
