package hardware_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/hardware"
)

var start = time.Unix(1000, 0)

func world() hardware.World {
	return hardware.World{
		Ships: []hardware.Choosable{{ID: "A1", Player: 1}, {ID: "A2", Player: 1}, {ID: "B1", Player: 2}, {ID: "B2", Player: 2}},
		From:  "A1", To: "B1", Arc: "front", Arcs: []string{"front", "bullseye"},
		Edition: "2.5", Editions: []string{"1e", "2.0", "2.5"},
		CanFreeze: true, CanJudge: true, CanEdition: true, Address: "http://192.168.178.25:8080/",
	}
}

// keys plays inputs, written as letters: r, l turn; p, P push and hold the knob; c, C
// choose; f, F freeze. It returns the menu and every command.
func keys(w hardware.World, inputs string) (m hardware.Menu, all []hardware.Command) {
	for i, k := range inputs {
		in := map[rune]hardware.Input{
			'r': hardware.TurnRight, 'l': hardware.TurnLeft, 'p': hardware.PushKnob, 'P': hardware.HoldKnob,
			'c': hardware.PushChoose, 'C': hardware.HoldChoose, 'f': hardware.PushFreeze, 'F': hardware.HoldFreeze,
		}[k]
		var commands []hardware.Command
		m, commands = m.Handle(in, w, start.Add(time.Duration(i)*time.Second))
		all = append(all, commands...)
	}
	return m, all
}

// seen writes a screen as one line.
func seen(m hardware.Menu, w hardware.World) string {
	s := m.Screen(w, start)
	switch s.Kind {
	case hardware.ScreenAnswer:
		return "answer " + string(rune('1'+s.Page))
	case hardware.ScreenList:
		return s.Title + " " + s.Items[s.Selected]
	case hardware.ScreenAddress:
		return s.Address
	}
	return s.Title
}

func TestMenu(t *testing.T) {
	choose := func(from, to, arc string) []hardware.Command {
		return []hardware.Command{{Kind: hardware.CommandChoose, From: from, To: to, Arc: arc}}
	}
	frozen := func(w *hardware.World) { w.Frozen = true }
	guarded := func(w *hardware.World) { w.Frozen, w.Held, w.Guarded = true, 7, true }
	for name, c := range map[string]struct {
		keys     string
		change   func(*hardware.World)
		seen     string
		commands []hardware.Command
	}{
		"untouched: the answer":              {"", nil, "answer 1", nil},
		"turning pages through the answer":   {"r", nil, "answer 2", nil},
		"and round":                          {"rr", nil, "answer 1", nil},
		"the other way too":                  {"l", nil, "answer 2", nil},
		"choose: the attacker, as it is":     {"c", nil, "Attacker? A1", nil},
		"choose: another attacker":           {"cr", nil, "Attacker? A2", nil},
		"choose: then its target":            {"crc", nil, "Target of A2? B1", nil},
		"choose: the pair":                   {"crcrc", nil, "answer 1", choose("A2", "B2", "front")},
		"own ships may be targets too, last": {"cprrrrr", nil, "Target of A1? A2", nil},
		"the knob takes as choose does":      {"cpp", nil, "answer 1", choose("A1", "B1", "front")},
		"freeze goes back a step":            {"ccf", nil, "Attacker? A1", nil},
		"and out":                            {"ccff", nil, "answer 1", nil},
		"freeze holds the answer":            {"f", nil, "answer 1", []hardware.Command{{Kind: hardware.CommandFreeze}}},
		"freeze lets it go":                  {"f", frozen, "answer 1", []hardware.Command{{Kind: hardware.CommandRelease}}},
		"what waits for a judge: a question": {"f", guarded, "Judge called stay held", nil},
		"and freeze again keeps it":          {"ff", guarded, "answer 1", nil},
		"a push keeps it":                    {"fp", guarded, "answer 1", nil},
		"only a second word lets it go":      {"frp", guarded, "answer 1", []hardware.Command{{Kind: hardware.CommandRelease, Held: 7}}},
		"from the menu too":                  {"prrrprp", guarded, "answer 1", []hardware.Command{{Kind: hardware.CommandRelease, Held: 7}}},
		"nothing to freeze":                  {"f", func(w *hardware.World) { w.CanFreeze = false }, "answer 1", nil},
		"holding freeze calls a judge":       {"F", nil, "Judge called", []hardware.Command{{Kind: hardware.CommandJudge}}},
		"from within a list too":             {"ccF", nil, "Judge called", []hardware.Command{{Kind: hardware.CommandJudge}}},
		"no judge, no question":              {"F", func(w *hardware.World) { w.CanJudge = false }, "answer 1", nil},
		"a push shows the answer again":      {"Fp", nil, "answer 1", []hardware.Command{{Kind: hardware.CommandJudge}}},
		"the knob opens the menu":            {"p", nil, "Menu attacker A1", nil},
		"menu: target":                       {"prp", nil, "Target of A1? B1", nil},
		"menu: a target needs an attacker":   {"prp", func(w *hardware.World) { w.From = "" }, "Attacker? A1", nil},
		"menu: arc":                          {"prrprp", nil, "answer 1", choose("A1", "B1", "bullseye")},
		"menu: freeze":                       {"prrrp", nil, "answer 1", []hardware.Command{{Kind: hardware.CommandFreeze}}},
		"menu: go on":                        {"prrr", frozen, "Menu release", nil},
		"menu: judge":                        {"prrrrp", nil, "Judge called", []hardware.Command{{Kind: hardware.CommandJudge}}},
		"menu: edition": {"prrrrrplp", nil, "answer 1", []hardware.Command{{Kind: hardware.CommandEdition,
			Edition: "2.0"}}},
		"menu: address":                          {"prrrrrrp", nil, "http://192.168.178.25:8080/", nil},
		"menu: back":                             {"prrrrrrrp", nil, "answer 1", nil},
		"a list ends":                            {"plll", nil, "Menu attacker A1", nil},
		"holding the knob is home":               {"prrP", nil, "answer 1", nil},
		"nobody on the table":                    {"c", func(w *hardware.World) { w.Ships = nil }, "Attacker?", nil},
		"nobody on the table: a push leads home": {"cp", func(w *hardware.World) { w.Ships = nil }, "answer 1", nil},
	} {
		t.Run(name, func(t *testing.T) {
			w := world()
			if c.change != nil {
				c.change(&w)
			}
			m, commands := keys(w, c.keys)
			assert.Equal(t, c.seen, seen(m, w))
			assert.Equal(t, c.commands, commands)
		})
	}
}

func TestTheMenuClosesWhenIdle(t *testing.T) {
	w := world()
	m, _ := keys(w, "p")
	assert.Equal(t, hardware.ScreenList, m.Screen(w, start.Add(hardware.MenuIdle-1)).Kind)
	assert.Equal(t, hardware.ScreenAnswer, m.Screen(w, start.Add(hardware.MenuIdle)).Kind)
	after, commands := m.Handle(hardware.PushKnob, w, start.Add(time.Hour))
	assert.Empty(t, commands, "a push an hour later opens the menu; it does not take what was selected then")
	assert.Equal(t, "Attacker", strings.ToUpper(after.Screen(w, start.Add(time.Hour)).Items[0][:1])+after.Screen(w,
		start.Add(time.Hour)).Items[0][1:8])
}

// A ship that goes out of sight while it is selected is never mistaken for the one
// that takes its place in the list.
func TestADisappearedSelectionIsNotTakenForAnother(t *testing.T) {
	w := world()
	m, _ := keys(w, "cp") // target of A1: B1
	w.Ships = append(w.Ships[:2:2], w.Ships[3])
	m, commands := m.Handle(hardware.PushKnob, w, start)
	assert.Empty(t, commands)
	assert.Equal(t, "Target of A1? B2", seen(m, w))
	_, commands = m.Handle(hardware.PushKnob, w, start)
	assert.Equal(t, []hardware.Command{{Kind: hardware.CommandChoose, From: "A1", To: "B2", Arc: "front"}}, commands)
}

func TestANewShipDoesNotMoveTheSelection(t *testing.T) {
	w := world()
	m, _ := keys(w, "cr")
	require.Equal(t, "Attacker? A2", seen(m, w))
	w.Ships = append([]hardware.Choosable{{ID: "A0", Player: 1}}, w.Ships...)
	assert.Equal(t, "Attacker? A2", seen(m, w))
}

// Whatever is pressed in whatever world: a screen that can be drawn, only commands
// that the world offers, and never a ship against itself.
func TestAnySequenceOfInputsIsAccepted(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	now, chosen := start, 0
	var m hardware.Menu
	for range 100000 {
		w := world()
		w.Ships = w.Ships[:r.IntN(5)]
		w.Frozen, w.CanFreeze, w.CanJudge, w.CanEdition = r.IntN(2) == 0, r.IntN(2) == 0, r.IntN(2) == 0, r.IntN(2) == 0
		if r.IntN(4) == 0 {
			w.Arcs, w.From, w.To = nil, "", ""
		}
		now = now.Add(time.Duration(r.IntN(3)) * time.Second)
		in := hardware.Input(r.IntN(9))
		before := m.Screen(w, now)
		var commands []hardware.Command
		m, commands = m.Handle(in, w, now)
		for _, c := range commands {
			switch c.Kind {
			case hardware.CommandChoose:
				chosen++
				require.Contains(t, before.Items, strings.ReplaceAll(map[bool]string{true: c.To, false: c.Arc}[strings.HasPrefix(before.Title,
					"Target")], "_", " "), "%v is what was selected", c)
				if c.From != "" {
					require.NotEqual(t, c.From, c.To)
				}
			case hardware.CommandFreeze:
				require.True(t, w.CanFreeze && !w.Frozen)
			case hardware.CommandRelease:
				require.True(t, w.Frozen)
			case hardware.CommandJudge:
				require.True(t, w.CanJudge)
			}
		}
		s := m.Screen(w, now)
		require.True(t, s.Kind != hardware.ScreenList || s.Selected >= 0 && s.Selected < len(s.Items))
	}
	assert.Greater(t, chosen, 100)
}
