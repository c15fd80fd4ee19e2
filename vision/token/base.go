package token

import (
	"math"

	"sightline/engine"
	"sightline/engine/geom"
)

// AnyTurn returns the turn beyond which a base's edges repeat, either way: 45° for a square base,
// 90° for a huge one.
func AnyTurn(b engine.Base) geom.Angle {
	if Square(b) {
		return 45 * geom.Degree
	}
	return 90 * geom.Degree
}

// AlikeTurn returns an angle, in radians, less the nearest turn that maps a base's edges to
// themselves: a multiple of a quarter turn, or of a half turn for a huge base.
func AlikeTurn(b engine.Base, a geom.Angle) float64 {
	v, alike := float64(a.Signed()), 2*float64(AnyTurn(b))
	return v - alike*math.Round(v/alike)
}

// BasesLap is the apparent overlap of two bases beyond which one of them was misread.
const BasesLap = 1.5 * geom.Millimeter

// BasesOverlap reports whether two bases at poses overlap by more than a depth, by the
// separating axes of two rectangles.
func BasesOverlap(a engine.Base, at geom.Pose, b engine.Base, bt geom.Pose, depth geom.Length) bool {
	d := bt.Sub(at.Point)
	ax, ay := Token{Base: a}.Half()
	bx, by := Token{Base: b}.Half()
	reach := func(p geom.Pose, x, y float64, axis geom.Point) float64 {
		return x*math.Abs(p.Right().Dot(axis)) + y*math.Abs(p.Forward().Dot(axis))
	}
	for _, axis := range [...]geom.Point{at.Forward(), at.Right(), bt.Forward(), bt.Right()} {
		if math.Abs(d.Dot(axis)) > reach(at, ax, ay, axis)+reach(bt, bx, by, axis)-float64(depth) {
			return false
		}
	}
	return true
}

// MiniatureReach is how far from its base, in mm, a miniature may hide the mat: half a wing's
// overhang, and its displacement by a slanted view.
const MiniatureReach = 55
