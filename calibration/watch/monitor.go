package watch

import (
	"slices"
	"time"

	"sightline/calibration"
	"sightline/calibration/linalg"
	"sightline/engine/geom"
)

// State says whether a calibration is still valid.
type State int

// The states.
const (
	OK          State = iota // every marker is in its place
	Covered                  // some markers are hidden or displaced, but enough are in their places
	Moved                    // the markers moved together and are not at rest
	Settled                  // the markers moved together and are at rest: register again
	LensChanged              // the picture grew or shrank about its middle: the lens changed, not the pose
	Lost                     // too few markers are visible
)

// String names the state as the API does.
func (s State) String() string {
	return [...]string{"ok", "covered", "moved", "settled", "lens_changed", "lost"}[s]
}

// Verdict is what a picture says about the calibration in use.
type Verdict struct {
	State   State
	Seen    int   // markers in their places
	Of      int   // markers of the layout
	Missing []int // ids not seen for some pictures
	Strays  []int // ids displaced while the others have not moved: bumped
	Doubt   bool  // this picture shows a motion, which the next ones must confirm: it gives no answers

	// Shift is the largest apparent motion of a corner of the mat.
	Shift geom.Length
	// Grown is the relative growth of the picture about its middle, in LensChanged.
	Grown float64
	// Blind is the standard deviation, at the worst corner of the mat, of a motion
	// that the visible markers could have missed.
	Blind geom.Length
}

// Monitor detects from the mat's markers, picture by picture, whether the camera or the
// markers have moved since the table was registered.
//
// It compares each marker with its place in the first pictures, not with where the
// calibration puts it. The errors of the lens model and of the markers' placement are
// the same in both and cancel, which leaves a hundredth of a pixel. Each picture is
// tested four times. Is each marker in its place (chi-square of its corners, 8 degrees
// of freedom)? Did the markers in their places move together by a little (chi-square
// of the best small motion of the camera, 6 degrees)? Are most markers displaced? Is
// the motion pure growth about the picture's middle? A motion counts when two of three
// pictures show it, so a flash or a passing sleeve in one picture has no effect.
//
// A Monitor cannot distinguish a moved camera from a table that moved below it with
// mat and markers. The picture is the same, and so is the remedy, to register again. It
// does not see a mat that slides while the markers stay.
//
// A Monitor is not safe for concurrent use.
type Monitor struct {
	table   calibration.Table
	markers map[int]*watchedMarker
	sigma   float64 // measured noise of a corner per axis, px
	quiet   int     // number of pictures that sigma was measured from

	state    State
	evidence [3]bool // of motion, in the last pictures
	still    int     // consecutive pictures without change from the one before
	blindAt  time.Time
	back     int // consecutive pictures with everything in its place
	cov      []float64
}

const (
	// watchNoise is the noise of a marker's corner per axis, in px, that is assumed
	// until it is measured. watchLeast and watchMost bound the measured noise, which is
	// 0.004 px on rendered tables and 0.06-0.11 px on photographs (docs/accuracy.md).
	watchNoise = 0.1
	watchLeast = 0.02
	watchMost  = 0.3
	// watchDrift is the apparent motion of a whole marker in changing light, in px per
	// axis. It is 0.013 px at most on rendered tables, from a quarter of the usual light
	// to clipped whites (TestLightMovesNoMarker in package tablesim); shadows are worse.
	watchDrift = 0.03

	// Pictures are independent except for the drift, which the covariance includes.
	// Among 10 000 pictures with 8 markers, one exceeds the limit of a marker with a
	// probability of 4e-5 and that of the motion with 3e-5, and two are needed.
	markerLimit = 60.0 // chi-square, 8 degrees of freedom: 5e-10
	motionLimit = 51.0 // chi-square, 6 degrees of freedom: 3e-9

	// watchLearns is the number of quiet pictures averaged for a marker's place.
	watchLearns = 30
	// watchMean is the number of pictures averaged to detect a small motion.
	watchMean = 5
	// tolerated is the motion at the mat's corners that is added to the sigma instead of
	// causing a new registration: a third of the usual sigma.
	tolerated = 0.15 * geom.Millimeter
	// stillFor is the number of consecutive unchanged pictures that end a move.
	stillFor = 3
	// MaxBlind is the largest Blind at which answers continue: as much as all other
	// errors together. Any five of the eight markers are enough, three usually, one never
	// (TestHowManyMarkersAreEnough).
	MaxBlind = 0.5 * geom.Millimeter
	// lostAfter is how long too few markers may be visible before answers stop: longer
	// than a passing hand.
	lostAfter = 700 * time.Millisecond
	// unseenFor is the number of consecutive pictures without a marker after which it is
	// reported missing.
	unseenFor = 3
)

// NewMonitor returns a monitor for a table and the markers in a picture that it was
// registered with or that it fits.
func NewMonitor(t calibration.Table, seen []calibration.MarkerSighting) *Monitor {
	w := &Monitor{table: t, markers: map[int]*watchedMarker{}, sigma: watchNoise}
	seen = w.plausible(seen)
	w.addNew(seen)
	w.cov, _ = w.unnoticed(w.match(seen))
	return w
}

// Expected returns where to search for the markers in the next picture: where they were
// seen last.
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

// Update evaluates the markers in a picture taken at a time. Their order does not matter;
// a marker that appears twice is ignored.
func (w *Monitor) Update(at time.Time, seen []calibration.MarkerSighting) Verdict {
	seen = w.plausible(seen)
	if w.state == OK || w.state == Covered {
		w.addNew(seen)
	}
	here := w.match(seen)
	moving := w.isMoving(here)
	w.record(here, moving)

	inliers, outliers := w.classify(here)
	motion := w.motionOf(here, inliers, outliers)
	v := Verdict{Of: len(w.table.Layout.Markers), Seen: len(inliers), Shift: motion.shift, Grown: motion.grown}
	cov, blind := w.unnoticed(inliers)
	v.Blind = blind
	enough := blind <= MaxBlind
	if enough && !motion.evident {
		w.cov = cov
		addOuter(w.cov, motion.step)
	}
	w.evidence = [3]bool{w.evidence[1], w.evidence[2], motion.evident}
	w.step(at, motion, enough, moving)
	if (w.state == OK || w.state == Covered) && enough && !motion.evident {
		w.learn(inliers)
	}
	w.listAbsent(&v, here, outliers)
	v.Doubt = motion.evident
	if v.State = w.state; v.State != LensChanged {
		v.Grown = 0
	}
	return v
}

// Unnoticed returns the covariance of an object's pose from camera motion that the
// visible markers could have missed or that is too small to register again. Answers add
// it to the calibration's. radius is half the object's size.
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
	// The rows are x, y and the clockwise heading: the motion of the front to the right of
	// the back.
	right := pose.Transform(geom.Point{X: 1}).Sub(pose.Point)
	rows := [3][6]float64{at[0], at[1]}
	for k := range 6 {
		rows[2][k] = ((front[0][k]-back[0][k])*right.X + (front[1][k]-back[1][k])*right.Y) / (2 * r)
	}
	for i := range 3 {
		for j := range 3 {
			cov[3*i+j] = linalg.Quadratic(w.cov, rows[i][:], rows[j][:])
		}
	}
	return cov
}

// step advances the state.
func (w *Monitor) step(at time.Time, m motion, enough, moving bool) {
	shown := 0 // pictures of the last three that show a motion
	for _, e := range w.evidence {
		if e {
			shown++
		}
	}
	if w.still++; moving {
		w.still = 0
	}
	switch {
	case m.evident:
		w.back = 0
	case enough:
		w.back++
	}
	switch {
	case enough || m.evident: // evidence of a motion needs visible markers
		w.blindAt = time.Time{}
	case w.blindAt.IsZero():
		w.blindAt = at
	}

	switch {
	case !w.blindAt.IsZero(): // the state stays for a moment
		if at.Sub(w.blindAt) >= lostAfter {
			w.state = Lost
		}
	case w.back >= stillFor || w.back > 0 && !w.hasMoved():
		w.state = OK
	case m.evident && w.still >= stillFor && w.hasMoved():
		w.state = Settled
		if m.grown != 0 {
			w.state = LensChanged
		}
	case shown >= 2 && (moving || !w.hasMoved()):
		w.state = Moved
	}
}

// hasMoved reports whether the state is one after a move.
func (w *Monitor) hasMoved() bool {
	return w.state == Moved || w.state == Settled || w.state == LensChanged
}

// listAbsent lists the markers that are missing or displaced.
func (w *Monitor) listAbsent(v *Verdict, here, outliers []sighted) {
	for _, s := range here {
		out := slices.ContainsFunc(outliers, func(a sighted) bool { return a.id == s.id })
		s.outliers = [3]bool{s.outliers[1], s.outliers[2], out}
	}
	for _, m := range w.table.Layout.Markers {
		k := w.markers[m.ID]
		switch {
		case k == nil || k.unseen >= unseenFor:
			v.Missing = append(v.Missing, m.ID)
		case k.outliers[2] && (k.outliers[1] || k.outliers[0]):
			v.Strays = append(v.Strays, m.ID)
		}
	}
	if w.state == OK && len(v.Missing)+len(v.Strays) > 0 {
		w.state = Covered
	} else if w.state == Covered && len(v.Missing)+len(v.Strays) == 0 {
		w.state = OK
	}
}

// Noise returns the standard deviations in use, in px per axis: of a marker's corner, as
// measured, and of a whole marker.
func (w *Monitor) Noise() (corner, marker float64) { return w.sigma, watchDrift }
