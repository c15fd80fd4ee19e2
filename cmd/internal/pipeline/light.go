package pipeline

import (
	"time"

	"sightline/calibration"
	"sightline/cmd/internal/live"
	"sightline/vision"
	"sightline/vision/exposure"
)

// gaugeEvery is how often the light is measured: it changes slowly, and people do not read
// faster.
const gaugeEvery = time.Second

// lightGauge measures the light from time to time. It belongs to the pipeline's goroutine.
type lightGauge struct {
	exposure func(l exposure.Light, busy bool) exposure.State // Options.Exposure

	gauges exposure.Gauges
	at     time.Time  // when the light was last measured
	next   bool       // the next picture is measured, together with the remembered one
	view   live.Light // the last measurement
}

// update reports whether the light was measured in a picture, and returns a note on the
// exposure; "": none. held says whether the picture is held.
func (l *lightGauge) update(f vision.Frame, now time.Time, r *Registration, held func() bool) (note string, measured bool) {
	var table *calibration.Table
	if r.drift.watch != nil {
		table = r.Table()
	}
	light, ok := l.measure(f, now, table, r.drift.inPlace())
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

// measure returns the light, if it is time to measure it in this picture.
func (l *lightGauge) measure(f vision.Frame, now time.Time, t *calibration.Table, markers []calibration.MarkerSighting) (exposure.Light,
	bool) {
	switch {
	case l.next:
		l.next = false
		l.at = now
		light := l.gauges.Look(f.Gray, markers, t)
		l.gauges.Next(nil) // do not keep a large picture for a second
		return light, true
	case now.Sub(l.at) >= gaugeEvery:
		l.gauges.Next(f.Gray)
		l.next = true
	}
	return exposure.Light{}, false
}
