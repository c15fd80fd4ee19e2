package tablesim

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"math"

	"sightline/vision"
)

// modelScale is the sensor code of full scale under a camera model: the codes go up to mostLight,
// for bloom and the shoulder.
const modelScale = 65535.0 / mostLight

// toneSteps is the number of steps of the tone curve per unit of light, with interpolation between.
const toneSteps = 4096

// darkroom turns a renderer's light into pictures as a camera model does.
type darkroom struct {
	m       CameraModel
	w, h    int
	workers int
	tone    []float32 // encoded value, grey levels, of light k/toneSteps
	unsharp []float32 // taps
	normal  *[1 << 12]int32
	light   []float32 // r, g, b of each pixel
	mosaic  []float32 // of each pixel
	luma    []float32
	wide    []float32
	coarse  [2]plane
	quality int // of the last picture with limited size
}

// plane is a small picture of one channel.
type plane struct {
	pix  []float32
	w, h int
}

func newDarkroom(m CameraModel, w, h, workers int, normal *[1 << 12]int32) *darkroom {
	d := &darkroom{m: m, w: w, h: h, workers: workers, normal: normal, light: make([]float32, 3*w*h), quality: m.Quality}
	d.tone = make([]float32, mostLight*toneSteps+2)
	for i := range d.tone {
		d.tone[i] = float32(255 * m.tone(float64(i)/toneSteps))
	}
	if m.Mosaic {
		d.mosaic = make([]float32, w*h)
	}
	if m.Sharpen > 0 || m.LocalTone > 0 {
		d.luma, d.wide = make([]float32, w*h), make([]float32, w*h)
		d.unsharp = gaussian(m.SharpenWide)
	}
	return d
}

// rows runs job for all rows, in parallel.
func (d *darkroom) rows(job func(y int)) {
	const some = 16
	parallel(d.workers, (d.h+some-1)/some, func(_ *tracer, i int) {
		for y := some * i; y < min(some*(i+1), d.h); y++ {
			job(y)
		}
	})
}

// develop turns sensor codes into a picture; the noise depends on the frame's number. The light is
// first multiplied by a factor.
func (d *darkroom) develop(codes []uint16, seed, seq uint64, factor float64) (vision.Frame, error) {
	d.collect(codes, seq, factor)
	if d.m.Bloom > 0 {
		d.bloom()
	}
	d.rows(func(y int) { d.sense(y, mix64(seed^mix64(seq<<20|uint64(y)))) })
	if d.m.Mosaic {
		d.rows(d.demosaic)
	}
	if d.m.LocalTone > 0 {
		d.localTone()
	}
	d.rows(d.encode)
	if d.m.Sharpen > 0 {
		d.sharpen()
	}
	f := vision.Frame{Seq: seq}
	var err error
	if d.m.Quality > 0 {
		f.Gray, f.Color, err = d.compressed()
	} else {
		f.Gray, f.Color = d.plain()
	}
	return f, err
}

// collect turns codes into light: exposure, tint and the bands of flickering lamps.
func (d *darkroom) collect(codes []uint16, seq uint64, factor float64) {
	var k [3]float32
	for c, t := range d.m.Tint {
		if t == 0 {
			t = 1
		}
		k[c] = float32(d.m.gain() * t * factor / modelScale)
	}
	d.rows(func(y int) {
		band := float32(1)
		if d.m.Flicker > 0 {
			phase := (float64(y) + d.m.Drift*float64(seq)) / d.m.BandRows
			band = float32(1 + d.m.Flicker*math.Sin(2*math.Pi*phase))
		}
		from, to := codes[3*y*d.w:][:3*d.w], d.light[3*y*d.w:][:3*d.w]
		for i := 0; i < len(to); i += 3 {
			to[i] = min(float32(from[i])*k[0]*band, mostLight)
			to[i+1] = min(float32(from[i+1])*k[1]*band, mostLight)
			to[i+2] = min(float32(from[i+2])*k[2]*band, mostLight)
		}
	})
}

// bloom scatters a share of the light, channel by channel.
func (d *darkroom) bloom() {
	share := float32(d.m.Bloom)
	for c := range 3 {
		small := d.smooth(func(x, y int) float32 { return d.light[3*(y*d.w+x)+c] }, d.m.BloomWide)
		columns := small.columns(d.w)
		d.rows(func(y int) {
			row, at := d.light[3*y*d.w:][:3*d.w], small.row(y, d.h)
			for x, column := range columns {
				row[3*x+c] += share * (at.value(column) - row[3*x+c])
			}
		})
	}
}

// smooth returns a picture smoothed by a Gaussian of a sigma in pixels, at a coarse scale.
func (d *darkroom) smooth(at func(x, y int) float32, sigma float64) *plane {
	cell := max(int(sigma/2), 1)
	w, h := (d.w+cell-1)/cell, (d.h+cell-1)/cell
	for i := range d.coarse {
		d.coarse[i] = plane{resize(d.coarse[i].pix, w*h), w, h}
	}
	a, b := &d.coarse[0], &d.coarse[1]
	parallel(d.workers, h, func(_ *tracer, j int) {
		for i := range w {
			sum, n := float32(0), 0
			for y := j * cell; y < min((j+1)*cell, d.h); y++ {
				for x := i * cell; x < min((i+1)*cell, d.w); x++ {
					sum += at(x, y)
					n++
				}
			}
			a.pix[j*w+i] = sum / float32(n)
		}
	})
	taps := gaussian(sigma / float64(cell))
	convolve(a.pix, b.pix, w, h, taps, d.workers)
	return b
}

// lerp is where the middle of a pixel of the whole picture lies in a plane, along one axis: between two of its own.
type lerp struct {
	i, j int
	a    float32 // from i to j, 0 to 1
}

// lerpAt returns where pixel x of n lies among the own of a plane.
func lerpAt(x, n, own int) lerp {
	u := (float32(x)+0.5)*float32(own)/float32(n) - 0.5
	u = min(max(u, 0), float32(own-1))
	i := min(int(u), max(own-2, 0))
	return lerp{i, min(i+1, own-1), u - float32(i)}
}

// columns returns where the columns of a whole picture of w lie.
func (p *plane) columns(w int) []lerp {
	all := make([]lerp, w)
	for x := range all {
		all[x] = lerpAt(x, w, p.w)
	}
	return all
}

// planeRow is a row of the whole picture in a plane: the plane's rows above and below it.
type planeRow struct {
	above, below []float32
	b            float32 // from above to below, 0 to 1
}

// row returns row y of a whole picture of h rows.
func (p *plane) row(y, h int) planeRow {
	v := lerpAt(y, h, p.h)
	return planeRow{p.pix[v.i*p.w:][:p.w], p.pix[v.j*p.w:][:p.w], v.a}
}

// value returns the plane's value in a column of the row.
func (r *planeRow) value(c lerp) float32 {
	top := r.above[c.i]*(1-c.a) + r.above[c.j]*c.a
	bottom := r.below[c.i]*(1-c.a) + r.below[c.j]*c.a
	return top*(1-r.b) + bottom*r.b
}

// convolve smooths a picture of one channel, w×h, in both directions. Beyond its edge the picture
// repeats the edge.
func convolve(from, to []float32, w, h int, taps []float32, workers int) {
	n := len(taps) / 2
	parallel(workers, h, func(s *tracer, y int) {
		s.smear = resize(s.smear, w)
		sum := s.smear
		clear(sum)
		for k, f := range taps {
			for x, v := range from[min(max(y+k-n, 0), h-1)*w:][:w] {
				sum[x] += f * v
			}
		}
		row := to[y*w:][:w]
		for x := range row {
			v := float32(0)
			if x >= n && x+n < w {
				for k, f := range taps {
					v += f * sum[x-n+k]
				}
			} else {
				for k, f := range taps {
					v += f * sum[min(max(x-n+k, 0), w-1)]
				}
			}
			row[x] = v
		}
	})
}

// sense adds the noise of a row and saturates; with a mosaic each pixel keeps one colour.
func (d *darkroom) sense(y int, seed uint64) {
	x := seed | 1
	full, read, most := float32(0), float32(d.m.ReadNoise*d.m.ReadNoise), float32(d.m.headroom())
	if d.m.FullWell > 0 {
		full = float32(1 / d.m.FullWell)
	}
	noisy := func(v float32, random uint64) float32 {
		q := float32(d.normal[random&(1<<12-1)]) / 4096
		return min(max(v+q*float32(math.Sqrt(float64(v*full+read))), 0), most)
	}
	row := d.light[3*y*d.w:][:3*d.w]
	for i := range d.w {
		x ^= x >> 12 // xorshift64*, whose high bits are good
		x ^= x << 25
		x ^= x >> 27
		random := x * 0x2545f4914f6cdd1d
		if d.m.Mosaic {
			d.mosaic[y*d.w+i] = noisy(row[3*i+y&1+i&1], random>>52) // R G / G B
			continue
		}
		row[3*i] = noisy(row[3*i], random>>52)
		row[3*i+1] = noisy(row[3*i+1], random>>40)
		row[3*i+2] = noisy(row[3*i+2], random>>28)
	}
}

// demosaic interpolates the colours of a row (Malvar, He and Cutler 2004); the mosaic is
// mirrored at the picture's edge.
func (d *darkroom) demosaic(y int) {
	mirrored := func(i, n int) int {
		if i < 0 {
			i = -i
		}
		if i >= n {
			i = 2*n - 2 - i
		}
		return min(max(i, 0), n-1)
	}
	var r [5][]float32
	for k := range r {
		r[k] = d.mosaic[mirrored(y+k-2, d.h)*d.w:][:d.w]
	}
	out := d.light[3*y*d.w:][:3*d.w]
	for x := range d.w {
		a, b, e, f := x-2, x-1, x+1, x+2
		if x < 2 || x+2 >= d.w {
			a, b, e, f = mirrored(a, d.w), mirrored(b, d.w), mirrored(e, d.w), mirrored(f, d.w)
		}
		c := r[2][x]
		upright, level := r[1][x]+r[3][x], r[2][b]+r[2][e]
		far2, wide2 := r[0][x]+r[4][x], r[2][a]+r[2][f]
		diagonal := r[1][b] + r[1][e] + r[3][b] + r[3][e]
		green := (4*c + 2*(upright+level) - far2 - wide2) / 8
		alongRow := (5*c + 4*level - wide2 + far2/2 - diagonal) / 8
		alongColumn := (5*c + 4*upright - far2 + wide2/2 - diagonal) / 8
		across := (6*c + 2*diagonal - 1.5*(far2+wide2)) / 8
		p := out[3*x : 3*x+3]
		switch {
		case y&1 == 0 && x&1 == 0:
			p[0], p[1], p[2] = c, green, across
		case y&1 == 0:
			p[0], p[1], p[2] = alongRow, c, alongColumn
		case x&1 == 0:
			p[0], p[1], p[2] = alongColumn, c, alongRow
		default:
			p[0], p[1], p[2] = across, green, c
		}
		p[0], p[1], p[2] = max(p[0], 0), max(p[1], 0), max(p[2], 0)
	}
}

// localTone compresses local contrast: each pixel is scaled by a power of the ratio of its
// surroundings to a middle grey of 0.18.
func (d *darkroom) localTone() {
	around := d.smooth(func(x, y int) float32 {
		p := d.light[3*(y*d.w+x):]
		return lumaOf(p[0], p[1], p[2])
	}, d.m.LocalWide)
	for i, v := range around.pix {
		around.pix[i] = float32(math.Pow(0.18/max(float64(v), 0.005), d.m.LocalTone))
	}
	columns := around.columns(d.w)
	d.rows(func(y int) {
		row, at := d.light[3*y*d.w:][:3*d.w], around.row(y, d.h)
		for x, c := range columns {
			k := at.value(c)
			row[3*x], row[3*x+1], row[3*x+2] = k*row[3*x], k*row[3*x+1], k*row[3*x+2]
		}
	})
}

func lumaOf(r, g, b float32) float32 { return 0.299*r + 0.587*g + 0.114*b }

// encode turns a row's light into grey levels with the tone curve.
func (d *darkroom) encode(y int) {
	row := d.light[3*y*d.w:][:3*d.w]
	for i, v := range row {
		v = min(v, mostLight) * toneSteps
		k := int(v)
		row[i] = d.tone[k] + (v-float32(k))*(d.tone[k+1]-d.tone[k])
	}
}

// sharpen adds to each pixel the difference of its luma from its surroundings'.
func (d *darkroom) sharpen() {
	d.rows(func(y int) {
		row, luma := d.light[3*y*d.w:][:3*d.w], d.luma[y*d.w:][:d.w]
		for x := range luma {
			luma[x] = lumaOf(row[3*x], row[3*x+1], row[3*x+2])
		}
	})
	convolve(d.luma, d.wide, d.w, d.h, d.unsharp, d.workers)
	k := float32(d.m.Sharpen)
	d.rows(func(y int) {
		row, luma, wide := d.light[3*y*d.w:][:3*d.w], d.luma[y*d.w:][:d.w], d.wide[y*d.w:][:d.w]
		for x := range luma {
			more := k * (luma[x] - wide[x])
			row[3*x], row[3*x+1], row[3*x+2] = row[3*x]+more, row[3*x+1]+more, row[3*x+2]+more
		}
	})
}

func level(v float32) byte { return byte(min(max(v+0.5, 0), 255)) }

// plain returns the picture as it is.
func (d *darkroom) plain() (*image.Gray, *vision.BGR) {
	gray := image.NewGray(image.Rect(0, 0, d.w, d.h))
	bgr := &vision.BGR{Pix: make([]byte, 3*d.w*d.h), Width: d.w, Height: d.h}
	d.rows(func(y int) {
		row, p := d.light[3*y*d.w:][:3*d.w], bgr.Pix[3*y*d.w:][:3*d.w]
		for x := range d.w {
			r, g, b := level(row[3*x]), level(row[3*x+1]), level(row[3*x+2])
			p[3*x], p[3*x+1], p[3*x+2] = b, g, r
			gray.Pix[y*gray.Stride+x] = lumaLevel(r, g, b)
		}
	})
	return gray, bgr
}

// compressed returns the picture after JPEG compression; the grey picture is its luma.
func (d *darkroom) compressed() (*image.Gray, *vision.BGR, error) {
	img := image.NewRGBA(image.Rect(0, 0, d.w, d.h))
	d.rows(func(y int) {
		row, p := d.light[3*y*d.w:][:3*d.w], img.Pix[y*img.Stride:][:4*d.w]
		for x := range d.w {
			p[4*x], p[4*x+1], p[4*x+2], p[4*x+3] = level(row[3*x]), level(row[3*x+1]), level(row[3*x+2]), 255
		}
	})
	got, err := jpeg.Decode(bytes.NewReader(d.packed(img)))
	ycc, ok := got.(*image.YCbCr)
	if err != nil || !ok {
		return nil, nil, fmt.Errorf("tablesim: camera model: JPEG: expected the colour picture that was encoded, got %T: %w", got, err)
	}
	gray := image.NewGray(img.Rect)
	bgr := &vision.BGR{Pix: make([]byte, 3*d.w*d.h), Width: d.w, Height: d.h}
	d.rows(func(y int) {
		copy(gray.Pix[y*gray.Stride:][:d.w], ycc.Y[y*ycc.YStride:])
		p := bgr.Pix[3*y*d.w:][:3*d.w]
		for x := range d.w {
			c := ycc.COffset(x, y)
			p[3*x+2], p[3*x+1], p[3*x] = color.YCbCrToRGB(gray.Pix[y*gray.Stride+x], ycc.Cb[c], ycc.Cr[c])
		}
	})
	return gray, bgr, nil
}

// packed encodes a picture at the model's quality, or at the best lower one, in steps of 5, at
// which it fits.
func (d *darkroom) packed(img *image.RGBA) []byte {
	encode := func(quality int) []byte {
		var b bytes.Buffer
		_ = jpeg.Encode(&b, img, &jpeg.Options{Quality: quality}) // a buffer takes everything
		return b.Bytes()
	}
	const step = 5
	data := encode(d.quality)
	fits := func(b []byte) bool { return d.m.Bytes == 0 || len(b) <= d.m.Bytes }
	for !fits(data) && d.quality > step {
		d.quality -= step
		data = encode(d.quality)
	}
	for d.quality+step <= d.m.Quality {
		better := encode(d.quality + step)
		if !fits(better) {
			break
		}
		d.quality += step
		data = better
	}
	return data
}
