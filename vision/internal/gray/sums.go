package gray

// BoxSums returns the sums over the squares of a radius about each cell.
func BoxSums(v []float32, w, h, r int) []float32 {
	out := make([]float32, len(v))
	SumBoxes(out, v, w, h, r)
	return out
}

// SumBoxes sets out to the sums over the squares of a radius about each cell of v; out may be v.
func SumBoxes(out, v []float32, w, h, r int) {
	mid := make([]float32, (2*r+1)*w) // the sums along the rows under the square, row j at j modulo their number
	line := func(j int) []float32 {
		k := j % (2*r + 1) * w
		return mid[k : k+w]
	}
	along := func(j int) {
		from, to := v[j*w:(j+1)*w], line(j)
		var sum float64
		for i := -r; i < w; i++ {
			if i+r < w {
				sum += float64(from[i+r])
			}
			if i >= 0 {
				to[i] = float32(sum)
			}
			if i-r >= 0 {
				sum -= float64(from[i-r])
			}
		}
	}
	sums := make([]float64, w)
	add := func(j int, sign float64) {
		if j >= 0 && j < h {
			for i, x := range line(j) {
				sums[i] += sign * float64(x)
			}
		}
	}
	for j := -r; j < h; j++ {
		if j+r < h {
			along(j + r)
		}
		add(j+r, 1)
		if j >= 0 {
			for i, x := range sums {
				out[j*w+i] = float32(x)
			}
		}
		add(j-r, -1)
	}
}

// Binomial smooths by (1 2 1)/4 along rows and columns: 0.7 cells rms.
func Binomial(v, work []float32, w int) {
	n := len(v)
	copy(work, v)
	for k := 1; k+1 < n; k++ {
		work[k] = (v[k-1] + 2*v[k] + v[k+1]) / 4
	}
	for k := w; k+w < n; k++ {
		v[k] = (work[k-w] + 2*work[k] + work[k+w]) / 4
	}
}
