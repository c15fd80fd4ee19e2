package app

import (
	"time"

	"sightline/calibration"
	"sightline/vision"
)

// gaugeEvery is how often the light is measured: it changes slowly, and nobody reads
// faster.
const gaugeEvery = time.Second

// lightWatch measures the light now and then. It belongs to the watcher's goroutine.
type lightWatch struct {
	gauges vision.Gauges
	at     time.Time // when it was measured last
	next   bool      // the coming picture is measured, with the one that was remembered
}

// look takes a picture and reports whether the light was measured in it.
func (l *lightWatch) look(f vision.Frame, now time.Time, t *calibration.Table, markers []calibration.MarkerSighting) (vision.Light, bool) {
	switch {
	case l.next:
		l.next = false
		l.at = now
		light := l.gauges.Look(f.Gray, markers, t)
		l.gauges.Next(nil) // a picture is large: it is not kept for a second
		return light, true
	case now.Sub(l.at) >= gaugeEvery:
		l.gauges.Next(f.Gray)
		l.next = true
	}
	return vision.Light{}, false
}

// gauge measures the light of a picture, when it is time to.
func (w *Watcher) gauge(f vision.Frame, now time.Time) {
	var markers []calibration.MarkerSighting
	var table *calibration.Table
	if w.guard.watch != nil {
		table = &w.located
		for _, m := range w.guard.watch.Expected() { // those that are covered show no edge
			if _, there := w.guard.home[m.ID]; there {
				markers = append(markers, m)
			}
		}
	}
	if light, ok := w.lights.look(f, now, table, markers); ok {
		advice := light.Advice()
		w.mu.Lock()
		busy := w.held != nil
		w.mu.Unlock()
		state := vision.ExposureState{Code: vision.ExposureNone}
		if w.o.Exposure != nil {
			state = w.o.Exposure(light, busy)
		}
		w.update(func() {
			if state.Code != w.exposure.Code && (state.Code == vision.ExposureFailed || state.Code == vision.ExposureLimit) {
				w.note(state.Says)
			}
			w.light, w.advice, w.exposure = light, advice, state
		})
	}
}
