// Package cov has the arithmetic of a pose's covariance: x and y in millimetres,
// heading in radians, by rows.
package cov

import (
	"math"

	"sightline/engine/geom"
)

// Finite reports whether a pose has neither NaN nor infinity in it.
func Finite(p geom.Pose) bool {
	sum := p.X + p.Y + float64(p.Heading)
	return !math.IsNaN(sum) && !math.IsInf(sum, 0)
}

// Resolution adds to a covariance the least error of any fit, a hundredth of a millimetre and of a
// degree, so that poses that are stated as exact can be compared.
func Resolution(c geom.Cov3) geom.Cov3 {
	const xy, turn = 0.01 * geom.Millimeter, 0.01 * geom.Degree
	c[0] += float64(xy * xy)
	c[4] += float64(xy * xy)
	c[8] += float64(turn * turn)
	return c
}

// Inverse inverts a symmetric matrix; it reports false when it is not positive
// definite.
func Inverse(m geom.Cov3) (geom.Cov3, bool) {
	a, b, c, d, e, f := m[0], m[1], m[2], m[4], m[5], m[8]
	c00, c01, c02 := d*f-e*e, c*e-b*f, b*e-c*d
	det := a*c00 + b*c01 + c*c02
	if !(a > 0) || !(a*d-b*b > 0) || !(det > 0) || math.IsInf(det, 0) {
		return geom.Cov3{}, false
	}
	c11, c12, c22 := a*f-c*c, b*c-a*e, a*d-b*b
	k := 1 / det
	return geom.Cov3{k * c00, k * c01, k * c02, k * c01, k * c11, k * c12, k * c02, k * c12, k * c22}, true
}

// SigmasOfThree returns the value that the sum of the squares of three normal numbers exceeds as
// rarely as one number exceeds n sigmas: 14.16 for 3. A pose is three numbers.
func SigmasOfThree(n float64) float64 {
	tail := math.Erfc(n / math.Sqrt2)
	lo, hi := 0.0, 4*n*n+40
	for range 80 { // bisection: the tail falls with the square
		x := (lo + hi) / 2
		// of chi-square with 3 degrees of freedom (Abramowitz and Stegun 26.4.4)
		if math.Erfc(math.Sqrt(x/2))+math.Sqrt(2*x/math.Pi)*math.Exp(-x/2) > tail {
			lo = x
		} else {
			hi = x
		}
	}
	return (lo + hi) / 2
}
