// Package gray has arithmetic on grey pictures and on grids of cells over the mat: sampling between
// pixels, reduction, masks, box sums, distances.
package gray

import (
	"image"
	"slices"
)

// Shrink averages k×k pixels into one.
func Shrink(g *image.Gray, k int, out *image.Gray) *image.Gray {
	w, h := g.Rect.Dx()/k, g.Rect.Dy()/k
	if out.Rect.Dx() != w || out.Rect.Dy() != h {
		*out = *image.NewGray(image.Rect(0, 0, w, h))
	}
	half := k * k / 2
	for y := range h {
		row := out.Pix[y*out.Stride:][:w]
		for x := range row {
			sum := half
			for j := range k {
				for _, v := range g.Pix[(y*k+j)*g.Stride+x*k:][:k] {
					sum += int(v)
				}
			}
			row[x] = uint8(sum / (k * k))
		}
	}
	return out
}

// Quantile returns the value below which the share q of the values lie, or 0 if there are none. It
// reorders its argument.
func Quantile(v []float64, q float64) float64 {
	if len(v) == 0 {
		return 0
	}
	k := min(int(q*float64(len(v))), len(v)-1)
	for lo, hi := 0, len(v)-1; ; { // Hoare's selection: v[k] lies from lo to hi
		if hi-lo < 12 {
			slices.Sort(v[lo : hi+1])
			return v[k]
		}
		a, b, c := v[lo], v[(lo+hi)/2], v[hi]
		middle := max(min(a, b), min(max(a, b), c))
		i, j := lo, hi
		for i <= j {
			for v[i] < middle {
				i++
			}
			for middle < v[j] {
				j--
			}
			if i <= j {
				v[i], v[j] = v[j], v[i]
				i, j = i+1, j-1
			}
		}
		switch {
		case k <= j:
			hi = j
		case k >= i:
			lo = i
		default:
			return v[k]
		}
	}
}

// Bilinear samples a grey picture between its pixels, the first at (0, 0), and reports false outside it.
func Bilinear(g *image.Gray, x, y float64) (float64, bool) {
	if !(x >= 0 && y >= 0 && x < float64(g.Rect.Dx()-1) && y < float64(g.Rect.Dy()-1)) { // neither is NaN
		return 0, false
	}
	i, j := int(x), int(y)
	ax, ay := x-float64(i), y-float64(j)
	i += j * g.Stride
	up, down := g.Pix[i:i+2], g.Pix[i+g.Stride:][:2]
	top := float64(up[0]) + ax*float64(int(up[1])-int(up[0]))
	bottom := float64(down[0]) + ax*float64(int(down[1])-int(down[0]))
	return top + ay*(bottom-top), true
}
