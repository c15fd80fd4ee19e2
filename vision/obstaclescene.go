package vision

import (
	"cmp"
	"slices"

	"sightline/engine"
)

// into puts what was recognised into a scene, and what was not.
func (sight *ObstacleSight) into(scene *engine.Scene) {
	// Obstacles come first, so that each view stands where its obstacle does.
	slices.SortStableFunc(sight.Views, func(a, b ObstacleView) int { return cmp.Compare(roleOf(a.Entry.Kind), roleOf(b.Entry.Kind)) })
	for i := range sight.Views {
		o := sight.Views[i].obstacle()
		token := engine.Token{ID: o.ID, Kind: o.Kind, Pose: o.Pose, Outline: o.Outline, Sigma: o.Sigma}
		switch roleOf(o.Kind) {
		case roleDevice:
			scene.Devices = append(scene.Devices, token)
		case roleMarker:
			scene.Markers = append(scene.Markers, token)
		default:
			scene.Obstacles = append(scene.Obstacles, o)
		}
	}
	for _, t := range sight.Things {
		scene.Unknown = append(scene.Unknown, t.Outline)
	}
	scene.Blind = append(scene.Blind, sight.Blind...)
}
