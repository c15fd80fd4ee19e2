package obstacle

import (
	"image"
	"math"

	"sightline/calibration/linalg"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/internal/gray"
)

// matTest weighs, for every cell of the mat, the mat as it was learnt against anything else.
// What is left of a picture after the light has been followed is divided by its standard
// deviation on the bare mat, which is measured in the same picture, grey level by grey level
// (photon transfer: the variance rises with the light, and the camera's curve and
// compression bend it), and by how far a misplaced mat explains it where the mat is printed.
//
// Single cells of noisy pictures say little. Their energy, the mean square over a small
// square, is 1 on the mat whatever its print and light; what lies on it adds the square of
// its contrast over the noise. Where the energy of a square as wide as the narrowest
// obstacle is larger than bare mat ever shows, something lies there, and an obstacle
// whose contrast would not have made it so large would not have been noticed.
type matTest struct {
	w, h int
	seen []bool    // in the picture, not clipped, and no ship's
	lies []bool    // so far from the mat that it says nothing of the noise
	rest []float32 // picture less the mat in its light, grey levels
	z    []float32 // rest over its standard deviation on the bare mat

	noise   [matLevels]float32 // of a cell, by the mat's grey level
	ringing []float32          // variance that JPEG adds next to ships
	slight  []float32          // grey levels by which light that is not followed may change the bare mat
	taken   []float32          // square of the grey levels that the large square about a cell lost in the mean, to light and to shade
	local   gainMap            // standard deviation of z over bare mat, region by region
	coarse  gainMap            // the same of the means of z over broad squares
	energy  []float32          // of the small square about a cell; what is darker counts for its texture alone
	shade   []shade            // of the small square
	one     float32            // energy of bare mat by its noise alone, before it is divided out
	wide    []float32          // mean of the same, capped, over a square of the narrowest obstacle; work in between, as a is
	limit   float32            // of wide, above which something lies there
	most    float32            // what the energy of a cell counts for at most
	spread  float32            // of wide on the bare mat
	a       []float32
	sample  []float64
}

// shade says whether the mean of z in a square is darker than the mat.
type shade uint8

const (
	noShade    shade = iota
	anyShade         // darker, as the edge of a shadow is
	plainShade       // by shadowEdge or more
)

const (
	matLevels  = 22
	matLevel   = 12.0 // grey levels of a class of noise
	matClass   = 60   // cells from which a class is measured
	matOutlier = 6    // standard deviations: more says no more
	matSteeper = 1.35 // times the noise of the class next to it

	matShift    = 0.39 // px: how far the empty mat may be misplaced, rms (0.15 px²)
	matRounding = 1.0  // grey levels that rounding, compression and the light's own unevenness leave
	matWide     = 15   // mm: half the window of the local light
	matBlock    = 3    // mm: the light is followed in steps of
	matQuiet    = 0.5  // energy of bare mat in pictures with no noise to speak of
	matSmall    = 2    // mm: half the small square
	matBroad    = 1    // mm: half the broad square, over which cells are averaged
	noiseRegion = 32   // mm: noise is measured in windows of three times as much
	localLeast  = 0.9  // of the noise that the grey level has all over the mat: a window of some 500 cells tells it to a tenth
	matLies     = 4.0  // energy from which a cell says nothing of the noise
	noisiest    = 5.0  // times the least
	matSure     = 1e3  // energy of what is no mat beyond doubt

	// A square in which half of the cells are far from the mat is half covered: that is the
	// limit in good light. It is larger where bare mat spreads so much that one square in 10⁷
	// would pass by chance, or one picture in some thousand. A cell counts for so much that half of them
	// make the limit: what is small and bright must not stand for a whole obstacle.
	matLimit  = 2.5
	matShare  = 2*matLimit - 1
	matSigmas = 5.2
)

// begin tells what of the picture that was compared last says something of the mat. covered are ships'.
func (m *matTest) begin(d *subtraction, covered []bool) {
	if n := len(d.diff); m.seen == nil {
		m.w, m.h = d.view.Width, d.view.Height
		m.seen, m.lies, m.shade = make([]bool, n), make([]bool, n), make([]shade, n)
		for _, v := range [...]*[]float32{&m.rest, &m.z, &m.energy, &m.wide, &m.a, &m.slight, &m.taken, &m.ringing} {
			*v = make([]float32, n)
		}
	}
	for k, v := range d.diff {
		m.seen[k], m.rest[k] = v == v && !covered[k] && d.work[k] <= matClipped, v
		if !m.seen[k] {
			m.rest[k] = 0
		}
	}
}

// find weighs it; slight is known. half is half the side, in cells, of the square that the narrowest obstacle fills.
func (m *matTest) find(d *subtraction, covered []bool, half int) {
	clear(m.lies)
	m.measureNoise(d)
	for range 2 {
		m.normalise(d)
		m.followLight()
		m.measureNoise(d)
	}
	m.normalise(d)
	m.measureTaken(d, half)
	broad := m.wide // which is not known before they are
	m.broaden(broad)
	m.one = m.bareEnergy()
	m.allowLight(d, broad)
	m.weigh(d, broad)
	m.weighShade(d)
	m.judge(d, covered, half)
}

const (
	matClipped = 250 // grey level from which a picture says nothing
	matWhiter  = 15  // grey levels by which something clipped must be lighter than the mat there
)

// matGrey is the grey level that the bare mat has at a cell in the light of the picture.
func matGrey(d *subtraction, k int) uint8 {
	return uint8(min(max(d.work[k]-d.diff[k], 0), 255))
}

// levelOf returns the class of noise of the bare mat at a cell.
func levelOf(d *subtraction, k int) uint8 {
	return uint8(min(max(int((d.work[k]-d.diff[k])/matLevel), 0), matLevels-1))
}

// measureNoise takes the spread of the residual at each grey level of the mat, outwards from
// the most frequent level. Photons and the camera's curve change it slowly from
// level to level: a class that is much noisier than its neighbour is more than
// half covered.
func (m *matTest) measureNoise(d *subtraction) {
	var by [matLevels][]float64
	for k := 0; k < len(m.rest); k += 7 {
		if m.seen[k] && d.slope[k] < 2 {
			l := levelOf(d, k)
			by[l] = append(by[l], math.Abs(float64(m.rest[k])))
		}
	}
	most := 0
	for l := range by {
		if len(by[l]) > len(by[most]) {
			most = l
		}
	}
	of := func(l int, limit float32) float32 {
		if len(by[l]) < matClass {
			return limit / matSteeper // as its neighbour
		}
		return min(float32(gray.Quantile(by[l], 0.5)/0.6745)+0.05, limit)
	}
	m.noise[most] = max(of(most, math.MaxFloat32), 0.3)
	for l := most + 1; l < matLevels; l++ {
		m.noise[l] = max(of(l, matSteeper*m.noise[l-1]), 0.3)
	}
	for l := most - 1; l >= 0; l-- {
		m.noise[l] = max(of(l, matSteeper*m.noise[l+1]), 0.3)
	}
}

// sigma is the standard deviation of the residual at a cell of the bare mat, by its grey level and its slope; m.local tells how it
// differs from region to region.
func (m *matTest) sigma(d *subtraction, k int) float32 {
	s, slope := m.noise[levelOf(d, k)], d.slope[k]
	return float32(math.Sqrt(float64(s*s + matShift*matShift*slope*slope + matRounding*matRounding + m.ringing[k])))
}

// normalise divides the residual by what noise and a misplaced mat explain of it.
func (m *matTest) normalise(d *subtraction) {
	for k, r := range m.rest {
		m.z[k] = r / m.sigma(d, k)
	}
	m.measureRegions(m.z, &m.local, localLeast)
	local := make([]float32, m.w)
	for j := range m.h {
		m.local.row(j, local)
		for i, s := range local {
			k := j*m.w + i
			m.z[k] /= s
			m.a[k] = 0
			if m.seen[k] {
				m.a[k] = min(m.z[k]*m.z[k], matOutlier*matOutlier)
			}
		}
	}
	gray.SumBoxes(m.a, m.a, m.w, m.h, matSmall)
	for k, v := range m.a {
		m.lies[k] = v > matLies*(2*matSmall+1)*(2*matSmall+1)
	}
}

// measureTaken takes the mean that the large square about each cell differs from the mat by, which counts for nothing as far as it was
// followed as light or is darker. It works in a and wide.
func (m *matTest) measureTaken(d *subtraction, half int) {
	seen, diff, rest := m.a, m.wide, m.taken
	for k, set := range m.seen {
		seen[k], diff[k], rest[k] = 0, 0, 0
		if set {
			seen[k], diff[k], rest[k] = 1, d.diff[k], m.rest[k]
		}
	}
	for _, v := range [...][]float32{seen, diff, rest} {
		gray.SumBoxes(v, v, m.w, m.h, half)
	}
	for k, n := range seen {
		m.taken[k] = max(sq(diff[k])-sq(max(rest[k], 0)), 0) / sq(max(n, 1))
	}
}

// noisy sets out to the standard deviations that noise alone has in row j on the bare mat.
func (m *matTest) noisy(d *subtraction, j int, out []float32) {
	m.local.row(j, out)
	for i := range out {
		out[i] *= m.noise[levelOf(d, j*m.w+i)]
	}
}

// smallSquare returns the cells of the small square about a cell, as columns and rows.
func (m *matTest) smallSquare(k int) image.Rectangle {
	i, j := k%m.w, k/m.w
	return image.Rect(i-matSmall, j-matSmall, i+matSmall+1, j+matSmall+1).Intersect(image.Rect(0, 0, m.w, m.h))
}

// unevenness returns the energy of the small square about a cell less that of its mean, however dark it is.
func (m *matTest) unevenness(k int) float32 {
	var sum, square, n float32
	r := m.smallSquare(k)
	for j := r.Min.Y; j < r.Max.Y; j++ {
		for _, z := range m.z[j*m.w+r.Min.X : j*m.w+r.Max.X] {
			sum, square, n = sum+z, square+z*z, n+1
		}
	}
	return (square/n - sum*sum/(n*n)) / m.one
}

func cellAt(i, j int) geom.Point {
	return geom.Point{X: (float64(i) + 0.5) * vision.DiffStep, Y: (float64(j) + 0.5) * vision.DiffStep}
}

// broaden takes the means of z over broad squares, divided by their standard deviation. Noise falls in them as the square root of
// their cells, if it is the cells' own; compression, a colour mosaic and what the lens and the
// reduction blur tie neighbours together, so that the spread of the means is measured.
func (m *matTest) broaden(broad []float32) {
	for k, z := range m.z {
		broad[k] = min(max(z, -matOutlier), matOutlier)
		if !m.seen[k] {
			broad[k] = 0
		}
	}
	const cells = (2*matBroad + 1) * (2*matBroad + 1)
	gray.SumBoxes(broad, broad, m.w, m.h, matBroad)
	for k := range broad {
		broad[k] /= cells
	}
	m.measureRegions(broad, &m.coarse, 1.0/(2*matBroad+1))
	coarse := make([]float32, m.w)
	for j := range m.h {
		m.coarse.row(j, coarse)
		for i, s := range coarse {
			broad[j*m.w+i] /= s
		}
	}
}

// measureRegions takes the standard deviation of v over the bare mat in the window round each
// region. One that is more than half covered is taken for noisier than it is, and so for
// blind at worst.
func (m *matTest) measureRegions(v []float32, out *gainMap, least float64) {
	out.cols, out.rows = (m.w+noiseRegion-1)/noiseRegion, (m.h+noiseRegion-1)/noiseRegion
	out.size = noiseRegion * vision.DiffStep
	out.ratio = out.ratio[:0]
	for r := range out.rows {
		for c := range out.cols {
			m.sample = m.sample[:0]
			for j := max((r-1)*noiseRegion, 0); j < min((r+2)*noiseRegion, m.h); j += 4 {
				for i := max((c-1)*noiseRegion, 0); i < min((c+2)*noiseRegion, m.w); i += 4 {
					if k := j*m.w + i; m.seen[k] && !m.lies[k] {
						m.sample = append(m.sample, math.Abs(float64(v[k])))
					}
				}
			}
			s := least
			if len(m.sample) > matClass {
				s = gray.Quantile(m.sample, 0.4) / 0.524
			}
			out.ratio = append(out.ratio, min(max(s, least), noisiest*least))
		}
	}
}

// followLight takes the mean residual of the mat around from each cell, by blocks of cells.
func (m *matTest) followLight() {
	cols, rows := (m.w+matBlock-1)/matBlock, (m.h+matBlock-1)/matBlock
	sums, uses := make([]float32, cols*rows), make([]float32, cols*rows)
	squares := make([]float32, cols*rows)
	m.each(func(k, i, j int) {
		if m.seen[k] {
			b := j/matBlock*cols + i/matBlock
			sums[b], uses[b], squares[b] = sums[b]+m.rest[k], uses[b]+1, squares[b]+min(m.z[k]*m.z[k], 40)
		}
	})
	for b, n := range uses {
		if squares[b] >= 4*n { // something lies there
			sums[b], uses[b] = 0, 0
		}
	}
	const half = matWide / matBlock
	sums, uses = gray.BoxSums(sums, cols, rows, half), gray.BoxSums(uses, cols, rows, half)
	for b := range sums {
		sums[b] /= uses[b] + 20
	}
	m.each(func(k, i, j int) {
		if m.seen[k] {
			m.rest[k] -= sums[j/matBlock*cols+i/matBlock]
		}
	})
}

// each calls do for every cell k in column i of row j.
func (m *matTest) each(do func(k, i, j int)) {
	for j := range m.h {
		for i := range m.w {
			do(j*m.w+i, i, j)
		}
	}
}

// bareEnergy returns the energy of bare mat by its noise: the median of the small squares.
func (m *matTest) bareEnergy() float32 {
	m.sample = m.sample[:0]
	for k := 0; k < len(m.z); k += 19 {
		if !m.seen[k] {
			continue
		}
		var sum, square, n float32
		r := m.smallSquare(k)
		for j := r.Min.Y; j < r.Max.Y; j++ {
			for at := j*m.w + r.Min.X; at < j*m.w+r.Max.X; at++ {
				if z := min(max(m.z[at], -matOutlier), matOutlier); m.seen[at] {
					sum, square = sum+z, square+z*z
				} else {
					square++
				}
				n++
			}
		}
		sum = min(sum, 0) // what is darker counts for its texture alone
		m.sample = append(m.sample, float64(square/n-sum*sum/(n*n)))
	}
	return max(float32(gray.Quantile(m.sample, 0.5)), matQuiet)
}

// allowLight divides broad by what light that is not followed adds to its standard deviation. Such light changes slowly, so that the
// means over broad squares have all of it, and the texture of small squares nothing.
func (m *matTest) allowLight(d *subtraction, broad []float32) {
	local, coarse := make([]float32, m.w), make([]float32, m.w)
	m.each(func(k, i, j int) {
		if i == 0 {
			m.local.row(j, local)
			m.coarse.row(j, coarse)
		}
		if m.slight[k] > 0 {
			s := m.sigma(d, k) * local[i] * coarse[i]
			broad[k] *= s / hypot(s, m.slight[k])
		}
	})
}

func hypot(a, b float32) float32 { return float32(math.Sqrt(float64(a*a + b*b))) }

// weigh takes the energies of single cells and of broad squares, and the larger of both; broad is broaden's, and work from then on.
func (m *matTest) weigh(d *subtraction, broad []float32) {
	const cells = (2*matSmall + 1) * (2*matSmall + 1)
	squares, means := m.energy, m.a
	for k, z := range m.z {
		z = min(max(z, -matOutlier), matOutlier)
		squares[k], means[k] = z*z, z
		if !m.seen[k] {
			squares[k], means[k] = 1, 0
		}
	}
	gray.SumBoxes(squares, squares, m.w, m.h, matSmall)
	gray.SumBoxes(means, means, m.w, m.h, matSmall)
	local := make([]float32, m.w)
	m.each(func(k, i, j int) {
		if i == 0 {
			m.local.row(j, local)
		}
		e, mean := squares[k]/cells, means[k]/cells
		m.shade[k] = noShade
		switch {
		case mean < 0: // as shadow is
			m.shade[k] = anyShade
			e -= mean * mean
		case m.slight[k] > 0:
			v := sq(m.sigma(d, k) * local[i])
			e -= mean * mean * sq(m.slight[k]) / (v + sq(m.slight[k]))
		}
		if mean <= -shadowEdge {
			m.shade[k] = plainShade
		}
		m.energy[k] = e
	})
	squares, means = m.a, broad
	for k, u := range broad {
		u = min(max(u, -matOutlier), matOutlier)
		squares[k], means[k] = u*u, u
	}
	gray.SumBoxes(squares, squares, m.w, m.h, matSmall)
	gray.SumBoxes(means, means, m.w, m.h, matSmall)
	for k, e := range m.energy {
		b, mean := squares[k]/cells, means[k]/cells
		if m.shade[k] != noShade {
			b -= mean * mean
		}
		m.energy[k] = max(e, b)
	}
}

// weighShade takes the energies of what is so much darker than the mat that z says no more: of what is left of the picture when the mat
// there is dimmed by a share that changes evenly from side to side of the small square, as shadow dims it.
func (m *matTest) weighShade(d *subtraction) {
	local := make([]float32, m.w)
	m.each(func(k, i, j int) {
		if i == 0 {
			m.local.row(j, local)
		}
		if m.dark(k) {
			m.energy[k] = max(m.energy[k], m.shaded(d, i, j, local[i]))
		}
	})
}

// dark reports whether a cell is so much darker than the mat that z says no more.
func (m *matTest) dark(k int) bool { return m.seen[k] && m.z[k] < -matOutlier }

// shaded returns that energy of the small square about a cell; local is m.local's there.
func (m *matTest) shaded(d *subtraction, i, j int, local float32) float32 {
	const cells = (2*matSmall + 1) * (2*matSmall + 1)
	var rows [cells][4]float64 // what the share, and its change from side to side, make of the mat; and the picture
	var at [cells]int
	var a [9]float64
	var b [3]float64
	n := 0
	square := m.smallSquare(j*m.w + i)
	for y := square.Min.Y; y < square.Max.Y; y++ {
		for x := square.Min.X; x < square.Max.X; x++ {
			k := y*m.w + x
			if !m.seen[k] {
				continue
			}
			mat := float64(d.work[k] - d.diff[k])
			row := [4]float64{mat, mat * float64(x-i), mat * float64(y-j), float64(d.work[k])}
			rows[n], at[n] = row, k
			n++
			for p := range b {
				b[p] += row[p] * row[3]
				for q := range b {
					a[3*p+q] += row[p] * row[q]
				}
			}
		}
	}
	share, ok := linalg.SolveSPD(a[:], b[:])
	if n < cells/2 || !ok {
		return 0
	}
	var sum float32
	for c, row := range rows[:n] {
		r := float32(row[3] - share[0]*row[0] - share[1]*row[1] - share[2]*row[2])
		sum += min(r*r/m.dimmed(d, at[c], d.work[at[c]], local), matOutlier*matOutlier)
	}
	return sum / float32(n-len(b))
}

// dimmed returns the variance of a cell of the mat that is as dark as grey level v; local is m.local's.
func (m *matTest) dimmed(d *subtraction, k int, v, local float32) float32 {
	s, slope := m.noise[min(max(int(v/matLevel), 0), matLevels-1)], d.slope[k]*v/max(d.work[k]-d.diff[k], 1)
	return local * local * (s*s + matShift*matShift*slope*slope + matRounding*matRounding + m.ringing[k])
}

// judge gives what the energies do not tell its own, and takes the limit from how they spread over the
// mat, which is mostly bare.
func (m *matTest) judge(d *subtraction, covered []bool, half int) {
	for k, v := range d.work {
		expected := v - d.diff[k] // gain times empty
		switch {
		case covered[k], v != v:
			m.energy[k] = 1
		case v > matClipped && d.diff[k] > matWhiter,
			expected > lightLevel && gray.LinearLight[int(max(v, 0))] < inkRatio*gray.LinearLight[min(int(expected), 255)]:
			m.energy[k] = matSure
		case !m.seen[k]:
			m.energy[k] = 1
		default:
			m.energy[k] = min(m.energy[k]/m.one, matSure)
		}
	}
	m.widen(half, matShare)
	m.sample = m.sample[:0]
	for k := 0; k < len(m.wide); k += 19 {
		if m.seen[k] {
			m.sample = append(m.sample, float64(m.wide[k]))
		}
	}
	// What lies about widens the upper half only.
	middle := gray.Quantile(m.sample, 0.5)
	m.spread = float32(middle - gray.Quantile(m.sample, 0.159))
	m.limit = max(matLimit, float32(middle)+matSigmas*m.spread)
	if m.most = 2*m.limit - 1; m.limit > matLimit {
		m.widen(half, m.most)
	}
}

// What is darker than the mat is a shadow, as a rule, and counts for its texture alone: it
// counts as a thing where it takes so much of a light mat's light that ink is the likelier cause.
const (
	inkRatio   = 0.3 // of the linear light
	lightLevel = 60  // grey level from which the mat has light to lose
)

// widen takes the mean energies of the squares of an obstacle's width; a cell counts for at most most.
func (m *matTest) widen(half int, most float32) {
	for k, e := range m.energy {
		m.wide[k] = min(e, most)
	}
	gray.SumBoxes(m.wide, m.wide, m.w, m.h, half)
	n := float32((2*half + 1) * (2*half + 1))
	for k := range m.wide {
		m.wide[k] /= n
	}
}
