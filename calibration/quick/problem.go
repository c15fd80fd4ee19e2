package quick

import (
	"errors"
	"math"

	"sightline/calibration"
	"sightline/calibration/linalg"
	"sightline/engine/geom"
)

// placements is the number of placement parameters of a marker: x, y (mm), turn (rad, clockwise), height (mm), relative
// width and length.
const placements = 6

// sighting is a marker in a view.
type sighting struct {
	view, marker int // into problem's
	corners      [4]geom.Pixel
}

// problem is one adjustment. Its unknowns are, in this order, the lens's shape, the placement of every marker and the pose
// of every view.
type problem struct {
	prior   prior
	markers []calibration.Marker
	seen    []sighting
	views   int
	laid    [][placements]float64 // sigma of every marker's placement
	corner  float64               // sigma of a corner, px

	shape shape
	place [][placements]float64
	poses []calibration.Extrinsics

	converged bool // solve converged; contradicting markers may prevent it
}

func (p *problem) unknowns() int { return params + placements*len(p.markers) + 6*p.views }

// equation is one row: a coordinate of a corner. It depends on the lens, its marker's placement and its view's pose.
type equation struct {
	residual float64 // seen - projected, px
	by       [params + placements + 6]float64
}

// equations linearises a sighting. It reports false when a corner lies behind the camera.
func (p *problem) equations(s *sighting, lens *calibration.Intrinsics, chain *[params][params]float64) (out [8]equation, ok bool) {
	m, pose, place := p.markers[s.marker], &p.poses[s.view], &p.place[s.marker]
	own := geom.Pose{Heading: m.Heading}
	across, along := own.Right(), own.Forward()
	for k, at := range m.Corners() {
		arm := at.Sub(m.Center)
		a, b := arm.Dot(across), arm.Dot(along)
		moves := [placements]calibration.Vec3{
			{1, 0, 0}, {0, 1, 0}, {arm.Y, -arm.X, 0}, {0, 0, 1},
			{a * across.X, a * across.Y, 0}, {b * along.X, b * along.Y, 0},
		}
		point := calibration.Vec3{at.X, at.Y, float64(m.Z)}
		for i, v := range moves {
			for j := range point {
				point[j] += place[i] * v[j]
			}
		}
		q := pose.Camera(point)
		if q[2] < 1 {
			return out, false
		}
		px, jac := calibration.ProjectionJacobian(lens, q, pose.T)
		byLens := calibration.LensJacobian(lens, q[0]/q[2], q[1]/q[2])
		r := s.corners[k].Sub(px)
		for axis := range 2 {
			e := &out[2*k+axis]
			e.residual = [2]float64{r.X, r.Y}[axis]
			for i := range params {
				for l, d := range byLens {
					e.by[i] += [2]float64{d.X, d.Y}[axis] * chain[l][i]
				}
			}
			for i, v := range moves {
				for j := range 3 {
					e.by[params+i] += jac[axis][3+j] * (pose.R[j][0]*v[0] + pose.R[j][1]*v[1] + pose.R[j][2]*v[2])
				}
			}
			copy(e.by[params+placements:], jac[axis][:])
			e.by[0] += jac[axis][5] * p.depth(pose) // the camera's distance grows with ln f, see stepped
		}
	}
	return out, true
}

// modelLeaves, in px, is the lens model's error, which moves the corners of a marker together (docs/accuracy.md, "model").
const modelLeaves = 0.05

// whiten makes the rows of a sighting independent, each with the sigma of a corner, by removing the effect of modelLeaves on
// the mean of the corners along each axis.
func (p *problem) whiten(rows *[8]equation) {
	keep := p.corner / math.Sqrt(p.corner*p.corner+4*modelLeaves*modelLeaves)
	for axis := range 2 {
		var mean equation
		for k := axis; k < 8; k += 2 {
			mean.residual += rows[k].residual / 4
			for i, d := range rows[k].by {
				mean.by[i] += d / 4
			}
		}
		for k := axis; k < 8; k += 2 {
			rows[k].residual -= (1 - keep) * mean.residual
			for i, d := range mean.by {
				rows[k].by[i] -= (1 - keep) * d
			}
		}
	}
}

// column returns the unknown that a derivative of a sighting's equations belongs to.
func (p *problem) column(s *sighting, i int) int {
	switch {
	case i < params:
		return i
	case i < params+placements:
		return i + placements*s.marker
	}
	return params + placements*len(p.markers) + 6*s.view + i - params - placements
}

// normal sums the normal equations at the present solution, priors included. The cost is +Inf when a corner lies behind the
// camera or the lens is invalid.
func (p *problem) normal() (a, g []float64, cost float64) {
	n := p.unknowns()
	a, g = make([]float64, n*n), make([]float64, n)
	lens, chain := p.prior.lens(&p.shape), p.prior.jacobian(&p.shape)
	weight := 1 / (p.corner * p.corner)
	for i := range p.seen {
		s := &p.seen[i]
		rows, ok := p.equations(s, &lens, &chain)
		if !ok {
			return nil, nil, math.Inf(1)
		}
		p.whiten(&rows)
		for r := range rows {
			e := &rows[r]
			cost += weight * e.residual * e.residual
			for k, d := range e.by {
				row := p.column(s, k)
				g[row] += weight * d * e.residual
				for l := range k + 1 {
					a[row*n+p.column(s, l)] += weight * d * e.by[l]
				}
			}
		}
	}
	for i, v := range p.priors() {
		a[i*n+i] += 1 / (v.sigma * v.sigma)
		g[i] += v.off / (v.sigma * v.sigma)
		cost += v.off * v.off / (v.sigma * v.sigma)
	}
	for i := range n {
		for j := range i {
			a[j*n+i] = a[i*n+j]
		}
	}
	if math.IsNaN(cost) {
		cost = math.Inf(1)
	}
	return a, g, cost
}

// belief is the prior of an unknown: its distance below the mean, and the sigma.
type belief struct{ off, sigma float64 }

// priors returns the priors of all unknowns but the poses, which come last and have none.
func (p *problem) priors() []belief {
	out := make([]belief, 0, params+placements*len(p.markers))
	for i, v := range p.shape {
		out = append(out, belief{p.prior.mean[i] - v, p.prior.sigma[i]})
	}
	for m, place := range p.place {
		for i, v := range place {
			out = append(out, belief{-v, p.laid[m][i]})
		}
	}
	return out
}

// depth is the distance of the markers' middle from the camera along its axis.
func (p *problem) depth(pose *calibration.Extrinsics) float64 {
	var middle calibration.Vec3
	for _, m := range p.markers {
		middle[0] += m.Center.X / float64(len(p.markers))
		middle[1] += m.Center.Y / float64(len(p.markers))
	}
	return pose.Camera(middle)[2]
}

// stepped returns the problem after a step of all unknowns. The camera's distance from the markers grows with the focal
// length, which keeps the picture about the same. One picture from straight above fixes hardly more than the ratio of the
// two, and without this coupling the search would follow a curved and narrow valley.
func (p *problem) stepped(step []float64) *problem {
	next := *p
	next.place = append([][placements]float64(nil), p.place...)
	next.poses = append([]calibration.Extrinsics(nil), p.poses...)
	for i := range next.shape {
		next.shape[i] += step[i]
	}
	for m := range next.place {
		for i := range placements {
			next.place[m][i] += step[params+placements*m+i]
		}
	}
	at := params + placements*len(p.markers)
	for v := range next.poses {
		s := step[at+6*v:]
		next.poses[v].T[2] += p.depth(&p.poses[v]) * (math.Exp(step[0]) - 1)
		next.poses[v] = next.poses[v].Perturbed(calibration.Vec3{s[0], s[1], s[2]}, calibration.Vec3{s[3], s[4], s[5]})
	}
	return &next
}

var errUnsolvable = errors.New("they stand in a row or too close together")

// maxSteps is more than any start that converges needs.
const maxSteps = 100

// solve minimises the cost by Levenberg-Marquardt and returns it.
func (p *problem) solve() (float64, error) {
	n := p.unknowns()
	lambda := 1e-4
	p.converged = false
	a, g, cost := p.normal()
	if math.IsInf(cost, 1) {
		return cost, errors.New("a marker lies behind the camera")
	}
	for range maxSteps {
		damped := append([]float64(nil), a...)
		for i := range n {
			damped[i*n+i] *= 1 + lambda
		}
		step, ok := linalg.SolveSPD(damped, g)
		if !ok {
			return cost, errUnsolvable
		}
		next := p.stepped(step)
		na, ng, trial := next.normal()
		if trial <= cost {
			done := cost-trial <= 1e-8*(1+cost)
			*p, a, g, cost = *next, na, ng, trial
			if lambda = math.Max(lambda/10, 1e-12); done {
				p.converged = true
				break
			}
		} else if lambda *= 10; lambda > 1e10 {
			p.converged = true
			break
		}
	}
	return cost, nil
}

// covariance returns the covariance of all unknowns, the poses in the parameters of Extrinsics.Perturbed.
func (p *problem) covariance() ([]float64, error) {
	a, _, cost := p.normal()
	if math.IsInf(cost, 1) {
		return nil, errUnsolvable
	}
	n := p.unknowns()
	c, ok := linalg.InvertScaled(a, n)
	if !ok {
		return nil, errUnsolvable
	}
	for v := range p.poses { // the coupling of stepped
		row, depth := params+placements*len(p.markers)+6*v+5, p.depth(&p.poses[v])
		for k := range n {
			c[row*n+k] += depth * c[k]
		}
		for k := range n {
			c[k*n+row] += depth * c[k*n]
		}
	}
	return c, nil
}
