package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"sightline/calibration/verify"
	"sightline/cmd/internal/sentence"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/engine/scenefile"
	"sightline/vision"
	"sightline/vision/token"
)

// print prints the scenes and the calibration's verification.
func (c *locateCmd) print(out io.Writer, scenes []scene, answer *verify.AnswerJSON, warn io.Writer) error {
	if c.JSON {
		var plain []engine.Scene
		for i := range scenes {
			plain = append(plain, scenes[i].Scene)
		}
		doc, err := scenefile.MarshalList(plain)
		if err == nil {
			doc, err = verify.AddTo(doc, answer)
		}
		if err != nil {
			return err
		}
		_, err = out.Write(append(doc, '\n'))
		return err
	}
	if err := printScenes(out, scenes); err != nil {
		return err
	}
	if !c.Fuse {
		if _, err := fmt.Fprintln(out, answer); err != nil {
			return err
		}
	}
	tellTokens(warn, scenes)
	return nil
}

// tellTokens says how to make ships visible if no picture shows any.
func tellTokens(warn io.Writer, scenes []scene) {
	for _, s := range scenes {
		named := func(p engine.Ship) bool { return !token.Unidentified(p.ID) || p.Look != "" }
		if s.refused != nil || slices.ContainsFunc(s.Ships, named) {
			return
		}
	}
	fmt.Fprintln(warn, "hint: a ship is found by the printed token with a code in its base (sightline print tokens), by its own card "+
		"with --looks (sightline looks learn), or where you say that it stands, with --at or --mark (sightline locate --help)")
}

// printScenes prints the scenes for people, a table for each picture.
func printScenes(out io.Writer, scenes []scene) error {
	for i, s := range scenes {
		if i > 0 {
			fmt.Fprintln(out)
		}
		if s.refused != nil {
			fmt.Fprintf(out, "%s: no answer\n", s.name)
			continue
		}
		fmt.Fprintf(out, "%s: %s\n", s.name, shipsText(s.Ships))
		if err := printShips(out, s.Ships); err != nil {
			return err
		}
		if s.sight != nil {
			if err := printObstacles(out, s.Obstacles, s.sight); err != nil {
				return err
			}
		}
	}
	return nil
}

// shipsText says how many ships there are, and how to name those without a name.
func shipsText(ships []engine.Ship) string {
	unread, unsure, turned := 0, 0, false
	for _, p := range ships {
		switch {
		case !token.Unidentified(p.ID):
		case p.Look != "":
			unsure++
		default:
			unread++
			turned = turned || p.Quarters
		}
	}
	text := sentence.Counted(len(ships)-unread-unsure, "ship")
	if unread > 0 {
		text += fmt.Sprintf(", and %s whose code is not read: --at says which ship it is", sentence.Counted(unread, "base"))
		if turned {
			text += ", and which way it points"
		}
	}
	if unsure > 0 {
		text += fmt.Sprintf(", and %s whose name is not certain: --at says which ship it is", sentence.Counted(unsure, "base"))
	}
	return text
}

// printObstacles prints the obstacles, and whether these are all.
func printObstacles(out io.Writer, obstacles []engine.Obstacle, sight *vision.ObstacleSight) error {
	if sight.Unseen != "" {
		_, err := fmt.Fprintf(out, "obstacles are not watched: %s\n", sight.Unseen)
		return err
	}
	fmt.Fprint(out, sentence.Counted(len(obstacles), "obstacle"))
	if n := len(sight.Unknown); n > 0 {
		fmt.Fprintf(out, "; %s that may be one", sentence.Counted(n, "unknown thing"))
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
		heading, visible, seen := fmt.Sprintf("%.2f°", p.Pose.Heading.Degrees()), fmt.Sprintf("%.0f %%", 100*p.Visible), p.Seen
		if p.Seen == "mark" { // only two of its corners were used
			visible = "–"
		}
		if len(p.NameDoubt) > 0 {
			seen += ", may be " + strings.Join(p.NameDoubt, " or ")
			if p.LookDoubt {
				seen += " or none that was shown"
			}
		}
		if p.TurnDoubt {
			seen += ", guides not seen clearly"
		}
		if p.Quarters {
			heading += " or a quarter turn from it"
		}
		fmt.Fprintf(w, "%s\t%s\t%.2f\t%.2f\t%s\t%.2f\t%.2f\t%s\t%s\t\n", p.ID, p.Base,
			p.Pose.X, p.Pose.Y, heading, math.Sqrt(sigma), geom.Angle(math.Sqrt(c[8])).Degrees(), visible, seen)
	}
	return w.Flush()
}
