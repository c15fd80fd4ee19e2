package tablesim

import (
	"math"
	"sync"

	"sightline/vision/capture"
)

// The controls of a camera model, by their V4L2 numbers (linux/v4l2-controls.h).
const (
	knobAutoGain  capture.ControlID = 0x00980912
	knobGain      capture.ControlID = 0x00980913
	knobAuto      capture.ControlID = 0x009a0901
	knobExposure  capture.ControlID = 0x009a0902
	knobLate                        = 2   // pictures until a change takes effect
	usualExposure                   = 100 // in 100 µs: the exposure for CameraModel.Gain
	mostExposure                    = 2000
	mostGain                        = 64 // every 16 double the light
)

// exposureKnobs are a camera model's exposure and gain. They are safe for concurrent use.
type exposureKnobs struct {
	mu     sync.Mutex
	values map[capture.ControlID]int32
	coming []float64 // factors of the light in the next pictures
}

func newExposureKnobs() *exposureKnobs {
	return &exposureKnobs{values: map[capture.ControlID]int32{knobAuto: 3, knobExposure: usualExposure, knobAutoGain: 1, knobGain: 0}}
}

// shown returns the factor of the light in the next picture.
func (k *exposureKnobs) shown() float64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := float64(k.values[knobExposure]) / usualExposure * math.Exp2(float64(k.values[knobGain])/16)
	if len(k.coming) == 0 {
		for range knobLate {
			k.coming = append(k.coming, now)
		}
	}
	k.coming = append(k.coming, now)
	first := k.coming[0]
	k.coming = k.coming[1:]
	return first
}

// Controls returns the camera model's exposure, in 100 µs, and gain; nil without a model. A change
// takes effect two pictures later. The automatic modes change nothing.
func (s *Source) Controls() capture.ControlDevice {
	if s.knobs == nil {
		return nil
	}
	return knobDevice{s.knobs}
}

type knobDevice struct{ k *exposureKnobs }

// Query implements capture.ControlDevice.
func (d knobDevice) Query(id capture.ControlID) (capture.ControlRange, error) {
	switch id {
	case knobExposure:
		return capture.ControlRange{Name: "Exposure Time, Absolute", Min: 1, Max: mostExposure, Step: 1, Default: usualExposure}, nil
	case knobGain:
		return capture.ControlRange{Name: "Gain", Max: mostGain, Step: 1}, nil
	case knobAuto:
		return capture.ControlRange{Name: "Auto Exposure", Max: 3, Step: 1, Default: 3}, nil
	case knobAutoGain:
		return capture.ControlRange{Name: "Gain, Automatic", Max: 1, Step: 1, Default: 1}, nil
	}
	return capture.ControlRange{}, capture.ErrNoControl
}

// Get implements capture.ControlDevice.
func (d knobDevice) Get(id capture.ControlID) (int32, error) {
	if _, err := d.Query(id); err != nil {
		return 0, err
	}
	d.k.mu.Lock()
	defer d.k.mu.Unlock()
	return d.k.values[id], nil
}

// Set implements capture.ControlDevice.
func (d knobDevice) Set(id capture.ControlID, value int32) error {
	r, err := d.Query(id)
	if err != nil {
		return err
	}
	d.k.mu.Lock()
	defer d.k.mu.Unlock()
	d.k.values[id] = min(max(value, r.Min), r.Max)
	return nil
}

// Close implements capture.ControlDevice.
func (knobDevice) Close() error { return nil }
