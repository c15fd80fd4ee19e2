package flown

import (
	"fmt"
	"slices"
	"strings"

	"sightline/engine"
)

// Candidates are what a ship may have flown.
type Candidates struct {
	Maneuvers []engine.Maneuver
	Actions   []engine.Action
}

// Every returns every maneuver that is on any ship's dial and every action that moves a
// ship along a straight or a boost's template: what a ship of an unknown kind may have flown. A pull by a tractor
// beam ends where a boost or a roll does.
func Every() Candidates {
	var c Candidates
	for b := engine.Stationary; b <= engine.ReverseBank; b++ {
		for speed := range 6 {
			for _, left := range []bool{true, false} {
				m := engine.Maneuver{Bearing: b, Speed: speed, Left: left}
				if m.Validate() == nil && onSomeDial(m) && !slices.Contains(c.Maneuvers, m) {
					c.Maneuvers = append(c.Maneuvers, m)
				}
			}
		}
	}
	for _, a := range []string{"boost straight", "boost left", "boost right", "barrel-roll left", "barrel-roll right",
		"decloak forward", "decloak left", "decloak right"} {
		action, err := engine.ParseAction(a)
		if err != nil {
			panic("flown: " + err.Error())
		}
		c.Actions = append(c.Actions, action)
	}
	return c
}

// onSomeDial leaves out what no dial has: a side where a bearing has none, and reversing
// faster than at speed 1.
func onSomeDial(m engine.Maneuver) bool {
	switch m.Bearing {
	case engine.Stationary, engine.Straight, engine.Koiogran:
		return !m.Left
	case engine.ReverseStraight:
		return !m.Left && m.Speed == 1
	case engine.ReverseBank:
		return m.Speed == 1
	}
	return true
}

// bearings are the letters of a dial's entries.
var bearings = map[byte]engine.Maneuver{
	'F': {Bearing: engine.Straight}, 'O': {Bearing: engine.Stationary}, 'K': {Bearing: engine.Koiogran},
	'B': {Bearing: engine.BankTurn, Left: true}, 'N': {Bearing: engine.BankTurn},
	'T': {Bearing: engine.TightTurn, Left: true}, 'Y': {Bearing: engine.TightTurn},
	'L': {Bearing: engine.Segnor, Left: true}, 'P': {Bearing: engine.Segnor},
	'E': {Bearing: engine.Tallon, Left: true}, 'R': {Bearing: engine.Tallon},
	'S': {Bearing: engine.ReverseStraight},
	'A': {Bearing: engine.ReverseBank, Left: true}, 'D': {Bearing: engine.ReverseBank},
}

const dialForm = "speed, bearing (one of FBNTYKLPERSADO) and perhaps a colour (BWRPG), as in 1BB or 2F"

// ParseDial reads a dial as the data of ships write it, entries with commas or blanks between
// them: "1BB,2FB,4KR". The colour does not count here and may be left out.
func ParseDial(s string) ([]engine.Maneuver, error) {
	entries := strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' })
	if len(entries) == 0 {
		return nil, fmt.Errorf("dial: expected maneuvers: %s", dialForm)
	}
	var all []engine.Maneuver
	for _, e := range entries {
		bad := func(why string) ([]engine.Maneuver, error) {
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
