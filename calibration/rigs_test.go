package calibration_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/engine/geom"
)

// The rigs are simulated by code of their own: nothing of what registers them and
// states their errors projects, turns or bends anything here.

// rigLens is a true lens: focal lengths, centre, k1 k2 p1 p2 k3.
type rigLens struct {
	w, h int
	v    [9]float64
}

func (l rigLens) pixel(x, y float64) (u, v float64) {
	rr := x*x + y*y
	g := 1 + l.v[4]*rr + l.v[5]*rr*rr + l.v[8]*rr*rr*rr
	a := g*x + 2*l.v[6]*x*y + l.v[7]*(rr+2*x*x)
	b := g*y + l.v[6]*(rr+2*y*y) + 2*l.v[7]*x*y
	return l.v[0]*a + l.v[2], l.v[1]*b + l.v[3]
}

// rig is a true camera over a true table.
type rig struct {
	lens   rigLens
	eye    [3]float64
	axes   [3][3]float64 // rows: the camera's right, down and forward in the table frame
	bow    func(x, y float64) float64
	ripple [4][4]float64 // what no lens model holds: waves over the picture
	scale  float64       // true millimetres for each of the layout's
	rough  float64       // how much rougher than stated its markers are laid and printed; 0: as stated
}

// pixel is where a true point appears. It is given in the layout's millimetres; z is
// its height over the plane on which the mat lies.
func (r *rig) pixel(x, y, z float64) (u, v float64) {
	x, y = 457.2+r.scale*(x-457.2), 457.2+r.scale*(y-457.2)
	d := [3]float64{x - r.eye[0], y - r.eye[1], z - r.eye[2]}
	var q [3]float64
	for i, a := range r.axes {
		q[i] = a[0]*d[0] + a[1]*d[1] + a[2]*d[2]
	}
	u, v = r.lens.pixel(q[0]/q[2], q[1]/q[2])
	for i, w := range r.ripple {
		e := w[0] * math.Sin(w[1]*u+w[2]*v+w[3])
		if i%2 == 0 {
			u += e
		} else {
			v += e
		}
	}
	return u, v
}

// look aims a camera from a height at the mat's middle: tilted towards an azimuth,
// rolled about its axis.
func (r *rig) look(height, tilt, azimuth, roll, dx, dy float64) {
	st, ct := math.Sin(tilt), math.Cos(tilt)
	forward := [3]float64{st * math.Cos(azimuth), st * math.Sin(azimuth), -ct}
	s := height / ct
	r.eye = [3]float64{457.2 + dx - s*forward[0], 457.2 + dy - s*forward[1], height}
	// Right is level where the roll is nil, and down completes them.
	right := [3]float64{math.Cos(roll), math.Sin(roll), 0}
	k := right[0]*forward[0] + right[1]*forward[1]
	for i := range right {
		right[i] -= k * forward[i]
	}
	n := math.Sqrt(right[0]*right[0] + right[1]*right[1] + right[2]*right[2])
	for i := range right {
		right[i] /= n
	}
	down := [3]float64{
		forward[1]*right[2] - forward[2]*right[1], forward[2]*right[0] - forward[0]*right[2], forward[0]*right[1] - forward[1]*right[0],
	}
	r.axes = [3][3]float64{right, down, forward}
}

// bowed returns a mat's height by up to 1 mm: an arch in some direction, a dome, or
// a corner that curls; none of them a shape that the error model is made of.
func bowed(rng *rand.Rand) func(x, y float64) float64 {
	a := 1.0 * rng.Float64()
	if rng.IntN(2) == 0 {
		a = -a // the table sags
	}
	switch rng.IntN(3) {
	case 0:
		th := math.Pi * rng.Float64()
		return func(x, y float64) float64 {
			t := ((x-457.2)*math.Cos(th) + (y-457.2)*math.Sin(th)) / 650
			return a * math.Cos(t*math.Pi/2)
		}
	case 1:
		return func(x, y float64) float64 {
			return a * math.Cos((x-457.2)/914.4*math.Pi) * math.Cos((y-457.2)/914.4*math.Pi)
		}
	}
	left, near := rng.IntN(2) == 0, rng.IntN(2) == 0
	return func(x, y float64) float64 {
		if left {
			x = 914.4 - x
		}
		if near {
			y = 914.4 - y
		}
		t := math.Max(0, (x+y)/1828.8-0.3) / 0.7
		return math.Abs(a) * t * t
	}
}

// rigLenses are three lenses: wide, normal, long; as shares of the picture's width.
var rigLenses = [3][9]float64{
	{0.52, 0.521, 0.502, 0.280, -0.12, 0.06, 0.0006, -0.0004, -0.01},
	{0.72, 0.7205, 0.497, 0.283, -0.085, 0.03, 0.0004, 0.0003, -0.004},
	{1.05, 1.0505, 0.501, 0.279, -0.02, 0.05, -0.0003, 0.0005, 0},
}

func newRigLens(kind, width int) rigLens {
	l := rigLens{w: width, h: width * 9 / 16, v: rigLenses[kind]}
	for i := range 4 {
		l.v[i] *= float64(width)
	}
	return l
}

// lensCovariance is what a calibration on a dozen views of a 9×6 chessboard states:
// corners of 0.1 px, the boards' places solved along, by differences.
func lensCovariance(l rigLens) []float64 {
	const views, noise = 12, 0.1
	steps := [15]float64{1e-2, 1e-2, 1e-2, 1e-2, 1e-6, 1e-6, 1e-6, 1e-6, 1e-6, 1e-6, 1e-6, 1e-6, 1e-3, 1e-3, 1e-3}
	n := 9 + 6*views
	normal := make([]float64, n*n)
	for v := range views {
		tilt, azimuth := 0.2+0.35*float64(v%3)/2, float64(v)*2.399963
		base := [6]float64{tilt * math.Cos(azimuth), tilt * math.Sin(azimuth), 0.1 * float64(v%4),
			40 * math.Cos(azimuth*1.7), 25 * math.Sin(azimuth*1.3), 300*l.v[0]/float64(l.w) + 20*float64(v%5)}
		at := func(p [15]float64, cx, cy float64) (float64, float64) {
			lens := l
			copy(lens.v[:], p[:9])
			x, y, z := turned(p[9:12], cx, cy)
			x, y, z = x+p[12], y+p[13], z+p[14]
			return lens.pixel(x/z, y/z)
		}
		var p0 [15]float64
		copy(p0[:], l.v[:])
		copy(p0[9:], base[:])
		for k := range 54 {
			cx, cy := 25*(float64(k%9)-4), 25*(float64(k/9)-2.5)
			var ju, jv [15]float64
			for i := range p0 {
				a, b := p0, p0
				a[i] -= steps[i]
				b[i] += steps[i]
				u0, v0 := at(a, cx, cy)
				u1, v1 := at(b, cx, cy)
				ju[i], jv[i] = (u1-u0)/(2*steps[i]), (v1-v0)/(2*steps[i])
			}
			index := func(i int) int {
				if i < 9 {
					return i
				}
				return i + 6*v
			}
			for i := range 15 {
				for j := range 15 {
					normal[index(i)*n+index(j)] += (ju[i]*ju[j] + jv[i]*jv[j]) / (noise * noise)
				}
			}
		}
	}
	inverse := inverted(normal, n)
	out := make([]float64, 81)
	for i := range 9 {
		for j := range 9 {
			out[9*i+j] = (inverse[i*n+j] + inverse[j*n+i]) / 2
		}
	}
	return out
}

// turned turns a board's point by angles about x, y and z.
func turned(w []float64, x, y float64) (float64, float64, float64) {
	z := 0.0
	y, z = y*math.Cos(w[0])-z*math.Sin(w[0]), y*math.Sin(w[0])+z*math.Cos(w[0])
	x, z = x*math.Cos(w[1])+z*math.Sin(w[1]), -x*math.Sin(w[1])+z*math.Cos(w[1])
	x, y = x*math.Cos(w[2])-y*math.Sin(w[2]), x*math.Sin(w[2])+y*math.Cos(w[2])
	return x, y, z
}

// inverted is Gauss and Jordan's elimination on a matrix scaled to a unit diagonal.
func inverted(a []float64, n int) []float64 {
	m := make([][]float64, n)
	d := make([]float64, n)
	for i := range n {
		d[i] = math.Sqrt(a[i*n+i])
	}
	for i := range n {
		m[i] = make([]float64, 2*n)
		for j := range n {
			m[i][j] = a[i*n+j] / (d[i] * d[j])
		}
		m[i][n+i] = 1
	}
	for i := range n {
		p := i
		for k := i; k < n; k++ {
			if math.Abs(m[k][i]) > math.Abs(m[p][i]) {
				p = k
			}
		}
		m[i], m[p] = m[p], m[i]
		f := m[i][i]
		for j := range m[i] {
			m[i][j] /= f
		}
		for k := range n {
			if k == i || m[k][i] == 0 {
				continue
			}
			f := m[k][i]
			for j := i; j < 2*n; j++ {
				m[k][j] -= f * m[i][j]
			}
		}
	}
	out := make([]float64, n*n)
	for i := range n {
		for j := range n {
			out[i*n+j] = m[i][n+j] / (d[i] * d[j])
		}
	}
	return out
}

// normalDraw draws from a covariance by its Cholesky factor.
func normalDraw(rng *rand.Rand, cov []float64, n int) []float64 {
	l := make([]float64, n*n)
	for i := range n {
		for j := range i + 1 {
			s := cov[i*n+j]
			for k := range j {
				s -= l[i*n+k] * l[j*n+k]
			}
			if i == j {
				l[i*n+i] = math.Sqrt(math.Max(s, 0))
			} else if l[j*n+j] > 0 {
				l[i*n+j] = s / l[j*n+j]
			}
		}
	}
	x, out := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i] = rng.NormFloat64()
		for k := range i + 1 {
			out[i] += l[i*n+k] * x[k]
		}
	}
	return out
}

// rigs counts what happened over many rigs.
type rigs struct {
	points, inside map[string]int
	bumped, named  int
	false_, seen   int // markers named that were not bumped, of all that were not
	falseRigs      int
	refused        int
	worst          float64
	sumSigma       float64
}

// drawRig draws a rig that sees at least six markers of the layout and the mat's
// corners, with its lens as a calibration states it.
func drawRig(rng *rand.Rand, layout calibration.Layout, covs map[[2]int][]float64) (*rig, calibration.Intrinsics) {
	for {
		kind, width := rng.IntN(3), []int{1920, 3840}[rng.IntN(2)]
		stated := newRigLens(kind, width)
		key := [2]int{kind, width}
		if covs[key] == nil {
			covs[key] = lensCovariance(stated)
		}
		r := &rig{lens: stated, scale: 1 + calibration.DefaultScaleSigma*rng.NormFloat64(), bow: func(x, y float64) float64 { return 0 }}
		for i, d := range normalDraw(rng, covs[key], 9) {
			r.lens.v[i] += d
		}
		for i := range r.ripple {
			// Two waves for each axis, together 0.05 px rms, 300 to 600 px of 1080p long.
			k := 2 * math.Pi / (float64(width) / 1920 * (300 + 300*rng.Float64()))
			th := 2 * math.Pi * rng.Float64()
			r.ripple[i] = [4]float64{0.05, k * math.Cos(th), k * math.Sin(th), 2 * math.Pi * rng.Float64()}
		}
		tilt := 15 * math.Pi / 180 * rng.Float64()
		roll := math.Pi/2*float64(rng.IntN(4)) + 0.05*rng.NormFloat64()
		r.look(900+1100*rng.Float64(), tilt, 2*math.Pi*rng.Float64(), roll, 40*rng.NormFloat64(), 40*rng.NormFloat64())
		in := calibration.Intrinsics{Width: stated.w, Height: stated.h, Fx: stated.v[0], Fy: stated.v[1], Cx: stated.v[2],
			Cy: stated.v[3], Views: 12, Covariance: covs[key]}
		copy(in.Distortion[:], stated.v[4:])
		sees := func(x, y float64) bool {
			u, v := r.pixel(x, y, 0)
			return u > 3 && v > 3 && u < float64(stated.w)-4 && v < float64(stated.h)-4
		}
		n := 0
		for _, m := range layout.Markers {
			if r.seesMarker(m, sees) {
				n++
			}
		}
		if n >= 6 && sees(0, 0) && sees(914, 0) && sees(0, 914) && sees(914, 914) {
			return r, in
		}
	}
}

func (r *rig) seesMarker(m calibration.Marker, sees func(x, y float64) bool) bool {
	for _, c := range [4][2]float64{{-30, -30}, {30, -30}, {30, 30}, {-30, 30}} {
		if !sees(m.Center.X+c[0], m.Center.Y+c[1]) {
			return false
		}
	}
	return true
}

// photograph lays the markers by hand, one of them 3 mm off if bump is not -1, and
// returns what a detector reads.
func (r *rig) photograph(rng *rand.Rand, layout calibration.Layout, bump int) (seen []calibration.MarkerSighting) {
	noise := 0.03 + 0.05*rng.Float64() // px: rendered tags 0.03-0.05, photographs 0.06-0.11
	sees := func(x, y float64) bool {
		u, v := r.pixel(x, y, 0)
		return u > 3 && v > 3 && u < float64(r.lens.w)-4 && v < float64(r.lens.h)-4
	}
	for i, m := range layout.Markers {
		if !r.seesMarker(m, sees) {
			continue
		}
		k := max(1, r.rough)
		x, y := m.Center.X+0.3*k*rng.NormFloat64(), m.Center.Y+0.3*k*rng.NormFloat64()
		turn, z := 0.3*k*math.Pi/180*rng.NormFloat64(), 0.2+0.2*k*rng.NormFloat64()
		half := 20 * (1 + 0.0015*rng.NormFloat64())
		if i == bump {
			th := 2 * math.Pi * rng.Float64()
			x, y = x+3*math.Cos(th), y+3*math.Sin(th)
			turn += 2 * math.Pi / 180 * (2*rng.Float64() - 1)
		}
		s := calibration.MarkerSighting{ID: m.ID}
		for k, c := range [4][2]float64{{-half, half}, {half, half}, {half, -half}, {-half, -half}} {
			sin, cos := math.Sincos(turn)
			u, v := r.pixel(x+cos*c[0]+sin*c[1], y-sin*c[0]+cos*c[1], z)
			s.Corners[k] = geom.Pixel{X: u + noise*rng.NormFloat64(), Y: v + noise*rng.NormFloat64()}
		}
		seen = append(seen, s)
	}
	return seen
}

// TestStatedRegionsHoldTheTruth draws rigs from what their owner states: lens,
// placement, scale and heights from their sigmas, corner noise as measured, a mat that
// is bowed in a third of them and a marker that was bumped in a third. What is then
// stated as a 95 % region must hold the truth in 95 of 100 cases.
func TestStatedRegionsHoldTheTruth(t *testing.T) {
	n := calibration.Rounds(t, 60, 300)
	layout := calibration.DefaultLayout(calibration.MatSide, calibration.MatSide)
	rng := rand.New(rand.NewPCG(20, 26))
	covs := map[[2]int][]float64{}
	c := rigs{points: map[string]int{}, inside: map[string]int{}}
	for i := range n {
		r, lens := drawRig(rng, layout, covs)
		class := "flat"
		if i%3 == 1 {
			r.bow, class = bowed(rng), "bowed"
		}
		bump := -1
		if (i/3)%3 == 1 { // independent of the bow
			bump = c.choose(rng, r, layout)
		}
		c.measure(t, rng, r, lens, layout, class, bump)
	}
	c.report(t)
	all := float64(c.inside["all"]) / float64(c.points["all"])
	slack := 0.0
	if n < 300 { // a few dozen rigs scatter: a region's error is shared by a whole rig
		slack = 0.04
	}
	assert.GreaterOrEqual(t, all, 0.93-slack, "share of true points inside their stated 95 %% region")
	assert.LessOrEqual(t, all, 0.97+slack, "share of true points inside their stated 95 %% region")
	assert.GreaterOrEqual(t, float64(c.named), 0.99*float64(c.bumped), "bumped markers named")
	assert.LessOrEqual(t, float64(c.falseRigs), 0.02*float64(n)+1, "rigs in which a marker that was not bumped is named")
	assert.Zero(t, c.refused)
}

// choose picks one of the markers that the rig sees.
func (c *rigs) choose(rng *rand.Rand, r *rig, layout calibration.Layout) int {
	sees := func(x, y float64) bool {
		u, v := r.pixel(x, y, 0)
		return u > 3 && v > 3 && u < float64(r.lens.w)-4 && v < float64(r.lens.h)-4
	}
	for {
		if i := rng.IntN(len(layout.Markers)); r.seesMarker(layout.Markers[i], sees) {
			return i
		}
	}
}

func (c *rigs) measure(t *testing.T, rng *rand.Rand, r *rig, lens calibration.Intrinsics, layout calibration.Layout, class string,
	bump int) {
	table, err := calibration.Register(lens, layout, r.photograph(rng, layout, bump))
	if err != nil {
		c.refused++
		t.Log(err)
		return
	}
	c.names(table, layout, bump)
	// Print and insert play are the token's own and would only dilute the figure.
	u := calibration.DefaultUncertainty
	u.Print, u.Insert, u.Pixel = 0, 0, 0.02
	budget := calibration.NewBudget(table, u)
	for x := 40.0; x < 914; x += 139 {
		for y := 40.0; y < 914; y += 139 {
			z := 4 + 0.15*rng.NormFloat64() + r.bow(x, y)
			px, py := r.pixel(x, y, z)
			got, ok := table.PointAt(geom.Pixel{X: px + 0.02*rng.NormFloat64(), Y: py + 0.02*rng.NormFloat64()}, 4)
			require.True(t, ok)
			terms, ok := budget.At(got, 4)
			require.True(t, ok)
			// The truth in true millimetres, with what the layout takes for its middle in place.
			dx, dy := got.X-(457.2+r.scale*(x-457.2)), got.Y-(457.2+r.scale*(y-457.2))
			cov := terms.Total(1)
			det := cov.XX*cov.YY - cov.XY*cov.XY
			d2 := (cov.YY*dx*dx - 2*cov.XY*dx*dy + cov.XX*dy*dy) / det
			in := d2 <= 5.991 // chi-squared, two degrees of freedom, 95 %
			keys := []string{"all", class, fmt.Sprintf("%d px", lens.Width)}
			if bump >= 0 {
				keys = append(keys, "bumped")
			} else {
				keys = append(keys, "not bumped")
			}
			for _, k := range keys {
				c.points[k]++
				if in {
					c.inside[k]++
				}
			}
			c.worst = math.Max(c.worst, math.Hypot(dx, dy))
			c.sumSigma += float64(calibration.LargestSigma(cov))
		}
	}
}

// names counts which markers were said to have been bumped.
func (c *rigs) names(table calibration.Table, layout calibration.Layout, bump int) {
	wrong := 0
	if bump >= 0 {
		c.bumped++
	}
	for _, m := range table.Residuals {
		switch {
		case !m.Used && bump >= 0 && m.ID == layout.Markers[bump].ID:
			c.named++
		case !m.Used:
			wrong++
		}
	}
	c.false_, c.seen = c.false_+wrong, c.seen+len(table.Residuals)
	if wrong > 0 {
		c.falseRigs++
	}
}

func (c *rigs) report(t *testing.T) {
	for _, k := range []string{"all", "flat", "bowed", "bumped", "not bumped", "1920 px", "3840 px"} {
		t.Logf("%-10s: %.1f %% of %d points inside their 95 %% region", k, 100*float64(c.inside[k])/float64(c.points[k]), c.points[k])
	}
	t.Logf("bumped by 3 mm: %d of %d named; %d of %d others named wrongly, in %d rigs; %d rigs refused",
		c.named, c.bumped, c.false_, c.seen-c.bumped, c.falseRigs, c.refused)
	t.Logf("mean sigma (longest axis) %.3f mm, worst error %.2f mm", c.sumSigma/float64(c.points["all"]), c.worst)
}
