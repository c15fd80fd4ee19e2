package sheet

import (
	"image/color"
	"math"
	"sync"

	ximage "golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"

	"sightline/engine/geom"
)

// font has the outlines and widths of an embedded font's glyphs, in font units.
type font struct {
	sfnt    *sfnt.Font
	perEm   fixed.Int26_6 // a size that gives font units
	capital float64       // height of "H", font units
}

var (
	regular = sync.OnceValue(func() *font { return newFont(goregular.TTF) })
	bold    = sync.OnceValue(func() *font { return newFont(gobold.TTF) })
)

func newFont(data []byte) *font {
	parsed, err := sfnt.Parse(data)
	if err != nil {
		panic("sheet: a font that is compiled in: " + err.Error())
	}
	f := &font{sfnt: parsed, perEm: fixed.Int26_6(parsed.UnitsPerEm())}
	for _, ring := range f.glyph(&sfnt.Buffer{}, f.index(&sfnt.Buffer{}, 'H'), 1) {
		for _, p := range ring {
			f.capital = math.Max(f.capital, p.Y)
		}
	}
	return f
}

// index returns the glyph of a character, or 0 (the empty box) if there is none.
func (f *font) index(buf *sfnt.Buffer, r rune) sfnt.GlyphIndex {
	g, err := f.sfnt.GlyphIndex(buf, r)
	if err != nil {
		return 0
	}
	return g
}

// advance returns the width of a glyph in font units.
func (f *font) advance(buf *sfnt.Buffer, g sfnt.GlyphIndex) float64 {
	w, err := f.sfnt.GlyphAdvance(buf, g, f.perEm, ximage.HintingNone)
	if err != nil {
		return 0
	}
	return float64(w)
}

// glyph returns the outline of a glyph as polygons in font units, y up, each of its quadratic
// curves as chords.
func (f *font) glyph(buf *sfnt.Buffer, g sfnt.GlyphIndex, chords int) (rings [][]geom.Point) {
	segments, err := f.sfnt.LoadGlyph(buf, g, f.perEm, nil)
	if err != nil {
		return nil
	}
	point := func(p fixed.Point26_6) geom.Point { return geom.Point{X: float64(p.X), Y: -float64(p.Y)} }
	var last geom.Point
	for _, s := range segments {
		if s.Op == sfnt.SegmentOpMoveTo {
			rings = append(rings, nil)
		}
		ring := &rings[len(rings)-1]
		end := point(s.Args[0])
		if s.Op == sfnt.SegmentOpQuadTo {
			control := end
			end = point(s.Args[1])
			for k := 1; k < chords; k++ {
				t := float64(k) / float64(chords)
				*ring = append(*ring, last.Lerp(control, t).Lerp(control.Lerp(end, t), t))
			}
		}
		*ring = append(*ring, end)
		last = end
	}
	return rings
}

// width returns the length of a line of text with capitals height mm high.
func (f *font) width(s string, height float64) float64 {
	var buf sfnt.Buffer
	w := 0.0
	for _, r := range s {
		w += f.advance(&buf, f.index(&buf, r))
	}
	return w * height / f.capital
}

// align is the anchor of a line of text, as a share of its length.
type align float64

const (
	left   align = 0
	center align = 0.5
	right  align = 1
)

// text writes a line of text on the page: at is on the base line, height is that of the capitals in
// mm, turn is clockwise on the page.
func (p *Page) text(f *font, at geom.Point, height float64, a align, turn geom.Angle, ink color.RGBA, s string) {
	sin, cos := math.Sincos(float64(turn))
	along, down := geom.Point{X: cos, Y: sin}, geom.Point{X: -sin, Y: cos}
	length := f.width(s, height)
	start := at.Sub(along.Mul(float64(a) * length))
	shape := Shape{Fill: ink, Words: &Words{Text: s, Start: start, Turn: turn, Height: geom.Length(height), Length: geom.Length(length)}}
	// The longest curves of a letter are about half as long as it is high. A chord of the n-th part
	// of one is off by 1/(4n²) of that: 0.015 mm here.
	chords := int(math.Ceil(math.Sqrt(height / (8 * 0.015))))
	k, pen := height/f.capital, 0.0
	var buf sfnt.Buffer
	for _, r := range s {
		g := f.index(&buf, r)
		for _, ring := range f.glyph(&buf, g, chords) {
			out := make([]geom.Point, len(ring))
			for i, q := range ring {
				out[i] = start.Add(along.Mul(k * (pen + q.X))).Sub(down.Mul(k * q.Y))
			}
			shape.Rings = append(shape.Rings, out)
		}
		pen += f.advance(&buf, g)
	}
	p.add(shape)
}
