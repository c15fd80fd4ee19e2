// Package scenefile reads and writes scenes, and writes results and moves, as JSON: angles
// in degrees, and the unit in each key.
package scenefile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"unicode/utf8"

	"sightline/engine"
	"sightline/engine/geom"
)

// wireVersion rises when a meaning on the wire changes.
const wireVersion = 1

// Parse reads one scene, or the list of scenes that locate writes. list
// says which of the two it was. It is strict: an unknown or repeated key, a
// wrong type, a missing key that is needed and a value that cannot be measured
// are errors that name the key, and the line and column where it stands.
func Parse(data []byte) (scenes []engine.Scene, list bool, err error) {
	data = bytes.TrimPrefix(data, []byte("\uFEFF")) // which some editors write
	if !utf8.Valid(data) {
		return nil, false, errors.New("expected UTF-8: names in another encoding would be read as other names")
	}
	scenes, list, err = parse(data)
	if err != nil {
		return nil, list, atLine(data, err)
	}
	return scenes, list, nil
}

func parse(data []byte) (scenes []engine.Scene, list bool, err error) {
	fields, err := readObject(data, "")
	if err != nil {
		return nil, false, err
	}
	if err := foreign(&fields); err != nil {
		return nil, false, err
	}
	if _, list = fields.get("scenes"); !list {
		s, err := parseScene(fields)
		if err != nil {
			return nil, false, err
		}
		return []engine.Scene{s}, false, nil
	}
	err = fields.each(map[string]reader{
		"version":  readVersion,
		"verified": readPast,
		"scenes": eachOf(func(raw json.RawMessage, at string) error {
			f, err := readObject(raw, at)
			if err != nil {
				return err
			}
			s, err := parseScene(f)
			if err != nil {
				return err
			}
			scenes = append(scenes, s)
			return nil
		}),
	}, "version")
	if err != nil {
		return nil, true, err
	}
	return scenes, true, nil
}

// foreign says what a file is that is no scene, and where a key of a scene belongs that
// stands next to the list of scenes.
func foreign(f *fields) error {
	for _, k := range f.keys {
		switch k {
		case "camera":
			return errors.New("it is a table calibration, expected a scene: locate --json makes one with it from a picture")
		case "camera_matrix":
			return errors.New("it is a lens file, expected a scene")
		}
	}
	if !slices.Contains(f.keys, "scenes") {
		return nil
	}
	for _, k := range f.keys {
		switch k {
		case "rules", "profile", "mat", "scale_sigma", "ships", "obstacles", "devices", "markers":
			return fmt.Errorf("%s: unknown key next to scenes: it belongs inside each of them", k)
		}
	}
	return nil
}

func parseScene(f fields) (engine.Scene, error) {
	var s engine.Scene
	err := f.each(map[string]reader{
		"version":  readVersion,
		"verified": readPast,
		"rules": func(raw json.RawMessage, at string) error {
			var name string
			if err := readInto(&name, "an edition's name")(raw, at); err != nil {
				return err
			}
			r, err := engine.ParseRules(name)
			s.Rules = r
			return err // names its key itself
		},
		"profile": func(raw json.RawMessage, at string) error { return readProfile(raw, at, &s) },
		"mat": object(map[string]reader{
			"width_mm":  length(&s.MatWidth),
			"height_mm": length(&s.MatHeight),
		}),
		"scale_sigma": number(&s.ScaleSigma),
		"ships": eachOf(func(raw json.RawMessage, at string) error {
			ship, err := parseShip(raw, at)
			s.Ships = append(s.Ships, ship)
			return err
		}),
		"obstacles": eachOf(func(raw json.RawMessage, at string) error {
			o, err := parseObstacle(raw, at)
			if o.ID == "" {
				o.ID = fmt.Sprintf("obstacle%d", len(s.Obstacles)+1)
			}
			s.Obstacles = append(s.Obstacles, o)
			return err
		}),
		"unknown_mm": eachOf(func(raw json.RawMessage, at string) error {
			var u []geom.Point
			err := outline(&u)(raw, at)
			s.Unknown = append(s.Unknown, u)
			return err
		}),
		"blind_mm": eachOf(func(raw json.RawMessage, at string) error {
			b, err := parseBlind(raw, at)
			s.Blind = append(s.Blind, b)
			return err
		}),
		"devices": tokens(&s.Devices, "device"),
		"markers": tokens(&s.Markers, "marker"),
	}, "version", "rules")
	// A camera that states its ships but no list of obstacles has not looked for any.
	s.ObstaclesUnseen = !slices.Contains(f.keys, "obstacles") && slices.ContainsFunc(s.Ships, func(s engine.Ship) bool { return s.Seen != "" })
	if err != nil {
		return engine.Scene{}, f.under(err)
	}
	if (s.MatWidth == 0) != (s.MatHeight == 0) {
		return engine.Scene{}, &placed{f.under(errors.New("mat: expected both width_mm and height_mm, or neither")), noPlace}
	}
	if err := s.Validate(); err != nil {
		return engine.Scene{}, &placed{f.under(err), noPlace}
	}
	return s, nil
}

func parseShip(raw json.RawMessage, at string) (engine.Ship, error) {
	var s engine.Ship
	var base string
	f, err := readObject(raw, at)
	if err != nil {
		return s, err
	}
	err = f.each(map[string]reader{
		"id":          text(&s.ID),
		"player":      readInto(&s.Player, "1 or 2"),
		"base":        text(&base),
		"x_mm":        number(&s.Pose.X),
		"y_mm":        number(&s.Pose.Y),
		"heading_deg": degrees(&s.Pose.Heading),
		"arcs":        listOf(&s.Arcs, "a list of arcs' names"),
		"turret":      text(&s.Turret),
		"covariance":  func(raw json.RawMessage, at string) error { return readCovariance(raw, at, &s.Covariance) },
		"seen":        text(&s.Seen),
		"visible":     number(&s.Visible),

		"heading_quarters": readInto(&s.Quarters, "true or false"),
		"look":             text(&s.Look),
		"look_doubt":       readInto(&s.LookDoubt, "true or false"),
		"turn_doubt":       readInto(&s.TurnDoubt, "true or false"),
		"name_doubt":       listOf(&s.NameDoubt, "a list of ships' ids"),
	}, "id", "base", "x_mm", "y_mm", "heading_deg")
	if err == nil {
		s.Base, err = engine.ParseBase(base)
	}
	if err != nil {
		return s, named(f, s.ID, err)
	}
	return s, nil
}

func parseObstacle(raw json.RawMessage, at string) (engine.Obstacle, error) {
	var o engine.Obstacle
	f, err := readObject(raw, at)
	if err != nil {
		return o, err
	}
	err = f.each(map[string]reader{
		"id":          text(&o.ID),
		"kind":        text(&o.Kind),
		"x_mm":        number(&o.Pose.X),
		"y_mm":        number(&o.Pose.Y),
		"heading_deg": degrees(&o.Pose.Heading),
		"sigma_mm":    length(&o.Sigma),
		"outline_mm":  outline(&o.Outline),
	})
	if err != nil {
		return o, named(f, o.ID, err)
	}
	return o, nil
}

func parseBlind(raw json.RawMessage, at string) (engine.BlindArea, error) {
	var b engine.BlindArea
	f, err := readObject(raw, at)
	if err == nil {
		err = f.each(map[string]reader{
			"outline_mm": outline((*[]geom.Point)(&b.Outline)),
			"why":        text(&b.Why),
		}, "outline_mm")
	}
	return b, err
}

// outline reads an outline's points, without a last one that repeats the first.
func outline(dst *[]geom.Point) reader {
	points := eachOf(func(raw json.RawMessage, at string) error {
		var p []float64
		if err := listOf(&p, "[x, y]")(raw, at); err != nil {
			return err
		}
		if len(p) != 2 {
			return fmt.Errorf("%s: expected [x, y], got %d numbers", at, len(p))
		}
		*dst = append(*dst, geom.Point{X: p[0], Y: p[1]})
		return nil
	})
	return func(raw json.RawMessage, at string) error {
		err := points(raw, at)
		*dst = geom.OpenRing(*dst)
		return err
	}
}

func tokens(dst *[]engine.Token, what string) reader {
	return eachOf(func(raw json.RawMessage, at string) error {
		t := engine.Token{ID: fmt.Sprintf("%s%d", what, len(*dst)+1)}
		f, err := readObject(raw, at)
		if err != nil {
			return err
		}
		err = f.each(map[string]reader{
			"id":          text(&t.ID),
			"kind":        text(&t.Kind),
			"player":      readInto(&t.Player, "1 or 2"),
			"x_mm":        number(&t.Pose.X),
			"y_mm":        number(&t.Pose.Y),
			"heading_deg": degrees(&t.Pose.Heading),
			"sigma_mm":    length(&t.Sigma),
			"outline_mm":  outline(&t.Outline),
		})
		if err != nil {
			return named(f, t.ID, err)
		}
		*dst = append(*dst, t)
		return nil
	})
}

// readProfile reads a profile's name, or an object of a name and the dimensions
// that differ from it.
func readProfile(raw json.RawMessage, at string, s *engine.Scene) error {
	if len(raw) > 0 && raw[0] == '"' {
		if err := text(&s.Profile)(raw, at); err != nil {
			return err
		}
		_, err := engine.ProfileNamed(s.Profile)
		return err
	}
	f, err := readObject(raw, at)
	if err != nil {
		return fmt.Errorf("%s: expected a profile's name or an object", at)
	}
	if name, ok := f.get("name"); ok {
		if err := text(&s.Profile)(name, at+".name"); err != nil {
			return err
		}
	}
	p, err := engine.ProfileNamed(s.Profile)
	if err != nil {
		return err
	}
	readers := map[string]reader{
		"name":   text(&s.Profile),
		"guides": readInto(&p.Guides, "true or false"),
	}
	for i := range engine.Dimensions {
		d := &engine.Dimensions[i]
		readers[d.Name] = func(raw json.RawMessage, at string) error { return readDimension(raw, at, d, &p) }
	}
	if err := f.each(readers); err != nil {
		return err
	}
	if err := p.Validate(); err != nil {
		return err
	}
	s.Dimensions = &p
	return nil
}

func readDimension(raw json.RawMessage, at string, d *engine.Dimension, p *engine.Profile) error {
	vs := make([]float64, 1)
	var err error
	if d.Count > 0 {
		err = listOf(&vs, fmt.Sprintf("%d numbers", d.Count))(raw, at)
	} else {
		err = number(&vs[0])(raw, at)
	}
	if err != nil {
		return err
	}
	if len(vs) != max(1, d.Count) {
		return fmt.Errorf("%s: expected %d numbers, got %d", at, d.Count, len(vs))
	}
	d.Set(p, vs)
	return nil
}

// readCovariance reads a covariance of (mm, mm, degrees) into radians.
func readCovariance(raw json.RawMessage, at string, c *geom.Cov3) error {
	var v []float64
	if err := listOf(&v, "9 numbers")(raw, at); err != nil {
		return err
	}
	if len(v) != len(c) {
		return fmt.Errorf("%s: expected 9 numbers, row by row, got %d", at, len(v))
	}
	copy(c[:], v)
	scaleHeading(c, float64(geom.Degree))
	return nil
}

// scaleHeading changes the unit of the heading in a covariance.
func scaleHeading(c *geom.Cov3, k float64) {
	for _, i := range [...]int{2, 5, 6, 7} {
		c[i] *= k
	}
	c[8] *= k * k
}

// reader reads the value of a key; at is its path, for errors.
type reader func(raw json.RawMessage, at string) error

// fields are the keys of an object in the order in which they stand there.
type fields struct {
	at   string // the object's path; "" at the top
	keys []string
	raw  []json.RawMessage
	from []int // where in the object's text each value begins
}

func (f *fields) get(key string) (json.RawMessage, bool) {
	if i := slices.Index(f.keys, key); i >= 0 {
		return f.raw[i], true
	}
	return nil, false
}

// under puts the path of a scene in a list before an error about it.
func (f *fields) under(err error) error {
	if f.at == "" {
		return err
	}
	if msg := err.Error(); len(msg) >= len(f.at) && msg[:len(f.at)] == f.at {
		return err
	}
	return fmt.Errorf("%s: %w", f.at, err)
}

// named puts the path and the id of a ship or an obstacle before an error about
// it that does not begin with its path already.
func named(f fields, id string, err error) error {
	if msg := err.Error(); id == "" {
		return f.under(err)
	} else if rest, ok := bytes.CutPrefix([]byte(msg), []byte(f.at+".")); ok {
		return reworded(err, fmt.Sprintf("%s (%s): %s", f.at, id, rest))
	}
	return fmt.Errorf("%s (%s): %w", f.at, id, err)
}

// each reads every key with its reader.
func (f *fields) each(readers map[string]reader, needed ...string) error {
	for i, k := range f.keys {
		read, ok := readers[k]
		if !ok {
			return &placed{fmt.Errorf("%s: unknown key", f.path(k)), f.from[i]}
		}
		if err := read(f.raw[i], f.path(k)); err != nil {
			return within(err, f.from[i])
		}
	}
	for _, k := range needed {
		if !slices.Contains(f.keys, k) {
			return fmt.Errorf("%s: missing", f.path(k))
		}
	}
	return nil
}

func (f *fields) path(key string) string {
	if !plainKey(key) {
		key = strconv.Quote(key)
	}
	if f.at == "" {
		return key
	}
	return f.at + "." + key
}

func plainKey(k string) bool {
	for _, c := range k {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' {
			return false
		}
	}
	return k != "" && len(k) <= 64
}

// readObject splits an object into its keys. It refuses a repeated key, which
// encoding/json accepts.
func readObject(raw []byte, at string) (fields, error) {
	f := fields{at: at}
	where := ""
	if at != "" {
		where = at + ": "
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	t, err := dec.Token()
	if err != nil {
		return f, fmt.Errorf("%sexpected a JSON object: %w", where, plainJSON(err))
	}
	if t != json.Delim('{') {
		return f, fmt.Errorf("%sexpected a JSON object", where)
	}
	seen := map[string]bool{}
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return f, fmt.Errorf("%s%w", where, plainJSON(err))
		}
		key := t.(string) // the decoder hands out nothing else in a key's place
		if seen[key] {
			return f, &placed{fmt.Errorf("%s: appears twice", f.path(key)), int(dec.InputOffset()) - 1}
		}
		seen[key] = true
		var v json.RawMessage
		if err := dec.Decode(&v); err != nil {
			return f, fmt.Errorf("%s: %w", f.path(key), plainJSON(err))
		}
		f.keys, f.raw, f.from = append(f.keys, key), append(f.raw, v), append(f.from, int(dec.InputOffset())-len(v))
	}
	if _, err := dec.Token(); err != nil {
		return f, fmt.Errorf("%s%w", where, plainJSON(err))
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) { // another value, or what is none
		return f, fmt.Errorf("%sexpected nothing after the object", where)
	}
	return f, nil
}

// plainJSON returns the error of a document that ends too early in plain words.
func plainJSON(err error) error {
	if err.Error() == "EOF" || err.Error() == "unexpected EOF" {
		return errors.New("the document ends too early")
	}
	return err
}

func object(readers map[string]reader) reader {
	return func(raw json.RawMessage, at string) error {
		f, err := readObject(raw, at)
		if err != nil {
			return err
		}
		return f.each(readers)
	}
}

func eachOf(read reader) reader {
	return func(raw json.RawMessage, at string) error {
		var list []json.RawMessage
		if err := readInto(&list, "a list")(raw, at); err != nil {
			return err
		}
		dec := json.NewDecoder(bytes.NewReader(raw))
		_, _ = dec.Token() // the bracket; the list was read above
		for i := range list {
			var v json.RawMessage
			if err := dec.Decode(&v); err != nil {
				return fmt.Errorf("%s[%d]: %w", at, i, err)
			}
			if err := read(v, fmt.Sprintf("%s[%d]", at, i)); err != nil {
				return within(err, int(dec.InputOffset())-len(v))
			}
		}
		return nil
	}
}

// readInto reads a plain value; want says in words what is expected. null is not
// a value.
func readInto[T any](dst *T, want string) reader {
	return func(raw json.RawMessage, at string) error {
		err := json.Unmarshal(raw, dst)
		if err != nil || string(raw) == "null" {
			return fmt.Errorf("%s: expected %s, got %s", at, want, shorten(raw))
		}
		return nil
	}
}

// listOf reads a list of plain values. null is not a value there either: it is what
// programs write for a number that they do not have, and no 0.
func listOf[T any](dst *[]T, want string) reader {
	return func(raw json.RawMessage, at string) error {
		var list []*T
		if err := readInto(&list, want)(raw, at); err != nil {
			return err
		}
		*dst = make([]T, len(list))
		for i, v := range list {
			if v == nil {
				return fmt.Errorf("%s[%d]: expected a value, got null", at, i)
			}
			(*dst)[i] = *v
		}
		return nil
	}
}

func shorten(raw []byte) string {
	if len(raw) > 40 {
		return string(bytes.ToValidUTF8(raw[:40], nil)) + "…"
	}
	return string(raw)
}

func text(dst *string) reader    { return readInto(dst, "a text") }
func number(dst *float64) reader { return readInto(dst, "a number") }
func length(dst *geom.Length) reader {
	return readInto((*float64)(dst), "a number")
}

func degrees(dst *geom.Angle) reader {
	return func(raw json.RawMessage, at string) error {
		var v float64
		if err := number(&v)(raw, at); err != nil {
			return err
		}
		*dst = geom.Angle(v) * geom.Degree
		return nil
	}
}

func readVersion(raw json.RawMessage, at string) error {
	var v int
	if err := readInto(&v, strconv.Itoa(wireVersion))(raw, at); err != nil {
		return err
	}
	if v != wireVersion {
		return fmt.Errorf("%s: expected %d, got %d", at, wireVersion, v)
	}
	return nil
}

// readPast takes what measuring does not need: how the calibration behind a scene was
// verified goes with the answers as it is.
func readPast(raw json.RawMessage, at string) error {
	if text := bytes.TrimSpace(raw); string(text) != "null" && !bytes.HasPrefix(text, []byte("{")) {
		return fmt.Errorf("%s: expected an object or null", at)
	}
	return nil
}
