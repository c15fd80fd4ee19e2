package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sightline/cmd/internal/play"
	"sightline/cmd/internal/sheet"
	"sightline/cmd/internal/terminal"
)

// gameCmd is the group of commands that read the games of the record.
type gameCmd struct {
	List   gameListCmd   `cmd:"" help:"List the games of the record."`
	Export gameExportCmd `cmd:"" help:"Write a game of the record to a file."`
}

type gameListCmd struct {
	rulingsLog
}

// Run implements the command.
func (c *gameListCmd) Run() error { return terminal.Named("game list", c.list(os.Stdout)) }

func (c *gameListCmd) list(out io.Writer) error {
	log, err := c.open()
	if err != nil {
		return err
	}
	defer log.Close()
	return play.Print(context.Background(), out, log)
}

type gameExportCmd struct {
	Game   int64  `arg:"" optional:"" help:"The game's number in the list of games. Default: the newest."`
	Form   string `placeholder:"json|csv|html" help:"json, csv or html (one page). Default: by FILE's extension; json on standard output."`
	Output string `short:"o" default:"-" help:"File to write, - for standard output." placeholder:"FILE"`
	rulingsLog
}

// Run implements the command.
func (c *gameExportCmd) Run() error { return terminal.Named("game export", c.export(os.Stdout)) }

func (c *gameExportCmd) export(out io.Writer) error {
	form, err := formOf(c.Form, c.Output)
	if err != nil {
		return err
	}
	log, err := c.open()
	if err != nil {
		return err
	}
	defer log.Close()
	data, err := play.ExportFrom(context.Background(), log, c.Game, form)
	if err != nil {
		return err
	}
	if c.Output == "-" {
		_, err = out.Write(data)
		return err
	}
	if err := sheet.WriteFile(c.Output, data); err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, "wrote", c.Output)
	return err
}

// formOf returns the form in which to write a game to a file: the requested one, or that of the
// file's extension if none was requested. It fails if the two disagree. - is standard output.
func formOf(asked, file string) (string, error) {
	of := strings.ToLower(strings.TrimPrefix(filepath.Ext(file), "."))
	known := slices.Contains(play.Forms, of)
	switch {
	case asked != "" && !slices.Contains(play.Forms, asked):
		return "", fmt.Errorf("--form: expected json, csv or html, got %.40q", asked)
	case asked != "" && known && asked != of:
		return "", fmt.Errorf("--form %s: expected a name ending in .%s, got %s", asked, asked, file)
	case asked != "":
		return asked, nil
	case file == "-":
		return "json", nil
	case !known:
		return "", fmt.Errorf("%s: expected --form, or a name ending in .json, .csv or .html", file)
	}
	return of, nil
}
