package calibration

import (
	"math"

	"sightline/engine/geom"
)

// ErrorModel says how the errors of a calibration move what is measured on the
// table. Its terms are systematic: they do not shrink when frames are averaged.
type ErrorModel struct {
	table  Table
	limits Uncertainty
	terms  [][]float64 // each: a shift of (6 pose, 9 lens) parameters, one sigma long
}

// NewErrorModel prepares the error model of a table. The zero Uncertainty means
// DefaultUncertainty.
func NewErrorModel(t Table, u Uncertainty) *ErrorModel {
	if u == (Uncertainty{}) {
		u = DefaultUncertainty
	}
	m := &ErrorModel{table: t, limits: u}
	m.addRegistration()
	m.addLens()
	return m
}

// modelReach is the distance on the table, in mm, over which the lens model's own
// error changes sign: residuals of plumb_bob fits ripple a few times across a picture.
const modelReach = 200

// Limits returns the uncertainties the model was made with.
func (m *ErrorModel) Limits() Uncertainty { return m.limits }

// addRegistration adds the pose's covariance as six independent terms, the
// columns of its Cholesky factor. The part of it that the lens causes is counted
// here as if it were independent of the lens's own terms, which is on the safe
// side: in truth the pose makes up for part of a wrong lens.
func (m *ErrorModel) addRegistration() {
	if len(m.table.PoseCovariance) != 36 {
		return
	}
	l := append([]float64(nil), m.table.PoseCovariance...)
	if !cholesky(l, 6) {
		return
	}
	for k := range 6 {
		term := make([]float64, 15)
		for i := k; i < 6; i++ {
			term[i] = l[6*i+k]
		}
		m.terms = append(m.terms, term)
	}
}

// addLens adds the lens's covariance as nine terms, each together with the shift
// of the pose that registering on the markers through the wrong lens causes.
func (m *ErrorModel) addLens() {
	cov := m.table.Intrinsics.Covariance
	if len(cov) != 81 {
		return
	}
	l := append([]float64(nil), cov...)
	if !cholesky(l, 9) {
		return
	}
	used := m.usedMarkers()
	_, normal, _ := poseNormal(m.table.Intrinsics, m.table.Extrinsics, used)
	inverse, ok := invertSPD(normal, 6)
	if !ok {
		return
	}
	gain := lensGain(m.table.Intrinsics, m.table.Extrinsics, used, inverse)
	for k := range 9 {
		term := make([]float64, 15)
		for i := k; i < 9; i++ {
			d := l[9*i+k]
			term[6+i] = d
			for j := range 6 {
				term[j] += gain[9*j+i] * d
			}
		}
		m.terms = append(m.terms, term)
	}
}

// usedMarkers returns the markers that fixed the pose, with their corners where
// the calibration says they appear.
func (m *ErrorModel) usedMarkers() []correspondence {
	in := map[int]bool{}
	for _, id := range m.table.Used {
		in[id] = true
	}
	var out []correspondence
	for _, k := range m.table.Layout.Markers {
		if !in[k.ID] {
			continue
		}
		c := correspondence{marker: k}
		for i, p := range k.Corners() {
			c.corners[i], _ = m.table.PixelOf(p, k.Z)
		}
		out = append(out, c)
	}
	return out
}

// Systematic returns the covariance that the calibration's own errors give to the
// pose of an object at a height z over the mat: registration, lens, the height of
// its top, the mat's flatness and what the model leaves. radius is half the
// object's size, over which its heading is measured.
func (m *ErrorModel) Systematic(pose geom.Pose, z, radius geom.Length) geom.Cov3 {
	var cov geom.Cov3
	add := func(v [3]float64) {
		for i := range 3 {
			for j := range 3 {
				cov[3*i+j] += v[i] * v[j]
			}
		}
	}
	r := float64(radius)
	ahead, behind := pose.Transform(geom.Point{Y: r}), pose.Transform(geom.Point{Y: -r})
	shift := func(at func(geom.Point) (geom.Point, bool)) ([3]float64, bool) {
		c, ok0 := at(pose.Point)
		a, ok1 := at(ahead)
		b, ok2 := at(behind)
		if !(ok0 && ok1 && ok2) {
			return [3]float64{}, false
		}
		d, u := c.Sub(pose.Point), a.Sub(b)
		turn := geom.Angle(math.Atan2(u.X, u.Y)) - pose.Heading
		return [3]float64{d.X, d.Y, float64(turn.Signed())}, true
	}
	cam := &m.table.Camera
	for _, term := range m.terms {
		wrong := m.perturbed(term)
		// The picture shows the object through the perturbed camera; it is read
		// through the calibrated one.
		if v, ok := shift(func(p geom.Point) (geom.Point, bool) {
			px, ok := wrong.PixelOf(p, z)
			if !ok {
				return p, false
			}
			return cam.PointAt(px, z)
		}); ok {
			add(v)
		}
	}
	dz := geom.Length(math.Hypot(float64(m.limits.Height), float64(m.limits.Flatness)))
	if v, ok := shift(func(p geom.Point) (geom.Point, bool) {
		px, ok := cam.PixelOf(p, z+dz)
		if !ok {
			return p, false
		}
		return cam.PointAt(px, z)
	}); ok {
		add(v)
	}
	if _, dx, dy, ok := cam.PixelJacobian(pose.Point, z); ok {
		scale := math.Sqrt(math.Abs(dx.X*dy.Y - dx.Y*dy.X))
		e := m.limits.Model / scale
		cov[0] += e * e
		cov[4] += e * e
		// What the lens model leaves bends slowly over the picture, so that it shifts a
		// base far more than it turns it: over modelReach it may go from +e to -e.
		turn := 2 * e / modelReach
		cov[8] += turn * turn
	}
	return cov
}

// perturbed returns the camera with its pose and lens shifted by a term.
func (m *ErrorModel) perturbed(term []float64) Camera {
	c := m.table.Camera
	c.Extrinsics = c.Extrinsics.Perturbed(Vec3{term[0], term[1], term[2]}, Vec3{term[3], term[4], term[5]})
	c.Fx += term[6]
	c.Fy += term[7]
	c.Cx += term[8]
	c.Cy += term[9]
	for i := range 5 {
		c.Distortion[i] += term[10+i]
	}
	return c
}
