package fiducial_test

import (
	"image"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/fiducial"
)

// turnedChessboard draws a chessboard of 4 × 3 inner corners and squares of 30 px, turned
// by 0.2 rad, whose edges take two pixels; it returns the corners.
func turnedChessboard() (*image.Gray, []geom.Pixel) {
	const side, angle = 30.0, 0.2
	first := geom.Pixel{X: 60.3, Y: 50.7}
	sin, cos := math.Sincos(angle)
	wave := func(v float64) float64 { // alternates between -1 and 1 every square
		d := math.Mod(math.Mod(v, 2*side)+2*side, 2*side) // 0 … 2 sides
		edge := math.Min(math.Min(d, math.Abs(d-side)), 2*side-d)
		s := 1.0
		if d >= side {
			s = -1
		}
		return s * math.Tanh(edge)
	}
	g := image.NewGray(image.Rect(0, 0, 230, 190))
	for y := range 190 {
		for x := range 230 {
			dx, dy := float64(x)-first.X, float64(y)-first.Y
			g.Pix[y*g.Stride+x] = uint8(math.Round(120 - 80*wave(cos*dx+sin*dy)*wave(-sin*dx+cos*dy)))
		}
	}
	var px []geom.Pixel
	for r := range 3 {
		for c := range 4 {
			u, v := side*float64(c), side*float64(r)
			px = append(px, first.Add(geom.Pixel{X: cos*u - sin*v, Y: sin*u + cos*v}))
		}
	}
	return g, px
}

func TestChessboardCornersAreRefinedToThePicture(t *testing.T) {
	g, want := turnedChessboard()
	px := append([]geom.Pixel(nil), want...)
	for i := range px {
		px[i] = px[i].Add(geom.Pixel{X: 0.8 * math.Sin(float64(i)), Y: 0.8 * math.Cos(float64(i))})
	}
	require.True(t, fiducial.RefineChessboard(g, px, 4, 3))
	for i := range px {
		assert.Less(t, px[i].Sub(want[i]).Norm(), 0.02, "corner %d", i)
	}
	px[5] = px[5].Add(geom.Pixel{X: 14}) // in the middle of a square
	assert.False(t, fiducial.RefineChessboard(g, px, 4, 3))
	assert.False(t, fiducial.RefineChessboard(g, px[1:], 4, 3))
	assert.False(t, fiducial.RefineChessboard(nil, px, 4, 3))
}

func TestTheEdgesOfABoardAreMeasured(t *testing.T) {
	g, px := turnedChessboard()
	b := calibration.Board{Cols: 4, Rows: 3, Square: 25 * geom.Millimeter}
	width, contrast := fiducial.BoardEdges(g, b, calibration.BoardView{Pixels: px})
	assert.InDelta(t, 160, contrast, 3)
	assert.InDelta(t, 2.2, width, 0.4, "tanh rises by its height in two pixels")
	blurred := image.NewGray(g.Rect)
	copy(blurred.Pix, g.Pix)
	for range 6 { // a running mean of three, along x
		for i := len(blurred.Pix) - 2; i > 0; i-- {
			blurred.Pix[i] = uint8((int(blurred.Pix[i-1]) + int(blurred.Pix[i]) + int(blurred.Pix[i+1])) / 3)
		}
	}
	soft, _ := fiducial.BoardEdges(blurred, b, calibration.BoardView{Pixels: px})
	assert.Greater(t, soft, width+0.1, "half of the edges run along the blur")
	none, _ := fiducial.BoardEdges(g, b, calibration.BoardView{})
	assert.Zero(t, none)
}

func TestWithoutItsMarkersThereIsNoCharucoBoard(t *testing.T) {
	b := calibration.Board{Kind: calibration.ChArUco, Cols: 4, Rows: 3, Square: 25 * geom.Millimeter, Marker: 18 * geom.Millimeter}
	g, _ := turnedChessboard()
	strangers := []vision.Detection{{ID: 0}, {ID: 1}, {ID: 2}, {ID: 3}}
	for want, found := range map[string][]vision.Detection{
		"not in the picture":                nil,
		"the ids 0 to 3":                    strangers,
		"2 of the board's 10 markers":       {{ID: 32}, {ID: 33}},
		"only one row of the board's marke": {{ID: 32}, {ID: 33}, {ID: 34}, {ID: 35}}, // all in one place
	} {
		px, indices, reason := fiducial.CharucoCorners(g, b, found)
		assert.Empty(t, px)
		assert.Empty(t, indices)
		assert.Contains(t, reason, want)
	}
}
