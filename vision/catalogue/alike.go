package catalogue

import (
	"math"

	"sightline/engine/geom"
)

// PointsAlong returns points along an outline, in mm, spaced by every mm on average, at least 24.
func PointsAlong(outline []geom.Point, every float64) (points []geom.Point) {
	total := perimeter(outline)
	count := max(int(total/every), 24)
	step := total / float64(count)
	next, along := step/2, 0.0
	for i, a := range outline {
		b := outline[(i+1)%len(outline)]
		l := float64(a.Distance(b))
		for next <= along+l && l > 0 {
			points = append(points, a.Lerp(b, (next-along)/l))
			next += step
		}
		along += l
	}
	return points
}

// Normals returns the outward unit normals of an outline at its points; the outline is
// counter-clockwise. They are the normals of the chords between each point's neighbours, because a
// traced outline is ragged.
func Normals(points []geom.Point) []geom.Point {
	out := make([]geom.Point, len(points))
	m := len(points)
	for k := range points {
		t := points[(k+1)%m].Sub(points[(k+m-1)%m])
		if l := t.Norm(); l > 0 {
			out[k] = geom.Point{X: t.Y / l, Y: -t.X / l}
		}
	}
	return out
}

// Likeness returns how alike two outlines are: 0 if they coincide, 1 if their borders are nowhere
// within apartMost of each other. Both are scaled to the same size, because the search allows for
// prints that darken towards their edge. own leaves out the turns by which an outline coincides
// with itself.
func Likeness(a, b []geom.Point, own bool) float64 {
	area, ca := Centroid(a)
	other, cb := Centroid(b)
	k := math.Sqrt(math.Abs(area / other))
	if k > 1+sizeAlike || k < 1-sizeAlike {
		return 1
	}
	along := PointsAlong(a, max(perimeter(a)/64, 0.5))
	var on geom.Polygon
	for _, p := range PointsAlong(b, max(perimeter(b)/96, 0.5)) {
		on = append(on, p.Sub(cb).Mul(k))
	}
	best := 1.0
	const turns = 90
	for i := range turns {
		turn := 2 * math.Pi * float64(i) / turns
		if own && (turn < ownTurn || turn > 2*math.Pi-ownTurn) {
			continue
		}
		sin, cos := math.Sincos(turn)
		sum := 0.0
		for n, p := range along {
			q := p.Sub(ca)
			d := on.BoundaryDistance(geom.Point{X: cos*q.X - sin*q.Y, Y: sin*q.X + cos*q.Y})
			sum += math.Min(d*d/(apartMost*apartMost), 1)
			if sum > best*float64(len(along)) && n < len(along)-1 {
				break
			}
		}
		best = min(best, sum/float64(len(along)))
	}
	return best
}

const (
	// AlikeBelow is the likeness below which the search may refuse a token because another one, or the
	// same in another position, fits as well: the margin that the search requires at the worst fit
	// that it accepts.
	AlikeBelow = 0.15

	apartMost = 0.9  // mm
	sizeAlike = 0.05 // of the radius: about 1 mm, the inset of an edge that the search allows
	ownTurn   = 0.35 // rad
)

func perimeter(p []geom.Point) (l float64) {
	for i := range p {
		l += float64(p[i].Distance(p[(i+1)%len(p)]))
	}
	return l
}

// LikeItself reports whether an outline looks about the same when turned, or with its other face
// up.
func LikeItself(outline []geom.Point) (turned, flipped bool) {
	e := Entry{Outline: outline}
	return Likeness(outline, outline, true) < AlikeBelow, Likeness(outline, e.Face(true), false) < AlikeBelow
}

// Alike reports whether two different tokens may be mistaken for each other, with either face up.
func Alike(a, b []geom.Point) bool {
	e := Entry{Outline: b}
	return Likeness(a, b, false) < AlikeBelow || Likeness(a, e.Face(true), false) < AlikeBelow
}
