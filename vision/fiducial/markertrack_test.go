package fiducial

import (
	"image"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"

	"sightline/calibration"
	"sightline/engine/geom"
)

var trackedCorners = [4]geom.Pixel{{X: 30.3, Y: 28.7}, {X: 76.1, Y: 31.2}, {X: 74.4, Y: 77.6}, {X: 28.9, Y: 74.8}}

// shifted returns corners moved by (dx, dy).
func shifted(c [4]geom.Pixel, dx, dy float64) [4]geom.Pixel {
	for i := range c {
		c[i] = c[i].Add(geom.Pixel{X: dx, Y: dy})
	}
	return c
}

func tracked(g *image.Gray, id int, corners [4]geom.Pixel) (calibration.MarkerSighting, bool) {
	seen := TrackMarkers(g, []calibration.MarkerSighting{{ID: id, Corners: corners}})
	if len(seen) == 0 {
		return calibration.MarkerSighting{}, false
	}
	return seen[0], true
}

func TestATrackedMarkerIsFoundWithinTwoPixels(t *testing.T) {
	g := drawTag(t, 3, 110, 110, trackedCorners, func(v float64) float64 { return v })
	rng := rand.New(rand.NewPCG(1, 1))
	for range 30 {
		angle, far := 2*math.Pi*rng.Float64(), 1.8*rng.Float64()
		s, ok := tracked(g, 3, shifted(trackedCorners, far*math.Cos(angle), far*math.Sin(angle)))
		if assert.True(t, ok, "%.2f px off", far) {
			for i := range s.Corners {
				assert.InDelta(t, 0, s.Corners[i].Sub(trackedCorners[i]).Norm(), 0.1, "%.2f px off", far)
			}
		}
	}
	_, ok := tracked(g, 3, shifted(trackedCorners, 12, 0))
	assert.False(t, ok, "it is not where it is expected")
}

func TestAnotherMarkerInItsPlaceIsNotSeen(t *testing.T) {
	for _, id := range []int{0, 6} {
		g := drawTag(t, id, 110, 110, trackedCorners, func(v float64) float64 { return v })
		for other := range 8 {
			_, ok := tracked(g, other, trackedCorners)
			assert.Equal(t, id == other, ok, "%d in the place of %d", id, other)
		}
		turned := [4]geom.Pixel{trackedCorners[1], trackedCorners[2], trackedCorners[3], trackedCorners[0]}
		_, ok := tracked(g, id, turned)
		assert.False(t, ok, "%d was turned round", id)
	}
}

func TestACoveredMarkerIsNotSeenAndACrumbDoesNoHarm(t *testing.T) {
	levels := []uint8{20, 220}
	if testing.Short() {
		levels = levels[:1]
	}
	for share, want := range map[float64]bool{0.03: true, 0.4: false, 0.6: false, 1: false} {
		for _, level := range levels {
			g := drawTag(t, 5, 110, 110, trackedCorners, func(v float64) float64 { return v })
			for y := range 110 {
				for x := range 110 {
					if float64(y) > 28+50*(1-share) && (share > 0.1 || x > 60 && x < 70) {
						g.Pix[y*g.Stride+x] = level
					}
				}
			}
			s, ok := tracked(g, 5, trackedCorners)
			assert.Equal(t, want, ok, "%.0f %% under a hand of level %d", 100*share, level)
			if ok {
				for i := range s.Corners {
					assert.InDelta(t, 0, s.Corners[i].Sub(trackedCorners[i]).Norm(), 0.15)
				}
			}
		}
	}
}

func TestTrackingSurvivesAnyExpectation(t *testing.T) {
	g := drawTag(t, 3, 110, 110, trackedCorners, func(v float64) float64 { return v })
	for _, c := range [][4]geom.Pixel{
		{}, shifted(trackedCorners, math.NaN(), 0), shifted(trackedCorners, math.Inf(1), 0), shifted(trackedCorners, 1e9, -1e9),
		{trackedCorners[0], trackedCorners[0], trackedCorners[2], trackedCorners[3]}, shifted(trackedCorners, -40, 0),
	} {
		_, ok := tracked(g, 3, c)
		assert.False(t, ok, "%v", c)
	}
	assert.Empty(t, TrackMarkers(g, []calibration.MarkerSighting{{ID: -1, Corners: trackedCorners}, {ID: 100000, Corners: trackedCorners}}))
	assert.Empty(t, TrackMarkers(nil, []calibration.MarkerSighting{{ID: 3, Corners: trackedCorners}}))
	assert.Empty(t, TrackMarkers(g, nil))
}
