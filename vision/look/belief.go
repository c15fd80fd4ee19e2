package look

import (
	"math"
	"slices"
)

// The evidence for a look is the logarithm of a likelihood ratio, summed over blocks: how much more often a block has
// this correlation if the card lies there than if it does not. A block that a miniature hides correlates like any other
// picture. That is expected of half of the blocks and counts little. A few blocks that correlate well count much, so a
// large card need not be in view whole.
const (
	blockNoise = 6.0 // grey levels²: noise and rounding in a block's variance
	tellFull   = 8.0 // grey levels by which a look must vary in a block for it to count in full
	tellLeast  = 2.5 // grey levels by which it must vary to count at all
	// If the card lies there, 1 minus the correlation has an exponential distribution with this mean.
	rightSpread = 0.12
	// If it does not, the best correlation of a search has this normal distribution.
	wrongMean  = 0.10
	wrongSigma = 0.33

	shown = 0.6 // correlation from which a block counts as showing the card
)

// hiddenShares are the shares of the blocks that a miniature, its shadow or glare may hide. The likeliest one is used.
var hiddenShares = [...]float64{0.3, 0.5, 0.7, 0.85, 0.93}

// blockRatio returns the likelihood ratio of a block's correlation if the block is not hidden.
func blockRatio(ncc float64) float64 {
	z := (ncc - wrongMean) / wrongSigma
	wrong := math.Exp(-z*z/2) / (wrongSigma * math.Sqrt(2*math.Pi))
	right := math.Exp(-(1-min(ncc, 1))/rightSpread) / rightSpread
	return right / max(wrong, 1e-3)
}

// agreement says how well a picture agrees with a look at a pose.
type agreement struct {
	evidence float64 // the logarithm of a likelihood ratio
	seen     float64 // weighted share of the blocks that show the card
}

// correlation returns a block's correlation between picture and look; false: the look hardly varies there.
func (g *grid) correlation(sums []blockSums, b int) (float64, bool) {
	if g.tell[b] < tellLeast || sums[b].n == 0 {
		return 0, false
	}
	look, picture, both := sums[b].moments()
	return both / math.Sqrt((look+blockNoise)*(picture+blockNoise)), true
}

// evidenceSum is the evidence for each of hiddenShares.
type evidenceSum [len(hiddenShares)]float64

// add adds a block's correlation.
func (s *evidenceSum) add(weight, ncc float64) {
	ratio := blockRatio(ncc)
	for i, h := range hiddenShares {
		s[i] += weight * math.Log(h+(1-h)*ratio)
	}
}

// agree returns the agreement of a picture with the look from the sums of the blocks.
func (g *grid) agree(sums []blockSums) (a agreement) {
	var all float64
	var by evidenceSum
	for b := range sums {
		ncc, ok := g.correlation(sums, b)
		if !ok {
			continue
		}
		weight := min(float64(g.tell[b])/tellFull, 1)
		by.add(weight, ncc)
		all += weight
		if ncc > shown {
			a.seen += weight
		}
	}
	a.seen /= max(all, 1e-9)
	a.evidence = slices.Max(by[:])
	return a
}

// agree samples the picture at the pose of the fit and returns its agreement with the look.
func (f *fitting) agree() agreement {
	f.sample(false)
	f.correlate()
	return f.g.agree(f.sums)
}
