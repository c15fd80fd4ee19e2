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
	Rest(f vision.Frame, tracked *vision.Tracked) bool
	Ready() bool
	Found(f vision.Frame) (found []look.Sight, current, ok bool)
}

// Stock is the stage that puts on the table the ships that were found by their cards where no one said that they stand, and
// keeps their names.
type Stock struct {
	names naming.Names
	last  time.Time       // when a picture came last
	open  map[string]bool // bases without a name that may carry a card which was never shown
	swaps swaps

	renamed [2]string // two ships that a person named wrongly in this picture
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
	if s.renamed != [2]string{} {
		s.names.Rename(s.renamed[0], s.renamed[1])
		s.renamed = [2]string{}
	}
	e.away = s.names.Away(tracks, e.Located.Captured)
	s.back(e, tracks)
	s.swaps.seen(tracks)
	e.swaps = &s.swaps
	named = s.resolve(e, tracks)
	l, ok := e.Locator.(stockLocator)
	if !ok {
		return named
	}
	found, current, ok := l.Found(e.Frame)
	if !ok {
		return named
	}
	var bases []naming.Base
	var views []vision.ShipView
	var sights []*look.Sight
	for i := range found {
		f := &found[i]
		hint := look.Hint{Base: f.Look.Base, Pose: f.Pose, Reach: edgesReach, Turn: edgesTurn, Look: f.Look.Name}
		ship, view, ok, err := e.byLook(engine.Ship{Base: f.Look.Base}, hint)
		if err == nil && ok && s.standsAlone(&ship, tracks) && !slices.ContainsFunc(lostAt(&ship, tracks), s.swaps.undecided) {
			bases, views = append(bases, naming.Base{Ship: ship, May: f.Ships()}), append(views, view)
			sights = append(sights, f)
		}
	}
	open := map[string]bool{}
	for i := range tracks {
		if id := tracks[i].Ship.ID; s.open[id] {
			open[id] = true
		}
	}
	s.open = open
	for i, a := range s.names.Name(bases, &e.Located.Scene, tracks, e.Located.Captured, current) {
		ship := bases[i].Ship
		if dots := sights[i].Dots.Ship; dots != "" && len(naming.Left([]string{dots}, tracks)) == 1 {
			a.Name = dots
		}
		if ship.ID = a.Name; a.Name == "" || !s.mayName(sights[i], a.Name) {
			ship.ID, ship.NameDoubt = s.free(e.Located, tracks), a.May
			ship.LookDoubt = !sights[i].Told()
			s.open[ship.ID] = !sights[i].Shown()
			named = append(named, lostAt(&ship, tracks)...)
		}
		s.give(e, ship, views[i])
		named = append(named, ship.ID)
	}
	return named
}

// lostAt are the ships that were lost from sight where a base stands now: it may be each of them or another.
func lostAt(base *engine.Ship, tracks []vision.Track) (out []string) {
	for i := range tracks {
		k := &tracks[i]
		if !k.State.InSight() && k.Ship.Look != "" &&
			token.BasesOverlap(k.Ship.Base, k.Ship.Pose, base.Base, base.Pose, standsOn) {
			out = append(out, k.Ship.ID)
		}
	}
	return out
}

// mayName reports whether a base that can be one of the ships only, of those whose cards were shown, gets its name: it stood on the table
// under that name, or no other card's is as likely.
func (s *Stock) mayName(sight *look.Sight, id string) bool {
	if s.names.Stood(id) {
		return sight.Dots.Ship == id || sight.Plate != look.PlateDenies || !s.names.Off(id)
	}
	return sight.Dots.Ship == id || sight.Shown() && (len(sight.Ships()) > 1 || sight.Named())
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
	if ship.Player, view.ID = playerOf(ship.ID, ship.NameDoubt), ship.ID; s.open[ship.ID] {
		ship.Player = 0 // it may be another ship, of the other player
	}
	e.Located.Scene.Ships, e.Located.Ships = append(e.Located.Scene.Ships, ship), append(e.Located.Ships, view)
}

// resolve names the bases that can be only one ship since a person named the others.
func (s *Stock) resolve(e *EdgeSearch, tracks []vision.Track) (named []string) {
	for i := range tracks {
		k := &tracks[i]
		left := naming.Left(k.Ship.NameDoubt, tracks)
		if len(left) != 1 || len(k.Ship.NameDoubt) < 2 || s.open[k.Ship.ID] || s.doubted(tracks, left[0]) != 1 {
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
