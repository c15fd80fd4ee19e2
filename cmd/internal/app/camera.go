package app

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"sightline/vision"
	"sightline/vision/capture"
	"sightline/vision/exposure"
)

// settleFor is how long a camera has to choose its exposure and focus before they are locked.
// Webcams take about a second, and longer in poor light.
const settleFor = 4 * time.Second

// cameraHolder sets a camera's exposure, gain, white balance and focus to the configured values
// each time the camera opens. The zero value works.
type cameraHolder struct {
	tell  func(text string)                                // reports to people; may be nil
	open  func(path string) (capture.ControlDevice, error) // nil: capture.OpenControls
	after func(time.Duration, func())                      // nil: time.AfterFunc

	mu     sync.Mutex        // guards the fields below
	locked *capture.Settings // the settings with the locked values; nil: nothing was locked yet
	round  int               // number of openings; a lock of an earlier one is void
	told   []string

	device   string                                // or stream: the last opened source
	controls func() (capture.ControlDevice, error) // opens its controls; nil: it has none
	exposure *exposure.Controller                  // sets the exposure by the markers' paper; nil: it is not set
	knobs    []exposure.Control
	paper    bool // the configuration asks for exposure by paper
	gain     bool // and for gain by paper
}

// controlled is a source that may have controls of its own; Controls returns nil if not.
type controlled interface {
	Controls() capture.ControlDevice
}

// controlsOf returns a function that opens a source's controls, or nil if it has none.
func (h *cameraHolder) controlsOf(name string, source vision.Source) func() (capture.ControlDevice, error) {
	if own, ok := source.(controlled); ok && own.Controls() != nil {
		return func() (capture.ControlDevice, error) { return own.Controls(), nil }
	}
	if !strings.HasPrefix(name, "/dev/") {
		return nil
	}
	open := h.open
	if open == nil {
		open = capture.OpenControls
	}
	return func() (capture.ControlDevice, error) { return open(name) }
}

// opened sets the controls of a source that was just opened.
func (h *cameraHolder) opened(c Camera, source vision.Source) {
	controls := h.controlsOf(c.Source, source)
	h.mu.Lock()
	h.device, h.controls, h.exposure = c.Source, controls, nil
	h.paper, h.gain = c.Settings.Exposure.Kind == capture.SettingPaper, c.Settings.Gain.Kind == capture.SettingPaper
	h.mu.Unlock()
	if !c.Settings.Wished() {
		return
	}
	if controls == nil {
		h.say([]string{fmt.Sprintf("Exposure, gain, white balance and focus of %s cannot be set from here: only those of a device /dev/video… "+
			"and of csi: can (docs/configuration.md).", c.Source)})
		return
	}
	h.mu.Lock()
	h.round++
	round, settings, settled := h.round, c.Settings, false
	if h.locked != nil { // the device came back: restore its settings
		settings, settled = *h.locked, true
	}
	h.mu.Unlock()
	h.apply(settings, settled, round)
	if settled || !settings.Settles() {
		return
	}
	after := h.after
	if after == nil {
		after = func(d time.Duration, do func()) { time.AfterFunc(d, do) }
	}
	after(settleFor, func() { h.apply(settings, true, round) })
}

// apply opens the camera's controls while it delivers pictures, and sets them.
func (h *cameraHolder) apply(s capture.Settings, settled bool, round int) {
	h.mu.Lock()
	current, open := round == h.round, h.controls
	h.mu.Unlock()
	if !current {
		return
	}
	d, err := open()
	if err != nil {
		h.say([]string{fmt.Sprintf("The camera's exposure and focus cannot be set: %v.", err)})
		return
	}
	defer d.Close()
	done, says := capture.ApplySettings(d, s, settled)
	if settled {
		h.mu.Lock()
		h.locked = &done
		if h.paper {
			h.knobs = capture.ExposureControls(d, h.gain)
			h.exposure = exposure.NewController(h.knobs)
		}
		h.mu.Unlock()
	}
	h.say(says)
}

// light takes a measurement of the light, one second after the one before, and adjusts the exposure
// if the configuration asks for it. While busy, the picture must not change, and it adjusts
// nothing. It returns the state of the exposure.
func (h *cameraHolder) light(l exposure.Light, busy bool) exposure.State {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.controls == nil:
		return exposure.State{Code: exposure.None, Says: "The exposure of this source cannot be set from here."}
	case !h.paper:
		return exposure.State{Code: exposure.None,
			Says: "The exposure is as the camera was set: camera.exposure = \"paper\" adjusts it by the markers' paper."}
	case h.exposure == nil:
		return exposure.State{Code: exposure.Waiting, Says: "The camera is still settling."}
	}
	if change := h.exposure.See(l, busy); change != nil {
		value, err := h.set(*change)
		h.exposure.Took(*change, value, err)
		if err == nil && h.locked != nil { // as it is set again when the camera was away
			setting := &h.locked.Exposure
			if h.knobs[change.Control].Name == "gain" {
				setting = &h.locked.Gain
			}
			*setting = capture.Setting{Kind: capture.SettingFixed, Value: value}
		}
	}
	return h.exposure.State()
}

// set sets a control of the camera. The caller holds mu.
func (h *cameraHolder) set(change exposure.Change) (int32, error) {
	d, err := h.controls()
	if err != nil {
		return 0, err
	}
	defer d.Close()
	return capture.SetExposureControl(d, h.knobs[change.Control], change.Value)
}

// say reports to people, each message once.
func (h *cameraHolder) say(texts []string) {
	for _, text := range texts {
		h.mu.Lock()
		known := slices.Contains(h.told, text)
		if !known {
			h.told = append(h.told, text)
		}
		h.mu.Unlock()
		if !known && h.tell != nil {
			h.tell(text)
		}
	}
}
