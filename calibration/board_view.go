package calibration

import (
	"fmt"
	"math"

	"sightline/engine/geom"
)

// BoardView is one picture of a board, or of a part of it.
type BoardView struct {
	Name   string       // of the picture
	Pixels []geom.Pixel // of the board's visible Points

	// Indices says which of the board's Points the pixels are; nil means all of
	// them in their order.
	Indices []int
}

// Index returns which of the board's points the k-th pixel is.
func (v BoardView) Index(k int) int {
	if v.Indices == nil {
		return k
	}
	return v.Indices[k]
}

// Validate reports a view that is not one of a board with n points.
func (v BoardView) Validate(n int) error {
	if v.Indices == nil {
		if len(v.Pixels) != n {
			return fmt.Errorf("%s: %d corners, the board has %d", v.Name, len(v.Pixels), n)
		}
	} else if len(v.Indices) != len(v.Pixels) {
		return fmt.Errorf("%s: %d corners with %d indices", v.Name, len(v.Pixels), len(v.Indices))
	}
	last := -1
	for _, i := range v.Indices {
		if i <= last || i >= n {
			return fmt.Errorf("%s: corner index %d after %d: expected rising numbers below %d", v.Name, i, last, n)
		}
		last = i
	}
	for k, p := range v.Pixels {
		if math.IsNaN(p.X) || math.IsNaN(p.Y) || math.IsInf(p.X, 0) || math.IsInf(p.Y, 0) {
			return fmt.Errorf("%s: corner %d lies nowhere: %v", v.Name, k, p)
		}
	}
	return nil
}
