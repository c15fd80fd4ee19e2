package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/look"
	"sightline/vision/opencv"
	"sightline/vision/token"
)

// looksCmd holds what ships that carry nothing of ours are known by.
type looksCmd struct {
	Learn looksLearnCmd `cmd:"" help:"Learn how ships' cards look, from bases without miniatures whose places are known."`
	List  looksListCmd  `cmd:"" help:"List the looks of a folder."`
}

// looksLearnCmd learns looks.
type looksLearnCmd struct {
	Calibration string   `required:"" placeholder:"FILE" help:"The table calibration, from calibrate table."`
	At          []string `required:"" placeholder:"SHIP,BASE,X,Y,HEADING" sep:"none" help:"A base without its miniature and where it stands, to 0.1 mm and 0.1°: A1,small,420,310,90. A ship given several times is seen several times, best in four quarter turns. A1+A2+A3 says that all three carry this card; it is learnt from A1's."`
	Name        []string `placeholder:"NAME" help:"What the ships are called, in the order in which --at names them first."`
	Out         string   `name:"output" short:"o" required:"" placeholder:"DIR" help:"The folder of the looks; it is made if it is not there."`
	Images      []string `arg:"" name:"image" help:"A picture that shows all of them, several of a table at rest, or one for each --at, in the same order."`
}

// Run implements the command.
func (c *looksLearnCmd) Run(ctx context.Context) error {
	if err := c.run(ctx, os.Stderr); err != nil {
		return fmt.Errorf("looks learn: %w", err)
	}
	return nil
}

// shownShip is a ship that is shown to the camera: its card, and its places.
type shownShip struct {
	look.Card
	poses []geom.Pose
	said  []int // which --at each place is of
}

func (c *looksLearnCmd) run(ctx context.Context, progress io.Writer) error {
	ships, err := c.shown()
	if err != nil {
		return err
	}
	if err := checkImages(c.Images); err != nil {
		return err
	}
	known, err := look.Load(c.Out)
	if errors.Is(err, fs.ErrNotExist) {
		known, err = &look.Library{}, nil
	}
	if err != nil {
		return err
	}
	views, err := c.pictures(ctx, progress)
	if err != nil {
		return err
	}
	var learnt []*look.Look
	for _, s := range ships {
		l, err := look.Learn(s.Card, c.viewsOf(&s, views))
		if err != nil {
			return unanswered{fmt.Errorf("%s: %w", s.Name, err)}
		}
		learnt = append(learnt, l)
	}
	for _, l := range learnt { // all of them or none
		if err := l.Save(c.Out); err != nil {
			return err
		}
		verb := "learnt"
		if slices.ContainsFunc(known.Looks, func(k *look.Look) bool { return k.Name == l.Name }) {
			verb = "learnt again"
		}
		fmt.Fprintf(progress, "%s: %v base, %s, %s\n", l.Name, l.Base, counted(l.Views, "view"), verb)
		if l.Views == 1 {
			fmt.Fprintf(progress, "%s: one view cannot show whether a miniature stands on the base: show it in four quarter turns\n", l.Name)
		}
	}
	return nil
}

// shown reads what --at and --name say.
func (c *looksLearnCmd) shown() (out []shownShip, err error) {
	for at, text := range c.At {
		part := strings.Split(text, ",")
		if len(part) != 5 {
			return nil, fmt.Errorf("--at %q: expected SHIP,BASE,X,Y,HEADING, such as A1,small,420,310,90", text)
		}
		ids := strings.Split(strings.TrimSpace(part[0]), "+")
		for _, id := range ids {
			if _, err := token.CodeOfID(id); err != nil {
				return nil, fmt.Errorf("--at %q: %w", text, err)
			}
		}
		base, err := engine.ParseBase(strings.TrimSpace(part[1]))
		if err != nil {
			return nil, fmt.Errorf("--at %q: %w", text, err)
		}
		var v [3]float64
		for i, p := range part[2:] {
			if v[i], err = strconv.ParseFloat(strings.TrimSpace(p), 64); err != nil || !(math.Abs(v[i]) <= 10000) {
				return nil, fmt.Errorf("--at %q: expected a number, got %q", text, p)
			}
		}
		i := slices.IndexFunc(out, func(s shownShip) bool { return s.Name == ids[0] })
		if i < 0 {
			i = len(out)
			out = append(out, shownShip{Card: look.Card{Name: ids[0], Ships: ids, Base: base}})
		}
		if out[i].Base != base || !slices.Equal(out[i].Ships, ids) {
			return nil, fmt.Errorf("--at %q: expected the base and the ships of the first --at of %s", text, ids[0])
		}
		heading := (geom.Angle(v[2]) * geom.Degree).Normalized()
		out[i].poses = append(out[i].poses, geom.Pose{Point: geom.Point{X: v[0], Y: v[1]}, Heading: heading})
		out[i].said = append(out[i].said, at)
	}
	if len(c.Name) > len(out) {
		return nil, fmt.Errorf("--name: expected at most one for each of the %s that --at names, got %d", counted(len(out), "ship"), len(c.Name))
	}
	for i, n := range c.Name {
		out[i].Pilot = strings.TrimSpace(n)
	}
	return out, nil
}

// pictures reads the pictures, each with the table as it shows it.
func (c *looksLearnCmd) pictures(ctx context.Context, progress io.Writer) (out []look.View, err error) {
	table, err := loadTable(progress, c.Calibration)
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
		frame, err := readPicture(name)
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

// viewsOf returns the views of one ship: each place in each picture, or in its own.
func (c *looksLearnCmd) viewsOf(s *shownShip, pictures []look.View) (out []look.View) {
	for i, pose := range s.poses {
		for k, v := range pictures {
			if len(pictures) > 1 && len(pictures) == len(c.At) && k != s.said[i] {
				continue
			}
			v.Pose = pose
			out = append(out, v)
		}
	}
	return out
}

// looksListCmd lists looks.
type looksListCmd struct {
	Dir  string `arg:"" name:"dir" help:"The folder of the looks."`
	JSON bool   `name:"json" help:"Print one JSON document."`
}

// Run implements the command.
func (c *looksListCmd) Run() error {
	if err := c.list(os.Stdout); err != nil {
		return fmt.Errorf("looks list: %w", err)
	}
	return nil
}

func (c *looksListCmd) list(out io.Writer) error {
	known, err := look.Load(c.Dir)
	if err != nil {
		return err
	}
	if c.JSON {
		return printLooksJSON(out, known)
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "look\tships\tbase\tcalled\tviews\tpicture")
	for _, l := range known.Looks {
		kind := "colour"
		if !l.Color {
			kind = "grey"
		}
		fmt.Fprintf(w, "%s\t%s\t%v\t%s\t%d\t%s, %.2f px/mm\n", l.Name, strings.Join(l.Ships, " "), l.Base, l.Pilot, l.Views, kind, l.Scale)
	}
	return w.Flush()
}

// loadLooks reads the looks of a folder; "": none.
func loadLooks(dir string) (*look.Library, error) {
	if dir == "" {
		return nil, nil
	}
	known, err := look.Load(dir)
	if err != nil {
		return nil, fmt.Errorf("--looks: %w", err)
	}
	if len(known.Looks) == 0 {
		return nil, fmt.Errorf("--looks %s: expected looks, from looks learn, got none", dir)
	}
	return known, nil
}

// lookAt finds a ship that a person placed by its card. It reports false where it is not believed.
func (p *picture) lookAt(f vision.Frame, hint look.Hint, id string) (engine.Ship, vision.ShipView, bool, error) {
	if p.looks == nil {
		return engine.Ship{}, vision.ShipView{}, false, nil
	}
	sight, ok, err := p.looks.Near(f, hint)
	if err != nil || !ok {
		return engine.Ship{}, vision.ShipView{}, false, err
	}
	return p.looks.Ship(&sight, id, ""), p.looks.View(id, &sight), true, nil
}
