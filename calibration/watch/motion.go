package watch

import (
	"math"

	"sightline/calibration/linalg"
	"sightline/engine/geom"
)

// motion is the common motion of the markers.
type motion struct {
	evident bool       // large enough to register again
	step    [6]float64 // of the camera, for an evident or a significant small motion
	shift   geom.Length
	grown   float64 // relative growth of the picture, if the motion is nothing else; else 0
}

// motionOf returns the common motion of the markers. The inliers decide when they are
// the majority, unless one motion of all markers explains the outliers too.
func (w *Monitor) motionOf(here, inliers, outliers []sighted) motion {
	if len(here) == 0 {
		return motion{}
	}
	if len(inliers) <= len(outliers) || (len(outliers) > 1 && w.oneMotion(here)) {
		step, _, ok := w.fit(here, 1)
		m := motion{evident: true, shift: roughShift(w, here)}
		if ok && m.shift < 5*geom.Millimeter {
			m.step, m.shift = step, w.shiftOf(step)
		}
		m.grown = w.growth(here)
		return m
	}
	// A small motion is searched in this picture and in the mean of the last ones.
	for _, n := range [...]int{1, watchMean} {
		step, chi, ok := w.fit(inliers, n)
		if !ok || chi < motionLimit {
			continue
		}
		m := motion{step: step, shift: w.shiftOf(step)}
		if m.shift > tolerated {
			m.evident, m.grown = true, w.growth(inliers)
			return m
		}
		if n == watchMean {
			return m
		}
	}
	return motion{}
}

// oneMotion reports whether one motion of the camera explains the places of all markers.
func (w *Monitor) oneMotion(here []sighted) bool {
	if len(here) < 3 {
		return false
	}
	step, _, ok := w.fit(here, 1)
	if !ok {
		return false
	}
	for _, s := range here {
		d := s.moved()
		for i := range d {
			d[i] = d[i].Sub(displaced(&s.jac[i], &step))
		}
		corner, common := w.noise(s.watchedMarker, 1)
		if weightedDot(&d, &d, corner, common) > markerLimit {
			return false
		}
	}
	return true
}

// displaced returns the motion of a corner for a step of the camera.
func displaced(jac *[2][6]float64, step *[6]float64) (d geom.Pixel) {
	for k, x := range step {
		d.X += jac[0][k] * x
		d.Y += jac[1][k] * x
	}
	return d
}

// fit returns the step of the camera that best explains the markers' motion in the mean
// of up to n pictures, and the chi-square that it explains.
func (w *Monitor) fit(of []sighted, n int) (step [6]float64, chi float64, ok bool) {
	normal, right := make([]float64, 36), make([]float64, 6)
	for _, s := range of {
		d, count := s.meanMoved(n)
		corner, common := w.noise(s.watchedMarker, count)
		addNormal(normal, right, s.watchedMarker, &d, corner, common)
	}
	x, ok := linalg.SolveSPD(normal, right)
	if !ok {
		return step, 0, false
	}
	copy(step[:], x)
	return step, linalg.Dot(x, right), true
}

// addNormal adds a marker to the normal equations of a step of the camera.
func addNormal(normal, right []float64, k *watchedMarker, d *[4]geom.Pixel, corner, common float64) {
	var col [6][4]geom.Pixel
	for i := range col {
		for c := range 4 {
			col[i][c] = geom.Pixel{X: k.jac[c][0][i], Y: k.jac[c][1][i]}
		}
	}
	for i := range 6 {
		if right != nil {
			right[i] += weightedDot(&col[i], d, corner, common)
		}
		for j := range 6 {
			normal[6*i+j] += weightedDot(&col[i], &col[j], corner, common)
		}
	}
}

// unnoticed returns the covariance of a step of the camera that these markers could have
// missed, and its standard deviation at the worst corner of the mat: infinite when they
// cannot exclude any step.
func (w *Monitor) unnoticed(inliers []sighted) (cov []float64, blind geom.Length) {
	normal := make([]float64, 36)
	for _, s := range inliers {
		corner, common := w.noise(s.watchedMarker, 1)
		addNormal(normal, nil, s.watchedMarker, nil, corner, common)
	}
	cov, ok := linalg.InvertSPD(normal, 6)
	if !ok {
		return nil, geom.Length(math.Inf(1))
	}
	return cov, w.table.WorstCorner(cov)
}

// shiftOf returns the largest motion of a corner of the mat for a step of the camera.
func (w *Monitor) shiftOf(step [6]float64) (most geom.Length) {
	for _, p := range w.table.Layout.Corners() {
		if a, ok := w.table.PoseJacobian(p, 0); ok {
			most = max(most, geom.Length(math.Hypot(linalg.Dot(a[0][:], step[:]), linalg.Dot(a[1][:], step[:]))))
		}
	}
	return most
}

// roughShift returns the largest motion of a marker, in mm on the table.
func roughShift(w *Monitor, here []sighted) (most geom.Length) {
	for _, s := range here {
		a, ok := w.table.PointAt(middle(s.corners), 0)
		b, ok1 := w.table.PointAt(middle(s.now), 0)
		if ok && ok1 {
			most = max(most, a.Distance(b))
		}
	}
	return most
}

func middle(c [4]geom.Pixel) (m geom.Pixel) {
	for _, p := range c {
		m = m.Add(p.Mul(0.25))
	}
	return m
}

// mostGrown is the largest growth taken for a zoom: a picture turned upside down shrinks by
// twice its size.
const mostGrown = 0.5

// growth returns the relative growth of the picture about the principal point, if that
// explains nine tenths of the motion beyond the noise; else 0. A camera raised along its
// axis looks the same. It is 0 also when the markers stand too much to one side.
func (w *Monitor) growth(here []sighted) float64 {
	axis := geom.Pixel{X: w.table.Cx, Y: w.table.Cy}
	var mean geom.Pixel
	var radial, square, all, noise float64
	n := float64(len(here))
	for _, s := range here {
		r, d := middle(s.corners).Sub(axis), middle(s.now).Sub(middle(s.corners))
		mean = mean.Add(r.Mul(1 / n))
		radial += r.X*d.X + r.Y*d.Y
		square += r.X*r.X + r.Y*r.Y
		all += d.X*d.X + d.Y*d.Y
		corner, common := w.noise(s.watchedMarker, 1)
		noise += 2 * (corner/4 + common)
	}
	if len(here) < 4 || mean.Norm() > 0.6*math.Sqrt(square/n) {
		return 0
	}
	grown := radial / square
	if math.Abs(grown) > mostGrown {
		return 0
	}
	rest := all - grown*grown*square
	if rest < 0.1*all+3*noise && all > 10*noise {
		return grown
	}
	return 0
}

// isMoving reports whether most markers moved since the picture before, or all moved
// together by a little.
func (w *Monitor) isMoving(here []sighted) bool {
	moving, compared := 0, 0
	normal, right := make([]float64, 36), make([]float64, 6)
	for _, s := range here {
		if s.unseen > 0 || len(s.recent) == 0 {
			continue
		}
		compared++
		if w.jumped(s) {
			moving++
			continue
		}
		d := s.jump()
		addNormal(normal, right, s.watchedMarker, &d, 2*w.sigma*w.sigma, watchDrift*watchDrift)
	}
	if compared == 0 || 2*moving > compared {
		return true
	}
	step, ok := linalg.SolveSPD(normal, right)
	return ok && linalg.Dot(step, right) > motionLimit
}

// addOuter adds s sᵀ to a covariance.
func addOuter(cov []float64, s [6]float64) {
	for i := range 6 {
		for j := range 6 {
			cov[6*i+j] += s[i] * s[j]
		}
	}
}
