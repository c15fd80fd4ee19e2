package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"sightline/cmd/internal/app"
	"sightline/cmd/internal/terminal"
)

// secretCmd says the judge's secret to the person at the machine.
type secretCmd struct {
	Config string `help:"Configuration file; without it, sightline.toml if it is there." placeholder:"FILE"`
}

// Run implements the command.
func (c *secretCmd) Run() error {
	config, err := app.LoadConfig(c.Config)
	if err != nil {
		return err
	}
	secret, path, err := app.JudgeSecret(config.Web)
	here := strings.TrimSuffix(config.Web.PageURL(config.Web.Listen), "/") + "/pair"
	return printSecret(secret, path, "at "+here+" or, on another device, at the address that this page names", err)
}

// printSecret prints a judge's secret to standard output alone, and where it is kept and typed to standard error.
func printSecret(secret, path, where string, err error) error {
	switch {
	case errors.Is(err, fs.ErrPermission):
		return terminal.Unanswered{Err: fmt.Errorf("judge's secret: %w; the same command with sudo reads it", err)}
	case err != nil:
		return terminal.Unanswered{Err: fmt.Errorf("judge's secret: %w", err)}
	}
	fmt.Fprintf(os.Stderr, "sightline: the judge's secret, kept in %s; type it %s:\n", path, where)
	fmt.Println(secret)
	return nil
}
