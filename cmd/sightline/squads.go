package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"sightline/calibration/regularfile"
	"sightline/cmd/internal/squads"
)

type squadsCmd struct {
	Check  squadsCheckCmd  `cmd:"" help:"List a squad's ships, and the ids that are not in the data."`
	Notice squadsNoticeCmd `cmd:"" help:"Print the licence of the ship data."`
}

type squadsNoticeCmd struct{}

func (c *squadsNoticeCmd) Run() error {
	_, err := io.WriteString(os.Stdout, squads.Notice)
	return err
}

type squadsCheckCmd struct {
	Squad string `arg:"" help:"The squad, an XWS file as squad builders export it; - is standard input."`
	Data  string `help:"Your own newer ship data: a clone of xwing-data2." placeholder:"DIR"`
	JSON  bool   `name:"json" help:"Print one JSON document."`
}

func (c *squadsCheckCmd) Run() error { return c.check(os.Stdin, os.Stdout) }

// check reads the squad, from stdin for "-", and prints its report to out.
func (c *squadsCheckCmd) check(stdin io.Reader, out io.Writer) error {
	name, in := c.Squad, stdin
	if name == "-" {
		name = "standard input"
	} else {
		f, err := regularfile.Open(name)
		if err != nil {
			return fmt.Errorf("squads check: %w", err)
		}
		defer f.Close()
		in = f
	}
	raw, err := regularfile.ReadAll(in, name, squads.MaxFile)
	if err != nil {
		return fmt.Errorf("squads check: %w", err)
	}
	squad, err := squads.Parse(raw)
	if err != nil {
		return fmt.Errorf("squads check: %s: %w", name, err)
	}
	data := squads.Builtin()
	if c.Data != "" {
		if data, err = squads.Load(c.Data); err != nil {
			return fmt.Errorf("squads check: --data: %w", err)
		}
	}
	report := data.Check(squad)
	if !c.JSON {
		return report.Print(out)
	}
	doc, err := json.Marshal(report)
	return printDoc(out, "squads check", doc, err)
}
