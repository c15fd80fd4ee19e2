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
		"9x6:25mm":              {Cols: 9, Rows: 6, Square: 25 * geom.Millimeter},
		"charuco:9x6:25mm:18mm": {Kind: calibration.ChArUco, Cols: 9, Rows: 6, Square: 25 * geom.Millimeter, Marker: 18 * geom.Millimeter},
		"charuco:5x7:30mm:24mm": {Kind: calibration.ChArUco, Cols: 5, Rows: 7, Square: 30 * geom.Millimeter, Marker: 24 * geom.Millimeter},
	} {
		got, err := calibration.ParseBoard(spec)
		require.NoError(t, err)
		assert.Equal(t, want, got)
		again, err := calibration.ParseBoard(got.String())
		require.NoError(t, err)
		assert.Equal(t, want, again)
	}
	for spec, want := range map[string]string{
		"":                         "expected chessboard:",
		"9x6":                      "expected chessboard:",
		"chessboard":               "expected chessboard:",
		"chessboard:9x6":           "expected chessboard:",
		"chessboard:9:25mm":        "expected chessboard:",
		"chessboard:2x6:25mm":      "from 3 to 100",
		"chessboard:ax6:25mm":      "from 3 to 100",
		"chessboard:9x6:25":        "in mm or in",
		"chessboard:9x6:mm":        "in mm or in",
		"chessboard:9x6:-5mm":      "in mm or in",
		"chessboard:9x6:NaNmm":     "in mm or in",
		"chessboard:9x6:9000mm":    "in mm or in",
		"chessboard:9x6:25mm:18mm": "expected chessboard:",
		"charuco:9x6:25mm":         "expected chessboard:",
		"charuco:9x6:25mm:21mm":    "at most 20mm",
		"charuco:9x6:25mm:0mm":     "in mm or in",
		"charuco:9x6:25mm:18":      "in mm or in",
		"charuco:50x50:25mm:18mm":  "at most 555 markers",
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

func TestAChArUcoBoardHasAMarkerInEveryWhiteSquare(t *testing.T) {
	for _, spec := range []string{"charuco:9x6:25mm:18mm", "charuco:4x4:30mm:20mm", "charuco:3x4:30mm:20mm", "charuco:5x3:30mm:20mm"} {
		b, err := calibration.ParseBoard(spec)
		require.NoError(t, err)
		markers := b.Markers()
		require.Len(t, markers, b.MarkerCount(), spec)
		for i, m := range markers {
			assert.Equal(t, calibration.BoardIDs+i, m.ID, spec)
			assert.Equal(t, 1, (m.Col+m.Row)%2, "%s: the top left square is black, marker %d", spec, m.ID)
			mid := m.Corners[0].Lerp(m.Corners[2], 0.5)
			assert.InDelta(t, (float64(m.Col)-0.5)*float64(b.Square), mid.X, 1e-9)
			assert.InDelta(t, (float64(m.Row)-0.5)*float64(b.Square), mid.Y, 1e-9)
			assert.InDelta(t, float64(b.Marker), m.Corners[1].X-m.Corners[0].X, 1e-9)
			assert.InDelta(t, float64(b.Marker), m.Corners[3].Y-m.Corners[0].Y, 1e-9)
		}
	}
	b, err := calibration.ParseBoard("9x6:25mm")
	require.NoError(t, err)
	assert.Empty(t, b.Markers())
	assert.Zero(t, b.MarkerCount())
}

func FuzzParseBoard(f *testing.F) {
	f.Add("chessboard:9x6:25mm")
	f.Add("charuco:1x1:1in")
	f.Add("charuco:9x6:25mm:18mm")
	f.Fuzz(func(t *testing.T, spec string) {
		b, err := calibration.ParseBoard(spec)
		if err == nil && (len(b.Points()) != b.Cols*b.Rows || !(b.Square > 0)) {
			t.Errorf("ParseBoard(%q) = %+v", spec, b)
		}
		if err == nil && len(b.Markers()) != b.MarkerCount() {
			t.Errorf("ParseBoard(%q) has %d markers, expected %d", spec, len(b.Markers()), b.MarkerCount())
		}
	})
}
