package token

import (
	"math"

	"sightline/engine"
	"sightline/engine/geom"
)

// AnyTurn is the turn from which a base's edges look as they did: 45° of a square one, 90° of a
// huge one, either way.
func AnyTurn(b engine.Base) geom.Angle {
	if Square(b) {
		return 45 * geom.Degree
	}
	return 90 * geom.Degree
}

// AlikeTurn returns an angle less the nearest turn after which a base's edges look the same, a
// number of quarter turns, or of half turns for a huge one, in radians.
func AlikeTurn(b engine.Base, a geom.Angle) float64 {
	v, alike := float64(a.Signed()), 2*float64(AnyTurn(b))
	return v - alike*math.Round(v/alike)
}

// BasesLap is by how much two bases must seem to overlap that one of them was read wrong.
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

// MiniatureReach is how far from its base, in mm, a miniature may hide the mat: half
// a wing's overhang, and what the camera's slant throws it aside.
const MiniatureReach = 55
