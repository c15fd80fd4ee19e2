package obstacle

import (
	"image"
	"math"
	"slices"

	"sightline/calibration"
	"sightline/calibration/linalg"
	"sightline/engine/geom"
	"sightline/vision/catalogue"
	"sightline/vision/internal/gray"
)

// The fit lays a token's outline over the picture and moves it until it lies on the
// line where the picture begins to differ from the empty mat. Along each of many
// short profiles across the outline the difference is modelled as
//
//	D(t) = b + (a - b) Φ((t0 - t)/σ)
//
// with a inside, b outside (0 but for shadow), σ the blur of the lens and the pixel;
// the places t0 of all profiles give x, y and heading by least squares with Tukey
// weights, so that what lies half over the token counts for nothing.
//
// A token is a slab: seen from above its silhouette is its upper edge where its
// wall looks away from the camera, and its foot on the mat where the wall looks
// towards it. Each profile is taken at the height of the edge that it shows.

// wallSeen is the width, in mm, from which a wall is the edge that is seen.
const wallSeen = 0.4

const (
	outlineStep  = 1.5 // mm between profiles
	profileReach = 2.5 // mm of a profile on either side
	profileTight = 1.2 // mm by which an edge may be off and still be the token's
)

// edgePoint is one profile across an outline.
type edgePoint struct {
	at, normal geom.Point // in the token's frame: place and outward unit normal
	offset     float64    // where the edge lies, mm outwards from the outline
	weight     float64    // 1/variance of offset, 1/mm²; 0: no edge was seen
	hidden     bool       // under a ship or outside the picture: it says nothing
	bare       float64    // 1 where the print's own edge is seen, 0 where a wall stands before it
}

// outlineFit fits an outline's pose; its buffers are kept from token to token.
type outlineFit struct {
	cam   *calibration.Camera
	diff  *subtraction
	eye   calibration.Vec3
	scale float64 // px/mm

	reduced float64 // the noise of a pixel over that of one of the picture that was compared

	points []edgePoint
	edge   stepFit
	inOut  regionFit

	pose    geom.Pose
	inset   [2]float64 // of bare and of walled edges, mm outwards
	cov     geom.Cov3
	rms     float64 // of the edges' offsets, mm
	visible float64 // share of the outline that nothing hides
	support float64 // share of the visible outline where the edge was seen in its place
	misfit  float64 // 0…1: mean over the visible outline of how badly the edges fit

	region   float64 // 0…1: how badly the token's inside and the mat outside fit, see judgeRegion
	bordered float64 // share of the outline at which the token ends beyond doubt
}

// start places profiles along an outline, given counter-clockwise.
func (f *outlineFit) start(outline []geom.Point, pose geom.Pose) {
	f.pose, f.points, f.inset = pose, f.points[:0], [2]float64{}
	points := catalogue.PointsAlong(outline, outlineStep)
	for k, n := range catalogue.Normals(points) {
		f.points = append(f.points, edgePoint{at: points[k], normal: n})
	}
}

// sampleProfiles takes every profile at the present pose. hidden tells table points (at the
// mat's level) about which the picture says nothing.
func (f *outlineFit) sampleProfiles(g *image.Gray, top geom.Length, hidden func(geom.Point) bool, reach float64) {
	edge := &f.edge
	edge.sigma = math.Hypot(0.75/f.scale, 0.15)
	edge.step = 0.5 / f.scale
	n := int(profileReach/edge.step + 0.5)
	for k := range f.points {
		p := &f.points[k]
		p.weight, p.hidden = 0, true
		at := f.pose.Transform(p.at)
		out := f.pose.Transform(p.at.Add(p.normal)).Sub(at)
		z := float64(top)
		edge.wall = 0
		if towards := -(out.X*(at.X-f.eye[0]) + out.Y*(at.Y-f.eye[1])); towards > 0 {
			edge.wall = towards * z / (f.eye[2] - z)
			z = 0
		}
		if hidden != nil && hidden(at) {
			continue
		}
		foot := f.eye[2] / (f.eye[2] - z) // mat point behind a point at z, from the eye's foot
		px, ok0 := f.cam.PixelOf(at, geom.Length(z))
		qx, ok1 := f.cam.PixelOf(at.Add(out.Mul(2)), geom.Length(z))
		if !ok0 || !ok1 {
			continue
		}
		along := qx.Sub(px).Mul(0.5)
		gain := f.diff.gain.At(at)
		edge.d, edge.variance, edge.ground = edge.d[:0], edge.variance[:0], 0
		for i := -n; i <= n; i++ {
			t := float64(i) * edge.step
			v, ok := gray.Bilinear(g, px.X+t*along.X, px.Y+t*along.Y)
			q := at.Add(out.Mul(t))
			e, ok2 := f.diff.mat.At(geom.Point{X: f.eye[0] + (q.X-f.eye[0])*foot, Y: f.eye[1] + (q.Y-f.eye[1])*foot})
			if !ok || !ok2 {
				break
			}
			v, dv := gray.LightAt(v)
			e, _ = gray.LightAt(gain * e)
			noise := f.diff.noise * f.reduced * dv
			edge.d, edge.variance = append(edge.d, v-e), append(edge.variance, noise*noise)
			edge.ground = max(edge.ground, e)
		}
		if len(edge.d) < 2*n+1 {
			continue
		}
		p.hidden = false
		p.bare = max(0, 1-edge.wall/wallSeen)
		p.offset, p.weight = edge.find(reach)
	}
}

// texture is how far a token's own print departs from a straight ramp near its
// edge, as a share of its light.
const texture = 0.3

// stepFit finds the edge of a token in one profile.
type stepFit struct {
	step, sigma float64   // between samples; of the blur; mm
	wall        float64   // width of the token's wall in view, mm: at t in [-wall, 0]
	d           []float64 // difference from the empty mat, linear light
	variance    []float64 // of each sample's noise
	ground      float64   // light of the empty mat: no shadow takes more

	inside float64 // rms of d on the token

	rows, slopes [][stepUnknowns]float64
	weights      []float64

	bare   []bareRow // for tryBare
	floors []float64 // the least variance of each sample
	coarse coarseRows
}

// bareRow is what a sample shows of the linear unknowns, the wall apart, where no wall is seen and the edge is at a place that is tried.
type bareRow [3]float64

// coarseRows are the rows of the places that find tries first. They are the same for every profile of a look.
type coarseRows struct {
	reach, sigma, step float64
	samples            int
	places             []float64
	rows               []bareRow
}

// The linear unknowns of a profile: the light of the print at its edge, its slope
// inwards per mm (prints darken towards the edge), of the ground outside (shadow), and
// of the wall.
const stepUnknowns = 4

// try returns -2 log likelihood of an edge at t0, whose rows are bareRows', and what it knows of t0: one over
// its variance, the linear unknowns being unknown.
func (f *stepFit) try(t0 float64, rows []bareRow, full bool) (cost, information float64) {
	inside, ground := f.inside*f.inside, f.ground*f.ground
	// The lower half of the normal equations, row by row.
	n00, n11, n22, n33 := 1/(4*inside+1e-9), 1/(0.02*inside+1e-9), 1/(0.5*ground+1e-9), 1/0.25
	var n10, n20, n21, n30, n31, n32, g0, g1, g2, g3, square float64
	weights, scale := 1.0, inside+1e-12 // keeps the product of weights within range
	half := (len(f.d) - 1) / 2
	for i, v := range f.d {
		foot, a, b, c := rows[i][0], rows[i][0], rows[i][1], rows[i][2]
		if f.wall > 0 {
			t := t0 - float64(i-half)*f.step - f.wall // depth below the wall's upper edge
			print, density := gray.Phi(t / f.sigma)
			a, b = print, print*t+f.sigma*density
		}
		d := foot - a
		spread := texture * f.inside * a
		w := 1 / (f.floors[i] + spread*spread)
		wa, wb, wc, wd := w*a, w*b, w*c, w*d
		n00, n10, n11 = n00+wa*a, n10+wb*a, n11+wb*b
		n20, n21, n22 = n20+wc*a, n21+wc*b, n22+wc*c
		n30, n31, n32, n33 = n30+wd*a, n31+wd*b, n32+wd*c, n33+wd*d
		g0, g1, g2, g3 = g0+wa*v, g1+wb*v, g2+wc*v, g3+wd*v
		square += w * v * v
		weights *= w * scale
		if full {
			f.rows[i], f.weights[i] = [stepUnknowns]float64{a, b, c, d}, w
			t := t0 - float64(i-half)*f.step
			_, footDensity := gray.Phi(t / f.sigma)
			_, printDensity := gray.Phi((t - f.wall) / f.sigma)
			f.slopes[i] = [stepUnknowns]float64{printDensity / f.sigma, a, -footDensity / f.sigma, (footDensity - printDensity) / f.sigma}
		}
	}
	l := factor4{n00, 0, 0, 0, n10, n11, 0, 0, n20, n21, n22, 0, n30, n31, n32, n33}
	if !l.factor() {
		return math.Inf(1), 0
	}
	g := [stepUnknowns]float64{g0, g1, g2, g3}
	y := l.forward(g)
	cost = square - (y[0]*y[0] + y[1]*y[1] + y[2]*y[2] + y[3]*y[3]) - math.Log(weights) // one logarithm for all
	if !full {
		return cost, 0
	}
	return cost, f.information(&l, l.solve(g))
}

// bareRows sets rows to what the samples show if the edge is at t0 and no wall is seen.
func (f *stepFit) bareRows(rows []bareRow, t0 float64) {
	half := (len(rows) - 1) / 2
	for i := range rows {
		t := t0 - float64(i-half)*f.step
		print, density := gray.Phi(t / f.sigma)
		rows[i] = bareRow{print, print*t + f.sigma*density, 1 - print}
	}
}

// tryBare is try's cost where no wall is seen: the light of the wall is zero then.
func (f *stepFit) tryBare(rows []bareRow) float64 {
	inside, ground := f.inside*f.inside, f.ground*f.ground
	n00, n11, n22 := 1/(4*inside+1e-9), 1/(0.02*inside+1e-9), 1/(0.5*ground+1e-9)
	var n10, n20, n21, g0, g1, g2, square float64
	weights, scale, unlike := 1.0, inside+1e-12, texture*f.inside
	floors := f.floors[:len(rows)]
	for i, v := range f.d[:len(rows)] {
		a, b, c := rows[i][0], rows[i][1], rows[i][2]
		spread := unlike * a
		w := 1 / (floors[i] + spread*spread)
		wa, wb, wc := w*a, w*b, w*c
		n00, n10, n11 = n00+wa*a, n10+wb*a, n11+wb*b
		n20, n21, n22 = n20+wc*a, n21+wc*b, n22+wc*c
		g0, g1, g2 = g0+wa*v, g1+wb*v, g2+wc*v
		square += w * v * v
		weights *= w * scale
	}
	l0 := math.Sqrt(n00)
	l10, l20 := n10/l0, n20/l0
	d1 := n11 - l10*l10
	l1 := math.Sqrt(d1)
	l21 := (n21 - l20*l10) / l1
	d2 := n22 - l20*l20 - l21*l21
	if !(n00 > 0 && d1 > 0 && d2 > 0) {
		return math.Inf(1)
	}
	y0 := g0 / l0
	y1 := (g1 - l10*y0) / l1
	y2 := (g2 - l20*y0 - l21*y1) / math.Sqrt(d2)
	return square - (y0*y0 + y1*y1 + y2*y2) - math.Log(weights)
}

// variances sets the least variance of each sample, whatever the token's print is like.
func (f *stepFit) variances() {
	floor := 0.05*0.05*(f.inside*f.inside) + 0.03*0.03*(f.ground*f.ground)
	f.floors = f.floors[:0]
	for _, v := range f.variance {
		f.floors = append(f.floors, v+floor)
	}
}

// coarsely prepares the places that are tried first, as far as reach.
func (f *stepFit) coarsely(reach float64) {
	c := &f.coarse
	if c.reach == reach && c.sigma == f.sigma && c.step == f.step && c.samples == len(f.d) {
		return
	}
	*c = coarseRows{reach, f.sigma, f.step, len(f.d), c.places[:0], c.rows}
	count := int(2*reach/(0.6*f.sigma)) + 1
	c.rows = grown(c.rows, count*len(f.d))
	for i := range count {
		t0 := -reach + (float64(i)+0.5)*2*reach/float64(count)
		c.places = append(c.places, t0)
		f.bareRows(c.rows[i*len(f.d):(i+1)*len(f.d)], t0)
	}
}

// information returns what the profile knows of the place of the edge, one over its variance, at the fit that try made
// with the linear unknowns x and the factor l of their normal equations.
func (f *stepFit) information(l *factor4, x [stepUnknowns]float64) float64 {
	const m = stepUnknowns
	var j [m]float64
	var jj, jd float64
	for i := range f.d {
		var slope float64
		for r := range m {
			slope += f.slopes[i][r] * x[r]
		}
		jj += f.weights[i] * slope * slope
		for r := range m {
			j[r] += f.weights[i] * slope * f.rows[i][r]
		}
	}
	y := l.solve(j)
	for r := range m {
		jd += y[r] * j[r]
	}
	return jj - jd
}

// factor4 is the Cholesky factor of a symmetric 4×4 matrix.
type factor4 [stepUnknowns * stepUnknowns]float64

// factor puts the factor in the place of the matrix, the lower half of which l is, row by row.
func (l *factor4) factor() bool {
	const m = stepUnknowns
	l[0] = math.Sqrt(l[0])
	l[m], l[2*m], l[3*m] = l[m]/l[0], l[2*m]/l[0], l[3*m]/l[0]
	l[m+1] = math.Sqrt(l[m+1] - l[m]*l[m])
	l[2*m+1], l[3*m+1] = (l[2*m+1]-l[2*m]*l[m])/l[m+1], (l[3*m+1]-l[3*m]*l[m])/l[m+1]
	l[2*m+2] = math.Sqrt(l[2*m+2] - l[2*m]*l[2*m] - l[2*m+1]*l[2*m+1])
	l[3*m+2] = (l[3*m+2] - l[3*m]*l[2*m] - l[3*m+1]*l[2*m+1]) / l[2*m+2]
	l[3*m+3] = math.Sqrt(l[3*m+3] - l[3*m]*l[3*m] - l[3*m+1]*l[3*m+1] - l[3*m+2]*l[3*m+2])
	return l[0] > 0 && l[m+1] > 0 && l[2*m+2] > 0 && l[3*m+3] > 0
}

// forward returns the y of L y = b.
func (l *factor4) forward(b [stepUnknowns]float64) [stepUnknowns]float64 {
	const m = stepUnknowns
	b[0] /= l[0]
	b[1] = (b[1] - l[m]*b[0]) / l[m+1]
	b[2] = (b[2] - l[2*m]*b[0] - l[2*m+1]*b[1]) / l[2*m+2]
	b[3] = (b[3] - l[3*m]*b[0] - l[3*m+1]*b[1] - l[3*m+2]*b[2]) / l[3*m+3]
	return b
}

// solve returns the x of L Lᵀ x = b.
func (l *factor4) solve(b [stepUnknowns]float64) [stepUnknowns]float64 {
	const m = stepUnknowns
	b = l.forward(b)
	for r := m - 1; r >= 0; r-- {
		for k := r + 1; k < m; k++ {
			b[r] -= l[m*k+r] * b[k]
		}
		b[r] /= l[m*r+r]
	}
	return b
}

// find returns where the edge is and one over its variance; weight 0 when there is
// none within profileReach.
func (f *stepFit) find(reach float64) (at, weight float64) {
	n := (len(f.d) - 1) / 2
	f.inside = 0
	for _, v := range f.d[:n] {
		f.inside += v * v / float64(n)
	}
	f.inside = math.Sqrt(f.inside)
	f.rows, f.slopes = slices.Grow(f.rows[:0], len(f.d))[:len(f.d)], slices.Grow(f.slopes[:0], len(f.d))[:len(f.d)]
	f.weights = slices.Grow(f.weights[:0], len(f.d))[:len(f.d)]
	f.bare = grown(f.bare, len(f.d))
	f.variances()
	f.coarsely(reach)
	best := math.Inf(1)
	try := func(t0 float64, rows []bareRow) {
		if rows == nil {
			rows = f.bare
			f.bareRows(rows, t0)
		}
		var e float64
		if f.wall > 0 {
			e, _ = f.try(t0, rows, false)
		} else {
			e = f.tryBare(rows)
		}
		if e < best {
			best, at = e, t0
		}
	}
	for i, t0 := range f.coarse.places {
		try(t0, f.coarse.rows[i*len(f.d):(i+1)*len(f.d)])
	}
	for h := reach / float64(len(f.coarse.places)); h > 0.02; h /= 2 {
		t0 := at
		try(t0-h, nil)
		try(t0+h, nil)
	}
	f.bareRows(f.bare, at)
	_, information := f.try(at, f.bare, true)
	if math.Abs(at) > reach || information < 4 {
		return 0, 0
	}
	return at, 1 / (1/information + 0.1*0.1)
}

// solve moves the pose until the edges lie on the outline.
func (f *outlineFit) solve(g *image.Gray, top geom.Length, hidden func(geom.Point) bool) bool {
	start := f.pose
	for round := range 8 {
		limit := math.Max(profileTight, profileReach*math.Pow(0.7, float64(round)))
		f.sampleProfiles(g, top, hidden, math.Min(limit+0.4, profileReach-0.5))
		step, ok := f.step(limit)
		if !ok {
			return false
		}
		f.pose.Point = f.pose.Point.Add(geom.Point{X: step[0], Y: step[1]})
		f.pose.Heading = (f.pose.Heading + geom.Angle(step[2])).Normalized()
		f.inset[0], f.inset[1] = f.inset[0]+step[3], f.inset[1]+step[4]
		if f.pose.Point.Distance(start.Point) > 8 || f.pose.Heading.Distance(start.Heading) > 0.35 {
			return false
		}
		if round >= 3 && math.Abs(step[0])+math.Abs(step[1])+20*math.Abs(step[2]) < 0.01 {
			break
		}
	}
	f.sampleProfiles(g, top, hidden, profileTight+0.4)
	f.judge()
	return f.covariance()
}

// row returns the derivative of an edge's offset by (x, y, heading) of the token.
func (f *outlineFit) row(p *edgePoint) (row [3]float64) {
	at := f.pose.Transform(p.at)
	out := f.pose.Transform(p.at.Add(p.normal)).Sub(at)
	r := at.Sub(f.pose.Point)
	// Headings turn clockwise: a point at r moves by (r.Y, -r.X) a radian.
	return [3]float64{out.X, out.Y, out.X*r.Y - out.Y*r.X}
}

// unknowns of the fit: x, y, heading, and the insets of bare and of walled edges.
// Prints darken towards their edge, so that it seems to lie further in all round: that
// must not move the token, and its size is known.
const outlineUnknowns = 5

// insets' standard deviations, mm.
const (
	bareInset = 1.0
	wallInset = 0.2
)

func (f *outlineFit) normal(limit float64) (n [outlineUnknowns * outlineUnknowns]float64, g [outlineUnknowns]float64, used int) {
	const m = outlineUnknowns
	n[3*m+3], n[4*m+4] = 1/(bareInset*bareInset), 1/(wallInset*wallInset)
	g[3], g[4] = -f.inset[0]*n[3*m+3], -f.inset[1]*n[4*m+4]
	for k := range f.points {
		p := &f.points[k]
		e := f.residual(p)
		u := e / limit
		if p.weight == 0 || u*u >= 1 {
			continue
		}
		w := p.weight * (1 - u*u) * (1 - u*u)
		r := f.row(p)
		row := [m]float64{r[0], r[1], r[2], p.bare, 1 - p.bare}
		for i := range m {
			g[i] += w * row[i] * e
			for j := range m {
				n[m*i+j] += w * row[i] * row[j]
			}
		}
		used++
	}
	return n, g, used
}

// residual is how far an edge lies outwards from where the pose and the insets put it.
func (f *outlineFit) residual(p *edgePoint) float64 {
	return p.offset - p.bare*f.inset[0] - (1-p.bare)*f.inset[1]
}

func (f *outlineFit) step(limit float64) ([]float64, bool) {
	n, g, used := f.normal(limit)
	if used < 12 {
		return nil, false
	}
	return linalg.SolveSPD(n[:], g[:])
}

// An edge that lies misfitMost mm off counts as no edge at all; no edge counts a
// little less than a wrong one, for prints may be as dark as the mat.
const (
	misfitMost = 0.9
	misfitNone = 0.8
)

func (f *outlineFit) judge() {
	var seen, near, total, sum float64
	f.misfit = 0
	for k := range f.points {
		p := &f.points[k]
		total++
		if p.hidden {
			continue
		}
		seen++
		if p.weight == 0 {
			f.misfit += misfitNone
			continue
		}
		e := f.residual(p)
		f.misfit += math.Min(e*e/(misfitMost*misfitMost), 1)
		if math.Abs(e) < profileTight {
			near++
			sum += e * e
		}
	}
	f.visible, f.support, f.rms = seen/math.Max(total, 1), near/math.Max(seen, 1), math.Sqrt(sum/math.Max(near, 1))
	f.misfit /= math.Max(seen, 1)
}

// covariance is that of the least squares, as large as the edges' scatter says.
// Neighbouring profiles share what is wrong with the outline, so that only every
// third counts.
func (f *outlineFit) covariance() bool {
	n, _, used := f.normal(profileTight)
	if used < 12 {
		return false
	}
	var chi float64
	for k := range f.points {
		if e := f.residual(&f.points[k]); f.points[k].weight > 0 && math.Abs(e) < profileTight {
			chi += f.points[k].weight * e * e
		}
	}
	grow := 3 * math.Max(1, chi/float64(used-outlineUnknowns))
	for i := range 3 {
		e := make([]float64, outlineUnknowns)
		e[i] = 1
		x, ok := linalg.SolveSPD(n[:], e)
		if !ok {
			return false
		}
		for j := range 3 {
			f.cov[3*i+j] = grow * x[j]
		}
	}
	return true
}
