package pipeline

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"sightline/calibration"
	"sightline/cmd/internal/live"
	"sightline/cmd/internal/naming"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/look"
	"sightline/vision/token"
	"sightline/vision/track"
)

// Locator finds the ships in a picture: a locate.Locator.
type Locator interface {
	Locate(vision.Frame) (vision.Located, error)
}

// edgeLocator is a locator that can find a base by its edges: locate.Locator.
type edgeLocator interface {
	Edges(vision.Frame, vision.EdgeHint) (vision.EdgeSight, bool, error)
	EdgeView(id string, base engine.Base, s vision.EdgeSight) vision.ShipView
}

// lookLocator is a locator that can find a base by its card: locate.Locator.
type lookLocator interface {
	ByLook(f vision.Frame, h look.Hint, ship engine.Ship) (engine.Ship, vision.ShipView, bool, error)
}

// obstacleLocator is a locator that watches the obstacles: locate.Locator.
type obstacleLocator interface {
	Recall(lying []vision.ObstacleView)
}

// Locate is the stage that finds ships and obstacles in one picture.
type Locate struct {
	newLocator func(calibration.Table) (Locator, error)
	kept       *Lying // nil: the obstacles are not kept for a restart

	locator Locator // nil: no registration
	problem string  // why searching the last picture failed; "": it did not

	lying   []vision.ObstacleView // the obstacles, as the last picture showed them that can be believed
	doubted bool                  // the locator has seen none since, or is another one
}

// install makes the locator for a table.
func (l *Locate) install(t calibration.Table) error {
	locator, err := l.newLocator(t)
	if err != nil {
		return err
	}
	l.locator, l.doubted = locator, true
	return nil
}

// Update searches a picture. A doubtful one may not show the table where the registration puts it.
func (l *Locate) Update(f vision.Frame, doubtful bool) (vision.Located, error) {
	if watch, ok := l.locator.(obstacleLocator); ok && l.doubted && !doubtful {
		watch.Recall(l.lying)
	}
	l.doubted = doubtful
	located, err := l.locator.Locate(f)
	l.problem = ""
	if err != nil {
		l.problem = err.Error()
	}
	located.Doubtful = doubtful
	if o := located.Obstacles; o != nil && o.Unseen == "" && !doubtful {
		l.lying = o.Lying()
		l.kept.keep(l.lying)
	}
	return located, err
}

// How far a ship whose code is not read may be from its last pose to count as the same ship:
// less than any other base could be.
const (
	edgesReach = 3 * geom.Millimeter
	edgesTurn  = 8 * geom.Degree
)

// How far from where a person places a ship its base is searched for.
const (
	standsOn    = 2 * geom.Millimeter // by how much located bases may appear to overlap
	PlacedReach = 12 * geom.Millimeter
	placedTurn  = 20 * geom.Degree
)

// An EdgeSearch finds bases whose codes were not read, by their edges or cards, in one picture.
type EdgeSearch struct {
	Locator edgeLocator // nil: bases cannot be found by their edges
	Frame   vision.Frame
	Located *vision.Located     // ships found by their codes; found ones are added
	Widen   func(*engine.Scene) // adds the registration's uncertainty; may be nil

	before []vision.Track // the ships of earlier pictures
	away   []engine.Ship  // ships that may be in someone's hand
	swaps  *swaps         // nil: exchanged ships are not tracked

	turned   []*look.TurnedError // the bases whose cards lie a quarter turn off, as far as they were seen
	searched bool                // the whole table was searched for them
}

// edgeSearch returns the search in a picture whose codes were read.
func (l *Locate) edgeSearch(f vision.Frame, located *vision.Located, widen func(*engine.Scene)) *EdgeSearch {
	locator, _ := l.locator.(edgeLocator)
	return &EdgeSearch{Locator: locator, Frame: f, Located: located, Widen: widen}
}

// finder returns a function that finds a ship of earlier pictures; nil if the locator cannot.
func (e *EdgeSearch) finder() track.EdgeFinder {
	if e.Locator == nil {
		return nil
	}
	return func(k vision.Track) (engine.Ship, vision.ShipView, bool) {
		ship, view, ok, err := e.followLook(k)
		if ok {
			return ship, view, !e.standsThere(&ship) && e.sameShip(&k, &ship)
		}
		if wrong := (*look.TurnedError)(nil); errors.As(err, &wrong) { // its edges would keep the heading
			e.turned = append(e.turned, wrong)
			return engine.Ship{}, vision.ShipView{}, false
		}
		hint := vision.EdgeHint{Base: k.Ship.Base, Pose: k.Ship.Pose, Reach: edgesReach, Turn: edgesTurn, Read: k.Read}
		ship, sight, err := e.find(k.Ship, hint)
		if err != nil || (k.Ship.Look != "" || k.Ship.Seen == "edges") && !e.sameShip(&k, &ship) {
			return engine.Ship{}, vision.ShipView{}, false
		}
		return ship, e.Locator.EdgeView(ship.ID, ship.Base, sight), true
	}
}

// Errors of placing a ship.
var (
	ErrNoEdges  = errors.New("no base of this size is seen there")
	errCodeRead = errors.New("its code is read in this picture")
)

// An OccupiedError names the ship that stands where another is to be placed.
type OccupiedError struct{ By string }

// Error names the ship.
func (e *OccupiedError) Error() string { return e.By + " stands there" }

// Place adds a ship that a person placed to Located. It finds the ship by its card if its look is known, else by its edges.
// others are the ships of earlier pictures. The sight is that of the edges; a ship found by its card has none and counts as
// ours. The error is ErrNoEdges or an *OccupiedError if the ship does not stand there.
func (e *EdgeSearch) Place(p live.PlacedShip, others []vision.Track) (vision.EdgeSight, error) {
	if e.Locator == nil {
		return vision.EdgeSight{}, errors.New("this program cannot find bases by their edges")
	}
	if slices.ContainsFunc(e.Located.Scene.Ships, func(s engine.Ship) bool { return s.ID == p.ID }) {
		return vision.EdgeSight{}, errCodeRead
	}
	if found, err := e.placeByLook(p, others); found || err != nil {
		return vision.EdgeSight{Base: p.Base, Ours: true}, err
	}
	hint := vision.EdgeHint{Base: p.Base, Pose: p.Pose, Reach: PlacedReach, Turn: placedTurn}
	if !p.Headed {
		hint.Turn = token.AnyTurn(p.Base)
	}
	ship, sight, err := e.find(engine.Ship{ID: p.ID, Player: p.Player, Base: p.Base}, hint)
	if err != nil {
		return sight, err
	}
	if other := namedBaseAt(ship, others); other != "" {
		return sight, fmt.Errorf("%w: if that is another ship's base, take it off the table first", &OccupiedError{other})
	}
	ship.Quarters = !p.Headed
	e.Located.Scene.Ships = append(e.Located.Scene.Ships, ship)
	e.Located.Ships = append(e.Located.Ships, e.Locator.EdgeView(p.ID, p.Base, sight))
	return sight, nil
}

// followLook finds a ship by its card if an earlier picture found it that way.
func (e *EdgeSearch) followLook(k vision.Track) (engine.Ship, vision.ShipView, bool, error) {
	if k.Ship.Look == "" {
		return engine.Ship{}, vision.ShipView{}, false, nil
	}
	hint := look.Hint{Base: k.Ship.Base, Pose: k.Ship.Pose, Reach: edgesReach, Turn: edgesTurn, Ship: k.Ship.ID, Look: k.Ship.Look}
	if left := naming.Left(k.Ship.NameDoubt, e.before); len(left) > 1 {
		k.Ship.NameDoubt = left
	}
	return e.byLook(k.Ship, hint)
}

// standsThere reports whether another ship or an unnamed base stands where a ship was found.
func (e *EdgeSearch) standsThere(ship *engine.Ship) bool {
	return slices.ContainsFunc(e.before, func(o vision.Track) bool {
		return o.Ship.ID != ship.ID && o.State.Stands() && o.Ship.Look != "" &&
			token.BasesOverlap(o.Ship.Base, o.Ship.Pose, ship.Base, ship.Pose, standsOn)
	})
}

// swapTime is how long two ships must be out of sight before hands may have exchanged them: a ship is often found under a hand until
// it is lifted.
const swapTime = 500 * time.Millisecond

// sameShip reports whether the base found where a ship was last seen is that ship, and not another one that was out of sight too, or
// in someone's hand, and looks the same there: by its card, or because only the edges of both are known. It is surely the same only if
// it, and the others, stand exactly where they stood.
func (e *EdgeSearch) sameShip(k *vision.Track, found *engine.Ship) bool {
	if e.swaps == nil {
		return true
	}
	var others []string
	stays, put := naming.Stays(&k.Ship, found), naming.StaysPut(&k.Ship, found)
	if e.unseen(k) {
		for i := range e.before {
			if o := &e.before[i]; o.Ship.ID != k.Ship.ID && e.unseen(o) && e.passesFor(&o.Ship, found) {
				others = append(others, o.Ship.ID)
			}
		}
		if i := slices.IndexFunc(e.away, func(o engine.Ship) bool { return o.ID != k.Ship.ID && e.passesFor(&o, found) }); i >= 0 {
			others, stays = append(others, e.away[i].ID), put
		}
	}
	return e.swaps.isSame(k.Ship.ID, others, stays, put)
}

// unseen reports whether a ship was out of sight for so long that another one may have replaced it.
func (e *EdgeSearch) unseen(k *vision.Track) bool {
	return e.Located.Captured.Sub(k.Captured) > swapTime
}

// passesFor reports whether a ship's base looks like one that was found: by its card, or where the edges are all that is known of both.
func (e *EdgeSearch) passesFor(o, found *engine.Ship) bool {
	if o.Base != found.Base {
		return false
	}
	if o.Look == "" {
		return o.Seen == "edges" && found.Seen == "edges"
	}
	if o.Look == found.Look {
		return true
	}
	hint := look.Hint{Base: found.Base, Pose: found.Pose, Reach: edgesReach, Turn: edgesTurn, Ship: o.ID, Look: o.Look}
	_, _, ok, err := e.byLook(*o, hint)
	return ok && err == nil
}

// byLook finds a base by its card where no other ship stands; ok is false if the match is not good enough.
func (e *EdgeSearch) byLook(like engine.Ship, h look.Hint) (engine.Ship, vision.ShipView, bool, error) {
	l, ok := e.Locator.(lookLocator)
	if !ok {
		return like, vision.ShipView{}, false, nil
	}
	ship, view, ok, err := l.ByLook(e.Frame, h, like)
	if err != nil || !ok {
		return like, view, false, err
	}
	if other := ShipAt(e.Located.Scene.Ships, like.ID, like.Base, ship.Pose); other != "" {
		return like, view, false, &OccupiedError{other}
	}
	if e.Widen != nil {
		one := engine.Scene{Ships: []engine.Ship{ship}}
		e.Widen(&one)
		ship = one.Ships[0]
	}
	return ship, view, true, nil
}

// placeByLook is like Place, by the card that the ship is known to carry.
func (e *EdgeSearch) placeByLook(p live.PlacedShip, others []vision.Track) (bool, error) {
	hint := look.Hint{Base: p.Base, Pose: p.Pose, Reach: PlacedReach, Turn: math.Pi, Ship: p.ID}
	if p.Headed {
		hint.Turn = placedTurn
	}
	ship, view, ok, err := e.byLook(engine.Ship{ID: p.ID, Player: p.Player, Base: p.Base}, hint)
	if err != nil || !ok {
		return false, err
	}
	if other := namedBaseAt(ship, others); other != "" {
		return false, fmt.Errorf("%w: if that is another ship's base, take it off the table first", &OccupiedError{other})
	}
	e.Located.Scene.Ships, e.Located.Ships = append(e.Located.Scene.Ships, ship), append(e.Located.Ships, view)
	return true, nil
}

// ShipAt returns the id of a ship that stands where another is to be placed; "": none.
func ShipAt(ships []engine.Ship, id string, base engine.Base, at geom.Pose) string {
	for _, o := range ships {
		if o.ID != id && token.BasesOverlap(o.Base, o.Pose, base, at, standsOn) {
			return o.ID
		}
	}
	return ""
}

// namedBaseAt is like ShipAt, for ships of earlier pictures that were named by their code or by
// a person.
func namedBaseAt(s engine.Ship, others []vision.Track) string {
	var named []engine.Ship
	for _, k := range others {
		if !token.Unidentified(k.Ship.ID) && k.State.InSight() {
			named = append(named, k.Ship)
		}
	}
	return ShipAt(named, s.ID, s.Base, s.Pose)
}

// find finds one ship by its edges where no other stands.
func (e *EdgeSearch) find(like engine.Ship, hint vision.EdgeHint) (engine.Ship, vision.EdgeSight, error) {
	s, ok, err := e.Locator.Edges(e.Frame, hint)
	if err != nil {
		return engine.Ship{}, s, err
	}
	var unnamed vision.UnidentifiedBase
	if !ok { // or by its difference from the empty mat
		if unnamed, ok = e.Located.Obstacles.Unidentified(like.Base, hint.Pose, hint.Reach, hint.Turn); !ok {
			return engine.Ship{}, s, ErrNoEdges
		}
		s = unnamed.Sight
		s.Pose, s.Covariance = unnamed.Pose, unnamed.Covariance
	}
	if other := ShipAt(e.Located.Scene.Ships, like.ID, like.Base, s.Pose); other != "" {
		return engine.Ship{}, s, &OccupiedError{other}
	}
	ship := vision.EdgeShip(like.ID, like.Player, like.Base, s, false)
	ship.Arcs, ship.Turret, ship.Look = like.Arcs, like.Turret, like.Look
	ship.LookDoubt, ship.TurnDoubt = like.LookDoubt, like.TurnDoubt
	if e.Widen == nil || unnamed.Base != engine.BaseUnknown { // an unnamed base was widened already
		return ship, s, nil
	}
	one := engine.Scene{Ships: []engine.Ship{ship}}
	e.Widen(&one)
	return one.Ships[0], s, nil
}

// widenUnnamed widens the bases whose code was not read.
func widenUnnamed(l *vision.Located, widen func(*engine.Scene)) {
	if l.Obstacles == nil || len(l.Obstacles.Bases) == 0 {
		return
	}
	sight := *l.Obstacles // leave the locator's own unchanged
	sight.Bases = slices.Clone(sight.Bases)
	var s engine.Scene
	for i := range sight.Bases {
		s.Ships = append(s.Ships, sight.Bases[i].Ship(token.UnidentifiedID(i+1)))
	}
	widen(&s)
	for i := range sight.Bases {
		sight.Bases[i].Covariance = s.Ships[i].Covariance
	}
	l.Obstacles = &sight
}

// placeWithin is how long PlaceShip waits for a picture.
const placeWithin = 5 * time.Second

// noCard is the error when a ship's card is not seen where it should be.
func noCard(ship string) error { return fmt.Errorf("the base there does not show %s's card now", ship) }

// placing is a ship that a person places, and the channel for the result.
type placing struct {
	ship live.PlacedShip
	card bool // find it by its card only, not by its edges
	done chan error
}

// PlaceShip searches the next picture for the base of a ship whose code cannot be read, where a
// person says that it stands. The ship keeps the pose of its edges until its code is read or
// its place shows the mat. It is safe for concurrent use.
func (p *Pipeline) PlaceShip(s live.PlacedShip) error {
	if p.track.single {
		return fmt.Errorf("%s is not placed: the source has single pictures, and the ship would be gone with the next one; "+
			"sightline locate --at places a ship in one picture", s.ID)
	}
	err := p.requestPlacing(&placing{ship: s, done: make(chan error, 1)})
	unseen := s.InsteadOf == "" && errors.Is(err, ErrNoEdges)
	if (err == nil || unseen) && p.fuse.placeByCard(s) {
		err = nil
	}
	switch {
	case err != nil:
		return fmt.Errorf("%s is not placed: %w", s.ID, err)
	case s.InsteadOf != "":
		p.o.Game.Note(fmt.Sprintf("What was taken for %s is %s: its name was corrected by hand.", s.InsteadOf, s.ID))
	default:
		p.o.Game.Note(s.ID + " was placed by hand.")
	}
	return nil
}

// PlaceCard is like PlaceShip, for a secondary camera, which must see the ship's card. It is safe for concurrent use.
func (p *Pipeline) PlaceCard(s live.PlacedShip) error {
	return p.requestPlacing(&placing{ship: s, card: true, done: make(chan error, 1)})
}

// requestPlacing hands a ship to place to the goroutine of Run, and waits for the result.
func (p *Pipeline) requestPlacing(asked *placing) error {
	if !p.placing.CompareAndSwap(nil, asked) {
		return errors.New("another ship is being placed: try again in a moment")
	}
	select {
	case err := <-asked.done:
		return err
	case <-time.After(placeWithin):
		p.placing.CompareAndSwap(asked, nil)
		return errors.New("no picture was searched in time")
	}
}

// place adds the requested ship, if any, to those that a picture shows.
func (p *Pipeline) place(edges *EdgeSearch) {
	asked := p.placing.Swap(nil)
	if asked == nil {
		return
	}
	tracks := p.o.Game.Tracks()
	if _, known := (vision.Tracked{Tracks: tracks}).Track(asked.ship.InsteadOf); asked.ship.InsteadOf != "" && (known || !asked.card) {
		asked.done <- p.correctName(edges, asked.ship)
		return
	}
	var err error
	if !asked.card {
		_, err = edges.Place(asked.ship, tracks)
	} else if found, wrong := edges.placeByLook(asked.ship, tracks); wrong != nil || !found {
		err = cmp.Or(wrong, noCard(asked.ship.ID))
	}
	if err == nil {
		p.track.forget(asked.ship.ID) // a person's word overrides the old pose
		p.forgetNumbers(&asked.ship)
	}
	asked.done <- err
}

// forgetNumbers drops the numbers of unidentified bases that stand where a person named a ship.
func (p *Pipeline) forgetNumbers(s *live.PlacedShip) {
	for _, k := range p.ownTracks() {
		if token.Unidentified(k.Ship.ID) && token.BasesOverlap(k.Ship.Base, k.Ship.Pose, s.Base, s.Pose, standsOn) {
			p.track.forget(k.Ship.ID)
		}
	}
}
