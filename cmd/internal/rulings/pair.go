package rulings

import (
	"encoding/json"
	"fmt"
	"strings"

	"sightline/engine"
)

// pairVerdict is the part of a result's pair that is shown.
type pairVerdict struct {
	From    string       `json:"from"`
	To      string       `json:"to"`
	Range   rangeVerdict `json:"range"`
	Contact string       `json:"contact"`
	Arcs    []arcVerdict `json:"arcs"`
}

type rangeVerdict struct {
	Distance float64         `json:"distance_mm"`
	Sigma    float64         `json:"sigma_mm"`
	Band     int             `json:"band"`
	Possible []int           `json:"possible_bands"`
	Margin   float64         `json:"margin_mm"`
	Lines    [][2][2]float64 `json:"lines_mm"`
}

type arcVerdict struct {
	Arc    string         `json:"arc"`
	InArc  string         `json:"in_arc"`
	Margin float64        `json:"margin_mm"`
	Sigma  float64        `json:"sigma_mm"`
	Attack *attackVerdict `json:"attack"`
}

type attackVerdict struct {
	rangeVerdict
	Obstruction obstruction `json:"obstruction"`
}

type obstruction struct {
	Verdict string   `json:"verdict"`
	By      []string `json:"by"`
	Margin  float64  `json:"margin_mm"`
}

func parsePair(raw json.RawMessage) (pairVerdict, error) {
	var p pairVerdict
	if len(raw) == 0 || string(raw) == "null" {
		return p, fmt.Errorf("expected a pair's verdict, got none")
	}
	err := json.Unmarshal(raw, &p)
	return p, err
}

// words describes the bands that a range may be: "range 2", "too close: range 2 or 3".
func (r *rangeVerdict) words() string {
	switch {
	case len(r.Possible) == 1:
		return bandWords(r.Possible[0])
	case len(r.Possible) == 0:
		return "no range"
	}
	names := make([]string, 0, len(r.Possible))
	for _, b := range r.Possible {
		names = append(names, bandWords(b))
	}
	return "too close: " + strings.Join(names, " or ")
}

func bandWords(b int) string {
	switch {
	case b == 0:
		return "contact (range 0)"
	case b > 3:
		return "beyond range 3"
	}
	return fmt.Sprintf("range %d", b)
}

// words describes the obstruction. unseen says that obstacles were not detected.
func (o *obstruction) words(unseen bool) string {
	by := ""
	if len(o.By) > 0 {
		by = " (" + strings.Join(o.By, ", ") + ")"
	}
	switch o.Verdict {
	case "never":
		return "no"
	case "must":
		return "yes" + by
	case "may":
		return "the attacker chooses" + by
	case engine.NoView.String():
		if unseen {
			return "obstacles are not watched"
		}
		return "no view of what lies on the line"
	}
	return plain(o.Verdict) + by
}

// plain returns a key's value in words: "too close", "full front".
func plain(s string) string { return strings.ReplaceAll(s, "_", " ") }
