package tablecheck

import (
	"fmt"
	"slices"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/engine/internal/pieces"
)

// Placing is a kind of thing that is placed before a game.
type Placing string

// The kinds.
const (
	PlaceObstacles Placing = "obstacles"
	PlaceShips     Placing = "ships"
	PlaceFeatures  Placing = "features" // satellites and supply caches of 2.5
	PlaceMarkers   Placing = "markers"  // the hyperspace markers of 2.0
)

// Placings lists what is placed in an edition, in the order of placement.
func Placings(r engine.Rules) []Placing {
	switch r {
	case engine.Rules20:
		return []Placing{PlaceObstacles, PlaceShips, PlaceMarkers}
	case engine.Rules25:
		return []Placing{PlaceFeatures, PlaceObstacles, PlaceShips}
	}
	return []Placing{PlaceObstacles, PlaceShips}
}

// ParsePlacing parses the name of a kind.
func ParsePlacing(s string) (Placing, error) {
	all := []Placing{PlaceObstacles, PlaceShips, PlaceFeatures, PlaceMarkers}
	if p := Placing(s); slices.Contains(all, p) {
		return p, nil
	}
	return "", fmt.Errorf("area: expected one of obstacles, ships, features and markers, got %.40q", s)
}

// Zone is the set of points nearer to an outline than a distance.
type Zone struct {
	ID      string
	Outline geom.Polygon // in the table's frame; two points are a line
	Reach   geom.Length
}

// Area is where something may be placed: all of it within the rectangle and outside the zones of
// Clear, and some of it in each zone of Near. It is surely legal: what the measurement cannot
// decide is left out.
type Area struct {
	Of    string // "obstacles", "ships of player 1"
	Rule  string // "2.5 G205"
	Min   geom.Point
	Max   geom.Point
	Clear []Zone
	Near  []Zone
}

// Areas returns where something may be placed now, given what lies on the table. The options'
// sigmas are how many standard deviations a margin must exceed.
func Areas(s *engine.Scene, what Placing, o engine.Options) ([]Area, error) {
	if err := placeable(s, 0); err != nil {
		return nil, err
	}
	if !slices.Contains(Placings(s.Rules), what) {
		return nil, fmt.Errorf("tablecheck: area: no %s are placed in %v", what, s.Rules)
	}
	a := areas{s: s, k: o.Sigmas}
	if a.k == 0 {
		a.k = engine.DefaultSigmas
	}
	switch what {
	case PlaceObstacles:
		return a.obstacles(), nil
	case PlaceShips:
		return a.ships(), nil
	case PlaceMarkers:
		return a.markers(), nil
	}
	return a.features()
}

type areas struct {
	s *engine.Scene
	k float64
}

// inset returns a rectangle at a distance from the edges of the play area.
func (a *areas) inset(d float64) (lo, hi geom.Point) {
	d += a.k * a.s.ScaleSigma * d
	return geom.Point{X: d, Y: d}, geom.Point{X: float64(a.s.MatWidth) - d, Y: float64(a.s.MatHeight) - d}
}

// zone returns a zone around an outline, widened or narrowed by the error of its place.
func (a *areas) zone(id string, at geom.Pose, outline []geom.Point, sigma geom.Length, reach float64, narrower bool) Zone {
	doubt := a.k * (float64(sigma) + a.s.ScaleSigma*reach)
	if narrower {
		doubt = -min(doubt, reach)
	}
	return Zone{ID: id, Reach: geom.Length(reach + doubt), Outline: at.TransformAll(outline)}
}

// token returns a zone around each card of a token.
func (a *areas) token(t *engine.Token, reach float64, narrower bool) (out []Zone) {
	all := engine.TokenOutlines(t.Kind)
	if len(t.Outline) > 0 {
		all = [][]geom.Point{t.Outline}
	}
	for _, outline := range all {
		out = append(out, a.zone(t.ID, t.Pose, outline, t.Sigma, reach, narrower))
	}
	return out
}

func (a *areas) rule(first, second string) string {
	if a.s.Rules == engine.Rules1e {
		return a.s.Rules.String() + " " + first
	}
	return a.s.Rules.String() + " " + second
}

// aroundObstacles returns a zone around each obstacle.
func (a *areas) aroundObstacles(reach float64) (out []Zone) {
	for i := range a.s.Obstacles {
		k := &a.s.Obstacles[i]
		out = append(out, a.zone(k.ID, k.Pose, k.Outline, k.Sigma, reach, false))
	}
	return out
}

// obstacles returns where obstacles may be placed: beyond range 2 of the edges and range 1 of each
// other (G204, G205), and not on a scenario's features (G224).
func (a *areas) obstacles() []Area {
	out := Area{Of: "obstacles", Rule: a.rule("G204", "G205"), Clear: a.aroundObstacles(100)}
	out.Min, out.Max = a.inset(200)
	for _, t := range a.lying() {
		out.Clear = append(out.Clear, a.token(&t, 0, false)...)
	}
	return []Area{out}
}

// ships returns where ships may be placed: within range 1 of their player's edge (G206, G207).
func (a *areas) ships() []Area {
	w, h := float64(a.s.MatWidth), float64(a.s.MatHeight)
	deep := 100 - a.k*a.s.ScaleSigma*100
	return []Area{
		{Of: "ships of player 1", Rule: a.rule("G206", "G207"), Max: geom.Point{X: w, Y: min(deep, h)}},
		{Of: "ships of player 2", Rule: a.rule("G206", "G207"), Min: geom.Point{Y: max(0, h-deep)}, Max: geom.Point{X: w, Y: h}},
	}
}

// markers returns where hyperspace markers may be placed: beyond range 0 of obstacles and range 1
// of the edges (G214), and the second beyond range 3 of the first (G215).
func (a *areas) markers() []Area {
	out := Area{Of: "hyperspace markers", Rule: "2.0 G214 G215", Clear: a.aroundObstacles(0)}
	out.Min, out.Max = a.inset(100)
	for i := range a.s.Markers {
		if t := &a.s.Markers[i]; kindOf(t) == "hyperspace_marker" {
			out.Clear = append(out.Clear, a.token(t, 300, false)...)
		}
	}
	return []Area{out}
}

func kindOf(t *engine.Token) string { return pieces.Normalized(t.Kind) }

// lying lists the scenario features on the table, the one nearest to the centre first.
func (a *areas) lying() (out []engine.Token) {
	if a.s.Rules != engine.Rules25 {
		return nil
	}
	for i := range a.s.Markers {
		if engine.IsScenarioFeature(a.s.Markers[i].Kind) {
			out = append(out, a.s.Markers[i])
		}
	}
	mid := geom.Point{X: float64(a.s.MatWidth) / 2, Y: float64(a.s.MatHeight) / 2}
	slices.SortStableFunc(out, func(x, y engine.Token) int {
		if x.Pose.Distance(mid) < y.Pose.Distance(mid) {
			return -1
		}
		return 1
	})
	return out
}

// features returns where scenario features may be placed: at range 3 of the one in the centre,
// beyond range 2 of each other (G221), and at range 2–4 of a player's edge (G222, G223).
func (a *areas) features() ([]Area, error) {
	lying := a.lying()
	if len(lying) == 0 {
		return nil, fmt.Errorf("tablecheck: area: %w: the first lies in the centre of the play area (2.5 G220)", ErrNoFeatures)
	}
	w, h := float64(a.s.MatWidth), float64(a.s.MatHeight)
	least := 100 + a.k*a.s.ScaleSigma*100
	most := 400 - a.k*a.s.ScaleSigma*400
	var out []Area
	for player, y := range []float64{0, h} {
		area := Area{Of: fmt.Sprintf("features by the edge of player %d", player+1), Rule: "2.5 G221 G222 G223",
			Max: geom.Point{X: w, Y: h - least}, Near: a.token(&lying[0], 300, true)}
		if player == 0 {
			area.Min.Y, area.Max.Y = least, h
		}
		area.Near = append(area.Near, Zone{ID: engine.PlayerEdge(player + 1).String(), Reach: geom.Length(most),
			Outline: geom.Polygon{{X: -w, Y: y}, {X: 2 * w, Y: y}}})
		for i := range lying {
			area.Clear = append(area.Clear, a.token(&lying[i], 200, false)...)
		}
		out = append(out, area)
	}
	return out, nil
}
