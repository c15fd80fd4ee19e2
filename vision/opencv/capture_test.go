//go:build opencv

package opencv

import (
	"context"
	"fmt"
	"image"
	"image/color"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gocv.io/x/gocv"

	"sightline/vision"
	"sightline/vision/capture"
)

// numbered returns a 160×120 BGR picture that shows its number: a white bar of
// 10·n pixels on black, over a blue ground. The caller closes it.
func numbered(n int) gocv.Mat {
	m := gocv.NewMatWithSize(120, 160, gocv.MatTypeCV8UC3)
	m.SetTo(gocv.NewScalar(200, 0, 0, 0))
	_ = gocv.Rectangle(&m, image.Rect(0, 0, 160, 60), color.RGBA{0, 0, 0, 255}, -1)
	_ = gocv.Rectangle(&m, image.Rect(0, 0, 10*n, 60), color.RGBA{255, 255, 255, 255}, -1)
	return m
}

// number reads the number back.
func number(t *testing.T, f vision.Frame) int {
	t.Helper()
	w, h := f.Size()
	require.Equal(t, [2]int{160, 120}, [2]int{w, h})
	n := 0
	for x := range 160 {
		if f.Gray.GrayAt(x, 20).Y > 128 {
			n++
		}
	}
	return (n + 5) / 10
}

// video writes a film of numbered pictures, 1…frames, at 20 frames a second.
func video(t *testing.T, frames int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "film.avi")
	vw, err := gocv.VideoWriterFile(path, "MJPG", 20, 160, 120, true)
	require.NoError(t, err)
	defer vw.Close()
	for n := 1; n <= frames; n++ {
		m := numbered(n)
		require.NoError(t, vw.Write(m))
		m.Close()
	}
	return path
}

// jpegPicture is a numbered picture as a file's content.
func jpegPicture(t *testing.T, n int) []byte {
	t.Helper()
	m := numbered(n)
	defer m.Close()
	b, err := gocv.IMEncode(gocv.JPEGFileExt, m)
	require.NoError(t, err)
	defer b.Close()
	return append([]byte(nil), b.GetBytes()...)
}

// numbers reads a source to its end and returns the pictures' numbers.
func numbers(t *testing.T, s vision.Source) []int {
	t.Helper()
	var got []int
	for {
		f, err := s.Next(t.Context())
		if err != nil {
			require.Equal(t, io.EOF, err)
			return got
		}
		got = append(got, number(t, f))
		require.EqualValues(t, len(got), f.Seq)
		require.False(t, f.Captured.IsZero())
	}
}

func TestAVideoFileGivesEveryFrameOnceInOrder(t *testing.T) {
	path := video(t, 8)
	s, err := Open(t.Context(), path, OpenOptions{Unpaced: true})
	require.NoError(t, err)
	assert.Equal(t, path, s.String())
	assert.Equal(t, []int{1, 2, 3, 4, 5, 6, 7, 8}, numbers(t, s))
	require.NoError(t, s.Close())
	require.NoError(t, s.Close())
	_, err = s.Next(t.Context())
	assert.ErrorContains(t, err, "closed")
}

func TestAFrameHasItsColoursInOpenCVsOrder(t *testing.T) {
	path := video(t, 1)
	for grayOnly, check := range map[bool]func(f vision.Frame){
		false: func(f vision.Frame) {
			c := f.Color.At(80, 100).(color.RGBA)
			assert.InDelta(t, 200, int(c.B), 4)
			assert.InDelta(t, 0, int(c.R), 4)
			assert.InDelta(t, 0, int(c.G), 4)
		},
		true: func(f vision.Frame) { assert.Nil(t, f.Color) },
	} {
		s, err := Open(t.Context(), path, OpenOptions{Unpaced: true, GrayOnly: grayOnly})
		require.NoError(t, err)
		f, err := s.Next(t.Context())
		require.NoError(t, err)
		assert.InDelta(t, 0.114*200, int(f.Gray.GrayAt(80, 100).Y), 4)
		check(f)
		require.NoError(t, s.Close())
	}
}

func TestAVideoFileRunsAtItsOwnPace(t *testing.T) {
	s, err := Open(t.Context(), video(t, 5), OpenOptions{})
	require.NoError(t, err)
	defer s.Close()
	began := time.Now()
	assert.Len(t, numbers(t, s), 5)
	assert.GreaterOrEqual(t, time.Since(began), 200*time.Millisecond, "5 frames at 20 a second")
}

func TestADirectoryAndASinglePictureAreSources(t *testing.T) {
	dir := t.TempDir()
	for n := 1; n <= 3; n++ {
		require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%02d.jpg", n)), jpegPicture(t, n), 0o600))
	}
	whole, err := os.ReadFile(filepath.Join(dir, "02.jpg"))
	require.NoError(t, err)
	cut := filepath.Join(dir, "025.jpg")
	require.NoError(t, os.WriteFile(cut, whole[:len(whole)/2], 0o600))

	var skipped []string
	o := OpenOptions{Unpaced: true, Skipped: func(path string, err error) { skipped = append(skipped, err.Error()) }}
	s, err := Open(t.Context(), dir, o)
	require.NoError(t, err)
	assert.Equal(t, []int{1, 2, 3}, numbers(t, s))
	require.Len(t, skipped, 1)
	assert.Contains(t, skipped[0], cut)

	s, err = Open(t.Context(), filepath.Join(dir, "03.jpg"), o)
	require.NoError(t, err)
	assert.Equal(t, []int{3}, numbers(t, s))
}

// patient waits for a stream for as long as a busy machine takes.
var patient = OpenOptions{OpenTimeout: 2 * time.Minute, ReadTimeout: 2 * time.Minute}

// mjpegServer sends numbered pictures as network cameras do, then stays silent, or ends.
func mjpegServer(t *testing.T, frames int, then func(r *http.Request)) *httptest.Server {
	t.Helper()
	var pictures [][]byte
	for n := 1; n <= frames; n++ {
		pictures = append(pictures, jpegPicture(t, n))
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/stream.mjpg" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "multipart/x-mixed-replace;boundary=frame")
		for _, p := range pictures {
			fmt.Fprintf(w, "--frame\r\nContent-Type: image/jpeg\r\nContent-Length: %d\r\n\r\n", len(p))
			_, _ = w.Write(p)
			_, _ = io.WriteString(w, "\r\n")
			w.(http.Flusher).Flush()
		}
		then(r)
	}))
	t.Cleanup(srv.Close)
	t.Cleanup(srv.CloseClientConnections)
	return srv
}

func TestAnHTTPStreamGivesItsPicturesAndItsEndIsAFailure(t *testing.T) {
	srv := mjpegServer(t, 12, func(*http.Request) {})
	s, err := Open(t.Context(), srv.URL+"/stream.mjpg", patient)
	require.NoError(t, err)
	defer s.Close()
	var got []int
	for {
		f, err := s.Next(t.Context())
		if err != nil {
			assert.ErrorContains(t, err, "the stream broke off")
			assert.NotErrorIs(t, err, io.EOF)
			break
		}
		got = append(got, number(t, f))
	}
	assert.Equal(t, []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, got)
}

func TestASilentStreamFailsAfterTheReadTimeout(t *testing.T) {
	srv := mjpegServer(t, 12, func(r *http.Request) { <-r.Context().Done() })
	read := 0
	for timeout := 3 * time.Second; read < 11; timeout *= 4 { // a busy machine may need longer for the first ones
		require.Less(t, timeout, 5*time.Minute)
		s, err := Open(t.Context(), srv.URL+"/stream.mjpg", OpenOptions{OpenTimeout: time.Minute, ReadTimeout: timeout})
		require.NoError(t, err)
		for read = -1; err == nil; read++ {
			_, err = s.Next(t.Context())
		}
		assert.ErrorContains(t, err, "the stream broke off")
		require.NoError(t, s.Close())
	}
}

func TestAStreamWithoutPicturesFailsAfterTheOpenTimeout(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0") // takes connections and says nothing
	require.NoError(t, err)
	defer l.Close()
	_, err = Open(t.Context(), "http://"+l.Addr().String()+"/", OpenOptions{OpenTimeout: 500 * time.Millisecond})
	assert.ErrorContains(t, err, "no video came from this address in 500ms")
}

func TestAGStreamerPipelineIsASource(t *testing.T) {
	s, err := Open(t.Context(), "gst:videotestsrc num-buffers=3 pattern=white ! video/x-raw,width=64,height=48", OpenOptions{})
	if err != nil {
		t.Skip("OpenCV without GStreamer, or GStreamer without its base plugins: ", err)
	}
	defer s.Close()
	n := 0
	for {
		f, err := s.Next(t.Context())
		if err != nil {
			require.Equal(t, io.EOF, err)
			break
		}
		w, h := f.Size()
		require.Equal(t, [2]int{64, 48}, [2]int{w, h})
		require.Greater(t, f.Gray.GrayAt(30, 20).Y, uint8(250))
		n++
	}
	// The sink keeps only the newest one; at the end it may have dropped some.
	assert.GreaterOrEqual(t, n, 1)
}

func TestAHangingOpeningIsAbandonedAtMostTwice(t *testing.T) {
	if s, err := Open(t.Context(), "gst:videotestsrc num-buffers=3", OpenOptions{}); err != nil {
		t.Skip("needs GStreamer: ", err)
	} else {
		s.Close()
	}
	require.Eventually(t, func() bool { return hanging.Load() == 0 }, 2*time.Minute, 10*time.Millisecond, "an earlier test's opening ends")
	defer hanging.Store(0) // they hang until the test is over
	const missing = "gst:nosuchelement"
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err := Open(ctx, missing, OpenOptions{})
	if hanging.Load() == 0 {
		t.Skip("this OpenCV does not hang: ", err)
	}
	assert.ErrorIs(t, err, context.DeadlineExceeded)
	_, err = Open(t.Context(), missing, OpenOptions{OpenTimeout: time.Millisecond})
	assert.ErrorContains(t, err, "are all its elements installed")
	_, err = Open(t.Context(), missing, OpenOptions{})
	if hanging.Load() < maxHanging {
		t.Skip("this OpenCV does not hang, it was slow: ", err)
	}
	assert.ErrorContains(t, err, "start the program again")
}

func TestASourceThatCannotBeOpenedIsAOneLineErrorThatNamesIt(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		return path
	}
	srv := mjpegServer(t, 1, func(*http.Request) {})
	whole, err := os.ReadFile(video(t, 8))
	require.NoError(t, err)
	dead, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	deadAddr := dead.Addr().String()
	dead.Close()
	for spec, want := range map[string]string{
		"":                                   "no name",
		"/dev/video99":                       "/dev/video99: no such file or directory",
		"/dev/null":                          "/dev/null: is not a camera",
		"/no/such/film.mp4":                  "/no/such/film.mp4: no such file or directory",
		dir:                                  "no pictures in this directory",
		write("empty.mp4", ""):               "empty.mp4: the file is empty",
		write("text.mp4", "not a film"):      "text.mp4: not a video",
		write("cut.avi", string(whole[:64])): "cut.avi: not a video",
		"sim:":                               "tablesim",
		"gst:":                               "expected a GStreamer pipeline",
		"gst:no ! (( pipeline":               "GStreamer pipeline",
		"ftp://host/film":                    "expected http://",
		"http:///nohost":                     "and a host",
		"http://u:secret@" + deadAddr + "/":  "connection refused",
		srv.URL + "/nothing":                 "no video came from this address",
		"csi:x":                              "expected csi:",
		"http://[::1":                        "not a URL",
	} {
		s, err := Open(t.Context(), spec, OpenOptions{OpenTimeout: 10 * time.Second, CSICommand: "/no/such/program"})
		if !assert.Error(t, err, spec) {
			s.Close()
			continue
		}
		assert.ErrorContains(t, err, want, spec)
		assert.NotContains(t, err.Error(), "\n", spec)
		assert.NotContains(t, err.Error(), "secret", spec)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = Open(ctx, dir, OpenOptions{})
	assert.ErrorIs(t, err, context.Canceled)
}

func TestNothingIsWrittenToStandardError(t *testing.T) {
	path := filepath.Join(t.TempDir(), "stderr")
	f, err := os.Create(path)
	require.NoError(t, err)
	restore := redirectStderr(t, f)
	for _, spec := range []string{"/dev/null", "/dev/video99", "gst:! (( no pipeline", "/no/such/film.mp4"} {
		_, err := Open(t.Context(), spec, OpenOptions{})
		assert.Error(t, err)
	}
	bad := filepath.Join(t.TempDir(), "bad.avi")
	whole, err := os.ReadFile(video(t, 8))
	require.NoError(t, err)
	for i := len(whole) / 2; i < len(whole)*3/4; i++ { // damage in the middle
		whole[i] ^= 0x5a
	}
	require.NoError(t, os.WriteFile(bad, whole, 0o600))
	s, err := Open(t.Context(), bad, OpenOptions{Unpaced: true})
	require.NoError(t, err)
	for err == nil {
		_, err = s.Next(t.Context())
	}
	require.NoError(t, s.Close())
	restore()
	said, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Empty(t, strings.TrimSpace(string(said)))
}

func TestClosingDoesNotWaitForAReadingAndFreesAfterIt(t *testing.T) {
	srv := mjpegServer(t, 12, func(r *http.Request) { <-r.Context().Done() })
	s, err := Open(t.Context(), srv.URL+"/stream.mjpg", patient)
	require.NoError(t, err)
	for range 11 { // OpenCV holds the twelfth back until another comes
		_, err := s.Next(t.Context())
		require.NoError(t, err)
	}
	cs := s.(*captureSource)
	reads := func() bool {
		cs.mu.Lock()
		defer cs.mu.Unlock()
		return cs.reading
	}
	done := make(chan error)
	go func() {
		for err := error(nil); ; _, err = s.Next(context.Background()) {
			if err != nil {
				done <- err
				return
			}
		}
	}()
	require.Eventually(t, reads, time.Minute, time.Millisecond)
	require.NoError(t, s.Close())
	assert.True(t, reads(), "closed while it reads")
	srv.CloseClientConnections()
	assert.Error(t, <-done)
	assert.False(t, reads())
}

func TestAFeedLoopsAVideoFile(t *testing.T) {
	path := video(t, 3)
	f := capture.NewFeed(func(ctx context.Context) (vision.Source, error) {
		return Open(ctx, path, OpenOptions{})
	}, capture.FeedOptions{Loop: true})
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- f.Run(ctx) }()
	for seq := uint64(0); seq < 7; { // a busy machine may miss some
		frame, err := f.Next(ctx, seq)
		require.NoError(t, err)
		seq = frame.Seq
		assert.EqualValues(t, (seq-1)%3+1, number(t, frame), "frame %d", seq)
	}
	cancel()
	require.NoError(t, <-done)
}

// redirectStderr sends the process's standard error, the C libraries' too, to a file
// until restore is called.
func redirectStderr(t *testing.T, f *os.File) (restore func()) {
	t.Helper()
	saved, err := syscall.Dup(2)
	require.NoError(t, err)
	require.NoError(t, syscall.Dup3(int(f.Fd()), 2, 0))
	return func() {
		require.NoError(t, syscall.Dup3(saved, 2, 0))
		require.NoError(t, syscall.Close(saved))
		require.NoError(t, f.Close())
	}
}
