package sheet

import (
	"fmt"
	"math"

	"sightline/engine/geom"
)

// Paper is a size of paper, standing upright.
type Paper struct {
	Name          string
	Width, Height geom.Length
}

// ParsePaper reads a paper's name: a4 or letter.
func ParsePaper(name string) (Paper, error) {
	switch name {
	case "a4":
		return Paper{name, 210 * geom.Millimeter, 297 * geom.Millimeter}, nil
	case "letter":
		return Paper{name, 8.5 * geom.Inch, 11 * geom.Inch}, nil
	}
	return Paper{}, fmt.Errorf("paper: expected a4 or letter, got %q", name)
}

// Landscape returns the paper lying on its side.
func (p Paper) Landscape() Paper { return Paper{p.Name + " landscape", p.Height, p.Width} }

// The rules to check the printer by: solid bars whose outer ends are the length.
const (
	ruleLength = 100 * geom.Millimeter
	ruleWidth  = 1.5 * geom.Millimeter
)

// area of a sheet that its content may use, on the page.
type contentArea struct{ x0, y0, x1, y1 float64 }

func (a contentArea) width() float64  { return a.x1 - a.x0 }
func (a contentArea) height() float64 { return a.y1 - a.y0 }

// content returns what header, rules and the printer's margins leave free.
func (p Paper) content() contentArea {
	return contentArea{18, 14, float64(p.Width) - 8, float64(p.Height) - 18}
}

// newPage returns a page with what every sheet carries: its title, the words on
// scale, and the two rules.
//
//	|  title            print at 100 %   |
//	| |                                  |
//	| | rule                             |
//	| |           content                |
//	|   ---------- rule  [measured:    ] |
func (p Paper) newPage(title string) Page {
	page := Page{Title: title, Width: p.Width, Height: p.Height}
	c := p.content()
	const head = 9.5
	page.text(bold(), geom.Point{X: c.x0, Y: head}, 2.6, left, 0, black, title)
	page.text(bold(), geom.Point{X: c.x1, Y: head}, 2.6, right, 0, black, "print at 100 %, not fit to page")

	n, w := float64(ruleLength), float64(ruleWidth)
	x, y := c.x0, float64(p.Height)-10.5 // left end of the rule across, its upper edge
	page.rect(x, y, x+n, y+w, black)
	page.measured(geom.Point{X: x + n + 3, Y: y + w}, 0)

	x, y = 8, c.y0 // upper end of the rule down, its left edge
	page.rect(x, y, x+w, y+n, black)
	page.measured(geom.Point{X: x + w, Y: y + n + 3 + measuredLength}, -90*geom.Degree)
	const marks = 11 // one every centimetre
	for i := range marks {
		at := 10 * float64(i)
		page.tick(geom.Point{X: c.x0 + at, Y: float64(p.Height) - 10.5}, geom.Point{Y: -1}, i, marks)
		page.tick(geom.Point{X: 8, Y: c.y0 + at}, geom.Point{X: -1}, i, marks)
	}
	return page
}

// tick draws the i-th mark of a rule, 1 mm long; the first and the last lie
// within the rule's length.
func (p *Page) tick(at, out geom.Point, i, marks int) {
	const width = 0.2
	along := geom.Point{X: math.Abs(out.Y), Y: math.Abs(out.X)}
	switch i {
	case 0:
		at = at.Add(along.Mul(width / 2))
	case marks - 1:
		at = at.Sub(along.Mul(width / 2))
	}
	p.line(at, at.Add(out), width, black)
}

// measuredLength is the length of the box "measured: ____ mm", with the words before it.
const measuredLength = 62.0

// measured draws "100 mm" and the box to write the measured length into. start is
// the lower left corner as the text is read.
func (p *Page) measured(start geom.Point, turn geom.Angle) {
	const capital, boxAt, boxHigh = 2.2, 13.0, 5.0
	sin, cos := math.Sincos(float64(turn))
	at := func(along, up float64) geom.Point {
		return geom.Point{X: start.X + along*cos + up*sin, Y: start.Y + along*sin - up*cos}
	}
	p.text(regular(), at(0, 0), capital, left, turn, black, "100 mm")
	a, b := at(boxAt, -1.2), at(measuredLength, boxHigh-1.2)
	p.frame(math.Min(a.X, b.X), math.Min(a.Y, b.Y), math.Max(a.X, b.X), math.Max(a.Y, b.Y), 0.2, black)
	p.text(regular(), at(boxAt+1.5, 0), capital, left, turn, black, "measured: ____________ mm")
}

// cutMarks draws two short lines at each corner of a rectangle, clear of it.
func (p *Page) cutMarks(x0, y0, x1, y1 float64) {
	const gap, length, width = 0.8, 2.0, 0.1
	for _, c := range [4]struct{ at, out geom.Point }{
		{geom.Point{X: x0, Y: y0}, geom.Point{X: -1, Y: -1}}, {geom.Point{X: x1, Y: y0}, geom.Point{X: 1, Y: -1}},
		{geom.Point{X: x1, Y: y1}, geom.Point{X: 1, Y: 1}}, {geom.Point{X: x0, Y: y1}, geom.Point{X: -1, Y: 1}},
	} {
		for _, d := range [2]geom.Point{{X: c.out.X}, {Y: c.out.Y}} {
			p.line(c.at.Add(d.Mul(gap)), c.at.Add(d.Mul(gap+length)), width, black)
		}
	}
}
