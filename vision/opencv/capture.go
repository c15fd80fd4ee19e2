//go:build opencv

package opencv

/*
#cgo CXXFLAGS: --std=c++11
#cgo pkg-config: opencv4
void sl_silence_opencv(void);
*/
import "C"

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"gocv.io/x/gocv"

	"sightline/vision"
	"sightline/vision/capture"
)

// Properties of OpenCV's VideoCapture that gocv does not name (videoio.hpp).
const (
	openTimeoutMS = gocv.VideoCaptureProperties(53) // CAP_PROP_OPEN_TIMEOUT_MSEC
	readTimeoutMS = gocv.VideoCaptureProperties(54) // CAP_PROP_READ_TIMEOUT_MSEC
)

// silence keeps the libraries from writing to standard error: what matters is returned as errors.
// It must run before their first use, when they read these variables. It does not change variables
// that the user has set. (OpenCV reads its variable when it is loaded, so it is told directly.)
var silence = sync.OnceFunc(func() {
	for name, value := range map[string]string{
		"OPENCV_FFMPEG_LOGLEVEL": "-8", // AV_LOG_QUIET
		"GST_DEBUG":              "0",
	} {
		if _, set := os.LookupEnv(name); !set {
			_ = os.Setenv(name, value)
		}
	}
	if _, set := os.LookupEnv("OPENCV_LOG_LEVEL"); !set {
		C.sl_silence_opencv()
	}
})

// hanging counts the openings that were abandoned while a library hung. GStreamer waits forever for
// a pipeline with an element that is not installed.
var hanging atomic.Int32

// maxHanging is the largest number of them; each keeps a thread and its memory.
const maxHanging = 2

// openCapture opens a source through OpenCV's VideoCapture. OpenCV cannot be interrupted while it
// opens. If it takes longer than OpenTimeout and a second, or ctx is cancelled, it is abandoned,
// and the source is closed if it opens after all.
func openCapture(ctx context.Context, c captureSpec, o OpenOptions) (vision.Source, error) {
	if hanging.Load() >= maxHanging {
		return nil, fmt.Errorf("opencv: source %s: earlier attempts to open a source hang in OpenCV; start the program again", c.name)
	}
	silence()
	type result struct {
		source *captureSource
		err    error
	}
	opened := make(chan result) // unbuffered: a result is received, or it came too late
	givenUp := make(chan struct{})
	go func() {
		s, err := newCaptureSource(c, o)
		select {
		case opened <- result{s, err}:
		case <-givenUp:
			hanging.Add(-1)
			if err == nil {
				s.Close()
			}
		}
	}()
	timer := time.NewTimer(o.OpenTimeout + time.Second)
	defer timer.Stop()
	select {
	case r := <-opened:
		if r.err != nil {
			return nil, r.err
		}
		return r.source, nil
	case <-timer.C:
		hanging.Add(1)
		close(givenUp)
		return nil, fmt.Errorf("opencv: source %s: %s", c.name, c.refused(o))
	case <-ctx.Done():
		hanging.Add(1)
		close(givenUp)
		return nil, ctx.Err()
	}
}

// newCaptureSource opens a source, however long it takes.
func newCaptureSource(c captureSpec, o OpenOptions) (*captureSource, error) {
	vc, err := c.open(o)
	if err != nil || !vc.IsOpened() {
		if vc != nil {
			vc.Close()
		}
		return nil, fmt.Errorf("opencv: source %s: %s", c.name, c.refused(o))
	}
	s := &captureSource{captureSpec: c, gray: o.GrayOnly, vc: vc, mat: gocv.NewMat()}
	if c.kind == file && !o.Unpaced {
		s.pace.FPS = filePace(vc.Get(gocv.VideoCaptureFPS))
	}
	return s, nil
}

func (c captureSpec) open(o OpenOptions) (*gocv.VideoCapture, error) {
	switch c.kind {
	case device:
		vc, err := gocv.VideoCaptureFileWithAPI(c.target, gocv.VideoCaptureV4L)
		if err == nil {
			setUp(vc, o)
		}
		return vc, err
	case gstreamer:
		return gocv.VideoCaptureFileWithAPI(c.target, gocv.VideoCaptureGstreamer)
	case stream:
		return gocv.VideoCaptureFileWithAPIParams(c.target, gocv.VideoCaptureFFmpeg, []gocv.VideoCaptureProperties{
			openTimeoutMS, gocv.VideoCaptureProperties(o.OpenTimeout.Milliseconds()),
			readTimeoutMS, gocv.VideoCaptureProperties(o.ReadTimeout.Milliseconds()),
		})
	default:
		return gocv.VideoCaptureFileWithAPI(c.target, gocv.VideoCaptureFFmpeg)
	}
}

// setUp requests format, size and rate from a camera, which may choose others: the pictures show
// it. It also requests a single buffer, so that frames are not old when they are read.
func setUp(vc *gocv.VideoCapture, o OpenOptions) {
	vc.Set(gocv.VideoCaptureFOURCC, vc.ToCodec(o.FourCC))
	if o.Width > 0 && o.Height > 0 {
		vc.Set(gocv.VideoCaptureFrameWidth, float64(o.Width))
		vc.Set(gocv.VideoCaptureFrameHeight, float64(o.Height))
	}
	if o.FPS > 0 {
		vc.Set(gocv.VideoCaptureFPS, o.FPS)
	}
	vc.Set(gocv.VideoCaptureBufferSize, 1)
}

// refused says what a failed opening may mean, because OpenCV does not.
func (c captureSpec) refused(o OpenOptions) string {
	switch c.kind {
	case device:
		return "is not a camera that gives pictures, or another program is using it"
	case gstreamer:
		return fmt.Sprintf("no picture came from this GStreamer pipeline in %v; are all its elements installed (gst-inspect-1.0 ELEMENT)?",
			o.OpenTimeout)
	case stream:
		return fmt.Sprintf("no video came from this address in %v", o.OpenTimeout)
	}
	return "not a video that can be read"
}

// filePace returns a file's frame rate if it is plausible.
func filePace(fps float64) float64 {
	if fps >= 0.01 && fps <= 1000 {
		return fps
	}
	return 25
}

// captureSource reads from an open VideoCapture.
type captureSource struct {
	captureSpec
	gray bool
	pace capture.Pacer
	seq  uint64

	mu      sync.Mutex // guards the fields below
	vc      *gocv.VideoCapture
	mat     gocv.Mat
	reading bool // Next is inside OpenCV: nothing may be freed
	closed  bool
}

// maxBadReads is how many reads in a row may fail before a camera counts as lost: a JPEG damaged in
// transmission looks the same.
const maxBadReads = 5

// errSourceClosed is the error of Next after Close.
var errSourceClosed = errors.New("closed")

// Next implements vision.Source. While OpenCV waits for a frame, neither ctx nor Close can
// interrupt it: V4L2 gives up after 10 s, a stream after ReadTimeout.
func (s *captureSource) Next(ctx context.Context) (vision.Frame, error) {
	if err := s.pace.Wait(ctx); err != nil {
		return vision.Frame{}, err
	}
	if !s.begin() {
		return vision.Frame{}, fmt.Errorf("opencv: source %s: %w", s.name, errSourceClosed)
	}
	defer s.end()
	if !s.read(ctx) {
		return vision.Frame{}, s.lost(ctx)
	}
	f, err := s.frame()
	if err != nil {
		return vision.Frame{}, fmt.Errorf("opencv: source %s: %w", s.name, err)
	}
	s.seq++
	f.Seq, f.Captured = s.seq, time.Now()
	return f, nil
}

// read reads the next picture into mat and reports whether there was one.
func (s *captureSource) read(ctx context.Context) bool {
	for try := 1; ; try++ {
		began := time.Now()
		if s.vc.Read(&s.mat) && !s.mat.Empty() {
			return true
		}
		if s.kind != device || try == maxBadReads || time.Since(began) > time.Second || ctx.Err() != nil {
			return false
		}
	}
}

// lost returns the error for a missing picture.
func (s *captureSource) lost(ctx context.Context) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case s.kind == device:
		return fmt.Errorf("opencv: source %s: the camera gives no more pictures: unplugged?", s.name)
	case s.kind == stream:
		return fmt.Errorf("opencv: source %s: the stream broke off", s.name)
	case s.seq == 0:
		return fmt.Errorf("opencv: source %s: no picture in it that can be read", s.name)
	}
	return io.EOF
}

// frame converts the picture in mat and copies it out of OpenCV's memory.
func (s *captureSource) frame() (vision.Frame, error) {
	m := &s.mat
	if m.Type() == gocv.MatTypeCV8UC4 {
		bgr := gocv.NewMat()
		defer bgr.Close()
		if err := gocv.CvtColor(s.mat, &bgr, gocv.ColorBGRAToBGR); err != nil {
			return vision.Frame{}, err
		}
		m = &bgr
	}
	f, err := FrameFromMat(*m)
	if s.gray {
		f.Color = nil
	}
	return f, err
}

// begin marks OpenCV as busy, unless the source is closed.
func (s *captureSource) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reading = !s.closed
	return s.reading
}

// end marks OpenCV as idle, and frees what Close could not.
func (s *captureSource) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reading = false
	if s.closed {
		s.free()
	}
}

// Close implements vision.Source. It may be called while Next waits in OpenCV; the device is then
// freed when Next returns.
func (s *captureSource) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	if !s.reading {
		s.free()
	}
	return nil
}

func (s *captureSource) free() {
	s.vc.Close()
	s.mat.Close()
}

// String implements vision.Source.
func (s *captureSource) String() string { return s.name }

var _ vision.Source = (*captureSource)(nil)
