package web

import "math"

// slimWithin is the largest distance, in pixels, of a left-out point from its line: points are
// rounded to a tenth, and no screen shows a quarter.
const slimWithin = 0.25

// slim leaves out unnecessary points of a line (Ramer, Douglas and Peucker). The first and the last
// point stay.
func (l polyline) slim() polyline {
	if len(l) < 3 {
		return l
	}
	a, b := l[0], l[len(l)-1]
	worst, at := 0.0, 0
	for i := 1; i < len(l)-1; i++ {
		if d := toSegment(l[i], a, b); d > worst {
			worst, at = d, i
		}
	}
	if worst <= slimWithin {
		return polyline{a, b}
	}
	left := l[:at+1].slim()
	return append(left[:len(left)-1:len(left)-1], l[at:].slim()...)
}

// toSegment returns the distance of a point from the segment from a to b.
func toSegment(p, a, b [2]float64) float64 {
	dx, dy := b[0]-a[0], b[1]-a[1]
	t := 0.0
	if length := dx*dx + dy*dy; length > 0 {
		t = min(1, max(0, ((p[0]-a[0])*dx+(p[1]-a[1])*dy)/length))
	}
	return math.Hypot(p[0]-a[0]-t*dx, p[1]-a[1]-t*dy)
}
