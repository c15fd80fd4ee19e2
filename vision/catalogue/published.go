package catalogue

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"sightline/calibration/strictjson"
	"sightline/engine/geom"
)

// Outlines of the publisher's tokens are passed around as a list, or a dictionary by id,
// of ids, kinds and outlines in mm, the unflipped side, counter-clockwise:
//
//	{"obstacles": [{"id": "a1", "kind": "asteroid", "outline_mm": [[x, y], …]}, …]}
//	[{"id": "a1", "kind": "asteroid", "outline_mm": …}, …]
//	{"a1": {"kind": "asteroid", "outline_mm": …}, …}
//
// Notes and areas that stand there too are passed over. Whoever made such a list measured
// other tokens than those on this table.

// publishedScale is the standard deviation of a published outline's scale: such a list claims 1 %.
const publishedScale = 0.01

// publishedEntry is one outline of such a list; other keys are ignored.
type publishedEntry struct {
	ID      string      `json:"id"`
	Name    string      `json:"name"`
	Kind    string      `json:"kind"`
	Outline []pointFile `json:"outline_mm"`
}

// isPublished reports whether a text is meant as such a list rather than a catalogue.
func isPublished(raw []byte) bool {
	if text := bytes.TrimLeft(raw, " \t\r\n"); len(text) > 0 && text[0] == '[' {
		return true
	}
	var keys map[string]json.RawMessage
	if json.Unmarshal(raw, &keys) != nil || len(keys) == 0 || keys["version"] != nil || keys["outlines"] != nil {
		return false
	}
	if keys["obstacles"] != nil {
		return true
	}
	for _, v := range keys {
		var one map[string]json.RawMessage
		if json.Unmarshal(v, &one) == nil && one["outline_mm"] != nil {
			return true
		}
	}
	return false
}

// parsePublished parses a published list of outlines.
func parsePublished(raw []byte) (*Catalogue, error) {
	if key := strictjson.KeyTwice(raw); key != "" {
		return nil, strictjson.Twice(key)
	}
	var keys map[string]json.RawMessage
	list := raw
	if json.Unmarshal(raw, &keys) == nil {
		list = keys["obstacles"]
	}
	name := "obstacles"
	var entries []publishedEntry
	var err error
	if list != nil {
		if err = json.Unmarshal(list, &entries); err != nil {
			err = strictjson.Plain(list, err)
		}
	} else {
		name = "outlines"
		entries, err = publishedByID(keys)
	}
	if err != nil {
		return nil, fmt.Errorf("not a list of outlines: %w", err)
	}
	if len(entries) == 0 {
		return nil, errors.New("this list has no outline")
	}
	files := make([]entryFile, len(entries))
	for i, e := range entries {
		files[i] = entryFile{Name: e.ID, Kind: e.Kind, Outline: e.Outline}
		if e.ID == "" {
			files[i].Name = e.Name
		}
	}
	c, err := catalogueOf(name, files)
	if err != nil {
		return nil, err
	}
	for i := range c.Entries {
		e := &c.Entries[i]
		radius := math.Sqrt(geom.Polygon(e.Outline).Area() / math.Pi)
		e.Sigma = geom.Length(math.Hypot(float64(e.Sigma), publishedScale*radius))
	}
	return c, nil
}

// publishedByID parses a dictionary of outlines in the order of their ids, and ignores other
// values.
func publishedByID(keys map[string]json.RawMessage) (out []publishedEntry, err error) {
	for _, id := range slices.Sorted(maps.Keys(keys)) {
		var one map[string]json.RawMessage
		if json.Unmarshal(keys[id], &one) != nil || one["outline_mm"] == nil {
			continue
		}
		e := publishedEntry{}
		if err := json.Unmarshal(keys[id], &e); err != nil {
			return nil, fmt.Errorf("%q: %w", id, strictjson.Plain(keys[id], err))
		}
		e.ID = id
		out = append(out, e)
	}
	return out, nil
}
