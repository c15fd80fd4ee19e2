package gray

import (
	"image"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestFloodTurnsSmallParts(t *testing.T) {
	const w, h = 12, 10
	mask := make([]bool, w*h)
	fill := func(r image.Rectangle, v bool) {
		for y := r.Min.Y; y < r.Max.Y; y++ {
			for x := r.Min.X; x < r.Max.X; x++ {
				mask[y*w+x] = v
			}
		}
	}
	fill(image.Rect(1, 1, 7, 7), true)
	fill(image.Rect(3, 3, 5, 5), false) // a hole of four cells
	fill(image.Rect(9, 1, 11, 3), true) // a speck of four cells
	Flood(mask, w, h, false, 5)
	assert.True(t, mask[3*w+3], "the hole is filled")
	assert.False(t, mask[0], "what is round it stays")
	Flood(mask, w, h, true, 5)
	assert.False(t, mask[1*w+9], "the speck is gone")
	assert.True(t, mask[1*w+1], "the large part stays")
}
