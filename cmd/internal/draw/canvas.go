package draw

import (
	"encoding/xml"
	"fmt"
	"math"
	"strconv"
	"strings"

	"sightline/engine/geom"
)

// canvas collects SVG elements. Its user unit is the millimetre; y points down, and
// top is the table's y at the picture's y of 0.
type canvas struct {
	b    strings.Builder
	top  float64
	unit float64 // mm of a hairline; everything not of the table has a size in this unit
}

// at converts a place on the table to the picture.
func (c *canvas) at(p geom.Point) (x, y float64) { return p.X, c.top - p.Y }

// printf writes markup. Escape texts from the scene first, with escaped.
func (c *canvas) printf(format string, args ...any) { fmt.Fprintf(&c.b, format, args...) }

// xy formats a place as "x y".
func (c *canvas) xy(p geom.Point) string {
	x, y := c.at(p)
	return number(x) + " " + number(y)
}

// polygon returns the path data of a closed polygon.
func (c *canvas) polygon(ps ...geom.Point) string {
	var b strings.Builder
	for i, p := range ps {
		b.WriteByte("ML"[min(i, 1)])
		b.WriteString(c.xy(p))
	}
	b.WriteByte('Z')
	return b.String()
}

// path draws path data with a class.
func (c *canvas) path(class, d string) { c.printf(`<path class="%s" d="%s"/>`+"\n", class, d) }

// segment draws a line with a class.
func (c *canvas) segment(class string, a, b geom.Point) { c.path(class, "M"+c.xy(a)+"L"+c.xy(b)) }

// text writes words centred on a place; size is in units.
func (c *canvas) text(class string, size float64, p geom.Point, words string) {
	x, y := c.at(p)
	c.printf(`<text class="%s" font-size="%s" x="%s" y="%s">%s</text>`+"\n", class, number(size*c.unit), number(x), number(y), escaped(words))
}

// turned opens a group in the frame of a pose: x to the right of the nose, y back.
func (c *canvas) turned(p geom.Pose, class string) {
	x, y := c.at(p.Point)
	c.printf(`<g class="%s" transform="translate(%s %s) rotate(%s)">`+"\n", class, number(x), number(y),
		number(p.Heading.Normalized().Degrees()))
}

func (c *canvas) close() { c.printf("</g>\n") }

// number formats millimetres to the hundredth, without needless zeros. NaN and infinities cannot
// occur here, but even then the drawing stays well formed.
func number(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "0"
	}
	s := strings.TrimRight(strings.TrimRight(strconv.FormatFloat(v, 'f', 2, 64), "0"), ".")
	if s == "-0" {
		return "0"
	}
	return s
}

// maxName is the largest number of letters of a name that are written. Longer ones would cover the
// table.
const maxName = 24

// escaped makes a text harmless inside an element or an attribute.
func escaped(s string) string {
	if r := []rune(s); len(r) > maxName*8 {
		s = string(r[:maxName*8]) + "…"
	}
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a strings.Builder never fails
	return b.String()
}

// name shortens an id to fit the drawing.
func name(id string) string {
	if r := []rune(id); len(r) > maxName {
		return string(r[:maxName-1]) + "…"
	}
	return id
}
