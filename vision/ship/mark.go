package ship

import (
	"fmt"
	"math"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/token"
)

// Mark is a person's mark of the front edge of a ship's base in a picture: the two upper corners of
// its plastic, as if they were not rounded. It works for any base, whatever its card.
type Mark struct {
	Base        engine.Base
	Left, Right geom.Pixel // as seen from the ship
	Sigma       float64    // px, of each coordinate; 0: MarkSigma
}

// MarkSigma, in px, is the assumed precision of a person's marks along each axis: half a pixel for
// a sharp corner, with 0.3 for rounding to whole pixels, and the blur of a corner rounded by 0.6
// mm.
const MarkSigma = 0.7

// markApart is by how many of its sigmas the length of a marked edge may differ from the base's.
const markApart = 5

// MarkSight is a base from a person's mark.
type MarkSight struct {
	Pose       geom.Pose
	Covariance geom.Cov3 // systematic part included
	Fit        geom.Cov3 // the part from the person's precision
}

// Mark returns the pose of a marked base. It fails for an invalid mark, such as an edge of another
// length than the base's.
func (l *Locator) Mark(m Mark) (MarkSight, error) {
	if _, err := token.NewToken(0, m.Base); err != nil {
		return MarkSight{}, fmt.Errorf("vision: mark: %w", err)
	}
	if m.Sigma == 0 {
		m.Sigma = MarkSigma
	}
	if !(m.Sigma > 0) || math.IsInf(m.Sigma, 0) {
		return MarkSight{}, fmt.Errorf("vision: mark: expected a sigma of more than 0 px, got %g", m.Sigma)
	}
	var at [2]geom.Point
	var spread [2][4]float64 // of each corner, mm²: xx, xy, yx, yy
	for i, px := range [2]geom.Pixel{m.Left, m.Right} {
		var err error
		if at[i], spread[i], err = l.marked(px, m.Sigma); err != nil {
			return MarkSight{}, err
		}
	}
	width, length := m.Base.Size()
	along := at[1].Sub(at[0])
	pose := geom.Pose{Heading: geom.Angle(math.Atan2(-along.Y, along.X)).Normalized()}
	forward, right := pose.Forward(), pose.Right()
	pose.Point = at[0].Add(at[1]).Mul(0.5).Sub(forward.Mul(float64(length) / 2))

	var out MarkSight
	off := 0.0 // variance of the edge's length
	for i, v := range spread {
		// A displacement d of a corner turns the edge by ±forward·d/width, clockwise for the left one,
		// moves its middle by d/2, and the centre additionally by the turn times half the length.
		turn := forward.Mul(1 / float64(width))
		if i == 1 {
			turn = turn.Mul(-1)
		}
		arm := float64(length) / 2
		rows := [3][2]float64{
			{0.5 - arm*right.X*turn.X, -arm * right.X * turn.Y},
			{-arm * right.Y * turn.X, 0.5 - arm*right.Y*turn.Y},
			{turn.X, turn.Y},
		}
		through := func(a, b [2]float64) float64 {
			return a[0]*(v[0]*b[0]+v[1]*b[1]) + a[1]*(v[2]*b[0]+v[3]*b[1])
		}
		for r := range 3 {
			for c := range 3 {
				out.Fit[3*r+c] += through(rows[r], rows[c])
			}
		}
		off += through([2]float64{right.X, right.Y}, [2]float64{right.X, right.Y})
	}
	if d := along.Norm() - float64(width); math.Abs(d) > markApart*math.Sqrt(off) {
		return MarkSight{}, fmt.Errorf("the marked edge is %.1f mm long: the front of a %v base is %.0f mm", along.Norm(), m.Base, float64(width))
	}
	sys := l.errors.Systematic(pose, token.BaseTop, token.SideLength(m.Base, token.RightSide)/2)
	out.Pose = pose
	for i := range sys {
		out.Covariance[i] = out.Fit[i] + sys[i]
	}
	return out, nil
}

// marked returns the table point of a marked pixel, at the height of a base's top, and its
// covariance in mm².
func (l *Locator) marked(px geom.Pixel, sigma float64) (geom.Point, [4]float64, error) {
	w, h := l.table.Intrinsics.Width, l.table.Intrinsics.Height
	if !(px.X >= -0.5 && px.X <= float64(w)-0.5 && px.Y >= -0.5 && px.Y <= float64(h)-0.5) {
		return geom.Point{}, [4]float64{}, fmt.Errorf("(%g, %g) is not in the picture: expected pixels of %d×%d", px.X, px.Y, w, h)
	}
	p, ok := l.table.PointAt(px, token.BaseTop)
	if ok {
		p, ok = l.table.PointAt(px, l.top(p))
	}
	_, dx, dy, ok2 := l.table.PixelJacobian(p, l.top(p))
	det := dx.X*dy.Y - dx.Y*dy.X
	if !ok || !ok2 || det == 0 {
		return geom.Point{}, [4]float64{}, fmt.Errorf("(%g, %g) shows no place on the table", px.X, px.Y)
	}
	xx, xy := dy.Y/det, -dy.X/det // of the inverse, mm/px
	yx, yy := -dx.Y/det, dx.X/det
	v := sigma * sigma
	cross := v * (xx*yx + xy*yy)
	return p, [4]float64{v * (xx*xx + xy*xy), cross, cross, v * (yx*yx + yy*yy)}, nil
}

// MarkShip returns the ship of a marked base.
func MarkShip(id string, player int, base engine.Base, s MarkSight) engine.Ship {
	return engine.Ship{ID: id, Player: player, Base: base, Pose: s.Pose, Covariance: s.Covariance, Seen: "mark"}
}

// MarkView returns the view of a marked base.
func (l *Locator) MarkView(id string, base engine.Base, s MarkSight) vision.ShipView {
	return vision.ShipView{ID: id, Fit: s.Fit, Outline: l.outline(s.Pose, token.Token{Base: base})}
}
