package round

import (
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"sightline/engine"
	"sightline/engine/alike"
	"sightline/engine/flown"
	"sightline/engine/geom"
)

// RestFor is how long a ship must rest before its move is judged: a hand that still corrects its
// place lets go for less than that.
const RestFor = time.Second

// Sight is the table at one instant, as the camera sees it.
type Sight struct {
	At    time.Time
	Scene engine.Scene // the resting ships, obstacles and markers
	Still func(id string) bool
}

// Watch tracks where the ships of a table rest. It is not safe for concurrent use.
type Watch struct {
	Slop flown.Slop // zero means [flown.UsualSlop]

	rest  map[string]engine.Ship // each ship's last judged resting place
	new   map[string]resting     // ships in another place, not yet for long enough
	ghost map[string]Flown       // nudges that were not put back
	lay   map[string]feature     // places of scenario features
	shift map[string]feature     // features in another place, not yet for long enough
	stood map[string]time.Time   // when each ship was last seen in its resting place
}

// resting is a ship that has come to rest.
type resting struct {
	ship  engine.Ship
	since time.Time
}

// Seen is a move of a ship.
type Seen struct {
	Ship  string
	Flown Flown
}

// NewWatch returns a watch that starts with the ships' last resting places in a game.
func NewWatch(g *Game) *Watch {
	w := &Watch{rest: map[string]engine.Ship{}, new: map[string]resting{}, ghost: map[string]Flown{}, stood: map[string]time.Time{},
		lay: map[string]feature{}, shift: map[string]feature{}}
	if g == nil {
		return w
	}
	for i := range g.Ships {
		p := &g.Ships[i]
		base, err := engine.ParseBase(p.Base)
		if p.stands == nil || err != nil {
			continue
		}
		w.rest[p.ID] = p.stands.Ship(engine.Ship{ID: p.ID, Player: p.Player, Base: base})
	}
	return w
}

// Clone returns a copy, to return to when events could not be recorded.
func (w *Watch) Clone() *Watch {
	return &Watch{Slop: w.Slop, rest: maps.Clone(w.rest), new: maps.Clone(w.new), ghost: maps.Clone(w.ghost),
		lay: maps.Clone(w.lay), shift: maps.Clone(w.shift), stood: maps.Clone(w.stood)}
}

// Stood adds the places of ships in the recorded table that have not moved since.
func (w *Watch) Stood(ships []engine.Ship) {
	for i := range ships {
		if _, known := w.rest[ships[i].ID]; !known {
			w.rest[ships[i].ID] = ships[i]
		}
	}
}

// Rename exchanges what is known of two ships: a person had named their bases wrongly.
func (w *Watch) Rename(a, b string) {
	alike.Swap(w.rest, a, b)
	alike.Swap(w.new, a, b)
	alike.Swap(w.ghost, a, b)
	alike.Swap(w.stood, a, b)
	for _, id := range []string{a, b} {
		if ship, ok := w.rest[id]; ok {
			ship.ID = id
			w.rest[id] = ship
		}
	}
}

// Rests returns a ship at its last resting place; ok is false when it was not seen at rest.
func (w *Watch) Rests(id string) (ship engine.Ship, ok bool) {
	ship, ok = w.rest[id]
	return ship, ok
}

// Ghosts returns the nudges of ships that were not put back.
func (w *Watch) Ghosts() map[string]Flown { return maps.Clone(w.ghost) }

// See evaluates a sight, and returns the moves since the one before.
func (w *Watch) See(g *Game, s Sight) (out []Seen) {
	var moved []string
	for i := range s.Scene.Ships {
		ship := &s.Scene.Ships[i]
		if ship.Quarters || !s.Still(ship.ID) {
			delete(w.new, ship.ID)
			continue
		}
		if w.hasMoved(ship, s.At) {
			moved = append(moved, ship.ID)
		}
	}
	if w.shifted(&s.Scene, moved) {
		return nil
	}
	slices.SortFunc(moved, func(a, b string) int { return turnOrder(g, a, b) })
	for _, id := range moved {
		out = append(out, Seen{id, w.judge(g, &s.Scene, id, s.At)})
		g = withMove(g, out[len(out)-1])
	}
	return out
}

// turnOrder orders ships that moved at once by their turn.
func turnOrder(g *Game, a, b string) int {
	p, q := g.Piece(a), g.Piece(b)
	if p == nil || q == nil {
		return 0
	}
	return g.order(p, q)
}

// withMove returns the game after a move, for judging the next one. It does not change g.
func withMove(g *Game, s Seen) *Game {
	next := *g
	next.Ships = slices.Clone(g.Ships)
	if p := next.Piece(s.Ship); p != nil {
		next.moved(p, &s.Flown)
	}
	return &next
}

// hasMoved reports whether a ship has rested for long enough in another place than before. Its
// first resting place is where it was set up.
func (w *Watch) hasMoved(ship *engine.Ship, at time.Time) bool {
	was, known := w.rest[ship.ID]
	if known && !elsewhere(&was, ship) {
		delete(w.new, ship.ID)
		w.stood[ship.ID] = at
		return false
	}
	began, ok := w.new[ship.ID]
	if !ok || elsewhere(&began.ship, ship) {
		began = resting{*ship, at}
	}
	w.new[ship.ID] = began
	if at.Sub(began.since) < RestFor {
		return false
	}
	delete(w.new, ship.ID)
	if !known {
		w.rest[ship.ID] = *ship
		w.stood[ship.ID] = at
	}
	return known
}

// twiceAfter is how long a ship must be out of sight before it may have moved twice: its maneuver,
// and an action after it.
const twiceAfter = 6 * time.Second

// A ship is elsewhere when neither the camera's noise nor the drift of its registration explains
// the distance: five standard deviations, and at least what a person sees.
const (
	elsewhereSigmas = 5
	elsewhereLeast  = 1.5 * geom.Millimeter
	elsewhereTurn   = 1.5 * geom.Degree
)

// elsewhere reports whether a ship stands in another place than before.
func elsewhere(was, is *engine.Ship) bool {
	d := is.Pose.Sub(was.Pose.Point).Norm()
	turn := float64(is.Pose.Heading.Distance(was.Pose.Heading))
	place := math.Sqrt(max(was.Covariance[0]+is.Covariance[0], was.Covariance[4]+is.Covariance[4]))
	heading := math.Sqrt(was.Covariance[8] + is.Covariance[8])
	return d > max(float64(elsewhereLeast), elsewhereSigmas*place) || turn > max(float64(elsewhereTurn), elsewhereSigmas*heading)
}

// shiftedLeast is the number of ships whose small shift at once must come from the camera or the
// mat: people move one ship.
const shiftedLeast = 3

// shifted takes a small shift of many ships for one of the camera, and updates their places.
func (w *Watch) shifted(s *engine.Scene, moved []string) bool {
	if len(moved) < shiftedLeast {
		return false
	}
	for _, id := range moved {
		was := w.rest[id]
		if shipIn(s, id).Pose.Sub(was.Pose.Point).Norm() > float64(nudgedMost) {
			return false
		}
	}
	for _, id := range moved {
		w.rest[id] = *shipIn(s, id)
	}
	return true
}

// judge judges a ship's move and updates its place. A nudged ship keeps its place until it moves.
//
// Unseen ships may be lifted out of the way (G146) or covered. The move is judged both with them
// in their places and without them; if that makes a difference, it is too close to call.
func (w *Watch) judge(g *Game, now *engine.Scene, id string, at time.Time) Flown {
	slop := w.Slop
	if slop == (flown.Slop{}) {
		slop = flown.UsualSlop
	}
	before, after := w.tables(now, id, nil)
	last, seen := w.stood[id]
	out := max(at.Sub(last), at.Round(0).Sub(last.Round(0))) // by the time of day too: the other clock stops while the machine sleeps
	twice := !seen || out > twiceAfter+RestFor
	f := g.judge(&before, &after, id, slop, twice)
	if absent := w.absent(g, now, id); len(absent) > 0 {
		before, after = w.tables(now, id, absent)
		f = combine(f, g.judge(&before, &after, id, slop, twice), absent)
	}
	w.trackNudge(g, id, &f)
	w.rest[id], w.stood[id] = *shipIn(now, id), at
	return f
}

// tables returns the table before and after a ship's move, with the other ships in their places,
// including the absent ones.
func (w *Watch) tables(now *engine.Scene, id string, absent []engine.Ship) (before, after engine.Scene) {
	before, after = *now, *now
	before.Ships = append(slices.Clone(now.Ships), absent...)
	after.Ships = slices.Clone(before.Ships)
	for i := range before.Ships {
		if was, ok := w.rest[before.Ships[i].ID]; ok {
			before.Ships[i].Pose, before.Ships[i].Covariance = was.Pose, was.Covariance
			if before.Ships[i].ID != id {
				after.Ships[i] = before.Ships[i]
			}
		}
	}
	return before, after
}

// absent returns the ships of the game that rested on the table and are not seen now.
func (w *Watch) absent(g *Game, now *engine.Scene, id string) (out []engine.Ship) {
	for i := range g.Ships {
		p := &g.Ships[i]
		was, ok := w.rest[p.ID]
		if ok && p.ID != id && p.Status == OnTable && !slices.ContainsFunc(now.Ships, func(s engine.Ship) bool { return s.ID == p.ID }) {
			out = append(out, was)
		}
	}
	return out
}

// combine combines the move judged without and with the absent ships. If only one of the two
// fits, it is that.
func combine(gone, there Flown, absent []engine.Ship) Flown {
	no := engine.No.String()
	switch {
	case gone.Text == there.Text && slices.Equal(gone.Touch, there.Touch) && slices.Equal(gone.MayTouch, there.MayTouch), there.Outcome == no:
		return gone
	case gone.Outcome == no && gone.Sort != Nudge:
		return there
	}
	f := there
	f.Outcome, f.Touching, f.Obstacles = engine.Indeterminate.String(), nil, nil
	f.Touch = slices.DeleteFunc(slices.Clone(there.Touch), func(p [2]string) bool { return !slices.Contains(gone.Touch, p) })
	f.MayTouch = nil
	for _, all := range [][][2]string{gone.Touch, gone.MayTouch, there.Touch, there.MayTouch} {
		for _, p := range all {
			f.MayTouch = joined(f.MayTouch, f.Touch, p[0], p[1])
		}
	}
	f.Others = nil
	first := gone.Move
	if gone.Sort == Nudge {
		first = gone.Short()
	}
	for _, name := range slices.Concat(there.Others, []string{first}, gone.Others) {
		if name != f.Move && !slices.Contains(f.Others, name) {
			f.Others = append(f.Others, name)
		}
	}
	var ids []string
	for i := range absent {
		ids = append(ids, absent[i].ID)
	}
	f.Text = "too close to call: " + orText(append([]string{f.Move}, f.Others...)) + ", while " + listText(ids) + " is not seen"
	if len(ids) > 1 {
		f.Text = strings.TrimSuffix(f.Text, "is not seen") + "are not seen"
	}
	f.Says = slices.DeleteFunc(slices.Clone(there.Says), func(s string) bool { return !slices.Contains(gone.Says, s) })
	return f
}

// trackNudge keeps the place of a nudged ship until it is put back or moves.
func (w *Watch) trackNudge(g *Game, id string, f *Flown) {
	old, nudged := w.ghost[id]
	delete(w.ghost, id)
	if f.Sort != Nudge {
		return
	}
	if nudged { // nudged again, or put back
		from, to := old.From.Ship(engine.Ship{}), f.To.Ship(engine.Ship{})
		if !elsewhere(&from, &to) {
			f.Text = g.Name(id) + " was put back where it stood"
			return
		}
		f.From = old.From
		f.Text = nudgeText(g.Name(id), &from, &to)
	}
	w.ghost[id] = *f
}

// Events evaluates a sight, and returns its events: the moves, and the next phase when every ship
// has moved.
func (w *Watch) Events(g *Game, s Sight) (out []Event) {
	if g.Ended {
		return nil
	}
	for _, seen := range w.See(g, s) {
		e := Event{At: s.At, Kind: Moved, By: ByCamera, Round: g.Round, Phase: g.Phase, Ship: seen.Ship, Flown: &seen.Flown}
		if g.Piece(seen.Ship) == nil {
			e.Kind, e.Flown, e.Text = Said, nil, seen.Ship+" moved, and is no ship of this game"
		}
		out = append(out, e)
		g = withMove(g, seen)
	}
	out = append(out, w.features(g, s)...)
	if e, ok := g.Automatic(); ok {
		e.At = s.At
		out = append(out, e)
	}
	return out
}
