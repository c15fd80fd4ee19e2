package obstacle

import (
	"image"
	"math"
)

// edgeField tells, for every cell of a part of the mat, how far the nearest edge of a given
// direction is: edges of what lies on the mat, the mat's own print taken away. It is
// the distance transform of directed chamfer matching (Liu et al., Fast Directional
// Chamfer Matching, CVPR 2010), over few directions.
//
// A shadow or another thing next to a token moves the border of what differs from the
// mat, but not the token's own edge in this field.
type edgeField struct {
	light, gx, gy, strength []float32
	near                    []uint8 // of distances, cell by cell for each direction of the normal
}

// edgeDirections is into how many directions half a turn is divided. An edge counts
// for its direction and both next to it.
const edgeDirections = 8

// edgeContrast is how many times the median slope an edge's slope must be.
const edgeContrast = 3

// direction is the bin of a normal's direction, in rad.
func direction(angle float64) int {
	k := int(math.Round(angle * edgeDirections / math.Pi))
	return ((k % edgeDirections) + edgeDirections) % edgeDirections
}

// find finds the edges in some cells of the picture that was compared last, where slopes are steeper than limit.
func (e *edgeField) find(d *subtraction, box image.Rectangle, limit float32) {
	w, h := box.Dx(), box.Dy()
	for _, v := range [...]*[]float32{&e.light, &e.gx, &e.gy, &e.strength} {
		*v = grown(*v, w*h)
	}
	for j := range h {
		from := (box.Min.Y+j)*d.view.Width + box.Min.X
		for i, v := range d.diff[from : from+w] {
			if v != v { // outside the picture
				v = 0
			}
			e.light[j*w+i] = v
		}
	}
	e.near = grown(e.near, edgeDirections*w*h)
	for k := range e.near {
		e.near[k] = distances.Far
	}
	e.slopes(w, h)
	for j := 2; j < h-2; j++ {
		for i := 2; i < w-2; i++ {
			if k := j*w + i; e.strength[k] >= limit && e.ridge(k, w) {
				b := direction(math.Atan2(float64(e.gy[k]), float64(e.gx[k])))
				for o := edgeDirections - 1; o <= edgeDirections+1; o++ {
					e.near[(b+o)%edgeDirections*w*h+k] = 0
				}
			}
		}
	}
	for k := range edgeDirections {
		distances.Chamfer(e.near[k*w*h:(k+1)*w*h], w)
	}
}

// slopes takes Sobel's gradient.
func (e *edgeField) slopes(w, h int) {
	v := e.light
	for j := 1; j < h-1; j++ {
		for i := 1; i < w-1; i++ {
			k := j*w + i
			x, y := sobel(v[k-w-1], v[k-w], v[k-w+1], v[k-1], v[k+1], v[k+w-1], v[k+w], v[k+w+1])
			e.gx[k], e.gy[k], e.strength[k] = x, y, float32(math.Hypot(float64(x), float64(y)))
		}
	}
}

// ridge reports whether the slope at a cell is the steepest across its edge.
func (e *edgeField) ridge(k, w int) bool {
	x, y := e.gx[k], e.gy[k]
	ax, ay := max(x, -x), max(y, -y)
	step := w + 1
	switch {
	case ax > 2.4*ay:
		step = 1
	case ay > 2.4*ax:
		step = w
	case x*y < 0:
		step = w - 1
	}
	return e.strength[k] >= e.strength[k-step] && e.strength[k] > e.strength[k+step]
}
