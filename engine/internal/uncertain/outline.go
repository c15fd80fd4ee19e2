package uncertain

import (
	"math"
	"slices"

	"sightline/engine/geom"
)

// Outline is an object on the table whose outline may have any number of corners.
type Outline struct {
	At      geom.Point
	Polygon geom.Polygon // counter-clockwise
	Hull    geom.Polygon // its convex hull, which has far fewer vertices
	Shape   Shape        // the outline, for measuring to it
	Circle               // contains the outline
	Core    float64      // radius of a circle around the same centre that lies inside the outline; 0 if the centre does not
	Sigma   float64      // of the outline's place on the table, in mm
}

// Place puts an outline, given in the pose's own frame, on the table. It reuses r's memory.
func (r *Outline) Place(pose geom.Pose, outline []geom.Point, sigma float64) {
	r.At, r.Polygon, r.Sigma = pose.Point, r.Polygon[:0], sigma
	f := FrameOf(pose)
	for _, p := range outline {
		r.Polygon = append(r.Polygon, f.Table(p))
	}
	r.Circle = circleAround(r.Polygon)
	if r.Polygon.Area() < 0 {
		slices.Reverse(r.Polygon)
	}
	r.Hull = r.Polygon.Hull(r.Hull)
	r.Core = max(0, r.Polygon.Depth(r.Centre))
	r.Shape.V, r.Shape.Body, r.Shape.Lever, r.Shape.round = r.Polygon, To, r.Radius, r.Circle
	r.Shape.setEdges()
}

// Body returns the outline as a body whose whole error is its sigma. It stands where the outline lies, so that
// the frame in which that is written makes no difference.
func (r *Outline) Body() Body {
	v := geom.Sq(r.Sigma)
	return Body{r.Centre, geom.Cov3{0: v, 4: v}}
}

// keepsOff reports whether the whole outline lies in front of one side of a convex shape: the two
// then do not meet.
func (r *Outline) keepsOff(a *Shape) bool {
	for i := range a.Edges {
		p, out, least := a.V[i], a.Edges[i].Out(), math.Inf(1)
		for _, q := range r.Hull {
			least = min(least, out.Dot(q.Sub(p)))
		}
		if least > geom.Tie {
			return true
		}
	}
	return false
}

// GapToOutline measures the signed gap between a convex shape and any simple
// polygon.
func (g *Propagator) GapToOutline(a *Shape, r *Outline) ClosestPair {
	outline := &r.Shape
	if far := a.Far(r.Centre); far > r.Radius || r.keepsOff(a) || geom.Gap(a.V, r.Polygon) > 0 {
		if r.Core == 0 { // the circle's centre may be outside the outline
			far = a.Far(r.Polygon[0])
		}
		var m ClosestPair
		var near []candidate
		m.Interval, near = g.Shortest(a, outline, far-r.Core)
		m.Lines, m.Band = LinesOf(near, m.Val)
		m.Hi = max(m.Hi, m.Val)
		if m.Lo > 0 && m.Val <= g.relevance(a, outline)+g.K*g.Scaled.Norm() && g.mayMeet(a, r) {
			m.Lo = 0
		}
		return m
	}
	return g.overlapWithOutline(a, r)
}

// mayMeet reports whether a convex shape and an outline that are apart may really meet: near
// contact a corner may slip round another. They meet where a vertex of one reaches a side of the
// other, and that vertex moves at most as far as the two bodies move there relative to each other.
func (g *Propagator) mayMeet(a *Shape, r *Outline) bool {
	if g.Exact {
		return false
	}
	for _, p := range a.V {
		if r.Polygon.BoundaryDistance(p) <= g.PointBound(p) {
			return true
		}
	}
	for _, q := range r.Polygon {
		if a.Far(q) <= g.PointBound(q) {
			return true
		}
	}
	return false
}

// overlapWithOutline measures how deep a convex shape and an outline lie in each other: the depth
// of the deepest point of a side of one inside the other. A concave outline has no single direction
// of separation, so the interval takes the point's largest error in any direction. If some point is
// deeper than its error, the two surely meet.
func (g *Propagator) overlapWithOutline(a *Shape, r *Outline) ClosestPair {
	m := ClosestPair{Interval: geom.Interval{Lo: math.Inf(1), Val: math.Inf(1), Hi: math.Inf(1)}}
	look := func(p geom.Point, depth float64) {
		depth = max(0, depth)
		off := g.PointBound(p)
		if -depth < m.Val {
			m.Lines = [2]geom.Line{{p, p}, {p, p}}
		}
		m.Interval = m.Min(geom.Interval{Lo: -depth - off, Val: -depth, Hi: -depth + off})
	}
	tol := 1e-6
	if !g.Exact {
		tol = 0.01
	}
	for i, p := range a.V {
		look(r.Polygon.Deepest(p, a.Next(i), tol))
	}
	for i, p := range r.Polygon {
		look(a.deepest(p, r.Shape.Next(i)))
	}
	return m
}

// PointBound returns the error of a point relative to the other body, at K standard deviations
// in the worst direction.
func (g *Propagator) PointBound(p geom.Point) float64 {
	if g.Exact {
		return 0
	}
	c, secondOrder := g.At(p)
	return g.K*math.Sqrt(c.Largest()) + secondOrder
}
