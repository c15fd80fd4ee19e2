package quick

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"sightline/calibration"
	"sightline/calibration/linalg"
)

// adjust solves with the noise that the residuals show: the sigma of a corner, which is at least least, and the factor by
// which the variance of the markers' placement differs from the stated one. Each is estimated from its own residuals over its
// own share of the redundancy (Helmert's variance components). It returns the covariance of all unknowns and the factor.
func (p *problem) adjust(least float64) (cov []float64, factor float64, err error) {
	stated, floor := slices.Clone(p.laid), max(detectorSigma, least)
	factor = 1
	for range noiseRounds {
		if cov, err = p.covariance(); err != nil {
			return nil, 0, err
		}
		n := p.unknowns()
		var squares, taken, off, redundancy float64
		for _, s := range p.squares(true) {
			squares += s
		}
		for i, b := range p.priors() {
			free := 1 - cov[i*n+i]/(b.sigma*b.sigma)
			taken += free
			if m, k := (i-params)/placements, (i-params)%placements; i >= params && k < 2 {
				off += b.off * b.off / (stated[m][k] * stated[m][k])
				redundancy += free
			}
		}
		if rest := float64(8*len(p.seen)) - taken - float64(6*p.views); rest > 0 {
			p.corner = max(floor, math.Sqrt(squares/rest))
		}
		factor = (placementWeight + off) / (placementWeight + redundancy)
		for m := range p.laid {
			for i := range p.laid[m] {
				p.laid[m][i] = stated[m][i] * math.Sqrt(factor)
			}
		}
		if _, err = p.solve(); err != nil {
			return nil, 0, err
		}
	}
	cov, err = p.covariance()
	return cov, factor, err
}

// squares returns the sum of squared residuals of every sighting, px², whitened if white.
func (p *problem) squares(white bool) []float64 {
	out := make([]float64, len(p.seen))
	lens, chain := p.prior.lens(&p.shape), p.prior.jacobian(&p.shape)
	for i := range p.seen {
		rows, ok := p.equations(&p.seen[i], &lens, &chain)
		if !ok {
			out[i] = math.Inf(1)
			continue
		}
		if white {
			p.whiten(&rows)
		}
		for _, e := range rows {
			out[i] += e.residual * e.residual
		}
	}
	return out
}

// residuals returns the distance of every marker from where all the others put it (Baarda 1968): a placement x with prior
// covariance S and posterior covariance C was estimated from data that alone would give S (S-C)⁻¹ x.
func (p *problem) residuals(l calibration.Layout, cov []float64, factor float64) (out []calibration.MarkerResidual) {
	const rigid = 3
	n := p.unknowns()
	for m := range p.markers {
		at := params + placements*m
		d := make([]float64, rigid*rigid)
		for i := range rigid {
			for j := range rigid {
				d[rigid*i+j] = -cov[(at+i)*n+at+j]
			}
			d[rigid*i+i] += p.laid[m][i] * p.laid[m][i]
		}
		r := calibration.MarkerResidual{ID: p.markers[m].ID, Used: true}
		if inverse, ok := linalg.InvertScaled(d, rigid); ok {
			var by, variance [rigid]float64
			x := p.place[m][:rigid]
			for i := range rigid {
				s := p.laid[m][i] * p.laid[m][i]
				by[i] = s * linalg.Dot(inverse[rigid*i:rigid*i+rigid], x)
				variance[i] = s * s * inverse[rigid*i+i]
			}
			r = calibration.NewMarkerResidual(l, p.markers[m], by, variance)
			r.Used, r.Distance = true, math.Sqrt(max(0, linalg.Quadratic(inverse, x, x))*min(factor, 1))
		}
		out = append(out, r)
	}
	return out
}

// worst returns the marker that contradicts the others most and the reason; -1 for none.
func (p *problem) worst(residuals []calibration.MarkerResidual) (int, string) {
	squares := p.squares(false)
	sorted := slices.Sorted(slices.Values(squares))
	usual := math.Sqrt(sorted[len(sorted)/2])
	for i, s := range squares {
		if off := math.Sqrt(s); off > max(brokenSquare, brokenSigmas*usual) {
			return p.seen[i].marker, fmt.Sprintf("its corners lie up to %.1f px from a square: is it partly covered, or bent?", off)
		}
	}
	worst, far := -1, math.Sqrt(bumpLimit)
	for i, r := range residuals {
		small := float64(r.Offset()) < bumpFloor && math.Abs(float64(r.Turn)) < bumpTurn
		if r.Distance > far && !small {
			worst, far = i, r.Distance
		}
	}
	if worst < 0 {
		return -1, ""
	}
	return worst, fmt.Sprintf("it lies %.1f mm (%.0f sigmas) from where the other markers put it", float64(residuals[worst].Offset()), far)
}

// finish sets the table and the solution's figures.
func (s *Solution) finish(p *problem, cov []float64, factor float64) {
	t, n := &s.Table, p.unknowns()
	t.Intrinsics, t.Extrinsics = p.prior.lens(&p.shape), p.poses[p.views-1]
	var squares float64
	for _, v := range p.squares(false) {
		squares += v
	}
	t.RMS = math.Sqrt(squares / float64(8*len(p.seen)))
	t.Intrinsics.RMS, t.Intrinsics.Views = t.RMS, p.views
	t.CornerSigma, t.PlacementFactor = p.corner, factor
	if IsCorners(t.Layout) { // a table has no use for the points of the edges
		t.Layout.Markers, t.Residuals = t.Layout.Markers[:4], nil
	}
	for _, m := range t.Layout.Markers {
		if slices.ContainsFunc(p.markers, func(o calibration.Marker) bool { return o.ID == m.ID }) {
			t.Used = append(t.Used, m.ID)
		}
	}
	slices.Sort(t.Used)
	slices.SortFunc(t.Residuals, func(a, b calibration.MarkerResidual) int { return a.ID - b.ID })
	s.FocalSigma = math.Sqrt(cov[0])

	// The lens's nine unknowns and the last view's six, in the parameters of a table.
	chain := p.prior.jacobian(&p.shape)
	to := mat.NewDense(params+6, params+6, nil)
	joint := mat.NewDense(params+6, params+6, nil)
	index := func(i int) int {
		if i < params {
			return i
		}
		return n - 6 - params + i
	}
	for i := range params + 6 {
		for j := range params + 6 {
			joint.Set(i, j, cov[index(i)*n+index(j)])
			if i < params && j < params {
				to.Set(i, j, chain[i][j])
			}
		}
		if i >= params {
			to.Set(i, i, 1)
		}
	}
	joint.Product(to, joint, to.T())
	setCovariances(t, joint)
}

// setCovariances splits the joint covariance of lens and pose, 15×15, into those of a table: the lens's, and the pose's for
// a given lens. A budget assumes that the pose follows the lens as the markers of one picture make it. With further views the
// pose follows a little differently, and the difference is added.
func setCovariances(t *calibration.Table, joint *mat.Dense) {
	lens, pose := mat.DenseCopyOf(joint.Slice(0, params, 0, params)), mat.DenseCopyOf(joint.Slice(params, params+6, params, params+6))
	cross := joint.Slice(params, params+6, 0, params)
	t.Intrinsics.Covariance, t.PoseCovariance = symmetric(lens), symmetric(pose)
	inverse, ok := linalg.InvertScaled(t.Intrinsics.Covariance, params)
	if !ok {
		t.RegistrationCovariance = t.PoseCovariance // on the safe side: the lens counts twice
		return
	}
	var gain, rest, differs mat.Dense
	gain.Mul(cross, mat.NewDense(params, params, inverse))
	rest.Product(&gain, lens, gain.T())
	rest.Sub(pose, &rest)
	t.RegistrationCovariance = symmetric(&rest)
	taken := calibration.NewBudget(*t, calibration.Uncertainty{}).Gain()
	gain.Sub(&gain, mat.NewDense(6, params, taken[:]))
	differs.Product(&gain, lens, gain.T())
	rest.Add(&rest, &differs)
	t.RegistrationCovariance = symmetric(&rest)
}

// symmetric returns a square matrix row by row, made symmetric against rounding.
func symmetric(m *mat.Dense) []float64 {
	n, _ := m.Dims()
	out := make([]float64, n*n)
	for i := range n {
		for j := range n {
			out[n*i+j] = (m.At(i, j) + m.At(j, i)) / 2
		}
	}
	return out
}
