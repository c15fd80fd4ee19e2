package calibration

import (
	"math"

	"sightline/engine/geom"
)

// Vec3 is a point or vector in millimetres, in the table or the camera frame.
type Vec3 [3]float64

// Dot returns the scalar product a · b.
func (a Vec3) Dot(b Vec3) float64 { return a[0]*b[0] + a[1]*b[1] + a[2]*b[2] }

// Norm returns the length of a.
func (a Vec3) Norm() float64 { return math.Sqrt(a.Dot(a)) }

// Unit returns the unit vector in the direction of a.
func (a Vec3) Unit() Vec3 { n := a.Norm(); return Vec3{a[0] / n, a[1] / n, a[2] / n} }

// Cross returns the vector product a × b.
func (a Vec3) Cross(b Vec3) Vec3 {
	return Vec3{a[1]*b[2] - a[2]*b[1], a[2]*b[0] - a[0]*b[2], a[0]*b[1] - a[1]*b[0]}
}

// Extrinsics is the camera's pose over the table: x_camera = R x_table + T, in
// millimetres, with OpenCV's camera axes (x right, y down, z forward).
type Extrinsics struct {
	R [3][3]float64
	T Vec3
}

// RotationFromVector returns the rotation matrix of a rotation vector (axis
// times angle in radians), by Rodrigues' formula.
func RotationFromVector(v Vec3) [3][3]float64 {
	th := math.Sqrt(v[0]*v[0] + v[1]*v[1] + v[2]*v[2])
	var a, b float64 // sin θ/θ and (1-cos θ)/θ²
	if th < 1e-8 {
		a, b = 1-th*th/6, 0.5-th*th/24
	} else {
		a, b = math.Sin(th)/th, (1-math.Cos(th))/(th*th)
	}
	x, y, z := v[0], v[1], v[2]
	return [3][3]float64{
		{1 - b*(y*y+z*z), b*x*y - a*z, b*x*z + a*y},
		{b*x*y + a*z, 1 - b*(x*x+z*z), b*y*z - a*x},
		{b*x*z - a*y, b*y*z + a*x, 1 - b*(x*x+y*y)},
	}
}

// MulMat3 returns the matrix product a b.
func MulMat3(a, b [3][3]float64) (c [3][3]float64) {
	for i := range 3 {
		for j := range 3 {
			c[i][j] = a[i][0]*b[0][j] + a[i][1]*b[1][j] + a[i][2]*b[2][j]
		}
	}
	return c
}

// Camera maps a table point (mm) to the camera frame (mm).
func (e *Extrinsics) Camera(p Vec3) Vec3 {
	var q Vec3
	for i := range 3 {
		q[i] = e.R[i][0]*p[0] + e.R[i][1]*p[1] + e.R[i][2]*p[2] + e.T[i]
	}
	return q
}

// Center returns the camera's centre in the table frame, in mm: -Rᵀ T.
func (e *Extrinsics) Center() Vec3 {
	var c Vec3
	for i := range 3 {
		c[i] = -(e.R[0][i]*e.T[0] + e.R[1][i]*e.T[1] + e.R[2][i]*e.T[2])
	}
	return c
}

// Perturbed returns the extrinsics after a small rotation w (rad, applied on the
// camera's side: exp(w) R) and shift d (mm). Poses are solved, and their covariances
// stated, in these six parameters.
func (e *Extrinsics) Perturbed(w, d Vec3) Extrinsics {
	return Extrinsics{
		R: MulMat3(RotationFromVector(w), e.R),
		T: Vec3{e.T[0] + d[0], e.T[1] + d[1], e.T[2] + d[2]},
	}
}

// PoseOfColumns returns the pose whose R has nearly the columns r1 and r2, up to a scale
// that the translation t shares (Zhang 2000, section 3.1). The scale comes from their mean
// length, and both are turned equally to make the angle between them a right one.
func PoseOfColumns(r1, r2, t Vec3) Extrinsics {
	scale := 2 / (r1.Norm() + r2.Norm())
	for i := range 3 {
		r1[i], r2[i], t[i] = r1[i]*scale, r2[i]*scale, t[i]*scale
	}
	d := r1.Dot(r2) / 2
	a := Vec3{r1[0] - d*r2[0], r1[1] - d*r2[1], r1[2] - d*r2[2]}.Unit()
	b := Vec3{r2[0] - d*r1[0], r2[1] - d*r1[1], r2[2] - d*r1[2]}.Unit()
	c := a.Cross(b).Unit()
	b = c.Cross(a)
	return Extrinsics{R: [3][3]float64{{a[0], b[0], c[0]}, {a[1], b[1], c[1]}, {a[2], b[2], c[2]}}, T: t}
}

// A Camera is a lens at a place over the table.
type Camera struct {
	Intrinsics
	Extrinsics
}

// PixelOf returns the pixel of a point of the table frame (mm) at height z over the
// mat. It reports false for a point behind the camera.
func (c *Camera) PixelOf(p geom.Point, z geom.Length) (geom.Pixel, bool) {
	q := c.Camera(Vec3{p.X, p.Y, float64(z)})
	if q[2] < 1 {
		return geom.Pixel{}, false
	}
	return c.Project(q[0]/q[2], q[1]/q[2]), true
}

// PointAt returns the table point at height z that appears at the pixel: the
// intersection of the pixel's ray with the plane at z. It reports false when the lens
// cannot be inverted or the ray does not meet the plane in front of the camera.
func (c *Camera) PointAt(px geom.Pixel, z geom.Length) (geom.Point, bool) {
	x, y, ok := c.Undistort(px)
	if !ok {
		return geom.Point{}, false
	}
	// The ray in the table frame: center + s·dir, dir = Rᵀ (x, y, 1).
	var dir Vec3
	for i := range 3 {
		dir[i] = c.R[0][i]*x + c.R[1][i]*y + c.R[2][i]
	}
	o := c.Center()
	if math.Abs(dir[2]) < 1e-9 {
		return geom.Point{}, false
	}
	s := (float64(z) - o[2]) / dir[2]
	if s <= 0 {
		return geom.Point{}, false
	}
	return geom.Point{X: o[0] + s*dir[0], Y: o[1] + s*dir[1]}, true
}

// PixelJacobian returns the derivative of PixelOf with respect to the table
// point's x and y (px/mm), by central differences over a millimetre, and the
// pixel itself.
func (c *Camera) PixelJacobian(p geom.Point, z geom.Length) (px geom.Pixel, dx, dy geom.Pixel, ok bool) {
	const h = 0.5
	px, ok = c.PixelOf(p, z)
	a, ok1 := c.PixelOf(geom.Point{X: p.X - h, Y: p.Y}, z)
	b, ok2 := c.PixelOf(geom.Point{X: p.X + h, Y: p.Y}, z)
	d, ok3 := c.PixelOf(geom.Point{X: p.X, Y: p.Y - h}, z)
	e, ok4 := c.PixelOf(geom.Point{X: p.X, Y: p.Y + h}, z)
	return px, b.Sub(a).Mul(1 / (2 * h)), e.Sub(d).Mul(1 / (2 * h)), ok && ok1 && ok2 && ok3 && ok4
}
