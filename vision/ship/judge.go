package ship

import (
	"image"
	"math"
	"slices"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision/internal/gray"
	"sightline/vision/token"
)

// After a fit the picture is compared with the print cell by cell, and the result decides whether
// the ship is accepted.

// cellState is what the picture shows of a printed cell.
type cellState int8

const (
	cellHidden  cellState = iota // neither black nor white fits, or it is outside the picture
	cellAgrees                   // it shows what is printed
	cellDiffers                  // it shows the opposite
)

// off returns the difference of the pixel from the light of the print there, as a share of the
// contrast between black and white. A clipped pixel may be lighter than recorded.
func (p *rimPixel) off(light, contrast float64) float64 {
	e := (p.light - recordedOnly(light)) / contrast
	if p.light >= clipped && e < 0 {
		return 0
	}
	return e
}

// cellSum is the sum over the pixels of one printed cell.
type cellSum struct {
	printed, flipped, key float64 // squared residuals: as printed, inverted, and of the keyline before it
	count, keyCount       int
}

// printSum holds the sums over the pixels of a token compared with its print.
type printSum struct {
	width, first [4]float64 // of each side's cells, mm
	n            [4]int
	cells        [4][token.MaxCells]cellSum

	good, all, square [4]float64 // of each side: pixels that agree, all pixels, and squared residuals
	sum, sumN         float64    // of the pixels that agree
	before            *rimPixel  // the last pixel that agreed, and its residual, for the next pixel of the row
	last, product     float64
}

// start clears the sums for a token of a base.
func (s *printSum) start(base engine.Base) {
	*s = printSum{}
	for i := range s.n {
		s.width[i], s.n[i] = float64(token.CellWidth(base, token.Side(i))), token.Cells(base, token.Side(i))
		s.first[i] = -float64(token.SideLength(base, token.Side(i)))/2 + float64(token.Corner)
	}
}

// add adds a pixel with residual e. Pixels of one row closer than near are neighbours.
func (s *printSum) add(p *rimPixel, side int8, e, near float64) {
	s.all[side]++
	s.square[side] += e * e
	if math.Abs(e) < 0.3 {
		s.good[side]++
		s.sum += e * e
		s.sumN++
		if s.before != nil && math.Abs(s.before.x-p.x)+math.Abs(s.before.y-p.y) < near {
			s.product += s.last * e
		}
		s.before, s.last = p, e
	}
}

// state returns what the cell's pixels show.
func (c *cellSum) state() cellState {
	k := float64(c.count)
	switch {
	case c.printed < cellTolerance*k && 2*c.printed < c.flipped:
		return cellAgrees
	case c.flipped < cellTolerance*k && 2*c.flipped < c.printed:
		return cellDiffers
	}
	return cellHidden
}

// judge compares the picture with the print cell by cell at the fitted pose.
func (f *rimFit) judge() {
	var s printSum
	s.start(f.token.Base)
	f.each(func(p *rimPixel, side int8, a, d float64, at *printed) {
		gain := f.gains[side][f.sides[side].column(a)]
		light := gain * at.light
		ink := gain * (f.levels[side][1] - f.levels[side][2])
		contrast := recordedOnly(gain*f.levels[side][1]) - recordedOnly(gain*f.levels[side][2])
		if contrast < math.Max(0.04*f.white, minContrast) || f.levels[side][2] > 0.6*f.levels[side][1] {
			s.all[side]++
			return // too little contrast
		}
		e := p.off(light, contrast)
		if d > -0.3 {
			s.add(p, side, e, 1.6/f.scale)
		}
		i := int(math.Floor((a - s.first[side]) / s.width[side]))
		if i < 0 || i >= s.n[side] {
			return
		}
		cell := &s.cells[side][i]
		if d > 0 && d < float64(token.Keyline) {
			cell.key += e * e
			cell.keyCount++
		}
		if d < float64(token.Keyline)+0.2 {
			return
		}
		// The model with this cell inverted.
		c0, _ := gray.Phi((a - s.first[side] - float64(i)*s.width[side]) / f.sigma)
		c1, _ := gray.Phi((a - s.first[side] - float64(i+1)*s.width[side]) / f.sigma)
		s1, _ := gray.Phi((d - float64(token.Keyline)) / f.sigma)
		change := s1 * (c0 - c1)
		if f.token.Cell(token.Side(side), i) {
			change = -change
		}
		other := p.off(light+ink*change, contrast)
		cell.printed += e * e
		cell.flipped += other * other
		cell.count++
	})
	f.conclude(&s)
	f.judgeCorners()
}

// conclude computes from the sums what each cell and side shows, and how well the whole agrees.
func (f *rimFit) conclude(s *printSum) {
	var good, all float64
	for side := range 4 {
		f.shares[side], f.keys[side] = 0, 0
		f.misfit[side] = 1
		if s.all[side] > 0 {
			f.shares[side] = s.good[side] / s.all[side]
			f.misfit[side] = math.Sqrt(s.square[side] / s.all[side])
		}
		good, all = good+s.good[side], all+s.all[side]
		for i := range s.n[side] {
			c := &s.cells[side][i]
			f.shown[side][i] = shows{}
			if both := c.printed + c.flipped; both > 0 {
				f.shown[side][i] = shows{(c.flipped - c.printed) / both, true}
			}
			f.cells[side][i] = c.state()
			f.keyOff[side][i] = math.Sqrt(c.key / math.Max(float64(c.keyCount), 1))
			if c.keyCount > 0 && c.key < 0.05*float64(c.keyCount) {
				f.keys[side]++
			}
		}
	}
	f.agree = good / math.Max(all, 1)
	f.rms = math.Sqrt(s.sum / math.Max(s.sumN, 1))
	f.alike = s.product / math.Max(s.sum, 1e-9)
}

// keylineEnds is how far beyond a corner, in mm, the test for a continuing keyline begins, outside
// the corner's own blur.
const keylineEnds = 0.4

// cornerSum holds the sums over the pixels of the corners, for each of the two sides that meet
// there.
type cornerSum struct {
	sum, count [4][2]float64
	// Squared residuals beyond the corner: of a keyline that ends there, and of one that continues.
	ends, continues [4][2]float64
}

// turns reports whether the keyline turns at corner k: one side fits it, and neither continues.
func (s *cornerSum) turns(k int) bool {
	fits := false
	for j := range 2 {
		if s.continues[k][j] < 0.5*s.ends[k][j] {
			return false
		}
		fits = fits || s.count[k][j] >= 4 && s.sum[k][j] < cellTolerance*s.count[k][j]
	}
	return fits
}

// cornerOf returns the corner nearest to a place on a token: 0 front right, 1 rear right, 2 rear
// left, 3 front left. Each is the clockwise end of the side of its number and the start of the
// next.
func cornerOf(l geom.Point) int {
	switch {
	case l.X > 0 && l.Y <= 0:
		return 1
	case l.X <= 0 && l.Y <= 0:
		return 2
	case l.X <= 0:
		return 3
	}
	return 0
}

// judgeCorners decides which of the four corners are visible, where two keylines meet around a dark
// square; an edge that ends by chance has none. With e the depth from the neighbouring side, the
// corner is modelled as
//
//	I = o (1 - S(d)S(e)) + w (S(d)S(e) - S(d-1)S(e-1)) + k S(d-1)S(e-1)
//
// The keyline must also end there: a longer side, or the same side shifted by a few cells, has a
// white cell where the corner should turn, but continues.
func (f *rimFit) judgeCorners() {
	const reach = float64(token.Corner) - 0.5 // up to the first cell's blur
	hx, hy := f.token.Half()
	var s cornerSum
	frame := newTokenFrame(f.pose)
	for i := range f.pixels {
		p := &f.pixels[i]
		l := frame.local(p)
		d, e := hy-math.Abs(l.Y), hx-math.Abs(l.X)
		if d > reach || e > reach || (d < 0 && e < 0) {
			continue
		}
		k := cornerOf(l)
		inside := phiOnly(d/f.sigma) * phiOnly(e/f.sigma)
		dark := phiOnly((d-float64(token.Keyline))/f.sigma) * phiOnly((e-float64(token.Keyline))/f.sigma)
		// The two sides that meet here have their own light; the corner agrees if it fits either.
		for j, side := range [2]int8{int8(k), int8((k + 1) % 4)} {
			m := &f.sides[side]
			end := m.half
			if j == 1 {
				end = -end
			}
			g := f.gains[side][m.column(end)]
			contrast := recordedOnly(g*f.levels[side][1]) - recordedOnly(g*f.levels[side][2])
			if contrast < minContrast {
				continue
			}
			u := p.off(g*(f.levels[side][0]*(1-inside)+f.levels[side][1]*(inside-dark)+f.levels[side][2]*dark), contrast)
			if d >= 0 && e >= 0 {
				s.sum[k][j] += u * u
				s.count[k][j]++
				continue
			}
			along, deep := e, d
			if side%2 == 1 {
				along, deep = d, e
			}
			if along < -keylineEnds && deep > 0 && deep < float64(token.Keyline) {
				on := phiOnly(deep/f.sigma) - phiOnly((deep-float64(token.Keyline))/f.sigma)
				c := (p.light - recordedOnly(g*(f.levels[side][0]+(f.levels[side][1]-f.levels[side][0])*on))) / contrast
				s.ends[k][j] += u * u
				s.continues[k][j] += c * c
			}
		}
	}
	for k := range f.corner {
		f.corner[k] = s.turns(k)
	}
}

// phiOnly returns Φ(x).
func phiOnly(x float64) float64 { c, _ := gray.Phi(x); return c }

// The requirements for identifying a ship, as log likelihood ratios; docs/ship-code.md says how
// they were set.
const (
	// leastLog is less than all limits: below it the lead is not computed.
	leastLog = 12
	// A ship is identified with sureLog against no ship and a lead of sureLead over the likeliest
	// alternative, with two visible corners, or farLead without. Of rims that were laid over something
	// else, with a blur of at most softBlur, the highest had 30.7 and a lead of 5.4.
	sureLog  = 36
	sureLead = 17
	farLead  = 24
	// softBlur is the blur, in px, above which softFactor times as much is required and no single side
	// identifies a ship. A rim blurred that much resembles the texture of a rock (45.5 and a lead of
	// 20.4), or the end of a plain card 20 mm wide (40.8 and 15.4, with one whole side of A3). Of 759
	// ships in their places one was fitted with more blur, 1.48 px.
	softBlur   = 1.4
	softFactor = 1.5
	// sideLead is the lead of a ship with one whole visible side: three cells.
	sideLead = 9
)

// identity decides whether the visible cells identify the ship beyond doubt.
//
// Either the likelihood of all cells does, against no ship and against any alternative; or one side
// is read whole: every cell but one as printed and none that differs, both corners visible, where
// the keyline must end, and the picture close to the print.
func (f *rimFit) identity() (sides []token.Side, agreed int, ok bool) {
	for s := token.Front; s <= token.LeftSide; s++ {
		n := token.Cells(f.token.Base, s)
		agree, differ := 0, 0
		for i := range n {
			switch f.cells[s][i] {
			case cellAgrees:
				agree++
			case cellDiffers:
				differ++
			}
		}
		agreed += agree
		if agree >= n-n/12 && differ == 0 && f.shares[s] > 0.75 && f.corner[s] && f.corner[(s+3)%4] {
			sides = append(sides, s)
		}
	}
	f.named = false
	// What fits best with the largest allowed blur is a texture, not a print.
	if f.sigma*f.scale > 0.97*mostBlur {
		return nil, agreed, false
	}
	own, lead := f.likelihood(len(sides) > 0)
	if f.named = f.sure(own, lead); f.named {
		return sides, agreed, true
	}
	weak := len(sides) == 1 && token.WeakWord(f.token.Code.Word(sides[0]))
	return sides, agreed, len(sides) > 0 && f.sigma*f.scale <= softBlur && f.crisp(sides) && lead >= sideLead && !weak
}

// sure reports whether likelihoods identify the ship, whatever the sides of the cells.
func (f *rimFit) sure(own, lead float64) bool {
	asked := 1.0
	if f.sigma*f.scale > softBlur {
		asked = softFactor
	}
	return own >= asked*sureLog && (lead >= asked*farLead || lead >= asked*sureLead && f.Corners() >= 2)
}

// namedWithout reports whether the likelihood identifies the ship and its other sides show as many
// cells as the one that was read whole: it is then not a piece of a longer side.
func (f *rimFit) namedWithout(whole token.Side, agreed int) bool {
	return f.named && agreed >= 2*token.Cells(f.token.Base, whole)
}

// turnsBeyond reports whether a corner is visible where another token, whose frame is shifted from
// this one's, has none.
func (f *rimFit) turnsBeyond(other token.Token, shift geom.Point) bool {
	at := other.Corners()
	for k, seen := range f.corner {
		c := f.token.Corners()[(k+1)%4].Add(shift)
		if seen && !slices.ContainsFunc(at[:], func(o geom.Point) bool { return o.Sub(c).Norm() < 1 }) {
			return true
		}
	}
	return false
}

// crispMisfit is the rms residual of a side, relative to its contrast, below which it may almost
// alone identify a ship. The best side of a ship in the rendered pictures is below 0.07 unless part
// of it lost its light; edges of obstacles and strange markers that happened to spell a word were
// above 0.08, whatever else they showed.
const crispMisfit = 0.075

// crisp reports whether one of the sides fits the print closely.
func (f *rimFit) crisp(sides []token.Side) bool {
	return slices.ContainsFunc(sides, func(s token.Side) bool { return f.misfit[s] < crispMisfit })
}

// Corners returns the number of corners that show the print.
func (f *rimFit) Corners() (n int) {
	for _, c := range f.corner {
		if c {
			n++
		}
	}
	return n
}

// turns returns the number of quarter turns between headings in which a token has the same outline.
func turns(t token.Token) int {
	if token.Square(t.Base) {
		return 1
	}
	return 2
}

// turnsAtBothEnds reports whether the neighbouring sides' keylines next to both corners of a side
// are as light as its own. Anything else that turns there is the edge of a miniature over a longer
// side.
func (l *Locator) turnsAtBothEnds(g *image.Gray, s token.Side) bool {
	f := &l.fit
	half, _ := f.token.HalfAlong(s)
	line := sideOf(&l.table.Camera, f.token, f.pose, s, l.top(f.pose.Point))
	if !line.valid {
		return false
	}
	const key = float64(token.Keyline) / 2
	for _, sign := range [...]float64{-1, 1} {
		light := func(along, deep float64) float64 {
			x, y := line.pixel(sign*(half-along), deep)
			v, ok := lightAt(g, x, y)
			if !ok {
				return math.NaN()
			}
			return v
		}
		var own, next float64
		for _, from := range [...]float64{2.2, 2.6, 3.0} { // from the corner: less than the width of its dark square
			dark := light(from, from)
			own, next = own+light(from, key)-dark, next+light(key, from)-dark
		}
		if !(next > leastTurn*own && next < mostTurn*own) {
			return false
		}
	}
	return true
}

// Next to their corner, a neighbouring side's keyline has leastTurn to mostTurn of a side's own
// light. It has 0.77 to 1.15 of it for the eight ships in 32 simulated pictures that one side alone
// identifies, and 0.70 to 1.36 for the four in ten pictures of huge ships that the likelihood does
// not identify. The edge of a miniature that ended a huge ship's front like that of a small one had
// 1.48. Ships that the likelihood identifies are not tested: one of them, read right, had 1.76.
const (
	leastTurn = 0.5
	mostTurn  = 1.4
)

// How far beyond a side's ends, in mm, continues searches for its keyline: past the blur of the
// corner. A miniature may hide what is further on.
const (
	beyondFrom = 1.0
	beyondTo   = 3.0
)

// continues reports whether the keyline of a side continues beyond one of its corners. It is then a
// piece of a longer base's side, where words repeat. In coarse pictures judgeCorners has hardly a
// pixel there. Another base that touches this one with its side in line looks the same, so only
// ships that a single side identifies are tested. On a mat as light as the keyline it reports
// false.
func (l *Locator) continues(g *image.Gray, s token.Side) bool {
	f := &l.fit
	half, _ := f.token.HalfAlong(s)
	line := sideBeyond(&l.table.Camera, f.token, f.pose, s, beyondTo, l.top(f.pose.Point))
	if !line.valid {
		return false
	}
	// light returns the light on the keyline, and on the ground next to it.
	light := func(a float64) (key, ground float64, ok bool) {
		x, y := line.pixel(a, float64(token.Keyline)/2)
		key, ok1 := lightAt(g, x, y)
		x, y = line.pixel(a, -1.5)
		ground, ok2 := lightAt(g, x, y)
		return key, ground, ok1 && ok2
	}
	for _, sign := range [...]float64{-1, 1} {
		var contrast, n float64
		for a := 1.0; a < float64(token.Corner); a += 2 * rimStep { // where the corner is dark behind the keyline
			if key, ground, ok := light(sign * (half - a)); ok {
				contrast, n = contrast+key-ground, n+1
			}
		}
		if n == 0 || contrast < minKeyContrast*n {
			continue
		}
		var beyond, m float64
		for a := beyondFrom; a < beyondTo; a += 2 * rimStep {
			if key, ground, ok := light(sign * (half + a)); ok {
				beyond, m = beyond+key-ground, m+1
			}
		}
		if m > 0 && beyond/m > 0.45*contrast/n {
			return true
		}
	}
	return false
}

// minKeyContrast is the least difference in light between a keyline and the ground next to it at
// which continues compares them: 15 grey levels over a dark mat.
const minKeyContrast = 0.012

// certainReadScore is the correlation from which a side that reads as another word contradicts the
// rest of its ship. Sides in full view have 0.95 and more; one that a miniature partly covers
// seldom reaches 0.9.
const certainReadScore = 0.92

// contradicted reads the four sides at the fitted pose regardless of the ship, and reports whether
// any side with a visible keyline reads as a different ship or side, unless the fit explains that.
func (l *Locator) contradicted(g *image.Gray) bool {
	f := &l.fit
	for s := token.Front; s <= token.LeftSide; s++ {
		line := sideOf(&l.table.Camera, f.token, f.pose, s, l.top(f.pose.Point))
		if !line.valid || !l.finder.profile.read(g, &line) {
			continue
		}
		r, ok := l.finder.profile.readAt(f.token.Base, s, 0)
		if ok && r.score > certainReadScore && l.finder.profile.evenKeyline(f.token.Base, s) && r.word != 4*int(f.token.Code)+int(s) &&
			!token.WeakWord(token.AllWords[r.word]) && !f.explains(s, token.AllWords[r.word]) {
			return true
		}
	}
	return false
}

// explains reports whether a ship identified by its likelihood stays although one of its sides
// reads as another word. Something that covers cells and the keyline next to them alike reads as
// white cells. The fit knows how light the keyline is elsewhere: it must have seen all cells in
// which the two words differ, at least as many as printed as inverted.
func (f *rimFit) explains(s token.Side, word uint16) bool {
	balance := 0
	for i := range token.Cells(f.token.Base, s) {
		shown := f.shown[s][i]
		switch {
		case f.token.Cell(s, i) == (word>>(i%token.WordBits)&1 == 1):
		case !shown.seen:
			return false
		case shown.value > 0:
			balance++
		default:
			balance--
		}
	}
	return f.named && balance >= 0
}
