package gray

import (
	"maps"
	"slices"
)

// Distances are the chamfer distances up to a largest one, in cells, each stored as a byte: its
// rank among them, so bytes are ordered like distances.
type Distances struct {
	Cells          [256]float32 // the distance of each byte; the largest for bytes above Far
	Far            uint8        // the byte of the largest distance and of all larger ones
	side, diagonal [256]uint8   // a step further
}

// NewDistances returns the distances up to a largest one, of at most 8 cells: beyond that there are
// more distances than bytes.
func NewDistances(most float32) *Distances {
	const side, diagonal float32 = 0.955, 1.3693
	all := map[float32]bool{0: true, most: true}
	for left := []float32{0}; len(left) > 0; left = left[1:] {
		for _, v := range [...]float32{left[0] + side, left[0] + diagonal} {
			if v < most && !all[v] {
				all[v] = true
				left = append(left, v)
			}
		}
	}
	sorted := slices.Sorted(maps.Keys(all))
	d := &Distances{Far: uint8(min(len(sorted)-1, 255))}
	code := func(v float32) uint8 {
		k, _ := slices.BinarySearch(sorted, min(v, most))
		return uint8(k)
	}
	for k := range d.Cells {
		v := sorted[min(k, int(d.Far))]
		d.Cells[k], d.side[k], d.diagonal[k] = v, code(v+side), code(v+diagonal)
	}
	return d
}

// Chamfer replaces the cells, each 0 or Far, by their distances from the nearest 0, in two passes
// (Borgefors, Distance transformations in digital images, 1986). Cells at the grid's border are
// unchanged.
func (d *Distances) Chamfer(near []uint8, w int) {
	for row := w; row+w < len(near); row += w {
		for k := row + 1; k < row+w-1; k++ {
			near[k] = min(near[k], d.side[near[k-1]], d.side[near[k-w]], d.diagonal[near[k-w-1]], d.diagonal[near[k-w+1]])
		}
	}
	for row := len(near) - 2*w; row > 0; row -= w {
		for k := row + w - 2; k > row; k-- {
			near[k] = min(near[k], d.side[near[k+1]], d.side[near[k+w]], d.diagonal[near[k+w+1]], d.diagonal[near[k+w-1]])
		}
	}
}
