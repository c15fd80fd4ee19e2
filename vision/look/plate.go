package look

import (
	"math"
	"slices"

	"sightline/engine/geom"
	"sightline/vision"
)

// Cards of one ship differ by pilot in the plate along their rear edge alone: its name, some 2 mm high. At 1 px/mm that is a smear as
// long as the word, at 2 px/mm letters can be told in part. So the strip along the rear edge is compared on its own. Words of the same
// place and length agree too where a picture is blurred along the strip; what is left beyond plateBlur tells them. The limits were
// set on the tables of odd numbers in docs/stock.md, with other names put into the looks (TestNamePlates).

// Plate says whether a base that was found shows the name plate of its look.
type Plate int

// What is known of a plate.
const (
	PlateUnread Plate = iota // it is covered, or too small
	PlateAgrees              // it is the one of the look: another one would hardly agree so well
	PlateDenies              // the strip is in view, and shows another name
)

const (
	stripMM     = 6.0  // along the rear edge
	stripSideMM = 4.5  // at its ends, where number and ship's icon are, not the name
	plateBlur   = 1.2  // mm
	plateAgrees = 0.7  // correlation beyond that from finestScale on: of other names at most 0.58
	plateSmear  = 0.8  // below finestScale: of other names at most 0.71
	plateDenies = 0.45 // up to which it is another name, where what is round it is in view
	roundLeast  = 0.7  // share of the cells round the name that agree
	textLeast   = 20   // cells of a name

	// Two looks are compared where they differ.
	pairDiffers = 14.0 // grey levels
	pairLeast   = 12   // cells
	pairSeen    = 0.7  // share of them that agree with one of both
	pairScore   = 40.0 // difference of the squared residuals, in variances
	pairTukey   = 3.5  // standard deviations from which a residual counts no more
)

// strip is a look's rear strip as a picture shows it, at the pose of a fit: as bright as the look where both show the same.
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

// cells are the strip's in its look.
func (s *strip) cells() []float32 { return s.look.cells[channels*s.first:] }

// says reports whether a cell of the look says something and lies in the picture.
func (s *strip) says(k int) bool {
	return s.look.weight[s.first+k] > 0.5 && !math.IsNaN(float64(s.shot[channels*k]))
}

// residual is the mean square of the picture less the look at a cell, over the channels.
func (s *strip) residual(k int) (sum float64) {
	for c := range channels {
		sum += square(float64(s.shot[channels*k+c]-s.cells()[channels*k+c])) / channels
	}
	return sum
}

// gray returns the middle part of the strip of interleaved channels as grey rows, and how wide it is.
func (s *strip) gray(v []float32) (out []float64, width int) {
	side := int(math.Round(stripSideMM / cellMM))
	width = s.side - 2*side
	for j := range s.n {
		for i := range width {
			k := channels * (j*s.side + side + i)
			x := float64(v[k]+v[k+1]+v[k+2]) / channels
			if math.IsNaN(x) {
				x = 0
			}
			out = append(out, x)
		}
	}
	return out, width
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

// text marks the cells where the look has a name: bright on the plate's ground.
func (s *strip) text(gray []float64, width int) []bool {
	bright := make([]float64, len(gray))
	for j := range s.n {
		row := gray[j*width:][:width]
		ground := median(slices.Clone(row))
		for i, v := range row {
			bright[j*width+i] = v - ground
		}
	}
	sorted := slices.Sorted(slices.Values(bright))
	most := sorted[len(sorted)*98/100]
	for i, v := range bright {
		bright[i] = max(v, 0)
	}
	out := make([]bool, len(gray))
	for i, v := range alongRows(bright, width, 0.75/cellMM) {
		out[i] = v > 0.35*most
	}
	return out
}

// plate says whether the strip shows the look's name.
func (s *strip) plate() Plate {
	look, width := s.gray(s.cells())
	shot, _ := s.gray(s.shot)
	text := s.text(look, width)
	lowLook, lowShot := alongRows(look, width, plateBlur/cellMM), alongRows(shot, width, plateBlur/cellMM)
	var ll, ss, ls float64
	cells, round, agree := 0, 0, 0
	for i, name := range text {
		k := i/width*s.side + (s.side-width)/2 + i%width
		switch {
		case s.look.weight[s.first+k] <= 0.5:
		case !name:
			if round++; s.says(k) && s.residual(k) < square(3*s.sigma) {
				agree++
			}
		case s.says(k):
			a, b := look[i]-lowLook[i], shot[i]-lowShot[i]
			ll, ss, ls = ll+a*a, ss+b*b, ls+a*b
			cells++
		}
	}
	if cells < textLeast {
		return PlateUnread
	}
	least := plateAgrees
	if s.scale < finestScale {
		least = plateSmear
	}
	switch c := ls / math.Sqrt(ll*ss+1e-9); {
	case c > least:
		return PlateAgrees
	case c < plateDenies && float64(agree) > roundLeast*float64(round):
		return PlateDenies
	}
	return PlateUnread
}

// against says which of two looks with one drawing a picture shows, by where their strips differ: 1 the strip's own, -1 the other's, 0
// neither is said.
func (s *strip) against(o *strip) int {
	limit := square(pairTukey * min(s.sigma, o.sigma))
	var score float64
	cells, seen := 0, 0
	for k := range s.n * s.side {
		var d float64
		for c := range channels {
			d += math.Abs(float64(s.cells()[channels*k+c]-o.cells()[channels*k+c])) / channels
		}
		if d < pairDiffers || s.look.weight[s.first+k] <= 0.5 || o.look.weight[o.first+k] <= 0.5 {
			continue
		}
		cells++
		a, b := limit, limit
		if s.says(k) && o.says(k) {
			a, b = min(s.residual(k), limit), min(o.residual(k), limit)
		}
		score += b - a
		if min(a, b) < limit {
			seen++
		}
	}
	pixels := max(1, 1/square(s.scale*cellMM)) * 2 // a pixel says something once, and the channels share most of their noise
	score /= square(min(s.sigma, o.sigma)) * pixels
	switch {
	case cells < pairLeast || float64(seen) < pairSeen*float64(cells):
		return 0
	case score > pairScore:
		return 1
	case score < -pairScore:
		return -1
	}
	return 0
}

// byPlates reads the name plates of bases that were found: of two looks of one drawing the right one stays, and it is said whether the
// plate is the look's.
func (f *Finder) byPlates(frame vision.Frame, sights []Sight) {
	for i := range sights {
		s := &sights[i]
		if s.Evidence < nameLeast { // it gets no name, and where its card lies is not known well enough to compare a name
			continue
		}
		sc, ok := newScan(&f.table, frame, s.Pose.Point, s.Look.Z, s.Look.half()*math.Sqrt2+4)
		if !ok {
			continue
		}
		var shown []fittedStrip // of all looks that it may be
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
		plate := best.plate()
		may := slices.DeleteFunc(append([]*Look{s.Look}, s.Alike...), func(l *Look) bool {
			return l == best.look || plate != PlateDenies && // a third name, which is none of those that were shown, says nothing of them
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

// stripOf lays a look over a picture at a sight's pose.
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
	f.look()
	f.correlate()
	f.compare()
	out.strip = f.strip(l)
	return out, true
}
