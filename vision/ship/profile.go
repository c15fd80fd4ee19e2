package ship

import (
	"image"
	"math"
	"slices"

	"sightline/engine"
	"sightline/vision/token"
)

// rimStep is the spacing of a profile's samples in millimetres.
const rimStep = 0.25

// profile holds the light of the rim along a line as running sums, over the cells' row and over the
// keyline, so that the mean over any stretch takes two look-ups.
type profile struct {
	a0   float64
	n    int
	sums []rimLight // n+1 long
}

// rimLight is the light of the cells' row and of the keyline next to it.
type rimLight struct{ cells, key float64 }

// read samples the line. It reports false if part of it lies outside the picture.
func (p *profile) read(g *image.Gray, s *sideLine) bool {
	p.a0 = s.a0
	p.n = int((s.a1-s.a0)/rimStep) + 1
	p.sums = slices.Grow(p.sums[:0], p.n+1)[:p.n+1]
	var sum rimLight
	p.sums[0] = sum
	for i := range p.sums[1:] {
		x, y := s.pixel(s.a0+float64(i)*rimStep, 0)
		key, ok0 := lightAt(g, x+0.6*s.inX, y+0.6*s.inY)
		outer, ok1 := lightAt(g, x+2.3*s.inX, y+2.3*s.inY)
		inner, ok2 := lightAt(g, x+3.1*s.inX, y+3.1*s.inY)
		if !ok0 || !ok1 || !ok2 {
			return false
		}
		sum.cells += (outer + inner) / 2
		sum.key += key
		p.sums[i+1] = sum
	}
	return true
}

// over returns the sum over [a, b], clamped to the profile, and its number of samples.
func (p *profile) over(a, b float64) (sum rimLight, n float64) {
	i := min(max(int((a-p.a0)/rimStep+0.5), 0), p.n-1)
	j := min(max(int((b-p.a0)/rimStep+0.5), i+1), p.n)
	from, to := &p.sums[i], &p.sums[j]
	return rimLight{to.cells - from.cells, to.key - from.key}, float64(j - i)
}

// key returns the mean light of the keyline over [a, b].
func (p *profile) key(a, b float64) float64 {
	sum, n := p.over(a, b)
	return sum.key / n
}

// evenKeyline reports whether the keyline of a side centred at 0 is visible from end to end:
// nowhere darker than a fifth of its brightest stretch, half of its grey level.
func (p *profile) evenKeyline(base engine.Base, s token.Side) bool {
	half := float64(token.SideLength(base, s)) / 2
	lo, hi := math.Inf(1), 0.0
	for a := -half + 1.5; a < half-4; a += 2.5 {
		v := p.key(a, a+2.5)
		lo, hi = math.Min(lo, v), math.Max(hi, v)
	}
	return lo > hi/5
}

// relative returns the light of the cells' row over [a, b] relative to the keyline's light next to
// it, so that a shadow across the side has no effect.
func (p *profile) relative(a, b float64) float64 {
	sum, n := p.over(a, b)
	return relativeLight(sum.cells, sum.key, n)
}

// relativeLight returns the sum of n lights of cells relative to that of the keyline next to them,
// limited where the keyline is covered.
func relativeLight(cells, key, n float64) float64 { return lesser(cells/greater(key, 0.0037*n), 2) }

// lesser and greater are min and max of non-negative numbers, without branches.
func lesser(a, b float64) float64 {
	return math.Float64frombits(min(math.Float64bits(a), math.Float64bits(b)))
}

func greater(a, b float64) float64 {
	return math.Float64frombits(max(math.Float64bits(a), math.Float64bits(b)))
}

// extremes returns the least and the greatest number, without branches.
func extremes(v []float64) (lo, hi float64) {
	var sign int64 = math.MaxInt64 // with these bits inverted in negative floats, floats are ordered like integers
	least, greatest := int64(math.MaxInt64), int64(math.MinInt64)
	for _, x := range v {
		b := int64(math.Float64bits(x))
		b ^= b >> 63 & sign
		least, greatest = min(least, b), max(greatest, b)
	}
	of := func(b int64) float64 { return math.Float64frombits(uint64(b ^ b>>63&sign)) }
	return of(least), of(greatest)
}
