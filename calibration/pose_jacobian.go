package calibration

import (
	"math"

	"sightline/engine/geom"
)

// PlaceSigma returns how well the camera's place is known by what it does to the
// mat: the standard deviation at the worst corner. It is 0 for a table that does not say.
func (t *Table) PlaceSigma() geom.Length {
	if len(t.PoseCovariance) != 36 {
		return 0
	}
	return t.WorstCorner(t.PoseCovariance)
}

// WorstCorner returns the standard deviation that a covariance of the camera's place gives
// the worst corner of the mat, in its worst direction.
func (t *Table) WorstCorner(cov []float64) (sigma geom.Length) {
	for _, p := range t.Layout.Corners() {
		a, ok := t.PoseJacobian(p, 0)
		if !ok {
			return geom.Length(math.Inf(1))
		}
		c := spread(&a, cov)
		mean, diff := (c[0]+c[2])/2, (c[0]-c[2])/2
		sigma = max(sigma, geom.Length(math.Sqrt(mean+math.Hypot(diff, c[1]))))
	}
	return sigma
}

// PoseJacobian returns how far, in mm along x and y, a point of the table is misread for a
// step of the camera.
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

// spread returns xx, xy and yy of A·C·Aᵀ.
func spread(a *[2][6]float64, cov []float64) (c [3]float64) {
	for i := range 6 {
		for j := range 6 {
			v := cov[6*i+j]
			c[0] += a[0][i] * v * a[0][j]
			c[1] += a[0][i] * v * a[1][j]
			c[2] += a[1][i] * v * a[1][j]
		}
	}
	return c
}
