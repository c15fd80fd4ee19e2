package app

import (
	"image"
	"time"

	"sightline/calibration"
	"sightline/engine"
	"sightline/vision"
)

// newSteady returns what tells pictures that show nothing new, with the usual options.
func newSteady(t calibration.Table) (*vision.Steady, error) {
	return vision.NewSteady(t, vision.SteadyOptions{})
}

// watchForChange begins to tell pictures that show nothing new from others. Where that
// cannot be done every picture is searched.
func (w *Watcher) watchForChange(t calibration.Table) {
	if w.o.NewSteady == nil {
		return
	}
	steady, err := w.o.NewSteady(t)
	if err != nil {
		w.o.Log.Warn("every picture is searched in full", "err", err)
		return
	}
	w.steady = steady
}

// rests takes a picture that shows what the last one showed that was searched: what was
// found then stands, seen anew. It reports false when the picture must be searched.
func (w *Watcher) rests(f vision.Frame, at time.Time) bool {
	if w.steady == nil || w.locator == nil {
		return false
	}
	began := time.Now()
	same := w.steady.Same(f.Gray, at) // asked of every picture: it counts the quiet ones
	if !same || !w.calm() {
		return false
	}
	captured := f.Captured
	if captured.IsZero() {
		captured = at
	}
	rested := w.tracker.Rest(captured, f.Seq)
	if len(w.o.Eyes) > 0 {
		w.restWithEyes(rested, func(t vision.Tracked, result *engine.Result, err error) {
			w.update(func() {
				w.frame, w.frameAt = f, at
				w.last, w.tracks = t.Located, t.Tracks
				w.last.Elapsed = time.Since(began)
				if result != nil {
					w.result = *result
				}
				if err != nil {
					w.broken = err.Error()
				}
				w.tellConflicts(t.Fusion)
			})
		})
		return true
	}
	w.update(func() {
		w.frame, w.frameAt = f, at
		w.last.Captured, w.last.Seq, w.last.Elapsed = rested.Captured, rested.Seq, time.Since(began)
		w.tracks = rested.Tracks
	})
	return true
}

// calm reports whether nothing but the picture asks for a search: the markers lie where
// they were, nothing failed, and the rules are those that were measured by.
func (w *Watcher) calm() bool {
	return w.placing.Load() == nil && w.picture == pictureGood && !w.pictures.empty && w.broken == "" && !w.doubtful && w.guard.trusted() && w.measured == w.rules()
}

// searched tells what watches for change that a picture was searched.
func (w *Watcher) searched(g *image.Gray, at time.Time, t *vision.Tracked, rules Rules) {
	w.measured = rules
	if w.steady != nil {
		pending := t.Obstacles != nil && (t.Obstacles.Pending() || t.Obstacles.Refining)
		w.steady.Searched(g, at, &t.Located, t.AtRest() && !pending)
	}
}
