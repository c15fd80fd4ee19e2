package calibration

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"sightline/calibration/linalg"
	"sightline/engine/geom"
)

// Registration is an adjustment by generalised least squares. Corner k of marker m
// is seen at
//
//	pixel = project(lens, pose, place of the corner) + K_m p_m + L l + e
//
// where p_m is the placement of the marker (six numbers shared by its corners: x, y,
// turn, height, width and length of the square; sigma from Layout.Placement), l is the
// lens's error (Intrinsics.Covariance) and e the noise of a corner. The pose is the one
// that fits best under R = blockdiag(sigma² I + K_m S K_mᵀ), with the lens as its file
// states it. The pose then compensates a wrong lens as far as the markers show it, which
// keeps points between them right. The joint error of pose and lens follows to first
// order (lensGain), so no error is counted twice.

// placements is the number of placement parameters of a marker. The first rigid of them
// are the card's motion on the table, which a bump changes.
const (
	placements = 6
	rigid      = 3
	LensTerms  = 9
)

// correspondence is a marker with its four corners in the picture.
type correspondence struct {
	marker  Marker
	corners [4]geom.Pixel
}

// noiseModel is the assumed noise of a picture's corners.
type noiseModel struct {
	corner    float64   // sigma of a corner, px per axis
	placement Placement // of the markers
}

// sigmas returns the placement's standard deviations in the order of markerEquations.place.
func (n noiseModel) sigmas() [placements]float64 {
	p := n.placement
	return [placements]float64{float64(p.XY), float64(p.XY), float64(p.Turn), float64(p.Z), p.Size, p.Size}
}

// markerEquations are the eight equations (four corners, x and y) of one marker,
// linearised at a pose.
type markerEquations struct {
	seen     [4]geom.Pixel          // the corners
	residual [8]float64             // seen - projected, px
	pose     [8][6]float64          // derivative by the parameters of Extrinsics.Perturbed
	place    [8][placements]float64 // by x, y (mm), turn (rad, clockwise), height (mm), relative width and length
	lens     [8][LensTerms]float64  // by LensJacobian's parameters
	weight   linalg.Factor          // Cholesky factor of R
}

// equations linearises one marker. It reports false when it lies behind the camera.
func equations(lens *Intrinsics, pose *Extrinsics, c correspondence, n noiseModel) (e markerEquations, ok bool) {
	return linearised(lens, pose, c, n, true)
}

// linearised is equations, optionally without the derivatives by the lens, which the
// search for a pose does not need.
func linearised(lens *Intrinsics, pose *Extrinsics, c correspondence, n noiseModel, withLens bool) (e markerEquations, ok bool) {
	e.seen = c.corners
	for k, p := range c.marker.Corners() {
		q := pose.Camera(Vec3{p.X, p.Y, float64(c.marker.Z)})
		if q[2] < 1 {
			return e, false
		}
		px, jac := ProjectionJacobian(lens, q, pose.T)
		r := c.corners[k].Sub(px)
		e.residual[2*k], e.residual[2*k+1] = r.X, r.Y
		arm := p.Sub(c.marker.Center)
		own := geom.Pose{Heading: c.marker.Heading}
		across, along := own.Right(), own.Forward()
		a, b := arm.Dot(across), arm.Dot(along)
		moves := [placements]Vec3{ // of the corner on the table
			{1, 0, 0}, {0, 1, 0}, {arm.Y, -arm.X, 0}, {0, 0, 1},
			{a * across.X, a * across.Y, 0}, {b * along.X, b * along.Y, 0},
		}
		var l [LensTerms]geom.Pixel
		if withLens {
			l = LensJacobian(lens, q[0]/q[2], q[1]/q[2])
		}
		for axis := range 2 {
			row := 2*k + axis
			e.pose[row] = jac[axis]
			for i, v := range moves {
				// A move of the table point acts like a shift of the camera, rotated by R.
				for j := range 3 {
					e.place[row][i] += jac[axis][3+j] * (pose.R[j][0]*v[0] + pose.R[j][1]*v[1] + pose.R[j][2]*v[2])
				}
			}
			for i, d := range l {
				e.lens[row][i] = d.X
				if axis == 1 {
					e.lens[row][i] = d.Y
				}
			}
		}
	}
	r := e.covariance(n)
	e.weight, ok = linalg.Cholesky(r[:], 8)
	return e, ok
}

// covariance returns the marker's R.
func (e *markerEquations) covariance(n noiseModel) (r [64]float64) {
	s := n.sigmas()
	for i := range 8 {
		for j := range 8 {
			for k := range placements {
				r[8*i+j] += e.place[i][k] * s[k] * s[k] * e.place[j][k]
			}
		}
		r[9*i] += n.corner * n.corner
	}
	return r
}

// whiten divides a vector by the square root of R, in place.
func (e *markerEquations) whiten(v *[8]float64) {
	blas64.Trsv(blas.NoTrans, e.weight, blas64.Vector{N: 8, Inc: 1, Data: v[:]})
}

// normalEquations is the weighted problem at a pose.
type normalEquations struct {
	cost     float64     // rᵀ R⁻¹ r
	normal   [36]float64 // Aᵀ R⁻¹ A
	gradient [6]float64  // Aᵀ R⁻¹ r
	lens     [54]float64 // Aᵀ R⁻¹ L, 6×9
	squares  float64     // rᵀ r, px²
}

// poseNormal sums the equations of all markers; the cost is +Inf when one lies
// behind the camera.
func poseNormal(lens Intrinsics, pose Extrinsics, used []correspondence, n noiseModel) normalEquations {
	return sumEquations(&lens, &pose, used, n, true)
}

// sumEquations is poseNormal with or without the lens's part.
func sumEquations(lens *Intrinsics, pose *Extrinsics, used []correspondence, n noiseModel, withLens bool) (m normalEquations) {
	for _, c := range used {
		e, ok := linearised(lens, pose, c, n, withLens)
		if !ok {
			return normalEquations{cost: math.Inf(1)}
		}
		r := e.residual
		for _, v := range r {
			m.squares += v * v
		}
		e.whiten(&r)
		var a [6][8]float64
		for j := range a {
			for i := range 8 {
				a[j][i] = e.pose[i][j]
			}
			e.whiten(&a[j])
		}
		m.cost += dot8(&r, &r)
		for i := range a {
			m.gradient[i] += dot8(&a[i], &r)
			for j := range a {
				m.normal[6*i+j] += dot8(&a[i], &a[j])
			}
		}
		if !withLens {
			continue
		}
		var l [LensTerms][8]float64
		for j := range l {
			for i := range 8 {
				l[j][i] = e.lens[i][j]
			}
			e.whiten(&l[j])
		}
		for i := range a {
			for j := range l {
				m.lens[LensTerms*i+j] += dot8(&a[i], &l[j])
			}
		}
	}
	return m
}

func dot8(a, b *[8]float64) (s float64) {
	for i := range a {
		s += a[i] * b[i]
	}
	return s
}

const inRow = "they stand in a row or too close together"

// solution is a solved pose.
type solution struct {
	pose    Extrinsics
	noise   noiseModel
	rms     float64     // px, over both axes of all corners
	inverse []float64   // covariance of the pose without the lens's part, 6×6
	gain    [54]float64 // d pose / d lens, 6×9
}

// solvePose finds the camera's pose from at least three markers by
// Levenberg-Marquardt, from start or, if that is nil, from the homography.
func solvePose(lens Intrinsics, used []correspondence, n noiseModel, start *Extrinsics) (solution, error) {
	var pose Extrinsics
	var err error
	if start != nil {
		pose = *start
	} else if pose, err = startPose(lens, used); err != nil {
		return solution{}, err
	}
	lambda := 1e-6
	m := sumEquations(&lens, &pose, used, n, false)
	for range 50 {
		damped := append([]float64(nil), m.normal[:]...)
		for i := range 6 {
			damped[7*i] *= 1 + lambda
		}
		step, ok := linalg.SolveSPD(damped, m.gradient[:])
		if !ok {
			return solution{}, errors.New(inRow)
		}
		next := pose.Perturbed(Vec3{step[0], step[1], step[2]}, Vec3{step[3], step[4], step[5]})
		if trial := sumEquations(&lens, &next, used, n, false); trial.cost <= m.cost {
			done := m.cost-trial.cost <= 1e-10*m.cost
			pose, m = next, trial
			lambda = math.Max(lambda/10, 1e-12)
			if done {
				break
			}
		} else if lambda *= 10; lambda > 1e8 {
			break
		}
	}
	s := solution{pose: pose, noise: n, rms: math.Sqrt(m.squares / float64(8*len(used)))}
	if math.IsNaN(s.rms) || math.IsInf(s.rms, 0) {
		return solution{}, errors.New("the solution does not converge")
	}
	inverse, ok := linalg.InvertSPD(m.normal[:], 6)
	if !ok {
		return solution{}, errors.New(inRow)
	}
	s.inverse = inverse
	m = poseNormal(lens, pose, used, n)
	s.gain = lensGain(inverse, &m)
	return s, nil
}

// lensGain returns the derivative of the solved pose by the lens's parameters:
// -(AᵀR⁻¹A)⁻¹ AᵀR⁻¹ L.
func lensGain(inverse []float64, m *normalEquations) (gain [54]float64) {
	for i := range 6 {
		for k := range LensTerms {
			for j := range 6 {
				gain[LensTerms*i+k] -= inverse[6*i+j] * m.lens[LensTerms*j+k]
			}
		}
	}
	return gain
}

// PoseGain returns the derivative of the pose that Register finds by the lens's
// parameters, 6×9 row by row (parameters of Extrinsics.Perturbed by those of
// LensJacobian), for a camera that sees all markers of an exactly laid layout. It
// reports false when the markers do not fix the pose.
func PoseGain(lens Intrinsics, pose Extrinsics, layout Layout) (gain [54]float64, ok bool) {
	used := make([]correspondence, 0, len(layout.Markers))
	for _, m := range layout.Markers {
		used = append(used, correspondence{marker: m})
	}
	m := poseNormal(lens, pose, used, noiseModel{corner: cornerSigma})
	inverse, ok := linalg.InvertSPD(m.normal[:], 6)
	if !ok {
		return gain, false
	}
	return lensGain(inverse, &m), true
}

// covariance is the pose's covariance with the lens's part.
func (s *solution) covariance(lens Intrinsics) []float64 {
	cov := append([]float64(nil), s.inverse...)
	addLensPart(cov, s.gain, lens.Covariance, 1)
	return cov
}

// addLensPart adds factor · gain C gainᵀ to a pose's covariance.
func addLensPart(cov []float64, gain [54]float64, lens []float64, factor float64) {
	if len(lens) != LensTerms*LensTerms {
		return
	}
	row := func(i int) []float64 { return gain[LensTerms*i : LensTerms*(i+1)] }
	for i := range 6 {
		for j := range 6 {
			cov[6*i+j] += factor * linalg.Quadratic(lens, row(i), row(j))
		}
	}
}
