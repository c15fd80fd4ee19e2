// Package pieces knows the outlines of the game's pieces: tokens by their kind, and the guides
// of ships' bases.
package pieces

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"sightline/engine/geom"
)

// Part is one card of a token: its outline in the token's own frame, and
// what is appended to the token's id to name it.
type Part struct {
	Name    string
	Outline []geom.Point
}

// Outlines of the cardboard tokens, guides included (rules/dimensions 1.6): the
// rectangles around them, width across the heading by length along it. The only
// source measured them on pictures; a scene that knows better gives the outline.
// Tokens of several cards are one part each (G192, G193).
var tokenParts = map[string][]Part{}

func init() {
	one := func(w, l float64, kinds ...string) {
		for _, k := range kinds {
			tokenParts[k] = []Part{{"", box(0, w, l)}}
		}
	}
	one(30.8, 32.6, "bomb", "seismic_charge", "proton_bomb", "ion_bomb", "thermal_detonator", "bomblet", "concussion_bomb",
		"electro_proton_bomb")
	one(68.0, 69.4, "mine", "proximity_mine")
	one(43.9, 81.4, "conner_net")
	one(39.6, 39.6, "cluster_mine")
	tokenParts["cluster_mines"] = []Part{
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

// Outlines returns the outlines of a device or a marker of a kind in its own
// frame, guides included, one per card that it is made of; nil for a kind whose
// size is not known. Words are joined by _, - or a space.
func Outlines(kind string) [][]geom.Point {
	var all [][]geom.Point
	for _, p := range tokenParts[Normalized(kind)] {
		all = append(all, append([]geom.Point(nil), p.Outline...))
	}
	return all
}

// Kinds lists the kinds that Outlines knows, in alphabetical order.
func Kinds() []string { return slices.Sorted(maps.Keys(tokenParts)) }

// Normalized returns a kind as the table of kinds writes it: small letters, words joined by _, and
// one of them where a card names several, as "Proton Bombs" does.
func Normalized(kind string) string {
	if strings.ContainsAny(kind, "- ") {
		kind = strings.NewReplacer("-", "_", " ", "_").Replace(kind)
	}
	kind = strings.ToLower(kind)
	if one, several := strings.CutSuffix(kind, "s"); several && tokenParts[kind] == nil && tokenParts[one] != nil {
		return one
	}
	return kind
}

// Parts returns what a token of a kind is made of, given the outline that it states; none
// where it states none and its kind is not known.
func Parts(kind string, outline []geom.Point) []Part {
	if len(outline) > 0 {
		return []Part{{Outline: outline}}
	}
	return tokenParts[Normalized(kind)]
}

// InsideMat cuts a device's outline, in its own frame, to what lies inside the
// play area of w by h mm: the rest is ignored (G184). That may be several pieces, the largest first,
// or none.
func InsideMat(w, h float64, at geom.Pose, outline []geom.Point) [][]geom.Point {
	if w <= 0 || h <= 0 || insideAll(w, h, at, outline, [4]float64{}) {
		return [][]geom.Point{outline}
	}
	return cutToMat(w, h, at, outline, [4]float64{})
}

// insideAll reports whether an outline lies in the play area, whose edges (left, right, near, far) are each
// moved inward by inset mm.
func insideAll(w, h float64, at geom.Pose, outline []geom.Point, inset [4]float64) bool {
	for _, p := range outline {
		if q := at.Transform(p); q.X < inset[0] || q.X > w-inset[1] || q.Y < inset[2] || q.Y > h-inset[3] {
			return false
		}
	}
	return true
}

// cutToMat returns the pieces of an outline in the play area, whose edges are each moved inward by
// inset mm, the largest first.
func cutToMat(w, h float64, at geom.Pose, outline []geom.Point, inset [4]float64) [][]geom.Point {
	pieces := [][]geom.Point{at.TransformAll(outline)}
	for e, n := range [4]geom.Point{{X: 1}, {X: -1}, {Y: 1}, {Y: -1}} {
		var cut [][]geom.Point
		for _, g := range pieces {
			cut = append(cut, Cut(g, n, [4]float64{0, -w, 0, -h}[e]+inset[e])...)
		}
		pieces = cut
	}
	pieces = slices.DeleteFunc(pieces, func(g []geom.Point) bool { return len(g) < 3 || math.Abs(geom.Polygon(g).Area()) < geom.Tie })
	slices.SortStableFunc(pieces, func(a, b []geom.Point) int {
		return cmp.Compare(math.Abs(geom.Polygon(b).Area()), math.Abs(geom.Polygon(a).Area()))
	})
	for _, g := range pieces {
		for i, p := range g {
			g[i] = at.Inverse(p)
		}
	}
	return pieces
}

// MatLimits returns the pieces of the least and of the most of a device's outline that may lie inside the play
// area if its points may be up to slack mm nearer to or further from each edge: left, right, near, far.
// Either may be empty. It reports false if the edges leave nothing open.
func MatLimits(w, h float64, at geom.Pose, outline []geom.Point, slack [4]float64) (least, most [][]geom.Point, open bool) {
	if w <= 0 || h <= 0 || slack == ([4]float64{}) || insideAll(w, h, at, outline, slack) {
		all := InsideMat(w, h, at, outline)
		return all, all, false
	}
	wider := slack
	for e := range wider {
		wider[e] = -wider[e]
	}
	return cutToMat(w, h, at, outline, slack), cutToMat(w, h, at, outline, wider), true
}

// OnMat returns the pieces of a device's outline that count in a play area of w by h mm: those
// inside, as InsideMat cuts it; none when all of it lies outside, by more than slack mm where its place
// is not exact.
func OnMat(w, h float64, at geom.Pose, outline []geom.Point, slack float64) [][]geom.Point {
	if w <= 0 || h <= 0 {
		return [][]geom.Point{outline}
	}
	beyond := [4]bool{true, true, true, true}
	for _, p := range outline {
		q := at.Transform(p)
		for e, d := range [4]float64{-q.X, q.X - w, -q.Y, q.Y - h} {
			beyond[e] = beyond[e] && d >= slack
		}
	}
	if beyond != ([4]bool{}) {
		return nil
	}
	in := InsideMat(w, h, at, outline)
	if len(in) > 0 || slack == 0 {
		return in
	}
	if _, most, _ := MatLimits(w, h, at, outline, [4]float64{slack, slack, slack, slack}); len(most) == 0 {
		return nil // next to a corner, without being beyond either edge
	}
	return [][]geom.Point{outline}
}

// Clip cuts a convex polygon to the half plane n·x ≥ c.
func Clip(g []geom.Point, n geom.Point, c float64) []geom.Point {
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

// Cut cuts a simple polygon to the half plane n·x ≥ c: into pieces where that takes it apart.
//
// The sides that cross the edge of the half plane leave chains of corners inside. Along the edge the polygon lies
// between every other two crossings: there the end of a chain leads to the beginning of one.
func Cut(g []geom.Point, n geom.Point, c float64) [][]geom.Point {
	inside := func(i int) bool { return n.Dot(g[i%len(g)]) >= c }
	first := 0
	for first < len(g) && (inside(first) || !inside(first+1)) {
		first++
	}
	if first == len(g) { // no side leads inside
		if len(g) == 0 || !inside(0) {
			return nil
		}
		return [][]geom.Point{slices.Clone(g)}
	}
	var chains [][]geom.Point
	for i := first; i < first+len(g); i++ {
		if inside(i) != inside(i+1) {
			a, b := g[i%len(g)], g[(i+1)%len(g)]
			da, db := n.Dot(a)-c, n.Dot(b)-c
			if !inside(i) {
				chains = append(chains, nil)
			}
			if da != 0 && db != 0 { // else it is a corner
				chains[len(chains)-1] = append(chains[len(chains)-1], a.Lerp(b, da/(da-db)))
			}
		}
		if inside(i + 1) {
			chains[len(chains)-1] = append(chains[len(chains)-1], g[(i+1)%len(g)])
		}
	}
	return joined(chains, geom.Point{X: -n.Y, Y: n.X})
}

// joined joins chains that begin and end on a line into polygons.
func joined(chains [][]geom.Point, along geom.Point) [][]geom.Point {
	type end struct {
		at    float64
		chain int
		last  bool
	}
	var ends []end
	for i, c := range chains {
		ends = append(ends, end{along.Dot(c[0]), i, false}, end{along.Dot(c[len(c)-1]), i, true})
	}
	slices.SortStableFunc(ends, func(a, b end) int { return cmp.Compare(a.at, b.at) })
	next := make([]int, len(chains)) // the chain that follows each one
	for i := 0; i < len(ends); i += 2 {
		a, b := ends[i], ends[i+1]
		if a.last == b.last { // by rounding: the polygon touches itself there
			return [][]geom.Point{slices.Concat(chains...)}
		}
		if b.last {
			a, b = b, a
		}
		next[a.chain] = b.chain
	}
	var out [][]geom.Point
	used := make([]bool, len(chains))
	for i := range chains {
		var g []geom.Point
		for j := i; !used[j]; j = next[j] {
			used[j] = true
			g = append(g, chains[j]...)
		}
		if g != nil {
			out = append(out, g)
		}
	}
	return out
}

// IsObstacle reports whether a device is also an obstacle: dropped cargo is a
// debris cloud (G43), and a cloud of electro-chaff obstructs like one of gas.
// Bombs, mines and scenario features are not (G41, G42).
func IsObstacle(kind string) bool { return ObstacleKind(kind) != "" }

// ObstacleKind returns the kind of obstacle that something on the table counts
// as; "" for none.
func ObstacleKind(kind string) string {
	switch Normalized(kind) {
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
