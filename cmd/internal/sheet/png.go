package sheet

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"slices"

	"sightline/engine/geom"
)

// The resolutions that a PNG may have, in dots per inch.
const (
	MinDPI = 72
	MaxDPI = 2400
)

// WritePNG draws one page as a picture of dpi dots per inch, which it also states
// in the file (pHYs). It works row by row, so that a whole sheet at 2400 dpi needs
// no more memory than one at 72.
func WritePNG(w io.Writer, p Page, dpi int) error {
	if dpi < MinDPI || dpi > MaxDPI {
		return fmt.Errorf("dpi: expected %d…%d, got %d", MinDPI, MaxDPI, dpi)
	}
	p = p.drawn()
	perMM := float64(dpi) / float64(geom.Inch)
	width, height := pixels(p.Width, perMM), pixels(p.Height, perMM)
	sx, sy := perMM, perMM
	if p.Bleed {
		sx, sy = float64(width)/float64(p.Width), float64(height)/float64(p.Height)
	}
	out := bufio.NewWriterSize(w, 1<<16)
	if _, err := out.WriteString("\x89PNG\r\n\x1a\n"); err != nil {
		return err
	}
	var head, phys [13]byte
	binary.BigEndian.PutUint32(head[0:], uint32(width))
	binary.BigEndian.PutUint32(head[4:], uint32(height))
	head[8], head[9] = 8, 2 // eight bits, red green blue
	perMeter := uint32(math.Round(perMM * 1000))
	binary.BigEndian.PutUint32(phys[0:], perMeter)
	binary.BigEndian.PutUint32(phys[4:], perMeter)
	phys[8] = 1 // per metre
	writeChunk(out, "IHDR", head[:])
	writeChunk(out, "pHYs", phys[:9])

	data := &chunkWriter{w: out}
	z := zlib.NewWriter(data)
	r := newRaster(p, width, height, sx, sy)
	line, above, filtered := make([]byte, 3*width), make([]byte, 3*width), make([]byte, 3*width+1)
	filtered[0] = 2 // each byte less the one above it: most rows become zeros
	for y := range height {
		r.row(y, line)
		for i, v := range line {
			filtered[i+1] = v - above[i]
		}
		if _, err := z.Write(filtered); err != nil {
			return err
		}
		line, above = above, line
	}
	if err := z.Close(); err != nil {
		return err
	}
	data.flush()
	writeChunk(out, "IEND", nil)
	return out.Flush() // a bufio.Writer keeps the first error for here
}

// pixels returns how many pixels a length has, at least one.
func pixels(l geom.Length, perMM float64) int { return max(1, int(math.Round(float64(l)*perMM))) }

// writeChunk writes one chunk of a PNG file.
func writeChunk(w *bufio.Writer, kind string, data []byte) {
	var n [4]byte
	binary.BigEndian.PutUint32(n[:], uint32(len(data)))
	w.Write(n[:])
	w.WriteString(kind)
	w.Write(data)
	sum := crc32.Update(crc32.ChecksumIEEE([]byte(kind)), crc32.IEEETable, data)
	binary.BigEndian.PutUint32(n[:], sum)
	w.Write(n[:])
}

// chunkWriter cuts the compressed picture into IDAT chunks.
type chunkWriter struct {
	w   *bufio.Writer
	buf bytes.Buffer
}

func (c *chunkWriter) Write(b []byte) (int, error) {
	c.buf.Write(b)
	if c.buf.Len() >= 1<<16 {
		c.flush()
	}
	return len(b), nil
}

func (c *chunkWriter) flush() {
	writeChunk(c.w, "IDAT", c.buf.Bytes())
	c.buf.Reset()
}

// scans is the number of scan lines in a row of pixels. Along a scan line areas
// are exact, so an edge is placed to 1/32 pixel at worst: 1.3 µm at 600 dpi.
const scans = 16

// raster draws a page's shapes into rows of pixels.
type raster struct {
	areas []area
	cover []float64 // change of the covered share from pixel to pixel
	cross []crossing
}

// area is a shape in pixels, 0 at the outer edge of the first pixel.
type area struct {
	fill     [3]float64
	edges    []edge
	top, end int // rows that it may touch: top ≤ y < end
}

type edge struct {
	x, y, end float64 // the upper end, and where it ends below
	slope     float64 // dx/dy
	dir       int     // +1 when it was drawn downwards
}

type crossing struct {
	x   float64
	dir int
}

func newRaster(p Page, width, height int, sx, sy float64) *raster {
	r := &raster{cover: make([]float64, width+1)}
	for _, s := range p.Shapes {
		lo, hi := s.bounds()
		a := area{
			fill: [3]float64{float64(s.Fill.R), float64(s.Fill.G), float64(s.Fill.B)},
			top:  max(0, int(math.Floor(lo.Y*sy))), end: min(height, int(math.Ceil(hi.Y*sy))),
		}
		for _, ring := range s.Rings {
			for i, q := range ring {
				a.addEdge(ring[(i+len(ring)-1)%len(ring)], q, sx, sy)
			}
		}
		slices.SortFunc(a.edges, func(e, f edge) int { return cmp.Compare(e.y, f.y) })
		r.areas = append(r.areas, a)
	}
	return r
}

func (a *area) addEdge(p, q geom.Point, sx, sy float64) {
	dir := 1
	if p.Y > q.Y {
		p, q, dir = q, p, -1
	}
	if p.Y == q.Y {
		return
	}
	a.edges = append(a.edges, edge{
		x: p.X * sx, y: p.Y * sy, end: q.Y * sy, slope: (q.X - p.X) * sx / ((q.Y - p.Y) * sy), dir: dir,
	})
}

// row draws row y of the picture into line, three bytes a pixel, on white paper.
func (r *raster) row(y int, line []byte) {
	for i := range line {
		line[i] = 255
	}
	for i := range r.areas {
		if a := &r.areas[i]; a.top <= y && y < a.end {
			if from, to := r.scan(a, float64(y)); from < to {
				r.paint(a, line, from, to)
			}
		}
	}
}

// scan fills cover with one row of an area and returns the pixels that it touches.
func (r *raster) scan(a *area, y float64) (from, to int) {
	from, to = len(r.cover), 0
	width := float64(len(r.cover) - 1)
	for k := range scans {
		at := y + (float64(k)+0.5)/scans
		r.cross = r.cross[:0]
		for i := range a.edges {
			e := &a.edges[i]
			if e.y > at {
				break // sorted: the rest begins further down
			}
			if at < e.end {
				x := min(max(e.x+(at-e.y)*e.slope, 0), width)
				r.cross = append(r.cross, crossing{x, e.dir})
			}
		}
		slices.SortFunc(r.cross, func(c, d crossing) int { return cmp.Compare(c.x, d.x) })
		for i, wind := 0, 0; i+1 < len(r.cross); i++ {
			if wind += r.cross[i].dir; wind != 0 && r.cross[i].x < r.cross[i+1].x {
				from = min(from, int(r.cross[i].x))
				to = max(to, int(math.Ceil(r.cross[i+1].x)))
				r.span(r.cross[i].x, r.cross[i+1].x)
			}
		}
	}
	return from, to
}

// span adds the stretch a…b of one scan line to cover: what each pixel is covered
// more than the pixel to its left.
func (r *raster) span(a, b float64) {
	r.step(a, 1.0/scans)
	r.step(b, -1.0/scans)
}

// step raises the cover of everything right of x.
func (r *raster) step(x, by float64) {
	i := int(x)
	share := x - float64(i) // of pixel i that lies left of x
	r.cover[i] += by * (1 - share)
	if i+1 < len(r.cover) {
		r.cover[i+1] += by * share
	}
}

// paint lays the area's ink over the line by cover, and clears cover.
func (r *raster) paint(a *area, line []byte, from, to int) {
	sum := 0.0
	for x := from; x < to; x++ {
		sum += r.cover[x]
		r.cover[x] = 0
		c := min(max(sum, 0), 1)
		if c < 1e-9 {
			continue
		}
		for k := range 3 {
			v := float64(line[3*x+k])
			line[3*x+k] = byte(math.Round(v + c*(a.fill[k]-v)))
		}
	}
	r.cover[to] = 0
	if to+1 < len(r.cover) {
		r.cover[to+1] = 0
	}
}
