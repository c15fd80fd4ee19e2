package calibration

import (
	"math"

	"sightline/calibration/linalg"
	"sightline/engine/geom"
)

// Homography maps a plane (mm) to the picture, row-major. Its scale is chosen so that
// points in front of the camera have a positive third coordinate.
type Homography [9]float64

// homographyEquations are the normal equations for a homography's eight numbers. The
// ninth, h33, is 1: the points' middle is in front of the camera.
type homographyEquations struct {
	normal [64]float64
	right  [8]float64
}

// add adds the two equations of a point (u, v) of the plane seen at (x, y).
func (e *homographyEquations) add(u, v, x, y float64) {
	for _, q := range [2]struct {
		row [8]float64
		b   float64
	}{
		{[8]float64{u, v, 1, 0, 0, 0, -u * x, -v * x}, x},
		{[8]float64{0, 0, 0, u, v, 1, -u * y, -v * y}, y},
	} {
		for i := range 8 {
			e.right[i] += q.row[i] * q.b
			for j := range 8 {
				e.normal[8*i+j] += q.row[i] * q.row[j]
			}
		}
	}
}

// FitHomography fits a homography to points of a plane and their pixels, by linear
// least squares after normalising both sides (Hartley and Zisserman, section 4.4). It
// reports false for fewer than four points and for points in a row.
func FitHomography(from []geom.Point, to []geom.Pixel) (Homography, bool) {
	n := float64(len(from))
	if len(from) < 4 || len(to) != len(from) {
		return Homography{}, false
	}
	var fromMean geom.Point
	var toMean geom.Pixel
	for k := range from {
		fromMean, toMean = fromMean.Add(from[k].Mul(1/n)), toMean.Add(to[k].Mul(1/n))
	}
	var fromSize, toSize float64
	for k := range from {
		fromSize += from[k].Sub(fromMean).Norm() / n
		toSize += to[k].Sub(toMean).Norm() / n
	}
	if !(fromSize > 0) || !(toSize > 0) {
		return Homography{}, false
	}
	var e homographyEquations
	for k := range from {
		o := from[k].Sub(fromMean).Mul(1 / fromSize)
		p := to[k].Sub(toMean).Mul(1 / toSize)
		e.add(o.X, o.Y, p.X, p.Y)
	}
	inv, ok := linalg.InvertSPD(e.normal[:], 8)
	if !ok {
		return Homography{}, false
	}
	var s [9]float64
	s[8] = 1
	for i := range 8 {
		if !(inv[9*i] < 1e10) { // points in a row, but for rounding
			return Homography{}, false
		}
		for j := range 8 {
			s[i] += inv[8*i+j] * e.right[j]
		}
	}
	// Undo the normalising: picture × s × plane.
	var h Homography
	for c := range 3 {
		a, b, w := s[c]*toSize+s[6+c]*toMean.X, s[3+c]*toSize+s[6+c]*toMean.Y, s[6+c]
		for r, v := range [3]float64{a, b, w} {
			switch c {
			case 0, 1:
				h[3*r+c] = v / fromSize
			default:
				h[3*r+2] = v
			}
		}
	}
	for r := range 3 {
		h[3*r+2] -= h[3*r]*fromMean.X + h[3*r+1]*fromMean.Y
	}
	return h, true
}

// Map returns the pixel of a point of the plane. It reports false for a point that is
// not in front of the camera.
func (h *Homography) Map(p geom.Point) (geom.Pixel, bool) {
	w := h[6]*p.X + h[7]*p.Y + h[8]
	if !(w > 1e-12) {
		return geom.Pixel{}, false
	}
	px := geom.Pixel{X: (h[0]*p.X + h[1]*p.Y + h[2]) / w, Y: (h[3]*p.X + h[4]*p.Y + h[5]) / w}
	return px, !math.IsNaN(px.X) && !math.IsNaN(px.Y)
}
