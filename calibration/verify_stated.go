package calibration

import (
	"math"

	"sightline/engine/geom"
)

// tableSpot is a point of an object at a height over the mat. Spots of one object
// share the error of its height.
type tableSpot struct {
	geom.Point
	z      geom.Length
	object int
}

// flatReach is the distance on the mat, in mm, over which its height error is alike.
const flatReach = 300

// joint returns the covariance, in mm², that the calibration's own errors give to
// all the spots together: 2n×2n in the order x, y, x, y … The pose's and the lens's
// terms move all spots at once; an object's height, the mat's flatness and what the
// lens model leaves are alike only where spots are near. The common scale is left out:
// it is Table.ScaleSigma. It reports false where the camera does not see a spot.
func (m *ErrorModel) joint(spots []tableSpot) ([]float64, bool) {
	n := len(spots)
	cov := make([]float64, 4*n*n)
	for _, term := range m.terms {
		wrong := m.perturbed(term)
		shift := make([]float64, 2*n)
		for i, s := range spots {
			px, ok1 := wrong.PixelOf(s.Point, s.z)
			p, ok2 := m.table.PointAt(px, s.z)
			if !ok1 || !ok2 {
				return nil, false
			}
			shift[2*i], shift[2*i+1] = p.X-s.X, p.Y-s.Y
		}
		addTerm(cov, 2*n, func(i int) float64 { return shift[i] })
	}
	slopes, pixels := make([]geom.Point, n), make([]float64, n)
	for i, s := range spots {
		var ok bool
		if slopes[i], ok = m.table.slope(s.Point, s.z); !ok {
			return nil, false
		}
		_, dx, dy, ok := m.table.PixelJacobian(s.Point, s.z)
		if !ok {
			return nil, false
		}
		pixels[i] = m.limits.Model / math.Sqrt(math.Abs(dx.X*dy.Y-dx.Y*dy.X))
	}
	for i, a := range spots {
		for j, b := range spots {
			d := a.Sub(b.Point).Norm()
			h := math.Pow(float64(m.limits.Flatness), 2) * math.Exp(-d*d/(2*flatReach*flatReach))
			if a.object == b.object {
				h += math.Pow(float64(m.limits.Height), 2)
			}
			e := pixels[i] * pixels[j] * math.Exp(-d*d/(2*modelReach*modelReach/4))
			s, t := slopes[i], slopes[j]
			k := 4*n*i + 2*j
			cov[k] += h*s.X*t.X + e
			cov[k+1] += h * s.X * t.Y
			cov[k+2*n] += h * s.Y * t.X
			cov[k+2*n+1] += h*s.Y*t.Y + e
		}
	}
	return cov, true
}
