package tablesim

import (
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"sightline/calibration"
)

// tile is the side of the squares in which the picture is traced. A tile is traced again only if
// something in it has changed, so a table at rest costs only its noise.
const tile = 16

// band is how many rows of tiles are traced and blurred at a time. Only their light and that of the
// neighbouring rows is stored: that of the whole picture would take twice the memory of the
// sensor's codes.
const band = 4

// renderer stores the picture of one camera between frames, as its sensor receives it.
type renderer struct {
	lens    *cameraModel
	ground  *ground
	look    Look
	layout  calibration.Layout
	seed    uint64
	workers int

	tw, th  int
	sums    []uint64  // checksum of each tile's content when it was traced
	linear  []float32 // r, g, b of each pixel before the blur, of a band and the rows of tiles next to it
	blurred []uint16  // after it, as sensor codes
	scale   float32   // sensor code of full scale
	sensor  *sensor
	kernel  []float32
	offsets [][2]float64 // of the rays within a pixel, 0…1
	solids  []solid
	beam    *beam // of the table's projector; nil: none, or no picture

	darkroom *darkroom // of the table's camera model; nil: none
}

func newRenderer(t *Table) (*renderer, error) {
	if err := t.Validate(); err != nil {
		return nil, err
	}
	l, err := newLens(t.Camera)
	if err != nil {
		return nil, err
	}
	r := &renderer{
		lens: l, look: t.Look, layout: t.Layout, seed: t.Seed, workers: t.Workers,
		tw: (l.w + tile - 1) / tile, th: (l.h + tile - 1) / tile,
		linear: make([]float32, 3*l.w*tile*(band+2)), blurred: make([]uint16, 3*l.w*l.h),
		scale: fullScale, sensor: newSensor(t.Look), kernel: gaussian(t.Look.Blur),
	}
	if r.workers <= 0 {
		r.workers = runtime.GOMAXPROCS(0)
	}
	if m := t.Model; m != nil {
		r.scale, r.kernel = modelScale, gaussian(m.Blur)
		r.darkroom = newDarkroom(*m, l.w, l.h, r.workers, &r.sensor.normal)
	}
	r.ground = newGround(t.Look.Mat, t.Layout, l.c[2]/l.fx, t.Seed)
	r.sums = make([]uint64, r.tw*r.th)
	n := t.Look.Samples
	if n == 0 {
		n = defaultSamples
	}
	// A rotated grid: n×n rays that all differ in x and in y, so that an edge along a pixel row is
	// measured to 1/n² of a pixel instead of 1/n.
	for j := range n {
		for i := range n {
			f := float64(n)
			r.offsets = append(r.offsets, [2]float64{
				(float64(i) + (float64(j)+0.5)/f) / f, (float64(j) + 1 - (float64(i)+0.5)/f) / f,
			})
		}
	}
	return r, nil
}

// update updates the picture to the table's scene. The table's camera, look, layout and seed must
// not change.
func (r *renderer) update(t *Table) error {
	if err := t.Validate(); err != nil {
		return err
	}
	solids, err := solidsOf(t, &r.look)
	if err != nil {
		return err
	}
	r.solids = solids
	if err := r.throw(t.Projector); err != nil {
		return err
	}
	lists := r.solidsByTile(solids)
	dirty := make([]bool, len(lists))
	for k, list := range lists {
		sum := uint64(1)
		for _, s := range list {
			sum = mix64(sum ^ s.sum())
		}
		if r.beam != nil {
			sum = mix64(sum ^ r.beam.tiles[k].sum)
		}
		if sum != r.sums[k] {
			r.sums[k], dirty[k] = sum, true
		}
	}
	smear := r.around(dirty) // the tiles that the blur reaches
	need := r.around(smear)
	traced := 0
	for top := 0; top < r.th; top += band {
		end := min(top+band, r.th)
		r.eachTile(need, traced, min(end+1, r.th), func(scratch *tracer, k int) {
			scratch.trace(r, k%r.tw, k/r.tw, lists[k])
		})
		traced = min(end+1, r.th)
		r.eachTile(smear, top, end, func(scratch *tracer, k int) {
			scratch.blur(r, k%r.tw, k/r.tw)
		})
	}
	return nil
}

// around returns the tiles that are set and their neighbours.
func (r *renderer) around(set []bool) []bool {
	out := make([]bool, len(set))
	for k, on := range set {
		if !on {
			continue
		}
		x, y := k%r.tw, k/r.tw
		for j := max(y-1, 0); j <= min(y+1, r.th-1); j++ {
			for i := max(x-1, 0); i <= min(x+1, r.tw-1); i++ {
				out[j*r.tw+i] = true
			}
		}
	}
	return out
}

// eachTile runs a job for the set tiles in some rows of tiles.
func (r *renderer) eachTile(set []bool, from, to int, job func(scratch *tracer, k int)) {
	var todo []int
	for k := from * r.tw; k < to*r.tw; k++ {
		if set[k] {
			todo = append(todo, k)
		}
	}
	parallel(r.workers, len(todo), func(scratch *tracer, i int) { job(scratch, todo[i]) })
}

// light returns row y of the picture before the blur.
func (r *renderer) light(y int) []float32 {
	w := 3 * r.lens.w
	return r.linear[y*w%len(r.linear):][:w]
}

// solidsByTile lists for each tile the solids that may be visible in it or shade it.
func (r *renderer) solidsByTile(solids []solid) [][]solid {
	lists := make([][]solid, r.tw*r.th)
	for _, s := range solids {
		for _, v := range s.reach() {
			x0, y0, x1, y1 := r.pictured(v)
			for j := max(y0, 0); j <= min(y1, r.th-1); j++ {
				for i := max(x0, 0); i <= min(x1, r.tw-1); i++ {
					l := &lists[j*r.tw+i]
					if n := len(*l); n == 0 || (*l)[n-1] != s {
						*l = append(*l, s)
					}
				}
			}
		}
	}
	return lists
}

// pictured returns the tiles of the volume's picture.
func (r *renderer) pictured(v volume) (x0, y0, x1, y1 int) {
	a, b, c, d := math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)
	for _, x := range [3]float64{v.x0, (v.x0 + v.x1) / 2, v.x1} {
		for _, y := range [3]float64{v.y0, (v.y0 + v.y1) / 2, v.y1} {
			for _, z := range [2]float64{v.z0, v.z1} {
				if u, w, ok := r.lens.project(x, y, z); ok {
					a, b, c, d = min(a, u), min(b, w), max(c, u), max(d, w)
				}
			}
		}
	}
	if !(a <= c) {
		return 0, 0, -1, -1
	}
	at := func(v float64) int { return int(math.Floor(min(max(v, -1e6), 1e6) / tile)) }
	return at(a - 3), at(b - 3), at(c + 3), at(d + 3)
}

// parallel runs job(0…n-1) in several goroutines, each with its own scratch memory.
func parallel(workers, n int, job func(*tracer, int)) {
	if workers = min(workers, n); workers <= 1 {
		var s tracer
		for i := range n {
			job(&s, i)
		}
		return
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			var s tracer
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				job(&s, i)
			}
		})
	}
	wg.Wait()
}

// tracer is the scratch memory of one goroutine.
type tracer struct {
	corners [][2]float64
	ids     []uint64
	fine    []bool
	many    []bool
	smear   []float32
	seen    sighting // by the last ray
}

// sighting is what a ray hits: a solid, or the ground if nil.
type sighting struct {
	hit
	solid solid
	index int // of the solid in the tile's list
}

// cast follows a ray down to its first hit; s.seen holds it.
func (s *tracer) cast(r *renderer, ray ray, list []solid) {
	s.seen.hit.z, s.seen.index, s.seen.solid = math.Inf(-1), -1, nil
	for i, o := range list {
		if o.meets(ray, &s.seen.hit) {
			s.seen.solid, s.seen.index = o, i
		}
	}
	if r.ground.meets(ray, &s.seen.hit) {
		s.seen.solid, s.seen.index = nil, -1
	}
}

// id identifies areas between which the picture is discontinuous.
func (s *sighting) id() uint64 {
	return uint64(s.index+1)<<48 | uint64(s.surface)<<40 | uint64(s.mark)
}

// look casts a ray and returns its light.
func (s *tracer) look(r *renderer, ray ray, list []solid) rgb {
	s.cast(r, ray, list)
	var c rgb
	if s.seen.solid == nil {
		c = r.ground.color(s.seen.x, s.seen.y)
	} else {
		c = s.seen.solid.color(&s.seen.hit, ray, r.ground)
	}
	z := s.seen.z
	x, y := ray.at(z)
	k := 1.0
	for _, o := range list {
		k *= o.light(x, y, z)
	}
	if r.beam == nil {
		return c.scale(k)
	}
	return c.under(k, r.beam.light(x, y, z, list))
}

// trace renders one tile, before the blur.
func (s *tracer) trace(r *renderer, tx, ty int, list []solid) {
	x0, y0 := tx*tile, ty*tile
	w, h := min(tile, r.lens.w-x0), min(tile, r.lens.h-y0)
	// Corners from one pixel outside the tile: lattice column i, row j is the
	// corner (x0-1+i, y0-1+j) of the pixels.
	cw := w + 3
	s.corners = r.lens.lattice(s.corners, x0-1, y0-1, cw, h+3)
	adaptive := len(list) > 0 || r.ground.style == MatDots || r.edgeOfMat(s.corners)
	if adaptive {
		s.classify(r, list, w, h)
	}
	if r.beam != nil && r.beam.tiles[ty*r.tw+tx].varied {
		adaptive, s.many = true, resize(s.many, w*h)
		for i := range s.many {
			s.many[i] = true
		}
	}
	for j := range h {
		for i := range w {
			k := (j+1)*cw + i + 1
			c00, c10, c01, c11 := s.corners[k], s.corners[k+1], s.corners[k+cw], s.corners[k+cw+1]
			var c rgb
			if adaptive && s.many[j*w+i] {
				c = s.sample(r, list, c00, c10, c01, c11)
			} else {
				ray := r.lens.rayTo((c00[0]+c10[0]+c01[0]+c11[0])/4, (c00[1]+c10[1]+c01[1]+c11[1])/4)
				c = s.look(r, ray, list)
			}
			r.put(x0+i, y0+j, c)
		}
	}
}

// edgeOfMat reports whether the mat's edge may cross the tile with these corners.
func (r *renderer) edgeOfMat(corners [][2]float64) bool {
	first, last := corners[0], corners[len(corners)-1]
	far := math.Hypot(last[0]-first[0], last[1]-first[1])
	x, y := (first[0]+last[0])/2, (first[1]+last[1])/2
	nearX := math.Min(math.Abs(x), math.Abs(x-r.ground.w)) < far
	nearY := math.Min(math.Abs(y), math.Abs(y-r.ground.h)) < far
	return nearX || nearY
}

// classify finds the pixels that need many rays: those at whose corners and centre single rays hit
// different things, or something fine, and their neighbours.
func (s *tracer) classify(r *renderer, list []solid, w, h int) {
	cw, ch := w+3, h+3
	s.ids, s.fine = resize(s.ids, cw*ch), resize(s.fine, cw*ch)
	for k, p := range s.corners {
		s.cast(r, r.lens.rayTo(p[0], p[1]), list)
		s.ids[k], s.fine[k] = s.seen.id(), s.seen.fine
	}
	s.many = resize(s.many, w*h)
	clear(s.many)
	for j := range h + 2 { // pixel (i-1, j-1) of the tile
		for i := range w + 2 {
			k := j*cw + i
			a, b, c, d := k, k+1, k+cw, k+cw+1
			split := s.fine[a] || s.fine[b] || s.fine[c] || s.fine[d] ||
				s.ids[a] != s.ids[b] || s.ids[a] != s.ids[c] || s.ids[a] != s.ids[d]
			if !split && len(list) > 0 {
				x, y := (s.corners[a][0]+s.corners[d][0])/2, (s.corners[a][1]+s.corners[d][1])/2
				s.cast(r, r.lens.rayTo(x, y), list)
				split = s.seen.fine || s.seen.id() != s.ids[a]
			}
			if !split {
				continue
			}
			for v := max(j-2, 0); v <= min(j, h-1); v++ {
				for u := max(i-2, 0); u <= min(i, w-1); u++ {
					s.many[v*w+u] = true
				}
			}
		}
	}
}

func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// sample averages many rays over a pixel, given the table points of its corners.
func (s *tracer) sample(r *renderer, list []solid, c00, c10, c01, c11 [2]float64) rgb {
	var sum rgb
	for _, o := range r.offsets {
		u, v := o[0], o[1]
		a, b, c, d := (1-u)*(1-v), u*(1-v), (1-u)*v, u*v
		ray := r.lens.rayTo(
			a*c00[0]+b*c10[0]+c*c01[0]+d*c11[0],
			a*c00[1]+b*c10[1]+c*c01[1]+d*c11[1])
		q := s.look(r, ray, list)
		sum = rgb{sum.r + q.r, sum.g + q.g, sum.b + q.b}
	}
	return sum.scale(1 / float64(len(r.offsets)))
}

// put stores a pixel, with light level, vignetting and the lamp's colour applied.
func (r *renderer) put(x, y int, c rgb) {
	u := (float64(x)+0.5)/float64(r.lens.w)*2 - 1
	v := (float64(y)+0.5)/float64(r.lens.h)*2 - 1
	k := float32(r.look.Light * (1 - r.look.Falloff*(u*u+v*v)/2))
	p := r.light(y)[3*x:]
	p[0], p[1], p[2] = k*c.r, 0.985*k*c.g, 0.955*k*c.b
}

// blur smooths one tile into sensor codes.
func (s *tracer) blur(r *renderer, tx, ty int) {
	w, h := r.lens.w, r.lens.h
	x0, y0 := tx*tile, ty*tile
	x1, y1 := min(x0+tile, w), min(y0+tile, h)
	n := len(r.kernel) / 2
	rows, cols := y1-y0+2*n, 3*(x1-x0)
	s.smear = resize(s.smear, rows*cols)
	for j := range rows {
		src := r.light(min(max(y0-n+j, 0), h-1))
		dst := s.smear[j*cols:][:cols]
		clear(dst)
		if x0-n >= 0 && x1+n <= w {
			taps(dst, r.kernel, src[3*(x0-n):], 3)
			continue
		}
		for k, f := range r.kernel {
			for i := range x1 - x0 {
				from := src[3*min(max(x0-n+k+i, 0), w-1):][:3]
				dst[3*i] += f * from[0]
				dst[3*i+1] += f * from[1]
				dst[3*i+2] += f * from[2]
			}
		}
	}
	var sum [3 * tile]float32
	for j := range y1 - y0 {
		line := sum[:cols]
		clear(line)
		taps(line, r.kernel, s.smear[j*cols:], cols)
		dst := r.blurred[3*((y0+j)*w+x0):][:cols]
		for i, v := range line {
			dst[i] = uint16(min(max(v*r.scale+0.5, 0), 65535))
		}
	}
}

// taps adds to sum[i] what each tap k weighs of from[step*k+i], one tap after the other. Four taps at a time take
// half the time of one: a sum stays in a register for so long.
func taps(sum, kernel, from []float32, step int) {
	n := len(sum)
	for len(kernel) >= 4 {
		f, g, h, k := kernel[0], kernel[1], kernel[2], kernel[3]
		a, b, c, d := from[:n], from[step:][:n], from[2*step:][:n], from[3*step:][:n]
		for i, v := range sum {
			v += f * a[i]
			v += g * b[i]
			v += h * c[i]
			sum[i] = v + k*d[i]
		}
		kernel, from = kernel[4:], from[4*step:]
	}
	for k, f := range kernel {
		a := from[step*k:][:n]
		for i := range sum {
			sum[i] += f * a[i]
		}
	}
}

// gaussian returns the taps of a Gaussian of this sigma, with sum 1.
func gaussian(sigma float64) []float32 {
	if sigma <= 0 {
		return []float32{1}
	}
	n := int(math.Ceil(3.5 * sigma))
	taps := make([]float32, 2*n+1)
	sum := 0.0
	for i := range taps {
		d := float64(i-n) / sigma
		v := math.Exp(-d * d / 2)
		taps[i] = float32(v)
		sum += v
	}
	for i := range taps {
		taps[i] /= float32(sum)
	}
	return taps
}
