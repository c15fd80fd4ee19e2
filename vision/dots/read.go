package dots

import (
	"math"
	"slices"

	"sightline/calibration"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
)

// A dot is a disc of one colour with white all around. All levels are shares of the white of the mat's markers, in linear
// light, so that a dot looks the same under lamps of any colour.
const (
	innerMM    = 1.3  // radius of the part of the disc that is read; blur does not reach it at 1 px/mm
	ringMM     = 3.5  // radius of the middle of the white ring
	ringLeast  = 0.13 // by which the ring is whiter than the disc, in the disc's weakest channel
	ringWays   = 12   // directions in which the ring is checked
	ringShare  = 0.75 // share of them that must be whiter; the rest may be hidden
	satLeast   = 0.55 // saturation: 1 minus the smallest channel over the largest
	evenMost   = 0.35 // largest difference of a channel within the disc, relative to its largest channel
	hueMost    = 20.0 // degrees from a colour's own hue: printers, lamps and cameras differ so
	lightLeast = 0.02 // of white, of the largest channel: a shadow shows no colour
	lift       = 0.1  // mm of the sticker over the card
)

// hues are the hues of the colours as printed, in degrees in linear light.
var hues = [colours + 1]float64{Red: 0, Yellow: 54, Green: 122, Blue: 228, Magenta: 308}

// rgb is linear light.
type rgb [3]float64

// Reader reads dots in pictures of one calibrated camera.
type Reader struct {
	table calibration.Table
	frame vision.Frame
	white rgb
}

// NewReader prepares a picture: it measures the white of the mat's markers. It reports false if the picture has no colour or
// shows no marker.
func NewReader(t calibration.Table, f vision.Frame) (*Reader, bool) {
	r := &Reader{table: t, frame: f, white: rgb{1, 1, 1}}
	if f.Color == nil {
		return nil, false
	}
	var all [3][]float64
	for _, m := range t.Layout.Markers {
		half := float64(m.Size) / 2
		for _, way := range [4]geom.Point{{X: 1}, {X: -1}, {Y: 1}, {Y: -1}} {
			for _, out := range [...]float64{half + 2, half + 3} {
				p := geom.Pose{Point: m.Center, Heading: m.Heading}.Transform(way.Mul(out))
				c, ok := r.at(p, m.Z)
				if !ok {
					continue
				}
				for i, v := range c {
					all[i] = append(all[i], v)
				}
			}
		}
	}
	for i := range all {
		if len(all[i]) == 0 {
			return nil, false
		}
		r.white[i] = max(quantile(all[i], 0.7), 1e-3) // anything in the way is darker
	}
	return r, true
}

// at is the light at a point of the table at a height over the mat, as a share of the white; false: not in the picture.
func (r *Reader) at(p geom.Point, z geom.Length) (out rgb, ok bool) {
	px, ok := r.table.PixelOf(p, z)
	x, y := math.Floor(px.X), math.Floor(px.Y)
	i, j := int(x), int(y)
	c := r.frame.Color
	if !ok || i < 0 || j < 0 || i+1 >= c.Width || j+1 >= c.Height {
		return out, false
	}
	ax, ay := px.X-x, px.Y-y
	for k := range out {
		v := func(i, j int) float64 { return linear[c.Pix[3*(j*c.Width+i)+2-k]] }
		top := v(i, j)*(1-ax) + v(i+1, j)*ax
		out[k] = (top*(1-ay) + (v(i, j+1)*(1-ax)+v(i+1, j+1)*ax)*ay) / r.white[k]
	}
	return out, true
}

// linear decodes the sRGB curve (IEC 61966-2-1).
var linear = func() (t [256]float64) {
	for i := range t {
		if v := float64(i) / 255; v <= 0.04045 {
			t[i] = v / 12.92
		} else {
			t[i] = math.Pow((v+0.055)/1.055, 2.4)
		}
	}
	return t
}()

func quantile(v []float64, q float64) float64 {
	slices.Sort(v)
	return v[int(q*float64(len(v)-1)+0.5)]
}

// Read reads the dots of a base at a pose whose card's top lies z over the mat.
func (r *Reader) Read(b engine.Base, pose geom.Pose, z geom.Length) (out Reading) {
	for i, p := range Places(b) {
		out[i] = r.dot(pose.Transform(p), z+lift)
	}
	return out
}

// dot reads one dot.
func (r *Reader) dot(at geom.Point, z geom.Length) Colour {
	var inner [3][]float64
	for _, ring := range [...]struct {
		radius float64
		n      int
	}{{0, 1}, {innerMM / 2, 6}, {innerMM, 12}} {
		for k := range ring.n {
			c, ok := r.at(around(at, ring.radius, k, ring.n), z)
			if !ok {
				return None
			}
			for i, v := range c {
				inner[i] = append(inner[i], v)
			}
		}
	}
	var c rgb
	for i := range c {
		c[i] = quantile(inner[i], 0.5)
	}
	most, least := c.most(), c.least()
	if most < lightLeast || 1-least/most < satLeast {
		return None
	}
	for i := range c {
		if v := inner[i]; quantile(v, 0.85)-quantile(v, 0.15) > evenMost*most {
			return None
		}
	}
	colour := named(hueOf(c))
	weak := slices.Index(c[:], least)
	whiter := 0
	for k := range ringWays {
		switch v, ok := r.at(around(at, ringMM, k, ringWays), z); {
		case ok && v[weak]-least > ringLeast*max(most, ringLeast):
			whiter++
		case ok && 1-v.least()/v.most() >= satLeast && named(hueOf(v)) == colour:
			return None // print, whose colour extends to where a dot has its white ring
		}
	}
	if float64(whiter) < ringShare*ringWays {
		return None
	}
	return colour
}

func (c rgb) most() float64  { return max(c[0], c[1], c[2]) }
func (c rgb) least() float64 { return min(c[0], c[1], c[2]) }

func around(p geom.Point, radius float64, k, n int) geom.Point {
	s, c := math.Sincos(2 * math.Pi * float64(k) / float64(n))
	return p.Add(geom.Point{X: radius * c, Y: radius * s})
}

// hueOf is a colour's hue in degrees.
func hueOf(c rgb) float64 {
	x := c[0] - (c[1]+c[2])/2
	y := math.Sqrt(3) / 2 * (c[1] - c[2])
	h := math.Atan2(y, x) * 180 / math.Pi
	return math.Mod(h+360, 360)
}

// named returns the colour of a hue; None: it lies between two.
func named(hue float64) Colour {
	for c := Red; c <= Magenta; c++ {
		if d := math.Abs(math.Remainder(hue-hues[c], 360)); d < hueMost {
			return c
		}
	}
	return None
}
