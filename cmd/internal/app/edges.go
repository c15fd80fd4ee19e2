package app

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"sightline/cmd/internal/live"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
)

// How far a ship that is not read may be from where it was last to be taken for the same:
// less than any other base could stand from it.
const (
	edgesReach = 3 * geom.Millimeter
	edgesTurn  = 8 * geom.Degree
)

// edgeLocator is a locator that can find a base by its edges: vision.Locator.
type edgeLocator interface {
	Edges(vision.Frame, vision.EdgeHint) (vision.EdgeSight, bool, error)
	EdgeView(id string, base engine.Base, s vision.EdgeSight) vision.ShipView
}

// edges looks for the ships that were not read in a picture by their edges; nil where
// nobody can.
func (w *Watcher) edges(f vision.Frame, located *vision.Located) vision.EdgeFinder {
	l, ok := w.locator.(edgeLocator)
	if !ok {
		return nil
	}
	return func(k vision.Track) (engine.Ship, vision.ShipView, bool) {
		hint := vision.EdgeHint{Base: k.Ship.Base, Pose: k.Ship.Pose, Reach: edgesReach, Turn: edgesTurn, Read: k.Read}
		ship, view, err := w.byEdges(l, f, located, k.Ship, hint)
		return ship, view, err == nil
	}
}

// How far from where a person says a ship stands its base is looked for.
const (
	standsOn    = 2 * geom.Millimeter // by which bases that were found may seem to overlap
	placedReach = 12 * geom.Millimeter
	placedTurn  = 20 * geom.Degree
	placeWithin = 5 * time.Second
)

// placing is a ship that a person wants placed, and where to say what came of it.
type placing struct {
	ship live.PlacedShip
	done chan error
}

// PlaceShip looks in the next picture for a base where a person says that a ship stands
// whose code cannot be read. It then has the place that its edges show, until its code is
// read or its place shows the mat.
func (w *Watcher) PlaceShip(p live.PlacedShip) error {
	if w.o.Tracking.SettleFrames == 1 { // trackingOf: pictures of which each speaks for itself
		return fmt.Errorf("%s is not placed: these are single pictures, each taken alone, and it would be gone with the next one; sightline locate --at places a ship in one picture", p.ID)
	}
	asked := &placing{ship: p, done: make(chan error, 1)}
	if !w.placing.CompareAndSwap(nil, asked) {
		return errors.New("another ship is being placed: try again in a moment")
	}
	select {
	case err := <-asked.done:
		if err != nil {
			return fmt.Errorf("%s is not placed: %w", p.ID, err)
		}
		w.update(func() { w.note(p.ID + " was placed by hand.") })
		return nil
	case <-time.After(placeWithin):
		w.placing.CompareAndSwap(asked, nil)
		return fmt.Errorf("%s is not placed: no picture was searched in time", p.ID)
	}
}

// place adds the ship that a person wants placed to those that a picture shows.
func (w *Watcher) place(f vision.Frame, located *vision.Located) {
	asked := w.placing.Swap(nil)
	if asked == nil {
		return
	}
	asked.done <- w.placeNow(f, located, asked.ship)
}

func (w *Watcher) placeNow(f vision.Frame, located *vision.Located, p live.PlacedShip) error {
	l, ok := w.locator.(edgeLocator)
	if !ok {
		return errors.New("bases are not looked for by their edges here")
	}
	if slices.ContainsFunc(located.Scene.Ships, func(s engine.Ship) bool { return s.ID == p.ID }) {
		return errors.New("its code is read in this picture")
	}
	hint := vision.EdgeHint{Base: p.Base, Pose: p.Pose, Reach: placedReach, Turn: placedTurn}
	if !p.Headed {
		hint.Turn = vision.AnyTurn(p.Base)
	}
	ship, view, err := w.byEdges(l, f, located, engine.Ship{ID: p.ID, Player: p.Player, Base: p.Base}, hint)
	if err != nil {
		return err
	}
	if other := w.standsOn(ship); other != "" {
		return fmt.Errorf("%s stands there: if that is another ship's base, take it off the table first", other)
	}
	ship.Quarters = !p.Headed
	w.tracker.Forget(p.ID) // a person knows better than where it stood
	located.Scene.Ships, located.Ships = append(located.Scene.Ships, ship), append(located.Ships, view)
	return nil
}

// standsOn returns which other ship has the base where one is to be placed, as far as the
// pictures before tell; "": none. Such a ship was named by its code or by a person.
func (w *Watcher) standsOn(s engine.Ship) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range w.tracks {
		o, state := &w.tracks[i].Ship, w.tracks[i].State
		if o.ID == s.ID || vision.Unnamed(o.ID) || state == vision.Hidden || state == vision.Lifted {
			continue
		}
		if vision.BasesOverlap(o.Base, o.Pose, s.Base, s.Pose, standsOn) {
			return o.ID
		}
	}
	return ""
}

var errNoEdges = errors.New("no base of this size shows its edges there")

// byEdges finds one ship by its edges, where no other stands.
func (w *Watcher) byEdges(l edgeLocator, f vision.Frame, located *vision.Located, like engine.Ship, hint vision.EdgeHint) (engine.Ship, vision.ShipView, error) {
	s, ok, err := l.Edges(f, hint)
	if err != nil {
		return engine.Ship{}, vision.ShipView{}, err
	}
	var unnamed vision.UnnamedBase
	if !ok { // or by what differs there from the empty mat
		if unnamed, ok = located.Obstacles.Unnamed(like.Base, hint.Pose, hint.Reach, hint.Turn); !ok {
			return engine.Ship{}, vision.ShipView{}, errNoEdges
		}
		s = unnamed.Sight
		s.Pose, s.Covariance = unnamed.Pose, unnamed.Covariance
	}
	for _, o := range located.Scene.Ships {
		if o.ID != like.ID && vision.BasesOverlap(o.Base, o.Pose, like.Base, s.Pose, standsOn) {
			return engine.Ship{}, vision.ShipView{}, fmt.Errorf("%s stands there", o.ID)
		}
	}
	ship := vision.EdgeShip(like.ID, like.Player, like.Base, s, false)
	ship.Arcs, ship.Turret = like.Arcs, like.Turret
	one := engine.Scene{Ships: []engine.Ship{ship}}
	if unnamed.Base == engine.BaseUnknown { // a base without a name was widened already
		w.widen(&one)
	}
	return one.Ships[0], l.EdgeView(like.ID, like.Base, s), nil
}

// widenUnnamed is widen for the bases whose code is not read.
func (w *Watcher) widenUnnamed(l *vision.Located) {
	if l.Obstacles == nil || len(l.Obstacles.Bases) == 0 {
		return
	}
	sight := *l.Obstacles // the locator keeps its own
	sight.Bases = slices.Clone(sight.Bases)
	var s engine.Scene
	for i := range sight.Bases {
		s.Ships = append(s.Ships, sight.Bases[i].Ship(vision.UnnamedID(i+1)))
	}
	w.widen(&s)
	for i := range sight.Bases {
		sight.Bases[i].Covariance = s.Ships[i].Covariance
	}
	l.Obstacles = &sight
}
