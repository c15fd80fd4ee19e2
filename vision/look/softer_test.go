package look

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/engine"
)

// A camera that sees a card at a smaller scale than when it was shown blurs it more: the look is blurred as much, and agrees better.
func TestALookIsAsBlurredAsThePictureThatItIsComparedWith(t *testing.T) {
	l, at := small(t, 1, "A1"), pose(130, 130, 40)
	see := func(scale float64) (s *scan, f *Finder) {
		d := drawing{table: tableAt(scale), noise: 1.5, blur: 0.6, bases: []drawnBase{{base: engine.Small, art: drawnArt(1), pose: at}}}
		f = NewFinder(d.table, &Library{Looks: []*Look{l}}, calibration.Uncertainty{})
		s, ok := newScan(&f.table, d.draw(1), at.Point, l.Z, l.half()*math.Sqrt2+climbReach)
		require.True(t, ok)
		return s, f
	}
	same, _ := see(1.02)
	assert.Same(t, l.grids(), same.gridsOf(l), "at the scale of the look")
	nearer, _ := see(1.4)
	assert.Same(t, l.grids(), nearer.gridsOf(l), "at a larger scale")

	far, _ := see(0.62)
	soft := far.gridsOf(l)
	assert.Same(t, soft, far.gridsOf(l), "made once")
	assert.Zero(t, soft.fine.blur, "the picture is blurred as before")
	assert.Equal(t, l.grids().last.blur, soft.last.blur)
	assert.Greater(t, far.evidenceBy(&soft.fine, l, at), far.evidenceBy(&l.grids().fine, l, at)+2, "by larger blocks")
	assert.Greater(t, far.evidenceBy(soft.fine.parts, l, at), far.evidenceBy(l.grids().fine.parts, l, at)+4, "by smaller blocks")
}

// Halves of a card that lie apart by more than their fits state say how much the pose may be off.
func TestTheDisagreementOfHalves(t *testing.T) {
	info := []float64{100, 0, 0, 0, 100, 0, 0, 0, 100} // 0.1 each
	at := func(x float64) half { return half{off: [3]float64{x, 0, 0}, info: info} }
	assert.Zero(t, disagreement([]half{at(1), at(1), at(1), at(1)}, [3]float64{1, 0, 0}))
	assert.InDelta(t, 100*2*1.0/6, disagreement([]half{at(1), at(-1), at(0), at(0)}, [3]float64{}), 1e-9)
	assert.InDelta(t, 100*2*1.0/3, disagreement([]half{at(1), at(-1)}, [3]float64{}), 1e-9)
	turned := half{off: [3]float64{0, 0, 2}, info: info}
	assert.InDelta(t, 100*4/1.5, disagreement([]half{turned}, [3]float64{}), 1e-9)
}

// The halves of a card that glare or a shadow shifts apart state a larger sigma than those of one that lies in even light.
func TestACardWhoseHalvesLieApartStatesMore(t *testing.T) {
	l, at := small(t, 1, "A1"), pose(130, 130, 40)
	see := func(apart float64) candidate {
		own := drawnArt(1)
		split := func(u, v float64) [3]float64 {
			if u > 0 {
				return own(u, v-apart)
			}
			return own(u, v+apart)
		}
		d := drawing{table: tableAt(1.02), noise: 1.5, bases: []drawnBase{{base: engine.Small, art: split, pose: at}}}
		f := NewFinder(d.table, &Library{Looks: []*Look{l}}, calibration.Uncertainty{})
		sc, ok := newScan(&f.table, d.draw(1), at.Point, l.Z, l.half()*math.Sqrt2+climbReach)
		require.True(t, ok)
		c, ok := sc.fit(l, at)
		require.True(t, ok)
		return c
	}
	one, two := see(0), see(0.5)
	assert.Greater(t, math.Sqrt(two.fit[4]), 2*math.Sqrt(one.fit[4]))
}

// A base that is found with certainty is not fitted at another pose, but at its own; elsewhere all is fitted.
func TestWhereABaseIsCertainNoOtherPoseIsFitted(t *testing.T) {
	l, at := small(t, 1, "A1"), pose(130, 130, 40)
	d := drawing{table: tableAt(1.02), noise: 1.5, matted: true, bases: []drawnBase{{base: engine.Small, art: drawnArt(1), pose: at}}}
	f := NewFinder(d.table, &Library{Looks: []*Look{l}}, calibration.Uncertainty{})
	m := newMatcher(&l.grids().coarse)
	fit := func(sure float64) (fits, slips int) {
		s := &search{f: f, frame: d.draw(1), alike: map[fitKey][]candidate{}}
		right := candidate{look: l, pose: at, agreement: agreement{evidence: sure}}
		if sure >= sureEvidence {
			s.sure = append(s.sure, right)
		}
		out := s.fit([]start{{slip{m, l, pose(130, 136, 130)}, 3, true}, {slip{m, l, pose(130.5, 130, 41)}, 2, true}})
		return len(out), len(s.slips)
	}
	fits, slips := fit(sureEvidence)
	assert.Equal(t, 1, fits)
	assert.Zero(t, slips, "the pose across the base is not fitted")
	_, slips = fit(0)
	assert.Equal(t, 1, slips, "it is fitted, and slips off")
}
