package look

import (
	"math"
	"slices"

	"sightline/engine/geom"
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

	// A miniature of thin wings covers a part of nearly every block of blockMM, and leaves many of lastBlockMM. So the evidence is the larger
	// one of that by the former and this share of that by the latter, of which there are 2.25 times as many. Of 81 wrong poses on twelve
	// tables (1, 1201, 1202, 1204, 1207, 1209, 1210, 1222, 1224, 1225, 1243, 1254), one of a small look over a large base's card has 24 by
	// smaller blocks; A5 of 1225, 1.7 mm off through x264, has 30, and with noise reduction, 1.5 mm off, 26. 40 counts as evidenceLeast.
	partsShare = evidenceLeast / 40
	partsRank  = 0.4 // the same where places are chosen for a fit, or poses of one base
	partsHope  = 0.2 // the same while a fit runs
)

// hiddenShares are the shares of the blocks that a miniature, its shadow or glare may hide. The likeliest one is used.
var hiddenShares = [...]float64{0.3, 0.5, 0.7, 0.85, 0.93}

// blockRatio returns the likelihood ratio of a block's correlation if the block is not hidden.
func blockRatio(ncc, spread float64) float64 {
	z := (ncc - wrongMean) / wrongSigma
	wrong := math.Exp(-z*z/2) / (wrongSigma * math.Sqrt(2*math.Pi))
	right := math.Exp(-(1-min(ncc, 1))/spread) / spread
	return right / max(wrong, 1e-3)
}

// agreement says how well a picture agrees with a look at a pose.
type agreement struct {
	evidence float64 // the logarithm of a likelihood ratio
	parts    float64 // evidence by smaller blocks
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
func (s *evidenceSum) add(weight, ncc float64) { s.addRatio(weight, blockRatio(ncc, rightSpread)) }

// addRatio adds a block's likelihood ratio.
func (s *evidenceSum) addRatio(weight, ratio float64) {
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

// promises samples the picture and reports whether the evidence reaches so much.
func (f *fitting) promises(least float64) bool {
	f.agree()
	return f.reaches(least)
}

// reaches reports whether the evidence at the pose, where the picture was sampled, is at least so much, or that by smaller blocks promises
// it.
func (f *fitting) reaches(least float64) bool {
	if f.g.agree(f.sums).evidence >= least {
		return true
	}
	return f.g.parts != nil && partsHope*f.s.evidenceBy(f.g.parts, f.look, f.pose) >= least
}

// evidenceBy returns the evidence for a look at a pose by a grid's blocks.
func (s *scan) evidenceBy(g *grid, l *Look, pose geom.Pose) float64 {
	f := newFitting(s, l, g, pose)
	defer f.release()
	return f.agree().evidence
}
