package capture

import (
	"errors"
	"fmt"
	"sightline/vision/exposure"
	"strings"
)

// A camera that adjusts exposure, gain, white balance and focus itself changes the measured picture
// while a hand is in view. Where the driver allows it, these settings are locked.

// SettingKind is how to set one of a camera's controls.
type SettingKind int

// The kinds. The zero value leaves the control as it is.
const (
	SettingLeave SettingKind = iota
	SettingAuto              // the camera chooses
	SettingLock              // locked at the camera's own choice once it has settled
	SettingFixed             // Value
	SettingPaper             // locked, then adjusted to the white of the markers' paper (Exposure); for exposure and gain
)

// Setting is the wanted state of one of a camera's controls.
type Setting struct {
	Kind  SettingKind
	Value int32 // of SettingFixed, in the driver's own unit
}

// Settings are the wanted states of a camera's controls; the zero value changes none.
type Settings struct {
	Exposure, Gain, WhiteBalance, Focus Setting
	Powerline                           int // mains frequency of the lamps, Hz: 50, 60; 0: leave as it is
}

// Wished reports whether any control is to be changed.
func (s Settings) Wished() bool { return s != Settings{} }

// Settles reports whether any control is to be locked once the camera has settled.
func (s Settings) Settles() bool {
	for _, k := range [...]Setting{s.Exposure, s.Gain, s.WhiteBalance, s.Focus} {
		if k.Kind == SettingLock || k.Kind == SettingPaper {
			return true
		}
	}
	return false
}

// ControlID is a control's number in V4L2 (linux/v4l2-controls.h).
type ControlID uint32

// The controls used here.
const (
	ctrlAutoWhite   ControlID = 0x0098090c
	ctrlAutoGain    ControlID = 0x00980912
	ctrlGain        ControlID = 0x00980913
	ctrlPowerline   ControlID = 0x00980918
	ctrlWhite       ControlID = 0x0098091a // temperature, K
	ctrlExposeAuto  ControlID = 0x009a0901
	ctrlExposure    ControlID = 0x009a0902 // in 100 µs
	ctrlFocus       ControlID = 0x009a090a
	ctrlFocusAuto   ControlID = 0x009a090c
	exposeManual              = 1
	exposeAperture            = 3 // the camera chooses the exposure time: webcams' automatic mode
	exposeAuto                = 0
	controlDisabled           = 0x0001
	controlReadOnly           = 0x0004
)

// ControlRange is a driver's description of a control.
type ControlRange struct {
	Name           string
	Min, Max, Step int32
	Default        int32
	Flags          uint32
}

// ErrNoControl is the error for a control that the device does not have.
var ErrNoControl = errors.New("the camera has no such control")

// ControlDevice gives access to a camera's controls.
type ControlDevice interface {
	Query(ControlID) (ControlRange, error) // ErrNoControl when there is none
	Get(ControlID) (int32, error)
	Set(ControlID, int32) error
	Close() error
}

// controlPair is a control with the switch for its automatic mode.
type controlPair struct {
	name          string
	value, auto   ControlID
	manual, chose int32   // of the switch
	others        []int32 // further automatic modes, for cameras without chose
	unit          string
}

var controlPairs = [4]controlPair{
	{"exposure", ctrlExposure, ctrlExposeAuto, exposeManual, exposeAperture, []int32{exposeAuto}, " (100 µs)"},
	{"gain", ctrlGain, ctrlAutoGain, 0, 1, nil, ""},
	{"white balance", ctrlWhite, ctrlAutoWhite, 0, 1, nil, " K"},
	{"focus", ctrlFocus, ctrlFocusAuto, 0, 1, nil, ""},
}

func (s *Settings) of(i int) *Setting {
	return [4]*Setting{&s.Exposure, &s.Gain, &s.WhiteBalance, &s.Focus}[i]
}

// ApplySettings applies settings to a camera and returns notes for people on controls that are
// missing or did not take their value. With settled, it reads and locks the controls to be locked;
// otherwise it leaves them automatic, so that the camera can settle. The returned settings have the
// locked values as fixed ones, for a device that was disconnected in between.
func ApplySettings(d ControlDevice, s Settings, settled bool) (Settings, []string) {
	var says []string
	for i := range controlPairs {
		p, want := &controlPairs[i], s.of(i)
		if said := p.apply(d, want, settled); said != "" {
			says = append(says, said)
		}
	}
	if s.Powerline != 0 {
		value := int32(1)
		if s.Powerline == 60 {
			value = 2
		}
		if err := setControl(d, ctrlPowerline, value); err != nil {
			says = append(says, fmt.Sprintf("The camera's powerline frequency cannot be set to %d Hz: %v.", s.Powerline, err))
		}
	}
	return s, says
}

// apply applies the setting of one control.
func (p *controlPair) apply(d ControlDevice, want *Setting, settled bool) string {
	var err error
	switch {
	case want.Kind == SettingLeave:
		return ""
	case want.Kind == SettingAuto || (want.Kind == SettingLock || want.Kind == SettingPaper) && !settled:
		err = p.leave(d)
		if errors.Is(err, ErrNoControl) && want.Kind != SettingAuto {
			return "" // it has no automatic: it stands still as it is, which locking will tell
		}
	case want.Kind == SettingPaper:
		return p.begin(d, want)
	case want.Kind == SettingLock:
		var value int32
		if value, err = d.Get(p.value); err == nil {
			if err = p.fix(d, value); err == nil {
				*want = Setting{SettingFixed, value}
				return fmt.Sprintf("The camera's %s is locked at %d%s.", p.name, value, p.unit)
			}
		}
	default:
		err = p.fix(d, want.Value)
	}
	if err == nil {
		return ""
	}
	if errors.Is(err, ErrNoControl) {
		return fmt.Sprintf("The camera's driver does not let its %s be set: it may change while you play.", p.name)
	}
	return fmt.Sprintf("The camera's %s cannot be set: %v.", p.name, err)
}

// begin locks a control at its settled value, from which an Exposure adjusts it. Controls that
// cannot be set are not among ExposureControls, and the Exposure reports that.
func (p *controlPair) begin(d ControlDevice, want *Setting) string {
	value, err := d.Get(p.value)
	if err == nil {
		err = p.fix(d, value)
	}
	switch {
	case err == nil:
		*want = Setting{SettingFixed, value}
	case !errors.Is(err, ErrNoControl):
		return fmt.Sprintf("The camera's %s cannot be set: %v.", p.name, err)
	}
	return ""
}

// ExposureControls lists the controls that an Exposure may use: exposure time and, if wanted, gain.
// It leaves out missing and read-only ones.
func ExposureControls(d ControlDevice, gain bool) (out []exposure.Control) {
	for i := range controlPairs[:2] {
		p := &controlPairs[i]
		r, err := d.Query(p.value)
		if err != nil || r.Flags&(controlDisabled|controlReadOnly) != 0 || p.value == ctrlGain && !gain || r.Max <= r.Min {
			continue
		}
		if value, err := d.Get(p.value); err == nil {
			out = append(out, exposure.Control{Name: p.name, Min: r.Min, Max: r.Max, Step: r.Step, Value: value, Linear: p.value == ctrlExposure})
		}
	}
	return out
}

// SetExposureControl sets one of ExposureControls, switches off its automatic mode, and returns the
// value that the camera reports afterwards.
func SetExposureControl(d ControlDevice, c exposure.Control, value int32) (int32, error) {
	for i := range controlPairs[:2] {
		p := &controlPairs[i]
		if p.name != c.Name {
			continue
		}
		if err := setControl(d, p.auto, p.manual); err != nil && !errors.Is(err, ErrNoControl) {
			return 0, err
		}
		if err := d.Set(p.value, value); err != nil {
			return 0, fmt.Errorf("%s = %d: %w", c.Name, value, err)
		}
		return d.Get(p.value)
	}
	return 0, fmt.Errorf("%s: %w", c.Name, ErrNoControl)
}

// leave switches the control to automatic.
func (p *controlPair) leave(d ControlDevice) (err error) {
	for _, v := range append([]int32{p.chose}, p.others...) {
		if err = setControl(d, p.auto, v); err == nil || errors.Is(err, ErrNoControl) {
			return err
		}
	}
	return err
}

// fix sets the control to a value.
func (p *controlPair) fix(d ControlDevice, value int32) error {
	// A camera without an automatic mode has no switch to set.
	if err := setControl(d, p.auto, p.manual); err != nil && !errors.Is(err, ErrNoControl) {
		return err
	}
	return setControl(d, p.value, value)
}

// setControl sets a control and reads it back.
func setControl(d ControlDevice, id ControlID, value int32) error {
	r, err := d.Query(id)
	switch {
	case err != nil:
		return err
	case r.Flags&controlDisabled != 0:
		return ErrNoControl
	case r.Flags&controlReadOnly != 0:
		return fmt.Errorf("%s can only be read", r.Name)
	case value < r.Min || value > r.Max:
		return fmt.Errorf("%s: expected %d to %d, got %d", r.Name, r.Min, r.Max, value)
	}
	if err := d.Set(id, value); err != nil {
		return fmt.Errorf("%s = %d: %w", r.Name, value, err)
	}
	got, err := d.Get(id)
	if err != nil {
		return fmt.Errorf("%s: read back: %w", r.Name, err)
	}
	if step := max(r.Step, 1); got-value >= step || value-got >= step {
		return fmt.Errorf("%s: it was set to %d and is %d", r.Name, value, got)
	}
	return nil
}

// DescribeControls describes the state of a camera's controls for people: "exposure 250 (100 µs),
// by hand; focus not to be set".
func DescribeControls(d ControlDevice) string {
	var out []string
	for i := range controlPairs {
		p := &controlPairs[i]
		if r, err := d.Query(p.value); err != nil || r.Flags&controlDisabled != 0 {
			out = append(out, p.name+" not to be set")
			continue
		}
		value, err := d.Get(p.value)
		if err != nil {
			out = append(out, fmt.Sprintf("%s cannot be read (%v)", p.name, err))
			continue
		}
		how := "fixed"
		if auto, err := d.Get(p.auto); err == nil && auto != p.manual {
			how = "automatic"
		}
		out = append(out, fmt.Sprintf("%s %d%s, %s", p.name, value, p.unit, how))
	}
	return strings.Join(out, "; ")
}
