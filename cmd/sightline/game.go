package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"sightline/cmd/internal/play"
	"sightline/cmd/internal/round"
)

// gamesCmd lists the games of the record.
type gamesCmd struct {
	rulingsLog
}

func (c *gamesCmd) Run() error { return c.list(os.Stdout) }

func (c *gamesCmd) list(out io.Writer) error {
	log, err := c.open()
	if err != nil {
		return fmt.Errorf("games: %w", err)
	}
	defer log.Close()
	ctx := context.Background()
	games, err := log.Games(ctx)
	if err != nil {
		return fmt.Errorf("games: %w", err)
	}
	if len(games) == 0 {
		fmt.Fprintln(out, "no games")
		return nil
	}
	var g grid
	g.add("GAME", "BEGAN", "PLAYERS", "EDITION", "SCORE", "ROUND", "EVENTS", "")
	for _, id := range games {
		events, err := play.Load(ctx, log, id)
		if err != nil {
			return fmt.Errorf("games: %w", err)
		}
		state, err := round.Fold(events)
		if err != nil {
			return fmt.Errorf("games: game %d: %w", id, err)
		}
		score, why := state.Score(), ""
		if state.Ended {
			why = "over: " + state.Why
		}
		g.add(strconv.FormatInt(id, 10), events[0].At.Local().Format("2006-01-02 15:04"), plain(state.Title()), state.Edition,
			fmt.Sprintf("%d to %d", score[0], score[1]), strconv.Itoa(state.Round), strconv.Itoa(len(events)), plain(why))
	}
	g.print(out)
	return nil
}

type gameCmd struct {
	Export gameExportCmd `cmd:"" help:"Write a game of the record down."`
}

type gameExportCmd struct {
	Game   int64  `arg:"" optional:"" help:"Its number, as games lists it; the newest without."`
	Form   string `enum:"json,csv,html" default:"json" help:"json, csv or html (one page)."`
	Output string `short:"o" help:"File to write; standard output without." placeholder:"FILE"`
	rulingsLog
}

func (c *gameExportCmd) Run() error { return c.export(os.Stdout) }

func (c *gameExportCmd) export(out io.Writer) error {
	log, err := c.open()
	if err != nil {
		return fmt.Errorf("game export: %w", err)
	}
	defer log.Close()
	ctx := context.Background()
	if c.Game == 0 {
		games, err := log.Games(ctx)
		if err != nil {
			return fmt.Errorf("game export: %w", err)
		}
		if len(games) == 0 {
			return errors.New("game export: the record has no game")
		}
		c.Game = games[0]
	}
	events, err := play.Load(ctx, log, c.Game)
	if err != nil {
		return fmt.Errorf("game export: %w", err)
	}
	data, _, err := play.Export(c.Game, events, c.Form)
	if err != nil {
		return fmt.Errorf("game export: %w", err)
	}
	if c.Output == "" {
		_, err = out.Write(data)
		return err
	}
	return writeWhole(c.Output, data)
}
