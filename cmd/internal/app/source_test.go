package app

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSourcesThatMayStandStill(t *testing.T) {
	for spec, want := range map[string][2]time.Duration{
		"/dev/video0": {time.Second / 2, time.Second / 2}, "csi:": {time.Second / 2, time.Second / 2},
		"rtsp://camera/": {2 * time.Second, 15 * time.Second}, "http://box:1984/api/stream.mjpeg?src=table": {2 * time.Second, 15 * time.Second},
		"gst:v4l2src device=/dev/video2 ! videoconvert":         {2 * time.Second, 15 * time.Second},
		"gst:rtspsrc location=rtsp://camera/ ! decodebin":       {2 * time.Second, 15 * time.Second},
		"gst:filesrc location=table.png ! decodebin":            {},
		"gst:playbin uri=file:///table.png":                     {},
		"gst:multifilesrc location=table.jpg loop=1 ! jpegdec":  {},
		"gst:videotestsrc pattern=smpte ! video/x-raw,width=64": {},
		"sim:": {}, "table.jpg": {}, "pictures/": {},
	} {
		after, most := frozenAfter(spec)
		assert.Equal(t, want, [2]time.Duration{after, most}, spec)
	}
}

func TestAPictureThatIsAllThereIsSpeaksForItself(t *testing.T) {
	dir := t.TempDir()
	picture := dir + "/table.JPG"
	require.NoError(t, os.WriteFile(picture, nil, 0o600))
	film := dir + "/game.mp4"
	require.NoError(t, os.WriteFile(film, nil, 0o600))
	assert.Equal(t, 1, trackingOf(picture).SettleFrames)
	assert.Equal(t, 1, trackingOf(dir).SettleFrames)
	assert.Zero(t, trackingOf(film).SettleFrames, "a film is followed")
	assert.Zero(t, trackingOf("sim:").SettleFrames)
}
