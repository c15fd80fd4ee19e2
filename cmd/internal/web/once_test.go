package web

import (
	"image"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/live"
	"sightline/vision"
)

// However many look, a picture is encoded once, and what is grey is not copied for it.
func TestAPictureIsEncodedOnceForAllWhoLook(t *testing.T) {
	gray := image.NewGray(image.Rect(0, 0, 320, 180))
	state := live.State{Frame: vision.Frame{Gray: gray, Seq: 7}}
	p := pictures{now: func() time.Time { return time.Unix(0, 0) }}
	first, err := p.encode(&state)
	require.NoError(t, err)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			again, err := p.encode(&state)
			assert.NoError(t, err)
			assert.Same(t, &first[0], &again[0], "it was encoded again")
		})
	}
	all.Wait()
	part := small(state.Frame, image.Rect(20, 10, 300, 170)).(*image.Gray)
	assert.Same(t, &gray.Pix[gray.PixOffset(20, 10)], &part.Pix[0], "a part of the picture is the picture's own memory")

	var c camera
	c.width = 320
	encoded, sent := 0, 0
	for range 5 {
		if _, fresh := c.once("7", func() image.Image { encoded++; return gray }); fresh {
			sent++
		}
	}
	assert.Equal(t, [2]int{1, 1}, [2]int{encoded, sent}, "a moving picture is made once for each frame and size")
}
