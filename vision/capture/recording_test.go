package capture_test

import (
	"context"
	"image"
	"image/jpeg"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/vision"
	"sightline/vision/capture"
)

// readGray reads a picture of a recording without OpenCV.
func readGray(path string) (vision.Frame, error) {
	f, err := os.Open(path)
	if err != nil {
		return vision.Frame{}, err
	}
	defer f.Close()
	picture, err := jpeg.Decode(f)
	if err != nil {
		return vision.Frame{}, err
	}
	return vision.Frame{Gray: picture.(*image.Gray)}, nil
}

// record makes a recording of pictures of one grey level each, taken at these times.
func record(t *testing.T, at ...time.Duration) (dir string, started time.Time) {
	dir, started = filepath.Join(t.TempDir(), "table"), time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	r, err := capture.NewRecorder(dir, capture.RecordingHeader{Source: "sim:", Note: "A1 to B1 is 213 mm by a steel rule"})
	require.NoError(t, err)
	for i, d := range at {
		g := image.NewGray(image.Rect(0, 0, 16, 8))
		for p := range g.Pix {
			g.Pix[p] = uint8(40 * (i + 1))
		}
		require.NoError(t, r.Add(vision.Frame{Gray: g, Captured: started.Add(d)}, []byte(`{"version":1}`)))
	}
	require.NoError(t, r.Close())
	return dir, started
}

func TestARecordingIsReadAsItWasWritten(t *testing.T) {
	dir, started := record(t, 0, 1500*time.Millisecond)
	header, all, err := capture.ReadRecording(dir)
	require.NoError(t, err)
	assert.Equal(t, capture.RecordingHeader{Version: 1, Source: "sim:", Started: started, Note: "A1 to B1 is 213 mm by a steel rule"}, header)
	assert.Equal(t, []capture.Recorded{{File: "00001.jpg", Scene: []byte(`{"version":1}`)},
		{File: "00002.jpg", AtMS: 1500, Scene: []byte(`{"version":1}`)}}, all)

	_, err = capture.NewRecorder(dir, capture.RecordingHeader{})
	assert.ErrorIs(t, err, fs.ErrExist, "a recording is never written over")
	_, _, err = capture.ReadRecording(t.TempDir())
	assert.ErrorIs(t, err, fs.ErrNotExist)
}

func TestAPictureThatCannotBeRecordedLeavesNoFile(t *testing.T) {
	dir := t.TempDir()
	r, err := capture.NewRecorder(dir, capture.RecordingHeader{})
	require.NoError(t, err)
	defer r.Close()
	require.Error(t, r.Add(vision.Frame{Gray: image.NewGray(image.Rect(0, 0, 1<<16, 1)), Captured: time.Now()}, nil), "too wide for JPEG")
	assert.NoFileExists(t, filepath.Join(dir, "00001.jpg"))
}

// A recording comes back at the pace at which it was taken, and other pictures in its
// directory are not shown.
func TestARecordingIsPlayedAtItsPace(t *testing.T) {
	dir, _ := record(t, 0, 300*time.Millisecond, 350*time.Millisecond)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "00000.jpg"), []byte("no picture"), 0o600))
	synctest.Test(t, func(t *testing.T) {
		source, err := capture.OpenImageDir(dir, capture.ImageOptions{Read: readGray, FPS: 1000})
		require.NoError(t, err)
		var came []time.Duration
		begin := time.Now()
		for i := range 3 {
			f, err := source.Next(t.Context())
			require.NoError(t, err)
			assert.InDelta(t, 40*(i+1), int(f.Gray.Pix[0]), 2)
			came = append(came, time.Since(begin))
		}
		assert.Equal(t, []time.Duration{0, 300 * time.Millisecond, 350 * time.Millisecond}, came)
		_, err = source.Next(t.Context())
		assert.ErrorIs(t, err, io.EOF)
	})

	source, err := capture.OpenImageDir(dir, capture.ImageOptions{Read: readGray, FPS: 1000, Repeat: true})
	require.NoError(t, err)
	for range 4 { // the fourth is the first again
		_, err = source.Next(t.Context())
		require.NoError(t, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = source.Next(ctx)
	assert.ErrorIs(t, err, context.Canceled)
}

// A recording has a picture only when something was moved. Until the next one is due its picture comes again: a feed that hears nothing
// would close the recording and begin again, and never get past the pause.
func TestARecordingShowsItsPictureUntilTheNextOne(t *testing.T) {
	dir, _ := record(t, 0, 10*time.Second, 10200*time.Millisecond)
	synctest.Test(t, func(t *testing.T) {
		source, err := capture.OpenImageDir(dir, capture.ImageOptions{Read: readGray, FPS: 2, Repeat: true})
		require.NoError(t, err)
		begin := time.Now()
		first, err := source.Next(t.Context())
		require.NoError(t, err)
		last, seq := begin, first.Seq
		for {
			f, err := source.Next(t.Context())
			require.NoError(t, err)
			require.Greater(t, f.Seq, seq)
			require.LessOrEqual(t, time.Since(last), 500*time.Millisecond)
			last, seq = time.Now(), f.Seq
			if f.Name != first.Name {
				assert.Equal(t, 10*time.Second, time.Since(begin))
				return
			}
			assert.Equal(t, first.Captured, f.Captured, "it is the same picture")
		}
	})
}

func TestABadRecordingIsRefused(t *testing.T) {
	const header, picture = `{"version":1,"program":"","source":"","started":"2026-11-22T12:00:00Z"}` + "\n", `{"file":"a.jpg","at_ms":5}` + "\n"
	for text, want := range map[string]string{
		"":                                "expected a header and pictures",
		header:                            "expected a header and pictures",
		"{}\n" + picture:                  "line 1: version: expected 1, got 0",
		header + "{\n":                    "line 2: ",
		header + `{"fil":"a.jpg"}` + "\n": "line 2: unknown key",
		header + `{"file":"../a.jpg","at_ms":0}` + "\n":          "line 2: file: expected a picture's name without a directory",
		header + `{"file":"a.txt","at_ms":0}` + "\n":             "line 2: file: expected a picture's name",
		header + picture + `{"file":"b.jpg","at_ms":4}` + "\n":   "line 3: at_ms: expected a time not before",
		header + `{"file":"b.jpg","at_ms":4} {"file":""}` + "\n": "line 2: something follows it",
	} {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, capture.RecordingName), []byte(text), 0o600))
		_, _, err := capture.ReadRecording(dir)
		assert.ErrorContains(t, err, want, text)
		_, err = capture.OpenImageDir(dir, capture.ImageOptions{Read: readGray})
		assert.ErrorContains(t, err, want, text)
	}
	dir := t.TempDir() // killed while it wrote
	require.NoError(t, os.WriteFile(filepath.Join(dir, capture.RecordingName), []byte(header+picture+`{"file":"b.j`), 0o600))
	_, all, err := capture.ReadRecording(dir)
	require.NoError(t, err)
	assert.Len(t, all, 1)
}

func FuzzReadRecording(f *testing.F) {
	f.Add([]byte(`{"version":1,"program":"","source":"","started":"2026-11-22T12:00:00Z"}` + "\n" + `{"file":"a.jpg","at_ms":5}` + "\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, capture.RecordingName), text, 0o600))
		_, all, err := capture.ReadRecording(dir)
		if err == nil {
			assert.NotEmpty(t, all)
			for _, r := range all {
				assert.False(t, strings.ContainsAny(r.File, "/\x00") || r.AtMS < 0, "%q", r.File)
			}
		}
	})
}
