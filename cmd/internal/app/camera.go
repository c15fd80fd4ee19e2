package app

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"sightline/vision"
)

// settleFor is how long a camera has to choose its exposure and focus before they are
// locked: webcams take about a second, and longer in poor light.
const settleFor = 4 * time.Second

// cameraHolder holds a camera's exposure, gain, white balance and focus as the
// configuration wishes, again each time that the camera was opened. The zero value works.
type cameraHolder struct {
	tell  func(text string)                               // told what people should know; nil: nobody
	open  func(path string) (vision.ControlDevice, error) // nil: vision.OpenControls
	after func(time.Duration, func())                     // nil: time.AfterFunc

	mu     sync.Mutex             // guards what follows
	locked *vision.CameraSettings // with what was locked made fixed; nil: nothing was yet
	round  int                    // counts the openings: an older one's lock is void
	told   []string
}

// opened is called when the source was opened.
func (h *cameraHolder) opened(c Camera) {
	if !c.Settings.Wished() {
		return
	}
	if !strings.HasPrefix(c.Source, "/dev/") {
		h.say([]string{fmt.Sprintf("Exposure, gain, white balance and focus of %s cannot be set from here: only those of a device /dev/video… can (docs/configuration.md).", c.Source)})
		return
	}
	h.mu.Lock()
	h.round++
	round, settings, settled := h.round, c.Settings, false
	if h.locked != nil { // the device was away: as it was
		settings, settled = *h.locked, true
	}
	h.mu.Unlock()
	h.apply(c.Source, settings, settled, round)
	if settled || !settings.Settles() {
		return
	}
	after := h.after
	if after == nil {
		after = func(d time.Duration, do func()) { time.AfterFunc(d, do) }
	}
	after(settleFor, func() { h.apply(c.Source, settings, true, round) })
}

// apply opens the camera's controls beside the pictures and sets them.
func (h *cameraHolder) apply(path string, s vision.CameraSettings, settled bool, round int) {
	h.mu.Lock()
	current := round == h.round
	h.mu.Unlock()
	if !current {
		return
	}
	open := h.open
	if open == nil {
		open = vision.OpenControls
	}
	d, err := open(path)
	if err != nil {
		h.say([]string{fmt.Sprintf("The camera's exposure and focus cannot be set: %v.", err)})
		return
	}
	defer d.Close()
	done, says := vision.ApplySettings(d, s, settled)
	if settled {
		h.mu.Lock()
		h.locked = &done
		h.mu.Unlock()
	}
	h.say(says)
}

// say tells people, each thing once.
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
