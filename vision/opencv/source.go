package opencv

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"sightline/calibration/regularfile"
	"sightline/vision"
	"sightline/vision/capture"
)

// OpenOptions control how a source is opened; the zero value is the default.
type OpenOptions struct {
	Width, Height int     // requested from a camera; 0: its default (CSI: 1920×1080)
	FPS           float64 // requested from a camera, and the rate of a directory; 0: the camera's default, 2 pictures a second
	FourCC        string  // pixel format requested from a V4L2 camera; "": MJPG, without which most USB cameras are slow at 1080p

	Unpaced  bool // read files and directories without waiting, not at their own rate
	GrayOnly bool // leave the colour picture out

	OpenTimeout time.Duration // how long opening may take; 0: 5 s
	ReadTimeout time.Duration // for network streams: how long a frame may take; 0: 5 s

	// Skipped is called for pictures of a directory that cannot be read (capture.ImageOptions).
	Skipped func(path string, err error)
	// Repeat restarts a directory of pictures, or a single one, at its end.
	Repeat bool

	CSIArgs    []string // further arguments for rpicam-vid
	CSICommand string   // a program in its place
}

// directoryFPS is the rate of a directory of pictures, slow enough to look at them.
const directoryFPS = 2

// Open opens a source by its name:
//
//	/dev/video0                 a V4L2 camera
//	game.mp4                    a video file
//	pictures/  picture.jpg      the JPEG and PNG files of a directory by name; one picture
//	http:// https:// rtsp://    a network stream
//	gst:PIPELINE                a GStreamer pipeline
//	csi:[CAMERA][,mjpeg]        a Raspberry Pi CSI camera, by a child process (also rpicam:)
//
// "sim:" is not opened here: package tablesim does that. Open checks without OpenCV what it can
// (a missing file, an address that does not answer), so that the error names it.
func Open(ctx context.Context, spec string, o OpenOptions) (vision.Source, error) {
	if o.OpenTimeout <= 0 {
		o.OpenTimeout = 5 * time.Second
	}
	if o.ReadTimeout <= 0 {
		o.ReadTimeout = 5 * time.Second
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	_, rest, _ := strings.Cut(spec, ":")
	switch {
	case spec == "":
		return nil, errors.New("opencv: source: no name, expected a device, a file, a directory, a URL, or gst:, csi: or sim: and what belongs " +
			"to it")
	case strings.HasPrefix(spec, "sim:"):
		return nil, fmt.Errorf("opencv: source %q: the simulated table is no camera; package tablesim opens it", spec)
	case strings.HasPrefix(spec, "gst:"):
		return openGStreamer(ctx, spec, rest, o)
	case strings.HasPrefix(spec, "csi:"), strings.HasPrefix(spec, "rpicam:"):
		return openCSI(spec, o)
	case strings.Contains(spec, "://"):
		return openStream(ctx, spec, o)
	}
	return openPath(ctx, spec, o)
}

// openPath opens a device, a directory or a file.
func openPath(ctx context.Context, path string, o OpenOptions) (vision.Source, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("opencv: source %s: %w", path, regularfile.WithoutPath(err))
	}
	images := capture.ImageOptions{Read: readImage(o.GrayOnly), Skipped: o.Skipped, Repeat: o.Repeat}
	if !o.Unpaced {
		if images.FPS = o.FPS; images.FPS <= 0 {
			images.FPS = directoryFPS
		}
	}
	switch {
	case info.IsDir():
		return capture.OpenImageDir(path, images)
	case info.Mode()&os.ModeCharDevice != 0:
		return openDevice(ctx, path, o)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("opencv: source %s: is a %v, expected a camera, a file or a directory", path, info.Mode().Type())
	}
	f, err := regularfile.Open(path) // says why, which OpenCV does not
	if err != nil {
		return nil, fmt.Errorf("opencv: source %s: %w", path, regularfile.WithoutPath(err))
	}
	f.Close()
	switch {
	case info.Size() == 0:
		return nil, fmt.Errorf("opencv: source %s: the file is empty", path)
	case capture.IsImageName(path):
		return capture.OpenImages(path, []string{path}, images)
	}
	return openFile(ctx, path, o)
}

// readImage returns ReadImage, without the colour picture if it is not wanted.
func readImage(grayOnly bool) func(string) (vision.Frame, error) {
	return func(path string) (vision.Frame, error) {
		f, err := ReadImage(path)
		if grayOnly {
			f.Color = nil
		}
		return f, err
	}
}

func openDevice(ctx context.Context, path string, o OpenOptions) (vision.Source, error) {
	f, err := os.OpenFile(path, os.O_RDWR|syscall.O_NONBLOCK, 0) // a serial line would wait for a carrier
	if err != nil {
		err = regularfile.WithoutPath(err)
		if errors.Is(err, os.ErrPermission) {
			return nil, fmt.Errorf("opencv: source %s: %w; the user must be in the group video", path, err)
		}
		return nil, fmt.Errorf("opencv: source %s: %w", path, err)
	}
	f.Close()
	if o.FourCC == "" {
		o.FourCC = "MJPG"
	}
	if len(o.FourCC) != 4 {
		return nil, fmt.Errorf("opencv: source %s: pixel format %q: expected four characters such as MJPG or YUYV", path, o.FourCC)
	}
	return openCapture(ctx, captureSpec{name: path, kind: device, target: path}, o)
}

func openFile(ctx context.Context, path string, o OpenOptions) (vision.Source, error) {
	full, err := filepath.Abs(path) // so that FFmpeg does not take "a:b.mp4" for a protocol
	if err != nil {
		return nil, fmt.Errorf("opencv: source %s: %w", path, err)
	}
	return openCapture(ctx, captureSpec{name: path, kind: file, target: full}, o)
}

// openStream checks that the address answers before it asks FFmpeg.
func openStream(ctx context.Context, spec string, o OpenOptions) (vision.Source, error) {
	u, err := url.Parse(spec)
	if err != nil {
		return nil, errors.New("opencv: source: not a URL: " + strings.ToValidUTF8(errors.Unwrap(err).Error(), "?"))
	}
	port, ok := map[string]string{"http": "80", "https": "443", "rtsp": "554"}[u.Scheme]
	name := u.Redacted() // without the password
	if !ok || u.Hostname() == "" {
		return nil, fmt.Errorf("opencv: source %s: expected http://, https:// or rtsp:// and a host", name)
	}
	if u.Port() != "" {
		port = u.Port()
	}
	dialer := net.Dialer{Timeout: o.OpenTimeout}
	conn, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(u.Hostname(), port))
	if err != nil {
		return nil, fmt.Errorf("opencv: source %s: %w", name, err)
	}
	conn.Close()
	return openCapture(ctx, captureSpec{name: name, kind: stream, target: spec}, o)
}

// openGStreamer adds what OpenCV needs at a pipeline's end if it is missing: BGR pictures and a
// sink that keeps only the newest one.
func openGStreamer(ctx context.Context, spec, pipeline string, o OpenOptions) (vision.Source, error) {
	if strings.TrimSpace(pipeline) == "" {
		return nil, fmt.Errorf("opencv: source %s: expected a GStreamer pipeline, as in gst:v4l2src ! videoconvert", spec)
	}
	if !strings.Contains(pipeline, "appsink") {
		pipeline += " ! videoconvert ! video/x-raw,format=BGR ! appsink drop=true max-buffers=1"
	}
	return openCapture(ctx, captureSpec{name: spec, kind: gstreamer, target: pipeline}, o)
}

func openCSI(spec string, o OpenOptions) (vision.Source, error) {
	co, err := capture.ParseCSISpec(spec, capture.CSIOptions{
		Width: o.Width, Height: o.Height, FPS: o.FPS, GrayOnly: o.GrayOnly,
		DecodeJPEG: decodeFrame, Args: o.CSIArgs, Command: o.CSICommand,
	})
	if err != nil {
		return nil, err
	}
	return capture.OpenCSI(spec, co)
}

// kind is a kind of source for OpenCV.
type kind int

const (
	device    kind = iota // V4L2
	file                  // FFmpeg
	stream                // FFmpeg
	gstreamer             // GStreamer
)

// captureSpec says what to open: the name for people, and OpenCV's arguments.
type captureSpec struct {
	name   string
	kind   kind
	target string
}
