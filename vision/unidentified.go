package vision

import (
	"math"
	"slices"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision/token"
)

// UnidentifiedBase is a base on the table whose code was not read.
type UnidentifiedBase struct {
	Base       engine.Base
	Pose       geom.Pose // its heading is one of four, a quarter turn apart
	Covariance geom.Cov3 // systematic part included
	Sight      EdgeSight
	Outline    [4]geom.Pixel // of its top in the picture
}

// Ship returns the base as a ship. Its player and the direction of its nose are unknown.
func (u *UnidentifiedBase) Ship(id string) engine.Ship {
	return engine.Ship{ID: id, Base: u.Base, Pose: u.Pose, Covariance: u.Covariance, Seen: "edges", Visible: u.Sight.Visible(), Quarters: true}
}

// View says how it was seen.
func (u *UnidentifiedBase) View(id string) ShipView {
	return ShipView{ID: id, Outline: u.Outline, Residual: float64(u.Sight.Residual), Score: u.Sight.Visible(), Fit: u.Sight.Fit}
}

// At reports whether another base stands in the same place: two bases do not overlap.
func (u *UnidentifiedBase) At(base engine.Base, pose geom.Pose) bool {
	own, _ := u.Base.Size()
	other, _ := base.Size()
	return u.Pose.Distance(pose.Point) < (own+other)/2-2
}

// is reports whether it may be a ship of this size that stood at a pose.
func (u *UnidentifiedBase) is(base engine.Base, pose geom.Pose, reach geom.Length, turn geom.Angle) bool {
	return u.Base == base && u.Pose.Distance(pose.Point) <= reach &&
		math.Abs(token.AlikeTurn(u.Base, u.Pose.Heading-pose.Heading)) <= float64(turn)
}

// AddUnidentified adds the unidentified bases to the scene where no ship stands. It is for single
// pictures; a Tracker does it for a sequence.
func (l *Located) AddUnidentified() {
	if l.Obstacles == nil {
		return
	}
	named := len(l.Scene.Ships)
	for i := range l.Obstacles.Bases {
		u := &l.Obstacles.Bases[i]
		if slices.ContainsFunc(l.Scene.Ships[:named], func(s engine.Ship) bool { return u.At(s.Base, s.Pose) }) {
			continue
		}
		id := l.FreeID()
		l.Scene.Ships, l.Ships = append(l.Scene.Ships, u.Ship(id)), append(l.Ships, u.View(id))
	}
}

// FreeID returns a name for an unidentified base that no ship of the scene has.
func (l *Located) FreeID() string {
	for n := 1; ; n++ {
		id := token.UnidentifiedID(n)
		if !slices.ContainsFunc(l.Scene.Ships, func(s engine.Ship) bool { return s.ID == id }) {
			return id
		}
	}
}

// Same reports whether two fits are of one base.
func (u *UnidentifiedBase) Same(o *UnidentifiedBase) bool {
	return u.Base == o.Base && u.Pose.Distance(o.Pose.Point) < 1 && math.Abs(token.AlikeTurn(u.Base, u.Pose.Heading-o.Pose.Heading)) < 0.03
}
