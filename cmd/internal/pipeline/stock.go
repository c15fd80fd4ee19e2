package pipeline

import (
	"slices"
	"time"

	"sightline/cmd/internal/naming"
	"sightline/engine"
	"sightline/vision"
	"sightline/vision/look"
	"sightline/vision/token"
)

// stockLocator is a locator that searches the whole table for ships' cards in the background: locate.Locator.
type stockLocator interface {
	Rest(f vision.Frame, tracked *vision.Tracked)
	Ready() bool
	Found() ([]look.Sight, bool)
}

// Stock is the stage that puts on the table the ships that were found by their cards where nobody said that they stand, and
// keeps their names.
type Stock struct {
	names naming.Names
	last  time.Time // when a picture came last
}

// unwatched is how long there are no pictures until a ship may have been moved, and another one put in its place.
const unwatched = 3 * time.Second

// came takes when a picture was taken, and reports whether the table was not watched before it for a while.
func (s *Stock) came(at time.Time) bool {
	gap := at.Sub(s.last)
	first := s.last.IsZero()
	s.last = at
	return !first && (gap > unwatched || gap < -unwatched) && s.names.Any()
}

// back puts the ships on the table that stand exactly where they stood before it was not watched.
func (s *Stock) back(e *EdgeSearch, tracks []vision.Track) {
	find := e.finder()
	if find == nil {
		return
	}
	for _, was := range s.names.Lost(tracks) {
		if slices.ContainsFunc(e.Located.Scene.Ships, func(s engine.Ship) bool { return s.ID == was.ID }) {
			continue
		}
		ship, view, ok := find(vision.Track{Ship: was})
		if ok && naming.Stays(&was, &ship) && s.standsAlone(&ship, tracks) {
			ship.Quarters = was.Quarters
			s.give(e, ship, view)
		}
	}
}

// rest shows a picture that rests to the search in the background.
func (s *Stock) rest(l Locator, f vision.Frame, tracked *vision.Tracked) {
	if l, ok := l.(stockLocator); ok && !tracked.Doubtful {
		l.Rest(f, tracked)
	}
}

// ready reports whether the search has ended, so that the next picture says what it found.
func (s *Stock) ready(l Locator) bool {
	found, ok := l.(stockLocator)
	return ok && found.Ready()
}

// update adds to what a picture shows the ships that the search found and this picture bears out, and returns the ships whose old places
// do not count any more: numbers that stood for a name which is known now, and ships that were found elsewhere. tracks are the ships of the
// pictures before.
func (s *Stock) update(e *EdgeSearch, tracks []vision.Track) (named []string) {
	e.before = tracks
	s.names.Stand(tracks)
	s.back(e, tracks)
	named = s.resolve(e, tracks)
	l, ok := e.Locator.(stockLocator)
	if !ok {
		return named
	}
	found, ok := l.Found()
	if !ok {
		return named
	}
	var bases []naming.Base
	var views []vision.ShipView
	var open []bool   // one ship carries that card, and yet it may be another
	var dots []string // the ship that its dots name
	for i := range found {
		f := &found[i]
		hint := look.Hint{Base: f.Look.Base, Pose: f.Pose, Reach: edgesReach, Turn: edgesTurn, Look: f.Look.Name}
		ship, view, ok, err := e.byLook(engine.Ship{Base: f.Look.Base}, hint)
		if err == nil && ok && s.standsAlone(&ship, tracks) {
			bases, views = append(bases, naming.Base{Ship: ship, May: f.Ships()}), append(views, view)
			open, dots = append(open, len(f.Ships()) == 1 && !f.Named()), append(dots, f.Dots.Ship)
		}
	}
	for i, a := range s.names.Name(bases, &e.Located.Scene, tracks) {
		ship := bases[i].Ship
		if dots[i] != "" && len(naming.Left(dots[i:i+1], tracks)) == 1 {
			a.Name = dots[i]
		}
		if ship.ID = a.Name; a.Name == "" || open[i] && !s.names.Stood(a.Name) {
			ship.ID, ship.NameDoubt = s.free(e.Located, tracks), a.May
		}
		s.give(e, ship, views[i])
		named = append(named, ship.ID)
	}
	return named
}

// standsAlone reports whether no ship that is known stands where a base was found.
func (s *Stock) standsAlone(ship *engine.Ship, tracks []vision.Track) bool {
	return !slices.ContainsFunc(tracks, func(k vision.Track) bool {
		return k.Ship.Look != "" && (k.State.Stands() || k.State == vision.Settling) &&
			token.BasesOverlap(k.Ship.Base, k.Ship.Pose, ship.Base, ship.Pose, standsOn)
	}) && namedBaseAt(*ship, tracks) == ""
}

// give puts a ship among those that the picture shows.
func (s *Stock) give(e *EdgeSearch, ship engine.Ship, view vision.ShipView) {
	ship.Player, view.ID = playerOf(ship.ID, ship.NameDoubt), ship.ID
	e.Located.Scene.Ships, e.Located.Ships = append(e.Located.Scene.Ships, ship), append(e.Located.Ships, view)
}

// resolve names the bases that can be only one ship since a person named the others.
func (s *Stock) resolve(e *EdgeSearch, tracks []vision.Track) (named []string) {
	for i := range tracks {
		k := &tracks[i]
		left := naming.Left(k.Ship.NameDoubt, tracks)
		if len(left) != 1 || len(k.Ship.NameDoubt) < 2 || s.doubted(tracks, left[0]) != 1 {
			continue
		}
		hint := look.Hint{Base: k.Ship.Base, Pose: k.Ship.Pose, Reach: edgesReach, Turn: edgesTurn, Look: k.Ship.Look}
		ship, view, ok, err := e.byLook(engine.Ship{ID: left[0], Base: k.Ship.Base}, hint)
		if err == nil && ok {
			s.give(e, ship, view)
			named = append(named, k.Ship.ID, ship.ID)
		}
	}
	return named
}

// doubted is how many bases may be a ship.
func (s *Stock) doubted(tracks []vision.Track, id string) (n int) {
	for i := range tracks {
		if slices.Contains(naming.Left(tracks[i].Ship.NameDoubt, tracks), id) {
			n++
		}
	}
	return n
}

// free is a number for a base without a name that no ship of the picture, nor of those before, has.
func (s *Stock) free(l *vision.Located, tracks []vision.Track) string {
	for n := 1; ; n++ {
		id := token.UnidentifiedID(n)
		if !slices.ContainsFunc(l.Scene.Ships, func(s engine.Ship) bool { return s.ID == id }) &&
			!slices.ContainsFunc(tracks, func(k vision.Track) bool { return k.Ship.ID == id }) {
			return id
		}
	}
}

// playerOf is the player whose ship it is, or all are that it may be; 0: they are not of one.
func playerOf(id string, may []string) (player int) {
	if len(may) == 0 {
		may = []string{id}
	}
	for _, id := range may {
		c, err := token.CodeOfID(id)
		if err != nil || player != 0 && player != c.Player() {
			return 0
		}
		player = c.Player()
	}
	return player
}
