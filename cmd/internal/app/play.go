package app

import (
	"fmt"
	"log/slog"

	"sightline/calibration/regularfile"
	"sightline/cmd/internal/game"
	"sightline/cmd/internal/live"
	"sightline/cmd/internal/play"
	"sightline/cmd/internal/squads"
)

// Squads are the players' squads and the ship data.
type Squads struct {
	Data   string            // a clone of xwing-data2; "": the data in the program
	Player [2]string         // XWS files; "": chosen on the page
	Ships  []squads.Override // replace the data
}

// rawSquads is the table in the configuration file.
type rawSquads struct {
	Data    string    `toml:"data"`
	Player1 string    `toml:"player1"`
	Player2 string    `toml:"player2"`
	Ships   []rawShip `toml:"ships"`
}

type rawShip struct {
	ID      string   `toml:"id"`
	Base    string   `toml:"base"`
	Dial    []string `toml:"dial"`
	Arcs    []string `toml:"arcs"`
	Actions []string `toml:"actions"`
}

func (raw *rawSquads) squads() Squads {
	s := Squads{Data: raw.Data, Player: [2]string{raw.Player1, raw.Player2}}
	for _, ship := range raw.Ships {
		s.Ships = append(s.Ships, squads.Override(ship))
	}
	return s
}

// load reads the files.
func (s *Squads) load() (data squads.Data, texts [2]string, err error) {
	data = squads.Builtin()
	if s.Data != "" {
		if data, err = squads.Load(s.Data); err != nil {
			return data, texts, fmt.Errorf("squads.data: %w", err)
		}
	}
	if data, err = data.With(s.Ships); err != nil {
		return data, texts, fmt.Errorf("squads.ships: %w", err)
	}
	for i, path := range s.Player {
		if path == "" {
			continue
		}
		raw, err := regularfile.Read(path, squads.MaxFile)
		if err == nil {
			_, err = squads.Parse(raw)
		}
		if err != nil {
			return data, texts, fmt.Errorf("squads.player%d: %w", i+1, err)
		}
		texts[i] = string(raw)
	}
	return data, texts, nil
}

// newPlay returns the game at the table.
func newPlay(c Config, hub *live.Hub, g *game.Game, record *judges, log *slog.Logger) (*play.Table, error) {
	data, texts, err := c.Squads.load()
	if err != nil {
		return nil, err
	}
	return play.New(play.Options{
		Hub: hub, Record: record.record, Show: g.SetPlay, SetEdition: g.SetEdition, Data: data, Squads: texts, Log: log,
	}), nil
}
