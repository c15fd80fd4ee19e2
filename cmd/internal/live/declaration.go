package live

import (
	"fmt"
	"slices"
	"strings"

	"sightline/cmd/internal/sentence"
	"sightline/engine"
	"sightline/engine/move"
)

// Doing is what a player declares.
type Doing string

// What may be declared, in the words of the rules.
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

	// Ability says whether the pilot's ability is used: "used" or "not used"; "": nothing need
	// be declared (G94).
	Ability string
}

// Values of Declaration.Ability.
const (
	abilityUsed   = "used"
	abilityUnused = "not used"
)

// declaresAbility reports whether a first edition pilot must declare the use of an ability
// before it is measured whether the ship would overlap an obstacle (G94).
func declaresAbility(pilot string) bool { return pilot == "Dash Rendar" }

// moves reports whether a movement is declared.
func (d *Declaration) moves() bool {
	return d.Doing == DoManeuver || d.Doing == DoAction || d.Doing == DoDrop
}

// toShips reports whether a declaration measures from a ship to ships.
func (d *Declaration) toShips() bool {
	return d.Doing == DoAttack || d.Doing == DoLock || d.Doing == DoAbility
}

// Text words a declaration: "A1 attacks", "A1 locks B2", "A1: bank left 1".
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

// Check normalises a declaration for an edition, or returns what is wrong with it.
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
		out.Move, err = canonicalMove(out.Doing, out.Move)
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

// CheckDeclaration normalises a declaration for the table. An error is a *Refusal.
func (s *State) CheckDeclaration(d Declaration) (Declaration, error) {
	out, err := d.Check(s.Located.Scene.Rules)
	if err != nil {
		return out, &Refusal{ErrInvalid, sentence.Of(err)}
	}
	for _, id := range []string{out.Ship, out.Target} {
		group, _ := objectOf(&s.Located.Scene, id)
		if id != "" && s.Located.Scene.Ship(id) == nil && (out.Doing != DoBlast || group != GroupDevice) {
			return out, &Refusal{ErrOvertaken, sentence.Upper(sentence.Shorten(id)) + " is not on the table."}
		}
	}
	if s.Policy.Measuring != MeasuringEdition {
		return out, &Refusal{ErrOvertaken, "Nothing needs to be declared here: measuring is " + string(s.Policy.Measuring) + "."}
	}
	if s.Play != nil && s.Play.Planning {
		return out, &Refusal{ErrOvertaken, "Nothing is measured in the Planning phase."}
	}
	return out, s.checkAbility(&out)
}

// checkAbility requires the declaration of an ability before a move is measured (G94).
func (s *State) checkAbility(d *Declaration) error {
	own := s.Play.Ship(d.Ship)
	if s.Located.Scene.Rules != engine.Rules1e || own == nil || !declaresAbility(own.Pilot) {
		d.Ability = ""
		return nil
	}
	if d.Ability == "" && (d.Doing == DoManeuver || d.Doing == DoAction) {
		return &Refusal{ErrInvalid, own.Pilot + " chooses whether to use the ability before an overlap is measured (1e G94): declare it."}
	}
	return nil
}

// canonicalMove returns a move as the engine writes it.
func canonicalMove(doing Doing, asked string) (string, error) {
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
