package tablesim

import (
	"math"

	"sightline/engine/geom"
)

// frame is a pose with its sine and cosine precomputed.
type frame struct{ x, y, s, c float64 }

func frameOf(p geom.Pose) frame {
	s, c := math.Sincos(float64(p.Heading))
	return frame{p.X, p.Y, s, c}
}

// local transforms a table point to the frame: x to the right of the nose, y along it.
func (f *frame) local(x, y float64) (float64, float64) {
	x, y = x-f.x, y-f.y
	return f.c*x - f.s*y, f.s*x + f.c*y
}

// table transforms a point of the frame to the table.
func (f *frame) table(x, y float64) (float64, float64) {
	return f.x + f.c*x + f.s*y, f.y - f.s*x + f.c*y
}

// part is a convex piece of a silhouette: a polygon, an ellipse or a capsule with
// two radii. Its distance is negative inside; outside it is exact enough for soft
// shadows.
type part struct {
	half    [][3]float64 // polygon: n·p ≤ d for each (nx, ny, d)
	x, y    float64      // ellipse: centre; capsule: one end
	a, b    float64      // ellipse: half axes; capsule: the radii at its ends
	ex, ey  float64      // capsule: the vector to the other end
	capsule bool
}

// polygon returns the convex part with these corners, in either sense of rotation.
func polygon(pts ...geom.Point) part {
	var area float64
	for i, p := range pts {
		area += p.Cross(pts[(i+1)%len(pts)])
	}
	out := part{}
	for i, p := range pts {
		e := pts[(i+1)%len(pts)].Sub(p)
		n := geom.Point{X: e.Y, Y: -e.X}.Mul(math.Copysign(1/e.Norm(), area))
		out.half = append(out.half, [3]float64{n.X, n.Y, n.Dot(p)})
	}
	return out
}

func rectangle(x0, y0, x1, y1 float64) part {
	return polygon(geom.Point{X: x0, Y: y0}, geom.Point{X: x1, Y: y0}, geom.Point{X: x1, Y: y1}, geom.Point{X: x0, Y: y1})
}

func ellipse(x, y, a, b float64) part { return part{x: x, y: y, a: a, b: b} }

func capsule(x0, y0, r0, x1, y1, r1 float64) part {
	return part{x: x0, y: y0, a: r0, b: r1, ex: x1 - x0, ey: y1 - y0, capsule: true}
}

func (p *part) distance(x, y float64) float64 {
	switch {
	case p.half != nil:
		d := math.Inf(-1)
		for i := range p.half {
			h := &p.half[i]
			d = max(d, h[0]*x+h[1]*y-h[2])
		}
		return d
	case p.capsule:
		x, y = x-p.x, y-p.y
		t := (x*p.ex + y*p.ey) / (p.ex*p.ex + p.ey*p.ey)
		t = min(max(t, 0), 1)
		x, y = x-t*p.ex, y-t*p.ey
		return math.Sqrt(x*x+y*y) - (p.a + t*(p.b-p.a))
	}
	x, y = (x-p.x)/p.a, (y-p.y)/p.b
	return (math.Sqrt(x*x+y*y) - 1) * min(p.a, p.b)
}

// distance returns the distance of the union of the parts.
func distance(parts []part, x, y float64) float64 {
	d := math.Inf(1)
	for i := range parts {
		d = min(d, parts[i].distance(x, y))
	}
	return d
}

// has reports whether the point lies in the part: whether its distance is at most 0.
func (p *part) has(x, y float64) bool {
	if p.half == nil {
		return p.distance(x, y) <= 0
	}
	for i := range p.half {
		if h := &p.half[i]; h[0]*x+h[1]*y-h[2] > 0 {
			return false
		}
	}
	return true
}

// inside reports whether the point lies in any of the parts.
func inside(parts []part, x, y float64) bool {
	for i := range parts {
		if parts[i].has(x, y) {
			return true
		}
	}
	return false
}

// box is an axis-parallel rectangle.
type box struct{ x0, y0, x1, y1 float64 }

func (b box) has(x, y float64) bool { return x >= b.x0 && x <= b.x1 && y >= b.y0 && y <= b.y1 }

// enter returns the fraction 0…1 of the way from (ax, ay) to (bx, by) at which the segment enters
// the box, 0 if it starts inside. It reports false if it misses the box.
func (b box) enter(ax, ay, bx, by float64) (float64, bool) {
	t0, t1 := between(ax, bx-ax, b.x0, b.x1)
	if t0 > t1 {
		return 0, false
	}
	u0, u1 := between(ay, by-ay, b.y0, b.y1)
	t0, t1 = max(t0, u0), min(t1, u1)
	return t0, t0 <= t1
}

// between returns the part of 0…1 for which p + t d is from lo to hi; the first is more than the second
// if there is none.
func between(p, d, lo, hi float64) (float64, float64) {
	switch {
	case d > 0:
		return max((lo-p)/d, 0), min((hi-p)/d, 1)
	case d < 0:
		return max((hi-p)/d, 0), min((lo-p)/d, 1)
	case p < lo || p > hi:
		return 1, 0
	}
	return 0, 1
}

// inPolygon reports whether a point lies in a simple polygon (even-odd rule).
func inPolygon(poly []geom.Point, x, y float64) bool {
	in := false
	for i, j := 0, len(poly)-1; i < len(poly); j, i = i, i+1 {
		p, q := poly[i], poly[j]
		if (p.Y > y) != (q.Y > y) && x < (q.X-p.X)*(y-p.Y)/(q.Y-p.Y)+p.X {
			in = !in
		}
	}
	return in
}

// smooth goes from 0 at a to 1 at b without a kink.
func smooth(a, b, x float64) float64 {
	t := min(max((x-a)/(b-a), 0), 1)
	return t * t * (3 - 2*t)
}
