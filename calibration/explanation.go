package calibration

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"

	"sightline/calibration/linalg"
	"sightline/engine/geom"
)

// explanation is what the residuals of a registration say of their causes, and so of the
// errors between the markers: the mean over all hypotheses, each with its probability.
type explanation struct {
	factor float64     // of the placement's variance
	lens   []float64   // 9×9, to add to the lens's covariance: the second moment of its error; nil for none
	bent   geom.Length // sigma at the mat of a shift that no lens explains and that differs from place to place
	other  float64     // probability of another lens
}

// A hypothesis is one cause of the residuals: cards laid more or less exactly than stated,
// and a picture that is bent. To each comes one lens as stated and two that are wrong.
type hypothesis struct {
	prior  float64
	corner float64 // sigma of a corner, px
	rough  float64 // sigma of the placement over the stated one
	bend   float64 // sigma of the shift, px of a picture 1920 wide
	reach  float64 // distance over which it changes, of the same px
	rows   bool    // it changes from row to row, but not along a row, as a rolling shutter sees a camera that shakes
	bumped bool    // the markers that contradict the others were moved
}

// The hypotheses' prior odds. They are a judgement, not a measurement: on two of three tables the
// cards lie as stated, on the others up to four times as rough; one of twenty has the lens file of
// another camera, focus or crop; one of twenty a camera that shakes or corrects its picture by itself.
// TestWhatTheMarkersShowIsStated measures what the stated sigmas are then worth.
var (
	roughness = []struct{ prior, rough float64 }{{0.15, 0.8}, {0.55, 1}, {0.12, 1.4}, {0.09, 2}, {0.06, 2.8}, {0.03, 4}}
	bends     = []float64{0.25, 0.5, 1, 2} // px
	reaches   = []struct {
		px   float64
		rows bool
	}{{60, true}, {160, true}, {160, false}}
	wrongLens = []float64{1, 3} // multiples of lensSpread
)

const (
	bentPrior = 0.05
	lensPrior = 0.05
	bumpPrior = 0.05 // of the first marker
	bumpAgain = 0.01 // of each more

	bumpSpread     = 3 * geom.Millimeter
	bumpSpreadTurn = 3 * geom.Degree

	// bendReach, in mm on the mat, is about the shortest of reaches.
	bendReach = 60

	// sharpCorner is the sigma of a corner, px, that is tried beside a larger one: what looks like
	// noise may be a picture that is bent.
	sharpCorner = 0.08
)

// lensSpread returns the standard deviations by which the parameters of a wrong lens file are off.
func lensSpread(lens *Intrinsics) [LensTerms]float64 {
	px := float64(lens.Width) / 1920
	return [LensTerms]float64{0.005 * lens.Fx, 0.005 * lens.Fy, 10 * px, 10 * px, 0.02, 0.03, 7e-4, 7e-4, 0.03}
}

// hypotheses lists those that are compared for markers whose corners scatter so much and of which so many contradict the others.
func hypotheses(corner float64, out int) (all []hypothesis) {
	corners := []float64{corner}
	if corner > 1.2*sharpCorner {
		corners = append(corners, sharpCorner)
	}
	add := func(h hypothesis) {
		if out == 0 {
			all = append(all, h)
			return
		}
		none := h
		h.bumped, h.prior = true, h.prior*bumpPrior*math.Pow(bumpAgain, float64(out-1))
		all = append(all, none, h)
	}
	for _, c := range corners {
		for _, r := range roughness {
			add(hypothesis{prior: r.prior, corner: c, rough: r.rough})
		}
		for _, b := range bends {
			for _, r := range reaches {
				add(hypothesis{prior: bentPrior / float64(len(bends)*len(reaches)), corner: c, rough: 1, bend: b, reach: r.px, rows: r.rows})
			}
		}
	}
	return all
}

// explain compares the hypotheses by the likelihood of the residuals that no pose explains, all corners together. The markers in out
// contradict the used ones: they were bumped, each by bumpSpread, or what seems to be bumped is the same cause.
func (s *solution) explain(lens *Intrinsics, used, out []correspondence, corner float64) (explanation, bool) {
	all := make([]markerEquations, 0, len(used)+len(out))
	for _, c := range slices.Concat(used, out) {
		e, ok := equations(lens, &s.pose, c, s.noise)
		if !ok {
			return explanation{}, false
		}
		all = append(all, e)
	}
	px := float64(lens.Width) / 1920
	var mean weighted
	for _, h := range hypotheses(corner, len(out)) {
		o := s.observed(lens, all, len(used), h)
		e := explanation{factor: h.rough * h.rough, bent: geom.Length(h.bend * px / scaleOf(all))}
		if h.bend > 0 {
			o.addBend(all, h.bend*px, h.reach*px, h.rows)
		}
		m, ok := o.reduced()
		if !ok {
			return explanation{}, false
		}
		mean.add(math.Log(h.prior*(1-lensPrior))+m.log, e)
		for _, k := range wrongLens {
			log, moment, ok := m.withLens(lensSpread(lens), k)
			if !ok {
				return explanation{}, false
			}
			e.lens, e.other = moment, 1
			mean.add(math.Log(h.prior*lensPrior/float64(len(wrongLens)))+log, e)
		}
	}
	return mean.explanation(), true
}

// observed returns the markers' equations with the covariance that a hypothesis gives them, without its bend. From the marker bumped
// on they were moved, if the hypothesis says so.
func (s *solution) observed(lens *Intrinsics, all []markerEquations, bumped int, h hypothesis) *observations {
	noise := noiseModel{h.corner, rougher(s.noise.placement, h.rough)}
	noise.placement.Size = max(noise.placement.Size, DefaultPlacement.Size) // light and ink spread however exactly a marker lies
	o := newObservations(all, noise)
	if h.bumped {
		moved := noise
		moved.placement.XY, moved.placement.Turn = bumpSpread, bumpSpreadTurn
		for m := bumped; m < len(all); m++ {
			more, less := all[m].covariance(moved), all[m].covariance(noise)
			for i := range 8 {
				for j := range 8 {
					o.cov[(8*m+i)*len(o.r)+8*m+j] += more[8*i+j] - less[8*i+j]
				}
			}
		}
	}
	if len(lens.Covariance) == LensTerms*LensTerms {
		o.addLens(lens.Covariance)
	}
	return o
}

// weighted collects explanations with the logarithms of their probabilities.
type weighted struct {
	logs []float64
	each []explanation
}

func (w *weighted) add(log float64, e explanation) {
	w.logs, w.each = append(w.logs, log), append(w.each, e)
}

// explanation returns the mean.
func (w *weighted) explanation() (mean explanation) {
	most := slices.Max(w.logs)
	mean.lens = make([]float64, LensTerms*LensTerms)
	var sum, bent float64
	for i, e := range w.each {
		p := math.Exp(w.logs[i] - most)
		sum += p
		mean.factor += p * e.factor
		mean.other += p * e.other
		bent += p * square(float64(e.bent))
		for k, v := range e.lens {
			mean.lens[k] += p * v
		}
	}
	mean.factor, mean.other, mean.bent = mean.factor/sum, mean.other/sum, geom.Length(math.Sqrt(bent/sum))
	for k := range mean.lens {
		mean.lens[k] /= sum
	}
	return mean
}

// rougher returns the placement of cards laid with k times the sigma. The size of their print says nothing of that.
func rougher(p Placement, k float64) Placement {
	p.XY, p.Turn, p.Z = p.XY*geom.Length(k), p.Turn*geom.Angle(k), p.Z*geom.Length(k)
	return p
}

// scaleOf returns the pixels for each mm at the markers.
func scaleOf(all []markerEquations) (px float64) {
	for i := range all {
		c := all[i].centroid()
		px += math.Sqrt(math.Abs(c.place[0][0]*c.place[1][1]-c.place[0][1]*c.place[1][0])) / float64(len(all))
	}
	return px
}

// addBend adds the covariance of a smooth shift of the picture, independent in x and y.
func (o *observations) addBend(all []markerEquations, sigma, reach float64, rows bool) {
	n := len(o.r)
	for i := range n {
		p := all[i/8].seen[i%8/2]
		for j := i % 2; j < n; j += 2 {
			by := p.Sub(all[j/8].seen[j%8/2])
			if rows {
				by.X = 0
			}
			d := by.Norm()
			o.cov[i*n+j] += sigma * sigma * math.Exp(-d*d/(2*reach*reach))
		}
	}
}

// reduction is a set of observations, whitened, with the pose taken out: the restricted likelihood.
type reduction struct {
	log   float64   // likelihood
	lens  []float64 // LᵀQL, 9×9
	right []float64 // LᵀQr
}

func (o *observations) reduced() (m reduction, ok bool) {
	rows := len(o.r)
	const columns = 6 + LensTerms + 1
	l, ok := linalg.Cholesky(o.cov, rows)
	if !ok {
		return m, false
	}
	white := blas64.General{Rows: rows, Cols: columns, Stride: columns, Data: make([]float64, rows*columns)}
	for i := range rows {
		row := white.Data[i*columns : (i+1)*columns]
		copy(row, o.pose[i][:])
		copy(row[6:], o.lens[i][:])
		row[columns-1] = o.r[i]
	}
	if !lapack64.Trtrs(blas.NoTrans, l, white) {
		return m, false
	}
	var g [columns * columns]float64
	for i := range rows {
		row := white.Data[i*columns : (i+1)*columns]
		for a, v := range row {
			for b := range a + 1 {
				g[columns*a+b] += v * row[b]
			}
		}
	}
	return reducedFrom(g[:], columns, logDiagonal(l))
}

// reducedFrom takes the pose, the first six columns, out of the normal equations g, of which the lower triangle is given.
func reducedFrom(g []float64, columns int, halfLog float64) (m reduction, ok bool) {
	// Six steps of Cholesky's method: what is left is the Schur complement.
	for k := range 6 {
		d := g[columns*k+k]
		if !(d > 0) {
			return m, false
		}
		halfLog += 0.5 * math.Log(d)
		for i := k + 1; i < columns; i++ {
			f := g[columns*i+k] / d
			for j := k + 1; j <= i; j++ {
				g[columns*i+j] -= f * g[columns*j+k]
			}
		}
	}
	last := columns - 1
	m = reduction{log: -halfLog - 0.5*g[columns*last+last], lens: make([]float64, LensTerms*LensTerms), right: make([]float64, LensTerms)}
	for a := range LensTerms {
		m.right[a] = g[columns*last+6+a]
		for b := range a + 1 {
			m.lens[LensTerms*a+b] = g[columns*(6+a)+6+b]
			m.lens[LensTerms*b+a] = m.lens[LensTerms*a+b]
		}
	}
	return m, true
}

func logDiagonal(l linalg.Factor) (sum float64) {
	for i := range l.N {
		sum += math.Log(l.Data[i*l.Stride+i])
	}
	return sum
}

// withLens returns the likelihood if the lens's parameters are off by k times the spread, and the
// second moment of what they are then off by.
func (m *reduction) withLens(spread [LensTerms]float64, k float64) (log float64, moment []float64, ok bool) {
	const n = LensTerms
	a := make([]float64, n*n) // I + S M S, S the spread: the posterior's information in units of the spread
	g := make([]float64, n)
	for i := range n {
		g[i] = k * spread[i] * m.right[i]
		for j := range n {
			a[n*i+j] = k * spread[i] * m.lens[n*i+j] * k * spread[j]
		}
		a[n*i+i]++
	}
	inverse, ok := linalg.InvertSPD(a, n)
	if !ok {
		return 0, nil, false
	}
	l, ok := linalg.Cholesky(a, n)
	if !ok {
		return 0, nil, false
	}
	var by [n]float64
	for i := range n {
		by[i] = linalg.Dot(inverse[n*i:n*(i+1)], g)
	}
	log = m.log - logDiagonal(l) + 0.5*linalg.Dot(by[:], g)
	for i := range n {
		for j := range n {
			inverse[n*i+j] = k * spread[i] * (inverse[n*i+j] + by[i]*by[j]) * k * spread[j]
		}
	}
	return log, inverse, true
}
