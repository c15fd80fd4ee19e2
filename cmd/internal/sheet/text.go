package sheet

import (
	"encoding/binary"
	"image/color"
	"math"
	"sync"

	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"

	"sightline/engine/geom"
)

// font is a TrueType font read down to what outlines need. It reads the Go fonts
// that are compiled in, and is no reader for fonts from elsewhere: it trusts them.
type font struct {
	data    []byte
	tables  map[string][]byte
	perEm   float64
	capital float64 // height of "H", font units
}

var (
	regular = sync.OnceValue(func() *font { return newFont(goregular.TTF) })
	bold    = sync.OnceValue(func() *font { return newFont(gobold.TTF) })
)

func newFont(data []byte) *font {
	f := &font{data: data, tables: map[string][]byte{}}
	for i := range int(u16(data, 4)) {
		rec := data[12+16*i:]
		off, n := binary.BigEndian.Uint32(rec[8:]), binary.BigEndian.Uint32(rec[12:])
		f.tables[string(rec[:4])] = data[off : off+n]
	}
	f.perEm = float64(u16(f.tables["head"], 18))
	for _, ring := range f.glyph(f.index('H'), 1) {
		for _, p := range ring {
			f.capital = math.Max(f.capital, p.Y)
		}
	}
	return f
}

func u16(b []byte, at int) uint16 { return binary.BigEndian.Uint16(b[at:]) }
func i16(b []byte, at int) int    { return int(int16(u16(b, at))) }

// index returns the glyph of a character, 0 (the empty box) when there is none.
// It reads the character map of format 4, which every font for Windows has.
func (f *font) index(r rune) int {
	cmap := f.tables["cmap"]
	for i := range int(u16(cmap, 2)) {
		sub := cmap[binary.BigEndian.Uint32(cmap[4+8*i+4:]):]
		if u16(sub, 0) != 4 {
			continue
		}
		n := int(u16(sub, 6)) / 2
		for s := range n {
			end, start := rune(u16(sub, 14+2*s)), rune(u16(sub, 16+2*n+2*s))
			if r > end || r < start {
				continue
			}
			delta, at := u16(sub, 16+4*n+2*s), 16+6*n+2*s
			offset := int(u16(sub, at))
			if offset == 0 {
				return int(uint16(r) + delta)
			}
			if g := u16(sub, at+offset+2*int(r-start)); g != 0 {
				return int(g + delta)
			}
			return 0
		}
	}
	return 0
}

// advance returns the width of a glyph in font units.
func (f *font) advance(glyph int) float64 {
	n := int(u16(f.tables["hhea"], 34))
	return float64(u16(f.tables["hmtx"], 4*min(glyph, n-1)))
}

// glyph returns the outline of a glyph as polygons in font units, y up, each of
// its curves as so many chords.
func (f *font) glyph(index, chords int) [][]geom.Point {
	g := f.tables["glyf"][f.location(index):f.location(index+1)]
	if len(g) == 0 { // a space
		return nil
	}
	if contours := i16(g, 0); contours >= 0 {
		return simpleGlyph(g, contours, chords)
	}
	return f.compositeGlyph(g, chords)
}

// location returns where a glyph begins in the table of outlines.
func (f *font) location(index int) uint32 {
	if i16(f.tables["head"], 50) == 0 {
		return 2 * uint32(u16(f.tables["loca"], 2*index))
	}
	return binary.BigEndian.Uint32(f.tables["loca"][4*index:])
}

// simpleGlyph decodes contours of straight lines and quadratic curves.
func simpleGlyph(g []byte, contours, chords int) [][]geom.Point {
	points := 0
	if contours > 0 {
		points = int(u16(g, 10+2*(contours-1))) + 1
	}
	at := 10 + 2*contours
	at += 2 + int(u16(g, at)) // skip the hinting program
	var flags []byte
	for len(flags) < points {
		flag := g[at]
		at++
		flags = append(flags, flag)
		if flag&8 != 0 {
			for range g[at] {
				flags = append(flags, flag)
			}
			at++
		}
	}
	coordinates := func(short, same byte) []float64 {
		out, v := make([]float64, points), 0
		for i := range out {
			switch {
			case flags[i]&short != 0:
				d := int(g[at])
				at++
				if flags[i]&same == 0 {
					d = -d
				}
				v += d
			case flags[i]&same == 0:
				v += i16(g, at)
				at += 2
			}
			out[i] = float64(v)
		}
		return out
	}
	x, y := coordinates(2, 16), coordinates(4, 32)
	var rings [][]geom.Point
	first := 0
	for c := range contours {
		end := int(u16(g, 10+2*c)) + 1
		rings = append(rings, flatten(x[first:end], y[first:end], flags[first:end], chords))
		first = end
	}
	return rings
}

// flatten turns one contour, closed, into a polygon of so many chords per curve.
func flatten(x, y []float64, flags []byte, chords int) []geom.Point {
	n := len(x)
	var out []geom.Point
	at := func(i int) geom.Point { i = (i + n) % n; return geom.Point{X: x[i], Y: y[i]} }
	on := func(i int) bool { return flags[(i+n)%n]&1 != 0 }
	for i := range n {
		if on(i) {
			out = append(out, at(i))
			continue
		}
		// Between two control points lies an implied point, half way.
		a, b := at(i-1), at(i+1)
		if !on(i - 1) {
			a = a.Lerp(at(i), 0.5)
			out = append(out, a)
		}
		if !on(i + 1) {
			b = b.Lerp(at(i), 0.5)
		}
		for k := 1; k < chords; k++ {
			t := float64(k) / float64(chords)
			out = append(out, a.Lerp(at(i), t).Lerp(at(i).Lerp(b, t), t))
		}
	}
	return out
}

// compositeGlyph puts a glyph together from others (an accented letter). The Go
// fonts only shift the parts.
func (f *font) compositeGlyph(g []byte, chords int) [][]geom.Point {
	var rings [][]geom.Point
	for at := 10; ; {
		flags, part := u16(g, at), int(u16(g, at+2))
		at += 4
		var shift geom.Point
		if flags&1 != 0 {
			shift = geom.Point{X: float64(i16(g, at)), Y: float64(i16(g, at+2))}
			at += 4
		} else {
			shift = geom.Point{X: float64(int8(g[at])), Y: float64(int8(g[at+1]))}
			at += 2
		}
		for _, ring := range f.glyph(part, chords) {
			moved := make([]geom.Point, len(ring))
			for i, p := range ring {
				moved[i] = p.Add(shift)
			}
			rings = append(rings, moved)
		}
		if flags&0x20 == 0 {
			return rings
		}
	}
}

// width returns the length of a line of text whose capitals are height mm high.
func (f *font) width(s string, height float64) float64 {
	w := 0.0
	for _, r := range s {
		w += f.advance(f.index(r))
	}
	return w * height / f.capital
}

// align says which point of a line of text is given: a share of its length.
type align float64

const (
	left   align = 0
	center align = 0.5
	right  align = 1
)

// text spells a line of text on the page: at is on the base line, height is that
// of the capitals in mm, turn is clockwise on the page.
func (p *Page) text(f *font, at geom.Point, height float64, a align, turn geom.Angle, ink color.RGBA, s string) {
	sin, cos := math.Sincos(float64(turn))
	along, down := geom.Point{X: cos, Y: sin}, geom.Point{X: -sin, Y: cos}
	length := f.width(s, height)
	start := at.Sub(along.Mul(float64(a) * length))
	shape := Shape{Fill: ink, Words: &Words{Text: s, Start: start, Turn: turn, Height: geom.Length(height), Length: geom.Length(length)}}
	// The longest curves of a letter are about half as long as it is high, and a
	// chord of the n-th part of one is off by 1/(4n²) of that: 0.015 mm here.
	chords := int(math.Ceil(math.Sqrt(height / (8 * 0.015))))
	k, pen := height/f.capital, 0.0
	for _, r := range s {
		g := f.index(r)
		for _, ring := range f.glyph(g, chords) {
			out := make([]geom.Point, len(ring))
			for i, q := range ring {
				out[i] = start.Add(along.Mul(k * (pen + q.X))).Sub(down.Mul(k * q.Y))
			}
			shape.Rings = append(shape.Rings, out)
		}
		pen += f.advance(g)
	}
	p.add(shape)
}
