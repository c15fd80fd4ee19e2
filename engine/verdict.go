package engine

import (
	"fmt"
	"slices"

	"sightline/engine/geom"
)

// Outcome is the answer to a question about the table. The zero value is the
// honest one: the measurement cannot decide.
type Outcome int8

// The four outcomes, with their names in result files.
const (
	Indeterminate Outcome = iota // "too_close": the margin is within the uncertainty
	Yes
	No
	NoView // "no_view": the camera does not see enough
)

// String returns the outcome as result files write it.
func (o Outcome) String() string {
	switch o {
	case Indeterminate:
		return "too_close"
	case Yes:
		return "yes"
	case No:
		return "no"
	case NoView:
		return "no_view"
	}
	return fmt.Sprintf("Outcome(%d)", int8(o))
}

// Not turns yes into no and no into yes.
func (o Outcome) Not() Outcome {
	switch o {
	case Yes:
		return No
	case No:
		return Yes
	}
	return o
}

// And is yes when both answers are, and no when either is.
func (o Outcome) And(p Outcome) Outcome {
	switch {
	case o == No || p == No:
		return No
	case o == Yes && p == Yes:
		return Yes
	case o == NoView || p == NoView:
		return NoView
	}
	return Indeterminate
}

// Or is yes when either answer is, and no when both are.
func (o Outcome) Or(p Outcome) Outcome {
	switch {
	case o == Yes || p == Yes:
		return Yes
	case o == Indeterminate || p == Indeterminate:
		return Indeterminate
	case o == NoView || p == NoView:
		return NoView
	}
	return No
}

// RangeVerdict is a measured distance and the range bands it may be.
type RangeVerdict struct {
	Distance geom.Length // from base to base, guides left out
	Sigma    geom.Length // of the margin
	Band     int         // 0 contact (2.0/2.5), 1, 2, 3, then 4, 5 … beyond; the likeliest when undecided
	Possible []int       // every band that fits the uncertainty, ascending
	Margin   geom.Length // to what would change the band: contact, which counts the guides, or the band's edge
	Outcome  Outcome     // Yes when one band is decided, else Indeterminate
	Lines    []geom.Line // the measuring line; the two extreme ones for parallel edges
	Outside  bool        // to a device: perhaps all of it lies outside the play area, and there is no range
}

// Arc is a firing arc of a ship.
type Arc int

// The arcs of 2.0/2.5, then the first edition's own.
const (
	ArcFront Arc = iota + 1
	ArcRear
	ArcLeft
	ArcRight
	ArcFullFront
	ArcFullRear
	ArcBullseye
	ArcTurret
	ArcRearAux       // 1e
	ArcFullFront180  // 1e
	ArcMobile        // 1e
	ArcDoubleTurret  // the arc opposite to the turret's, of a double turret indicator
	ArcPrimaryTurret // 1e: a turret primary weapon, which no arc limits
	ArcFront90       // 1e huge ships whose token prints a front arc of this width
	ArcFront106
	ArcFront136
)

var arcNames = [...]string{"", "front", "rear", "left", "right", "full_front", "full_rear", "bullseye", "turret", "rear_aux",
	"full_front_180", "mobile",
	"double_turret", "primary_turret", "front_90", "front_106", "front_136"}

// ArcNames returns the names of all arcs, as in scene files.
func ArcNames() []string { return slices.Clone(arcNames[1:]) }

// String returns the arc's name in scene files.
func (a Arc) String() string {
	if a < 0 || int(a) >= len(arcNames) {
		return fmt.Sprintf("Arc(%d)", int(a))
	}
	return arcNames[a]
}

// ArcVerdict says whether a ship is in an arc, and the attack range if it is.
type ArcVerdict struct {
	Arc    Arc
	InArc  Outcome
	Margin geom.Length    // signed: positive inside; mm to the arc's boundary
	Sigma  geom.Length    // of the margin
	Attack *AttackVerdict // nil when the target is not in the arc
}

// AttackVerdict is the range measured inside an arc.
type AttackVerdict struct {
	RangeVerdict
	DistanceArcStart geom.Length // when the line must start on the part of the base inside the arc
	BandArcStart     int
	Obstruction      ObstructionVerdict
}

// ObstructionVerdict says whether obstacles stand on the measuring line.
type ObstructionVerdict struct {
	Verdict string      // never, may, must, too_close; no_view when obstacles were not looked for
	By      []string    // obstacles on any permitted line, huge ships among them
	Ships   []string    // smaller ships on any permitted line; they do not obstruct
	Devices []string    // devices on any permitted line; they do not obstruct
	Margin  geom.Length // to what would change the verdict; for must, if several lines may be the measuring line, a lower bound
	Sigma   geom.Length // of the margin

	slack float64 // by how much the margin may be off
}

// PairVerdict is everything measured from one ship to another.
type PairVerdict struct {
	From, To string
	Range    RangeVerdict
	Farthest RangeVerdict // to the point of the target's base that is furthest from the ship (G12)
	Contact  Outcome      // of the outlines with guides
	Arcs     []ArcVerdict

	// Sections is what [MeasureSections] says of a huge target; measuring a scene
	// leaves it empty.
	Sections []SectionVerdict
}

// ObjectVerdict is what is measured from a ship to an obstacle, a device or a
// marker.
type ObjectVerdict struct {
	From, To string
	Kind     string
	Range    RangeVerdict
	Contact  Outcome // of the outlines with guides
	Overlap  Outcome // of the same

	obstacle bool // it stands among the obstacles or counts as one
}

// Problem is something about the scene that the rules do not allow or that makes
// its answers doubtful.
type Problem struct {
	ID      string
	Problem string
	Margin  geom.Length
}

// Result is everything measured in one scene.
type Result struct {
	Rules    Rules
	Pairs    []PairVerdict
	Objects  []ObjectVerdict
	Problems []Problem
	Standing []Standing // per ship that is in contact, overlaps something or may not do something
}

// DefaultSigmas is how many standard deviations a margin must exceed for a
// question to be decided.
const DefaultSigmas = 3

// Options control a measurement.
type Options struct {
	Sigmas float64 // 0 means DefaultSigmas

	// Touching is the first edition's relation between ships, which no scene can
	// show; nil where it is not kept.
	Touching Touching

	// MayTouch lists pairs about which Touching says nothing: in contact, they may or
	// may not touch in the first edition.
	MayTouch Touching

	// Overlapped lists pairs that are known to touch in the first edition because one has just
	// overlapped the other. It serves where the relation of all ships is not kept.
	Overlapped Touching

	// Untouched is a ship that touches none in the first edition, whatever it is in
	// contact with: it has just moved without overlapping another (G97, G98). "" for none.
	Untouched string

	// InContact lists ships that are known to be in contact, however unsure their
	// poses are: the rules place a ship that backed up so that it touches.
	InContact [][2]string
}
