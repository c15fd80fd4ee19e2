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

// RestFor is how long a ship must rest before it is said what it flew: a hand that still
// corrects its place lets go and takes it up again within that time.
const RestFor = time.Second

// Sight is what the camera sees of the table at one instant.
type Sight struct {
	At    time.Time
	Scene engine.Scene // the ships that stand, with what lies on the table
	Still func(id string) bool
}

// Watch follows where the ships of a table rest. It is not safe for concurrent use.
type Watch struct {
	Slop flown.Slop // zero: [Slop]

	rest  map[string]engine.Ship // where each ship rested last, as it was judged
	new   map[string]resting     // ships that rest somewhere else, not yet for long enough
	ghost map[string]Flown       // nudges that were not put back
	lay   map[string]lying       // where scenario features lie
	shift map[string]lying       // features that lie elsewhere, not yet for long enough
	stood map[string]time.Time   // when each ship was seen last where it rested
}

// resting is a ship that has come to rest.
type resting struct {
	ship  engine.Ship
	since time.Time
}

// Seen is what a ship has flown.
type Seen struct {
	Ship  string
	Flown Flown
}

// NewWatch returns a watch that knows where ships rested before, from a game's events.
func NewWatch(g *Game) *Watch {
	w := &Watch{rest: map[string]engine.Ship{}, new: map[string]resting{}, ghost: map[string]Flown{}, stood: map[string]time.Time{},
		lay: map[string]lying{}, shift: map[string]lying{}}
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

// Clone returns a watch that knows the same, for what turns out not to have been recorded.
func (w *Watch) Clone() *Watch {
	return &Watch{Slop: w.Slop, rest: maps.Clone(w.rest), new: maps.Clone(w.new), ghost: maps.Clone(w.ghost),
		lay: maps.Clone(w.lay), shift: maps.Clone(w.shift), stood: maps.Clone(w.stood)}
}

// Stood takes up where ships of the game stood when the table was noted, as far as they have
// not flown since.
func (w *Watch) Stood(ships []engine.Ship) {
	for i := range ships {
		if _, known := w.rest[ships[i].ID]; !known {
			w.rest[ships[i].ID] = ships[i]
		}
	}
}

// Rename takes what is known of two ships for the other one's: a person named their bases wrongly.
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

// Rests returns where a ship rested last; ok is false where it was not seen at rest.
func (w *Watch) Rests(id string) (ship engine.Ship, ok bool) {
	ship, ok = w.rest[id]
	return ship, ok
}

// Ghosts lists the nudged ships that were not put back, with what is said of them.
func (w *Watch) Ghosts() map[string]Flown { return maps.Clone(w.ghost) }

// See takes a sight in, and returns what ships have flown since the one before.
func (w *Watch) See(g *Game, s Sight) (out []Seen) {
	var moved []string
	for i := range s.Scene.Ships {
		ship := &s.Scene.Ships[i]
		if ship.Quarters || !s.Still(ship.ID) {
			delete(w.new, ship.ID)
			continue
		}
		if w.settled(ship, s.At) {
			moved = append(moved, ship.ID)
		}
	}
	if w.shifted(&s.Scene, moved) {
		return nil
	}
	slices.SortFunc(moved, func(a, b string) int { return later(g, a, b) })
	for _, id := range moved {
		out = append(out, Seen{id, w.flew(g, &s.Scene, id, s.At)})
		g = after(g, out[len(out)-1])
	}
	return out
}

// later sorts ships that moved at once by whose turn came first.
func later(g *Game, a, b string) int {
	p, q := g.Piece(a), g.Piece(b)
	if p == nil || q == nil {
		return 0
	}
	return g.order(p, q)
}

// after returns a game in which a ship has also flown what was seen: the next one is judged
// by it. The game that was given stays as it is.
func after(g *Game, s Seen) *Game {
	next := *g
	next.Ships = slices.Clone(g.Ships)
	if p := next.Piece(s.Ship); p != nil {
		next.moved(p, &s.Flown)
	}
	return &next
}

// settled reports whether a ship has rested for long enough somewhere else than before. The
// first place that it rests at is where it was set up.
func (w *Watch) settled(ship *engine.Ship, at time.Time) bool {
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

// twiceAfter is how long a ship must not have been seen at rest for it to have moved twice
// meanwhile: its maneuver, and an action after it.
const twiceAfter = 6 * time.Second

// A ship is elsewhere when it is so far away that neither the camera's noise nor the
// drift of its registration explains it: five standard deviations, and what a person sees.
const (
	elsewhereSigmas = 5
	elsewhereLeast  = 1.5 * geom.Millimeter
	elsewhereTurn   = 1.5 * geom.Degree
)

// elsewhere reports whether a ship stands elsewhere than it did.
func elsewhere(was, is *engine.Ship) bool {
	d := is.Pose.Sub(was.Pose.Point).Norm()
	turn := float64(is.Pose.Heading.Distance(was.Pose.Heading))
	place := math.Sqrt(max(was.Covariance[0]+is.Covariance[0], was.Covariance[4]+is.Covariance[4]))
	heading := math.Sqrt(was.Covariance[8] + is.Covariance[8])
	return d > max(float64(elsewhereLeast), elsewhereSigmas*place) || turn > max(float64(elsewhereTurn), elsewhereSigmas*heading)
}

// shiftedLeast is how many ships must have shifted a little at once to say that it was the
// camera, or the mat under them: people move one ship.
const shiftedLeast = 3

// shifted takes a small shift of many ships for one of the camera's place.
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

// flew says what one ship has flown, and takes its place up. A nudged ship's place is where
// it stood, until it flies something or somebody says that it stays.
//
// Ships may be lifted out of the way and put back (G146), or be covered: those are taken for
// where they stood, and for gone. Where that makes a difference, it is too close to call.
func (w *Watch) flew(g *Game, now *engine.Scene, id string, at time.Time) Flown {
	slop := w.Slop
	if slop == (flown.Slop{}) {
		slop = Slop
	}
	before, after := w.tables(now, id, nil)
	last, seen := w.stood[id]
	twice := !seen || at.Sub(last) > twiceAfter+RestFor
	f := g.judge(&before, &after, id, slop, twice)
	if absent := w.absent(g, now, id); len(absent) > 0 {
		before, after = w.tables(now, id, absent)
		f = either(f, g.judge(&before, &after, id, slop, twice), absent)
	}
	w.haunt(g, id, &f)
	w.rest[id], w.stood[id] = *shipIn(now, id), at
	return f
}

// tables returns the table before and after a ship's move: the others where they rested
// before it, and with those that are not seen now.
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

// absent lists the ships of the game that rested on the table and are not seen there now.
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

// either puts together what was flown if ships that are not seen are gone, and if they stand
// where they stood. Where only one of the two fits, it is that.
func either(gone, there Flown, absent []engine.Ship) Flown {
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

// haunt keeps where a nudged ship stood until it is put back or flies something.
func (w *Watch) haunt(g *Game, id string, f *Flown) {
	old, nudged := w.ghost[id]
	delete(w.ghost, id)
	if f.Sort != Nudge {
		return
	}
	if nudged { // again, or back
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

// Events takes a sight in, and returns the events that it makes: what was flown, and the next
// phase when everybody has moved.
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
		g = after(g, seen)
	}
	out = append(out, w.features(g, s)...)
	if e, ok := g.Automatic(); ok {
		e.At = s.At
		out = append(out, e)
	}
	return out
}
