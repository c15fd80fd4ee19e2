package gray

import (
	"math"
)

// normal distribution function and density on a table.
const (
	PhiReach = 4.0
	phiSteps = 512
)

var phiTable = func() (t [phiSteps + 2]struct{ cdf, pdf float64 }) {
	for i := range t {
		x := -PhiReach + 2*PhiReach*float64(i)/phiSteps
		t[i].cdf = 0.5 * (1 + math.Erf(x/math.Sqrt2))
		t[i].pdf = math.Exp(-x*x/2) / math.Sqrt(2*math.Pi)
	}
	return t
}()

// Phi returns Φ(x) and φ(x).
func Phi(x float64) (cdf, pdf float64) {
	if x <= -PhiReach {
		return 0, 0
	}
	if x >= PhiReach {
		return 1, 0
	}
	f := (x + PhiReach) * (phiSteps / (2 * PhiReach))
	i := int(f)
	f -= float64(i)
	a, b := &phiTable[i], &phiTable[i+1]
	return a.cdf + f*(b.cdf-a.cdf), a.pdf + f*(b.pdf-a.pdf)
}
