package main

import (
	"bytes"
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision/capture"
)

// TestTheKeeperKeepsPicturesOfShipsAtRest: a picture is kept when ships rest elsewhere
// than in the last one that was kept.
func TestTheKeeperKeepsPicturesOfShipsAtRest(t *testing.T) {
	at := func(x float64, heading geom.Angle) []engine.Ship {
		return []engine.Ship{{ID: "A1", Pose: geom.Pose{Point: geom.Point{X: x, Y: 50}, Heading: heading * geom.Degree}}}
	}
	var k keeper
	for i, c := range []struct {
		ships []engine.Ship
		want  bool
		why   string
	}{
		{at(100, 359.8), true, "the first"},
		{at(100.2, 0.1), false, "as before"},
		{at(130, 0), false, "on its way"},
		{at(160, 0), false, "on its way"},
		{at(160, 0), true, "it rests"},
		{at(160, 3), false, "turning"},
		{at(160, 3), true, "turned"},
		{nil, true, "nothing is known"},
		{nil, true, "nothing is known"},
		{at(160, 3), false, "it is back, and may still move"},
		{at(160, 3), true, "it rests"},
	} {
		assert.Equal(t, c.want, k.wants(c.ships), "picture %d: %s", i, c.why)
	}
}

// TestATableIsRecorded: without a calibration, pictures at a pace; the directory is a
// source of pictures afterwards.
func TestATableIsRecorded(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	var out, progress bytes.Buffer
	c := recordCmd{Source: "sim:640x360,fps=30,still=1", Output: dir, Every: 50 * time.Millisecond, Count: 3, Note: "simulated"}
	require.NoError(t, c.record(t.Context(), &out, &progress))
	header, all, err := capture.ReadRecording(dir)
	require.NoError(t, err)
	assert.Equal(t, "simulated", header.Note)
	require.Len(t, all, 3)
	for i := 1; i < len(all); i++ {
		assert.GreaterOrEqual(t, all[i].AtMS-all[i-1].AtMS, int64(50))
	}
	assert.Contains(t, out.String(), "wrote 3 pictures")
	assert.ErrorContains(t, c.record(t.Context(), &out, &progress), "file exists", "a recording is never written over")

	ended, cancel := context.WithCancel(t.Context())
	cancel()
	c.Output = filepath.Join(t.TempDir(), "none")
	assert.Error(t, c.record(ended, &out, &progress))
}
