// Package round is the game around the table: who flies what, which round and phase it is,
// whose turn, who has moved, what was flown, and the score. It is event-sourced: a game is
// its events, and [Fold] makes the present state of them. An undo is a further event.
//
// [Watch] turns what the camera sees into events: a ship that rests somewhere else has flown
// something. It says what it sees and forces nothing; people decide.
//
// There is no clock, no file and no network in here: events in, state out.
package round

import (
	"slices"

	"sightline/engine"
)

// Phase is a phase of a round.
type Phase string

// The phases. The first edition has Planning, Activation, Combat and End; 2.0 and 2.5 have
// Planning, System, Activation, Engagement and End.
const (
	Planning   Phase = "Planning"
	System     Phase = "System"
	Activation Phase = "Activation"
	Combat     Phase = "Combat"
	Engagement Phase = "Engagement"
	End        Phase = "End"
)

// Phases lists the phases of a round.
func Phases(r engine.Rules) []Phase {
	if r == engine.Rules1e {
		return []Phase{Planning, Activation, Combat, End}
	}
	return []Phase{Planning, System, Activation, Engagement, End}
}

// attacks reports whether ships attack in a phase.
func (p Phase) attacks() bool { return p == Combat || p == Engagement }

// Status says where a ship of the game is.
type Status string

// Where a ship may be.
const (
	OnTable   Status = "on the table"
	Destroyed Status = "destroyed"
	Fled      Status = "fled"
	Reserve   Status = "reserve" // on its ship card, to come back (G237)
	Docked    Status = "docked"
)

var statuses = []Status{OnTable, Destroyed, Fled, Reserve, Docked}

// gone reports whether a ship is out of the game.
func (s Status) gone() bool { return s == Destroyed || s == Fled }

// Scenario is what a game of 2.5 is played for.
type Scenario string

// The standard scenarios of 2.5, by the names that the program's commands use.
const (
	NoScenario Scenario = ""
	Assault    Scenario = "assault"
	Chance     Scenario = "chance"
	Salvage    Scenario = "salvage"
	Scramble   Scenario = "scramble"
)

var scenarios = []Scenario{NoScenario, Assault, Chance, Salvage, Scramble}

// LastRound is the last round of a game of 2.5.
const LastRound = 12

// enoughPoints are the mission points with which a lead ends a game of 2.5.
const enoughPoints = 20

// Ship is what is known of a ship before the game.
type Ship struct {
	ID         string   `json:"id"` // of its printed code or recognised base
	Player     int      `json:"player"`
	PilotID    string   `json:"pilot_id,omitempty"` // of XWS
	Pilot      string   `json:"pilot,omitempty"`
	Ship       string   `json:"ship,omitempty"`
	Base       string   `json:"base,omitempty"`
	Initiative *int     `json:"initiative,omitempty"` // pilot skill in the first edition; nil: not known
	Points     int      `json:"points,omitempty"`     // of the squad; 0: not known
	Dial       []string `json:"dial,omitempty"`       // "1BB"; none: not known
	Arcs       []string `json:"arcs,omitempty"`
	Actions    []string `json:"actions,omitempty"`
}

// huge reports whether a ship has a huge base.
func (s *Ship) huge() bool {
	b, err := engine.ParseBase(s.Base)
	return err == nil && (b == engine.Huge195 || b == engine.Huge225)
}

// Name is the ship for people: "A1 (Wedge Antilles)".
func (s *Ship) Name() string {
	if s.Pilot == "" {
		return s.ID
	}
	return s.ID + " (" + s.Pilot + ")"
}

// Player is one of the two players.
type Player struct {
	Name    string `json:"name"`
	Squad   string `json:"squad,omitempty"`
	Faction string `json:"faction,omitempty"`
}

// Start is what a game begins with.
type Start struct {
	Edition  string    `json:"edition"` // 1e, 2.0 or 2.5
	Scenario Scenario  `json:"scenario,omitempty"`
	Points   int       `json:"points,omitempty"` // of a squad at most; 0: not said
	Players  [2]Player `json:"players"`
	Ships    []Ship    `json:"ships"`
	// Objectives are those that ships take by an action, in Salvage Mission and Scramble the
	// Transmissions: the ids of the markers on the table, or numbers where they are not all seen.
	Objectives []string `json:"objectives,omitempty"`

	First int `json:"first,omitempty"` // the player with initiative, or the first player; 2.5 rolls each round
}

// Piece is a ship in the game.
type Piece struct {
	Ship
	Status Status
	Acted  bool   // in this phase
	Moved  bool   // it has executed its maneuver in this round
	Half   bool   // at half its health, which Chance Engagement scores
	Last   string // its last maneuver
	Pose   *Pose  // where it rested last; nil: not seen yet
	From   *Pose  // where it stood before that; nil: not seen

	// Speeds are what the maneuver that it executed in this round may have had as its speed,
	// further maneuvers left out (G144, G145); none: not known.
	Speeds []int

	stands *Pose // where it rested last, also after a move that was taken back; nil: not seen yet

	tapped bool // it has moved in this round by a tap, and the camera saw nothing of it yet
	strain bool // it flew a red maneuver, and none since that takes stress off: it may be stressed

	away bool // in reserve or docked, and not seen in the play area since

	stays bool // destroyed in this phase, at the present initiative: it is removed when that has passed (G236)
	dying bool // destroyed at the present initiative: it still attacks, and is removed then (G236)
}

// Pose is where a ship stands: mm and degrees in the table's frame, with its covariance in
// mm and degrees (row by row: x, y, heading).
type Pose struct {
	X          float64    `json:"x_mm"`
	Y          float64    `json:"y_mm"`
	HeadingDeg float64    `json:"heading_deg"`
	Covariance [9]float64 `json:"covariance_mm_deg"`
}

// Game is the state of a game after its events. It is a plain value: [Fold] makes another.
type Game struct {
	Start
	Rules  engine.Rules
	Round  int
	Phase  Phase
	First  int // the first player of this round; 0: not rolled yet
	Ships  []Piece
	Ended  bool
	Why    string      // why it ended, or ends after this phase; "": it continues
	Winner int         // 0: none, or not over
	Last   string      // what was flown last
	Scene  []byte      // the table as it was noted last, a scene file; nil: never
	Touch  [][2]string // ships that touch, in the first edition (G95)

	// MayTouch are the pairs that may or may not touch, should they be in
	// contact: the move was not seen, or it is too close to call.
	MayTouch [][2]string

	Scored  [][2]int // the rounds whose scenario points were confirmed, each with the player
	Numbers int64    // events

	bonus   [2]int // points that were confirmed
	acting  string // the ship that moved last in this phase
	held    bool   // somebody took back what the camera advanced: it does not advance this phase again
	current int    // the initiative that attacks now

	carriers map[string]string // which ship tows a supply cache
	markers  map[string]int    // whose marker lies on a satellite
	loose    map[string]Loose  // supply caches that were let go
}

// Piece returns a ship of the game; nil: there is none of this id.
func (g *Game) Piece(id string) *Piece {
	i := slices.IndexFunc(g.Ships, func(p Piece) bool { return p.ID == id })
	if i < 0 {
		return nil
	}
	return &g.Ships[i]
}

// Name is a ship's name for people, also of one that is not of the game.
func (g *Game) Name(id string) string {
	if p := g.Piece(id); p != nil {
		return p.Name()
	}
	return id
}
