package obstacle

import (
	"math"
	"sightline/vision/internal/gray"
)

// edgeField tells, for every cell of the mat, how far the nearest edge of a given
// direction is: edges of what lies on the mat, the mat's own print taken away. It is
// the distance transform of directed chamfer matching (Liu et al., Fast Directional
// Chamfer Matching, CVPR 2010), over few directions.
//
// A shadow or another thing beside a token moves the border of what differs from the
// mat, but not the token's own edge in this field.
type edgeField struct {
	light, gx, gy, strength []float32               // a search's work
	near                    [edgeDirections][]uint8 // of distances, by the direction of the normal
}

// edgeDirections is into how many directions half a turn is divided. An edge counts
// for its direction and both beside it.
const edgeDirections = 8

// edgeContrast is how many times the median slope an edge's slope must be.
const edgeContrast = 3

// direction is the bin of a normal's direction, in rad.
func direction(angle float64) int {
	k := int(math.Round(angle * edgeDirections / math.Pi))
	return ((k % edgeDirections) + edgeDirections) % edgeDirections
}

// find finds the edges in the picture that was compared last.
func (e *edgeField) find(d *subtraction, work *workPlanes) {
	w, h := d.view.width, d.view.height
	work.grow(w * h)
	e.light, e.gx, e.gy, e.strength = work[0], work[1], work[2], work[3]
	if e.near[0] == nil {
		for k := range e.near {
			e.near[k] = make([]uint8, w*h)
		}
	}
	for k, v := range d.diff {
		if v != v { // outside the picture
			v = 0
		}
		e.light[k] = v
	}
	limit := e.slopes(w, h)
	for _, near := range e.near {
		for k := range near {
			near[k] = distances.Far
		}
	}
	for j := 2; j < h-2; j++ {
		for i := 2; i < w-2; i++ {
			if k := j*w + i; e.strength[k] >= limit && e.ridge(k, w) {
				b := direction(math.Atan2(float64(e.gy[k]), float64(e.gx[k])))
				for o := edgeDirections - 1; o <= edgeDirections+1; o++ {
					e.near[(b+o)%edgeDirections][k] = 0
				}
			}
		}
	}
	for _, near := range e.near {
		distances.Chamfer(near, w)
	}
}

// slopes takes Sobel's gradient and returns how steep an edge must be.
func (e *edgeField) slopes(w, h int) float32 {
	var sample []float64
	for j := 1; j < h-1; j++ {
		for i := 1; i < w-1; i++ {
			k := j*w + i
			v := e.light
			x := (v[k+1-w] + 2*v[k+1] + v[k+1+w] - v[k-1-w] - 2*v[k-1] - v[k-1+w]) / 8
			y := (v[k+w-1] + 2*v[k+w] + v[k+w+1] - v[k-w-1] - 2*v[k-w] - v[k-w+1]) / 8
			e.gx[k], e.gy[k], e.strength[k] = x, y, float32(math.Hypot(float64(x), float64(y)))
			if k%13 == 0 {
				sample = append(sample, float64(e.strength[k]))
			}
		}
	}
	return max(edgeContrast*float32(gray.Quantile(sample, 0.5)), 0.2)
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
