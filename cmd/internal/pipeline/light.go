package pipeline

import (
	"time"

	"sightline/calibration"
	"sightline/cmd/internal/live"
	"sightline/vision"
	"sightline/vision/exposure"
)

// gaugeEvery is how often the light is measured: it changes slowly, and no one reads
// faster.
const gaugeEvery = time.Second

// lightGauge measures the light now and then. It belongs to the pipeline's goroutine.
type lightGauge struct {
	exposure func(l exposure.Light, busy bool) exposure.State // Options.Exposure

	gauges exposure.Gauges
	at     time.Time  // when it was measured last
	next   bool       // the coming picture is measured, with the one that was remembered
	view   live.Light // as measured last, with what to do about it
}

// update takes a picture. It reports whether the light was measured in it, and what people
// should know of the exposure; "": nothing. held says whether somebody holds the picture.
func (l *lightGauge) update(f vision.Frame, now time.Time, r *Registration, held func() bool) (note string, measured bool) {
	var table *calibration.Table
	if r.drift.watch != nil {
		table = r.Table()
	}
	light, ok := l.look(f, now, table, r.drift.inPlace())
	if !ok {
		return "", false
	}
	state := exposure.State{Code: exposure.None}
	if l.exposure != nil {
		state = l.exposure(light, held())
	}
	if state.Code != l.view.Exposure.Code && (state.Code == exposure.Failed || state.Code == exposure.Limit) {
		note = state.Says
	}
	l.view = live.Light{Light: light, Advice: light.Advice(), Exposure: state}
	return note, true
}

// look takes a picture and reports whether the light was measured in it.
func (l *lightGauge) look(f vision.Frame, now time.Time, t *calibration.Table, markers []calibration.MarkerSighting) (exposure.Light,
	bool) {
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
	return exposure.Light{}, false
}
