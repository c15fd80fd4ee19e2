package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"sightline/calibration"
	"sightline/cmd/internal/game"
	"sightline/vision"
	"sightline/vision/capture"
	"sightline/vision/opencv"
	"sightline/vision/tablesim"
	"sightline/vision/track"
)

// ownLens is a source that knows its lens, such as the simulated table.
type ownLens interface {
	Lens() calibration.Intrinsics
}

// opener opens the configured source and remembers its lens.
type opener struct {
	camera  Camera
	lens    atomic.Pointer[calibration.Intrinsics]
	skipped func(path string, err error) // called with unreadable pictures; may be nil
	opened  func(vision.Source)          // called with each source before its first picture; may be nil

	holding cameraHolder
}

// newOpener returns an opener for a camera. tell reports to people; it may be nil.
func newOpener(c Camera, log *slog.Logger, tell func(text string)) *opener {
	return &opener{camera: c, skipped: logSkipped(log), holding: cameraHolder{tell: tell}}
}

// open opens the source. The feed calls it again after each failure.
func (o *opener) open(ctx context.Context) (vision.Source, error) {
	source, err := openSource(ctx, o.camera, o.skipped)
	if err != nil {
		return nil, err
	}
	if s, ok := source.(ownLens); ok {
		lens := s.Lens()
		o.lens.Store(&lens)
	}
	if o.opened != nil {
		o.opened(source)
	}
	o.holding.opened(o.camera, source)
	return source, nil
}

// checkSource refuses a source that can never be opened, such as an invalid name. What may still
// appear (a device, a directory, a server) is left to the feed, which tries again.
func checkSource(spec string) error {
	scheme, rest, isURL := strings.Cut(spec, "://")
	switch {
	case strings.HasPrefix(spec, "sim:"):
		_, err := tablesim.ParseSpec(spec)
		return err
	case strings.HasPrefix(spec, "csi:"), strings.HasPrefix(spec, "rpicam:"):
		_, err := capture.ParseCSISpec(spec, capture.CSIOptions{})
		return err
	case strings.HasPrefix(spec, "gst:"):
		if strings.TrimSpace(spec[len("gst:"):]) == "" {
			return fmt.Errorf("source %q: expected a GStreamer pipeline, as in gst:v4l2src ! videoconvert", spec)
		}
	case isURL:
		if !slices.Contains([]string{"http", "https", "rtsp"}, scheme) || strings.Trim(rest, "/") == "" {
			return fmt.Errorf("source %s://…: expected http://, https:// or rtsp:// and a host", scheme)
		}
	case strings.ContainsRune(spec, 0):
		return fmt.Errorf("source %q: expected a device, a file or a directory", spec)
	default:
		info, err := os.Stat(spec)
		if err == nil && info.Mode()&(os.ModeNamedPipe|os.ModeSocket) != 0 {
			return fmt.Errorf("source %s: is a pipe or a socket, expected a device, a file or a directory", spec)
		}
		if errors.Is(err, fs.ErrNotExist) && isFilmName(spec) {
			return fmt.Errorf("source %s: no such file", spec)
		}
	}
	return nil
}

// isFilmName reports whether a source is a film or a picture, which does not appear later as a
// camera may.
func isFilmName(spec string) bool {
	films := []string{".mp4", ".m4v", ".mov", ".mkv", ".avi", ".webm", ".mpg", ".mpeg", ".mjpeg", ".mjpg", ".ts", ".h264", ".wmv"}
	return capture.IsImageName(spec) || slices.Contains(films, strings.ToLower(filepath.Ext(spec)))
}

// How long sources may send the same picture. For a camera it is shorter than a hand needs to reach into the picture and move
// a ship, so a stuck picture never answers wrongly for it; in poor light cheap cameras send a picture twice. A stream may stand
// still for as long as a picture may be old, or for longer if its encoder is seen to leave out what does not change.
const (
	frozenCamera = 500 * time.Millisecond
	frozenStream = game.StaleAfter
	frozenMost   = 15 * time.Second
)

// frozenAfter returns how long a source may send exactly the same picture before it counts as frozen, and how long if its
// encoder leaves out what does not change; 0: for ever. Sensor noise makes all pictures of a camera different. Recordings and
// the simulated table are no cameras.
func frozenAfter(spec string) (after, most time.Duration) {
	pipeline, isPipeline := strings.CutPrefix(spec, "gst:")
	switch {
	case strings.HasPrefix(spec, "/dev/"), strings.HasPrefix(spec, "csi:"), strings.HasPrefix(spec, "rpicam:"):
		return frozenCamera, frozenCamera
	case isPipeline && !playsRecording(pipeline), !isPipeline && strings.Contains(spec, "://"):
		return frozenStream, frozenMost
	}
	return 0, 0
}

// playsRecording reports whether a GStreamer pipeline shows a file or a test picture.
func playsRecording(pipeline string) bool {
	elements := []string{"filesrc", "imagefreeze", "videotestsrc", "file://"}
	return slices.ContainsFunc(elements, func(s string) bool { return strings.Contains(pipeline, s) })
}

// trackingOf returns how to track ships in a source's pictures. The pictures of a directory may
// show anything, so each stands for itself; so does a single picture, which never gets older.
func trackingOf(spec string) track.TrackerOptions {
	if info, err := os.Stat(spec); err == nil && (info.IsDir() || capture.IsImageName(spec)) {
		return track.TrackerOptions{SettleFrames: 1, Freeze: 1, Gone: 1}
	}
	return track.TrackerOptions{}
}

// OpenSource opens a camera, a recording or the simulated table.
func OpenSource(ctx context.Context, c Camera) (vision.Source, error) {
	return openSource(ctx, c, nil)
}

// openSource opens a source. A directory of pictures starts again at its end, so the page never
// runs out of pictures; a video ends.
func openSource(ctx context.Context, c Camera, skipped func(string, error)) (vision.Source, error) {
	if c.Source == "" {
		return nil, errNoCamera
	}
	if !strings.HasPrefix(c.Source, "sim:") {
		return opencv.Open(ctx, c.Source, opencv.OpenOptions{Width: c.Width, Height: c.Height, FPS: c.FPS, Repeat: true, Skipped: skipped})
	}
	o, err := tablesim.ParseSpec(c.Source)
	if err != nil {
		return nil, err
	}
	if c.Width > 0 && c.Height > 0 {
		o.Width, o.Height = c.Width, c.Height
	}
	if c.FPS > 0 {
		o.FPS = c.FPS
	}
	return tablesim.Open(o)
}
