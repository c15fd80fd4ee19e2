package engine

import (
	"fmt"
	"math"

	"sightline/engine/geom"
	"sightline/engine/internal/pieces"
)

// Scenario is one of the four of 2.5.
type Scenario int

// The scenarios.
const (
	AssaultAtTheSatelliteArray Scenario = iota + 1
	ChanceEngagement
	SalvageMission
	ScrambleTheTransmissions
)

var scenarioNames = [...]string{"", "assault", "chance", "salvage", "scramble"}

// String returns the scenario's short name: assault, chance, salvage, scramble.
func (c Scenario) String() string {
	if c < 0 || int(c) >= len(scenarioNames) {
		return fmt.Sprintf("Scenario(%d)", int(c))
	}
	return scenarioNames[c]
}

// ParseScenario reads a scenario's short name.
func ParseScenario(s string) (Scenario, error) {
	for i, n := range scenarioNames {
		if i > 0 && n == s {
			return Scenario(i), nil
		}
	}
	return 0, fmt.Errorf("scenario: expected assault, chance, salvage or scramble, got %q", s)
}

// Features returns how many scenario features are placed, and their kind.
func (c Scenario) Features() (n int, kind string) {
	switch c {
	case AssaultAtTheSatelliteArray:
		return 5, "satellite"
	case ChanceEngagement:
		return 1, "satellite"
	case SalvageMission:
		return 5, "supply_cache"
	case ScrambleTheTransmissions:
		return 3, "satellite"
	}
	return 0, ""
}

// IsScenarioFeature reports whether markers of a kind are scenario features, which are objects
// but are not moved, attacked or locked, and do not obstruct (G41, G219).
func IsScenarioFeature(kind string) bool {
	switch pieces.Normalized(kind) {
	case "satellite", "mission_satellite", "supply_cache", "objective":
		return true
	}
	return false
}

// CheckFeatures says whether a scenario's features may have been placed where they
// are, and whether the obstacles keep off them:
//
//   - one has its centre in the centre of the play area (G220);
//   - the others are at range 3 of that one and beyond range 2 of each other (G221),
//     at range 2–4 of a player's edge, as many of the one's as of the other's (G222,
//     G223);
//   - no obstacle overlaps one, though it may touch it (G224).
func CheckFeatures(s *Scene, c Scenario, o Options) ([]Check, error) {
	t := &table{}
	if err := t.prepareMat(s, o); err != nil {
		return nil, err
	}
	n, kind := c.Features()
	if n == 0 {
		return nil, fmt.Errorf("engine: %v: unknown scenario", c)
	}
	features := t.features(kind)
	if len(features) != n {
		return nil, fmt.Errorf("engine: markers: expected %d of the kind %s for this scenario, got %d", n, kind, len(features))
	}
	all := []Check{t.centred(features[0])}
	edges := map[Edge]int{}
	for i, f := range features[1:] {
		all = append(all, decide(Check{ID: f.id, Against: features[0].id, Why: "at range 3 of the one in the centre", Rule: "2.5 G221"},
			t.gapSpan(f, features[0]), t.k, 200, 300, false))
		for _, other := range features[1 : i+1] {
			all = append(all, decide(Check{ID: f.id, Against: other.id, Why: "beyond range 2 of each other", Rule: "2.5 G221"},
				t.gapSpan(f, other), t.k, 200, endless, false))
		}
		e, check, err := t.byEdge(f)
		if err != nil {
			return nil, err
		}
		edges[e]++
		all = append(all, check)
	}
	if edges[EdgeNear] != edges[EdgeFar] {
		all = append(all, Check{ID: kind, Against: "edges", Legal: No, Why: "as many by one player's edge as by the other's",
			Rule: "2.5 G222 G223"})
	}
	for i := range s.Obstacles {
		for _, f := range features {
			all = append(all, t.keepsOff(&t.outlines[i], f))
		}
	}
	return all, nil
}

// features returns a scenario's features, the one nearest to the centre of the
// play area first.
func (t *table) features(kind string) []*obstacleOutline {
	mid := geom.Point{X: float64(t.scene.MatWidth) / 2, Y: float64(t.scene.MatHeight) / 2}
	var fs []*obstacleOutline
	for i := len(t.scene.Obstacles); i < len(t.outlines); i++ {
		if r := &t.outlines[i]; pieces.Normalized(r.kind) == kind {
			fs = append(fs, r)
			if last := len(fs) - 1; r.At.Sub(mid).Norm() < fs[0].At.Sub(mid).Norm() {
				fs[0], fs[last] = fs[last], fs[0]
			}
		}
	}
	return fs
}

// centred checks that a feature's centre is the play area's. Nothing placed by hand is
// exactly there; a measured feature that may be is too close to call.
func (t *table) centred(f *obstacleOutline) Check {
	mid := geom.Point{X: float64(t.scene.MatWidth) / 2, Y: float64(t.scene.MatHeight) / 2}
	d := f.At.Sub(mid).Norm()
	sd := f.Sigma + t.scene.ScaleSigma*mid.Norm()
	c := Check{ID: f.id, Against: "centre", Distance: geom.Length(d), Sigma: geom.Length(sd), Margin: geom.Length(-d),
		Why: "centred in the play area", Rule: "2.5 G220"}
	switch {
	case sd == 0 && d <= geom.Tie:
		c.Legal = Yes
	case sd == 0 || d > t.k*sd:
		c.Legal = No
	}
	return c
}

// byEdge checks that a feature is at range 2–4 of one of the players' edges; it
// cannot be of both on any mat of some size.
func (t *table) byEdge(f *obstacleOutline) (Edge, Check, error) {
	best, edge := Check{}, EdgeNear
	for _, e := range [...]Edge{EdgeNear, EdgeFar} {
		near, _, err := t.edgeSpans(f.id, e)
		if err != nil {
			return 0, Check{}, err
		}
		c := decide(Check{ID: f.id, Against: e.String(), Why: "at range 2-4 of a player's edge", Rule: "2.5 G222 G223"}, near.Interval,
			t.k, 100, 400, false)
		if e == EdgeNear || c.Margin > best.Margin {
			best, edge = c, e
		}
	}
	return edge, best, nil
}

// keepsOff checks that an obstacle does not overlap a feature.
func (t *table) keepsOff(obstacle, f *obstacleOutline) Check {
	c := Check{ID: obstacle.id, Against: f.id, Why: "no obstacle overlaps a scenario feature", Rule: "2.5 G224"}
	s := t.gapSpan(obstacle, f)
	if s.Val == 0 {
		depth := 0.0
		for _, o := range [2]struct{ a, b geom.Polygon }{{obstacle.Polygon, f.Polygon}, {f.Polygon, obstacle.Polygon}} {
			for i, p := range o.a {
				_, d := o.b.Deepest(p, o.a[(i+1)%len(o.a)], 1e-6)
				depth = max(depth, d)
			}
		}
		w := s.Hi - s.Val
		s = geom.Interval{Lo: -depth - w, Val: -depth, Hi: -depth + w}
	}
	return decide(c, s, t.k, 0, endless, true)
}

// Count is how many ships the players have at a scenario feature, in the weights of
// the scenario.
type Count struct {
	ID       string // the feature
	Least    [2]int // of players 1 and 2: those that are surely in range
	Most     [2]int // those that may be: a ship whose player is not known, of both
	Player   int    // who controls it or, in Chance Engagement, contests it alone; 0 for neither, or both
	Outcome  Outcome
	Rule     string
	InRange  []string // ships that are or may be in range
	Possible []string // those of them that the measurement cannot decide
}

// weight is how many ships a ship counts as where control is counted (G226).
func weight(b Base) int {
	if b == Small {
		return 1
	}
	return 2
}

// Counts counts the ships at every scenario feature:
//
//   - Assault at the Satellite Array: at range 0–1, medium and large ships as two;
//     whoever has more controls the satellite (G225, G226);
//   - Chance Engagement: at range 0–2; whoever has any contests it (G227), and Player
//     names the one who does so alone;
//   - Salvage Mission and Scramble the Transmissions: the ships that may tow the cache
//     or scramble the satellite, at range 0–1 (G228, G232).
//
// Outcome is Yes when Player is decided, whatever the undecided ships turn out to be.
func Counts(s *Scene, c Scenario, o Options) ([]Count, error) {
	t := &table{}
	if err := t.prepare(s, o); err != nil {
		return nil, err
	}
	n, kind := c.Features()
	if n == 0 {
		return nil, fmt.Errorf("engine: %v: unknown scenario", c)
	}
	reach, rule := 1, [...]string{AssaultAtTheSatelliteArray: "2.5 G225 G226", ChanceEngagement: "2.5 G227",
		SalvageMission: "2.5 G228", ScrambleTheTransmissions: "2.5 G232"}[c]
	if c == ChanceEngagement {
		reach = 2
	}
	var all []Count
	for _, f := range t.features(kind) {
		all = append(all, t.count(f, c, reach, rule))
	}
	return all, nil
}

func (t *table) count(f *obstacleOutline, c Scenario, reach int, rule string) Count {
	n := Count{ID: f.id, Rule: rule, Outcome: Yes}
	for i := range t.scene.Ships {
		ship := &t.scene.Ships[i]
		v := t.object(&t.ships[i], f)
		in := v.Range.At(0, reach)
		if in == No {
			continue
		}
		n.InRange = append(n.InRange, ship.ID)
		if in != Yes {
			n.Possible = append(n.Possible, ship.ID)
		}
		w := 1
		if c == AssaultAtTheSatelliteArray {
			w = weight(ship.Base)
		}
		if ship.Player == 0 { // it is one of theirs
			n.Most[0], n.Most[1] = n.Most[0]+w, n.Most[1]+w
			continue
		}
		n.Most[ship.Player-1] += w
		if in == Yes {
			n.Least[ship.Player-1] += w
		}
	}
	switch c {
	case AssaultAtTheSatelliteArray:
		n.Player, n.Outcome = more(n.Least, n.Most)
	case ChanceEngagement:
		one := func(v [2]int) [2]int { return [2]int{min(1, v[0]), min(1, v[1])} }
		n.Player, n.Outcome = more(one(n.Least), one(n.Most))
	}
	return n
}

// more returns the player who has more, 0 for a draw, and whether all possible counts agree.
func more(least, most [2]int) (int, Outcome) {
	switch {
	case least[0] > most[1]:
		return 1, Yes
	case least[1] > most[0]:
		return 2, Yes
	case least == most:
		return 0, Yes
	}
	return 0, Indeterminate
}

// CheckJettison says whether a supply cache lies where one that a ship jettisoned
// may: at range 1 of the ship, and so not in contact (G229, G230). A ship that fled
// jettisons from where it stood before its maneuver (G231): give the scene with it
// there.
func CheckJettison(s *Scene, ship, cache string, o Options) (Check, error) {
	var m Measurer
	v, err := m.Object(s, ship, cache, o)
	if err != nil {
		return Check{}, err
	}
	d := float64(v.Range.Distance)
	c := Check{
		ID: cache, Against: ship, Legal: v.Range.At(1, 1), Distance: v.Range.Distance, Sigma: v.Range.Sigma,
		Margin: geom.Length(math.Min(d, 100-d)), Why: "at range 1 of the ship", Rule: "2.5 G229 G230",
	}
	return c, nil
}
