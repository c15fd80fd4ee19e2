package flown

import (
	"math"

	"sightline/engine"
	"sightline/engine/geom"
)

// scorer compares a ship's pose with the ends of its candidates.
type scorer struct {
	from, to *engine.Ship
	slop     Slop
	scale    float64 // relative error of all distances
}

// vec is a difference of poses: x and y in mm, heading in rad.
type vec [3]float64

// matrix is a symmetric matrix.
type matrix [3][3]float64

// best returns the nearest of a candidate's ends. It reports false if there is none.
func (s *scorer) best(c *candidate) (f Fit, ok bool) {
	for i := range c.ends {
		e := &c.ends[i]
		at, squared, score := s.distance(e)
		if ok && score >= f.score {
			continue
		}
		f = Fit{Name: c.name, Action: c.action, Also: c.also, Place: e.place, Partial: e.partial, Touching: e.touching, squared: squared,
			score: score}
		s.residual(&f, e, at)
		ok = true
	}
	return f, ok
}

// distance returns the likeliest pose of a hypothesis, the squared distance of the ship from it in
// standard deviations, and the score.
func (s *scorer) distance(e *hypothesis) (at geom.Pose, squared, score float64) {
	inverse, logDet := s.covariance(e, e.a).inverse()
	r := difference(s.to.Pose, e.a)
	at = e.a
	if v := difference(e.b, e.a); v != (vec{}) {
		t := inverse.form(v, r) / inverse.form(v, v)
		t = min(1, max(0, t))
		at = geom.Pose{Point: e.a.Lerp(e.b.Point, t), Heading: (e.a.Heading + geom.Angle(t*v[2])).Normalized()}
		inverse, logDet = s.covariance(e, at).inverse()
		r = difference(s.to.Pose, at)
	}
	squared = inverse.form(r, r)
	return at, squared, squared + logDet
}

func difference(p, q geom.Pose) vec {
	d := p.Sub(q.Point)
	return vec{d.X, d.Y, float64((p.Heading - q.Heading).Signed())}
}

// laidAskew is the share of the heading's variance that comes from laying the template and
// therefore rotates the whole path about the old pose; the rest comes from setting the ship down. A
// template lies flush against 20 mm of the base, which accounts for a third of the 1.5° by which a
// ship is turned in total.
const laidAskew = 0.1

// stopped is the standard deviation of where a ship stops that bumped, beyond what the templates laid in a few places
// around the nominal one show.
const stopped = 0.3 // mm

// covariance returns the covariance of the difference between the ship's pose and a hypothesis that ends at end. The
// end moves with the old pose: a small rotation of that swings the end about it.
func (s *scorer) covariance(e *hypothesis, end geom.Pose) matrix {
	r := end.Sub(s.from.Pose.Point)
	place, turn := float64(s.slop.Place), float64(s.slop.Turn)
	if e.partial {
		place = math.Hypot(place, stopped)
	}
	old := s.from.Covariance
	old[8] += laidAskew * turn * turn
	carried := old.Transported(r)
	var m matrix
	for i := range 3 {
		for k := range 3 {
			m[i][k] = carried[3*i+k] + s.to.Covariance[3*i+k]
		}
	}
	m[0][0] += place*place + s.scale*s.scale*r.X*r.X
	m[1][1] += place*place + s.scale*s.scale*r.Y*r.Y
	m[0][1] += s.scale * s.scale * r.X * r.Y
	m[1][0] += s.scale * s.scale * r.X * r.Y
	m[2][2] += (1 - laidAskew) * turn * turn
	return m
}

// inverse returns the inverse of a covariance and the logarithm of its determinant.
func (m matrix) inverse() (matrix, float64) {
	var c matrix
	for i := range 3 {
		for k := range 3 {
			a, b, d, e := (i+1)%3, (i+2)%3, (k+1)%3, (k+2)%3
			c[k][i] = m[a][d]*m[b][e] - m[a][e]*m[b][d]
		}
	}
	det := m[0][0]*c[0][0] + m[0][1]*c[1][0] + m[0][2]*c[2][0]
	for i := range c {
		for k := range c {
			c[i][k] /= det
		}
	}
	return c, math.Log(det)
}

// form returns aᵀ m b.
func (m *matrix) form(a, b vec) (sum float64) {
	for i := range a {
		for k := range b {
			sum += a[i] * m[i][k] * b[k]
		}
	}
	return sum
}

// residual returns the ship's pose relative to an end.
func (s *scorer) residual(f *Fit, e *hypothesis, at geom.Pose) {
	d := difference(s.to.Pose, at)
	p := geom.Point{X: d[0], Y: d[1]}
	f.Distance, f.Clockwise = geom.Length(p.Norm()), geom.Angle(d[2])
	f.Turn = geom.Angle(math.Abs(d[2]))
	way := geom.Pose{Heading: at.Heading + e.way}
	f.Ahead, f.Aside = geom.Length(p.Dot(way.Forward())), geom.Length(p.Dot(way.Right()))
}
