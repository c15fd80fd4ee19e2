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
// right way, or upside down, is found, and so is one of whose guides nothing is seen, with a doubt.
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
			assert.ErrorContains(t, f.Turned()[0], "A1 at (140, 120) mm does not count: its card seems turned in its base")
			continue
		}
		require.NoError(t, err, "%d quarters", quarters)
		require.True(t, ok, "%d quarters", quarters)
		assert.Less(t, float64(s.Pose.Heading.Distance(at.Heading)), 1*math.Pi/180)
		require.Len(t, found, 1, "%d quarters", quarters)
		assert.Equal(t, quarters == 0, f.Ship(&s, "A1", "").TurnDoubt, "%d quarters: near", quarters)
		assert.Equal(t, quarters == 0, f.Ship(&found[0], "", "?1").TurnDoubt, "%d quarters: from nothing", quarters)
		assert.Empty(t, f.Turned())
	}
}

// A guide counts if it differs from the mat as the frame does; a place without one counts against it, and what is neither hardly counts.
func TestWhatAGuideSays(t *testing.T) {
	for _, c := range []struct {
		d, deviation, expected, least, most float64
	}{
		{-30, 0.5, -30, 2, 5}, {0, 0.5, -30, -5, -2}, // a dark frame on a lighter mat
		{30, 0.5, 30, 2, 5}, {20, 0.5, 30, 2, 5}, // a bright frame
		{0, 20, 30, -1, 1}, {30, 20, 30, -1, 1}, // a mat that varies
		{120, 0.5, -30, -0.5, 0.5}, // a miniature
		{0, 0.5, 0, -2, 0},         // a frame like the mat
	} {
		says := (&guideSide{}).guide(c.d, c.deviation, c.expected)
		assert.GreaterOrEqual(t, says, c.least, "%+v", c)
		assert.LessOrEqual(t, says, c.most, "%+v", c)
		assert.Less(t, math.Abs((&guideSide{out: 0.4}).guide(c.d, c.deviation, c.expected)), math.Abs(says)+0.1, "%+v, aslant", c)
	}
}

// A base whose front is not in the picture is not refused.
func TestGuidesOutsideThePicture(t *testing.T) {
	at := pose(140, 120, 54)
	d := drawing{table: tableAt(1.02), noise: 1, bases: []drawnBase{{base: engine.Small, art: drawnArt(1), pose: at, guides: 1}}}
	f := NewFinder(d.table, &Library{}, calibration.Uncertainty{})
	frame := d.draw(1)
	assert.GreaterOrEqual(t, f.guidesAside(frame, engine.Small, at), guideTurned)
	assert.Zero(t, f.guidesAside(vision.Frame{Gray: frame.Gray}, engine.Small, geom.Pose{Point: geom.Point{X: -500, Y: 120}}))
}

// Guides in front and behind show that a base stands there; a base without any, or with guides at its sides, shows nothing of the kind.
func TestGuidesShowThatABaseStandsThere(t *testing.T) {
	at := pose(140, 120, 54)
	for guides, stands := range []bool{false, false, true} {
		d := drawing{table: tableAt(1.02), noise: 1, bases: []drawnBase{{base: engine.Small, art: drawnArt(1), pose: at, guides: guides}}}
		f := NewFinder(d.table, &Library{}, calibration.Uncertainty{})
		assert.Equal(t, stands, f.standsThere(d.draw(1), engine.Small, at), "guides %d", guides)
	}
}

// A base is refused only where guides are seen at the sides of its card: that none is seen at the front is not enough.
func TestGuidesThatAreSeenNowhereRefuseNoBase(t *testing.T) {
	for _, c := range []struct {
		by     guideOdds // front, right, rear, left
		turned bool
	}{
		{guideOdds{-4, 5, -4, 4}, true},
		{guideOdds{-4, 5, -4, -3}, true},
		{guideOdds{-4.8, 0.7, -4.1, -5.1}, false},
		{guideOdds{4, -5, 4, -5}, false},
		{guideOdds{0, 2, 0, 1}, false},
	} {
		assert.Equal(t, c.turned, c.by.turned(), "%.1f", c.by)
	}
}
