package sheet

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// WriteSVG draws one page as SVG with the millimetre as its user unit. Text is outlines, labelled
// with its words.
func WriteSVG(w io.Writer, p Page) error {
	p = p.drawn()
	out := bufio.NewWriter(w)
	width, height := number(float64(p.Width)), number(float64(p.Height))
	fmt.Fprintf(out, `<svg xmlns="http://www.w3.org/2000/svg" width="%smm" height="%smm" viewBox="0 0 %s %s">`+"\n", width, height, width,
		height)
	fmt.Fprintf(out, "<title>%s</title>\n", escaped(p.Title))
	fmt.Fprintf(out, `<rect width="%s" height="%s" fill="#ffffff"/>`+"\n", width, height)
	for _, s := range p.Shapes {
		label := ""
		if s.Words != nil {
			label = fmt.Sprintf(` role="img" aria-label="%s"`, escaped(s.Words.Text))
		}
		fmt.Fprintf(out, `<path fill="#%02x%02x%02x"%s d="%s"/>`+"\n", s.Fill.R, s.Fill.G, s.Fill.B, label, svgPath(s))
	}
	out.WriteString("</svg>\n")
	return out.Flush() // a bufio.Writer returns its first error here
}

func svgPath(s Shape) string {
	var b strings.Builder
	for _, ring := range s.Rings {
		for i, q := range ring {
			b.WriteByte("ML"[min(i, 1)])
			b.WriteString(number(q.X) + " " + number(q.Y))
		}
		b.WriteByte('Z')
	}
	return b.String()
}

// number formats millimetres to the micrometre, without needless zeros.
func number(v float64) string {
	s := strings.TrimRight(strings.TrimRight(strconv.FormatFloat(v, 'f', 3, 64), "0"), ".")
	if s == "-0" {
		return "0"
	}
	return s
}

func escaped(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a strings.Builder never fails
	return b.String()
}
