package look

import (
	"math"
	"sync"

	"sightline/calibration"
	"sightline/calibration/linalg"
	"sightline/engine/geom"
	"sightline/vision"
)

// A look is fitted to a picture by least squares. The unknowns are the base's position and heading, a gain and an offset
// for each channel, and a gain that changes linearly over the card, because the light differs from the day when the look
// was learnt. The weights are Tukey's, because a miniature hides up to two thirds of the card and its shadow darkens more.
// They are eroded, because pixels next to a miniature's edge are blurred with it.

// scan is a part of a picture around a place, with its blurred versions.
type scan struct {
	view  localView
	scale float64 // px/mm
	color bool    // false: the three channels are the same
	sharp planes
	blurs map[float64]planes // by the sigma in mm
}

// newScan crops a picture to what lies up to reach mm from a place, at a height over the mat.
func newScan(t *calibration.Table, f vision.Frame, at geom.Point, z geom.Length, reach float64) (*scan, bool) {
	v, ok := newLocalView(t, at, z)
	if !ok {
		return nil, false
	}
	s := &scan{view: v, scale: v.scale(), color: f.Color != nil, sharp: crop(f, v.box(reach)), blurs: map[float64]planes{}}
	return s, s.sharp.w > 8 && s.sharp.h > 8
}

// blurred returns the part, blurred by a sigma in mm on the mat.
func (s *scan) blurred(sigma float64) *planes {
	if sigma == 0 {
		return &s.sharp
	}
	p, ok := s.blurs[sigma]
	if !ok {
		p = s.sharp.blurred(sigma * s.scale)
		s.blurs[sigma] = p
	}
	return &p
}

// The unknowns of the fit: place in mm, heading as mm at the base's rim, gain of each channel, the gain's change to
// the right and forward, offset of each channel.
const (
	ofX, ofY, ofTurn   = 0, 1, 2
	ofGain             = 3
	ofSlope            = ofGain + channels
	ofOffset           = ofSlope + 2
	unknowns           = ofOffset + channels
	gainLeast          = 0.3
	gainMost           = 3.3
	slopeSigma         = 0.15 // of the gain over half the base
	scaleQuantile      = 0.5  // of the residuals in trusted blocks
	scaleOfQuantile    = 0.89 // that quantile of the root mean square of three normal numbers
	scaleLeast         = 2.0  // grey levels
	scaleMost          = 14.0
	tukey              = 3.5 // sigmas from which a cell has no weight
	erodeMM            = 0.6
	damping            = 0.003
	fitRounds          = 12
	turnStepMost       = 2.5 * math.Pi / 180
	placeStepMost      = 1.2  // mm
	placeDone          = 0.01 // mm
	blurredDone        = 0.05 // of a fit with blur, which sharper ones follow
	ownWeight          = 0.15 // of a cell's weight that its neighbours do not take away
	photometricPreRuns = 3
	sumLeast           = 0.02 // of the cells must fit
)

// fitting is a fit on one grid as it runs.
type fitting struct {
	s      *scan
	look   *Look
	g      *grid
	img    *planes
	half   float64             // mm, of the base
	least  *[fitRounds]float64 // evidence by rounds, below which it is given up; nil: it never is
	fresh  bool                // the picture was sampled at the pose
	pose   geom.Pose
	photo  [unknowns]float64 // gains, slopes and offsets; the first three are not used
	eroded []float32
	weight []float32 // of the cell in the fit
	deriv  []sample  // the picture at each cell, by x and y on the table
	seen   []bool    // the cell lies in the picture
	trust  []float32 // of each block, 0…1: whether it shows the card
	sums   []blockSums
	sigma  float64
	work   []float32
	normal [unknowns * unknowns]float64
}

// newFitting prepares a fit of a look at a pose.
func newFitting(s *scan, l *Look, g *grid, pose geom.Pose) *fitting {
	n := len(g.weight)
	w, _ := l.Base.Size()
	f := fittings.Get().(*fitting)
	*f = fitting{s: s, look: l, g: g, img: s.blurred(g.blur), half: float64(w) / 2, pose: pose,
		eroded: sized(f.eroded, n), weight: sized(f.weight, n), deriv: sized(f.deriv, n),
		seen: sized(f.seen, n), work: sized(f.work, n), trust: sized(f.trust, g.blocks), sums: sized(f.sums, g.blocks)}
	for c := range channels {
		f.photo[ofGain+c] = 1
	}
	return f
}

// fittings keeps the slices of fits that have ended: a search over the mat makes thousands.
var fittings = sync.Pool{New: func() any { return new(fitting) }}

// release ends the use of a fit.
func (f *fitting) release() { fittings.Put(f) }

// sized returns a slice of a length, with any content.
func sized[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// sample samples the picture at the cells, and with slopes how it changes there, which only the steps of a fit need.
func (f *fitting) sample(slopes bool) {
	if f.fresh && !slopes {
		return
	}
	f.fresh = true
	sin, cos := math.Sincos(float64(f.pose.Heading))
	ox, oy := f.pose.X-f.s.view.at.X, f.pose.Y-f.s.view.at.Y
	for k, w := range f.g.weight {
		f.seen[k] = false
		if w == 0 {
			continue
		}
		u, v := float64(f.g.u[k]), float64(f.g.v[k])
		dx, dy := ox+u*cos+v*sin, oy-u*sin+v*cos
		x, y := f.s.view.pixel(dx, dy)
		p := &f.deriv[k]
		if !slopes {
			f.seen[k] = f.img.valueAt(x, y, p)
			continue
		}
		if f.seen[k] = f.img.at(x, y, p); !f.seen[k] {
			continue
		}
		xx, xy, yx, yy := f.s.view.jacobian(dx, dy)
		for c := range channels {
			gx, gy := float64(p.dx[c]), float64(p.dy[c])
			p.dx[c], p.dy[c] = float32(gx*xx+gy*yx), float32(gx*xy+gy*yy)
		}
	}
}

// compare computes the residuals, their scale and the weights.
func (f *fitting) compare() {
	const bins, binWidth = 256, 0.25
	var hist [bins]int
	total := 0
	for k := range f.eroded {
		f.work[k] = float32(math.Inf(1))
		if !f.seen[k] {
			continue
		}
		trusted := f.trust[f.g.block[k]] >= trustFull
		var sum float64
		for c := range channels {
			r := f.residualOf(k, c)
			sum += r * r
		}
		q := math.Sqrt(sum / channels)
		f.work[k] = float32(q)
		if trusted {
			hist[min(int(q/binWidth), bins-1)]++
			total++
		}
	}
	below, bin := 0, 0
	for ; bin < bins-1 && float64(below+hist[bin]) < scaleQuantile*float64(total); bin++ {
		below += hist[bin]
	}
	at := binWidth * (float64(bin) + (scaleQuantile*float64(total)-float64(below))/float64(max(hist[bin], 1)))
	f.sigma = min(max(at/scaleOfQuantile, scaleLeast), scaleMost)
	limit := float32(tukey * f.sigma)
	for k, q := range f.work {
		f.weight[k] = 0
		if q < limit {
			u := 1 - q/limit*(q/limit)
			f.weight[k] = u * u
		}
	}
	f.erode()
}

// asLook converts a channel of the picture, at a place on the card in mm, to the look's light.
func (f *fitting) asLook(v float32, x, y float64, c int) float32 {
	gain := f.photo[ofGain+c] + (f.photo[ofSlope]*x+f.photo[ofSlope+1]*y)/f.half
	return float32((float64(v) - f.photo[ofOffset+c]) / max(gain, gainLeast))
}

// residualOf returns the picture at a cell minus the look in the picture's light.
func (f *fitting) residualOf(k, c int) float64 {
	t := float64(f.g.t[channels*k+c])
	gain := f.photo[ofGain+c] + (f.photo[ofSlope]*float64(f.g.u[k])+f.photo[ofSlope+1]*float64(f.g.v[k]))/f.half
	return float64(f.deriv[k].v[c]) - gain*t - f.photo[ofOffset+c]
}

// erode reduces the weight of cells next to those that do not fit.
func (f *fitting) erode() {
	r := max(int(math.Round(erodeMM/f.s.scale/f.g.step)), 1)
	n := f.g.side
	for pass := range 2 {
		from, to := f.weight, f.work
		step, next := 1, n
		if pass == 1 {
			from, to = f.work, f.eroded
			step, next = n, 1
		}
		for line := range n {
			for i := range n {
				k := line*next + i*step
				least := from[k]
				for d := -r; d <= r; d++ {
					if i+d >= 0 && i+d < n && f.g.weight[k+d*step] > 0 {
						least = min(least, from[k+d*step])
					}
				}
				to[k] = least
			}
		}
	}
	for k, w := range f.g.weight {
		if f.seen[k] {
			f.weight[k] = w * f.trust[f.g.block[k]] * (ownWeight*f.weight[k] + (1-ownWeight)*f.eroded[k])
		} else {
			f.weight[k] = 0
		}
	}
}

// solve returns one Gauss-Newton step, of the light only if held is true. It reports false if the cells do not determine it.
func (f *fitting) solve(held bool) (step [unknowns]float64, ok bool) {
	var parts [channels]equations
	first := 0
	if held {
		first = ofGain
	}
	sin, cos := math.Sincos(float64(f.pose.Heading))
	var sum float64
	for k, w := range f.weight {
		if w == 0 {
			continue
		}
		u, v := float64(f.g.u[k]), float64(f.g.v[k])
		dx, dy := u*cos+v*sin, -u*sin+v*cos
		slope := (f.photo[ofSlope]*u + f.photo[ofSlope+1]*v) / f.half
		p := &f.deriv[k]
		for c := range channels {
			t := float64(f.g.t[channels*k+c])
			x, y := float64(p.dx[c]), float64(p.dy[c])
			r := float64(p.v[c]) - (f.photo[ofGain+c]+slope)*t - f.photo[ofOffset+c]
			sum += float64(w)
			parts[c].add(float64(w), r, &[channelUnknowns]float64{x, y, (x*dy - y*dx) / f.half, -t, -t * u / f.half, -t * v / f.half, -1}, first)
		}
	}
	f.normal = [unknowns * unknowns]float64{}
	var gradient [unknowns]float64
	for c := range parts {
		parts[c].addTo(&f.normal, &gradient, c)
	}
	if sum < sumLeast*float64(len(f.weight)) {
		return step, false
	}
	info := f.sigma * f.sigma / (slopeSigma * slopeSigma)
	for i := range 2 {
		f.normal[(ofSlope+i)*(unknowns+1)] += info
		gradient[ofSlope+i] += info * f.photo[ofSlope+i]
	}
	for i := range unknowns {
		d := &f.normal[i*(unknowns+1)]
		*d += damping**d + 1e-9
		if held && i < ofGain {
			*d = 1
		}
		gradient[i] = -gradient[i]
	}
	x, ok := linalg.SolveSPD(f.normal[:], gradient[:])
	copy(step[:], x)
	return step, ok
}

// channelUnknowns is the number of unknowns of one channel: position, heading, its gain, the gain's slopes and its offset.
const channelUnknowns = 7

// equations are the normal equations of one channel: the upper triangle, row by row, and the gradient.
type equations struct {
	normal   [channelUnknowns * (channelUnknowns + 1) / 2]float64
	gradient [channelUnknowns]float64
}

// add adds a residual with a weight and its row of the Jacobian, from column first on.
func (e *equations) add(w, residual float64, row *[channelUnknowns]float64, first int) {
	at := first * (2*channelUnknowns - first + 1) / 2
	for a := first; a < channelUnknowns; a++ {
		wa := w * row[a]
		e.gradient[a] += wa * residual
		for b, x := range row[a:] {
			e.normal[at+b] += wa * x
		}
		at += channelUnknowns - a
	}
}

// addTo adds the equations of channel c to those of all unknowns.
func (e *equations) addTo(normal *[unknowns * unknowns]float64, gradient *[unknowns]float64, c int) {
	used, at := [channelUnknowns]int{ofX, ofY, ofTurn, ofGain + c, ofSlope, ofSlope + 1, ofOffset + c}, 0
	for i, a := range used {
		gradient[a] += e.gradient[i]
		for _, b := range used[i:] {
			normal[a*unknowns+b] += e.normal[at]
			if a != b {
				normal[b*unknowns+a] += e.normal[at]
			}
			at++
		}
	}
}

// apply applies a step and returns how far it moved the base, in mm at its rim.
func (f *fitting) apply(step *[unknowns]float64) float64 {
	dx := min(max(step[ofX], -placeStepMost), placeStepMost)
	dy := min(max(step[ofY], -placeStepMost), placeStepMost)
	turn := min(max(step[ofTurn]/f.half, -turnStepMost), turnStepMost)
	f.pose.X, f.pose.Y, f.pose.Heading = f.pose.X+dx, f.pose.Y+dy, (f.pose.Heading + geom.Angle(turn)).Normalized()
	f.fresh = f.fresh && dx == 0 && dy == 0 && turn == 0
	for i := ofGain; i < unknowns; i++ {
		f.photo[i] += step[i]
	}
	for c := range channels {
		f.photo[ofGain+c] = min(max(f.photo[ofGain+c], gainLeast), gainMost)
	}
	return max(math.Abs(dx), math.Abs(dy), math.Abs(turn)*f.half)
}

// The trust in a block rises from 0 at a correlation of trustNone to 1 at trustAll. A block in which the look hardly
// varies gets trustFlat.
const (
	trustNone = 0.45
	trustAll  = 0.8
	trustFull = 0.9
	trustFlat = 0.1
)

// correlate computes the correlations of the blocks and the trust in them.
func (f *fitting) correlate() {
	clear(f.sums)
	for k, w := range f.g.weight {
		if w > 0 && f.seen[k] {
			f.sums[f.g.block[k]].add(float64(w), f.g.t[channels*k:channels*(k+1)], f.deriv[k].v[:])
		}
	}
	for b := range f.sums {
		f.trust[b] = trustFlat
		if ncc, ok := f.g.correlation(f.sums, b); ok {
			f.trust[b] = float32(min(max((ncc-trustNone)/(trustAll-trustNone), 0), 1))
		}
	}
}

// light fits gains and offsets at the first pose, over the blocks that clearly show the card.
func (f *fitting) light() bool {
	f.sample(false)
	f.correlate()
	f.sigma = scaleMost
	for k, w := range f.g.weight {
		f.weight[k] = 0
		if t := f.trust[f.g.block[k]]; f.seen[k] && t >= trustFull {
			f.weight[k] = w * t
		}
	}
	for range photometricPreRuns {
		step, ok := f.solve(true)
		if !ok {
			return false
		}
		f.apply(&step)
		f.compare()
	}
	return true
}

// The evidence after some rounds below which a fit is given up, with blur and without. In searches of 21 tables (1 to 3, 1201 to 1208, ten
// tables of our own ships), none of 295 fits with blur that ended with an evidence of 5 had less than 3.0 after one round, two of them less
// than 2.5 after three, and four less than 3.5 after six; of 3340 others 988, 1094 and 1078 had. Without blur, the lowest of those that
// ended with 11 had 1.9 at first, 3.1 after two rounds and 9.1 after six; of 1426 others 874 had less than 2 after two.
var (
	blurredHopeless = [fitRounds]float64{1: 2.5, 3: 2.5, 6: 3.5}
	sharpHopeless   = [fitRounds]float64{2: 2, 6: 4}
)

// run fits until the pose converges. It reports false if the picture does not determine it, or the fit is given up.
func (f *fitting) run() bool {
	for round := range fitRounds {
		f.sample(true)
		f.correlate()
		if f.least != nil && f.least[round] > 0 && !f.reaches(f.least[round]) {
			return false
		}
		f.compare()
		step, ok := f.solve(false)
		if !ok {
			return false
		}
		if moved := f.apply(&step); moved < placeDone || moved < blurredDone && f.g.blur >= 1 {
			break
		}
	}
	return true
}

// covariance returns the covariance of the pose from the picture's noise: mm², mm·rad, rad².
func (f *fitting) covariance() (out geom.Cov3, ok bool) {
	inverse, ok := linalg.InvertSPD(f.normal[:], unknowns)
	if !ok {
		return out, false
	}
	// Cells that share a pixel share its noise, and a pixel's channels share most of it.
	pixels := max(1, 1/(f.s.scale*f.g.step*f.s.scale*f.g.step))
	k := f.sigma * f.sigma * channels * pixels
	unit := [3]float64{1, 1, 1 / f.half}
	for r := range 3 {
		for c := range 3 {
			out[3*r+c] = k * inverse[r*unknowns+c] * unit[r] * unit[c]
		}
	}
	return out, true
}
