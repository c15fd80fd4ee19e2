package tablesim_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/locate"
	"sightline/vision/tablesim"
	"sightline/vision/token"
)

// wornTable is a random table whose tokens all wear the same way, at their true heights.
func wornTable(seed uint64, wear tablesim.Wear) *tablesim.Table {
	t := tablesim.RandomTable(seed, 1920, 1080)
	t.Heights, t.Worn = nil, map[string]tablesim.Wear{}
	for _, s := range t.Scene.Ships {
		t.Worn[s.ID] = wear
	}
	return t
}

func edgesOf(t *testing.T, table *tablesim.Table) (*locate.Locator, vision.Frame, tablesim.Truth) {
	t.Helper()
	f, truth, err := table.Render()
	require.NoError(t, err)
	l, err := locate.New(calibration.Table{Camera: table.Camera, Layout: table.Layout}, locate.Options{})
	require.NoError(t, err)
	return l, f, truth
}

// nudged is a hint that is off by up to reach and turn.
func nudged(r *rand.Rand, s tablesim.ShipTruth, reach geom.Length, turn geom.Angle) vision.EdgeHint {
	u := func() float64 { return 2*r.Float64() - 1 }
	p := s.Pose
	p.X, p.Y, p.Heading = p.X+u()*float64(reach)/1.5, p.Y+u()*float64(reach)/1.5, p.Heading+geom.Angle(u())*turn
	return vision.EdgeHint{Base: s.Base, Pose: p, Reach: reach, Turn: turn}
}

// TestEdgesGiveThePoseOfABaseWhoseCodeIsWornOff: from a few millimetres and degrees off, as
// where it was last, the place comes out to within what is stated, or nothing does.
func TestEdgesGiveThePoseOfABaseWhoseCodeIsWornOff(t *testing.T) {
	for wear, name := range map[tablesim.Wear]string{tablesim.WearCells: "cells worn off", tablesim.WearBleach: "rim bleached"} {
		r := rand.New(rand.NewPCG(1, uint64(wear)))
		l, f, truth := edgesOf(t, wornTable(30000, wear))
		read, err := l.Locate(f)
		require.NoError(t, err)
		require.Empty(t, read.Scene.Ships, "%s: no code can be read", name)
		found := 0
		for _, s := range truth.Ships {
			e, ok, err := l.Edges(f, nudged(r, s, 3, 8*geom.Degree))
			require.NoError(t, err)
			if !ok {
				continue
			}
			found++
			d, turn := e.Pose.Sub(s.Pose.Point), float64((e.Pose.Heading - s.Pose.Heading).Signed())
			assert.Less(t, math.Abs(d.X)/math.Sqrt(e.Covariance[0]), 4.0, "%s %s: %v", name, s.ID, d)
			assert.Less(t, math.Abs(d.Y)/math.Sqrt(e.Covariance[4]), 4.0, "%s %s: %v", name, s.ID, d)
			assert.Less(t, math.Abs(turn)/math.Sqrt(e.Covariance[8]), 4.0, "%s %s: %.3f°", name, s.ID, turn*180/math.Pi)
		}
		assert.Greater(t, float64(found), 0.6*float64(len(truth.Ships)), name)
	}
}

// The edges of a base out of the publisher's box may be its plastic's, its frame's or its card's, of each side another's:
// its place is stated to no better than that. With the sigma of one of our tokens, which is what is stated of
// a base whose code was read before, some of these places would be beyond four sigmas: that shows that the simulator
// tempts.
func TestEdgesOfAStockBaseAreStatedAsWideAsTheyMayBeOff(t *testing.T) {
	if testing.Short() {
		t.Skip("it draws and searches many pictures: run without -short")
	}
	r := rand.New(rand.NewPCG(1, 10))
	found, tempted := 0, 0
	for i, plastic := range []tablesim.Plastic{tablesim.PlasticBlack, tablesim.PlasticBlack, tablesim.PlasticWhite, tablesim.PlasticWhite} {
		seed := uint64(31001 + i)
		table := tablesim.RandomTable(seed, 3840, 2160)
		table.Heights, table.Worn, table.Look.Plastic = nil, map[string]tablesim.Wear{}, plastic
		for _, s := range table.Scene.Ships {
			table.Worn[s.ID] = tablesim.WearStock
		}
		l, f, truth := edgesOf(t, table)
		for _, s := range truth.Ships {
			h := nudged(r, s, 3, 4.5*geom.Degree) // by up to 2 mm and 3° off
			e, ok, err := l.Edges(f, h)
			require.NoError(t, err)
			if ok {
				found++
				assert.False(t, e.Ours, "%d %s: its card taken for ours", seed, s.ID)
				assert.Less(t, sigmasOff(e, s), 4.0, "%d %s", seed, s.ID)
			}
			h.Read = true
			if e, ok, _ := l.Edges(f, h); ok && sigmasOff(e, s) > 4 {
				tempted++
			}
		}
	}
	assert.GreaterOrEqual(t, found, 3, "bases found")
	assert.GreaterOrEqual(t, tempted, 3, "bases that would be believed far off, were they taken for ours")
}

// sigmasOff is the largest error of a pose over its stated sigma.
func sigmasOff(e vision.EdgeSight, s tablesim.ShipTruth) (worst float64) {
	d := e.Pose.Sub(s.Pose.Point)
	quarter := math.Pi / 2
	turn := math.Remainder(float64(e.Pose.Heading-s.Pose.Heading), quarter)
	for i, v := range [3]float64{d.X, d.Y, turn} {
		worst = max(worst, math.Abs(v)/math.Sqrt(e.Covariance[4*i]))
	}
	return worst
}

// Our tokens are known by the white along their edge also where no code was ever read, but not where a miniature's
// shadow or a hand lies over it, nor where it is a line as narrow as a pixel: there the place is stated as a stock base's.
func TestOurTokensAreKnownByTheirWhiteLine(t *testing.T) {
	for wear, ours := range map[tablesim.Wear]bool{tablesim.WearBleach: true, tablesim.WearPanel: false} {
		l, f, truth := edgesOf(t, wornTable(30000, wear))
		found, known := 0, 0
		for _, s := range truth.Ships {
			e, ok, err := l.Edges(f, vision.EdgeHint{Base: s.Base, Pose: s.Pose, Reach: 3, Turn: 8 * geom.Degree})
			require.NoError(t, err)
			if !ok {
				continue
			}
			found++
			if e.Ours {
				known++
				assert.Less(t, math.Sqrt(e.Covariance[0]), 0.4, "%s", s.ID)
			} else {
				assert.Greater(t, math.Sqrt(e.Covariance[0]), 0.8, "%s", s.ID)
			}
		}
		if ours {
			assert.GreaterOrEqual(t, known, found*3/4, "wear %d: known of %d", wear, found)
		} else {
			assert.Zero(t, known, "a grey card is none of ours")
		}
		assert.Greater(t, found, 4)
	}
}

// A huge base's edges give its pose up to a half turn: of the two headings the one nearer to the hint's,
// whichever way it was turned.
func TestEdgesOfAHugeBaseKnowItsHeadingToAHalfTurn(t *testing.T) {
	table := tablesim.RandomTableWithHuge(30003, 1920, 1080, 2)
	table.Heights, table.Worn, table.Minis = nil, map[string]tablesim.Wear{}, nil
	for _, s := range table.Scene.Ships {
		table.Worn[s.ID] = tablesim.WearCells
	}
	l, f, truth := edgesOf(t, table)
	r := rand.New(rand.NewPCG(1, 9))
	huge := 0
	for _, s := range truth.Ships {
		if token.Square(s.Base) {
			continue
		}
		huge++
		for _, round := range []geom.Angle{0, 180 * geom.Degree} {
			h := nudged(r, s, 3, 8*geom.Degree)
			h.Pose.Heading = (h.Pose.Heading + round).Normalized()
			e, ok, err := l.Edges(f, h)
			require.NoError(t, err)
			if !assert.True(t, ok, "%s %v", s.ID, s.Base) {
				continue
			}
			d, turn := e.Pose.Sub(s.Pose.Point), float64((e.Pose.Heading - s.Pose.Heading - round).Signed())
			assert.Less(t, math.Abs(d.X)/math.Sqrt(e.Covariance[0]), 4.0, "%s: %v", s.ID, d)
			assert.Less(t, math.Abs(d.Y)/math.Sqrt(e.Covariance[4]), 4.0, "%s: %v", s.ID, d)
			assert.Less(t, math.Abs(turn)/math.Sqrt(e.Covariance[8]), 4.0, "%s: %.3f°", s.ID, turn*180/math.Pi)
			assert.Greater(t, e.Visible(), 0.7)
		}
		// A quarter turn off is no heading of its.
		h := vision.EdgeHint{Base: s.Base, Pose: s.Pose, Reach: 3, Turn: 8 * geom.Degree}
		h.Pose.Heading = (h.Pose.Heading + 90*geom.Degree).Normalized()
		_, ok, err := l.Edges(f, h)
		require.NoError(t, err)
		assert.False(t, ok, "%s", s.ID)
		// Nor is it a large base, nor the other huge one.
		for _, b := range token.Bases[2:] {
			if b != s.Base {
				_, ok, err := l.Edges(f, vision.EdgeHint{Base: b, Pose: s.Pose, Reach: 3, Turn: 8 * geom.Degree})
				require.NoError(t, err)
				assert.False(t, ok, "%s taken for a %v base", s.ID, b)
			}
		}
	}
	assert.Equal(t, 2, huge)
}

// Huge ships are read under their long miniatures, whatever else stands on the table.
func TestHugeShipsAreReadUnderTheirMiniatures(t *testing.T) {
	l, f, truth := edgesOf(t, tablesim.RandomTableWithHuge(70000, 1920, 1080, 2))
	got, err := l.Locate(f)
	require.NoError(t, err)
	for _, base := range []engine.Base{engine.Huge195, engine.Huge225} {
		n := 0
		for i, s := range got.Scene.Ships {
			if s.Base != base {
				continue
			}
			n++
			want, ok := truth.Ship(s.ID)
			require.True(t, ok)
			assert.Equal(t, base, want.Base)
			assert.Less(t, float64(want.Pose.Distance(s.Pose.Point)), 0.5, "%s", s.ID)
			for k, c := range got.Ships[i].Outline {
				assert.Less(t, c.Sub(want.Corners[k]).Norm(), 1.0, "%s: corner %d", s.ID, k)
			}
		}
		assert.Equal(t, 1, n, "%v", base)
	}
}

func TestEdgesAreNotFoundWhereNoBaseStands(t *testing.T) {
	table := wornTable(30001, tablesim.WearCells)
	ships := table.Scene.Ships
	table.Scene.Ships, table.Minis = nil, nil
	l, f, _ := edgesOf(t, table)
	for _, s := range ships {
		_, ok, err := l.Edges(f, vision.EdgeHint{Base: s.Base, Pose: s.Pose, Reach: 10, Turn: math.Pi})
		require.NoError(t, err)
		assert.False(t, ok, "a %v base at %v", s.Base, s.Pose)
	}
}

// A base is not taken for one of another size.
func TestEdgesKnowTheSize(t *testing.T) {
	l, f, truth := edgesOf(t, wornTable(30002, tablesim.WearBleach))
	for _, s := range truth.Ships {
		for _, b := range []engine.Base{engine.Small, engine.Medium, engine.Large} {
			if b != s.Base {
				_, ok, err := l.Edges(f, vision.EdgeHint{Base: b, Pose: s.Pose, Reach: 6, Turn: math.Pi})
				require.NoError(t, err)
				assert.False(t, ok, "%s: a %v base taken for a %v one", s.ID, s.Base, b)
			}
		}
	}
}

func TestInvalidEdgeHintsAreRefused(t *testing.T) {
	l, f, _ := edgesOf(t, wornTable(30000, tablesim.WearCells))
	at := geom.Pose{Point: geom.Point{X: 400, Y: 400}}
	for name, h := range map[string]vision.EdgeHint{
		"no base":  {Pose: at},
		"too far":  {Base: engine.Small, Pose: at, Reach: 100},
		"no place": {Base: engine.Small, Pose: geom.Pose{Point: geom.Point{X: math.NaN()}}},
		"no turn":  {Base: engine.Small, Pose: at, Turn: geom.Angle(math.NaN())},
	} {
		_, _, err := l.Edges(f, h)
		assert.Error(t, err, name)
	}
	_, ok, err := l.Edges(f, vision.EdgeHint{Base: engine.Small, Pose: geom.Pose{Point: geom.Point{X: 1e6}}})
	assert.NoError(t, err)
	assert.False(t, ok, "far outside the picture")
}
