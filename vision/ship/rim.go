package ship

import (
	"image"
	"math"
	"math/bits"
	"slices"

	"sightline/calibration"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision/internal/gray"
	"sightline/vision/token"
)

// sideLine maps places along one side of a base to pixels: a in millimetres along the side
// (clockwise around the base), d in millimetres inwards from the edge. Along the side it follows
// the lens by a parabola through three exact points, or a cubic through four for a line longer than
// a large base's side. In depth, over a few millimetres, a straight line is enough (the remaining
// error over an 80 mm side is below 0.01 px).
type sideLine struct {
	a0, a1     float64    // the range of a that the curve spans
	p, q, r, c geom.Pixel // pixel(t) = p + q t + r t² + c t³, t = (a-a0)/(a1-a0)
	inX, inY   float64    // pixels per millimetre of depth
	scale      float64    // pixels per millimetre along the side
	valid      bool
	start, dir geom.Point // the table line: start + a·dir
}

// newSideLine returns the line start + a·dir of the table, a in [a0, a1], at height z. Inwards is
// to the right of dir.
func newSideLine(cam *calibration.Camera, start, dir geom.Point, a0, a1 float64, z geom.Length) sideLine {
	s := sideLine{a0: a0, a1: a1, start: start, dir: dir}
	mid := (a0 + a1) / 2
	in := geom.Point{X: dir.Y, Y: -dir.X}
	m, ok0 := cam.PixelOf(start.Add(dir.Mul(mid)), z)
	p0, ok1 := cam.PixelOf(start.Add(dir.Mul(a0)), z)
	p1, ok2 := cam.PixelOf(start.Add(dir.Mul(a1)), z)
	n, ok3 := cam.PixelOf(start.Add(dir.Mul(mid)).Add(in.Mul(4)), z)
	if !(ok0 && ok1 && ok2 && ok3) || a1-a0 < 1 {
		return s
	}
	s.p = p0
	s.r = p0.Add(p1).Sub(m.Mul(2)).Mul(2)
	if a1-a0 > longLine {
		u, ok4 := cam.PixelOf(start.Add(dir.Mul(a0+(a1-a0)/4)), z)
		if !ok4 {
			return s
		}
		// The error of the parabola through ends and middle a quarter of the way, where t (t-1/2) (t-1)
		// is 3/64.
		s.c = u.Sub(p0.Add(p1.Sub(p0).Sub(s.r).Mul(0.25)).Add(s.r.Mul(1.0 / 16))).Mul(64.0 / 3)
	}
	s.r = s.r.Sub(s.c.Mul(1.5))
	s.q = p1.Sub(p0).Sub(s.r).Sub(s.c)
	s.inX, s.inY = (n.X-m.X)/4, (n.Y-m.Y)/4
	s.scale = p1.Sub(p0).Norm() / (a1 - a0)
	s.valid = s.scale > 0.1
	return s
}

// longLine is the length in mm from which a line is a cubic.
const longLine = 200.0

// sideOf returns the line of one side of a token at a pose, from corner to corner.
func sideOf(cam *calibration.Camera, t token.Token, pose geom.Pose, s token.Side, z geom.Length) sideLine {
	return sideBeyond(cam, t, pose, s, 0, z)
}

// sideBeyond returns the line of one side of a token at a pose, extended beyond both corners (mm).
func sideBeyond(cam *calibration.Camera, t token.Token, pose geom.Pose, s token.Side, beyond float64, z geom.Length) sideLine {
	h, out := t.HalfAlong(s)
	h += beyond
	turn := geom.Pose{Heading: pose.Heading + geom.Angle(s)*90*geom.Degree}
	return newSideLine(cam, pose.Point.Add(turn.Forward().Mul(out)), turn.Right(), -h, h, z)
}

func (s *sideLine) pixel(a, d float64) (x, y float64) {
	t := (a - s.a0) / (s.a1 - s.a0)
	return s.p.X + t*(s.q.X+t*(s.r.X+t*s.c.X)) + d*s.inX, s.p.Y + t*(s.q.Y+t*(s.r.Y+t*s.c.Y)) + d*s.inY
}

// sceneLight inverts a camera's response from grey level to light: the sRGB curve, and above
// kneeLight the shoulder with which cameras avoid clipping. It distinguishes nearly clipped paper
// from less light one. Clipped white has the light brightest.
var sceneLight = func() (t [256]float32) {
	for i := range t {
		t[i] = float32(min(unrecorded(float64(gray.LinearLight[i])), brightest))
	}
	return t
}()

// lightAt interpolates a picture's light. It reports false outside it.
func lightAt(g *image.Gray, x, y float64) (float64, bool) {
	v, ok := gray.Bilinear(g, x, y)
	return float64(sceneLight[uint8(v+0.5)]), ok
}

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

// candidate is a possible ship: a token at an approximate pose.
type candidate struct {
	token token.Token
	pose  geom.Pose
	score float64
}

// minReadScore is the correlation at which a reading becomes a candidate. A rim
// under blur 1.2 px, noise 6 and contrast 80 still reads 0.85.
const minReadScore = 0.80

// sidePrint is a way of dividing sides into cells.
type sidePrint struct {
	base engine.Base
	side token.Side // Front stands for the rear too, RightSide for the left
}

// squarePrints are those of bases whose four sides are alike, frontPrints those of the fronts
// and rears of huge bases, longPrints those along them.
// The longest come first: what is read along a line for them serves the shorter too.
var (
	squarePrints = [...]sidePrint{{engine.Large, token.Front}, {engine.Medium, token.Front}, {engine.Small, token.Front}}
	frontPrints  = [...]sidePrint{{engine.Huge195, token.Front}, {engine.Huge225, token.Front}}
	longPrints   = [...]sidePrint{{engine.Huge195, token.RightSide}, {engine.Huge225, token.RightSide}}
)

// edgeSlack is by how much an edge may appear longer or shorter than its side, in mm.
const edgeSlack = 2.5

// longestRow is the longest edge that is read, in mm: the fronts of eight small bases that touch,
// or the long side of a huge one.
const longestRow = 8*40 + edgeSlack

// candidates reads the rim along one edge in every way that the edge allows: any base size, and any
// place of the side that the visible piece fits.
func (f *finder) candidates(g *image.Gray, s segment, out []candidate) []candidate {
	p0, ok0 := f.cam.PointAt(s.A, f.z)
	p1, ok1 := f.cam.PointAt(s.B, f.z)
	if !ok0 || !ok1 {
		return out
	}
	length := p1.Sub(p0).Norm()
	if length < 6 || length > longestRow {
		return out
	}
	dir := p1.Sub(p0).Mul(1 / length)
	in := geom.Point{X: dir.Y, Y: -dir.X}
	deep, clipped := f.bloom(g, p0, dir, length)
	for range clippedDepths {
		edge := p0.Add(in.Mul(deep))
		f.line = sideLine{}
		for _, print := range squarePrints {
			out = f.alongPiece(g, print, edge, dir, length, out)
		}
		out = f.alongHuge(g, edge, dir, length, out)
		if !clipped {
			break
		}
		deep += clippedStep
	}
	return out
}

const (
	// bloomReach is how far in mm across an edge bloom searches.
	bloomReach = 2.5
	// The light of clipped paper is unknown, so half of its light may lie up to 1.2 mm further inwards
	// than bloom finds: the rim is then read at clippedDepths depths, clippedStep mm apart.
	clippedDepths = 3
	clippedStep   = 0.5
	// clippedInside is the light inside an edge from which it is clipped.
	clippedInside = 0.95 * brightest
)

// bloom returns how far inwards of an edge, in mm, the light is half of that inside, and whether
// that is clipped. A camera's curve and its clipping move the steepest slope of grey levels
// outwards, by as much as the width of the blur.
func (f *finder) bloom(g *image.Gray, p0, dir geom.Point, length float64) (deep float64, clipped bool) {
	line := newSideLine(f.cam, p0, dir, 0, length, f.z)
	if !line.valid {
		return 0, false
	}
	const steps, places = 20, 6
	var light [steps + 1]float64
	for k := range light {
		d := bloomReach * (2*float64(k)/steps - 1)
		for _, t := range [...]float64{0.1, 0.26, 0.42, 0.58, 0.74, 0.9} {
			x, y := line.pixel(t*length, d)
			v, ok := lightAt(g, x, y)
			if !ok {
				return 0, false
			}
			light[k] += v / places
		}
	}
	const edge = steps / 2
	outside, inside := light[0], 0.0
	for k := edge; k <= edge+5; k++ {
		inside = max(inside, light[k])
	}
	half, clipped := (inside+outside)/2, inside > clippedInside
	for k := edge - 3; k < edge+5; k++ {
		if light[k] <= half && light[k+1] > half {
			return bloomReach * (2*(float64(k)+(half-light[k])/(light[k+1]-light[k]))/steps - 1), clipped
		}
	}
	return 0, clipped
}

// middles returns the range along an edge in which the middle of a side lies, and whether the edge
// is longer than the side.
func middles(length, side float64) (lo, hi float64, row bool) {
	if length > side+edgeSlack {
		return side/2 - edgeSlack, length - side/2 + edgeSlack, true
	}
	return length - side/2 - edgeSlack, side/2 + edgeSlack, false
}

// alongPiece reads a side of which the edge is a piece or the whole; for an edge as long as a huge
// base is wide, also its front. Bases that touch with their sides in line have one edge: in an edge
// longer than the side, each stretch as long as the side is read separately.
func (f *finder) alongPiece(g *image.Gray, print sidePrint, p0, dir geom.Point, length float64, out []candidate) []candidate {
	side := float64(token.SideLength(print.base, print.side))
	if length < 0.3*side {
		return out
	}
	lo, hi, row := middles(length, side)
	if !f.line.valid {
		f.line = newSideLine(f.cam, p0, dir, lo-side/2-1, hi+side/2+1, f.z)
		if !f.line.valid || !f.profile.read(g, &f.line) {
			// Near the picture's border the full range may not be visible; then only the piece itself can be
			// the side.
			f.line = sideLine{}
			return out
		}
	}
	line := &f.line
	var best bestReadings
	try := func(c float64) float64 {
		r, ok := f.profile.readAt(print.base, print.side, c)
		if !ok {
			return 0
		}
		// Weak words are read only along an edge that is the whole side.
		if r.score >= minReadScore && print.carries(r.word) && (!token.WeakWord(token.AllWords[r.word]) || length > side-edgeSlack && !row) {
			best.add(r)
		}
		return r.score
	}
	next := lo + side
	for c := lo; c <= hi; c += readStep {
		if row && c > next {
			out = best.candidates(print.base, line, out)
			best, next = bestReadings{}, next+side
		}
		if try(c) >= nearlyRead {
			try(c - readStep/3)
			try(c + readStep/3)
		}
	}
	out = best.candidates(print.base, line, out)
	if print.base != engine.Large || row || length < leastFront*side {
		return out
	}
	// A front must have an end in the piece; others are found by their long sides.
	for _, front := range frontPrints {
		var best bestReadings
		for c := lo; c <= hi; c += hugeStep {
			if c > lo+2*edgeSlack && c < hi-2*edgeSlack {
				continue
			}
			if r, ok := f.profile.readAt(front.base, front.side, c); ok && r.score >= minReadScore && front.carries(r.word) {
				best.add(r)
			}
		}
		out = best.candidates(front.base, line, out)
	}
	return out
}

const (
	// readStep is the step in mm between the places of a side along an edge that are tried; it is a
	// third of that next to places that read by nearlyRead.
	readStep   = 1.0
	nearlyRead = 0.7
	// hugeStep is the step in mm for the sides of huge bases; the fit corrects the rest.
	hugeStep = 0.8
	// leastFront is the share of a huge base's front that is read.
	leastFront = 0.5
	// leastLong is the shortest piece of a huge base's long side that is read, in mm: a word
	// and a corner.
	leastLong = 12*2.9 + float64(token.Corner)
	// surelyLong is the length from which an edge cannot be a large base's side: it may then be any
	// piece of a long one, also one without an end.
	surelyLong = 80 + edgeSlack
)

// alongHuge reads the edge as a piece of a huge base's long side, only the cells next to the piece,
// because the miniature hides others. A word repeats every twelve cells, so a piece without an end
// may belong to several places: a short one must have an end.
func (f *finder) alongHuge(g *image.Gray, p0, dir geom.Point, length float64, out []candidate) []candidate {
	if length < leastLong {
		return out
	}
	line := newSideLine(f.cam, p0, dir, -edgeSlack-1, length+edgeSlack+1, f.z)
	if !line.valid || !f.profile.read(g, &line) {
		return out
	}
	for _, print := range longPrints {
		side := float64(token.SideLength(print.base, print.side))
		if length > side+edgeSlack {
			continue
		}
		best := bestReadings{apart: 20} // less than twelve cells
		read := func(from, to float64) {
			for c := from; c <= to; c += hugeStep {
				r, ok := f.profile.readBetween(print.base, print.side, c, -0.5, length+0.5)
				if ok && r.score >= minReadScore && print.carries(r.word) && !token.WeakWord(token.AllWords[r.word]) {
					best.add(r)
				}
			}
		}
		first, last := length-side/2, side/2 // where its middle is if the piece has its end, or its start
		if length > surelyLong || last-first < 2*edgeSlack {
			read(first-edgeSlack, last+edgeSlack)
		} else {
			read(first-edgeSlack, first+edgeSlack)
			read(last-edgeSlack, last+edgeSlack)
		}
		out = best.candidates(print.base, &line, out)
	}
	return out
}

// carries reports whether a side with this print may have the word of a number, 4·ship + side.
func (p sidePrint) carries(word int) bool {
	return token.Square(p.base) || token.Side(word)&1 == p.side
}

// bestReadings are the best few readings of different words or, if apart is set, of one word in
// places at least that far apart, in mm.
type bestReadings struct {
	r     [4]reading
	n     int
	apart float64
}

// add keeps a reading if it is among the best.
func (b *bestReadings) add(r reading) {
	worst := 0
	for i := range b.n {
		if b.r[i].word == r.word && (b.apart == 0 || math.Abs(b.r[i].center-r.center) < b.apart) {
			if r.score > b.r[i].score {
				b.r[i] = r
			}
			return
		}
		if b.r[i].score < b.r[worst].score {
			worst = i
		}
	}
	switch {
	case b.n < len(b.r):
		b.r[b.n] = r
		b.n++
	case r.score > b.r[worst].score:
		b.r[worst] = r
	}
}

// candidates turns readings along a line into ships at rough poses.
func (b *bestReadings) candidates(base engine.Base, line *sideLine, out []candidate) []candidate {
	in := geom.Point{X: line.dir.Y, Y: -line.dir.X}
	for _, r := range b.r[:b.n] {
		side := token.Side(r.word % 4)
		token := token.Token{Code: token.ShipCode(r.word / 4), Base: base}
		_, deep := token.HalfAlong(side)
		center := line.start.Add(line.dir.Mul(r.center)).Add(in.Mul(deep))
		// The side's outward direction is -in; the side is front, right, … so the
		// heading is that direction turned back by the side's quarter turns.
		out1 := geom.Angle(math.Atan2(-in.X, -in.Y))
		heading := (out1 - geom.Angle(side)*90*geom.Degree).Normalized()
		out = append(out, candidate{token: token, pose: geom.Pose{Point: center, Heading: heading}, score: r.score})
	}
	return out
}
