package gray

import (
	"image"

	"sightline/calibration"
	"sightline/engine/geom"
)

// MatView is a grid of cells over the mat, as a camera shows it.
type MatView struct {
	Camera        *calibration.Camera
	Width, Height int
	Step          float64 // mm
}

// Each calls do with the grey level of each cell of a picture; ok is false outside the picture.
func (v *MatView) Each(g *image.Gray, do func(k int, level float32, ok bool)) {
	v.EachPixel(func(k int, x, y float32, ok bool) {
		level := float32(0)
		if ok {
			level, ok = sample(g, x, y)
		}
		do(k, level, ok)
	})
}

// EachPixel calls do with where the camera shows the middle of each cell; ok is false where it cannot.
func (v *MatView) EachPixel(do func(k int, x, y float32, ok bool)) {
	// The projection is exact at every eighth cell and linear between: the lens bends by less than
	// 0.001 px over 8 mm.
	const coarse = 8
	for j := range v.Height {
		at := func(i int) (geom.Pixel, bool) {
			return v.Camera.PixelOf(geom.Point{X: (float64(i) + 0.5) * v.Step, Y: (float64(j) + 0.5) * v.Step}, 0)
		}
		b, seen := at(0)
		for i0 := 0; i0 < v.Width; i0 += coarse {
			i1 := min(i0+coarse, v.Width)
			a, both := b, seen
			b, seen = at(i1)
			both = both && seen
			for i := i0; i < i1; i++ {
				k := j*v.Width + i
				if !both {
					do(k, 0, 0, false)
					continue
				}
				t := float64(i-i0) / float64(i1-i0)
				do(k, float32(a.X+t*(b.X-a.X)), float32(a.Y+t*(b.Y-a.Y)), true)
			}
		}
	}
}

// Levels returns the grey levels of all cells, 0 outside the picture.
func (v *MatView) Levels(g *image.Gray) []float32 {
	out := make([]float32, v.Width*v.Height)
	v.Each(g, func(k int, level float32, _ bool) { out[k] = level })
	return out
}

// sample returns the interpolated grey level at a pixel. It reports false outside the picture.
func sample(g *image.Gray, x, y float32) (float32, bool) {
	ix, iy := int(x), int(y)
	if !(x >= 0 && y >= 0) || ix >= g.Rect.Dx()-1 || iy >= g.Rect.Dy()-1 {
		return 0, false
	}
	i := iy*g.Stride + ix
	ax, ay := x-float32(ix), y-float32(iy)
	top := float32(g.Pix[i]) + ax*(float32(g.Pix[i+1])-float32(g.Pix[i]))
	bottom := float32(g.Pix[i+g.Stride]) + ax*(float32(g.Pix[i+g.Stride+1])-float32(g.Pix[i+g.Stride]))
	return top + ay*(bottom-top), true
}
