package ship

import (
	"math"

	"sightline/calibration/linalg"
	"sightline/vision/token"
)

// A token that is held above the mat looks larger than one on a base that stands there, by its
// height over the camera's, and seems to stand farther from the picture's middle than it is.

const (
	// mostStretch is by how much a token may look larger than it is: a printer's scale is off by a
	// few thousandths, and light that clips widens the white. Of 142 ships of 18 photorealistic
	// pictures the most was 0.003. Held 30 mm above the mat, seen from 1250 mm, seven that were
	// read had 0.010 to 0.016.
	mostStretch = 0.008
	// sureStretch is how many of its standard deviations it must be: those 142 had up to 5.7, and
	// nothing near mostStretch.
	sureStretch = 2.5
)

// heldUp reports whether a token that was fitted is surely above where a base's top is. One that
// lies deeper than that does not exist.
func (f *rimFit) heldUp() bool {
	by, sigma, ok := f.stretch()
	return ok && by > mostStretch && by > sureStretch*sigma
}

// stretch returns by how much the print in the picture is larger than the token's, after a fit,
// and the standard deviation of that. Pose, blur and light are left free, so that only what
// shows opposite sides tells; ok is false where nothing does.
func (f *rimFit) stretch() (by, sigma float64, ok bool) {
	var trans [4][]transition
	for s := range trans {
		trans[s] = transitions(f.token, token.Side(s), nil)
	}
	f.stride = 1
	var normal [fitParams * fitParams]float64
	var gradient, cross [fitParams]float64
	const last = 13 // the round whose threshold is closed
	if _, count := f.normalise(last, &trans, &normal, &gradient); count < 30 {
		return 0, 0, false
	}
	f.addPriors(&normal, &gradient)
	own, pull := f.stretchSums(&trans, &cross)
	known, ok := linalg.SolveSPD(normal[:], cross[:])
	if !ok {
		return 0, 0, false
	}
	for i := range cross {
		own -= cross[i] * known[i]
		pull -= known[i] * gradient[i]
	}
	if !(own > 0) {
		return 0, 0, false
	}
	return pull / own, f.noise * math.Sqrt(f.inflation()/own), true
}

// stretchSums returns what the pixels' derivatives by the stretch add up to: with those by all
// else into cross, squared, and with the residuals.
func (f *rimFit) stretchSums(trans *[4][]transition, cross *[fitParams]float64) (own, pull float64) {
	h := f.halves()
	hx, hy := f.token.Half()
	out := [4]float64{hy, hx, hy, hx} // from the middle to each side
	frame := newTokenFrame(f.pose)
	var row fitRow
	f.each(func(p *rimPixel, side int8, a, d float64) {
		gain := f.gains[side][column(a, h[side])]
		value, slope := recorded(gain * f.model(side, a, d, trans[side], &row))
		e := p.light - value
		if p.light >= clipped && e < 0 {
			return
		}
		u := e / max(4.685*f.noise, 0.12*f.contrast(side))
		if u*u >= 1 {
			return
		}
		weight := (1 - u*u) * (1 - u*u)
		row.chain(side, frame, frame.local(p))
		g := (row.dd*(out[side]-d) - row.da*a) * gain * slope
		row.scale(gain * slope)
		v := [7]float64{row.pose[0], row.pose[1], row.pose[2], row.ds, row.level[0], row.level[1], row.level[2]}
		for i, at := range [7]int{0, 1, 2, 3, 4 + 3*int(side), 5 + 3*int(side), 6 + 3*int(side)} {
			cross[at] += weight * g * v[i]
		}
		own += weight * g * g
		pull += weight * g * e
	})
	return own, pull
}
