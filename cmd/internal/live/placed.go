package live

import (
	"fmt"
	"math"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision/token"
)

// PlacedShip is a ship that a person places because its code cannot be read. The program
// searches for its base there by its edges.
type PlacedShip struct {
	ID     string
	Player int
	Base   engine.Base
	Pose   geom.Pose
	Headed bool // the person gave a heading; else the arcs are NoView

	InsteadOf string // the ship that the base was mistaken for; "": it has no name yet
}

// ReadInsteadOf checks and sets the wrong name that a base has.
func (p *PlacedShip) ReadInsteadOf(was string) error {
	if _, err := token.CodeOfID(was); err != nil {
		return fmt.Errorf("instead_of: %w", err)
	}
	if was == p.ID {
		return fmt.Errorf("instead_of: the ship is already called %s", was)
	}
	p.InsteadOf = was
	return nil
}

// ReadPlacedShip checks what a person said of a ship. heading may be nil.
func ReadPlacedShip(id, base string, x, y, heading *float64) (PlacedShip, error) {
	code, err := token.CodeOfID(id)
	if err != nil {
		return PlacedShip{}, err
	}
	p := PlacedShip{ID: id, Player: code.Player(), Headed: heading != nil}
	if p.Base, err = engine.ParseBase(base); err != nil {
		return PlacedShip{}, err
	}
	if _, err := token.NewToken(code, p.Base); err != nil {
		return PlacedShip{}, err
	}
	for _, c := range []struct {
		name     string
		from, to *float64
	}{{"x_mm", x, &p.Pose.X}, {"y_mm", y, &p.Pose.Y}} {
		if c.from == nil || !(math.Abs(*c.from) <= 10000) {
			return PlacedShip{}, fmt.Errorf("%s: expected a place on the mat in millimetres", c.name)
		}
		*c.to = *c.from
	}
	if heading != nil {
		if !(math.Abs(*heading) <= 3600) {
			return PlacedShip{}, fmt.Errorf("heading_deg: expected an angle in degrees, got %g", *heading)
		}
		p.Pose.Heading = (geom.Angle(*heading) * geom.Degree).Normalized()
	}
	return p, nil
}
