package live

import (
	"fmt"
	"slices"
	"strings"

	"sightline/vision/token"
)

// Play is the public part of the game on the table. It is a plain value; its lists are never
// nil.
type Play struct {
	ID       int64      `json:"id"`       // in the log
	Round    int        `json:"round"`    // from 1
	Rounds   int        `json:"rounds"`   // of the game; 0: no limit
	Phase    string     `json:"phase"`    // "Activation", "Combat"
	Planning bool       `json:"planning"` // players set dials: the edition lets no one measure
	Turn     string     `json:"turn"`     // "R3 Activation: B2 next"
	Active   []string   `json:"active"`   // the ships whose turn it is
	Players  [2]string  `json:"players"`  // names
	Score    [2]int     `json:"score"`
	Ships    []PlayShip `json:"ships"`
	Last     string     `json:"last"`   // what was flown last: "B2 (Howlrunner): bank left 2"
	Ghosts   []Ghost    `json:"ghosts"` // where nudged ships stood
	Over     string     `json:"over"`   // why the game is over; "": it is not
	Touch    *Touch     `json:"-"`      // first edition only
	Printed  *Printed   `json:"-"`      // first edition only
}

// PlayShip is a ship of the game.
type PlayShip struct {
	ID         string   `json:"id"`
	Player     int      `json:"player"`
	Pilot      string   `json:"pilot"`                // "" without a squad
	Ship       string   `json:"ship"`                 // "T-65 X-wing"
	Initiative *int     `json:"initiative,omitempty"` // pilot skill in the first edition
	Status     string   `json:"status"`               // on the table, destroyed, fled, reserve, docked
	Acted      bool     `json:"acted"`                // in this phase
	Arcs       []string `json:"arcs"`                 // of its primary weapons; none: not known
	Last       string   `json:"last"`                 // its last maneuver
	Stays      bool     `json:"-"`                    // destroyed, and removed once its initiative has passed (G236)
}

// Ghost is where a ship stood before it was nudged.
type Ghost struct {
	ID         string  `json:"id"`
	XMM        float64 `json:"x_mm"`
	YMM        float64 `json:"y_mm"`
	HeadingDeg float64 `json:"heading_deg"`
	Text       string  `json:"text"` // "A1 stands 3.1 mm, 1.2° from where it stood"
}

// Touches returns which ships touch, as far as a game knows; nil: nothing is known.
func (p *Play) Touches() *Touch {
	if p == nil {
		return nil
	}
	return p.Touch
}

// PrintedArcs returns the arcs that the tokens of a game show; nil: none are known.
func (p *Play) PrintedArcs() *Printed {
	if p == nil {
		return nil
	}
	return p.Printed
}

// Ship returns a ship of the game; nil if there is no game or no such ship.
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

// Named returns a ship's id with its pilot, if one is known: "A1 (Wedge Antilles)".
func (p *Play) Named(id string) string {
	return named(id, p.Pilot(id))
}

func named(id, pilot string) string {
	if pilot == "" {
		return id
	}
	return fmt.Sprintf("%s (%s)", id, pilot)
}

// Pilot returns a ship's pilot; "" when not known.
func (p *Play) Pilot(id string) string {
	if s := p.Ship(id); s != nil && !token.Unidentified(id) { // games recorded by earlier versions may have such ships
		return s.Pilot
	}
	return ""
}

// OutOfPlay says why a ship is out of the game or of the play area, though its base may still
// stand on the table: "A1 is destroyed"; "": it is in play.
func (p *Play) OutOfPlay(id string) string {
	s := p.Ship(id)
	switch {
	case s == nil || s.Status == "" || s.Status == "on the table" || s.Stays:
		return ""
	case s.Status == "reserve":
		return id + " is in reserve"
	case s.Status == "fled":
		return id + " has fled"
	}
	return id + " is " + s.Status
}

// game returns the game from which the shown answers follow: of a held picture, the game as it stood then, as a judge sees it.
func (s *State) game() *Play {
	if s.Hold != nil {
		return s.Hold.Play
	}
	return s.Play
}

// PossibleShips says which ships an unidentified base may be: "A1 or A2", "A1 or another"; "" for none.
func PossibleShips(names []string) string {
	if len(names) == 1 {
		return names[0] + " or another"
	}
	return strings.Join(names, " or ")
}
