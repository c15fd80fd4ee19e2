package shift

import (
	"math"

	"sightline/engine/geom"
	"sightline/vision"
)

// Pushes are those of a mat since it was learnt, and since what lies on it was seen last.
type Pushes struct {
	All, since Push
	settled    bool // it was
}

// Add adds a push.
func (p *Pushes) Add(one *Push) { p.All, p.since = p.All.Then(one), p.since.Then(one) }

// Settle says that what lies on the mat is seen now. It returns by how much the mat was pushed at its corners, at most; 0 where that is
// unsure.
func (p *Pushes) Settle(width, height geom.Length) geom.Length {
	p.since, p.settled = Push{}, true
	if p.All.Unsure {
		return 0
	}
	return p.All.most(width, height)
}

// Carry returns obstacles that were seen last where they lie now.
func (p *Pushes) Carry(lying []vision.ObstacleView) []vision.ObstacleView {
	if !p.settled {
		return lying // somebody else saw them, after a push of which nothing is known
	}
	return p.since.Carry(lying)
}

// edge is how far from its edge, in mm, a mat may look as what is beyond it.
const edge = 2.0

// Hide marks as not seen what a picture shows, row by row, where the mat lay when it was learnt and does not lie now.
func (p *Pushes) Hide(picture, diff []float32, w, h int) {
	if p.All == (Push{}) {
		return
	}
	nan := float32(math.NaN())
	for k := range picture {
		at := geom.Point{X: float64(k%w) * vision.DiffStep, Y: float64(k/w) * vision.DiffStep}
		from := at.Sub(p.All.At(at))
		if min(from.X, from.Y, float64(w)*vision.DiffStep-from.X, float64(h)*vision.DiffStep-from.Y) < edge {
			picture[k], diff[k] = nan, nan
		}
	}
}

// carriedSigma is how well, in mm, the place is known of what was not seen as the mat under it was pushed.
const carriedSigma = 0.5

// Carry returns obstacles where they lie after the mat under them was pushed. After an unsure push, they count as after a restart.
func (p *Push) Carry(lying []vision.ObstacleView) []vision.ObstacleView {
	if *p == (Push{}) {
		return lying
	}
	var out []vision.ObstacleView
	for _, v := range lying {
		switch {
		case p.Unsure:
			v.Before = true
		case v.Entry != nil && !v.Before: // one from before a restart was not seen since
			v.Pose.Point = v.Pose.Point.Add(p.At(v.Pose.Point))
			v.Pose.Heading = (v.Pose.Heading - geom.Angle(p.Turn)).Normalized()
			v.Outline = v.Pose.TransformAll(v.Entry.Face(v.Flipped))
			v.Cov[0] += carriedSigma * carriedSigma
			v.Cov[4] += carriedSigma * carriedSigma
		}
		out = append(out, v)
	}
	return out
}

// most returns by how much the corner of a mat that moved farthest was pushed, in mm.
func (p *Push) most(width, height geom.Length) geom.Length {
	w, h, most := float64(width), float64(height), 0.0
	for _, at := range [...]geom.Point{{}, {X: w}, {Y: h}, {X: w, Y: h}} {
		most = max(most, p.At(at).Norm())
	}
	return geom.Length(most)
}

// How far, in mm, an obstacle lies elsewhere at least that was pushed, and at most if it is still the same one.
const (
	pushedLeast = 1.0
	pushedMost  = 30.0
)

// OfLying returns by how much obstacles were pushed, on average, if each that was found again lies elsewhere: then those that are hidden
// do, too.
func OfLying(known, found []vision.ObstacleView) (Push, bool) {
	var sum geom.Point
	n := 0.0
	for i := range known {
		for j := range found {
			k, v := &known[i], &found[j]
			switch d := v.Pose.Point.Sub(k.Pose.Point); {
			case k.Before || v.Entry != k.Entry || v.Flipped != k.Flipped || d.Norm() > pushedMost:
			case d.Norm() < pushedLeast:
				return Push{}, false
			default:
				sum, n = sum.Add(d), n+1
			}
		}
	}
	return Push{By: sum.Mul(1 / max(n, 1))}, n > 0
}
