package tablecheck

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"sightline/engine"
	"sightline/engine/geom"
)

// Scenario checks where a scenario's markers lie, as [Setup] does, and says which ships count at
// each and who controls it. In Salvage Mission and Scramble the Transmissions control depends on
// what was towed and scrambled before, which a table does not show: the lines say which ships may
// do so now.
func Scenario(s *engine.Scene, c engine.Scenario, o engine.Options) (Report, error) {
	var r Report
	if err := s.Validate(); err != nil {
		return r, fmt.Errorf("tablecheck: %w", err)
	}
	if s.Rules != engine.Rules25 {
		return r, fmt.Errorf("tablecheck: rules: %w, the scene's are %v", ErrRules, s.Rules)
	}
	counts, err := engine.Counts(s, c, o)
	if err != nil {
		return r, err
	}
	if len(counts) == 0 {
		return r, fmt.Errorf("tablecheck: %v: %w", c, ErrNoFeatures)
	}
	n, _ := c.Features()
	switch {
	case c == engine.SalvageMission && len(counts) < n: // some are towed, others were let go
	case s.MatWidth > 0 && s.MatHeight > 0:
		if err := r.features(s, c, o); err != nil {
			return r, err
		}
	default:
		r.note("where the markers lie: %s", ErrNoMat)
	}
	likeliest, err := engine.Counts(exact(s), c, o)
	if err != nil {
		return r, err
	}
	for i := range counts {
		if err := r.count(s, c, o, &counts[i]); err != nil {
			return r, err
		}
		r.control(s, c, &counts[i], &likeliest[i])
	}
	return r, nil
}

// exact returns a scene without uncertainty, and without ships whose player is unknown.
func exact(s *engine.Scene) *engine.Scene {
	e := *s
	e.ScaleSigma = 0
	e.Ships, e.Markers = slices.Clone(s.Ships), slices.Clone(s.Markers)
	e.Ships = slices.DeleteFunc(e.Ships, func(ship engine.Ship) bool { return ship.Player == 0 })
	for i := range e.Ships {
		e.Ships[i].Covariance = geom.Cov3{}
	}
	for i := range e.Markers {
		e.Markers[i].Sigma = 0
	}
	return &e
}

// act is what a ship in range may do, by scenario.
var act = map[engine.Scenario]string{
	engine.AssaultAtTheSatelliteArray: "counts as %d at", engine.ChanceEngagement: "contests",
	engine.SalvageMission: "may tow", engine.ScrambleTheTransmissions: "may scramble",
}

// reach returns the furthest band that counts.
func reach(c engine.Scenario) int {
	if c == engine.ChanceEngagement {
		return 2
	}
	return 1
}

// weight returns how many ships a ship counts as (G226).
func weight(c engine.Scenario, ship *engine.Ship) int {
	if c == engine.AssaultAtTheSatelliteArray && ship.Base != engine.Small {
		return 2
	}
	return 1
}

// count adds a line for each ship that counts at a feature, or may.
func (r *Report) count(s *engine.Scene, c engine.Scenario, o engine.Options, n *engine.Count) error {
	_, rule, _ := strings.Cut(n.Rule, " ")
	var m engine.Measurer
	for _, id := range n.InRange {
		v, err := m.Object(s, id, n.ID, o)
		if err != nil {
			return err
		}
		ship := &s.Ships[slices.IndexFunc(s.Ships, func(ship engine.Ship) bool { return ship.ID == id })]
		if ship.Player == 0 && (c == engine.AssaultAtTheSatelliteArray || c == engine.ChanceEngagement) {
			r.note("%s: it may count at %s for either player: the scene does not say whose it is", id, n.ID)
		}
		limit := 100 * float64(reach(c))
		l := Line{Rule: rule, Of: []string{id, n.ID}, Outcome: engine.Yes, Margin: geom.Length(limit) - v.Range.Distance, Sigma: v.Range.Sigma}
		does := act[c]
		if strings.Contains(does, "%") {
			does = fmt.Sprintf(does, weight(c, ship))
		}
		l.Text = fmt.Sprintf("%s %s %s: at range 0–%d (%.1f mm)", id, does, n.ID, reach(c), v.Range.Distance.Millimeters())
		if slices.Contains(n.Possible, id) {
			l.Outcome = engine.Indeterminate
			l.Text = fmt.Sprintf("%s is too close to call at %s: range %d or beyond (%.1f ± %.1f mm from %.0f)", id, n.ID, reach(c),
				math.Abs(l.Margin.Millimeters()), l.Sigma.Millimeters(), limit)
		}
		r.Lines = append(r.Lines, l)
	}
	return nil
}

// control adds who controls a satellite or contests it.
func (r *Report) control(s *engine.Scene, c engine.Scenario, n, likeliest *engine.Count) {
	switch c {
	case engine.AssaultAtTheSatelliteArray:
		k := Control{Objective: n.ID, Player: likeliest.Player, Outcome: n.Outcome}
		if n.Outcome != engine.Yes {
			k.Possible = possible(s, c, n)
		}
		if len(k.Possible) == 1 { // the same whatever the undecided ships are
			k.Player, k.Outcome, k.Possible = k.Possible[0], engine.Yes, nil
		}
		r.Control = append(r.Control, k)
	case engine.ChanceEngagement: // each player who contests it scores
		for p := range n.Most {
			switch {
			case n.Least[p] > 0:
				r.Control = append(r.Control, Control{Objective: n.ID, Player: p + 1, Outcome: engine.Yes})
			case n.Most[p] > 0:
				r.Control = append(r.Control, Control{Objective: n.ID, Player: p + 1, Outcome: engine.Indeterminate})
			}
		}
	}
}

// possible returns the players, 0 for neither, who may have more ships at a feature.
func possible(s *engine.Scene, c engine.Scenario, n *engine.Count) []int {
	sums := map[[2]int]bool{n.Least: true}
	for i := range s.Ships {
		ship := &s.Ships[i]
		unsure := slices.Contains(n.Possible, ship.ID)
		if !unsure && (ship.Player != 0 || !slices.Contains(n.InRange, ship.ID)) {
			continue
		}
		with := map[[2]int]bool{}
		if unsure {
			with = maps.Clone(sums)
		}
		for sum := range sums {
			for player := range sum {
				if ship.Player == 0 || ship.Player == player+1 {
					more := sum
					more[player] += weight(c, ship)
					with[more] = true
				}
			}
		}
		sums = with
	}
	var who []int
	for sum := range sums {
		player := 0
		switch {
		case sum[0] > sum[1]:
			player = 1
		case sum[1] > sum[0]:
			player = 2
		}
		if !slices.Contains(who, player) {
			who = append(who, player)
		}
	}
	slices.Sort(who)
	return who
}

// Jettison checks the place of a jettisoned supply cache (G229, G230). If the ship fled, the scene
// must have it where it stood before its maneuver (G231).
func Jettison(s *engine.Scene, ship, cache string, fled bool, o engine.Options) (Line, error) {
	c, err := engine.CheckJettison(s, ship, cache, o)
	if err != nil {
		return Line{}, err
	}
	if fled {
		c.Rule, c.Why = "2.5 G231", "at range 1 of where the ship stood before it fled"
	}
	return newLine(&c), nil
}
