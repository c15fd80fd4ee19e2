package flown

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"sightline/engine"
	"sightline/engine/geom"
)

// This file writes a verdict, for people and for programs.

// String describes how far the ship stands from a candidate's end: "bank left 2, 1.3 mm and 0.8°
// off".
func (f *Fit) String() string {
	s := f.Name
	if f.Place != "" {
		s += " (" + f.Place + ")"
	}
	for _, a := range f.Also {
		s += " or " + a
	}
	if f.Partial {
		s += ", backed up"
		if len(f.Touching) > 0 {
			s += " to touch " + strings.Join(f.Touching, ", ")
		}
	}
	return fmt.Sprintf("%s, %.1f mm and %.1f° off", s, f.Distance.Millimeters(), f.Turn.Degrees())
}

// misses describes in which direction the ship stands from a candidate's end.
func (f *Fit) misses() string {
	var parts []string
	add := func(value, least float64, unit, below, above string) {
		if math.Abs(value) >= least {
			word := above
			if value < 0 {
				word = below
			}
			parts = append(parts, fmt.Sprintf("%.1f %s", math.Abs(value), unit)+word)
		}
	}
	add(f.Ahead.Millimeters(), 0.5, "mm", " short", " too far")
	add(f.Aside.Millimeters(), 0.5, "mm", " too far left", " too far right")
	add(f.Clockwise.Degrees(), 0.5, "°", " anticlockwise", " clockwise")
	if len(parts) == 0 {
		return fmt.Sprintf("ends %.1f mm and %.1f° off", f.Distance.Millimeters(), f.Turn.Degrees())
	}
	return "ends " + strings.ReplaceAll(strings.Join(parts, ", "), " °", "°")
}

// nudged is shorter than any move without a collision: a ship nearer to its old place may only have
// been pushed.
const nudged = 30 * geom.Millimeter

// String describes what a ship has flown: "bank left 2, 1.3 mm and 0.8° off", several names if it
// is too close to call, or "fits none; nearest bank left 2, ends 6.0 mm short".
func (v *Verdict) String() string {
	switch {
	case v.Outcome == engine.Yes:
		return v.Best.String()
	case v.Outcome == engine.Indeterminate:
		names := []string{v.Best.Name}
		for _, o := range v.Others {
			names = append(names, o.Name)
		}
		return "too close to call: " + strings.Join(names, ", ")
	case len(v.Others) == 0:
		return "fits none"
	}
	n := &v.Others[0]
	name := n.Name
	if n.Partial {
		name += " (backed up)"
	}
	s := "fits none; nearest " + name + ", " + n.misses()
	if v.Moved < nudged {
		s += fmt.Sprintf("; it stands %.1f mm and %.1f° from where it stood", v.Moved.Millimeters(), v.Turned.Degrees())
	}
	return s
}

type wireFit struct {
	Maneuver string   `json:"maneuver,omitempty"`
	Action   string   `json:"action,omitempty"`
	Also     []string `json:"also,omitempty"`
	Place    string   `json:"place,omitempty"`
	Distance float64  `json:"residual_mm"`
	Turn     float64  `json:"residual_deg"`
	Partial  bool     `json:"partial"`
	Touching []string `json:"touching"`
}

type wireVerdict struct {
	Version int    `json:"version"`
	Ship    string `json:"ship"`
	Outcome string `json:"outcome"`
	*wireFit
	Alternatives []wireFit `json:"alternatives"`
	Moved        float64   `json:"moved_mm"`
	Turned       float64   `json:"turned_deg"`
	Text         string    `json:"text"`
}

func newWireFit(f *Fit) wireFit {
	w := wireFit{Also: f.Also, Place: f.Place, Distance: f.Distance.Millimeters(), Turn: f.Turn.Degrees(), Partial: f.Partial,
		Touching: f.Touching}
	if w.Maneuver = f.Name; f.Action {
		w.Maneuver, w.Action = "", f.Name
	}
	if w.Touching == nil {
		w.Touching = []string{}
	}
	return w
}

// Marshal writes a verdict as JSON, on one line. If none fits, it has no maneuver, and the
// nearest comes first among the alternatives.
func Marshal(v Verdict) ([]byte, error) {
	w := wireVerdict{Version: 1, Ship: v.Ship, Outcome: v.Outcome.String(), Alternatives: []wireFit{}, Moved: v.Moved.Millimeters(),
		Turned: v.Turned.Degrees(), Text: v.String()}
	if v.Outcome != engine.No {
		best := newWireFit(&v.Best)
		w.wireFit = &best
	}
	for i := range v.Others {
		w.Alternatives = append(w.Alternatives, newWireFit(&v.Others[i]))
	}
	return json.Marshal(w)
}
