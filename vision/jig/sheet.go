// Package jig is the printed sheet on which ships' cards are shown to the camera. A base without its miniature is pushed
// against a corner of card, in four quarter turns; markers on the sheet give its pose. A [Session] takes a good view of each
// turn, explains why it refuses others, and makes a look of the four.
package jig

import (
	"math"

	"sightline/calibration"
	"sightline/engine"
	"sightline/engine/geom"
)

// The sheet's frame has its origin in the corner of the stop, x along one of its arms and y along the other, the direction
// of the arrow. All in mm. The base lies against both arms, with its corner at the origin, whatever its size.
//
//	[27]    ↑   [26]
//	  ┃┌───────┐
//	  ┃│ base  │
//	  ┃└───────┘
//	   ━━━━━━━━━
//	[24]        [25]
const (
	TagSize  = 30 * geom.Millimeter // cells of 3.75 mm: three pixels where a camera of 1280×720 sees a whole mat
	tagsFrom = -32.0                // both coordinates of the first marker's middle
	tagsTo   = 112.0

	ArmLength = 84.0 // mm, from the corner
	ArmWidth  = 10.0

	// Paper is the height of the print over the mat.
	Paper = 0.15 * geom.Millimeter
)

// notches are where the arms are cut back, from and to along an arm in mm, so that the guides of bases of all three sizes
// have room: those of a small base lie 6.4 to 9.9 and 30.1 to 33.6 mm from its corner, of a medium 16.4 to 19.9 and 40.1 to
// 43.6, of a large 26.4 to 29.9 and 50.1 to 53.6. notchDeep is how far: guides stand 1.8 mm out.
var notches = [...][2]float64{{6, 20.3}, {26, 34}, {39.7, 54}}

// notchDeep is how deep the notches are, in mm.
const notchDeep = 3.0

// The uncertainty of a base's pose against the stop. A base is pushed against a card's edge to 0.15 mm. An error that all four
// turns share, such as where the arms are glued, moves the four views in four directions and cancels in their mean. For the
// heading it does not: an arm of 84 mm is glued along its line to 0.15 mm at each end, which is 0.15°, and two arms hold the base.
const (
	Sigma     = 0.10 * geom.Millimeter
	TurnSigma = 0.15 * geom.Degree
)

// Turns is the number of quarter turns in which a base is shown.
const Turns = 4

// Tags returns the sheet's markers, in its frame.
func Tags() (out [4]calibration.Marker) {
	for i, p := range [4]geom.Point{{X: tagsFrom, Y: tagsFrom}, {X: tagsTo, Y: tagsFrom}, {X: tagsTo, Y: tagsTo}, {X: tagsFrom, Y: tagsTo}} {
		out[i] = calibration.Marker{ID: calibration.JigIDs + i, Center: p, Size: TagSize}
	}
	return out
}

// Arms returns the outlines of the stop's two arms: one along x with its inner edge on y = 0, and one along y, its mirror image
// without the corner, which belongs to the first.
func Arms() (out [2][]geom.Point) {
	out[0] = arm(-ArmWidth)
	for _, p := range arm(0) {
		out[1] = append(out[1], geom.Point{X: p.Y, Y: p.X})
	}
	return out
}

// arm returns an arm along x that begins at a place.
func arm(from float64) []geom.Point {
	out := []geom.Point{{X: from, Y: -ArmWidth}, {X: from}}
	for _, n := range notches {
		out = append(out, geom.Point{X: n[0]}, geom.Point{X: n[0], Y: -notchDeep}, geom.Point{X: n[1], Y: -notchDeep}, geom.Point{X: n[1]})
	}
	return append(out, geom.Point{X: ArmLength}, geom.Point{X: ArmLength, Y: -ArmWidth})
}

// poseOf returns the pose of a base in the sheet's frame: its front to the arrow in turn 0, then clockwise.
func poseOf(b engine.Base, turn int) geom.Pose {
	w, _ := b.Size()
	return geom.Pose{Point: geom.Point{X: float64(w) / 2, Y: float64(w) / 2}, Heading: geom.Angle(turn) * math.Pi / 2}
}
