package round

import (
	"math"
	"slices"

	"sightline/engine"
	"sightline/engine/flown"
	"sightline/engine/geom"
)

// considerTurn leaves the move open of a ship whose card may lie a quarter turn off in its base: it flew along its base, whose heading is
// then another. Such moves are searched among those that the round allows.
func (j *judgement) considerTurn(to *engine.Ship) {
	if !to.TurnDoubt || j.f.Sort == Nudge {
		return
	}
	var found []string
	for _, quarter := range [2]geom.Angle{-math.Pi / 2, math.Pi / 2} {
		v, err := flown.Flown(turnedIn(j.before, j.id, quarter), turnedIn(j.after, j.id, quarter), j.id, j.expected(), j.slop)
		if err == nil && v.Outcome != engine.No {
			found = append(found, v.Best.Name)
		}
	}
	if len(found) == 0 {
		return
	}
	if j.f.Outcome == engine.No.String() {
		j.f.Sort, j.f.Move, found = Maneuver, found[0], found[1:]
	}
	j.bumped, j.f.Outcome, j.f.Touching = false, engine.Indeterminate.String(), nil
	j.f.Others = append(j.f.Others, found...)
	j.f.Text = "too close to call: " + orText(append([]string{j.f.Move}, j.f.Others...)) +
		", because its card may lie a quarter turn off in its base"
	j.f.Says = nil
}

// turnedIn returns a scene with a ship turned on its place.
func turnedIn(s *engine.Scene, id string, by geom.Angle) *engine.Scene {
	out := *s
	out.Ships = slices.Clone(s.Ships)
	ship := shipIn(&out, id)
	ship.Pose.Heading = (ship.Pose.Heading + by).Normalized()
	return &out
}
