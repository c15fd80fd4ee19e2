package quick

import (
	"math"

	"sightline/calibration"
)

// params is the number of the lens's parameters.
const params = calibration.LensTerms

// shape is a lens in the parameters in which it is solved. Distortion is stated at half the picture's diagonal, where its
// usual size does not depend on the focal length:
//
//	ln f                 the mean focal length, px
//	aspect               ln (fx / fy)
//	cx, cy               px
//	a1, a2, q1, q2, a3   k1 r², k2 r⁴, p1 r, p2 r, k3 r⁶ with r = half the diagonal / f
type shape [params]float64

// prior is the knowledge of a lens before any picture.
type prior struct {
	mean, sigma shape
	half        float64 // half the picture's diagonal, px
	width       int
	height      int
}

// The lenses of webcams and phones, with standard deviations. The focal length is that of a horizontal field of 67 degrees,
// give or take a third: 50 to 90 degrees are within one and a half sigmas. Pixels are square to a few parts in a thousand and
// sensors centred to half a percent of the width. Distortion moves the picture's corners by up to a tenth of their distance
// from the middle, mostly inwards; a phone corrects its pictures to a percent or two.
const (
	focalMean    = 0.75 // of the picture's width
	focalSigma   = 0.30
	aspectSigma  = 0.002
	centerSigma  = 0.006 // of the picture's width
	radialMean   = -0.03
	radial1Sigma = 0.08
	radial2Sigma = 0.06
	radial3Sigma = 0.02
	tangentSigma = 0.0007
)

func newPrior(width, height int) prior {
	w := float64(width)
	return prior{
		mean: shape{math.Log(focalMean * w), 0, (w - 1) / 2, float64(height-1) / 2, radialMean},
		sigma: shape{focalSigma, aspectSigma, centerSigma * w, centerSigma * w,
			radial1Sigma, radial2Sigma, tangentSigma, tangentSigma, radial3Sigma},
		half:  math.Hypot(w, float64(height)) / 2,
		width: width, height: height,
	}
}

// powers are the powers of f in the distortion's parameters.
var powers = [5]int{2, 4, 1, 1, 6}

// lens returns the lens of a shape.
func (p *prior) lens(s *shape) calibration.Intrinsics {
	f := math.Exp(s[0])
	in := calibration.Intrinsics{
		Width: p.width, Height: p.height, Fx: f * math.Exp(s[1]/2), Fy: f * math.Exp(-s[1]/2), Cx: s[2], Cy: s[3],
	}
	for i, n := range powers {
		in.Distortion[i] = s[4+i] * math.Pow(f/p.half, float64(n))
	}
	return in
}

// jacobian returns the derivative of the lens's parameters, in the order of their covariance, by the shape.
func (p *prior) jacobian(s *shape) (j [params][params]float64) {
	in := p.lens(s)
	j[0][0], j[0][1] = in.Fx, in.Fx/2
	j[1][0], j[1][1] = in.Fy, -in.Fy/2
	j[2][2], j[3][3] = 1, 1
	f := math.Exp(s[0])
	for i, n := range powers {
		j[4+i][0] = float64(n) * in.Distortion[i]
		j[4+i][4+i] = math.Pow(f/p.half, float64(n))
	}
	return j
}
