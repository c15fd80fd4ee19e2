package lens

import (
	"fmt"
	"math"
	"sort"

	"sightline/calibration"
	"sightline/calibration/linalg"
	"sightline/engine/geom"
)

// problem is one least squares problem: nine parameters of the lens and six
// of each view's pose (those of Extrinsics.Perturbed).
type problem struct {
	object []geom.Point
	lens   calibration.Intrinsics
	views  []calibration.BoardView
	poses  []calibration.Extrinsics
	free   freeParams
}

// freeParams says which of the lens's nine parameters (in the covariance's order) a
// model fits; the others stay fixed.
type freeParams [9]bool

// normalMatrix holds the normal equations in blocks. No two views share a residual, so
// the blocks of the poses are eliminated one by one (Schur complement).
type normalMatrix struct {
	a  [81]float64 // lens × lens
	ga [9]float64
	b  [][54]float64 // per view: lens × pose
	c  [][36]float64 // pose × pose
	gc [][6]float64
}

// residuals calls f for every corner with the view, the point in the camera's frame, and
// seen minus projected. It reports false when a corner lies behind the camera.
func (p *problem) residuals(lens *calibration.Intrinsics, poses []calibration.Extrinsics,
	f func(view int, q calibration.Vec3, r geom.Pixel)) bool {
	for i, v := range p.views {
		for k, px := range v.Pixels {
			o := p.object[v.Index(k)]
			q := poses[i].Camera(calibration.Vec3{o.X, o.Y, 0})
			if !(q[2] > 1e-3) {
				return false
			}
			f(i, q, px.Sub(lens.Project(q[0]/q[2], q[1]/q[2])))
		}
	}
	return true
}

// cost is the sum of squared residuals in px²; +Inf when a corner lies behind the camera.
func (p *problem) cost(lens *calibration.Intrinsics, poses []calibration.Extrinsics) float64 {
	var sum float64
	if !p.residuals(lens, poses, func(_ int, _ calibration.Vec3, r geom.Pixel) { sum += r.X*r.X + r.Y*r.Y }) || math.IsNaN(sum) {
		return math.Inf(1)
	}
	return sum
}

// normal builds the normal equations at the present solution.
func (p *problem) normal() *normalMatrix {
	n := len(p.views)
	m := &normalMatrix{b: make([][54]float64, n), c: make([][36]float64, n), gc: make([][6]float64, n)}
	p.residuals(&p.lens, p.poses, func(i int, q calibration.Vec3, r geom.Pixel) {
		_, jp := calibration.ProjectionJacobian(&p.lens, q, p.poses[i].T)
		jl := calibration.LensJacobian(&p.lens, q[0]/q[2], q[1]/q[2])
		for a, free := range p.free {
			if !free {
				jl[a] = geom.Pixel{}
			}
		}
		for a := range 9 {
			m.ga[a] += jl[a].X*r.X + jl[a].Y*r.Y
			for b := range 9 {
				m.a[9*a+b] += jl[a].X*jl[b].X + jl[a].Y*jl[b].Y
			}
			for b := range 6 {
				m.b[i][6*a+b] += jl[a].X*jp[0][b] + jl[a].Y*jp[1][b]
			}
		}
		for a := range 6 {
			m.gc[i][a] += jp[0][a]*r.X + jp[1][a]*r.Y
			for b := range 6 {
				m.c[i][6*a+b] += jp[0][a]*jp[0][b] + jp[1][a]*jp[1][b]
			}
		}
	})
	return m
}

// reduced eliminates the poses: S = A - Σ B C⁻¹ Bᵀ and its right side, with every
// diagonal multiplied by 1+lambda.
func (m *normalMatrix) reduced(lambda float64) (s, g []float64, inverses [][]float64, ok bool) {
	s, g = append([]float64(nil), m.a[:]...), append([]float64(nil), m.ga[:]...)
	for a := range 9 {
		s[10*a] *= 1 + lambda
		if s[10*a] == 0 { // a fixed parameter has no equations
			s[10*a] = 1
		}
	}
	for i := range m.c {
		c := append([]float64(nil), m.c[i][:]...)
		for a := range 6 {
			c[7*a] *= 1 + lambda
		}
		inv, ok := linalg.InvertSPD(c, 6)
		if !ok {
			return nil, nil, nil, false
		}
		inverses = append(inverses, inv)
		var bc [54]float64 // B C⁻¹
		for a := range 9 {
			for b := range 6 {
				for k := range 6 {
					bc[6*a+b] += m.b[i][6*a+k] * inv[6*k+b]
				}
			}
		}
		for a := range 9 {
			for k := range 6 {
				g[a] -= bc[6*a+k] * m.gc[i][k]
			}
			for b := range 9 {
				for k := range 6 {
					s[9*a+b] -= bc[6*a+k] * m.b[i][6*b+k]
				}
			}
		}
	}
	return s, g, inverses, true
}

// solve refines the lens and the poses in place.
func (p *problem) solve() error {
	cost := p.cost(&p.lens, p.poses)
	if math.IsInf(cost, 1) {
		return fmt.Errorf("calibration: solve lens: %w: the start values put a board behind the camera", ErrViews)
	}
	lambda := 1e-4
	m := p.normal()
	for range 200 {
		lens, poses, ok := p.step(m, lambda)
		next := math.Inf(1)
		if ok {
			next = p.cost(&lens, poses)
		}
		if !(next <= cost) {
			if lambda *= 10; lambda > 1e10 {
				break
			}
			continue
		}
		done := cost-next <= 1e-12*cost
		p.lens, p.poses, cost = lens, poses, next
		if done {
			break
		}
		lambda = max(lambda/10, 1e-12)
		m = p.normal()
	}
	if err := p.lens.Validate(); err != nil {
		return fmt.Errorf("calibration: solve lens: %w: %w", ErrViews, err)
	}
	return nil
}

// step returns the lens and poses after one damped step.
func (p *problem) step(m *normalMatrix, lambda float64) (calibration.Intrinsics, []calibration.Extrinsics, bool) {
	s, g, inverses, ok := m.reduced(lambda)
	if !ok {
		return p.lens, nil, false
	}
	inv, ok := linalg.InvertScaled(s, 9)
	if !ok {
		return p.lens, nil, false
	}
	da := make([]float64, 9)
	for a := range 9 {
		for b := range 9 {
			da[a] += inv[9*a+b] * g[b]
		}
	}
	poses := make([]calibration.Extrinsics, len(p.poses))
	for i := range poses {
		var right, d [6]float64
		for k := range 6 {
			right[k] = m.gc[i][k]
			for a := range 9 {
				right[k] -= m.b[i][6*a+k] * da[a]
			}
		}
		for k := range 6 {
			for l := range 6 {
				d[k] += inverses[i][6*k+l] * right[l]
			}
		}
		poses[i] = p.poses[i].Perturbed(calibration.Vec3{d[0], d[1], d[2]}, calibration.Vec3{d[3], d[4], d[5]})
	}
	return p.lens.Perturbed(da), poses, true
}

// without returns the problem without one view, starting where this one ended.
func (p *problem) without(i int) *problem {
	return &problem{
		object: p.object, lens: p.lens, free: p.free,
		views: append(append([]calibration.BoardView(nil), p.views[:i]...), p.views[i+1:]...),
		poses: append(append([]calibration.Extrinsics(nil), p.poses[:i]...), p.poses[i+1:]...),
	}
}

// corners is the number of corners in all views.
func (p *problem) corners() (n int) {
	for _, v := range p.views {
		n += len(v.Pixels)
	}
	return n
}

// freedom is the number of equations minus the number of unknowns.
func (p *problem) freedom() int {
	n := 2*p.corners() - 6*len(p.views)
	for _, free := range p.free {
		if free {
			n--
		}
	}
	return n
}

// inverse returns the inverse of the lens's normal matrix, 9×9, with the poses
// eliminated. Rows and columns of fixed parameters are zero. It reports false when the
// views do not fix the free ones.
func (p *problem) inverse() ([]float64, bool) {
	s, _, _, ok := p.normal().reduced(0)
	if !ok {
		return nil, false
	}
	inv, ok := linalg.InvertScaled(s, 9)
	if !ok {
		return nil, false
	}
	for a, free := range p.free {
		if !free {
			for b := range 9 {
				inv[9*a+b], inv[9*b+a] = 0, 0
			}
		}
	}
	return inv, true
}

// rms is the root of the mean squared distance over all corners, px.
func (p *problem) rms() float64 {
	return math.Sqrt(p.cost(&p.lens, p.poses) / float64(p.corners()))
}

// viewRMS is rms over the corners of one view.
func (p *problem) viewRMS(view int) float64 {
	var sum float64
	p.residuals(&p.lens, p.poses, func(i int, _ calibration.Vec3, r geom.Pixel) {
		if i == view {
			sum += r.X*r.X + r.Y*r.Y
		}
	})
	return math.Sqrt(sum / float64(len(p.views[view].Pixels)))
}

// outlier returns the view to drop, the one that fits worst, and the reason; -1 for none.
func (p *problem) outlier() (int, string) {
	if len(p.views) <= MinViews {
		return -1, ""
	}
	rms := make([]float64, len(p.views))
	worst := 0
	for i := range rms {
		if rms[i] = p.viewRMS(i); rms[i] > rms[worst] {
			worst = i
		}
	}
	others := append(append([]float64(nil), rms[:worst]...), rms[worst+1:]...)
	sort.Float64s(others)
	typical := others[len(others)/2]
	if rms[worst] <= outlierRatio*typical {
		return -1, ""
	}
	rest := p.without(worst)
	if rest.solve() != nil || rest.rms() >= p.rms() {
		return -1, ""
	}
	return worst, fmt.Sprintf("its corners lie %.2f px (rms) from where the lens that fits the other views puts them, whose typical rms is "+
		"%.2f px",
		rest.foreignRMS(p.views[worst], p.poses[worst]), typical)
}

// foreignRMS is the rms of an unused view through this lens, at its best pose.
func (p *problem) foreignRMS(v calibration.BoardView, pose calibration.Extrinsics) float64 {
	return p.fitPose(v, pose).rms()
}

// tilt is the greatest angle between the normals of two boards.
func (p *problem) tilt() geom.Angle {
	least := 1.0
	for i := range p.poses {
		for j := range i {
			c := 0.0
			for k := range 3 {
				c += p.poses[i].R[k][2] * p.poses[j].R[k][2]
			}
			least = min(least, math.Abs(c))
		}
	}
	return geom.Angle(math.Acos(least))
}

// covariance returns the 9×9 covariance of the lens (see Solve).
func (p *problem) covariance() ([]float64, error) {
	inv, ok := p.inverse()
	if !ok {
		return nil, fmt.Errorf("calibration: solve lens: %w: some of its parameters have no effect on these pictures: add pictures with the "+
			"board tilted and in the picture's corners", ErrViews)
	}
	freedom := p.freedom()
	variance := p.cost(&p.lens, p.poses) / float64(freedom)
	grow := p.jackknife(inv, variance)
	for i := range inv {
		inv[i] *= variance * grow
	}
	return inv, nil
}

// jackknife returns the factor, at least 1, by which the lens's variances exceed those
// of independent noise: the median over the free parameters of the jackknife variance
// over the views (Efron 1982) divided by the formal one.
func (p *problem) jackknife(inverse []float64, variance float64) float64 {
	n := len(p.views)
	if n <= MinViews {
		return 1
	}
	var mean [9]float64
	all := make([][9]float64, 0, n)
	for i := range n {
		rest := p.without(i)
		if rest.solve() != nil {
			return 1
		}
		v := rest.lens.Parameters()
		all = append(all, v)
		for k := range mean {
			mean[k] += v[k] / float64(n)
		}
	}
	var ratios []float64
	for k, free := range p.free {
		if !free {
			continue
		}
		sum := 0.0
		for _, v := range all {
			sum += (v[k] - mean[k]) * (v[k] - mean[k])
		}
		ratios = append(ratios, sum*float64(n-1)/float64(n)/(inverse[10*k]*variance))
	}
	sort.Float64s(ratios)
	return max(1, ratios[len(ratios)/2])
}
