package engine

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"sightline/engine/geom"
)

// tokenPart is one piece of a token: its outline in the token's own frame, and
// what is appended to the token's id to name it.
type tokenPart struct {
	name    string
	outline []geom.Point
}

// Outlines of the cardboard tokens, guides included (rules/dimensions 1.6): the
// rectangles around them, width across the heading by length along it. The only
// source measured them on pictures; a scene that knows better gives the outline.
// Tokens of several cards are one part each (G192, G193).
var tokenParts = map[string][]tokenPart{}

func init() {
	one := func(w, l float64, kinds ...string) {
		for _, k := range kinds {
			tokenParts[k] = []tokenPart{{"", box(0, w, l)}}
		}
	}
	one(30.8, 32.6, "bomb", "seismic_charge", "proton_bomb", "ion_bomb", "thermal_detonator", "bomblet", "concussion_bomb",
		"electro_proton_bomb")
	one(68.0, 69.4, "mine", "proximity_mine")
	one(43.9, 81.4, "conner_net")
	one(39.6, 39.6, "cluster_mine")
	tokenParts["cluster_mines"] = []tokenPart{
		{"", box(0, 42.8, 42.1)}, {".left", box(-40, 39.6, 39.6)}, {".right", box(40, 39.6, 39.6)},
	}
	one(50.3, 47.8, "probe_droid")
	one(32.2, 41.4, "buzz_droids")
	one(38.6, 51.0, "sensor_buoy")
	one(114.3, 40.7, "electro_chaff")
	one(91.3, 65.8, "cargo", "rigged_cargo")
	one(49.6, 48.5, "spare_parts")
	one(35.8, 39.3, "container")
	one(52.7, 46.4, "hyperspace_marker")
	one(35.8, 36.1, "satellite", "supply_cache", "objective")
	one(15.2, 30.1, "mission_satellite")
}

func box(x, w, l float64) []geom.Point {
	return []geom.Point{{X: x + w/2, Y: l / 2}, {X: x - w/2, Y: l / 2}, {X: x - w/2, Y: -l / 2}, {X: x + w/2, Y: -l / 2}}
}

// TokenOutlines returns the outlines of a device or a marker of a kind in its own
// frame, guides included, one per card that it is made of; nil for a kind whose
// size is not known. Lower-case names, words joined by _, - or a space.
func TokenOutlines(kind string) [][]geom.Point {
	var all [][]geom.Point
	for _, p := range tokenParts[tokenKind(kind)] {
		all = append(all, append([]geom.Point(nil), p.outline...))
	}
	return all
}

// TokenKinds lists the kinds that TokenOutlines knows, in alphabetical order.
func TokenKinds() []string { return slices.Sorted(maps.Keys(tokenParts)) }

func tokenKind(kind string) string {
	if strings.ContainsAny(kind, "- ") {
		return strings.NewReplacer("-", "_", " ", "_").Replace(kind)
	}
	return kind
}

// validateOutline checks what a token states of its own outline.
func (t *Token) validateOutline() error {
	if !within(float64(t.Sigma), 0, math.Sqrt(maxVariance)) {
		return fmt.Errorf("sigma_mm: expected 0 to %g, got %g", math.Sqrt(maxVariance), float64(t.Sigma))
	}
	if len(t.Outline) == 0 {
		return nil
	}
	return validOutline(t.Outline)
}

// parts returns what a token on the table is made of.
func (t *Token) parts() []tokenPart {
	if len(t.Outline) > 0 {
		return []tokenPart{{outline: t.Outline}}
	}
	return tokenParts[tokenKind(t.Kind)]
}

// insideMat cuts a device's outline, in its own frame, to what of it is inside the
// play area: the rest is ignored (G184); nil when nothing is. Outlines that are
// wholly inside stay as they are, and so do those that are not convex, whose parts
// could fall apart; the kinds known here are all convex.
func (s *Scene) insideMat(at geom.Pose, outline []geom.Point) []geom.Point {
	w, h := float64(s.MatWidth), float64(s.MatHeight)
	if w <= 0 || h <= 0 {
		return outline
	}
	inside := true
	for _, p := range outline {
		q := at.Transform(p)
		inside = inside && q.X >= 0 && q.X <= w && q.Y >= 0 && q.Y <= h
	}
	if inside || !convexOutline(outline) {
		return outline
	}
	cut := make([]geom.Point, len(outline))
	for i, p := range outline {
		cut[i] = at.Transform(p)
	}
	for e, n := range [4]geom.Point{{X: 1}, {X: -1}, {Y: 1}, {Y: -1}} {
		c := [4]float64{0, -w, 0, -h}[e]
		cut = clipTo(cut, n, c)
	}
	if len(cut) < 3 || geom.Polygon(cut).Area() < tie {
		return nil
	}
	for i, p := range cut {
		cut[i] = at.Inverse(p)
	}
	return cut
}

// clipTo cuts a convex polygon to the half plane n·x ≥ c.
func clipTo(g []geom.Point, n geom.Point, c float64) []geom.Point {
	var out []geom.Point
	for i, a := range g {
		b := g[(i+1)%len(g)]
		da, db := n.Dot(a)-c, n.Dot(b)-c
		if da >= 0 {
			out = append(out, a)
		}
		if da < 0 && db > 0 || da > 0 && db < 0 {
			out = append(out, a.Lerp(b, da/(da-db)))
		}
	}
	return out
}

// convexOutline reports whether an outline turns one way only.
func convexOutline(g []geom.Point) bool {
	left, right := false, false
	for i, a := range g {
		b, c := g[(i+1)%len(g)], g[(i+2)%len(g)]
		turn := b.Sub(a).Cross(c.Sub(b))
		left, right = left || turn > 0, right || turn < 0
	}
	return !(left && right)
}

// isObstacle reports whether a device is also an obstacle: dropped cargo is a
// debris cloud (G43), and a cloud of electro-chaff obstructs like one of gas.
// Bombs, mines and scenario features are not (G41, G42).
func isObstacle(kind string) bool { return obstacleKind(kind) != "" }

// obstacleKind returns the kind of obstacle that something on the table counts
// as; "" for none.
func obstacleKind(kind string) string {
	switch tokenKind(kind) {
	case "asteroid":
		return "asteroid"
	case "debris", "cargo", "rigged_cargo", "spare_parts":
		return "debris"
	case "gas":
		return "gas"
	case "electro_chaff":
		return "chaff"
	}
	return ""
}
