package calibrate

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/calibration/verify"
	"sightline/engine/geom"
	"sightline/vision"
)

// tagsAt are the three markers of the strip for the mat, moved by so many pixels.
func tagsAt(dx float64) (out []calibration.MarkerSighting) {
	for i := range 3 {
		m := calibration.MarkerSighting{ID: calibration.CheckCardIDs + i}
		for k := range m.Corners {
			m.Corners[k] = geom.Pixel{X: float64(100*i+10*k) + dx, Y: float64(50 * k)}
		}
		out = append(out, m)
	}
	return out
}

func watched(live bool, moves ...float64) (*cardWatch, *bytes.Buffer) {
	var progress bytes.Buffer
	w := &cardWatch{live: live, progress: &progress}
	for i, dx := range moves {
		w.add(vision.Frame{Name: "picture", Captured: time.Unix(int64(i+1), 0)}, tagsAt(dx))
	}
	return w, &progress
}

func TestEveryPictureIsAPlaceUnlessTheCardLiesAsBefore(t *testing.T) {
	w, progress := watched(false, 0, 40, 40.1, 39.9, 0)
	s := w.sightings()
	require.Len(t, s, 3, "the first place, the second in three pictures, and the first again")
	assert.Equal(t, []int{1, 3, 1}, []int{s[0].Frames, s[1].Frames, s[2].Frames})
	assert.InDelta(t, 40, s[1].Tags[0].Corners[0].X, 1e-9, "the mean of the three")
	assert.Contains(t, progress.String(), "the card lies as before (place 2)")
	assert.Equal(t, time.Unix(5, 0), w.last)
}

func TestLiveTheCardCountsOnceItIsAtRest(t *testing.T) {
	w, _ := watched(true, 0, 0, 0, 0)
	assert.Zero(t, w.settled(), "four pictures are too few")
	var progress *bytes.Buffer
	w, progress = watched(true, 0, 0, 0.1, 0, 0, 0, 0, 90, 120, 160, 200, 200, 200, 200, 200, 200, 300)
	assert.Equal(t, 2, w.settled())
	s := w.sightings()
	require.Len(t, s, 2, "not the places on its way, nor the last one")
	assert.InDelta(t, 200, s[1].Tags[0].Corners[0].X, 1e-9)
	assert.Equal(t, stillFrames, s[1].Frames)
	assert.Contains(t, progress.String(), "place 1: 3 of 6 markers; now lay the card elsewhere")
	assert.Contains(t, progress.String(), "place 2:")
}

func TestAPictureWithLessThanTwoMarkersOfTheCardIsLeftOut(t *testing.T) {
	var progress bytes.Buffer
	w := &cardWatch{progress: &progress}
	assert.False(t, w.add(vision.Frame{Name: "a.png"}, tagsAt(0)[:1]))
	assert.False(t, w.add(vision.Frame{Name: "b.png"}, []calibration.MarkerSighting{{ID: 0}, {ID: 1}, {ID: 2}}), "the mat's")
	assert.Empty(t, w.sightings())
	assert.Contains(t, progress.String(), "a.png: 1 of 6 markers of the check card: left out")
}

func TestAMarkerThatOnePictureMissesIsNotAveraged(t *testing.T) {
	p := cardPlace{"a", []verify.Sighting{{Tags: tagsAt(0)}, {Tags: tagsAt(0.4)[:2]}}}
	m := p.mean()
	assert.Equal(t, 1, m.Frames, "the sigma is that of the worst")
	assert.InDelta(t, 0.2, m.Tags[0].Corners[0].X, 1e-9)
	assert.InDelta(t, 200, m.Tags[2].Corners[0].X, 1e-9)
}
