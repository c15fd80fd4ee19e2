package app

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/live"
	"sightline/vision"
	"sightline/vision/tablesim"
)

// A picture three times too bright loses ships; the program brings the exposure down by the
// markers' paper, not while the answers are held, and holds it then.
func TestTheExposureIsSetByTheMarkersPaper(t *testing.T) {
	if testing.Short() {
		t.Skip("it renders a game")
	}
	m, err := tablesim.CameraNamed("good-webcam")
	require.NoError(t, err)
	m.Gain = 3
	w := newFaultyTable(t, 688, 640, 3, false, func(o *tablesim.Options) { o.Model = &m })
	h := &cameraHolder{after: func(_ time.Duration, do func()) { do() }}
	config, err := ParseConfig(strings.NewReader("[camera]\nexposure = \"paper\"\n"))
	require.NoError(t, err)
	config.Camera.Source = "sim:"
	h.opened(config.Camera, w.source)
	w.watcher.o.Exposure = h.light
	pass := func(seconds int) live.State {
		var v live.State
		for range seconds * faultFPS {
			v = w.next()
		}
		return v
	}
	v := pass(2)
	require.Equal(t, live.OK, v.Health.Code)
	w.watcher.Freeze(true)
	v = pass(8)
	assert.Equal(t, vision.ExposurePaused, v.Light.Exposure.Code, "%+v", v.Light)
	assert.Greater(t, v.Light.Paper, 240.0)
	value, err := w.source.Controls().Get(0x009a0902)
	require.NoError(t, err)
	assert.EqualValues(t, 100, value)

	w.watcher.Freeze(false)
	v = pass(40)
	assert.Equal(t, vision.ExposureHeld, v.Light.Exposure.Code, "%+v", v.Light)
	assert.InDelta(t, vision.ExposureGoal, v.Light.Paper, 22)
	assert.Empty(t, v.Light.Advice)
	assert.Contains(t, v.Light.Exposure.Change, "exposure ")
	value, err = w.source.Controls().Get(0x009a0902)
	require.NoError(t, err)
	assert.Less(t, value, int32(60))
	assert.GreaterOrEqual(t, w.standing(), 3)

	// The camera was away: it comes back as it was held.
	before := value
	require.NoError(t, w.source.Controls().Set(0x009a0902, 100))
	h.opened(config.Camera, w.source)
	value, err = w.source.Controls().Get(0x009a0902)
	require.NoError(t, err)
	assert.Equal(t, before, value)
}

func TestWhereTheExposureCannotBeSet(t *testing.T) {
	var said []string
	h := &cameraHolder{tell: func(text string) { said = append(said, text) }, after: func(_ time.Duration, do func()) { do() }}
	bright := vision.Light{Edges: 32, Paper: 255}
	h.opened(Camera{Source: "http://camera/"}, nil)
	s := h.light(bright, false)
	assert.Equal(t, vision.ExposureNone, s.Code)
	assert.Contains(t, s.Says, "cannot be set from here")

	asked := 0
	h.open = func(string) (vision.ControlDevice, error) { return noControls{&asked}, nil }
	h.opened(Camera{Source: "/dev/video0"}, nil)
	assert.Contains(t, h.light(bright, false).Says, "camera.exposure = \"paper\"")
	assert.Zero(t, asked, "nobody wished it")
	paper := vision.CameraSettings{Exposure: vision.Setting{Kind: vision.SettingPaper}, Gain: vision.Setting{Kind: vision.SettingPaper}}
	h.opened(Camera{Source: "/dev/video0", Settings: paper}, nil)
	s = h.light(bright, false)
	assert.Equal(t, vision.ExposureFailed, s.Code)
	assert.Contains(t, s.Says, "no control of its exposure")
	assert.Empty(t, said, "the exposure's state says it")
}
