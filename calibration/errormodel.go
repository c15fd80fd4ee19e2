package calibration

import (
	"sightline/calibration/linalg"
	"sightline/engine/geom"
)

// ErrorModel says how the errors of a calibration move the pose of an object on the
// table: a Budget, for a base with a heading. Its terms are systematic: they do not
// shrink when frames are averaged.
type ErrorModel struct{ budget *Budget }

// NewErrorModel prepares the error model of a table. The zero Uncertainty means
// DefaultUncertainty.
func NewErrorModel(t Table, u Uncertainty) *ErrorModel { return &ErrorModel{NewBudget(t, u)} }

// modelReach is the distance on the table, in mm, over which the lens model's own
// error changes sign: residuals of plumb_bob fits ripple a few times across a picture.
const modelReach = 200

// Limits returns the uncertainties the model was made with.
func (m *ErrorModel) Limits() Uncertainty { return m.budget.limits }

// Budget returns the terms that the model adds up.
func (m *ErrorModel) Budget() *Budget { return m.budget }

// Systematic returns the covariance that everything but the picture's noise and the
// common scale gives to the pose of an object at a height z over the mat:
// registration, lens, what its model leaves, the height of the object's top, the mat's
// flatness, print and insert play. The scale moves all objects together: a scene holds
// it on its own (engine.Scene.ScaleSigma). radius is half the object's size, over which
// its heading is measured.
func (m *ErrorModel) Systematic(pose geom.Pose, z, radius geom.Length) (cov geom.Cov3) {
	camera, table := m.Parts(pose, z, radius)
	for i := range cov {
		cov[i] = camera[i] + table[i]
	}
	return cov
}

// Parts returns the two parts of Systematic: what is this camera's alone, its lens and
// what the lens's model leaves, and what every other camera over the table shares or may
// share: the markers it is registered on, the object's height, the mat's flatness, print
// and insert play.
func (m *ErrorModel) Parts(pose geom.Pose, z, radius geom.Length) (camera, table geom.Cov3) {
	b, r := m.budget, float64(radius)
	forward, right := pose.Forward(), pose.Right()
	center, ok0 := b.sensitivity(pose.Point, z)
	ahead, ok1 := b.sensitivity(pose.Point.Add(forward.Mul(r)), z)
	behind, ok2 := b.sensitivity(pose.Point.Sub(forward.Mul(r)), z)
	if !(ok0 && ok1 && ok2) {
		return camera, table
	}
	// A turn, clockwise, is what ahead moves more to the right than behind does.
	d := ahead.minus(&behind)
	span := 1 / (2 * max(r, 1)) // no heading is measured over less than a millimetre
	turn := func(x, y float64) float64 { return (x*right.X + y*right.Y) * span }
	var poseRows [3][6]float64
	for k := range 6 {
		poseRows[0][k], poseRows[1][k] = center.pose[0][k], center.pose[1][k]
		poseRows[2][k] = turn(d.pose[0][k], d.pose[1][k])
	}
	addThrough(&table, [3][]float64{poseRows[0][:], poseRows[1][:], poseRows[2][:]}, b.registration)
	if b.lens != nil {
		var rows [3][LensTerms]float64
		for k := range LensTerms {
			rows[0][k], rows[1][k] = center.lens[0][k], center.lens[1][k]
			rows[2][k] = turn(d.lens[0][k], d.lens[1][k])
		}
		addThrough(&camera, [3][]float64{rows[0][:], rows[1][:], rows[2][:]}, b.lens)
	}
	v := [3]float64{center.z[0], center.z[1], turn(d.z[0], d.z[1])}
	height := square(float64(b.limits.Height)) + b.flatness(pose.Point, pose.Point)
	for i := range 3 {
		for j := range 3 {
			table[3*i+j] += height * v[i] * v[j]
		}
	}
	e, laid := b.modelVariance(&center), square(float64(b.limits.Print))+square(float64(b.limits.Insert))
	// What the lens model leaves bends slowly over the picture, so that it shifts a
	// base far more than it turns it: over modelReach it may go from +e to -e. A token
	// lies askew as far as its two ends lie off on their own.
	addRound(&camera, e, e*square(2.0/modelReach))
	addRound(&table, laid, 2*laid*span*span)
	return camera, table
}

// Raised returns the covariance that an object's pose has, in addition, where its top may be higher than z by a standard
// deviation of by: it may stand on something.
func (m *ErrorModel) Raised(pose geom.Pose, z, radius, by geom.Length) (cov geom.Cov3) {
	forward, right := pose.Forward().Mul(float64(radius)), pose.Right()
	center, ok0 := m.budget.sensitivity(pose.Point, z)
	ahead, ok1 := m.budget.sensitivity(pose.Point.Add(forward), z)
	behind, ok2 := m.budget.sensitivity(pose.Point.Sub(forward), z)
	if !(ok0 && ok1 && ok2) {
		return cov
	}
	d := ahead.minus(&behind)
	turn := (d.z[0]*right.X + d.z[1]*right.Y) / (2 * max(float64(radius), 1))
	v := [3]float64{center.z[0], center.z[1], turn}
	for i := range 3 {
		for j := range 3 {
			cov[3*i+j] = square(float64(by)) * v[i] * v[j]
		}
	}
	return cov
}

// addRound adds the variance of a place, the same along both axes, and of a heading.
func addRound(cov *geom.Cov3, place, heading float64) {
	cov[0] += place
	cov[4] += place
	cov[8] += heading
	cov[3], cov[6], cov[7] = cov[1], cov[2], cov[5] // symmetric to the last digit
}

// addThrough adds rows C rowsᵀ for a covariance C, given row by row.
func addThrough(cov *geom.Cov3, rows [3][]float64, c []float64) {
	n := len(rows[0])
	if len(c) != n*n {
		return
	}
	for j := range 3 {
		for a := range n {
			v := linalg.Dot(c[a*n:(a+1)*n], rows[j])
			for i := range 3 {
				cov[3*i+j] += rows[i][a] * v
			}
		}
	}
}
