package look

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
)

// A card that lies a quarter turn off in its base is refused where the guides show it, near a hint and from nothing. A card that lies the
// right way, or upside down, is found, and so is one of whose guides nothing is seen.
func TestACardThatLiesAQuarterTurnOff(t *testing.T) {
	l := small(t, 1, "A1")
	for quarters, turned := range []bool{false, true, false, true, false} {
		at := pose(140, 120, 54)
		d := drawing{table: tableAt(1.02), noise: 1, bases: []drawnBase{{base: engine.Small, art: drawnArt(1), pose: at, guides: quarters}}}
		frame := d.draw(1)
		f := NewFinder(d.table, &Library{Looks: []*Look{l}}, calibration.Uncertainty{})

		s, ok, err := f.Near(frame, Hint{Base: engine.Small, Pose: pose(141, 119, 0), Reach: 5, Turn: math.Pi})
		found := f.Search(frame, nil, nil)
		if turned {
			var wrong *TurnedError
			require.ErrorAs(t, err, &wrong, "%d quarters", quarters)
			assert.Equal(t, "A1", wrong.Card)
			assert.False(t, ok)
			assert.Empty(t, found, "%d quarters", quarters)
			require.Len(t, f.Turned(), 1, "%d quarters", quarters)
			assert.ErrorContains(t, f.Turned()[0], "the card of A1 at (140, 120) lies a quarter turn off in its base")
			continue
		}
		require.NoError(t, err, "%d quarters", quarters)
		require.True(t, ok, "%d quarters", quarters)
		assert.Less(t, float64(s.Pose.Heading.Distance(at.Heading)), 1*math.Pi/180)
		assert.Len(t, found, 1, "%d quarters", quarters)
		assert.Empty(t, f.Turned())
	}
}

// Guides count at a side only where both differ alike from what is beside them.
func TestGuidesOn(t *testing.T) {
	side := func(left, right, noise float64) (out []float64) {
		for i := range 70 {
			along := math.Abs(float64(i)*guideStep - 17.25)
			v := 30 + noise*math.Sin(float64(i*i))
			if along > float64(engine.GuideInner) && along < float64(engine.GuideOuter) {
				if v += right; i < 35 {
					v += left - right
				}
			}
			out = append(out, v)
		}
		return out
	}
	for _, c := range []struct {
		left, right, noise float64
		seen               bool
	}{
		{20, 20, 2, true}, {-20, -15, 2, true},
		{20, 0, 2, false}, {20, -20, 2, false}, {3, 3, 0, false}, {0, 0, 10, false}, {20, 20, 40, false},
	} {
		correlation, depth := guidesOn(side(c.left, c.right, c.noise))
		assert.Equal(t, c.seen, correlation >= guidesSeen && depth >= guideDepth, "%+v: %.2f, %.1f", c, correlation, depth)
	}
}

// A base whose front is not in the picture is not refused.
func TestGuidesOutsideThePicture(t *testing.T) {
	at := pose(140, 120, 54)
	d := drawing{table: tableAt(1.02), noise: 1, bases: []drawnBase{{base: engine.Small, art: drawnArt(1), pose: at, guides: 1}}}
	f := NewFinder(d.table, &Library{}, calibration.Uncertainty{})
	frame := d.draw(1)
	assert.True(t, f.turned(frame, engine.Small, at))
	assert.False(t, f.turned(vision.Frame{Gray: frame.Gray}, engine.Small, geom.Pose{Point: geom.Point{X: -500, Y: 120}}))
}
