package lens

import (
	"math"
	"slices"

	"sightline/calibration"
	"sightline/engine/geom"
)

// This file fits the lens to the views that a guide has.

// guideFree are the parameters that the guide fits. k3 needs pictures that it may not
// have yet.
var guideFree = freeParams{true, true, true, true, true, true, true, true, false}

func (g *Guide) problem() *problem {
	return &problem{object: g.board.Points(), lens: g.lens, free: guideFree,
		views: slices.Clone(g.views), poses: slices.Clone(g.poses)}
}

// solve fits the lens to all views. The guess stays when they do not fix one.
func (g *Guide) solve() {
	g.poses = g.poses[:0]
	for _, v := range g.views {
		pose, _ := g.pose(v)
		g.poses = append(g.poses, pose)
	}
	g.ready, g.state.Sigma = false, nil
	if len(g.views) < MinViews {
		return
	}
	start, poses, err := startLens(g.board, g.views, g.width, g.height)
	if err != nil {
		return
	}
	p := &problem{object: g.board.Points(), lens: start, views: g.views, poses: poses,
		free: freeParams{true, true, false, false, true}}
	if p.solve() != nil {
		return
	}
	p.free = guideFree
	if p.solve() != nil {
		return
	}
	inv, ok := p.inverse()
	freedom := p.freedom()
	if !ok || freedom <= 0 || p.lens.Fx > 20*float64(g.width) || p.lens.Fy > 20*float64(g.width) {
		return
	}
	noise := math.Sqrt(p.cost(&p.lens, p.poses) / float64(freedom))
	s := sigmaOf(p.lens, inv, noise, p.rms())
	if !(s.Fx < 0.2*p.lens.Fx) || !(s.Fy < 0.2*p.lens.Fy) { // the guess is as good
		return
	}
	g.lens, g.poses, g.inv, g.noise, g.ready, g.state.Sigma = p.lens, p.poses, inv, noise, true, &s
}

// guideNoise is the least noise of a corner that a prediction assumes, px per axis: the
// detector's on a rendered board.
const guideNoise = 0.05

// sigmaOf turns a lens's inverse normal matrix into predicted standard deviations; rms is only passed on.
func sigmaOf(lens calibration.Intrinsics, inv []float64, noise, rms float64) GuideSigma {
	scale := 2 * max(noise, guideNoise)
	cov := make([]float64, len(inv))
	for i := range inv {
		cov[i] = inv[i] * scale * scale
	}
	sd := func(k int) float64 { return math.Sqrt(cov[10*k]) }
	lens.Covariance = cov
	mat, ok := MatSigma(lens)
	if !ok {
		mat = geom.Length(math.Inf(1))
	}
	return GuideSigma{Fx: sd(0), Fy: sd(1), Cx: sd(2), Cy: sd(3), Mat: mat, RMS: rms}
}
