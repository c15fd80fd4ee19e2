package calibration

import "math"

// chiSquareTail returns the probability that a chi-square variable with k degrees
// of freedom exceeds x: Q(k/2, x/2), the upper incomplete gamma function, by its
// series or its continued fraction (Abramowitz and Stegun 6.5.29 and 6.5.31).
func chiSquareTail(x float64, k int) float64 {
	if k < 1 || !(x > 0) {
		return 1
	}
	a, z := float64(k)/2, x/2
	lead, _ := math.Lgamma(a)
	front := math.Exp(a*math.Log(z) - z - lead)
	if z < a+1 {
		term := 1 / a
		sum := term
		for n := 1; n < 10000 && term > 1e-16*sum; n++ {
			term *= z / (a + float64(n))
			sum += term
		}
		return max(0, 1-front*sum)
	}
	// Lentz's method for 1/(z+1-a- 1(1-a)/(z+3-a- 2(2-a)/(z+5-a- …
	b := z + 1 - a
	c, d := 1e300, 1/b
	h := d
	for n := 1; n < 10000; n++ {
		an := -float64(n) * (float64(n) - a)
		b += 2
		d = 1 / (an*d + b)
		c = b + an/c
		h *= d * c
		if math.Abs(d*c-1) < 1e-15 {
			break
		}
	}
	return front * h
}

// largestOf returns how many sigmas the largest of n independent normal deviations
// stays below with the probability that a single one stays below 3 (99.73 %; Šidák
// 1967).
func largestOf(n int) float64 {
	inside := math.Pow(math.Erf(3/math.Sqrt2), 1/float64(max(n, 1)))
	return math.Sqrt2 * math.Erfinv(inside)
}
