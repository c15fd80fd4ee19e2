package sheet

import (
	"cmp"
	"fmt"
	"slices"

	"sightline/engine/geom"
	"sightline/vision/token"
)

// placedToken is a token with the place of its upper left corner on a page.
type placedToken struct {
	token token.Token
	x, y  float64
}

// Tokens lays out ship tokens on as many sheets as they need, with cut marks. The error names a
// token that fits on no sheet of the paper.
func Tokens(paper Paper, tokens []token.Token) ([]Page, error) {
	layout, err := packed(paper, tokens)
	if err != nil {
		return nil, err
	}
	pages := make([]Page, len(layout))
	for i, on := range layout {
		pages[i] = paper.newPage(fmt.Sprintf("Ship tokens · sheet %d of %d · matt paper, cut from mark to mark", i+1, len(layout)))
		for _, t := range on {
			x, y := t.token.Half()
			pages[i].cutMarks(t.x, t.y, t.x+2*x, t.y+2*y)
			pages[i].add(placed(artwork(t.token), geom.Point{X: t.x + x, Y: t.y + y})...)
		}
	}
	return pages, nil
}

// packed puts tokens into rows, the longest first, and rows onto pages. Tokens of huge bases are
// upright, along the paper's long side.
func packed(paper Paper, tokens []token.Token) ([][]placedToken, error) {
	const marks, gap = 3.0, 6.0 // length of the cut marks; between two tokens
	tokens = slices.Clone(tokens)
	slices.SortStableFunc(tokens, func(a, b token.Token) int {
		ax, ay := a.Half()
		bx, by := b.Half()
		return cmp.Or(cmp.Compare(by, ay), cmp.Compare(bx, ax))
	})
	area := paper.content()
	var pages [][]placedToken
	var page []placedToken
	x, y, row := area.x0+marks, area.y0+marks, 0.0 // next place; height of the row
	for _, t := range tokens {
		hx, hy := t.Half()
		width, length := 2*hx, 2*hy
		if width+2*marks > area.width()+1e-9 || length+2*marks > area.height()+1e-9 {
			return nil, fmt.Errorf("%s: the token of a %v base is %g × %g mm: expected a paper that leaves it %g × %g mm, %s leaves %.0f × %.0f mm",
				t.Code.ID(), t.Base, width, length, width+2*marks, length+2*marks, paper.Name, area.width(), area.height())
		}
		if x > area.x0+marks && x+width+marks > area.x1+1e-9 { // a new row
			x, y, row = area.x0+marks, y+row+gap, 0
		}
		if row == 0 && y+length+marks > area.y1+1e-9 { // a new page
			pages, page = append(pages, page), nil
			y = area.y0 + marks
		}
		page = append(page, placedToken{t, x, y})
		x, row = x+width+gap, max(row, length)
	}
	return append(pages, page), nil
}
