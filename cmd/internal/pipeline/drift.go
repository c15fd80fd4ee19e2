package pipeline

import (
	"image"
	"math"
	"slices"
	"time"

	"sightline/calibration"
	"sightline/calibration/watch"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/token"
)

// A markerTracker finds markers near their expected places: fiducial.TrackMarkers.
type markerTracker func(*image.Gray, []calibration.MarkerSighting) []calibration.MarkerSighting

// DriftMonitor notices when the camera no longer stands where the registration puts it. It
// tracks the markers in every picture near their expected places, which is cheap, and runs the
// detector when they are not there. It belongs to the pipeline's goroutine.
type DriftMonitor struct {
	detector vision.MarkerDetector // nil: markers that moved far are not found again
	track    markerTracker

	watch    *watch.Monitor // nil: no marker of this registration was seen yet
	verdict  watch.Verdict
	searched time.Time     // when the detector last ran
	patience time.Duration // until it runs again while some markers are missing

	home map[int][4]geom.Pixel // each marker's corners when it was last in place
	away []int                 // ids of markers missing in the last picture
	torn []int                 // ids of markers that vanished together, all above or all below some row
}

// How often the detector searches the whole picture, which costs ten times everything else: at
// once when most markers are gone, seldom when a few are.
const (
	searchFirst = 500 * time.Millisecond
	searchMost  = 10 * time.Second
)

// reset starts monitoring a registration, given the markers of a picture that it fits. Without
// markers nothing is monitored.
func (d *DriftMonitor) reset(t calibration.Table, seen []calibration.MarkerSighting) {
	d.watch, d.verdict, d.patience = nil, watch.Verdict{Of: len(t.Layout.Markers)}, 0
	d.home, d.away, d.torn = map[int][4]geom.Pixel{}, nil, nil
	if len(seen) > 0 {
		d.watch = watch.NewMonitor(t, seen)
	}
}

// Update compares the markers in a picture with the registration.
func (d *DriftMonitor) Update(gray *image.Gray, now time.Time) (watch.Verdict, error) {
	if d.watch == nil {
		return d.verdict, nil
	}
	expected := d.watch.Expected()
	seen := d.track(gray, expected)
	d.detectTorn(expected, seen)
	var err error
	if d.shouldSearch(len(seen), now) {
		d.searched = now
		var found []vision.Detection
		if found, err = d.detector.DetectMarkers(gray); err == nil {
			seen = withFound(seen, vision.Sightings(found))
		}
	}
	d.verdict = d.watch.Update(now, seen)
	return d.verdict, err
}

// staysWithin is how far, in px, a marker in its place may lie from where the last picture
// showed it: five times a marker's noise in bad light.
const staysWithin = 0.5

// detectTorn finds pictures that are composed of two: at least two markers, all those on one
// side of some row, vanish at once while those on the other side stay. A hand or an arm cannot
// do that, since markers lie all round the mat.
func (d *DriftMonitor) detectTorn(expected, seen []calibration.MarkerSighting) {
	var gone, fresh []int
	here, left := rows{math.Inf(1), math.Inf(-1)}, rows{math.Inf(1), math.Inf(-1)}
	for _, e := range expected {
		home, known := d.home[e.ID]
		k := slices.IndexFunc(seen, func(s calibration.MarkerSighting) bool { return s.ID == e.ID })
		switch {
		case k >= 0 && (!known || meanShift(home, seen[k].Corners) < staysWithin):
			d.home[e.ID] = seen[k].Corners
			here.add(seen[k].Corners)
		case known:
			gone = append(gone, e.ID)
			if !slices.Contains(d.away, e.ID) {
				fresh = append(fresh, e.ID)
				left.add(home)
			}
		}
	}
	d.away = gone
	d.torn = slices.DeleteFunc(d.torn, func(id int) bool { return !slices.Contains(gone, id) })
	switch apart := here.least <= here.most && (here.most < left.least || left.most < here.least); {
	case len(fresh) >= 2 && apart:
		d.torn = append(d.torn, fresh...)
	case len(d.torn) < 2: // a single missing marker may be covered
		d.torn = nil
	}
}

// rows are the rows of the picture in which markers lie.
type rows struct{ least, most float64 }

func (r *rows) add(c [4]geom.Pixel) {
	y := (c[0].Y + c[2].Y) / 2
	r.least, r.most = min(r.least, y), max(r.most, y)
}

// meanShift returns how far the middle of a marker moved, in px.
func meanShift(a, b [4]geom.Pixel) float64 {
	var d geom.Pixel
	for i := range a {
		d = d.Add(b[i].Sub(a[i]).Mul(0.25))
	}
	return d.Norm()
}

// trusted reports whether the last picture surely shows the table where the registration puts
// it.
func (d *DriftMonitor) trusted() bool {
	if d.watch == nil {
		return true // nothing contradicts it
	}
	v := d.verdict
	return len(d.torn) == 0 && !v.Doubt && v.Blind <= watch.MaxBlind &&
		(v.State == watch.OK || v.State == watch.Covered)
}

// shouldSearch reports whether so few markers were found in their expected places that the
// detector should search the whole picture now.
func (d *DriftMonitor) shouldSearch(tracked int, now time.Time) bool {
	if d.detector == nil {
		return false
	}
	if tracked == d.verdict.Of {
		d.patience = searchFirst
		return false
	}
	// Most of the markers seen before are gone: the camera may have jumped.
	jumped := 2*tracked < d.verdict.Seen || d.verdict.State == watch.Moved && 2*tracked < d.verdict.Of
	if !jumped && now.Sub(d.searched) < d.patience {
		return false
	}
	if d.verdict.State == watch.Lost {
		d.patience = searchFirst // there is nothing else to do
	} else {
		d.patience = min(max(2*d.patience, searchFirst), searchMost)
	}
	return true
}

// withFound adds the markers that only the detector found to the tracked ones.
func withFound(tracked, found []calibration.MarkerSighting) []calibration.MarkerSighting {
	out := slices.Clone(tracked)
	for _, f := range found {
		if !slices.ContainsFunc(tracked, func(t calibration.MarkerSighting) bool { return t.ID == f.ID }) {
			out = append(out, f)
		}
	}
	return out
}

// inPlace returns the markers that were seen in their places; a covered one shows no edge to
// measure the light by. It returns none while nothing is monitored.
func (d *DriftMonitor) inPlace() (out []calibration.MarkerSighting) {
	if d.watch == nil {
		return nil
	}
	for _, m := range d.watch.Expected() {
		if _, there := d.home[m.ID]; there {
			out = append(out, m)
		}
	}
	return out
}

// widen adds to the ships' uncertainty the camera motion that the markers in view could not
// have shown.
func (d *DriftMonitor) widen(s *engine.Scene) {
	if d.watch == nil {
		return
	}
	for i := range s.Ships {
		ship := &s.Ships[i]
		width, _ := ship.Base.Size()
		add := d.watch.Unnoticed(ship.Pose, token.BaseTop, width/2)
		for k := range add {
			ship.Covariance[k] += add[k]
		}
	}
}
