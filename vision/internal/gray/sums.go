package gray

// BoxSums returns the sum over the square of radius r around each cell.
func BoxSums(v []float32, w, h, r int) []float32 {
	out := make([]float32, len(v))
	SumBoxes(out, v, w, h, r)
	return out
}

// SumBoxes sets out to the sums over the squares of radius r around each cell of v; out may be v.
func SumBoxes(out, v []float32, w, h, r int) {
	mid := make([]float32, (2*r+1)*w) // sums along the square's rows, row j at j modulo their number
	line := func(j int) []float32 {
		k := j % (2*r + 1) * w
		return mid[k : k+w]
	}
	along := func(j int) {
		from, to := v[j*w:(j+1)*w], line(j)
		var sum float64
		for i := range min(r, w) {
			sum += float64(from[i])
		}
		i := 0
		for ; i < min(r, w); i++ { // the square extends beyond the row's start
			if i+r < w {
				sum += float64(from[i+r])
			}
			to[i] = float32(sum)
		}
		if i+r < w {
			left := from[:w-2*r]
			for k, x := range from[2*r:] {
				sum += float64(x)
				to[k+r] = float32(sum)
				sum -= float64(left[k])
			}
			i = w - r
		}
		for ; i < w; i++ {
			to[i] = float32(sum)
			sum -= float64(from[i-r])
		}
	}
	sums, none := make([]float64, w), make([]float32, w)
	for j := -r; j < h; j++ {
		last, first := none, none
		if j+r < h {
			along(j + r)
			last = line(j + r)
		}
		if j-r >= 0 {
			first = line(j - r)
		}
		if j < 0 {
			for i, x := range last {
				sums[i] += float64(x)
			}
			continue
		}
		to := out[j*w : (j+1)*w]
		for i, s := range sums {
			s += float64(last[i])
			to[i] = float32(s)
			sums[i] = s - float64(first[i])
		}
	}
}

// Binomial smooths by (1 2 1)/4 along rows and columns: 0.7 cells rms.
func Binomial(v []float32, w int) {
	n := len(v)
	work := make([]float32, 3*w) // three rows smoothed along themselves, row j at j modulo 3
	line := func(j int) []float32 { return work[j%3*w:][:w] }
	along := func(j int) {
		to := line(j)
		for i := range to {
			if k := j*w + i; k > 0 && k+1 < n {
				to[i] = (v[k-1] + 2*v[k] + v[k+1]) / 4
			} else {
				to[i] = v[k]
			}
		}
	}
	if n >= 2*w {
		along(0)
		along(1)
	}
	for j := 1; (j+1)*w < n; j++ {
		along(j + 1)
		before, here, after := line(j-1), line(j), line(j+1)
		row := v[j*w:][:w]
		for i := range row {
			row[i] = (before[i] + 2*here[i] + after[i]) / 4
		}
	}
}
