package watch

import (
	"slices"
	"time"

	"sightline/calibration"
	"sightline/engine/geom"
)

// State says whether a calibration still holds.
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

// Verdict is what a picture says about the calibration in use.
type Verdict struct {
	State   State
	Seen    int   // markers that are where they were
	Of      int   // markers of the layout
	Missing []int // ids that have not been seen for some pictures
	Strays  []int // ids that lie elsewhere while the others have not moved: bumped
	Doubt   bool  // this picture shows a motion: the next ones decide, and it answers nothing

	// Shift is how far the mat's corners seem to have moved: the largest of the four.
	Shift geom.Length
	// Grown is by how much the picture grew about its middle, in LensChanged: 0.001 is
	// a thousandth.
	Grown float64
	// Blind is the standard deviation, at the worst corner of the mat, of a motion
	// that the markers seen could not have shown.
	Blind geom.Length
}

// Monitor tells from the mat's markers, picture by picture, whether the camera and
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
// A Monitor belongs to one goroutine.
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

// NewMonitor watches over a table, from a picture that it was registered with or that
// it fits.
func NewMonitor(t calibration.Table, seen []calibration.MarkerSighting) *Monitor {
	w := &Monitor{table: t, markers: map[int]*watchedMarker{}, sigma: watchNoise}
	seen = w.sane(seen)
	w.meet(seen)
	w.cov, _ = w.unnoticed(w.present(seen))
	return w
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

// Update takes the markers that a picture shows, taken at a time, and says whether the
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
	w.name(&v, here, outliers)
	v.Doubt = motion.evident
	if v.State = w.state; v.State != LensChanged {
		v.Grown = 0
	}
	return v
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

// name lists the markers that are not where they were.
func (w *Monitor) name(v *Verdict, here, outliers []sighted) {
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

// Noise returns the standard deviations, in px per axis, that the watch works with: of
// a marker's corner, as measured from the pictures, and of a whole marker.
func (w *Monitor) Noise() (corner, marker float64) { return w.sigma, watchDrift }
