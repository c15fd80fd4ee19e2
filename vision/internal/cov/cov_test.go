package cov

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/engine/geom"
)

func TestInverse3(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		var a [9]float64
		for i := range a {
			a[i] = rng.NormFloat64()
		}
		var m geom.Cov3 // a aᵀ + small
		for i := range 3 {
			for j := range 3 {
				for k := range 3 {
					m[3*i+j] += a[3*i+k] * a[3*j+k]
				}
			}
			m[4*i] += 0.1
		}
		w, ok := Inverse(m)
		require.True(t, ok)
		for i := range 3 {
			for j := range 3 {
				var v, want float64
				for k := range 3 {
					v += m[3*i+k] * w[3*k+j]
				}
				if i == j {
					want = 1
				}
				require.InDelta(t, want, v, 1e-8)
			}
		}
	}
	for _, bad := range []geom.Cov3{{}, {1, 2, 0, 2, 1, 0, 0, 0, 1}, {math.NaN(), 0, 0, 0, 1, 0, 0, 0, 1}, {1, 0, 0, 0, 1, 0, 0, 0,
		math.Inf(1)}} {
		_, ok := Inverse(bad)
		assert.False(t, ok, "%v", bad)
	}
}

// Known quantiles of chi-square with three degrees of freedom.
func TestThreeSigmasOfAPose(t *testing.T) {
	assert.InDelta(t, 3.527, SigmasOfThree(1), 0.001)
	assert.InDelta(t, 14.156, SigmasOfThree(3), 0.001)
}
