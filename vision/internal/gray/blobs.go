package gray

import (
	"image"
	"slices"
)

// Blob is a connected part of a mask.
type Blob struct {
	Box   image.Rectangle // in cells
	Cells []int32
	Edge  bool // touches the mask's edge, so part of it may lie outside
}

// Blobs returns the connected parts of a mask with at least least cells, largest first. It first
// closes gaps of up to twice gap cells.
func Blobs(mask []bool, w, h, least, gap int) []Blob {
	closed := Close(mask, w, h, gap)
	label := make([]bool, len(closed))
	var out []Blob
	var stack []int32
	for k, set := range closed {
		if !set || label[k] {
			continue
		}
		b := Blob{Box: image.Rect(k%w, k/w, k%w+1, k/w+1)}
		stack = append(stack[:0], int32(k))
		label[k] = true
		for len(stack) > 0 {
			c := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			b.Cells = append(b.Cells, c)
			x, y := int(c)%w, int(c)/w
			b.Box.Min.X, b.Box.Min.Y = min(b.Box.Min.X, x), min(b.Box.Min.Y, y)
			b.Box.Max.X, b.Box.Max.Y = max(b.Box.Max.X, x+1), max(b.Box.Max.Y, y+1)
			for _, o := range [4][2]int{{-1, 0}, {1, 0}, {0, -1}, {0, 1}} {
				i, j := x+o[0], y+o[1]
				if i < 0 || j < 0 || i >= w || j >= h {
					b.Edge = true
					continue
				}
				if n := j*w + i; closed[n] && !label[n] {
					label[n] = true
					stack = append(stack, int32(n))
				}
			}
		}
		if len(b.Cells) >= least {
			out = append(out, b)
		}
	}
	slices.SortFunc(out, func(a, b Blob) int { return len(b.Cells) - len(a.Cells) })
	return out
}
