// Package engine answers the geometric questions of the X-Wing rules: a [Scene]
// goes in, verdicts come out. It does no input or output, keeps no clock, starts
// no goroutine and draws no random number: the same scene gives the same verdict,
// every time.
//
// Lengths are millimetres and angles radians; the frame is that of package geom. Package
// scenefile reads and writes the scenes of files, in degrees.
package engine

import (
	"fmt"

	"sightline/engine/geom"
	"sightline/engine/internal/pieces"
)

// Rules is an edition of the rules.
type Rules int

// The editions, and the zero value for one that was not stated.
const (
	RulesUnknown Rules = iota
	Rules1e            // first edition
	Rules20            // second edition, 2.0
	Rules25            // second edition, 2.5
)

var rulesNames = [...]string{"", "1e", "2.0", "2.5"}

// String returns the edition as scene files write it: "1e", "2.0", "2.5".
func (r Rules) String() string {
	if r < 0 || int(r) >= len(rulesNames) {
		return fmt.Sprintf("Rules(%d)", int(r))
	}
	return rulesNames[r]
}

// ParseRules reads an edition's name.
func ParseRules(s string) (Rules, error) {
	for i, n := range rulesNames {
		if i > 0 && n == s {
			return Rules(i), nil
		}
	}
	return RulesUnknown, fmt.Errorf("rules: expected 1e, 2.0 or 2.5, got %q", s)
}

// Base is the size of a ship's plastic base.
type Base int

// The bases, and the zero value for one that was not stated.
const (
	BaseUnknown Base = iota
	Small
	Medium
	Large
	Huge195 // GR-75, Gozanti, C-ROC
	Huge225 // CR90, Raider
)

var baseNames = [...]string{"", "small", "medium", "large", "huge-195", "huge-225"}

// String returns the base's name in scene files: "small", "huge-195".
func (b Base) String() string {
	if b < 0 || int(b) >= len(baseNames) {
		return fmt.Sprintf("Base(%d)", int(b))
	}
	return baseNames[b]
}

// ParseBase reads a base's name.
func ParseBase(s string) (Base, error) {
	for i, n := range baseNames {
		if i > 0 && n == s {
			return Base(i), nil
		}
	}
	return BaseUnknown, fmt.Errorf("base: expected small, medium, large, huge-195 or huge-225, got %q", s)
}

// Size returns the base's nominal width (across the heading) and length (along
// it), guides left out (rules/dimensions 1.1).
func (b Base) Size() (width, length geom.Length) {
	switch b {
	case Small:
		return 40 * geom.Millimeter, 40 * geom.Millimeter
	case Medium:
		return 60 * geom.Millimeter, 60 * geom.Millimeter
	case Large:
		return 80 * geom.Millimeter, 80 * geom.Millimeter
	case Huge195:
		return 80 * geom.Millimeter, 195 * geom.Millimeter
	case Huge225:
		return 80 * geom.Millimeter, 224.8 * geom.Millimeter
	}
	return 0, 0
}

// Corners returns its corners at a pose, at its nominal size: front left, front right, rear right, rear left.
func (b Base) Corners(at geom.Pose) []geom.Point {
	p := Nominal()
	return p.Corners(b, at)
}

// Huge reports whether it is the base of a huge ship (G212).
func (b Base) Huge() bool { return b == Huge195 || b == Huge225 }

// Scene is the table at one instant, in the frame of package geom.
type Scene struct {
	Rules   Rules
	Profile string // name of the dimension profile; "" means nominal

	// Dimensions, when not nil, is the profile itself, with a user's own values in
	// place of the named one's.
	Dimensions *Profile

	MatWidth, MatHeight geom.Length // 0: not known, and nothing is said about the play area
	ScaleSigma          float64     // relative error of scale that all distances share

	Ships     []Ship
	Obstacles []Obstacle

	// ObstaclesUnseen says that obstacles were not looked for, as in a scene from a
	// camera without a list of obstacles: an empty list then says nothing, and
	// obstruction is NoView.
	ObstaclesUnseen bool

	// Unknown is where something lies that may or may not be an
	// obstacle, on the table: a line across it is not called clear.
	Unknown []geom.Polygon

	// Blind is where the camera would not have noticed an obstacle: nothing that lies
	// there is listed, and a line across it is not called clear.
	Blind []BlindArea

	Devices []Token
	Markers []Token
}

// Ship is one ship on the table. Range and arcs are measured from its base.
type Ship struct {
	ID         string
	Player     int // 1 or 2; 0 when not known
	Base       Base
	Pose       geom.Pose // centre of the base, direction of the nose
	Covariance geom.Cov3 // of the pose, systematic part included; zero: exact

	Arcs   []string // what the token prints beyond the standard arcs
	Turret string   // front, rear, left, right; "" when there is none

	part []geom.Point // the part of the base that is measured, in its own frame; nil: all of it (G54)

	// Quarters says that the heading is known only up to quarter turns, or half turns for a
	// huge base: the base was found by its edges alone, which look the same on all sides.
	// Ranges are answered; arcs and sections are NoView, and the ship cannot be moved.
	Quarters bool

	// Look is the name of the saved look by which a camera found the ship; "" for none.
	// LookDoubt says that its card may be another of the same layout, which was never shown.
	// TurnDoubt says that its card may lie a quarter turn off in its base, whose guides were
	// not seen well enough. The heading is the card's, which arcs are measured from.
	// NameDoubt lists the ships that it may be, if its ID is a number instead of a name.
	Look      string
	LookDoubt bool
	TurnDoubt bool
	NameDoubt []string

	Seen    string  // what located it: "token", "edges", "both", "look", or "mark", a person's; "" when not from a camera
	Visible float64 // visible share of its outline, 0…1; 0 when not from a camera
}

// BlindArea is a part of the table where it is not known whether an obstacle lies.
type BlindArea struct {
	Outline geom.Polygon // on the table, mm
	Why     string       // in a few words, "glare"; "" when not known
}

// Obstacle is an asteroid, a debris cloud or a gas cloud.
type Obstacle struct {
	ID      string
	Kind    string // asteroid, debris, gas
	Pose    geom.Pose
	Outline []geom.Point // simple polygon in the obstacle's own frame, mm
	Sigma   geom.Length  // of its outline on the table
}

// Token is a device (bomb, mine, remote) or a scenario's marker on the table.
type Token struct {
	ID     string
	Kind   string // bomb, satellite …
	Player int    // 1 or 2; 0 when not known or neither player's
	Pose   geom.Pose

	Outline []geom.Point // as an obstacle's, guides included; none: that of its kind
	Sigma   geom.Length  // of its outline on the table
}

// TokenOutlines returns the outlines of a device or a marker of a kind in its own
// frame, guides included, one per card that it is made of; nil for a kind whose
// size is not known. Lower-case names, words joined by _, - or a space.
func TokenOutlines(kind string) [][]geom.Point { return pieces.Outlines(kind) }

// TokenKinds lists the kinds that TokenOutlines knows, in alphabetical order.
func TokenKinds() []string { return pieces.Kinds() }
