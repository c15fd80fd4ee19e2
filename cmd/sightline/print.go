package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"sightline/cmd/internal/sheet"
	"sightline/engine"
	"sightline/vision"
)

// printCmd makes the sheets that people print, at true scale.
type printCmd struct {
	Tokens printTokensCmd `cmd:"" help:"Ship tokens, to cut out and lay into the bases."`
}

// printOutput is where a sheet goes and in which form.
type printOutput struct {
	Format string `enum:"pdf,png,svg," default:"" help:"pdf, png or svg; without it, as OUT's ending says."`
	DPI    int    `name:"dpi" default:"600" help:"Resolution of a png, 72…2400 dots per inch."`
	Out    string `short:"o" required:"" placeholder:"OUT" help:"File to write; several pages of png or svg get -1, -2 … before the ending."`
}

// printTokensCmd makes ship tokens.
type printTokensCmd struct {
	printOutput
	Ships  string `default:"A1-A6,A7:medium,A8:large,B1-B6,B7:medium,B8:large" help:"Ships as ID, ID:BASE or FROM-TO:BASE, separated by commas; bases small (default), medium, large."`
	Single bool   `help:"One file per ship into the directory OUT, exactly as large as the base, without margins."`
}

// Run implements the command.
func (c *printTokensCmd) Run() error {
	tokens, err := parseShips(c.Ships)
	if err != nil {
		return fmt.Errorf("print tokens: --ships: %w", err)
	}
	if !c.Single {
		return errors.New("print tokens: sheets: under construction")
	}
	if err := os.MkdirAll(c.Out, 0o777); err != nil {
		return fmt.Errorf("print tokens: OUT: expected a directory that can be written: %w", err)
	}
	for _, t := range tokens {
		name := filepath.Join(c.Out, t.Code.ID()+".png")
		f, err := os.Create(name)
		if err != nil {
			return err
		}
		if err := errors.Join(sheet.WritePNG(f, sheet.Single(t), c.DPI), f.Close()); err != nil {
			return err
		}
	}
	return nil
}

// shipList matches one entry of --ships.
var shipList = regexp.MustCompile(`^([A-Z][0-9]+)(?:-([A-Z][0-9]+))?(?::([^:]*))?$`)

// parseShips reads "A1,B2:medium,A3-A8:large". A ship may stand there once.
func parseShips(list string) ([]vision.Token, error) {
	var out []vision.Token
	seen := map[vision.ShipCode]bool{}
	for _, entry := range strings.Split(list, ",") {
		codes, base, err := parseShipEntry(strings.TrimSpace(entry))
		if err != nil {
			return nil, err
		}
		for _, c := range codes {
			if seen[c] {
				return nil, fmt.Errorf("%s stands there twice; expected each ship once", c.ID())
			}
			seen[c] = true
			t, err := vision.NewToken(c, base)
			if err != nil {
				return nil, fmt.Errorf("%q: %w", entry, err)
			}
			out = append(out, t)
		}
	}
	return out, nil
}

// parseShipEntry reads one entry of --ships: a ship or a range, and the base.
func parseShipEntry(entry string) ([]vision.ShipCode, engine.Base, error) {
	m := shipList.FindStringSubmatch(entry)
	if m == nil {
		return nil, 0, fmt.Errorf("%q: expected ID, ID:BASE or FROM-TO:BASE, as A1, B3:large or A1-A8:small", entry)
	}
	from, err := vision.CodeOfID(m[1])
	if err != nil {
		return nil, 0, err
	}
	to := from
	if m[2] != "" {
		if to, err = vision.CodeOfID(m[2]); err != nil {
			return nil, 0, err
		}
		if to < from || to.Player() != from.Player() {
			return nil, 0, fmt.Errorf("range %q: expected rising numbers of one player, as A1-A8", entry)
		}
	}
	base := engine.Small
	if strings.Contains(entry, ":") {
		base, err = engine.ParseBase(m[3])
		if err != nil || (base != engine.Small && base != engine.Medium && base != engine.Large) {
			return nil, 0, fmt.Errorf("%q: base %q: expected small, medium or large", entry, m[3])
		}
	}
	var codes []vision.ShipCode
	for c := from; c <= to; c++ {
		codes = append(codes, c)
	}
	return codes, base, nil
}
