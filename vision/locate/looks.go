package locate

import (
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/look"
)

// ByLook finds the base of a ship by its card, near a hint. It reports false if no look for the
// base's size is known or none fits well enough. It fails for an invalid hint or picture.
func (l *Locator) ByLook(f vision.Frame, h look.Hint, ship engine.Ship) (engine.Ship, vision.ShipView, bool, error) {
	if l.looks == nil {
		return ship, vision.ShipView{}, false, nil
	}
	sight, ok, err := l.looks.Near(f, h)
	if err != nil || !ok {
		return ship, vision.ShipView{}, false, err
	}
	found := l.looks.Ship(&sight, ship.ID, "")
	found.Player, found.Arcs, found.Turret, found.NameDoubt = ship.Player, ship.Arcs, ship.Turret, ship.NameDoubt
	found.LookDoubt = ship.LookDoubt
	if ship.Look == found.Look && ship.Seen == "look" { // a card stays in its base as it was put in
		found.TurnDoubt = found.TurnDoubt && ship.TurnDoubt
	}
	return found, l.looks.View(ship.ID, &sight), true, nil
}

// Rest passes a resting picture to the background search by the ships' cards. tracked is the
// present knowledge of it. It reports whether the search runs.
func (l *Locator) Rest(f vision.Frame, tracked *vision.Tracked) bool {
	if l.watch == nil {
		return false
	}
	var lies func(geom.Point) bool
	if o := tracked.Obstacles; o != nil {
		if o.Pending() {
			return false
		}
		if c := o.Coverage; c != nil && o.Unseen == "" {
			lies = func(p geom.Point) bool { return c.At(p) != vision.CellBare }
		}
	}
	var taken []engine.Ship
	for i := range tracked.Tracks {
		if k := &tracked.Tracks[i]; k.State.Stands() && k.Ship.Seen != "edges" {
			taken = append(taken, k.Ship)
		}
	}
	return l.watch.Rest(f, lies, taken)
}

// Ready reports whether the background search has ended.
func (l *Locator) Ready() bool { return l.watch != nil && l.watch.Ready() }

// Found returns the bases that the background search found, if it has ended, and whether a picture
// still shows what was searched.
func (l *Locator) Found(f vision.Frame) (found []look.Sight, current, ok bool) {
	if l.watch == nil {
		return nil, false, false
	}
	return l.watch.Take(f)
}

// Turned returns the cards that the background search left out whose result was taken last, because they lie a quarter turn off or have
// no base.
func (l *Locator) Turned() []*look.TurnedError {
	if l.watch == nil {
		return nil
	}
	return l.watch.Turned()
}
