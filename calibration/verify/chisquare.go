package verify

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// chiSquareTail returns the probability that a chi-square variable with k degrees of
// freedom exceeds x; 1 when x or k is not positive.
func chiSquareTail(x float64, k int) float64 {
	if k < 1 || !(x > 0) {
		return 1
	}
	return distuv.ChiSquared{K: float64(k)}.Survival(x)
}

// largestOf returns the number of sigmas below which the largest of n independent normal
// deviations stays with the probability that a single one stays below 3 (99.73 %; Šidák
// 1967).
func largestOf(n int) float64 {
	inside := math.Pow(math.Erf(3/math.Sqrt2), 1/float64(max(n, 1)))
	return math.Sqrt2 * math.Erfinv(inside)
}
