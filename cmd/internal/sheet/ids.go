package sheet

import (
	"fmt"
	"image/color"
	"math"

	"sightline/engine/geom"
	"sightline/vision/dots"
	"sightline/vision/token"
)

// dotInks are the printed colours of the dots.
var dotInks = map[dots.Colour]color.RGBA{dots.Red: {215, 45, 50, 255}, dots.Green: {60, 175, 70, 255}, dots.Blue: {40, 110, 215, 255},
	dots.Yellow: {240, 215, 45, 255}, dots.Magenta: {205, 60, 190, 255}}

// idCard is the size of a flat number, like a Ship ID, in mm.
var idCard = geom.Point{X: 9, Y: 11}

// IDs draws for each ship the two dots for its card's rear corners, by which the camera
// distinguishes ships that look alike, and two flat numbers for people. The error names a ship
// without dots.
func IDs(paper Paper, ships []token.Token) ([]Page, error) {
	const wide, high, margin = 60.0, 20.0, 4.0 // of a ship's cell
	area := paper.content()
	notes := 26.0
	perRow, perPage := int((area.width()-margin)/wide), 0
	perPage = perRow * int((area.height()-notes-margin)/high)
	var pages []Page
	sheets := (len(ships) + perPage - 1) / perPage
	for i, s := range ships {
		if i%perPage == 0 {
			pages = append(pages, paper.newPage(fmt.Sprintf("Ship IDs · sheet %d of %d · matt paper or labels, in colour", len(pages)+1, sheets)))
			pages[len(pages)-1].idNotes(geom.Point{X: area.x0 + margin, Y: area.y0 + 6})
		}
		k := i % perPage
		at := geom.Point{X: area.x0 + margin + wide*float64(k%perRow), Y: area.y0 + notes + high*float64(k/perRow)}
		left, right, ok := dots.OfShip(s.Code.ID())
		if !ok {
			return nil, fmt.Errorf("%s: expected a ship's number of 1 to %d", s.Code.ID(), dots.Numbers)
		}
		pages[len(pages)-1].ids(at, s, left, right)
	}
	return pages, nil
}

// idNotes explains how to use them.
func (p *Page) idNotes(at geom.Point) {
	for _, line := range []string{
		"Cut each dot out with its white ring, along the grey line. Fix it on the card with removable glue: left dot left, seen from",
		fmt.Sprintf("behind the ship, its middle %.0f mm from the base's side and %.0f mm from its rear edge. A ship may carry one, or none.",
			dots.FromSide.Millimeters(), dots.FromRear.Millimeters()),
		"The numbers are for people: a camera above the table cannot read them. Ask the organiser before you mark ships for a tournament.",
	} {
		p.text(regular(), at, 1.9, left, 0, black, line)
		at.Y += 4.6
	}
}

// ids draws the items of one ship from the upper left corner of its cell.
func (p *Page) ids(at geom.Point, s token.Token, l, r dots.Colour) {
	id := s.Code.ID()
	p.text(bold(), at.Add(geom.Point{Y: 10}), 4, left, 0, black, id)
	for i, c := range [2]dots.Colour{l, r} {
		middle := at.Add(geom.Point{X: 17 + 11*float64(i), Y: 8})
		p.circle(middle, float64(dots.Ring)/2+0.1, grey)
		p.circle(middle, float64(dots.Ring)/2, color.RGBA{255, 255, 255, 255})
		p.circle(middle, float64(dots.Disc)/2, dotInks[c])
		p.text(regular(), middle.Add(geom.Point{Y: 6.6}), 1.5, center, 0, grey, c.String())
	}
	for i := range 2 {
		x, y := at.X+36+11*float64(i), at.Y+2
		p.frame(x-0.1, y-0.1, x+idCard.X+0.1, y+idCard.Y+0.1, 0.1, grey)
		ink := black
		if i == 1 { // a Ship ID has one dark side
			p.rect(x, y, x+idCard.X, y+idCard.Y, black)
			ink = color.RGBA{255, 255, 255, 255}
		}
		high := 5.2
		if len(id) > 2 {
			high = 4
		}
		p.text(bold(), geom.Point{X: x + idCard.X/2, Y: y + idCard.Y/2 + high/2}, high, center, 0, ink, id[1:])
	}
}

// circle fills a disc; its chords are off by at most 0.01 mm.
func (p *Page) circle(at geom.Point, radius float64, ink color.RGBA) {
	const corners = 64
	ring := make([]geom.Point, corners)
	for i := range ring {
		s, c := math.Sincos(2 * math.Pi * float64(i) / corners)
		ring[i] = at.Add(geom.Point{X: radius * c, Y: radius * s})
	}
	p.add(Shape{Fill: ink, Rings: [][]geom.Point{ring}})
}
