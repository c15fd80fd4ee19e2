package round

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"sightline/engine"
)

// This file handles the supply caches of Salvage Mission and the satellites of Scramble the
// Transmissions. Who has them depends on actions, which the table does not show (G228 to G232).

// Loose is a supply cache that a ship jettisoned.
type Loose struct {
	Ship string
	Pose *Pose // of the ship, for one that fled the pose before its maneuver (G231); nil when unknown
	Fled bool
}

// firstScenarioAction is the first round in which ships tow and scramble.
const firstScenarioAction = 2

// Taken returns the kind of action by which objectives are taken; ok is false when they are not.
func (s Scenario) Taken() (kind Kind, ok bool) {
	switch s {
	case Salvage:
		return Towed, true
	case Scramble:
		return Scrambled, true
	}
	return "", false
}

// Objectives returns numbered names for the objectives of a scenario, for when not all markers are
// seen.
func (s Scenario) Objectives() (out []string) {
	c, err := engine.ParseScenario(string(s))
	if err != nil {
		return nil
	}
	n, kind := c.Features()
	for i := range n {
		out = append(out, fmt.Sprintf("%s %d", strings.ReplaceAll(kind, "_", " "), i+1))
	}
	return out
}

// Carrier returns the ship that tows a supply cache; "" for none.
func (g *Game) Carrier(objective string) string { return g.carriers[objective] }

// Cargo returns the supply cache that a ship tows; "" for none.
func (g *Game) Cargo(ship string) string {
	for _, id := range slices.Sorted(maps.Keys(g.carriers)) {
		if g.carriers[id] == ship {
			return id
		}
	}
	return ""
}

// Marker returns the player whose marker lies on a satellite; 0 for none.
func (g *Game) Marker(objective string) int { return g.markers[objective] }

// LetGo returns the supply caches that were jettisoned and are not towed again.
func (g *Game) LetGo() map[string]Loose { return maps.Clone(g.loose) }

// MayTake reports whether ships may tow or scramble in this round.
func (g *Game) MayTake() bool {
	_, taken := g.Scenario.Taken()
	return taken && g.Round >= firstScenarioAction && !g.Ended
}

// take changes who has an objective.
func (g *Game) take(e *Event) error {
	kind, taken := g.Scenario.Taken()
	switch {
	case !taken || e.Kind != kind:
		return wrong("nothing is %s in this scenario", e.Kind)
	case !slices.Contains(g.Start.Objectives, e.With):
		return wrong("%q is no objective of this game", e.With)
	case g.Round < firstScenarioAction:
		return wrong("ships tow and scramble from round %d on", firstScenarioAction)
	}
	p := g.Piece(e.Ship)
	if p == nil && (e.Kind == Towed || e.Player != 1 && e.Player != 2) {
		return wrong("%q is no ship of this game", e.Ship)
	}
	if e.Kind == Scrambled {
		player := e.Player
		if p != nil {
			player = p.Player
		}
		g.markers = maps.Clone(g.markers)
		put(&g.markers, e.With, player)
		return nil
	}
	switch {
	case p.Status != OnTable:
		return wrong("%s is %s", p.Name(), p.Status)
	case g.Cargo(p.ID) != "":
		return wrong("%s tows %s already: a ship has one supply cache", p.Name(), g.Cargo(p.ID))
	case g.Carrier(e.With) != "":
		return wrong("%s is towed by %s", e.With, g.Name(g.Carrier(e.With)))
	}
	g.carriers, g.loose = maps.Clone(g.carriers), maps.Clone(g.loose)
	put(&g.carriers, e.With, p.ID)
	delete(g.loose, e.With)
	return nil
}

func put[V any](m *map[string]V, key string, v V) {
	if *m == nil {
		*m = map[string]V{}
	}
	(*m)[key] = v
}

// letGo jettisons a ship's supply cache: by choice, or when the ship is crippled, destroyed, placed
// in reserve, or flees (G229 to G231).
func (g *Game) letGo(p *Piece) {
	id := g.Cargo(p.ID)
	if id == "" {
		return
	}
	l := Loose{Ship: p.ID, Pose: p.Pose, Fled: p.Status == Fled}
	if l.Fled && p.From != nil {
		l.Pose = p.From
	}
	g.carriers, g.loose = maps.Clone(g.carriers), maps.Clone(g.loose)
	delete(g.carriers, id)
	put(&g.loose, id, l)
}

// Held returns who has the objectives of Salvage Mission and Scramble the Transmissions according
// to the events and the table. lies reports whether a marker lies on the table; seen is false when
// the camera does not detect markers.
func (g *Game) Held(seen bool, lies func(id string) bool) (out []Control) {
	for _, id := range g.Start.Objectives {
		c := Control{Objective: id, Possible: []int{0}}
		switch {
		case g.Scenario == Scramble:
			c.Possible = []int{g.Marker(id)}
		case g.Carrier(id) != "":
			c.Possible = []int{g.Piece(g.Carrier(id)).Player}
			if seen && lies(id) { // on the table although it is said to be towed
				c.Possible = append([]int{0}, c.Possible...)
			}
		case seen && !lies(id):
			c.Possible = append(c.Possible, g.mayTow()...)
		}
		out = append(out, c)
	}
	return out
}

// mayTow returns the players with a ship on the table that tows nothing.
func (g *Game) mayTow() (out []int) {
	for i := range g.Ships {
		p := &g.Ships[i]
		if p.Status == OnTable && g.Cargo(p.ID) == "" && !slices.Contains(out, p.Player) {
			out = append(out, p.Player)
		}
	}
	slices.Sort(out)
	return out
}

// takenWords describes what was done to an objective.
func (g *Game) takenWords(e *Event) string {
	who := g.Name(e.Ship)
	if e.Ship == "" && (e.Player == 1 || e.Player == 2) {
		who = g.player(e.Player)
	}
	text := ""
	switch e.Kind {
	case Towed:
		text = fmt.Sprintf("%s tows %s", who, e.With)
	case Scrambled:
		text = fmt.Sprintf("%s scrambles %s", who, e.With)
	case Jettisoned:
		text = who + " jettisons its supply cache"
	}
	if e.Text != "" {
		text += ": " + e.Text
	}
	return text
}
