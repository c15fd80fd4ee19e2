package calibration

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"sightline/engine/geom"
)

// Board is a printed chessboard for lens calibration. Columns and rows count
// inner corners, where four squares meet, as OpenCV does.
type Board struct {
	Cols, Rows int
	Square     geom.Length // side of one square
}

// ErrBoardKind says that a kind of board is known but cannot be read yet.
var ErrBoardKind = errors.New("charuco boards come with a later version, use a chessboard")

// ParseBoard reads a board's description: chessboard:9x6:25mm has 9 by 6 inner
// corners and squares of 25 mm. Lengths are in mm or in.
func ParseBoard(spec string) (Board, error) {
	const expected = "expected chessboard:COLSxROWS:SIZE, such as chessboard:9x6:25mm"
	if spec != "" && spec[0] >= '0' && spec[0] <= '9' {
		spec = "chessboard:" + spec // as print takes it
	}
	kind, rest, _ := strings.Cut(spec, ":")
	switch kind {
	case "chessboard":
	case "charuco":
		return Board{}, fmt.Errorf("board %q: %w", spec, ErrBoardKind)
	default:
		return Board{}, fmt.Errorf("board %q: %s", spec, expected)
	}
	grid, size, ok := strings.Cut(rest, ":")
	cols, rows, ok2 := strings.Cut(grid, "x")
	if !ok || !ok2 {
		return Board{}, fmt.Errorf("board %q: %s", spec, expected)
	}
	var b Board
	var err1, err2 error
	b.Cols, err1 = strconv.Atoi(cols)
	b.Rows, err2 = strconv.Atoi(rows)
	if err1 != nil || err2 != nil || b.Cols < 3 || b.Rows < 3 || b.Cols > 100 || b.Rows > 100 {
		return Board{}, fmt.Errorf("board %q: inner corners %q: expected two numbers from 3 to 100, such as 9x6", spec, grid)
	}
	unit := geom.Millimeter
	number, isMM := strings.CutSuffix(size, "mm")
	if !isMM {
		var isInch bool
		if number, isInch = strings.CutSuffix(size, "in"); !isInch {
			return Board{}, fmt.Errorf("board %q: square %q: expected a length in mm or in, such as 25mm", spec, size)
		}
		unit = geom.Inch
	}
	side, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || !(side > 0) || side*float64(unit) > 1000 {
		return Board{}, fmt.Errorf("board %q: square %q: expected a length in mm or in, such as 25mm", spec, size)
	}
	b.Square = geom.Length(side) * unit
	return b, nil
}

// String describes the board as ParseBoard reads it.
func (b Board) String() string {
	return fmt.Sprintf("chessboard:%dx%d:%smm", b.Cols, b.Rows, strconv.FormatFloat(float64(b.Square), 'g', -1, 64))
}

// Points returns the inner corners in the board's plane, row by row, in mm.
func (b Board) Points() []geom.Point {
	out := make([]geom.Point, 0, b.Cols*b.Rows)
	for r := range b.Rows {
		for c := range b.Cols {
			out = append(out, geom.Point{X: float64(c) * float64(b.Square), Y: float64(r) * float64(b.Square)})
		}
	}
	return out
}

// BoardView is one picture of a board.
type BoardView struct {
	Name   string       // of the picture
	Pixels []geom.Pixel // of the board's Points, in their order
}
