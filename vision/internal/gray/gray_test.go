package gray

import (
	"image"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestShrinkAverages(t *testing.T) {
	g := image.NewGray(image.Rect(0, 0, 5, 4))
	for i := range g.Pix {
		g.Pix[i] = uint8(10 * i)
	}
	s := Shrink(g, 2, new(image.Gray))
	assert.Equal(t, image.Rect(0, 0, 2, 2), s.Rect)
	assert.Equal(t, []uint8{30, 50, 130, 150}, s.Pix)
}

func TestAQuantileIsThatOfTheSortedValues(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for n := 1; n < 400; n += 1 + n/7 {
		for _, kinds := range [...]int{1, 3, 1 << 30} { // equal values, few different ones, all different
			v := make([]float64, n)
			for i := range v {
				v[i] = float64(rng.IntN(kinds))
			}
			sorted := slices.Sorted(slices.Values(v))
			for _, q := range [...]float64{0, 0.159, 0.4, 0.5, 0.99, 1} {
				assert.Equal(t, sorted[min(int(q*float64(n)), n-1)], Quantile(v, q), "%g of %d", q, n)
			}
		}
	}
	assert.Zero(t, Quantile(nil, 0.5))
}
