// Package signs compares cards with a picture of the mat by the signs of both. The search over the whole mat tries a look in all headings
// at every place where a base may stand, so each comparison must be cheap. It compares signs: whether a channel is clearly brighter or
// darker than its surroundings, in the card and in the picture, as bits. The signs of a miniature agree and disagree equally often by
// chance, and cancel.
package signs

import (
	"math"
	"math/bits"

	"sightline/engine/geom"
)

// How a search compares.
const (
	Step  = 2.0 // mm between places, and between the cells of a look
	Turns = 120 // headings that larger bases are compared in
	Small = 2   // small bases use every second of them
)

const (
	channels = 3

	windowMM  = 3   // mm from the centre to the sides of the square that gives mean and deviation
	signLeast = 0.5 // standard deviations from the mean, beyond which a sample has a sign
	halfLeast = 1   // score of half of the rows, from which the other half is compared; of a quarter, 0 is enough
	signNoise = 36  // added to the number of signs, so that cards with few signs do not rank first by chance
	noise     = 6.0 // grey levels²: noise and rounding in a square's variance
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
			l.deviation = float32(math.Sqrt(float64(max(all, 0)/channels + noise)))
			do(j*n+i, &l)
		}
	}
}

// Mat holds the signs of the rectified mat.
type Mat struct {
	origin geom.Point
	step   float64
	n      int // samples along a side
	v      []uint8
	varies []float32 // grey levels around it
}

// NewMat returns the signs of a square of n by n samples of three channels, some mm apart, from an origin on.
func NewMat(origin geom.Point, step float64, n int, v []float32) *Mat {
	m := &Mat{origin: origin, step: step, n: n, v: make([]uint8, n*n), varies: make([]float32, n*n)}
	locals(v, nil, n, int(math.Round(windowMM/step)), func(k int, l *local) {
		var b uint8
		for c := range channels {
			b |= signOf(c, v[channels*k+c]-l.mean[c], l.deviation)
		}
		m.v[k], m.varies[k] = b, l.deviation
	})
	return m
}

// VariesAt reports whether the surroundings of a point vary by some grey levels.
func (m *Mat) VariesAt(p geom.Point, by float32) bool {
	i, j := int((p.X-m.origin.X)/m.step+0.5), int((p.Y-m.origin.Y)/m.step+0.5)
	return i >= 0 && j >= 0 && i < m.n && j < m.n && m.varies[j*m.n+i] >= by
}

// word holds the signs of wordSamples samples of a row, channels bits each, from the least significant bits on.
type word struct {
	any      uint64 // there is a sign
	brighter uint64 // and it is brighter
}

// wordSamples is how many samples a word holds.
const wordSamples = 64 / channels

// Lattice is the mat's signs at a heading: rows along the base's sides, Step apart. It keeps the rows around the one that is searched.
type Lattice struct {
	mat      *Mat
	Heading  geom.Angle
	middle   geom.Point // of the central sample
	sin, cos float64
	Side     int    // samples of a row, and rows
	stride   int    // words of a row: one for each sample, with the samples from there on
	words    []word // of latticeRows rows, row j at j modulo latticeRows
	held     [latticeRows]int
	row      []uint8
}

const (
	latticeRows   = 64 // more than a look has
	latticeMargin = 32 // words before and after the samples of a row, more than half of a look
)

// NewLattice returns a lattice for the signs of a mat. Turn sets its heading.
func NewLattice(m *Mat) *Lattice {
	size := float64(m.n-1) * m.step
	half := int(math.Ceil(size / math.Sqrt2 / Step))
	l := &Lattice{mat: m, middle: m.origin.Add(geom.Point{X: size / 2, Y: size / 2}), Side: 2*half + 1}
	l.stride = l.Side + 2*latticeMargin
	l.words, l.row = make([]word, l.stride*latticeRows), make([]uint8, l.Side)
	l.Turn(0)
	return l
}

// Point returns the place of a sample on the table.
func (l *Lattice) Point(i, j int) geom.Point {
	u, v := float64(i-l.Side/2)*Step, float64(l.Side/2-j)*Step
	return l.middle.Add(geom.Point{X: u*l.cos + v*l.sin, Y: -u*l.sin + v*l.cos})
}

// Turn sets the heading.
func (l *Lattice) Turn(heading geom.Angle) {
	l.Heading = heading
	l.sin, l.cos = math.Sincos(float64(heading))
	for k := range l.held {
		l.held[k] = math.MinInt
	}
}

// hold samples the rows from first on, as far as they are not held.
func (l *Lattice) hold(first, n int) {
	for j := first; j < first+n; j++ {
		if k := j & (latticeRows - 1); l.held[k] != j {
			l.sample(j, l.words[k*l.stride:][:l.stride])
			l.held[k] = j
		}
	}
}

// sample writes the words of a row.
func (l *Lattice) sample(j int, out []word) {
	clear(l.row)
	clear(out)
	first, end := 0, 0 // samples that may have signs
	if j >= 0 && j < l.Side {
		s := l.mat
		p := l.Point(0, j).Sub(s.origin)
		x, y, dx, dy := p.X/s.step+0.5, p.Y/s.step+0.5, l.cos*Step/s.step, -l.sin*Step/s.step
		first, end = clip(0, l.Side, x, dx, float64(s.n))
		first, end = clip(first, end, y, dy, float64(s.n))
		fx, fy, fdx, fdy := fixed(x+float64(first)*dx), fixed(y+float64(first)*dy), fixed(dx), fixed(dy)
		n := uint(s.n)
		for i := first; i < end; i++ {
			if a, b := uint(fx>>fixedBits), uint(fy>>fixedBits); a < n && b < n {
				l.row[i] = s.v[b*n+a]
			}
			fx += fdx
			fy += fdy
		}
	}
	var w word
	const room = 1<<(channels*(wordSamples-1)) - 1 // for one more sample
	for i := end - 1; i >= max(first-wordSamples, -latticeMargin); i-- {
		var v uint64
		if i >= 0 {
			v = uint64(l.row[i])
		}
		w.any = w.any&room<<channels | (v|v>>channels)&brighter
		w.brighter = w.brighter&room<<channels | v&brighter
		out[i+latticeMargin] = w
	}
}

// fixedBits are the bits behind the point of a coordinate that grows by a step along a row: conversions cost more than shifts.
const fixedBits = 32

func fixed(v float64) int64 { return int64(math.Floor(v * (1 << fixedBits))) }

// Look holds the signs of a look, a square of side by side cells.
type Look struct {
	side, words int // cells of a row, and words
	rows        [len(rowsOf)][]word
}

// rowsOf are the rows of a look in the order in which they are compared: from which row on, and every how many. Most places do not fit,
// and the first rows show it.
var rowsOf = [...]struct{ first, every int }{{0, 4}, {2, 4}, {1, 2}}

// newRows returns the rows of a look, without signs.
func newRows(side, words int) (rows [len(rowsOf)][]word) {
	for r, of := range rowsOf {
		rows[r] = make([]word, words*((side-of.first+of.every-1)/of.every))
	}
	return rows
}

// row returns the words of a row.
func (s *Look) row(j int) []word {
	for r, of := range rowsOf {
		if j%of.every == of.first {
			return s.rows[r][j/of.every*s.words:][:s.words]
		}
	}
	return nil
}

// NewLook returns the signs of a look: of cells of three channels, of a size in mm, of which those with no weight are not used.
func NewLook(cells, weight []float32, side int, cellMM float64) Look {
	every := int(math.Round(Step / cellMM))
	first := (side - 1) / 2 % every
	s := Look{side: (side-1-first)/every + 1}
	s.words = (s.side + wordSamples - 1) / wordSamples
	s.rows = newRows(s.side, s.words)
	locals(cells, weight, side, int(math.Round(windowMM/cellMM)), func(k int, at *local) {
		i, j := k%side-first, k/side-first
		if i < 0 || j < 0 || i%every != 0 || j%every != 0 || weight[k] < 0.5 {
			return
		}
		i, j = i/every, j/every
		var v uint64
		for c := range channels {
			v |= uint64(signOf(c, cells[channels*k+c]-at.mean[c], at.deviation))
		}
		w, bit := &s.row(j)[i/wordSamples], channels*(i%wordSamples)
		w.any |= (v | v>>channels) & brighter << bit
		w.brighter |= v & brighter << bit
	})
	return s
}

// Scorer compares looks of one size with a lattice.
type Scorer struct {
	looks       []*Look
	side, words int                // of a look
	at          [len(rowsOf)][]int // of each word of a look: where the lattice holds the same word around its sample 0
	left        []counted
}

// counted is how many signs a look and the mat around a sample have in common, and how many of them disagree.
type counted struct{ i, all, against int }

// NewScorer returns a scorer for looks of one size.
func NewScorer(looks []*Look) *Scorer {
	s := &Scorer{looks: looks}
	if len(looks) == 0 {
		return s
	}
	s.side, s.words = looks[0].side, looks[0].words
	for r := range s.at {
		s.at[r] = make([]int, len(looks[0].rows[r]))
	}
	return s
}

// Score compares all looks with some samples of a lattice's row. It calls do with what scores: by how many more signs of a look agree than
// disagree, in standard deviations of chance. Nothing scores if a quarter of a look's rows disagrees more, or half of them scores less than
// halfLeast.
func (s *Scorer) Score(l *Lattice, j int, samples []int, do func(look, i int, score float64)) {
	if len(samples) == 0 {
		return
	}
	l.hold(j-s.side/2, s.side)
	for r, of := range rowsOf {
		for k := range s.at[r] {
			row := j - s.side/2 + of.first + of.every*(k/s.words)
			s.at[r][k] = row&(latticeRows-1)*l.stride + wordSamples*(k%s.words) - s.side/2 + latticeMargin
		}
	}
	if cap(s.left) < len(samples) {
		s.left = make([]counted, len(samples))
	}
	for k, look := range s.looks {
		// No branch depends on chance: what is left is written, and kept if it counts.
		left, n := s.left[:len(samples)], 0
		for _, i := range samples {
			c := counted{i: i}
			c.add(look.rows[0], s.at[0], l.words)
			left[n] = c
			n += one[int](c.all >= 2*c.against)
		}
		left, n = left[:n], 0
		for _, c := range left {
			c.add(look.rows[1], s.at[1], l.words)
			more := max(c.all-2*c.against, 0)
			left[n] = c
			n += one[int](more*more >= halfLeast*halfLeast*(c.all+signNoise))
		}
		for _, c := range left[:n] {
			c.add(look.rows[2], s.at[2], l.words)
			do(k, c.i, float64(c.all-2*c.against)/math.Sqrt(float64(c.all+signNoise)))
		}
	}
}

// add counts the signs of some words.
func (c *counted) add(look []word, at []int, held []word) {
	held, at = held[c.i:], at[:len(look)]
	all, against := c.all, c.against
	for k := range look {
		w := &held[at[k]]
		both := look[k].any & w.any
		all += bits.OnesCount64(both)
		against += bits.OnesCount64((look[k].brighter ^ w.brighter) & both)
	}
	c.all, c.against = all, against
}

// one is 1 for true and 0 for false.
func one[T int | uint8](b bool) T {
	if b {
		return 1
	}
	return 0
}
