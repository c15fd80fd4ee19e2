package move

import (
	"errors"
	"fmt"
	"sightline/engine/internal/pieces"
	"strconv"
	"strings"
)

// Bearing is what a maneuver does.
type Bearing int

// The bearings (G126 to G140).
const (
	Stationary      Bearing = iota // G139
	Straight                       //
	BankTurn                       // a bank (G126)
	TightTurn                      // a turn (G127)
	Koiogran                       // straight, then about (G128)
	Segnor                         // bank, then about (G129)
	Tallon                         // turn, then 90° the same way (G130 to G133)
	ReverseStraight                // G140
	ReverseBank                    // G140
)

// Slide is the place on the end of a template at which a ship is set, as seen along the
// template.
type Slide int

// The three places of 2.0 and 2.5, and none chosen.
const (
	SlideUnchosen Slide = iota
	SlideLeft
	SlideMiddle
	SlideRight
)

var slideNames = [...]string{"", "left", "middle", "right"}

// Maneuver is a maneuver of a dial.
type Maneuver struct {
	Bearing Bearing
	Speed   int // of the template; 0 when stationary
	Left    bool
	Slide   Slide // Tallon roll only
}

var bearingNames = [...]string{"stationary", "straight", "bank", "turn", "koiogran", "segnor", "tallon", "reverse straight", "reverse bank"}

// sided reports whether a bearing has a left and a right form.
func (b Bearing) sided() bool {
	return b == BankTurn || b == TightTurn || b == Segnor || b == Tallon || b == ReverseBank
}

// String returns the maneuver as move files write it: "tallon left 3 middle".
func (m Maneuver) String() string {
	if m.Bearing < 0 || int(m.Bearing) >= len(bearingNames) {
		return fmt.Sprintf("Maneuver(%d)", int(m.Bearing))
	}
	s := bearingNames[m.Bearing]
	if m.Bearing.sided() {
		s += " " + sideName(m.Left)
	}
	if m.Bearing != Stationary {
		s += " " + strconv.Itoa(m.Speed)
	}
	if m.Slide > SlideUnchosen && int(m.Slide) < len(slideNames) {
		s += " " + slideNames[m.Slide]
	}
	return s
}

func sideName(left bool) string {
	if left {
		return "left"
	}
	return "right"
}

// template returns the maneuver's template; a reverse bank's is seen from behind.
func (m Maneuver) template() Template {
	t := Template{Speed: m.Speed, Left: m.Left}
	switch m.Bearing {
	case BankTurn, Segnor:
		t.Kind = TemplateBank
	case ReverseBank:
		t.Kind, t.Left = TemplateBank, !m.Left
	case TightTurn, Tallon:
		t.Kind = TemplateTurn
	}
	return t
}

// Validate returns an error for a maneuver that does not exist.
func (m Maneuver) Validate() error {
	switch {
	case m.Bearing < Stationary || m.Bearing > ReverseBank:
		return errors.New("maneuver: expected " + maneuverForms)
	case m.Slide < SlideUnchosen || m.Slide > SlideRight || m.Slide != SlideUnchosen && m.Bearing != Tallon:
		return errors.New("maneuver: only a tallon roll ends left, middle or right")
	case m.Bearing == Stationary:
		if m.Speed != 0 {
			return fmt.Errorf("maneuver: stationary: expected speed 0, got %d", m.Speed)
		}
		return nil
	}
	if err := m.template().Validate(); err != nil {
		return fmt.Errorf("maneuver: %s: %w", bearingNames[m.Bearing], err)
	}
	return nil
}

const maneuverForms = "straight N, bank|turn|segnor left|right N, koiogran N, tallon left|right N [left|middle|right], " +
	"stationary, reverse straight N or reverse bank left|right N"

// spoken returns the words of a maneuver or an action in lower case, with players' other
// names replaced by ours: a K-turn is a koiogran, a Tallon roll a tallon.
func spoken(s string) []string {
	s = strings.Join(strings.Fields(strings.ToLower(strings.ReplaceAll(s, "_", " "))), " ")
	for _, alias := range [...][2]string{
		{"k-turn", "koiogran"}, {"koiogran turn", "koiogran"}, {"segnor's loop", "segnor"}, {"segnors loop", "segnor"},
		{"tallon roll", "tallon"}, {"barrel roll", "barrel-roll"}, {"stop", "stationary"},
	} {
		if rest, ok := strings.CutPrefix(s, alias[0]); ok && (rest == "" || rest[0] == ' ') {
			s = alias[1] + rest
		}
	}
	return strings.Fields(s)
}

// ParseManeuver reads a maneuver: "straight 2", "bank left 1", "tallon right 3
// middle", "reverse bank left 1", "stationary".
func ParseManeuver(s string) (Maneuver, error) {
	bad := func(why string) (Maneuver, error) {
		return Maneuver{}, fmt.Errorf("maneuver %q: %s; expected %s", pieces.ShortName(s), why, maneuverForms)
	}
	words := spoken(s)
	if len(words) == 0 {
		return bad("nothing there")
	}
	if words[0] == "slam" {
		return bad("a SLAM executes a maneuver of the speed that the ship has executed: ask for that maneuver")
	}
	name := words[0]
	words = words[1:]
	if name == "reverse" && len(words) > 0 {
		name += " " + words[0]
		words = words[1:]
	}
	m := Maneuver{Bearing: -1}
	for b, n := range bearingNames {
		if n == name {
			m.Bearing = Bearing(b)
		}
	}
	if m.Bearing < 0 {
		return bad("no such maneuver")
	}
	if m.Bearing.sided() {
		if len(words) == 0 || words[0] != "left" && words[0] != "right" {
			return bad("no side")
		}
		m.Left = words[0] == "left"
		words = words[1:]
	}
	if m.Bearing != Stationary || len(words) > 0 {
		if len(words) == 0 || len(words[0]) != 1 || words[0][0] < '0' || words[0][0] > '9' {
			return bad("no speed")
		}
		m.Speed = int(words[0][0] - '0')
		words = words[1:]
	}
	if m.Bearing == Tallon && len(words) > 0 {
		for i, n := range slideNames {
			if i > 0 && n == words[0] {
				m.Slide = Slide(i)
			}
		}
		if m.Slide == SlideUnchosen {
			return bad("no such place on the template's end")
		}
		words = words[1:]
	}
	if len(words) > 0 {
		return bad("too many words")
	}
	if err := m.Validate(); err != nil {
		return Maneuver{}, fmt.Errorf("maneuver %q: %w", pieces.ShortName(s), err)
	}
	return m, nil
}

// ActionKind is a movement that is not a maneuver (G156).
type ActionKind int

// The actions that move a ship.
const (
	BarrelRoll ActionKind = iota // G147 to G154
	Boost                        // G155
	Decloak                      // G157, G158
	Tractor                      // by an opponent's tractor beam, onto obstacles if they like (G159 to G161)
)

// Direction is where an action is declared to go (G88, G91).
type Direction int

// The declared directions.
const (
	ToLeft Direction = iota
	ToRight
	Forward
)

// Bend is the side to which a bank template bends that some pilots' cards allow instead of
// a straight one (G92): for a roll the front or the back of the ship, for decloaking
// forward its left or right.
type Bend int

// The bends, and none: a straight template.
const (
	NoBend Bend = iota
	BendForward
	BendBackward
	BendLeft
	BendRight
)

var bendNames = [...]string{"", "bank forward", "bank backward", "bank left", "bank right"}

// Action is a barrel roll, a boost, a decloaking or a pull by a tractor beam, and
// its declared direction (G88, G91, G92).
type Action struct {
	Kind ActionKind
	To   Direction
	Bend Bend // of a barrel roll or a decloaking along a bank template
}

const actionForms = "barrel-roll left|right [bank forward|backward], boost straight|left|right, " +
	"decloak left|right [bank forward|backward], decloak forward [bank left|right] or tractor left|right|forward"

var actionKinds = [...]string{"barrel-roll", "boost", "decloak", "tractor"}

// direction returns the word for an action's declared direction; "" if the action has
// no such direction.
func (a Action) direction() string {
	switch {
	case a.To == ToLeft:
		return "left"
	case a.To == ToRight:
		return "right"
	case a.To != Forward || a.Kind == BarrelRoll:
		return ""
	case a.Kind == Boost:
		return "straight"
	}
	return "forward"
}

// valid reports whether an action exists.
func (a Action) valid() bool {
	if a.Kind < BarrelRoll || a.Kind > Tractor || a.direction() == "" {
		return false
	}
	switch a.Bend {
	case NoBend:
		return true
	case BendForward, BendBackward:
		return (a.Kind == BarrelRoll || a.Kind == Decloak) && a.To != Forward
	case BendLeft, BendRight:
		return a.Kind == Decloak && a.To == Forward
	}
	return false
}

// String returns the action as move files write it: "barrel-roll left".
func (a Action) String() string {
	if !a.valid() {
		return fmt.Sprintf("Action(%d, %d, %d)", int(a.Kind), int(a.To), int(a.Bend))
	}
	s := actionKinds[a.Kind] + " " + a.direction()
	if a.Bend != NoBend {
		s += " " + bendNames[a.Bend]
	}
	return s
}

// ParseAction reads an action: "barrel-roll left", "boost straight", "decloak
// forward", "barrel-roll left bank forward".
func ParseAction(s string) (Action, error) {
	asked := strings.Join(spoken(s), " ")
	if strings.HasPrefix(asked, "slam") {
		return Action{}, fmt.Errorf("action %q: a SLAM executes a maneuver of the speed that the ship has executed: ask for that "+
			"maneuver", pieces.ShortName(s))
	}
	for k := BarrelRoll; k <= Tractor; k++ {
		for to := ToLeft; to <= Forward; to++ {
			for b := NoBend; b <= BendRight; b++ {
				if a := (Action{k, to, b}); a.valid() && a.String() == asked {
					return a, nil
				}
			}
		}
	}
	return Action{}, fmt.Errorf("action %q: expected %s", pieces.ShortName(s), actionForms)
}

// Drop is a device dropped along a template from the rear guides (G182, G195), or
// launched from the front ones (G195).
type Drop struct {
	Template Template
	Device   string // its kind; "" is a bomb
	Launch   bool
}

const dropForms = "[launch] straight N or bank|turn left|right N, and a device's kind where it is not a bomb"

// String returns the drop as ParseDrop reads it: "bank left 1", "straight 1 proximity_mine".
func (d Drop) String() string {
	s := Maneuver{Bearing: Straight + Bearing(d.Template.Kind), Speed: d.Template.Speed, Left: d.Template.Left}.String()
	if d.Launch {
		s = "launch " + s
	}
	if d.Device != "" {
		s += " " + d.Device
	}
	return s
}

// ParseDrop reads a drop: "straight 1", "bank left 1", "straight 1 proximity_mine",
// or a launch: "launch straight 5". A bend to the left is to the ship's own left.
func ParseDrop(s string) (Drop, error) {
	words := strings.Fields(strings.ToLower(s))
	launch := len(words) > 0 && words[0] == "launch"
	if launch {
		words = words[1:]
	}
	n := min(2, len(words))
	if len(words) > 2 && words[0] != "straight" {
		n = 3
	}
	m, err := ParseManeuver(strings.Join(words[:n], " "))
	if err != nil || m.Bearing < Straight || m.Bearing > TightTurn {
		return Drop{}, fmt.Errorf("drop %q: expected %s", pieces.ShortName(s), dropForms)
	}
	d := Drop{Template: m.template(), Device: strings.Join(words[n:], "_"), Launch: launch}
	if d.Device != "" {
		if pieces.Outlines(d.Device) == nil {
			return Drop{}, fmt.Errorf("drop %q: no such device %q, expected one of %s", pieces.ShortName(s),
				pieces.ShortName(d.Device), strings.Join(pieces.Kinds(), ", "))
		}
	}
	return d, nil
}
