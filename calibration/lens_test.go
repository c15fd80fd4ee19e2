package calibration_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/engine/geom"
)

func TestABoardIsReadFromItsDescription(t *testing.T) {
	for spec, want := range map[string]calibration.Board{
		"chessboard:9x6:25mm":   {Cols: 9, Rows: 6, Square: 25 * geom.Millimeter},
		"chessboard:7x7:25.4mm": {Cols: 7, Rows: 7, Square: 25.4 * geom.Millimeter},
		"chessboard:7x7:1in":    {Cols: 7, Rows: 7, Square: 1 * geom.Inch},
	} {
		got, err := calibration.ParseBoard(spec)
		require.NoError(t, err)
		assert.Equal(t, want, got)
		again, err := calibration.ParseBoard(got.String())
		require.NoError(t, err)
		assert.Equal(t, want, again)
	}
	for spec, want := range map[string]string{
		"":                      "expected chessboard:",
		"9x6":                   "expected chessboard:",
		"chessboard":            "expected chessboard:",
		"chessboard:9x6":        "expected chessboard:",
		"chessboard:9:25mm":     "expected chessboard:",
		"chessboard:2x6:25mm":   "from 3 to 100",
		"chessboard:ax6:25mm":   "from 3 to 100",
		"chessboard:9x6:25":     "in mm or in",
		"chessboard:9x6:mm":     "in mm or in",
		"chessboard:9x6:-5mm":   "in mm or in",
		"chessboard:9x6:NaNmm":  "in mm or in",
		"chessboard:9x6:9000mm": "in mm or in",
		"charuco:5x7:30mm:22mm": "later version",
	} {
		_, err := calibration.ParseBoard(spec)
		assert.ErrorContains(t, err, want, spec)
	}
}

func TestABoardsPointsRunRowByRow(t *testing.T) {
	b := calibration.Board{Cols: 3, Rows: 4, Square: 10 * geom.Millimeter}
	p := b.Points()
	require.Len(t, p, 12)
	assert.Equal(t, geom.Point{X: 20}, p[2])
	assert.Equal(t, geom.Point{X: 0, Y: 10}, p[3])
}

func FuzzParseBoard(f *testing.F) {
	f.Add("chessboard:9x6:25mm")
	f.Add("charuco:1x1:1in")
	f.Fuzz(func(t *testing.T, spec string) {
		b, err := calibration.ParseBoard(spec)
		if err == nil && (len(b.Points()) != b.Cols*b.Rows || !(b.Square > 0)) {
			t.Errorf("ParseBoard(%q) = %+v", spec, b)
		}
	})
}
