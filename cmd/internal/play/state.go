package play

import (
	"cmp"
	"context"
	"slices"
	"time"

	"sightline/cmd/internal/live"
	"sightline/cmd/internal/round"
	"sightline/cmd/internal/sentence"
	"sightline/engine"
	"sightline/engine/tablecheck"
)

// stateJSON is the state of the page.
type stateJSON struct {
	Game   *gameJSON  `json:"game"` // null when none is played
	Games  []listJSON `json:"games"`
	News   []string   `json:"news"`    // recent problems
	Rules  string     `json:"rules"`   // of the table
	Places []string   `json:"places"`  // what is placed before a game of this edition
	Squads [2]bool    `json:"squads"`  // whether the configuration has one
	Record string     `json:"trouble"` // why no game can be recorded; "" when none is known
}

type listJSON struct {
	ID      int64     `json:"id"`
	At      time.Time `json:"at"`
	Title   string    `json:"title"`
	Rules   string    `json:"rules"`
	Score   [2]int    `json:"score"`
	Round   int       `json:"round"`
	Ended   bool      `json:"ended"`
	Why     string    `json:"why"`
	Events  int64     `json:"events"`
	Current bool      `json:"current"`
}

type gameJSON struct {
	ID       int64          `json:"id"`
	Number   int64          `json:"number"` // of the last event
	Rules    string         `json:"rules"`
	Scenario round.Scenario `json:"scenario"`
	Round    int            `json:"round"`
	Rounds   int            `json:"rounds"`
	Phase    round.Phase    `json:"phase"`
	Phases   []round.Phase  `json:"phases"`
	Turn     string         `json:"turn"`
	Next     string         `json:"next"`       // what a tap does; "" for nothing
	Tap      *round.Event   `json:"next_event"` // to post
	Undo     int64          `json:"undo"`       // the event that an undo takes back; 0 for none
	UndoText string         `json:"undo_text"`
	First    int            `json:"first"`
	AskFirst bool           `json:"ask_first"` // the first player must be rolled now
	Players  [2]playerJSON  `json:"players"`
	Ships    []pieceJSON    `json:"ships"`
	Ghosts   []string       `json:"ghosts"`
	Says     []sayJSON      `json:"says"` // the newest first
	Claims   []round.Claim  `json:"claims"`
	Unseen   string         `json:"uncounted"` // why no points are proposed; "" when they are
	Offers   []offerJSON    `json:"offers"`    // what the ship that moved last may have done to an objective

	Objectives []objectiveJSON `json:"objectives"` // that ships tow or scramble, and who has them

	Halves bool   `json:"halves"` // whether ships at half their health score
	Ends   string `json:"ends"`   // why the game ends with this round; "" when it continues
	Ended  bool   `json:"ended"`
	Why    string `json:"why"`
	Winner int    `json:"winner"`
}

type playerJSON struct {
	round.Player
	Score int `json:"score"`
}

type pieceJSON struct {
	round.Ship
	Name     string       `json:"name"`
	Status   round.Status `json:"status"`
	Acted    bool         `json:"acted"`
	Moved    bool         `json:"moved"`
	Half     bool         `json:"half"`
	Active   bool         `json:"active"`
	Last     string       `json:"last"`
	Tows     string       `json:"tows"`     // a supply cache; "" for none
	Seen     bool         `json:"seen"`     // on the present table
	Mismatch string       `json:"mismatch"` // of the base; "" for none
	Touching []string     `json:"touching"`
	Flees    bool         `json:"flees"` // seen over an edge and not declared fled
}

type sayJSON struct {
	Number int64      `json:"number"`
	At     time.Time  `json:"at"`
	Kind   round.Kind `json:"kind"`
	Text   string     `json:"text"`
	More   []string   `json:"more"`
}

const (
	sayMost   = 40 // events on the page
	gamesMost = 20 // games on the page
)

func (t *Table) state(ctx context.Context) stateJSON {
	table := t.o.Hub.Newest()
	out := stateJSON{Games: []listJSON{}, News: []string{}, Rules: table.Located.Scene.Rules.String()}
	for _, what := range tablecheck.Placings(table.Located.Scene.Rules) {
		out.Places = append(out.Places, string(what))
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range t.o.Squads {
		out.Squads[i] = t.o.Squads[i] != ""
	}
	out.News = append(out.News, t.news...)
	games, err := t.list(ctx)
	if err != nil {
		out.Record = err.Error()
	}
	out.Games = append(out.Games, games...)
	if t.game != nil {
		out.Game = t.gameJSON(&table)
	}
	return out
}

// list returns the newest games of the record. The caller holds mu.
func (t *Table) list(ctx context.Context) (out []listJSON, err error) {
	log, err := t.o.Record()
	if err != nil {
		return nil, err
	}
	games, err := log.Games(ctx)
	if err != nil {
		return nil, err
	}
	var damaged error
	for _, id := range games[:min(len(games), gamesMost)] {
		events := t.events
		if id != t.id {
			if events, err = Load(ctx, log, id); err != nil {
				damaged = cmp.Or(damaged, err)
				continue
			}
		}
		if line, ok := listed(id, events); ok {
			line.Current = id == t.id
			out = append(out, line)
		}
	}
	return out, damaged
}

func listed(id int64, events []round.Event) (listJSON, bool) {
	g, err := round.Fold(events)
	if err != nil {
		return listJSON{}, false
	}
	return listJSON{ID: id, At: events[0].At, Title: g.Title(), Rules: g.Edition, Score: g.Score(), Round: g.Round, Ended: g.Ended, Why: g.Why,
		Events: g.Numbers}, true
}

// gameJSON returns the game for the page. The caller holds mu.
func (t *Table) gameJSON(table *live.State) *gameJSON {
	g := t.game
	tap := g.Next()
	out := &gameJSON{ID: t.id, Number: g.Numbers, Rules: g.Edition, Scenario: g.Scenario, Round: g.Round, Phase: g.Phase,
		Phases: round.Phases(g.Rules), Turn: g.Turn(), Next: g.NextText(), Tap: &tap, Undo: round.Undoable(t.events), First: g.First,
		AskFirst: g.Phase == round.Planning && g.First == 0 && !g.Ended, Ships: []pieceJSON{}, Ghosts: []string{}, Says: []sayJSON{},
		Claims: []round.Claim{},
		Offers: []offerJSON{}, Objectives: objectives(g), Halves: g.Scenario == round.Chance, Ended: g.Ended, Why: g.Why, Winner: g.Winner}
	if g.Rules == engine.Rules25 {
		out.Rounds = round.LastRound
	}
	if g.Ended {
		out.Tap = nil
	} else {
		out.Ends, _ = g.Over()
	}
	if out.Undo > 0 {
		out.UndoText = round.Words(g, &t.events[out.Undo-1])
	}
	score := g.Score()
	for i := range g.Players {
		out.Players[i] = playerJSON{g.Players[i], score[i]}
	}
	active := g.Active()
	for i := range g.Ships {
		out.Ships = append(out.Ships, t.pieceJSON(&g.Ships[i], active, &table.Located.Scene))
	}
	for _, ghost := range t.play().Ghosts {
		out.Ghosts = append(out.Ghosts, ghost.Text)
	}
	out.Says = append(out.Says, says(g, t.events, sayMost)...)
	claims, why := t.claims(table)
	out.Claims, out.Unseen = append(out.Claims, claims...), why
	out.Offers = append(out.Offers, t.offers(table)...)
	return out
}

func (t *Table) pieceJSON(p *round.Piece, active []string, scene *engine.Scene) pieceJSON {
	out := pieceJSON{Ship: p.Ship, Name: p.Name(), Status: p.Status, Acted: p.Acted, Moved: p.Moved, Half: p.Half,
		Active: slices.Contains(active, p.ID), Last: p.Last, Tows: t.game.Cargo(p.ID),
		Seen: scene.Ship(p.ID) != nil, Mismatch: mismatch(p, scene),
		Touching: []string{}}
	for _, pair := range t.game.Touch {
		switch p.ID {
		case pair[0]:
			out.Touching = append(out.Touching, pair[1])
		case pair[1]:
			out.Touching = append(out.Touching, pair[0])
		}
	}
	for i := len(t.events) - 1; i >= 0; i-- {
		if e := &t.events[i]; e.Kind == round.Moved && e.Ship == p.ID {
			out.Flees = e.Flown.Flees != "" && p.Status == round.OnTable
			break
		}
	}
	return out
}

// says returns the newest events in words, without those that have none.
func says(g *round.Game, events []round.Event, most int) (out []sayJSON) {
	gone := round.TakenBack(events)
	for i := len(events) - 1; i >= 0 && len(out) < most; i-- {
		e := &events[i]
		text := round.Words(g, e)
		if text == "" {
			continue
		}
		if gone[e.Number] {
			text += " (taken back)"
		}
		line := sayJSON{Number: e.Number, At: e.At, Kind: e.Kind, Text: text, More: []string{}}
		if e.Flown != nil {
			line.More = append(line.More, e.Flown.Says...)
		}
		out = append(out, line)
	}
	return out
}

// claims proposes the points of the scenario for this round, or returns why none can be counted.
// The caller holds mu.
func (t *Table) claims(table *live.State) (out []round.Claim, why string) {
	g := t.game
	if g.Scenario == round.NoScenario || len(g.Claims(nil)) == 0 {
		return nil, ""
	}
	if table.Health.Code != live.OK {
		return nil, sentence.Lower(table.Health.Title)
	}
	if why = uncounted(g, table); why != "" {
		return nil, why
	}
	return g.Claims(control(g, table)), ""
}
