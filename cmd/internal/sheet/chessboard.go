package sheet

import (
	"fmt"
	"math"
	"regexp"
	"strconv"

	"sightline/engine/geom"
)

// Board is a chessboard, named by its inner corners as OpenCV counts them: one
// fewer than squares each way.
type Board struct {
	Columns, Rows int
	Square        geom.Length
}

var boardForm = regexp.MustCompile(`^(?:chessboard:)?([0-9]{1,3})x([0-9]{1,3}):([0-9.]+)mm$`)

// ParseBoard reads "9x6:25mm", or "chessboard:9x6:25mm" as calibrate has it.
func ParseBoard(s string) (Board, error) {
	m := boardForm.FindStringSubmatch(s)
	if m == nil {
		return Board{}, fmt.Errorf("board %q: expected COLUMNSxROWS:SIZEmm, inner corners and a square's side, as 9x6:25mm", s)
	}
	columns, _ := strconv.Atoi(m[1]) // digits, by the pattern
	rows, _ := strconv.Atoi(m[2])
	side, err := strconv.ParseFloat(m[3], 64)
	switch {
	case err != nil || !(side >= 1):
		return Board{}, fmt.Errorf("board %q: expected squares of at least 1 mm, got %q", s, m[3]+"mm")
	case columns < 3 || rows < 3:
		return Board{}, fmt.Errorf("board %q: expected at least 3x3 inner corners, got %dx%d", s, columns, rows)
	}
	return Board{columns, rows, geom.Length(side)}, nil
}

// Chessboard draws the board on paper lying on its side. It fails when the board
// does not fit, and says what does.
func Chessboard(paper Paper, b Board) (Page, error) {
	paper = paper.Landscape()
	area := paper.content()
	columns, rows := float64(b.Columns+1), float64(b.Rows+1)
	w, h := columns*float64(b.Square), rows*float64(b.Square)
	if w > area.width()+1e-9 || h > area.height()+1e-9 {
		most := math.Floor(10*min(area.width()/columns, area.height()/rows)) / 10
		return Page{}, fmt.Errorf("a board of %d×%d squares of %s mm needs %s × %s mm, %s has %s × %s mm: expected squares of at most %s mm, or fewer of them",
			b.Columns+1, b.Rows+1, number(float64(b.Square)), number(w), number(h),
			paper.Name, number(area.width()), number(area.height()), number(most))
	}
	page := paper.newPage(fmt.Sprintf("Chessboard %dx%d:%smm · lay it on glass or stiff board, flat", b.Columns, b.Rows, number(float64(b.Square))))
	x0, y0 := area.x0+(area.width()-w)/2, area.y0+(area.height()-h)/2
	squares := Shape{Fill: black}
	for r := range b.Rows + 1 {
		for c := r % 2; c <= b.Columns; c += 2 {
			x, y, s := x0+float64(c)*float64(b.Square), y0+float64(r)*float64(b.Square), float64(b.Square)
			squares.Rings = append(squares.Rings, box(x, y, x+s, y+s))
		}
	}
	page.add(squares)
	return page, nil
}
