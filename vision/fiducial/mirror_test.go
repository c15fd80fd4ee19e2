package fiducial

import (
	"errors"
	"image"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/vision"
)

// brightLeft sees as many markers as it is told where the left half is the brighter one.
type brightLeft struct {
	markers int
	err     error
}

func (d brightLeft) DetectMarkers(g *image.Gray) ([]vision.Detection, error) {
	var left, right int
	b := g.Bounds()
	for y := range b.Dy() {
		for x := range b.Dx() {
			if v := int(g.GrayAt(x, y).Y); x < b.Dx()/2 {
				left += v
			} else {
				right += v
			}
		}
	}
	if left > right {
		return make([]vision.Detection, d.markers), d.err
	}
	return nil, d.err
}

func TestAMirroredPictureIsDetectedByItsMarkers(t *testing.T) {
	wide := image.NewGray(image.Rect(0, 0, 40, 20))
	upright := wide.SubImage(image.Rect(0, 0, 31, 20)).(*image.Gray) // its rows are longer than it is wide
	for y := range 20 {
		for x := range 10 {
			upright.Pix[y*upright.Stride+x] = 200
		}
	}
	flipped := Mirror(upright)
	assert.Equal(t, upright.Bounds().Size(), flipped.Bounds().Size())
	for y := range 20 {
		for x := range 31 {
			require.Equal(t, upright.GrayAt(x, y), flipped.GrayAt(30-x, y))
		}
	}
	for _, c := range []struct {
		name    string
		picture *image.Gray
		markers int
		found   int
		err     error
	}{
		{"the right way round", upright, 8, 8, nil},
		{"mirrored", flipped, 8, 0, ErrMirrored},
		{"mirrored, and one thing that looks like a marker", flipped, 1, 0, nil},
		{"no markers at all", flipped, 0, 0, nil},
	} {
		got, err := DetectMarkers(brightLeft{markers: c.markers}, c.picture)
		assert.Equal(t, c.err, err, c.name)
		assert.Len(t, got, c.found, c.name)
	}
	broken := errors.New("no detector")
	_, err := DetectMarkers(brightLeft{err: broken}, flipped)
	assert.ErrorIs(t, err, broken)
}
