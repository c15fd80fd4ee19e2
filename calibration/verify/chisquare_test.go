package verify

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Values from printed tables (Abramowitz and Stegun, table 26.8) and, for two
// degrees of freedom, the closed form exp(-x/2).
func TestTheTailOfChiSquareIsTheTables(t *testing.T) {
	for _, c := range []struct {
		x    float64
		k    int
		want float64
	}{
		{3.84146, 1, 0.05}, {6.63490, 1, 0.01}, {18.3070, 10, 0.05}, {29.5883, 10, 0.001},
		{43.7730, 30, 0.05}, {59.7031, 30, 0.001}, {4.86518, 10, 0.9}, {124.342, 100, 0.05},
	} {
		assert.InEpsilon(t, c.want, chiSquareTail(c.x, c.k), 1e-4, "chi-square %g, %d degrees of freedom", c.x, c.k)
	}
	for x := 0.1; x < 40; x += 0.7 {
		assert.InEpsilon(t, math.Exp(-x/2), chiSquareTail(x, 2), 1e-10)
	}
	assert.Equal(t, 1.0, chiSquareTail(0, 5))
	assert.Zero(t, chiSquareTail(5000, 3))
}

func TestTheLargestOfManyMayBeLarger(t *testing.T) {
	assert.InDelta(t, 3, largestOf(1), 1e-9)
	assert.InDelta(t, 3.92, largestOf(30), 0.01) // two-sided 0.0027/30
	last := 0.0
	for n := 1; n < 200; n++ {
		assert.Greater(t, largestOf(n), last)
		last = largestOf(n)
	}
}
