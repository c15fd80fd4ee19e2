package main

import (
	"encoding/json"
	"io"

	"sightline/vision/look"
)

// printLooksJSON prints the looks of a folder as one document.
func printLooksJSON(out io.Writer, known *look.Library) error {
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
