package ship

import (
	"image"
	"math"
	"math/bits"
	"slices"

	"sightline/engine/geom"
)

// segment is a straight piece of an edge in a picture. Going from A to B, the bright side is on the
// right.
type segment struct {
	A, B     geom.Pixel
	contrast float64 // mean gradient along it, grey levels per pixel
}

func (s segment) length() float64 { return s.B.Sub(s.A).Norm() }

// edgel is a pixel at which the gradient is strongest across the edge.
type edgel struct {
	x, y   float32 // sub-pixel place
	dx, dy float32 // unit direction along the edge, bright side on the right
	mag    float32
	at     int32 // its bit in the finder's map
}

// segmentFinder finds straight edges. It reuses its buffers from picture to picture, and belongs to
// one goroutine.
type segmentFinder struct {
	rows   [3]gradientRow // those around the row that is thinned
	words  int            // words per row of the maps, 64 pixels each
	marks  []uint64       // pixels with an edgel
	free   []uint64       // those of them that are in no segment yet
	before []int32        // number of edgels before those of a word of marks
	edgels []edgel        // row by row, from left to right
	order  []int32
	chain  []int32
}

// gradientRow holds the gradient of a row of pixels, 32 times the grey levels per
// pixel, and its squared magnitude.
type gradientRow struct {
	gx, gy []int16
	mag    []int32
}

// edgeThreshold is the least gradient of an edgel in grey levels per pixel. The
// keyline on dark plastic in dim light (contrast 60, blur 0.8 px) still gives 12.
const edgeThreshold = 7

// find returns the straight edges of the picture inside roi that are at least
// minLength pixels long.
func (f *segmentFinder) find(g *image.Gray, roi image.Rectangle, minLength float64) []segment {
	roi = roi.Intersect(g.Bounds()).Inset(2)
	if roi.Dx() < 8 || roi.Dy() < 8 {
		return nil
	}
	f.findEdgels(g, roi)
	return f.walk(roi, minLength)
}

// findEdgels computes the gradient row by row, and thins each row once the next one is known.
func (f *segmentFinder) findEdgels(g *image.Gray, roi image.Rectangle) {
	w, h := roi.Dx(), roi.Dy()
	f.words = (w + 63) / 64
	f.marks, f.before = slices.Grow(f.marks[:0], f.words*h)[:f.words*h], slices.Grow(f.before[:0], f.words*h)[:f.words*h]
	clear(f.marks)
	for i := range f.rows {
		r := &f.rows[i]
		r.gx, r.gy, r.mag = slices.Grow(r.gx[:0], w)[:w], slices.Grow(r.gy[:0], w)[:w], slices.Grow(r.mag[:0], w)[:w]
	}
	f.edgels = f.edgels[:0]
	for y := range h {
		row := func(dy int) []uint8 { return g.Pix[g.PixOffset(roi.Min.X-1, roi.Min.Y+y+dy):][: w+2 : w+2] }
		f.rows[y%3].compute(row(-1), row(0), row(1))
		if y >= 2 {
			f.thin(y-1, w)
		}
	}
	f.free = append(f.free[:0], f.marks...)
	n := int32(0)
	for i, m := range f.marks {
		f.before[i] = n
		n += int32(bits.OnesCount64(m))
	}
}

// compute fills the row with the gradient by Scharr's 3×3 operator (weights 3, 10, 3), from three rows
// of the picture that start one pixel earlier.
func (r *gradientRow) compute(up, at, down []uint8) {
	n := len(r.mag)
	up, at, down, gx, gy := up[:n+2], at[:n+2], down[:n+2], r.gx[:n], r.gy[:n]
	column := func(x int) (sum, step int32) {
		u, d := int32(up[x]), int32(down[x])
		return 3*(u+d) + 10*int32(at[x]), d - u
	}
	s0, t0 := column(0)
	s1, t1 := column(1)
	for x := range r.mag {
		s2, t2 := column(x + 2)
		dx, dy := s2-s0, 3*(t0+t2)+10*t1
		gx[x], gy[x] = int16(dx), int16(dy)
		r.mag[x] = dx*dx + dy*dy
		s0, s1, t0, t1 = s1, s2, t1, t2
	}
}

// thin keeps the pixels of row y whose gradient is the largest along its own direction,
// and places each to a fraction of a pixel by a parabola through its neighbours.
func (f *segmentFinder) thin(y, w int) {
	const least = 32 * edgeThreshold * 32 * edgeThreshold
	above, row, below := f.rows[(y-1)%3].mag, &f.rows[y%3], f.rows[(y+1)%3].mag
	mag := row.mag
	for x := 1; x < w-1; x++ {
		m := mag[x]
		if m < least {
			continue
		}
		gx, gy := int32(row.gx[x]), int32(row.gy[x])
		// Along the larger component: the neighbour before and after.
		var before, after int32
		var stepX, stepY float32
		if max(gx, -gx) >= max(gy, -gy) {
			before, after = mag[x-1], mag[x+1]
			stepX = 1
		} else {
			before, after = above[x], below[x]
			stepY = 1
		}
		if m < before || m <= after {
			continue
		}
		b, c, a := math.Sqrt(float64(before)), math.Sqrt(float64(m)), math.Sqrt(float64(after))
		off := float32(0)
		if den := b - 2*c + a; den < 0 {
			off = float32(0.5 * (b - a) / den)
		}
		inv := float32(1 / c)
		at := y*f.words*64 + x
		// Direction along the edge with the bright side (the gradient) on the right: y points down, so
		// rotating the gradient a quarter turn counter-clockwise on the screen gives (gy, -gx).
		f.edgels = append(f.edgels, edgel{
			x: float32(x) + off*stepX, y: float32(y) + off*stepY,
			dx: float32(gy) * inv, dy: -float32(gx) * inv, mag: float32(c) / 32, at: int32(at),
		})
		f.marks[at/64] |= 1 << (at % 64)
	}
}

// walk grows segments from the strongest edgels on: step by step along the edge,
// always taking the edgel that continues the line fitted so far.
func (f *segmentFinder) walk(roi image.Rectangle, minLength float64) []segment {
	w, h := roi.Dx(), roi.Dy()
	f.sortByStrength()
	var out []segment
	for _, seed := range f.order {
		if at := f.edgels[seed].at; f.free[at/64]>>(at%64)&1 == 0 {
			continue
		}
		f.chain = append(f.chain[:0], seed)
		f.grow(seed, 1, w, h)
		f.grow(seed, -1, w, h)
		s, ok := f.fitChain()
		for _, k := range f.chain {
			at := f.edgels[k].at
			f.free[at/64] &^= 1 << (at % 64)
		}
		if !ok || s.length() < minLength {
			continue
		}
		o := geom.Pixel{X: float64(roi.Min.X), Y: float64(roi.Min.Y)}
		s.A, s.B = s.A.Add(o), s.B.Add(o)
		out = append(out, s)
	}
	return out
}

// sortByStrength fills order with the edgels strong enough to start a segment, strongest first, by
// counting sort.
func (f *segmentFinder) sortByStrength() {
	var count [257]int32
	bin := func(e *edgel) int { return 255 - min(int(e.mag), 255) }
	for i := range f.edgels {
		count[bin(&f.edgels[i])+1]++
	}
	for i := 1; i < len(count); i++ {
		count[i] += count[i-1]
	}
	if cap(f.order) < len(f.edgels) {
		f.order = make([]int32, len(f.edgels))
	}
	f.order = f.order[:len(f.edgels)]
	for i := range f.edgels {
		b := bin(&f.edgels[i])
		f.order[count[b]] = int32(i)
		count[b]++
	}
}

// nextEdgel returns the free edgel that best continues a chain one pixel further in its running
// direction, or -1.
func (f *segmentFinder) nextEdgel(px, py, ux, uy, sign float32, w, h int) int32 {
	const maxTurn = 0.94 // cos 20°: how far an edgel's own direction may differ
	best := int32(-1)
	bestOff := float32(1.05)
	cx, cy := int(px+ux+0.5), int(py+uy+0.5)
	top, left := max(cy-1, 0), max(cx-1, 0)
	n := min(cx+1, w-1) - left + 1
	// The free edgels of up to three rows in one word, 16 bits each: separate rows would take twice
	// the time.
	var near uint64
	for yy := min(cy+1, h-1); yy >= top; yy-- {
		near = near<<16 | f.freeFrom(yy*f.words*64+left, n)
	}
	for ; near != 0; near &= near - 1 {
		bit := bits.TrailingZeros64(near)
		k := f.number((top+bit/16)*f.words*64 + left + bit%16)
		c := &f.edgels[k]
		if (c.dx*ux+c.dy*uy)*sign < maxTurn {
			continue
		}
		along := (c.x-px)*ux + (c.y-py)*uy
		off := (c.x-px)*uy - (c.y-py)*ux
		if off < 0 {
			off = -off
		}
		if along > 0.3 && along < 1.9 && off < bestOff {
			best, bestOff = k, off
		}
	}
	return best
}

// freeFrom returns the bits of n neighbouring pixels that have a free edgel.
func (f *segmentFinder) freeFrom(at, n int) uint64 {
	if n <= 0 {
		return 0
	}
	near := f.free[at/64] >> (at % 64)
	if at%64+n > 64 {
		near |= f.free[at/64+1] << (64 - at%64)
	}
	return near & (1<<n - 1)
}

// number returns the edgel's index for the pixel of a bit.
func (f *segmentFinder) number(at int) int32 {
	return f.before[at/64] + int32(bits.OnesCount64(f.marks[at/64]&(1<<(at%64)-1)))
}

// grow extends the chain from a seed in one direction of the edge.
func (f *segmentFinder) grow(seed int32, sign float32, w, h int) {
	e := &f.edgels[seed]
	px, py := e.x, e.y
	ux, uy := e.dx*sign, e.dy*sign // running direction
	ox, oy := e.x, e.y
	n, missed := 0, 0
	for {
		best := f.nextEdgel(px, py, ux, uy, sign, w, h)
		if best < 0 {
			if missed++; missed > 2 {
				return
			}
			px, py = px+ux, py+uy
			continue
		}
		missed = 0
		f.chain = append(f.chain, best)
		c := &f.edgels[best]
		n++
		if n >= 4 {
			// The running direction is that from the seed: a straight line. A chain that bends away from it
			// ends.
			lx, ly := c.x-ox, c.y-oy
			l := float32(math.Sqrt(float64(lx)*float64(lx) + float64(ly)*float64(ly)))
			dx, dy := lx/l, ly/l
			if n > 8 && dx*ux+dy*uy < 0.985 {
				return
			}
			ux, uy = dx, dy
		}
		// The next step starts at the edgel's foot on the line, so that noise in one edgel does not
		// divert the chain.
		off := (c.x-px)*uy - (c.y-py)*ux
		along := (c.x-px)*ux + (c.y-py)*uy
		px, py = px+along*ux+0.4*off*uy, py+along*uy-0.4*off*ux
	}
}

// fitChain fits a line to the chain by total least squares and cuts it to the chain's extent. It
// fails for a chain that is too short or not straight.
func (f *segmentFinder) fitChain() (segment, bool) {
	if len(f.chain) < 5 {
		return segment{}, false
	}
	var sx, sy, sm, dirX, dirY float64
	for _, k := range f.chain {
		e := &f.edgels[k]
		sx += float64(e.x)
		sy += float64(e.y)
		sm += float64(e.mag)
		dirX += float64(e.dx)
		dirY += float64(e.dy)
	}
	n := float64(len(f.chain))
	mx, my := sx/n, sy/n
	var cxx, cxy, cyy float64
	for _, k := range f.chain {
		dx, dy := float64(f.edgels[k].x)-mx, float64(f.edgels[k].y)-my
		cxx += dx * dx
		cxy += dx * dy
		cyy += dy * dy
	}
	angle := 0.5 * math.Atan2(2*cxy, cxx-cyy)
	uy, ux := math.Sincos(angle)
	if ux*dirX+uy*dirY < 0 {
		ux, uy = -ux, -uy
	}
	lo, hi, dev := math.Inf(1), math.Inf(-1), 0.0
	for _, k := range f.chain {
		dx, dy := float64(f.edgels[k].x)-mx, float64(f.edgels[k].y)-my
		a, d := dx*ux+dy*uy, dx*uy-dy*ux
		if a < lo {
			lo = a
		}
		if a > hi {
			hi = a
		}
		dev += d * d
	}
	if math.Sqrt(dev/n) > 0.6 {
		return segment{}, false
	}
	return segment{
		A:        geom.Pixel{X: mx + lo*ux, Y: my + lo*uy},
		B:        geom.Pixel{X: mx + hi*ux, Y: my + hi*uy},
		contrast: sm / n,
	}, true
}
