package look

import (
	"math"
	"slices"
)

// How well a picture agrees with a look is summed block by block, as the logarithm of a likelihood ratio: how much more
// often a block correlates so well where the card lies there than where it does not. A block that a miniature hides
// correlates like any other picture, which is expected of half of the blocks and says little; a few blocks that
// correlate well say much, so that a large card need not be seen whole.
const (
	blockNoise = 6.0 // grey levels²: noise and rounding in a block's variance
	tellFull   = 8.0 // grey levels from which a block counts in full
	tellLeast  = 2.5 // grey levels from which it counts at all
	// Correlations where the card lies: 1 less an exponential distribution of this mean.
	rightSpread = 0.12
	// Where it does not: a normal distribution, of the best of what a search tries.
	wrongMean  = 0.10
	wrongSigma = 0.33

	shown = 0.6 // correlation from which a block is said to show the card
)

// hiddenShares are the shares of the blocks that a miniature, its shadow or glare may hide: the likeliest counts.
var hiddenShares = [...]float64{0.3, 0.5, 0.7, 0.85, 0.93}

// blockRatio is the likelihood ratio of a block's correlation, if it is seen.
func blockRatio(ncc float64) float64 {
	z := (ncc - wrongMean) / wrongSigma
	wrong := math.Exp(-z*z/2) / (wrongSigma * math.Sqrt(2*math.Pi))
	right := math.Exp(-(1-min(ncc, 1))/rightSpread) / rightSpread
	return right / max(wrong, 1e-3)
}

// agreement is how a picture agrees with a look at a pose.
type agreement struct {
	evidence float64 // the logarithm of a likelihood ratio
	seen     float64 // share of the telling blocks that show the card
}

// correlation is a block's between picture and look; false: the look hardly varies there.
func (g *grid) correlation(sums []blockSums, b int) (float64, bool) {
	if g.tell[b] < tellLeast || sums[b].n == 0 {
		return 0, false
	}
	look, picture, both := sums[b].moments()
	return both / math.Sqrt((look+blockNoise)*(picture+blockNoise)), true
}

// agree compares a picture with the look, block by block.
func (g *grid) agree(sums []blockSums) (a agreement) {
	var all float64
	var by [len(hiddenShares)]float64
	for b := range sums {
		ncc, ok := g.correlation(sums, b)
		if !ok {
			continue
		}
		weight := min(float64(g.tell[b])/tellFull, 1)
		ratio := blockRatio(ncc)
		for i, h := range hiddenShares {
			by[i] += weight * math.Log(h+(1-h)*ratio)
		}
		all += weight
		if ncc > shown {
			a.seen += weight
		}
	}
	a.seen /= max(all, 1e-9)
	a.evidence = slices.Max(by[:])
	return a
}

// agree compares the picture with the look at the pose of the fit.
func (f *fitting) agree() agreement {
	f.look()
	f.correlate()
	return f.g.agree(f.sums)
}
