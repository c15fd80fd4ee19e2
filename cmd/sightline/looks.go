package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"sightline/calibration"
	"sightline/cmd/internal/looks"
	"sightline/cmd/internal/pictures"
	"sightline/cmd/internal/pipeline"
	"sightline/cmd/internal/sentence"
	"sightline/cmd/internal/terminal"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/catalogue"
	"sightline/vision/look"
	"sightline/vision/obstacle"
	"sightline/vision/opencv"
)

// looksCmd is the group of commands about the looks of ships without our tokens.
type looksCmd struct {
	Learn looksLearnCmd `cmd:"" help:"Learn how stock ships' cards look, from bases without miniatures at known places."`
	List  looksListCmd  `cmd:"" help:"List the looks of a folder."`
}

// looksLearnCmd learns looks.
type looksLearnCmd struct {
	pictures.Input `embed:""`

	Calibration string   `required:"" placeholder:"FILE" help:"The table calibration, from calibrate table."`
	Jig         string   `placeholder:"SHIP,BASE" help:"A ship whose base is pushed into the corner of the jig sheet (print jig): A1,small. Four pictures, or --source, show it in four quarter turns, first with its front to the arrow 1."`
	At          []string `placeholder:"SHIP,BASE,X,Y,HEADING" sep:"none" help:"Without the jig: a base without its miniature and where it stands, to 0.1 mm and 0.1°: A1,small,420,310,90. A ship given several times is seen several times, best in four quarter turns. A1+A2+A3 says that all three carry this card; it is learnt from A1's. A picture shows all of them; or there is one for each --at, in the same order."`
	Name        []string `placeholder:"NAME" help:"The ships' names, in the order in which they first appear in --at."`
	Out         string   `name:"output" short:"o" required:"" placeholder:"DIR" help:"The folder of the looks, which is made if it does not exist."`
}

// Run implements the command.
func (c *looksLearnCmd) Run(ctx context.Context) error {
	err := terminal.Progress(ctx, func(ctx context.Context, _, progress io.Writer) error { return c.run(ctx, progress) })
	return terminal.Named("looks learn", err)
}

func (c *looksLearnCmd) run(ctx context.Context, progress io.Writer) error {
	switch {
	case (c.Jig == "") == (len(c.At) == 0):
		return errors.New("expected --jig SHIP,BASE, or --at where each base stands")
	case c.Jig == "" && c.Source != "":
		return errors.New("--source: expected --jig with it, or pictures with --at")
	}
	if err := c.Check(); err != nil {
		return err
	}
	if c.Jig != "" {
		return c.show(ctx, progress)
	}
	ships, err := looks.Read(c.At, c.Name)
	if err != nil {
		return err
	}
	if err := looks.CheckApart(ships, len(c.Images), len(c.At)); err != nil {
		return err
	}
	pictures, err := c.pictures(ctx, progress)
	if err != nil {
		return err
	}
	learnt, err := looks.Learn(ships, pictures, len(c.At))
	if err != nil {
		return terminal.Unanswered{Err: err}
	}
	for i, l := range learnt { // all of them or none
		if err := l.Save(c.Out); err != nil {
			return err
		}
		fmt.Fprintf(progress, "%s: %v base, learnt from %s\n", l.Name, l.Base, views(l))
		if !ships[i].Turned() {
			fmt.Fprintf(progress, "%s: seen in one heading only, it may have a miniature on its base: show it in four quarter turns\n", l.Name)
		}
	}
	return nil
}

// show learns the look of a ship on the jig sheet.
func (c *looksLearnCmd) show(ctx context.Context, progress io.Writer) error {
	guide, err := looks.NewJig(c.Jig, c.Name, c.Live(), progress)
	if err != nil {
		return err
	}
	table, err := pictures.LoadTable(progress, c.Calibration)
	if err != nil {
		return err
	}
	markers, err := opencv.NewMarkerDetector(opencv.MarkerOptions{})
	if err != nil {
		return err
	}
	defer markers.Close()
	err = c.Each(ctx, func(f vision.Frame) (useful, enough bool, err error) {
		used, seen, err := registered(table, markers, f, progress)
		if err != nil {
			return false, false, err
		}
		useful, enough = guide.Add(used, f, seen)
		return useful, enough, nil
	})
	if err != nil {
		return err
	}
	l, err := guide.Learn()
	if err != nil {
		return terminal.Unanswered{Err: err}
	}
	if err := l.Save(c.Out); err != nil {
		return err
	}
	picture, err := look.PictureFile(c.Out, l.Name)
	if err != nil {
		return err
	}
	fmt.Fprintf(progress, "%s: %v base, learnt from %s; check that the front is up in %s\n", l.Name, l.Base, views(l), picture)
	return nil
}

// pictures reads the pictures, each with the table registered in it.
func (c *looksLearnCmd) pictures(ctx context.Context, progress io.Writer) (out []look.View, err error) {
	table, err := pictures.LoadTable(progress, c.Calibration)
	if err != nil {
		return nil, err
	}
	markers, err := opencv.NewMarkerDetector(opencv.MarkerOptions{})
	if err != nil {
		return nil, err
	}
	defer markers.Close()
	for _, name := range c.Images {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("interrupted before %s", name)
		}
		frame, err := pictures.Read(name)
		if err != nil {
			return nil, err
		}
		used, _, err := registered(table, markers, frame, progress)
		if err != nil {
			return nil, err
		}
		out = append(out, look.View{Table: used, Frame: frame})
	}
	return out, nil
}

// views says from how many views a look was learnt, and whether they showed the number on the
// ship's ID tokens.
func views(l *look.Look) string {
	text := sentence.Counted(l.Views, "view")
	if l.HasNumber() {
		text += ", with the number on its ID tokens"
	}
	return text
}

// looksListCmd lists looks.
type looksListCmd struct {
	Dir  string `arg:"" name:"dir" help:"The folder of the looks."`
	JSON bool   `name:"json" help:"Print one JSON document."`
}

// Run implements the command.
func (c *looksListCmd) Run() error {
	return terminal.Named("looks list", c.list(os.Stdout, os.Stderr))
}

func (c *looksListCmd) list(out, warn io.Writer) error {
	known, err := look.Load(c.Dir)
	if err != nil {
		return err
	}
	looks.Warn(warn, known)
	if c.JSON {
		return looks.PrintJSON(out, known)
	}
	return looks.Print(out, known)
}

// searchLooks adds the ships that are found by their looks anywhere on the mat.
func (p *picture) searchLooks(f vision.Frame, mat *obstacle.Background) error {
	if p.looks == nil {
		return nil
	}
	var lies func(geom.Point) bool
	if mat != nil {
		finder, err := obstacle.NewFinder(p.table, &catalogue.Catalogue{}, mat, calibration.Uncertainty{})
		if err != nil {
			return fmt.Errorf("--empty-mat: %w", err)
		}
		seen := finder.Differs(f)
		lies = func(at geom.Point) bool { return seen.At(at) != vision.CellBare }
	}
	found := p.looks.Search(f, lies, p.Scene.Ships)
	for _, wrong := range p.looks.Turned() {
		fmt.Fprintf(p.warn, "%s: %v\n", p.name, wrong)
	}
	for _, s := range found {
		ship := p.looks.Ship(&s, "", p.FreeID())
		if other := pipeline.ShipAt(p.Scene.Ships, ship.ID, ship.Base, ship.Pose); other != "" {
			fmt.Fprintf(p.warn, "%s: %s stands where the card of %s seems to lie\n", p.name, other, s.Look.Name)
			continue
		}
		if slices.ContainsFunc(p.Scene.Ships, func(o engine.Ship) bool { return o.ID == ship.ID }) { // a person placed it elsewhere
			ship.ID, ship.NameDoubt, ship.LookDoubt = p.FreeID(), s.Ships(), !s.Told()
		}
		p.Scene.Ships, p.Located.Ships = append(p.Scene.Ships, ship), append(p.Located.Ships, p.looks.View(ship.ID, &s))
	}
	return nil
}
