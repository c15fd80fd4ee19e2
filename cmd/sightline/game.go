package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"sightline/cmd/internal/play"
	"sightline/cmd/internal/sheet"
)

// gamesCmd lists the games of the record.
type gamesCmd struct {
	rulingsLog
}

func (c *gamesCmd) Run() error {
	log, err := c.open()
	if err != nil {
		return fmt.Errorf("games: %w", err)
	}
	defer log.Close()
	if err := play.Print(context.Background(), os.Stdout, log); err != nil {
		return fmt.Errorf("games: %w", err)
	}
	return nil
}

type gameCmd struct {
	Export gameExportCmd `cmd:"" help:"Write a game of the record to a file."`
}

type gameExportCmd struct {
	Game   int64  `arg:"" optional:"" help:"Its number in the list of games. Default: the newest."`
	Form   string `enum:"json,csv,html" default:"json" help:"json, csv or html (one page)."`
	Output string `short:"o" help:"File to write. Default: standard output." placeholder:"FILE"`
	rulingsLog
}

func (c *gameExportCmd) Run() error { return c.export(os.Stdout) }

func (c *gameExportCmd) export(out io.Writer) error {
	log, err := c.open()
	if err != nil {
		return fmt.Errorf("game export: %w", err)
	}
	defer log.Close()
	data, err := play.ExportFrom(context.Background(), log, c.Game, c.Form)
	if err != nil {
		return fmt.Errorf("game export: %w", err)
	}
	if c.Output == "" {
		_, err = out.Write(data)
		return err
	}
	return sheet.WriteFile(c.Output, data)
}
