package gray

import (
	"math"
)

// The tabulated normal distribution function and density.
const (
	PhiReach = 4.0
	phiSteps = 512
)

// phiTable has for each step its start value and slope, and a flat step at either end.
var phiTable = func() (t [phiSteps + 2]struct{ cdf, cdfStep, pdf, pdfStep float64 }) {
	at := func(i int) (cdf, pdf float64) {
		x := -PhiReach + 2*PhiReach*float64(i)/phiSteps
		return 0.5 * (1 + math.Erf(x/math.Sqrt2)), math.Exp(-x*x/2) / math.Sqrt(2*math.Pi)
	}
	for i := range phiSteps {
		cdf, pdf := at(i)
		nextCDF, nextPDF := at(i + 1)
		p := &t[i+1]
		p.cdf, p.cdfStep, p.pdf, p.pdfStep = cdf, nextCDF-cdf, pdf, nextPDF-pdf
	}
	t[phiSteps+1].cdf = 1
	return t
}()

// Phi returns Φ(x) and φ(x), without branches. |x| must be below 1e15.
func Phi(x float64) (cdf, pdf float64) {
	f := (x+PhiReach)*(phiSteps/(2*PhiReach)) + 1
	i := int(f)
	f -= float64(i)
	p := &phiTable[min(max(i, 0), phiSteps+1)]
	return p.cdf + f*p.cdfStep, p.pdf + f*p.pdfStep
}
