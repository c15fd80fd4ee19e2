package flown

import (
	"fmt"
	"slices"
	"strings"

	"sightline/engine/move"
)

// Candidates are the maneuvers and actions that a ship may have executed.
type Candidates struct {
	Maneuvers []move.Maneuver
	Actions   []move.Action
}

// Every returns the candidates of a ship of unknown type: every maneuver that is on any dial, and
// every action that moves a ship along a straight or a boost's template. A pull by a tractor beam
// ends where a boost or a roll does.
func Every() Candidates {
	var c Candidates
	for b := move.Stationary; b <= move.ReverseBank; b++ {
		for speed := range 6 {
			for _, left := range []bool{true, false} {
				m := move.Maneuver{Bearing: b, Speed: speed, Left: left}
				if m.Validate() == nil && onSomeDial(m) && !slices.Contains(c.Maneuvers, m) {
					c.Maneuvers = append(c.Maneuvers, m)
				}
			}
		}
	}
	for _, a := range []string{"boost straight", "boost left", "boost right", "barrel-roll left", "barrel-roll right",
		"decloak forward", "decloak left", "decloak right"} {
		action, err := move.ParseAction(a)
		if err != nil {
			panic("flown: " + err.Error())
		}
		c.Actions = append(c.Actions, action)
	}
	return c
}

// onSomeDial reports whether any dial may have a maneuver. None has a side for a bearing without
// sides, a reverse bank faster than speed 1, or a reverse straight faster than speed 2, which the
// Quadrijet has.
func onSomeDial(m move.Maneuver) bool {
	switch m.Bearing {
	case move.Stationary, move.Straight, move.Koiogran:
		return !m.Left
	case move.ReverseStraight:
		return !m.Left && m.Speed <= 2
	case move.ReverseBank:
		return m.Speed == 1
	}
	return true
}

// bearings maps the letters of a dial's entries.
var bearings = map[byte]move.Maneuver{
	'F': {Bearing: move.Straight}, 'O': {Bearing: move.Stationary}, 'K': {Bearing: move.Koiogran},
	'B': {Bearing: move.BankTurn, Left: true}, 'N': {Bearing: move.BankTurn},
	'T': {Bearing: move.TightTurn, Left: true}, 'Y': {Bearing: move.TightTurn},
	'L': {Bearing: move.Segnor, Left: true}, 'P': {Bearing: move.Segnor},
	'E': {Bearing: move.Tallon, Left: true}, 'R': {Bearing: move.Tallon},
	'S': {Bearing: move.ReverseStraight},
	'A': {Bearing: move.ReverseBank, Left: true}, 'D': {Bearing: move.ReverseBank},
}

const dialForm = "speed, bearing (one of FBNTYKLPERSADO) and perhaps a colour (BWRPG), as in 1BB or 2F"

// ParseDial parses a dial as written in the ship data, entries separated by commas or blanks:
// "1BB,2FB,4KR". The colour is ignored and may be left out.
func ParseDial(s string) ([]move.Maneuver, error) {
	entries := strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' })
	if len(entries) == 0 {
		return nil, fmt.Errorf("dial: expected maneuvers: %s", dialForm)
	}
	var all []move.Maneuver
	for _, e := range entries {
		bad := func(why string) ([]move.Maneuver, error) {
			if len(e) > 20 {
				e = e[:20] + "…"
			}
			return nil, fmt.Errorf("dial: %q: %s", strings.ToValidUTF8(e, "\uFFFD"), why)
		}
		if n := len(e); n < 2 || n > 3 || e[0] < '0' || e[0] > '9' || n == 3 && !strings.Contains("BWRPG", e[2:]) {
			return bad("expected " + dialForm)
		}
		m, ok := bearings[e[1]]
		if !ok {
			return bad("expected " + dialForm)
		}
		m.Speed = int(e[0] - '0')
		if err := m.Validate(); err != nil {
			return bad(err.Error())
		}
		if !slices.Contains(all, m) {
			all = append(all, m)
		}
	}
	return all, nil
}
