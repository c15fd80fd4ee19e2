package calibration

import (
	"sightline/calibration/linalg"
	"sightline/engine/geom"
)

// ErrorModel propagates the errors of a calibration to the pose of an object on the
// table: a Budget for a base with a heading. Its terms are systematic: averaging frames
// does not shrink them.
type ErrorModel struct{ budget *Budget }

// NewErrorModel prepares the error model of a table. The zero Uncertainty means
// DefaultUncertainty.
func NewErrorModel(t Table, u Uncertainty) *ErrorModel { return &ErrorModel{NewBudget(t, u)} }

// modelReach is the distance on the table, in mm, over which the lens model's own
// error changes sign: residuals of plumb_bob fits ripple a few times across a picture.
const modelReach = 200

// Budget returns the budget whose terms the model propagates.
func (m *ErrorModel) Budget() *Budget { return m.budget }

// Systematic returns the covariance of the pose of an object at height z over the mat
// from all errors except pixel noise and scale: registration, lens, lens model error,
// the height of the object's top, the mat's flatness, print and insert play. The scale
// moves all objects together, so a scene states it separately (engine.Scene.ScaleSigma).
// The heading is measured over radius, half the object's size.
func (m *ErrorModel) Systematic(pose geom.Pose, z, radius geom.Length) (cov geom.Cov3) {
	camera, table := m.Parts(pose, z, radius)
	for i := range cov {
		cov[i] = camera[i] + table[i]
	}
	return cov
}

// Parts returns the two parts of Systematic. The camera's part, its lens and the lens
// model error, belongs to this camera. The table's part may be shared with the other cameras
// over the table: the markers, the object's height, the mat's flatness, print and insert play.
func (m *ErrorModel) Parts(pose geom.Pose, z, radius geom.Length) (camera, table geom.Cov3) {
	b := m.budget
	s, ok := m.poseSensitivity(pose, z, radius)
	if !ok {
		return camera, table
	}
	addPropagated(&table, s.rows(func(s *sensitivity, axis int) []float64 { return s.pose[axis][:] }), b.registration)
	addPropagated(&camera, s.rows(func(s *sensitivity, axis int) []float64 { return s.lens[axis][:] }), b.lens)
	s.addHeight(&table, square(float64(b.limits.Height))+b.flatness(pose.Point, pose.Point))
	e, laid := b.modelVariance(&s.center), square(float64(b.limits.Print))+square(float64(b.limits.Insert))
	// The lens model's error varies slowly over the picture, so it shifts a base far
	// more than it turns it: over modelReach it may go from +e to -e. A token lies askew
	// by what its two ends lie off independently.
	addIsotropic(&camera, e, e*square(2.0/modelReach))
	addIsotropic(&table, laid, 2*laid*s.span*s.span)
	return camera, table
}

// HeightCovariance returns the covariance to add to an object's pose when the height z of
// its top has a further standard deviation sigma: the object may stand on something.
func (m *ErrorModel) HeightCovariance(pose geom.Pose, z, radius, sigma geom.Length) (cov geom.Cov3) {
	if s, ok := m.poseSensitivity(pose, z, radius); ok {
		s.addHeight(&cov, square(float64(sigma)))
	}
	return cov
}

// poseSensitivity is the sensitivity of a place and of a heading that is measured between
// two ends.
type poseSensitivity struct {
	center, ends sensitivity // ends: of the front end less that of the rear end
	right        geom.Point
	span         float64 // 1 over the distance of the ends
}

func (m *ErrorModel) poseSensitivity(pose geom.Pose, z, radius geom.Length) (s poseSensitivity, ok bool) {
	forward := pose.Forward().Mul(float64(radius))
	center, ok0 := m.budget.sensitivity(pose.Point, z)
	front, ok1 := m.budget.sensitivity(pose.Point.Add(forward), z)
	rear, ok2 := m.budget.sensitivity(pose.Point.Sub(forward), z)
	span := 1 / (2 * max(float64(radius), 1)) // no heading is measured over less than a millimetre
	return poseSensitivity{center, front.minus(&rear), pose.Right(), span}, ok0 && ok1 && ok2
}

// turn returns the clockwise turn when the front end moves by x and y more than the rear end.
func (s *poseSensitivity) turn(x, y float64) float64 { return (x*s.right.X + y*s.right.Y) * s.span }

// rows returns the derivatives of x, y and heading by some of the parameters.
func (s *poseSensitivity) rows(of func(s *sensitivity, axis int) []float64) [3][]float64 {
	dx, dy := of(&s.ends, 0), of(&s.ends, 1)
	turn := make([]float64, len(dx))
	for k := range turn {
		turn[k] = s.turn(dx[k], dy[k])
	}
	return [3][]float64{of(&s.center, 0), of(&s.center, 1), turn}
}

// addHeight adds the covariance that a variance of the height causes.
func (s *poseSensitivity) addHeight(cov *geom.Cov3, variance float64) {
	v := [3]float64{s.center.z[0], s.center.z[1], s.turn(s.ends.z[0], s.ends.z[1])}
	for i := range 3 {
		for j := range 3 {
			cov[3*i+j] += variance * v[i] * v[j]
		}
	}
}

// addIsotropic adds the variance of a place, the same along both axes, and of a heading.
func addIsotropic(cov *geom.Cov3, place, heading float64) {
	cov[0] += place
	cov[4] += place
	cov[8] += heading
	cov[3], cov[6], cov[7] = cov[1], cov[2], cov[5] // symmetric to the last digit
}

// addPropagated adds rows C rowsᵀ; an unknown covariance C adds nothing.
func addPropagated(cov *geom.Cov3, rows [3][]float64, c []float64) {
	if n := len(rows[0]); len(c) != n*n {
		return
	}
	for i := range 3 {
		for j := range 3 {
			cov[3*i+j] += linalg.Quadratic(c, rows[i], rows[j])
		}
	}
}
