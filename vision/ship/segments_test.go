package ship

import (
	"image"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/engine/geom"
)

// halfPlane draws a picture that is bright where n·p > d, blurred by the pixel's area.
func halfPlane(size int, n geom.Pixel, d float64) *image.Gray {
	g := image.NewGray(image.Rect(0, 0, size, size))
	for y := range size {
		for x := range size {
			in := 0
			for i := range 64 {
				px := float64(x) + (float64(i%8)+0.5)/8 - 0.5
				py := float64(y) + (float64(i/8)+0.5)/8 - 0.5
				if n.X*px+n.Y*py > d {
					in++
				}
			}
			g.Pix[y*g.Stride+x] = uint8(30 + 150*in/64)
		}
	}
	return g
}

func TestAnEdgeIsFoundWithTheBrightSideOnTheRight(t *testing.T) {
	var f segmentFinder
	for deg := 0.0; deg < 360; deg += 7.3 {
		s, c := math.Sincos(deg * math.Pi / 180)
		n := geom.Pixel{X: c, Y: s}
		d := n.X*50.3 + n.Y*49.6
		found := f.find(halfPlane(100, n, d), image.Rect(0, 0, 100, 100), 30)
		require.NotEmpty(t, found, "edge at %v°", deg)
		e := found[0]
		for _, o := range found {
			if o.length() > e.length() {
				e = o
			}
		}
		assert.Greater(t, e.length(), 60.0)
		u := e.B.Sub(e.A).Mul(1 / e.length())
		// The right hand of a walk along u on the screen (y down) is (-u.Y, u.X).
		assert.InDelta(t, 1, -u.Y*n.X+u.X*n.Y, 1e-3, "edge at %v°: direction", deg)
		mid := e.A.Add(e.B).Mul(0.5)
		assert.InDelta(t, d, n.X*mid.X+n.Y*mid.Y, 0.1, "edge at %v°: place, px", deg)
	}
}

func TestSmallAndFlatPicturesHaveNoEdges(t *testing.T) {
	var f segmentFinder
	for _, size := range []int{0, 1, 2, 7, 9, 40} {
		g := image.NewGray(image.Rect(0, 0, size, size))
		assert.Empty(t, f.find(g, g.Rect, 5), "%d×%d", size, size)
	}
}

func TestEdgesOutsideTheRegionAreLeftAlone(t *testing.T) {
	var f segmentFinder
	g := halfPlane(100, geom.Pixel{X: 1}, 30)
	assert.Empty(t, f.find(g, image.Rect(50, 0, 100, 100), 20))
	assert.NotEmpty(t, f.find(g, image.Rect(10, 0, 50, 100), 20))
}
