package watch

import (
	"math"
	"slices"

	"sightline/calibration"
	"sightline/engine/geom"
)

// watchedMarker is a marker with its reference place.
type watchedMarker struct {
	id       int
	corners  [4]geom.Pixel    // mean of the first quiet pictures
	n        int              // the number of those pictures
	jac      [4][2][6]float64 // derivative of each corner by a step of the camera
	recent   [][4]geom.Pixel  // in the last pictures, newest last
	last     [4]geom.Pixel    // when it was last seen
	unseen   int              // pictures since then
	outliers [3]bool          // whether it was an outlier in the last three pictures that show it
}

// addNew adds the markers that are seen for the first time. They need not lie where the
// layout puts them; they must only stay.
func (w *Monitor) addNew(seen []calibration.MarkerSighting) {
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
		if w.linearise(k, m) {
			w.markers[m.ID] = k
		}
	}
}

// plausible drops sightings that are far outside the picture or not finite.
func (w *Monitor) plausible(seen []calibration.MarkerSighting) (out []calibration.MarkerSighting) {
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

// linearise computes the derivatives of the marker's corners by the camera's pose, at the
// table points that appear there, so a card may lie turned.
func (w *Monitor) linearise(k *watchedMarker, m calibration.Marker) bool {
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

// sighted is a visible marker with its present corners.
type sighted struct {
	*watchedMarker
	now [4]geom.Pixel
}

// match pairs the markers with their sightings, in the layout's order.
func (w *Monitor) match(seen []calibration.MarkerSighting) (out []sighted) {
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

// record stores the markers' present places.
func (w *Monitor) record(here []sighted, moving bool) {
	for _, k := range w.markers {
		k.unseen++
	}
	for _, s := range here {
		if moving || s.unseen > 1 || w.jumped(s) { // a mean over a jump is meaningless
			s.recent = nil
		}
		s.unseen, s.last = 0, s.now
		s.recent = append(s.recent, s.now)
		s.recent = s.recent[max(0, len(s.recent)-watchMean):]
	}
}

// noise returns the variances, per axis and for the mean of n pictures, of a corner about
// its reference place and of the whole marker.
func (w *Monitor) noise(k *watchedMarker, n int) (corner, common float64) {
	corner = w.sigma * w.sigma * (1/float64(n) + 1/float64(max(k.n, 1)))
	return corner, watchDrift * watchDrift
}

// weightedDot returns d·W·e for two sets of displacements of a marker's corners, where W
// is the inverse of their covariance, corner·I + common·11ᵀ for each axis.
func weightedDot(d, e *[4]geom.Pixel, corner, common float64) float64 {
	var sum, dx, dy, ex, ey float64
	for i := range d {
		sum += d[i].X*e[i].X + d[i].Y*e[i].Y
		dx, dy, ex, ey = dx+d[i].X, dy+d[i].Y, ex+e[i].X, ey+e[i].Y
	}
	return (sum - common/(corner+4*common)*(dx*ex+dy*ey)) / corner
}

// moved returns the motion of a marker's corners from their reference place.
func (s sighted) moved() [4]geom.Pixel { return difference(s.now, s.corners) }

func difference(a, b [4]geom.Pixel) (d [4]geom.Pixel) {
	for i := range d {
		d[i] = a[i].Sub(b[i])
	}
	return d
}

// isInlier reports whether one picture shows a marker in its place.
func (w *Monitor) isInlier(s sighted) bool {
	d := s.moved()
	corner, common := w.noise(s.watchedMarker, 1)
	return weightedDot(&d, &d, corner, common) < markerLimit
}

// classify separates the markers in their places from those that are displaced.
func (w *Monitor) classify(here []sighted) (inliers, outliers []sighted) {
	for _, s := range here {
		if w.isInlier(s) {
			inliers = append(inliers, s)
		} else {
			outliers = append(outliers, s)
		}
	}
	return inliers, outliers
}

// meanMoved is moved, averaged over up to n of the last pictures.
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

// jump returns the motion of a marker's corners since it was last seen.
func (s sighted) jump() [4]geom.Pixel { return difference(s.now, s.last) }

// jumped reports whether a marker moved since it was last seen.
func (w *Monitor) jumped(s sighted) bool {
	d := s.jump()
	return weightedDot(&d, &d, 2*w.sigma*w.sigma, watchDrift*watchDrift) > markerLimit
}

// learn updates the noise and the reference places from a quiet picture.
func (w *Monitor) learn(inliers []sighted) {
	var sum, n float64
	for _, s := range inliers {
		if k := len(s.recent); k > 1 {
			// The noise is measured from one picture to the next, so drift does not count,
			// and without the motion of the whole marker, which is watchDrift.
			d := difference(s.recent[k-1], s.recent[k-2])
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
	// The initial value counts as ten pictures, so two lucky ones do not make it small.
	share := 1 / float64(min(w.quiet+10, 60))
	variance := w.sigma*w.sigma*(1-share) + sum/n*share
	w.sigma = min(max(math.Sqrt(variance), watchLeast), watchMost)
}
