package live

import (
	"slices"
	"strings"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/engine/move"
)

// AfterMove is what can be measured after a move.
type AfterMove struct {
	// State is the table with the ship at its end, chosen as the attacker. Arcs without a
	// target in attack range are left out.
	State

	Incoming  []Incoming // enemies that have, or may have, the ship in an arc
	Uncounted []string   // enemies whose place is not sure: with any, the lists are incomplete
}

// Incoming is an enemy that has, or may have, a ship in an arc.
type Incoming struct {
	From     string
	Arc      engine.ArcVerdict
	NoAttack *Restriction // of the enemy on the ship; nil: the rules allow it
}

// afterMove measures from and to the ship at the chosen end.
func (s *State) afterMove(standing *engine.Scene, t *MovePreview) (*AfterMove, error) {
	scene := *standing
	scene.Ships = slices.Clone(standing.Ships)
	ship := scene.Ship(t.Ship)
	ship.Covariance = movedCovariance(standing, ship, t.Ends[t.Chosen].Pose, &t.Result)
	ship.Pose = t.Ends[t.Chosen].Pose
	o := s.touchAfterMove(t).Options(&scene, s.Sigmas)
	o.InContact, o.Overlapped = t.inContact(), t.inContact()
	if t.overlapsNoShip() {
		o.Untouched = t.Ship
	}
	result, err := engine.Measure(&scene, o)
	if err != nil {
		return nil, err
	}
	for i := range result.Pairs { // no weapon reaches beyond range 3
		arcs := &result.Pairs[i].Arcs
		*arcs = slices.DeleteFunc(*arcs, func(a engine.ArcVerdict) bool { return a.Attack != nil && a.Attack.At(0, 3) == engine.No })
	}
	out := &AfterMove{
		State: State{Health: Health{Code: OK}, ObstaclesWatched: s.ObstaclesWatched, Sigmas: s.Sigmas, Result: result,
			Choice: Choice{From: t.Ship}, Play: s.game()},
	}
	out.Located.Scene = scene
	for _, u := range t.Uncounted {
		if u.Ship.ID != t.Ship && enemies(&u.Ship, ship) {
			out.Uncounted = append(out.Uncounted, u.Why)
		}
	}
	for i := range result.Pairs {
		p := &result.Pairs[i]
		if from := scene.Ship(p.From); p.To == t.Ship && from != nil && enemies(from, ship) {
			out.incoming(p)
		}
	}
	return out, nil
}

// touchAfterMove returns which ships touch after the move; a ship that stands still keeps its
// touch (G99).
func (s *State) touchAfterMove(t *MovePreview) *Touch {
	switch {
	case s.game() == nil:
		return nil
	case t.Result.Maneuver == move.Maneuver{Bearing: move.Stationary}.String():
		return s.game().Touch
	}
	return s.game().Touch.WithMoved(t.Ship)
}

// incoming adds the first arc of a pair's attacker that the target is, or may be, in.
func (a *AfterMove) incoming(p *engine.PairVerdict) {
	i := slices.IndexFunc(p.Arcs, func(a engine.ArcVerdict) bool { return a.InArc != engine.No && weaponArc(a.Arc) })
	if i >= 0 {
		a.Incoming = append(a.Incoming, Incoming{p.From, p.Arcs[i], a.RestrictedFrom("attack", p.From, p.To)})
	}
}

// enemies reports whether two ships belong, or may belong, to different players.
func enemies(a, b *engine.Ship) bool { return a.Player != b.Player || b.Player == 0 }

// weaponArc reports whether ships attack in an arc with a primary weapon: the front arc, or a
// turret's.
func weaponArc(a engine.Arc) bool {
	return a == engine.ArcFront || strings.Contains(a.String(), "turret") || strings.Contains(a.String(), "mobile")
}

// overlapsNoShip reports whether the move to the chosen end surely overlaps no ship: an action,
// or a maneuver executed in full. Standing still keeps an earlier touch (G99).
func (t *MovePreview) overlapsNoShip() bool {
	r := &t.Result
	stationary := r.Maneuver == move.Maneuver{Bearing: move.Stationary}.String()
	return t.Doing == DoAction || r.InFull == engine.Yes && t.Ends[t.Chosen].Legal == engine.Yes && !stationary
}

// inContact lists the ships that the moved one surely touches at its end, because it was backed
// up until it did. In the first edition they are the ships it overlapped.
func (t *MovePreview) inContact() (pairs [][2]string) {
	r := &t.Result
	if len(r.Options) > 0 || r.InFull == engine.Indeterminate || touchDoubted(r) {
		return nil
	}
	for _, id := range r.Touching {
		pairs = append(pairs, [2]string{t.Ship, id})
	}
	return pairs
}

// touchDoubted reports whether it is too close to call which ships a move ends touching.
func touchDoubted(r *move.Result) bool {
	return slices.ContainsFunc(r.Undecided, func(u string) bool { return strings.HasPrefix(u, "touching ") })
}

// movedCovariance returns the covariance of a ship's pose after a move: an error of the heading
// swings the end round, and a ship stopped by others inherits their uncertainty.
func movedCovariance(s *engine.Scene, ship *engine.Ship, end geom.Pose, r *move.Result) geom.Cov3 {
	out := ship.Covariance.Transported(end.Sub(ship.Pose.Point))
	if r.FullyExecuted {
		return out
	}
	for _, id := range r.FirstOverlapped {
		if by := s.Ship(id); by != nil {
			for _, i := range [...]int{0, 1, 3, 4} {
				out[i] += by.Covariance[i]
			}
		}
	}
	return out
}
