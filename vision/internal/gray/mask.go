package gray

// Close dilates and erodes a mask by a square of radius r: gaps of up to 2r
// cells close, outlines stay.
func Close(mask []bool, w, h, r int) []bool {
	return BoxMask(BoxMask(mask, w, h, r, true), w, h, r, false)
}

// Open erodes and dilates: what is narrower than 2r cells goes.
func Open(mask []bool, w, h, r int) []bool {
	return BoxMask(BoxMask(mask, w, h, r, false), w, h, r, true)
}

// BoxMask returns, for each cell, whether any cell (grow) or all cells (not grow) of
// the square of radius r around it are set; rows first, then columns.
func BoxMask(mask []bool, w, h, r int, grow bool) []bool {
	out := make([]bool, len(mask))
	// Counted are the cells of the square that decide it.
	one := func(set bool) int32 {
		if set == grow {
			return 1
		}
		return 0
	}
	for j := range h {
		row, to := mask[j*w:(j+1)*w], out[j*w:(j+1)*w]
		count := int32(0)
		for i := range min(r, w) {
			count += one(row[i])
		}
		for i := range to {
			if i+r < w {
				count += one(row[i+r])
			}
			to[i] = (count > 0) == grow
			if i >= r {
				count -= one(row[i-r])
			}
		}
	}
	// Down the columns, all at once: the rows above that still count are kept.
	counts, kept := make([]int32, w), make([]bool, (r+1)*w)
	add := func(row []bool, by int32) {
		for i, set := range row {
			counts[i] += by * one(set)
		}
	}
	for j := range min(r, h) {
		add(out[j*w:(j+1)*w], 1)
	}
	for j := range h {
		if j+r < h {
			add(out[(j+r)*w:(j+r+1)*w], 1)
		}
		row, old := out[j*w:(j+1)*w], kept[j%(r+1)*w:j%(r+1)*w+w]
		copy(old, row)
		for i, n := range counts {
			row[i] = (n > 0) == grow
		}
		if j >= r {
			add(kept[(j-r)%(r+1)*w:(j-r)%(r+1)*w+w], -1)
		}
	}
	return out
}

// FillHoles returns the mask with everything set that the border cannot reach.
func FillHoles(mask []bool, w, h int) []bool {
	out := make([]bool, len(mask))
	for k := range out {
		out[k] = true
	}
	var stack []int32
	push := func(x, y int) {
		if x < 0 || y < 0 || x >= w || y >= h {
			return
		}
		if k := y*w + x; !mask[k] && out[k] {
			out[k] = false
			stack = append(stack, int32(k))
		}
	}
	for x := range w {
		push(x, 0)
		push(x, h-1)
	}
	for y := range h {
		push(0, y)
		push(w-1, y)
	}
	for len(stack) > 0 {
		k := int(stack[len(stack)-1])
		stack = stack[:len(stack)-1]
		push(k%w-1, k/w)
		push(k%w+1, k/w)
		push(k%w, k/w-1)
		push(k%w, k/w+1)
	}
	return out
}

// Flood turns the connected parts of one kind that have fewer cells than a number into
// the other kind.
func Flood(mask []bool, w, h int, kind bool, least int) {
	seen := make([]bool, len(mask))
	var stack, part []int32
	for k := range mask {
		if mask[k] != kind || seen[k] {
			continue
		}
		stack, part = append(stack[:0], int32(k)), part[:0]
		seen[k] = true
		for len(stack) > 0 {
			c := int(stack[len(stack)-1])
			stack = stack[:len(stack)-1]
			part = append(part, int32(c))
			x, y := c%w, c/w
			for _, o := range [4][2]int{{-1, 0}, {1, 0}, {0, -1}, {0, 1}} {
				i, j := x+o[0], y+o[1]
				if i < 0 || j < 0 || i >= w || j >= h {
					continue
				}
				if n := j*w + i; mask[n] == kind && !seen[n] {
					seen[n] = true
					stack = append(stack, int32(n))
				}
			}
		}
		if len(part) < least {
			for _, c := range part {
				mask[c] = !kind
			}
		}
	}
}
