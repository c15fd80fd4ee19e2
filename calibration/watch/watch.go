package watch

import (
	"math"
	"slices"
	"time"

	"sightline/calibration"
	"sightline/calibration/linalg"
	"sightline/engine/geom"
)

// WatchState says whether a calibration still holds.
type State int

// The states.
const (
	OK          State = iota // every marker is where it was
	Covered                  // some markers are not seen or lie elsewhere, but enough are where they were
	Moved                    // the markers moved together, and have not come to rest
	Settled                  // they moved together and lie still: time to register again
	LensChanged              // the picture grew or shrank about its middle: the lens, not the place
	Lost                     // too few markers are seen to tell
)

// String names the state as the API does.
func (s State) String() string {
	return [...]string{"ok", "covered", "moved", "settled", "lens_changed", "lost"}[s]
}

// WatchVerdict is what a picture says about the calibration in use.
type Verdict struct {
	State   State
	Seen    int   // markers that are where they were
	Of      int   // markers of the layout
	Missing []int // ids that have not been seen for some pictures
	Strays  []int // ids that lie elsewhere while the others have not moved: bumped
	Doubt   bool  // this picture shows a motion: the next ones decide, and it answers nothing

	// Shift is how far the mat's corners seem to have moved: the largest of the four.
	Shift geom.Length
	// Grown is by how much the picture grew about its middle, in WatchLens: 0.001 is
	// a thousandth.
	Grown float64
	// Blind is the standard deviation, at the worst corner of the mat, of a motion
	// that the markers seen could not have shown.
	Blind geom.Length
}

// Watch tells from the mat's markers, picture by picture, whether the camera and
// they are still where they were when the table was registered.
//
// It compares each marker with where the first pictures showed it, not with where
// the calibration puts it: what the lens model and the laying of the markers left is
// the same in both and drops out, and a hundredth of a pixel remains. Each picture is
// put to four questions. Is each marker where it was (chi-square of its corners with
// 8 degrees of freedom)? Did those that are move together by a little (chi-square of
// the best small motion of the camera, 6 degrees)? Do most of them lie elsewhere?
// Is the motion nothing but growth about the picture's middle? A motion counts when
// two of three pictures show it, so that one picture with a flash or a passing sleeve
// changes nothing.
//
// What it cannot tell: whether the camera moved or the table under it did, with mat
// and markers together. The picture is the same, and so is the remedy: registering
// again. A mat that slides while the markers stay lying is not seen at all.
//
// A Watch belongs to one goroutine.
type Monitor struct {
	table   calibration.Table
	markers map[int]*watchedMarker
	sigma   float64 // measured noise of a corner per axis, px
	quiet   int     // pictures that it was measured from

	state    State
	evidence [3]bool // of motion, in the last pictures
	still    int     // pictures in a row that show what the one before did
	blindAt  time.Time
	back     int // pictures in a row that show everything where it was
	cov      []float64
}

// watchedMarker is a marker with where it was.
type watchedMarker struct {
	id      int
	corners [4]geom.Pixel    // mean of the first quiet pictures
	n       int              // that many
	jac     [4][2][6]float64 // how a corner moves with the camera
	recent  [][4]geom.Pixel  // the last places, newest last
	last    [4]geom.Pixel    // where it was seen last
	unseen  int              // pictures since then
	astray  [3]bool          // of the last pictures in which it was seen
}

const (
	// watchNoise is the noise of a marker's corner per axis, in px, that is assumed
	// until it is measured from the pictures themselves, and watchLeast and watchMost
	// bound what is measured: 0.004 px on rendered tables, 0.06-0.11 px on photographs
	// (docs/accuracy.md).
	watchNoise = 0.1
	watchLeast = 0.02
	watchMost  = 0.3
	// watchDrift is how far changing light moves a whole marker, in px per axis. From
	// a quarter of the usual light to clipped whites it is 0.013 px at most on rendered
	// tables (TestLightMovesNoMarker in package tablesim); shadows are worse.
	watchDrift = 0.03

	// Pictures are independent but for the drift, which the covariance holds, so that
	// 10 000 pictures with 8 markers give a false picture with a probability of 4e-5
	// by the limit of a marker and 3e-5 by that of the motion; and two are needed.
	markerLimit = 60.0 // chi-square, 8 degrees of freedom: 5e-10
	motionLimit = 51.0 // chi-square, 6 degrees of freedom: 3e-9

	// watchLearns is how many quiet pictures say where a marker was.
	watchLearns = 30
	// watchMean is how many pictures are averaged to see a small motion.
	watchMean = 5
	// tolerated is a motion, at the mat's corners, that is not worth registering
	// again for: it is a third of the usual sigma. It is added to the sigma instead.
	tolerated = 0.15 * geom.Millimeter
	// stillFor is how many pictures in a row must show the same for a move to be over.
	stillFor = 3
	// MaxBlind is the most that the markers seen may leave open, at the worst corner
	// of the mat, for answers to go on: as much as all else together. Any five of the
	// eight markers are enough, three mostly, one never (TestHowManyMarkersAreEnough).
	MaxBlind = 0.5 * geom.Millimeter
	// lostAfter is how long too few markers may be seen before answers stop: a hand
	// that passes takes less.
	lostAfter = 700 * time.Millisecond
	// unseenFor is how many pictures in a row a marker must be missing to be named.
	unseenFor = 3
)

// NewWatch watches over a table, from a picture that it was registered with or that
// it fits.
func NewMonitor(t calibration.Table, seen []calibration.MarkerSighting) *Monitor {
	w := &Monitor{table: t, markers: map[int]*watchedMarker{}, sigma: watchNoise}
	seen = w.sane(seen)
	w.meet(seen)
	w.cov, _ = w.unnoticed(w.present(seen))
	return w
}

// meet takes in the markers that are seen for the first time. Where they lie does not
// matter: only that they do not move.
func (w *Monitor) meet(seen []calibration.MarkerSighting) {
	count := map[int]int{}
	for _, s := range seen {
		count[s.ID]++
	}
	for _, m := range w.table.Layout.Markers {
		i := slices.IndexFunc(seen, func(s calibration.MarkerSighting) bool { return s.ID == m.ID })
		if i < 0 || count[m.ID] > 1 || w.markers[m.ID] != nil {
			continue
		}
		k := &watchedMarker{id: m.ID, corners: seen[i].Corners, last: seen[i].Corners}
		if w.differentiate(k, m) {
			w.markers[m.ID] = k
		}
	}
}

// sane leaves out sightings that are far outside the picture or no numbers at all.
func (w *Monitor) sane(seen []calibration.MarkerSighting) (out []calibration.MarkerSighting) {
	reach := 2 * float64(max(w.table.Width, w.table.Height))
	for _, s := range seen {
		ok := true
		for _, c := range s.Corners {
			ok = ok && math.Abs(c.X) < reach && math.Abs(c.Y) < reach // false for NaN
		}
		if ok {
			out = append(out, s)
		}
	}
	return out
}

// differentiate works out how the marker's corners move with the camera: at the
// table points that appear there, so that a card laid the wrong way round does no harm.
func (w *Monitor) differentiate(k *watchedMarker, m calibration.Marker) bool {
	for c, px := range k.corners {
		p, ok := w.table.PointAt(px, m.Z)
		if !ok {
			return false
		}
		q := w.table.Camera.Camera(calibration.Vec3{p.X, p.Y, float64(m.Z)})
		_, k.jac[c] = calibration.ProjectionJacobian(&w.table.Intrinsics, q, w.table.T)
	}
	return true
}

// Expected returns where to look for the markers in the next picture: where they
// were seen last.
func (w *Monitor) Expected() []calibration.MarkerSighting {
	var out []calibration.MarkerSighting
	for _, m := range w.table.Layout.Markers {
		k := w.markers[m.ID]
		switch {
		case k != nil && k.unseen == 0:
			out = append(out, calibration.MarkerSighting{ID: m.ID, Corners: k.last})
		case k != nil:
			out = append(out, calibration.MarkerSighting{ID: m.ID, Corners: k.corners})
		default:
			s := calibration.MarkerSighting{ID: m.ID}
			ok := true
			for i, p := range m.Corners() {
				var in bool
				s.Corners[i], in = w.table.PixelOf(p, m.Z)
				ok = ok && in
			}
			if ok {
				out = append(out, s)
			}
		}
	}
	return out
}

// See takes the markers that a picture shows, taken at a time, and says whether the
// calibration still holds. The order of the markers does not matter; one that comes
// twice is left out.
func (w *Monitor) Update(at time.Time, seen []calibration.MarkerSighting) Verdict {
	seen = w.sane(seen)
	if w.state == OK || w.state == Covered {
		w.meet(seen)
	}
	here := w.present(seen)
	moving := w.isMoving(here) // against the picture before
	w.remember(here, moving)

	calm, astray := w.sortOut(here)
	motion := w.motionOf(here, calm, astray)
	v := Verdict{Of: len(w.table.Layout.Markers), Seen: len(calm), Shift: motion.shift, Grown: motion.grown}
	cov, blind := w.unnoticed(calm)
	v.Blind = blind
	enough := blind <= MaxBlind
	if enough && !motion.evident {
		w.cov = cov
		addOuter(w.cov, motion.step)
	}
	w.evidence = [3]bool{w.evidence[1], w.evidence[2], motion.evident}
	w.step(at, motion, enough, moving)
	if (w.state == OK || w.state == Covered) && enough && !motion.evident {
		w.learn(calm)
	}
	w.name(&v, here, astray)
	v.Doubt = motion.evident
	if v.State = w.state; v.State != LensChanged {
		v.Grown = 0
	}
	return v
}

// sighted is a marker of which a picture shows where it is now.
type sighted struct {
	*watchedMarker
	now [4]geom.Pixel
}

// present pairs the markers with their sightings, in the layout's order.
func (w *Monitor) present(seen []calibration.MarkerSighting) (out []sighted) {
	for _, m := range w.table.Layout.Markers {
		k := w.markers[m.ID]
		if k == nil {
			continue
		}
		var found []calibration.MarkerSighting
		for _, s := range seen {
			if s.ID == m.ID {
				found = append(found, s)
			}
		}
		if len(found) == 1 {
			out = append(out, sighted{k, found[0].Corners})
		}
	}
	return out
}

// remember keeps where the markers were seen.
func (w *Monitor) remember(here []sighted, moving bool) {
	for _, k := range w.markers {
		k.unseen++
	}
	for _, s := range here {
		if moving || s.unseen > 1 || w.jumped(s) { // the mean of before and after would say nothing
			s.recent = nil
		}
		s.unseen, s.last = 0, s.now
		s.recent = append(s.recent, s.now)
		s.recent = s.recent[max(0, len(s.recent)-watchMean):]
	}
}

// noise returns the variance of a corner about where the marker was, per axis, for
// the mean of n pictures: without and with what moves the whole marker.
func (w *Monitor) noise(k *watchedMarker, n int) (corner, common float64) {
	corner = w.sigma * w.sigma * (1/float64(n) + 1/float64(max(k.n, 1)))
	return corner, watchDrift * watchDrift
}

// weigh returns d·W·e for two sets of displacements of a marker's corners, W being
// the inverse of their covariance: corner·I + common·11ᵀ for each axis.
func weigh(d, e *[4]geom.Pixel, corner, common float64) float64 {
	var sum, dx, dy, ex, ey float64
	for i := range d {
		sum += d[i].X*e[i].X + d[i].Y*e[i].Y
		dx, dy, ex, ey = dx+d[i].X, dy+d[i].Y, ex+e[i].X, ey+e[i].Y
	}
	return (sum - common/(corner+4*common)*(dx*ex+dy*ey)) / corner
}

// moved returns by how much a marker's corners have moved from where they were.
func (s sighted) moved() (d [4]geom.Pixel) {
	for i := range d {
		d[i] = s.now[i].Sub(s.corners[i])
	}
	return d
}

// isCalm reports whether a marker is where it was, as far as one picture can tell.
func (w *Monitor) isCalm(s sighted) bool {
	d := s.moved()
	corner, common := w.noise(s.watchedMarker, 1)
	return weigh(&d, &d, corner, common) < markerLimit
}

// sortOut tells the markers that are where they were from those that are not.
func (w *Monitor) sortOut(here []sighted) (calm, astray []sighted) {
	for _, s := range here {
		if w.isCalm(s) {
			calm = append(calm, s)
		} else {
			astray = append(astray, s)
		}
	}
	return calm, astray
}

// motion is what the markers say together.
type motion struct {
	evident bool       // it is one, and worth registering again for
	step    [6]float64 // of the camera, when it is evident or significant and small
	shift   geom.Length
	grown   float64 // by how much the picture grew, when that is all; else 0
}

// motionOf says whether the markers moved together. Those that are where they were
// have the say when they are more than the others and the others' places cannot be
// explained by one motion of all.
func (w *Monitor) motionOf(here, calm, astray []sighted) motion {
	if len(here) == 0 {
		return motion{}
	}
	if len(calm) <= len(astray) || (len(astray) > 1 && w.oneMotion(here)) {
		step, _, ok := w.fit(here, 1)
		m := motion{evident: true, shift: roughShift(w, here)}
		if ok && m.shift < 5*geom.Millimeter {
			m.step, m.shift = step, w.shiftOf(step)
		}
		m.grown = w.growth(here)
		return m
	}
	// A small motion: in this picture, or in the mean of the last ones.
	for _, n := range [...]int{1, watchMean} {
		step, chi, ok := w.fit(calm, n)
		if !ok || chi < motionLimit {
			continue
		}
		m := motion{step: step, shift: w.shiftOf(step)}
		if m.shift > tolerated {
			m.evident, m.grown = true, w.growth(calm)
			return m
		}
		if n == watchMean {
			return m
		}
	}
	return motion{}
}

// oneMotion reports whether one motion of the camera takes all markers to where
// they are seen.
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
		if weigh(&d, &d, corner, common) > markerLimit {
			return false
		}
	}
	return true
}

// displaced returns how far a step of the camera moves a corner.
func displaced(jac *[2][6]float64, step *[6]float64) (d geom.Pixel) {
	for k, x := range step {
		d.X += jac[0][k] * x
		d.Y += jac[1][k] * x
	}
	return d
}

// fit returns the step of the camera that explains best how the markers moved, in
// the mean of up to n pictures, and how much of chi-square it explains.
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
	for i, v := range x {
		chi += v * right[i]
	}
	return step, chi, true
}

// meanMoved is moved in the mean of up to n of the last pictures.
func (s sighted) meanMoved(n int) (d [4]geom.Pixel, count int) {
	from := s.recent[max(0, len(s.recent)-n):]
	if len(from) == 0 {
		return s.moved(), 1
	}
	for _, c := range from {
		for i := range d {
			d[i] = d[i].Add(c[i].Sub(s.corners[i]).Mul(1 / float64(len(from))))
		}
	}
	return d, len(from)
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
			right[i] += weigh(&col[i], d, corner, common)
		}
		for j := range 6 {
			normal[6*i+j] += weigh(&col[i], &col[j], corner, common)
		}
	}
}

// unnoticed returns the covariance of a step of the camera that these markers could
// not have shown, and what it may do to the worst corner of the mat: infinite when
// they cannot exclude any.
func (w *Monitor) unnoticed(calm []sighted) (cov []float64, blind geom.Length) {
	normal := make([]float64, 36)
	for _, s := range calm {
		corner, common := w.noise(s.watchedMarker, 1)
		addNormal(normal, nil, s.watchedMarker, nil, corner, common)
	}
	cov, ok := linalg.InvertSPD(normal, 6)
	if !ok {
		return nil, geom.Length(math.Inf(1))
	}
	return cov, w.table.WorstCorner(cov)
}

// Unnoticed returns the covariance that an object's pose has from the motion that
// the markers in view could not have shown, and from one too small to register again
// for. Answers add it to what the calibration says. radius is half the object's size.
func (w *Monitor) Unnoticed(pose geom.Pose, z, radius geom.Length) (cov geom.Cov3) {
	if len(w.cov) != 36 {
		return cov
	}
	r := float64(radius)
	at, ok := w.table.PoseJacobian(pose.Point, z)
	front, ok1 := w.table.PoseJacobian(pose.Transform(geom.Point{Y: r}), z)
	back, ok2 := w.table.PoseJacobian(pose.Transform(geom.Point{Y: -r}), z)
	if !ok || !ok1 || !ok2 || !(r > 0) {
		return cov
	}
	// Rows: x, y, and the heading, clockwise: by which the front goes to the right of
	// the back.
	right := pose.Transform(geom.Point{X: 1}).Sub(pose.Point)
	rows := [3][6]float64{at[0], at[1]}
	for k := range 6 {
		rows[2][k] = ((front[0][k]-back[0][k])*right.X + (front[1][k]-back[1][k])*right.Y) / (2 * r)
	}
	for i := range 3 {
		for j := range 3 {
			for k := range 6 {
				for l := range 6 {
					cov[3*i+j] += rows[i][k] * w.cov[6*k+l] * rows[j][l]
				}
			}
		}
	}
	return cov
}

// shiftOf returns by how much a step of the camera moves the mat's corners, the most.
func (w *Monitor) shiftOf(step [6]float64) (most geom.Length) {
	for _, p := range w.table.Layout.Corners() {
		if a, ok := w.table.PoseJacobian(p, 0); ok {
			var x, y float64
			for k, s := range step {
				x, y = x+a[0][k]*s, y+a[1][k]*s
			}
			most = max(most, geom.Length(math.Hypot(x, y)))
		}
	}
	return most
}

// roughShift returns how far the marker that moved most did, in mm on the table.
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

// mostGrown is by how much a lens that is zoomed makes the picture grow: a picture that is
// turned upside down shrinks by twice its size.
const mostGrown = 0.5

// growth returns by how much the picture grew about the lens's middle, when that
// explains nearly all of the motion: nine tenths of it beyond the noise. A camera
// raised straight along its axis does the same to the picture, and cannot be told
// apart. It is 0 when the markers stand too much to one side to say.
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

// isMoving reports whether most markers are not where the picture before showed
// them, or all of them together are not by a little.
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
	chi := 0.0
	for i := range step {
		chi += step[i] * right[i]
	}
	return ok && chi > motionLimit
}

// jump returns by how much a marker's corners have moved since it was seen last.
func (s sighted) jump() (d [4]geom.Pixel) {
	for i := range d {
		d[i] = s.now[i].Sub(s.last[i])
	}
	return d
}

// jumped reports whether a marker is not where it was seen last.
func (w *Monitor) jumped(s sighted) bool {
	d := s.jump()
	return weigh(&d, &d, 2*w.sigma*w.sigma, watchDrift*watchDrift) > markerLimit
}

// step goes to the next state.
func (w *Monitor) step(at time.Time, m motion, enough, moving bool) {
	count := 0
	for _, e := range w.evidence {
		if e {
			count++
		}
	}
	if moving {
		w.still = 0
	} else {
		w.still++
	}
	if m.evident {
		w.back = 0
	} else if enough {
		w.back++
	}
	if enough || m.evident { // evidence needs markers: they are seen, if elsewhere
		w.blindAt = time.Time{}
	} else if w.blindAt.IsZero() {
		w.blindAt = at
	}
	switch {
	case !w.blindAt.IsZero() && at.Sub(w.blindAt) >= lostAfter:
		w.state = Lost
	case !w.blindAt.IsZero(): // for a moment everything stays as it was
	case w.back >= stillFor || (w.back > 0 && (w.state == OK || w.state == Covered || w.state == Lost)):
		w.state = OK
	case m.evident && w.still >= stillFor && w.away():
		w.state = Settled
		if m.grown != 0 {
			w.state = LensChanged
		}
	case count >= 2 && (w.state == OK || w.state == Covered || w.state == Lost || moving):
		w.state = Moved
	}
}

// away reports whether the move has been taken note of.
func (w *Monitor) away() bool {
	return w.state == Moved || w.state == Settled || w.state == LensChanged
}

// learn takes a quiet picture into what is known of the noise and of the places.
func (w *Monitor) learn(calm []sighted) {
	var sum, n float64
	for _, s := range calm {
		if k := len(s.recent); k > 1 {
			// From one picture to the next, so that drift does not count as noise. What
			// moves the whole marker is left out: it is watchDrift.
			var d [4]geom.Pixel
			for i := range d {
				d[i] = s.recent[k-1][i].Sub(s.recent[k-2][i])
			}
			m := middle(d)
			for i := range d {
				e := d[i].Sub(m)
				sum += e.X*e.X + e.Y*e.Y
			}
			n += 2 * 2 * 3 // two axes, two pictures, and three of four degrees of freedom
		}
		if s.n < watchLearns {
			s.n++
			for i := range s.corners {
				s.corners[i] = s.corners[i].Add(s.now[i].Sub(s.corners[i]).Mul(1 / float64(s.n)))
			}
		}
	}
	if n == 0 {
		return
	}
	w.quiet++
	// The first value stands for ten pictures, so that two lucky ones do not make it small.
	share := 1 / float64(min(w.quiet+10, 60))
	variance := w.sigma*w.sigma*(1-share) + sum/n*share
	w.sigma = min(max(math.Sqrt(variance), watchLeast), watchMost)
}

// name lists the markers that are not where they were.
func (w *Monitor) name(v *Verdict, here, astray []sighted) {
	for _, s := range here {
		out := slices.ContainsFunc(astray, func(a sighted) bool { return a.id == s.id })
		s.astray = [3]bool{s.astray[1], s.astray[2], out}
	}
	for _, m := range w.table.Layout.Markers {
		k := w.markers[m.ID]
		switch {
		case k == nil || k.unseen >= unseenFor:
			v.Missing = append(v.Missing, m.ID)
		case k.astray[2] && (k.astray[1] || k.astray[0]):
			v.Strays = append(v.Strays, m.ID)
		}
	}
	if w.state == OK && len(v.Missing)+len(v.Strays) > 0 {
		w.state = Covered
	} else if w.state == Covered && len(v.Missing)+len(v.Strays) == 0 {
		w.state = OK
	}
}

// addOuter adds s sᵀ to a covariance.
func addOuter(cov []float64, s [6]float64) {
	for i := range 6 {
		for j := range 6 {
			cov[6*i+j] += s[i] * s[j]
		}
	}
}

// Noise returns the standard deviations, in px per axis, that the watch works with: of
// a marker's corner, as measured from the pictures, and of a whole marker.
func (w *Monitor) Noise() (corner, marker float64) { return w.sigma, watchDrift }
