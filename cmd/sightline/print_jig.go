package main

import (
	"fmt"

	"sightline/cmd/internal/sheet"
)

// printJigCmd makes the jig sheet.
type printJigCmd struct {
	printOutput
	printPaper
}

// Run implements the command.
func (c *printJigCmd) Run() error {
	paper, err := c.paper()
	var pages []sheet.Page
	if err == nil {
		pages, err = sheet.Jig(paper)
	}
	if err == nil {
		err = c.write(pages)
	}
	if err != nil {
		return fmt.Errorf("print jig: %w", err)
	}
	return nil
}
