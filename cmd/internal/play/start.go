package play

import (
	"fmt"
	"slices"
	"strings"

	"sightline/cmd/internal/live"
	"sightline/cmd/internal/round"
	"sightline/cmd/internal/sentence"
	"sightline/cmd/internal/squads"
	"sightline/engine"
	"sightline/vision"
	"sightline/vision/token"
)

// StartRequest starts a game.
type StartRequest struct {
	Edition  string         `json:"edition"` // "" for the table's
	Scenario round.Scenario `json:"scenario"`
	Points   int            `json:"points"`     // the most of a squad; 0 when not given
	First    int            `json:"first"`      // 0 when not given
	Instead  *int64         `json:"instead_of"` // the game that the requester saw and wants to replace; 0: none; nil: any
	Players  [2]struct {
		Name  string `json:"name"`
		Squad string `json:"squad"` // XWS; "" for the configuration's
	} `json:"players"`
}

// Start starts a game, which replaces the present one.
func (t *Table) Start(r StartRequest) error {
	state := t.o.Hub.Newest()
	start, notes, err := t.start(&r, &state.Located.Scene)
	if err != nil {
		return &live.Refusal{Kind: live.ErrInvalid, Text: sentence.Of(err)}
	}
	rules, err := engine.ParseRules(start.Edition)
	if err != nil {
		return &live.Refusal{Kind: live.ErrInvalid, Text: sentence.Of(err)}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.game != nil && !t.game.Ended && r.Instead != nil && *r.Instead != t.id {
		return &live.Refusal{Kind: live.ErrOvertaken, Text: fmt.Sprintf("A game is already being played, %s against %s: someone started it "+
			"on another device. End it there first, or press Cancel and join it.", t.game.Players[0].Name, t.game.Players[1].Name)}
	}
	events, game, id, watch := t.events, t.game, t.id, t.watch
	t.events, t.game, t.id, t.watch = nil, nil, 0, round.NewWatch(nil)
	began := []round.Event{{Kind: round.Started, Start: start}}
	for _, text := range notes {
		began = append(began, round.Event{Kind: round.Said, Text: text})
	}
	if err := t.add(began...); err != nil {
		t.events, t.game, t.id, t.watch = events, game, id, watch
		return err
	}
	if t.o.SetEdition != nil { // what is held may be of another edition than the table
		t.o.SetEdition(rules)
	}
	t.asked, t.lay, t.looked = question{}, nil, true
	t.rememberObjectives(&state)
	if state.Ruling != nil {
		t.ruled = state.Ruling.Number
	}
	t.note()
	return nil
}

// start turns a request into the start of a game. It assigns the pilots to the ships on the
// table in order.
func (t *Table) start(r *StartRequest, scene *engine.Scene) (s *round.Start, notes []string, err error) {
	s = &round.Start{Edition: r.Edition, Scenario: r.Scenario, Points: r.Points, First: r.First}
	if s.Edition == "" {
		s.Edition = scene.Rules.String()
	}
	if s.Edition != engine.Rules25.String() && s.First == 0 {
		s.First = 1
	}
	named := live.Match{}
	for i := range r.Players {
		named.Sides[i].Name = r.Players[i].Name
	}
	if err := named.Validate(); err != nil {
		return nil, nil, err
	}
	taken := map[string]bool{}
	for i := range r.Players {
		player := i + 1
		raw := r.Players[i].Squad
		if strings.TrimSpace(raw) == "" {
			raw = t.o.Squads[i]
		}
		if strings.TrimSpace(raw) == "" {
			return nil, nil, fmt.Errorf("player %d has no squad: drop an XWS file, or paste one", player)
		}
		squad, err := squads.Parse([]byte(raw))
		if err != nil {
			return nil, nil, fmt.Errorf("the squad of player %d: %w", player, err)
		}
		if (squad.Edition == squads.First) != (s.Edition == engine.Rules1e.String()) {
			return nil, nil, fmt.Errorf("the squad of player %d is of the %s edition, and the game is one of %s", player, squad.Edition, s.Edition)
		}
		report := t.o.Data.Check(squad)
		s.Players[i] = round.Player{Name: r.Players[i].Name, Squad: report.Name, Faction: report.Faction}
		if strings.TrimSpace(s.Players[i].Name) == "" {
			s.Players[i].Name = fmt.Sprintf("Player %d", player)
		}
		notes = append(notes, squadNotes(s.Players[i].Name, &report)...)
		s.Ships = append(s.Ships, assignIDs(player, &report, scene, taken)...)
	}
	s.Objectives = objectivesOn(s.Scenario, scene)
	return s, notes, nil
}

// squadNotes returns what the ship data do not know of a squad, and its inconsistencies.
func squadNotes(player string, report *squads.Report) (out []string) {
	if len(report.Unknown) > 0 {
		out = append(out, fmt.Sprintf("The squad of %s: the ship "+
			"data do not know %s. A ship without a dial may fly every maneuver, and one without "+
			"initiative counts as 0.", player, strings.Join(report.Unknown, ", ")))
	}
	for _, note := range report.Notes {
		out = append(out, fmt.Sprintf("The squad of %s: %s.", player, note))
	}
	return out
}

// assignIDs gives the ships of a squad the ids of the player's ships on the table, in order, and
// free ids when there are fewer: A1, A2 … for player 1, B1, B2 … for player 2.
func assignIDs(player int, report *squads.Report, scene *engine.Scene, taken map[string]bool) (out []round.Ship) {
	ids := namesOn(scene, player)
	lines := slices.Clone(report.Ships)
	for i := range report.Strangers { // they are on the table although the data do not know them
		p := &report.Strangers[i]
		lines = append(lines, squads.ShipLine{ID: p.ID, Pilot: p.ID, Ship: p.Ship, Points: p.Points})
	}
	lines = sections(lines)
	for i := range lines {
		line := &lines[i]
		id := ""
		for len(ids) > 0 && (id == "" || taken[id]) {
			id, ids = ids[0], ids[1:]
		}
		for n := 1; id == "" || taken[id]; n++ {
			id = fmt.Sprintf("%c%d", 'A'+player-1, n)
		}
		taken[id] = true
		out = append(out, round.Ship{ID: id, Player: player, PilotID: line.ID, Pilot: line.Pilot, Ship: line.Ship, Base: line.Base,
			Initiative: line.Initiative, Points: line.Points, Dial: line.Dial, Arcs: line.Arcs, Actions: line.Actions})
	}
	return out
}

// namesOn returns a player's ships on the table, including those that an unidentified base may be.
func namesOn(scene *engine.Scene, player int) (ids []string) {
	for i := range scene.Ships {
		s := &scene.Ships[i]
		names := s.NameDoubt
		if !token.Unidentified(s.ID) {
			names = []string{s.ID}
		}
		if s.Player == player {
			ids = append(ids, names...)
		}
	}
	slices.SortFunc(ids, vision.CompareIDs)
	return slices.Compact(ids)
}

// sections joins the fore and aft sections of a huge ship of the first edition, two pilots in XWS, into the ship whose base they
// share (G54). A section without its other half stays.
func sections(lines []squads.ShipLine) (out []squads.ShipLine) {
	joined := make([]bool, len(lines))
	for i := range lines {
		if joined[i] {
			continue
		}
		line := lines[i]
		for j := i + 1; j < len(lines); j++ {
			name, whole := wholeShip(&line, &lines[j])
			if !whole || joined[j] {
				continue
			}
			joined[j] = true
			line.Pilot, line.Ship = name, name
			line.Points += lines[j].Points
			line.Actions = append(slices.Clone(line.Actions), lines[j].Actions...)
			break
		}
		out = append(out, line)
	}
	return out
}

// wholeShip returns the name of the ship whose sections the two lines are.
func wholeShip(a, b *squads.ShipLine) (name string, ok bool) {
	for _, s := range [][2]string{{"fore", "aft"}, {"aft", "fore"}} {
		ship, first := strings.CutSuffix(a.ShipID, s[0])
		other, second := strings.CutSuffix(b.ShipID, s[1])
		if first && second && ship == other && ship != "" {
			name, _, _ := strings.Cut(a.Ship, " (")
			return name, true
		}
	}
	return "", false
}

// mismatch reports a base on the table that differs from the ship's; "" when it does not or is
// not seen.
func mismatch(s *round.Piece, scene *engine.Scene) string {
	seen := scene.Ship(s.ID)
	base, err := engine.ParseBase(s.Base)
	if seen == nil || err != nil || seen.Base == base {
		return ""
	}
	return fmt.Sprintf("%s stands on a %v base, and %s has a %v one", s.ID, seen.Base, s.Ship.Ship, base)
}
