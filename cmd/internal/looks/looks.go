// Package looks implements the commands that learn and list looks.
package looks

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision/look"
	"sightline/vision/token"
)

// Ship is a ship that is shown to the camera: its card, and the poses of its base.
type Ship struct {
	look.Card
	poses []geom.Pose
	said  []int // of each pose: the index of its --at
}

// Warn names the looks that cannot be read, and those that another one replaces.
func Warn(out io.Writer, known *look.Library) {
	for _, h := range known.Hidden {
		fmt.Fprintf(out, "warning: %s\n", HiddenText(h))
	}
	for _, d := range known.Damaged {
		fmt.Fprintf(out, "warning: the look of %s is left out, and other cards of its base size name no ship: %v\n", d.Name, d.Err)
	}
}

// HiddenText says that a look counts for nothing, and what to do.
func HiddenText(h look.Hidden) string {
	return fmt.Sprintf("the look %s counts for nothing: it was renamed to %s. Remove %[1]s.json or, to have it back, %[2]s.json", h.Name, h.By)
}

// Load reads the looks of the folder that --looks names; "": none, nil. It warns about those that cannot be read.
func Load(dir string, warn io.Writer) (*look.Library, error) {
	if dir == "" {
		return nil, nil
	}
	known, err := look.Load(dir)
	if err != nil {
		return nil, fmt.Errorf("--looks: %w", err)
	}
	Warn(warn, known)
	if len(known.Looks) == 0 {
		return nil, fmt.Errorf("--looks %s: expected looks, from looks learn, got none", dir)
	}
	return known, nil
}

// Read parses the values of --at and --name.
func Read(at, names []string) (out []Ship, err error) {
	for n, text := range at {
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
		i := slices.IndexFunc(out, func(s Ship) bool { return s.Name == ids[0] })
		if i < 0 {
			i = len(out)
			out = append(out, Ship{Card: look.Card{Name: ids[0], Ships: ids, Base: base}})
		}
		if out[i].Base != base || !slices.Equal(out[i].Ships, ids) {
			return nil, fmt.Errorf("--at %q: expected the base and the ships of the first --at of %s", text, ids[0])
		}
		heading := (geom.Angle(v[2]) * geom.Degree).Normalized()
		out[i].poses = append(out[i].poses, geom.Pose{Point: geom.Point{X: v[0], Y: v[1]}, Heading: heading})
		out[i].said = append(out[i].said, n)
	}
	if len(names) > len(out) {
		return nil, fmt.Errorf("--name: expected at most one for each of the %d ships that --at names, got %d", len(out), len(names))
	}
	for i, n := range names {
		out[i].Pilot = strings.TrimSpace(n)
	}
	return out, nil
}

// CheckApart returns an error if two bases in one picture would overlap. said is the number of --at values.
func CheckApart(ships []Ship, pictures, said int) error {
	if pictures > 1 && pictures == said { // each place has its own picture
		return nil
	}
	type view struct {
		ship *Ship
		at   geom.Pose
	}
	var views []view
	for i := range ships {
		for _, at := range ships[i].poses {
			views = append(views, view{&ships[i], at})
		}
	}
	for i, a := range views {
		for _, b := range views[:i] {
			if token.BasesOverlap(a.ship.Base, a.at, b.ship.Base, b.at, token.BasesLap) {
				return fmt.Errorf("--at: %s at (%.0f, %.0f) and %s at (%.0f, %.0f) would stand in each other: expected one place for each "+
					"view in a picture, or one picture for each --at", b.ship.Name, b.at.X, b.at.Y, a.ship.Name, a.at.X, a.at.Y)
			}
		}
	}
	return nil
}

// Turned reports whether the ship is seen in different headings or places, so that a miniature on its base would show.
func (s *Ship) Turned() bool {
	return slices.ContainsFunc(s.poses, func(p geom.Pose) bool {
		return p.Distance(s.poses[0].Point) > 100 || p.Heading.Distance(s.poses[0].Heading) > math.Pi/4
	})
}

// views returns the views of the ship: each pose in each picture, or, if there is one picture for each --at, each pose in
// its own.
func (s *Ship) views(pictures []look.View, said int) (out []look.View) {
	for i, pose := range s.poses {
		for k, v := range pictures {
			if len(pictures) > 1 && len(pictures) == said && k != s.said[i] {
				continue
			}
			v.Pose = pose
			out = append(out, v)
		}
	}
	return out
}

// Learn learns the ships' looks from pictures. said is the number of --at values. The error names the ship.
func Learn(ships []Ship, pictures []look.View, said int) (out []*look.Look, err error) {
	for _, s := range ships {
		views := s.views(pictures, said)
		l, err := look.Learn(s.Card, views)
		if err == nil && !s.Turned() { // the views do not show whether a miniature is on the base
			err = look.CheckFrame(s.Base, views[0])
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.Name, err)
		}
		out = append(out, l)
	}
	return out, nil
}

// PrintJSON prints looks as one document.
func PrintJSON(out io.Writer, known *look.Library) error {
	type lookJSON struct {
		Name  string   `json:"name"`
		Ships []string `json:"ships"`
		Base  string   `json:"base"`
		Pilot string   `json:"pilot,omitempty"`
		Views int      `json:"views"`
		Color bool     `json:"color"`
		Scale float64  `json:"px_per_mm"`
	}
	doc := struct {
		Version int        `json:"version"`
		Looks   []lookJSON `json:"looks"`
	}{1, []lookJSON{}}
	for _, l := range known.Looks {
		doc.Looks = append(doc.Looks, lookJSON{l.Name, l.Ships, l.Base.String(), l.Pilot, l.Views, l.Color, l.Scale})
	}
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	return e.Encode(doc)
}

// Print prints looks as a table for people.
func Print(out io.Writer, known *look.Library) error {
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
