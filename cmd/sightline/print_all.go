package main

import (
	"context"
	"fmt"
	"io"

	"sightline/calibration"
	"sightline/calibration/verify"
	"sightline/cmd/internal/sheet"
	"sightline/cmd/internal/terminal"
)

// printAllCmd makes all sheets for a first table as one document.
type printAllCmd struct {
	printOutput
	printPaper
	Ships string `default:"A1-A4,B1-B4" help:"Ships, as print tokens takes them. Default: ${default}."`
	Mat   string `default:"914.4x914.4" placeholder:"WxH" help:"The mat's width and height in mm. Default: ${default}."`
	Board string `without:"quick" default:"chessboard:9x6:25mm" placeholder:"KIND:COLSxROWS:SIZE" help:"The board for the lens, as calibrate lens takes it. Default: ${default}."`
	Quick bool   `help:"Only what the quick way takes: markers and tokens, no board and no check card."`
}

// Run implements the command.
func (c *printAllCmd) Run(ctx context.Context) error {
	return terminal.Named("print all", terminal.Progress(ctx, func(context.Context, io.Writer, io.Writer) error {
		pages, err := c.pages()
		if err == nil {
			err = c.write(pages)
		}
		return err
	}))
}

func (c *printAllCmd) pages() ([]sheet.Page, error) {
	w, h, err := sheet.ParseMat(c.Mat)
	if err != nil {
		return nil, err
	}
	set := sheet.Set{Layout: calibration.DefaultLayout(w, h)}
	if set.Tokens, err = sheet.ParseShips(c.Ships); err != nil {
		return nil, fmt.Errorf("--ships: %w", err)
	}
	if !c.Quick {
		board, err := calibration.ParseBoard(c.Board)
		if err != nil {
			return nil, fmt.Errorf("--%w", err)
		}
		card := verify.DefaultCard()
		set.Board, set.Card = &board, &card
	}
	paper, err := c.paper()
	if err != nil {
		return nil, err
	}
	return sheet.All(paper, set)
}
