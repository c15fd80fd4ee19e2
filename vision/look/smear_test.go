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

// smeared returns a picture in which everything moved by some pixels to the right, half of them before the middle of the exposure.
func smeared(f vision.Frame, by int) vision.Frame {
	out := f
	w, h := f.Size()
	c := *f.Color
	c.Pix = make([]byte, len(f.Color.Pix))
	for y := range h {
		for x := range w {
			for ch := range channels {
				sum := 0
				for d := -by / 2; d <= by/2; d++ {
					sum += int(f.Color.Pix[channels*(y*w+min(max(x+d, 0), w-1))+ch])
				}
				c.Pix[channels*(y*w+x)+ch] = byte(sum / (by/2*2 + 1))
			}
		}
	}
	out.Color = &c
	return out
}

// Where a picture is smeared, a pose states that it may be off along the smear: the sharp fit takes one end of it for the card, and the
// blurred one its middle. In a sharp picture the two agree.
func TestAPoseInASmearedPictureIsLessCertain(t *testing.T) {
	l := small(t, 1, "A1")
	var off, along, across, sharp float64
	n := 0
	for turn := range 12 {
		at := pose(130, 130, 30*float64(turn)+7)
		d := drawing{table: tableAt(1.02), noise: 1.5, bases: []drawnBase{{base: engine.Small, art: drawnArt(1), pose: at}},
			hides: discOver(at.Add(geom.Point{X: 6, Y: -3}), 12, 0.02)}
		f := NewFinder(d.table, &Library{Looks: []*Look{l}}, calibration.Uncertainty{})
		frame := d.draw(uint64(turn + 1))
		fit := func(by int) (candidate, bool) {
			s, ok := newScan(&f.table, smeared(frame, by), at.Point, l.Z, l.half()*math.Sqrt2+climbReach)
			require.True(t, ok)
			c, ok := s.fit(l, at)
			return c, ok && c.evidence >= evidenceLeast
		}
		c, ok := fit(0)
		require.True(t, ok)
		sharp += c.fit[0] + c.fit[4]
		if c, ok = fit(6); !ok {
			continue
		}
		n++
		off, along, across = off+square(c.pose.X-at.X), along+c.fit[0], across+c.fit[4]
	}
	require.GreaterOrEqual(t, n, 6)
	assert.Less(t, off, 2*square(fitFactor)*along, "mm² off, and stated")
	assert.Greater(t, along, 4*across)
	assert.Less(t, sharp/12, 0.01*along/float64(n), "in sharp pictures")
}
