package play

import (
	"strings"

	"sightline/engine/flown"
	"sightline/engine/move"
)

// Dial returns the maneuvers of a ship's dial; none where no game is played or the ship's data have none.
func (t *Table) Dial(ship string) []move.Maneuver {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.game == nil {
		return nil
	}
	p := t.game.Piece(ship)
	if p == nil || len(p.Dial) == 0 {
		return nil
	}
	dial, err := flown.ParseDial(strings.Join(p.Dial, ","))
	if err != nil { // the data were checked when they were read
		return nil
	}
	return dial
}
