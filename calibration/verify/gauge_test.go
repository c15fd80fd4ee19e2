package verify_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration/verify"
	"sightline/engine/geom"
)

func TestAGaugeStudyOfAWorkedExample(t *testing.T) {
	// Three places, two pictures each: 0.1 0.3 | 0.5 0.7 | 0.0 0.2 mm.
	// Means 0.2, 0.6, 0.1, grand mean 0.3.
	// Within: six deviations of 0.1: 0.06 over 3 degrees of freedom = 0.02.
	// Between: 2·(0.01 + 0.09 + 0.04) = 0.28 over 2 = 0.14; (0.14 - 0.02)/2 = 0.06.
	s, err := verify.NewGaugeStudy([][]float64{{0.1, 0.3}, {0.5, 0.7}, {0, 0.2}}, 1*geom.Millimeter)
	require.NoError(t, err)
	assert.Equal(t, 3, s.Places)
	assert.Equal(t, 6, s.Pictures)
	assert.InDelta(t, 0.3, float64(s.Bias), 1e-12)
	assert.InDelta(t, math.Sqrt(0.02), float64(s.Repeatability), 1e-12)
	assert.InDelta(t, math.Sqrt(0.06), float64(s.Between), 1e-12)
	assert.InDelta(t, math.Sqrt(0.08), float64(s.Reproducibility), 1e-12)
	assert.InDelta(t, 6*math.Sqrt(0.08), s.GRR, 1e-12)
	assert.InDelta(t, 0.2/(6*math.Sqrt(0.02)), s.Cg, 1e-12)
	assert.InDelta(t, (0.1-0.3)/(3*math.Sqrt(0.02)), s.Cgk, 1e-12)
}

func TestAGaugeStudyFindsTheSpreadsThatWerePutIn(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 7))
	const bias, between, within = 0.07, 0.2, 0.05
	var places [][]float64
	for k := range 400 {
		at := bias + between*rng.NormFloat64()
		var errors []float64
		for range 2 + k%4 { // as many as happened to be taken
			errors = append(errors, at+within*rng.NormFloat64())
		}
		places = append(places, errors)
	}
	s, err := verify.NewGaugeStudy(places, 1*geom.Millimeter)
	require.NoError(t, err)
	assert.InDelta(t, bias, float64(s.Bias), 3*between/math.Sqrt(400))
	assert.InEpsilon(t, within, float64(s.Repeatability), 0.1)
	assert.InEpsilon(t, between, float64(s.Between), 0.12)
	assert.InEpsilon(t, math.Hypot(between, within), float64(s.Reproducibility), 0.12)
}

func TestAGaugeStudyOfOnePlaceKnowsNothingOfReproducing(t *testing.T) {
	s, err := verify.NewGaugeStudy([][]float64{{0.1, 0.2, 0.3}, {}}, 1*geom.Millimeter)
	require.NoError(t, err)
	assert.Equal(t, 1, s.Places)
	assert.Zero(t, s.Between)
	assert.Equal(t, s.Repeatability, s.Reproducibility)
	assert.InDelta(t, 0.1, float64(s.Repeatability), 1e-12)
}

func TestAGaugeStudyWithoutRepeatsIsRefused(t *testing.T) {
	for _, places := range [][][]float64{nil, {{}}, {{0.1}}, {{0.1}, {0.2}, {0.3}}} {
		_, err := verify.NewGaugeStudy(places, 1)
		assert.ErrorContains(t, err, "two pictures", "%v", places)
	}
	_, err := verify.NewGaugeStudy([][]float64{{1, 2}}, 0)
	assert.ErrorContains(t, err, "tolerance")
}
