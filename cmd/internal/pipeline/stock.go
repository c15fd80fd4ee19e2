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

// stockLocator is a locator that searches the whole table for ships' cards in the background: a locate.Locator.
type stockLocator interface {
	Rest(f vision.Frame, tracked *vision.Tracked) bool
	Ready() bool
	Found(f vision.Frame) (found []look.Sight, current, ok bool)
	Turned() []*look.TurnedError
}

// Stock is the stage for ships without our tokens. It adds those that the background search found by their cards, and
// keeps their names.
type Stock struct {
	names naming.Names
	last  time.Time       // of the last picture
	open  map[string]bool // unnamed bases that may carry a card that was never shown
	swaps swaps

	renamed [2]string // the wrong and the right name that a person corrected since the last update
}

// unwatched is how long pictures may be missing before a ship may have been moved and another put in its place.
const unwatched = 3 * time.Second

// gapBefore reports whether the table was unwatched for a while before a picture taken at a time.
func (s *Stock) gapBefore(at time.Time) bool {
	gap := vision.Elapsed(s.last, at)
	first := s.last.IsZero()
	s.last = at
	return !first && (gap > unwatched || gap < -unwatched) && s.names.Any()
}

// restore adds the ships that stand exactly where they stood before the table was unwatched. It returns the numbers of those that had none
// of their names meanwhile.
func (s *Stock) restore(e *EdgeSearch, tracks []vision.Track) (named []string) {
	find := e.finder()
	if find == nil {
		return nil
	}
	for _, was := range s.names.Lost(tracks) {
		if slices.ContainsFunc(e.Located.Scene.Ships, func(s engine.Ship) bool { return s.ID == was.ID }) {
			continue
		}
		if i := slices.IndexFunc(tracks, func(k vision.Track) bool { return s.numbered(&k, &was) }); i >= 0 {
			k := &tracks[i].Ship
			hint := look.Hint{Base: k.Base, Pose: k.Pose, Reach: edgesReach, Turn: edgesTurn, Look: k.Look}
			if ship, view, ok, err := e.byLook(engine.Ship{ID: was.ID, Base: k.Base}, hint); ok && err == nil && naming.Stays(&was, &ship) {
				s.add(e, ship, view)
				named = append(named, k.ID, was.ID)
			}
			continue
		}
		ship, view, ok := find(vision.Track{Ship: was})
		if ok && naming.Stays(&was, &ship) && s.standsAlone(&ship, tracks) {
			ship.Quarters = was.Quarters
			s.add(e, ship, view)
		}
	}
	return named
}

// numbered reports whether a base without a name stands exactly where a ship stood that it may be.
func (s *Stock) numbered(k *vision.Track, was *engine.Ship) bool {
	return k.State == vision.Still && token.Unidentified(k.Ship.ID) && !s.open[k.Ship.ID] &&
		slices.Contains(k.Ship.NameDoubt, was.ID) && naming.Stays(was, &k.Ship)
}

// searchInBackground passes an unchanged picture to the background search.
func (s *Stock) searchInBackground(l Locator, f vision.Frame, tracked *vision.Tracked) {
	if l, ok := l.(stockLocator); ok && !tracked.Doubtful {
		l.Rest(f, tracked)
	}
}

// searchDone reports whether the background search has a result for the next picture.
func (s *Stock) searchDone(l Locator) bool {
	found, ok := l.(stockLocator)
	return ok && found.Ready()
}

// update adds the ships that the background search found and that this picture confirms. It returns the ids whose old poses no longer
// count: numbers whose name is known now, and ships found elsewhere. tracks are the ships of earlier pictures.
func (s *Stock) update(e *EdgeSearch, tracks []vision.Track) (named []string) {
	e.before = tracks
	s.names.Stand(tracks)
	if s.renamed != [2]string{} {
		s.names.Rename(s.renamed[0], s.renamed[1])
		s.renamed = [2]string{}
	}
	e.away = s.names.Away(tracks, e.Located.Captured)
	named = s.restore(e, tracks)
	s.swaps.update(tracks)
	e.swaps = &s.swaps
	named = append(named, s.resolve(e, tracks)...)
	l, ok := e.Locator.(stockLocator)
	if !ok {
		return named
	}
	found, current, ok := l.Found(e.Frame)
	if !ok {
		return named
	}
	if current {
		e.turned, e.searched = append(e.turned, l.Turned()...), true
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
			ship.ID, ship.NameDoubt = s.freeNumber(e.Located, tracks), a.May
			ship.LookDoubt = !sights[i].Told()
			s.open[ship.ID] = !sights[i].Shown()
			named = append(named, lostAt(&ship, tracks)...)
		}
		s.add(e, ship, views[i])
		named = append(named, ship.ID)
	}
	return named
}

// lostAt returns the ships that went out of sight where a base stands now: it may be any of them, or another.
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

// mayName reports whether a base that, of the shown cards, fits one ship only gets that ship's name: it stood on the table under that
// name before, or no other card is as likely.
func (s *Stock) mayName(sight *look.Sight, id string) bool {
	if s.names.Stood(id) {
		return sight.Dots.Ship == id || !sight.Missing && sight.Plate != look.PlateDenies || !s.names.Off(id)
	}
	return sight.Dots.Ship == id || sight.Shown() && (len(sight.Ships()) > 1 || sight.Named())
}

// standsAlone reports whether no known ship stands where a base was found.
func (s *Stock) standsAlone(ship *engine.Ship, tracks []vision.Track) bool {
	return !slices.ContainsFunc(tracks, func(k vision.Track) bool {
		return k.Ship.Look != "" && (k.State.Stands() || k.State == vision.Settling) &&
			token.BasesOverlap(k.Ship.Base, k.Ship.Pose, ship.Base, ship.Pose, standsOn)
	}) && namedBaseAt(*ship, tracks) == ""
}

// add adds a ship to those that the picture shows.
func (s *Stock) add(e *EdgeSearch, ship engine.Ship, view vision.ShipView) {
	if ship.Player, view.ID = playerOf(ship.ID, ship.NameDoubt), ship.ID; s.open[ship.ID] {
		ship.Player = 0 // it may be another ship, of either player
	}
	e.Located.Scene.Ships, e.Located.Ships = append(e.Located.Scene.Ships, ship), append(e.Located.Ships, view)
}

// resolve names bases that can be only one ship now that a person named the others.
func (s *Stock) resolve(e *EdgeSearch, tracks []vision.Track) (named []string) {
	for i := range tracks {
		k := &tracks[i]
		left := naming.Left(k.Ship.NameDoubt, tracks)
		if len(left) != 1 || len(k.Ship.NameDoubt) < 2 || s.open[k.Ship.ID] || s.possibleBases(tracks, left[0]) != 1 {
			continue
		}
		hint := look.Hint{Base: k.Ship.Base, Pose: k.Ship.Pose, Reach: edgesReach, Turn: edgesTurn, Look: k.Ship.Look}
		ship, view, ok, err := e.byLook(engine.Ship{ID: left[0], Base: k.Ship.Base}, hint)
		if err == nil && ok {
			ship.TurnDoubt = ship.TurnDoubt && k.Ship.TurnDoubt
			s.add(e, ship, view)
			named = append(named, k.Ship.ID, ship.ID)
		}
	}
	return named
}

// possibleBases returns how many bases may be a ship.
func (s *Stock) possibleBases(tracks []vision.Track, id string) (n int) {
	for i := range tracks {
		if slices.Contains(naming.Left(tracks[i].Ship.NameDoubt, tracks), id) {
			n++
		}
	}
	return n
}

// freeNumber returns an id for an unnamed base that no ship of this or an earlier picture has.
func (s *Stock) freeNumber(l *vision.Located, tracks []vision.Track) string {
	for n := 1; ; n++ {
		id := token.UnidentifiedID(n)
		if !slices.ContainsFunc(l.Scene.Ships, func(s engine.Ship) bool { return s.ID == id }) &&
			!slices.ContainsFunc(tracks, func(k vision.Track) bool { return k.Ship.ID == id }) {
			return id
		}
	}
}

// playerOf returns the player of a ship, or of all the ships that it may be; 0: they have no common player.
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
