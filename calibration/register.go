package calibration

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"sightline/calibration/linalg"
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
	// residuals may state.
	cornerSigma = 0.05

	// modelLeaves is the lens model's error in a marker's place, px: the Model of
	// DefaultUncertainty.
	modelLeaves = 0.05
)

// Register finds the camera's pose over the table, with its covariance, from sightings
// of the mat's markers.
//
// Each marker gives four corners at its own height, which share the error with which
// the card was laid (Layout.Placement; see adjust.go). A marker that contradicts all the
// others, because it was bumped or is a stray copy, is rejected by name. Register fails
// with ErrMarkers when fewer than three markers agree, when those that agree stand in a
// row, and when as many contradict as agree. It fails with ErrWrongLens when they
// contradict the lens. When they only suspect its focal length, the lens's covariance
// grows by that (FocalDoubt). What else the markers suspect, rough placement, another lens or a
// picture that is bent, is in the sigmas too (explanation).
func Register(lens Intrinsics, layout Layout, seen []MarkerSighting) (Table, error) {
	if err := lens.Validate(); err != nil {
		return Table{}, fmt.Errorf("calibration: register: lens: %w", err)
	}
	if err := layout.Validate(); err != nil {
		return Table{}, fmt.Errorf("calibration: register: layout: %w", err)
	}
	t := Table{Camera: Camera{Intrinsics: lens}, Layout: layout, ScaleSigma: DefaultScaleSigma}
	used, left := match(layout, TurnSightings(layout, seen)) // a card laid the wrong way round does no harm
	t.Rejected = left
	used, out, residuals, err := t.fit(used)
	if err != nil {
		return t, fmt.Errorf("calibration: register: %w: %w", ErrMarkers, withPixelShape(&lens, err))
	}
	for _, c := range used {
		t.Used = append(t.Used, c.marker.ID)
	}
	sort.Ints(t.Used)
	t.Residuals = t.withOthers(residuals, used, out)
	return t, nil
}

// match pairs sightings with markers, and rejects those without one.
func match(layout Layout, seen []MarkerSighting) (used []correspondence, left []Rejection) {
	known := map[int]Marker{}
	for _, m := range layout.Markers {
		known[m.ID] = m
	}
	count := map[int]int{}
	for _, s := range seen {
		count[s.ID]++
	}
	for _, s := range seen {
		m, ok := known[s.ID]
		switch {
		case !ok:
			left = append(left, Rejection{markerName(s.ID), "it is not one of this mat's markers"})
		case count[s.ID] > 1:
			left = append(left, Rejection{markerName(s.ID), "it is seen more than once"})
		default:
			used = append(used, correspondence{marker: m, corners: s.Corners})
		}
	}
	return used, left
}

func markerName(id int) string { return fmt.Sprintf("marker %d", id) }

// fit solves the pose, leaving out markers one by one until the rest agrees. It returns
// the markers used, the markers that contradict them, and the residuals.
func (t *Table) fit(used []correspondence) (in, out []correspondence, residuals []MarkerResidual, err error) {
	noise := noiseModel{cornerSigma, t.Layout.placement()}
	for {
		if len(used) < minMarkers {
			return nil, nil, nil, fmt.Errorf("%d of %d markers are usable, at least %d are needed", len(used), len(t.Layout.Markers), minMarkers)
		}
		s, err := solvePose(t.Intrinsics, used, noise, nil)
		if err != nil {
			return nil, nil, nil, err
		}
		analysis, ok := s.leaveOneOut(t.Intrinsics, t.Layout, used)
		if !ok {
			return nil, nil, nil, errors.New(inRow)
		}
		i, reason := analysis.worst()
		if err := analysis.lens.contradicted(); err != nil {
			// The lens is wrong or a marker was bumped, whichever explains more. With one of
			// four markers left out, nothing would separate the two.
			if i < 0 || len(used) <= minMarkers+1 || analysis.lens.focalSquare > analysis.markers[i].square() {
				marker := ""
				if i >= 0 {
					marker = markerName(used[i].marker.ID) + ": " + reason
				}
				return nil, nil, nil, undecided(err, len(used), marker)
			}
		}
		if i >= 0 && len(used) > minMarkers {
			t.Rejected = append(t.Rejected, Rejection{markerName(used[i].marker.ID), reason})
			if strings.HasSuffix(reason, fromOthers) {
				out = append(out, used[i])
			}
			used = slices.Delete(slices.Clone(used), i, i+1)
			continue
		}
		if len(out) >= len(used) {
			return nil, nil, nil, contradiction(len(out), len(out)+len(used))
		}
		limit := maxScatter * float64(max(noise.placement.XY, DefaultPlacement.XY))
		if math.Sqrt(analysis.factor)*float64(noise.placement.XY) > limit {
			return nil, nil, nil, contradiction(len(used), len(used))
		}
		why, ok := s.explain(&t.Intrinsics, used, out, analysis.corner)
		if !ok {
			return nil, nil, nil, errors.New(inRow)
		}
		return used, out, analysis.markers, t.solveAgain(used, s, analysis, why)
	}
}

func contradiction(off, all int) error {
	if off == all {
		return fmt.Errorf("no place of the camera fits the %d markers that were seen: is it the lens of this camera, and do the markers lie "+
			"where the layout says?", all)
	}
	return fmt.Errorf("%d of the %d markers that were seen contradict the others: is it the lens of this camera, and do the markers lie "+
		"where the layout says?", off, all)
}

// solveAgain solves with the noise that the residuals show, and sets the table.
func (t *Table) solveAgain(used []correspondence, s solution, analysis residualAnalysis, why explanation) error {
	t.CornerSigma, t.PlacementFactor, t.BentSigma, t.OtherLens = analysis.corner, why.factor, why.bent, why.other
	t.FocalDoubt, t.FocalSigmas = analysis.lens.focalDoubt(), math.Sqrt(analysis.lens.focalSquare)
	t.Intrinsics = withDoubt(withFocalDoubt(t.Intrinsics, t.FocalDoubt), why.lens)
	s, err := solvePose(t.Intrinsics, used, t.noise(), &s.pose)
	if err != nil {
		return err
	}
	t.Extrinsics, t.RMS = s.pose, s.rms
	t.RegistrationCovariance = s.inverse
	t.PoseCovariance = s.covariance(t.Intrinsics)
	return nil
}

// noise returns the noise that the registration assumed. Old files do not state it: they
// hold a plain adjustment with equal corners and exact markers.
func (t *Table) noise() noiseModel {
	if !(t.CornerSigma > 0) {
		return noiseModel{corner: math.Max(cornerSigma, t.RMS)}
	}
	p, k := t.Layout.placement(), math.Sqrt(t.PlacementFactor)
	// A bend moves a marker, and by what it changes over bendReach turns and stretches it.
	bent := float64(t.BentSigma)
	return noiseModel{t.CornerSigma, Placement{
		XY:   geom.Length(math.Hypot(k*float64(p.XY), bent)),
		Turn: geom.Angle(math.Hypot(k*float64(p.Turn), bent/bendReach)),
		Z:    geom.Length(k) * p.Z,
		Size: math.Hypot(k*p.Size, bent/bendReach),
	}}
}

// withOthers returns the leave-one-out residuals of the used markers and of the markers
// that contradict them, by id.
func (t *Table) withOthers(all []MarkerResidual, used, out []correspondence) []MarkerResidual {
	s := solution{pose: t.Extrinsics, noise: noiseModel{t.CornerSigma, t.Layout.placement()}}
	for _, c := range out {
		// A marker that contradicts the used ones is added to them: leaving it out again shows where they
		// put it.
		if analysis, ok := s.leaveOneOut(t.Intrinsics, t.Layout, append(slices.Clone(used), c)); ok {
			m := analysis.markers[len(used)]
			m.Used = false
			all = append(all, m)
		}
	}
	slices.SortFunc(all, func(a, b MarkerResidual) int { return a.ID - b.ID })
	return all
}

// fromOthers ends the reason of a marker that contradicts the others.
const fromOthers = "from where the other markers put it"

// worst returns the marker that contradicts the others most and the reason; -1 for none.
func (l *residualAnalysis) worst() (int, string) {
	worst, far := -1, math.Sqrt(bumpLimit)
	for i, m := range l.markers {
		if l.broken[i] > max(brokenSquare, brokenRatio*l.corner) {
			return i, fmt.Sprintf("its corners lie up to %.1f px from a square: is it partly covered, or bent?", l.broken[i])
		}
		small := m.Offset() < bumpFloor && math.Abs(float64(m.Turn)) < float64(bumpFloorTurn)
		if m.Distance > far && !small {
			worst, far = i, m.Distance
		}
	}
	if worst < 0 {
		return -1, ""
	}
	m := l.markers[worst]
	if m.Offset() < bumpFloor {
		return worst, fmt.Sprintf("it is turned by %.1f degrees (%.0f sigmas) %s", m.Turn.Degrees(), far, fromOthers)
	}
	return worst, fmt.Sprintf("it lies %.1f mm (%.0f sigmas) %s", m.Offset().Millimeters(), far, fromOthers)
}

// ProjectionJacobian returns the pixel of a camera-frame point q (mm) and its
// derivative with respect to the six parameters of Extrinsics.Perturbed. Their rotation
// applies to R only, so it moves q - T.
func ProjectionJacobian(lens *Intrinsics, q, shift Vec3) (geom.Pixel, [2][6]float64) {
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
	var system homographyEquations
	for _, c := range used {
		for k, p := range c.marker.Corners() {
			x, y, ok := lens.Undistort(c.corners[k])
			if !ok {
				return Extrinsics{}, fmt.Errorf("marker %d lies where the lens model cannot be inverted: is it the right lens?", c.marker.ID)
			}
			system.add((p.X-mean.X)/spread, (p.Y-mean.Y)/spread, x, y)
		}
	}
	h, ok := linalg.SolveSPD(system.normal[:], system.right[:])
	if !ok {
		return Extrinsics{}, errors.New(inRow)
	}
	h = append(h, 1)
	// Columns r1, r2, t up to a common scale; undo the normalisation of the table.
	r1 := Vec3{h[0] / spread, h[3] / spread, h[6] / spread}
	r2 := Vec3{h[1] / spread, h[4] / spread, h[7] / spread}
	t := Vec3{h[2], h[5], h[8]}
	e := PoseOfColumns(r1, r2, t)
	t, e.T = e.T, Vec3{}
	// t belongs to the mean point at the markers' height.
	off := e.Camera(Vec3{mean.X, mean.Y, z})
	for i := range 3 {
		e.T[i] = t[i] - off[i]
	}
	if q := e.Camera(Vec3{mean.X, mean.Y, z}); q[2] < 1 || e.R[2][2] > 0 {
		// +z of the table must point towards the camera.
		return e, errors.New("they are seen from below or in mirror image: are the ids in their places?")
	}
	return e, nil
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

// Renew registers the table again from the markers in a later picture, with the same
// lens and layout. It also returns the Shift between the two calibrations.
func (t *Table) Renew(seen []MarkerSighting) (Table, geom.Length, error) {
	fresh, err := Register(t.Intrinsics, t.Layout, seen)
	if err != nil {
		return *t, 0, err
	}
	if fresh.FocalDoubt == 0 { // the lens's covariance contains the old doubt
		fresh.FocalDoubt = t.FocalDoubt
	}
	fresh.ScaleSigma, fresh.Surface, fresh.Made, fresh.Hash = t.ScaleSigma, t.Surface, t.Made, t.Hash
	if fresh.LensIntegrity = t.LensIntegrity; t.Integrity == Edited {
		fresh.LensIntegrity = Edited // the lens came from the edited file
	}
	return fresh, t.Shift(&fresh), nil
}

// MovedLimit is the Shift beyond which a camera counts as moved. Two registrations of the same
// camera differ by a tenth of that.
const MovedLimit = 0.5 * geom.Millimeter

// Shift returns the largest distance between where two calibrations of one camera put
// the mat's corners: the error of answers that use this one when the later one is right.
// Inside the mat they differ by less.
func (t *Table) Shift(later *Table) geom.Length {
	var most geom.Length
	for _, corner := range t.Layout.Corners() {
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

// Displaced compares the markers in a picture with where the table puts them. Of the markers that
// the table was registered with, it returns how many lie off by more than limit on the mat, how
// many were seen, and the id and distance of the farthest.
func (t *Table) Displaced(seen []MarkerSighting, limit geom.Length) (off, of, farthest int, by geom.Length) {
	for _, s := range seen {
		m, ok := t.Layout.marker(s.ID)
		if !ok || len(t.Used) > 0 && !slices.Contains(t.Used, s.ID) {
			continue
		}
		of++
		centre := geom.Point{}
		for _, c := range s.Corners { // the centre, since a card may lie turned
			if p, ok := t.Camera.PointAt(c, m.Z); ok {
				centre = centre.Add(p.Mul(0.25))
			} else {
				centre.X = math.Inf(1)
			}
		}
		most := m.Center.Distance(centre)
		if most > limit {
			off++
		}
		if most > by {
			farthest, by = s.ID, most
		}
	}
	return off, of, farthest, by
}
