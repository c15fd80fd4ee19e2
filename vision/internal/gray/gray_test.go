package gray

import (
	"image"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestAPictureIsMadeSmaller(t *testing.T) {
	g := image.NewGray(image.Rect(0, 0, 5, 4))
	for i := range g.Pix {
		g.Pix[i] = uint8(10 * i)
	}
	s := Shrink(g, 2, new(image.Gray))
	assert.Equal(t, image.Rect(0, 0, 2, 2), s.Rect)
	assert.Equal(t, []uint8{30, 50, 130, 150}, s.Pix)
}
