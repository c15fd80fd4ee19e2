package live

import (
	"fmt"
	"slices"
	"strings"

	"sightline/vision/token"
)

// Play is the game that is played on the table, as far as everybody may know it. It is a
// plain value; its lists are never nil.
type Play struct {
	ID       int64      `json:"id"`       // in the log
	Round    int        `json:"round"`    // from 1
	Rounds   int        `json:"rounds"`   // after which the game ends; 0: it has no such end
	Phase    string     `json:"phase"`    // "Activation", "Combat"
	Planning bool       `json:"planning"` // dials are set: nothing may be measured under the edition's windows
	Turn     string     `json:"turn"`     // "R3 Activation: B2 next"
	Active   []string   `json:"active"`   // the ships whose turn it is
	Players  [2]string  `json:"players"`  // names
	Score    [2]int     `json:"score"`
	Ships    []PlayShip `json:"ships"`
	Last     string     `json:"last"`   // what was flown last: "B2 (Howlrunner): bank left 2"
	Ghosts   []Ghost    `json:"ghosts"` // where ships stood that were nudged
	Over     string     `json:"over"`   // why the game is over; "": it is not
	Touch    *Touch     `json:"-"`      // in the first edition; nil: it does not matter
	Printed  *Printed   `json:"-"`      // in the first edition; nil: it does not matter
}

// PlayShip is a ship of the game.
type PlayShip struct {
	ID         string   `json:"id"`
	Player     int      `json:"player"`
	Pilot      string   `json:"pilot"`                // "" where no squad says it
	Ship       string   `json:"ship"`                 // "T-65 X-wing"
	Initiative *int     `json:"initiative,omitempty"` // pilot skill in the first edition
	Status     string   `json:"status"`               // on the table, destroyed, fled, reserve, docked
	Acted      bool     `json:"acted"`                // in this phase
	Arcs       []string `json:"arcs"`                 // that it attacks in; none: not known
	Last       string   `json:"last"`                 // its last maneuver
	Stays      bool     `json:"-"`                    // it was destroyed, and is removed when its initiative has passed (G236)
}

// Ghost is where a ship stood before it was nudged.
type Ghost struct {
	ID         string  `json:"id"`
	XMM        float64 `json:"x_mm"`
	YMM        float64 `json:"y_mm"`
	HeadingDeg float64 `json:"heading_deg"`
	Text       string  `json:"text"` // "A1 stands 3.1 mm, 1.2° from where it stood"
}

// Ship returns a ship of the game; nil where there is no game, or no such ship in it.
func (p *Play) Ship(id string) *PlayShip {
	if p == nil {
		return nil
	}
	i := slices.IndexFunc(p.Ships, func(s PlayShip) bool { return s.ID == id })
	if i < 0 {
		return nil
	}
	return &p.Ships[i]
}

// Named returns a ship's id with its pilot: "A1 (Wedge Antilles)"; the id alone where no
// squad names one.
func (p *Play) Named(id string) string {
	return named(id, p.Pilot(id))
}

func named(id, pilot string) string {
	if pilot == "" {
		return id
	}
	return fmt.Sprintf("%s (%s)", id, pilot)
}

// Pilot returns a ship's pilot; "" where no squad names one.
func (p *Play) Pilot(id string) string {
	if s := p.Ship(id); s != nil && !token.Unidentified(id) { // a game of an earlier version may have such a ship
		return s.Pilot
	}
	return ""
}

// MayBe says which ships a base without a name may be: "A1 or A2", "A1 or another"; "" where there are none.
func MayBe(names []string) string {
	if len(names) == 1 {
		return names[0] + " or another"
	}
	return strings.Join(names, " or ")
}
