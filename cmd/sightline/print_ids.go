package main

import (
	"fmt"

	"sightline/cmd/internal/sheet"
)

// printIDsCmd makes the coloured dots and flat numbers that distinguish ships that look alike.
type printIDsCmd struct {
	printOutput
	printPaper
	Ships string `default:"A1-A5,B1-B5" help:"Ships as ID or FROM-TO, separated by commas. Default: ${default}."`
}

// Run implements the command.
func (c *printIDsCmd) Run() error {
	if err := c.print(); err != nil {
		return fmt.Errorf("print ids: %w", err)
	}
	return nil
}

func (c *printIDsCmd) print() error {
	ships, err := sheet.ParseShips(c.Ships)
	if err != nil {
		return fmt.Errorf("--ships: %w", err)
	}
	paper, err := c.paper()
	if err != nil {
		return err
	}
	pages, err := sheet.IDs(paper, ships)
	if err != nil {
		return err
	}
	return c.write(pages)
}
