package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"sightline/calibration"
	"sightline/calibration/verify"
	"sightline/cmd/internal/live"
	"sightline/cmd/internal/looks"
	"sightline/cmd/internal/pictures"
	"sightline/cmd/internal/terminal"
	"sightline/engine"
	"sightline/vision"
	"sightline/vision/catalogue"
	"sightline/vision/exposure"
	"sightline/vision/fusion"
	"sightline/vision/locate"
	"sightline/vision/look"
	"sightline/vision/obstacle"
	"sightline/vision/opencv"
)

type locateCmd struct {
	Calibration []string `required:"" sep:"none" placeholder:"FILE" help:"The table calibration, from calibrate table; with --fuse, one for each picture."`
	Images      []string `arg:"" name:"image" help:"Pictures of the table; - is one on standard input."`
	Rules       string   `help:"The edition that the scenes are for: 1e, 2.0 or 2.5." default:"2.5"`
	Catalogue   string   `placeholder:"FILE" help:"The obstacles that may lie there, from obstacles learn; with --empty-mat, they are found too."`
	EmptyMat    string   `placeholder:"FILE" help:"The empty mat, from obstacles learn-mat."`
	At          []string `placeholder:"SHIP,BASE,X,Y[,HEADING]" sep:"none" help:"A ship whose code cannot be read and about where it stands, in mm and degrees: A1,small,420,310,90. The program finds its base by its edges. Without the heading, its arcs have no answer. May be repeated."`
	Mark        []string `placeholder:"SHIP,BASE,X1,Y1,X2,Y2[,SIGMA]" sep:"none" help:"A ship on any base, and the pixels of its front edge's two upper corners, left and right as seen from the ship, exact to SIGMA pixels (0.7): A1,small,812,440.5,853,441. For one picture. May be repeated."`
	Looks       string   `placeholder:"DIR" help:"The looks of stock ships' cards, from looks learn, by which these ships are found."`
	Average     bool     `help:"The pictures are of one table at rest, from one camera: their mean is located, which has less noise, and gives one scene."`
	Fuse        bool     `help:"The pictures are of one moment, each from another camera with its own --calibration, in the same order: one scene."`
	Unmoved     bool     `help:"Trust that the camera stands where it was calibrated, for pictures in which nothing confirms it."`
	JSON        bool     `name:"json" help:"Print one JSON document, a scene for each picture: what measure - reads."`
}

// Run implements the command.
func (c *locateCmd) Run(ctx context.Context) error {
	return terminal.Named("locate", terminal.Progress(ctx, c.locate))
}

func (c *locateCmd) locate(ctx context.Context, out, warn io.Writer) error {
	l, err := c.prepare(warn)
	if err != nil {
		return err
	}
	markers, err := opencv.NewMarkerDetector(opencv.MarkerOptions{})
	if err != nil {
		return err
	}
	defer markers.Close()
	l.markers = markers
	pictures, err := c.pictures(ctx, l)
	if err != nil {
		return err
	}
	var scenes []scene
	var missed error
	if c.Fuse {
		scenes, missed, err = c.fuse(pictures, l)
	} else {
		scenes, missed = l.scenes(pictures)
	}
	if err != nil {
		return err
	}
	var answer *verify.AnswerJSON
	if !c.Fuse { // a verification is about one camera's answers
		answer = c.verified(pictures, l)
	}
	if err := c.print(out, scenes, answer, warn); err != nil {
		return err
	}
	return missed
}

// locating holds what pictures are located with.
type locating struct {
	rules   engine.Rules
	placed  []live.PlacedShip // ships that a person placed with --at
	marked  []markedShip      // ships marked with --mark
	tables  []calibration.Table
	options locate.Options
	looks   *look.Library        // nil: none
	mat     *obstacle.Background // the empty mat, for the search by looks; nil: unknown
	unmoved bool                 // the user asserts that the camera stands where it was calibrated
	markers vision.MarkerDetector
	warn    io.Writer
}

// prepare parses the command line's values and reads its files.
func (c *locateCmd) prepare(warn io.Writer) (l *locating, err error) {
	l = &locating{warn: warn, unmoved: c.Unmoved}
	if l.rules, err = engine.ParseRules(c.Rules); err != nil {
		return nil, err
	}
	if err := pictures.CheckImages(c.Images); err != nil {
		return nil, err
	}
	if l.placed, err = readPlaced(c.At); err != nil {
		return nil, err
	}
	if l.marked, err = readMarked(c.Mark, l.placed); err != nil {
		return nil, err
	}
	if len(l.marked) > 0 && len(c.Images) != 1 {
		return nil, fmt.Errorf("--mark: expected one picture, whose pixels it says, got %d", len(c.Images))
	}
	if l.tables, err = c.tables(warn); err != nil {
		return nil, err
	}
	if l.looks, err = looks.Load(c.Looks, warn); err != nil {
		return nil, err
	}
	if c.Catalogue == "" && c.EmptyMat != "" && l.looks != nil {
		if l.mat, err = obstacle.LoadBackground(c.EmptyMat); err != nil {
			return nil, fmt.Errorf("--empty-mat: %w", err)
		}
		return l, nil
	}
	l.options, err = locatorOptions(c.Catalogue, c.EmptyMat)
	l.mat = l.options.Background
	return l, err
}

// pictures locates the ships in every picture, or with Average in their mean.
func (c *locateCmd) pictures(ctx context.Context, l *locating) (all []*picture, err error) {
	names := c.Images
	if c.Average {
		names = names[:1]
	}
	for i, name := range names {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("interrupted before %s", name)
		}
		terminal.Step(ctx, "picture", i+1, len(names))
		frame, err := c.picture(i)
		if err != nil {
			return nil, err
		}
		table := l.tables[min(i, len(l.tables)-1)]
		p, err := l.locate(name, frame, table)
		unanswered, nothing := terminal.Unanswered{}, unconfirmedError{}
		if errors.As(err, &unanswered) && (len(names) > 1 || errors.As(err, &nothing)) {
			p, err = l.unlocated(name, table, unanswered), nil // every picture needs a scene
		}
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

// picture is the result of one picture.
type picture struct {
	vision.Located
	name    string
	table   calibration.Table // as it is for this picture
	markers int               // that were seen
	looks   *look.Finder      // nil: no looks are known
	missed  error             // why the first placed ship was not found
	refused error             // why nothing was located; nil: it was
	warn    io.Writer
}

// miss records why a placed ship was not found; the other results are kept.
func (p *picture) miss(format string, args ...any) {
	why := fmt.Errorf("%s: "+format, append([]any{p.name}, args...)...)
	if p.missed == nil { // told as the command ends
		p.missed = terminal.Unanswered{Err: why}
		return
	}
	fmt.Fprintln(p.warn, why)
}

// unlocated returns the result for a picture of a list that could not be located.
func (l *locating) unlocated(name string, t calibration.Table, why error) *picture {
	p := &picture{name: name, table: t, refused: why, warn: l.warn}
	p.Doubtful = true
	p.Scene = engine.Scene{
		Rules: l.rules, MatWidth: t.Layout.Width, MatHeight: t.Layout.Height, ScaleSigma: t.ScaleSigma, ObstaclesUnseen: true,
	}
	return p
}

// locate processes one picture: it registers the camera from the markers in it, as far as they are
// visible, then locates the ships, then those that a person placed.
func (l *locating) locate(name string, frame vision.Frame, table calibration.Table) (*picture, error) {
	used, seen, err := registered(table, l.markers, frame, l.warn)
	if unconfirmed := (unconfirmedError{}); l.unmoved && errors.As(err, &unconfirmed) {
		fmt.Fprintf(l.warn, "%s: the camera's place is taken from the calibration, as --unmoved says: %v\n", frame.Name, unconfirmed.why)
		err = nil
	}
	if err != nil {
		return nil, err
	}
	pictures.TellLight(l.warn, frame, seen, &used)
	options := l.options
	options.Looks = l.looks
	locator, err := locate.New(used, options)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", frame.Name, err)
	}
	p := &picture{name: frame.Name, table: used, markers: len(seen), warn: l.warn}
	if p.Located, err = locator.Locate(frame); err != nil {
		return nil, err
	}
	if l.looks != nil {
		p.looks = look.NewFinder(used, l.looks, l.options.Uncertainty)
	}
	if err := p.placeAll(locator, frame, l.placed); err != nil {
		return nil, err
	}
	p.markAll(locator, l.marked)
	p.name = name
	if l.mat != nil || len(l.placed) == 0 { // without the empty mat the search takes a minute: not if the ships' places were given
		if err := p.searchLooks(frame, l.mat); err != nil {
			return nil, err
		}
	}
	for _, t := range p.Duplicates {
		fmt.Fprintf(l.warn, "%s: %v\n", name, t)
	}
	for _, text := range vision.DescribeRaised(p.Raised) {
		fmt.Fprintf(l.warn, "%s: %s\n", name, text)
	}
	for _, t := range p.Spare {
		fmt.Fprintf(l.warn, "%s: %v\n", name, t)
	}
	for _, text := range vision.DescribeSmall(p.Small) {
		fmt.Fprintf(l.warn, "%s: %s\n", name, text)
	}
	if s := p.Obstacles; s != nil && s.Unseen != "" {
		fmt.Fprintf(l.warn, "%s: no obstruction is told: %s\n", name, s.Unseen)
	}
	if text := p.Obstacles.DescribePushed(); text != "" {
		fmt.Fprintf(l.warn, "%s: %s\n", name, text)
	}
	p.Scene.Rules = l.rules
	return p, nil
}

// scene is the printed result: a scene, and how its obstacles were seen.
type scene struct {
	engine.Scene
	name    string
	sight   *vision.ObstacleSight
	refused error // why nothing was located; nil: it was
}

// scenes returns a scene for each picture, and the first reason why one has no answer.
func (l *locating) scenes(pictures []*picture) (all []scene, missed error) {
	for _, p := range pictures {
		p.AddUnidentified()
		if p.refused != nil && missed != nil {
			fmt.Fprintln(l.warn, p.refused)
		}
		missed = cmp.Or(missed, p.refused)
		if missed == nil && p.markers == 0 && len(p.Scene.Ships) == 0 {
			missed = terminal.Unanswered{Err: fmt.Errorf("%s: neither the mat's markers nor a ship can be seen", p.name)}
		}
		missed = cmp.Or(missed, p.missed)
		all = append(all, scene{p.Scene, p.name, p.Obstacles, p.refused})
	}
	return all, missed
}

// fuse combines the pictures, which the user asserts are of one moment, into one scene.
func (c *locateCmd) fuse(pictures []*picture, l *locating) (all []scene, missed, err error) {
	var views []vision.Located
	markers := 0
	for _, p := range pictures {
		views, markers = append(views, p.Located), markers+p.markers
	}
	fused, err := fusion.Fuse(views, fusion.Options{Names: c.Images, Apart: -1})
	if err != nil {
		return nil, nil, err
	}
	for _, note := range fused.Fusion.Notes() {
		fmt.Fprintln(l.warn, note)
	}
	var refused error
	for _, p := range pictures {
		if p.refused != nil {
			fmt.Fprintln(l.warn, p.refused)
		}
	}
	if !slices.ContainsFunc(pictures, func(p *picture) bool { return p.refused == nil }) {
		refused = terminal.Unanswered{Err: errors.New("none of the pictures could be located")}
	}
	missed = refused
	if missed == nil && len(fused.Scene.Ships) == 0 && markers == 0 {
		missed = terminal.Unanswered{Err: errors.New("neither the mat's markers nor a ship can be seen in any picture")}
	}
	for _, s := range l.placed {
		if missed == nil && !slices.ContainsFunc(fused.Scene.Ships, func(o engine.Ship) bool { return o.ID == s.ID }) {
			missed = terminal.Unanswered{Err: fmt.Errorf("--at: no picture shows the base of %s there", s.ID)}
		}
	}
	return []scene{{fused.Scene, "all cameras", fused.Obstacles, refused}}, missed, nil
}

// verified returns the calibration's verification for the answers: the first picture's for which it
// does not hold, or else the last one's. It returns nil if the calibration was not verified.
func (c *locateCmd) verified(pictures []*picture, l *locating) *verify.AnswerJSON {
	record, ok, err := verify.LoadRecord(c.Calibration[0])
	if err != nil {
		fmt.Fprintln(l.warn, err)
	}
	if !ok {
		return nil
	}
	answer := record.Answer(&l.tables[0], &l.tables[0])
	for _, p := range pictures {
		if answer.Holds {
			answer = record.Answer(&l.tables[0], &p.table)
		}
	}
	return answer
}

// picture reads a picture, or with Average the mean of all.
func (c *locateCmd) picture(i int) (vision.Frame, error) {
	if !c.Average {
		return pictures.Read(c.Images[i])
	}
	var mean exposure.Averager
	for _, name := range c.Images {
		f, err := pictures.Read(name)
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
		return nil, fmt.Errorf("--fuse: expected two pictures or more and a --calibration for each, in the same order, got %d "+
			"calibrations and %d pictures", n, images)
	case !c.Fuse && n != 1:
		return nil, fmt.Errorf("--calibration: expected it once, or --fuse with pictures of several cameras, got it %d times", n)
	}
	for _, name := range c.Calibration {
		t, err := pictures.LoadTable(warn, name)
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}

// locatorOptions loads the catalogue and the learnt mat, which are used together.
func locatorOptions(list, mat string) (o locate.Options, err error) {
	switch {
	case list == "" && mat == "":
		return o, nil
	case list == "":
		return o, errors.New("--catalogue: expected a file of obstacles with --empty-mat, got none")
	case mat == "":
		return o, errors.New("--empty-mat: expected a file of obstacles learn-mat with --catalogue, got none")
	}
	if o.Catalogue, err = catalogue.Load(list); err != nil {
		return o, fmt.Errorf("--catalogue: %w", err)
	}
	if o.Background, err = obstacle.LoadBackground(mat); err != nil {
		return o, fmt.Errorf("--empty-mat: %w", err)
	}
	return o, nil
}
