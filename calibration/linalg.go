package calibration

import "math"

// cholesky replaces the lower triangle of the symmetric positive definite n×n
// matrix a (row-major) by its Cholesky factor. It reports false when a is not
// positive definite to working precision.
func cholesky(a []float64, n int) bool {
	for j := range n {
		d := a[j*n+j]
		for k := range j {
			d -= a[j*n+k] * a[j*n+k]
		}
		if !(d > 1e-300) || math.IsInf(d, 0) {
			return false
		}
		d = math.Sqrt(d)
		a[j*n+j] = d
		for i := j + 1; i < n; i++ {
			s := a[i*n+j]
			for k := range j {
				s -= a[i*n+k] * a[j*n+k]
			}
			a[i*n+j] = s / d
		}
	}
	return true
}

// choleskySolve solves L Lᵀ x = b in place, given the factor of cholesky.
func choleskySolve(l []float64, n int, b []float64) {
	for i := range n {
		for k := range i {
			b[i] -= l[i*n+k] * b[k]
		}
		b[i] /= l[i*n+i]
	}
	for i := n - 1; i >= 0; i-- {
		for k := i + 1; k < n; k++ {
			b[i] -= l[k*n+i] * b[k]
		}
		b[i] /= l[i*n+i]
	}
}

// SolveSPD solves a x = b for a symmetric positive definite n×n matrix a (row-major,
// the lower triangle is read) and returns x. It leaves a and b as they were, and
// reports false when a is not positive definite to working precision.
func SolveSPD(a, b []float64) ([]float64, bool) {
	n := len(b)
	l := append([]float64(nil), a...)
	x := append([]float64(nil), b...)
	if !cholesky(l, n) {
		return nil, false
	}
	choleskySolve(l, n, x)
	return x, true
}

// invertSPD returns the inverse of a symmetric positive definite n×n matrix.
func invertSPD(a []float64, n int) ([]float64, bool) {
	l := append([]float64(nil), a...)
	if !cholesky(l, n) {
		return nil, false
	}
	inv := make([]float64, n*n)
	e := make([]float64, n)
	for j := range n {
		clear(e)
		e[j] = 1
		choleskySolve(l, n, e)
		for i := range n {
			inv[i*n+j] = e[i]
		}
	}
	return inv, true
}
