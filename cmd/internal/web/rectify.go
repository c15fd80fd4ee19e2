package web

import (
	"image"
	"math"

	"sightline/calibration"
	"sightline/engine/geom"
	"sightline/vision"
)

// rectifier makes top-down pictures of the mat. It computes the mapping through lens and pose once
// for a calibration and a size. The plane of the mat is true to scale; what stands above it leans
// away from the camera, as in any picture.
type rectifier struct {
	width, height int
	srcW, srcH    int
	step          int      // source pixels per pixel of the picture, along each side
	at            []sample // of each pixel, row by row
}

// sample is a place in the source: the upper left of the mixed pixels, and the weight of the next
// ones in 256ths. x < 0: the camera does not see the place.
type sample struct {
	x, y   int16
	fx, fy uint8
}

// newRectifier computes the mapping for a picture of the mat with the given width in pixels.
func newRectifier(table *calibration.Table, mat [2]float64, width int) *rectifier {
	height := max(1, int(float64(width)*mat[1]/mat[0]+0.5))
	r := &rectifier{width: width, height: height, srcW: table.Intrinsics.Width, srcH: table.Intrinsics.Height,
		at: make([]sample, width*height)}
	r.step = r.coverage(table, mat)
	for row := range height {
		for col := range width {
			r.at[row*width+col] = r.source(table, r.point(mat, col, row))
		}
	}
	return r
}

// point returns the place on the mat of a pixel's centre; player 1 is at the bottom.
func (r *rectifier) point(mat [2]float64, col, row int) geom.Point {
	return geom.Point{
		X: (float64(col) + 0.5) / float64(r.width) * mat[0],
		Y: (1 - (float64(row)+0.5)/float64(r.height)) * mat[1],
	}
}

// coverage returns the number of source pixels along one pixel's side, in the middle.
func (r *rectifier) coverage(table *calibration.Table, mat [2]float64) int {
	a, okA := table.PixelOf(r.point(mat, r.width/2, r.height/2), 0)
	b, okB := table.PixelOf(r.point(mat, r.width/2+1, r.height/2), 0)
	if !okA || !okB {
		return 1
	}
	return max(1, min(8, int(geom.Point{X: b.X - a.X, Y: b.Y - a.Y}.Norm()+0.5)))
}

func (r *rectifier) source(table *calibration.Table, p geom.Point) sample {
	px, ok := table.PixelOf(p, 0)
	reach := float64(r.step) / 2
	if r.step == 1 {
		reach = 0
	}
	x, y := px.X-reach, px.Y-reach
	if r.step > 1 { // the square of whole pixels with the nearest middle
		x, y = math.Floor(x+1), math.Floor(y+1)
	}
	need := float64(max(1, r.step-1))
	if !ok || !(x >= 0 && y >= 0 && x+need <= float64(r.srcW-1) && y+need <= float64(r.srcH-1)) {
		return sample{x: -1}
	}
	ix, iy := int(x), int(y)
	return sample{int16(ix), int16(iy), uint8((x - float64(ix)) * 256), uint8((y - float64(iy)) * 256)}
}

// picture makes the picture of a frame. Places that the camera does not see are black.
func (r *rectifier) picture(f *vision.Frame) *image.RGBA {
	out := image.NewRGBA(image.Rect(0, 0, r.width, r.height))
	src := plane{stride: f.Gray.Stride, pix: f.Gray.Pix, bytes: 1}
	if c := f.Color; c != nil && c.Width == r.srcW && c.Height == r.srcH && len(c.Pix) >= 3*c.Width*c.Height {
		src = plane{stride: 3 * c.Width, pix: c.Pix, bytes: 3}
	}
	for i, s := range r.at {
		o := out.Pix[4*i : 4*i+4 : 4*i+4]
		o[3] = 255
		if s.x < 0 {
			continue
		}
		if r.step == 1 {
			src.mix(o, s)
		} else {
			src.mean(o, s, r.step)
		}
	}
	return out
}

// plane is a picture with one or three bytes per pixel (blue, green, red).
type plane struct {
	pix           []byte
	stride, bytes int
}

// mix writes the weighted mean of four neighbours.
func (p *plane) mix(o []byte, s sample) {
	i := int(s.y)*p.stride + int(s.x)*p.bytes
	fx, fy := uint32(s.fx), uint32(s.fy)
	w00, w10, w01, w11 := (256-fx)*(256-fy), fx*(256-fy), (256-fx)*fy, fx*fy
	at := func(k int) byte {
		return byte((uint32(p.pix[i+k])*w00 + uint32(p.pix[i+k+p.bytes])*w10 + uint32(p.pix[i+k+p.stride])*w01 + uint32(
			p.pix[i+k+p.stride+p.bytes])*w11) >> 16)
	}
	if p.bytes == 1 {
		v := at(0)
		o[0], o[1], o[2] = v, v, v
		return
	}
	o[0], o[1], o[2] = at(2), at(1), at(0)
}

// mean writes the mean of a square of pixels.
func (p *plane) mean(o []byte, s sample, step int) {
	var sum [3]int
	for dy := range step {
		i := (int(s.y)+dy)*p.stride + int(s.x)*p.bytes
		for range step {
			for k := range p.bytes {
				sum[k] += int(p.pix[i+k])
			}
			i += p.bytes
		}
	}
	n := step * step
	if p.bytes == 1 {
		v := byte(sum[0] / n)
		o[0], o[1], o[2] = v, v, v
		return
	}
	o[0], o[1], o[2] = byte(sum[2]/n), byte(sum[1]/n), byte(sum[0]/n)
}
