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

// A miniature of thin wings over every larger block leaves smaller ones in view: they show that the card lies there, and that another does
// not.
func TestSmallerBlocksShowACardUnderThinWings(t *testing.T) {
	l, at := small(t, 1, "A1"), pose(130, 130, 40)
	f := NewFinder(tableAt(1.02), &Library{Looks: []*Look{l}}, calibration.Uncertainty{})
	see := func(seed uint64) (byBlocks float64, s Sight, ok bool) {
		d := drawing{table: tableAt(1.02), noise: 1.5, bases: []drawnBase{{base: engine.Small, art: drawnArt(seed), pose: at}},
			hides: func(p geom.Point) (bool, float64) {
				q := at.Inverse(p)
				return math.Mod(q.X+100.5, 8) < 2 || math.Mod(q.Y+100.5, 8) < 2, 0.5
			}}
		frame := d.draw(1)
		sc, ok := newScan(&f.table, frame, at.Point, l.Z, l.half()*math.Sqrt2+climbReach)
		require.True(t, ok)
		byBlocks = sc.evidenceBy(&l.grids().fine, l, at)
		s, ok, err := f.Near(frame, Hint{Base: engine.Small, Pose: at, Reach: 2, Turn: 5 * geom.Degree})
		require.NoError(t, err)
		return byBlocks, s, ok
	}
	byBlocks, s, ok := see(1)
	assert.Less(t, byBlocks, evidenceLeast, "by larger blocks")
	if assert.True(t, ok) {
		assert.Less(t, float64(s.Pose.Distance(at.Point)), 0.3)
	}
	_, s, ok = see(2)
	assert.False(t, ok, "another card, evidence %.1f", s.Evidence)
}

// Where one look of a layout was found with too little evidence, the others are fitted: the base has one of their cards.
func TestOtherLooksAreFittedWhereOneHasLittleEvidence(t *testing.T) {
	a, b, at := small(t, 1, "A1"), small(t, 2, "A2"), pose(130, 130, 40)
	d := drawing{table: tableAt(1.02), noise: 1.5, bases: []drawnBase{{base: engine.Small, art: drawnArt(2), pose: at}}}
	f := NewFinder(d.table, &Library{Looks: []*Look{a, b}}, calibration.Uncertainty{})
	s := &search{f: f, frame: d.draw(1), alike: map[fitKey][]candidate{}}
	little := candidate{look: a, pose: at, agreement: agreement{evidence: othersLeast}}
	found := s.believed([]candidate{little})
	if assert.Len(t, found, 1) {
		assert.Equal(t, b, found[0].Look)
	}
	little.evidence -= 0.1
	assert.Empty(t, s.believed([]candidate{little}))
}

// Looks that found no base are compared once more where bases may still stand; poses that were kept before are not kept again.
func TestLooksThatFoundNoBaseAreComparedOnceMore(t *testing.T) {
	a, b, at := small(t, 1, "A1"), small(t, 2, "A2"), pose(130, 130, 40)
	d := drawing{table: tableAt(1.02), noise: 1.5, bases: []drawnBase{{base: engine.Small, art: drawnArt(2), pose: at}}}
	f := NewFinder(d.table, &Library{Looks: []*Look{a, b}}, calibration.Uncertainty{})
	s := &search{f: f, frame: d.draw(1), mat: f.flattenMat(d.draw(1)), alike: map[fitKey][]candidate{}}
	s.signs = s.mat.signs()
	for _, l := range f.looks.Looks { // displaced everything
		s.looks = append(s.looks, &searched{Look: l, signs: l.grids().signs, guesses: ranking{least: 100}, below: 100})
	}
	s.stand(nil, nil, variesBy)
	found := s.believed(s.byBlocks([]Sight{{Look: a}}, nil, nil))
	if assert.Len(t, found, 1) {
		assert.Equal(t, b, found[0].Look)
	}
	assert.Empty(t, s.looks[0].guesses.all, "it found a base")
	s.looks[1].guesses = ranking{least: 0}
	assert.Empty(t, s.byBlocks([]Sight{{Look: a}}, nil, nil), "all of these were kept before")
	assert.Empty(t, s.believed(s.byBlocks(nil, nil, []engine.Ship{{Base: engine.Small, Pose: at}})), "a base is found there")
}

// The ground of a card in other colours is noticed, a haze of light is not taken for one.
func TestTheTintOfACardsGround(t *testing.T) {
	l, at := small(t, 1, "A1"), pose(130, 130, 40)
	f := NewFinder(tableAt(1.02), &Library{Looks: []*Look{l}}, calibration.Uncertainty{})
	tint := func(ground [3]float64, light [3]float64) float64 {
		own := drawnArt(1)
		tinted := func(u, v float64) [3]float64 {
			c := own(u, v)
			for i := range c {
				c[i] += ground[i]
			}
			return c
		}
		d := drawing{table: tableAt(1.02), noise: 1, light: light, bases: []drawnBase{{base: engine.Small, art: tinted, pose: at}}}
		sc, ok := newScan(&f.table, d.draw(1), at.Point, l.Z, l.half()*math.Sqrt2+climbReach)
		require.True(t, ok)
		return sc.tint(l, at)
	}
	assert.Less(t, tint([3]float64{}, [3]float64{}), 0.5, "its own")
	assert.Less(t, tint([3]float64{}, [3]float64{0.8, 1, 1.2}), 1.0, "in warm light")
	assert.Less(t, tint([3]float64{0.02, 0.02, 0.02}, [3]float64{}), 1.0, "in haze")
	assert.Greater(t, tint([3]float64{0, 0.01, 0.05}, [3]float64{}), 2.5, "redder")
	assert.Greater(t, tint([3]float64{0.05, 0.01, 0}, [3]float64{}), 2.5, "bluer")
}

// A card whose ground seems to have another colour is neither told nor named, whatever the other bases of its table are.
func TestACardWithAnotherTintIsNotNamed(t *testing.T) {
	s := Sight{Look: &Look{Name: "A1", Ships: []string{"A1"}}, Evidence: nameLeast, Plate: PlateAgrees, Kind: kindLeast + 0.6}
	assert.True(t, s.Named() && s.Told())
	s.Tint = 1.5
	assert.True(t, s.Named() && s.Told())
	s.Tint, s.Kind = 2.5, s.Kind+math.Log(4)
	assert.False(t, s.Named() || s.Told())
	s.Kind = kindLeast + 3
	assert.True(t, s.Told() && !s.Named())
	s.Plate, s.Counted = PlateUnread, true
	assert.False(t, s.Named())
}

// Of ships with one card, each shown on its own, one is lacking until as many bases are found.
func TestALookOfWhichABaseIsLacking(t *testing.T) {
	a, b, c := &Look{Name: "A1"}, &Look{Name: "A2"}, &Look{Name: "B1"}
	found := []Sight{{Look: c}, {Look: a, Alike: []*Look{b}}}
	assert.True(t, lacks(found, a) && lacks(found, b))
	assert.False(t, lacks(found, c))
	found = append(found, Sight{Look: a, Alike: []*Look{b}})
	assert.False(t, lacks(found, a) || lacks(found, b))
	assert.True(t, lacks(nil, c))
}

// Of two fits of one look at about one pose the one counts that smaller blocks prefer; of another look, or elsewhere, none.
func TestOfTwoFitsTheOneCountsThatSmallerBlocksPrefer(t *testing.T) {
	a, b := small(t, 1, "A1"), small(t, 2, "A2")
	fit := func(l *Look, x, evidence, parts float64) candidate {
		return candidate{look: l, pose: pose(x, 50, 0), agreement: agreement{evidence: evidence, parts: parts}}
	}
	s, ok := decide([]candidate{fit(a, 50.7, 14, 20), fit(a, 50, 13, 58), fit(b, 50.1, 10, 60), fit(a, 80, 5, 70)}, evidenceLeast)
	assert.True(t, ok)
	assert.Equal(t, pose(50, 50, 0), s.Pose)
	assert.Equal(t, 13.0, s.Evidence)
	assert.Equal(t, 8.0, s.Margin)
	assert.Equal(t, []*Look{b}, s.Alike)
	_, ok = decide([]candidate{fit(a, 50.7, 14, 20), fit(a, 50, 9, 58)}, evidenceLeast)
	assert.False(t, ok, "too little evidence by larger blocks")
}
