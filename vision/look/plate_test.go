package look

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/engine"
	"sightline/engine/geom"
)

// plated is a card with a plate along its rear edge on which a name stands, as bars 0.4 mm wide.
func plated(a art, seed uint64) art {
	rng := rand.New(rand.NewPCG(seed, 11))
	var bars [40]bool
	for i := range bars {
		bars[i] = rng.Float64() < 0.5
	}
	return func(u, v float64) [3]float64 {
		switch {
		case v > -13.4 || v < -17.8:
			return a(u, v)
		case math.Abs(u) < 8 && v > -16.6 && v < -14.6 && bars[int((u+8)/0.4)]:
			return [3]float64{0.8, 0.8, 0.8}
		}
		return [3]float64{0.01, 0.01, 0.01}
	}
}

// learnt learns the look of a small base with a card.
func learnt(t *testing.T, scale float64, a art, name string) *Look {
	t.Helper()
	d := drawing{table: tableAt(scale), bases: quarters(engine.Small, a), noise: 1}
	l, err := Learn(Card{Name: name, Ships: []string{name}, Base: engine.Small}, d.views(1))
	require.NoError(t, err)
	return l
}

// The name of another pilot on the same drawing is not taken for the one that was shown; of two that were shown the plate says which it
// is. A covered plate says nothing.
func TestThePlateTellsPilots(t *testing.T) {
	at := pose(130, 130, 40)
	for _, scale := range [...]float64{1.02, 2.04} {
		a1, a2 := learnt(t, scale, plated(drawnArt(1), 1), "A1"), learnt(t, scale, plated(drawnArt(1), 2), "A2")
		see := func(seed uint64, looks []*Look, hides func(geom.Point) (bool, float64)) Sight {
			d := drawing{table: tableAt(scale), noise: 1.5, light: [3]float64{0.7, 0.8, 0.9}, hides: hides,
				bases: []drawnBase{{base: engine.Small, art: plated(drawnArt(1), seed), pose: at}}}
			f := NewFinder(d.table, &Library{Looks: looks}, calibration.Uncertainty{})
			s, ok, err := f.Near(d.draw(7), Hint{Base: engine.Small, Pose: at, Reach: 3, Turn: math.Pi})
			require.NoError(t, err)
			require.True(t, ok)
			return s
		}
		one := []*Look{a1}
		assert.Equal(t, PlateAgrees, see(1, one, nil).Plate, "%.2f px/mm", scale)
		for seed := uint64(2); seed < 4; seed++ {
			s := see(seed, one, nil)
			assert.NotEqual(t, PlateAgrees, s.Plate, "%.2f px/mm: another name", scale)
			assert.False(t, s.Named())
		}
		if scale < 2 {
			continue // too small to read
		}
		covered := discOver(at.Transform(geom.Point{Y: -16}), 9, 0.3)
		assert.Equal(t, PlateUnread, see(1, one, covered).Plate)

		both := []*Look{a1, a2}
		for seed, want := range map[uint64]*Look{1: a1, 2: a2} {
			s := see(seed, both, nil)
			assert.Equal(t, want, s.Look)
			assert.Empty(t, s.Alike)
		}
		hidden := see(1, both, covered)
		assert.Equal(t, []string{"A1", "A2"}, hidden.Ships())
		copies := []*Look{a1, learnt(t, scale, plated(drawnArt(1), 1), "A3")}
		s := see(1, copies, nil)
		assert.Equal(t, []string{"A1", "A3"}, s.Ships(), "the same card")
	}
}

// A ship that was never shown gets no name, though its card shows the same drawing and a miniature covers its plate, while a ship that
// was shown is not on the table: fewer bases than ships say nothing of which they are. As many do.
func TestAShipThatWasNotShownGetsNoName(t *testing.T) {
	const scale = 1.02
	a1, b1 := learnt(t, scale, plated(drawnArt(1), 1), "A1"), learnt(t, scale, plated(drawnArt(2), 1), "B1")
	b2 := learnt(t, scale, plated(drawnArt(3), 1), "B2")
	foreign, other := pose(80, 80, 40), pose(190, 180, 200)
	d := drawing{table: tableAt(scale), noise: 1, matted: true,
		bases: []drawnBase{
			{base: engine.Small, art: plated(drawnArt(1), 5), pose: foreign},
			{base: engine.Small, art: plated(drawnArt(2), 1), pose: other},
		}}
	plate := func(p geom.Pose) func(geom.Point) (bool, float64) {
		return discOver(p.Transform(geom.Point{Y: -16}), 9, 0.3)
	}
	a, b := plate(foreign), plate(other)
	d.hides = func(p geom.Point) (bool, float64) {
		if hidden, v := a(p); hidden {
			return hidden, v
		}
		return b(p)
	}
	lies := func(p geom.Point) bool { return p.Distance(foreign.Point) < 30 || p.Distance(other.Point) < 30 }
	for _, c := range []struct {
		name  string
		looks []*Look
		want  map[string][]string
	}{
		{"one of three is missing", []*Look{a1, b1, b2}, map[string][]string{"?1": {"A1"}, "?2": {"B1"}}},
		{"as many as were shown", []*Look{a1, b1}, map[string][]string{"A1": nil, "B1": nil}}, // no one can see that A1's plate is another
	} {
		f := NewFinder(d.table, &Library{Looks: c.looks}, calibration.Uncertainty{})
		got := map[string][]string{}
		for _, s := range f.Search(d.draw(3), lies, nil) {
			unnamed := "?1"
			if s.Look == b1 {
				unnamed = "?2"
			}
			require.GreaterOrEqual(t, s.Evidence, nameLeast, c.name)
			require.Equal(t, PlateUnread, s.Plate, c.name)
			ship := f.Ship(&s, "", unnamed)
			got[ship.ID] = ship.NameDoubt
			if ship.ID == unnamed {
				assert.Zero(t, ship.Player, c.name)
			}
		}
		assert.Equal(t, c.want, got, c.name)
	}
}
