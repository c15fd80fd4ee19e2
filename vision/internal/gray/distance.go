package gray

// Chamfer turns zeros among large values into distances from the nearest zero, in two
// passes (Borgefors, Distance transformations in digital images, 1986). Cells at the
// grid's border stay as they are.
func Chamfer(near []float32, w int) {
	const d1, d2 = 0.955, 1.3693
	for row := w; row+w < len(near); row += w {
		for k := row + 1; k < row+w-1; k++ {
			near[k] = min(near[k], near[k-1]+d1, near[k-w]+d1, near[k-w-1]+d2, near[k-w+1]+d2)
		}
	}
	for row := len(near) - 2*w; row > 0; row -= w {
		for k := row + w - 2; k > row; k-- {
			near[k] = min(near[k], near[k+1]+d1, near[k+w]+d1, near[k+w+1]+d2, near[k+w-1]+d2)
		}
	}
}
