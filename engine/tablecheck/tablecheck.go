// Package tablecheck checks the setup of a table against the rules, and who controls the objectives
// of a scenario: the checks of package engine in the order of placement, one line in words for each
// thing and rule.
package tablecheck

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"sightline/engine"
	"sightline/engine/geom"
)

// The errors for scenes that cannot be checked.
var (
	ErrNoMat      = errors.New("the scene has no mat: nothing can be said of its edges")
	ErrNoFeatures = errors.New("the scenario's markers are not on the table")
	ErrRules      = errors.New("scenarios are of 2.5")
)

// Line is the result of one rule for one thing on the table.
type Line struct {
	Rule    string         // "G204", or two numbers separated by a blank
	Of      []string       // the thing and, if it is measured against another, that
	Outcome engine.Outcome // whether the rule is met
	Margin  geom.Length    // to what would change the answer; negative if the rule is broken
	Sigma   geom.Length    // of the margin
	Text    string
	Placed  bool // it concerns placement before the game
}

// Control is who controls an objective.
type Control struct {
	Objective string
	Player    int            // the likeliest; 0 for neither
	Outcome   engine.Outcome // Yes, or Indeterminate
	Possible  []int          // if it is too close: all possible players
}

// Report is the result of a check.
type Report struct {
	Lines   []Line
	Control []Control
	Notes   []string // what was left out, and why
}

// setupScenarios are the scenarios with placed markers.
var setupScenarios = []engine.Scenario{engine.AssaultAtTheSatelliteArray, engine.ChanceEngagement, engine.SalvageMission,
	engine.ScrambleTheTransmissions}

// Setup checks what is placed before a game, in the order of placement: a scenario's satellites or
// caches, obstacles, ships, and hyperspace markers. The zero scenario means the one that the
// markers belong to.
func Setup(s *engine.Scene, c engine.Scenario, o engine.Options) (Report, error) {
	var r Report
	if err := placeable(s, c); err != nil {
		return r, err
	}
	if s.Rules == engine.Rules25 {
		if err := r.features(s, c, o); err != nil {
			return r, err
		}
	}
	if s.ObstaclesUnseen {
		r.note("obstacles were not looked for")
	}
	checks := []func(*engine.Scene, engine.Options) ([]engine.Check, error){engine.CheckObstacles, engine.CheckDeployment}
	if s.Rules == engine.Rules20 {
		checks = append(checks, engine.CheckHyperspaceMarkers)
	}
	for _, check := range checks {
		found, err := check(s, o)
		if err != nil {
			return r, err
		}
		r.add(found)
	}
	for i := range s.Ships {
		switch ship := &s.Ships[i]; {
		case ship.Player == 0:
			r.note("%s: its place is not judged: the scene does not say whose it is", ship.ID)
		case ship.Base >= engine.Huge195 && !slices.ContainsFunc(r.Lines, func(l Line) bool {
			return l.Of[0] == ship.ID && (l.Rule == "G206" || l.Rule == "G207")
		}):
			r.note("%s: where huge ships are placed, their own rules say: it is not within range 1 of its player's edge", ship.ID)
		}
	}
	return r, nil
}

// placeable returns an error if placement cannot be checked.
func placeable(s *engine.Scene, c engine.Scenario) error {
	if err := s.Validate(); err != nil {
		return fmt.Errorf("tablecheck: %w", err)
	}
	if c != 0 && s.Rules != engine.Rules25 {
		return fmt.Errorf("tablecheck: rules: %w, the scene's are %v", ErrRules, s.Rules)
	}
	if s.MatWidth <= 0 || s.MatHeight <= 0 {
		return fmt.Errorf("tablecheck: %w", ErrNoMat)
	}
	return nil
}

// features checks where satellites or caches lie.
func (r *Report) features(s *engine.Scene, c engine.Scenario, o engine.Options) error {
	if c != 0 {
		found, err := engine.CheckFeatures(s, c, o)
		if err != nil { // the scene is valid, so the error is about their number
			r.note("%s", strings.TrimPrefix(err.Error(), "engine: "))
		}
		r.add(found)
		return nil
	}
	some := false
	for _, c := range setupScenarios {
		if found, err := engine.CheckFeatures(s, c, o); err == nil {
			r.add(found)
			return nil
		}
		counts, err := engine.Counts(s, c, o)
		if err != nil {
			return err
		}
		some = some || len(counts) > 0
	}
	if some {
		r.note("satellites or caches: no scenario has this many")
	}
	return nil
}

func (r *Report) note(format string, args ...any) {
	if n := fmt.Sprintf(format, args...); !slices.Contains(r.Notes, n) {
		r.Notes = append(r.Notes, n)
	}
}

// add adds lines for checks. For a thing and all edges it adds one line, for the edge that decides.
func (r *Report) add(found []engine.Check) {
	var kept []engine.Check
	for _, c := range found {
		same := slices.IndexFunc(kept, func(k engine.Check) bool { return byEdge(&c) && byEdge(&k) && k.ID == c.ID && k.Why == c.Why })
		switch {
		case same < 0:
			kept = append(kept, c)
		case worse(&c, &kept[same]):
			kept[same] = c
		}
	}
	for i := range kept {
		r.Lines = append(r.Lines, newLine(&kept[i]))
	}
}

func byEdge(c *engine.Check) bool { return strings.HasSuffix(c.Against, " edge") }

// worse orders broken rules before undecided ones before met ones.
func worse(a, b *engine.Check) bool {
	rank := func(o engine.Outcome) int {
		return slices.Index([]engine.Outcome{engine.No, engine.Indeterminate, engine.Yes}, o)
	}
	if a.Legal != b.Legal {
		return rank(a.Legal) < rank(b.Legal)
	}
	return a.Margin < b.Margin
}

func newLine(c *engine.Check) Line {
	_, rule, _ := strings.Cut(c.Rule, " ")
	l := Line{Rule: rule, Of: []string{c.ID}, Outcome: c.Legal, Margin: c.Margin + 0, Sigma: c.Sigma, Placed: true}
	against := "from " + c.Against
	switch {
	case byEdge(c) || c.Against == "centre":
		against = "from the " + c.Against
	case c.Against == "edges": // a count, not a distance
		l.Text = fmt.Sprintf("%s: not %s", c.ID, c.Why)
		return l
	default:
		l.Of = append(l.Of, c.Against)
	}
	l.Text = fmt.Sprintf("%s is %s: %s (%.1f mm %s)", c.ID, legality(c), c.Why, c.Distance.Millimeters(), against)
	return l
}

func legality(c *engine.Check) string {
	margin := max(c.Margin, -c.Margin).Millimeters()
	switch c.Legal {
	case engine.Yes:
		return fmt.Sprintf("legal by %.1f mm", margin)
	case engine.No:
		return fmt.Sprintf("illegal by %.1f mm", margin)
	}
	margin = math.Round(10*c.Margin.Millimeters())/10 + 0 // not -0
	return fmt.Sprintf("too close to call, %.1f ± %.1f mm", margin, c.Sigma.Millimeters())
}

type wireLine struct {
	Rule    string   `json:"rule"`
	Of      []string `json:"of"`
	Outcome string   `json:"outcome"`
	Margin  float64  `json:"margin_mm"`
	Sigma   float64  `json:"sigma_mm"`
	Text    string   `json:"text"`
}

type wireControl struct {
	Objective string `json:"objective"`
	Player    int    `json:"player"`
	Outcome   string `json:"outcome"`
	Possible  []int  `json:"possible,omitempty"`
}

// Marshal writes a report as JSON, on one line.
func Marshal(r Report) ([]byte, error) {
	w := struct {
		Version int           `json:"version"`
		Lines   []wireLine    `json:"lines"`
		Control []wireControl `json:"control"`
		Notes   []string      `json:"notes"`
	}{1, []wireLine{}, []wireControl{}, append([]string{}, r.Notes...)}
	for _, l := range r.Lines {
		w.Lines = append(w.Lines, wireLine{l.Rule, l.Of, l.Outcome.String(), l.Margin.Millimeters(), l.Sigma.Millimeters(), l.Text})
	}
	for _, c := range r.Control {
		w.Control = append(w.Control, wireControl{c.Objective, c.Player, c.Outcome.String(), c.Possible})
	}
	return json.Marshal(w)
}
