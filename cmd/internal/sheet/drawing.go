// Package sheet draws the sheets that people print, to scale: ship tokens, mat markers, boards for
// the lens and the check card.
//
// A [Page] is a list of filled shapes in millimetres from the page's top left corner, x to the
// right and y DOWN, unlike the table's frame. Its three writers, [WritePDF], [WriteSVG] and
// [WritePNG], draw the same list. Text is outlines too, so the formats cannot differ and need no
// installed font.
package sheet

import (
	"image/color"
	"math"

	"sightline/engine/geom"
)

// Inks of the sheets; tokens have their own.
var (
	black = color.RGBA{0, 0, 0, 255}
	grey  = color.RGBA{120, 120, 120, 255}
)

// Page is one sheet of paper, or one label when Bleed is set.
type Page struct {
	Title         string
	Width, Height geom.Length
	Shapes        []Shape // in the order of painting

	// Printer is the page's printer. The shapes have their size on paper; the writers draw them so
	// that this printer produces that size.
	Printer PrinterScale

	// Bleed means that the drawing fills the page to its edges, and must fill the picture too: a PNG
	// is then stretched by less than half a pixel so that its edge is the page's edge. Without Bleed
	// the scale is exact, and the last row of pixels may be only partly paper.
	Bleed bool
}

// Shape is an area filled with one ink. Several rings are one area (non-zero winding), so that
// adjacent rings show no seam.
type Shape struct {
	Fill  color.RGBA
	Rings [][]geom.Point

	// Words is the text of a shape that is a line of text, for search and screen readers; otherwise
	// nil.
	Words *Words
}

// Words is the text that a shape spells, and its place.
type Words struct {
	Text   string
	Start  geom.Point  // left end of the base line
	Turn   geom.Angle  // of the base line, clockwise on the page
	Height geom.Length // of capital letters
	Length geom.Length // of the base line
}

// add paints shapes on top of the others.
func (p *Page) add(s ...Shape) { p.Shapes = append(p.Shapes, s...) }

// rect fills an axis-parallel rectangle.
func (p *Page) rect(x0, y0, x1, y1 float64, ink color.RGBA) {
	p.add(Shape{Fill: ink, Rings: [][]geom.Point{box(x0, y0, x1, y1)}})
}

// line fills a straight line of the given width in mm, with square ends at a and b.
func (p *Page) line(a, b geom.Point, width float64, ink color.RGBA) {
	d := b.Sub(a)
	n := geom.Point{X: -d.Y, Y: d.X}.Mul(width / 2 / d.Norm())
	p.add(Shape{Fill: ink, Rings: [][]geom.Point{{a.Add(n), b.Add(n), b.Sub(n), a.Sub(n)}}})
}

// frame draws the outline of a rectangle, with the line inside it.
func (p *Page) frame(x0, y0, x1, y1, width float64, ink color.RGBA) {
	inner := box(x0+width, y0+width, x1-width, y1-width)
	inner[1], inner[3] = inner[3], inner[1] // in reverse order: a hole
	p.add(Shape{Fill: ink, Rings: [][]geom.Point{box(x0, y0, x1, y1), inner}})
}

// arrow draws an arrow from a to b, with its tip at b.
func (p *Page) arrow(a, b geom.Point, width float64, ink color.RGBA) {
	d := b.Sub(a)
	u := d.Mul(1 / d.Norm())
	n := geom.Point{X: -u.Y, Y: u.X}
	neck := b.Sub(u.Mul(5 * width))
	p.line(a, neck, width, ink)
	p.add(Shape{Fill: ink, Rings: [][]geom.Point{{b, neck.Add(n.Mul(2 * width)), neck.Sub(n.Mul(2 * width))}}})
}

// box returns a rectangle's corners, clockwise on the page.
func box(x0, y0, x1, y1 float64) []geom.Point {
	return []geom.Point{{X: x0, Y: y0}, {X: x1, Y: y0}, {X: x1, Y: y1}, {X: x0, Y: y1}}
}

// placed moves shapes from a frame with y UP (a token's) to the page, with their origin at the
// given place of the page.
func placed(shapes []Shape, at geom.Point) []Shape {
	out := make([]Shape, len(shapes))
	for i, s := range shapes {
		out[i] = s.moved(func(q geom.Point) geom.Point { return geom.Point{X: at.X + q.X, Y: at.Y - q.Y} })
	}
	return out
}

// clipped returns the part of a convex polygon with |x| ≤ hx and |y| ≤ hy (Sutherland and Hodgman
// 1974).
func clipped(poly []geom.Point, hx, hy float64) []geom.Point {
	for _, n := range []geom.Point{{X: 1}, {X: -1}, {Y: 1}, {Y: -1}} {
		h := hx*math.Abs(n.X) + hy*math.Abs(n.Y)
		var out []geom.Point
		for i, q := range poly {
			prev := poly[(i+len(poly)-1)%len(poly)]
			dp, dq := h-prev.Dot(n), h-q.Dot(n)
			if (dp < 0) != (dq < 0) {
				out = append(out, prev.Lerp(q, dp/(dp-dq)))
			}
			if dq >= 0 {
				out = append(out, q)
			}
		}
		poly = out
	}
	return poly
}

// bounds returns the extent of a shape.
func (s Shape) bounds() (lo, hi geom.Point) {
	lo, hi = geom.Point{X: math.Inf(1), Y: math.Inf(1)}, geom.Point{X: math.Inf(-1), Y: math.Inf(-1)}
	for _, r := range s.Rings {
		for _, q := range r {
			lo = geom.Point{X: math.Min(lo.X, q.X), Y: math.Min(lo.Y, q.Y)}
			hi = geom.Point{X: math.Max(hi.X, q.X), Y: math.Max(hi.Y, q.Y)}
		}
	}
	return lo, hi
}
