package play

import (
	"fmt"
	"slices"
	"strings"

	"sightline/cmd/internal/live"
	"sightline/cmd/internal/round"
	"sightline/engine"
	"sightline/engine/tablecheck"
	"sightline/vision"
)

// This file handles the objectives that ships tow or scramble: it proposes events from
// measurements, and says who has them.

// offerJSON is a probable event, to be confirmed with a tap.
type offerJSON struct {
	Text    string      `json:"text"`
	Outcome string      `json:"outcome"` // yes, or too_close when it may have failed
	Button  string      `json:"button"`
	Tap     round.Event `json:"tap"` // to post
}

// objectiveJSON is a supply cache or a satellite, and who has it.
type objectiveJSON struct {
	ID     string `json:"id"`
	Ship   string `json:"ship"`   // that tows it; "" for none
	Player int    `json:"player"` // who has it; 0 for neither
	Text   string `json:"text"`
}

// objectivesOn returns the ids of a scenario's markers on the table, or numbers when not all
// of them are seen; nil for a scenario in which ships do not take any.
func objectivesOn(c round.Scenario, scene *engine.Scene) (ids []string) {
	if _, taken := c.Taken(); !taken {
		return nil
	}
	scenario, err := engine.ParseScenario(string(c))
	if err != nil {
		return nil
	}
	n, kind := scenario.Features()
	for i := range scene.Markers {
		if m := &scene.Markers[i]; isKind(m, kind) {
			ids = append(ids, m.ID)
		}
	}
	if len(ids) != n {
		return c.Objectives()
	}
	slices.SortFunc(ids, vision.CompareIDs)
	return ids
}

// isKind reports whether a marker is of a kind, in any spelling.
func isKind(m *engine.Token, kind string) bool {
	return strings.NewReplacer("-", "_", " ", "_").Replace(m.Kind) == kind
}

// marker returns the scene's marker with an id; nil for none.
func marker(s *engine.Scene, id string) *engine.Token {
	i := slices.IndexFunc(s.Markers, func(m engine.Token) bool { return m.ID == id })
	if i < 0 {
		return nil
	}
	return &s.Markers[i]
}

// seesMarkers reports whether the camera detects the markers of the game's objectives.
func seesMarkers(g *round.Game, table *live.State) bool {
	return table.ObstaclesWatched && len(g.Objectives) > 0 && !slices.Equal(g.Objectives, g.Scenario.Objectives())
}

// rememberObjectives stores the places of the objectives: a player who tows one removes it from
// the table before the tap. The caller holds mu.
func (t *Table) rememberObjectives(s *live.State) {
	for _, id := range t.game.Objectives {
		if m := marker(&s.Located.Scene, id); m != nil {
			if t.lay == nil {
				t.lay = map[string]engine.Token{}
			}
			t.lay[id] = *m
		}
	}
}

// offers proposes what the ship that moved last may have done to an objective. The caller
// holds mu.
func (t *Table) offers(table *live.State) (out []offerJSON) {
	g := t.game
	kind, taken := g.Scenario.Taken()
	if !taken || g.Ended || table.Health.Code != live.OK || !seesMarkers(g, table) {
		return nil
	}
	out = append(out, t.returned(table)...)
	p := g.Piece(g.Acting())
	if !g.MayTake() || g.Phase != round.Activation || p == nil || p.Status != round.OnTable || !table.Stands(p.ID) || g.Cargo(p.ID) != "" {
		return out
	}
	scene := inPlay(g, table)
	for _, id := range g.Objectives {
		lay, known := t.lay[id]
		if !known || g.Carrier(id) != "" || g.Marker(id) == p.Player || !table.Policy.Object(&table.Located.Scene, p.ID, id) {
			continue
		}
		gone := marker(&scene, id) == nil
		with := scene
		if gone {
			with.Markers = append(slices.Clone(scene.Markers), lay)
		}
		if o, ok := offer(&with, p, id, kind, table.Sigmas); ok {
			if gone {
				o.Text += ". It is no longer on the table"
			}
			out = append(out, o)
		}
	}
	return out
}

// offer proposes one objective. It reports false when the ship is too far away.
func offer(s *engine.Scene, p *round.Piece, id string, kind round.Kind, sigmas float64) (o offerJSON, ok bool) {
	var m engine.Measurer
	v, err := m.Object(s, p.ID, id, engine.Options{Sigmas: sigmas})
	if err != nil {
		return o, false
	}
	verb := map[round.Kind]string{round.Towed: "tow", round.Scrambled: "scramble"}[kind]
	o.Tap = round.Event{Kind: kind, Ship: p.ID, With: id}
	o.Button = fmt.Sprintf("%s %ss %s", p.ID, verb, id)
	switch in := v.Range.At(0, 1); in {
	case engine.Yes:
		o.Outcome = in.String()
		o.Text = fmt.Sprintf("%s may %s %s: it is at range 0–1 (%.1f mm)", p.Name(), verb, id, v.Range.Distance.Millimeters())
	case engine.Indeterminate:
		o.Outcome = in.String()
		o.Text = fmt.Sprintf("Too close to call whether %s may %s %s (%.1f ± %.1f mm, range 1 ends at 100): if not, the action fails", p.Name(),
			verb, id, v.Range.Distance.Millimeters(), v.Range.Sigma.Millimeters())
		o.Tap.Text = "too close to call whether it was in range"
	default:
		return o, false
	}
	return o, true
}

// returned proposes that a ship jettisoned a supply cache that it is said to tow and that lies
// on the table. The caller holds mu.
func (t *Table) returned(table *live.State) (out []offerJSON) {
	for _, id := range t.game.Objectives {
		ship := t.game.Carrier(id)
		if ship == "" || marker(&table.Located.Scene, id) == nil || t.owed {
			continue
		}
		out = append(out, offerJSON{Text: fmt.Sprintf("%s lies on the table, and %s is said to tow it", id, t.game.Name(ship)),
			Outcome: engine.Yes.String(), Button: ship + " jettisons it", Tap: round.Event{Kind: round.Jettisoned, Ship: ship}})
	}
	return out
}

// objectives returns who has which objective.
func objectives(g *round.Game) []objectiveJSON {
	out := []objectiveJSON{}
	for _, id := range g.Objectives {
		o := objectiveJSON{ID: id, Ship: g.Carrier(id), Player: g.Marker(id), Text: "on the table"}
		switch {
		case o.Ship != "":
			o.Player, o.Text = g.Piece(o.Ship).Player, "towed by "+g.Name(o.Ship)
		case o.Player != 0:
			o.Text = "marker of " + playerName(g, o.Player)
		case g.Scenario == round.Scramble:
			o.Text = "no marker"
		}
		if l, ok := g.LetGo()[id]; ok {
			o.Text = "let go by " + g.Name(l.Ship)
		}
		out = append(out, o)
	}
	return out
}

// jettisoned checks the places of jettisoned supply caches (G229 to G231).
func jettisoned(g *round.Game, scene *engine.Scene, sigmas float64) (out []cardLine) {
	loose := g.LetGo()
	for _, id := range g.Objectives {
		l, ok := loose[id]
		p := g.Piece(l.Ship)
		if !ok || l.Pose == nil || p == nil || marker(scene, id) == nil {
			continue
		}
		base, err := engine.ParseBase(p.Base)
		if err != nil {
			continue
		}
		with := *scene
		with.Ships = slices.DeleteFunc(slices.Clone(scene.Ships), func(s engine.Ship) bool { return s.ID == p.ID })
		with.Ships = append(with.Ships, l.Pose.Ship(engine.Ship{ID: p.ID, Player: p.Player, Base: base}))
		if line, err := tablecheck.Jettison(&with, p.ID, id, l.Fled, engine.Options{Sigmas: sigmas}); err == nil {
			out = append(out, cardLine{line.Rule, line.Outcome.String(), line.Text})
		}
	}
	return out
}
