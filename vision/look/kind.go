package look

import (
	"math"

	"sightline/calibration/linalg"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
)

// Cards of one layout have much in common: the frame, the lines of the arcs, the plate, a drawing in the middle. All that agrees with
// another card of the layout that was never shown. So a look is compared with its layout. The layout is estimated from the look's mirror
// image, which has the layout's lines but none of the card's stars and figures, and from the other looks of that base size. If the card is
// the one of the look, the look explains the picture better than the layout, part by part. If it is another card, what only the look has
// explains nothing, and the unexplained rest is large. A hidden part is explained by neither and does not count.
const (
	kindMM    = 4.0  // mm, of a part
	kindBlur  = 1.0  // mm
	kindRidge = 30.0 // grey levels²: ridge of the regression that gives the layout
	kindAlike = 0.85 // median correlation of two looks' parts from which they have the same drawing, like two pilots of one ship
	kindFull  = 8.0  // grey levels by which a part must differ from the layout to count in full
	kindSlack = 0.05 // share of a part's variance that no look explains
	kindMost  = 0.7  // largest logarithm of a part's ratio of unexplained shares
	kindCells = 5    // cells of a part that must be in view

	// The logarithm of the likelihood ratio is linear in what is explained, and in the logarithm of the variance, in grey levels², that is
	// left unexplained where the picture shows the look. The coefficients are a logistic regression over 147 cards that were shown and 238
	// that were matched to another (docs/measurements/stock.md).
	kindByParts = 3.9
	kindByRest  = -1.7
	kindOffset  = 3.5
	restNoise   = 4.0 // grey levels²
	restNone    = 100 // where the picture shows the look nowhere

	// The logarithm of the odds from which a card counts as one that was shown: 55 to 1. At 20 to 1 one of 90 cards of another squad did
	// (1101, found by the look of a card of the same edition, 25 to 1); of 83 cards that were shown, three lie between.
	kindLeast  = 4.0
	kindDenied = -3.0 // odds below which it counts as another card of the layout

	// The least odds of a card whose name plate agrees: another card may have the same name. Of 16 cards that were shown and whose plates
	// agree (1 to 3, 1 at 4K, 1201 to 1210), none has less than 3.0; of eight others with the same name four have.
	kindPlate = 2.5

	// The prior odds of a card follow from the other bases of the table. If fewer bases were found than ships were shown, at most this share
	// of the cards counts as shown.
	shownMost = 0.8
)

// layout returns the picture of a look's layout alone, on the cells of its grid for the kind.
func (l *Look) layout(others []*Look) []float32 {
	g := &l.grids().kind
	parts := [][]float32{mirrored(g)}
	for _, o := range others {
		if k := &o.grids().kind; o != l && o.Base == l.Base && len(k.t) == len(g.t) && likeness(g, k) < kindAlike {
			parts = append(parts, k.t)
		}
	}
	n := len(parts)
	mean := func(v []float32) (m [channels]float64) {
		var sum float64
		for k, w := range g.weight {
			for c := range channels {
				m[c] += float64(w * v[channels*k+c])
			}
			sum += float64(w)
		}
		for c := range m {
			m[c] /= max(sum, 1)
		}
		return m
	}
	own, means := mean(g.t), make([][channels]float64, n)
	for i, p := range parts {
		means[i] = mean(p)
	}
	normal, right, v := make([]float64, n*n), make([]float64, n), make([]float64, n)
	for k, w := range g.weight {
		for c := range channels {
			t := float64(g.t[channels*k+c]) - own[c]
			for i, p := range parts {
				v[i] = float64(p[channels*k+c]) - means[i][c]
			}
			for i := range n {
				right[i] += float64(w) * v[i] * t
				for j := range n {
					normal[i*n+j] += float64(w) * v[i] * v[j]
				}
				normal[i*n+i] += float64(w) * kindRidge
			}
		}
	}
	share, ok := linalg.SolveSPD(normal, right)
	if !ok {
		share = v // of nothing
		clear(share)
	}
	out := make([]float32, len(g.t))
	for k := range g.weight {
		for c := range channels {
			sum := own[c]
			for i, p := range parts {
				sum += share[i] * (float64(p[channels*k+c]) - means[i][c])
			}
			out[channels*k+c] = float32(sum)
		}
	}
	return out
}

// mirrored returns a grid's picture with left and right exchanged.
func mirrored(g *grid) []float32 {
	out := make([]float32, len(g.t))
	for k := range g.weight {
		o := k - k%g.side + g.side - 1 - k%g.side
		copy(out[channels*k:channels*(k+1)], g.t[channels*o:channels*(o+1)])
	}
	return out
}

// sameDrawing reports whether two looks have the same drawing, like two pilots of one ship.
func (l *Look) sameDrawing(o *Look) bool {
	return l.Base == o.Base && likeness(&l.grids().kind, &o.grids().kind) >= kindAlike
}

// likeness returns the median correlation of the parts of two looks.
func likeness(a, b *grid) float64 {
	sums := make([]blockSums, a.blocks)
	for k, w := range a.weight {
		if w > 0 && b.weight[k] > 0 {
			sums[a.block[k]].add(float64(w), a.t[channels*k:channels*(k+1)], b.t[channels*k:channels*(k+1)])
		}
	}
	var all []float64
	for i := range sums {
		if r, ok := a.correlation(sums, i); ok {
			all = append(all, r)
		}
	}
	if len(all) == 0 {
		return 0
	}
	return median(all)
}

// three are the sums of a part's cells: of its look, its layout and the picture, each channel about its own mean.
type three struct {
	n     float64
	sum   [channels][3]float64
	cross [3][3]float64
}

func (s *three) add(c int, v [3]float64) {
	for i, a := range v {
		s.sum[c][i] += a
		for j, b := range v {
			s.cross[i][j] += a * b
		}
	}
}

// about returns the mean products about the channels' means, in grey levels².
func (s *three) about(i, j int) float64 {
	sum := s.cross[i][j]
	for c := range channels {
		sum -= s.sum[c][i] * s.sum[c][j] / s.n
	}
	return sum / (channels * s.n)
}

// explained returns the share of the picture's variance that the look or the layout explains.
func (s *three) explained(by int) float64 {
	const picture = 2
	r := s.about(by, picture) / math.Sqrt((s.about(by, by)+blockNoise)*(s.about(picture, picture)+blockNoise))
	return square(max(r, 0))
}

// kindOf returns the logarithm of the likelihood ratio of a look's card at a pose and another card of its layout.
func (f *Finder) kindOf(s *scan, l *Look, pose geom.Pose) float64 {
	g := &l.grids().kind
	fit := newFitting(s, l, g, pose)
	if !fit.light() {
		return 0
	}
	fit.sample(false)
	if f.layouts == nil {
		f.layouts = map[*Look][]float32{}
	}
	layout := f.layouts[l]
	if layout == nil {
		layout = l.layout(f.looks.Looks)
		f.layouts[l] = layout
	}
	parts, cells := make([]three, g.blocks), make([]float64, g.blocks)
	for k, w := range g.weight {
		p := &parts[g.block[k]]
		cells[g.block[k]]++
		if w <= 0.5 || !fit.seen[k] {
			continue
		}
		p.n++
		for c := range channels {
			at := channels*k + c
			p.add(c, [3]float64{float64(g.t[at]), float64(layout[at]),
				float64(fit.asLook(fit.deriv[k].v[c], float64(g.u[k]), float64(g.v[k]), c))})
		}
	}
	var by, all float64
	var rest []float64
	for i := range parts {
		p := &parts[i]
		if p.n < max(kindCells, cells[i]/2) {
			continue
		}
		particular := math.Sqrt(max(p.about(0, 0)+p.about(1, 1)-2*p.about(0, 1), 0))
		weight := min(particular/kindFull, 1)
		own, common := p.explained(0), p.explained(1)
		by += weight * min(max(math.Log((1-common+kindSlack)/(1-own+kindSlack)), -kindMost), kindMost)
		all += weight
		if own > shown*shown {
			rest = append(rest, max(p.about(0, 0)+p.about(2, 2)-2*p.about(0, 2), 0))
		}
	}
	left := float64(restNone)
	if len(rest) > 0 {
		left = median(rest)
	}
	return kindByParts*by/math.Sqrt(max(all, 1)) + kindByRest*math.Log(left+restNoise) + kindOffset
}

// byKinds sets how likely the cards of bases that were found are those that were shown.
func (f *Finder) byKinds(frame vision.Frame, sights []Sight) {
	for i := range sights {
		s := &sights[i]
		if sc, ok := newScan(&f.table, frame, s.Pose.Point, s.Look.Z, s.Look.half()*math.Sqrt2+4); ok {
			s.Kind, s.Tint = f.kindOf(sc, s.Look, s.Pose), sc.tint(s.Look, s.Pose)
		}
	}
}

// among adds prior odds from the table's other bases, found now or known before: on most tables either nearly all cards were shown, or
// none was. The prior is the share of shown cards that makes the pictures likeliest, assuming one
// more base that was shown and one that was not.
func among(sights []Sight, taken []engine.Ship, counted bool) {
	known := 1.0
	for i := range taken {
		if taken[i].Look != "" && !taken[i].LookDoubt {
			known++
		}
	}
	share := 0.5
	for range 30 {
		sum := known
		for i := range sights {
			odds := share / (1 - share) * math.Exp(sights[i].Kind)
			sum += odds / (1 + odds)
		}
		share = sum / (known + 1 + float64(len(sights)))
	}
	if !counted {
		share = min(share, shownMost)
	}
	for i := range sights {
		sights[i].Kind += math.Log(share / (1 - share))
	}
}

// Told reports whether the base's card is one of those that were shown, and not another of their layout that was not.
func (s *Sight) Told() bool {
	return s.Dots.Ship != "" || s.Number != nil || s.Shown() || !s.Missing && s.Kind-s.Tint >= kindLeast
}
