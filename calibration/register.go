package calibration

import (
	"errors"
	"fmt"
	"math"
	"sort"
	"strings"

	"sightline/engine/geom"
)

// MarkerSighting is one of the mat's markers as a picture shows it.
type MarkerSighting struct {
	ID      int
	Corners [4]geom.Pixel // top left, top right, bottom right, bottom left of the print
}

// ErrMarkers is returned by Register when the markers that were seen do not fix
// the camera's place.
var ErrMarkers = errors.New("the markers do not fix the camera's place")

const (
	minMarkers = 3 // three well spread markers give 24 equations for 6 unknowns

	// cornerSigma is the standard deviation, per axis, of a marker's corner after
	// the refit of its sides: 0.03-0.05 px measured on rendered tags, 0.06-0.11 px
	// on photographs (docs/accuracy.md). It is the least that the solution's own
	// residuals may claim.
	cornerSigma = 0.05

	// A marker is left out when its corners lie further off than this, in px, from
	// where the other markers put them: 20 corner sigmas, 0.9 mm at 1080p. A marker
	// that was bumped less than that stays and shows in the residual.
	outlierPixels = 1.0
)

// Register finds the camera's place over the table from sightings of the mat's
// markers, and how well it is known.
//
// Each marker gives four corners at its own height. The pose starts from the
// homography of the marker plane and is refined by Levenberg-Marquardt on the
// reprojection error through the whole lens model. A marker that disagrees with
// all the others (it was bumped, or it is a stray copy) is left out and named.
// It fails with ErrMarkers when fewer than three markers agree or when those
// that do stand in a row.
func Register(lens Intrinsics, layout Layout, seen []MarkerSighting) (Table, error) {
	if err := lens.Validate(); err != nil {
		return Table{}, fmt.Errorf("calibration: register: lens: %w", err)
	}
	if err := layout.Validate(); err != nil {
		return Table{}, fmt.Errorf("calibration: register: layout: %w", err)
	}
	t := Table{Camera: Camera{Intrinsics: lens}, Layout: layout, ScaleSigma: DefaultScaleSigma}
	seen = TurnSightings(layout, seen) // a card laid the wrong way round does no harm
	known := map[int]Marker{}
	for _, m := range layout.Markers {
		known[m.ID] = m
	}
	count := map[int]int{}
	for _, s := range seen {
		count[s.ID]++
	}
	var used []correspondence
	for _, s := range seen {
		m, ok := known[s.ID]
		switch {
		case !ok:
			t.Rejected = append(t.Rejected, Rejection{fmt.Sprintf("marker %d", s.ID), "it is not one of this mat's markers"})
		case count[s.ID] > 1:
			t.Rejected = append(t.Rejected, Rejection{fmt.Sprintf("marker %d", s.ID), "it is seen more than once"})
		default:
			used = append(used, correspondence{marker: m, corners: s.Corners})
		}
	}
	for {
		if len(used) < minMarkers {
			return t, fmt.Errorf("calibration: register: %w: %d of %d markers are usable, at least %d are needed",
				ErrMarkers, len(used), len(layout.Markers), minMarkers)
		}
		pose, info, err := solvePose(lens, used)
		if err != nil {
			return t, fmt.Errorf("calibration: register: %w: %w", ErrMarkers, err)
		}
		if worst, off := worstMarker(lens, used); worst >= 0 && len(used) > minMarkers {
			t.Rejected = append(t.Rejected, Rejection{fmt.Sprintf("marker %d", used[worst].marker.ID),
				fmt.Sprintf("it lies %.1f px %s", off, fromOthers)})
			used = append(used[:worst], used[worst+1:]...)
			continue
		}
		if off := countOff(t.Rejected); off >= len(used) {
			return t, fmt.Errorf("calibration: register: %w: %d of the %d markers that were seen contradict the others: is it the lens of this camera, and do the markers lie where the layout says?",
				ErrMarkers, off, off+len(used))
		}
		t.Extrinsics = pose
		t.RMS = info.rms
		t.PoseCovariance = poseCovariance(lens, pose, used, info)
		break
	}
	for _, c := range used {
		t.Used = append(t.Used, c.marker.ID)
	}
	sort.Ints(t.Used)
	return t, nil
}

// fromOthers ends the reason of a marker that contradicts the others.
const fromOthers = "from where the other markers put it"

// countOff counts the markers that were left out because they contradict the
// others. When they are as many as those that agree, nobody can tell which ones are
// right: three markers fit almost any lens.
func countOff(rejected []Rejection) (n int) {
	for _, r := range rejected {
		if strings.HasSuffix(r.Reason, fromOthers) {
			n++
		}
	}
	return n
}

// correspondence is a marker with its four corners in the picture.
type correspondence struct {
	marker  Marker
	corners [4]geom.Pixel
}

// solution is what solvePose knows beside the pose: the normal matrix JᵀJ of its
// six parameters (px², rad, mm) and the residual.
type solution struct {
	normal []float64
	rms    float64 // px, over both axes of all corners
}

// worstMarker returns the index of the marker that lies furthest from where the
// others alone put it, if that is beyond outlierPixels, else -1. Fitting without
// the marker keeps a bumped one from pulling the pose towards itself.
func worstMarker(lens Intrinsics, used []correspondence) (int, float64) {
	worst, off := -1, outlierPixels
	for i := range used {
		if len(used)-1 < minMarkers {
			break
		}
		rest := append(append([]correspondence(nil), used[:i]...), used[i+1:]...)
		pose, info, err := solvePose(lens, rest)
		if err != nil {
			continue
		}
		cam := Camera{lens, pose}
		var sum float64
		for k, p := range used[i].marker.Corners() {
			px, ok := cam.PixelOf(p, used[i].marker.Z)
			if !ok {
				sum = math.Inf(1)
				break
			}
			d := px.Sub(used[i].corners[k])
			sum += d.X*d.X + d.Y*d.Y
		}
		// Relative to what remains: with two bumped markers each of them makes the
		// others look off too, so take the one whose removal helps most.
		if d := math.Sqrt(sum/4) - info.rms; d > off {
			worst, off = i, d
		}
	}
	return worst, off
}

// solvePose finds the camera's place from at least three markers.
func solvePose(lens Intrinsics, used []correspondence) (Extrinsics, solution, error) {
	pose, err := startPose(lens, used)
	if err != nil {
		return pose, solution{}, err
	}
	lambda := 1e-6
	cost, normal, gradient := poseNormal(lens, pose, used)
	for range 50 {
		damped := append([]float64(nil), normal...)
		for i := range 6 {
			damped[7*i] *= 1 + lambda
		}
		step, ok := SolveSPD(damped, gradient)
		if !ok {
			return pose, solution{}, errors.New("they stand in a row or too close together")
		}
		next := pose.Perturbed(Vec3{step[0], step[1], step[2]}, Vec3{step[3], step[4], step[5]})
		if c, n, g := poseNormal(lens, next, used); c <= cost {
			done := cost-c <= 1e-14*cost
			pose, cost, normal, gradient = next, c, n, g
			lambda = math.Max(lambda/10, 1e-12)
			if done {
				break
			}
		} else if lambda *= 10; lambda > 1e8 {
			break
		}
	}
	rms := math.Sqrt(cost / float64(8*len(used)))
	if math.IsNaN(rms) || math.IsInf(rms, 0) {
		return pose, solution{}, errors.New("the solution does not converge")
	}
	return pose, solution{normal: normal, rms: rms}, nil
}

// poseNormal returns the sum of squared residuals (px²) at a pose, JᵀJ and Jᵀr
// for the six parameters of Extrinsics.Perturbed, with r = seen - projected.
func poseNormal(lens Intrinsics, pose Extrinsics, used []correspondence) (cost float64, normal, gradient []float64) {
	normal, gradient = make([]float64, 36), make([]float64, 6)
	for _, c := range used {
		for k, p := range c.marker.Corners() {
			q := pose.Camera(Vec3{p.X, p.Y, float64(c.marker.Z)})
			if q[2] < 1 {
				return math.Inf(1), normal, gradient
			}
			px, jac := projectionJacobian(&lens, q, pose.T)
			r := c.corners[k].Sub(px)
			cost += r.X*r.X + r.Y*r.Y
			for i := range 6 {
				gradient[i] += jac[0][i]*r.X + jac[1][i]*r.Y
				for j := range 6 {
					normal[6*i+j] += jac[0][i]*jac[0][j] + jac[1][i]*jac[1][j]
				}
			}
		}
	}
	return cost, normal, gradient
}

// projectionJacobian returns the pixel of a camera-frame point q (mm) and its
// derivative with respect to the six parameters of Extrinsics.Perturbed. The
// rotation turns R only, so it moves q - T.
func projectionJacobian(lens *Intrinsics, q, shift Vec3) (geom.Pixel, [2][6]float64) {
	x, y := q[0]/q[2], q[1]/q[2]
	const h = 1e-6
	px := lens.Project(x, y)
	ux := lens.Project(x+h, y).Sub(lens.Project(x-h, y)).Mul(1 / (2 * h))
	uy := lens.Project(x, y+h).Sub(lens.Project(x, y-h)).Mul(1 / (2 * h))
	var jac [2][6]float64
	set := func(col int, d Vec3) { // d: derivative of q
		dx, dy := (d[0]-x*d[2])/q[2], (d[1]-y*d[2])/q[2]
		jac[0][col] = ux.X*dx + uy.X*dy
		jac[1][col] = ux.Y*dx + uy.Y*dy
	}
	v := Vec3{q[0] - shift[0], q[1] - shift[1], q[2] - shift[2]}
	set(0, Vec3{0, -v[2], v[1]}) // e_x × v
	set(1, Vec3{v[2], 0, -v[0]})
	set(2, Vec3{-v[1], v[0], 0})
	set(3, Vec3{1, 0, 0})
	set(4, Vec3{0, 1, 0})
	set(5, Vec3{0, 0, 1})
	return px, jac
}

// startPose gives a first pose from the homography between the marker plane and
// the undistorted picture (Zhang 2000, section 3.1).
func startPose(lens Intrinsics, used []correspondence) (Extrinsics, error) {
	// Normalise the table's coordinates to about ±1 (Hartley 1997).
	var mean geom.Point
	n := 0.0
	for _, c := range used {
		for _, p := range c.marker.Corners() {
			mean, n = mean.Add(p), n+1
		}
	}
	mean = mean.Mul(1 / n)
	var spread, z float64
	for _, c := range used {
		z += float64(c.marker.Z) / float64(len(used))
		for _, p := range c.marker.Corners() {
			spread += p.Sub(mean).Norm() / n
		}
	}
	if spread < 1e-6 {
		return Extrinsics{}, errors.New("they all stand in one place")
	}
	// Eight unknowns, h33 = 1 (the mat's middle is in front of the camera), by the
	// normal equations of 2 rows a corner.
	normal, right := make([]float64, 64), make([]float64, 8)
	add := func(row [8]float64, b float64) {
		for i := range 8 {
			right[i] += row[i] * b
			for j := range 8 {
				normal[8*i+j] += row[i] * row[j]
			}
		}
	}
	for _, c := range used {
		for k, p := range c.marker.Corners() {
			x, y, ok := lens.Undistort(c.corners[k])
			if !ok {
				return Extrinsics{}, fmt.Errorf("marker %d lies where the lens model cannot be inverted: is it the right lens?", c.marker.ID)
			}
			u, v := (p.X-mean.X)/spread, (p.Y-mean.Y)/spread
			add([8]float64{u, v, 1, 0, 0, 0, -u * x, -v * x}, x)
			add([8]float64{0, 0, 0, u, v, 1, -u * y, -v * y}, y)
		}
	}
	h, ok := SolveSPD(normal, right)
	if !ok {
		return Extrinsics{}, errors.New("they stand in a row or too close together")
	}
	h = append(h, 1)
	// Columns r1, r2, t up to a common scale; undo the normalisation of the table.
	r1 := Vec3{h[0] / spread, h[3] / spread, h[6] / spread}
	r2 := Vec3{h[1] / spread, h[4] / spread, h[7] / spread}
	t := Vec3{h[2], h[5], h[8]}
	scale := 2 / (norm(r1) + norm(r2))
	for i := range 3 {
		r1[i], r2[i], t[i] = r1[i]*scale, r2[i]*scale, t[i]*scale
	}
	// The nearest rotation: make r1 and r2 perpendicular, sharing the error.
	d := dot(r1, r2) / 2
	a, b := unit(Vec3{r1[0] - d*r2[0], r1[1] - d*r2[1], r1[2] - d*r2[2]}), unit(Vec3{r2[0] - d*r1[0], r2[1] - d*r1[1], r2[2] - d*r1[2]})
	c := unit(cross(a, b))
	b = cross(c, a)
	e := Extrinsics{R: [3][3]float64{{a[0], b[0], c[0]}, {a[1], b[1], c[1]}, {a[2], b[2], c[2]}}}
	// t belongs to the mean point at the markers' height.
	off := e.Camera(Vec3{mean.X, mean.Y, z})
	for i := range 3 {
		e.T[i] = t[i] - off[i]
	}
	if q := e.Camera(Vec3{mean.X, mean.Y, z}); q[2] < 1 || c[2] > 0 {
		// +z of the table must point towards the camera.
		return e, errors.New("they are seen from below or in mirror image: are the ids in their places?")
	}
	return e, nil
}

// poseCovariance is the covariance of a solved pose: the corners' noise, as large
// as the residual says and at least cornerSigma, plus what the lens's own
// uncertainty does to the pose, to first order.
func poseCovariance(lens Intrinsics, pose Extrinsics, used []correspondence, info solution) []float64 {
	inv, ok := invertSPD(info.normal, 6)
	if !ok {
		return nil // cannot be: the same matrix was just solved
	}
	freedom := float64(8*len(used) - 6)
	sigma := math.Max(cornerSigma, info.rms*math.Sqrt(float64(8*len(used))/freedom))
	cov := make([]float64, 36)
	for i := range cov {
		cov[i] = inv[i] * sigma * sigma
	}
	if lens.Covariance == nil {
		return cov
	}
	gain := lensGain(lens, pose, used, inv) // 6×9: d pose / d lens
	for i := range 6 {
		for j := range 6 {
			for a := range 9 {
				for b := range 9 {
					cov[6*i+j] += gain[9*i+a] * lens.Covariance[9*a+b] * gain[9*j+b]
				}
			}
		}
	}
	return cov
}

// lensGain returns how the solved pose moves with each of the nine lens
// parameters: -(JᵀJ)⁻¹ Jᵀ L, with L the projection's derivative by the lens.
func lensGain(lens Intrinsics, pose Extrinsics, used []correspondence, inverse []float64) []float64 {
	var jl [54]float64 // Jᵀ L
	for _, c := range used {
		for _, p := range c.marker.Corners() {
			q := pose.Camera(Vec3{p.X, p.Y, float64(c.marker.Z)})
			_, jac := projectionJacobian(&lens, q, pose.T)
			d := LensJacobian(&lens, q[0]/q[2], q[1]/q[2])
			for i := range 6 {
				for k := range 9 {
					jl[9*i+k] += jac[0][i]*d[k].X + jac[1][i]*d[k].Y
				}
			}
		}
	}
	gain := make([]float64, 54)
	for i := range 6 {
		for k := range 9 {
			for j := range 6 {
				gain[9*i+k] -= inverse[6*i+j] * jl[9*j+k]
			}
		}
	}
	return gain
}

// LensJacobian returns the derivative of the pixel at normalised coordinates
// (x, y) with respect to (fx, fy, cx, cy, k1, k2, p1, p2, k3).
func LensJacobian(lens *Intrinsics, x, y float64) [9]geom.Pixel {
	xd, yd := lens.distort(x, y)
	r2 := x*x + y*y
	fx, fy := lens.Fx, lens.Fy
	return [9]geom.Pixel{
		{X: xd}, {Y: yd}, {X: 1}, {Y: 1},
		{X: fx * x * r2, Y: fy * y * r2},
		{X: fx * x * r2 * r2, Y: fy * y * r2 * r2},
		{X: fx * 2 * x * y, Y: fy * (r2 + 2*y*y)},
		{X: fx * (r2 + 2*x*x), Y: fy * 2 * x * y},
		{X: fx * x * r2 * r2 * r2, Y: fy * y * r2 * r2 * r2},
	}
}

func dot(a, b Vec3) float64 { return a[0]*b[0] + a[1]*b[1] + a[2]*b[2] }
func norm(a Vec3) float64   { return math.Sqrt(dot(a, a)) }
func unit(a Vec3) Vec3      { n := norm(a); return Vec3{a[0] / n, a[1] / n, a[2] / n} }
func cross(a, b Vec3) Vec3 {
	return Vec3{a[1]*b[2] - a[2]*b[1], a[2]*b[0] - a[0]*b[2], a[0]*b[1] - a[1]*b[0]}
}

// Renew registers the table anew from what a later picture shows of its markers,
// with the same lens and layout, and says by how much the two calibrations differ:
// the largest distance, over the mat, between where the old and the new one put
// the same pixel.
func (t *Table) Renew(seen []MarkerSighting) (Table, geom.Length, error) {
	fresh, err := Register(t.Intrinsics, t.Layout, seen)
	if err != nil {
		return *t, 0, err
	}
	fresh.ScaleSigma, fresh.Made, fresh.Hash = t.ScaleSigma, t.Made, t.Hash
	return fresh, t.Shift(&fresh), nil
}

// Shift returns how far the corners of the mat seem to lie apart for two
// calibrations of one camera: by how much answers would be wrong if this one stayed
// and the later one is right. Inside the mat they differ by less.
func (t *Table) Shift(later *Table) geom.Length {
	var most geom.Length
	w, h := float64(t.Layout.Width), float64(t.Layout.Height)
	for _, corner := range [...]geom.Point{{}, {X: w}, {X: w, Y: h}, {Y: h}} {
		px, ok := t.PixelOf(corner, 0)
		if !ok {
			continue
		}
		if now, ok := later.PointAt(px, 0); ok {
			most = max(most, corner.Distance(now))
		}
	}
	return most
}
