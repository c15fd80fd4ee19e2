package live

import (
	"sightline/engine"
	"sightline/engine/geom"
)

// ProfileOf returns the base dimensions of a scene.
func ProfileOf(s *engine.Scene) engine.Profile {
	if s.Dimensions != nil {
		return *s.Dimensions
	}
	profile, err := engine.ProfileNamed(s.Profile)
	if err != nil { // the configuration was checked; a name from elsewhere is only drawn
		return engine.Nominal()
	}
	return profile
}

// BaseOutline returns the corners of a base on the table: front left, front right, rear
// right, rear left.
func BaseOutline(profile *engine.Profile, b engine.Base, at geom.Pose) []geom.Point {
	w, l := profile.Size(b)
	x, y := float64(w)/2, float64(l)/2
	return at.TransformAll([]geom.Point{{X: -x, Y: y}, {X: x, Y: y}, {X: x, Y: -y}, {X: -x, Y: -y}})
}
