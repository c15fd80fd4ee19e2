package calibration

import (
	"math"
	"slices"

	"sightline/calibration/linalg"
	"sightline/engine/geom"
)

// The limits by which markers are rejected.
const (
	// bumpLimit is the squared Mahalanobis distance beyond which a marker is rejected:
	// chance exceeds it once in 2300 markers (chi-squared with three degrees of
	// freedom), once in 280 tables of eight. A card moved by 3 mm lies at 40 and more.
	bumpLimit = 18.0

	// A marker closer than this to where the others put it is used however small its
	// sigma. It counts in the scatter, which all sigmas grow with.
	bumpFloor     = 0.5 * geom.Millimeter
	bumpFloorTurn = 1.5 * geom.Degree

	// placementWeight is how many measurements the stated placement counts as against
	// the markers' own scatter, to which eight markers contribute 10.
	placementWeight = 10

	// maxScatter is the scatter, in multiples of the larger of the placement's sigma and
	// 0.3 mm, at which it is no longer clear which markers are right.
	maxScatter = 4

	// brokenSquare, in px, and brokenRatio, in sigmas, are how far a marker's corners may
	// lie from a square, as the root of the sum of squares.
	brokenSquare = 1.0
	brokenRatio  = 5.5
)

// MarkerResidual is the distance of a marker from where all the others put it. The
// marker is left out of that adjustment, so it cannot pull the table towards itself.
type MarkerResidual struct {
	ID   int
	Used bool // false: it was left out

	// Along the mat's nearest edge (towards +x or +y) and across it (away from the mat),
	// with the standard deviations predicted by the stated placement, noise and lens.
	Along, Across           geom.Length
	AlongSigma, AcrossSigma geom.Length
	Turn, TurnSigma         geom.Angle // clockwise

	// Distance is the Mahalanobis distance of the three: 1.5 is usual, and a marker
	// beyond 4.2 counts as bumped.
	Distance float64
}

// Offset is the marker's distance from its place, in any direction.
func (r MarkerResidual) Offset() geom.Length {
	return geom.Length(math.Hypot(float64(r.Along), float64(r.Across)))
}

func (r *MarkerResidual) square() float64 { return r.Distance * r.Distance }

// residualAnalysis is derived from the residuals of an adjustment.
type residualAnalysis struct {
	corner  float64 // sigma of a corner, px, from within the markers
	factor  float64 // by which the placement's variance differs from the stated one
	markers []MarkerResidual
	broken  []float64 // per marker: how far its corners lie from a square, px
	lens    lensConsistency
}

// leaveOneOut analyses the residuals of a solved pose. It uses the full covariance of
// all corners (placement, noise and the shared lens error) and the part of the
// residuals that no pose explains: v = Q r with Q = V - V A (AᵀVA)⁻¹ AᵀV, where V is the
// inverse covariance. With E the derivative of the picture by a marker's shift, the
// shift seen by the others is (EᵀQE)⁻¹ EᵀQ r with covariance (EᵀQE)⁻¹ (Baarda 1968:
// data snooping with the mean shift model).
func (s *solution) leaveOneOut(lens Intrinsics, layout Layout, used []correspondence) (residualAnalysis, bool) {
	all := make([]markerEquations, len(used))
	for i, c := range used {
		var ok bool
		if all[i], ok = equations(&lens, &s.pose, c, s.noise); !ok {
			return residualAnalysis{}, false
		}
	}
	out := residualAnalysis{factor: 1}
	within := make([]float64, len(all))
	for i := range all {
		within[i] = all[i].withinSquare()
		out.broken = append(out.broken, math.Sqrt(within[i]))
	}
	out.corner = math.Max(cornerSigma, cornerNoise(within))
	n := noiseModel{out.corner, s.noise.placement}
	full, places := newObservations(all, n), newCentroids(all, n)
	q, ok1 := full.weights(lens.Covariance)
	qc, ok2 := places.weights(lens.Covariance)
	if !ok1 || !ok2 {
		return residualAnalysis{}, false
	}
	// The scatter of the markers against the stated placement is taken from their
	// centres, two equations each, which no error of a print's shape moves.
	chi, freedom := linalg.Quadratic(qc, places.r, places.r), max(0, float64(2*len(all)-6))
	out.factor = (placementWeight + chi) / (placementWeight + freedom)
	if out.lens, ok1 = s.lensConsistency(&lens, all, out.corner); !ok1 {
		return residualAnalysis{}, false
	}
	for i, c := range used {
		place, _, ok1 := all[i].centroid().shiftRows().shift(2, 2*i, qc, places.r)
		d, cov, ok2 := all[i].shiftRows().shift(rigid, 8*i, q, full.r)
		if !ok2 {
			return residualAnalysis{}, false
		}
		if !ok1 { // nothing is left over
			place = moved{}
		}
		m := NewMarkerResidual(layout, c.marker, d.by, [rigid]float64{cov[0], cov[4], cov[8]})
		m.Used = true
		// The scatter is that of the others: a bumped marker must not raise it.
		others := (placementWeight + max(chi-place.square, 0)) / (placementWeight + max(0, freedom-2))
		m.Distance = math.Sqrt(d.square / max(others, 1))
		out.markers = append(out.markers, m)
	}
	return out, true
}

// withinSquare returns the sum of squared residuals, px², that is left after fitting the
// marker's place, turn, width and length: three degrees of freedom of noise.
func (e *markerEquations) withinSquare() float64 {
	columns := [5]int{0, 1, 2, 4, 5}
	normal, right := make([]float64, 25), make([]float64, 5)
	var sum float64
	for i := range 8 {
		sum += e.residual[i] * e.residual[i]
		for a, ca := range columns {
			right[a] += e.place[i][ca] * e.residual[i]
			for b, cb := range columns {
				normal[5*a+b] += e.place[i][ca] * e.place[i][cb]
			}
		}
	}
	x, ok := linalg.SolveSPD(normal, right)
	if !ok {
		return sum
	}
	for a := range columns {
		sum -= x[a] * right[a]
	}
	return max(sum, 0)
}

// cornerNoise estimates the sigma of a corner from the markers' shapes, without those
// far worse than the median.
func cornerNoise(within []float64) float64 {
	sorted := slices.Sorted(slices.Values(within))
	const freedom = 3
	limit := 5 * sorted[len(sorted)/2]
	var sum, n float64
	for _, w := range sorted {
		if w <= limit {
			sum, n = sum+w, n+freedom
		}
	}
	return math.Sqrt(sum / n)
}

// observations are the equations of all markers: residuals r, their derivatives by pose
// and lens, and their covariance without the lens's part.
type observations struct {
	r    []float64
	pose [][6]float64
	lens [][LensTerms]float64
	cov  []float64
}

// newObservations returns the eight equations of every marker.
func newObservations(all []markerEquations, n noiseModel) *observations {
	rows := 8 * len(all)
	o := &observations{cov: make([]float64, rows*rows)}
	for m := range all {
		e := &all[m]
		o.r = append(o.r, e.residual[:]...)
		o.pose = append(o.pose, e.pose[:]...)
		o.lens = append(o.lens, e.lens[:]...)
		block := e.covariance(n)
		for i := range 8 {
			for j := range 8 {
				o.cov[(8*m+i)*rows+8*m+j] = block[8*i+j]
				if (i-j)%2 == 0 { // the lens model's error, the same for a whole marker
					o.cov[(8*m+i)*rows+8*m+j] += modelLeaves * modelLeaves
				}
			}
		}
	}
	return o
}

// centroid is the mean of a marker's corners: two equations.
type centroid struct {
	residual [2]float64
	pose     [2][6]float64
	place    [2][placements]float64
	lens     [2][LensTerms]float64
}

func (e *markerEquations) centroid() *centroid {
	c := &centroid{}
	for row := range 8 {
		axis := row % 2
		c.residual[axis] += e.residual[row] / 4
		for k, v := range e.pose[row] {
			c.pose[axis][k] += v / 4
		}
		for k, v := range e.place[row] {
			c.place[axis][k] += v / 4
		}
		for k, v := range e.lens[row] {
			c.lens[axis][k] += v / 4
		}
	}
	return c
}

// newCentroids returns the two equations of every marker's centre.
func newCentroids(all []markerEquations, n noiseModel) *observations {
	rows, sigmas := 2*len(all), n.sigmas()
	o := &observations{cov: make([]float64, rows*rows)}
	for m := range all {
		c := all[m].centroid()
		o.r = append(o.r, c.residual[:]...)
		o.pose = append(o.pose, c.pose[:]...)
		o.lens = append(o.lens, c.lens[:]...)
		for i := range 2 {
			for j := range 2 {
				for k, s := range sigmas {
					o.cov[(2*m+i)*rows+2*m+j] += c.place[i][k] * s * s * c.place[j][k]
				}
			}
			o.cov[(2*m+i)*(rows+1)] += n.corner*n.corner/4 + modelLeaves*modelLeaves
		}
	}
	return o
}

// addLens adds the lens's part to the covariance of the equations.
func (o *observations) addLens(lens []float64) {
	rows := len(o.r)
	for i := range rows {
		var lc [LensTerms]float64
		for j := range LensTerms {
			for k := range LensTerms {
				lc[j] += o.lens[i][k] * lens[LensTerms*k+j]
			}
		}
		for j := range rows {
			for k := range LensTerms {
				o.cov[i*rows+j] += lc[k] * o.lens[j][k]
			}
		}
	}
}

// weights returns Q, with the lens's covariance in it.
func (o *observations) weights(lens []float64) (q []float64, ok bool) {
	rows := len(o.r)
	if len(lens) == LensTerms*LensTerms {
		o.addLens(lens)
	}
	v, ok := linalg.InvertSPD(o.cov, rows)
	if !ok {
		return nil, false
	}
	if rows <= 6 { // no more equations than unknowns: a pose explains them all
		return make([]float64, rows*rows), true
	}
	va := make([][6]float64, rows)
	normal := make([]float64, 36)
	for i := range rows {
		for j := range rows {
			for k := range 6 {
				va[i][k] += v[i*rows+j] * o.pose[j][k]
			}
		}
		for a := range 6 {
			for b := range 6 {
				normal[6*a+b] += o.pose[i][a] * va[i][b]
			}
		}
	}
	inverse, ok := linalg.InvertScaled(normal, 6)
	if !ok {
		return nil, false
	}
	for i := range rows {
		var w [6]float64
		for k := range 6 {
			for j := range 6 {
				w[k] += va[i][j] * inverse[6*j+k]
			}
		}
		for j := range rows {
			for k := range 6 {
				v[i*rows+j] -= w[k] * va[j][k]
			}
		}
	}
	return v, true
}

// moves are the derivatives of a marker's equations by its placement.
type moves [][placements]float64

func (e *markerEquations) shiftRows() moves { return e.place[:] }
func (c *centroid) shiftRows() moves        { return c.place[:] }

// moved is a marker's motion in x, y (mm) and turn (rad), and its squared Mahalanobis distance.
type moved struct {
	by     [rigid]float64
	square float64
}

// shift returns the first n placement parameters of a marker as the other markers
// see them, with their n×n covariance. The marker's equations start at row at of Q and r.
func (e moves) shift(n, at int, q, r []float64) (d moved, cov []float64, ok bool) {
	rows := len(r)
	g, s := make([]float64, n), make([]float64, n*n)
	for i := range e {
		row := q[(at+i)*rows : (at+i+1)*rows]
		qr := linalg.Dot(row, r)
		for a := range n {
			g[a] += e[i][a] * qr
			for j := range e {
				for b := range n {
					s[n*a+b] += e[i][a] * row[at+j] * e[j][b]
				}
			}
		}
	}
	if cov, ok = linalg.InvertScaled(s, n); !ok {
		return d, nil, false
	}
	for a := range n {
		for b := range n {
			d.by[a] += cov[n*a+b] * g[b]
		}
		d.square += d.by[a] * g[a]
	}
	return d, cov, true
}

// NewMarkerResidual returns the residual of a marker that lies off by x, y (mm) and turn (rad, clockwise), with the
// expected variances of the three. The caller sets Used and Distance.
func NewMarkerResidual(l Layout, marker Marker, by, variance [rigid]float64) MarkerResidual {
	m := MarkerResidual{
		ID: marker.ID, Across: geom.Length(by[0]), Along: geom.Length(by[1]), Turn: geom.Angle(by[2]),
		AcrossSigma: geom.Length(math.Sqrt(variance[0])), AlongSigma: geom.Length(math.Sqrt(variance[1])),
		TurnSigma: geom.Angle(math.Sqrt(variance[2])),
	}
	m.alongEdge(l, marker.Center)
	return m
}

// alongEdge rotates a shift in x (in Across) and y (in Along) to the mat's edge nearest
// to the marker.
func (m *MarkerResidual) alongEdge(l Layout, at geom.Point) {
	w, h := float64(l.Width), float64(l.Height)
	x, y, sx, sy := m.Across, m.Along, m.AcrossSigma, m.AlongSigma
	switch sides := [...]float64{-at.X, at.X - w, -at.Y, at.Y - h}; slices.Index(sides[:], slices.Max(sides[:])) {
	case 0:
		m.Across, m.Along = -x, y
	case 1:
		m.Across, m.Along = x, y
	case 2:
		m.Across, m.Along, m.AcrossSigma, m.AlongSigma = -y, x, sy, sx
	case 3:
		m.Across, m.Along, m.AcrossSigma, m.AlongSigma = y, x, sy, sx
	}
}
