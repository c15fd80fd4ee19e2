package locate

import (
	"sightline/engine"
	"sightline/vision"
	"sightline/vision/look"
)

// ByLook finds the base of a ship by its card, near a hint. It reports false where no look of the base's size is known or
// none is believed. The error says what is wrong with the hint or the picture.
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
	return found, l.looks.View(ship.ID, &sight), true, nil
}
