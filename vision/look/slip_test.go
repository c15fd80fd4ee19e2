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

// Of a card that lies askew in its base, the heading's error covers the difference, near a hint and from nothing. That of a card which lies
// straight stays as it is.
func TestACardThatLiesAskew(t *testing.T) {
	looks := &Library{Looks: []*Look{small(t, 1, "A1")}}
	for _, turn := range []geom.Angle{0, 0.3 * geom.Degree, 2 * geom.Degree, -3 * geom.Degree} {
		at := pose(140, 120, 54)
		d := drawing{table: tableAt(1.02), noise: 1, bases: []drawnBase{
			{base: engine.Small, art: drawnArt(1), pose: at, slip: geom.Pose{Heading: turn}, guides: 2}}}
		frame := d.draw(1)
		f := NewFinder(d.table, looks, calibration.Uncertainty{})
		s, ok, err := f.Near(frame, Hint{Base: engine.Small, Pose: pose(141, 119, 54), Reach: 5, Turn: math.Pi})
		require.NoError(t, err)
		require.True(t, ok, "%v", turn)
		found := f.Search(frame, nil, nil)
		require.Len(t, found, 1, "%v", turn)
		for _, s := range []Sight{s, found[0]} {
			sigma := math.Sqrt(f.Ship(&s, "A1", "").Covariance[8])
			off := s.Pose.Heading.Distance(at.Heading)
			assert.InDelta(t, math.Abs(float64(turn)), float64(off), 0.3*math.Pi/180, "%v: the pose is the card's", turn)
			assert.Less(t, float64(off), 2*sigma, "%v", turn)
			if math.Abs(float64(turn)) < float64(geom.Degree) {
				assert.Zero(t, s.Slip, "%v", turn)
				continue
			}
			assert.InDelta(t, float64(turn), float64(s.Slip), 0.6*math.Pi/180)
		}
	}
}
