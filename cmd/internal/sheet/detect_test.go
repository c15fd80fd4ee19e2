//go:build !nocv

package sheet

import (
	"image"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/vision/opencv"
)

func TestTheAprilTagLibraryFindsEveryPrintedMarkerInItsPlace(t *testing.T) {
	pages, err := MatMarkers(paperNamed(t, "a4"), calibration.DefaultLayout(calibration.MatSide, calibration.MatSide))
	require.NoError(t, err)
	pic := pictureOfPNG(t, pages[0], 150)
	grey := image.NewGray(pic.Bounds())
	for y := range grey.Rect.Dy() {
		for x := range grey.Rect.Dx() {
			grey.Pix[y*grey.Stride+x] = byte(pic.grey(x, y))
		}
	}
	d, err := opencv.NewMarkerDetector(opencv.MarkerOptions{})
	require.NoError(t, err)
	defer d.Close()
	found, err := d.DetectMarkers(grey)
	require.NoError(t, err)
	seen := map[int]bool{}
	for _, m := range found {
		seen[m.ID] = true
		assert.Zero(t, m.Hamming, "marker %d", m.ID)
		x, y := 26+62*float64(m.ID%3), 22+62*float64(m.ID/3)
		for i, at := range [4][2]float64{{x, y}, {x + 40, y}, {x + 40, y + 40}, {x, y + 40}} {
			assert.InDelta(t, at[0], (m.Corners[i].X+0.5)/pic.perMM, 0.1, "marker %d, corner %d", m.ID, i)
			assert.InDelta(t, at[1], (m.Corners[i].Y+0.5)/pic.perMM, 0.1, "marker %d, corner %d", m.ID, i)
		}
	}
	assert.Len(t, seen, 8)
}
