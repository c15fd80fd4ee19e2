package lens

import (
	"fmt"
	"math"
	"sightline/calibration"
	"sightline/calibration/linalg"
)

// Model is one distortion model that Solve tried, with its error on held-out views. Each
// view is left out in turn (or in up to eight groups), the lens is fitted to the others
// and the left-out board's pose to one half of its corners, and the error is taken on the
// other half. A model that is too simple does badly there, and so does one that fits the
// noise. The rms over the used views falls with every parameter and cannot decide.
type Model struct {
	Name    string  // the distortion parameters that are free: "none", "k1", … "k1 k2 p1 p2 k3"
	Free    int     // their number
	RMS     float64 // over the used views, px
	HeldOut float64 // over the left-out corners, px

	// LeftOut is the mean square, in sigmas of the richest model, of the parameters that
	// this model fixes at zero: about 1 for noise.
	LeftOut float64
	// Worse is the excess of the mean squared held-out error over the best model's, px²,
	// and StandardError that of the mean of the views' differences.
	Worse, StandardError float64
	Chosen               bool
}

// models are the distortion models, the simplest first: all are plumb_bob with
// some of its parameters zero.
var models = []struct {
	name string
	free freeParams
}{
	{"none", freeParams{true, true, true, true}},
	{"k1", freeParams{true, true, true, true, true}},
	{"k1 k2", freeParams{true, true, true, true, true, true}},
	{"k1 k2 p1 p2", freeParams{true, true, true, true, true, true, true, true}},
	{"k1 k2 p1 p2 k3", freeParams{true, true, true, true, true, true, true, true, true}},
}

// heldOutFolds is the greatest number of groups of held-out views.
const heldOutFolds = 8

// triedModel is a model with its solution.
type triedModel struct {
	Model
	problem *problem
	perView []float64 // mean squared held-out error, px²
}

// choose solves every model and returns the simplest whose held-out error exceeds the
// best one's by no more than the standard error of that difference, taken view by view
// (Hastie, Tibshirani and Friedman, "The Elements of Statistical Learning", section
// 7.10). The model must also not leave out a parameter that the richest model sees
// clearly: the boards' poses absorb tangential distortion, so the held-out error hardly
// shows it, but it moves the principal point.
//
// The covariance is the richest model's. Parameters that the chosen model fixes at zero
// are not known to be zero, and the chosen model's own covariance would ignore that the
// same pictures chose it.
func (p *problem) choose() (chosen *triedModel, tried []*triedModel, cov []float64, err error) {
	for _, m := range models {
		t := &triedModel{Model: Model{Name: m.name}, problem: p.withModel(m.free)}
		for _, free := range m.free[4:] {
			if free {
				t.Free++
			}
		}
		if t.problem.solve() != nil {
			continue
		}
		t.RMS = t.problem.rms()
		if t.perView = t.problem.heldOut(); t.perView == nil {
			continue
		}
		t.HeldOut = math.Sqrt(mean(t.perView))
		tried = append(tried, t)
	}
	if len(tried) == 0 {
		return nil, nil, nil, fmt.Errorf("calibration: solve lens: %w: without one of its views it cannot be solved: add pictures with the "+
			"board tilted and in the picture's corners", ErrViews)
	}
	best := tried[0]
	for _, t := range tried {
		if t.HeldOut < best.HeldOut {
			best = t
		}
	}
	richest := tried[len(tried)-1].problem
	if cov, err = richest.covariance(); err != nil {
		return nil, tried, nil, err
	}
	for _, t := range tried {
		t.LeftOut = leftOut(t, richest, cov)
		d := make([]float64, len(t.perView))
		for i := range d {
			d[i] = t.perView[i] - best.perView[i]
		}
		t.Worse = mean(d)
		for _, v := range d {
			t.StandardError += (v - t.Worse) * (v - t.Worse)
		}
		t.StandardError = math.Sqrt(t.StandardError / float64(len(d)*(len(d)-1)))
		if chosen == nil && t.Worse <= t.StandardError && t.LeftOut <= maxLeftOut {
			t.Chosen, chosen = true, t
		}
	}
	if chosen == nil { // the best one leaves out a clear parameter
		chosen = tried[len(tried)-1]
		chosen.Chosen = true
	}
	return chosen, tried, cov, nil
}

func mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}

// withModel returns the problem with another model, its fixed parameters zero, starting
// from this one's solution.
func (p *problem) withModel(free freeParams) *problem {
	q := &problem{object: p.object, lens: p.lens, free: free, views: p.views, poses: append([]calibration.Extrinsics(nil), p.poses...)}
	for k := range q.lens.Distortion {
		if !free[4+k] {
			q.lens.Distortion[k] = 0
		}
	}
	return q
}

// heldOut returns every view's mean squared held-out error; nil when the lens cannot be
// solved without some view.
func (p *problem) heldOut() []float64 {
	n := len(p.views)
	folds := min(n, heldOutFolds)
	out := make([]float64, n)
	for f := range folds {
		rest := &problem{object: p.object, lens: p.lens, free: p.free}
		for i := range n {
			if i%folds != f {
				rest.views, rest.poses = append(rest.views, p.views[i]), append(rest.poses, p.poses[i])
			}
		}
		if rest.solve() != nil {
			return nil
		}
		for i := f; i < n; i += folds {
			out[i] = rest.heldOutError(p.views[i], p.poses[i])
		}
	}
	return out
}

// heldOutError is the mean squared error, px², of an unused view: its pose is fitted to
// every second corner and measured on the others, then the other way round.
func (p *problem) heldOutError(v calibration.BoardView, pose calibration.Extrinsics) float64 {
	var half [2]calibration.BoardView
	for k, px := range v.Pixels {
		h := &half[k%2]
		h.Pixels, h.Indices = append(h.Pixels, px), append(h.Indices, v.Index(k))
	}
	sum := 0.0
	for k := range half {
		one := p.fitPose(half[k], pose)
		other := &problem{object: p.object, views: []calibration.BoardView{half[1-k]}}
		sum += other.cost(&p.lens, one.poses)
	}
	return sum / float64(len(v.Pixels))
}

// fitPose fits a view's pose alone, by Gauss-Newton.
func (p *problem) fitPose(v calibration.BoardView, pose calibration.Extrinsics) *problem {
	one := &problem{object: p.object, lens: p.lens, views: []calibration.BoardView{v}, poses: []calibration.Extrinsics{pose}}
	for range 50 {
		m := one.normal()
		step, ok := linalg.SolveSPD(m.c[0][:], m.gc[0][:])
		if !ok {
			break
		}
		next := one.poses[0].Perturbed(calibration.Vec3{step[0], step[1], step[2]}, calibration.Vec3{step[3], step[4], step[5]})
		before, after := one.cost(&one.lens, one.poses), one.cost(&one.lens, []calibration.Extrinsics{next})
		if !(after < before) {
			break
		}
		one.poses[0] = next
		if before-after < 1e-9*before {
			break
		}
	}
	return one
}

// maxLeftOut is the greatest mean square, in sigmas, of the parameters that a model may
// leave out: at 2, leaving them out and fitting them are equally good (Akaike's
// criterion).
const maxLeftOut = 2

// leftOut is the mean square, in sigmas of the richest model, of the distortion
// parameters that a model fixes at zero; 0 for the richest.
func leftOut(model *triedModel, richest *problem, cov []float64) float64 {
	var which []int
	for k, free := range richest.free {
		if free && !model.problem.free[k] {
			which = append(which, k)
		}
	}
	n := len(which)
	if n == 0 {
		return 0
	}
	params := richest.lens.Parameters()
	sub, v := make([]float64, n*n), make([]float64, n)
	for i, a := range which {
		v[i] = params[a]
		for j, b := range which {
			sub[n*i+j] = cov[9*a+b]
		}
	}
	inv, ok := linalg.InvertScaled(sub, n)
	if !ok {
		return math.Inf(1)
	}
	sum := 0.0
	for i := range v {
		for j := range v {
			sum += v[i] * inv[n*i+j] * v[j]
		}
	}
	return sum / float64(n)
}
