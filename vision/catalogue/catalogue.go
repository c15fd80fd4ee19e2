// Package catalogue holds the outlines of the obstacles, devices and markers that
// may lie on a mat, and reads and writes them. Outlines are in millimetres about
// their centroids.
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

// Entry is an obstacle token as it is known beforehand: its name, its kind
// and its outline. The camera finds where it lies and which face is up; which of the
// three kinds it is, only the catalogue knows.
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

// Face returns the outline as it lies on the table with the traced face up, or with
// the other one up when flipped; counter-clockwise either way.
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

// Entry returns the entry of a name, or nil.
func (c *Catalogue) Entry(name string) *Entry {
	for i := range c.Entries {
		if c.Entries[i].Name == name {
			return &c.Entries[i]
		}
	}
	return nil
}

// What a catalogue's entries are when the file does not say.
const (
	TokenTop     = 2.0 * geom.Millimeter // thickness of the publisher's cardboard
	OutlineSigma = 0.2 * geom.Millimeter // of an outline traced by a camera
)

// obstacleKinds are the three kinds of the rules.
var obstacleKinds = []string{"asteroid", "debris", "gas"}

// markerKinds are the kinds of a scenario's markers; the other kinds that the engine knows
// outlines of are devices.
var markerKinds = []string{"satellite", "mission_satellite", "supply_cache", "objective", "hyperspace_marker"}

// objectRole is the list of a scene in which a catalogue's kind of token stands.
type objectRole int

const (
	roleNone objectRole = iota
	roleObstacle
	RoleDevice // a bomb, a mine, a remote, dropped cargo
	RoleMarker // a satellite, a supply cache
)

// RoleOf returns in which list of a scene a kind stands.
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

// Kinds lists the kinds that a catalogue's entries may have: those of obstacles, of
// devices and of a scenario's markers.
func Kinds() (obstacles, devices, markers []string) {
	for _, kind := range engine.TokenKinds() {
		if RoleOf(kind) == RoleDevice {
			devices = append(devices, kind)
		}
	}
	return slices.Clone(obstacleKinds), devices, slices.Clone(markerKinds)
}

// MaxFile is how many bytes a catalogue's file may have. The publisher's 20 tokens
// take 20 kB and 941 points; a token that is traced has a point for each millimetre.
const MaxFile = 2 << 20

const (
	catalogueVersion = 1
	maxEntries       = 200
	maxOutlinePoints = 2000
	maxPoints        = 20_000 // of all outlines together
	LeastTokenArea   = 50.0   // mm²: smaller than any obstacle that was ever printed
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

// Parse reads a catalogue, or a list of outlines as it is published elsewhere
// (cataloguelist.go). Its errors name the entry and the key.
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

// catalogueOf makes a catalogue of the entries of a list of that name.
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
			return nil, fmt.Errorf("%s[%d]: name: %q stands twice", list, i, e.Name)
		}
		c.Entries = append(c.Entries, entry)
	}
	return c, nil
}

// EntryNameMost is how many characters an entry's name may have.
const EntryNameMost = 40

// checkName refuses names that cannot stand in a scene next to the ships', and those that
// no one can tell apart.
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

// CheckEntry says what is wrong with an entry's name or kind; its error names the key.
func CheckEntry(name, kind string) error {
	if err := checkName(name); err != nil {
		return fmt.Errorf("name: %w", err)
	}
	if RoleOf(kind) == roleNone {
		return fmt.Errorf("kind: expected one of %v, a device's such as bomb, mine or cargo, or one of %v, got %q", obstacleKinds, markerKinds,
			kind)
	}
	return nil
}

// IsShipName reports whether a ship in a scene may have this name.
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

// Of returns the catalogue of obstacles whose outlines are known, as those of a simulated table are.
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

// NewEntry returns an entry of an outline on the table or in the token's own
// frame, in mm, either way round, with the default sigma and height. Its errors name
// the key.
func NewEntry(name, kind string, outline []geom.Point) (Entry, error) {
	f := entryFile{Name: name, Kind: kind}
	for _, p := range outline {
		f.Outline = append(f.Outline, pointFile{p.X, p.Y})
	}
	return f.entry()
}

// normalOutline checks an outline and puts it into its normal form:
// counter-clockwise, its centroid at the origin.
func normalOutline(in []pointFile) ([]geom.Point, error) {
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
	o := p[0] // far from the origin the sums would lose their digits
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

// MarshalJSON writes the catalogue as its file holds it: three decimals, a micrometre.
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
