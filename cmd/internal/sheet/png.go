package sheet

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"math"

	"golang.org/x/image/vector"

	"sightline/engine/geom"
)

// The possible resolutions of a PNG, in dots per inch.
const (
	MinDPI = 72
	MaxDPI = 1200
)

// WritePNG draws one page as a picture of dpi dots per inch, and states that in the file (pHYs).
func WritePNG(w io.Writer, p Page, dpi int) error {
	if dpi < MinDPI || dpi > MaxDPI {
		return fmt.Errorf("dpi: expected %d…%d, got %d", MinDPI, MaxDPI, dpi)
	}
	perMM := float64(dpi) / float64(geom.Inch)
	encoder := png.Encoder{CompressionLevel: png.BestSpeed}
	return encoder.Encode(&stater{w: w, perMeter: uint32(math.Round(perMM * 1000))}, newDrawing(p.drawn(), perMM))
}

// pixels returns the number of pixels of a length, at least one.
func pixels(l geom.Length, perMM float64) int { return max(1, int(math.Round(float64(l)*perMM))) }

// stater passes on a PNG file and adds its resolution, which image/png cannot: the pHYs chunk
// follows the header chunk.
type stater struct {
	w        io.Writer
	perMeter uint32
	head     []byte // signature and header chunk written so far; nil once they are passed on
	done     bool
}

// headSize is the length of a PNG file's signature and header chunk, in bytes.
const headSize = 8 + 12 + 13

func (s *stater) Write(b []byte) (int, error) {
	if s.done {
		return s.w.Write(b)
	}
	if s.head = append(s.head, b...); len(s.head) < headSize {
		return len(b), nil
	}
	phys := binary.BigEndian.AppendUint32([]byte("\x00\x00\x00\x09pHYs"), s.perMeter)
	phys = binary.BigEndian.AppendUint32(phys, s.perMeter)
	phys = append(phys, 1) // per metre
	phys = binary.BigEndian.AppendUint32(phys, crc32.ChecksumIEEE(phys[4:]))
	_, err := s.w.Write(bytes.Join([][]byte{s.head[:headSize], phys, s.head[headSize:]}, nil))
	s.head, s.done = nil, true
	return len(b), err
}

// bandRows is the number of rows drawn at a time, so that a sheet at 1200 dpi needs no more memory
// than one at 72.
const bandRows = 128

// drawing is a page as a picture. It draws bands of rows on demand, for readers that go row by row,
// like image/png.
type drawing struct {
	size   image.Point
	areas  []area
	band   *image.RGBA
	raster vector.Rasterizer
	last   color.Color // last result of At: most neighbours are equal, and need no allocation
}

// area is a shape in pixels, 0 at the outer edge of the first pixel.
type area struct {
	fill   color.RGBA
	rings  [][]geom.Point
	bounds image.Rectangle
}

func newDrawing(p Page, perMM float64) *drawing {
	d := &drawing{size: image.Pt(pixels(p.Width, perMM), pixels(p.Height, perMM))}
	sx, sy := perMM, perMM
	if p.Bleed {
		sx, sy = float64(d.size.X)/float64(p.Width), float64(d.size.Y)/float64(p.Height)
	}
	for _, s := range p.Shapes {
		lo, hi := s.bounds()
		scaled := s.moved(func(q geom.Point) geom.Point { return geom.Point{X: q.X * sx, Y: q.Y * sy} })
		r := image.Rect(int(math.Floor(lo.X*sx)), int(math.Floor(lo.Y*sy)), int(math.Ceil(hi.X*sx)), int(math.Ceil(hi.Y*sy)))
		d.areas = append(d.areas, area{s.Fill, scaled.Rings, r.Intersect(d.Bounds())})
	}
	return d
}

func (d *drawing) ColorModel() color.Model { return color.RGBAModel }
func (d *drawing) Bounds() image.Rectangle { return image.Rectangle{Max: d.size} }
func (d *drawing) Opaque() bool            { return true }

func (d *drawing) At(x, y int) color.Color {
	if d.band == nil || !(image.Point{x, y}).In(d.band.Rect) {
		d.draw(y / bandRows * bandRows)
	}
	if c := d.band.RGBAAt(x, y); d.last == nil || c != d.last.(color.RGBA) {
		d.last = c
	}
	return d.last
}

// draw draws the band that begins with row top, on white paper.
func (d *drawing) draw(top int) {
	d.band = image.NewRGBA(image.Rect(0, top, d.size.X, min(top+bandRows, d.size.Y)))
	draw.Draw(d.band, d.band.Rect, image.White, image.Point{}, draw.Src)
	for _, a := range d.areas {
		r := a.bounds.Intersect(d.band.Rect)
		if r.Empty() {
			continue
		}
		d.raster.Reset(r.Dx(), r.Dy())
		at := func(q geom.Point) (x, y float32) {
			return float32(q.X - float64(r.Min.X)), float32(q.Y - float64(r.Min.Y))
		}
		for _, ring := range a.rings {
			d.raster.MoveTo(at(ring[0]))
			for _, q := range ring[1:] {
				d.raster.LineTo(at(q))
			}
			d.raster.ClosePath()
		}
		d.raster.Draw(d.band, r, image.NewUniform(a.fill), image.Point{})
	}
}
