package look

import (
	"math"
	"slices"

	"sightline/vision/look/internal/signs"
)

// grid is a look at one resolution of the search: every few cells, blurred.
type grid struct {
	step   float64 // mm between the cells
	blur   float64 // mm, sigma
	side   int
	u, v   []float32 // of each cell in the base's frame, mm
	t      []float32 // of each cell, three channels
	weight []float32 // 0: not used
	block  []int32   // of each cell
	blocks int
	tell   []float32 // of each block: standard deviation of its picture in grey levels; 0: too few cells
	parts  *grid     // about the same cells in smaller blocks; nil: none
}

// fitted holds the resolutions of a look that the search needs, or those that a fit in a more blurred picture needs.
type fitted struct {
	coarse, middle, fine grid       // 2 mm cells blurred by 1.2 mm, 1 mm cells by 1 mm, 1 mm cells
	half, finest         grid       // 0.5 mm cells blurred by 0.5 mm, 0.5 mm cells
	last, lastFinest     halvedGrid // 1 mm cells blurred by 0.4 mm, 0.5 mm cells, both in smaller blocks
	kind                 grid       // 1 mm cells blurred by 1 mm, in smaller blocks
	signs                signs.Look
}

// blockMM is the size, in mm, of the blocks in which a picture is compared with a look. A miniature hides some blocks
// and leaves others.
const blockMM = 6.0

// lastBlockMM is the block size of the last fit.
const lastBlockMM = 4.0

// grids returns the look's grids. It makes them on the first call.
func (l *Look) grids() *fitted {
	l.once.Do(func() {
		l.fit = &fitted{coarse: l.grid(4, captureBlur, blockMM), signs: l.signs()}
		l.fit.addLarger(l, 0)
		l.fit.addFinest(l, 0)
	})
	return l.fit
}

// addLarger adds the grids of 1 mm cells, for a picture that is more blurred than the look by a sigma in mm.
func (f *fitted) addLarger(l *Look, more float64) {
	f.middle, f.kind = l.softer(2, 1, more, blockMM), l.softer(2, kindBlur, more, kindMM)
	f.fine, f.last = l.softer(2, 0, more, blockMM), l.softer(2, 0.4, more, lastBlockMM).halved()
	f.middle.parts, f.fine.parts = &f.kind, &f.last.grid
}

// addFinest adds the grids of 0.5 mm cells.
func (f *fitted) addFinest(l *Look, more float64) {
	f.half, f.finest = l.softer(1, 0.5, more, blockMM), l.softer(1, 0, more, blockMM)
	f.lastFinest = l.softer(1, 0, more, lastBlockMM).halved()
	f.half.parts, f.finest.parts = &f.lastFinest.grid, &f.lastFinest.grid
}

// softer returns a grid for a picture that is more blurred than the look by a sigma in mm, before both are blurred.
func (l *Look) softer(every int, blur, more, size float64) grid {
	g := l.grid(every, math.Hypot(blur, more), size)
	g.blur = blur
	return g
}

// A camera blurs its picture by about pictureBlur, in pixels: lens, pixels and sampling. Where it sees a card at a smaller scale than when
// the card was shown, that is more on the card. Of 39 bases that cameras 15 and 30° aslant see at 0.7 to 1.1 px/mm (1201, 1202, 1207,
// 1225), the mean evidence is 39.4 without regard to that, and 41.7, 42.5 and 42.6 with 0.55, 0.75 and 0.95 px.
const (
	pictureBlur = 0.75
	softerStep  = 0.25 // mm between the sigmas for which a look has grids
)

// gridsOf returns a look's grids for fits in the scan's part of the picture: as blurred as the look appears there.
func (s *scan) gridsOf(l *Look) *fitted {
	more := math.Sqrt(max(square(pictureBlur/s.scale)-square(pictureBlur/l.Scale), 0))
	n := int(math.Round(more / softerStep))
	if n == 0 {
		return l.grids()
	}
	if s.scale > finestScale {
		n = -n
	}
	if f, ok := l.softened.Load(n); ok {
		return f.(*fitted)
	}
	f := &fitted{}
	if n < 0 {
		f.addFinest(l, -softerStep*float64(n))
		f.middle = l.softer(2, 1, -softerStep*float64(n), blockMM)
		f.last = l.softer(2, 0.4, -softerStep*float64(n), lastBlockMM).halved()
	} else {
		f.addLarger(l, softerStep*float64(n))
	}
	kept, _ := l.softened.LoadOrStore(n, f)
	return kept.(*fitted)
}

// grid returns every few cells of the look, blurred by a sigma in mm, in blocks of a size in mm.
func (l *Look) grid(every int, blur, size float64) grid {
	cells := l.cells
	if blur > 0 {
		cells = l.blurred(blur / cellMM)
	}
	first := (l.side - 1) / 2 % every // so that the middle cell is among them
	per := max(int(math.Round(2*l.half()/size)), 1)
	g := grid{step: cellMM * float64(every), blur: blur, blocks: per * per}
	for j := first; j < l.side; j += every {
		g.side++
		for i := first; i < l.side; i += every {
			k := j*l.side + i
			u, v := l.place(k)
			g.u, g.v, g.weight = append(g.u, float32(u)), append(g.v, float32(v)), append(g.weight, l.weight[k])
			g.t = append(g.t, cells[channels*k:channels*(k+1)]...)
			g.block = append(g.block, int32(min(j*per/l.side, per-1)*per+min(i*per/l.side, per-1)))
		}
	}
	g.measureBlocks()
	return g
}

// halvedGrid is a grid and its right, left, front and rear halves.
type halvedGrid struct {
	grid
	halves [4]grid
}

func (g grid) halved() halvedGrid {
	out := halvedGrid{grid: g}
	for i := range out.halves {
		h := g
		h.weight = slices.Clone(g.weight)
		for k := range h.weight {
			if side := [4]float32{g.u[k], -g.u[k], g.v[k], -g.v[k]}[i]; side < 0 {
				h.weight[k] = 0
			}
		}
		h.measureBlocks()
		out.halves[i] = h
	}
	return out
}

// blurred returns the cells blurred by a sigma in cells, without those that are not used.
func (l *Look) blurred(sigma float64) []float32 {
	p := planes{w: l.side, h: l.side, v: make([]float32, len(l.cells))}
	q := planes{w: l.side, h: l.side, v: make([]float32, len(l.cells))}
	for k, w := range l.weight {
		for c := range channels {
			p.v[channels*k+c], q.v[channels*k+c] = w*l.cells[channels*k+c], w
		}
	}
	p, q = p.blurred(sigma), q.blurred(sigma)
	for i := range p.v {
		p.v[i] /= max(q.v[i], 1e-3)
	}
	return p.v
}

// blockSums are a block's weighted sums over its cells, for each channel of look and picture.
type blockSums struct {
	n                float64
	t, i, tt, ii, ti [channels]float64
}

func (b *blockSums) add(w float64, t, i []float32) {
	b.n += w
	for c := range channels {
		x, y := float64(t[c]), float64(i[c])
		b.t[c] += w * x
		b.i[c] += w * y
		b.tt[c] += w * x * x
		b.ii[c] += w * y * y
		b.ti[c] += w * x * y
	}
}

// moments returns the variances of look and picture, and their covariance, in grey levels², the mean of the channels.
func (b *blockSums) moments() (look, picture, both float64) {
	for c := range channels {
		mt, mi := b.t[c]/b.n, b.i[c]/b.n
		look += max(b.tt[c]/b.n-mt*mt, 0) / channels
		picture += max(b.ii[c]/b.n-mi*mi, 0) / channels
		both += (b.ti[c]/b.n - mt*mi) / channels
	}
	return look, picture, both
}

// blockShare is the share of its cells that a block needs to be compared.
const blockShare = 0.35

// measureBlocks computes how much the look varies in each block.
func (g *grid) measureBlocks() {
	g.tell = make([]float32, g.blocks)
	sums, cells := make([]blockSums, g.blocks), make([]float64, g.blocks)
	for k, w := range g.weight {
		b := g.block[k]
		cells[b]++
		sums[b].add(float64(w), g.t[channels*k:channels*(k+1)], g.t[channels*k:channels*(k+1)])
	}
	for b := range sums {
		if sums[b].n > blockShare*cells[b] {
			v, _, _ := sums[b].moments()
			g.tell[b] = float32(math.Sqrt(v))
		}
	}
}
