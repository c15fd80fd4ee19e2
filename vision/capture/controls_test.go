package capture

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// fakeControls is a camera's controls as a driver keeps them.
type fakeControls struct {
	have   map[ControlID]ControlRange
	values map[ControlID]int32
	deaf   map[ControlID]bool // takes what it is set to, and stays as it is
	busy   map[ControlID]error
	sets   int
}

func (f *fakeControls) Query(id ControlID) (ControlRange, error) {
	r, ok := f.have[id]
	if !ok {
		return r, ErrNoControl
	}
	return r, nil
}

func (f *fakeControls) Get(id ControlID) (int32, error) {
	if _, ok := f.have[id]; !ok {
		return 0, ErrNoControl
	}
	return f.values[id], nil
}

func (f *fakeControls) Set(id ControlID, v int32) error {
	f.sets++
	if err := f.busy[id]; err != nil {
		return err
	}
	if !f.deaf[id] {
		f.values[id] = v
	}
	return nil
}

func (f *fakeControls) Close() error { return nil }

// webcam has what most webcams have: no automatic gain, and its exposure's automatic is
// "aperture priority" and not "auto".
func webcam() *fakeControls {
	return &fakeControls{
		have: map[ControlID]ControlRange{
			ctrlExposeAuto: {Name: "Auto Exposure", Max: 3, Step: 1}, ctrlExposure: {Name: "Exposure Time, Absolute", Min: 3, Max: 2047, Step: 1},
			ctrlGain: {Name: "Gain", Max: 255, Step: 1}, ctrlAutoWhite: {Name: "White Balance, Automatic", Max: 1, Step: 1},
			ctrlWhite: {Name: "White Balance Temperature", Min: 2000, Max: 6500, Step: 10}, ctrlPowerline: {Name: "Power Line Frequency", Max: 2,
				Step: 1},
		},
		values: map[ControlID]int32{ctrlExposeAuto: exposeAperture, ctrlExposure: 250, ctrlGain: 16, ctrlAutoWhite: 1, ctrlWhite: 4600},
		deaf:   map[ControlID]bool{}, busy: map[ControlID]error{},
	}
}

var allLocked = Settings{
	Exposure: Setting{Kind: SettingLock}, Gain: Setting{Kind: SettingLock}, WhiteBalance: Setting{Kind: SettingLock},
	Focus: Setting{Kind: SettingLock}, Powerline: 50,
}

func TestACameraIsLockedWhereItSettled(t *testing.T) {
	d := webcam()
	_, says := ApplySettings(d, allLocked, false)
	assert.Empty(t, says)
	assert.Equal(t, int32(exposeAperture), d.values[ctrlExposeAuto], "until it has settled it chooses itself")
	assert.Equal(t, int32(1), d.values[ctrlPowerline])
	d.values[ctrlExposure], d.values[ctrlWhite] = 312, 4210 // the camera settles
	locked, says := ApplySettings(d, allLocked, true)
	assert.Equal(t, []string{
		"The camera's exposure is locked at 312 (100 µs).", "The camera's gain is locked at 16.",
		"The camera's white balance is locked at 4210 K.",
		"The camera's driver does not let its focus be set: it may change while you play.",
	}, says)
	assert.Equal(t, int32(exposeManual), d.values[ctrlExposeAuto])
	assert.Equal(t, int32(0), d.values[ctrlAutoWhite])
	assert.Equal(t, Setting{SettingFixed, 312}, locked.Exposure)

	again := webcam() // it was unplugged, and comes back as it was made
	_, says = ApplySettings(again, locked, true)
	assert.Len(t, says, 1, "%v", says)
	assert.Equal(t, int32(312), again.values[ctrlExposure])
	assert.Equal(t, int32(4210), again.values[ctrlWhite])
	assert.Contains(t, DescribeControls(again), "exposure 312 (100 µs), fixed")
	assert.Contains(t, DescribeControls(webcam()), "white balance 4600 K, automatic")
	assert.Contains(t, DescribeControls(webcam()), "focus not to be set")
}

func TestWhatACameraDoesNotTakeIsSaid(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*fakeControls)
		wish   Settings
		says   string
	}{
		"a value out of range": {nil, Settings{Exposure: Setting{SettingFixed, 5000}},
			"The camera's exposure cannot be set: Exposure Time, Absolute: expected 3 to 2047, got 5000."},
		"a control that is deaf": {func(f *fakeControls) { f.deaf[ctrlGain] = true }, Settings{Gain: Setting{SettingFixed, 99}},
			"The camera's gain cannot be set: Gain: it was set to 99 and is 16."},
		"a driver that is busy": {func(f *fakeControls) { f.busy[ctrlWhite] = errors.New("device or resource busy") },
			Settings{WhiteBalance: Setting{SettingFixed, 5000}}, "The camera's white balance cannot be set: White Balance Temperature = 5000: " +
				"device or resource busy."},
		"one that can be read": {func(f *fakeControls) { f.have[ctrlGain] = ControlRange{Name: "Gain", Max: 9, Flags: controlReadOnly} },
			Settings{Gain: Setting{SettingFixed, 5}}, "The camera's gain cannot be set: Gain can only be read."},
		"one that is switched off": {func(f *fakeControls) { f.have[ctrlGain] = ControlRange{Flags: controlDisabled} },
			Settings{Gain: Setting{SettingFixed, 5}}, "The camera's driver does not let its gain be set: it may change while you play."},
		"no powerline frequency": {func(f *fakeControls) { delete(f.have, ctrlPowerline) }, Settings{Powerline: 60},
			"The camera's powerline frequency cannot be set to 60 Hz: the camera has no such control."},
	} {
		t.Run(name, func(t *testing.T) {
			d := webcam()
			if c.change != nil {
				c.change(d)
			}
			_, says := ApplySettings(d, c.wish, true)
			assert.Equal(t, []string{c.says}, says)
		})
	}
	d := webcam()
	_, says := ApplySettings(d, Settings{}, true)
	assert.Empty(t, says)
	assert.Zero(t, d.sets, "what nobody wishes is left alone")
	assert.False(t, Settings{}.Wished())
	assert.False(t, Settings{Gain: Setting{SettingFixed, 1}}.Settles())
	assert.True(t, allLocked.Settles())
}

// The structures are the kernel's: their sizes are part of the requests' numbers.
func TestTheKernelsStructures(t *testing.T) {
	assert.Equal(t, uintptr(vidiocQueryCtrl>>16&0x3fff), unsafe.Sizeof(v4l2QueryControl{}))
	assert.Equal(t, uintptr(vidiocGetCtrl>>16&0x3fff), unsafe.Sizeof(v4l2Control{}))
	assert.Equal(t, uintptr(vidiocSetCtrl>>16&0x3fff), unsafe.Sizeof(v4l2Control{}))
}

func TestWhatIsNoCameraHasNoControls(t *testing.T) {
	file := filepath.Join(t.TempDir(), "video0")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err := OpenControls(file)
	assert.ErrorContains(t, err, "expected a camera")
	_, err = OpenControls(file + "-none")
	assert.ErrorIs(t, err, os.ErrNotExist)
	d, err := OpenControls(os.DevNull) // a device without controls
	require.NoError(t, err)
	defer d.Close()
	_, err = d.Query(ctrlGain)
	assert.ErrorIs(t, err, ErrNoControl)
	_, err = d.Get(ctrlGain)
	assert.ErrorIs(t, err, ErrNoControl)
	assert.Error(t, d.Set(ctrlGain, 1))
}
