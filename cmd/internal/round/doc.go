// Package round holds the state of a game: the ships and players, the round and phase, whose
// turn it is, which ships have moved and how, and the score. It is event-sourced: a game is
// its events, and [Fold] computes the present state. An undo is a further event.
//
// [Watch] turns what the camera sees into events: a ship that rests in another place has
// moved. It reports and enforces nothing; people decide.
//
// The package has no clock and no I/O.
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

// The statuses of a ship.
const (
	OnTable   Status = "on the table"
	Destroyed Status = "destroyed"
	Fled      Status = "fled"
	Reserve   Status = "reserve" // on its ship card, may come back (G237)
	Docked    Status = "docked"
)

var statuses = []Status{OnTable, Destroyed, Fled, Reserve, Docked}

// gone reports whether a ship is out of the game.
func (s Status) gone() bool { return s == Destroyed || s == Fled }

// Scenario is a scenario of 2.5.
type Scenario string

// The standard scenarios of 2.5, by the names in the program's commands.
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

// enoughPoints is the number of mission points at which a leading player ends a game of 2.5.
const enoughPoints = 20

// Ship describes a ship before the game.
type Ship struct {
	ID         string   `json:"id"` // of its printed code or recognised base
	Player     int      `json:"player"`
	PilotID    string   `json:"pilot_id,omitempty"` // of XWS
	Pilot      string   `json:"pilot,omitempty"`
	Ship       string   `json:"ship,omitempty"`
	Base       string   `json:"base,omitempty"`
	Initiative *int     `json:"initiative,omitempty"` // pilot skill in the first edition; nil when unknown
	Points     int      `json:"points,omitempty"`     // of the squad; 0 when unknown
	Dial       []string `json:"dial,omitempty"`       // "1BB"; empty when unknown
	Arcs       []string `json:"arcs,omitempty"`
	Actions    []string `json:"actions,omitempty"`
}

// huge reports whether a ship has a huge base.
func (s *Ship) huge() bool {
	b, err := engine.ParseBase(s.Base)
	return err == nil && (b == engine.Huge195 || b == engine.Huge225)
}

// Name returns the ship's display name: "A1 (Wedge Antilles)".
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

// Start is the start of a game.
type Start struct {
	Edition  string    `json:"edition"` // 1e, 2.0 or 2.5
	Scenario Scenario  `json:"scenario,omitempty"`
	Points   int       `json:"points,omitempty"` // the most of a squad; 0 when not given
	Players  [2]Player `json:"players"`
	Ships    []Ship    `json:"ships"`
	// Objectives are those that ships take by an action, in Salvage Mission and Scramble the
	// Transmissions: the ids of the markers on the table, or numbers when not all are seen.
	Objectives []string `json:"objectives,omitempty"`

	First int `json:"first,omitempty"` // the player with initiative, or the first player; 2.5 rolls each round
}

// Piece is a ship in the game.
type Piece struct {
	Ship
	Track
	Status Status
	Acted  bool // in this phase
	Half   bool // at half its health, which Chance Engagement scores

	stays bool // destroyed in this phase, at the present initiative: removed when that has passed (G236)
	dying bool // destroyed at the present initiative: still attacks, and is removed then (G236)
}

// Track is what the camera saw of a ship in the game.
type Track struct {
	Moved bool   // has executed its maneuver in this round
	Last  string // its last maneuver
	Pose  *Pose  // last resting pose; nil when not seen yet
	From  *Pose  // the pose before that; nil when not seen

	// Speeds are the possible speeds of the maneuver that it executed in this round, without
	// further maneuvers (G144, G145); empty when unknown.
	Speeds []int

	stands *Pose // last resting pose, including moves that were taken back; nil when not seen yet

	tapped   bool // moved in this round by a tap, and not yet seen by the camera
	stressed bool // executed a red maneuver, and none since that removes stress: it may be stressed

	away bool // in reserve or docked, and not seen in the play area since
}

// Pose is a ship's pose: mm and degrees in the table's frame, with its covariance in mm and
// degrees (row by row: x, y, heading).
type Pose struct {
	X          float64    `json:"x_mm"`
	Y          float64    `json:"y_mm"`
	HeadingDeg float64    `json:"heading_deg"`
	Covariance [9]float64 `json:"covariance_mm_deg"`
}

// Game is the state of a game after its events.
type Game struct {
	Start
	Rules  engine.Rules
	Round  int
	Phase  Phase
	First  int // the first player of this round; 0 when not rolled yet
	Ships  []Piece
	Ended  bool
	Why    string      // why it ended, or ends after this phase; "" when it continues
	Winner int         // 0 when there is none or the game is not over
	Last   string      // the last move
	Scene  []byte      // the last recorded table, a scene file; nil for none
	Touch  [][2]string // ships that touch, in the first edition (G95)

	// MayTouch are the pairs that may touch if they are in contact: the move was not seen, or it
	// is too close to call.
	MayTouch [][2]string

	Scored  [][2]int // round and player of confirmed scenario points
	Numbers int64    // of events

	bonus   [2]int // confirmed points
	acting  string // the ship that moved last in this phase
	held    bool   // a person took back that the camera advanced: it does not advance this phase again
	current int    // the initiative that attacks now

	carriers map[string]string // the ship that tows a supply cache
	markers  map[string]int    // the player whose marker lies on a satellite
	loose    map[string]Loose  // jettisoned supply caches
}

// Piece returns the ship of the game with an id; nil for none.
func (g *Game) Piece(id string) *Piece {
	i := slices.IndexFunc(g.Ships, func(p Piece) bool { return p.ID == id })
	if i < 0 {
		return nil
	}
	return &g.Ships[i]
}

// Name returns a ship's display name, also for one that is not in the game.
func (g *Game) Name(id string) string {
	if p := g.Piece(id); p != nil {
		return p.Name()
	}
	return id
}
