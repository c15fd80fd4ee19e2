package look

import (
	"math"
	"math/bits"

	"sightline/engine/geom"
)

// The search over the whole mat tries a look in all headings at every place where a base may stand, so each comparison must
// be cheap. It compares signs: whether a channel is clearly brighter or darker than its surroundings, in the card and in the
// picture, as bits. The signs of a miniature agree and disagree equally often by chance, and cancel.

const (
	signStep   = 2.0 // mm between places, and between the cells of a look
	signTurns  = 120 // headings that larger bases are compared in
	signSmall  = 2   // small bases use every second of them
	signWindow = 3   // mm from the centre to the sides of the square that gives mean and deviation
	signLeast  = 0.5 // standard deviations from the mean, beyond which a sample has a sign
	signHalf   = 1.0 // score of half of the rows, from which the other half is compared
	signFits   = 8   // poses that are fitted near a hint
	signNoise  = 36  // added to the number of signs, so that cards with few signs do not rank first by chance
)

// The bits of a sample: brighter and darker, for each channel.
const (
	brighter = 1<<channels - 1
	darker   = brighter << channels
)

// signOf returns the sign of a channel that is off from the mean of its surroundings, which have this deviation.
func signOf(c int, off, deviation float32) uint8 {
	switch {
	case off > signLeast*deviation:
		return 1 << c
	case off < -signLeast*deviation:
		return 1 << (channels + c)
	}
	return 0
}

// local is the weighted mean and deviation of a square of three interleaved channels.
type local struct {
	mean      [channels]float32
	deviation float32 // rms of the channels, noise included
}

// locals calls do for every sample of an n by n picture with the mean and deviation of the square up to r samples around it. weight may be
// nil.
func locals(v, weight []float32, n, r int, do func(k int, l *local)) {
	const sums = channels + 2 // of the channels, of all squares, of the weights
	columns := make([]float32, sums*n)
	row := func(j int, sign float32) {
		for i := range n {
			k := j*n + i
			w := sign
			if weight != nil {
				w *= weight[k]
			}
			c := columns[sums*i:][:sums]
			for ch, x := range v[channels*k:][:channels] {
				c[ch] += w * x
				c[channels] += w * x * x
			}
			c[channels+1] += w
		}
	}
	for j := range min(r, n) {
		row(j, 1)
	}
	for j := range n {
		if j+r < n {
			row(j+r, 1)
		}
		if j-r-1 >= 0 {
			row(j-r-1, -1)
		}
		var box [sums]float32
		add := func(i int, sign float32) {
			for c, x := range columns[sums*i:][:sums] {
				box[c] += sign * x
			}
		}
		for i := range min(r, n) {
			add(i, 1)
		}
		for i := range n {
			if i+r < n {
				add(i+r, 1)
			}
			if i-r-1 >= 0 {
				add(i-r-1, -1)
			}
			l := local{}
			w := max(box[channels+1], 0.5)
			all := box[channels] / w
			for c := range channels {
				l.mean[c] = box[c] / w
				all -= l.mean[c] * l.mean[c]
			}
			l.deviation = float32(math.Sqrt(float64(max(all, 0)/channels + blockNoise)))
			do(j*n+i, &l)
		}
	}
}

// signs are the signs of the rectified mat.
type signs struct {
	origin geom.Point
	step   float64
	n      int // samples along a side
	v      []uint8
	varies []bool // by variesBy around it
}

func newSigns(f *flat) *signs {
	s := &signs{origin: f.origin, step: f.step, n: f.n, v: make([]uint8, f.n*f.n), varies: make([]bool, f.n*f.n)}
	locals(f.v, nil, f.n, int(math.Round(signWindow/f.step)), func(k int, l *local) {
		var b uint8
		for c := range channels {
			b |= signOf(c, f.v[channels*k+c]-l.mean[c], l.deviation)
		}
		s.v[k], s.varies[k] = b, l.deviation >= variesBy
	})
	return s
}

// variesAt reports whether the surroundings of a point vary by variesBy.
func (s *signs) variesAt(p geom.Point) bool {
	i, j := int((p.X-s.origin.X)/s.step+0.5), int((p.Y-s.origin.Y)/s.step+0.5)
	return i >= 0 && j >= 0 && i < s.n && j < s.n && s.varies[j*s.n+i]
}

// lattice is the mat's signs at a heading: rows along the base's sides, signStep apart.
type lattice struct {
	heading  geom.Angle
	middle   geom.Point // of the central sample
	sin, cos float64
	side     int
	stride   int // words of a row
	brighter []uint64
	darker   []uint64
}

// newLattice returns an empty lattice for signs. turn fills it.
func newLattice(s *signs) *lattice {
	size := float64(s.n-1) * s.step
	half := int(math.Ceil(size / math.Sqrt2 / signStep))
	l := &lattice{middle: s.origin.Add(geom.Point{X: size / 2, Y: size / 2}), side: 2*half + 1}
	l.stride = (channels*l.side+63)/64 + 2 // reading beyond the end gives zeros
	l.brighter, l.darker = make([]uint64, l.stride*l.side), make([]uint64, l.stride*l.side)
	return l
}

// point returns the place of a sample on the table.
func (l *lattice) point(i, j int) geom.Point {
	u, v := float64(i-l.side/2)*signStep, float64(l.side/2-j)*signStep
	return l.middle.Add(geom.Point{X: u*l.cos + v*l.sin, Y: -u*l.sin + v*l.cos})
}

// turn samples the signs at a heading.
func (l *lattice) turn(s *signs, heading geom.Angle) {
	l.heading = heading
	l.sin, l.cos = math.Sincos(float64(heading))
	clear(l.brighter)
	clear(l.darker)
	dx, dy := l.cos*signStep/s.step, -l.sin*signStep/s.step
	for j := range l.side {
		p := l.point(0, j).Sub(s.origin)
		x, y := p.X/s.step+0.5, p.Y/s.step+0.5
		for i := range l.side {
			if a, b := int(x), int(y); x >= 0 && y >= 0 && a < s.n && b < s.n {
				if v := uint64(s.v[b*s.n+a]); v != 0 {
					o, at := j*l.stride+channels*i>>6, uint(channels*i&63)
					l.brighter[o] |= v & brighter << at
					l.darker[o] |= v >> channels << at
					if at > 64-channels {
						l.brighter[o+1] |= v & brighter >> (64 - at)
						l.darker[o+1] |= v >> channels >> (64 - at)
					}
				}
			}
			x += dx
			y += dy
		}
	}
}

// signLook holds the signs of a look, a square of side by side cells.
type signLook struct {
	side, words int
	rows        [2]signRows // every other one, from the first and from the second on
}

// signRows are words of rows, one row after the other.
type signRows struct{ brighter, darker []uint64 }

// signs returns the look's signs.
func (l *Look) signs() signLook {
	const every = signStep / cellMM
	cells := l.blurred(captureBlur / cellMM)
	first := (l.side - 1) / 2 % every
	s := signLook{side: (l.side-1-first)/every + 1}
	s.words = (channels*s.side + 63) / 64
	for r := range s.rows {
		n := s.words * ((s.side + 1 - r) / 2)
		s.rows[r] = signRows{make([]uint64, n), make([]uint64, n)}
	}
	locals(cells, l.weight, l.side, signWindow/cellMM, func(k int, at *local) {
		i, j := k%l.side-first, k/l.side-first
		if i < 0 || j < 0 || i%every != 0 || j%every != 0 || l.weight[k] < 0.5 {
			return
		}
		i, j = i/every, j/every
		for c := range channels {
			bit := channels*i + c
			r, o := &s.rows[j%2], j/2*s.words+bit>>6
			v := uint64(signOf(c, cells[channels*k+c]-at.mean[c], at.deviation))
			r.brighter[o] |= v & brighter >> c << (bit & 63)
			r.darker[o] |= v >> (channels + c) << (bit & 63)
		}
	})
	return s
}

// window holds the mat's signs around a sample of a lattice, in the layout of a signLook.
type window struct {
	side, words int
	rows        [2]signRows
	lattice     *lattice
	i, j        int
	taken       [2]bool // the rows are up to date
}

// newWindow returns a window for looks of a size.
func newWindow(s *signLook) *window {
	w := &window{side: s.side, words: s.words}
	for r := range w.rows {
		w.rows[r] = signRows{make([]uint64, len(s.rows[r].brighter)), make([]uint64, len(s.rows[r].darker))}
	}
	return w
}

// move centres the window on a sample.
func (w *window) move(l *lattice, i, j int) {
	w.lattice, w.i, w.j, w.taken = l, i, j, [2]bool{}
}

// take returns every other row, beginning with the first or the second.
func (w *window) take(first int) *signRows {
	out := &w.rows[first]
	if w.taken[first] {
		return out
	}
	w.taken[first] = true
	l, h := w.lattice, w.side/2
	bit := channels * (w.i - h)
	o, at := (w.j-h+first)*l.stride+bit>>6, uint(bit&63)
	for k := 0; k < len(out.brighter); k += w.words {
		b, d := l.brighter[o:][:w.words+1], l.darker[o:][:w.words+1]
		for i := range w.words {
			out.brighter[k+i] = b[i]>>at | b[i+1]<<1<<(63-at)
			out.darker[k+i] = d[i]>>at | d[i+1]<<1<<(63-at)
		}
		o += 2 * l.stride
	}
	return out
}

// score returns how many more signs of the look agree with a window than disagree, in standard deviations of chance. It is 0 if half of
// the rows score less than signHalf.
func (s *signLook) score(w *window) float64 {
	agree, against := s.rows[0].compare(w.take(0))
	if float64(agree-against) < signHalf*math.Sqrt(float64(agree+against+signNoise)) {
		return 0
	}
	a, b := s.rows[1].compare(w.take(1))
	agree, against = agree+a, against+b
	return float64(agree-against) / math.Sqrt(float64(agree+against+signNoise))
}

// compare counts the signs that agree and those that disagree.
func (r *signRows) compare(o *signRows) (agree, against int) {
	n := len(r.brighter)
	rb, rd, ob, od := r.brighter, r.darker[:n], o.brighter[:n], o.darker[:n]
	for k, b := range rb {
		agree += bits.OnesCount64(b&ob[k] | rd[k]&od[k])
		against += bits.OnesCount64(rd[k]&ob[k] | b&od[k])
	}
	return agree, against
}

// near returns the poses around the centre whose signs agree best with a look.
func (s *signs) near(l *Look, reach float64, headings []geom.Angle) []guess {
	look, turned := &l.grids().signs, newLattice(s)
	w := newWindow(look)
	middle, n := turned.side/2, int(math.Ceil(reach/signStep))
	var all []guess
	for _, h := range headings {
		turned.turn(s, h)
		for j := middle - n; j <= middle+n; j++ {
			for i := middle - n; i <= middle+n; i++ {
				w.move(turned, i, j)
				if score := look.score(w); score > 0 {
					all = append(all, guess{geom.Pose{Point: turned.point(i, j), Heading: h}, score})
				}
			}
		}
	}
	return apart(all, signFits, captureApart, 1.5*captureTurn)
}
