package sheet

import (
	"fmt"

	"sightline/calibration"
	"sightline/calibration/verify"
	"sightline/engine/geom"
	"sightline/vision/token"
)

// Set is everything on paper for a first table.
type Set struct {
	Layout calibration.Layout // of the mat
	Tokens []token.Token
	Board  *calibration.Board // for the lens; nil: the lens is estimated from the mat's markers
	Card   *verify.Card       // for verification; nil: none
}

// All draws the whole set: a page that explains the others and checks the printer's scale, then
// markers, tokens, board and check card, in the order of their use.
func All(paper Paper, set Set) ([]Page, error) {
	markers, err := MatMarkers(paper, set.Layout)
	if err != nil {
		return nil, err
	}
	tokens, err := Tokens(paper, set.Tokens)
	if err != nil {
		return nil, err
	}
	rest := append(markers, tokens...)
	if set.Board != nil {
		board, err := LensBoard(paper, *set.Board)
		if err != nil {
			return nil, err
		}
		rest = append(rest, board)
	}
	if set.Card != nil {
		card, err := CheckCard(paper, *set.Card)
		if err != nil {
			return nil, err
		}
		rest = append(rest, card)
	}
	return append([]Page{cover(paper, set, len(markers), len(tokens))}, rest...), nil
}

// cover draws the first page: the scale check, and the purpose of every other page.
func cover(paper Paper, set Set, markers, tokens int) Page {
	page := paper.newPage("First table · sheet 1: read this first")
	area := paper.content()
	y := area.y0 + 12
	line := func(heavy bool, capital, after float64, text string) {
		font := regular()
		if heavy {
			font = bold()
		}
		page.text(font, geom.Point{X: area.x0 + 6, Y: y}, capital, left, 0, black, text)
		y += after
	}
	step := func(title string, texts ...string) {
		line(true, 3, 6.5, title)
		for _, t := range texts {
			line(false, 2.3, 5.2, t)
		}
		y += 3.5
	}
	line(true, 4.5, 13, "Your first table")
	step("1 · Check the scale before you cut anything",
		"Lay a steel rule on this page's two black bars, from outer end to outer end.",
		"Both measure 99.7 to 100.3 mm: good. 95 mm or so: the page was fitted to the paper;",
		"print again at 100 % (“actual size”). Enter both lengths on the page /first.")
	last := 1
	pages := func(n int) string {
		first := last + 1
		last += n
		if n == 1 {
			return fmt.Sprintf("sheet %d", first)
		}
		return fmt.Sprintf("sheets %d to %d", first, last)
	}
	step("2 · The mat's markers: "+pages(markers),
		"Glue on card as thick as your mat and cut along the grey lines. Lay the eight cards around the",
		"mat as the last of these sheets shows, flush against its edge, measured from its corner.")
	step("3 · The ships' tokens: "+pages(tokens),
		"Matt paper. Cut exactly from mark to mark and lay each on its base, the chevron to the front.")
	if set.Board != nil {
		step("4 · The board for the lens: "+pages(1),
			"Glue it flat on glass or stiff card. Hold it before the camera as the page /first says.")
	}
	if set.Card != nil {
		step("5 · The check card: "+pages(1),
			"Glue it on stiff card, then cut out its two strips. It verifies what the program states.")
	}
	if set.Board == nil && set.Card == nil {
		step("That is all for a quick start",
			"The lens is estimated from the markers, and the program states how much less sure it is.",
			"A board and a check card make it exact: choose Exact on the page /first, or run",
			"sightline print all without --quick.")
	}
	return page
}
