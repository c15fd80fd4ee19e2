package ship

import (
	"math"
	"math/bits"

	"sightline/engine"
	"sightline/vision/token"
)

// nearestWord has for every reading of twelve cells the index of the nearest word (4·ship + side)
// and its distance; readings two cells or more from every word have distance 2.
var nearestWord = func() (t [1 << token.WordBits]struct {
	word int16
	dist uint8
}) {
	for r := range t {
		t[r].dist = 2
		for i, w := range token.AllWords {
			if d := token.Distance(uint16(r), w); d < int(t[r].dist) {
				t[r].word, t[r].dist = int16(i), uint8(d)
			}
		}
	}
	return t
}()

// reading is one way to read a profile as a side of a token.
type reading struct {
	center float64 // middle of the side, a in mm
	word   int     // 4·ship + side
	score  float64 // correlation with the printed pattern, -1…1
}

const (
	// minReadContrast is the least difference between white and dark cells, relative to the keyline's
	// light, at which a rim is read: black ink under veiling glare still leaves a third.
	minReadContrast = 0.3
	// minKeyline is the least mean light of the keyline: 25 grey levels.
	minKeyline = 0.0097
)

// correlation accumulates what was seen against what is printed, for Pearson's coefficient.
type correlation struct{ sx, sy, sxx, syy, sxy, n float64 }

func (c *correlation) add(seen, printed float64) {
	c.sx, c.sy = c.sx+printed, c.sy+seen
	c.sxx, c.syy, c.sxy = c.sxx+printed*printed, c.syy+seen*seen, c.sxy+printed*seen
	c.n++
}

// dark is add for a cell printed dark.
func (c *correlation) dark(seen float64) {
	c.sy, c.syy, c.n = c.sy+seen, c.syy+seen*seen, c.n+1
}

// coefficient returns -1…1. It reports false if either does not vary.
func (c *correlation) coefficient() (float64, bool) {
	den := (c.sxx - c.sx*c.sx/c.n) * (c.syy - c.sy*c.sy/c.n)
	if !(den > 0) {
		return 0, false
	}
	return (c.sxy - c.sx*c.sy/c.n) / math.Sqrt(den), true
}

// variance returns the variance of what was seen.
func (c *correlation) variance() float64 { return c.syy/c.n - (c.sy/c.n)*(c.sy/c.n) }

// readAt reads the side with its middle at center, and scores it by the correlation of the cells
// (and of the two dark corners) with the nearest word.
func (p *profile) readAt(base engine.Base, s token.Side, center float64) (reading, bool) {
	return p.readBetween(base, s, center, math.Inf(-1), math.Inf(1))
}

// readBetween is readAt for the cells and corners between two places.
func (p *profile) readBetween(base engine.Base, s token.Side, center, from, to float64) (reading, bool) {
	n := token.Cells(base, s)
	half, w := float64(token.SideLength(base, s))/2, float64(token.CellWidth(base, s))
	first := center - half + float64(token.Corner)
	if p.key(max(center-half, from), min(center+half, to)) < minKeyline { // most edges are none
		return reading{}, false
	}
	i0 := max(int(math.Ceil(max(from-first, 0)/w)), 0)
	i1 := int(min(math.Floor(max(to-first, 0)/w), float64(n)))
	if i1-i0 < token.WordBits {
		return reading{}, false
	}
	var ends [2]float64 // the dark corners, if visible
	seen := [2]bool{center-half >= from-1, center+half <= to+1}
	if seen[0] {
		ends[0] = p.relative(center-half+1.6, first-0.6)
	}
	if seen[1] {
		ends[1] = p.relative(center+half-float64(token.Corner)+0.6, center+half-1.6)
	}
	if ends[0] > lightCorner || ends[1] > lightCorner {
		return reading{}, false
	}
	var value [token.MaxCells]float64
	for i := i0; i < i1; i++ {
		a := first + float64(i)*w
		value[i] = p.relative(a+0.2*w, a+0.8*w)
	}
	lo, hi := extremes(value[i0:i1])
	if hi-lo < minReadContrast {
		return reading{}, false
	}
	for k := range ends {
		if !seen[k] {
			ends[k] = lo
		}
	}
	if light := lo + endMost*(hi-lo); ends[0] > light || ends[1] > light {
		return reading{}, false
	}
	best, found := decode(value[i0:i1], i0, ends, seen, lo, hi)
	if found && best.score > leastSharp && best.score < 0.95 {
		withoutSpill(value[i0:i1], &ends)
		lo, hi = extremes(value[i0:i1])
		if r, ok := decode(value[i0:i1], i0, ends, seen, lo, hi); ok && r.score > best.score {
			best = r
		}
	}
	best.center = center
	return best, found
}

const (
	// spill is the share of a cell's light that a blur of 1.1 mm spreads into each of its neighbours.
	// Readings are first tried without, and with it if that fits by leastSharp.
	spill      = 0.15
	leastSharp = 0.55
	// endMost is how light the dark corners may seem, between the darkest cell and the lightest.
	endMost = 0.7
	// lightCorner is how light a corner may seem relative to the keyline: under a blur of 1.2 mm dark
	// ones have up to 1.5.
	lightCorner = 1.7
)

// hardDecision decides each bit by the sign of its value, and returns the two least clear ones. It
// avoids unpredictable branches.
func hardDecision(shown *[token.WordBits]float64) (taken uint16, least [2]int) {
	const sign, number = 1 << 63, 1<<4 - 1
	doubt := [2]uint64{math.MaxUint64, math.MaxUint64} // how clear, as float bits, with the bit's index in the lowest ones
	for i, d := range shown {
		shows := math.Float64bits(d)
		taken |= uint16(^shows>>63) << i
		clear := shows&^(sign|number) | uint64(i)
		doubt[1] = min(doubt[1], max(doubt[0], clear))
		doubt[0] = min(doubt[0], clear)
	}
	return taken, [2]int{int(doubt[0] & number), int(doubt[1] & number)}
}

// withoutSpill removes the light that neighbouring cells spread into cells of a row; ends are the
// cells beyond it.
func withoutSpill(value []float64, ends *[2]float64) {
	last := len(value) - 1
	before, after := ends[0], ends[1]
	ends[0], ends[1] = before-spill*value[0], after-spill*value[last]
	for i, v := range value[:last] {
		value[i], before = v-spill*(before+value[i+1]), v
	}
	value[last] -= spill * (before + after)
}

// decode finds the word of cells in a row. The first is number i0 of its side, lo and hi are the
// least and the greatest of them, and ends lie beyond the row. It tries both values of the two
// least clear cells (Chase, A class of algorithms for decoding block codes with channel measurement
// information, 1972).
func decode(value []float64, i0 int, ends [2]float64, seen [2]bool, lo, hi float64) (best reading, ok bool) {
	var sums, times [token.WordBits]float64 // of each bit's cells, and their number
	var all correlation                     // of a word without white cells; over the cells and two dark corners
	bit := i0 % token.WordBits
	for _, v := range value {
		sums[bit] += v
		times[bit]++
		all.dark(v)
		if bit++; bit == token.WordBits {
			bit = 0
		}
	}
	for k, end := range ends {
		if seen[k] {
			all.dark(end)
		}
	}
	// The middle between the two levels; cells that appear twice are averaged.
	middle := (lo + hi) / 2
	var shown [token.WordBits]float64
	for i := range shown {
		shown[i] = sums[i]/times[i] - middle
	}
	taken, least := hardDecision(&shown)
	best.score = -1
	tried := -1
	for flips := range uint16(4) {
		near := nearestWord[taken^flips&1<<least[0]^flips>>1<<least[1]]
		if near.dist > 1 || int(near.word) == tried {
			continue
		}
		tried = int(near.word)
		fit := all
		for white := token.AllWords[near.word]; white != 0; white &= white - 1 {
			i := bits.TrailingZeros16(white)
			fit.sx, fit.sxy = fit.sx+times[i], fit.sxy+sums[i]
		}
		fit.sxx = fit.sx
		if score, valid := fit.coefficient(); valid && score > best.score {
			best.word, best.score, ok = int(near.word), score, true
		}
	}
	return best, ok
}
