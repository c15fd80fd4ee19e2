package sheet

import (
	"fmt"
	"io"
	"strings"
	"time"

	"codeberg.org/go-pdf/fpdf"

	"sightline/engine/geom"
)

// pointsPerMM converts millimetres to the PDF's own unit.
const pointsPerMM = 72 / float64(geom.Inch)

// WritePDF draws pages as one PDF document. Text is outlines, with the same words invisibly on top
// for search and screen readers.
func WritePDF(w io.Writer, pages []Page) error {
	f := fpdf.New("P", "mm", "A4", "")
	f.SetMargins(0, 0, 0)
	f.SetAutoPageBreak(false, 0)
	f.SetCreator("sightline", true)
	// The same sheet gives the same file at any time.
	f.SetCreationDate(time.Unix(0, 0).UTC())
	f.SetModificationDate(time.Unix(0, 0).UTC())
	f.SetCatalogSort(true)
	// Tell viewers not to scale when printing. fpdf has no viewer preferences; it writes the
	// language unescaped, so they follow it there, and fpdf's closing bracket falls into a comment.
	f.SetLang("en) /ViewerPreferences << /PrintScaling /None >> %")
	encode := f.UnicodeTranslatorFromDescriptor("cp1252")
	for i, p := range pages {
		p = p.drawn()
		if i == 0 {
			f.SetTitle(p.Title, true)
		}
		f.AddPageFormat("P", fpdf.SizeType{Wd: float64(p.Width), Ht: float64(p.Height)})
		for _, s := range p.Shapes {
			f.RawWriteStr(pdfPath(s, float64(p.Height)))
			if s.Words != nil {
				invisible(f, *s.Words, encode)
			}
		}
	}
	return f.Output(w)
}

// pdfPath writes a filled path in points, to a third of a micrometre. (fpdf's own path calls round
// to 3.5 µm.)
func pdfPath(s Shape, height float64) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%.4f %.4f %.4f rg\n", float64(s.Fill.R)/255, float64(s.Fill.G)/255, float64(s.Fill.B)/255)
	for _, ring := range s.Rings {
		for i, q := range ring {
			fmt.Fprintf(&b, "%.3f %.3f %c\n", q.X*pointsPerMM, (height-q.Y)*pointsPerMM, "ml"[min(i, 1)])
		}
		b.WriteString("h\n")
	}
	b.WriteString("f\n")
	return b.String()
}

// invisible writes the words of a shape without ink, over its outlines.
func invisible(f *fpdf.Fpdf, w Words, encode func(string) string) {
	const capital = 0.718 // cap height of Helvetica divided by its size
	text := encode(w.Text)
	size := float64(w.Height) * pointsPerMM / capital
	f.SetFont("Helvetica", "", size)
	if n := f.GetStringWidth(text); n > 0 { // as wide as the outlines
		f.SetFontSize(size * float64(w.Length) / n)
	}
	f.TransformBegin()
	f.TransformRotate(-w.Turn.Degrees(), w.Start.X, w.Start.Y)
	f.SetTextRenderingMode(3)
	f.Text(w.Start.X, w.Start.Y, text)
	f.SetTextRenderingMode(0)
	f.TransformEnd()
}
