package app

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSourcesThatMayStandStill(t *testing.T) {
	for spec, want := range map[string]time.Duration{
		"/dev/video0": time.Second / 2, "csi:": time.Second / 2, "rtsp://camera/": 15 * time.Second,
		"sim:": 0, "table.jpg": 0, "pictures/": 0,
	} {
		assert.Equal(t, want, frozenAfter(spec), spec)
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
