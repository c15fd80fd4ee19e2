package sheet

import (
	"fmt"
	"math"

	"sightline/calibration"
	"sightline/engine/geom"
)

// minSquare is the smallest square worth printing.
const minSquare = 1 * geom.Millimeter

// LensBoard draws a chessboard or a ChArUco board in landscape. If the board does not fit, the
// error says what would.
func LensBoard(paper Paper, b calibration.Board) (Page, error) {
	if err := b.Validate(); err != nil {
		return Page{}, fmt.Errorf("board %v: %w", b, err)
	}
	if b.Square < minSquare {
		return Page{}, fmt.Errorf("board %v: expected squares of at least %s mm", b, number(float64(minSquare)))
	}
	paper = paper.Landscape()
	area := paper.content()
	square := float64(b.Square)
	columns, rows := float64(b.Cols+1), float64(b.Rows+1)
	w, h := columns*square, rows*square
	if w > area.width()+1e-9 || h > area.height()+1e-9 {
		most := math.Floor(10*min(area.width()/columns, area.height()/rows)) / 10
		return Page{}, fmt.Errorf("a board of %d×%d squares of %s mm needs %s × %s mm, %s has %s × %s mm: expected squares of at most %s mm, "+
			"or fewer of them",
			b.Cols+1, b.Rows+1, number(square), number(w), number(h),
			paper.Name, number(area.width()), number(area.height()), number(most))
	}
	name := "Chessboard"
	if b.Kind == calibration.ChArUco {
		name = "ChArUco board"
	}
	page := paper.newPage(fmt.Sprintf("%s · %v · glue it flat on glass or stiff board", name, b))
	x0, y0 := area.x0+(area.width()-w)/2, area.y0+(area.height()-h)/2
	squares := Shape{Fill: black}
	for r := range b.Rows + 1 {
		for c := r % 2; c <= b.Cols; c += 2 {
			x, y := x0+float64(c)*square, y0+float64(r)*square
			squares.Rings = append(squares.Rings, box(x, y, x+square, y+square))
		}
	}
	page.add(squares)
	for _, m := range b.Markers() {
		at := geom.Point{X: x0 + (float64(m.Col)+0.5)*square, Y: y0 + (float64(m.Row)+0.5)*square}
		tag, err := tagShape(at, calibration.Marker{ID: m.ID, Size: b.Marker})
		if err != nil {
			return Page{}, err
		}
		page.add(tag)
	}
	return page, nil
}
