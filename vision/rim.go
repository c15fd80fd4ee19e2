package vision

import (
	"image"
	"math"

	"sightline/calibration"
	"sightline/engine"
	"sightline/engine/geom"
)

// sideLine maps places along one side of a base to pixels: a in millimetres along
// the side (clockwise round the base), d in millimetres inwards from the edge.
// Along the side it follows the lens by a parabola through three exact points;
// over the few millimetres of depth a straight line is enough (the remaining
// error over an 80 mm side is below 0.01 px).
type sideLine struct {
	a0, a1     float64    // the range of a that the parabola spans
	p, q, r    geom.Pixel // pixel(t) = p + q t + r t², t = (a-a0)/(a1-a0)
	inX, inY   float64    // pixels per millimetre of depth
	scale      float64    // pixels per millimetre along the side
	valid      bool
	start, dir geom.Point // the table line: start + a·dir
}

// newSideLine follows the table line start + a·dir, a in [a0, a1], at height z.
// Inwards is to the right of dir.
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
	s.q = p1.Sub(p0).Sub(s.r)
	s.inX, s.inY = (n.X-m.X)/4, (n.Y-m.Y)/4
	s.scale = p1.Sub(p0).Norm() / (a1 - a0)
	s.valid = s.scale > 0.1
	return s
}

// sideOf follows one side of a token at a pose, from corner to corner.
func sideOf(cam *calibration.Camera, t Token, pose geom.Pose, s Side, z geom.Length) sideLine {
	h := float64(t.Side()) / 2
	turn := geom.Pose{Heading: pose.Heading + geom.Angle(s)*90*geom.Degree}
	return newSideLine(cam, pose.Point.Add(turn.Forward().Mul(h)), turn.Right(), -h, h, z)
}

func (s *sideLine) pixel(a, d float64) (x, y float64) {
	t := (a - s.a0) / (s.a1 - s.a0)
	return s.p.X + t*(s.q.X+t*s.r.X) + d*s.inX, s.p.Y + t*(s.q.Y+t*s.r.Y) + d*s.inY
}

// bilinear samples a grey picture between its pixels, and reports false outside it.
func bilinear(g *image.Gray, x, y float64) (float64, bool) {
	fx, fy := math.Floor(x), math.Floor(y)
	ix, iy := int(fx), int(fy)
	if ix < 0 || iy < 0 || ix >= g.Rect.Dx()-1 || iy >= g.Rect.Dy()-1 {
		return 0, false
	}
	i := iy*g.Stride + ix
	ax, ay := x-fx, y-fy
	top := float64(g.Pix[i]) + ax*(float64(g.Pix[i+1])-float64(g.Pix[i]))
	bottom := float64(g.Pix[i+g.Stride]) + ax*(float64(g.Pix[i+g.Stride+1])-float64(g.Pix[i+g.Stride]))
	return top + ay*(bottom-top), true
}

// rimStep is the spacing of a profile's samples in millimetres.
const rimStep = 0.25

// profile holds what the rim looks like along a line: running sums of grey levels
// in the cells' row and on the keyline, so that the mean over any stretch costs
// two look-ups.
type profile struct {
	a0         float64
	n          int
	cells, key []float64 // running sums, n+1 long
}

// read samples the line; it reports false when part of it lies outside the picture.
func (p *profile) read(g *image.Gray, s *sideLine) bool {
	p.a0 = s.a0
	p.n = int((s.a1-s.a0)/rimStep) + 1
	p.cells, p.key = append(p.cells[:0], 0), append(p.key[:0], 0)
	var cells, key float64
	for i := range p.n {
		a := s.a0 + float64(i)*rimStep
		for _, d := range [...]float64{1.9, 2.8} {
			x, y := s.pixel(a, d)
			v, ok := bilinear(g, x, y)
			if !ok {
				return false
			}
			cells += v / 2
		}
		x, y := s.pixel(a, 0.6)
		v, ok := bilinear(g, x, y)
		if !ok {
			return false
		}
		key += v
		p.cells, p.key = append(p.cells, cells), append(p.key, key)
	}
	return true
}

// mean returns the mean of a running sum over [a, b], clamped to the profile.
func (p *profile) mean(sum []float64, a, b float64) float64 {
	i := min(max(int((a-p.a0)/rimStep+0.5), 0), p.n-1)
	j := min(max(int((b-p.a0)/rimStep+0.5), i+1), p.n)
	return (sum[j] - sum[i]) / float64(j-i)
}

// evenKeyline reports whether the keyline of a side centred at 0 is in view from
// end to end: nowhere darker than half of its brightest stretch.
func (p *profile) evenKeyline(base engine.Base) bool {
	side, _ := base.Size()
	half := float64(side) / 2
	lo, hi := math.Inf(1), 0.0
	for a := -half + 1.5; a < half-4; a += 2.5 {
		v := p.mean(p.key, a, a+2.5)
		lo, hi = math.Min(lo, v), math.Max(hi, v)
	}
	return lo > hi/2
}

// nearestWord gives for every reading of twelve cells the index of the nearest
// word (4·ship + side) and its distance; readings two cells or more from every
// word count as distance 2.
var nearestWord = func() (t [1 << WordBits]struct {
	word int16
	dist uint8
}) {
	for r := range t {
		t[r].dist = 2
		for i, w := range words {
			if d := distance(uint16(r), w); d < int(t[r].dist) {
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
	// minReadContrast is the least difference between white and dark cells, as
	// parts of the keyline's light, at which a rim is read: black ink under veiling
	// glare still leaves a third.
	minReadContrast = 0.3
	// minKeyline is the least mean light of the keyline, in grey levels.
	minKeyline = 25
)

// relative returns the light of the cells' row over [a, b] as a part of the
// keyline's light beside it, so that a shadow across the side changes nothing.
func (p *profile) relative(a, b float64) float64 {
	return relativeLight(p.mean(p.cells, a, b), p.mean(p.key, a, b))
}

// relativeLight is a cell's grey level as a part of the keyline's beside it, cut
// off where the keyline is covered.
func relativeLight(cell, key float64) float64 { return min(cell/max(key, 12), 1.3) }

// correlation gathers what was seen beside what is printed, for Pearson's coefficient.
type correlation struct{ sx, sy, sxx, syy, sxy, n float64 }

func (c *correlation) add(seen, printed float64) {
	c.sx, c.sy = c.sx+printed, c.sy+seen
	c.sxx, c.syy, c.sxy = c.sxx+printed*printed, c.syy+seen*seen, c.sxy+printed*seen
	c.n++
}

// coefficient returns -1…1, and false when either does not vary.
func (c *correlation) coefficient() (float64, bool) {
	den := (c.sxx - c.sx*c.sx/c.n) * (c.syy - c.sy*c.sy/c.n)
	if !(den > 0) {
		return 0, false
	}
	return (c.sxy - c.sx*c.sy/c.n) / math.Sqrt(den), true
}

// variance is that of what was seen.
func (c *correlation) variance() float64 { return c.syy/c.n - (c.sy/c.n)*(c.sy/c.n) }

// readAt reads the side whose middle is at center, and scores it by the
// correlation of the cells (and of the two dark corners) with the nearest word.
func (p *profile) readAt(base engine.Base, center float64) (reading, bool) {
	n := Cells(base)
	side, _ := base.Size()
	half, w := float64(side)/2, float64(CellWidth(base))
	first := center - half + float64(Corner)
	if p.mean(p.key, center-half, center+half) < minKeyline { // most edges are none
		return reading{}, false
	}
	var value [24]float64
	var folded [WordBits]float64
	lo, hi := math.Inf(1), math.Inf(-1)
	for i := range n {
		a := first + float64(i)*w
		v := p.relative(a+0.2*w, a+0.8*w)
		value[i] = v
		folded[i%WordBits] += v
		lo, hi = min(lo, v), max(hi, v)
	}
	if hi-lo < minReadContrast {
		return reading{}, false
	}
	// Middle between the two levels; cells that appear twice are averaged.
	threshold := (lo + hi) / 2
	var bits uint16
	for i := range WordBits {
		times := n / WordBits
		if i < n%WordBits {
			times++
		}
		if folded[i]/float64(times) > threshold {
			bits |= 1 << i
		}
	}
	near := nearestWord[bits]
	if near.dist > 1 {
		return reading{}, false
	}
	word := words[near.word]
	corner0 := p.relative(center-half+1.6, first-0.6)
	corner1 := p.relative(center+half-float64(Corner)+0.6, center+half-1.6)
	var fit correlation // over n cells and two dark corners
	for i := range n {
		fit.add(value[i], float64(word>>(i%WordBits)&1))
	}
	fit.add(corner0, 0)
	fit.add(corner1, 0)
	score, ok := fit.coefficient()
	return reading{center: center, word: int(near.word), score: score}, ok
}

// candidate is a possible ship: a token at a rough pose.
type candidate struct {
	token Token
	pose  geom.Pose
	score float64
}

// minReadScore is the correlation at which a reading becomes a candidate. A rim
// under blur 1.2 px, noise 6 and contrast 80 still reads 0.85.
const minReadScore = 0.80

// candidates reads the rim along one edge in every way that the edge allows: any
// base size, and any place of the side that the seen piece fits into.
func (f *finder) candidates(g *image.Gray, s segment, out []candidate) []candidate {
	p0, ok0 := f.cam.PointAt(s.A, f.z)
	p1, ok1 := f.cam.PointAt(s.B, f.z)
	if !ok0 || !ok1 {
		return out
	}
	length := p1.Sub(p0).Norm()
	if length < 6 || length > 90 {
		return out
	}
	dir := p1.Sub(p0).Mul(1 / length)
	const slack = 2.5 // mm by which an edge may seem longer or shorter than it is
	for _, base := range [...]engine.Base{engine.Small, engine.Medium, engine.Large} {
		w, _ := base.Size()
		side := float64(w)
		if length > side+slack || length < 0.3*side {
			continue
		}
		lo, hi := length-side/2-slack, side/2+slack // of the side's middle
		line := newSideLine(f.cam, p0, dir, lo-side/2-1, hi+side/2+1, f.z)
		if !line.valid || !f.profile.read(g, &line) {
			// Near the picture's rim the full range may not be visible; then only
			// the piece itself can be the side.
			continue
		}
		out = f.slide(base, line, lo, hi, length > side-slack, out)
	}
	return out
}

// slide tries every place of a side along a line and keeps the best reading of
// each word. Plain words are read only along an edge that is the whole side.
func (f *finder) slide(base engine.Base, line sideLine, lo, hi float64, whole bool, out []candidate) []candidate {
	const step = 0.5
	var best [4]reading // the best few readings of different words
	n := 0
	for c := lo; c <= hi; c += step {
		r, ok := f.profile.readAt(base, c)
		if !ok || r.score < minReadScore || (weakWord(words[r.word]) && !whole) {
			continue
		}
		at := -1
		for i := range n {
			if best[i].word == r.word {
				at = i
			}
		}
		switch {
		case at >= 0:
			if r.score > best[at].score {
				best[at] = r
			}
		case n < len(best):
			best[n] = r
			n++
		default:
			worst := 0
			for i := range best {
				if best[i].score < best[worst].score {
					worst = i
				}
			}
			if r.score > best[worst].score {
				best[worst] = r
			}
		}
	}
	w, _ := base.Size()
	for _, r := range best[:n] {
		in := geom.Point{X: line.dir.Y, Y: -line.dir.X}
		center := line.start.Add(line.dir.Mul(r.center)).Add(in.Mul(float64(w) / 2))
		// The side's outward direction is -in; the side is front, right, … so the
		// heading is that direction turned back by the side's quarter turns.
		out1 := geom.Angle(math.Atan2(-in.X, -in.Y))
		heading := (out1 - geom.Angle(r.word%4)*90*geom.Degree).Normalized()
		out = append(out, candidate{
			token: Token{Code: ShipCode(r.word / 4), Base: base},
			pose:  geom.Pose{Point: center, Heading: heading},
			score: r.score,
		})
	}
	return out
}
