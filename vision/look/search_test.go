package look

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/engine"
	"sightline/engine/geom"
)

// A fit that ends off the card, or is refused, starts again from finer samples; where a base is found already, none does.
func TestAFitThatEndsOffTheCardStartsAgain(t *testing.T) {
	l, at := small(t, 1, "A1"), pose(130, 130, 40)
	d := drawing{table: tableAt(1.02), noise: 1.5, matted: true, bases: []drawnBase{{base: engine.Small, art: drawnArt(1), pose: at}},
		hides: discOver(at.Add(geom.Point{X: 6, Y: -3}), 12, 0.02)}
	frame := d.draw(1)
	f := NewFinder(d.table, &Library{Looks: []*Look{l}}, calibration.Uncertainty{})
	s := &search{f: f, frame: frame, alike: map[fitKey][]candidate{}}
	m := newMatcher(&l.grids().coarse)
	fit := func(start geom.Pose) (candidate, bool) {
		sc, ok := newScan(&f.table, frame, start.Point, l.Z, l.half()*math.Sqrt2+climbReach)
		require.True(t, ok)
		return sc.fitFrom(l, start, firstLeast)
	}
	ended := 0 // off the card
	for _, turn := range []geom.Angle{-5 * geom.Degree, 0, 5 * geom.Degree} {
		for _, by := range []geom.Point{{X: 4}, {X: -4}, {Y: 4}, {Y: -4}} {
			start := geom.Pose{Point: at.Add(by), Heading: at.Heading + turn}
			var first []candidate
			c, ok := fit(start)
			switch {
			case ok && c.evidence >= searchEvidence:
				continue
			case ok:
				first = []candidate{c}
			}
			ended++
			s.slips = []slip{{m, l, start}}
			all, found := s.settle(first)
			assert.Len(t, all, len(first)+1, "from %v", start)
			if assert.Len(t, found, 1, "from %v", start) {
				assert.Less(t, float64(found[0].Pose.Distance(at.Point)), 0.3)
			}
			assert.Empty(t, s.slips)
		}
	}
	assert.Positive(t, ended, "fits that end off the card")

	right, ok := fit(at)
	require.True(t, ok)
	s.slips = []slip{{m, l, pose(133, 130, 40)}}
	all, found := s.settle([]candidate{right})
	assert.Len(t, all, 1, "a base is found there")
	assert.Len(t, found, 1)
}

// A few blocks that agree well count more than many that agree a little: such a place is fitted, though many rank before it by blocks.
func TestTheBestPlacesByEvidenceAreFitted(t *testing.T) {
	l, at := small(t, 1, "A1"), pose(130, 130, 40)
	d := drawing{table: tableAt(1.02), noise: 1.5, matted: true, bases: []drawnBase{{base: engine.Small, art: drawnArt(1), pose: at}}}
	frame := d.draw(1)
	f := NewFinder(d.table, &Library{Looks: []*Look{l}}, calibration.Uncertainty{})
	s := &search{f: f, frame: frame, mat: f.flattenMat(frame)}
	var all []guess
	for i := range 30 {
		all = append(all, guess{pose(60+5*float64(i), 220, 0), 0.9})
	}
	all = append(all, guess{at, 0.3})
	fitted, _ := s.toFit(newMatcher(&l.grids().coarse), newMatcher(&l.grids().kind), all, nil, searchSure)
	assert.Contains(t, fitted, all[30])
	assert.Equal(t, 0.3, fitted[len(fitted)-1].score, "the others rank before it by blocks")
	assert.LessOrEqual(t, len(fitted), searchFits+searchFirst+searchSure)
}
