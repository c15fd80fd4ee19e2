package tablesim

import (
	"image"
	"math"

	"sightline/vision"
)

// fullScale is the sensor code at which the picture saturates; the codes above
// leave room for noise.
const fullScale = 57344

// sensor turns linear light into noisy pixels with the sRGB curve.
type sensor struct {
	encode [65536]uint8      // code → pixel
	sigma  [65536 >> 5]int32 // noise, in codes, by code
	normal [1 << 12]int32    // a normal distribution's quantiles, 4096 = one sigma
}

func newSensor(l Look) *sensor {
	s := &sensor{}
	for i := range s.encode {
		s.encode[i] = uint8(math.Round(255 * srgbEncode(float64(i)/fullScale)))
	}
	for i := range s.sigma {
		v := (float64(i<<5) + 16) / fullScale
		variance := l.ReadNoise * l.ReadNoise
		if l.FullWell > 0 {
			variance += v / l.FullWell
		}
		s.sigma[i] = int32(math.Round(fullScale * math.Sqrt(variance)))
	}
	for i := range s.normal {
		p := (float64(i) + 0.5) / float64(len(s.normal))
		q := math.Sqrt2 * math.Erfinv(2*p-1)
		s.normal[i] = int32(math.Round(4096 * q))
	}
	return s
}

func srgbEncode(v float64) float64 {
	switch {
	case v >= 1:
		return 1
	case v <= 0.0031308:
		return 12.92 * v
	}
	return 1.055*math.Pow(v, 1/2.4) - 0.055
}

// take takes a frame through the table's camera model, with its exposure multiplied by a factor;
// without a model as expose does.
func (r *renderer) take(seq uint64, factor float64) (vision.Frame, error) {
	if r.darkroom != nil {
		return r.darkroom.develop(r.blurred, r.seed, seq, factor)
	}
	return r.expose(seq), nil
}

// expose takes a frame: noise, curve, eight bits. The noise depends on the frame's number.
func (r *renderer) expose(seq uint64) vision.Frame {
	w, h := r.lens.w, r.lens.h
	gray := image.NewGray(image.Rect(0, 0, w, h))
	bgr := &vision.BGR{Pix: make([]byte, 3*w*h), Width: w, Height: h}
	const rows = 16
	parallel(r.workers, (h+rows-1)/rows, func(_ *tracer, i int) {
		for y := rows * i; y < min(rows*(i+1), h); y++ {
			seed := mix64(r.seed ^ mix64(seq<<20|uint64(y)))
			r.sensor.row(r.blurred[3*y*w:][:3*w], bgr.Pix[3*y*w:][:3*w], gray.Pix[y*gray.Stride:][:w], seed)
		}
	})
	return vision.Frame{Gray: gray, Color: bgr, Seq: seq}
}

// row exposes one row.
func (s *sensor) row(codes []uint16, bgr, gray []byte, seed uint64) {
	x := seed | 1
	for i := range gray {
		c, p := codes[3*i:3*i+3], bgr[3*i:3*i+3]
		x ^= x >> 12 // xorshift64*, whose high bits are good
		x ^= x << 25
		x ^= x >> 27
		random := x * 0x2545f4914f6cdd1d
		r := s.pixel(c[0], random>>52)
		g := s.pixel(c[1], random>>40)
		b := s.pixel(c[2], random>>28)
		p[0], p[1], p[2] = b, g, r
		gray[i] = lumaLevel(r, g, b)
	}
}

// lumaLevel returns the grey value of a pixel: OpenCV's luma, 0.299 R + 0.587 G + 0.114 B
// rounded, in its 15-bit fixed point.
func lumaLevel(r, g, b uint8) uint8 {
	return uint8((9798*uint32(r) + 19235*uint32(g) + 3735*uint32(b) + 1<<14) >> 15)
}

func (s *sensor) pixel(code uint16, random uint64) uint8 {
	v := int32(code) + (s.sigma[code>>5]*s.normal[random&(1<<12-1)])>>12
	return s.encode[min(max(v, 0), 65535)]
}
