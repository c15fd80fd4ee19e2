package vision

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/engine"
	"sightline/engine/geom"
)

// bareBase is a base whose code is not read.
func bareBase(base engine.Base, x, y float64, heading geom.Angle, visible float64) UnnamedBase {
	return UnnamedBase{
		Base: base, Pose: geom.Pose{Point: geom.Point{X: x, Y: y}, Heading: heading}, Covariance: geom.Cov3{0: 0.08, 4: 0.08, 8: 1e-5},
		Sight: EdgeSight{Sides: [4]float64{visible, visible, visible, visible}, Fit: geom.Cov3{0: 0.01, 4: 0.01, 8: 1e-6}},
	}
}

func TestTheThirdLargestStepOfOneSignCounts(t *testing.T) {
	for _, c := range []struct {
		steps [4]float64
		want  float64
	}{
		{[4]float64{9, 8, 7, 6}, 7},
		{[4]float64{9, 8, 7, -40}, 7}, // a miniature over one of them
		{[4]float64{-9, -8, -7, 40}, 7},
		{[4]float64{9, 8, -7, -6}, 0}, // no three of one sign
		{[4]float64{}, 0},
	} {
		assert.LessOrEqual(t, third(c.steps), c.want, "%v", c.steps)
		if c.want > 0 {
			assert.Equal(t, c.want, third(c.steps), "%v", c.steps)
		}
	}
}

func TestTwoSquaresThatFitAlikeAreNone(t *testing.T) {
	small := bareBase(engine.Small, 300, 300, 0, 0.9)
	for name, c := range map[string]struct {
		all  []UnnamedBase
		want int
	}{
		"one":                       {[]UnnamedBase{small}, 1},
		"one found twice":           {[]UnnamedBase{small, bareBase(engine.Small, 300.4, 300, 0.01, 0.9)}, 1},
		"two places as good":        {[]UnnamedBase{small, bareBase(engine.Small, 306, 300, 0, 0.85)}, 0},
		"one place clearly better":  {[]UnnamedBase{small, bareBase(engine.Small, 306, 300, 0, 0.6)}, 1},
		"two sizes":                 {[]UnnamedBase{small, bareBase(engine.Medium, 304, 300, 0, 0.6)}, 0},
		"two bases beside another":  {[]UnnamedBase{small, bareBase(engine.Small, 341, 300, 0, 0.9)}, 2},
		"turned by a quarter turn":  {[]UnnamedBase{small, bareBase(engine.Small, 300, 300, 90*geom.Degree, 0.9)}, 1},
		"turned by less than half ": {[]UnnamedBase{small, bareBase(engine.Small, 300, 300, 20*geom.Degree, 0.9)}, 0},
	} {
		assert.Len(t, alone(c.all), c.want, name)
	}
}

func TestUnnamedBasesKeepTheirNumbers(t *testing.T) {
	tracker, at := NewTracker(TrackerOptions{}), time.Unix(1000, 0)
	see := func(ships []engine.Ship, bases ...UnnamedBase) Tracked {
		at = at.Add(200 * time.Millisecond)
		l := Located{Captured: at, Obstacles: &ObstacleSight{Bases: bases}}
		for _, s := range ships {
			l.Scene.Ships, l.Ships = append(l.Scene.Ships, s), append(l.Ships, ShipView{ID: s.ID, Fit: geom.Cov3{0: 0.01, 4: 0.01, 8: 1e-6}})
		}
		return tracker.See(l, nil)
	}
	ids := func(t Tracked) (out []string) {
		for _, s := range t.Scene.Ships {
			out = append(out, s.ID)
		}
		return out
	}
	left, right := bareBase(engine.Small, 200, 300, 0, 0.9), bareBase(engine.Large, 600, 300, 0, 0.9)
	assert.Equal(t, []string{"?1", "?2"}, ids(see(nil, left, right)))
	got := see(nil, right)
	assert.Equal(t, []string{"?2"}, ids(got), "the other was taken away")
	assert.True(t, got.AtRest())
	rested := tracker.Rest(at.Add(time.Second), 7)
	require.Len(t, rested.Tracks, 1)
	assert.Equal(t, at.Add(time.Second), rested.Tracks[0].Captured)
	at = at.Add(time.Second)
	assert.Equal(t, []string{"?1", "?2"}, ids(see(nil, right, left)), "the lowest number that is free")

	// A ship whose code is read where a base without a name stood is that base.
	a1 := engine.Ship{ID: "A1", Player: 1, Base: engine.Small, Pose: geom.Pose{Point: geom.Point{X: 201, Y: 300}}, Seen: "both"}
	for range 6 {
		got = see([]engine.Ship{a1}, left, right)
	}
	assert.Equal(t, []string{"?2", "A1"}, ids(got))
	assert.Len(t, got.Ships, 2)
	assert.Len(t, got.Standing().Ships, 2)

	// What the table shows to several cameras is put together by names.
	unnamed := got.TakeUnnamed()
	assert.Equal(t, []string{"A1"}, ids(got))
	got.GiveUnnamed(unnamed)
	assert.Equal(t, []string{"?2", "A1"}, ids(got))
	unnamed = got.TakeUnnamed()
	got.Tracks = append(got.Tracks, Track{Ship: engine.Ship{ID: "B1", Base: engine.Large, Pose: right.Pose}, State: Still})
	got.GiveUnnamed(unnamed)
	assert.Equal(t, []string{"A1", "B1"}, ids(got), "another camera reads its code")
}
