package web

import (
	"math"

	"sightline/cmd/internal/live"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision/token"
)

// heldProjector projects shapes on the table into the held picture, with the picture's own
// calibration. The lens bends straight lines on the table, so long ones are projected in pieces.
type heldProjector struct{ h *live.Held }

// pieceMost is the length of a piece. At the edge of a 4K picture of a mat, the lens bends it by
// less than 0.02 px.
const pieceMost = 10 * geom.Millimeter

// path projects a line at a height over the mat. It returns nothing if part of the line is outside
// the picture.
func (p heldProjector) path(points []geom.Point, closed bool, z geom.Length) [][2]float64 {
	out := [][2]float64{}
	if len(points) == 0 {
		return out
	}
	all := points
	if closed {
		all = append(append([]geom.Point{}, points...), points[0])
	}
	add := func(q geom.Point) bool {
		px, ok := p.pixel(q, z)
		if ok {
			out = append(out, [2]float64{round(px.X), round(px.Y)})
		}
		return ok
	}
	if !add(all[0]) {
		return [][2]float64{}
	}
	for i := 1; i < len(all); i++ {
		a, b := all[i-1], all[i]
		n := int(math.Ceil(a.Distance(b).Millimeters() / pieceMost.Millimeters()))
		for k := 1; k <= n; k++ {
			t := float64(k) / float64(n)
			if !add(geom.Point{X: a.X + t*(b.X-a.X), Y: a.Y + t*(b.Y-a.Y)}) {
				return [][2]float64{}
			}
		}
	}
	return out
}

// pixel projects a point at a height over the mat, including the mat's own measured height.
func (p heldProjector) pixel(q geom.Point, z geom.Length) (geom.Pixel, bool) {
	if p.h.Table.Intrinsics.Width == 0 {
		return geom.Pixel{}, false
	}
	return p.h.Table.PixelOf(q, z+p.h.Table.Surface.Height(q))
}

func (p heldProjector) shape(kind, id string, closed bool, points []geom.Point, z geom.Length) outlineJSON {
	s := outlineJSON{Kind: kind, ID: id, Closed: closed, MM: [][2]float64{}, Px: p.path(points, closed, z)}
	for _, q := range points {
		s.MM = append(s.MM, pointOf(q))
	}
	return s
}

// ship draws a base's outline, its nose and each of its sides, at the height of its top.
func (p heldProjector) ship(s *engine.Ship, profile *engine.Profile, read []token.Side) []outlineJSON {
	c := profile.Corners(s.Base, s.Pose)
	base := p.shape("base", s.ID, true, c, token.BaseTop)
	base.Player = s.Player
	out := []outlineJSON{base}
	_, l := profile.Size(s.Base)
	y := float64(l) / 2
	nose := p.shape("nose", s.ID, true, s.Pose.TransformAll([]geom.Point{{Y: y - 2}, {X: 5, Y: y - 9}, {X: -5, Y: y - 9}}), token.BaseTop)
	nose.Player = s.Player
	if !s.Quarters {
		out = append(out, nose)
	}
	for i, side := range [4]token.Side{token.Front, token.RightSide, token.Rear, token.LeftSide} {
		j := p.shape("side", s.ID, false, []geom.Point{c[i], c[(i+1)%4]}, token.BaseTop)
		j.State = "unread"
		for _, r := range read {
			if r == side {
				j.State = "read"
			}
		}
		out = append(out, j)
	}
	return out
}

// arcReach is the drawn length of an arc's edges from the middle of the base, mm: a little beyond
// range 3 of the largest.
const arcReach = 350.0

// arc draws the edges of an arc of a ship, from its apex.
func (p heldProjector) arc(s *engine.Ship, profile *engine.Profile, rules engine.Rules, a engine.Arc) []outlineJSON {
	if s.Quarters { // its heading is unknown
		return nil
	}
	sector, angle := profile.Sector(rules, s, a)
	half := float64(angle)
	ray := func(angle float64) [2]geom.Point {
		sin, cos := math.Sincos(angle)
		return [2]geom.Point{{}, {X: arcReach * sin, Y: arcReach * cos}}
	}
	var edges [][2]geom.Point
	b := float64(profile.Bullseye) / 2
	switch sector {
	case engine.ArcFront:
		edges = [][2]geom.Point{ray(-half), ray(half)}
	case engine.ArcRear:
		edges = [][2]geom.Point{ray(math.Pi - half), ray(math.Pi + half)}
	case engine.ArcLeft:
		edges = [][2]geom.Point{ray(-half), ray(half - math.Pi)}
	case engine.ArcRight:
		edges = [][2]geom.Point{ray(half), ray(math.Pi - half)}
	case engine.ArcFullFront, engine.ArcFullRear:
		edges = [][2]geom.Point{ray(-math.Pi / 2), ray(math.Pi / 2)}
	case engine.ArcBullseye:
		edges = [][2]geom.Point{{{X: -b}, {X: -b, Y: arcReach}}, {{X: b}, {X: b, Y: arcReach}}}
	}
	var out []outlineJSON
	for _, e := range edges {
		out = append(out, p.shape("arc", a.String(), false, []geom.Point{s.Pose.Transform(e[0]), s.Pose.Transform(e[1])}, token.BaseTop))
	}
	return out
}

// lines draws the measuring lines of each verdict, and the band between two of them.
func (p heldProjector) lines(state *live.State) (out []outlineJSON) {
	if state.Pair == nil {
		return nil
	}
	draw := func(key string, lines []geom.Line) {
		if len(lines) == 2 {
			a, b := lines[0], lines[1]
			out = append(out, p.shape("band", key, true, []geom.Point{a[0], a[1], b[1], b[0]}, token.BaseTop))
		}
		for _, l := range lines {
			out = append(out, p.shape("line", key, false, l[:], token.BaseTop))
		}
	}
	draw("range", state.Pair.Range.Lines)
	for i := range state.Pair.Arcs {
		if at := state.Pair.Arcs[i].Attack; at != nil {
			draw(state.Pair.Arcs[i].Arc.String()+"_attack", at.Lines)
		}
	}
	return out
}
