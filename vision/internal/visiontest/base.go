package visiontest

import (
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
)

// BareBase is a base whose code is not read.
func BareBase(base engine.Base, x, y float64, heading geom.Angle, visible float64) vision.UnidentifiedBase {
	return vision.UnidentifiedBase{
		Base: base, Pose: geom.Pose{Point: geom.Point{X: x, Y: y}, Heading: heading}, Covariance: geom.Cov3{0: 0.08, 4: 0.08, 8: 1e-5},
		Sight: vision.EdgeSight{Sides: [4]float64{visible, visible, visible, visible}, Fit: geom.Cov3{0: 0.01, 4: 0.01, 8: 1e-6}},
	}
}
