package rim

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
)

// The mat tells black plastic if it is lighter or has a colour, in the look's light; a dark grey mat does not, however dark the picture is.
func TestWhichMatsTell(t *testing.T) {
	for _, c := range []struct {
		mat  [channels]float64
		gain float64
		bare bool
	}{
		{[channels]float64{70, 45, 30}, 1, true}, {[channels]float64{150, 150, 150}, 1, true}, {[channels]float64{35, 22, 15}, 0.5, true},
		{[channels]float64{60, 60, 60}, 1, false}, {[channels]float64{10, 10, 10}, 1, false}, {[channels]float64{10, 9, 9}, 0.3, false},
	} {
		var on, mat [][channels]float64
		for range 30 {
			mat = append(mat, c.mat)
			on = append(on, [channels]float64{0.9 * c.mat[0], 0.9 * c.mat[1], 0.9 * c.mat[2]})
		}
		var o Odds
		for range 4 {
			o.Side(on, mat, c.gain)
		}
		assert.Equal(t, c.bare, o.Bare(), "%+v", c)
		assert.True(t, o.Doubtful(), "%+v", c)
		o.Guides(bareNamed)
		assert.False(t, o.Bare() || o.Doubtful(), "%+v: guides are seen", c)
	}
}

// The median is that of the sorted values, also where many are the same.
func TestMedian(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for n := 1; n < 90; n++ {
		v := make([]float64, n)
		for i := range v {
			v[i] = float64(rng.IntN(1 + n/(1+n%3)))
		}
		sorted := slices.Sorted(slices.Values(v))
		assert.Equal(t, sorted[n/2], median(v), "%v", sorted)
	}
}
