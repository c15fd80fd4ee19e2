package ship

import (
	"image"
	"math"

	"sightline/engine/geom"
)

// segment is a straight piece of an edge in a picture. Walking from A to B, the
// bright side lies on the right.
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
	next   bool // taken by a segment
}

// segmentFinder finds straight edges. It keeps its buffers from one picture to
// the next, and belongs to one goroutine.
type segmentFinder struct {
	gx, gy []int16
	mag    []int32
	index  []int32 // edgel number + 1 at a pixel, 0 for none
	edgels []edgel
	order  []int32
	chain  []int32
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
	f.gradient(g, roi)
	f.thin(roi)
	return f.walk(roi, minLength)
}

// gradient fills gx, gy and the squared magnitude by Scharr's 3×3 operator
// (weights 3, 10, 3), 32 times the grey levels per pixel.
func (f *segmentFinder) gradient(g *image.Gray, roi image.Rectangle) {
	w, h := roi.Dx(), roi.Dy()
	if n := w * h; cap(f.gx) < n {
		f.gx, f.gy, f.mag, f.index = make([]int16, n), make([]int16, n), make([]int32, n), make([]int32, n)
	} else {
		f.gx, f.gy, f.mag, f.index = f.gx[:n], f.gy[:n], f.mag[:n], f.index[:n]
	}
	for y := range h {
		up := g.Pix[g.PixOffset(roi.Min.X-1, roi.Min.Y+y-1):][: w+2 : w+2]
		at := g.Pix[g.PixOffset(roi.Min.X-1, roi.Min.Y+y):][: w+2 : w+2]
		down := g.Pix[g.PixOffset(roi.Min.X-1, roi.Min.Y+y+1):][: w+2 : w+2]
		gx, gy, mag := f.gx[y*w:][:w], f.gy[y*w:][:w], f.mag[y*w:][:w]
		for x := range w {
			a, b, c := int32(up[x]), int32(up[x+1]), int32(up[x+2])
			d, e := int32(at[x]), int32(at[x+2])
			p, q, r := int32(down[x]), int32(down[x+1]), int32(down[x+2])
			dx := 3*(c-a+r-p) + 10*(e-d)
			dy := 3*(p-a+r-c) + 10*(q-b)
			gx[x], gy[x] = int16(dx), int16(dy)
			mag[x] = dx*dx + dy*dy
		}
	}
}

// thin keeps the pixels whose gradient is the largest along its own direction,
// and places each to a fraction of a pixel by a parabola through its neighbours.
func (f *segmentFinder) thin(roi image.Rectangle) {
	w, h := roi.Dx(), roi.Dy()
	clear(f.index)
	f.edgels = f.edgels[:0]
	const least = 32 * edgeThreshold * 32 * edgeThreshold
	for y := 1; y < h-1; y++ {
		for x := 1; x < w-1; x++ {
			i := y*w + x
			m := f.mag[i]
			if m < least {
				continue
			}
			gx, gy := int32(f.gx[i]), int32(f.gy[i])
			ax, ay := gx, gy
			if ax < 0 {
				ax = -ax
			}
			if ay < 0 {
				ay = -ay
			}
			// Along the larger component: the neighbour before and after.
			var before, after int32
			var stepX, stepY float32
			if ax >= ay {
				before, after = f.mag[i-1], f.mag[i+1]
				stepX = 1
			} else {
				before, after = f.mag[i-w], f.mag[i+w]
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
			// Direction along the edge with the bright side (the gradient) on the
			// right: y points down, so turning the gradient a quarter turn counter-
			// clockwise on the screen gives (gy, -gx).
			f.edgels = append(f.edgels, edgel{
				x: float32(x) + off*stepX, y: float32(y) + off*stepY,
				dx: float32(gy) * inv, dy: -float32(gx) * inv, mag: float32(c) / 32,
			})
			f.index[i] = int32(len(f.edgels))
		}
	}
}

// walk grows segments from the strongest edgels on: step by step along the edge,
// always taking the edgel that continues the line fitted so far.
func (f *segmentFinder) walk(roi image.Rectangle, minLength float64) []segment {
	w, h := roi.Dx(), roi.Dy()
	f.sortByStrength()
	var out []segment
	for _, seed := range f.order {
		if f.edgels[seed].next {
			continue
		}
		f.chain = append(f.chain[:0], seed)
		f.grow(seed, 1, w, h)
		f.grow(seed, -1, w, h)
		s, ok := f.fitChain()
		for _, k := range f.chain {
			f.edgels[k].next = true
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

// sortByStrength fills order with the edgels that are strong enough to start a
// segment, strongest first, by counting.
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

// nextEdgel returns the free edgel that best continues a chain one pixel on from a place in its running direction, or -1.
func (f *segmentFinder) nextEdgel(px, py, ux, uy, sign float32, w, h int) int32 {
	const maxTurn = 0.94 // cos 20°: how far an edgel's own direction may differ
	best := int32(-1)
	bestOff := float32(1.05)
	cx, cy := int(px+ux+0.5), int(py+uy+0.5)
	for yy := cy - 1; yy <= cy+1; yy++ {
		for xx := cx - 1; xx <= cx+1; xx++ {
			if xx < 0 || yy < 0 || xx >= w || yy >= h {
				continue
			}
			k := f.index[yy*w+xx] - 1
			if k < 0 || f.edgels[k].next {
				continue
			}
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
	}
	return best
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
			// The running direction is the one from the seed: a straight line. A
			// chain that bends away from it ends.
			lx, ly := c.x-ox, c.y-oy
			l := float32(math.Hypot(float64(lx), float64(ly)))
			dx, dy := lx/l, ly/l
			if n > 8 && dx*ux+dy*uy < 0.985 {
				return
			}
			ux, uy = dx, dy
		}
		// Step on from the foot of the edgel on the line, so that noise in one
		// edgel does not lead astray.
		off := (c.x-px)*uy - (c.y-py)*ux
		along := (c.x-px)*ux + (c.y-py)*uy
		px, py = px+along*ux+0.4*off*uy, py+along*uy-0.4*off*ux
	}
}

// fitChain fits a line to the chain by total least squares and cuts it to the
// chain's extent. It fails for chains that are too short or not straight.
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
		lo, hi = math.Min(lo, a), math.Max(hi, a)
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
