package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"sightline/calibration"
	"sightline/calibration/verify"
	"sightline/cmd/internal/app"
	"sightline/cmd/internal/sheet"
	"sightline/cmd/internal/terminal"
	"sightline/vision/token"
)

// printCmd is the group of commands that make sheets for printing at true scale.
type printCmd struct {
	All        printAllCmd        `cmd:"" help:"Print all that a first table needs as one document, with what to do first."`
	Tokens     printTokensCmd     `cmd:"" help:"Print ship tokens, to cut out and lay into the bases."`
	MatMarkers printMatMarkersCmd `cmd:"" help:"Print the eight markers around the mat, and where they lie."`
	Chessboard printChessboardCmd `cmd:"" help:"Print a chessboard to calibrate a lens."`
	Charuco    printCharucoCmd    `cmd:"" help:"Print a ChArUco board to calibrate a lens: the camera need not see all of it."`
	CheckCard  printCheckCardCmd  `cmd:"" help:"Print the check card, to verify a calibration."`
	IDs        printIDsCmd        `cmd:"" name:"ids" help:"Print coloured dots, by which the camera tells apart ships that look alike, and flat numbers."`
	Jig        printJigCmd        `cmd:"" help:"Print the jig sheet, on which you show stock ships to the camera."`
}

// printOutput is the destination and format of sheets.
type printOutput struct {
	Format string `placeholder:"pdf|png|svg" help:"pdf, png or svg. Default: by OUT's extension."`
	DPI    int    `name:"dpi" default:"600" help:"Resolution of a png in dots per inch, 72 to 1200."`
	Out    string `name:"output" aliases:"out" short:"o" required:"" placeholder:"OUT" help:"File to write, - for standard output. Several pages of png or svg get -1, -2 … before the extension."`
}

// printPaper is the paper of the sheets and its printer.
type printPaper struct {
	Paper         string  `without:"single" default:"a4" placeholder:"a4|letter|a3|tabloid" help:"a4, letter, a3 or tabloid. Default: ${default}."`
	PrinterScaleX float64 `placeholder:"S" help:"The printer's scale along the paper's short side: the measured length of the 100 mm bar x, divided by 100. Default: print.scale_x of the configuration."`
	PrinterScaleY float64 `placeholder:"S" help:"The same along the long side, from the bar y. Default: print.scale_y of the configuration."`
	Config        string  `placeholder:"FILE" help:"Configuration file. Default: sightline.toml, if it is there."`
}

// paper returns the paper with its printer's scale, from the flags or else the configuration.
func (c printPaper) paper() (sheet.Paper, error) {
	paper, err := sheet.ParsePaper(c.Paper)
	if err != nil {
		return paper, fmt.Errorf("--%w", err)
	}
	paper.Printer, err = c.printer()
	return paper, err
}

func (c printPaper) printer() (sheet.PrinterScale, error) {
	asked, err := sheet.ParsePrinterScale(c.PrinterScaleX, c.PrinterScaleY)
	if err != nil {
		return asked, fmt.Errorf("--printer-%w", err)
	}
	if asked.X != 0 && asked.Y != 0 && c.Config == "" {
		return asked, nil
	}
	cfg, err := app.LoadConfig(c.Config)
	if err != nil {
		return asked, err
	}
	if asked.X == 0 {
		asked.X = cfg.Print.ScaleX
	}
	if asked.Y == 0 {
		asked.Y = cfg.Print.ScaleY
	}
	return asked, nil
}

// check determines the format and refuses an impossible resolution.
func (o printOutput) check() (sheet.Format, error) {
	if o.DPI < sheet.MinDPI || o.DPI > sheet.MaxDPI {
		return "", fmt.Errorf("--dpi: expected %d…%d, got %d", sheet.MinDPI, sheet.MaxDPI, o.DPI)
	}
	return sheet.FormatOf(o.Format, o.Out)
}

// write writes sheets and reports them on standard output.
func (o printOutput) write(pages []sheet.Page) error {
	format, err := o.check()
	if err != nil {
		return err
	}
	if o.Out == "-" {
		return sheet.WriteTo(os.Stdout, format, o.DPI, pages)
	}
	names, err := sheet.WriteFiles(o.Out, format, o.DPI, pages)
	if err != nil {
		return err
	}
	for _, n := range names {
		fmt.Println("wrote", n)
	}
	return nil
}

// draw writes the sheets that pages draws on the paper.
func (c printPaper) draw(o printOutput, pages func(sheet.Paper) ([]sheet.Page, error)) error {
	paper, err := c.paper()
	if err != nil {
		return err
	}
	drawn, err := pages(paper)
	if err != nil {
		return err
	}
	return o.write(drawn)
}

// printTokensCmd makes ship tokens.
type printTokensCmd struct {
	printOutput
	printPaper
	Ships  string `default:"A1-A6,A7:medium,A8:large,B1-B6,B7:medium,B8:large" help:"Ships as ID, ID:BASE or FROM-TO:BASE, separated by commas. BASE is small (when left out), medium, large, huge-195 or huge-225. Default: ${default}."`
	Single bool   `help:"One file per ship into the directory OUT, exactly as large as the base, without margins."`
}

// Run implements the command.
func (c *printTokensCmd) Run() error {
	tokens, err := sheet.ParseShips(c.Ships)
	if err != nil {
		return fmt.Errorf("print tokens: --ships: %w", err)
	}
	if c.Single {
		return terminal.Named("print tokens", c.writeSingle(tokens))
	}
	return terminal.Named("print tokens", c.draw(c.printOutput, func(paper sheet.Paper) ([]sheet.Page, error) {
		return sheet.Tokens(paper, tokens)
	}))
}

// writeSingle writes one file per token into the directory OUT: A1.png, B3.svg.
func (c *printTokensCmd) writeSingle(tokens []token.Token) error {
	if c.Format == "" {
		return fmt.Errorf("--single: expected --format pdf, png or svg")
	}
	format, err := sheet.ParseFormat(c.Format)
	if err != nil {
		return fmt.Errorf("--%w", err)
	}
	printer, err := c.printer()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(c.Out, 0o777); err != nil {
		return fmt.Errorf("--single: expected a directory that can be written: %w", err)
	}
	for _, t := range tokens {
		o := c.printOutput
		o.Out = filepath.Join(c.Out, t.Code.ID()+"."+string(format))
		if err := o.write([]sheet.Page{sheet.Single(t, printer)}); err != nil {
			return err
		}
	}
	return nil
}

// printMatMarkersCmd makes the mat's markers.
type printMatMarkersCmd struct {
	printOutput
	printPaper
	Mat string `default:"914.4x914.4" placeholder:"WxH" help:"The mat's width and height in mm. Default: ${default}."`
}

// Run implements the command.
func (c *printMatMarkersCmd) Run() error {
	w, h, err := sheet.ParseMat(c.Mat)
	if err == nil {
		err = c.draw(c.printOutput, func(paper sheet.Paper) ([]sheet.Page, error) {
			return sheet.MatMarkers(paper, calibration.DefaultLayout(w, h))
		})
	}
	return terminal.Named("print mat-markers", err)
}

// printChessboardCmd makes a chessboard.
type printChessboardCmd struct {
	printOutput
	printPaper
	Board string `default:"9x6:25mm" placeholder:"COLSxROWS:SIZE" help:"Inner corners and the side of a square in mm or in. Default: ${default}."`
}

// Run implements the command.
func (c *printChessboardCmd) Run() error {
	return terminal.Named("print chessboard", c.printBoard(c.printOutput, calibration.Chessboard, c.Board))
}

// printCharucoCmd makes a ChArUco board.
type printCharucoCmd struct {
	printOutput
	printPaper
	Board string `default:"9x6:25mm:18mm" placeholder:"COLSxROWS:SIZE:MARKER" help:"Inner corners, the side of a square and of a marker's black square in mm or in. Default: ${default}."`
}

// Run implements the command.
func (c *printCharucoCmd) Run() error {
	return terminal.Named("print charuco", c.printBoard(c.printOutput, calibration.ChArUco, c.Board))
}

// printBoard writes the board of a description, with or without its kind.
func (c printPaper) printBoard(o printOutput, kind calibration.BoardKind, spec string) error {
	whole := spec
	if spec != "" && spec[0] >= '0' && spec[0] <= '9' {
		whole = kind.String() + ":" + spec
	}
	board, err := calibration.ParseBoard(whole)
	if err != nil { // quote the user's text, not the completed one
		return fmt.Errorf("--%s", strings.Replace(err.Error(), strconv.Quote(whole), strconv.Quote(spec), 1))
	}
	if board.Kind != kind {
		return fmt.Errorf("--board %q: expected a %v, or the command print %v", spec, kind, board.Kind)
	}
	return c.draw(o, func(paper sheet.Paper) ([]sheet.Page, error) {
		page, err := sheet.LensBoard(paper, board)
		return []sheet.Page{page}, err
	})
}

// printCheckCardCmd makes the check card.
type printCheckCardCmd struct {
	printOutput
	printPaper
}

// Run implements the command.
func (c *printCheckCardCmd) Run() error {
	return terminal.Named("print check-card", c.draw(c.printOutput, func(paper sheet.Paper) ([]sheet.Page, error) {
		page, err := sheet.CheckCard(paper, verify.DefaultCard())
		return []sheet.Page{page}, err
	}))
}

// printJigCmd makes the jig sheet.
type printJigCmd struct {
	printOutput
	printPaper
}

// Run implements the command.
func (c *printJigCmd) Run() error {
	return terminal.Named("print jig", c.draw(c.printOutput, sheet.Jig))
}

// printIDsCmd makes the coloured dots and flat numbers that distinguish ships that look alike.
type printIDsCmd struct {
	printOutput
	printPaper
	Ships string `default:"A1-A5,B1-B5" help:"Ships as ID or FROM-TO, separated by commas. Default: ${default}."`
}

// Run implements the command.
func (c *printIDsCmd) Run() error {
	ships, err := sheet.ParseShips(c.Ships)
	if err != nil {
		return fmt.Errorf("print ids: --ships: %w", err)
	}
	return terminal.Named("print ids", c.draw(c.printOutput, func(paper sheet.Paper) ([]sheet.Page, error) { return sheet.IDs(paper, ships) }))
}
