package linalg

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
)

// Factor is the lower Cholesky factor of a symmetric positive definite matrix.
type Factor = blas64.Triangular

// Cholesky replaces the lower triangle of the symmetric positive definite n×n
// matrix a (row-major) by its Cholesky factor. It reports false when a is not
// positive definite to working precision.
func Cholesky(a []float64, n int) (Factor, bool) {
	l, ok := lapack64.Potrf(blas64.Symmetric{N: n, Stride: n, Data: a, Uplo: blas.Lower})
	for i := range n {
		ok = ok && !math.IsInf(a[i*n+i], 0)
	}
	return l, ok
}

// CholeskySolve solves L Lᵀ x = b in place.
func CholeskySolve(l Factor, b []float64) {
	lapack64.Potrs(l, blas64.General{Rows: l.N, Cols: 1, Stride: 1, Data: b})
}

// SolveSPD solves a x = b for a symmetric positive definite n×n matrix a (row-major; it reads the
// lower triangle) and returns x. It does not change a and b, and reports false if a is not positive
// definite to working precision.
func SolveSPD(a, b []float64) ([]float64, bool) {
	x := append([]float64(nil), b...)
	l, ok := Cholesky(append([]float64(nil), a...), len(b))
	if !ok {
		return nil, false
	}
	CholeskySolve(l, x)
	return x, true
}

// InvertSPD returns the inverse of a symmetric positive definite n×n matrix.
func InvertSPD(a []float64, n int) ([]float64, bool) {
	l, ok := Cholesky(append([]float64(nil), a...), n)
	if !ok {
		return nil, false
	}
	inv := make([]float64, n*n)
	for i := range n {
		inv[i*n+i] = 1
	}
	lapack64.Potrs(l, blas64.General{Rows: n, Cols: n, Stride: n, Data: inv})
	return inv, true
}

// InvertScaled inverts a symmetric matrix whose parameters differ by orders of
// magnitude (focal length in px and k3), by scaling its diagonal to one.
func InvertScaled(s []float64, n int) ([]float64, bool) {
	scaled := make([]float64, n*n)
	for i := range n {
		for j := range n {
			d := math.Sqrt(s[i*n+i] * s[j*n+j])
			if !(d > 0) {
				return nil, false
			}
			scaled[i*n+j] = s[i*n+j] / d
		}
	}
	inv, ok := InvertSPD(scaled, n)
	if !ok {
		return nil, false
	}
	for i := range n {
		for j := range n {
			inv[i*n+j] /= math.Sqrt(s[i*n+i] * s[j*n+j])
		}
	}
	return inv, true
}

// Dot returns a · b.
func Dot(a, b []float64) (s float64) {
	for i, x := range a {
		s += x * b[i]
	}
	return s
}

// Quadratic returns aᵀ Q b.
func Quadratic(q, a, b []float64) (s float64) {
	n := len(a)
	for i, x := range a {
		s += x * Dot(q[i*n:(i+1)*n], b)
	}
	return s
}
