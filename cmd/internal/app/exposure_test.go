package app

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/cmd/internal/live"
	"sightline/cmd/internal/pipeline"
	"sightline/vision/capture"
	"sightline/vision/exposure"
	"sightline/vision/fiducial"
	"sightline/vision/locate"
	"sightline/vision/tablesim"
	"sightline/vision/track"
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
	now := time.Unix(1700000000, 0)
	source, err := tablesim.Open(tablesim.Options{
		Width: 688, Height: 640, FPS: 5, Seed: 3, Small: true, Model: &m, Now: func() time.Time { return now },
		Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	})
	require.NoError(t, err)
	t.Cleanup(func() { _ = source.Close() })
	h := &cameraHolder{after: func(_ time.Duration, do func()) { do() }}
	config, err := ParseConfig(strings.NewReader("[camera]\nexposure = \"paper\"\n"))
	require.NoError(t, err)
	config.Camera.Source = "sim:"
	h.opened(config.Camera, source)
	table := calibration.Table{Camera: source.Camera(), Layout: source.Layout()}
	w := newDesk(t, func(b *desk, o *deskParts) {
		o.Layout, o.File = source.Layout(), pipeline.CalibrationFile{Table: &table, Name: "truth"}
		o.Lens = func() (calibration.Intrinsics, bool) { return source.Lens(), true }
		o.Markers, o.Track, o.Exposure, o.Tracking = nil, fiducial.TrackMarkers, h.light, track.TrackerOptions{}
		o.NewLocator = func(t calibration.Table) (pipeline.Locator, error) { return openLocator(t, locate.Options{}) }
	})
	pass := func(seconds int) live.State {
		for range seconds * 5 {
			now = now.Add(time.Second / 5)
			w.now = now
			f, err := source.Next(t.Context())
			require.NoError(t, err)
			w.pipeline.Update(f)
		}
		return w.hub.Newest()
	}
	v := pass(2)
	require.Equal(t, live.OK, v.Health.Code)
	w.freeze(true)
	v = pass(4)
	assert.Equal(t, exposure.Paused, v.Light.Exposure.Code, "%+v", v.Light)
	assert.Greater(t, v.Light.Paper, 240.0)
	value, err := source.Controls().Get(0x009a0902)
	require.NoError(t, err)
	assert.EqualValues(t, 100, value)

	w.freeze(false)
	for range 40 { // it takes six seconds
		if v = pass(1); v.Light.Exposure.Code == exposure.Held {
			break
		}
	}
	v = pass(4)
	assert.Equal(t, exposure.Held, v.Light.Exposure.Code, "%+v", v.Light)
	assert.InDelta(t, exposure.Goal, v.Light.Paper, 22)
	assert.Empty(t, v.Light.Advice)
	assert.Contains(t, v.Light.Exposure.Change, "exposure ")
	value, err = source.Controls().Get(0x009a0902)
	require.NoError(t, err)
	assert.Less(t, value, int32(60))
	standing := 0
	for _, k := range v.Tracks {
		if k.State.Stands() {
			standing++
		}
	}
	assert.GreaterOrEqual(t, standing, 3)

	// The camera was away: it comes back as it was held.
	before := value
	require.NoError(t, source.Controls().Set(0x009a0902, 100))
	h.opened(config.Camera, source)
	value, err = source.Controls().Get(0x009a0902)
	require.NoError(t, err)
	assert.Equal(t, before, value)
}

func TestWhereTheExposureCannotBeSet(t *testing.T) {
	var said []string
	h := &cameraHolder{tell: func(text string) { said = append(said, text) }, after: func(_ time.Duration, do func()) { do() }}
	bright := exposure.Light{Edges: 32, Paper: 255}
	h.opened(Camera{Source: "http://camera/"}, nil)
	s := h.light(bright, false)
	assert.Equal(t, exposure.None, s.Code)
	assert.Contains(t, s.Says, "cannot be set from here")

	asked := 0
	h.open = func(string) (capture.ControlDevice, error) { return noControls{&asked}, nil }
	h.opened(Camera{Source: "/dev/video0"}, nil)
	assert.Contains(t, h.light(bright, false).Says, "camera.exposure = \"paper\"")
	assert.Zero(t, asked, "nobody wished it")
	paper := capture.Settings{Exposure: capture.Setting{Kind: capture.SettingPaper}, Gain: capture.Setting{Kind: capture.SettingPaper}}
	h.opened(Camera{Source: "/dev/video0", Settings: paper}, nil)
	s = h.light(bright, false)
	assert.Equal(t, exposure.Failed, s.Code)
	assert.Contains(t, s.Says, "no control of its exposure")
	assert.Empty(t, said, "the exposure's state says it")
}
