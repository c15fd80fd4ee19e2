package vision

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"sightline/engine"
	"sightline/engine/geom"
)

// UnnamedBase is a base on the table whose code is not read.
type UnnamedBase struct {
	Base       engine.Base
	Pose       geom.Pose // its heading is one of four, a quarter turn apart
	Covariance geom.Cov3 // systematic part included
	Sight      EdgeSight
	Outline    [4]geom.Pixel // of its top in the picture
}

const unnamedPrefix = "?"

// Unnamed reports whether a ship of a scene is a base whose code is not read, so that its name is a number only.
func Unnamed(id string) bool { return strings.HasPrefix(id, unnamedPrefix) }

// UnnamedID is the n-th name for a base without one, from 1 on.
func UnnamedID(n int) string { return unnamedPrefix + strconv.Itoa(n) }

// Ship makes a ship of the base: nobody's, and nobody knows which way its nose points.
func (u *UnnamedBase) Ship(id string) engine.Ship {
	return engine.Ship{ID: id, Base: u.Base, Pose: u.Pose, Covariance: u.Covariance, Seen: "edges", Visible: u.Sight.Visible(), Quarters: true}
}

// View says how it was seen.
func (u *UnnamedBase) View(id string) ShipView {
	return ShipView{ID: id, Outline: u.Outline, Residual: float64(u.Sight.Residual), Score: u.Sight.Visible(), Fit: u.Sight.Fit}
}

// at reports whether another base stands where this one does: two bases do not overlap.
func (u *UnnamedBase) at(base engine.Base, pose geom.Pose) bool {
	own, _ := u.Base.Size()
	other, _ := base.Size()
	return u.Pose.Distance(pose.Point) < (own+other)/2-2
}

// is reports whether it may be a ship of this size that stood at a pose.
func (u *UnnamedBase) is(base engine.Base, pose geom.Pose, reach geom.Length, turn geom.Angle) bool {
	return u.Base == base && u.Pose.Distance(pose.Point) <= reach &&
		math.Abs(alikeTurn(u.Base, u.Pose.Heading-pose.Heading)) <= float64(turn)
}

// Unnamed returns the base without a name that stands within reach of a pose, is of the size and is turned no
// further, its heading being the one of four that is nearest. It reports false when there is none or more than one.
func (s *ObstacleSight) Unnamed(base engine.Base, pose geom.Pose, reach geom.Length, turn geom.Angle) (found UnnamedBase, ok bool) {
	if s == nil {
		return found, false
	}
	for i := range s.Bases {
		if u := &s.Bases[i]; u.is(base, pose, reach, turn) {
			if ok {
				return UnnamedBase{}, false
			}
			found, ok = *u, true
		}
	}
	off := alikeTurn(base, found.Pose.Heading-pose.Heading)
	found.Pose.Heading = (pose.Heading + geom.Angle(off)).Normalized()
	return found, ok
}

// AddUnnamed puts the bases whose code is not read into the scene, where no ship of it stands. It is for a picture
// that stands for itself: a Tracker does it for many.
func (l *Located) AddUnnamed() {
	if l.Obstacles == nil {
		return
	}
	named := len(l.Scene.Ships)
	for i := range l.Obstacles.Bases {
		u := &l.Obstacles.Bases[i]
		if slices.ContainsFunc(l.Scene.Ships[:named], func(s engine.Ship) bool { return u.at(s.Base, s.Pose) }) {
			continue
		}
		id := UnnamedID(len(l.Scene.Ships) - named + 1)
		l.Scene.Ships, l.Ships = append(l.Scene.Ships, u.Ship(id)), append(l.Ships, u.View(id))
	}
}

// same reports whether two fits are of one base.
func (u *UnnamedBase) same(o *UnnamedBase) bool {
	return u.Base == o.Base && u.Pose.Distance(o.Pose.Point) < 1 && math.Abs(alikeTurn(u.Base, u.Pose.Heading-o.Pose.Heading)) < 0.03
}
