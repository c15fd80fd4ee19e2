package calibration

import (
	"fmt"
	"math"

	"sightline/calibration/linalg"
	"sightline/engine/geom"
)

// Nature says which measurements share an error, and so how averaging and subtracting
// change it.
type Nature int

const (
	// Random differs from frame to frame: the mean of n frames has an nth of its variance.
	Random Nature = iota
	// Own is an error of one object, independent of other objects: averaging frames does not shrink it.
	Own
	// Shared is an error of the calibration: averaging frames does not shrink it, and it
	// cancels from the difference of two points as far as it moves both alike.
	Shared
)

// String returns the nature in a word.
func (n Nature) String() string {
	switch n {
	case Random:
		return "random"
	case Own:
		return "own"
	}
	return "shared"
}

// The names of a budget's terms, in their order.
const (
	TermPixel    = "pixel noise"
	TermLens     = "lens"
	TermPose     = "pose"
	TermModel    = "model"
	TermHeight   = "height"
	TermFlatness = "flatness"
	TermScale    = "scale"
	TermPrint    = "print"
	TermInsert   = "insert play"
)

// Term is one source of error and its effect on a point or on the difference of two.
type Term struct {
	Name   string
	Nature Nature
	Input  string    // its value, with the unit: "0.15 mm"
	Source string    // where that value comes from
	Cov    geom.Cov2 // in mm²
}

// Terms is a budget at one place.
type Terms []Term

// Total returns the sum of all terms for the mean of a number of frames, which shrinks
// only random terms.
func (t Terms) Total(frames int) (c geom.Cov2) {
	for _, term := range t {
		k := 1.0
		if term.Nature == Random {
			k = 1 / float64(max(frames, 1))
		}
		c = c.Add(geom.Cov2{XX: k * term.Cov.XX, XY: k * term.Cov.XY, YY: k * term.Cov.YY})
	}
	return c
}

// Named returns a term's covariance, or zero.
func (t Terms) Named(name string) geom.Cov2 {
	for _, term := range t {
		if term.Name == name {
			return term.Cov
		}
	}
	return geom.Cov2{}
}

// LargestSigma returns the standard deviation along the longest axis of the
// covariance's ellipse, in mm.
func LargestSigma(c geom.Cov2) geom.Length {
	mean, half := (c.XX+c.YY)/2, (c.XX-c.YY)/2
	return geom.Length(math.Sqrt(max(0, mean+math.Hypot(half, c.XY))))
}

// Spot is a point of an object at a height over the mat.
type Spot struct {
	geom.Point
	Z geom.Length
	// Object identifies the object. Spots of one object share its own errors (height,
	// print, insert play), which cancel between them. 0 shares with no other spot.
	Object int
}

// Budget lists the errors of measurements through a calibration. It is safe for
// concurrent use.
type Budget struct {
	table  Table
	limits Uncertainty

	registration []float64 // 6×6: of the pose, without the lens
	lens         []float64 // 9×9; nil: unknown
	gain         [54]float64
	anchor       geom.Point // fixed point of a wrong scale
}

// NewBudget prepares the budget of a table. The zero Uncertainty means
// DefaultUncertainty.
func NewBudget(t Table, u Uncertainty) *Budget {
	if u == (Uncertainty{}) {
		u = DefaultUncertainty
	}
	b := &Budget{table: t, limits: u}
	used := b.usedMarkers()
	b.anchor = geom.Point{X: float64(t.Layout.Width) / 2, Y: float64(t.Layout.Height) / 2}
	for i, c := range used {
		b.anchor = b.anchor.Mul(float64(i) / float64(i+1)).Add(c.marker.Center.Mul(1 / float64(i+1)))
	}
	if len(t.Intrinsics.Covariance) == LensTerms*LensTerms {
		b.lens = t.Intrinsics.Covariance
		m := poseNormal(t.Intrinsics, t.Extrinsics, used, t.noise())
		if inverse, ok := linalg.InvertSPD(m.normal[:], 6); ok {
			b.gain = lensGain(inverse, &m)
		}
	}
	b.registration = b.withoutLens()
	return b
}

// Gain returns the derivative of the pose by the lens's parameters, as PoseGain does; zeros when the lens's covariance is
// unknown.
func (b *Budget) Gain() [54]float64 { return b.gain }

// Table returns the calibration that the budget is for.
func (b *Budget) Table() *Table { return &b.table }

// withoutLens returns the pose's covariance without the part that the lens causes. Older
// files hold only the sum, from which the lens's part is subtracted.
func (b *Budget) withoutLens() []float64 {
	t := &b.table
	if len(t.RegistrationCovariance) == 36 {
		return t.RegistrationCovariance
	}
	if len(t.PoseCovariance) != 36 || b.lens == nil {
		return t.PoseCovariance
	}
	rest := append([]float64(nil), t.PoseCovariance...)
	addLensPart(rest, b.gain, b.lens, -1)
	if _, ok := linalg.Cholesky(append([]float64(nil), rest...), 6); !ok {
		return t.PoseCovariance // on the safe side: the lens counts twice
	}
	return rest
}

// usedMarkers returns the markers that fixed the pose, with their corners as the
// calibration projects them.
func (b *Budget) usedMarkers() []correspondence {
	in := map[int]bool{}
	for _, id := range b.table.Used {
		in[id] = true
	}
	var out []correspondence
	for _, k := range b.table.Layout.Markers {
		if !in[k.ID] {
			continue
		}
		c := correspondence{marker: k}
		for i, p := range k.Corners() {
			c.corners[i], _ = b.table.Camera.PixelOf(p, k.Z)
		}
		out = append(out, c)
	}
	return out
}

// sensitivity is the derivative of a table point, read from the picture at a height, by the
// possible errors of the calibration: mm in x and y for each unit of a parameter.
type sensitivity struct {
	pose  [2][6]float64
	lens  [2][LensTerms]float64 // with the compensating change of the pose
	z     [2]float64
	pixel [2][2]float64 // mm for each pixel
}

// sensitivity linearises the reading of a point at a height over the mat.
func (b *Budget) sensitivity(p geom.Point, z geom.Length) (s sensitivity, ok bool) {
	cam := &b.table.Camera
	q := cam.Camera(Vec3{p.X, p.Y, float64(z + b.table.Surface.Height(p))})
	if q[2] < 1 {
		return s, false
	}
	_, jac := ProjectionJacobian(&cam.Intrinsics, q, cam.T)
	var m [2][3]float64 // derivative of the pixel by the table point
	for axis := range 2 {
		for k := range 3 {
			for j := range 3 {
				m[axis][k] += jac[axis][3+j] * cam.R[j][k]
			}
		}
	}
	det := m[0][0]*m[1][1] - m[0][1]*m[1][0]
	if !(math.Abs(det) > 1e-12) {
		return s, false
	}
	s.pixel = [2][2]float64{{m[1][1] / det, -m[0][1] / det}, {-m[1][0] / det, m[0][0] / det}}
	point := func(u, v float64) (float64, float64) {
		return s.pixel[0][0]*u + s.pixel[0][1]*v, s.pixel[1][0]*u + s.pixel[1][1]*v
	}
	for k := range 6 {
		s.pose[0][k], s.pose[1][k] = point(jac[0][k], jac[1][k])
	}
	s.z[0], s.z[1] = point(m[0][2], m[1][2])
	if b.lens == nil {
		return s, true
	}
	for k, d := range LensJacobian(&cam.Intrinsics, q[0]/q[2], q[1]/q[2]) {
		s.lens[0][k], s.lens[1][k] = point(d.X, d.Y)
		for axis := range 2 {
			for j := range 6 {
				s.lens[axis][k] += s.pose[axis][j] * b.gain[LensTerms*j+k]
			}
		}
	}
	return s, true
}

// minus returns the sensitivity of the difference of two points to their shared errors.
func (s *sensitivity) minus(o *sensitivity) (d sensitivity) {
	for axis := range 2 {
		for k := range s.pose[axis] {
			d.pose[axis][k] = s.pose[axis][k] - o.pose[axis][k]
		}
		for k := range s.lens[axis] {
			d.lens[axis][k] = s.lens[axis][k] - o.lens[axis][k]
		}
		d.z[axis] = s.z[axis] - o.z[axis]
	}
	return d
}

// propagate returns the covariance of two quantities whose derivatives are x and y, for
// a covariance c of the parameters; zero when it is unknown.
func propagate(x, y, c []float64) geom.Cov2 {
	if len(c) != len(x)*len(x) {
		return geom.Cov2{}
	}
	return geom.Cov2{XX: linalg.Quadratic(c, x, x), XY: linalg.Quadratic(c, x, y), YY: linalg.Quadratic(c, y, y)}
}

func outer(x, y, variance float64) geom.Cov2 {
	return geom.Cov2{XX: variance * x * x, XY: variance * x * y, YY: variance * y * y}
}

func square(v float64) float64 { return v * v }

// flatness returns the covariance, in mm², of the mat's height at two points.
func (b *Budget) flatness(p, q geom.Point) float64 {
	f := square(float64(b.limits.Flatness))
	ripple := (1 - SmoothShare) * f * Correlation(p, q, RippleReach)
	if b.table.Surface != nil {
		return ripple + b.table.Surface.Cov(p, q)
	}
	return ripple + SmoothShare*f*Correlation(p, q, surfaceReach)
}

// modelVariance is the variance of the lens model's error, in mm² per axis.
func (b *Budget) modelVariance(s *sensitivity) float64 {
	area := math.Abs(s.pixel[0][0]*s.pixel[1][1] - s.pixel[0][1]*s.pixel[1][0])
	return square(b.limits.Model)*area + square(float64(b.table.BentSigma))
}

// pixelCov is the covariance that pixel noise causes in a point.
func pixelCov(s *sensitivity, sigma float64) geom.Cov2 {
	return outer(s.pixel[0][0], s.pixel[1][0], sigma*sigma).Add(outer(s.pixel[0][1], s.pixel[1][1], sigma*sigma))
}

// At returns the budget of one point at a height over the mat. It reports false
// where the camera cannot see it.
func (b *Budget) At(p geom.Point, z geom.Length) (Terms, bool) {
	s, ok := b.sensitivity(p, z)
	if !ok {
		return nil, false
	}
	u := b.limits
	out := b.blank()
	model := b.modelVariance(&s)
	arm := p.Sub(b.anchor)
	for i, c := range [...]geom.Cov2{
		pixelCov(&s, u.Pixel),
		propagate(s.lens[0][:], s.lens[1][:], b.lens),
		propagate(s.pose[0][:], s.pose[1][:], b.registration),
		{XX: model, YY: model},
		outer(s.z[0], s.z[1], square(float64(u.Height))),
		outer(s.z[0], s.z[1], b.flatness(p, p)),
		outer(arm.X, arm.Y, square(b.table.ScaleSigma)),
		isotropic(u.Print),
		isotropic(u.Insert),
	} {
		out[i].Cov = c
	}
	return out, true
}

func isotropic(sigma geom.Length) geom.Cov2 {
	return geom.Cov2{XX: square(float64(sigma)), YY: square(float64(sigma))}
}

// Difference returns the budget of q - p. Shared errors cancel as far as they move both
// points alike.
func (b *Budget) Difference(p, q Spot) (Terms, bool) {
	sp, ok1 := b.sensitivity(p.Point, p.Z)
	sq, ok2 := b.sensitivity(q.Point, q.Z)
	if !ok1 || !ok2 {
		return nil, false
	}
	u := b.limits
	d := sq.minus(&sp)
	out := b.blank()
	// The model's error is correlated within modelReach/2.
	mp, mq := b.modelVariance(&sp), b.modelVariance(&sq)
	model := max(0, mp+mq-2*math.Sqrt(mp*mq)*Correlation(p.Point, q.Point, modelReach/2))
	one := p.Object != 0 && p.Object == q.Object
	height := outer(sp.z[0], sp.z[1], square(float64(u.Height))).Add(outer(sq.z[0], sq.z[1], square(float64(u.Height))))
	prints, insert := isotropic(u.Print), isotropic(u.Insert)
	prints, insert = prints.Add(prints), insert.Add(insert)
	if one {
		height = outer(d.z[0], d.z[1], square(float64(u.Height)))
		prints, insert = geom.Cov2{}, geom.Cov2{}
	}
	arm := q.Point.Sub(p.Point)
	for i, c := range [...]geom.Cov2{
		pixelCov(&sp, u.Pixel).Add(pixelCov(&sq, u.Pixel)),
		propagate(d.lens[0][:], d.lens[1][:], b.lens),
		propagate(d.pose[0][:], d.pose[1][:], b.registration),
		{XX: model, YY: model},
		height,
		b.flatnessDifference(p.Point, q.Point, &sp, &sq),
		outer(arm.X, arm.Y, square(b.table.ScaleSigma)),
		prints,
		insert,
	} {
		out[i].Cov = c
	}
	return out, true
}

// flatnessDifference is the covariance of z_q h(q) - z_p h(p) for the mat's height h.
func (b *Budget) flatnessDifference(p, q geom.Point, sp, sq *sensitivity) geom.Cov2 {
	pp, qq, pq := b.flatness(p, p), b.flatness(q, q), b.flatness(p, q)
	c := outer(sp.z[0], sp.z[1], pp).Add(outer(sq.z[0], sq.z[1], qq))
	c.XX -= 2 * sp.z[0] * sq.z[0] * pq
	c.YY -= 2 * sp.z[1] * sq.z[1] * pq
	c.XY -= (sp.z[0]*sq.z[1] + sp.z[1]*sq.z[0]) * pq
	return c
}

// Distance returns the standard deviation of the distance between two spots, for the
// mean of a number of frames. It reports false when they coincide or the camera cannot
// see one of them.
func (b *Budget) Distance(p, q Spot, frames int) (geom.Length, bool) {
	terms, ok := b.Difference(p, q)
	arm := q.Point.Sub(p.Point)
	n := arm.Norm()
	if !ok || !(n > 0) {
		return 0, false
	}
	return geom.Length(math.Sqrt(max(0, terms.Total(frames).Along(arm.Mul(1/n))))), true
}

// blank returns the terms with their names, inputs and sources, without covariances.
func (b *Budget) blank() Terms {
	u, t := b.limits, &b.table
	lens := "no covariance in the lens file: taken as exact"
	if b.lens != nil {
		lens = fmt.Sprintf("covariance of the lens file (%d views), and what the markers suspect", t.Intrinsics.Views)
	}
	model := fmt.Sprintf("%.2g px", u.Model)
	if t.BentSigma > 0 {
		model += fmt.Sprintf(", %.2g mm", t.BentSigma.Millimeters())
	}
	pose := fmt.Sprintf("%d markers, laid to %.2f mm", len(t.Used), float64(t.noise().placement.XY))
	if t.CornerSigma == 0 {
		pose = fmt.Sprintf("%d markers, %.2f px rms", len(t.Used), t.RMS)
	}
	flatness, sigma := "a mat on a table, not measured", u.Flatness
	if t.Surface != nil {
		flatness = fmt.Sprintf("measured at %d places; between them as far as they say", len(t.Surface.Places))
		sigma = geom.Length(math.Sqrt(max(0, b.flatness(b.anchor, b.anchor))))
	}
	scale := "how the markers were laid out; nothing the camera sees shows it"
	if len(t.Distances) > 0 {
		scale = fmt.Sprintf("layout and %d measured distances", len(t.Distances))
	}
	mm := func(l geom.Length) string { return fmt.Sprintf("%.2g mm", l.Millimeters()) }
	return Terms{
		{Name: TermPixel, Nature: Random, Input: fmt.Sprintf("%.2g px", u.Pixel), Source: "a fitted corner in one frame; a ship's fit states " +
			"its own"},
		{Name: TermLens, Nature: Shared, Input: fmt.Sprintf("%d parameters", LensTerms), Source: lens},
		{Name: TermPose, Nature: Shared, Input: fmt.Sprintf("%.2g px a corner", t.noise().corner), Source: pose},
		{Name: TermModel, Nature: Shared, Input: model, Source: "what the lens model leaves"},
		{Name: TermHeight, Nature: Own, Input: mm(u.Height), Source: "callipers, of each object's top"},
		{Name: TermFlatness, Nature: Shared, Input: mm(sigma), Source: flatness},
		{Name: TermScale, Nature: Shared, Input: fmt.Sprintf("%.2g %%", 100*t.ScaleSigma), Source: scale},
		{Name: TermPrint, Nature: Own, Input: mm(u.Print), Source: "print and cut of a token"},
		{Name: TermInsert, Nature: Own, Input: mm(u.Insert), Source: "the token on its base, by eye"},
	}
}
