//go:build opencv

package calibrate

import (
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/calibration/lens"
	"sightline/cmd/internal/commandtest"
	"sightline/cmd/internal/coverage"
	"sightline/cmd/internal/pictures"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/fiducial"
	"sightline/vision/opencv"
)

// Of the corners of a board, all are the board and a part is not, whichever side of it
// is missing.
func TestAPartOfAChessboardIsDistinguishedFromTheWhole(t *testing.T) {
	g := drawBoard(0.3, 0.2, 0, 0, 330)
	px, found, err := opencv.FindChessboard(vision.Frame{Gray: g}, 9, 6)
	require.NoError(t, err)
	require.True(t, found)
	assert.False(t, fiducial.ChessboardContinues(g, px, 9, 6))
	for _, part := range [][4]int{{0, 0, 8, 6}, {1, 0, 8, 6}, {0, 0, 9, 5}, {0, 1, 9, 5}, {1, 1, 7, 4}} {
		var some []geom.Pixel
		for r := range part[3] {
			for c := range part[2] {
				some = append(some, px[(part[1]+r)*9+part[0]+c])
			}
		}
		assert.True(t, fiducial.ChessboardContinues(g, some, part[2], part[3]), "%v", part)
	}
	assert.False(t, fiducial.ChessboardContinues(nil, px, 9, 6))
	assert.False(t, fiducial.ChessboardContinues(g, px[:3], 9, 6))
}

func TestABoardLargerThanStatedIsRefused(t *testing.T) {
	names, err := filepath.Glob(filepath.Join(sharedMaterial(t, "real", "opencv_chess_9x6"), "left0[2-8].jpg"))
	require.NoError(t, err)
	out := filepath.Join(t.TempDir(), "lens.json")
	code, _, stderr := called(t, append([]string{"calibrate", "lens", "--board", "8x6:25mm", "-o", out}, names...)...)
	assert.Equal(t, 1, code)
	assert.Contains(t, stderr, "left02.jpg: left out: its chessboard continues beyond 8×6 inner corners")
	assert.Contains(t, commandtest.LastLine(stderr), "--board 8x6:25mm: in ")
	assert.NoFileExists(t, out)
}

// The box under the solution shows the views that the solution used, and no second
// figure for what the solution says of a mat point.
func TestTheCoverageIsThatOfTheUsedViews(t *testing.T) {
	board, err := calibration.ParseBoard("9x6:25mm")
	require.NoError(t, err)
	c := lensCmd{Input: pictures.Input{Images: boardPictures(t, t.TempDir())}}
	shot, err := c.capture(t.Context(), board, io.Discard)
	require.NoError(t, err)
	require.Len(t, shot.taken, 7)
	var s lens.Solution
	for _, v := range shot.taken[1:] {
		s.Views = append(s.Views, lens.View{Name: v.Name})
	}
	state, err := shot.stateOf(board, s)
	require.NoError(t, err)
	assert.Equal(t, 6, state.Views)
	assert.Nil(t, state.Sigma)
	assert.NotContains(t, strings.Join(coverage.Picture(state), "\n"), "a mat point")
}
