package calibration

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"sightline/engine/geom"
)

// BoardKind is what a board for lens calibration shows.
type BoardKind int

const (
	Chessboard BoardKind = iota // black and white squares
	ChArUco                     // the same with an AprilTag in every white square
)

// String returns the kind's name as ParseBoard reads it.
func (k BoardKind) String() string {
	if k == ChArUco {
		return "charuco"
	}
	return "chessboard"
}

// Board is a printed board for lens calibration. Columns and rows count inner
// corners, where four squares meet, as OpenCV does for a chessboard. There is one more
// square each way, and the top left one is black.
//
// A ChArUco board follows OpenCV 4.6 and later (not its "legacy pattern", which
// begins with a white square when the number of rows is even): the markers stand
// upright in the middle of the white squares and their ids rise from BoardIDs,
// row by row from the top left. OpenCV counts a ChArUco board's size in squares:
// charuco:9x6 is its CharucoBoard of 10 × 7.
//
//	x →
//	y  ███ [32]███ [33]███
//	↓  [34]███ [35]███ [36]     · inner corners: where four squares meet;
//	   ███ [37]███ [38]███        the first one is the origin
type Board struct {
	Kind       BoardKind
	Cols, Rows int
	Square     geom.Length // side of one square
	Marker     geom.Length // side of a marker's black square; 0 for a chessboard
}

const boardForm = "expected chessboard:COLSxROWS:SQUARE or charuco:COLSxROWS:SQUARE:MARKER, such as chessboard:9x6:25mm or " +
	"charuco:9x6:25mm:18mm"

// ParseBoard reads a board's description: chessboard:9x6:25mm has 9 by 6 inner
// corners and squares of 25 mm, charuco:9x6:25mm:18mm also markers of 18 mm.
// Lengths are in mm or in. Without the kind it is a chessboard.
func ParseBoard(spec string) (Board, error) {
	b, err := parseBoard(spec)
	if err == nil {
		err = b.Validate()
	}
	if err != nil {
		return Board{}, fmt.Errorf("board %q: %w", spec, err)
	}
	return b, nil
}

func parseBoard(spec string) (b Board, err error) {
	if spec != "" && spec[0] >= '0' && spec[0] <= '9' {
		spec = "chessboard:" + spec // as print takes it
	}
	fields := strings.Split(spec, ":")
	switch {
	case fields[0] == "chessboard" && len(fields) == 3:
	case fields[0] == "charuco" && len(fields) == 4:
		b.Kind = ChArUco
	default:
		return b, errors.New(boardForm)
	}
	cols, rows, ok := strings.Cut(fields[1], "x")
	if !ok {
		return b, errors.New(boardForm)
	}
	var err1, err2 error
	b.Cols, err1 = strconv.Atoi(cols)
	b.Rows, err2 = strconv.Atoi(rows)
	if err1 != nil || err2 != nil {
		return b, fmt.Errorf("inner corners %q: expected two numbers from 3 to 100, such as 9x6", fields[1])
	}
	if b.Square, err = parseLength("square", fields[2]); err != nil {
		return b, err
	}
	if b.Kind == ChArUco {
		b.Marker, err = parseLength("marker", fields[3])
	}
	return b, err
}

// parseLength reads a positive length in mm or in. Errors call it what.
func parseLength(what, s string) (geom.Length, error) {
	unit := geom.Millimeter
	number, isMM := strings.CutSuffix(s, "mm")
	if !isMM {
		var isInch bool
		if number, isInch = strings.CutSuffix(s, "in"); isInch {
			unit = geom.Inch
		} else {
			number = ""
		}
	}
	side, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || !(side > 0) || side*float64(unit) > 1000 {
		return 0, fmt.Errorf("%s %q: expected a length in mm or in, such as 25mm", what, s)
	}
	return geom.Length(side) * unit, nil
}

// Validate reports why the board cannot be printed or read.
func (b Board) Validate() error {
	switch {
	case b.Cols < 3 || b.Rows < 3 || b.Cols > 100 || b.Rows > 100:
		return fmt.Errorf("inner corners %dx%d: expected two numbers from 3 to 100, such as 9x6", b.Cols, b.Rows)
	case !(b.Square > 0):
		return fmt.Errorf("square %s: expected a positive length", inMM(b.Square))
	case b.Kind != ChArUco:
		return nil
	case !(b.Marker > 0):
		return fmt.Errorf("marker %s: expected a positive length", inMM(b.Marker))
	// The detector needs a white border of one cell round the marker.
	case b.Marker+2*b.Marker/TagCells > b.Square*(1+1e-9):
		return fmt.Errorf("marker %s: expected at most %s in squares of %s, so that a white border stays round it",
			inMM(b.Marker), inMM(b.Square*TagCells/(TagCells+2)), inMM(b.Square))
	case BoardIDs+b.MarkerCount() > len(tag36h11):
		return fmt.Errorf("inner corners %dx%d: expected at most %d markers, got %d", b.Cols, b.Rows, len(tag36h11)-BoardIDs, b.MarkerCount())
	}
	return nil
}

// inMM writes a length as ParseBoard reads it.
func inMM(l geom.Length) string { return strconv.FormatFloat(float64(l), 'g', -1, 64) + "mm" }

// String describes the board as ParseBoard reads it.
func (b Board) String() string {
	s := fmt.Sprintf("%v:%dx%d:%s", b.Kind, b.Cols, b.Rows, inMM(b.Square))
	if b.Kind == ChArUco {
		s += ":" + inMM(b.Marker)
	}
	return s
}

// Points returns the inner corners in the board's plane, row by row from the top
// left one, which is the origin; x runs right and y down as the board is read, in mm.
func (b Board) Points() []geom.Point {
	out := make([]geom.Point, 0, b.Cols*b.Rows)
	for r := range b.Rows {
		for c := range b.Cols {
			out = append(out, geom.Point{X: float64(c) * float64(b.Square), Y: float64(r) * float64(b.Square)})
		}
	}
	return out
}

// BoardMarker is one marker of a ChArUco board.
type BoardMarker struct {
	ID      int
	Col     int           // of its square: 0…Cols
	Row     int           // 0…Rows
	Corners [4]geom.Point // of the black square in the frame of Points: top left, top right, bottom right, bottom left
}

// MarkerCount returns how many markers the board has: one per white square.
func (b Board) MarkerCount() int {
	if b.Kind != ChArUco {
		return 0
	}
	return (b.Cols + 1) * (b.Rows + 1) / 2
}

// Markers returns the markers of a ChArUco board in the order of their ids; none
// for a chessboard.
func (b Board) Markers() []BoardMarker {
	out := make([]BoardMarker, 0, b.MarkerCount())
	if b.Kind != ChArUco {
		return out
	}
	square, half := float64(b.Square), float64(b.Marker)/2
	for r := range b.Rows + 1 {
		for c := range b.Cols + 1 {
			if (c+r)%2 == 0 {
				continue // black
			}
			x, y := (float64(c)-0.5)*square, (float64(r)-0.5)*square
			out = append(out, BoardMarker{ID: BoardIDs + len(out), Col: c, Row: r, Corners: [4]geom.Point{
				{X: x - half, Y: y - half}, {X: x + half, Y: y - half}, {X: x + half, Y: y + half}, {X: x - half, Y: y + half},
			}})
		}
	}
	return out
}

// A BoardSighting is what one picture shows of the board.
type BoardSighting struct {
	Name    string
	At      time.Time    // when the picture was taken
	Pixels  []geom.Pixel // of the visible points; none when the board is not found
	Indices []int        // as in BoardView

	// EdgeWidth is the width in pixels of the step from a black to a white square, and
	// Contrast its height in grey levels; 0 when unknown.
	EdgeWidth float64
	Contrast  float64

	// Reason says why no board was found, if the detector knows.
	Reason string
	Larger bool // the picture shows a board with more corners than the one searched for
}
