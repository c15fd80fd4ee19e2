package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"text/tabwriter"

	"sightline/calibration"
	"sightline/calibration/verify"
	"sightline/cmd/internal/live"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/engine/scenefile"
	"sightline/vision"
	"sightline/vision/opencv"
)

type locateCmd struct {
	Calibration []string `required:"" sep:"none" placeholder:"FILE" help:"The table calibration, from calibrate table; with --fuse, one for each picture."`
	Images      []string `arg:"" name:"image" help:"Pictures of the table; - is one on standard input."`
	Rules       string   `help:"The edition that the scenes are for: 1e, 2.0 or 2.5." default:"2.5"`
	Catalogue   string   `placeholder:"FILE" help:"The obstacles that may lie there, from obstacles learn; with --empty-mat, they are found too."`
	EmptyMat    string   `placeholder:"FILE" help:"The empty mat, from obstacles learn-mat."`
	At          []string `placeholder:"SHIP,BASE,X,Y[,HEADING]" sep:"none" help:"A ship whose code cannot be read and about where it stands, in mm and degrees: A1,small,420,310,90. Its base is found by its edges; without the heading its arcs are not answered. May be repeated."`
	Mark        []string `placeholder:"SHIP,BASE,X1,Y1,X2,Y2[,SIGMA]" sep:"none" help:"A ship on any base, and the pixels of its front edge's two upper corners, left and right as seen from the ship, exact to SIGMA pixels (0.7): A1,small,812,440.5,853,441. For one picture. May be repeated."`
	Average     bool     `help:"The pictures are of one table at rest, from one camera: their mean is located, which has less noise, and gives one scene."`
	Fuse        bool     `help:"The pictures are of one moment, each from another camera with its own --calibration, in the same order: one scene."`
	JSON        bool     `name:"json" help:"Print one JSON document, a scene for each picture: what measure - reads."`
}

// Run implements the command.
func (c *locateCmd) Run(ctx context.Context) error {
	if err := c.locate(ctx, os.Stdout, os.Stderr); err != nil {
		return fmt.Errorf("locate: %w", err)
	}
	return nil
}

func (c *locateCmd) locate(ctx context.Context, out, warn io.Writer) error {
	rules, err := engine.ParseRules(c.Rules)
	if err != nil {
		return err
	}
	if err := checkImages(c.Images); err != nil {
		return err
	}
	placed, err := readPlaced(c.At)
	if err != nil {
		return err
	}
	marked, err := readMarked(c.Mark, placed)
	if err != nil {
		return err
	}
	if len(marked) > 0 && len(c.Images) != 1 {
		return fmt.Errorf("--mark: expected one picture, whose pixels it says, got %d", len(c.Images))
	}
	tables, err := c.tables(warn)
	if err != nil {
		return err
	}
	options, err := locatorOptions(c.Catalogue, c.EmptyMat)
	if err != nil {
		return err
	}
	markers, err := opencv.NewMarkerDetector(opencv.MarkerOptions{})
	if err != nil {
		return err
	}
	defer markers.Close()
	verified, ok, err := verify.LoadRecord(c.Calibration[0])
	if err != nil {
		fmt.Fprintln(warn, err)
	}
	ok = ok && !c.Fuse // a verification speaks of one camera's answers
	var answer *verify.AnswerJSON
	if ok {
		answer = verified.Answer(&tables[0], &tables[0])
	}
	var views []vision.Located
	var scenes []engine.Scene
	var sights []*vision.ObstacleSight
	var blind error
	seenAny := 0 // markers in all pictures
	names := c.Images
	if c.Average {
		names = names[:1]
	}
	for i, name := range names {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("interrupted before %s", name)
		}
		frame, err := c.picture(i)
		if err != nil {
			return err
		}
		table := tables[min(i, len(tables)-1)]
		got, used, seen, missed, err := locateFrame(table, markers, frame, options, byHand{placed, marked}, warn)
		if err != nil {
			return err
		}
		for _, t := range got.Twins {
			fmt.Fprintf(warn, "%s: %v\n", name, t)
		}
		if !c.Fuse { // cameras are put together by the ships' names
			got.AddUnnamed()
		}
		scene := got.Scene
		seenAny += seen
		if answer != nil && answer.Holds { // until one picture says otherwise
			answer = verified.Answer(&table, &used)
		}
		if seen == 0 && len(scene.Ships) == 0 && blind == nil && !c.Fuse {
			blind = unanswered{fmt.Errorf("%s: neither the mat's markers nor a ship can be seen", name)}
		}
		if blind == nil && !c.Fuse {
			blind = missed
		}
		scene.Rules = rules
		got.Scene = scene
		views = append(views, got)
		scenes, sights = append(scenes, scene), append(sights, got.Obstacles)
		if s := got.Obstacles; s != nil && s.Unseen != "" {
			fmt.Fprintf(warn, "%s: no obstruction is told: %s\n", name, s.Unseen)
		}
	}
	if c.Fuse {
		fused, err := c.fuse(views, warn)
		if err != nil {
			return err
		}
		if len(fused.Scene.Ships) == 0 && seenAny == 0 {
			blind = unanswered{errors.New("neither the mat's markers nor a ship can be seen in any picture")}
		}
		for _, p := range placed {
			if blind == nil && !slices.ContainsFunc(fused.Scene.Ships, func(s engine.Ship) bool { return s.ID == p.ID }) {
				blind = unanswered{fmt.Errorf("--at: no picture shows the base of %s there", p.ID)}
			}
		}
		names, scenes, sights = []string{"all cameras"}, []engine.Scene{fused.Scene}, []*vision.ObstacleSight{fused.Obstacles}
	}
	if c.JSON {
		doc, err := scenefile.MarshalList(scenes)
		if err == nil {
			doc, err = verify.AddTo(doc, answer)
		}
		if err != nil {
			return err
		}
		if _, err = out.Write(append(doc, '\n')); err != nil {
			return err
		}
		return blind
	}
	if err := printScenes(out, names, scenes, sights); err != nil {
		return err
	}
	if !c.Fuse {
		if _, err := fmt.Fprintln(out, answer); err != nil {
			return err
		}
	}
	tellTokens(warn, scenes)
	return blind
}

// picture reads a picture, or with Average the mean of all.
func (c *locateCmd) picture(i int) (vision.Frame, error) {
	if !c.Average {
		return readPicture(c.Images[i])
	}
	var mean vision.Averager
	for _, name := range c.Images {
		f, err := readPicture(name)
		if err != nil {
			return f, err
		}
		if err := mean.Add(f); err != nil {
			return f, fmt.Errorf("--average: %w", err)
		}
	}
	return mean.Frame()
}

// tables loads the calibrations: one, or with Fuse one for each picture.
func (c *locateCmd) tables(warn io.Writer) (out []calibration.Table, err error) {
	switch n, images := len(c.Calibration), len(c.Images); {
	case c.Average && (c.Fuse || images < 2):
		return nil, errors.New("--average: expected two pictures or more of one camera, and no --fuse")
	case c.Fuse && (n != images || n < 2):
		return nil, fmt.Errorf("--fuse: expected two pictures or more and a --calibration for each, in the same order, got %d calibrations and %d pictures", n, images)
	case !c.Fuse && n != 1:
		return nil, fmt.Errorf("--calibration: expected it once, or --fuse with pictures of several cameras, got it %d times", n)
	}
	for _, name := range c.Calibration {
		t, err := loadTable(warn, name)
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}

// fuse makes one view of the pictures, which the user says are of one moment.
func (c *locateCmd) fuse(views []vision.Located, warn io.Writer) (vision.Located, error) {
	fused, err := vision.Fuse(views, vision.FuseOptions{Names: c.Images, Apart: -1})
	if err != nil {
		return fused, err
	}
	for _, note := range fused.Fusion.Notes() {
		fmt.Fprintln(warn, note)
	}
	return fused, nil
}

// tellTokens says what makes a ship visible when no picture shows any.
func tellTokens(warn io.Writer, scenes []engine.Scene) {
	for _, s := range scenes {
		if slices.ContainsFunc(s.Ships, func(p engine.Ship) bool { return !vision.Unnamed(p.ID) }) {
			return
		}
	}
	fmt.Fprintln(warn, "hint: a ship is found by the printed token with a code in its base: sightline print tokens makes them (docs/printing.md)")
}

// nudge is how far a camera may seem to move, in mm on the mat, before a person
// is told: three times what registering the same picture twice differs by.
const nudge = 0.5 * geom.Millimeter

// locatorOptions loads the catalogue and the learnt mat, which go together.
func locatorOptions(catalogue, mat string) (o vision.LocatorOptions, err error) {
	switch {
	case catalogue == "" && mat == "":
		return o, nil
	case catalogue == "":
		return o, errors.New("--catalogue: expected a file of obstacles with --empty-mat, got none")
	case mat == "":
		return o, errors.New("--empty-mat: expected a file of obstacles learn-mat with --catalogue, got none")
	}
	if o.Catalogue, err = vision.LoadCatalogue(catalogue); err != nil {
		return o, fmt.Errorf("--catalogue: %w", err)
	}
	if o.EmptyMat, err = vision.LoadEmptyMat(mat); err != nil {
		return o, fmt.Errorf("--empty-mat: %w", err)
	}
	return o, nil
}

// locateFrame finds the ships in one picture. The camera's place is taken from
// the markers in the picture itself, as far as they can be seen; the calibration that
// was used and how many markers were seen are returned too, and why a ship that a person
// placed was not found.
func locateFrame(table calibration.Table, markers vision.MarkerDetector, frame vision.Frame, o vision.LocatorOptions, by byHand,
	warn io.Writer) (got vision.Located, used calibration.Table, seen int, missed, err error) {
	used, sightings, err := registered(table, markers, frame, warn)
	seen = len(sightings)
	if err != nil {
		return vision.Located{}, used, seen, nil, err
	}
	tellLight(warn, frame, sightings, &used)
	l, err := vision.NewLocator(used, o)
	if err != nil {
		return vision.Located{}, used, seen, nil, fmt.Errorf("%s: %w", frame.Name, err)
	}
	got, err = l.Locate(frame)
	if err == nil {
		if missed, err = locatePlaced(l, frame, by.placed, &got, warn); err == nil {
			missed = locateMarked(l, frame, by.marked, &got, missed, warn)
		}
	}
	return got, used, seen, missed, err
}

// byHand is what a person says of ships.
type byHand struct {
	placed []live.PlacedShip // about where they stand
	marked []markedShip      // where their front edges are in the picture
}

// registered returns the calibration as it is for one picture: scaled to its size,
// the camera's place from the markers in it. It returns the markers that were seen.
func registered(table calibration.Table, markers vision.MarkerDetector, frame vision.Frame, warn io.Writer) (calibration.Table,
	[]calibration.MarkerSighting, error) {
	w, h := frame.Size()
	if w != table.Intrinsics.Width || h != table.Intrinsics.Height {
		scaled, err := table.Intrinsics.Scaled(w, h)
		if err != nil {
			return table, nil, fmt.Errorf("%s: %w", frame.Name, err)
		}
		fmt.Fprintf(warn, "%s: the calibration is for %d×%d pictures, scaled to %d×%d\n",
			frame.Name, table.Intrinsics.Width, table.Intrinsics.Height, w, h)
		table.Intrinsics = scaled
	}
	found, err := markers.DetectMarkers(frame.Gray)
	if err != nil {
		return table, nil, fmt.Errorf("%s: %w", frame.Name, err)
	}
	if len(found) == 0 {
		mirrored, err := vision.Mirrored(markers, frame.Gray)
		if err != nil {
			return table, nil, fmt.Errorf("%s: %w", frame.Name, err)
		}
		if mirrored {
			return table, nil, unanswered{fmt.Errorf("%s: the picture is mirrored: the mat's markers can only be read with left and right exchanged",
				frame.Name)}
		}
	}
	seen := vision.Sightings(found)
	fresh, moved, err := table.Renew(seen)
	switch {
	case err != nil:
		fmt.Fprintf(warn, "%s: the camera's place is taken from the calibration as it stands: %v\n", frame.Name, err)
	case moved > nudge:
		fmt.Fprintf(warn, "%s: the camera or the mat has moved by %.1f mm since the calibration; registered again from %d markers\n",
			frame.Name, float64(moved), len(fresh.Used))
		table = fresh
	default:
		table = fresh
	}
	return table, seen, nil
}

// printScenes prints a table for people, one for each picture.
func printScenes(out io.Writer, names []string, scenes []engine.Scene, sights []*vision.ObstacleSight) error {
	for i, s := range scenes {
		if i > 0 {
			fmt.Fprintln(out)
		}
		unnamed := 0
		for _, p := range s.Ships {
			if vision.Unnamed(p.ID) {
				unnamed++
			}
		}
		fmt.Fprintf(out, "%s: %d ships", names[i], len(s.Ships)-unnamed)
		if unnamed > 0 {
			fmt.Fprintf(out, ", and %s whose code is not read: --at says which ship it is, and which way it points", counted(unnamed, "base"))
		}
		fmt.Fprintln(out)
		if err := printShips(out, s.Ships); err != nil {
			return err
		}
		if sight := sights[i]; sight != nil {
			if err := printObstacles(out, s.Obstacles, sight); err != nil {
				return err
			}
		}
	}
	return nil
}

// printObstacles prints what was found of obstacles, and whether that is all.
func printObstacles(out io.Writer, obstacles []engine.Obstacle, sight *vision.ObstacleSight) error {
	if sight.Unseen != "" {
		_, err := fmt.Fprintf(out, "obstacles are not watched: %s\n", sight.Unseen)
		return err
	}
	fmt.Fprint(out, counted(len(obstacles), "obstacle"))
	if n := len(sight.Things); n > 0 {
		fmt.Fprintf(out, "; %s that may be one", counted(n, "unknown thing"))
	}
	if b := vision.DescribeBlind(sight.Blind); b != "" {
		fmt.Fprintf(out, "; %s", b)
	}
	fmt.Fprintln(out)
	if len(obstacles) == 0 {
		return nil
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "obstacle\tkind\tx mm\ty mm\theading\t± mm\tvisible\tedges in place\tface\t")
	for i, o := range obstacles {
		v, face := sight.Views[i], "traced"
		if v.Flipped {
			face = "other"
		}
		fmt.Fprintf(w, "%s\t%s\t%.2f\t%.2f\t%.2f°\t%.2f\t%.0f %%\t%.0f %%\t%s\t\n", o.ID, o.Kind,
			o.Pose.X, o.Pose.Y, o.Pose.Heading.Degrees(), float64(o.Sigma), 100*v.Visible, 100*v.Support, face)
	}
	return w.Flush()
}

// counted is a number of things in words: "1 base", "2 bases".
func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// printShips prints the ships of one scene.
func printShips(out io.Writer, ships []engine.Ship) error {
	if len(ships) == 0 {
		return nil
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "ship\tbase\tx mm\ty mm\theading\t± mm\t± °\tvisible\tseen\t")
	for _, p := range ships {
		c := p.Covariance
		sigma := max(c[0], c[4])
		heading := fmt.Sprintf("%.2f°", p.Pose.Heading.Degrees())
		if p.Quarters {
			heading += " or a quarter turn from it"
		}
		fmt.Fprintf(w, "%s\t%s\t%.2f\t%.2f\t%s\t%.2f\t%.2f\t%.0f %%\t%s\t\n", p.ID, p.Base,
			p.Pose.X, p.Pose.Y, heading, math.Sqrt(sigma), geom.Angle(math.Sqrt(c[8])).Degrees(), 100*p.Visible, p.Seen)
	}
	return w.Flush()
}
