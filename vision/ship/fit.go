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

// The fit lays the printed rim over the picture: it knows what the token looks
// like, and moves it until the difference is least. The rim is modelled in the
// coordinates of one side, a along it and d inwards from the base's edge, as
//
//	I(a, d) = o (1 - S(d)) + w (S(d) - S(d-1)) + S(d-1) (k + (w-k) C(a))
//
// with o, w, k the light of the ground outside, of the white and of the dark ink
// (each side has its own: light falls unevenly), S(x) = Φ(x/σ) the edge blurred by
// the lens and the pixel, and C(a) the blurred cells. It is fitted in linear light,
// where blur is a sum, by Gauss-Newton with Tukey weights, so that what a
// miniature hides counts for nothing. Unknowns: x, y, heading, blur, and o, w, k of
// each side; the pose's covariance is that of the inverse normal matrix.

const (
	fitParams = 4 + 3*4
	// minFitShare is the share of the rim's pixels that must agree with the print
	// after a few rounds: one side alone is a quarter of them.
	minFitShare = 0.12

	fitOutside = 1.3 // mm of ground outside the edge that take part
	fitInside  = 3.3 // mm of rim that take part: not the cells' inner end
	fitCorner  = 2.2 // mm at each end of a side that do not, where two sides mix

	// minContrast is the least difference of white and dark ink in linear light at
	// which cells are believed: 56 grey levels over black. Paper in the deep shadow
	// of a miniature still has it, the ripples of a dark mat do not.
	minContrast = 0.04

	// cellTolerance is the mean squared residual of a cell, over the contrast
	// squared, up to which it shows what the model says. Cells in view have 0.01.
	cellTolerance = 0.06

	mostBlur = 1.6 // px, the largest blur that a fit allows for

	litFrom    = 0.2  // mm inwards from the base's edge from which light is followed: the ground outside has its own
	fitColumn  = 5.0  // mm: light is followed along a side in columns this wide
	fitColumns = 44   // the most columns, of a huge base's long side
	clipped    = 0.97 // recorded light from which a pixel may be overexposed
	mostLight  = 4.0  // the most that clipped paper is taken to have
)

// each calls do with every pixel, or every stride-th, that takes part in the fit at the present pose,
// with its side and its place there: a along the side, d inwards.
func (f *rimFit) each(do func(p *rimPixel, side int8, a, d float64)) {
	hx, hy := f.token.Half()
	frame := newTokenFrame(f.pose)
	for i := 0; i < len(f.pixels); i += f.stride {
		p := &f.pixels[i]
		l := frame.local(p)
		if side, ok := rimSide(hx, hy, l); ok {
			a, d := sidePlace(side, hx, hy, l)
			do(p, side, a, d)
		}
	}
}

// rimSample is what the model makes of a pixel that takes part in a round.
type rimSample struct {
	light  float64    // in the picture
	a, d   float64    // place at its side
	l      geom.Point // in the token's frame
	side   int8
	column int
	model  float64 // where even light falls
	row    fitRow
}

// look sets the samples of a round: every pixel that takes part at the present pose, at least deep mm inwards from the base's edge.
func (f *rimFit) look(trans *[4][]transition, deep float64) {
	hx, hy := f.token.Half()
	h := f.halves()
	frame := newTokenFrame(f.pose)
	f.samples = slices.Grow(f.samples[:0], len(f.pixels)/f.stride+1)
	for i := 0; i < len(f.pixels); i += f.stride {
		p := &f.pixels[i]
		l := frame.local(p)
		side, ok := rimSide(hx, hy, l)
		if !ok {
			continue
		}
		a, d := sidePlace(side, hx, hy, l)
		if d < deep {
			continue
		}
		f.samples = f.samples[:len(f.samples)+1]
		s := &f.samples[len(f.samples)-1]
		s.light, s.a, s.d, s.l, s.side, s.column = p.light, a, d, l, side, column(a, h[side])
		s.model = f.model(side, a, d, trans[side], &s.row)
	}
}

// halves returns half the length of each side, in mm.
func (f *rimFit) halves() (h [4]float64) {
	hx, hy := f.token.Half()
	return [4]float64{hx, hy, hx, hy}
}

// column returns which column of its side, whose half length is h, the place a along it lies in.
func column(a, h float64) int {
	return min(max(int((a+h)/fitColumn), 0), int(2*h/fitColumn)-1)
}

// A camera's response bends from kneeLight on: what is lighter is compressed, so that it approaches 1 and
// does not clip. With t how far a light lies above the knee, it is recorded as
//
//	kneeLight + (1-kneeLight) (1 - exp(-t/(1-kneeLight)))
const kneeLight = 0.7

// recorded returns what a camera records of a light, and its derivative.
func recorded(light float64) (v, slope float64) {
	if light <= kneeLight {
		return light, 1
	}
	e := math.Exp((kneeLight - light) / (1 - kneeLight))
	return 1 - (1-kneeLight)*e, e
}

func recordedOnly(light float64) float64 { v, _ := recorded(light); return v }

// unrecorded is recorded's inverse.
func unrecorded(v float64) float64 {
	if v <= kneeLight {
		return v
	}
	return kneeLight - (1-kneeLight)*math.Log(max(1-v, 1e-9)/(1-kneeLight))
}

// brightest is the light from which all whites are recorded alike, within a grey level or two.
const brightest = 1.5

// rimPixel is one pixel that takes part in a fit.
type rimPixel struct {
	x, y  float64 // its place on the table at the token's height, mm
	light float64
}

// tokenFrame takes table points to a pose's own frame, as geom.Pose.Inverse does,
// with the sine and cosine taken once for the thousands of pixels of a fit.
type tokenFrame struct{ x, y, sin, cos float64 }

func newTokenFrame(p geom.Pose) tokenFrame {
	s, c := math.Sincos(float64(p.Heading))
	return tokenFrame{p.X, p.Y, s, c}
}

func (t tokenFrame) local(p *rimPixel) geom.Point {
	dx, dy := p.x-t.x, p.y-t.y
	return geom.Point{X: t.cos*dx - t.sin*dy, Y: t.sin*dx + t.cos*dy}
}

// rimFit is the state of one fit; its buffers are kept from ship to ship.
type rimFit struct {
	pixels  []rimPixel
	shrunk  []rimPixel // a copy of them, as if the print were smaller
	samples []rimSample
	lattice lattice
	token   token.Token
	pose    geom.Pose
	scale   float64 // px/mm
	stride  int     // every stride-th pixel takes part in a round
	from    float64 // mm inwards from the base's edge from which pixels take part

	sigma  float64                // blur, mm
	levels [4][3]float64          // o, w, k of each side
	gains  [4][fitColumns]float64 // light along each side, 1 where it is even
	noise  float64                // robust standard deviation of the residual, linear light
	white  float64                // typical w-k

	cov    geom.Cov3
	cells  [4][token.MaxCells]cellState
	shown  [4][token.MaxCells]shows
	keys   [4]int     // cells of each side next to which the keyline is in view
	corner [4]bool    // corner at the clockwise end of each side shows the print
	named  bool       // the likelihood of its cells names the ship
	shares [4]float64 // share of each side's pixels that agree with the print
	misfit [4]float64 // rms of each side's residual over its contrast
	agree  float64    // share of all
	rms    float64    // of the residual over white, agreeing pixels only
	alike  float64    // correlation of the residuals of neighbouring pixels
}

// sidePlace gives a point's place relative to a side: a along it, d inwards.
func sidePlace(side int8, hx, hy float64, l geom.Point) (a, d float64) {
	switch side {
	case 0:
		return l.X, hy - l.Y
	case 1:
		return -l.Y, hx - l.X
	case 2:
		return -l.X, hy + l.Y
	default:
		return l.Y, hx + l.X
	}
}

// collect gathers the pixels of the rim at the pose, with a margin for the pose
// to move, and gives each its place on the table. It reports false when the
// token lies outside the picture.
func (f *rimFit) collect(g *image.Gray, cam *calibration.Camera, z geom.Length, t token.Token, pose geom.Pose) bool {
	f.token, f.pose = t, pose
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
	for y := y0; y <= y1; y++ {
		for x := x0; x <= x1; x++ {
			// Coarse place by the linear map: most pixels are not on the rim.
			u, v := float64(x)-center.X, float64(y)-center.Y
			p := frame.local(&rimPixel{x: pose.X + (u*dy.Y-v*dy.X)/det, y: pose.Y + (v*dx.X-u*dx.Y)/det})
			deep := math.Min(hx-math.Abs(p.X), hy-math.Abs(p.Y))
			if deep < -fitOutside-0.6 || deep > fitInside+0.6 {
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

// lattice gives the table points of pixels: exact ones every latticeStep pixels, and between them bilinear ones, which
// are off by less than 0.002 mm.
type lattice struct {
	cam      *calibration.Camera
	z        geom.Length
	x, y     int // of the first node
	columns  int
	nodes    []geom.Point
	computed []int8 // 0: not yet, 1: known, -1: there is none
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

// edges of C: the transitions between dark and white cells of a side.
type transition struct{ at, step float64 }

// transitions lists where the cells of a side change, from a = -∞ (dark) on.
func transitions(t token.Token, s token.Side, out []transition) []transition {
	w := float64(token.CellWidth(t.Base, s))
	half, _ := t.HalfAlong(s)
	first := -half + float64(token.Corner)
	last := false
	n := token.Cells(t.Base, s)
	for i := range n + 1 {
		white := i < n && t.Cell(s, i)
		if white != last {
			step := 1.0
			if last {
				step = -1
			}
			out = append(out, transition{first + float64(i)*w, step})
		}
		last = white
	}
	return out
}

// blurredCells returns C(a), its derivative and its derivative by σ.
func blurredCells(tr []transition, a, sigma float64) (c, da, ds float64) {
	inv := 1 / sigma
	for _, t := range tr { // in the order of their places
		x := (a - t.at) * inv
		if x >= gray.PhiReach {
			c += t.step
			continue
		}
		if x <= -gray.PhiReach {
			break
		}
		cdf, pdf := gray.Phi(x)
		c += t.step * cdf
		da += t.step * pdf * inv
		ds -= t.step * pdf * x * inv
	}
	return c, da, ds
}

// solve fits the rim from the collected pixels. It reports false when the fit
// does not converge to anything like the token.
func (f *rimFit) solve() bool {
	var trans [4][]transition
	for s := range trans {
		trans[s] = transitions(f.token, token.Side(s), nil)
	}
	f.sigma, f.from = 0.75/f.scale, -fitOutside
	for s := range f.gains {
		for c := range f.gains[s] {
			f.gains[s][c] = 1
		}
	}
	f.stride = max(int(f.scale*f.scale/coarseDensity+0.5), 1)
	f.startLevels(&trans)
	start := f.pose
	var normal [fitParams * fitParams]float64
	var gradient [fitParams]float64
	const rounds, coarseRounds = 14, 8
	for round := range rounds {
		f.look(&trans, f.from)
		if round >= 2 {
			f.followLight()
		}
		sum, count := f.normalise(round, &normal, &gradient)
		if count < 30 || (round >= 4 && count*float64(f.stride) < minFitShare*float64(len(f.pixels))) {
			return false
		}
		f.noise = max(math.Sqrt(sum/count), 1e-4)
		f.addPriors(&normal, &gradient)
		step, ok := linalg.SolveSPD(normal[:], gradient[:])
		if !ok {
			return false
		}
		f.apply(step)
		if f.pose.Point.Distance(start.Point) > 4 || f.pose.Heading.Distance(start.Heading) > 0.2 {
			return false
		}
		small := math.Abs(step[0]) + math.Abs(step[1]) + 20*math.Abs(step[2])
		switch {
		case f.stride > 1 && (round >= 4 && small < coarseStep || round >= coarseRounds-1):
			f.stride = 1 // near enough: now all of them
		case f.stride == 1 && round >= 5 && small < 1e-3:
			f.judge(&trans)
			return f.covariance(normal[:])
		}
	}
	f.judge(&trans)
	return f.covariance(normal[:])
}

const (
	// coarseDensity is how many pixels of a square millimetre of rim take part while the
	// pose is still being found: 500 of a small base. All of them take part at the end.
	coarseDensity = 0.7
	// coarseStep is a step of the pose, in mm, after which it is near enough for all
	// pixels to be worth their time.
	coarseStep = 0.02
)

// normalise sums up the normal equations of one round, with Tukey's biweight, whose
// threshold starts wide, while the pose is still off by a fraction of a pixel, and closes
// to 4.7 sigma. It returns the weighted sum of the squared residuals, and of the weights. It uses the samples up.
func (f *rimFit) normalise(round int, normal *[fitParams * fitParams]float64, gradient *[fitParams]float64) (sum, count float64) {
	closing := max(0.12, 0.5*math.Pow(0.7, float64(round)))
	var bound [4]float64
	for s := range bound {
		bound[s] = 1 / max(4.685*f.noise, closing*f.contrast(int8(s)))
	}
	var sides [4]sideSums
	frame := newTokenFrame(f.pose)
	for i := range f.samples {
		p := &f.samples[i]
		gain := f.gains[p.side][p.column]
		value, slope := recorded(gain * p.model)
		e := p.light - value
		if p.light >= clipped && e < 0 {
			continue // overexposed, as it should be: it says no more than that
		}
		u := e * bound[p.side]
		if u*u >= 1 {
			continue
		}
		weight := (1 - u*u) * (1 - u*u)
		sum += weight * e * e
		count += weight
		p.row.chain(p.side, frame, p.l)
		p.row.scale(gain * slope)
		sides[p.side].add(&p.row, weight, e)
	}
	clear(normal[:])
	clear(gradient[:])
	for s := range sides {
		sides[s].Into(s, normal, gradient)
	}
	return sum, count
}

// rimSide reports which side a point of the token's frame belongs to, and
// whether it takes part in the fit.
func rimSide(hx, hy float64, l geom.Point) (int8, bool) {
	dx, dy := hx-math.Abs(l.X), hy-math.Abs(l.Y)
	var side int8
	d, toEnd := dy, dx
	switch {
	case dy <= dx && l.Y > 0:
		side = 0
	case dy <= dx:
		side = 2
	case l.X > 0:
		side, d, toEnd = 1, dx, dy
	default:
		side, d, toEnd = 3, dx, dy
	}
	return side, d > -fitOutside && d < fitInside && toEnd > fitCorner
}

// fitRow is one row of the Jacobian, in the side's coordinates.
type fitRow struct {
	da, dd, ds float64    // by a, d and σ
	level      [3]float64 // by o, w, k
	pose       [3]float64 // by x, y, heading
}

// model returns I(a, d) and its derivatives.
func (f *rimFit) model(side int8, a, d float64, tr []transition, row *fitRow) float64 {
	o, w, k := f.levels[side][0], f.levels[side][1], f.levels[side][2]
	s := f.sigma
	x0, x1 := d/s, (d-float64(token.Keyline))/s
	s0, p0 := gray.Phi(x0)
	s1, p1 := gray.Phi(x1)
	c, cda, cds := blurredCells(tr, a, s)
	row.level = [3]float64{1 - s0, s0 - s1 + s1*c, s1 * (1 - c)}
	row.dd = (w-o)*p0/s - (w-k)*(1-c)*p1/s
	row.da = s1 * (w - k) * cda
	row.ds = -(w-o)*p0*x0/s + (w-k)*(1-c)*p1*x1/s + s1*(w-k)*cds
	return o*row.level[0] + w*row.level[1] + k*row.level[2]
}

// chain turns the derivatives by a and d into those by the pose.
func (r *fitRow) chain(side int8, frame tokenFrame, l geom.Point) {
	s, c := frame.sin, frame.cos
	// local x and y by (x, y, heading): see geom.Pose.Inverse.
	lx := [3]float64{-c, s, -l.Y}
	ly := [3]float64{-s, -c, l.X}
	for i := range 3 {
		var a, d float64
		switch side {
		case 0:
			a, d = lx[i], -ly[i]
		case 1:
			a, d = -ly[i], -lx[i]
		case 2:
			a, d = -lx[i], ly[i]
		default:
			a, d = ly[i], lx[i]
		}
		r.pose[i] = r.da*a + r.dd*d
	}
}

// scale multiplies the row by the light that falls on its column and the slope of the camera's response.
func (r *fitRow) scale(gain float64) {
	r.ds *= gain
	for i := range 3 {
		r.level[i] *= gain
		r.pose[i] *= gain
	}
}

// followLight sets the gain of each column of each side: the factor that fits the
// model to the pixels that agree with it, held back towards 1. A miniature's hard
// shadow across a side is followed to within a column.
func (f *rimFit) followLight() {
	var num, den [4][fitColumns]float64
	h := f.halves()
	for i := range f.samples {
		p := &f.samples[i]
		if p.d < litFrom {
			continue
		}
		m := p.model
		if p.light >= clipped && recordedOnly(m) > p.light {
			continue
		}
		num[p.side][p.column] += unrecorded(min(p.light, clipped)) * m
		den[p.side][p.column] += m * m
	}
	for s := range f.gains {
		for c := range int(2 * h[s] / fitColumn) {
			hold := 0.1 * f.white * f.white
			g := (num[s][c] + hold) / (den[s][c] + hold)
			f.gains[s][c] = min(max(g, 0.1), 1.5)
		}
	}
}

// sideSums are the normal equations of one side's pixels in its own seven parameters: x,
// y, heading, σ, and its o, w, k; the lower triangle, row by row.
type sideSums struct {
	normal   [28]float64
	gradient [7]float64
}

// add takes a pixel's row in.
func (s *sideSums) add(r *fitRow, weight, e float64) {
	x, y, turn, blur, o, w, k := r.pose[0], r.pose[1], r.pose[2], r.ds, r.level[0], r.level[1], r.level[2]
	wx, wy, wturn, wblur, wo, ww, wk := weight*x, weight*y, weight*turn, weight*blur, weight*o, weight*w, weight*k
	g := &s.gradient
	g[0], g[1], g[2], g[3], g[4], g[5], g[6] = g[0]+wx*e, g[1]+wy*e, g[2]+wturn*e, g[3]+wblur*e, g[4]+wo*e, g[5]+ww*e, g[6]+wk*e
	n := &s.normal // written out: a loop over it takes twice as long
	n[0] += wx * x
	n[1], n[2] = n[1]+wy*x, n[2]+wy*y
	n[3], n[4], n[5] = n[3]+wturn*x, n[4]+wturn*y, n[5]+wturn*turn
	n[6], n[7], n[8], n[9] = n[6]+wblur*x, n[7]+wblur*y, n[8]+wblur*turn, n[9]+wblur*blur
	n[10], n[11], n[12], n[13], n[14] = n[10]+wo*x, n[11]+wo*y, n[12]+wo*turn, n[13]+wo*blur, n[14]+wo*o
	n[15], n[16], n[17], n[18], n[19], n[20] = n[15]+ww*x, n[16]+ww*y, n[17]+ww*turn, n[18]+ww*blur, n[19]+ww*o, n[20]+ww*w
	n[21], n[22], n[23], n[24] = n[21]+wk*x, n[22]+wk*y, n[23]+wk*turn, n[24]+wk*blur
	n[25], n[26], n[27] = n[25]+wk*o, n[26]+wk*w, n[27]+wk*k
}

// Into adds the side's sums to those of all sixteen parameters: x, y, heading, σ, then
// o, w, k of the four sides.
func (s *sideSums) Into(side int, normal *[fitParams * fitParams]float64, gradient *[fitParams]float64) {
	at := [7]int{0, 1, 2, 3, 4 + 3*side, 5 + 3*side, 6 + 3*side}
	k := 0
	for i := range 7 {
		gradient[at[i]] += s.gradient[i]
		for j := 0; j <= i; j++ {
			normal[at[i]*fitParams+at[j]] += s.normal[k]
			k++
		}
	}
}

// addPriors completes the lower triangle's symmetric counterpart and adds weak
// knowledge: the blur of a focused lens is 0.75 ± 0.25 px, and the levels of a
// side that is wholly hidden stay where they are.
func (f *rimFit) addPriors(normal *[fitParams * fitParams]float64, gradient *[fitParams]float64) {
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

// apply takes a step, limited to what one linearisation is good for.
func (f *rimFit) apply(step []float64) {
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
			// There is no light below none, and of clipped paper no one knows how light it is.
			f.levels[s][i] = min(math.Max(f.levels[s][i]+step[4+3*s+i], 0), mostLight)
		}
	}
	f.setWhite()
}

// startLevels sets o, w, k of each side from the pixels that should show them: the
// upper fifth of what should be white and the lower fifth of what should be dark,
// so that a miniature of middling grey over half the side does not pass for the ink.
func (f *rimFit) startLevels(trans *[4][]transition) {
	var values [4][3][]float64
	var row fitRow
	for s := range f.levels {
		f.levels[s] = [3]float64{0, 1, 0}
	}
	f.each(func(p *rimPixel, side int8, a, d float64) {
		f.model(side, a, d, trans[side], &row)
		for k := range 3 {
			if row.level[k] > 0.8 {
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

// contrast returns by how much white is recorded lighter than dark on a side, at least a hundredth of full scale.
func (f *rimFit) contrast(side int8) float64 {
	return math.Max(recordedOnly(f.levels[side][1])-recordedOnly(f.levels[side][2]), 0.01)
}

// covarianceInflation is how much larger the pose's true scatter is than the normal matrix says, as a factor on the
// variance, where the residuals of neighbouring pixels are independent: the model's own faults. Measured: see docs/accuracy.md.
const covarianceInflation = 1.5

// inflation is that factor with what the residuals of neighbours have in common: JPEG blocks, sharpening, a response that
// is not quite the camera's. Residuals that are alike by r from one pixel to the next, and by r² to the one after it, along rows and
// columns, count for as many fewer (Bartlett 1946).
func (f *rimFit) inflation() float64 {
	r := min(max(f.alike, 0), 0.9)
	fewer := (1 + r) / (1 - r)
	return covarianceInflation * fewer * fewer
}

// clippedEdge is how far an edge of paper that is clipped lies off, as a share of the blur: 1 sigma, measured on the
// re-exposed pictures with twice the light.
const clippedEdge = 0.15

// clippedShare is the share of the sides whose paper is lighter than is recorded.
func (f *rimFit) clippedShare() (share float64) {
	for s := range f.levels {
		if f.levels[s][1] > brightest {
			share += 0.25
		}
	}
	return share
}

// covariance inverts the normal matrix and keeps the pose's block.
func (f *rimFit) covariance(normal []float64) bool {
	var cov geom.Cov3
	for j := range 3 {
		var e [fitParams]float64
		e[j] = 1
		col, ok := linalg.SolveSPD(normal, e[:])
		if !ok {
			return false
		}
		for i := range 3 {
			cov[3*i+j] = col[i] * f.noise * f.noise * f.inflation()
		}
	}
	// The response of clipped paper is not the camera's to the last: see clippedEdge.
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
