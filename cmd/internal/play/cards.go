package play

import (
	"fmt"
	"net/http"
	"slices"

	"sightline/cmd/internal/draw"
	"sightline/cmd/internal/live"
	"sightline/cmd/internal/round"
	"sightline/cmd/internal/sentence"
	"sightline/cmd/internal/web"
	"sightline/engine"
	"sightline/engine/tablecheck"
)

// inPlay returns the resting table with only the ships of the game that are in play.
func inPlay(g *round.Game, table *live.State) engine.Scene {
	scene := table.Standing()
	scene.Ships = slices.DeleteFunc(slices.Clone(scene.Ships), func(s engine.Ship) bool {
		p := g.Piece(s.ID)
		return p == nil || p.Status != round.OnTable
	})
	return scene
}

// control returns who controls or contests the scenario's objectives; nil when the table does
// not show it.
func control(g *round.Game, table *live.State) (out []round.Control) {
	scenario, err := engine.ParseScenario(string(g.Scenario))
	if err != nil {
		return nil
	}
	scene := inPlay(g, table)
	switch g.Scenario {
	case round.Assault:
		r, err := tablecheck.Scenario(&scene, scenario, engine.Options{Sigmas: table.Sigmas})
		if err != nil {
			return nil
		}
		for _, c := range r.Control {
			possible := c.Possible
			if len(possible) == 0 {
				possible = []int{c.Player}
			}
			out = append(out, round.Control{Objective: c.Objective, Possible: possible})
		}
	case round.Salvage, round.Scramble:
		return g.Held(seesMarkers(g, table), func(id string) bool { return marker(&scene, id) != nil })
	case round.Chance:
		counts, err := engine.Counts(&scene, scenario, engine.Options{Sigmas: table.Sigmas})
		if err != nil {
			return nil
		}
		for i := range counts {
			out = append(out, round.Control{Objective: counts[i].ID, Possible: contesting(&counts[i])})
		}
	}
	return out
}

// uncounted says why control of the objectives cannot be counted; "" when it can. An unseen
// satellite or ship may decide it. Towing and scrambling depend on no ship's place.
func uncounted(g *round.Game, table *live.State) string {
	scenario, err := engine.ParseScenario(string(g.Scenario))
	if _, taken := g.Scenario.Taken(); err != nil || taken {
		return ""
	}
	scene := inPlay(g, table)
	want, kind := scenario.Features()
	seen := 0
	for i := range scene.Markers {
		if isKind(&scene.Markers[i], kind) {
			seen++
		}
	}
	if seen != want {
		return fmt.Sprintf("%d of %d satellites are seen on the table", seen, want)
	}
	for i := range g.Ships {
		p := &g.Ships[i]
		if p.Status == round.OnTable && scene.Ship(p.ID) == nil {
			return p.Name() + " is not seen on the table"
		}
	}
	return ""
}

// contesting returns who may contest an objective: neither player, one, or both.
func contesting(n *engine.Count) (possible []int) {
	may := func(player int, does bool) bool {
		if does {
			return n.Most[player] > 0
		}
		return n.Least[player] == 0
	}
	for _, c := range []struct {
		one, two bool
		who      int
	}{{false, false, 0}, {true, false, 1}, {false, true, 2}, {true, true, round.Both}} {
		if may(0, c.one) && may(1, c.two) {
			possible = append(possible, c.who)
		}
	}
	return possible
}

// cardJSON is the result of a check of the table.
type cardJSON struct {
	Lines   []cardLine    `json:"lines"`
	Control []controlLine `json:"control"`
	Notes   []string      `json:"notes"`
	Trouble string        `json:"trouble"` // why there is no result; "" when there is
}

type cardLine struct {
	Rule    string `json:"rule"`
	Outcome string `json:"outcome"`
	Text    string `json:"text"`
}

type controlLine struct {
	Objective string `json:"objective"`
	Text      string `json:"text"`
	Outcome   string `json:"outcome"`
}

// Check checks the setup of the table, or who controls the scenario's objectives.
func (t *Table) Check(what string, judge bool) (cardJSON, error) {
	table := t.o.Hub.Newest()
	t.mu.Lock()
	g := t.game
	t.mu.Unlock()
	out := cardJSON{Lines: []cardLine{}, Control: []controlLine{}, Notes: []string{}}
	if why := withheld(&table, g, what); why != "" && !judge {
		return out, &live.Refusal{Kind: live.ErrForbidden, Text: why}
	}
	if table.Health.Code != live.OK {
		return out, &live.Refusal{Kind: live.ErrNoAnswers, Text: table.Health.Line()}
	}
	scene, scenario := table.Standing(), engine.Scenario(0)
	if g != nil {
		scene = inPlay(g, &table)
		scenario, _ = engine.ParseScenario(string(g.Scenario))
	}
	o := engine.Options{Sigmas: table.Sigmas}
	var r tablecheck.Report
	var err error
	if what == "setup" {
		r, err = tablecheck.Setup(&scene, scenario, o)
	} else {
		if scenario == 0 {
			return out, &live.Refusal{Kind: live.ErrInvalid, Text: "This game has no scenario."}
		}
		r, err = tablecheck.Scenario(&scene, scenario, o)
	}
	if g != nil && what == "scenario" {
		out.Lines = append(out.Lines, jettisoned(g, &scene, table.Sigmas)...)
	}
	if err != nil {
		out.Trouble = sentence.Of(err)
		return out, nil
	}
	for i := range r.Lines {
		l := &r.Lines[i]
		if what == "setup" || !l.Placed {
			out.Lines = append(out.Lines, cardLine{l.Rule, l.Outcome.String(), l.Text})
		}
	}
	for i := range r.Control {
		c := &r.Control[i]
		out.Control = append(out.Control, controlLine{c.Objective, controlText(g, c), c.Outcome.String()})
	}
	out.Notes = append(out.Notes, r.Notes...)
	return out, nil
}

// withheld says why a check is not allowed now; "" when it is. The edition lets players measure
// a setup before the first ship moves, and a scenario at the start of the End phase.
func withheld(table *live.State, g *round.Game, what string) string {
	switch table.Policy.Measuring {
	case live.MeasuringFree, "":
		return ""
	case live.MeasuringEdition:
		before := g == nil || g.Round == 1 && (g.Phase == round.Planning || g.Phase == round.System)
		if what == "setup" && before || what == "scenario" && g != nil && g.Phase == round.End {
			return ""
		}
		return "The agreement on measuring does not allow this now."
	}
	return "Only the judge measures at this table."
}

func controlText(g *round.Game, c *tablecheck.Control) string {
	name := func(p int) string { return playerName(g, p) }
	if c.Outcome == engine.Yes {
		return name(c.Player)
	}
	text := "too close to call"
	for i, p := range c.Possible {
		if i == 0 {
			text += ": " + name(p)
		} else {
			text += " or " + name(p)
		}
	}
	return text
}

// playerName names a player; 0 is no player.
func playerName(g *round.Game, p int) string {
	if p == 0 {
		return "no player"
	}
	if g != nil && g.Players[p-1].Name != "" {
		return g.Players[p-1].Name
	}
	return fmt.Sprintf("player %d", p)
}

// areas draws where things may be placed on the present table:
// GET /api/game/setup.svg?area=obstacles. With &over=picture it draws only the areas, as an
// overlay for the camera's picture of the mat from above.
func (t *Table) areas(w http.ResponseWriter, r *http.Request) {
	what, err := tablecheck.ParsePlacing(r.URL.Query().Get("area"))
	if err != nil {
		http.Error(w, sentence.Of(err), http.StatusBadRequest)
		return
	}
	table := t.o.Hub.Newest()
	t.mu.Lock()
	g := t.game
	t.mu.Unlock()
	if why := withheld(&table, g, "setup"); why != "" && !t.judges(r) {
		refuse(w, &live.Refusal{Kind: live.ErrForbidden, Text: why})
		return
	}
	scene := table.Standing()
	if g != nil {
		scene = inPlay(g, &table)
	}
	areas, err := tablecheck.Areas(&scene, what, engine.Options{Sigmas: table.Sigmas})
	if err != nil {
		refuse(w, &live.Refusal{Kind: live.ErrOvertaken, Text: sentence.Of(err)})
		return
	}
	var svg []byte
	switch over := r.URL.Query().Get("over"); over {
	case "":
		svg, err = draw.SVG(&scene, draw.Options{Areas: areas, Sigmas: table.Sigmas})
	case "picture":
		svg, err = draw.AreasOver(&scene, areas)
	default:
		http.Error(w, "over: expected picture, or nothing.", http.StatusBadRequest)
		return
	}
	if err != nil {
		refuse(w, err)
		return
	}
	w.Header().Set("Content-Type", "image/svg+xml")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(svg)
}

func (t *Table) card(w http.ResponseWriter, r *http.Request) {
	what := r.PathValue("what")
	if what != "setup" && what != "scenario" {
		http.Error(w, "Expected setup or scenario.", http.StatusNotFound)
		return
	}
	out, err := t.Check(what, t.judges(r))
	if err != nil {
		refuse(w, err)
		return
	}
	web.WriteJSON(w, http.StatusOK, out)
}
