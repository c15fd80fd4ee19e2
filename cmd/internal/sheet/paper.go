package sheet

import (
	"fmt"
	"math"

	"sightline/engine/geom"
)

// Paper is a size of paper in portrait, and its printer.
type Paper struct {
	Name          string
	Width, Height geom.Length
	Printer       PrinterScale
}

// ParsePaper parses a paper's name: a4, letter, a3 or tabloid.
func ParsePaper(name string) (Paper, error) {
	switch name {
	case "a4":
		return Paper{Name: name, Width: 210 * geom.Millimeter, Height: 297 * geom.Millimeter}, nil
	case "letter":
		return Paper{Name: name, Width: 8.5 * geom.Inch, Height: 11 * geom.Inch}, nil
	case "a3":
		return Paper{Name: name, Width: 297 * geom.Millimeter, Height: 420 * geom.Millimeter}, nil
	case "tabloid":
		return Paper{Name: name, Width: 11 * geom.Inch, Height: 17 * geom.Inch}, nil
	}
	return Paper{}, fmt.Errorf("paper: expected a4, letter, a3 or tabloid, got %q", name)
}

// Landscape returns the paper in landscape.
func (p Paper) Landscape() Paper {
	p.Name, p.Width, p.Height = p.Name+" landscape", p.Height, p.Width
	return p
}

// The rules for checking the printer: solid bars with this length between their outer ends.
const (
	ruleLength = 100 * geom.Millimeter
	ruleWidth  = 1.5 * geom.Millimeter
)

// contentArea is the part of a page for its content.
type contentArea struct{ x0, y0, x1, y1 float64 }

func (a contentArea) width() float64  { return a.x1 - a.x0 }
func (a contentArea) height() float64 { return a.y1 - a.y0 }

// content returns the area inside header, rules and the printer's margins.
func (p Paper) content() contentArea {
	return contentArea{18, 14, float64(p.Width) - 8, float64(p.Height) - 18}
}

// newPage returns a page with what every sheet carries: its title, the words on
// scale, and the two rules with what to do with them.
//
//	|  title            print at 100 %   |
//	| |                                  |
//	| | rule                             |
//	| |           content                |
//	|   lay a steel rule on both bars …  |
//	|   ---------- rule  [measured:    ] |
func (p Paper) newPage(title string) Page {
	page := Page{Title: title, Width: p.Width, Height: p.Height, Printer: p.Printer}
	c := p.content()
	const head = 9.5
	page.text(bold(), geom.Point{X: c.x0, Y: head}, 2.6, left, 0, black, title)
	page.text(bold(), geom.Point{X: c.x1, Y: head}, 2.6, right, 0, black, "print at 100 %, not fit to page")

	n, w := float64(ruleLength), float64(ruleWidth)
	// The printer's x runs along the paper's short side, in portrait and landscape.
	across, down := "100 mm x", "100 mm y"
	if p.Width > p.Height {
		across, down = down, across
	}
	page.text(regular(), geom.Point{X: c.x0, Y: float64(p.Height) - 14.2}, 1.8, left, 0, black, p.Printer.advice())
	x, y := c.x0, float64(p.Height)-10.5 // left end of the horizontal rule, its upper edge
	page.rect(x, y, x+n, y+w, black)
	page.measured(geom.Point{X: x + n + 3, Y: y + w}, 0, across)

	x, y = 8, c.y0 // upper end of the vertical rule, its left edge
	page.rect(x, y, x+w, y+n, black)
	page.measured(geom.Point{X: x + w, Y: y + n + 3 + measuredLength}, -90*geom.Degree, down)
	const marks = 11 // one per centimetre
	for i := range marks {
		at := 10 * float64(i)
		page.tick(geom.Point{X: c.x0 + at, Y: float64(p.Height) - 10.5}, geom.Point{Y: -1}, i, marks)
		page.tick(geom.Point{X: 8, Y: c.y0 + at}, geom.Point{X: -1}, i, marks)
	}
	return page
}

// tick draws the i-th mark of a rule, 1 mm long. The first and the last are inside the rule's
// length.
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

// measuredLength is the length of the box "measured: ____ mm" with the words before it.
const measuredLength = 65.0

// measured draws a rule's length, and the box for the measured one. start is the lower left corner
// in the direction of reading.
func (p *Page) measured(start geom.Point, turn geom.Angle, length string) {
	const capital, boxAt, boxHigh = 2.2, 16.0, 5.0
	sin, cos := math.Sincos(float64(turn))
	at := func(along, up float64) geom.Point {
		return geom.Point{X: start.X + along*cos + up*sin, Y: start.Y + along*sin - up*cos}
	}
	p.text(regular(), at(0, 0), capital, left, turn, black, length)
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
