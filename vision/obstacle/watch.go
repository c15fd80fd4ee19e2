package obstacle

import (
	"math"
	"runtime/debug"

	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/exposure"
	"sightline/vision/internal/rest"
	"sightline/vision/internal/under"
)

// Watch searches for obstacles when the picture has changed and come to rest, and checks in between that each
// still lies where it was found.
type Watch struct {
	finder   *Finder // belongs to the background search while one runs
	rest     rest.Detector
	sight    vision.ObstacleSight
	lying    []vision.ObstacleView // what was recognised last; a search of a picture that shows nothing of the mat does not change it
	recalled bool                  // since the background search began
	searched bool                  // sight is of the picture that rest keeps
	next     int                   // index of the obstacle that was checked last
	noise    float64               // of one picture, grey levels
	doubts   int                   // pictures in a row in which it did not seem to lie where it was found

	// changed is set once a picture since the search differs. The last picture may look as before though a hand
	// laid down a token meanwhile whose mean is as light as the mat.
	changed bool

	background bool                      // searches run in the background
	running    chan vision.ObstacleSight // receives the result of the background search; nil: none runs
	mean       exposure.Averager         // of the pictures since the table came to rest, for a search with less noise
	refining   bool                      // the background search is of the mean: sight stays valid meanwhile
	refined    bool                      // sight is of the mean, or needs none

	rims []under.Rim // of the ships in the picture

	searches *Searches // of all cameras; nil: there is one
	further  bool      // this is not the main camera
}

// averaged is how many pictures are averaged where one does not show all of the mat well enough: ten have a third of
// the noise.
const averaged = 10

// update returns the obstacles in a frame. The first frame is searched at once; after a change the search is repeated
// as soon as two frames agree. A background search never blocks the caller: the obstacles are unseen until it ends, and
// its result counts if the table still looks the same. Where noise hid part of the mat, the mean of the following
// pictures is searched too.
func (w *Watch) update(f vision.Frame, bases []geom.Polygon) vision.ObstacleSight {
	changed, resting := w.rest.Update(f.Gray)
	w.accumulate(f, changed || !resting)
	w.changed = w.changed || changed
	if w.running != nil {
		select {
		case sight := <-w.running:
			lying := w.lying
			if w.set(sight); w.recalled {
				w.lying = lying
			}
			w.refined = w.refining || !w.sight.Noisy()
			if !w.refining { // a mean has less noise than the pictures to come
				w.setNoise(w.finder.diff.noise)
			}
			w.running, w.searched, w.refining = nil, true, false
			w.changed = w.changed || w.rest.Differs()
		default:
			if w.refining && !w.changed {
				return w.current(f)
			}
			return vision.ObstacleSight{Unseen: vision.UnseenLooking}
		}
	}
	switch {
	case w.searched && !w.changed && w.stillLies(f):
		if w.background && !w.refined && w.mean.Len() >= averaged {
			if mean, err := w.mean.Frame(); err == nil {
				w.refining = true
				w.startSearch(mean, bases)
			}
		}
		return w.current(f)
	case w.searched && !resting:
		return vision.ObstacleSight{Unseen: vision.UnseenChanging}
	}
	w.rest.Keep()
	w.mean.Reset() // of what lay there before
	w.refined, w.changed = false, false
	if w.background {
		w.searched = false
		w.startSearch(f, bases)
		return vision.ObstacleSight{Unseen: vision.UnseenLooking}
	}
	w.finder.rims = w.rims
	w.set(w.finder.search(f, bases, w.lying))
	w.sight.Captured = f.Captured
	w.setNoise(w.finder.diff.noise)
	w.searched = true
	return w.sight
}

// set makes the result of a search the present one.
func (w *Watch) set(sight vision.ObstacleSight) {
	w.doubts = 0
	if w.sight = sight; sight.Unseen == "" {
		w.lying = sight.Lying()
	}
}

// Recall says which obstacles lay there before the pictures that another calibration, or nothing that can be believed, was seen in: a
// search of its own might not recognise those on which a ship stands now. The next picture is searched.
func (w *Watch) Recall(lying []vision.ObstacleView) {
	w.lying = nil
	for _, v := range lying {
		if v, ok := w.finder.recalled(v); ok {
			w.lying = append(w.lying, v)
		}
	}
	w.changed, w.recalled = true, true
}

// accumulate adds a picture to the mean, or starts a new mean when the table does not rest.
func (w *Watch) accumulate(f vision.Frame, changed bool) {
	f.Color = nil // unused, and three times the size of the grey
	switch {
	case !w.background:
	case w.refined && !changed:
		w.mean.Reset() // it was searched, or is not needed
	case changed:
		w.mean.Reset()
		w.refined = false
	case w.mean.Len() < averaged:
		if w.mean.Add(f) != nil { // something creeps: what one picture shows must do
			w.mean.Reset()
			w.refined = w.searched
		}
	}
}

// current returns the last result, dated as of a frame that agrees with it.
func (w *Watch) current(f vision.Frame) vision.ObstacleSight {
	w.sight.Captured = f.Captured
	w.sight.Refining = w.background && (!w.refined || w.doubts > 0)
	return w.sight
}

// startSearch starts a search in the background. Nothing writes to the frame, bases belongs to the search, and nothing
// else uses the finder until the search ends.
func (w *Watch) startSearch(f vision.Frame, bases []geom.Polygon) {
	found := make(chan vision.ObstacleSight, 1) // buffered, so that the search ends even if no one reads its result
	w.running, w.recalled = found, false
	finder, known := w.finder, w.lying
	finder.rims = w.rims
	f.Color = nil // unused: the search must not keep its memory
	go func() {
		defer w.searches.begin(w.further)()
		sight := finder.search(f, bases, known)
		sight.Captured = f.Captured
		finder.release()
		found <- sight
		debug.FreeOSMemory() // otherwise Go keeps the search's memory, 30 MB in the median (docs/measurements/house.md)
	}()
}

// setNoise says how noisy one picture is.
func (w *Watch) setNoise(noise float64) {
	w.noise = noise
	w.rest.SetNoise(noise)
}

// stillLies fits the obstacles again, one in each call, and reports whether that one lies where it did.
func (w *Watch) stillLies(f vision.Frame) bool {
	if len(w.sight.Views) == 0 {
		return true
	}
	if w.doubts == 0 {
		w.next = (w.next + 1) % len(w.sight.Views)
	}
	return w.doubted(w.liesAsBefore(f, &w.sight.Views[w.next]))
}

// doubted reports whether an obstacle counts as lying where it did after one more picture. Noise alone lets one in twenty fits differ by
// more than is allowed (600 electrons, or 1000 with a mosaic): while pictures follow each other, doubtsMost in a row must.
func (w *Watch) doubted(lies bool) bool {
	if lies {
		w.doubts = 0
		return true
	}
	w.doubts++
	return w.background && w.doubts < doubtsMost
}

// doubtsMost is in how many pictures in a row an obstacle must not seem to lie where it did.
const doubtsMost = 5

// liesAsBefore fits an obstacle again, and reports whether it lies where it did as far as this picture shows.
func (w *Watch) liesAsBefore(f vision.Frame, v *vision.ObstacleView) bool {
	if v.Area > 0 { // its edges are too faint: rely on the picture being at rest
		return true
	}
	again, ok := w.finder.refit(f.Gray, v, geom.Point{})
	if !ok || again.Misfit > max(acceptMisfit, v.Misfit+stillMisfit+noisyMisfit*w.noise) {
		return false
	}
	// Noise moves a fit by much less than its whole sigma.
	limit := 0.2 + 2*math.Sqrt(max(v.Cov[0], v.Cov[4]))
	turned := float64(again.Pose.Heading.Distance(v.Pose.Heading)) * v.Radius
	return again.Pose.Distance(v.Pose.Point)+geom.Length(turned) < geom.Length(limit)
}

// stillMisfit is how much worse than before an obstacle at rest may fit.
const stillMisfit = 0.05

// noisyMisfit is how much worse it may fit for each grey level of a picture's noise. The fit that was believed may be a lucky one, or that
// of a mean: debris fitted as well as 0.38, and in the next pictures with 0.45 to 0.51 (1701 through a cheap camera, noise 7.4), another
// with 0.29 in a mean of ten, and up to 0.42 in single ones (noise 5.4).
const noisyMisfit = 0.02
