package watch

import (
	"math"
	"slices"

	"sightline/calibration"
	"sightline/engine/geom"
)

// watchedMarker is a marker with where it was.
type watchedMarker struct {
	id       int
	corners  [4]geom.Pixel    // mean of the first quiet pictures
	n        int              // that many
	jac      [4][2][6]float64 // how a corner moves with the camera
	recent   [][4]geom.Pixel  // the last places, newest last
	last     [4]geom.Pixel    // where it was seen last
	unseen   int              // pictures since then
	outliers [3]bool          // of the last pictures in which it was seen
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

// sighted is a marker that the picture shows, with its corners now.
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

// isInlier reports whether a marker is where it was, as far as one picture can tell.
func (w *Monitor) isInlier(s sighted) bool {
	d := s.moved()
	corner, common := w.noise(s.watchedMarker, 1)
	return weigh(&d, &d, corner, common) < markerLimit
}

// classify tells the markers that are where they were from those that are not.
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

// learn takes a quiet picture into what is known of the noise and of the places.
func (w *Monitor) learn(inliers []sighted) {
	var sum, n float64
	for _, s := range inliers {
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
