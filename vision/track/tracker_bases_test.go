package track

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/internal/visiontest"
)

func TestUnnamedBasesKeepTheirNumbers(t *testing.T) {
	tracker, at := NewTracker(TrackerOptions{}), time.Unix(1000, 0)
	see := func(ships []engine.Ship, bases ...vision.UnidentifiedBase) vision.Tracked {
		at = at.Add(200 * time.Millisecond)
		l := vision.Located{Captured: at, Obstacles: &vision.ObstacleSight{Bases: bases}}
		for _, s := range ships {
			l.Scene.Ships, l.Ships = append(l.Scene.Ships, s), append(l.Ships, vision.ShipView{ID: s.ID, Fit: geom.Cov3{0: 0.01, 4: 0.01, 8: 1e-6}})
		}
		return tracker.Update(l, nil, nil)
	}
	ids := func(t vision.Tracked) (out []string) {
		for _, s := range t.Scene.Ships {
			out = append(out, s.ID)
		}
		return out
	}
	left, right := visiontest.BareBase(engine.Small, 200, 300, 0, 0.9), visiontest.BareBase(engine.Large, 600, 300, 0, 0.9)
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
	unnamed := got.TakeUnidentified()
	assert.Equal(t, []string{"A1"}, ids(got))
	got.GiveUnidentified(unnamed)
	assert.Equal(t, []string{"?2", "A1"}, ids(got))
	unnamed = got.TakeUnidentified()
	got.Tracks = append(got.Tracks, vision.Track{Ship: engine.Ship{ID: "B1", Base: engine.Large, Pose: right.Pose}, State: vision.Still})
	got.GiveUnidentified(unnamed)
	assert.Equal(t, []string{"A1", "B1"}, ids(got), "another camera reads its code")
}
