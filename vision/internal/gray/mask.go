package gray

import "math"

// Close dilates and erodes a mask by a square of radius r: gaps of up to 2r
// cells close, outlines stay.
func Close(mask []bool, w, h, r int) []bool {
	b := packed(mask, w, h)
	b.box(r, true)
	b.box(r, false)
	return b.mask()
}

// Open erodes and dilates: it removes what is narrower than 2r cells.
func Open(mask []bool, w, h, r int) []bool {
	b := packed(mask, w, h)
	b.box(r, false)
	b.box(r, true)
	return b.mask()
}

// BoxMask returns, for each cell, whether any cell (grow) or every cell (not grow) of the square of
// radius r around it is set.
func BoxMask(mask []bool, w, h, r int, grow bool) []bool {
	b := packed(mask, w, h)
	b.box(r, grow)
	return b.mask()
}

// bits is a mask with 64 cells per word. Each row starts at a word; the unused bits of its last
// word are zero.
type bits struct {
	w, h, stride int
	words, other []uint64
}

func packed(mask []bool, w, h int) *bits {
	b := &bits{w: w, h: h, stride: (w + 63) / 64}
	b.words, b.other = make([]uint64, b.stride*h), make([]uint64, b.stride*h)
	b.each(func(word *uint64, from, to int) {
		var v uint64
		for i, set := range mask[from:to] {
			var one uint64
			if set {
				one = 1
			}
			v |= one << i
		}
		*word = v
	})
	return b
}

// mask returns the mask as cells.
func (b *bits) mask() []bool {
	out := make([]bool, b.w*b.h)
	b.each(func(word *uint64, from, to int) {
		cells, v := out[from:to], *word
		for i := range cells {
			cells[i] = v>>i&1 != 0
		}
	})
	return out
}

// each calls do for every word with the index of its first cell and the one after its last.
func (b *bits) each(do func(word *uint64, from, to int)) {
	for j := range b.h {
		for k := range b.stride {
			do(&b.words[j*b.stride+k], j*b.w+64*k, j*b.w+min(64*k+64, b.w))
		}
	}
}

// invert inverts all cells.
func (b *bits) invert() {
	b.each(func(word *uint64, from, to int) { *word = ^*word & (math.MaxUint64 >> (64 - (to - from))) })
}

// box sets the cells for which any, or all, cells of the square of radius r are set.
func (b *bits) box(r int, grow bool) {
	if !grow {
		b.invert()
	}
	// A row dilated by k cells either way, joined with itself shifted by up to k+1, is dilated further
	// by the shift, also at its ends.
	for k := 0; k < r; {
		by := min(k+1, r-k)
		b.join(func(j int, out []uint64) { b.shifted(j, by, out) })
		k += by
	}
	for k := 0; k < r; {
		by := min(k+1, r-k)
		b.join(func(j int, out []uint64) {
			b.addRow(j-by, out)
			b.addRow(j+by, out)
		})
		k += by
	}
	if !grow {
		b.invert()
	}
}

// addRow adds the bits of row j to out; rows outside of the mask have none.
func (b *bits) addRow(j int, out []uint64) {
	if j < 0 || j >= b.h {
		return
	}
	for i, v := range b.words[j*b.stride : (j+1)*b.stride] {
		out[i] |= v
	}
}

// join adds cells to each row.
func (b *bits) join(more func(j int, out []uint64)) {
	copy(b.other, b.words)
	for j := range b.h {
		more(j, b.other[j*b.stride:(j+1)*b.stride])
	}
	b.words, b.other = b.other, b.words
}

// shifted adds row j, shifted either way, to out.
func (b *bits) shifted(j, by int, out []uint64) {
	row := b.words[j*b.stride : (j+1)*b.stride]
	words, cells := by/64, by%64
	for i := range out {
		if k := i - words; k >= 0 {
			out[i] |= row[k] << cells
			if k > 0 {
				out[i] |= row[k-1] >> (64 - cells)
			}
		}
		if k := i + words; k < len(row) {
			out[i] |= row[k] >> cells
			if k+1 < len(row) {
				out[i] |= row[k+1] << (64 - cells)
			}
		}
	}
	if left := b.w % 64; left != 0 {
		out[len(out)-1] &= 1<<left - 1
	}
}

// FillHoles returns the mask with everything set that is not connected to the border through unset
// cells.
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

// run is a run of equal cells in a row.
type run struct {
	from, to int // cells of the mask
	part     int // an earlier run of the same connected part, or its own index
	cells    int // of the part, if part is its own index
}

// Flood inverts the connected parts of cells of a kind that have fewer than least cells.
func Flood(mask []bool, w, h int, kind bool, least int) {
	var runs []run
	root := func(k int) int {
		for runs[k].part != k {
			runs[k].part = runs[runs[k].part].part
			k = runs[k].part
		}
		return k
	}
	above := 0 // the first run that may touch the next one from above
	for j := range h {
		first := len(runs)
		for i := j * w; i < (j+1)*w; i++ {
			if mask[i] != kind {
				continue
			}
			k, from := len(runs), i
			for i++; i < (j+1)*w && mask[i] == kind; i++ {
			}
			runs = append(runs, run{from, i, k, i - from})
			for above < first && runs[above].to <= from-w {
				above++
			}
			for o := above; o < first && runs[o].from < i-w; o++ {
				if a, b := root(o), root(k); a != b {
					a, b = min(a, b), max(a, b)
					runs[b].part = a
					runs[a].cells += runs[b].cells
				}
			}
		}
		above = first
	}
	for k := range runs {
		if runs[root(k)].cells < least {
			for c := runs[k].from; c < runs[k].to; c++ {
				mask[c] = !kind
			}
		}
	}
}
