package sheet

import (
	"fmt"
	"slices"

	"sightline/engine/geom"
	"sightline/vision"
)

// placedToken is a token with the place of its upper left corner on a page.
type placedToken struct {
	token vision.Token
	x, y  float64
}

// Tokens lays ship tokens out on as many sheets as they need, with cut marks.
func Tokens(paper Paper, tokens []vision.Token) []Page {
	layout := packed(paper, tokens)
	pages := make([]Page, len(layout))
	for i, on := range layout {
		pages[i] = paper.newPage(fmt.Sprintf("Ship tokens · sheet %d of %d · matt paper, cut from mark to mark", i+1, len(layout)))
		for _, t := range on {
			side := float64(t.token.Side())
			pages[i].cutMarks(t.x, t.y, t.x+side, t.y+side)
			pages[i].add(placed(artwork(t.token), geom.Point{X: t.x + side/2, Y: t.y + side/2})...)
		}
	}
	return pages
}

// packed puts tokens into rows, the largest first, and rows onto pages.
func packed(paper Paper, tokens []vision.Token) [][]placedToken {
	const marks, gap = 3.0, 6.0 // length of the cut marks; between two tokens
	tokens = slices.Clone(tokens)
	slices.SortStableFunc(tokens, func(a, b vision.Token) int { return int(b.Side() - a.Side()) })
	area := paper.content()
	var pages [][]placedToken
	var page []placedToken
	x, y, row := area.x0+marks, area.y0+marks, 0.0 // next place; height of the row
	for _, t := range tokens {
		side := float64(t.Side())
		if x > area.x0+marks && x+side+marks > area.x1+1e-9 { // a new row
			x, y, row = area.x0+marks, y+row+gap, 0
		}
		if row == 0 && y+side+marks > area.y1+1e-9 { // a new page
			pages, page = append(pages, page), nil
			y = area.y0 + marks
		}
		page = append(page, placedToken{t, x, y})
		x, row = x+side+gap, max(row, side)
	}
	return append(pages, page)
}
