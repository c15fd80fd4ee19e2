package sheet

import (
	"fmt"
	"math"

	"sightline/engine/geom"
)

// PrinterScale is a printer's scale: the measured length divided by the true one, across (X, along
// the paper's short side) and along (Y). The zero value is a true printer, like 1 and 1.
type PrinterScale struct{ X, Y float64 }

// ScaleRange is how far from 1 a printer's scale may be. Paper feeds are off by less than 1 %. A
// viewer that fits the page to the paper changes it by 3 % or more, and on A3 a drawing enlarged by
// 3 % leaves the page.
const ScaleRange = 0.025

// ParsePrinterScale checks a printer's scale. 0 means that it was not given, and counts as 1.
func ParsePrinterScale(x, y float64) (PrinterScale, error) {
	for axis, v := range map[string]float64{"x": x, "y": y} {
		if v != 0 && !(math.Abs(v-1) <= ScaleRange+1e-9) {
			return PrinterScale{}, fmt.Errorf("scale %s: expected %.3f…%.3f (measured length of the 100 mm bar ÷ 100), got %v: beyond that "+
				"something scales the page, print at 100 %%",
				axis, 1-ScaleRange, 1+ScaleRange, v)
		}
	}
	return PrinterScale{x, y}, nil
}

// factors returns the scale, with 1 for what was not given.
func (s PrinterScale) factors() (x, y float64) {
	x, y = s.X, s.Y
	if x == 0 {
		x = 1
	}
	if y == 0 {
		y = 1
	}
	return x, y
}

// compensates reports whether sheets for this printer are drawn in another size.
func (s PrinterScale) compensates() bool {
	x, y := s.factors()
	return x != 1 || y != 1
}

// String formats the two factors.
func (s PrinterScale) String() string {
	x, y := s.factors()
	return fmt.Sprintf("printer scale x %s, y %s", factor(x), factor(y))
}

func factor(v float64) string { return fmt.Sprintf("%.5g", v) }

// advice returns the text about the bars on the sheet.
func (s PrinterScale) advice() string {
	if s.compensates() {
		return fmt.Sprintf("Drawn for %v: both bars should now measure 100.0 mm. Lay a steel rule on them and write down what you read.", s)
	}
	return "Lay a steel rule on both bars. 99.7 to 100.3 mm is good. Else type both lengths in on /first, or print with " +
		"--printer-scale-x and -y = length ÷ 100."
}

// drawn returns the page as it must be drawn for its printer: scaled around the middle of the
// paper, so that the margins stay. A page without margins changes its size with its content.
func (p Page) drawn() Page {
	if !p.Printer.compensates() {
		return p
	}
	sx, sy := p.Printer.factors()
	if p.Width > p.Height { // landscape: the printer's x runs down the page
		sx, sy = sy, sx
	}
	cx, cy := float64(p.Width)/2, float64(p.Height)/2
	out := p
	out.Printer = PrinterScale{}
	out.Title = fmt.Sprintf("%s · drawn for %v", p.Title, p.Printer)
	if p.Bleed {
		out.Width, out.Height = p.Width/geom.Length(sx), p.Height/geom.Length(sy)
	}
	dx, dy := float64(out.Width)/2, float64(out.Height)/2
	to := func(q geom.Point) geom.Point { return geom.Point{X: dx + (q.X-cx)/sx, Y: dy + (q.Y-cy)/sy} }
	out.Shapes = make([]Shape, len(p.Shapes))
	for i, s := range p.Shapes {
		out.Shapes[i] = s.moved(to)
		if w := out.Shapes[i].Words; w != nil {
			sin, cos := math.Sincos(float64(w.Turn))
			w.Length = geom.Length(float64(w.Length) * math.Hypot(cos/sx, sin/sy))
		}
	}
	return out
}

// moved returns the shape with every point, and the start of its words, mapped by to.
func (s Shape) moved(to func(geom.Point) geom.Point) Shape {
	out := Shape{Fill: s.Fill}
	if s.Words != nil {
		w := *s.Words
		w.Start = to(w.Start)
		out.Words = &w
	}
	for _, r := range s.Rings {
		ring := make([]geom.Point, len(r))
		for j, q := range r {
			ring[j] = to(q)
		}
		out.Rings = append(out.Rings, ring)
	}
	return out
}
