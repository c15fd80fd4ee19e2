package look

import (
	"math"
	"slices"

	"sightline/engine/geom"
	"sightline/vision"
)

// Two pilots' cards of one ship differ only in the plate along the rear edge: a name about 2 mm high. At 1 px/mm a name is a smear as long
// as the word; at 2 px/mm some letters show. So the strip along the rear edge is compared on its own, in panes as wide as two letters. A
// pane that shows the name correlates with the look even in a haze of light, one that shows another name correlates less, and a hidden one
// like any picture. A pane that may be hidden is weak evidence either way. The distributions were measured on t1 to t3 and 901 to 904 of
// docs/stock.md.

// Plate is whether a base shows the name plate of its look.
type Plate int

// The states of a plate.
const (
	PlateUnread Plate = iota // covered, or too small
	PlateAgrees              // the look's name: another one would hardly agree so well
	PlateDenies              // in view, with another name
)

const (
	stripMM     = 6.0  // along the rear edge
	stripSideMM = 4.5  // at its ends, where number and ship's icon are, not the name
	plateBlur   = 1.2  // mm
	plateSmear  = 0.8  // least correlation beyond the blur (smear) of the look's own name; other names reach 0.71
	textBright  = 0.35 // share of the brightest cell's light from which a cell belongs to the name
	textShare   = 4    // a row belongs to the name if it has more than 1/textShare of the cells of the fullest row
	paneCells   = 6    // 3 mm, and overlapping by half
	paneTell    = 6.0  // grey levels by which a look must vary in a pane
	paneFull    = 14.0 // grey levels from which the pane counts in full
	paneSame    = 0.95 // correlation of two looks from which a pane does not tell them

	// Distributions of a pane's correlation. Of the look's name, 1 minus the correlation is exponential with mean nameSpread; of another
	// name it is normal with otherMean and otherSigma, of what hides the plate normal with mean 0 and hiddenSigma.
	nameSpread  = 0.05
	otherMean   = 0.7
	otherSigma  = 0.2
	hiddenSigma = 0.4
	hiddenShare = 0.4 // expected share of hidden panes

	// Least logarithms of likelihood ratios. From finestScale on letters show, and other limits apply.
	nameSeen    = 3.0  // of a name against what hides it, so that against chooses it
	nameTold    = 5.0  // of a name against another that was shown, below finestScale: two looks of one card differ by up to 4.7
	nameLegible = 3.0  // the same from finestScale on, where they differ by up to 2.1
	nameFew     = 6.0  // what is added to either if a look has few views: such looks of one card differ by up to 9.3 and 6.1
	nameSmeared = 2.5  // of the best name against any other, so that it rules others out, below finestScale: 38 of 42 third names fail
	nameThird   = -1.5 // the same from finestScale on: 139 of 166 third names at 4K fail
	nameAgrees  = 5.0  // of a name against any other, if it also agrees beyond the blur
	nameSure    = 9.0  // of a name against any other, by itself, from finestScale on: other names reach 6
	nameDenied  = 3.0  // of any other name against this one
	viewLeast   = 0.75 // share of the plate round the name that must be in view to deny the name
)

// strip is a look's rear strip as a picture shows it at the pose of a fit, converted to the look's light.
type strip struct {
	look    *Look
	first   int // cell
	n, side int // rows, cells of a row
	sigma   float64
	scale   float64   // px/mm
	shot    []float32 // three channels; NaN: not in the picture
}

// strip returns the strip that a fit shows.
func (f *fitting) strip(l *Look) *strip {
	n := int(math.Round(stripMM / cellMM))
	s := &strip{look: l, first: (l.side - n) * l.side, n: n, side: l.side, sigma: max(f.sigma, 2*scaleLeast), scale: f.s.scale}
	s.shot = make([]float32, channels*n*l.side)
	sin, cos := math.Sincos(float64(f.pose.Heading))
	ox, oy := f.pose.X-f.s.view.at.X, f.pose.Y-f.s.view.at.Y
	for k := range n * l.side {
		u, v := l.place(s.first + k)
		x, y := f.s.view.pixel(ox+u*cos+v*sin, oy-u*sin+v*cos)
		var p sample
		seen := f.s.sharp.at(x, y, &p)
		for c := range channels {
			s.shot[channels*k+c] = f.asLook(p.v[c], u, v, c)
			if !seen {
				s.shot[channels*k+c] = float32(math.NaN())
			}
		}
	}
	return s
}

// cells returns the look's cells of the strip.
func (s *strip) cells() []float32 { return s.look.cells[channels*s.first:] }

// says reports whether a cell of the look is used and lies in the picture.
func (s *strip) says(k int) bool {
	return s.look.weight[s.first+k] > 0.5 && !math.IsNaN(float64(s.shot[channels*k]))
}

// gray converts interleaved channels of a strip to grey cells. Cells outside the picture are 0.
func gray(v []float32) []float64 {
	out := make([]float64, len(v)/channels)
	for k := range out {
		if x := float64(v[channels*k]+v[channels*k+1]+v[channels*k+2]) / channels; !math.IsNaN(x) {
			out[k] = x
		}
	}
	return out
}

// middle returns the columns where a name may stand, between number and icon.
func (s *strip) middle() (from, to int) {
	ends := int(math.Round(stripSideMM / cellMM))
	return ends, s.side - ends
}

// text marks the cells where the look is brighter than the plate, and the rows that have its name, with one above and one below.
func (s *strip) text(look []float64) (text []bool, from, to int) {
	left, right := s.middle()
	bright := make([]float64, len(look))
	var all []float64
	for j := range s.n {
		row := look[j*s.side:][left:right]
		ground := median(slices.Clone(row))
		for i, v := range row {
			bright[j*s.side+left+i] = v - ground
			all = append(all, v-ground)
		}
	}
	slices.Sort(all)
	least := textBright * all[len(all)*98/100]
	text = make([]bool, len(look))
	cells := make([]int, s.n)
	for k, v := range bright {
		if text[k] = v > least; text[k] {
			cells[k/s.side]++
		}
	}
	most := slices.Index(cells, slices.Max(cells))
	for from = most; from > 0 && cells[from] > cells[most]/textShare; from-- {
	}
	for to = most; to < s.n && cells[to] > cells[most]/textShare; to++ {
	}
	return text, from, min(to+1, s.n)
}

// pane is a part of a strip.
type pane struct {
	look, other float64 // how much the look varies, and another one, grey levels
	same        float64 // correlation of both
	shown       float64 // of the look with the picture
	otherShown  float64 // of the other one
}

// panes compares a strip and another look's with the picture, in some rows and columns.
func (s *strip) panes(o *strip, from, to, left, right int) (out []pane) {
	a, b, shotA, shotB := gray(s.cells()), gray(o.cells()), gray(s.shot), gray(o.shot)
	var at []int
	for x := left; x+paneCells <= right; x += paneCells / 2 {
		at = at[:0]
		for j := from; j < to; j++ {
			for k := j*s.side + x; k < j*s.side+x+paneCells; k++ {
				if s.says(k) && o.says(k) {
					at = append(at, k)
				}
			}
		}
		if len(at) <= paneCells*(to-from)/2 {
			continue
		}
		var p pane
		p.look, p.shown = correlation(a, shotA, at)
		p.other, p.otherShown = correlation(b, shotB, at)
		_, p.same = correlation(a, b, at)
		out = append(out, p)
	}
	return out
}

// correlation returns the correlation of two pictures at some cells, and how much the first one varies.
func correlation(a, b []float64, at []int) (varies, r float64) {
	var sa, sb, aa, bb, ab float64
	for _, k := range at {
		sa, sb, aa, bb, ab = sa+a[k], sb+b[k], aa+a[k]*a[k], bb+b[k]*b[k], ab+a[k]*b[k]
	}
	n := float64(len(at))
	va, vb := max(aa/n-square(sa/n), 0), max(bb/n-square(sb/n), 0)
	return math.Sqrt(va), (ab/n - sa/n*sb/n) / math.Sqrt((va+blockNoise)*(vb+blockNoise))
}

// paneWeight returns the weight of a pane in which the look varies so much: at most one half, because panes overlap.
func paneWeight(varies float64) float64 {
	return 0.5 * min(max((varies-paneTell)/(paneFull-paneTell), 0), 1)
}

// nameDensities returns the probability densities of a pane's correlation if it shows the name, another name, or something that hides it.
func nameDensities(r float64) (name, other, hidden float64) {
	normal := func(mean, sigma float64) float64 {
		return math.Exp(-square((r-mean)/sigma)/2) / (sigma * math.Sqrt(2*math.Pi))
	}
	return math.Exp(-(1-min(r, 1))/nameSpread) / nameSpread, normal(otherMean, otherSigma), normal(0, hiddenSigma)
}

// alongRows blurs rows of a width by a Gaussian of sigma, in cells.
func alongRows(v []float64, width int, sigma float64) []float64 {
	k := gaussian(sigma)
	out := make([]float64, len(v))
	for at := range v {
		row, i := v[at/width*width:][:width], at%width
		out[at] = float64(k[0]) * row[i]
		for d := 1; d < len(k); d++ {
			out[at] += float64(k[d]) * (row[max(i-d, 0)] + row[min(i+d, width-1)])
		}
	}
	return out
}

// smear returns the correlation of a name with the picture after removing what a blur along the rows leaves: without that, all words of the
// same place and length agree.
func (s *strip) smear(look, shot []float64, text []bool) float64 {
	lowLook, lowShot := alongRows(look, s.side, plateBlur/cellMM), alongRows(shot, s.side, plateBlur/cellMM)
	var ll, ss, ls float64
	for k, name := range text {
		if name && s.says(k) {
			a, b := look[k]-lowLook[k], shot[k]-lowShot[k]
			ll, ss, ls = ll+a*a, ss+b*b, ls+a*b
		}
	}
	return ls / math.Sqrt(ll*ss+1e-9)
}

// inView returns the share of the plate above and below the name that is in view, even in a haze of light. It is 0 if nothing as bright as
// a name lies between.
func (s *strip) inView(look, shot []float64, from, to int) float64 {
	left, right := s.middle()
	var off, bright, brightLook []float64
	for k := range look {
		switch row, column := k/s.side, k%s.side; {
		case column < left || column >= right || !s.says(k):
		case row < from || row >= to:
			off = append(off, shot[k]-look[k])
		default:
			bright, brightLook = append(bright, shot[k]), append(brightLook, look[k])
		}
	}
	if len(off) < right-left || len(bright) < right-left {
		return 0
	}
	slices.Sort(bright)
	slices.Sort(brightLook)
	n := len(bright)
	if bright[n*9/10]-bright[n/4] < 0.5*(brightLook[n*9/10]-brightLook[n/4]) {
		return 0
	}
	veil, agree := median(off), 0
	for _, d := range off {
		if math.Abs(d-veil) < 3*s.sigma {
			agree++
		}
	}
	return float64(agree) / float64(len(off))
}

// plate decides whether the strip shows the look's name. score is the logarithm of the likelihood ratio against any other name.
func (s *strip) plate() (plate Plate, score float64) {
	look, shot := gray(s.cells()), gray(s.shot)
	text, from, to := s.text(look)
	left, right := s.middle()
	for _, p := range s.panes(s, from, to, left, right) {
		name, other, hidden := nameDensities(p.shown)
		score += paneWeight(p.look) * math.Log((hiddenShare*hidden+(1-hiddenShare)*name)/(hiddenShare*hidden+(1-hiddenShare)*other))
	}
	switch {
	case score >= nameSure && s.scale >= finestScale, score >= nameAgrees && s.smear(look, shot, text) > plateSmear:
		return PlateAgrees, score
	case score <= -nameDenied && s.inView(look, shot, from, to) >= viewLeast:
		return PlateDenies, score
	}
	return PlateUnread, score
}

// against decides which of two looks with the same drawing a picture shows, by the panes in which their strips differ, numbers and icons
// included: 1 for the strip's own look, -1 for the other, 0 if undecided. An empty pane is no evidence for a look that is empty there,
// because it may be hidden.
func (s *strip) against(o *strip) int {
	_, from, to := s.text(gray(s.cells()))
	_, fromOther, toOther := o.text(gray(o.cells()))
	var own, other float64
	seen := func(r float64) float64 {
		name, _, hidden := nameDensities(r)
		return math.Log(hiddenShare + (1-hiddenShare)*name/max(hidden, 1e-3))
	}
	for _, p := range s.panes(o, min(from, fromOther), max(to, toOther), 0, s.side) {
		wa, wb := paneWeight(p.look), paneWeight(p.other)
		if wa > 0 && wb > 0 && p.same > paneSame {
			continue
		}
		own, other = own+wa*seen(p.shown), other+wb*seen(p.otherShown)
	}
	told := nameTold
	if s.scale >= finestScale {
		told = nameLegible
	}
	if s.look.fewViews() || o.look.fewViews() {
		told += nameFew
	}
	switch {
	case own-other >= told && own >= nameSeen:
		return 1
	case other-own >= told && other >= nameSeen:
		return -1
	}
	return 0
}

// byPlates compares the name plates of bases that were found. It selects the right one of several looks with the same drawing where it can,
// and sets Plate.
func (f *Finder) byPlates(frame vision.Frame, sights []Sight) {
	for i := range sights {
		s := &sights[i]
		if s.Evidence < searchEvidence { // the pose is not certain enough to compare a name
			continue
		}
		sc, ok := newScan(&f.table, frame, s.Pose.Point, s.Look.Z, s.Look.half()*math.Sqrt2+4)
		if !ok {
			continue
		}
		var shown []fittedStrip // the strips of all looks that the base may have
		for _, l := range append([]*Look{s.Look}, s.Alike...) {
			if one, ok := sc.stripOf(l, s); ok {
				shown = append(shown, one)
			}
		}
		if len(shown) == 0 || shown[0].look != s.Look {
			continue
		}
		best := shown[0]
		for _, o := range shown[1:] {
			if best.against(o.strip) < 0 {
				best = o
			}
		}
		plate, score := best.plate()
		likely := nameSmeared
		if best.scale >= finestScale {
			likely = nameThird
		}
		may := slices.DeleteFunc(append([]*Look{s.Look}, s.Alike...), func(l *Look) bool {
			return l == best.look || score >= likely && // a name that was never shown says nothing about those that were
				slices.ContainsFunc(shown, func(o fittedStrip) bool { return o.look == l && best.against(o.strip) > 0 })
		})
		s.Look, s.Pose, s.Fit, s.Alike, s.Plate = best.look, best.pose, best.fit, may, plate
	}
}

// fittedStrip is a look's strip at the pose where the look lies.
type fittedStrip struct {
	*strip
	pose geom.Pose
	fit  geom.Cov3
}

// stripOf fits a look to a picture at a sight's pose and returns its strip.
func (s *scan) stripOf(l *Look, at *Sight) (out fittedStrip, ok bool) {
	f := newFitting(s, l, &l.grids().finest, at.Pose)
	if !f.light() || l != at.Look && !f.run() {
		return out, false
	}
	out.pose, out.fit = f.pose, at.Fit
	if l != at.Look {
		if out.fit, ok = f.covariance(); !ok {
			return out, false
		}
	}
	f.sample(false)
	f.correlate()
	f.compare()
	out.strip = f.strip(l)
	return out, true
}
