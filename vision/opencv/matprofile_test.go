//go:build matprofile && opencv

package opencv

import (
	"testing"

	"github.com/stretchr/testify/require"
	"gocv.io/x/gocv"

	"sightline/calibration"
	"sightline/calibration/lens"
	"sightline/engine/geom"
	"sightline/vision"
)

// openMats is the number of Mats that no one has closed yet.
func openMats() int { return gocv.MatProfile.Count() }

func TestEveryMatIsClosed(t *testing.T) {
	before := openMats()
	path, raw := writePicture(t, "a.jpg", testPicture(200, 150))
	for range 20 {
		_, err := ReadImage(path)
		require.NoError(t, err)
		_, err = DecodeImage([]byte("no picture"))
		require.Error(t, err)
		_, err = DecodeImage(raw[:len(raw)/2])
		require.Error(t, err)
	}
	require.Equal(t, before, openMats(), "after reading pictures")

	board := calibration.Board{Cols: 9, Rows: 6, Square: 25 * geom.Millimeter}
	scene := boardScene{first: geom.Pixel{X: 70, Y: 66}, side: 22, angle: 0.1}
	var views []calibration.BoardView
	for range 4 {
		px, found, err := FindChessboard(vision.Frame{Gray: render(330, 250, scene.at)}, 9, 6)
		require.NoError(t, err)
		require.True(t, found)
		views = append(views, calibration.BoardView{Pixels: px})
	}
	_, _, err := FindChessboard(vision.Frame{Gray: render(330, 250, func(x, y float64) float64 { return x })}, 9, 6)
	require.NoError(t, err)
	_, err = lens.Solve(board, views, 330, 250)
	require.ErrorIs(t, err, lens.ErrViews, "four times the same view")
	require.Equal(t, before, openMats(), "after finding boards and calibrating")
}
