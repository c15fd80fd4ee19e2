//go:build opencv

package app_test

import (
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/app"
	"sightline/vision/capture"
)

// The controls of vivid, the kernel's own camera (linux/v4l2-controls.h). Of those that the
// program sets it has the gain and its automatic.
const (
	vmCamera     = "/dev/video1"
	vmBrightness = capture.ControlID(0x00980900)
	vmAutoGain   = capture.ControlID(0x00980912)
	vmGain       = capture.ControlID(0x00980913)
	vmVolatile   = 0x0080 // V4L2_CTRL_FLAG_VOLATILE: it changes on its own
)

// vmControls opens the kernel's camera, which may take a moment to come back.
func vmControls(t *testing.T) capture.ControlDevice {
	var d capture.ControlDevice
	require.Eventually(t, func() (ok bool) {
		var err error
		d, err = capture.OpenControls(vmCamera)
		return err == nil
	}, 2*time.Minute, 50*time.Millisecond, vmCamera)
	t.Cleanup(func() { _ = d.Close() })
	return d
}

// TestVMCameraControls sets a camera's controls through the kernel: make test-hardware.
func TestVMCameraControls(t *testing.T) {
	if os.Getenv("SIGHTLINE_IN_VM") == "" {
		t.Skip("needs the virtual machine: make test-hardware")
	}
	began := time.Now()
	d := vmControls(t)
	for id, has := range map[capture.ControlID]bool{
		vmBrightness: true, vmAutoGain: true, vmGain: true,
		0x00980918: false, 0x0098091a: false, 0x0098090c: false, // powerline, white balance and its automatic
		0x009a0901: false, 0x009a0902: false, 0x009a090a: false, 0x009a090c: false, // exposure and focus with theirs
	} {
		r, err := d.Query(id)
		if !has {
			assert.ErrorIs(t, err, capture.ErrNoControl, "%#x", uint32(id))
			_, err = d.Get(id)
			assert.ErrorIs(t, err, capture.ErrNoControl, "%#x", uint32(id))
			continue
		}
		require.NoError(t, err, "%#x", uint32(id))
		t.Logf("%#x is %q, %d to %d by %d, %d at first, flags %#x", uint32(id), r.Name, r.Min, r.Max, r.Step, r.Default, r.Flags)
		assert.Less(t, r.Min, r.Max)
	}

	brightness, err := d.Query(vmBrightness)
	require.NoError(t, err)
	for _, v := range []int32{brightness.Min, brightness.Max, (brightness.Min + brightness.Max) / 2} {
		require.NoError(t, d.Set(vmBrightness, v))
		got, err := d.Get(vmBrightness)
		require.NoError(t, err)
		assert.Equal(t, v, got)
	}
	require.NoError(t, d.Set(vmBrightness, brightness.Max+100), "the kernel takes what is too much for the most there is")
	got, err := d.Get(vmBrightness)
	require.NoError(t, err)
	assert.Equal(t, brightness.Max, got, "which is why the program compares with the range first, and reads back")
	require.ErrorIs(t, d.Set(0x009a0902, 100), syscall.EINVAL, "a control that is not there")

	t.Run("a gain by hand", func(t *testing.T) {
		_, says := capture.ApplySettings(d, capture.Settings{Gain: capture.Setting{Kind: capture.SettingFixed, Value: 120}}, false)
		assert.Empty(t, says)
		auto, err := d.Get(vmAutoGain)
		require.NoError(t, err)
		gain, err := d.Get(vmGain)
		require.NoError(t, err)
		assert.Equal(t, [2]int32{0, 120}, [2]int32{auto, gain})
		assert.Contains(t, capture.DescribeControls(d), "gain 120, fixed")
	})
	t.Run("left to the camera it changes by itself, and locked it no longer does", func(t *testing.T) {
		wish := capture.Settings{Gain: capture.Setting{Kind: capture.SettingLock}}
		_, says := capture.ApplySettings(d, wish, false)
		assert.Empty(t, says)
		r, err := d.Query(vmGain)
		require.NoError(t, err)
		assert.NotZero(t, r.Flags&vmVolatile)
		assert.Contains(t, capture.DescribeControls(d), ", automatic")
		first, err := d.Get(vmGain)
		require.NoError(t, err)
		assert.Eventually(t, func() bool { now, err := d.Get(vmGain); return err == nil && now != first }, 2*time.Minute, 100*time.Millisecond)

		locked, says := capture.ApplySettings(d, wish, true)
		require.Equal(t, capture.SettingFixed, locked.Gain.Kind, "%v", says)
		require.Len(t, says, 1)
		assert.Contains(t, says[0], "The camera's gain is locked at ")
		time.Sleep(1500 * time.Millisecond)
		now, err := d.Get(vmGain)
		require.NoError(t, err)
		assert.Equal(t, locked.Gain.Value, now)
	})
	t.Run("what it does not have, and what it cannot be", func(t *testing.T) {
		fixed := func(v int32) capture.Setting { return capture.Setting{Kind: capture.SettingFixed, Value: v} }
		_, says := capture.ApplySettings(d, capture.Settings{Exposure: fixed(100), Gain: fixed(5000), WhiteBalance: fixed(4000), Focus: fixed(1),
			Powerline: 50}, false)
		require.Len(t, says, 5)
		for i, what := range []string{"let its exposure be set", "expected 0 to 255, got 5000", "let its white balance be set",
			"let its focus be set", "powerline frequency cannot be set to 50 Hz"} {
			assert.Contains(t, says[i], what)
		}
	})
	t.Run("while the program takes pictures of it", func(t *testing.T) {
		require.NoError(t, d.Set(vmBrightness, brightness.Default))
		source, err := app.OpenSource(t.Context(), app.Camera{Source: vmCamera, Width: 320, Height: 180})
		require.NoError(t, err)
		defer source.Close()
		light := func() (mean float64) {
			f, err := source.Next(t.Context())
			require.NoError(t, err)
			require.Len(t, f.Gray.Pix, 320*180)
			for _, v := range f.Gray.Pix {
				mean += float64(v) / float64(len(f.Gray.Pix))
			}
			return mean
		}
		before := light()
		require.NoError(t, d.Set(vmBrightness, brightness.Max))
		after, pictures := light(), 1
		for ; after < before+20 && pictures < 12; pictures++ { // some were taken before
			after = light()
		}
		t.Logf("mean grey level %.0f, and %.0f with the brightness at its most, after %d pictures", before, after, pictures)
		assert.Greater(t, after, before+20, "the picture follows the control")
		_, says := capture.ApplySettings(d, capture.Settings{Gain: capture.Setting{Kind: capture.SettingFixed, Value: 90}}, false)
		assert.Empty(t, says, "while it takes pictures")
		require.NoError(t, d.Set(vmBrightness, brightness.Default))
	})
	t.Run("it is unplugged and plugged in again", func(t *testing.T) {
		plug := func(file string) {
			require.NoError(t, os.WriteFile("/sys/bus/platform/drivers/vivid/"+file, []byte("vivid.0"), 0))
		}
		plug("unbind")
		_, err := d.Query(vmGain)
		require.ErrorIs(t, err, syscall.ENODEV)
		require.ErrorIs(t, d.Set(vmGain, 1), syscall.ENODEV)
		wish := capture.Settings{Gain: capture.Setting{Kind: capture.SettingFixed, Value: 77}}
		_, says := capture.ApplySettings(d, wish, false)
		require.Len(t, says, 1)
		assert.Contains(t, says[0], "The camera's gain cannot be set: no such device")
		assert.Contains(t, capture.DescribeControls(d), "gain not to be set")
		_, err = capture.OpenControls(vmCamera)
		require.Error(t, err)
		assert.Contains(t, err.Error(), vmCamera)

		require.NoError(t, d.Close()) // as long as someone has it open, its name is taken
		plug("bind")
		again := vmControls(t)
		_, says = capture.ApplySettings(again, wish, true)
		assert.Empty(t, says)
		assert.True(t, slices.Contains(strings.Split(capture.DescribeControls(again), "; "), "gain 77, fixed"), capture.DescribeControls(again))
	})
	t.Logf("took %v", time.Since(began).Round(time.Millisecond))
}
