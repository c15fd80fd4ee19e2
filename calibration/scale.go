package calibration

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"sightline/calibration/linalg"
	"sightline/engine/geom"
)

// DefaultRuleSigma is the standard deviation of a distance measured with a steel
// rule or tape: both ends are read to 0.2 mm.
const DefaultRuleSigma = 0.3 * geom.Millimeter

// ScaleDistance is a distance that the user measured with a steel rule.
type ScaleDistance struct {
	From, To int         // markers, from centre to centre
	Length   geom.Length // as measured
	Sigma    geom.Length // of the measuring
}

// ParseScaleDistance reads FROM:TO:MM or FROM:TO:MM:SIGMA, as in 0:7:970.6 or 0:7:970.6:0.2.
func ParseScaleDistance(s string) (d ScaleDistance, err error) {
	bad := func() (ScaleDistance, error) {
		return ScaleDistance{}, fmt.Errorf("distance %q: expected FROM:TO:MM or FROM:TO:MM:SIGMA with two markers' numbers, such as 0:7:970.6", s)
	}
	part := strings.Split(s, ":")
	if len(part) < 3 || len(part) > 4 {
		return bad()
	}
	var err1, err2 error
	d.From, err1 = strconv.Atoi(part[0])
	d.To, err2 = strconv.Atoi(part[1])
	length, err3 := strconv.ParseFloat(part[2], 64)
	d.Length, d.Sigma = geom.Length(length), DefaultRuleSigma
	if err1 != nil || err2 != nil || err3 != nil {
		return bad()
	}
	if len(part) == 4 {
		sigma, err := strconv.ParseFloat(part[3], 64)
		if err != nil {
			return bad()
		}
		d.Sigma = geom.Length(sigma)
	}
	if d.From == d.To || !(d.Length > 0) || d.Length > 2*maxSide || !(d.Sigma > 0) || d.Sigma > d.Length {
		return bad()
	}
	return d, nil
}

// ScaleCheck compares measured distances with a table's scale.
type ScaleCheck struct {
	Change float64 // the table's lengths were multiplied by 1 + Change
	Before float64 // relative sigma of the scale before, registration's part included
	After  float64 // and after: the new ScaleSigma
	// Sigmas is the largest deviation of a distance from the layout, in sigmas: beyond 3.5
	// the distances contradict the layout or each other.
	Sigmas    float64
	Distances []ScaleResidual
}

// Contradicts reports whether distances and layout cannot both be right.
func (c ScaleCheck) Contradicts() bool { return c.Sigmas > contradicts }

// contradicts is exceeded by chance once in 2000 distances.
const contradicts = 3.5

// Impossible reports whether the distances cannot be those of the markers as laid.
func (c ScaleCheck) Impossible() bool { return c.Sigmas > impossible }

// impossible is exceeded by chance once in a billion distances, and by a misread rule.
const impossible = 6

// Worst returns the distance that deviates most from the table; there must be one.
func (c ScaleCheck) Worst() ScaleResidual {
	return slices.MaxFunc(c.Distances, func(a, b ScaleResidual) int { return cmp.Compare(a.sigmas(), b.sigmas()) })
}

func (r ScaleResidual) sigmas() float64 { return math.Abs(float64(r.Difference / r.Expected)) }

// ScaleResidual compares a measured distance with the table before the correction.
type ScaleResidual struct {
	ScaleDistance
	Seen       geom.Length // between the markers' centres as the camera sees them, before
	Difference geom.Length // measured less seen
	Expected   geom.Length // standard deviation of the difference
}

// MeasureScale corrects the table's scale by measured distances between markers. The
// camera sees every marker where it lies, so a measured distance shows how long a table
// millimetre is, however well the two markers were laid.
//
// The scale's error has two parts that pictures cannot separate: that of the layout
// (ScaleSigma) and the part of the registration's error that enlarges everything alike.
// With g the change of the pose that does so, a = gᵀC⁻¹e / gᵀC⁻¹g of the pose's error e
// is that part, independent of the rest of e. Both are combined into one scale with the
// sum of their variances, which the distances then correct. ScaleSigma is what remains
// of it, and RegistrationCovariance what remains of the pose. What the distances say
// about that rest, such as the ratio of two edges, is not used, so the sigmas are a
// little too large rather than too small.
func (t *Table) MeasureScale(distances []ScaleDistance, centers map[int]geom.Pixel) (ScaleCheck, error) {
	var check ScaleCheck
	if len(distances) == 0 {
		return check, nil
	}
	if len(t.RegistrationCovariance) != 36 {
		return check, fmt.Errorf("calibration: scale: the table's registration is not known well enough: register it again")
	}
	own, rest := t.splitScale()
	prior := t.ScaleSigma*t.ScaleSigma + own
	check.Before = math.Sqrt(prior)
	trial := *t
	trial.RegistrationCovariance = rest
	b := NewBudget(trial, Uncertainty{Model: DefaultUncertainty.Model, Pixel: t.noise().corner})
	z, n, err := check.observe(b, distances, centers)
	if err != nil {
		return check, fmt.Errorf("calibration: scale: %w", err)
	}
	weights, ok := linalg.InvertSPD(n, len(z))
	if !ok {
		return check, fmt.Errorf("calibration: scale: the distances' covariance cannot be inverted: were two of them measured from the same " +
			"place?")
	}
	ones := make([]float64, len(z))
	for i := range ones {
		ones[i] = 1
	}
	precision := 1/prior + linalg.Quadratic(weights, ones, ones)
	s := linalg.Quadratic(weights, ones, z) / precision
	variance := 1 / precision
	for i := range z {
		check.Sigmas = max(check.Sigmas, math.Abs(z[i])/math.Sqrt(prior+n[i*len(z)+i]))
		check.Sigmas = max(check.Sigmas, math.Abs(z[i]-s)/math.Sqrt(variance+n[i*len(z)+i]))
	}
	if check.Contradicts() { // then neither is as good as it says (Birge 1932)
		variance *= square(check.Sigmas)
	}
	check.Change, check.After = s, math.Sqrt(variance)
	t.RegistrationCovariance, t.ScaleSigma = rest, check.After
	t.PoseCovariance = append([]float64(nil), rest...)
	if b.lens != nil {
		addLensPart(t.PoseCovariance, b.gain, b.lens, 1)
	}
	t.Distances = append([]ScaleDistance(nil), distances...)
	t.stretch(1 + s)
	return check, nil
}

// splitScale returns the variance of the part of the registration's error that
// enlarges everything alike, and the covariance of the rest.
func (t *Table) splitScale() (variance float64, rest []float64) {
	// With every length of the table twice as long, its camera is twice as far.
	g := []float64{0, 0, 0, t.T[0], t.T[1], t.T[2]}
	rest = append([]float64(nil), t.RegistrationCovariance...)
	inverse, ok := linalg.InvertScaled(t.RegistrationCovariance, 6)
	if !ok { // it was split before
		return 0, rest
	}
	variance = 1 / linalg.Quadratic(inverse, g, g)
	for i := range 6 {
		for j := range 6 {
			rest[6*i+j] -= variance * g[i] * g[j]
		}
	}
	return variance, rest
}

// observe returns the relative difference of each measured distance from the one seen,
// and their covariance: of measuring, of noise, and of the errors of pose and lens, which
// all distances share.
func (c *ScaleCheck) observe(b *Budget, distances []ScaleDistance, centers map[int]geom.Pixel) (z, n []float64, err error) {
	k := len(distances)
	z, n = make([]float64, k), make([]float64, k*k)
	pose, lens := make([][]float64, k), make([][]float64, k)
	for i, d := range distances {
		if err := d.validate(b.table.Layout); err != nil {
			return nil, nil, err
		}
		p, sp, err := b.markerAt(d.From, centers)
		if err != nil {
			return nil, nil, err
		}
		q, sq, err := b.markerAt(d.To, centers)
		if err != nil {
			return nil, nil, err
		}
		arm := q.Sub(p)
		seen := arm.Norm()
		u := arm.Mul(1 / seen)
		diff := sq.minus(&sp)
		for j := range 6 {
			pose[i] = append(pose[i], (u.X*diff.pose[0][j]+u.Y*diff.pose[1][j])/seen)
		}
		for j := range LensTerms {
			lens[i] = append(lens[i], (u.X*diff.lens[0][j]+u.Y*diff.lens[1][j])/seen)
		}
		noise := pixelCov(&sp, b.limits.Pixel/2).Add(pixelCov(&sq, b.limits.Pixel/2)).Along(u) + b.modelVariance(&sp) + b.modelVariance(&sq)
		z[i] = (float64(d.Length) - seen) / seen
		n[i*k+i] = (square(float64(d.Sigma)) + noise) / (seen * seen)
		c.Distances = append(c.Distances, ScaleResidual{ScaleDistance: d, Seen: geom.Length(seen), Difference: d.Length - geom.Length(seen)})
	}
	for i := range k {
		for j := range k {
			n[i*k+j] += linalg.Quadratic(b.registration, pose[i], pose[j])
			if b.lens != nil {
				n[i*k+j] += linalg.Quadratic(b.lens, lens[i], lens[j])
			}
		}
		c.Distances[i].Expected = c.Distances[i].Seen * geom.Length(math.Sqrt(n[i*k+i]+square(c.Before)))
	}
	return z, n, nil
}

// markerAt returns a marker's centre on the table as seen.
func (b *Budget) markerAt(id int, centers map[int]geom.Pixel) (geom.Point, sensitivity, error) {
	m, _ := b.table.Layout.marker(id)
	px, ok := centers[id]
	if !ok {
		return geom.Point{}, sensitivity{}, fmt.Errorf("marker %d was not seen: measure between two markers that are", id)
	}
	p, ok1 := b.table.Camera.PointAt(px, m.Z)
	s, ok2 := b.sensitivity(p, m.Z)
	if !ok1 || !ok2 {
		return geom.Point{}, sensitivity{}, fmt.Errorf("marker %d lies where the camera cannot see the table", id)
	}
	return p, s, nil
}

// Centers returns the pixels of the markers' centres: the crossings of the undistorted
// diagonals, which no tilt moves.
func Centers(lens Intrinsics, seen []MarkerSighting) map[int]geom.Pixel {
	out := map[int]geom.Pixel{}
	for _, s := range seen {
		var c [4]geom.Pixel
		all := true
		for k, px := range s.Corners {
			var ok bool
			c[k].X, c[k].Y, ok = lens.Undistort(px)
			all = all && ok
		}
		u, v, w := c[2].Sub(c[0]), c[3].Sub(c[1]), c[1].Sub(c[0])
		if cross := u.X*v.Y - u.Y*v.X; all && cross != 0 {
			at := c[0].Add(u.Mul((w.X*v.Y - w.Y*v.X) / cross))
			out[s.ID] = lens.Project(at.X, at.Y)
		}
	}
	return out
}

// stretch multiplies every length along the table and the camera's distance by k, in
// place, which leaves pictures unchanged. Heights and the sizes of prints stay: they are
// measured separately.
func (t *Table) stretch(k float64) {
	for i := range t.T {
		t.T[i] *= k
	}
	l := &t.Layout
	l.Width, l.Height = l.Width*geom.Length(k), l.Height*geom.Length(k)
	l.Markers = append([]Marker(nil), l.Markers...)
	for i := range l.Markers {
		l.Markers[i].Center = l.Markers[i].Center.Mul(k)
	}
}
