package look

import (
	"image"
	"math"

	"sightline/calibration"
	"sightline/engine/geom"
	"sightline/vision"
)

// planes is a part of a picture in floats, three channels interleaved: blue, green, red, or three times grey.
type planes struct {
	x0, y0, w, h int // where in the picture, and its size, in px
	v            []float32
}

// crop copies the part of a rectangle that lies in the picture.
func crop(f vision.Frame, r image.Rectangle) planes {
	w, h := f.Size()
	r = r.Intersect(image.Rect(0, 0, w, h))
	p := planes{x0: r.Min.X, y0: r.Min.Y, w: r.Dx(), h: r.Dy()}
	p.v = make([]float32, channels*p.w*p.h)
	for j := range p.h {
		row := p.v[channels*j*p.w:][:channels*p.w]
		if c := f.Color; c != nil {
			for i, v := range c.Pix[channels*((p.y0+j)*c.Width+p.x0):][:channels*p.w] {
				row[i] = float32(v)
			}
			continue
		}
		for i, v := range f.Gray.Pix[(p.y0+j)*f.Gray.Stride+p.x0:][:p.w] {
			row[channels*i], row[channels*i+1], row[channels*i+2] = float32(v), float32(v), float32(v)
		}
	}
	return p
}

// gaussian returns half of a Gaussian kernel, from the middle outwards. sigma is in samples.
func gaussian(sigma float64) []float32 {
	n := int(math.Ceil(3 * sigma))
	k := make([]float32, n+1)
	var sum float64
	for i := range k {
		v := math.Exp(-float64(i*i) / (2 * sigma * sigma))
		k[i] = float32(v)
		sum += v
		if i > 0 {
			sum += v
		}
	}
	for i := range k {
		k[i] /= float32(sum)
	}
	return k
}

// blurred returns the picture blurred by a Gaussian of sigma, in px; its border is continued outwards.
func (p *planes) blurred(sigma float64) planes {
	if sigma < 0.2 || p.w == 0 || p.h == 0 {
		return *p
	}
	k := gaussian(sigma)
	n, r := channels*p.w, len(k)-1
	across := make([]float32, len(p.v))
	padded := make([]float32, n+2*channels*r)
	for j := range p.h {
		row := p.v[j*n:][:n]
		copy(padded[channels*r:], row)
		for d := range r {
			copy(padded[channels*d:], row[:channels])
			copy(padded[channels*(r+d)+n:], row[n-channels:])
		}
		convolve(across[j*n:][:n], k, func(d int) []float32 { return padded[channels*(r+d):][:n] })
	}
	out := *p
	out.v = make([]float32, len(p.v))
	for j := range p.h {
		convolve(out.v[j*n:][:n], k, func(d int) []float32 { return across[min(max(j+d, 0), p.h-1)*n:][:n] })
	}
	return out
}

// convolve sums lines of samples, from -r to r of the middle one, weighted by a symmetric kernel.
func convolve(out, kernel []float32, line func(d int) []float32) {
	for i, v := range line(0) {
		out[i] = kernel[0] * v
	}
	d := 1
	for ; d+1 < len(kernel); d += 2 { // two at once halve the passes over out
		k, a, b := kernel[d], line(-d)[:len(out)], line(d)[:len(out)]
		l, e, f := kernel[d+1], line(-d - 1)[:len(out)], line(d + 1)[:len(out)]
		for i := range out {
			out[i] += k*(a[i]+b[i]) + l*(e[i]+f[i])
		}
	}
	if d < len(kernel) {
		k, a, b := kernel[d], line(-d)[:len(out)], line(d)[:len(out)]
		for i := range out {
			out[i] += k * (a[i] + b[i])
		}
	}
}

// sample is a picture's value at a place, and how it changes to the right and down, for each channel.
type sample struct{ v, dx, dy [channels]float32 }

// at samples a picture between its pixels by cubic convolution (Catmull-Rom). It reports false outside.
func (p *planes) at(x, y float64, s *sample) bool {
	o, wx, wy, ok := p.around(x, y)
	if !ok {
		return false
	}
	a, b, c, d := p.rows(o)
	var v, down [4 * channels]float32 // of each column
	for k := range v {
		v[k] = wy.v[0]*a[k] + wy.v[1]*b[k] + wy.v[2]*c[k] + wy.v[3]*d[k]
		down[k] = wy.d[0]*a[k] + wy.d[1]*b[k] + wy.d[2]*c[k] + wy.d[3]*d[k]
	}
	for k := range channels {
		s.v[k] = wx.v[0]*v[k] + wx.v[1]*v[channels+k] + wx.v[2]*v[2*channels+k] + wx.v[3]*v[3*channels+k]
		s.dx[k] = wx.d[0]*v[k] + wx.d[1]*v[channels+k] + wx.d[2]*v[2*channels+k] + wx.d[3]*v[3*channels+k]
		s.dy[k] = wx.v[0]*down[k] + wx.v[1]*down[channels+k] + wx.v[2]*down[2*channels+k] + wx.v[3]*down[3*channels+k]
	}
	return true
}

// valueAt is at without the derivatives.
func (p *planes) valueAt(x, y float64, s *sample) bool {
	o, wx, wy, ok := p.around(x, y)
	if !ok {
		return false
	}
	a, b, c, d := p.rows(o)
	var v [4 * channels]float32
	for k := range v {
		v[k] = wy.v[0]*a[k] + wy.v[1]*b[k] + wy.v[2]*c[k] + wy.v[3]*d[k]
	}
	for k := range channels {
		s.v[k] = wx.v[0]*v[k] + wx.v[1]*v[channels+k] + wx.v[2]*v[2*channels+k] + wx.v[3]*v[3*channels+k]
	}
	return true
}

// around returns where the sixteen pixels around a place begin, and their weights; false: outside.
func (p *planes) around(x, y float64) (o int, wx, wy weights, ok bool) {
	x, y = x-float64(p.x0), y-float64(p.y0)
	if !(x >= 1 && y >= 1 && x < float64(p.w-2) && y < float64(p.h-2)) {
		return 0, wx, wy, false
	}
	i, j := int(x), int(y)
	return channels * ((j-1)*p.w + i - 1), cubic(float32(x - float64(i))), cubic(float32(y - float64(j))), true
}

// rows returns four rows of four pixels.
func (p *planes) rows(o int) (a, b, c, d *[4 * channels]float32) {
	stride := channels * p.w
	return (*[4 * channels]float32)(p.v[o:]), (*[4 * channels]float32)(p.v[o+stride:]), (*[4 * channels]float32)(p.v[o+2*stride:]),
		(*[4 * channels]float32)(p.v[o+3*stride:])
}

// weights are those of four samples, and their derivatives.
type weights struct{ v, d [4]float32 }

// cubic returns the weights of four samples for a place t between the middle two.
func cubic(t float32) (w weights) {
	t2, t3 := t*t, t*t*t
	w.v = [4]float32{-0.5*t + t2 - 0.5*t3, 1 - 2.5*t2 + 1.5*t3, 0.5*t + 2*t2 - 1.5*t3, -0.5*t2 + 0.5*t3}
	w.d = [4]float32{-0.5 + 2*t - 1.5*t2, -5*t + 4.5*t2, 0.5 + 4*t - 4.5*t2, -t + 1.5*t2}
	return w
}

// localView is how a camera shows a plane over the mat near a place: pixels as a quadratic of the offset in mm. Over
// the largest base it is exact to a hundredth of a pixel.
type localView struct {
	at   geom.Point
	x, y [6]float64 // of 1, dx, dy, dx², dx·dy, dy²
}

const viewReach = 45 // mm

// newLocalView returns the view at a height z over the mat; false: the place is not in front of the camera.
func newLocalView(t *calibration.Table, at geom.Point, z geom.Length) (v localView, ok bool) {
	z += t.Surface.Height(at)
	var px [3][3]geom.Pixel
	for i := range px {
		for j := range px[i] {
			p := at.Add(geom.Point{X: viewReach * float64(i-1), Y: viewReach * float64(j-1)})
			if px[i][j], ok = t.Camera.PixelOf(p, z); !ok {
				return v, false
			}
		}
	}
	const r = viewReach
	quadratic := func(f func(geom.Pixel) float64) [6]float64 {
		o, e, w, n, s := f(px[1][1]), f(px[2][1]), f(px[0][1]), f(px[1][2]), f(px[1][0])
		cross := f(px[2][2]) - f(px[2][0]) - f(px[0][2]) + f(px[0][0])
		return [6]float64{o, (e - w) / (2 * r), (n - s) / (2 * r), (e + w - 2*o) / (2 * r * r), cross / (4 * r * r), (n + s - 2*o) / (2 * r * r)}
	}
	v = localView{at: at, x: quadratic(func(p geom.Pixel) float64 { return p.X }), y: quadratic(func(p geom.Pixel) float64 { return p.Y })}
	return v, v.scale() > 0
}

// pixel returns where a point at an offset from the middle appears.
func (v *localView) pixel(dx, dy float64) (x, y float64) {
	a, b := &v.x, &v.y
	return a[0] + dx*(a[1]+a[3]*dx+a[4]*dy) + dy*(a[2]+a[5]*dy), b[0] + dx*(b[1]+b[3]*dx+b[4]*dy) + dy*(b[2]+b[5]*dy)
}

// jacobian returns how the pixel moves with the point, px/mm: x by dx, x by dy, y by dx, y by dy.
func (v *localView) jacobian(dx, dy float64) (xx, xy, yx, yy float64) {
	a, b := &v.x, &v.y
	return a[1] + 2*a[3]*dx + a[4]*dy, a[2] + a[4]*dx + 2*a[5]*dy, b[1] + 2*b[3]*dx + b[4]*dy, b[2] + b[4]*dx + 2*b[5]*dy
}

// scale returns the scale in px/mm.
func (v *localView) scale() float64 { return math.Sqrt(math.Abs(v.x[1]*v.y[2] - v.x[2]*v.y[1])) }

// box is the part of the picture that holds what lies up to reach mm from the middle, and some pixels round it.
func (v *localView) box(reach float64) image.Rectangle {
	const margin = 4
	lo, hi := image.Pt(math.MaxInt32, math.MaxInt32), image.Pt(math.MinInt32, math.MinInt32)
	for _, d := range [4][2]float64{{-1, -1}, {-1, 1}, {1, -1}, {1, 1}} {
		x, y := v.pixel(reach*d[0], reach*d[1])
		lo = image.Pt(min(lo.X, int(x)), min(lo.Y, int(y)))
		hi = image.Pt(max(hi.X, int(x)), max(hi.Y, int(y)))
	}
	return image.Rectangle{Min: lo.Sub(image.Pt(margin, margin)), Max: hi.Add(image.Pt(margin+1, margin+1))}
}
