package ship

import (
	"math"

	"sightline/calibration/linalg"
	"sightline/engine/geom"
	"sightline/vision"
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
	// raisedShare is the share of tokens that are taken to be raised, by anything that heldUp leaves, before their size was
	// looked at: it weighs a wrong place against a wider sigma. With 0.03 four of 117 simulated tokens that were raised by 5 mm lie
	// beyond 4 of their sigmas (eight with 0.02), and the mean sigma of 579 ships of 76 re-exposed photorealistic pictures
	// is 0.200 mm. Without heights it is 0.176 mm.
	raisedShare = 0.03
	// sureStretch is how many of its standard deviations it must be: those 142 had up to 5.7, and
	// nothing near mostStretch.
	sureStretch = 2.5
)

// height is what a fitted token's size says of its height.
type height struct {
	larger, sigma float64 // by how much its print looks larger, and the standard deviation of that
	known         bool
}

// heldUp reports whether the token is surely above where a base's top is.
func (h height) heldUp() bool {
	return h.known && h.larger > mostStretch && h.larger > sureStretch*h.sigma
}

// height measures a token that was fitted. One that lies deeper than a base's top does not exist.
func (f *rimFit) height() (h height) {
	h.larger, h.sigma, h.known = f.stretch()
	return h
}

// over returns how much higher than a base's top a token is whose print looks larger by so much.
func (l *Locator) over(larger float64) geom.Length {
	return geom.Length((l.table.Center()[2] - float64(token.BaseTop)) * larger / (1 + larger))
}

// raised returns how much higher than a base's top a token may be: the root of the mean square over all heights that its size
// does not exclude, each as likely as raisedShare says and as its size makes it.
func (l *Locator) raised(h height) geom.Length {
	if !h.known {
		return 0
	}
	likelihood := func(larger float64) float64 {
		e := (h.larger - larger) / h.sigma
		return math.Exp(-e * e / 2)
	}
	const steps = 44
	most := 1.1 * float64(l.over(mostStretch)) // 11 mm at 1250 mm
	away := l.table.Center()[2] - float64(token.BaseTop)
	var sum, square float64
	for i := range steps {
		up := (float64(i) + 0.5) / steps * most
		p := likelihood(up / (away - up))
		sum, square = sum+p, square+p*up*up
	}
	all := raisedShare*sum + (1-raisedShare)*steps*likelihood(0)
	if !(all > 0) {
		return max(l.over(h.larger), 0) // larger or smaller than any of these
	}
	return geom.Length(math.Sqrt(raisedShare * square / all))
}

// dropRaised takes the ships out that are held up, and says so: no one knows where they stand, but they are there, and nothing
// else is in their places.
func (l *Locator) dropRaised(ships []found) (kept []found, raised []vision.RaisedToken) {
	for _, s := range ships {
		if !s.height.heldUp() {
			kept = append(kept, s)
			continue
		}
		raised = append(raised, vision.RaisedToken{ID: s.token.Code.ID(), At: s.pose.Point, Larger: s.height.larger, Sigma: s.height.sigma,
			Up: l.over(s.height.larger)})
	}
	return kept, raised
}

const (
	// innerEdges is from where on, in mm inwards from the base's edge, the print tells its size: the keyline's inner edge and
	// the cells. In renders the outer edge, between paper and mat, seems to lie up to 0.1 mm farther out than it is.
	innerEdges = 0.5
	// stretchRounds is how often a stretch is measured, each time on the print that the former ones have shrunk: the light that
	// is followed along a side takes up a third of it each time.
	stretchRounds = 3
	// settledStretch is the change, in standard deviations, after which another round would say nothing new.
	settledStretch = 0.3
)

// stretch returns by how much the print in the picture is larger than the token's, after a fit,
// and the standard deviation of that. Pose, blur and light are left free, so that only what
// shows opposite sides tells; ok is false where nothing does. It uses the pixels up.
func (f *rimFit) stretch() (by, sigma float64, ok bool) {
	fitted := *f
	defer func() { *f = fitted }()
	var trans [4][]transition
	for s := range trans {
		trans[s] = transitions(f.token, token.Side(s), nil)
	}
	f.stride, f.from = 1, innerEdges
	for round := range stretchRounds {
		if round > 0 {
			f.followLight(&trans)
		}
		step, sd, ok := f.stretchStep(&trans)
		if !ok {
			return 0, 0, false
		}
		by, sigma = (1+by)*(1+step)-1, sd
		if math.Abs(step) < settledStretch*sd {
			break
		}
		for i := range f.pixels {
			p := &f.pixels[i]
			p.x, p.y = f.pose.X+(p.x-f.pose.X)/(1+step), f.pose.Y+(p.y-f.pose.Y)/(1+step)
		}
	}
	return by, sigma, true
}

// stretchStep fits the stretch together with all else, once, and applies what it finds for the rest.
func (f *rimFit) stretchStep(trans *[4][]transition) (by, sigma float64, ok bool) {
	var normal [fitParams * fitParams]float64
	var gradient, cross [fitParams]float64
	const last = 13 // the round whose threshold is closed
	if _, count := f.normalise(last, trans, &normal, &gradient); count < 30 {
		return 0, 0, false
	}
	f.addPriors(&normal, &gradient)
	own, pull := f.stretchSums(trans, &cross)
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
	by = pull / own
	for i := range gradient {
		gradient[i] -= by * cross[i]
	}
	rest, ok := linalg.SolveSPD(normal[:], gradient[:])
	if !ok {
		return 0, 0, false
	}
	f.apply(rest)
	return by, f.noise * math.Sqrt(f.inflation()/own), true
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
		if d < f.from || p.light >= clipped && e < 0 {
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
