package obstacle

import (
	"image"
	"math"

	"sightline/vision/internal/gray"
)

// focus is what the coarse search needs of a blob and as far about it as an outline reaches: what differs from the
// mat there, how far each cell is from its border, and the picture's edges. Beyond it nothing differs.
type focus struct {
	box   image.Rectangle // cells of the mat
	solid []bool          // the mask, holes filled
	near  []uint8         // of distances, to the mask's border
	edges edgeField

	slope float32 // how steep an edge must be in the picture that was compared last; 0: not known yet
}

// focusMargin is how far, in cells, a guess may be moved, and how far away the edges count that it is compared with.
const focusMargin = 12 + nearMost

// at returns the number of a cell of the mat, and whether it lies in the focus.
func (s *focus) at(i, j int) (k int, ok bool) {
	i, j = i-s.box.Min.X, j-s.box.Min.Y
	w := s.box.Dx()
	return j*w + i, i >= 0 && j >= 0 && i < w && j < s.box.Dy()
}

// isSolid reports whether something lies on a cell.
func (s *focus) isSolid(i, j int) bool {
	k, ok := s.at(i, j)
	return ok && s.solid[k]
}

// focusOn prepares the coarse search of a blob for outlines of a radius, in mm.
func (f *Finder) focusOn(b gray.Blob, radius float64) {
	s, d := &f.focus, f.diff
	s.box = b.Box.Inset(-int(radius) - focusMargin).Intersect(image.Rect(0, 0, d.view.Width, d.view.Height))
	w, h := s.box.Dx(), s.box.Dy()
	mask := make([]bool, 0, w*h)
	for j := s.box.Min.Y; j < s.box.Max.Y; j++ {
		mask = append(mask, d.mask[j*d.view.Width+s.box.Min.X:j*d.view.Width+s.box.Max.X]...)
	}
	s.solid = gray.FillHoles(gray.Close(mask, w, h, maskGap), w, h)
	s.near = grown(s.near, w*h)
	for k := range s.near {
		s.near[k] = distances.Far
	}
	for j := 1; j < h-1; j++ {
		for i := 1; i < w-1; i++ {
			k := j*w + i
			if s.solid[k] && (!s.solid[k-1] || !s.solid[k+1] || !s.solid[k-w] || !s.solid[k+w]) {
				s.near[k] = 0
			}
		}
	}
	distances.Chamfer(s.near, w)
	if s.slope == 0 {
		s.slope = leastSlope(d)
	}
	s.edges.find(d, s.box, s.slope)
}

// grown returns a slice of n elements, a buffer's if it is large enough.
func grown[T any](buffer []T, n int) []T {
	if cap(buffer) < n {
		return make([]T, n)
	}
	return buffer[:n]
}

// leastSlope returns how steep an edge must be in a picture that was compared.
func leastSlope(d *subtraction) float32 {
	w, h := d.view.Width, d.view.Height
	light := func(k int) float32 {
		if v := d.diff[k]; v == v {
			return v
		}
		return 0
	}
	var sample []float64
	for k := w; k < w*(h-1); k += 13 {
		if i := k % w; i > 0 && i < w-1 {
			x, y := sobel(light(k-w-1), light(k-w), light(k-w+1), light(k-1), light(k+1), light(k+w-1), light(k+w), light(k+w+1))
			sample = append(sample, math.Hypot(float64(x), float64(y)))
		}
	}
	return max(edgeContrast*float32(gray.Quantile(sample, 0.5)), 0.2)
}

// sobel returns the gradient at a cell from its eight neighbours, row by row.
func sobel(a, b, c, d, e, f, g, h float32) (x, y float32) {
	return (c + 2*e + h - a - 2*d - f) / 8, (f + 2*g + h - a - 2*b - c) / 8
}
