package ship

import (
	"math"

	"sightline/calibration/linalg"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/token"
)

// A token held above the mat looks larger than one on a base, by its height relative to the
// camera's, and seems to be further from the picture's middle than it is.

const (
	// mostStretch is the largest relative enlargement of the print of a standing token: a printer's
	// scale is off by a few thousandths, and clipped light widens the white. The largest of 142 ships
	// in 18 photorealistic pictures had 0.003. Seven that were held 30 mm above the mat, seen from
	// 1250 mm, had 0.010 to 0.016.
	mostStretch = 0.008
	// raisedShare is the prior probability that a token is raised, by any height that heldUp does not
	// refuse. A larger one widens the sigmas of tokens that stand, a smaller one leaves more raised
	// ones outside theirs. With 0.07, two of 116 simulated tokens that were raised by 5 mm lie beyond
	// 4 of their sigmas (seven with 0.03), and the mean sigma of 115 that stand is 0.210 mm (0.194).
	// In photorealistic pictures that costs 7 answers in 10 000 (docs/measurements/ships.md).
	raisedShare = 0.07
	// sureSize is the standard deviation above which a size is measured twice, from either end of the
	// range for a standing token. Better known sizes come out the same from both.
	sureSize = mostStretch / 8
	// sureStretch is how many standard deviations a size must differ by before a token is refused.
	// (Those 142 had up to 5.7, far below mostStretch.) At 2.5, tokens of which little is visible were
	// refused in one picture and read in the next. The sigma of tokens that are not refused covers
	// their height: see raised.
	sureStretch = 3.5
)

// height is the information of a token's size about its height.
type height struct {
	larger, sigma float64 // relative enlargement of its print, and its standard deviation
	known         bool
}

// heldUp reports whether the token is surely above a base's top.
func (h height) heldUp() bool {
	return h.known && h.larger > mostStretch && h.larger > sureStretch*h.sigma
}

// height measures the size of a token after its fit. If little of the print is visible, it may seem
// to have the size with which the fit started. So a poorly known size is fitted again, from the
// largest size of a standing token, and half the difference of the two sizes is added to the sigma.
// It consumes the pixels.
func (f *rimFit) height() (h height) {
	h.larger, h.sigma, h.known = f.stretch()
	if !h.known || h.sigma < sureSize {
		return h
	}
	fitted := *f
	defer func() { *f = fitted }()
	f.shrink(mostStretch)
	if !f.solve() {
		return h
	}
	if by, sigma, ok := f.stretch(); ok {
		by = (1+by)*(1+mostStretch) - 1
		off := (by - h.larger) / 2
		h.larger, h.sigma = h.larger+off, math.Sqrt((h.sigma*h.sigma+sigma*sigma)/2+off*off)
	}
	return h
}

// over returns the height over a base's top of a token with a relative enlargement.
func (l *Locator) over(larger float64) geom.Length {
	return geom.Length((l.table.Center()[2] - float64(token.BaseTop)) * larger / (1 + larger))
}

// raised returns the standard deviation of a token's height over a base's top: the root mean square
// of all heights up to those that heldUp refuses, weighted by raisedShare and by the likelihood of
// the measured size.
func (l *Locator) raised(h height) geom.Length {
	if !h.known {
		return 0
	}
	// A token on a base is never lower than its top, so one that looks too small says no more than one
	// of the right size.
	measured := max(h.larger, 0)
	likelihood := func(larger float64) float64 {
		e := (measured - larger) / h.sigma
		return math.Exp(-e * e / 2)
	}
	const steps = 44
	most := 1.1 * float64(l.over(mostStretch)) // 11 mm at 1250 mm
	away := l.table.Center()[2] - float64(token.BaseTop)
	var sum, square float64
	for i := range steps {
		up := (float64(i) + 0.5) / steps * most
		p := likelihood(up / (away - up))
		sum, square = sum+p, square+p*up*up
	}
	all := raisedShare*sum + (1-raisedShare)*steps*likelihood(0)
	if !(all > 0) {
		return l.over(measured) // larger than any of these
	}
	return geom.Length(math.Sqrt(raisedShare * square / all))
}

// dropRaised removes the tokens that are held up, and returns them. They were located like ships,
// so that nothing else is read in their places.
func (l *Locator) dropRaised(ships []found) (kept []found, raised []vision.RaisedToken) {
	for _, s := range ships {
		if !s.height.heldUp() {
			kept = append(kept, s)
			continue
		}
		raised = append(raised, vision.RaisedToken{ID: s.token.Code.ID(), At: s.pose.Point, Larger: s.height.larger, Sigma: s.height.sigma,
			Up: l.over(s.height.larger)})
	}
	return kept, raised
}

const (
	// innerEdges is how far inwards from the base's edge, in mm, the print for measuring the size
	// begins: with the keyline's inner edge and the cells. In renders the outer edge, between paper
	// and mat, seems to lie up to 0.1 mm further out than it is.
	innerEdges = 0.5
	// stretchRounds is how often a stretch is measured, each time with the print scaled by the
	// previous result and the light followed again.
	stretchRounds = 3
	// settledStretch is the change, in standard deviations, below which no further round is needed.
	settledStretch = 0.3
)

// stretch returns the relative enlargement of the print in the picture, after a fit, and its
// standard deviation. Pose, blur and the light of every column stay free, so only opposite sides
// and the spacing of the cells determine it. It reports false if neither is visible.
func (f *rimFit) stretch() (by, sigma float64, ok bool) {
	f.shrunk = append(f.shrunk[:0], f.pixels...)
	fitted := *f
	defer func() { *f = fitted }()
	f.pixels = f.shrunk
	f.stride, f.from = 1, innerEdges
	for round := range stretchRounds {
		f.sample(litFrom)
		if round > 0 {
			f.followLight()
		}
		step, sd, ok := f.stretchStep()
		if !ok {
			return 0, 0, false
		}
		by, sigma = (1+by)*(1+step)-1, sd
		if math.Abs(step) < settledStretch*sd {
			break
		}
		f.shrink(step)
	}
	return by, sigma, true
}

// shrink scales the pixels' places about the middle of the token.
func (f *rimFit) shrink(by float64) {
	for i := range f.pixels {
		p := &f.pixels[i]
		p.x, p.y = f.pose.X+(p.x-f.pose.X)/(1+by), f.pose.Y+(p.y-f.pose.Y)/(1+by)
	}
}

// stretchStep fits the stretch together with all other parameters, once, and applies the step of
// the latter.
func (f *rimFit) stretchStep() (by, sigma float64, ok bool) {
	var sums stretchSums
	if f.stretchSums(&sums) < 30 {
		return 0, 0, false
	}
	var cross [fitParams]float64
	own, pull := f.eliminate(&sums, 0.1*f.white*f.white, &cross)
	f.addPriors()
	l, ok := f.equations.factorise()
	if !ok {
		return 0, 0, false
	}
	known, rest := cross, f.equations.gradient
	linalg.CholeskySolve(l, known[:])
	for i := range cross {
		own -= cross[i] * known[i]
		pull -= known[i] * rest[i]
	}
	if !(own > 0) {
		return 0, 0, false
	}
	by = pull / own
	for i := range rest {
		rest[i] -= by * cross[i]
	}
	linalg.CholeskySolve(l, rest[:])
	f.apply(&rest)
	return by, f.noise * math.Sqrt(f.inflation()/covarianceInflation/own), true
}

// stretchSums are sums over the pixels: for each side, those of a fit and those for the stretch;
// for each column, those for its light.
type stretchSums struct {
	side [4]struct {
		sideSums
		stretch   [sideParams]float64
		own, pull float64
	}
	column [4][fitColumns]struct {
		with                   [sideParams]float64
		stretch, residual, own float64
	}
}

// stretchSums adds up the samples, and returns the sum of their weights.
func (f *rimFit) stretchSums(sums *stretchSums) (count float64) {
	for i := range f.samples {
		p := &f.samples[i]
		if p.d < f.from {
			continue
		}
		side, gain := p.side, f.gains[p.side][p.column]
		value, slope := recorded(gain * p.at.light)
		e := p.light - value
		if p.light >= clipped && e < 0 {
			continue
		}
		u := e / max(4.685*f.noise, 0.12*f.contrast(side))
		if u*u >= 1 {
			continue
		}
		weight := (1 - u*u) * (1 - u*u)
		count += weight
		byGain, scale := p.at.light*slope, gain*slope
		s, along := &sums.side[side], &sums.column[side][p.column]
		s.add(&p.at, weight*scale*scale, weight*scale*e)
		g := (p.at.dd*(f.sides[side].out-p.d) - p.at.da*p.a) * scale
		s.own += weight * g * g
		s.pull += weight * g * e
		along.own += weight * byGain * byGain
		along.stretch += weight * byGain * g
		along.residual += weight * byGain * e
		p.at.addTo(&s.stretch, weight*scale*g)
		p.at.addTo(&along.with, weight*scale*byGain)
	}
	return count
}

// eliminate eliminates the light of each column, which is regularised to 1 as in followLight, and
// adds up the rest: the lower triangle of the normal equations, their right side, and the terms of
// the stretch.
func (f *rimFit) eliminate(s *stretchSums, hold float64, cross *[fitParams]float64) (own, pull float64) {
	f.equations.clear()
	turn := newSideTurn(f.pose)
	for side := range s.side {
		sum := &s.side[side]
		for c := range s.column[side] {
			along := &s.column[side][c]
			if along.own == 0 {
				continue
			}
			residual := along.residual + hold*(1-f.gains[side][c])
			share := 1 / (along.own + hold)
			for i, v := range along.with {
				v *= share
				for j := range i + 1 {
					sum.normal[i][j] -= v * along.with[j]
				}
				sum.stretch[i] -= v * along.stretch
				sum.gradient[i] -= v * residual
			}
			sum.own -= along.stretch * along.stretch * share
			sum.pull -= along.stretch * residual * share
		}
		f.equations.add(side, &sum.sideSums, turn)
		turn.of(&sum.stretch)
		turn = turn.next()
		for i, to := range sideAt(side) {
			cross[to] += sum.stretch[i]
		}
		own += sum.own
		pull += sum.pull
	}
	return own, pull
}
