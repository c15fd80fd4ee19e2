package move

import (
	"sightline/engine"
	"sightline/engine/geom"
)

// Result says where a maneuver, an action or a drop ends and what it meets.
type Result struct {
	Ship     string
	Maneuver string // as requested

	Full  geom.Pose // executed in full; for a drop, the device's
	Final geom.Pose // where it ends
	// Chosen means that the player chooses among Options and that Final has no meaning.
	// What is met is then that of the middle place; each option has its own.
	Chosen bool

	// Template is the outline of the template on the table, its round edges as chords;
	// nil without one. In the first edition's rolls, whose template slides, it is that at
	// the middle of the ship's side.
	Template []geom.Point

	FullyExecuted   bool           // the likelier answer if InFull is neither Yes nor No
	InFull          engine.Outcome // whether it is executed in full; of an action or a Tallon roll, whether it can be
	Outcome         engine.Outcome // Yes if everything here is decided, else Indeterminate, or NoView of obstacles
	FirstOverlapped []string       // ships at the full pose (G113); for a drop, ships over the device (G185)
	Touching        []string       // ships in contact at the final pose (G100, G101, G109)
	// Ships that the rules treat as overlapped: the touched ones in 1e (G112), the first
	// ones after (G113), in 2.5 only the friendly ones if there are any (G114).
	Overlapped   []string
	MovedThrough []string // ships under the template (G115, G163)
	Obstacles    []Hit    // from the nearest at the start outward (G168)
	Devices      []Hit

	Flees engine.Outcome // NoView when the mat's size is not known
	Edges []string       // the mat's edges that it crosses for sure: left, right, near, far (G201)

	// Outside says how much of a dropped device lies outside the play area, which is
	// ignored (G184): "no", "partly", "wholly" (then it has no effect), "too_close", or
	// "no_view" when the mat's size is not known; "" for other moves.
	Outside string

	// Margin is how far the question nearest to its limit is from changing (infinite if
	// nothing can be met), and Sigma its standard deviation.
	Margin, Sigma geom.Length
	Nearest       string   // that question in words; "" if there is none
	Undecided     []string // the questions that are too close to call, in words; or NotLooked

	Options []Option
}

// Hit is an obstacle or a device that a move meets with the template, with the
// base at its end, or both (G162, G181).
type Hit struct {
	ID             string
	Template, Base engine.Outcome
}

// Option is one of the end positions that the rules allow a player to choose
// from, or, in the first edition, an interval of them.
type Option struct {
	Name  string
	Final geom.Pose
	Legal engine.Outcome
	Why   string // what forbids it, or what is too close

	Obstacles, Devices []Hit // met by the template and by the base there
	Flees              engine.Outcome

	// Range: every place from From to To, in mm along the slide, is an end
	// position; Final is the one at From, FinalTo the one at To.
	Range    bool
	From, To geom.Length
	FinalTo  geom.Pose
}

// NotLooked is in Result.Undecided if obstacles were not looked for: nothing was too
// close, but there was no view.
const NotLooked = "obstacles were not looked for"
