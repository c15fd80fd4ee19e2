package capture

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"sightline/vision"
	"strconv"
	"sync"
	"time"
)

// csiCamera is a Raspberry Pi camera. Its child process is restarted when a control was set, which
// takes about a second.
type csiCamera struct {
	name string
	o    CSIOptions
	seq  uint64 // of the last picture; owned by Next

	mu      sync.Mutex // guards the fields below
	child   *csi
	closed  bool
	knobs   map[ControlID]int32
	changed time.Time // when a control was set since the child started; zero: none was
}

var _ vision.Source = (*csiCamera)(nil)

// csiTogether is how long a change of a control waits for others: a value is set after its
// automatic mode was switched off, and a gain after an exposure.
const csiTogether = 100 * time.Millisecond

// Next implements Source. After an error the source must be reopened.
func (c *csiCamera) Next(ctx context.Context) (vision.Frame, error) {
	child, err := c.running()
	if err != nil {
		return vision.Frame{}, err
	}
	f, err := child.next(ctx)
	if err != nil {
		return vision.Frame{}, err
	}
	c.seq++
	f.Seq = c.seq
	return f, nil
}

// running returns the child, restarted if a control was set.
func (c *csiCamera) running() (*csi, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closed:
		return nil, fmt.Errorf("vision: source %q: %w", c.name, fs.ErrClosed)
	case c.changed.IsZero() || time.Since(c.changed) < csiTogether:
		return c.child, nil
	}
	c.child.close() // only one process can use the camera
	o := c.o
	o.Args = append(o.Args[:len(o.Args):len(o.Args)], c.args()...)
	child, err := startCSI(c.name, o)
	if err != nil {
		return nil, err
	}
	c.child, c.changed = child, time.Time{}
	return child, nil
}

// args returns the child's arguments for the controls that were set. The caller holds mu.
func (c *csiCamera) args() (out []string) {
	if v, ok := c.knobs[ctrlExposure]; ok && c.knobs[ctrlExposeAuto] == exposeManual {
		out = append(out, "--shutter", strconv.Itoa(int(v)*csiTick))
	}
	if v, ok := c.knobs[ctrlGain]; ok && c.knobs[ctrlAutoGain] == 0 {
		out = append(out, "--gain", strconv.FormatFloat(float64(v)/csiGain, 'g', -1, 64))
	}
	return out
}

// Close implements Source: it ends the child and waits for it.
func (c *csiCamera) Close() error {
	c.mu.Lock()
	c.closed = true
	child := c.child
	c.mu.Unlock()
	child.close()
	return nil
}

// String implements Source.
func (c *csiCamera) String() string { return c.name }

const (
	csiTick    = 100 // µs: the exposure's unit, as V4L2's
	csiGain    = 100 // the gain's unit is a hundredth
	csiMostAmp = 16  // the analogue gain that all these sensors reach
)

// Controls returns the camera's exposure, in 100 µs and limited by the frame rate, and its gain, in
// hundredths, with their automatic modes. It has no controls for white balance and focus.
func (c *csiCamera) Controls() ControlDevice { return csiControls{c} }

type csiControls struct{ c *csiCamera }

// Query implements ControlDevice.
func (d csiControls) Query(id ControlID) (ControlRange, error) {
	switch id {
	case ctrlExposure:
		return ControlRange{Name: "exposure", Min: 1, Max: int32(max(1e6/csiTick/d.c.o.FPS, 2)), Step: 1}, nil
	case ctrlGain:
		return ControlRange{Name: "gain", Min: csiGain, Max: csiMostAmp * csiGain, Step: 1, Default: csiGain}, nil
	case ctrlExposeAuto:
		return ControlRange{Name: "automatic exposure", Max: exposeAperture, Step: 1, Default: exposeAperture}, nil
	case ctrlAutoGain:
		return ControlRange{Name: "automatic gain", Max: 1, Step: 1, Default: 1}, nil
	}
	return ControlRange{}, ErrNoControl
}

// Get implements ControlDevice. Automatic values are those that rpicam-vid reports for its last
// picture.
func (d csiControls) Get(id ControlID) (int32, error) {
	r, err := d.Query(id)
	if err != nil {
		return 0, err
	}
	d.c.mu.Lock()
	defer d.c.mu.Unlock()
	automatic := id == ctrlExposure && d.c.knobs[ctrlExposeAuto] != exposeManual || id == ctrlGain && d.c.knobs[ctrlAutoGain] != 0
	if v, ok := d.c.knobs[id]; ok && !automatic {
		return v, nil
	}
	exposure, gain, ok := d.c.child.complaints.info()
	if !ok {
		return 0, errors.New("rpicam-vid has not said yet what it chose")
	}
	v := exposure / csiTick
	if id == ctrlGain {
		v = gain * csiGain
	}
	return min(max(int32(math.Round(v)), r.Min), r.Max), nil
}

// Set implements ControlDevice. The change takes effect when the child has been restarted.
func (d csiControls) Set(id ControlID, value int32) error {
	r, err := d.Query(id)
	if err != nil {
		return err
	}
	d.c.mu.Lock()
	defer d.c.mu.Unlock()
	value = min(max(value, r.Min), r.Max)
	if was, ok := d.c.knobs[id]; ok && was == value {
		return nil
	}
	d.c.knobs[id], d.c.changed = value, time.Now()
	return nil
}

// Close implements ControlDevice.
func (csiControls) Close() error { return nil }
