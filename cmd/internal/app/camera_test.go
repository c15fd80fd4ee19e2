package app

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/vision/capture"
)

// noControls is a camera that has nothing to set but says when it is asked.
type noControls struct{ asked *int }

func (n noControls) Query(capture.ControlID) (capture.ControlRange, error) {
	*n.asked++
	return capture.ControlRange{}, capture.ErrNoControl
}
func (n noControls) Get(capture.ControlID) (int32, error) { return 0, capture.ErrNoControl }
func (n noControls) Set(capture.ControlID, int32) error   { return capture.ErrNoControl }
func (n noControls) Close() error                         { return nil }

func TestACameraIsHeldAgainAfterItWasAway(t *testing.T) {
	var said []string
	var later []func()
	asked := 0
	h := cameraHolder{
		tell:  func(text string) { said = append(said, text) },
		open:  func(string) (capture.ControlDevice, error) { return noControls{&asked}, nil },
		after: func(d time.Duration, do func()) { assert.Equal(t, settleFor, d); later = append(later, do) },
	}
	c := Camera{Source: "/dev/video0", Settings: capture.Settings{Focus: capture.Setting{Kind: capture.SettingLock}}}
	h.opened(c, nil)
	require.Len(t, later, 1, "it settles first")
	assert.Empty(t, said)
	h.opened(c, nil) // it went away and came back before it had settled
	require.Len(t, later, 2)
	before := asked
	later[0]()
	assert.Equal(t, before, asked, "what was begun before it went away is void")
	later[1]()
	assert.Equal(t, []string{"The camera's driver does not let its focus be set: it may change while you play."}, said)
	h.opened(c, nil)
	assert.Len(t, later, 2, "what was locked is set at once")
	assert.Len(t, said, 1, "and nothing is said twice")

	h.opened(Camera{Source: "/dev/video0"}, nil)
	h.opened(Camera{Source: "rtsp://camera/", Settings: c.Settings}, nil)
	require.Len(t, said, 2)
	assert.Contains(t, said[1], "cannot be set from here")
	h.open = func(string) (capture.ControlDevice, error) { return nil, errors.New("permission denied") }
	h.opened(c, nil)
	assert.Contains(t, said[2], "permission denied")
}

func TestWhatIsWishedOfTheCamera(t *testing.T) {
	c, err := ParseConfig(strings.NewReader("[camera]\nexposure = \"lock\"\ngain = 20\nwhite_balance = \"auto\"\npowerline = 50\n"))
	require.NoError(t, err)
	assert.Equal(t, capture.Settings{
		Exposure: capture.Setting{Kind: capture.SettingLock}, Gain: capture.Setting{Kind: capture.SettingFixed, Value: 20},
		WhiteBalance: capture.Setting{Kind: capture.SettingAuto}, Powerline: 50,
	}, c.Camera.Settings)
	for text, says := range map[string]string{
		"focus = \"sharp\"": "line 2, column 1: camera.focus: expected \"auto\", \"lock\" or a whole number without quotes in the camera's own " +
			"unit, got \"sharp\"",
		"gain = 1.5":            "line 2, column 1: camera.gain: expected",
		"exposure = 5000000000": "line 2, column 1: camera.exposure: expected",
		"powerline = 55":        "line 2, column 1: camera.powerline: expected 50 or 60 Hz",
	} {
		_, err := ParseConfig(strings.NewReader("[camera]\n" + text + "\n"))
		assert.ErrorContains(t, err, says, text)
	}
}
