package look

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/engine"
	"sightline/engine/geom"
)

// printed is a card of one layout: the lines of its arcs, a plate along its rear edge and figures beside it, over a faint drawing. That is
// another one for each seed, and so is the name on the plate.
func printed(seed uint64) art {
	drawing := drawnArt(seed)
	return func(u, v float64) [3]float64 {
		out := drawing(u, v)
		for c := range out {
			out[c] = 0.1 + 0.35*(out[c]-0.1)
		}
		switch {
		case v < -13:
			out = [3]float64{0.03, 0.03, 0.03}
			if name := u + 20; math.Abs(u) < 7 && v < -14.5 && math.Mod(name*name*float64(seed), 16) < 8 {
				out = [3]float64{0.9, 0.9, 0.9}
			}
		case math.Abs(math.Abs(u)-math.Abs(v)) < 0.5, math.Abs(math.Abs(u)-7) < 0.3 && v > 7:
			out = [3]float64{0.3, 0.8, 0.9}
		case u < -14 && math.Mod(math.Abs(v), 3) < 1.5:
			out = [3]float64{0.2, 0.4, 0.9}
		}
		return out
	}
}

// A card of the layout of those that were shown is found where it lies, also one that was not shown; but only of those that were it is told
// that they are.
func TestACardOfTheSameLayoutIsNotToldToBeOneThatWasShown(t *testing.T) {
	library := &Library{}
	for seed, name := range map[uint64]string{1: "A1", 2: "A2", 3: "A3"} {
		d := drawing{table: tableAt(1.02), noise: 1.5, bases: quarters(engine.Small, printed(seed))}
		l, err := Learn(Card{Name: name, Ships: []string{name}, Base: engine.Small}, d.views(seed))
		require.NoError(t, err)
		library.Looks = append(library.Looks, l)
	}
	found := 0
	for seed := uint64(1); seed <= 9; seed++ {
		for i, light := range [][3]float64{{1, 1, 1}, {0.6, 0.8, 1}} {
			at := pose(130, 130, 50*float64(seed)+20*float64(i))
			d := drawing{table: tableAt(1.02), noise: 1.5, light: light, bases: []drawnBase{{base: engine.Small, art: printed(seed), pose: at}},
				hides: discOver(at.Add(geom.Point{X: 6, Y: -3}), 11, 0.02)}
			f := NewFinder(d.table, library, calibration.Uncertainty{})
			s, ok, err := f.Near(d.draw(10*seed+uint64(i)), Hint{Base: engine.Small, Pose: at, Reach: 3, Turn: math.Pi})
			require.NoError(t, err)
			if shown := seed <= 3; shown {
				require.True(t, ok)
				assert.True(t, s.Told(), "card %d: %.1f", seed, s.Kind)
			} else if ok {
				found++
				assert.False(t, s.Told(), "card %d, taken for %s: %.1f, evidence %.1f", seed, s.Look.Name, s.Kind, s.Evidence)
				ship := f.Ship(&s, "", "?1")
				assert.True(t, ship.LookDoubt)
				assert.False(t, f.Ship(&s, "A1", "").LookDoubt, "a person says it")
			}
		}
	}
	assert.Positive(t, found, "cards that were not shown and are found by their layout")
}

// Where most cards of a table are ones that were shown, less says that another one is; among others more is needed. At most four of
// five are taken to be shown where not every ship was found.
func TestACardCountsAsTheOthersOfItsTable(t *testing.T) {
	odds := func(counted bool, of ...float64) (last float64) {
		all := make([]Sight, len(of))
		for i, v := range of {
			all[i].Kind = v
		}
		among(all, nil, counted)
		return all[len(all)-1].Kind
	}
	assert.InDelta(t, 0, odds(false, 0), 0.01, "nothing says anything")
	assert.InDelta(t, math.Log(4), odds(false, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 0), 0.01)
	assert.Greater(t, odds(true, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 0), 2.0)
	assert.Less(t, odds(true, -6, -6, -6, -6, -6, -6, -6, -6, 2), 0.5)
	known := []engine.Ship{{Look: "A1"}, {Look: "A2"}, {Look: "A3", LookDoubt: true}, {ID: "A4"}}
	one := []Sight{{}}
	among(one, known, false)
	assert.InDelta(t, math.Log(3), one[0].Kind, 0.2, "two more that are known")
}

// Of two looks of one drawing the other one is fitted where one alone was found, or where its own fit slipped, so that neither is told.
func TestALookThatWasNotFoundIsFittedWhereTheBestOneLies(t *testing.T) {
	looks := []*Look{small(t, 1, "A1"), small(t, 1, "A2"), small(t, 2, "A3")}
	at := pose(130, 130, 40)
	d := drawing{table: tableAt(1.02), noise: 1.5, light: [3]float64{1, 1, 1},
		bases: []drawnBase{{base: engine.Small, art: drawnArt(1), pose: at}}}
	f, frame := NewFinder(d.table, &Library{Looks: looks}, calibration.Uncertainty{}), d.draw(3)
	found := f.fits(frame, looks[0], Hint{Base: engine.Small, Pose: at, Reach: 2, Turn: 5 * geom.Degree})
	require.NotEmpty(t, found)
	s, ok := decide(append(found, f.besides(frame, found, looks)...), evidenceLeast)
	require.True(t, ok)
	assert.Equal(t, []string{"A1", "A2"}, s.Ships())
	assert.Empty(t, f.besides(frame, found, looks[:1]), "it has one")
	assert.Empty(t, f.besides(frame, nil, looks))

	slipped := found[0] // a fit of the other look that ended beside the card
	slipped.look, slipped.pose.X, slipped.evidence = looks[1], slipped.pose.X+0.8, 2
	all := append(slices.Clone(found), slipped)
	s, ok = decide(append(all, f.besides(frame, all, looks)...), evidenceLeast)
	require.True(t, ok)
	assert.Equal(t, []string{"A1", "A2"}, s.Ships())

	scan, ok := newScan(&f.table, frame, at.Point, looks[1].Z, looks[1].half()*math.Sqrt2+4)
	require.True(t, ok)
	c, ok := scan.unmoved(looks[1], &found[0])
	require.True(t, ok)
	assert.Equal(t, found[0].pose, c.pose)
	assert.InDelta(t, found[0].evidence, c.evidence, 0.2*found[0].evidence)
}

// A look is possible too if its evidence is little less than the best; on a large base, whose evidence spreads more, twice as much
// less, and as much again if a look has few views.
func TestTheEvidenceOfALookThatPassesForAnother(t *testing.T) {
	for _, c := range []struct {
		base        engine.Base
		views       int
		best, other float64
		passes      bool
	}{
		{engine.Small, 4, 45, 34, true}, {engine.Small, 4, 45, 28, false}, {engine.Large, 4, 45, 28, true}, {engine.Large, 4, 45, 20, false},
		{engine.Large, 4, 100, 75, false}, {engine.Large, 4, 20, 9, true}, {engine.Large, 4, 20, 7, false}, {engine.Small, 1, 45, 28, true},
		{engine.Small, 2, 45, 22, false},
	} {
		l := &Look{Base: c.base, Views: c.views}
		a, b := candidate{look: l, agreement: agreement{evidence: c.best}}, candidate{look: newLook(l), agreement: agreement{evidence: c.other}}
		s, ok := decide([]candidate{b, a}, evidenceLeast)
		assert.True(t, ok)
		assert.Equal(t, c.passes, len(s.Alike) == 1, "%v, %d views: %.0f and %.0f", c.base, c.views, c.best, c.other)
	}
}

// Two pilots' cards of one ship have the same drawing: only their plates tell them, not a difference in evidence that tells other cards.
func TestEvidenceDoesNotTellPilotsOfOneShip(t *testing.T) {
	wedge, pilot, other := small(t, 1, "A1"), small(t, 1, "A2"), small(t, 2, "A3")
	assert.True(t, wedge.sameDrawing(pilot))
	assert.False(t, wedge.sameDrawing(other))
	for _, c := range []struct {
		look   *Look
		passes bool
	}{{pilot, true}, {other, false}} {
		a, b := candidate{look: wedge, agreement: agreement{evidence: 45}}, candidate{look: c.look, agreement: agreement{evidence: 28}}
		assert.Equal(t, c.passes, a.passesFor(&b), c.look.Name)
	}
}

// A search of the whole mat weighs a look where the best one lies, as a search near a hint does: if its own fit fails or slips, and if the
// best one was itself found by a third look.
func TestASearchWeighsALookWhoseFitFails(t *testing.T) {
	looks, at := []*Look{small(t, 1, "A1"), small(t, 1, "A2"), small(t, 2, "A3")}, pose(130, 130, 40)
	d := drawing{table: tableAt(1.02), noise: 1.5, bases: []drawnBase{{base: engine.Small, art: drawnArt(1), pose: at}}}
	f := NewFinder(d.table, &Library{Looks: looks}, calibration.Uncertainty{})
	frame := d.draw(3)
	found := f.fits(frame, looks[0], Hint{Base: engine.Small, Pose: at, Reach: 2, Turn: 5 * geom.Degree})[:1]
	third := candidate{look: looks[2], pose: found[0].pose, agreement: agreement{evidence: othersLeast}}

	kept := sharpHopeless
	defer func() { sharpHopeless = kept }()
	sharpHopeless[1] = math.Inf(1) // no fit succeeds any more
	for _, c := range []struct {
		all   []candidate
		alike map[fitKey][]candidate
	}{{all: found}, {[]candidate{third}, map[fitKey][]candidate{{third.look, third.pose}: found}}} {
		s := &search{f: f, frame: frame, alike: c.alike}
		if s.alike == nil {
			s.alike = map[fitKey][]candidate{}
		}
		if sights := s.believed(c.all); assert.Len(t, sights, 1) {
			assert.Equal(t, []string{"A1", "A2"}, sights[0].Ships())
		}
	}
}

// A person who names the wrong ship is told so if the base clearly shows another ship's card, which may agree with the named one's layout.
func TestAPersonNamesAShipWhoseCardIsNotThere(t *testing.T) {
	library := &Library{}
	for seed, name := range []string{"A1", "A2", "A3"} {
		d := drawing{table: tableAt(1.02), noise: 1.5, bases: quarters(engine.Small, printed(uint64(seed+1)))}
		l, err := Learn(Card{Name: name, Ships: []string{name}, Base: engine.Small}, d.views(uint64(seed+1)))
		require.NoError(t, err)
		library.Looks = append(library.Looks, l)
	}
	named, at := 0, pose(130, 130, 50)
	for i, l := range library.Looks {
		d := drawing{table: tableAt(1.02), noise: 1.5, bases: []drawnBase{{base: engine.Small, art: printed(uint64(i + 1)), pose: at}},
			hides: discOver(at.Add(geom.Point{X: 6, Y: -3}), 11, 0.02)}
		frame := d.draw(uint64(i + 1))
		for _, said := range library.Looks {
			_, ok, err := NewFinder(d.table, library, calibration.Uncertainty{}).Near(frame, Hint{Base: engine.Small, Pose: at, Reach: 3,
				Turn: math.Pi, Ship: said.Name})
			if said == l {
				assert.True(t, ok && err == nil, l.Name)
				continue
			}
			assert.False(t, ok, "%s, taken for %s", l.Name, said.Name)
			if err != nil {
				named++
				assert.Equal(t, &OtherCardError{said.Ships, l.Ships, err.(*OtherCardError).At}, err)
				assert.Contains(t, err.Error(), "mm does not show the card of "+said.Name+", but one most like that of "+l.Name)
			}
		}
	}
	assert.Positive(t, named, "cards that would pass for another")
}
