package projector

import (
	"math"
	"slices"

	"sightline/cmd/internal/live"
	"sightline/engine"
	"sightline/engine/geom"
)

// Line is a thin line on the screen.
type Line struct {
	Kind   string       `json:"kind"` // kindMeasure, kindShip
	Width  float64      `json:"width_px"`
	Points [][2]float64 `json:"points_px"`
}

// What is drawn. Legal areas of obstacles and ships are not drawn: the state does not have them.
const (
	kindMeasure = "measure" // the measuring line of the chosen pair
	kindShip    = "ship"    // around a ship whose turn it is, or the attacker
)

const (
	baseClearance = 5.0 // mm between a line's edge and a base
	guidesOut     = 2.0 // mm, the largest width of a base's guides
	lineWidth     = 1.2 // mm
	lineStep      = 2.0 // mm between the points of a line
	chord         = 0.1 // mm by which a line between such points comes nearer to a base's corner than the points
)

// base is a ship's base on the mat.
type base struct {
	pose          geom.Pose
	width, length float64
}

// basesOf returns the bases of all ships of a state; covered ships stand where they were last seen.
func basesOf(s *live.State) (out []base) {
	scene := &s.Located.Scene
	profile := engine.ProfileOf(scene)
	for i := range scene.Ships {
		w, l := profile.Size(scene.Ships[i].Base)
		out = append(out, base{scene.Ships[i].Pose, float64(w), float64(l)})
	}
	return out
}

// distance returns the distance of a point from a base with its guides.
func (b *base) distance(p geom.Point) float64 {
	own := b.pose.Inverse(p)
	x, y := max(math.Abs(own.X)-b.width/2, 0), max(math.Abs(own.Y)-b.length/2-guidesOut, 0)
	return math.Hypot(x, y)
}

// around returns the closed outline at a distance from a base with its guides.
func (b *base) around(r float64) (out []geom.Point) {
	const perCorner = 8
	x, y := b.width/2, b.length/2+guidesOut
	for corner, c := range []geom.Point{{X: x, Y: y}, {X: x, Y: -y}, {X: -x, Y: -y}, {X: -x, Y: y}} {
		for i := range perCorner + 1 {
			sin, cos := math.Sincos((float64(corner) + float64(i)/perCorner) * math.Pi / 2)
			out = append(out, b.pose.Transform(geom.Point{X: c.X + r*sin, Y: c.Y + r*cos}))
		}
	}
	return append(out, out[0])
}

// linesOf returns the lines of a state on the screen. No line comes nearer to a base than 5 mm,
// even if the map is off by its largest verified error, and no line leaves the verified area.
func linesOf(s *live.State, m *Map, worst float64) (out []Line) {
	bases := basesOf(s)
	keep := baseClearance + chord + worst + lineWidth/2
	add := func(kind string, path []geom.Point) {
		for _, part := range allowed(path, bases, m.Region, keep) {
			if line, ok := m.line(kind, part); ok {
				out = append(out, line)
			}
		}
	}
	if s.Pair != nil {
		for _, l := range s.Pair.Range.Lines {
			add(kindMeasure, l[:])
		}
	}
	scene := &s.Located.Scene
	profile := engine.ProfileOf(scene)
	for _, id := range active(s) {
		i := slices.IndexFunc(scene.Ships, func(ship engine.Ship) bool { return ship.ID == id })
		if i < 0 || !s.Stands(id) {
			continue
		}
		w, l := profile.Size(scene.Ships[i].Base)
		own := base{scene.Ships[i].Pose, float64(w), float64(l)}
		add(kindShip, own.around(keep+0.5))
	}
	return out
}

// active returns the ships whose turn it is, or without a game the attacker.
func active(s *live.State) []string {
	switch {
	case s.Play != nil && s.Play.Over == "":
		return s.Play.Active
	case s.Play == nil && s.Choice.From != "":
		return []string{s.Choice.From}
	}
	return nil
}

// allowed returns the parts of a path that keep their distance from all bases and lie in the
// region, with points lineStep apart.
func allowed(path []geom.Point, bases []base, region geom.Polygon, keep float64) (parts [][]geom.Point) {
	var part []geom.Point
	end := func() {
		if len(part) > 1 {
			parts = append(parts, part)
		}
		part = nil
	}
	for i := 0; i+1 < len(path); i++ {
		from, to := path[i], path[i+1]
		n := max(1, int(math.Ceil(float64(from.Distance(to))/lineStep)))
		for k := range n + 1 {
			if k == 0 && i > 0 {
				continue // the end of the previous piece
			}
			p := from.Lerp(to, float64(k)/float64(n))
			if !region.Contains(p) || slices.ContainsFunc(bases, func(b base) bool { return b.distance(p) < keep }) {
				end()
				continue
			}
			part = append(part, p)
		}
	}
	end()
	return parts
}

// line maps points of the mat to the screen.
func (m *Map) line(kind string, path []geom.Point) (Line, bool) {
	l := Line{Kind: kind, Width: max(1, lineWidth*m.Scale(path[len(path)/2]))}
	for _, p := range path {
		at, ok := m.Screen(p)
		if !ok || at.X < 0 || at.Y < 0 || at.X > float64(m.Width) || at.Y > float64(m.Height) {
			return Line{}, false
		}
		l.Points = append(l.Points, [2]float64{hundredths(at.X), hundredths(at.Y)})
	}
	return l, true
}

func hundredths(x float64) float64 { return math.Round(100*x) / 100 }
