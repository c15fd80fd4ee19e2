package ship

import (
	"image"
	"math"
	"slices"

	"sightline/calibration"
	"sightline/calibration/linalg"
	"sightline/engine/geom"
	"sightline/vision/internal/gray"
	"sightline/vision/token"
)

// The fit lays the printed rim over the picture and moves it until the difference is least. The rim
// is modelled in the coordinates of one side, a along it and d inwards from the base's edge, as
//
//	I(a, d) = o (1 - S(d)) + w (S(d) - S(d-1)) + S(d-1) (k + (w-k) C(a))
//
// with o, w, k the light of the ground outside, of the white and of the dark ink (each side has its
// own, because the light is uneven), S(x) = Φ(x/σ) the edge blurred by lens and pixel, and C(a) the
// blurred cells. The fit is in linear light, where blur is a sum, by Gauss-Newton with Tukey
// weights, so that what a miniature hides does not count. Unknowns are x, y, heading, blur, and o,
// w, k of each side; the pose's covariance is that of the inverse normal matrix.

const (
	fitParams = 4 + 3*4
	// minFitShare is the share of the rim's pixels that must agree with the print after a few rounds;
	// one side is a quarter of them.
	minFitShare = 0.12

	fitOutside = 1.3 // mm of ground outside the edge that are used
	fitInside  = 3.3 // mm of rim that are used: not the cells' inner end
	fitCorner  = 2.2 // mm at each end of a side that are not used, where two sides mix

	// minContrast is the least difference of white and dark ink in linear light at which cells are
	// accepted: 56 grey levels over black. Paper in the deep shadow of a miniature still has it; the
	// ripples of a dark mat do not.
	minContrast = 0.04

	// cellTolerance is the mean squared residual of a cell, divided by the contrast squared, up to
	// which it agrees with the model. Visible cells have 0.01.
	cellTolerance = 0.06

	mostBlur = 1.6 // px, the largest blur of a fit

	litFrom    = 0.2  // mm inwards from the base's edge from which the light is followed: the ground outside has its own
	fitColumn  = 5.0  // mm: width of the columns in which the light is followed along a side
	fitColumns = 44   // the largest number of columns, on a huge base's long side
	clipped    = 0.97 // recorded light from which a pixel may be overexposed
	mostLight  = 4.0  // the largest light assumed for clipped paper
)

// rimPixel is a pixel used in a fit.
type rimPixel struct {
	x, y  float64 // its place on the table at the token's height, mm
	light float64
}

// tokenFrame transforms table points to a pose's own frame, as geom.Pose.Inverse does, with the
// sine and cosine computed once for the thousands of pixels of a fit.
type tokenFrame struct{ x, y, sin, cos float64 }

func newTokenFrame(p geom.Pose) tokenFrame {
	s, c := math.Sincos(float64(p.Heading))
	return tokenFrame{p.X, p.Y, s, c}
}

func (t tokenFrame) local(p *rimPixel) geom.Point {
	dx, dy := p.x-t.x, p.y-t.y
	return geom.Point{X: t.cos*dx - t.sin*dy, Y: t.sin*dx + t.cos*dy}
}

// rimFit is the state of one fit; its buffers are reused from ship to ship.
type rimFit struct {
	pixels  []rimPixel
	shrunk  []rimPixel // a copy of them for a smaller print
	samples []rimSample
	sides   [4]sideModel
	levelOf [4][3][]float64 // samples of light for a side's o, w and k
	panel   []float64       // lights of the panel

	equations normalEquations
	lattice   lattice
	token     token.Token
	pose      geom.Pose
	scale     float64 // px/mm
	stride    int     // every stride-th pixel is used in a round
	from      float64 // mm inwards from the base's edge from which pixels are used

	sigma  float64                // blur, mm
	levels [4][3]float64          // o, w, k of each side
	gains  [4][fitColumns]float64 // light along each side; 1 if it is even
	noise  float64                // robust standard deviation of the residual, linear light
	white  float64                // typical w-k

	cov    geom.Cov3
	cells  [4][token.MaxCells]cellState
	shown  [4][token.MaxCells]shows
	keyOff [4][token.MaxCells]float64 // rms residual of the keyline before each cell, relative to the contrast
	keys   [4]int                     // cells of each side next to which the keyline is visible
	corner [4]bool                    // corner at the clockwise end of each side shows the print
	named  bool                       // the likelihood of its cells identifies the ship
	shares [4]float64                 // share of each side's pixels that agree with the print
	misfit [4]float64                 // rms of each side's residual, relative to its contrast
	agree  float64                    // share of all
	rms    float64                    // of the residual relative to white, agreeing pixels only
	alike  float64                    // correlation of the residuals of neighbouring pixels
}

// collect collects the pixels of the rim at the pose, with a margin for the pose to move, and
// computes their places on the table. It reports false if the token lies outside the picture.
func (f *rimFit) collect(g *image.Gray, cam *calibration.Camera, z geom.Length, t token.Token, pose geom.Pose) bool {
	f.token, f.pose = t, pose
	for i := range f.sides {
		f.sides[i].print(t, token.Side(i))
	}
	f.pixels = f.pixels[:0]
	hx, hy := t.Half()
	reach := math.Hypot(hx+fitOutside+1, hy+fitOutside+1)
	center, dx, dy, ok := cam.PixelJacobian(pose.Point, z)
	if !ok {
		return false
	}
	det := dx.X*dy.Y - dx.Y*dy.X
	f.scale = math.Sqrt(math.Abs(det))
	if f.scale < 0.2 {
		return false
	}
	r := int(reach*f.scale*1.05) + 2
	x0, y0 := max(int(center.X)-r, 0), max(int(center.Y)-r, 0)
	x1, y1 := min(int(center.X)+r, g.Rect.Dx()-1), min(int(center.Y)+r, g.Rect.Dy()-1)
	f.lattice.reset(cam, z, x0, y0, x1, y1)
	frame := newTokenFrame(pose)
	dx, dy = dx.Mul(1/det), dy.Mul(1/det)
	for y := y0; y <= y1; y++ {
		v := float64(y) - center.Y
		for x := x0; x <= x1; x++ {
			// Coarse place by the linear map, because most pixels are not on the rim.
			u := float64(x) - center.X
			p := frame.local(&rimPixel{x: pose.X + u*dy.Y - v*dy.X, y: pose.Y + v*dx.X - u*dx.Y})
			fromX, fromY := hx-math.Abs(p.X), hy-math.Abs(p.Y)
			if deep := (fromX + fromY - math.Abs(fromX-fromY)) / 2; deep < -fitOutside-0.6 || deep > fitInside+0.6 { // the smaller
				continue
			}
			q, ok := f.lattice.At(x, y)
			if !ok {
				continue
			}
			f.pixels = append(f.pixels, rimPixel{x: q.X, y: q.Y, light: float64(gray.LinearLight[g.Pix[y*g.Stride+x]])})
		}
	}
	return len(f.pixels) > 40
}

// lattice maps pixels to table points: exactly every latticeStep pixels, and bilinearly between, to
// within 0.002 mm.
type lattice struct {
	cam      *calibration.Camera
	z        geom.Length
	x, y     int // of the first node
	columns  int
	nodes    []geom.Point
	computed []int8 // 0: not yet, 1: known, -1: none
}

const latticeStep = 8

func (l *lattice) reset(cam *calibration.Camera, z geom.Length, x0, y0, x1, y1 int) {
	l.cam, l.z, l.x, l.y = cam, z, x0, y0
	l.columns = (x1-x0)/latticeStep + 2
	n := l.columns * max((y1-y0)/latticeStep+2, 0)
	l.nodes = slices.Grow(l.nodes[:0], max(n, 0))[:max(n, 0)]
	l.computed = slices.Grow(l.computed[:0], max(n, 0))[:max(n, 0)]
	clear(l.computed)
}

func (l *lattice) node(i, j int) (geom.Point, bool) {
	k := j*l.columns + i
	if l.computed[k] == 0 {
		p, ok := l.cam.PointAt(geom.Pixel{X: float64(l.x + i*latticeStep), Y: float64(l.y + j*latticeStep)}, l.z)
		l.nodes[k], l.computed[k] = p, -1
		if ok {
			l.computed[k] = 1
		}
	}
	return l.nodes[k], l.computed[k] == 1
}

// At returns the table point under a pixel.
func (l *lattice) At(x, y int) (geom.Point, bool) {
	i, j := (x-l.x)/latticeStep, (y-l.y)/latticeStep
	a, ok1 := l.node(i, j)
	b, ok2 := l.node(i+1, j)
	c, ok3 := l.node(i, j+1)
	d, ok4 := l.node(i+1, j+1)
	if !ok1 || !ok2 || !ok3 || !ok4 {
		return geom.Point{}, false
	}
	u, v := float64(x-l.x-i*latticeStep)/latticeStep, float64(y-l.y-j*latticeStep)/latticeStep
	return a.Lerp(b, u).Lerp(c.Lerp(d, u), v), true
}

// solve fits the rim to the collected pixels. It reports false if the fit does not converge to
// anything like the token.
func (f *rimFit) solve() bool {
	f.sigma, f.from = 0.75/f.scale, -fitOutside
	for s := range f.gains {
		for c := range f.gains[s] {
			f.gains[s][c] = 1
		}
	}
	f.stride = max(int(f.scale*f.scale/coarseDensity+0.5), 1)
	f.startLevels()
	start := f.pose
	const rounds, coarseRounds = 14, 8
	for round := range rounds {
		f.sample(f.from)
		if round >= 2 {
			f.followLight()
		}
		sum, count := f.normalise(round)
		if count < 30 || (round >= 4 && count*float64(f.stride) < minFitShare*float64(len(f.pixels))) {
			return false
		}
		f.noise = max(math.Sqrt(sum/count), 1e-4)
		f.addPriors()
		l, ok := f.equations.factorise()
		if !ok {
			return false
		}
		step := &f.equations.gradient
		linalg.CholeskySolve(l, step[:])
		f.apply(step)
		if f.pose.Point.Distance(start.Point) > 4 || f.pose.Heading.Distance(start.Heading) > 0.2 {
			return false
		}
		small := math.Abs(step[0]) + math.Abs(step[1]) + 20*math.Abs(step[2])
		switch {
		case f.stride > 1 && (round >= 4 && small < coarseStep || round >= coarseRounds-1):
			f.stride = 1 // near enough: use all pixels
		case f.stride == 1 && round >= 5 && small*f.scale < lastStep:
			f.judge()
			return f.covariance()
		case round >= coarseRounds && small > lostStep:
			return false
		}
	}
	f.judge()
	return f.covariance()
}

const (
	// coarseDensity is how many pixels per square millimetre of rim are used while the pose is still
	// inexact: 500 for a small base. At the end all of them are used.
	coarseDensity = 0.7
	// coarseStep is the step of the pose, in mm, below which it is near enough to use all pixels.
	coarseStep = 0.02
	// lastStep is the step in pixels below which the fit ends.
	lastStep = 2e-3
	// lostStep is the step in mm in a late round from which the fit wanders over something else.
	lostStep = 0.1
)

// normalise computes the normal equations of one round with Tukey's biweight. Its threshold starts
// wide, while the pose is still off by a fraction of a pixel, and narrows to 4.7 sigma. It returns
// the weighted sum of the squared residuals, and that of the weights. It consumes the samples.
func (f *rimFit) normalise(round int) (sum, count float64) {
	closing := max(0.12, 0.5*math.Pow(0.7, float64(round)))
	var bound [4]float64
	for s := range bound {
		bound[s] = 1 / max(4.685*f.noise, closing*f.contrast(int8(s)))
	}
	var sides [4]sideSums
	for i := range f.samples {
		p := &f.samples[i]
		gain := f.gains[p.side][p.column]
		value, slope := gain*p.at.light, gain
		if value > kneeLight {
			value, slope = recorded(value)
			slope *= gain
		}
		e := p.light - value
		if p.light >= clipped && e < 0 {
			continue // overexposed, as it should be: no further information
		}
		u := e * bound[p.side]
		if u*u >= 1 {
			continue
		}
		weight := (1 - u*u) * (1 - u*u)
		sum += weight * e * e
		count += weight
		sides[p.side].add(&p.at, weight*slope*slope, weight*slope*e)
	}
	f.equations.clear()
	turn := newSideTurn(f.pose)
	for s := range sides {
		f.equations.add(s, &sides[s], turn)
		turn = turn.next()
	}
	return sum, count
}

// followLight sets the gain of each column of each side: the factor that fits the model to the
// pixels that agree with it, regularised towards 1. It follows a miniature's hard shadow across a
// side to within a column.
func (f *rimFit) followLight() {
	var num, den [4][fitColumns]float64
	for i := range f.samples {
		p := &f.samples[i]
		if p.d < litFrom {
			continue
		}
		m := p.at.light
		if p.light >= clipped && recordedOnly(m) > p.light {
			continue
		}
		num[p.side][p.column] += unrecorded(min(p.light, clipped)) * m
		den[p.side][p.column] += m * m
	}
	for s := range f.gains {
		for c := range f.sides[s].columns {
			hold := 0.1 * f.white * f.white
			g := (num[s][c] + hold) / (den[s][c] + hold)
			f.gains[s][c] = min(max(g, 0.1), 1.5)
		}
	}
}

// addPriors fills the matrix's upper triangle and adds weak priors: the blur of a focused lens is
// 0.75 ± 0.25 px, and the levels of a wholly hidden side stay where they are.
func (f *rimFit) addPriors() {
	normal, gradient := &f.equations.normal, &f.equations.gradient
	info := 1 / (f.noise * f.noise) // the normal matrix is in units of 1/noise²
	sd := 0.25 / f.scale
	normal[3*fitParams+3] += 1 / (sd * sd) / info
	gradient[3] += (0.75/f.scale - f.sigma) / (sd * sd) / info
	for i := 4; i < fitParams; i++ {
		normal[i*fitParams+i] += 0.5
	}
	for i := range fitParams {
		for j := range i {
			normal[j*fitParams+i] = normal[i*fitParams+j]
		}
	}
}

// apply makes a step, limited to where the linearisation holds.
func (f *rimFit) apply(step *[fitParams]float64) {
	limit := 0.6 / f.scale
	k := 1.0
	if n := math.Hypot(step[0], step[1]); n > limit {
		k = limit / n
	}
	if _, hy := f.token.Half(); math.Abs(step[2])*hy*k > limit {
		n := math.Abs(step[2]) * hy
		k = limit / n
	}
	f.pose.X += k * step[0]
	f.pose.Y += k * step[1]
	f.pose.Heading = (f.pose.Heading + geom.Angle(k*step[2])).Normalized()
	f.sigma = math.Min(math.Max(f.sigma+k*step[3], 0.35/f.scale), mostBlur/f.scale)
	for s := range f.levels {
		for i := range 3 {
			// Light is not negative, and that of clipped paper is unknown.
			f.levels[s][i] = min(math.Max(f.levels[s][i]+step[4+3*s+i], 0), mostLight)
		}
	}
	f.setWhite()
}

// startLevels sets o, w, k of each side from the pixels that should show them: the upper fifth of
// those that should be white and the lower fifth of those that should be dark, so that a mid-grey
// miniature over half the side is not taken for the ink.
func (f *rimFit) startLevels() {
	values := &f.levelOf
	for s := range f.levels {
		f.levels[s] = [3]float64{0, 1, 0}
		for k := range values[s] {
			values[s][k] = values[s][k][:0]
		}
	}
	f.each(func(p *rimPixel, side int8, _, _ float64, at *printed) {
		for k, share := range [...]float64{1 - at.inside, at.inside - at.dark, at.dark} {
			if share > 0.8 {
				values[side][k] = append(values[side][k], unrecorded(min(p.light, clipped)))
			}
		}
	})
	for s := range f.levels {
		f.levels[s] = [3]float64{gray.Quantile(values[s][0], 0.5), gray.Quantile(values[s][1], 0.8), gray.Quantile(values[s][2], 0.2)}
	}
	f.setWhite()
	f.noise = 0.15 * f.white
}

// setWhite sets white to the contrast of the side that has the most.
func (f *rimFit) setWhite() {
	f.white = 0.01
	for s := range f.levels {
		f.white = math.Max(f.white, f.contrast(int8(s)))
	}
}

// contrast returns the difference of the recorded white and dark on a side, at least a hundredth of
// full scale.
func (f *rimFit) contrast(side int8) float64 {
	return math.Max(recordedOnly(f.levels[side][1])-recordedOnly(f.levels[side][2]), 0.01)
}

// covarianceInflation is the factor by which the variance of the pose exceeds that of the normal
// matrix if the residuals of neighbouring pixels are independent: the model's own errors. Measured:
// see docs/accuracy.md.
const covarianceInflation = 1.5

// inflation returns that factor including the correlation of neighbouring residuals, by JPEG
// blocks, sharpening, or a response that is not quite the camera's. Residuals with a correlation r
// between neighbours, and r² to the pixel after, along rows and columns, are worth correspondingly
// fewer independent ones (Bartlett 1946).
func (f *rimFit) inflation() float64 {
	r := min(max(f.alike, 0), 0.9)
	fewer := (1 + r) / (1 - r)
	return covarianceInflation * fewer * fewer
}

// clippedEdge is the displacement of an edge of clipped paper as a share of the blur: 1 sigma,
// measured on the re-exposed pictures with twice the light. It is twice that for paper as light as
// the fit allows, whose light is unknown.
const clippedEdge = 0.15

// clippedShare returns the share of the sides whose paper is clipped. Sides at the largest light
// that the fit allows count twice.
func (f *rimFit) clippedShare() (share float64) {
	for s := range f.levels {
		if f.levels[s][1] > brightest {
			share += 0.25
		}
		if f.levels[s][1] >= mostLight {
			share += 0.25
		}
	}
	return share
}

// covariance inverts the normal matrix and keeps the pose's block.
func (f *rimFit) covariance() bool {
	l, ok := f.equations.factorise()
	if !ok {
		return false
	}
	var cov geom.Cov3
	for j := range 3 {
		var col [fitParams]float64
		col[j] = 1
		linalg.CholeskySolve(l, col[:])
		for i := range 3 {
			cov[3*i+j] = col[i] * f.noise * f.noise * f.inflation()
		}
	}
	// The camera's response is not exact for clipped paper: see clippedEdge.
	if over := f.clippedShare(); over > 0 {
		hx, hy := f.token.Half()
		off := over * clippedEdge * f.sigma
		cov[0] += off * off
		cov[4] += off * off
		cov[8] += off * off / (hx * hy)
	}
	f.cov = cov
	return cov[0] > 0 && cov[4] > 0 && cov[8] > 0
}
