// Package catalogue has the outlines of the obstacles, devices and markers that may lie on a mat,
// and reads and writes them. Outlines are in millimetres about their centroids.
package catalogue

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"sightline/calibration/regularfile"
	"sightline/calibration/strictjson"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision/token"
)

// Entry is a known obstacle token: its name, kind and outline. The camera finds where it lies and
// which face is up; only the catalogue knows its kind.
type Entry struct {
	Name string
	Kind string // asteroid, debris, gas; a device's or a marker's: bomb, satellite

	// Outline is a simple polygon in mm, in the token's own frame (x right, y up,
	// the centroid of its area at the origin), of the face that was traced. With the
	// other face up the token shows the mirror image, x to -x.
	Outline []geom.Point
	Sigma   geom.Length // standard deviation of the outline
	Top     geom.Length // height of the token's top over the mat
}

// Face returns the outline as it lies on the table with the traced face up or, if flipped, the
// other one; counter-clockwise in both cases.
func (e *Entry) Face(flipped bool) []geom.Point {
	out := slices.Clone(e.Outline)
	if flipped {
		for i := range out {
			out[i].X = -out[i].X
		}
		slices.Reverse(out)
	}
	return out
}

// Catalogue holds the obstacle tokens that may lie on the table.
type Catalogue struct{ Entries []Entry }

// Entry returns the entry with a name, or nil.
func (c *Catalogue) Entry(name string) *Entry {
	for i := range c.Entries {
		if c.Entries[i].Name == name {
			return &c.Entries[i]
		}
	}
	return nil
}

// The defaults of an entry.
const (
	TokenTop     = 2.0 * geom.Millimeter // thickness of the publisher's cardboard
	OutlineSigma = 0.2 * geom.Millimeter // of an outline traced by a camera
)

// obstacleKinds are the three kinds of the rules.
var obstacleKinds = []string{"asteroid", "debris", "gas"}

// markerKinds are the kinds of a scenario's markers; all other kinds with outlines in the engine
// are devices.
var markerKinds = []string{"satellite", "mission_satellite", "supply_cache", "objective", "hyperspace_marker"}

// objectRole is the list of a scene to which a kind of token belongs.
type objectRole int

const (
	roleNone objectRole = iota
	roleObstacle
	RoleDevice // a bomb, a mine, a remote, dropped cargo
	RoleMarker // a satellite, a supply cache
)

// RoleOf returns the list of a scene to which a kind belongs.
func RoleOf(kind string) objectRole {
	switch {
	case slices.Contains(obstacleKinds, kind):
		return roleObstacle
	case slices.Contains(markerKinds, kind):
		return RoleMarker
	case len(engine.TokenOutlines(kind)) == 1: // one card, and its outline says all
		return RoleDevice
	}
	return roleNone
}

// Kinds returns the kinds that entries may have: obstacles, devices and markers of scenarios.
func Kinds() (obstacles, devices, markers []string) {
	for _, kind := range engine.TokenKinds() {
		if RoleOf(kind) == RoleDevice {
			devices = append(devices, kind)
		}
	}
	return slices.Clone(obstacleKinds), devices, slices.Clone(markerKinds)
}

// MaxFile is the largest accepted size of a catalogue's file in bytes. The publisher's 20 tokens
// take 20 kB and 941 points; a traced token has a point per millimetre.
const MaxFile = 2 << 20

const (
	catalogueVersion = 1
	maxEntries       = 200
	maxOutlinePoints = 2000
	maxPoints        = 20_000 // of all outlines together
	LeastTokenArea   = 50.0   // mm²: smaller than any printed obstacle
	MostTokenArea    = 40_000 // mm²
)

type catalogueFile struct {
	Version  int         `json:"version"`
	Outlines []entryFile `json:"outlines"`
}

type entryFile struct {
	Name    string      `json:"name"`
	Kind    string      `json:"kind"`
	Sigma   *float64    `json:"sigma_mm,omitempty"`
	Top     *float64    `json:"top_mm,omitempty"`
	Outline []pointFile `json:"outline_mm"`
}

// Parse reads a catalogue, or a list of outlines in the published form (published.go). Its errors
// name the entry and the key.
func Parse(r io.Reader) (*Catalogue, error) {
	raw, err := io.ReadAll(io.LimitReader(r, MaxFile+1))
	if err != nil {
		return nil, err
	}
	if len(raw) > MaxFile {
		return nil, fmt.Errorf("expected at most %d MB", MaxFile>>20)
	}
	if isPublished(raw) {
		return parsePublished(raw)
	}
	var f catalogueFile
	if err := strictjson.Decode(raw, &f); err != nil {
		return nil, fmt.Errorf("not a catalogue: %w", err)
	}
	if f.Version != catalogueVersion {
		return nil, fmt.Errorf("version: expected %d, got %d", catalogueVersion, f.Version)
	}
	return catalogueOf("outlines", f.Outlines)
}

// catalogueOf returns the catalogue of a list's entries. list is the name of the list, for errors.
func catalogueOf(list string, entries []entryFile) (*Catalogue, error) {
	if len(entries) > maxEntries {
		return nil, fmt.Errorf("%s: expected at most %d, got %d", list, maxEntries, len(entries))
	}
	points := 0
	for _, e := range entries {
		points += len(e.Outline)
	}
	if points > maxPoints {
		return nil, fmt.Errorf("%s: expected at most %d points in all outlines together, got %d", list, maxPoints, points)
	}
	c := &Catalogue{}
	for i, e := range entries {
		entry, err := e.entry()
		if err != nil {
			return nil, fmt.Errorf("%s[%d] (%q): %w", list, i, e.Name, err)
		}
		if c.Entry(entry.Name) != nil {
			return nil, fmt.Errorf("%s[%d]: name: %q appears twice", list, i, e.Name)
		}
		c.Entries = append(c.Entries, entry)
	}
	return c, nil
}

// EntryNameMost is the largest number of characters of an entry's name.
const EntryNameMost = 40

// checkName refuses names that cannot stand next to ships in a scene, and names that people cannot
// tell apart.
func checkName(name string) error {
	switch {
	case strings.TrimSpace(name) == "":
		return errors.New("expected a name, got none")
	case name != strings.TrimSpace(name):
		return errors.New("expected no blank at its beginning or end")
	case utf8.RuneCountInString(name) > EntryNameMost:
		return fmt.Errorf("expected at most %d characters, got %d", EntryNameMost, utf8.RuneCountInString(name))
	case strings.ContainsFunc(name, func(r rune) bool { return r == utf8.RuneError || !unicode.IsGraphic(r) }):
		return fmt.Errorf("expected letters, digits and signs that can be seen, got %q", name)
	case IsShipName(name):
		return fmt.Errorf("%q is a ship's name: expected another name, such as rock1", name)
	}
	return nil
}

// CheckEntry reports an invalid name or kind of an entry; its error names the key.
func CheckEntry(name, kind string) error {
	if err := checkName(name); err != nil {
		return fmt.Errorf("name: %w", err)
	}
	if RoleOf(kind) == roleNone {
		return fmt.Errorf("kind: expected asteroid, debris or gas, a device's such as bomb, mine or cargo, or a marker's such as satellite, "+
			"got %q", kind)
	}
	return nil
}

// IsShipName reports whether a ship in a scene may have a name.
func IsShipName(name string) bool {
	_, err := token.CodeOfID(name)
	return err == nil || token.Unidentified(name)
}

func (f entryFile) entry() (Entry, error) {
	e := Entry{Name: f.Name, Kind: f.Kind, Sigma: OutlineSigma, Top: TokenTop}
	if err := CheckEntry(f.Name, f.Kind); err != nil {
		return e, err
	}
	for _, v := range []struct {
		key string
		mm  *float64
		to  *geom.Length
	}{{"sigma_mm", f.Sigma, &e.Sigma}, {"top_mm", f.Top, &e.Top}} {
		if v.mm == nil {
			continue
		}
		if !(*v.mm >= 0 && *v.mm <= 50) {
			return e, fmt.Errorf("%s: expected 0 to 50, got %v", v.key, *v.mm)
		}
		*v.to = geom.Length(*v.mm)
	}
	outline, err := normalOutline(f.Outline)
	if err != nil {
		return e, fmt.Errorf("outline_mm: %w", err)
	}
	e.Outline = outline
	return e, nil
}

// Of returns the catalogue of obstacles with known outlines, such as those of a simulated table.
func Of(obstacles []engine.Obstacle) (*Catalogue, error) {
	c := &Catalogue{}
	for _, o := range obstacles {
		e, err := NewEntry(o.ID, o.Kind, o.Outline)
		if err != nil {
			return nil, err
		}
		c.Entries = append(c.Entries, e)
	}
	return c, nil
}

// NewEntry returns an entry for an outline in any frame, in mm, in either direction, with the
// default sigma and height. Its errors name the key.
func NewEntry(name, kind string, outline []geom.Point) (Entry, error) {
	f := entryFile{Name: name, Kind: kind}
	for _, p := range outline {
		f.Outline = append(f.Outline, pointFile{p.X, p.Y})
	}
	return f.entry()
}

// normalOutline checks an outline and normalises it: counter-clockwise, with its centroid at the
// origin, and without a last point that repeats the first.
func normalOutline(in []pointFile) ([]geom.Point, error) {
	in = geom.OpenRing(in)
	if len(in) < 3 || len(in) > maxOutlinePoints {
		return nil, fmt.Errorf("expected 3 to %d points, got %d", maxOutlinePoints, len(in))
	}
	out := make([]geom.Point, len(in))
	for i, p := range in {
		if !(math.Abs(p[0]) < 1000 && math.Abs(p[1]) < 1000) {
			return nil, fmt.Errorf("point %d: expected millimetres, got %v", i, p)
		}
		out[i] = geom.Point{X: p[0], Y: p[1]}
	}
	if i, j, ok := geom.Polygon(out).Crossing(); ok {
		return nil, fmt.Errorf("edge %d crosses edge %d: expected an outline that does not cross itself", i, j)
	}
	area, c := Centroid(out)
	if a := math.Abs(area); !(a >= LeastTokenArea && a <= MostTokenArea) {
		return nil, fmt.Errorf("expected an area of %g to %d mm², got %.1f", LeastTokenArea, int(MostTokenArea), a)
	}
	if area < 0 {
		slices.Reverse(out)
	}
	for i := range out {
		out[i] = out[i].Sub(c)
	}
	return out, nil
}

// Centroid returns the signed area (positive counter-clockwise) and the centroid of
// a polygon.
func Centroid(p []geom.Point) (area float64, c geom.Point) {
	o := p[0] // sums about the origin would lose precision far from it
	for i := range p {
		a, b := p[i].Sub(o), p[(i+1)%len(p)].Sub(o)
		w := a.X*b.Y - a.Y*b.X
		area += w / 2
		c.X += w * (a.X + b.X) / 6
		c.Y += w * (a.Y + b.Y) / 6
	}
	if area == 0 {
		return 0, o
	}
	return area, c.Mul(1 / area).Add(o)
}

// Load reads a catalogue file.
func Load(path string) (*Catalogue, error) {
	f, err := regularfile.Open(path)
	if err != nil {
		return nil, fmt.Errorf("vision: catalogue: %w", err)
	}
	defer f.Close()
	c, err := Parse(f)
	if err != nil {
		return nil, fmt.Errorf("vision: catalogue %s: %w", path, err)
	}
	return c, nil
}

// MarshalJSON writes the catalogue in its file form, with three decimals (a micrometre).
func (c *Catalogue) MarshalJSON() ([]byte, error) {
	f := catalogueFile{Version: catalogueVersion, Outlines: []entryFile{}}
	for _, e := range c.Entries {
		sigma, top := float64(e.Sigma), float64(e.Top)
		o := entryFile{Name: e.Name, Kind: e.Kind, Sigma: &sigma, Top: &top}
		for _, p := range e.Outline {
			o.Outline = append(o.Outline, pointFile{math.Round(p.X*1000) / 1000, math.Round(p.Y*1000) / 1000})
		}
		f.Outlines = append(f.Outlines, o)
	}
	return json.Marshal(f)
}
