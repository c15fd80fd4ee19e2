package ship

import (
	"image"

	"sightline/calibration"
	"sightline/engine/geom"
	"sightline/vision/internal/gray"
	"sightline/vision/token"
)

// sideLine maps places along one side of a base to pixels: a in millimetres along the side
// (clockwise around the base), d in millimetres inwards from the edge. Along the side it follows
// the lens by a parabola through three exact points, or a cubic through four for a line longer than
// a large base's side. In depth, over a few millimetres, a straight line is enough (the remaining
// error over an 80 mm side is below 0.01 px).
type sideLine struct {
	a0, a1     float64    // the range of a that the curve spans
	p, q, r, c geom.Pixel // pixel(t) = p + q t + r t² + c t³, t = (a-a0)/(a1-a0)
	inX, inY   float64    // pixels per millimetre of depth
	scale      float64    // pixels per millimetre along the side
	valid      bool
	start, dir geom.Point // the table line: start + a·dir
}

// newSideLine returns the line start + a·dir of the table, a in [a0, a1], at height z. Inwards is
// to the right of dir.
func newSideLine(cam *calibration.Camera, start, dir geom.Point, a0, a1 float64, z geom.Length) sideLine {
	s := sideLine{a0: a0, a1: a1, start: start, dir: dir}
	mid := (a0 + a1) / 2
	in := geom.Point{X: dir.Y, Y: -dir.X}
	m, ok0 := cam.PixelOf(start.Add(dir.Mul(mid)), z)
	p0, ok1 := cam.PixelOf(start.Add(dir.Mul(a0)), z)
	p1, ok2 := cam.PixelOf(start.Add(dir.Mul(a1)), z)
	n, ok3 := cam.PixelOf(start.Add(dir.Mul(mid)).Add(in.Mul(4)), z)
	if !(ok0 && ok1 && ok2 && ok3) || a1-a0 < 1 {
		return s
	}
	s.p = p0
	s.r = p0.Add(p1).Sub(m.Mul(2)).Mul(2)
	if a1-a0 > longLine {
		u, ok4 := cam.PixelOf(start.Add(dir.Mul(a0+(a1-a0)/4)), z)
		if !ok4 {
			return s
		}
		// The error of the parabola through ends and middle a quarter of the way, where t (t-1/2) (t-1)
		// is 3/64.
		s.c = u.Sub(p0.Add(p1.Sub(p0).Sub(s.r).Mul(0.25)).Add(s.r.Mul(1.0 / 16))).Mul(64.0 / 3)
	}
	s.r = s.r.Sub(s.c.Mul(1.5))
	s.q = p1.Sub(p0).Sub(s.r).Sub(s.c)
	s.inX, s.inY = (n.X-m.X)/4, (n.Y-m.Y)/4
	s.scale = p1.Sub(p0).Norm() / (a1 - a0)
	s.valid = s.scale > 0.1
	return s
}

// longLine is the length in mm from which a line is a cubic.
const longLine = 200.0

// sideOf returns the line of one side of a token at a pose, from corner to corner.
func sideOf(cam *calibration.Camera, t token.Token, pose geom.Pose, s token.Side, z geom.Length) sideLine {
	return sideBeyond(cam, t, pose, s, 0, z)
}

// sideBeyond returns the line of one side of a token at a pose, extended beyond both corners (mm).
func sideBeyond(cam *calibration.Camera, t token.Token, pose geom.Pose, s token.Side, beyond float64, z geom.Length) sideLine {
	h, out := t.HalfAlong(s)
	h += beyond
	turn := geom.Pose{Heading: pose.Heading + geom.Angle(s)*90*geom.Degree}
	return newSideLine(cam, pose.Point.Add(turn.Forward().Mul(out)), turn.Right(), -h, h, z)
}

func (s *sideLine) pixel(a, d float64) (x, y float64) {
	t := (a - s.a0) / (s.a1 - s.a0)
	return s.p.X + t*(s.q.X+t*(s.r.X+t*s.c.X)) + d*s.inX, s.p.Y + t*(s.q.Y+t*(s.r.Y+t*s.c.Y)) + d*s.inY
}

// sceneLight inverts a camera's response from grey level to light: the sRGB curve, and above
// kneeLight the shoulder with which cameras avoid clipping. It distinguishes nearly clipped paper
// from less light one. Clipped white has the light brightest.
var sceneLight = func() (t [256]float32) {
	for i := range t {
		t[i] = float32(min(unrecorded(float64(gray.LinearLight[i])), brightest))
	}
	return t
}()

// lightAt interpolates a picture's light. It reports false outside it.
func lightAt(g *image.Gray, x, y float64) (float64, bool) {
	v, ok := gray.Bilinear(g, x, y)
	return float64(sceneLight[uint8(v+0.5)]), ok
}
