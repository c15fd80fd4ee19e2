package calibration

import (
	"math"

	"sightline/calibration/linalg"
	"sightline/engine/geom"
)

// PlaceSigma returns the standard deviation that the camera's pose covariance causes at the
// mat's worst corner; 0 for a table without one.
func (t *Table) PlaceSigma() geom.Length {
	if len(t.PoseCovariance) != 36 {
		return 0
	}
	return t.WorstCorner(t.PoseCovariance)
}

// CenterSigma returns the standard deviations, in mm, of the camera's centre; 0 for a table without a pose covariance.
func (t *Table) CenterSigma() (sigma Vec3) {
	if len(t.PoseCovariance) != 36 {
		return sigma
	}
	here := t.Center()
	var by [3][6]float64 // the derivatives by the parameters of Extrinsics.Perturbed
	for k := range 6 {
		step := [6]float64{1e-5, 1e-5, 1e-5, 1e-2, 1e-2, 1e-2}[k]
		var d [6]float64
		d[k] = step
		p := t.Extrinsics.Perturbed(Vec3(d[:3]), Vec3(d[3:]))
		there := p.Center()
		for i := range by {
			by[i][k] = (there[i] - here[i]) / step
		}
	}
	for i := range sigma {
		sigma[i] = math.Sqrt(max(0, linalg.Quadratic(t.PoseCovariance, by[i][:], by[i][:])))
	}
	return sigma
}

// WorstCorner returns the standard deviation that a covariance of the camera's pose causes
// at the worst corner of the mat, in its worst direction.
func (t *Table) WorstCorner(cov []float64) (sigma geom.Length) {
	for _, p := range t.Layout.Corners() {
		a, ok := t.PoseJacobian(p, 0)
		if !ok {
			return geom.Length(math.Inf(1))
		}
		sigma = max(sigma, LargestSigma(propagate(a[0][:], a[1][:], cov)))
	}
	return sigma
}

// PoseJacobian returns the derivative of a table point as read from its pixel, in mm along x
// and y, by the six parameters of Extrinsics.Perturbed.
func (t *Table) PoseJacobian(p geom.Point, z geom.Length) (a [2][6]float64, ok bool) {
	_, dx, dy, ok := t.PixelJacobian(p, z)
	det := dx.X*dy.Y - dx.Y*dy.X
	if !ok || math.Abs(det) < 1e-12 {
		return a, false
	}
	q := t.Camera.Camera(Vec3{p.X, p.Y, float64(z)})
	_, jac := ProjectionJacobian(&t.Intrinsics, q, t.T)
	for k := range 6 {
		a[0][k] = (dy.Y*jac[0][k] - dy.X*jac[1][k]) / det
		a[1][k] = (dx.X*jac[1][k] - dx.Y*jac[0][k]) / det
	}
	return a, true
}
